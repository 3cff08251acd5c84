#!/usr/bin/env bash
# bench_wrk.sh: wrk against /api/health, with keep-alive and with a connection per request: a line
# "BENCH fastslua_health rps=..." for the first and "BENCH fastslua_health_close rps=..." for the second.
# FASTSLUA_PORT (18080), FASTSLUA_BENCH_DURATION (5, in seconds), FASTSLUA_BENCH_C (64 connections) and
# FASTSLUA_BENCH_T (4 threads) change what it does. An answer that is not 200, or a socket error, is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v wrk >/dev/null 2>&1; then
  echo "SKIPPED: wrk is not installed (apt-get install wrk)"
  exit 0
fi

port=${FASTSLUA_PORT:-18080}
duration=${FASTSLUA_BENCH_DURATION:-5}
connections=${FASTSLUA_BENCH_C:-64}
threads=${FASTSLUA_BENCH_T:-4}
url="http://127.0.0.1:$port/api/health"
export LUA_CPATH="build/?.so;;"

lines=$(mktemp)
lua5.1 bench/host.lua server=app profile=capacity loop=run port="$port" >"$lines" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$lines"' EXIT
for _ in $(seq 100); do
  grep -q "^serving on" "$lines" && break
  if ! kill -0 "$server" 2>/dev/null; then
    cat "$lines" >&2
    exit 1
  fi
  sleep 0.05
done

# measure NAME [WRK OPTION...]
measure() {
  local name=$1 said rate
  shift
  said=$(wrk -t"$threads" -c"$connections" -d"${duration%s}s" "$@" "$url")
  rate=$(sed -nE 's|^Requests/sec: *([0-9.]+)$|\1|p' <<<"$said")
  if [ -z "$rate" ] || grep -qE "Non-2xx|Socket errors" <<<"$said"; then
    echo "$said" >&2
    exit 1
  fi
  echo "BENCH $name rps=$rate"
}

measure fastslua_health
measure fastslua_health_close -H "Connection: close"
