//! References to other resources in fields of a response: `Location` (RFC 9110 section 10.2.2) and `Link` (RFC 8288).

use super::urlencoded::encode;

/// What a URI reference holds beside letters and digits (RFC 3986 section 2); the percent sign stays, so what is encoded
/// already is not encoded again.
const URI_BYTES: &[u8] = b"-._~:/?#[]@!$&'()*+,;=%";

/// Appends a reference with every byte that has no place in one as a percent sequence. So a line break cannot end the
/// field, and a backslash, which browsers take for a slash, does not lead to another host.
pub fn write_reference(reference: &[u8], out: &mut Vec<u8>) {
    encode(reference, URI_BYTES, out);
}

/// Appends `<reference>; rel="relation"`; after a comma where something stands before. The relation is refused, and
/// nothing appended, when it has bytes that are not of a relation type.
pub fn write_link(reference: &[u8], relation: &[u8], out: &mut Vec<u8>) -> bool {
    let sound = |byte: &u8| byte.is_ascii_graphic() && !b"\"\\<>,;".contains(byte) || *byte == b' ';
    if relation.is_empty() || !relation.iter().all(sound) {
        return false;
    }
    if !out.is_empty() {
        out.extend_from_slice(b", ");
    }
    out.push(b'<');
    write_reference(reference, out);
    out.extend_from_slice(b">; rel=\"");
    out.extend_from_slice(relation);
    out.push(b'"');
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        let rows = [
            ("/a/b?c=d#e", "/a/b?c=d#e"),
            ("../x", "../x"),
            ("http://[::1]:80/%41", "http://[::1]:80/%41"),
            ("/a b\r\nX: y", "/a%20b%0D%0AX:%20y"),
            ("/\\evil.test", "/%5Cevil.test"),
            ("/\u{e9}", "/%C3%A9"),
            ("<\">", "%3C%22%3E"),
        ];
        for (reference, wanted) in rows {
            let mut out = Vec::new();
            write_reference(reference.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).as_deref(), Ok(wanted));
        }
    }

    #[test]
    fn links() {
        let mut out = Vec::new();
        assert!(write_link(b"/a>b", b"next", &mut out));
        assert!(write_link(b"/c", b"prev first", &mut out));
        assert!(!write_link(b"/c", b"\"", &mut out));
        assert!(!write_link(b"/c", b"", &mut out));
        assert_eq!(out, b"</a%3Eb>; rel=\"next\", </c>; rel=\"prev first\"");
    }
}
