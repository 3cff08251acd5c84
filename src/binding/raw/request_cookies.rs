//! `req.cookies` and `req:cookie(name)`: the cookies of a request, read when they are asked for. A malformed `Cookie`
//! header is 400 then, and only then.

use super::guard::{guard, line, plain};
use super::handle::{self, Handle, Table};
use super::report::raise_client_error;
use super::request::{must_live, of_self, with};
use super::request_tables::push_field_value;
use super::stack::{push_bytes, string_at, text_arg};
use crate::http::cookie::{CookieFault, cookies, decode_value};
use crate::server::Request;
use mlua::ffi::*;
use std::os::raw::c_int;

/// The values of the request's Cookie fields: one, by RFC 6265 section 5.4, but a proxy may have split it.
fn fields<'a>(request: &Request<'a>) -> impl Iterator<Item = (usize, &'a [u8])> {
    let (head, named) = (request.head(), |name: &[u8]| name.eq_ignore_ascii_case(b"cookie"));
    let places = head.fields.iter().enumerate();
    places
        .filter(move |(_, field)| named(request.text(field.name)))
        .map(|(at, field)| (at, request.text(field.value)))
        .collect::<Vec<_>>()
        .into_iter()
}

/// Raises 400 when a cookie is malformed.
///
/// SAFETY: R2: the fault is plain data.
unsafe fn must_be_sound(l: *mut lua_State, handle: &Handle) {
    let fault: Option<CookieFault> = guard(l, || {
        with(handle, |request| {
            fields(request)
                .flat_map(|(_, field)| cookies(field))
                .find_map(Result::err)
        })
        .flatten()
    });
    if let Some(fault) = fault {
        raise_client_error(l, 400, &line!("{}", fault.sentence()));
    }
}

/// Pushes the table of cookies: the first of each name, percent sequences decoded; `false` when the request has ended.
///
/// SAFETY: R3: each field is made a string on the stack before its cookies are pushed from it.
pub(super) unsafe fn push_cookies(l: *mut lua_State, handle: &Handle) -> bool {
    if guard(l, || with(handle, |_| ()).is_none()) {
        return false;
    }
    must_be_sound(l, handle);
    lua_createtable(l, 0, 4);
    let table = lua_gettop(l);
    let mut from = 0;
    while let Some(at) = guard(l, || {
        with(handle, |request| {
            fields(request).map(|(at, _)| at).find(|&at| at >= from)
        })
        .flatten()
    }) {
        from = at + 1;
        if !push_field_value(l, handle, at) {
            break;
        }
        push_cookies_of(l, table);
        lua_settop(l, table);
    }
    handle::keep_table(l, handle, Table::Cookies);
    true
}

/// Adds the cookies of the field on top to the table.
///
/// SAFETY: R1: the iterator is plain data over the string on the stack.
unsafe fn push_cookies_of(l: *mut lua_State, table: c_int) {
    let field = string_at(l, -1).unwrap_or_default();
    let base = lua_gettop(l);
    for (name, value) in plain(cookies(field).flatten()) {
        lua_pushlstring_(l, name.as_ptr().cast(), name.len());
        lua_pushvalue(l, -1);
        lua_rawget(l, table);
        if lua_type(l, -1) == LUA_TNIL {
            lua_settop(l, -2);
            push_bytes(l, |emit| emit(&decode_value(value)));
            lua_rawset(l, table);
        }
        lua_settop(l, base);
    }
}

/// `req:cookie(name)`: the value of the first cookie of that name, percent sequences decoded, or nil.
///
/// SAFETY: R3: the name lies in a string at 2.
pub(super) unsafe extern "C-unwind" fn cookie(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let wanted = text_arg(l, 2, "name");
    lua_settop(l, 2);
    must_live(l, handle, "req:cookie");
    must_be_sound(l, handle);
    let pushed = push_bytes(l, |emit| {
        with(handle, |request| {
            let found = fields(request)
                .flat_map(|(_, field)| cookies(field))
                .flatten()
                .find(|(name, _)| *name == wanted);
            if let Some((_, value)) = found {
                emit(&decode_value(value));
            }
        });
    });
    if !pushed {
        lua_pushnil(l);
    }
    1
}
