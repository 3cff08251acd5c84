#!/usr/bin/env bash
# setup.sh build|run|test|bench: installs what that target needs and the machine lacks, with apt where there is apt,
# and says what to install by hand where there is not. Does nothing, and touches no network, when all is there.
set -euo pipefail

missing_packages=()
missing_commands=()

# need COMMAND PACKAGE: PACKAGE is Debian's and Ubuntu's name for what brings COMMAND.
need() {
  command -v "$1" >/dev/null 2>&1 && return
  missing_commands+=("$1")
  missing_packages+=("$2")
}

# need_module MODULE PACKAGE: a Lua 5.1 module that require finds.
need_module() {
  lua5.1 -e "require('$1')" >/dev/null 2>&1 && return
  missing_commands+=("Lua module $1")
  missing_packages+=("$2")
}

# wish_library FILE PACKAGE: a shared library that tests do without; only asked for where apt can install it.
wish_library() {
  command -v apt-get >/dev/null 2>&1 || return 0
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null 2>&1 || return 0
  case "$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null)" in *"$1 "*) return ;; esac
  missing_commands+=("$1")
  missing_packages+=("$2")
}

need_cargo() {
  if ! command -v cargo >/dev/null 2>&1 && [ -x "$HOME/.cargo/bin/cargo" ]; then
    echo "cargo is in ~/.cargo/bin, which is not in PATH: run  . ~/.cargo/env  and try again." >&2
    exit 1
  fi
  if ! command -v cargo >/dev/null 2>&1; then
    echo "cargo is missing. fastslua needs Rust 1.88 or newer, which https://rustup.rs installs:" >&2
    echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y && . ~/.cargo/env" >&2
    exit 1
  fi
}

install_missing() {
  [ ${#missing_packages[@]} -eq 0 ] && return
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  if ! command -v apt-get >/dev/null 2>&1 || { [ ${#as_root[@]} -gt 0 ] && ! command -v sudo >/dev/null 2>&1; }; then
    echo "missing: $(IFS=,; echo "${missing_commands[*]}")" >&2
    echo "Install them and try again; on Debian and Ubuntu the packages are: ${missing_packages[*]}" >&2
    exit 1
  fi
  echo "installing: ${missing_packages[*]}"
  export DEBIAN_FRONTEND=noninteractive
  if ! { "${as_root[@]}" apt-get update -qq \
    && "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing_packages[@]}" >/dev/null; }; then
    echo "apt-get could not install: ${missing_packages[*]}" >&2
    exit 1
  fi
}

need_cargo
need cc gcc
case "${1:-}" in
  build) ;;
  run) need "${LUA:-lua5.1}" lua5.1 ;;
  test)
    need lua5.1 lua5.1
    need luajit luajit
    need busted lua-busted
    need luacheck lua-check
    need_module socket lua-socket
    need_module wsapi.request lua-wsapi
    need_module orbit lua-orbit
    need valgrind valgrind
    wish_library liblua5.1.so.0 liblua5.1-0
    wish_library libluajit-5.1.so.2 libluajit-5.1-2
    ;;
  bench)
    need lua5.1 lua5.1
    need luajit luajit
    need_module socket lua-socket
    ;;
  *) echo "usage: tools/setup.sh build|run|test|bench" >&2; exit 2 ;;
esac
install_missing
