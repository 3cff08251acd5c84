//! A request head as ranges into the connection's buffer, and the one place that turns bytes into it.
//!
//! It may assume that the scanner has found the head's end, that every line in it ends in CRLF and that the limits
//! hold. It must never keep a slice: buffers move, ranges stay right.

/// A range of bytes, counted from the request's first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// Bytes in the range.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// True for a range without bytes.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The bytes of the range in `bytes`; empty when they are not there.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// One header field line (RFC 9110 5): the name as sent, the value without the white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// A token.
    pub name: Span,
    /// Visible ASCII, bytes from 0x80 on, space and tab; may be empty.
    pub value: Span,
}

/// The method (RFC 9110 9). Case-sensitive: `get` is [`Method::Other`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// GET
    #[default]
    Get,
    /// HEAD
    Head,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH (RFC 5789)
    Patch,
    /// DELETE
    Delete,
    /// OPTIONS
    Options,
    /// Any other token, TRACE among them: read the text.
    Other,
}

impl Method {
    /// The method that `text` names.
    pub fn of(text: &[u8]) -> Self {
        match text {
            b"GET" => Method::Get,
            b"HEAD" => Method::Head,
            b"POST" => Method::Post,
            b"PUT" => Method::Put,
            b"PATCH" => Method::Patch,
            b"DELETE" => Method::Delete,
            b"OPTIONS" => Method::Options,
            _ => Method::Other,
        }
    }
}

/// The version that the request is treated as (RFC 9110 2.5: a later minor version counts as 1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    #[default]
    Http11,
}

/// One parsed request head. The ranges are valid while the request is live.
#[derive(Debug, Default)]
pub struct RequestHead {
    /// The method.
    pub method: Method,
    /// The method as sent.
    pub method_text: Span,
    /// The whole target as sent (RFC 9112 3.2).
    pub target: Span,
    /// `host[:port]` of an absolute-form target.
    pub authority: Option<Span>,
    /// The path as sent, not decoded: begins with `/`, is `*` (OPTIONS only), or empty for an absolute-form target
    /// without a path, which means `/`.
    pub path: Span,
    /// What follows the first `?`, not decoded.
    pub query: Option<Span>,
    /// The version.
    pub version: Version,
    /// The host that the request is for: the authority of an absolute-form target, else the Host field, which may be
    /// empty; `None` only for HTTP/1.0 without one (RFC 9112 3.2.2).
    pub host: Option<Span>,
    /// Every header field in the order sent.
    pub fields: Vec<Field>,
}
