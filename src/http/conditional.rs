//! Entity tags and conditional requests (RFC 9110 sections 8.8.3 and 13).

use super::grammar::trim;

/// The inner part of a weak entity tag for this content: the same for the same bytes, in every process. It is a hash for
/// caches, not a seal: whoever makes the content can make two that share a tag.
#[inline]
pub fn tag_of(content: &[u8]) -> [u8; 16] {
    let hash = xxhash_rust::xxh3::xxh3_64(content);
    let mut digits = [0; 16];
    digits[..8].copy_from_slice(&hex((hash >> 32) as u32));
    digits[8..].copy_from_slice(&hex(hash as u32));
    digits
}

/// Eight hexadecimal digits, all at once: each half byte moves into a byte of its own, and what is above nine is moved
/// on to the letters.
fn hex(number: u32) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut halves = u64::from(number);
    halves = (halves | halves << 16) & 0x0000_ffff_0000_ffff;
    halves = (halves | halves << 8) & 0x00ff_00ff_00ff_00ff;
    halves = (halves | halves << 4) & (ONES * 0x0f);
    let letters = (halves + ONES * 6) >> 4 & ONES;
    (halves + ONES * u64::from(b'0') + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

/// A tag as it stands in the field.
pub fn weak_tag(inner: &[u8; 16]) -> [u8; 20] {
    let mut tag = *b"W/\"................\"";
    tag[3..19].copy_from_slice(inner);
    tag
}

/// What a condition makes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As if there were no condition.
    Proceed,
    /// The client's representation is still good: 304 (RFC 9110 section 15.4.5).
    NotModified,
    /// The client asked for another state than the present one: 412 (RFC 9110 section 15.5.13).
    Failed,
}

/// Tags that a request lists.
#[derive(Clone, Copy, Default)]
struct Tags {
    listed: bool,
    matched: bool,
    /// `*`: any representation.
    any: bool,
}

impl Tags {
    fn take(&mut self, value: &[u8], matched: bool) {
        self.listed = true;
        self.matched |= matched;
        self.any |= trim(value) == b"*";
    }

    fn hold(&self, exists: bool) -> bool {
        self.matched || self.any && exists
    }
}

/// What a request says about the representation it knows. Where tags are listed they decide, and the date beside them is
/// not looked at (RFC 9110 section 13.2.2).
#[derive(Clone, Copy, Default)]
pub struct Conditions<'a> {
    wanted: Tags,
    known: Tags,
    unmodified_since: Option<&'a [u8]>,
    modified_since: Option<&'a [u8]>,
}

impl<'a> Conditions<'a> {
    /// Takes one field of the request; all but four are passed over. `tag` is the present entity tag, if there is one.
    #[inline]
    pub fn take(&mut self, name: &[u8], value: &'a [u8], tag: Option<&[u8]>) {
        // Lengths first: nearly every field is another one.
        match name.len() {
            8 if name.eq_ignore_ascii_case(b"if-match") => {
                self.wanted.take(value, tag.is_some_and(|tag| lists(value, tag, true)));
            }
            13 if name.eq_ignore_ascii_case(b"if-none-match") => {
                self.known.take(value, tag.is_some_and(|tag| lists(value, tag, false)));
            }
            17 if name.eq_ignore_ascii_case(b"if-modified-since") => self.modified_since = Some(value),
            19 if name.eq_ignore_ascii_case(b"if-unmodified-since") => self.unmodified_since = Some(value),
            _ => {}
        }
    }

    /// What becomes of a GET or HEAD that would be answered with 200. `exists`: there is a representation.
    /// `last_modified` is the response's field.
    pub fn outcome(&self, exists: bool, last_modified: Option<&[u8]>) -> Outcome {
        if self.has_lost(exists, last_modified) {
            return Outcome::Failed;
        }
        let known = if self.known.listed {
            self.known.hold(exists)
        } else {
            is_no_later(last_modified, self.modified_since) == Some(true)
        };
        if known { Outcome::NotModified } else { Outcome::Proceed }
    }

