//! The fuzz target `chunked`: see `fastslua::testing::fuzz::chunked`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fastslua::testing::fuzz::chunked(data));
