//! Media types by the short names that scripts type, and the sentences of answers that need no handler.

/// Text without a declared type.
pub(super) const TEXT: &[u8] = b"text/plain; charset=utf-8";
/// HTML in UTF-8.
pub(super) const HTML: &[u8] = b"text/html; charset=utf-8";
/// JSON. UTF-8 by definition, so without a charset (RFC 8259 section 11).
pub(super) const JSON: &[u8] = b"application/json";

/// The media type of a short name or file extension; `None` when it is neither.
pub(super) fn of_short_name(name: &[u8]) -> Option<&'static [u8]> {
    Some(match name.strip_prefix(b".").unwrap_or(name) {
        b"text" | b"txt" => TEXT,
        b"html" | b"htm" => HTML,
        b"json" => JSON,
        b"css" => b"text/css; charset=utf-8",
        b"js" | b"mjs" => b"text/javascript; charset=utf-8",
        b"csv" => b"text/csv; charset=utf-8",
        b"md" => b"text/markdown; charset=utf-8",
        b"xml" => b"application/xml; charset=utf-8",
        b"svg" => b"image/svg+xml; charset=utf-8",
        b"png" => b"image/png",
        b"jpg" | b"jpeg" => b"image/jpeg",
        b"gif" => b"image/gif",
        b"webp" => b"image/webp",
        b"ico" => b"image/x-icon",
        b"woff2" => b"font/woff2",
        b"wasm" => b"application/wasm",
        b"pdf" => b"application/pdf",
        b"zip" => b"application/zip",
        b"bin" => b"application/octet-stream",
        b"form" => b"application/x-www-form-urlencoded",
        _ => return None,
    })
}

/// What `res:type(name)` sets: a short name's type, or the name as it is. A text type without parameters is said to be
/// UTF-8, which browsers otherwise guess.
pub(super) fn write_type(name: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(of_short_name(name).unwrap_or(name));
    if name.len() > 5 && name[..5].eq_ignore_ascii_case(b"text/") && !name.contains(&b';') {
        out.extend_from_slice(b"; charset=utf-8");
    }
}

/// What a script may give as a type: a short name, or something with a slash.
pub(super) fn is_type(name: &[u8]) -> bool {
    of_short_name(name).is_some() || name.contains(&b'/')
}
