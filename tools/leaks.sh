#!/usr/bin/env bash
# leaks.sh: runs spec/support/leaks.lua and finalizers.lua under valgrind: no memory may be read wrongly, and none be lost
# when the Lua state ends. Ends with 3 where there is no valgrind.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null 2>&1 || exit 3
for script in leaks.lua "finalizers.lua 1 3"; do
  # The words of a script are its name and its arguments.
  # shellcheck disable=SC2086
  LUA_CPATH="build/?.so;;" valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
    --error-exitcode=1 lua5.1 spec/support/$script >/dev/null
done
