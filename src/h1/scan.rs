//! Byte classes and the resumable search for the end of a head.

/// True for a token (RFC 9110 5.6.2): at least one tchar and nothing else.
pub(super) fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|&b| is_tchar(b))
}

/// True for a byte that a token may contain.
pub(super) fn is_tchar(byte: u8) -> bool {
    TCHAR[byte as usize]
}

/// True when every byte may stand in a field value (RFC 9110 5.5): visible ASCII, space, tab, 0x80 and above.
pub(super) fn is_field_value(text: &[u8]) -> bool {
    text.iter().all(|&b| (b >= b' ' && b != 0x7f) || b == b'\t')
}

static TCHAR: [bool; 256] = tchar_table();

const fn tchar_table() -> [bool; 256] {
    let mut table = [false; 256];
    let marks = b"!#$%&'*+-.^_`|~";
    let mut i = 0;
    while i < 256 {
        table[i] = (i as u8).is_ascii_alphanumeric();
        i += 1;
    }
    i = 0;
    while i < marks.len() {
        table[marks[i] as usize] = true;
        i += 1;
    }
    table
}
