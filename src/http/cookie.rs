//! `Cookie` of a request (RFC 6265 section 4.2).
//!
//! Any page of the host, on any port, may have set a cookie that we get to see, so what is merely unusual is passed over
//! or taken; only what no client may send is a fault.

use super::grammar::{is_token, trim};
use super::urlencoded::percent_is_sound;
use std::borrow::Cow;

/// What is wrong with a `Cookie` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CookieFault {
    /// The name before the equals sign is no token.
    Name,
    /// The value holds a control byte.
    Value,
}

impl CookieFault {
    /// What a client is told.
    pub fn sentence(self) -> &'static str {
        match self {
            CookieFault::Name => "A cookie's name in the Cookie header is malformed.",
            CookieFault::Value => "A cookie's value in the Cookie header holds a control character.",
        }
    }
}

/// Name and value.
pub type Cookie<'a> = (&'a [u8], &'a [u8]);

/// The cookies of one field, in order: name, and value as it was sent, without quotation marks around it. A piece
/// without an equals sign is a cookie without a name, which nobody can ask for, and passed over.
pub fn cookies(field: &[u8]) -> impl Iterator<Item = Result<Cookie<'_>, CookieFault>> {
    field.split(|&byte| byte == b';').filter_map(cookie)
}

fn cookie(piece: &[u8]) -> Option<Result<Cookie<'_>, CookieFault>> {
    let at = memchr::memchr(b'=', piece)?;
    let (name, value) = (trim(&piece[..at]), trim(&piece[at + 1..]));
    if name.is_empty() {
        return None;
    }
    if !is_token(name) {
        return Some(Err(CookieFault::Name));
    }
    if value.iter().any(u8::is_ascii_control) {
        return Some(Err(CookieFault::Value));
    }
    let value = value
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""))
        .unwrap_or(value);
    Some(Ok((name, value)))
}

/// The value that was meant: percent sequences decoded, if all of them are sound.
pub fn decode_value(value: &[u8]) -> Cow<'_, [u8]> {
    if percent_is_sound(value) {
        Cow::from(percent_encoding::percent_decode(value))
    } else {
        Cow::Borrowed(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let rows: [(&str, &[(&str, &str)]); 8] = [
            ("", &[]),
            ("a=1", &[("a", "1")]),
            ("a=1; b=2;c=3", &[("a", "1"), ("b", "2"), ("c", "3")]),
            ("a=x=y; a=2", &[("a", "x=y"), ("a", "2")]),
            ("a=\"q, r\"; b=\"", &[("a", "q, r"), ("b", "\"")]),
            ("nameless; =x; a=1;", &[("a", "1")]),
            ("a=", &[("a", "")]),
            ("a={\"k\":1}, b=2", &[("a", "{\"k\":1}, b=2")]),
        ];
        for (field, wanted) in rows {
            let found: Result<Vec<_>, _> = cookies(field.as_bytes()).collect();
            let wanted: Vec<_> = wanted.iter().map(|(n, v)| (n.as_bytes(), v.as_bytes())).collect();
            assert_eq!(found, Ok(wanted), "{field}");
        }
    }

    #[test]
    fn faults() {
        let rows = [
            ("a b=1", CookieFault::Name),
            ("ok=1; \u{e9}=2", CookieFault::Name),
            ("a,b=1", CookieFault::Name),
            ("a=\tx\ty", CookieFault::Value),
            ("a=x\x7f", CookieFault::Value),
        ];
        for (field, fault) in rows {
            assert!(cookies(field.as_bytes()).any(|cookie| cookie == Err(fault)), "{field}");
            assert!(!fault.sentence().is_empty());
        }
    }

    #[test]
    fn values() {
        for (value, wanted) in [("a%20b", "a b"), ("50%", "50%"), ("%41%zz", "%41%zz"), ("a+b", "a+b")] {
            assert_eq!(&*decode_value(value.as_bytes()), wanted.as_bytes());
        }
    }
}
