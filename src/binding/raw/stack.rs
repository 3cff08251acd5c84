//! Arguments from Lua and results to Lua.
//!
//! It may assume that the stack has the `LUA_MINSTACK` slots every C function starts with. It must never hand out memory
//! that a collection could free, nor read it after an allocation.

use super::guard::{Line, fail, guard, line};
use mlua::ffi::*;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::raw::c_int;

/// Strings up to this long are copied through the frame, longer ones through memory of Lua's.
const FRAME_BYTES: usize = 512;

/// Where a copy ended up.
#[derive(Clone, Copy)]
enum Copied {
    Absent,
    Frame(usize),
    Large(usize),
}

/// Pushes the string that `read` finds in Rust memory; `false` and nothing pushed when it finds none.
///
/// SAFETY: R2, R3: `read` runs guarded, its bytes are copied while Lua stands still, and Lua reads the copy. `read` is
/// called a second time for a long string, since the allocation of the copy's place may have run finalizers.
#[inline]
pub(super) unsafe fn push_bytes(l: *mut lua_State, read: impl Fn(&mut dyn FnMut(&[u8]))) -> bool {
    let mut frame = MaybeUninit::<[u8; FRAME_BYTES]>::uninit();
    let place = frame.as_mut_ptr().cast::<u8>();
    let copied = guard(l, || {
        let mut copied = Copied::Absent;
        read(&mut |bytes| {
            copied = if bytes.len() <= FRAME_BYTES {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len());
                Copied::Frame(bytes.len())
            } else {
                Copied::Large(bytes.len())
            };
        });
        copied
    });
    match copied {
        Copied::Absent => false,
        Copied::Frame(length) => {
            lua_pushlstring_(l, place.cast(), length);
            true
        }
        Copied::Large(length) => push_large(l, length, &read),
    }
}

/// SAFETY: as `push_bytes`; the userdata lies on the stack, so it lives until the string is made.
#[cold]
unsafe fn push_large(l: *mut lua_State, length: usize, read: &impl Fn(&mut dyn FnMut(&[u8]))) -> bool {
    let place = lua_newuserdata(l, length).cast::<u8>();
    let same = guard(l, || {
        let mut same = false;
        read(&mut |bytes| {
            same = bytes.len() == length;
            if same {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, length);
            }
        });
        same
    });
    if same {
        lua_pushlstring_(l, place.cast(), length);
        lua_remove(l, -2);
    } else {
        lua_settop(l, -2);
    }
    same
}

/// Pushes a literal.
///
/// SAFETY: a literal lives for ever.
pub(super) unsafe fn push_literal(l: *mut lua_State, text: &'static str) {
    lua_pushlstring_(l, text.as_ptr().cast(), text.len());
}

/// Sets `table[name]` to the value on top, and pops it. `table` is absolute or pseudo.
///
/// SAFETY: R1: nothing is alive here. Raw, so no metamethod runs.
pub(super) unsafe fn set_field(l: *mut lua_State, table: c_int, name: &'static str) {
    push_literal(l, name);
    lua_insert(l, -2);
    lua_rawset(l, table);
}

/// The bytes of a string on the stack; `None` for anything else (a number is not converted: that would allocate).
///
/// SAFETY: the string lies on the caller's stack and has to stay there as long as the slice is used.
#[inline]
pub(super) unsafe fn string_at<'a>(l: *mut lua_State, index: c_int) -> Option<&'a [u8]> {
    if lua_type(l, index) != LUA_TSTRING {
        return None;
    }
    let mut length = 0;
    let start = lua_tolstring(l, index, &mut length);
    Some(std::slice::from_raw_parts(start.cast(), length))
}

/// A string or number argument as text. `what` names it in the error.
///
/// SAFETY: as `string_at`; a number is converted in its slot, which makes it a string that the slot holds.
#[inline]
pub(super) unsafe fn text_arg<'a>(l: *mut lua_State, index: c_int, what: &str) -> &'a [u8] {
    let kind = lua_type(l, index);
    if kind != LUA_TSTRING && kind != LUA_TNUMBER {
        wrong_type(l, index, what, "string");
    }
    let mut length = 0;
    let start = lua_tolstring(l, index, &mut length);
    std::slice::from_raw_parts(start.cast(), length)
}

/// A number argument; no string is taken for one.
///
/// SAFETY: R1: nothing is alive here.
pub(super) unsafe fn number_arg(l: *mut lua_State, index: c_int, what: &str) -> f64 {
    if lua_type(l, index) != LUA_TNUMBER {
        wrong_type(l, index, what, "number");
    }
    lua_tonumber(l, index)
}

/// Names in one call, at most: the stack has to hold them.
const NAMES_MAX: usize = 200;

/// Lays out on the stack the names from `first` on, which are the last arguments of `what`: strings, or one list of
/// them. Gives the place of the last; there is at least one.
///
/// SAFETY: R1: room is asked for before anything is pushed.
pub(super) unsafe fn spread(l: *mut lua_State, first: c_int, what: &str) -> c_int {
    if lua_type(l, first) == LUA_TTABLE {
        let count = lua_objlen(l, first);
        if count > NAMES_MAX {
            fail(l, &line!("{what} takes at most {NAMES_MAX} names, got {count}"));
        }
        luaL_checkstack(l, count as c_int + 8, c"too many names".as_ptr());
        lua_settop(l, first);
        for at in 1..=count {
            lua_rawgeti(l, first, at as lua_Integer);
        }
        lua_remove(l, first);
    }
    let last = lua_gettop(l);
    if last < first {
        fail(l, &line!("{what} needs at least one name"));
    }
    for index in first..=last {
        if lua_type(l, index) != LUA_TSTRING {
            wrong_type(l, index, "each name", "string");
        }
    }
    last
}

/// Raises "`what` must be a `wanted`, got a `type`".
///
/// SAFETY: R1: nothing is alive here.
#[cold]
#[inline(never)]
pub(super) unsafe fn wrong_type(l: *mut lua_State, index: c_int, what: &str, wanted: &str) -> ! {
    let message = guard(l, || {
        line!("{what} must be a {wanted}, got {}", Named(type_name(l, index)))
    });
    fail(l, &message)
}

/// The name of the type at `index`, "no value" when nothing is there.
///
/// SAFETY: `lua_typename` gives a literal of the Lua library, and cannot raise.
pub(super) unsafe fn type_name(l: *mut lua_State, index: c_int) -> &'static str {
    let name = lua_typename(l, lua_type(l, index));
    CStr::from_ptr(name).to_str().unwrap_or("?")
}

/// A type's name with the article it needs in a sentence.
pub(super) struct Named(pub(super) &'static str);

impl std::fmt::Display for Named {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            "nil" | "no value" => formatter.write_str(self.0),
            name => write!(formatter, "a {name}"),
        }
    }
}

/// Bytes as text for a message: what is not printable ASCII shows as `?`.
pub(super) fn push_printable(line: &mut Line, bytes: &[u8]) {
    for &byte in bytes.iter().take(200) {
        line.push(&[if (0x20..0x7f).contains(&byte) { byte } else { b'?' }]);
    }
}