    /// Whether a request to change the representation may go on; if not, the answer is 412.
    pub fn permits(&self, exists: bool, last_modified: Option<&[u8]>) -> bool {
        let exists_unwanted = self.known.listed && self.known.hold(exists);
        !exists_unwanted && !self.has_lost(exists, last_modified)
    }

    /// Whether `If-Match`, or else `If-Unmodified-Since`, asks for a state that is gone. A date that is none is no
    /// condition.
    fn has_lost(&self, exists: bool, last_modified: Option<&[u8]>) -> bool {
        if self.wanted.listed {
            return !self.wanted.hold(exists);
        }
        is_no_later(last_modified, self.unmodified_since) == Some(false)
    }
}

/// Whether one date is not after the other; `None` unless both are dates.
fn is_no_later(one: Option<&[u8]>, other: Option<&[u8]>) -> Option<bool> {
    Some(date(one?)? <= date(other?)?)
}

fn date(text: &[u8]) -> Option<std::time::SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(trim(text)).ok()?).ok()
}

/// Whether a list of entity tags has this one (RFC 9110 section 8.8.3.2): by strong comparison, for which no weak tag is
/// like any other, or by weak comparison, for which they are. What is no entity tag ends the list.
fn lists(field: &[u8], tag: &[u8], strong: bool) -> bool {
    let wanted = opaque(tag);
    if strong && wanted.len() != tag.len() {
        return false;
    }
    let mut rest = field;
    loop {
        rest = trim(rest);
        if let Some(after) = rest.strip_prefix(b",") {
            rest = after;
            continue;
        }
        let Some(inner) = opaque(rest).strip_prefix(b"\"") else {
            return false;
        };
        // A tag may hold commas and backslashes, and nothing is escaped in it.
        let Some(end) = memchr::memchr(b'"', inner) else {
            return false;
        };
        let length = inner.as_ptr() as usize - rest.as_ptr() as usize + end + 1;
        let found = &rest[..length];
        if opaque(found) == wanted && !(strong && opaque(found).len() != found.len()) {
            return true;
        }
        rest = &rest[length..];
    }
}

/// The tag without the mark of weakness.
fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

