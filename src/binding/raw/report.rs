//! When a handler fails: the application's error handlers may answer, else the library does, with the status that an
//! error object carries or 500; the program gets the traceback, and the turn goes on.

use super::events::{self, Event};
use super::guard::{Line, contained, guard, line, push_line};
use super::handle::{self, Handle};
use super::render;
use super::server::{ServerCell, slot};
use super::stack::{Named, number_arg, push_literal, set_field, string_at, type_name};
use super::state::{ERROR, Tag, push_registry};
use crate::binding::refusal::refuse;
use crate::binding::service::Service;
use crate::h1::{Reject, reason_phrase};
use crate::server::RequestId;
use mlua::ffi::*;
use std::os::raw::c_int;

/// Upvalue of `traceback` and `report`, after the state.
const SERVER: c_int = lua_upvalueindex(2);
/// Upvalues of `report`.
const REQUEST_METATABLE: c_int = lua_upvalueindex(3);
const RESPONSE_METATABLE: c_int = lua_upvalueindex(4);
const ERROR_METATABLE: c_int = lua_upvalueindex(5);

/// What lua.c raises when Ctrl-C stops a script.
const INTERRUPTED: &[u8] = b"interrupted!";

/// Lines of a traceback start above this function.
const LEVEL: c_int = 1;

/// The stack of `report`: the failure as `traceback` left it, the value that was raised and its traceback or nil, and
/// the handles.
const FAILURE: c_int = 1;
const VALUE: c_int = 2;
const TRACEBACK: c_int = 3;
const REQUEST_AT: c_int = 4;
const RESPONSE_AT: c_int = 5;

/// Message handler of the turn's `lua_pcall`: puts the value that was raised into a table with a traceback, since the
/// stack is gone afterwards. A table of its own tells it from a value that needs none (memory is short). What is the
/// client's own fault needs none either: a traceback takes longer than all the rest of such a request, and whoever is
/// refused may ask often.
///
/// SAFETY: R1: plain data only; an error here becomes LUA_ERRERR.
pub(super) unsafe extern "C-unwind" fn traceback(l: *mut lua_State) -> c_int {
    let cell = &*lua_touserdata(l, SERVER).cast::<ServerCell>();
    note_interruption(l, cell);
    push_registry(l);
    push_literal(l, ERROR);
    lua_rawget(l, -2);
    let clients = render::is_clients(l, 1, lua_gettop(l));
    lua_createtable(l, 2, 0);
    lua_pushvalue(l, 1);
    lua_rawseti(l, -2, 1);
    if !clients {
        super::traceback::push(l, LEVEL);
        lua_rawseti(l, -2, 2);
    }
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
        // The report has failed itself (a header of an error object cannot be sent, say), or memory is short: the
        // request has its answer all the same, and the program hears of it if it can.
        note_interruption(l, cell);
        lua_pushvalue(l, report);
        lua_insert(l, -2);
        lua_pushboolean(l, 1);
        if lua_pcall(l, 2, 0, 0) != 0 {
            lua_settop(l, -2);
        }
    }
    let finish = |service: &mut Service| {
        if service.server.responded(id) {
            return;
        }
        if let Some(response) = service.server.response_mut(id) {
            response.reset();
        }
        refuse(service, id, 500, render::FAILED);
        // No room even for this sentence.
        service.server.refuse_request(id, Reject::HandlerFailed);
    };
    contained(|| {
        cell.with(finish);
    });
}

