#!/usr/bin/env bash
# instructions.sh [--refresh]: counts the instructions of each pure-Rust kernel with callgrind and compares them with
# bench/micro/instructions.txt. More than 5 % above what is written there is a failure. --refresh writes the file anew:
# after a change that is meant to cost something, or has made a kernel faster for good.
#
# Instructions are the same on a busy machine as on a quiet one. For the same counts on another machine the code is
# built for one kind of processor (x86-64-v3), kernels do not allocate while they are counted, and the C library is told
# not to choose its routines by the processor. What is left is the compiler: counts of another rustc are shown, and not
# judged. Ends with 0 too where nothing can be counted, and says so.
set -euo pipefail
cd "$(dirname "$0")/.."

counts=bench/micro/instructions.txt
rounds=200
allowed=1.05
processor=x86-64-v3
target_dir=${CARGO_TARGET_DIR:-target}/instructions
compiler=$(rustc --version | awk '{ print $1, $2 }')

skip() {
  echo "instructions are not counted: $1"
  exit 0
}

[ "$(uname -sm)" = "Linux x86_64" ] || skip "that takes Linux on x86-64"
command -v valgrind >/dev/null 2>&1 || skip "valgrind is not installed (apt-get install valgrind)"
grep -q "avx2.*bmi2\|bmi2.*avx2" /proc/cpuinfo || skip "the processor is older than $processor"

RUSTFLAGS="-C target-cpu=$processor" cargo build --quiet --release --package micro --target-dir "$target_dir"
micro=$target_dir/release/micro

# per_operation NAME: instructions of one operation of that kernel.
per_operation() {
  local said operations collected
  said=$(mktemp)
  operations=$(GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM,-RTM \
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='micro::measured*' \
    "$micro" count "$1" "$rounds" 2>"$said")
  collected=$(sed -nE 's/.*Collected : ([0-9]+)$/\1/p' "$said")
  rm -f "$said"
  if [ -z "$collected" ] || [ "$collected" -eq 0 ]; then
    echo "callgrind collected nothing in $1" >&2
    return 1
  fi
  awk -v collected="$collected" -v operations="$operations" 'BEGIN { printf "%.1f", collected / operations }'
}

written=$(mktemp)
trap 'rm -f "$written"' EXIT
{
  echo "# Instructions per operation, by tools/instructions.sh --refresh."
  echo "# $compiler, $processor"
  for name in $("$micro" names); do
    echo "$name $(per_operation "$name")"
  done
} >"$written"

if [ "${1:-}" = "--refresh" ]; then
  cp "$written" "$counts"
  cat "$counts"
  exit 0
fi

judged=1
if ! grep -qxF "# $compiler, $processor" "$counts"; then
  echo "the counts are those of another compiler ($(sed -n 2p "$counts")), so they are not judged"
  judged=0
fi
awk -v allowed="$allowed" -v judged="$judged" '
  /^#/ { next }
  NR == FNR { known[$1] = $2; next }
  {
    seen[$1] = 1
    ratio = ($1 in known) ? $2 / known[$1] : 0
    verdict = ratio == 0 ? "not in the file: --refresh" : ratio > allowed ? "MORE" : ratio < 2 - allowed ? "less: --refresh" : ""
    if (ratio == 0 || ratio > allowed) failed = 1
    printf "%-24s %12.1f  %6.3f of what is written  %s\n", $1, $2, ratio, verdict
  }
  END {
    for (name in known) if (!(name in seen)) { print name " is in the file and not a kernel: --refresh"; failed = 1 }
    exit judged && failed
  }
' "$counts" "$written"
