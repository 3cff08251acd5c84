//! The fuzz target `json_round_trip`: see `fastslua::testing::fuzz::json_round_trip`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fastslua::testing::fuzz::json_round_trip(data));
