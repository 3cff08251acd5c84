//! Writes response heads and frames bodies (RFC 9112 4, 6.3, 7.1).
//!
//! How a response is framed is decided in [`content`] and nowhere else. Heads are appended to the caller's buffer with
//! one reservation, no formatting machinery and no temporary memory.

use super::response::reason_phrase;
use super::{Method, Reject, ResponseHead, Version};

/// `HTTP/1.1 100 Continue` and the empty line (RFC 9110 15.2.1).
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The chunk of size 0 and no trailers: the end of a chunked body.
pub(super) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Room for everything in a head but the handler's fields.
const FIXED_BYTES_MAX: usize = 256;

/// What the handler is going to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announced {
    /// A body of that many bytes, whole.
    Whole(u64),
    /// Pieces until it says that it is done.
    Stream,
}

/// How the end of the response body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// Neither field: the status or the method says that there is no body.
    None,
    /// Content-Length.
    Known(u64),
    /// Transfer-Encoding: chunked.
    Chunked,
    /// The connection ends behind the body.
    UntilClose,
}

/// What the head says about the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persistence {
    /// The default of HTTP/1.1.
    Silent,
    /// `Connection: keep-alive`, for the HTTP/1.0 client that asked.
    KeepAlive,
    /// `Connection: close`.
    Close,
}

/// Decides how the body is framed and whether it is written at all (RFC 9112 6.3; RFC 9110 8.6, 9.3.2, 15.3.5).
pub(super) fn content(method: Method, version: Version, status: u16, announced: Announced) -> (Length, bool) {
    let to_head = method == Method::Head;
    match (status, announced) {
        // No content, and no field that announces one. (What 304 would announce is not known here.)
        (204 | 304, _) => (Length::None, false),
        // 15.3.6: Reset Content has none either, and says so.
        (205, _) => (Length::Known(0), false),
        // HEAD gets the fields of GET.
        (_, Announced::Whole(len)) => (Length::Known(len), len > 0 && !to_head),
        (_, Announced::Stream) if version == Version::Http11 => (Length::Chunked, !to_head),
        (_, Announced::Stream) if to_head => (Length::None, false),
        (_, Announced::Stream) => (Length::UntilClose, true),
    }
}

/// Appends a whole response head.
pub(super) fn head(
    response: &ResponseHead,
    date: &[u8; 29],
    length: Length,
    persistence: Persistence,
    out: &mut Vec<u8>,
) {
    out.reserve(FIXED_BYTES_MAX + response.lines().len());
    status_line(response.status(), out);
    if !response.has_date() {
        date_line(date, out);
    }
    out.extend_from_slice(response.lines());
    match length {
        Length::Known(len) => content_length(len, out),
        Length::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        Length::None | Length::UntilClose => {}
    }
    out.extend_from_slice(match persistence {
        Persistence::Silent => b"\r\n",
        Persistence::KeepAlive => b"Connection: keep-alive\r\n\r\n",
        Persistence::Close => b"Connection: close\r\n\r\n",
    });
}

/// Appends the whole answer to a refused request; `with_body` is false for HEAD.
pub(super) fn refusal(reject: Reject, date: &[u8; 29], with_body: bool, out: &mut Vec<u8>) {
    let sentence = reject.sentence();
    out.reserve(FIXED_BYTES_MAX + sentence.len());
    status_line(reject.status(), out);
    date_line(date, out);
    out.extend_from_slice(b"Content-Type: text/plain; charset=utf-8\r\n");
    if let Some(seconds) = reject.retry_after() {
        out.extend_from_slice(b"Retry-After: ");
        out.extend_from_slice(itoa::Buffer::new().format(seconds).as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    content_length(sentence.len() as u64 + 1, out);
    out.extend_from_slice(b"Connection: close\r\n\r\n");
    if with_body {
        out.extend_from_slice(sentence.as_bytes());
        out.push(b'\n');
    }
}

/// Appends `data` as one chunk. Nothing for no data: a chunk of size 0 would end the body.
pub(super) fn chunk(data: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    if data.is_empty() {
        return;
    }
    out.reserve(data.len() + 20);
    let mut shift = (usize::BITS - data.len().leading_zeros()).div_ceil(4) * 4;
    while shift > 0 {
        shift -= 4;
        out.push(DIGITS[(data.len() >> shift) & 0xf]);
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}

fn status_line(status: u16, out: &mut Vec<u8>) {
    let common: &[u8] = match status {
        200 => b"HTTP/1.1 200 OK\r\n",
        201 => b"HTTP/1.1 201 Created\r\n",
        204 => b"HTTP/1.1 204 No Content\r\n",
        304 => b"HTTP/1.1 304 Not Modified\r\n",
        400 => b"HTTP/1.1 400 Bad Request\r\n",
        404 => b"HTTP/1.1 404 Not Found\r\n",
        500 => b"HTTP/1.1 500 Internal Server Error\r\n",
        _ => return uncommon_status_line(status, out),
    };
    out.extend_from_slice(common);
}

fn uncommon_status_line(status: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(itoa::Buffer::new().format(status).as_bytes());
    // RFC 9112 4: the space is there even when the reason phrase is empty.
    out.push(b' ');
    out.extend_from_slice(reason_phrase(status).as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn date_line(date: &[u8; 29], out: &mut Vec<u8>) {
    let mut line = *b"Date: .............................\r\n";
    line[6..35].copy_from_slice(date);
    out.extend_from_slice(&line);
}

fn content_length(len: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Content-Length: ");
    out.extend_from_slice(itoa::Buffer::new().format(len).as_bytes());
    out.extend_from_slice(b"\r\n");
}
