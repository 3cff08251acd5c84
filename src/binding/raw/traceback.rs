//! Where an error was raised: the functions that were running, innermost first, as text.
//!
//! Functions are named as their callers call them, and nothing is searched for: looking each of them up among all loaded
//! modules, as later versions of Lua do, costs thirty times what this does, and a handler that fails may be asked for often.

use super::guard::{Line, push_line};
use super::stack::push_literal;
use mlua::ffi::*;
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::os::raw::c_int;

/// So many of the innermost and of the outermost functions are told of when the stack is deep.
const INNERMOST: c_int = 12;
const OUTERMOST: c_int = 10;

/// No more functions than that are counted.
const LEVELS_MAX: c_int = 1 << 24;

/// So many pieces of the text are on the stack at most: every C function has room for them, even where the stack has
/// overflowed and more room cannot be asked for.
const PIECES: c_int = 8;

/// Pushes the text of the running functions from `level` on; 0 is the function that calls this.
///
/// SAFETY: R1: lines are plain data. R3: what Lua tells of a function is copied to the line before anything allocates.
pub(super) unsafe fn push(l: *mut lua_State, level: c_int) {
    let before = lua_gettop(l);
    push_literal(l, "stack traceback:");
    let count = count_levels(l);
    let mut level = level;
    let skipped = level + INNERMOST..count - OUTERMOST;
    while level < count {
        if level == skipped.start && !skipped.is_empty() {
            push_literal(l, "\n\t...");
            level = skipped.end;
        }
        push_level(l, level);
        level += 1;
        let pieces = lua_gettop(l) - before;
        // The next turn of the loop adds two at most.
        if pieces > PIECES - 2 {
            lua_concat(l, pieces);
        }
    }
    lua_concat(l, lua_gettop(l) - before);
}

/// How many functions are running. The deeper one is, the longer Lua looks for it, so not all of them are asked for.
///
/// SAFETY: R1: plain data; neither allocates nor raises.
unsafe fn count_levels(l: *mut lua_State) -> c_int {
    let mut activation = std::mem::zeroed::<lua_Debug>();
    let mut is_there = |level: c_int| lua_getstack(l, level, &mut activation) != 0;
    // `there` is a level, or there is none; `beyond` is not, or is not asked for: PUC Lua counts tail calls, of which a loop
    // may have made any number.
    let (mut there, mut beyond) = (0, 1);
    while beyond < LEVELS_MAX && is_there(beyond) {
        there = beyond;
        beyond *= 2;
    }
    while there + 1 < beyond {
        let middle = there + (beyond - there) / 2;
        if is_there(middle) {
            there = middle;
        } else {
            beyond = middle;
        }
    }
    beyond
}

/// Pushes the line of one function.
///
/// SAFETY: as `push`. The strings of an activation record end with NUL, and Lua keeps them while the function runs.
unsafe fn push_level(l: *mut lua_State, level: c_int) {
    let mut activation = std::mem::zeroed::<lua_Debug>();
    if lua_getstack(l, level, &mut activation) == 0 || lua_getinfo(l, c"Sln".as_ptr(), &mut activation) == 0 {
        return;
    }
    let text = |text: *const c_char| {
        if text.is_null() {
            &b""[..]
        } else {
            CStr::from_ptr(text).to_bytes()
        }
    };
    let source = text(activation.short_src.as_ptr());
    let mut line = Line::new();
    line.push(b"\n\t");
    let what = text(activation.what);
    if what == b"tail" {
        line.push(b"(...tail calls...)");
        return push_line(l, &line);
    }
    line.push(source);
    // Writing to a line cuts and never fails.
    if activation.currentline > 0 {
        let _ = write!(line, ":{}", activation.currentline);
    }
    if !text(activation.namewhat).is_empty() {
        line.push(b": in function '");
        line.push(text(activation.name));
        line.push(b"'");
    } else if what == b"main" {
        line.push(b": in main chunk");
    } else if what == b"C" {
        line.push(b": in ?");
    } else {
        line.push(b": in function <");
        line.push(source);
        let _ = write!(line, ":{}>", activation.linedefined);
    }
    push_line(l, &line);
}
