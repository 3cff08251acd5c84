//! JSON (RFC 8259): the primitives of an encoder and a decoder that is asked for one token after another.
//!
//! Neither knows the values of any language: the caller walks its own. Nothing the caller holds between two
//! calls has a destructor ([`Reader`], [`Token`] and the errors are plain data; buffers are lent), so a caller may be
//! jumped over at any point.

mod encode;
mod error;
mod reader;

pub use encode::{write_integer, write_number, write_string};
pub use error::{EncodeError, JsonError, JsonErrorKind};
pub use reader::{DEPTH_LIMIT, DecodeOptions, Reader, Token};

/// What to do about text that is not UTF-8 (RFC 8259 section 8.1 asks for UTF-8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InvalidUtf8 {
    /// An error.
    #[default]
    Refuse,
    /// Each maximal ill-formed part becomes U+FFFD, and so does a lone surrogate escape.
    Replace,
}
