//! Reads one number (RFC 8259 section 6) as the nearest double.
//!
//! Most numbers are short: where the digits fit 2^53 and the power of ten is one a double holds exactly, one
//! multiplication or division rounds once and is therefore exact. All others go to the standard library.

use super::JsonErrorKind;

/// 10^0 to 10^22: the powers of ten that a double holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];
/// As many digits always fit 64 bits.
const DIGITS_MAX: usize = 19;
const MANTISSA_MAX: u64 = 1 << 53;

/// Reads the number that begins at `start` (a digit or `-`); returns it with the offset behind it.
/// An error names the offset of what is wrong.
pub(super) fn read(input: &[u8], start: usize) -> Result<(f64, usize), (JsonErrorKind, usize)> {
    let negative = input[start] == b'-';
    let integer_start = start + usize::from(negative);
    let mut mantissa = 0u64;
    let integer_end = read_digits(input, integer_start, &mut mantissa)?;
    if integer_end - integer_start > 1 && input[integer_start] == b'0' {
        return Err((JsonErrorKind::BadNumber, integer_start));
    }
    let mut end = integer_end;
    let mut digits = integer_end - integer_start;
    let mut fraction_digits = 0;
    if input.get(end) == Some(&b'.') {
        end = read_digits(input, integer_end + 1, &mut mantissa)?;
        fraction_digits = end - (integer_end + 1);
        digits += fraction_digits;
    }
    let mut exponent = Some(0);
    if matches!(input.get(end), Some(b'e' | b'E')) {
        (exponent, end) = read_exponent(input, end + 1)?;
    }
    if digits <= DIGITS_MAX
        && mantissa <= MANTISSA_MAX
        && let Some(exponent) = exponent
        && let Some(value) = scale(mantissa as f64, exponent - fraction_digits as i32)
    {
        return Ok((if negative { -value } else { value }, end));
    }
    read_slowly(input, start, end)
}

/// Adds the digits from `at` on to `mantissa` (wrapping when there are too many); at least one must stand there.
#[inline]
fn read_digits(input: &[u8], at: usize, mantissa: &mut u64) -> Result<usize, (JsonErrorKind, usize)> {
    let mut end = at;
    while let Some(digit) = input.get(end).map(|byte| byte.wrapping_sub(b'0'))
        && digit <= 9
    {
        *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    if end > at {
        return Ok(end);
    }
    let kind = if end == input.len() {
        JsonErrorKind::UnexpectedEnd
    } else {
        JsonErrorKind::BadNumber
    };
    Err((kind, end))
}

/// Reads what follows `e`: the exponent, none when it is long, and the offset behind it.
fn read_exponent(input: &[u8], at: usize) -> Result<(Option<i32>, usize), (JsonErrorKind, usize)> {
    let negative = input.get(at) == Some(&b'-');
    let digits_start = at + usize::from(matches!(input.get(at), Some(b'+' | b'-')));
    let mut magnitude = 0;
    let end = read_digits(input, digits_start, &mut magnitude)?;
    if end - digits_start > 4 {
        return Ok((None, end));
    }
    let magnitude = magnitude as i32;
    Ok((Some(if negative { -magnitude } else { magnitude }), end))
}

/// `mantissa` times a power of ten, where that takes one exact rounding.
#[inline]
fn scale(mantissa: f64, exponent: i32) -> Option<f64> {
    let power = EXACT_POWERS.get(exponent.unsigned_abs() as usize)?;
    Some(if exponent < 0 {
        mantissa / power
    } else {
        mantissa * power
    })
}

/// Lets the standard library read `input[start..end]`, whose grammar has been checked.
#[cold]
fn read_slowly(input: &[u8], start: usize, end: usize) -> Result<(f64, usize), (JsonErrorKind, usize)> {
    let text = std::str::from_utf8(&input[start..end]).ok();
    match text.and_then(|text| text.parse::<f64>().ok()) {
        Some(value) if value.is_finite() => Ok((value, end)),
        Some(_) => Err((JsonErrorKind::NumberRange, start)),
        None => Err((JsonErrorKind::BadNumber, start)),
    }
}
