//! JSON to Lua values.
//!
//! The text is a Lua string on the stack, so it stays while values are made. Making values allocates, and so may run
//! finalizers, which may decode themselves: the working memory is only borrowed between two API calls.

use super::guard::{Line, guard, plain};
use super::stack::{push_bytes, string_at};
use super::state::{ARRAY, State, current, push_registry};
use crate::json::{DecodeOptions, InvalidUtf8, Reader, Token};
use mlua::ffi::*;
use std::fmt::Write;
use std::os::raw::c_int;

/// Tables inside one another, at most.
pub(super) const DEPTH_MAX: usize = 128;

/// How a text is read.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) invalid_utf8: InvalidUtf8,
    /// Containers inside one another, up to [`DEPTH_MAX`].
    pub(super) depth_max: usize,
}

impl Manner {
    pub(super) const DEFAULT: Self = Self {
        invalid_utf8: InvalidUtf8::Refuse,
        depth_max: DEPTH_MAX,
    };
}

/// A token as plain data; strings are told by where they lie.
#[derive(Clone, Copy)]
enum Piece {
    Null,
    True,
    False,
    Number(f64),
    /// A value or a name within the text.
    Text {
        start: *const u8,
        length: usize,
    },
    /// A value or a name that was put together in working memory.
    Composed,
    ArrayStart,
    ArrayEnd,
    ObjectStart,
    ObjectEnd,
    End,
    Fault,
}

/// Pushes the value of the text at `index` (absolute); or writes why there is none, and pushes nothing.
///
/// SAFETY: R1: `Reader` and everything else here is plain data. R3: see the head of this file.
pub(super) unsafe fn push_value(l: *mut lua_State, index: c_int, manner: Manner, fault: &mut Line) -> bool {
    let top = lua_gettop(l);
    let text = string_at(l, index).unwrap_or_default();
    luaL_checkstack(l, 2 * DEPTH_MAX as c_int + 10, c"too deep".as_ptr());
    let options = DecodeOptions {
        depth_max: manner.depth_max as u32,
        invalid_utf8: manner.invalid_utf8,
    };
    let mut reader = plain(Reader::new(text, options));
    // How many elements each open array has; `OBJECT` for an object.
    let mut counts = [0usize; DEPTH_MAX + 1];
    let mut depth = 0;
    loop {
        let before = reader.clone();
        let (piece, key) = guard(l, || next(l, text, &mut reader, fault));
        match piece {
            Piece::Fault => {
                lua_settop(l, top);
                return false;
            }
            Piece::End => return true,
            Piece::ArrayStart | Piece::ObjectStart => {
                lua_createtable(l, 0, 0);
                depth += 1;
                counts[depth] = if matches!(piece, Piece::ObjectStart) { OBJECT } else { 0 };
                continue;
            }
            Piece::ArrayEnd => {
                if counts[depth] == 0 {
                    mark_array(l);
                }
                depth -= 1;
            }
            Piece::ObjectEnd => depth -= 1,
            Piece::Null => lua_pushlightuserdata(l, std::ptr::null_mut()),
            Piece::True => lua_pushboolean(l, 1),
            Piece::False => lua_pushboolean(l, 0),
            Piece::Number(number) => lua_pushnumber(l, number),
            Piece::Text { start, length } => lua_pushlstring_(l, start.cast(), length),
            Piece::Composed => push_composed(l, &before),
        }
        if key {
            continue;
        }
        if depth > 0 {
            store(l, &mut counts[depth]);
        }
    }
}

/// An object has no count of elements.
const OBJECT: usize = usize::MAX;

/// Puts the value on top into the container below it.
///
/// SAFETY: R1.
unsafe fn store(l: *mut lua_State, count: &mut usize) {
    if *count == OBJECT {
        lua_rawset(l, -3);
    } else {
        *count += 1;
        lua_rawseti(l, -2, *count as lua_Integer);
    }
}

/// The next piece, and whether it is a name.
unsafe fn next(l: *mut lua_State, text: &[u8], reader: &mut Reader<'_>, fault: &mut Line) -> (Piece, bool) {
    let state: &State = current(l);
    let scratch = &mut *state.scratch.borrow_mut();
    // An encoder that was interrupted by a finalizer must not take this for its own text.
    scratch.walks += 1;
    let scratch = &mut scratch.bytes;
    let token = match reader.next(scratch) {
        Ok(token) => token,
        Err(error) => {
            let _ = write!(fault, "{error}");
            return (Piece::Fault, false);
        }
    };
    let within = |bytes: &[u8]| {
        if text.as_ptr_range().contains(&bytes.as_ptr()) || bytes.is_empty() {
            Piece::Text {
                start: bytes.as_ptr(),
                length: bytes.len(),
            }
        } else {
            Piece::Composed
        }
    };
    let piece = match token {
        Token::Null => Piece::Null,
        Token::True => Piece::True,
        Token::False => Piece::False,
        Token::Number(number) => Piece::Number(number),
        Token::String(bytes) => within(bytes),
        Token::Key(bytes) => return (within(bytes), true),
        Token::ArrayStart => Piece::ArrayStart,
        Token::ArrayEnd => Piece::ArrayEnd,
        Token::ObjectStart => Piece::ObjectStart,
        Token::ObjectEnd => Piece::ObjectEnd,
        Token::End => Piece::End,
    };
    (piece, false)
}

/// Pushes a string that has to be put together: read again from where the reader stood before it, so that the copy and
/// the push need no working memory to outlast an allocation.
///
/// SAFETY: R3: `push_bytes`.
unsafe fn push_composed(l: *mut lua_State, before: &Reader<'_>) {
    let state: &State = current(l);
    push_bytes(l, |emit| {
        let scratch = &mut *state.scratch.borrow_mut();
        scratch.walks += 1;
        let scratch = &mut scratch.bytes;
        if let Ok(Token::String(bytes) | Token::Key(bytes)) = before.clone().next(scratch) {
            emit(bytes);
        }
    });
}

/// Marks the empty table on top as an array, so that it is written as one again.
///
/// SAFETY: R1.
unsafe fn mark_array(l: *mut lua_State) {
    push_registry(l);
    super::stack::push_literal(l, ARRAY);
    lua_rawget(l, -2);
    lua_setmetatable(l, -3);
    lua_settop(l, -2);
}
