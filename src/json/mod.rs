//! JSON (RFC 8259): the primitives of an encoder and a decoder that is asked for one token after another.
//!
//! Neither knows the values of any language: the caller walks and builds its own. Nothing that a caller holds between
//! two calls has a destructor ([`Reader`], [`Token`] and the errors are plain data; every buffer is lent), so the
//! caller's frame may be jumped over at any point without a leak.
//!
//! What RFC 8259 leaves open is decided here: a leading byte order mark is skipped (section 8.1); of members with the
//! same name all are reported in their order, so that the last wins in whoever stores them (section 4); numbers are
//! doubles, the nearest one is taken, and what lies beyond them is an error (section 6); nesting is bounded (section 9).

mod encode;
mod error;
mod number;
mod reader;
mod string;
#[cfg(test)]
mod tests;

pub use encode::{write_integer, write_number, write_string};
pub use error::{EncodeError, JsonError, JsonErrorKind};
pub use reader::{DEPTH_LIMIT, DecodeOptions, Reader, Token};

/// What to do about text that is not UTF-8 (RFC 8259 section 8.1 asks for UTF-8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InvalidUtf8 {
    /// It is an error, and so is a lone surrogate escape (`"\ud800"`).
    #[default]
    Refuse,
    /// Each maximal ill-formed part becomes U+FFFD, and so does a lone surrogate escape.
    Replace,
}