/// Has the application's error handlers answer, tells the program unless the failure is the client's own:
/// `on_error(text, req, value)`, then `on_log("error", text, fields)`; and answers if nobody has. With true at 2 it only
/// tells. Its environment is the server's table.
///
/// SAFETY: R1: plain data only; runs in a `lua_pcall` of its own.
pub(super) unsafe extern "C-unwind" fn report(l: *mut lua_State) -> c_int {
    let cell = &*lua_touserdata(l, SERVER).cast::<ServerCell>();
    let id = cell.current.get();
    let only_tells = lua_toboolean(l, 2) != 0;
    lua_settop(l, FAILURE);
    take_apart(l);
    push_handle(l, cell, id, slot::REQUEST, Tag::request(), REQUEST_METATABLE);
    push_handle(l, cell, id, slot::RESPONSE, Tag::response(), RESPONSE_METATABLE);
    let response = &*lua_touserdata(l, RESPONSE_AT).cast::<Handle>();
    let mut clients = render::is_clients(l, VALUE, ERROR_METATABLE);
    push_text(l, VALUE, TRACEBACK);
    let text = lua_gettop(l);
    if only_tells {
        tell(l, cell, id, text);
        return 0;
    }
    if !responded(l, cell, id) {
        render::prepare(l, response, VALUE, ERROR_METATABLE);
        if !ask_error_handlers(l, cell) {
            clients = false;
            join_text(l, text);
        }
        lua_settop(l, text);
    }
    if !clients || !render::is_clients(l, VALUE, ERROR_METATABLE) {
        tell(l, cell, id, text);
    }
    if !responded(l, cell, id) {
        render::send(l, cell, response, VALUE, TRACEBACK, ERROR_METATABLE);
    }
    0
}

/// SAFETY: R2.
unsafe fn responded(l: *mut lua_State, cell: &ServerCell, id: RequestId) -> bool {
    guard(l, || cell.with(|service| service.server.responded(id)).unwrap_or(true))
}

/// Pushes the value and the traceback of the failure on top.
///
/// SAFETY: R1: the pair is `traceback`'s own table; what else may be there is text.
unsafe fn take_apart(l: *mut lua_State) {
    let failure = lua_gettop(l);
    if lua_type(l, failure) == LUA_TTABLE {
        lua_rawgeti(l, failure, 1);
        lua_rawgeti(l, failure, 2);
    } else {
        lua_pushvalue(l, failure);
        lua_pushnil(l);
    }
}

/// Calls the application's error handlers with the value. What they leave to be rendered, which is that value or another
/// one, takes its place. `false` when one of them has failed: the text of that failure is on top, and its value in the
/// place.
///
/// SAFETY: R1: the handlers run in a `lua_pcall`.
unsafe fn ask_error_handlers(l: *mut lua_State, cell: &ServerCell) -> bool {
    if cell.app_router().is_none() {
        return true;
    }
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::TRACEBACK.into());
    let message_handler = lua_gettop(l);
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::APP.into());
    lua_getfield(l, -1, c"_fail".as_ptr());
    lua_insert(l, -2);
    for index in [VALUE, REQUEST_AT, RESPONSE_AT] {
        lua_pushvalue(l, index);
    }
    let scope = guard(l, || cell.home().scope);
    lua_pushnumber(l, scope.into());
    if lua_pcall(l, 5, 1, message_handler) == 0 {
        lua_replace(l, VALUE);
        return true;
    }
    push_failure_text(l);
    let traceback = lua_gettop(l) - 1;
    lua_pushvalue(l, traceback - 1);
    lua_replace(l, VALUE);
    lua_pushvalue(l, traceback);
    lua_replace(l, TRACEBACK);
    false
}

/// Tells the program: neither function can break the report.
///
/// SAFETY: R1: the program's functions run in a `lua_pcall`.
unsafe fn tell(l: *mut lua_State, cell: &ServerCell, id: RequestId, text: c_int) {
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::ON_ERROR.into());
    if lua_type(l, -1) == LUA_TFUNCTION {
        lua_pushvalue(l, text);
        lua_pushvalue(l, REQUEST_AT);
        lua_pushvalue(l, VALUE);
        if lua_pcall(l, 3, 0, 0) != 0 {
            // The log, if there is one, tells of both.
            note_interruption(l, cell);
            join_failures(l, text);
        }
    }
    lua_settop(l, text);
    for index in [text, REQUEST_AT, VALUE] {
        lua_pushvalue(l, index);
    }
    events::call_listeners(l, cell, Event::Error, 3);
    lua_settop(l, text);
    push_fields(l, cell, id);
    tell_log(l, cell, text);
    lua_settop(l, text);
}

