//! What an encoder is made of: strings and numbers, written behind what a buffer already holds.
//!
//! Structure (brackets, commas, colons) is the caller's. These functions allocate only to grow the buffer, and leave it
//! as it was when they refuse. They must never write text that a strict reader refuses.

use super::string::{plain_prefix, short_word};
use super::{EncodeError, InvalidUtf8};

/// Integers up to this magnitude have neighbours one apart in a double: 2^53.
const EXACT_INTEGER_MAX: u64 = 1 << 53;
/// U+FFFD in UTF-8.
pub(super) const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Writes a string with its quotes (RFC 8259 section 7): `"`, `\` and control characters below U+0020 are escaped,
/// all else stands as it is (`/` too: who puts JSON into HTML escapes `</` there).
/// Refuses text that is not UTF-8 when told so.
pub fn write_string(out: &mut Vec<u8>, text: &[u8], invalid: InvalidUtf8) -> Result<(), EncodeError> {
    let plain = plain_prefix(text);
    if plain.len < text.len() || plain.non_ascii {
        return write_special_string(out, text, invalid);
    }
    // Room for the quotes and for the word that a short text is copied as.
    out.reserve(text.len() + 2 + size_of::<u64>());
    out.push(b'"');
    push_short(out, text);
    out.push(b'"');
    Ok(())
}

/// Adds text that is mostly short: whole words are copied and cut, which needs no call.
#[inline]
fn push_short(out: &mut Vec<u8>, text: &[u8]) {
    let end = out.len() + text.len();
    match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) if text.len() <= 16 => {
            out.extend_from_slice(first);
            out.truncate(end - last.len());
            out.extend_from_slice(last);
        }
        (Some(_), _) => out.extend_from_slice(text),
        (None, _) => {
            out.extend_from_slice(&short_word(text).to_le_bytes());
            out.truncate(end);
        }
    }
}

/// Writes a string that has something to escape or may not be UTF-8.
fn write_special_string(out: &mut Vec<u8>, text: &[u8], invalid: InvalidUtf8) -> Result<(), EncodeError> {
    let start = out.len();
    out.reserve(text.len() + 2);
    out.push(b'"');
    if write_escaped(out, text)
        && let Err(error) = std::str::from_utf8(text)
    {
        out.truncate(start);
        if invalid == InvalidUtf8::Refuse {
            return Err(EncodeError::InvalidUtf8 {
                offset: error.valid_up_to(),
            });
        }
        out.push(b'"');
        for chunk in text.utf8_chunks() {
            write_escaped(out, chunk.valid().as_bytes());
            if !chunk.invalid().is_empty() {
                out.extend_from_slice(REPLACEMENT);
            }
        }
    }
    out.push(b'"');
    Ok(())
}

/// Writes the characters of a string without its quotes. True when one of them is not ASCII.
fn write_escaped(out: &mut Vec<u8>, mut text: &[u8]) -> bool {
    let mut non_ascii = false;
    loop {
        let plain = plain_prefix(text);
        non_ascii |= plain.non_ascii;
        out.extend_from_slice(&text[..plain.len]);
        let Some(&byte) = text.get(plain.len) else {
            return non_ascii;
        };
        write_escape(out, byte);
        text = &text[plain.len + 1..];
    }
}

/// Writes the escape of `"`, `\` or a control character.
fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let hex = |digit: u8| b"0123456789abcdef"[usize::from(digit & 15)];
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Writes the shortest text that reads back as the same double (RFC 8259 section 6). Integers of magnitude up to 2^53
/// are written as integers, minus zero as `-0`. Refuses NaN and the infinities, which JSON cannot say.
pub fn write_number(out: &mut Vec<u8>, number: f64) -> Result<(), EncodeError> {
    let integer = number as i64;
    if integer as f64 == number && integer.unsigned_abs() <= EXACT_INTEGER_MAX {
        if integer == 0 && number.is_sign_negative() {
            out.push(b'-');
        }
        write_integer(out, integer);
        return Ok(());
    }
    if !number.is_finite() {
        return Err(EncodeError::NotFinite);
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(number);
    // A whole number comes as "9007199254740994.0".
    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
    Ok(())
}

/// Writes an integer, exactly.
pub fn write_integer(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
