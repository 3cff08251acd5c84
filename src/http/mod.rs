//! The values of HTTP fields and content that applications ask for: text in, meaning out, and back.
//!
//! Media types and their negotiation, cookies, conditional requests, forms, multipart content, what proxies say of their
//! clients. It knows nothing of connections, sockets or Lua, and works on bytes that the peer chose: nothing here may
//! panic, and nothing costs more than a few passes over what it is given. It must never remember anything.

pub mod accept;
pub mod common_log;
pub mod conditional;
pub mod cookie;
pub mod disposition;
pub mod forwarded;
pub mod grammar;
pub mod media_type;
pub mod multipart;
pub mod set_cookie;
pub mod uri;
pub mod urlencoded;
pub mod vary;

#[cfg(test)]
mod multipart_tests;
#[cfg(test)]
mod property_tests;
