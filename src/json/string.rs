//! Strings (RFC 8259 section 7): the scan for what cannot stand for itself, and the way back from escapes.
//!
//! A string without escapes is a range of the text it stands in; only one with escapes (or with bytes to replace) is put
//! together in the caller's scratch buffer.

use super::encode::REPLACEMENT;
use super::{InvalidUtf8, JsonErrorKind};

/// Where in the text something is wrong.
type Failure = (JsonErrorKind, usize);

/// How much of a text stands for itself.
#[derive(Clone, Copy)]
pub(super) struct Plain {
    /// Bytes before the first `"`, `\` or control character below U+0020.
    pub len: usize,
    /// The eight-byte words looked at hold a byte above 0x7f: perhaps one behind `len`, never one missed before it.
    pub non_ascii: bool,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The high bit of each byte of `word` that ends a plain run. The lowest of them is exact; those above it may be false,
/// because a subtraction borrows from the byte above only where its own byte is a hit.
#[inline]
const fn special_bytes(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & HIGHS
}

/// Measures the plain run that `text` begins with, eight bytes at a time.
#[inline]
pub(super) fn plain_prefix(text: &[u8]) -> Plain {
    let mut rest = text;
    let mut seen = 0u64;
    while let Some((chunk, behind)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        seen |= word;
        let special = special_bytes(word);
        if special != 0 {
            let len = text.len() - rest.len() + (special.trailing_zeros() / 8) as usize;
            return Plain {
                len,
                non_ascii: seen & HIGHS != 0,
            };
        }
        rest = behind;
    }
    let (base, word) = match text.last_chunk::<8>() {
        // Bytes that have been looked at already are looked at again: they end nothing.
        Some(chunk) => (text.len() - 8, u64::from_le_bytes(*chunk)),
        None => (0, short_word(text)),
    };
    let special = special_bytes(word);
    let len = if special == 0 {
        text.len()
    } else {
        base + (special.trailing_zeros() / 8) as usize
    };
    Plain {
        len,
        non_ascii: (seen | word) & HIGHS != 0,
    }
}

/// Fewer than eight bytes as a word, with spaces behind them.
#[inline]
pub(super) fn short_word(text: &[u8]) -> u64 {
    let bits = 8 * text.len();
    let bytes = match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        // Two halves that overlap hold the same bytes where they do.
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (bits - 32)
        }
        _ => text.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    bytes | (ONES * 0x20) << bits
}

/// Reads the string whose first character stands at `start`, behind the opening quote.
/// Returns its bytes, in `input` or in `scratch`, and the offset behind the closing quote.
#[inline]
pub(super) fn read<'t, 'a: 't>(
    input: &'a [u8],
    start: usize,
    invalid: InvalidUtf8,
    scratch: &'t mut Vec<u8>,
) -> Result<(&'t [u8], usize), Failure> {
    let plain = plain_prefix(&input[start..]);
    let end = start + plain.len;
    if input.get(end) == Some(&b'"') && (!plain.non_ascii || std::str::from_utf8(&input[start..end]).is_ok()) {
        return Ok((&input[start..end], end + 1));
    }
    scratch.clear();
    let end = unescape(input, start, invalid, scratch)?;
    Ok((scratch, end))
}

/// Puts the string at `start` together in `scratch`; returns the offset behind the closing quote.
fn unescape(input: &[u8], start: usize, invalid: InvalidUtf8, scratch: &mut Vec<u8>) -> Result<usize, Failure> {
    let mut at = start;
    loop {
        let plain = plain_prefix(&input[at..]);
        let end = at + plain.len;
        if plain.non_ascii {
            // An escape between two parts of one character leaves both parts ill-formed, so runs are judged alone.
            push_utf8(&input[at..end], at, invalid, scratch)?;
        } else {
            scratch.extend_from_slice(&input[at..end]);
        }
        match input.get(end) {
            Some(b'"') => return Ok(end + 1),
            Some(b'\\') => at = read_escape(input, end, invalid, scratch)?,
            Some(_) => return Err((JsonErrorKind::ControlCharacter, end)),
            None => return Err((JsonErrorKind::UnexpectedEnd, end)),
        }
    }
}

