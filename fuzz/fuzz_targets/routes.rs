//! The fuzz target `routes`: see `fastslua::testing::fuzz::routes`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fastslua::testing::fuzz::routes(data));
