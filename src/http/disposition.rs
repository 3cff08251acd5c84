//! `Content-Disposition`: of a part of a form (RFC 7578 section 4.2) and of a download (RFC 6266), with file names in any
//! script (RFC 8187).

use super::grammar::{parameters, semicolons, unquote};
use super::urlencoded::{encode, percent_is_sound};
use std::borrow::Cow;

/// What a part of a form says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormData<'a> {
    /// The name of the form's field.
    pub name: Cow<'a, [u8]>,
    /// The name of the file, without the folders that a client may have sent before it; `None` when it is no file.
    pub filename: Option<Cow<'a, [u8]>>,
}

/// Takes a field's value apart; `None` when it is not `form-data` with a name.
pub fn form_data(value: &[u8]) -> Option<FormData<'_>> {
    let mut pieces = semicolons(value);
    if !pieces.next()?.eq_ignore_ascii_case(b"form-data") {
        return None;
    }
    let (mut name, mut plain, mut extended) = (None, None, None);
    for (parameter, value) in parameters(pieces.rest()) {
        if parameter.eq_ignore_ascii_case(b"name") {
            name.get_or_insert(value);
        } else if parameter.eq_ignore_ascii_case(b"filename") {
            plain.get_or_insert(value);
        } else if parameter.eq_ignore_ascii_case(b"filename*") && extended.is_none() {
            extended = extended_value(value);
        }
    }
    let filename = extended.or_else(|| plain.map(unquote));
    Some(FormData {
        name: unquote(name?),
        filename: filename.map(base_name),
    })
}

/// `UTF-8'language'percent-encoded` (RFC 8187 section 3.2.1); `None` in another charset, or malformed.
fn extended_value(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    let mut parts = value.splitn(3, |&byte| byte == b'\'');
    let charset = parts.next()?;
    parts.next()?;
    let text = parts.next()?;
    if !charset.eq_ignore_ascii_case(b"utf-8") || !percent_is_sound(text) {
        return None;
    }
    let decoded = Cow::from(percent_encoding::percent_decode(text));
    std::str::from_utf8(&decoded).is_ok().then_some(decoded)
}

/// What follows the last slash or backslash: a path from a client leads nowhere (RFC 7578 section 4.2).
fn base_name(name: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let Some(at) = memchr::memrchr2(b'/', b'\\', &name) else {
        return name;
    };
    match name {
        Cow::Borrowed(name) => Cow::Borrowed(&name[at + 1..]),
        Cow::Owned(mut name) => {
            name.drain(..=at);
            Cow::Owned(name)
        }
    }
}

/// Bytes of an extended value that need no percent sequence (`attr-char`, RFC 8187 section 3.2.1).
const ATTRIBUTE_BYTES: &[u8] = b"!#$&+-.^_`|~";

/// Appends `attachment`, with the file's name when there is one: as it is where it is plain text, and else a likeness in
/// ASCII for old clients before the true name.
pub fn write_attachment(filename: Option<&[u8]>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"attachment");
    let Some(filename) = filename else { return };
    let filename = base_name(Cow::Borrowed(filename));
    let plain = |byte: &u8| (0x20..0x7f).contains(byte) && *byte != b'%';
    out.extend_from_slice(b"; filename=\"");
    for byte in filename.iter() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            byte if plain(byte) => out.push(*byte),
            // One mark for each character of UTF-8, not for each byte.
            0x80..0xc0 => {}
            _ => out.push(b'?'),
        }
    }
    out.push(b'"');
    if !filename.iter().all(plain) && std::str::from_utf8(&filename).is_ok() {
        out.extend_from_slice(b"; filename*=UTF-8''");
        encode(&filename, ATTRIBUTE_BYTES, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_forms() {
        type Row = (&'static str, Option<(&'static str, Option<&'static str>)>);
        let rows: [Row; 14] = [
            ("form-data; name=a", Some(("a", None))),
            ("Form-Data; NAME=\"a b\"", Some(("a b", None))),
            (r#"form-data; name="a\"b""#, Some(("a\"b", None))),
            ("form-data; name=a; filename=\"x.png\"", Some(("a", Some("x.png")))),
            ("form-data; name=a; filename=\"\"", Some(("a", Some("")))),
            (
                r#"form-data; name=a; filename="C:\dir\x.png""#,
                Some(("a", Some("x.png"))),
            ),
            (
                "form-data; name=a; filename=\"../../etc/passwd\"",
                Some(("a", Some("passwd"))),
            ),
            ("form-data; name=a; filename=\"x;y\"", Some(("a", Some("x;y")))),
            (
                "form-data; name=a; filename=e; filename*=UTF-8''%C3%A9",
                Some(("a", Some("\u{e9}"))),
            ),
            ("form-data; name=a; filename*=utf-8'en'..%2Fx", Some(("a", Some("x")))),
            (
                "form-data; name=a; filename=e; filename*=UTF-8''%C3",
                Some(("a", Some("e"))),
            ),
            (
                "form-data; name=a; filename=e; filename*=latin1''%E9",
                Some(("a", Some("e"))),
            ),
            ("form-data", None),
            ("attachment; name=a", None),
        ];
        for (value, wanted) in rows {
            let wanted = wanted.map(|(name, filename)| FormData {
                name: Cow::from(name.as_bytes()),
                filename: filename.map(|filename| Cow::from(filename.as_bytes())),
            });
            assert_eq!(form_data(value.as_bytes()), wanted, "{value}");
        }
        assert_eq!(form_data(b""), None);
    }

    #[test]
    fn attachments() {
        let rows: [(Option<&[u8]>, &str); 7] = [
            (None, "attachment"),
            (Some(b"a b.txt"), "attachment; filename=\"a b.txt\""),
            (Some(b"/dir/x\\y.txt"), "attachment; filename=\"y.txt\""),
            (Some(b"a\"b"), "attachment; filename=\"a\\\"b\""),
            (
                Some("\u{e9}\u{20ac}.txt".as_bytes()),
                "attachment; filename=\"??.txt\"; filename*=UTF-8''%C3%A9%E2%82%AC.txt",
            ),
            (Some(b"5%41"), "attachment; filename=\"5?41\"; filename*=UTF-8''5%2541"),
            (Some(b"\r\n\xff"), "attachment; filename=\"???\""),
        ];
        for (filename, wanted) in rows {
            let mut out = Vec::new();
            write_attachment(filename, &mut out);
            assert_eq!(String::from_utf8(out).as_deref(), Ok(wanted));
        }
    }
}
