//! Media types (RFC 9110 section 8.3.1): `Content-Type` taken apart, and compared with what an application asks for.

use super::grammar::{is_token, parameters, trim, unquote};
use std::borrow::Cow;

/// `type/subtype` and its parameters, as they stand in the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaType<'a> {
    pub kind: &'a [u8],
    pub subtype: &'a [u8],
    parameters: &'a [u8],
}

impl<'a> MediaType<'a> {
    /// Takes a field value apart; `None` when it is no media type.
    pub fn parse(value: &'a [u8]) -> Option<Self> {
        let end = memchr::memchr(b';', value).unwrap_or(value.len());
        let essence = trim(&value[..end]);
        let slash = memchr::memchr(b'/', essence)?;
        let (kind, subtype) = (&essence[..slash], &essence[slash + 1..]);
        (is_token(kind) && is_token(subtype)).then(|| Self {
            kind,
            subtype,
            parameters: value.get(end + 1..).unwrap_or_default(),
        })
    }

    /// The first parameter of that name, without quotes.
    pub fn parameter(&self, name: &[u8]) -> Option<Cow<'a, [u8]>> {
        self.parameters()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| unquote(value))
    }

    /// Names and values as they stand.
    pub fn parameters(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        parameters(self.parameters)
    }

    /// Whether this is `kind/subtype`, whatever its parameters.
    pub fn is(&self, kind: &[u8], subtype: &[u8]) -> bool {
        self.kind.eq_ignore_ascii_case(kind) && self.subtype.eq_ignore_ascii_case(subtype)
    }

    /// Whether the subtype ends with a structured syntax suffix, given without its plus sign (RFC 6838 section 4.2.8).
    pub fn has_suffix(&self, suffix: &[u8]) -> bool {
        memchr::memrchr(b'+', self.subtype).is_some_and(|at| self.subtype[at + 1..].eq_ignore_ascii_case(suffix))
    }

    /// JSON by name or by suffix.
    pub fn is_json(&self) -> bool {
        self.is(b"application", b"json") || self.has_suffix(b"json")
    }

    /// Whether text of this type is in UTF-8 as far as its charset says: it says so, says nothing, or names ASCII.
    pub fn is_utf8(&self) -> bool {
        self.parameter(b"charset").is_none_or(|charset| {
            [b"utf-8".as_slice(), b"utf8", b"us-ascii"]
                .iter()
                .any(|name| charset.eq_ignore_ascii_case(name))
        })
    }

    /// Whether it is what a pattern asks for: `type/subtype`, `type/*`, `*/*`, `+suffix`, `*/*+suffix` or
    /// `type/*+suffix`. Parameters of the pattern do not count.
    pub fn matches(&self, pattern: &[u8]) -> bool {
        let pattern = trim(&pattern[..memchr::memchr(b';', pattern).unwrap_or(pattern.len())]);
        if let Some(suffix) = pattern.strip_prefix(b"+") {
            return self.has_suffix(suffix);
        }
        let Some(slash) = memchr::memchr(b'/', pattern) else {
            return false;
        };
        let (kind, subtype) = (&pattern[..slash], &pattern[slash + 1..]);
        let same_kind = kind == b"*" || self.kind.eq_ignore_ascii_case(kind);
        let same_subtype = match subtype.strip_prefix(b"*") {
            Some(b"") => true,
            Some(rest) => rest.strip_prefix(b"+").is_some_and(|suffix| self.has_suffix(suffix)),
            None => self.subtype.eq_ignore_ascii_case(subtype),
        };
        same_kind && same_subtype
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsed() {
        type Row = (&'static str, Option<(&'static str, &'static str, Option<&'static str>)>);
        let rows: [Row; 9] = [
            ("text/html", Some(("text", "html", None))),
            ("text/html;charset=utf-8", Some(("text", "html", Some("utf-8")))),
            ("Text/HTML ; CHARSET=\"UTF-8\"", Some(("Text", "HTML", Some("UTF-8")))),
            ("a/b;x=1;charset=y;charset=z", Some(("a", "b", Some("y")))),
            ("text", None),
            ("", None),
            ("/", None),
            ("te xt/html", None),
            ("text/html/x", None),
        ];
        for (value, wanted) in rows {
            let found = MediaType::parse(value.as_bytes());
            let found = found.map(|t| (t.kind, t.subtype, t.parameter(b"charset").map(Cow::into_owned)));
            let wanted = wanted.map(|(k, s, c)| (k.as_bytes(), s.as_bytes(), c.map(|c| c.as_bytes().to_vec())));
            assert_eq!(found, wanted, "{value}");
        }
    }

    #[test]
    fn patterns() {
        let rows = [
            ("application/json", "application/json", true),
            ("application/json", "APPLICATION/JSON; charset=utf-8", true),
            ("application/json", "application/*", true),
            ("application/json", "*/*", true),
            ("application/json", "*/json", true),
            ("application/json", "+json", false),
            ("application/vnd.api+json", "+json", true),
            ("application/vnd.api+json", "*/*+json", true),
            ("application/vnd.api+json", "text/*+json", false),
            ("application/vnd.api+json", "application/json", false),
            ("multipart/form-data; boundary=x", "multipart/*", true),
            ("text/plain", "multipart/*", false),
            ("text/plain", "plain", false),
            ("text/plain", "", false),
            ("text/plain", "text/*x", false),
        ];
        for (value, pattern, wanted) in rows {
            let media = MediaType::parse(value.as_bytes()).expect("a media type");
            assert_eq!(media.matches(pattern.as_bytes()), wanted, "{value} {pattern}");
        }
    }

    #[test]
    fn json_and_charsets() {
        let rows = [
            ("application/json", true, true),
            ("application/problem+json;charset=UTF-8", true, true),
            ("application/json;charset=utf8", true, true),
            ("application/json;charset=latin1", true, false),
            ("text/json", false, true),
            ("application/jsonp", false, true),
        ];
        for (value, json, utf8) in rows {
            let media = MediaType::parse(value.as_bytes()).expect("a media type");
            assert_eq!((media.is_json(), media.is_utf8()), (json, utf8), "{value}");
        }
    }
}
