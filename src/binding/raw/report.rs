//! When a handler fails: its request gets 500 (or the status that the error object carries), the program gets the
//! traceback, and the turn goes on.

use super::dispatch::refuse;
use super::guard::{Line, contained, guard, line, push_line};
use super::handle;
use super::server::{ServerCell, slot};
use super::stack::{push_literal, set_field, string_at};
use super::state::{ERROR, Tag, push_registry};
use crate::binding::service::Service;
use crate::h1::Reject;
use crate::server::RequestId;
use mlua::ffi::*;
use std::os::raw::c_int;

/// Upvalue of `traceback` and `report`, after the state.
const SERVER: c_int = lua_upvalueindex(2);
/// Upvalue of `report`.
const REQUEST_METATABLE: c_int = lua_upvalueindex(3);
const ERROR_METATABLE: c_int = lua_upvalueindex(4);

/// What lua.c raises when Ctrl-C stops a script.
const INTERRUPTED: &[u8] = b"interrupted!";

/// Lines of a traceback start above this function.
const LEVEL: c_int = 1;

/// Message handler of the turn's `lua_pcall`: text gets a traceback; any other value is put into a table with one, since
/// the stack is gone afterwards and a `__tostring` that fails must not fail here.
///
/// SAFETY: R1: plain data only; an error here becomes LUA_ERRERR.
pub(super) unsafe extern "C-unwind" fn traceback(l: *mut lua_State) -> c_int {
    let cell = &*lua_touserdata(l, SERVER).cast::<ServerCell>();
    note_interruption(l, cell);
    if string_at(l, 1).is_some() {
        luaL_traceback(l, l, lua_tolstring(l, 1, std::ptr::null_mut()), LEVEL);
        return 1;
    }
    lua_createtable(l, 2, 0);
    lua_pushvalue(l, 1);
    lua_rawseti(l, -2, 1);
    luaL_traceback(l, l, std::ptr::null(), LEVEL);
    lua_rawseti(l, -2, 2);
    1
}

/// Remembers that the error on top is Ctrl-C, wherever in a turn it struck: `run` raises it again.
///
/// SAFETY: R2: a string is only looked at.
unsafe fn note_interruption(l: *mut lua_State, cell: &ServerCell) {
    if string_at(l, -1).is_some_and(|message| message.ends_with(INTERRUPTED)) {
        cell.interrupted.set(true);
    }
}

/// Ends a request whose handler failed; the error, as `traceback` left it, is on top and gets popped.
///
/// SAFETY: R2: called where nothing may be raised: Rust runs contained, Lua in `lua_pcall`, and the pushes before it
/// neither allocate nor exceed the room that the turn asked for.
pub(super) unsafe fn failed(l: *mut lua_State, cell: &ServerCell, id: RequestId, report: c_int) {
    lua_pushvalue(l, report);
    lua_insert(l, -2);
    if lua_pcall(l, 1, 0, 0) != 0 {
        // What should have taken the report has failed itself, or memory is short: the request has its answer all the
        // same.
        note_interruption(l, cell);
        lua_settop(l, -2);
    }
    let finish = |service: &mut Service| {
        if service.server.responded(id) {
            return;
        }
        if let Some(response) = service.server.response_mut(id) {
            response.reset();
        }
        refuse(service, id, 500, b"The handler of this request has failed.\n");
        // No room even for this sentence.
        service.server.refuse_request(id, Reject::HandlerFailed);
    };
    contained(|| {
        cell.with(finish);
    });
}

/// Answers what an error object says, or tells the program: `on_error(text, req, value)`, then
/// `on_log("error", text, fields)`. Its environment is the server's table.
///
/// SAFETY: R1: plain data only; runs in a `lua_pcall` of its own.
pub(super) unsafe extern "C-unwind" fn report(l: *mut lua_State) -> c_int {
    let cell = &*lua_touserdata(l, SERVER).cast::<ServerCell>();
    let id = cell.current.get();
    if answer_for_client(l, cell, id) {
        return 0;
    }
    push_text(l);
    let text = lua_gettop(l);
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::ON_ERROR.into());
    if lua_type(l, -1) == LUA_TFUNCTION {
        lua_pushvalue(l, text);
        push_request(l, cell, id);
        push_value(l);
        if lua_pcall(l, 3, 0, 0) != 0 {
            // The log, if there is one, tells of both.
            note_interruption(l, cell);
            join_failures(l, text);
        }
    }
    lua_settop(l, text);
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::ON_LOG.into());
    if lua_type(l, -1) == LUA_TFUNCTION {
        push_literal(l, "error");
        lua_pushvalue(l, text);
        push_fields(l, cell, id);
        lua_call(l, 3, 0);
    }
    0
}

