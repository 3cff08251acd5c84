//! Entity tags and conditional requests (RFC 9110 sections 8.8.3 and 13).

use super::grammar::trim;

/// Length of a tag made by [`weak_tag`].
pub const WEAK_TAG_BYTES: usize = 20;

/// A weak entity tag for this content: the same for the same bytes, in every process. It is a hash for caches, not a
/// seal: whoever makes the content can make two that share a tag.
pub fn weak_tag(content: &[u8]) -> [u8; WEAK_TAG_BYTES] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut tag = *b"W/\"................\"";
    let mut hash = xxhash_rust::xxh3::xxh3_64(content);
    for place in tag[3..19].iter_mut().rev() {
        *place = DIGITS[(hash & 15) as usize];
        hash >>= 4;
    }
    tag
}

/// What a request says about the representation it already has. `If-None-Match` decides alone where it is sent
/// (RFC 9110 section 13.2.2).
#[derive(Clone, Copy, Default)]
pub struct Conditions<'a> {
    has_tags: bool,
    matched: bool,
    modified_since: Option<&'a [u8]>,
}

impl<'a> Conditions<'a> {
    /// Takes one field of the request; all but two are passed over. `tag` is the entity tag of the response, if it has
    /// one.
    #[inline]
    pub fn take(&mut self, name: &[u8], value: &'a [u8], tag: Option<&[u8]>) {
        // Lengths first: nearly every field is another one.
        match name.len() {
            13 if name.eq_ignore_ascii_case(b"if-none-match") => {
                self.has_tags = true;
                self.matched |= tag.is_some_and(|tag| lists(value, tag));
            }
            17 if name.eq_ignore_ascii_case(b"if-modified-since") => self.modified_since = Some(value),
            _ => {}
        }
    }

    /// Whether the client's representation is still good, so that 304 answers a GET or HEAD. `last_modified` is the
    /// response's field.
    pub fn fresh(&self, last_modified: Option<&[u8]>) -> bool {
        if self.has_tags {
            return self.matched;
        }
        match (self.modified_since, last_modified) {
            (Some(since), Some(modified)) => {
                matches!((date(since), date(modified)), (Some(since), Some(modified)) if modified <= since)
            }
            _ => false,
        }
    }
}

fn date(text: &[u8]) -> Option<std::time::SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(trim(text)).ok()?).ok()
}

/// Whether a value of `If-None-Match` lists the tag, by weak comparison (RFC 9110 section 8.8.3.2), or is `*`. What is
/// no entity tag ends the list.
fn lists(field: &[u8], tag: &[u8]) -> bool {
    if trim(field) == b"*" {
        return true;
    }
    let wanted = opaque(tag);
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
        if opaque(&rest[..length]) == wanted {
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
        assert_eq!(weak_tag(b""), *b"W/\"2d06800538d394c2\"");
        assert_ne!(weak_tag(b"a"), weak_tag(b"b"));
        assert!(is_entity_tag(&weak_tag(b"x")));
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
        let rows = [
            ("\"a\"", "\"a\"", true),
            ("W/\"a\"", "\"a\"", true),
            ("\"a\"", "W/\"a\"", true),
            ("\"b\", W/\"a\"", "\"a\"", true),
            (",, \"b\" ,\"a\"", "\"a\"", true),
            ("\"a,b\"", "\"a\"", false),
            ("\"x,\\\", \"a\"", "\"a\"", true),
            ("*", "\"a\"", true),
            (" * ", "\"a\"", true),
            ("*, \"a\"", "\"a\"", false),
            ("a", "\"a\"", false),
            ("\"a", "\"a\"", false),
            ("", "\"a\"", false),
            ("w/\"a\"", "\"a\"", false),
        ];
        for (field, tag, wanted) in rows {
            assert_eq!(lists(field.as_bytes(), tag.as_bytes()), wanted, "{field} {tag}");
        }
    }

    #[test]
    fn freshness() {
        const EARLY: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        const LATE: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
        type Row = (&'static [(&'static str, &'static str)], Option<&'static str>, bool);
        let rows: [Row; 9] = [
            (&[], Some(EARLY), false),
            (&[("If-Modified-Since", EARLY)], Some(EARLY), true),
            (&[("If-Modified-Since", LATE)], Some(EARLY), true),
            (&[("If-Modified-Since", EARLY)], Some(LATE), false),
            (&[("If-Modified-Since", "yesterday")], Some(EARLY), false),
            (&[("If-Modified-Since", EARLY)], None, false),
            (&[("IF-NONE-MATCH", "\"t\"")], None, true),
            (
                &[("If-None-Match", "\"u\""), ("If-Modified-Since", LATE)],
                Some(EARLY),
                false,
            ),
            (&[("If-None-Match", "\"u\""), ("If-None-Match", "\"t\"")], None, true),
        ];
        for (fields, modified, wanted) in rows {
            let mut conditions = Conditions::default();
            for (name, value) in fields {
                conditions.take(name.as_bytes(), value.as_bytes(), Some(b"\"t\""));
            }
            assert_eq!(conditions.fresh(modified.map(str::as_bytes)), wanted, "{fields:?}");
        }
    }
}
