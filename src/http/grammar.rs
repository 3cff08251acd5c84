//! What the grammars of many fields share (RFC 9110 section 5.6): tokens, quoted strings, lists, parameters.
//!
//! The iterators are plain data: they hold slices of the field and nothing that has to be freed.

use std::borrow::Cow;

/// Which bytes a token may hold.
const TOKEN_BYTES: [bool; 256] = {
    let marks = b"!#$%&'*+-.^_`|~";
    let mut table = [false; 256];
    let mut at = 0;
    while at < 256 {
        table[at] = (at as u8).is_ascii_alphanumeric();
        at += 1;
    }
    at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
};

/// A byte of a token (RFC 9110 section 5.6.2).
#[inline]
pub fn is_token_byte(byte: u8) -> bool {
    TOKEN_BYTES[usize::from(byte)]
}

/// Whether this is a token: at least one byte, and only such.
pub fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().copied().all(is_token_byte)
}

/// Without optional whitespace, spaces and tabs, at both ends (RFC 9110 section 5.6.3).
pub fn trim(text: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = text.iter().position(|byte| !blank(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !blank(byte)).map_or(start, |at| at + 1);
    &text[start..end]
}

/// The pieces between separators, which do not count inside quoted strings. Pieces are trimmed; empty ones are left out
/// (RFC 9110 section 5.6.1.2).
#[derive(Clone, Copy, Debug)]
pub struct Pieces<'a> {
    rest: &'a [u8],
    separator: u8,
}

/// The elements of a comma-separated list.
pub fn list(field: &[u8]) -> Pieces<'_> {
    Pieces {
        rest: field,
        separator: b',',
    }
}

/// The pieces between semicolons.
pub fn semicolons(field: &[u8]) -> Pieces<'_> {
    Pieces {
        rest: field,
        separator: b';',
    }
}

impl<'a> Pieces<'a> {
    /// What has not been walked yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        while !self.rest.is_empty() {
            let end = separator_at(self.rest, self.separator);
            let piece = trim(&self.rest[..end]);
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if !piece.is_empty() {
                return Some(piece);
            }
        }
        None
    }
}

/// Where the next separator stands, or the end. A quoted string that never ends takes the rest.
fn separator_at(text: &[u8], separator: u8) -> usize {
    let mut quoted = false;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => at += 1,
            _ if byte == separator && !quoted => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// The pairs `name=value` of parameters (RFC 9110 section 5.6.6), values as they stand; what is no pair is left out.
pub fn parameters(field: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    semicolons(field).filter_map(pair)
}

/// `name=value`, trimmed; `None` without the sign or when the name is no token.
pub fn pair(piece: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b'=', piece)?;
    let name = trim(&piece[..at]);
    is_token(name).then(|| (name, trim(&piece[at + 1..])))
}

/// The value of a parameter: what a quoted string quotes, anything else as it stands. A backslash escapes quotation
/// marks and backslashes; before any other byte it stands for itself, since old browsers send paths so.
pub fn unquote(value: &[u8]) -> Cow<'_, [u8]> {
    let Some(inner) = value
        .strip_prefix(b"\"")
        .map(|rest| rest.strip_suffix(b"\"").unwrap_or(rest))
    else {
        return Cow::Borrowed(value);
    };
    if memchr::memchr(b'\\', inner).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut plain = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(&escaped @ (b'"' | b'\\'))) => {
                plain.push(escaped);
                bytes.next();
            }
            _ => plain.push(byte),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_tokens() {
        for byte in 0..=255_u8 {
            // RFC 9110 section 5.6.2: any VCHAR but delimiters.
            let wanted = byte.is_ascii_graphic() && !b"\"(),/:;<=>?@[\\]{}".contains(&byte);
            assert_eq!(is_token_byte(byte), wanted, "{byte}");
        }
        assert!(!is_token(b""));
    }

    #[test]
    fn lists() {
        let rows: [(&str, &[&str]); 7] = [
            ("", &[]),
            (" , ,", &[]),
            ("a", &["a"]),
            ("a, b\t,c", &["a", "b", "c"]),
            ("\"a,b\", c", &["\"a,b\"", "c"]),
            (r#""a\",b", c"#, &[r#""a\",b""#, "c"]),
            ("\"a, b", &["\"a, b"]),
        ];
        for (field, elements) in rows {
            let found: Vec<_> = list(field.as_bytes()).collect();
            let wanted: Vec<_> = elements.iter().map(|element| element.as_bytes()).collect();
            assert_eq!(found, wanted, "{field}");
        }
    }

    #[test]
    fn quoted_strings() {
        let rows = [
            ("a", "a"),
            ("\"a b\"", "a b"),
            (r#""a\"b\\c""#, r#"a"b\c"#),
            (r#""C:\dir\file""#, r"C:\dir\file"),
            ("\"open", "open"),
            ("\"", ""),
            (r#""\""#, r"\"),
        ];
        for (value, plain) in rows {
            assert_eq!(&*unquote(value.as_bytes()), plain.as_bytes(), "{value}");
        }
    }

    #[test]
    fn pairs_of_parameters() {
        let found: Vec<_> = parameters(b"; a=1;; b = \"x;y\" ;c; =d;e=").collect();
        let wanted: [(&[u8], &[u8]); 3] = [(b"a", b"1"), (b"b", b"\"x;y\""), (b"e", b"")];
        assert_eq!(found, wanted);
    }
}
