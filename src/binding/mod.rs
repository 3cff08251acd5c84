//! The Lua boundary: the only place that names Lua.
//!
//! Above it stand scripts, which may call anything at any time and may raise at any point; below it the server, which
//! knows no Lua. `raw` speaks the Lua API and is the one home of `unsafe`; the other files here are plain Rust that
//! `raw` calls. No borrow of the server may be alive while Lua runs, nothing here prints, and no panic leaves.

mod content;
mod failures;
mod options;
mod origin;
#[allow(unsafe_code)]
mod raw;
mod refusal;
mod service;
mod validators;
