//! fastslua: an HTTP/1.1 server that lives inside a program which already owns its main loop.
//!
//! This file only lists the modules. Imports point one way, and `tests/layers` enforces it:
//! `h1`, `http`, `net`, `routing` and `json` know nothing of one another; `server` drives `h1` over `net`;
//! `binding` is the only place that names Lua. `unsafe` is allowed where `allow(unsafe_code)` says so: in `binding/raw`, and
//! for one call in `net/exclusive.rs`.

#![deny(unsafe_code)]

pub mod h1;
pub mod http;
pub mod json;
pub mod net;
pub mod routing;
pub mod server;
pub mod testing;

#[cfg(feature = "binding")]
mod binding;
