#!/usr/bin/env bash
# Every check and test, each even when an earlier one failed. Last line: "N passed, N failed", counting each Rust test,
# each spec on each Lua, each probed case and each check. Ends with 1 when anything failed.
# PROBE: a command that is given a host and a port, judges the example server there and ends with such a line itself.
set -uo pipefail
cd "$(dirname "$0")/.."

passed=0
failed=0
failures=()
output=$(mktemp)
trap 'rm -f "$output"' EXIT

record_failure() {
  failed=$((failed + 1))
  failures+=("$1")
}

# check NAME COMMAND...: one check, by its exit code.
check() {
  local name=$1
  shift
  echo "== $name"
  if "$@"; then passed=$((passed + 1)); else record_failure "$name"; fi
}

# sum PATTERN: adds up the numbers that PATTERN's only group matches in the output of the last suite.
sum() {
  sed -nE "s/$1/\\1/p" "$output" | awk '{ total += $1 } END { print total + 0 }'
}

# suite NAME PASSED FAILED COMMAND...: a command that counts its own tests. A command that fails without a failed test,
# or runs no test at all, is itself a failure.
suite() {
  local name=$1 passed_pattern=$2 failed_pattern=$3
  shift 3
  echo "== $name"
  local code=0
  "$@" 2>&1 | tee "$output" || code=1
  local good bad
  good=$(sum "$passed_pattern")
  bad=$(sum "$failed_pattern")
  passed=$((passed + good))
  failed=$((failed + bad))
  [ "$bad" -gt 0 ] && failures+=("$name: $bad")
  if [ "$bad" -eq 0 ] && { [ "$code" -ne 0 ] || [ "$good" -eq 0 ]; }; then record_failure "$name"; fi
}

# probe LUA: the example under that Lua, on a port of the system's choice, judged by PROBE.
probe() {
  local lines address server code=0
  lines=$(mktemp)
  "$1" examples/hello.lua 0 >"$lines" 2>&1 &
  server=$!
  for _ in $(seq 100); do
    address=$(sed -nE 's|.*http://([0-9.]+):([0-9]+).*|\1 \2|p' "$lines" | head -n 1)
    [ -n "$address" ] && break
    sleep 0.1
  done
  if [ -n "$address" ]; then $PROBE $address || code=1; else code=1; fi
  if ! kill "$server" 2>/dev/null; then
    echo "the example server ended by itself"
    code=1
  fi
  wait "$server" 2>/dev/null
  cat "$lines"
  rm -f "$lines"
  return $code
}

format_lua() {
  tools/stylua.sh --check examples bench lua spec types
  local code=$?
  [ "$code" -eq 3 ] && echo "StyLua cannot be had here: only tests/layers looks at the Lua layout" && return 0
  return $code
}

leaks() {
  tools/leaks.sh
  local code=$?
  [ "$code" -eq 3 ] && echo "valgrind is not here: nobody has looked for lost memory" && return 0
  return $code
}

cargo_passed='^test result: .* ([0-9]+) passed; .*'
cargo_failed='^test result: .* ([0-9]+) failed; .*'
busted_passed='^([0-9]+) success[es]* \/ .*'
busted_failed='^.* success[es]* \/ ([0-9]+) failures?.*'
count_passed='^([0-9]+) passed, [0-9]+ failed$'
count_failed='^[0-9]+ passed, ([0-9]+) failed$'

check "Rust format" cargo fmt --all -- --check
check "clippy, without the binding" cargo clippy --quiet --workspace --no-default-features --all-targets -- -D warnings
check "clippy" cargo clippy --quiet --all-targets -- -D warnings
suite "Rust tests" "$cargo_passed" "$cargo_failed" cargo test --workspace --no-default-features --no-fail-fast
check "library" make --no-print-directory build
check "instructions of the kernels" tools/instructions.sh
check "luacheck" luacheck --quiet .
check "Lua format" format_lua

check "memory" leaks

export LUA_CPATH="build/?.so;;"
for lua in lua5.1 luajit; do
  suite "specs on $lua" "$busted_passed" "$busted_failed" busted --lua="$(command -v $lua)" spec
  [ -n "${PROBE:-}" ] && suite "probe on $lua" "$count_passed" "$count_failed" probe "$lua"
done

echo
for failure in "${failures[@]}"; do echo "failed: $failure"; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