/// Tells the log of an error: the text at `text`, and the fields on top.
///
/// SAFETY: R1: the log runs in a `lua_pcall`. The running function's environment is the server's table.
pub(super) unsafe fn tell_log(l: *mut lua_State, cell: &ServerCell, text: c_int) {
    let fields = lua_gettop(l);
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::ON_LOG.into());
    if lua_type(l, -1) == LUA_TFUNCTION {
        push_literal(l, "error");
        lua_pushvalue(l, text);
        lua_pushvalue(l, fields);
        // A log that fails has nobody to tell.
        if lua_pcall(l, 3, 0, 0) != 0 {
            note_interruption(l, cell);
        }
    }
}

/// Pushes what the failure on top, as `traceback` left it, says of itself, followed by its traceback.
///
/// SAFETY: R1.
pub(super) unsafe fn push_failure_text(l: *mut lua_State) {
    take_apart(l);
    let traceback = lua_gettop(l);
    push_text(l, traceback - 1, traceback);
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

/// `reason(status)`: its phrase, as "Not Found".
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn reason(l: *mut lua_State) -> c_int {
    let status = number_arg(l, 1, "status");
    push_literal(l, reason_phrase(status as u16));
    1
}

/// Pushes the handle of the request being handled, or of its response: the one its handler had, with what the handler put
/// on it.
///
/// SAFETY: R1; this function's environment is the server's table, as `handle::push` demands.
pub(super) unsafe fn push_handle(
    l: *mut lua_State,
    cell: &ServerCell,
    id: RequestId,
    place: c_int,
    tag: Tag,
    metatable: c_int,
) {
    lua_rawgeti(l, LUA_ENVIRONINDEX, place.into());
    let kept = lua_touserdata(l, -1).cast::<Handle>();
    if kept.is_null() || (*kept).id != id {
        lua_settop(l, -2);
        handle::push(l, cell, id, tag, metatable);
        lua_pushvalue(l, -1);
        lua_rawseti(l, LUA_ENVIRONINDEX, place.into());
    }
}

/// Pushes what the value says of itself, followed by its traceback.
///
/// SAFETY: R1: what the value's `__tostring` does happens in a `lua_pcall`.
pub(super) unsafe fn push_text(l: *mut lua_State, value: c_int, traceback: c_int) {
    push_shown(l, value);
    if lua_type(l, traceback) == LUA_TSTRING {
        push_literal(l, "\n");
        lua_pushvalue(l, traceback);
        lua_concat(l, 3);
    }
}

/// Pushes what the value says of itself.
///
/// SAFETY: as `push_text`.
pub(super) unsafe fn push_shown(l: *mut lua_State, value: c_int) {
    let kind = type_name(l, value);
    lua_pushcclosure(l, to_string, 0);
    lua_pushvalue(l, value);
    if lua_pcall(l, 1, 1, 0) != 0 || lua_type(l, -1) != LUA_TSTRING {
        lua_settop(l, -2);
        let message = guard(l, || line!("(an error object, {}, that cannot be shown)", Named(kind)));
        push_line(l, &message);
    }
}

/// SAFETY: R1.
unsafe extern "C-unwind" fn to_string(l: *mut lua_State) -> c_int {
    luaL_tolstring(l, 1, std::ptr::null_mut());
    1
}

/// Appends to the text at `text` that an error handler failed, with the text of that on top.
///
/// SAFETY: R1.
unsafe fn join_text(l: *mut lua_State, text: c_int) {
    lua_pushvalue(l, text);
    push_literal(l, "\nan error handler has failed too: ");
    lua_pushvalue(l, -3);
    lua_concat(l, 3);
    lua_replace(l, text);
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
