//! The fuzz target `connection`: see `fastslua::testing::fuzz::connection`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fastslua::testing::fuzz::connection(data));
