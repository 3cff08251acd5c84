//! Small functions that Lua has no good way to write: a steady clock, secrets compared in constant time, random ids, and
//! for the layers alone Base64.
//!
//! They need nothing of a server. None may keep or show what it compared or drew.

use super::guard::{fail, guard, line};
use super::stack::{number_arg, push_bytes, string_at, wrong_type};
use super::state::{State, current};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mlua::ffi::*;
use std::os::raw::c_int;
use subtle::{Choice, ConstantTimeEq};

/// For the module's table.
pub(super) const FUNCTIONS: [(&str, lua_CFunction); 3] = [
    ("now", now),
    ("constant_time_equal", constant_time_equal),
    ("random_hex", random_hex),
];

/// `fastslua.now()`: seconds since the library was loaded in this state, of a clock that never goes back or jumps.
///
/// SAFETY: R1: plain data only.
unsafe extern "C-unwind" fn now(l: *mut lua_State) -> c_int {
    let state: &State = current(l);
    lua_pushnumber(l, state.began.elapsed().as_secs_f64());
    1
}

/// `fastslua.constant_time_equal(given, expected)`: whether two strings are the same. How long it takes depends on the
/// length of `given` alone, which whoever sent it knows.
///
/// SAFETY: R2, R3: both strings lie on the stack while they are read, and nothing is allocated.
unsafe extern "C-unwind" fn constant_time_equal(l: *mut lua_State) -> c_int {
    let Some(given) = string_at(l, 1) else {
        wrong_type(l, 1, "given", "string")
    };
    let Some(expected) = string_at(l, 2) else {
        wrong_type(l, 2, "expected", "string")
    };
    let same = guard(l, || same_bytes(given, expected));
    lua_pushboolean(l, c_int::from(same));
    1
}

/// Compares as many bytes as were given, whatever is expected: a shorter secret is read again from its start, and an
/// empty one stands in for itself. The lengths are a part of the comparison like any byte.
fn same_bytes(given: &[u8], expected: &[u8]) -> bool {
    let against = if expected.is_empty() { given } else { expected };
    let bytes = given.iter().zip(against.iter().cycle());
    let same = bytes.fold(Choice::from(1), |same, (one, other)| same & one.ct_eq(other));
    bool::from(same & given.len().ct_eq(&expected.len()))
}

/// The most that `random_hex` draws at once.
const RANDOM_MAX: usize = 256;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// `fastslua.random_hex(bytes)`: that many random bytes of the system, at most 256, as lower-case hexadecimal digits.
///
/// SAFETY: R2, R3: the digits lie in the frame and are copied from there.
unsafe extern "C-unwind" fn random_hex(l: *mut lua_State) -> c_int {
    let wanted = number_arg(l, 1, "bytes");
    if wanted.fract() != 0.0 || !(1.0..=RANDOM_MAX as f64).contains(&wanted) {
        let message = guard(l, || {
            line!("bytes must be a whole number from 1 to {RANDOM_MAX}, got {wanted}")
        });
        fail(l, &message);
    }
    let count = wanted as usize;
    let mut drawn = [0; RANDOM_MAX];
    if !guard(l, || getrandom::fill(&mut drawn[..count]).is_ok()) {
        fail(l, &line!("the system gives no random bytes"));
    }
    let mut digits = [0; RANDOM_MAX * 2];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(&drawn[..count]) {
        pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    push_bytes(l, |emit| emit(&digits[..count * 2]));
    1
}

/// `base64_decode(text)`: the bytes, or nil when the text is no Base64 (RFC 4648 section 4: padded, in one piece, no bits
/// left over).
///
/// SAFETY: R1, R3: the text lies on the stack; the bytes' own memory is gone before they are pushed.
pub(super) unsafe extern "C-unwind" fn base64_decode(l: *mut lua_State) -> c_int {
    let Some(text) = string_at(l, 1) else {
        wrong_type(l, 1, "text", "string")
    };
    let found = push_bytes(l, |emit| {
        if let Ok(bytes) = STANDARD.decode(text) {
            emit(&bytes);
        }
    });
    c_int::from(found)
}
