//! What `req` gives as tables: query, header fields; and the lists of those that repeat.
//!
//! A table is made when it is asked for and stays with its handle. One name or value at a time is copied while Lua
//! stands still.

use super::guard::{guard, plain};
use super::handle::{self, Handle, Table};
use super::params::must_be_text;
use super::request::{HEADERS_METATABLE, must_live, of_self, push_text, query_of, with};
use super::stack::{push_bytes, push_literal, string_at, text_arg, wrong_type};
use crate::http::urlencoded::{pair, pieces};
use mlua::ffi::*;
use std::os::raw::c_int;

/// The table of query values: decoded, the first of each name.
///
/// SAFETY: R3: the pieces are read from a Lua string that lies on the stack.
pub(super) unsafe fn push_query(l: *mut lua_State, handle: &Handle) -> bool {
    if !push_text(l, handle, |request| Some(query_of(request))) {
        return false;
    }
    push_pairs(l, lua_gettop(l));
    handle::keep_table(l, handle, Table::Query);
    true
}

/// Pushes the table of the pairs in the string at `index` (absolute): decoded, the first of each name.
///
/// SAFETY: R3: the pieces are read from a Lua string that lies on the stack.
pub(super) unsafe fn push_pairs(l: *mut lua_State, index: c_int) {
    lua_createtable(l, 0, 4);
    let table = lua_gettop(l);
    each_piece(l, index, |l, piece| {
        push_pair_part(l, piece, false);
        lua_pushvalue(l, -1);
        lua_rawget(l, table);
        let fresh = lua_type(l, -1) == LUA_TNIL;
        lua_settop(l, -2);
        if fresh {
            push_pair_part(l, piece, true);
            lua_rawset(l, table);
        } else {
            lua_settop(l, -2);
        }
    });
}

/// Pushes the list of all values of one name among the pairs in the string at `index` (absolute).
///
/// SAFETY: R3: pieces of the Lua string; `wanted` lies in another one on the caller's stack.
pub(super) unsafe fn push_values(l: *mut lua_State, index: c_int, wanted: &[u8]) {
    lua_createtable(l, 1, 0);
    let table = lua_gettop(l);
    each_piece(l, index, |l, piece| {
        let same = guard(l, || *pair(piece).0 == *wanted);
        if same {
            push_pair_part(l, piece, true);
            let next = lua_objlen(l, table) as lua_Integer + 1;
            lua_rawseti(l, table, next);
        }
    });
}

/// Calls `each` with every piece of the text at `index`.
///
/// SAFETY: R1: slices of a string that stays at `index` have no destructor, and neither has the iterator over them.
unsafe fn each_piece(l: *mut lua_State, index: c_int, each: impl Fn(*mut lua_State, &[u8])) {
    let text = string_at(l, index).unwrap_or_default();
    for piece in plain(pieces(text)) {
        each(l, piece);
    }
}

/// Pushes the decoded name or value of a piece; raises 400 when it is not UTF-8.
///
/// SAFETY: R2, R3.
unsafe fn push_pair_part(l: *mut lua_State, piece: &[u8], value: bool) {
    push_bytes(l, |emit| {
        let (name, of_name) = pair(piece);
        emit(if value { &of_name } else { &name });
    });
    must_be_text(l);
}

/// The table of fields: names in lower case, repeats joined. Its metatable finds names in any case.
///
/// SAFETY: R3: one name or value at a time.
pub(super) unsafe fn push_headers(l: *mut lua_State, handle: &Handle) -> bool {
    let Some(count) = guard(l, || with(handle, |request| request.head().fields.len())) else {
        return false;
    };
    lua_createtable(l, 0, count as c_int);
    for at in 0..count {
        if !push_field_name(l, handle, at) || !push_field_value(l, handle, at) {
            break;
        }
        lua_pushvalue(l, -2);
        lua_rawget(l, 3);
        if lua_type(l, -1) == LUA_TNIL {
            lua_settop(l, -2);
        } else {
            // name value earlier: the list is one value (RFC 9110 section 5.3), cookies are one string (RFC 6265).
            let cookie = string_at(l, -3) == Some(b"cookie");
            lua_insert(l, -2);
            if cookie {
                push_literal(l, "; ");
            } else {
                push_literal(l, ", ");
            }
            lua_insert(l, -2);
            lua_concat(l, 3);
        }
        lua_rawset(l, 3);
    }
    lua_settop(l, 3);
    lua_pushvalue(l, HEADERS_METATABLE);
    lua_setmetatable(l, 3);
    handle::keep_table(l, handle, Table::Headers);
    true
}

/// SAFETY: R3.
unsafe fn push_field_name(l: *mut lua_State, handle: &Handle, at: usize) -> bool {
    push_bytes(l, |emit| {
        with(handle, |request| {
            if let Some(field) = request.head().fields.get(at) {
                emit(&request.text(field.name).to_ascii_lowercase());
            }
        });
    })
}

/// SAFETY: R3.
pub(super) unsafe fn push_field_value(l: *mut lua_State, handle: &Handle, at: usize) -> bool {
    push_bytes(l, |emit| {
        with(handle, |request| {
            if let Some(field) = request.head().fields.get(at) {
                emit(request.text(field.value));
            }
        });
    })
}

/// `__index` of a table of headers: the name in lower case.
///
/// SAFETY: R3: the name lies in the frame. A program can get at this function by the metatable, so what is at 1 has to be
/// looked at.
pub(super) unsafe extern "C-unwind" fn headers_index(l: *mut lua_State) -> c_int {
    if lua_type(l, 1) != LUA_TTABLE {
        wrong_type(l, 1, "headers", "table");
    }
    let Some(name) = string_at(l, 2) else { return 0 };
    if !name.iter().any(u8::is_ascii_uppercase) {
        return 0;
    }
    push_bytes(l, |emit| emit(&name.to_ascii_lowercase()));
    lua_rawget(l, 1);
    1
}

/// `req:header_all(name)`: every field of that name, in order.
///
/// SAFETY: R3; the name lies in a string at 2.
pub(super) unsafe extern "C-unwind" fn header_all(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let name = text_arg(l, 2, "name");
    must_live(l, handle, "req:header_all");
    lua_createtable(l, 1, 0);
    let mut found = 0;
    let mut at = 0;
    loop {
        let next = guard(l, || {
            with(handle, |request| {
                let same = |field: &crate::h1::Field| request.text(field.name).eq_ignore_ascii_case(name);
                let rest = request.head().fields.get(at..)?;
                rest.iter().position(same).map(|found| at + found)
            })
            .flatten()
        });
        let Some(place) = next else { return 1 };
        if push_field_value(l, handle, place) {
            found += 1;
            lua_rawseti(l, -2, found);
        }
        at = place + 1;
    }
}

/// `req:query_all(name)`: every value of that name, decoded, in order.
///
/// SAFETY: R3: pieces of the Lua string at 3.
pub(super) unsafe extern "C-unwind" fn query_all(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let wanted = text_arg(l, 2, "name");
    lua_settop(l, 2);
    must_live(l, handle, "req:query_all");
    push_text(l, handle, |request| Some(query_of(request)));
    push_values(l, 3, wanted);
    1
}
