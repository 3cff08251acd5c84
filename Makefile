# `make run` serves the example, `make test` runs every test. Both install what is missing on Debian and Ubuntu.

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
LIBRARY := "$(TARGET_DIR)/release/libfastslua.$(if $(filter Darwin,$(shell uname)),dylib,so)"
LUA ?= lua5.1
PORT ?= 8080
# A command that is given a host and a port, and judges the example server there; empty for none.
PROBE ?=

export LUA_CPATH := build/?.so;;

.PHONY: help run test build bench bench-quick bench-wrk format clean

help:
	@echo "make run      build, then serve examples/hello.lua on 127.0.0.1:$(PORT)"
	@echo "make test     every check and test"
	@echo "make build    build/fastslua.so, the file that require(\"fastslua\") loads"
	@echo "make bench    the benchmarks, in about twenty minutes; bench-quick: under two; bench-wrk: wrk alone"
	@echo "make format   format Rust and Lua"

run:
	@tools/setup.sh run
	@$(MAKE) --no-print-directory build
	@$(LUA) examples/hello.lua $(PORT)

test:
	@tools/setup.sh test
	@PROBE="$(PROBE)" tools/test.sh

# The new file takes the place of the old in one move: a host that has the old one loaded keeps it whole.
build:
	@tools/setup.sh build
	cargo build --release
	@mkdir -p build
	@cp $(LIBRARY) build/fastslua.so.new && mv build/fastslua.so.new build/fastslua.so

bench:
	@tools/setup.sh bench
	@$(MAKE) --no-print-directory build
	cargo build --release --package floor --package load --package micro --package native --package suite
	@"$(TARGET_DIR)/release/suite" $(BENCH_ARGS)

bench-quick:
	@$(MAKE) --no-print-directory bench BENCH_ARGS="--quick $(BENCH_ARGS)"

bench-wrk:
	@$(MAKE) --no-print-directory build
	@tools/bench_wrk.sh

format:
	cargo fmt
	@tools/stylua.sh examples bench lua spec types

clean:
	cargo clean
	rm -rf build
