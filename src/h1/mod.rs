//! The HTTP/1.1 server connection: bytes in, requests out; responses in, bytes out (RFC 9110, RFC 9112).
//!
//! Sans-IO: no sockets, no Lua, no clock. Every size is bounded by [`Limits`]; every byte a peer sends is untrusted.
//! It must never panic on peer bytes and never look at a byte before the layer above has committed it.

#![forbid(unsafe_code)]

mod buffer;
mod chunked;
mod connection;
mod encode;
mod framing;
mod head;
mod reject;
mod respond;
mod response;
mod scan;

pub use buffer::Buffer;
pub use connection::{Connection, Progress};
pub use head::{Field, Method, RequestHead, Span, Version};
pub use reject::Reject;
pub use response::{ResponseError, ResponseHead, reason_phrase};

/// What one connection may send. All sizes in bytes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Request line and all fields, with their line ends and the empty line: more is 431.
    pub head_bytes_max: usize,
    /// Number of header fields: more is 431. At most [`HEADERS_MAX`].
    pub headers_max: usize,
    /// The request target: more is 414.
    pub target_bytes_max: usize,
    /// Body content after de-chunking: more is 413, before the body is read where Content-Length tells.
    pub body_bytes_max: usize,
}

/// Upper bound of [`Limits::headers_max`]: the parser's table lies on the stack.
pub const HEADERS_MAX: usize = 256;

#[cfg(test)]
mod tests;