/// Raises an error object: the client's own fault, with the status it is answered with (400 to 599) and a sentence.
///
/// SAFETY: R1, R3: the sentence lies in the caller's frame, which owns nothing else.
pub(super) unsafe fn raise_client_error(l: *mut lua_State, status: u16, sentence: &Line) -> ! {
    lua_createtable(l, 0, 2);
    let object = lua_gettop(l);
    lua_pushnumber(l, status.into());
    set_field(l, object, "status");
    push_line(l, sentence);
    set_field(l, object, "message");
    push_registry(l);
    push_literal(l, ERROR);
    lua_rawget(l, -2);
    lua_setmetatable(l, object);
    lua_settop(l, object);
    lua_error(l)
}

/// `__tostring` of an error object: its message.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn error_text(l: *mut lua_State) -> c_int {
    if lua_type(l, 1) != LUA_TTABLE {
        return 0;
    }
    push_literal(l, "message");
    lua_rawget(l, 1);
    1
}

/// A failure that is the client's own (its body is no JSON, say) is raised as an object with our metatable, the fields
/// `status` and `message`; the client is told, and the program is not bothered.
///
/// SAFETY: R2, R3: the sentence lies in a string that the object on the stack holds.
unsafe fn answer_for_client(l: *mut lua_State, cell: &ServerCell, id: RequestId) -> bool {
    if lua_type(l, 1) != LUA_TTABLE {
        return false;
    }
    lua_rawgeti(l, 1, 1);
    if lua_type(l, -1) != LUA_TTABLE || lua_getmetatable(l, -1) == 0 {
        lua_settop(l, 1);
        return false;
    }
    let ours = lua_rawequal(l, -1, ERROR_METATABLE) != 0;
    if ours {
        push_literal(l, "status");
        lua_rawget(l, 2);
        push_literal(l, "message");
        lua_rawget(l, 2);
        let status = lua_tonumber(l, -2) as u16;
        let message = string_at(l, -1).unwrap_or_default();
        guard(l, || {
            let sentence = [message, b"\n"].concat();
            cell.with(|service| {
                if let Some(response) = service.server.response_mut(id) {
                    response.reset();
                }
                refuse(service, id, status, &sentence);
            });
        });
    }
    lua_settop(l, 1);
    ours
}

/// The request that failed: the handle its handler had, with what the handler put on it.
///
/// SAFETY: R1; this function's environment is the server's table, as `handle::push` demands.
unsafe fn push_request(l: *mut lua_State, cell: &ServerCell, id: RequestId) {
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::REQUEST.into());
    let kept = lua_touserdata(l, -1).cast::<handle::Handle>();
    if kept.is_null() || (*kept).id != id {
        lua_settop(l, -2);
        handle::push(l, cell, id, Tag::request(), REQUEST_METATABLE);
    }
}

/// The error's own value: itself, or the first of the pair.
///
/// SAFETY: R1.
unsafe fn push_value(l: *mut lua_State) {
    if lua_type(l, 1) == LUA_TTABLE {
        lua_rawgeti(l, 1, 1);
    } else {
        lua_pushvalue(l, 1);
    }
}

/// Pushes the text of the error at 1: as it is, or what the value says of itself followed by the traceback.
///
/// SAFETY: R1: what the value's `__tostring` does happens in a `lua_pcall`.
unsafe fn push_text(l: *mut lua_State) {
    if lua_type(l, 1) != LUA_TTABLE {
        lua_pushvalue(l, 1);
        return;
    }
    lua_pushcclosure(l, to_string, 0);
    lua_rawgeti(l, 1, 1);
    let kind = super::stack::type_name(l, -1);
    if lua_pcall(l, 1, 1, 0) != 0 || lua_type(l, -1) != LUA_TSTRING {
        lua_settop(l, -2);
        let message = guard(l, || {
            line!("(an error object, {}, that cannot be shown)", super::stack::Named(kind))
        });
        push_line(l, &message);
    }
    push_literal(l, "\n");
    lua_rawgeti(l, 1, 2);
    lua_concat(l, 3);
}

/// SAFETY: R1.
unsafe extern "C-unwind" fn to_string(l: *mut lua_State) -> c_int {
    luaL_tolstring(l, 1, std::ptr::null_mut());
    1
}

/// Appends to the text at `text` that on_error failed, with the error on top.
///
/// SAFETY: R1.
unsafe fn join_failures(l: *mut lua_State, text: c_int) {
    let shown = lua_type(l, -1) == LUA_TSTRING;
    lua_pushvalue(l, text);
    push_literal(l, "\non_error has failed too: ");
    if shown {
        lua_pushvalue(l, -3);
    } else {
        push_literal(l, "(an error object)");
    }
    lua_concat(l, 3);
    lua_replace(l, text);
}

/// Pushes the fields of a log entry: which request it was.
///
/// SAFETY: R2, R3: the route is copied to the frame.
unsafe fn push_fields(l: *mut lua_State, cell: &ServerCell, id: RequestId) {
    lua_createtable(l, 0, 2);
    let table = lua_gettop(l);
    lua_pushnumber(l, id.serial as f64);
    set_field(l, table, "request_id");
    let route = guard(l, || {
        let mut route = Line::new();
        cell.write_route(id, &mut route);
        route
    });
    push_line(l, &route);
    set_field(l, table, "route");
}
