//! The fuzz target `head`: see `fastslua::testing::fuzz::head`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fastslua::testing::fuzz::head(data));
