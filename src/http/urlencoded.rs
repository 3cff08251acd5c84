//! Percent-encoding (RFC 3986 section 2.1) and `application/x-www-form-urlencoded`, which queries and forms are in.
//!
//! Nothing costs more than one pass over the text.

use std::borrow::Cow;

/// Whether every `%` is followed by two hexadecimal digits.
pub fn percent_is_sound(text: &[u8]) -> bool {
    unsound_percent_at(text).is_none()
}

/// Where the first `%` stands that is not followed by two hexadecimal digits.
pub fn unsound_percent_at(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'%', &text[from..]) {
        let at = from + at;
        match text.get(at + 1..at + 3) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => from = at + 3,
            _ => return Some(at),
        }
    }
    None
}

/// One name or value: `+` is a space, percent sequences are decoded.
fn decode_part(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.contains(&b'+') {
        return Cow::from(percent_encoding::percent_decode(raw));
    }
    let spaced: Vec<u8> = raw.iter().map(|&byte| if byte == b'+' { b' ' } else { byte }).collect();
    Cow::Owned(percent_encoding::percent_decode(&spaced).collect())
}

/// The pieces between ampersands that are not empty: one pair each.
pub fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'&').filter(|piece| !piece.is_empty())
}

/// The decoded pair of one piece: `a=1` gives `("a", "1")`, `b` gives `("b", "")`; only the first `=` counts.
pub fn pair(piece: &[u8]) -> (Cow<'_, [u8]>, Cow<'_, [u8]>) {
    let (name, value) = match memchr::memchr(b'=', piece) {
        Some(at) => (&piece[..at], &piece[at + 1..]),
        None => (piece, &[][..]),
    };
    (decode_part(name), decode_part(value))
}

/// Appends `text` with every byte but letters, digits and `keep` as a percent sequence.
pub fn encode(text: &[u8], keep: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in text {
        if byte.is_ascii_alphanumeric() || keep.contains(&byte) {
            out.push(byte);
        } else {
            out.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_sequences() {
        for (text, at) in [
            ("", None),
            ("%41%zz", Some(3)),
            ("%", Some(0)),
            ("a%4", Some(1)),
            ("%%41", Some(0)),
            ("%C3%a9", None),
        ] {
            assert_eq!(unsound_percent_at(text.as_bytes()), at, "{text}");
        }
    }

    #[test]
    fn pairs() {
        let rows: [(&str, &[(&str, &str)]); 5] = [
            ("", &[]),
            ("&&", &[]),
            ("a=1&b", &[("a", "1"), ("b", "")]),
            ("a=b=c&=v", &[("a", "b=c"), ("", "v")]),
            ("q+r=a+b%2B%20c", &[("q r", "a b+ c")]),
        ];
        for (text, wanted) in rows {
            let found: Vec<_> = pieces(text.as_bytes()).map(pair).collect();
            let wanted: Vec<_> = wanted
                .iter()
                .map(|(name, value)| (Cow::from(name.as_bytes()), Cow::from(value.as_bytes())))
                .collect();
            assert_eq!(found, wanted, "{text}");
        }
    }
}
