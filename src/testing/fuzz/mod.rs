//! What the fuzz targets assert: functions of bytes that return when all is well and panic when it is not.
//!
//! The same bytes give the same run. The targets in `fuzz/` only pass bytes on; `replay` runs the kept inputs and others
//! made from them with every `cargo test`. What a result ought to be comes from the naive readers in `testing`, which
//! share nothing with the code under test.

mod connection;
mod exchange;
mod input;
mod json;
#[cfg(test)]
mod replay;
mod requests;
mod routes;

pub use connection::connection;
pub use input::Input;
pub use json::{json_decode, json_round_trip};
pub use requests::{chunked, head};
pub use routes::routes;
