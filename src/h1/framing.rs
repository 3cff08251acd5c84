//! Where a request body ends (RFC 9112 6.3), and who the request is for (RFC 9110 4.2, 7.2).
//!
//! Framing is decided in [`frame`] and nowhere else, in the RFC's order. Two servers that disagree about it can be made
//! to see different requests, so whatever is ambiguous is refused and never repaired.

use std::net::Ipv6Addr;

use super::scan::{is_token, trim};
use super::{Reject, Version};

/// How the end of a request body is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Framing {
    /// Neither field: there is no body.
    #[default]
    None,
    /// Content-Length.
    Length(u64),
    /// Transfer-Encoding: chunked.
    Chunked,
}

/// What the fields of one head say about its framing, gathered while they pass.
#[derive(Debug, Default)]
pub(super) struct FramingFields<'a> {
    content_length: Option<&'a [u8]>,
    content_length_repeated: bool,
    coding: bool,
    coding_is_bad: bool,
    coding_is_unknown: bool,
    chunked: bool,
}

impl<'a> FramingFields<'a> {
    /// Takes the value of one Content-Length line.
    pub fn content_length(&mut self, value: &'a [u8]) {
        self.content_length_repeated |= self.content_length.replace(value).is_some();
    }

    /// Takes the value of one Transfer-Encoding line: several lines are one list (RFC 9110 5.3).
    pub fn transfer_encoding(&mut self, value: &[u8]) {
        self.coding = true;
        for element in value.split(|&b| b == b',').map(trim) {
            let name = element.split(|&b| b == b';').next().map_or(element, trim);
            // An empty element, anything behind chunked, chunked with parameters, no token.
            if self.chunked || !is_token(name) {
                self.coding_is_bad = true;
            } else if !name.eq_ignore_ascii_case(b"chunked") {
                self.coding_is_unknown = true;
            } else if name.len() == element.len() {
                self.chunked = true;
            } else {
                self.coding_is_bad = true;
            }
        }
    }
}

/// Decides how the body ends, in the order of RFC 9112 6.3.
///
/// # Errors
/// Whatever leaves room for two readings: 400. A coding that is not implemented, under chunked: 501 (RFC 9112 6.1).
pub(super) fn frame(version: Version, fields: &FramingFields<'_>) -> Result<Framing, Reject> {
    if fields.coding {
        // 6.1: HTTP/1.0 has no transfer codings; its framing must be regarded as faulty.
        if version == Version::Http10 {
            return Err(Reject::CodingInHttp10);
        }
        // 6.3 point 3: ought to be handled as an error.
        if fields.content_length.is_some() {
            return Err(Reject::LengthAndCoding);
        }
        // 6.3 point 4: without chunked as the final coding the length cannot be known: 400.
        if fields.coding_is_bad || !fields.chunked {
            return Err(Reject::BadCoding);
        }
        if fields.coding_is_unknown {
            return Err(Reject::UnknownCoding);
        }
        return Ok(Framing::Chunked);
    }
    // 6.3 point 5: an invalid Content-Length is unrecoverable. Equal repeats may be refused too, and are.
    if fields.content_length_repeated {
        return Err(Reject::RepeatedContentLength);
    }
    match fields.content_length {
        Some(value) => parse_length(value).map(Framing::Length).ok_or(Reject::BadContentLength),
        // 6.3 point 7: a request without either field has no body.
        None => Ok(Framing::None),
    }
}

/// `1*DIGIT` (RFC 9110 8.6); `None` for anything else, and for what a u64 does not hold.
fn parse_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0u64, |sum, &b| {
        let digit = b.is_ascii_digit().then(|| u64::from(b - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

/// True for `uri-host [ ":" port ]` (RFC 9110 7.2, RFC 3986 3.2.2): a name, an IPv4 address or an IPv6 address in
/// brackets. An empty host is allowed here: Host is empty when the target has no authority.
pub(super) fn is_host(text: &[u8]) -> bool {
    is_plain_host(text) || is_any_host(text)
}

/// True for nearly every host that is sent: letters, digits, `-` and `.`, and perhaps a port. One pass.
fn is_plain_host(text: &[u8]) -> bool {
    let is_plain = |b: &u8| PLAIN_IN_NAME[usize::from(*b)];
    match text.iter().position(|b| !is_plain(b)) {
        None => true,
        Some(at) => text[at] == b':' && is_port(&text[at + 1..]),
    }
}

/// By byte: whether it may stand in a name without a second look.
const PLAIN_IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut at = 0;
    while at < 256 {
        let b = at as u8;
        table[at] = b.is_ascii_alphanumeric() || b == b'-' || b == b'.';
        at += 1;
    }
    table
};

fn is_any_host(text: &[u8]) -> bool {
    let (host, port) = split_port(text);
    let host_is_good = match host {
        [b'[', inner @ .., b']'] => std::str::from_utf8(inner).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok()),
        name => is_reg_name(name),
    };
    host_is_good && port.is_none_or(is_port)
}

/// True for the authority of an http or https URI: as [`is_host`], but the host is not empty (RFC 9110 4.2.1), and
/// there is no user information (RFC 9110 4.2.4).
pub(super) fn is_authority(text: &[u8]) -> bool {
    is_host(text) && !split_port(text).0.is_empty()
}

/// A target has no fragment (`#`), and every `%` in it is followed by two hexadecimal digits.
///
/// # Errors
/// [`Reject::BadTarget`], [`Reject::BadPercent`].
pub(super) fn judge_escapes(target: &[u8]) -> Result<(), Reject> {
    for at in memchr::memchr2_iter(b'%', b'#', target) {
        if target[at] == b'#' {
            return Err(Reject::BadTarget);
        }
        if !is_escape(&target[at..]) {
            return Err(Reject::BadPercent);
        }
    }
    Ok(())
}

fn is_escape(text: &[u8]) -> bool {
    matches!(text, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

fn split_port(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    // Colons inside the brackets of an IPv6 address are not the port's.
    match text.iter().rposition(|&b| b == b':' || b == b']') {
        Some(at) if text[at] == b':' => (&text[..at], Some(&text[at + 1..])),
        _ => (text, None),
    }
}

/// `*DIGIT`, and a number that can be a port: of five digits at most, and of those none above 65535.
fn is_port(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit) && (text.len() < 5 || (text.len() == 5 && text <= &b"65535"[..]))
}

/// `*( unreserved / pct-encoded / sub-delims )`
fn is_reg_name(name: &[u8]) -> bool {
    name.iter().enumerate().all(|(at, &b)| match b {
        b'%' => is_escape(&name[at..]),
        b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' => true,
        _ => b.is_ascii_alphanumeric(),
    })
}
