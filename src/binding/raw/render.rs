//! The library's own answer to a failure: what an error object says, or that the handler has failed.

use super::guard::{Line, guard};
use super::handle::Handle;
use super::json_encode::{self, Style};
use super::report::push_shown;
use super::response;
use super::server::ServerCell;
use super::stack::{push_literal, string_at};
use super::state::{State, current};
use crate::binding::refusal::{self, Refusal};
use crate::h1::reason_phrase;
use mlua::ffi::*;
use std::os::raw::c_int;

/// What a client is told of an error that is nobody's business but the program's.
pub(super) const FAILED: &[u8] = b"The handler of this request has failed.";

/// Fields that describe the content which was never sent; all others (CORS, cookies, a request id) stay.
const OF_CONTENT: [&[u8]; 11] = [
    b"Content-Type",
    b"Content-Encoding",
    b"Content-Language",
    b"Content-Disposition",
    b"Content-Location",
    b"Content-Range",
    b"Accept-Ranges",
    b"ETag",
    b"Last-Modified",
    b"Cache-Control",
    b"Expires",
];

/// Pushes a field of the error object at `value`, raw.
///
/// SAFETY: R1.
unsafe fn push_member(l: *mut lua_State, value: c_int, name: &'static str) {
    push_literal(l, name);
    lua_rawget(l, value);
}

/// Whether the value at `value` has our metatable.
///
/// SAFETY: R1.
unsafe fn is_ours(l: *mut lua_State, value: c_int, metatable: c_int) -> bool {
    if lua_type(l, value) != LUA_TTABLE || lua_getmetatable(l, value) == 0 {
        return false;
    }
    let ours = lua_rawequal(l, -1, metatable) != 0;
    lua_settop(l, -2);
    ours
}

/// The status that the value carries, from 400 to 599; 500 for what carries none.
///
/// SAFETY: R1: plain data only.
unsafe fn status(l: *mut lua_State, value: c_int, metatable: c_int) -> u16 {
    if !is_ours(l, value, metatable) {
        return 500;
    }
    push_member(l, value, "status");
    let status = lua_tonumber(l, -1);
    lua_settop(l, -2);
    if (400.0..600.0).contains(&status) {
        status as u16
    } else {
        500
    }
}

/// Whether the value is an error object for something that the client did, which the program need not hear of.
///
/// SAFETY: R1.
pub(super) unsafe fn is_clients(l: *mut lua_State, value: c_int, metatable: c_int) -> bool {
    status(l, value, metatable) < 500
}

/// Makes the response what an error handler finds: with the status and the fields that the value carries, and without
/// those that described other content.
///
/// SAFETY: R1, R2. What is no field raises.
pub(super) unsafe fn prepare(l: *mut lua_State, response: &Handle, value: c_int, metatable: c_int) {
    let status = status(l, value, metatable);
    guard(l, || {
        response.cell().with(|service| {
            if let Some(head) = service.server.response_mut(response.id) {
                // A response that was sent meanwhile stays as it is.
                let _ = head.set_status(status);
                for name in OF_CONTENT {
                    head.remove(name);
                }
            }
        });
    });
    if is_ours(l, value, metatable) {
        push_member(l, value, "headers");
        if lua_type(l, -1) == LUA_TTABLE {
            let headers = lua_gettop(l);
            response::set_fields(l, response, headers);
        }
        lua_settop(l, -2);
    }
}

/// Answers with what the value says.
///
/// SAFETY: R2, R3: the texts lie in strings on the stack; the details are encoded after room was asked for.
pub(super) unsafe fn send(
    l: *mut lua_State,
    cell: &ServerCell,
    response: &Handle,
    value: c_int,
    traceback: c_int,
    metatable: c_int,
) {
    prepare(l, response, value, metatable);
    let status = status(l, value, metatable);
    let ours = is_ours(l, value, metatable);
    let debug = cell.app_router().is_some_and(|router| router.debug.get());
    if ours {
        push_member(l, value, "message");
    } else if debug {
        push_shown(l, value);
    } else {
        push_literal(l, "The handler of this request has failed.");
    }
    let sentence = match string_at(l, -1) {
        Some(sentence) if !sentence.is_empty() => sentence,
        _ => reason_phrase(status).as_bytes(),
    };
    if debug && ours {
        push_member(l, value, "details");
    } else {
        lua_pushnil(l);
    }
    let details_at = lua_gettop(l);
    let traceback = string_at(l, traceback).filter(|_| debug && (!ours || status >= 500));
    let state: &State = current(l);
    luaL_checkstack(l, json_encode::SLOTS, c"too many values for JSON".as_ptr());
    guard(l, || {
        let scratch = &mut *state.scratch.borrow_mut();
        let mut words = Line::new();
        let encoded = lua_type(l, details_at) != LUA_TNIL
            && json_encode::encode(l, state, scratch, details_at, Style::DEFAULT, &mut words);
        let refusal = Refusal {
            status,
            sentence,
            details: encoded.then_some(&scratch.bytes[..]),
            traceback,
        };
        cell.with(|service| refusal::send(service, response.id, refusal));
        scratch.reset();
    });
}
