//! Values of a request that are worked out when a handler asks: the decoded path and the query.
//!
//! Bytes are the peer's: nothing here may panic, and nothing costs more than one pass over them.

use std::borrow::Cow;

/// Whether every `%` is followed by two hexadecimal digits (RFC 3986 section 2.1).
pub(super) fn percent_is_sound(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'%', rest) {
        match rest.get(at + 1..at + 3) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => rest = &rest[at + 3..],
            _ => return false,
        }
    }
    true
}

/// One name or value of a query: `+` is a space, percent sequences are decoded.
fn decode_query_part(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.contains(&b'+') {
        return Cow::from(percent_encoding::percent_decode(raw));
    }
    let spaced: Vec<u8> = raw.iter().map(|&byte| if byte == b'+' { b' ' } else { byte }).collect();
    Cow::Owned(percent_encoding::percent_decode(&spaced).collect())
}

/// The pairs of a query in order, decoded: `a=1&b` gives `("a", "1")` and `("b", "")`. Empty pieces are skipped.
pub(super) fn query_pairs(query: &[u8]) -> impl Iterator<Item = (Cow<'_, [u8]>, Cow<'_, [u8]>)> {
    query
        .split(|&byte| byte == b'&')
        .filter(|piece| !piece.is_empty())
        .map(|piece| {
            let (name, value) = match memchr::memchr(b'=', piece) {
                Some(at) => (&piece[..at], &piece[at + 1..]),
                None => (piece, &[][..]),
            };
            (decode_query_part(name), decode_query_part(value))
        })
}

/// The values of one name in a comma-joined field are put together with this (RFC 9110 section 5.3).
pub(super) const JOIN: &[u8] = b", ";
