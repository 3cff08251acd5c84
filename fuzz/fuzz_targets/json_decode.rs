//! The fuzz target `json_decode`: see `fastslua::testing::fuzz::json_decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fastslua::testing::fuzz::json_decode(data));