/// Whether this is an entity tag: quoted, perhaps weak, without control bytes or quotation marks inside.
pub fn is_entity_tag(text: &[u8]) -> bool {
    let inner = opaque(text)
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""));
    inner.is_some_and(|inner| inner.iter().all(|&byte| byte > 0x20 && byte != b'"' && byte != 0x7f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        assert_eq!(weak_tag(&tag_of(b"")), *b"W/\"2d06800538d394c2\"");
        assert_ne!(tag_of(b"a"), tag_of(b"b"));
        assert!(is_entity_tag(&weak_tag(&tag_of(b"x"))));
        for number in [0, 0x0123_4567, 0x89ab_cdef, u32::MAX] {
            assert_eq!(hex(number), *format!("{number:08x}").as_bytes());
        }
        for (text, wanted) in [
            ("\"\"", true),
            ("W/\"a,b\"", true),
            ("a", false),
            ("\"a", false),
            ("w/\"a\"", false),
        ] {
            assert_eq!(is_entity_tag(text.as_bytes()), wanted, "{text}");
        }
        for text in ["\"a b\"", "\"a\"b\"", "\"", ""] {
            assert!(!is_entity_tag(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn lists_of_tags() {
        // The list, the tag, and whether it is in it by weak and by strong comparison.
        let rows = [
            ("\"a\"", "\"a\"", true, true),
            ("W/\"a\"", "\"a\"", true, false),
            ("\"a\"", "W/\"a\"", true, false),
            ("W/\"a\"", "W/\"a\"", true, false),
            ("\"b\", W/\"a\"", "\"a\"", true, false),
            ("W/\"a\", \"a\"", "\"a\"", true, true),
            (",, \"b\" ,\"a\"", "\"a\"", true, true),
            ("\"a,b\"", "\"a\"", false, false),
            ("\"x,\\\", \"a\"", "\"a\"", true, true),
            ("*", "\"a\"", false, false),
            ("*, \"a\"", "\"a\"", false, false),
            ("a", "\"a\"", false, false),
            ("\"a", "\"a\"", false, false),
            ("", "\"a\"", false, false),
            ("w/\"a\"", "\"a\"", false, false),
        ];
        for (field, tag, weakly, strongly) in rows {
            let found = [false, true].map(|strong| lists(field.as_bytes(), tag.as_bytes(), strong));
            assert_eq!(found, [weakly, strongly], "{field} {tag}");
        }
    }

    const EARLY: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const LATE: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

    fn conditions<'a>(fields: &[(&'a str, &'a str)], tag: Option<&str>) -> Conditions<'a> {
        let mut conditions = Conditions::default();
        for (name, value) in fields {
            conditions.take(name.as_bytes(), value.as_bytes(), tag.map(str::as_bytes));
        }
        conditions
    }

    #[test]
    fn outcomes() {
        use Outcome::{Failed, NotModified, Proceed};
        type Row = (&'static [(&'static str, &'static str)], Option<&'static str>, Outcome);
        let rows: [Row; 19] = [
            (&[], Some(EARLY), Proceed),
            (&[("If-Modified-Since", EARLY)], Some(EARLY), NotModified),
            (&[("If-Modified-Since", LATE)], Some(EARLY), NotModified),
            (&[("If-Modified-Since", EARLY)], Some(LATE), Proceed),
            (&[("If-Modified-Since", "yesterday")], Some(EARLY), Proceed),
            (&[("If-Modified-Since", EARLY)], None, Proceed),
            (&[("IF-NONE-MATCH", "\"t\"")], None, NotModified),
            (&[("If-None-Match", "W/\"t\"")], None, NotModified),
            (&[("If-None-Match", " * ")], None, NotModified),
            (
                &[("If-None-Match", "\"u\""), ("If-Modified-Since", LATE)],
                Some(EARLY),
                Proceed,
            ),
            (
                &[("If-None-Match", "\"u\""), ("If-None-Match", "\"t\"")],
                None,
                NotModified,
            ),
            (&[("If-Match", "\"t\"")], None, Proceed),
            (&[("If-Match", "*")], None, Proceed),
            (&[("If-Match", "\"u\", W/\"t\"")], None, Failed),
            (&[("If-Match", "\"u\""), ("If-None-Match", "\"t\"")], None, Failed),
            (
                &[("If-Match", "\"t\""), ("If-Unmodified-Since", EARLY)],
                Some(LATE),
                Proceed,
            ),
            (&[("If-Unmodified-Since", EARLY)], Some(LATE), Failed),
            (&[("If-Unmodified-Since", EARLY)], Some(EARLY), Proceed),
            (&[("If-Unmodified-Since", "yesterday")], Some(LATE), Proceed),
        ];
        for (fields, modified, wanted) in rows {
            let outcome = conditions(fields, Some("\"t\"")).outcome(true, modified.map(str::as_bytes));
            assert_eq!(outcome, wanted, "{fields:?}");
        }
    }

    #[test]
    fn permissions() {
        type Row = (&'static [(&'static str, &'static str)], Option<&'static str>, bool);
        // The conditions, the tag of what exists or none, and whether it may be changed or made.
        let rows: [Row; 11] = [
            (&[], Some("\"t\""), true),
            (&[], None, true),
            (&[("If-Match", "\"t\"")], Some("\"t\""), true),
            (&[("If-Match", "\"u\"")], Some("\"t\""), false),
            (&[("If-Match", "W/\"t\"")], Some("W/\"t\""), false),
            (&[("If-Match", "*")], Some("\"t\""), true),
            (&[("If-Match", "*")], None, false),
            (&[("If-None-Match", "*")], Some("\"t\""), false),
            (&[("If-None-Match", "*")], None, true),
            (&[("If-None-Match", "\"u\"")], Some("\"t\""), true),
            (&[("If-Modified-Since", LATE)], Some("\"t\""), true),
        ];
        for (fields, tag, wanted) in rows {
            let permitted = conditions(fields, tag).permits(tag.is_some(), Some(EARLY.as_bytes()));
            assert_eq!(permitted, wanted, "{fields:?} {tag:?}");
        }
        assert!(!conditions(&[("If-Unmodified-Since", EARLY)], None).permits(true, Some(LATE.as_bytes())));
    }
}