/// Adds the run that stands at offset `at`, replacing what is ill-formed when told so.
fn push_utf8(run: &[u8], at: usize, invalid: InvalidUtf8, scratch: &mut Vec<u8>) -> Result<(), Failure> {
    let mut offset = at;
    for chunk in run.utf8_chunks() {
        scratch.extend_from_slice(chunk.valid().as_bytes());
        offset += chunk.valid().len();
        if chunk.invalid().is_empty() {
            continue;
        }
        if invalid == InvalidUtf8::Refuse {
            return Err((JsonErrorKind::IllFormedUtf8, offset));
        }
        scratch.extend_from_slice(REPLACEMENT);
        offset += chunk.invalid().len();
    }
    Ok(())
}

/// Reads the escape whose backslash stands at `at`; returns the offset behind it.
fn read_escape(input: &[u8], at: usize, invalid: InvalidUtf8, scratch: &mut Vec<u8>) -> Result<usize, Failure> {
    let Some(&letter) = input.get(at + 1) else {
        return Err((JsonErrorKind::UnexpectedEnd, input.len()));
    };
    let byte = match letter {
        b'"' | b'\\' | b'/' => letter,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'f' => 0x0c,
        b'u' => return read_unicode_escape(input, at, invalid, scratch),
        _ => return Err((JsonErrorKind::BadEscape, at)),
    };
    scratch.push(byte);
    Ok(at + 2)
}

/// Reads `\uXXXX`, or two of them that are a surrogate pair.
fn read_unicode_escape(input: &[u8], at: usize, invalid: InvalidUtf8, scratch: &mut Vec<u8>) -> Result<usize, Failure> {
    let first = read_unit(input, at)?;
    let mut end = at + 6;
    let mut code = first;
    if (0xd800..0xdc00).contains(&first)
        && input[end..].starts_with(b"\\u")
        && let second = read_unit(input, end)?
        && (0xdc00..0xe000).contains(&second)
    {
        code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        end += 6;
    }
    match char::from_u32(code) {
        Some(character) => scratch.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None if invalid == InvalidUtf8::Replace => scratch.extend_from_slice(REPLACEMENT),
        None => return Err((JsonErrorKind::LoneSurrogate, at)),
    }
    Ok(end)
}

/// The four hexadecimal digits of the `\uXXXX` at `at`.
fn read_unit(input: &[u8], at: usize) -> Result<u32, Failure> {
    let mut unit = 0;
    for offset in at + 2..at + 6 {
        let byte = *input.get(offset).ok_or((JsonErrorKind::UnexpectedEnd, input.len()))?;
        let digit = char::from(byte).to_digit(16).ok_or((JsonErrorKind::BadEscape, at))?;
        unit = unit << 4 | digit;
    }
    Ok(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_ends_a_run_or_does_not() {
        for byte in 0..=u8::MAX {
            for place in 0..20 {
                for filler in [b'a', 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xff] {
                    let mut text = [filler; 20];
                    text[place] = byte;
                    let special = byte < 0x20 || byte == b'"' || byte == b'\\';
                    let plain = plain_prefix(&text);
                    assert_eq!(
                        plain.len,
                        if special { place } else { 20 },
                        "{byte:#x} at {place} in {filler:#x}"
                    );
                    assert!(plain.non_ascii || text[..plain.len].is_ascii());
                    for end in place + 1..20 {
                        let len = if special { place } else { end };
                        assert_eq!(
                            plain_prefix(&text[..end]).len,
                            len,
                            "{byte:#x} at {place} of {end} in {filler:#x}"
                        );
                    }
                }
            }
        }
    }
}
