#!/usr/bin/env bash
# stylua.sh [--check] PATH...: runs StyLua over those of the paths that exist. Takes the one in PATH, else fetches a
# fixed version through npm into build/tools. Ends with 3 when there is no StyLua to be had.
set -euo pipefail

version=2.5.2
options=()
paths=()
for word in "$@"; do
  case "$word" in
    --*) options+=("$word") ;;
    *) [ -e "$word" ] && paths+=("$word") ;;
  esac
done

stylua=$(command -v stylua || true)
if [ -z "$stylua" ]; then
  stylua=build/tools/node_modules/.bin/stylua
  if [ ! -x "$stylua" ]; then
    command -v npm >/dev/null 2>&1 || exit 3
    mkdir -p build/tools
    npm install --silent --no-audit --no-fund --prefix build/tools "@johnnymorganz/stylua-bin@$version" \
      >/dev/null 2>&1 || exit 3
  fi
  "$stylua" --version >/dev/null 2>&1 || exit 3
fi
exec "$stylua" "${options[@]}" "${paths[@]}"
