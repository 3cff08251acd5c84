//! `fastslua.json`: `encode`, `decode`, `null`, `array`, `object`.

use super::guard::{Line, fail, guard, line};
use super::json_decode::{self, Manner};
use super::json_encode::{self, Style};
use super::stack::{Named, push_bytes, push_printable, string_at, type_name, wrong_type};
use super::state::{State, current};
use crate::json::InvalidUtf8;
use mlua::ffi::*;
use std::cell::Cell;
use std::os::raw::c_int;

/// Upvalue of `mark`, after the state: the metatable that marks.
const MARK: c_int = lua_upvalueindex(2);

/// `json.array(t)` and `json.object(t)`: marks the table, which is returned; a new one when there is none.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn mark(l: *mut lua_State) -> c_int {
    if lua_type(l, 1) <= LUA_TNIL {
        lua_createtable(l, 0, 0);
    } else if lua_type(l, 1) == LUA_TTABLE {
        lua_settop(l, 1);
    } else {
        wrong_type(l, 1, "value", "table");
    }
    lua_pushvalue(l, MARK);
    lua_setmetatable(l, -2);
    1
}

/// `json.encode(value[, options])`: the text. Raises with the path to what cannot be JSON.
///
/// SAFETY: R2: the walk runs guarded after its stack was asked for. R3: `push_bytes` copies the text out of the working
/// memory; a long text is copied at its second asking, from a second walk if a finalizer has used the memory meanwhile.
pub(super) unsafe extern "C-unwind" fn encode(l: *mut lua_State) -> c_int {
    let state: &State = current(l);
    let style = style(l, 2);
    lua_settop(l, 1);
    luaL_checkstack(l, json_encode::SLOTS, c"too many values for JSON".as_ptr());
    let fault = Cell::new(Line::new());
    let walked = Cell::new(0);
    let pushed = push_bytes(l, |emit| {
        let scratch = &mut *state.scratch.borrow_mut();
        if walked.get() == 0 || walked.get() != scratch.walks {
            let mut words = Line::new();
            scratch.reset();
            if !json_encode::encode(l, state, scratch, 1, style, &mut words) {
                return fault.set(words);
            }
            walked.set(scratch.walks);
        }
        emit(&scratch.bytes);
    });
    guard(l, || state.scratch.borrow_mut().reset());
    if !pushed {
        let fault = fault.get();
        if fault.is_empty() {
            fail(l, &line!("the value was changed while it was being encoded"));
        }
        fail(l, &fault);
    }
    1
}

/// The options of `encode`: `invalid_utf8`, `empty`, `sort_keys`, `max_depth`, `max_bytes`.
///
/// SAFETY: R2: only `lua_next` and reads of strings inside the guard.
pub(super) unsafe fn style(l: *mut lua_State, index: c_int) -> Style {
    let mut style = Style::DEFAULT;
    each_option(l, index, |name, value| {
        match (name, value) {
            (b"invalid_utf8", _) => return Some(utf8_policy(value, &mut style.invalid_utf8)),
            (b"empty", Setting::Text(b"object")) => style.empty_array = false,
            (b"empty", Setting::Text(b"array")) => style.empty_array = true,
            (b"sort_keys", Setting::Flag(sorted)) => style.sorted = sorted,
            (b"max_depth", _) => return Some(count(value, json_encode::DEPTH_MAX, &mut style.depth_max)),
            (b"max_bytes", _) => return Some(count(value, json_encode::BYTES_MAX, &mut style.bytes_max)),
            (b"empty" | b"sort_keys", _) => return Some(false),
            _ => return None,
        }
        Some(true)
    });
    style
}

/// What an option was given.
#[derive(Clone, Copy)]
enum Setting<'a> {
    Text(&'a [u8]),
    Flag(bool),
    Number(f64),
    Other,
}

fn utf8_policy(value: Setting<'_>, policy: &mut InvalidUtf8) -> bool {
    *policy = match value {
        Setting::Text(b"refuse") => InvalidUtf8::Refuse,
        Setting::Text(b"replace") => InvalidUtf8::Replace,
        _ => return false,
    };
    true
}

/// An integer from 1 to `most`.
fn count(value: Setting<'_>, most: usize, place: &mut usize) -> bool {
    match value {
        Setting::Number(number) if number >= 1.0 && number <= most as f64 && number.fract() == 0.0 => {
            *place = number as usize;
            true
        }
        _ => false,
    }
}

/// `json.decode(text[, options])`: the value, or `nil` and what is wrong with the text.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn decode(l: *mut lua_State) -> c_int {
    if lua_type(l, 1) != LUA_TSTRING {
        wrong_type(l, 1, "text", "string");
    }
    let mut manner = Manner::DEFAULT;
    each_option(l, 2, |name, value| match name {
        b"invalid_utf8" => Some(utf8_policy(value, &mut manner.invalid_utf8)),
        b"max_depth" => Some(count(value, json_decode::DEPTH_MAX, &mut manner.depth_max)),
        _ => None,
    });
    lua_settop(l, 1);
    let mut fault = Line::new();
    if json_decode::push_value(l, 1, manner, &mut fault) {
        return 1;
    }
    lua_pushnil(l);
    super::guard::push_line(l, &fault);
    2
}

/// Hands every option of the table at `index`, if there is one, to `take`, which tells whether it can be that; raises for
/// one that cannot, and for one that it does not know (`None`).
///
/// SAFETY: R1: plain data only. Names and values lie in strings on the stack.
unsafe fn each_option(l: *mut lua_State, index: c_int, mut take: impl FnMut(&[u8], Setting<'_>) -> Option<bool>) {
    if lua_type(l, index) <= LUA_TNIL {
        return;
    }
    if lua_type(l, index) != LUA_TTABLE {
        wrong_type(l, index, "options", "table");
    }
    lua_pushnil(l);
    while lua_next(l, index) != 0 {
        let name = string_at(l, -2).unwrap_or_default();
        let kind = type_name(l, -1);
        let value = match lua_type(l, -1) {
            LUA_TSTRING => Setting::Text(string_at(l, -1).unwrap_or_default()),
            LUA_TBOOLEAN => Setting::Flag(lua_toboolean(l, -1) != 0),
            LUA_TNUMBER => Setting::Number(lua_tonumber(l, -1)),
            _ => Setting::Other,
        };
        let taken = take(name, value);
        if taken != Some(true) {
            let message = guard(l, || {
                let mut message = Line::new();
                if taken.is_none() {
                    message.push(b"unknown option '");
                    push_printable(&mut message, name);
                    message.push(b"'");
                    return message;
                }
                message.push(b"option '");
                push_printable(&mut message, name);
                message.push(b"' cannot be ");
                match value {
                    Setting::Text(text) => push_printable(&mut message, text),
                    Setting::Flag(flag) => message.push(line!("{flag}").bytes()),
                    Setting::Number(number) => message.push(line!("{number}").bytes()),
                    Setting::Other => message.push(line!("{}", Named(kind)).bytes()),
                }
                message
            });
            fail(l, &message);
        }
        lua_settop(l, -2);
    }
}
