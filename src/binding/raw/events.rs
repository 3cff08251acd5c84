//! Events of a server: functions that hear of what happens in a turn.
//!
//! Who listens is kept by the Lua layer as lists that never change: adding and removing makes a new list, so that a
//! function may do either while a list is walked. A turn pays one comparison where nobody listens. What a listener raises
//! goes to the log and changes nothing.

use super::guard::{contained, fail, guard, line};
use super::report::{push_failure_text, push_handle, tell_log};
use super::server::{ServerCell, of_self, slot};
use super::stack::{number_arg, push_bytes, push_literal, set_field};
use super::state::Tag;
use crate::server::Passage;
use mlua::ffi::*;
use std::cell::Cell;
use std::os::raw::c_int;

/// What can be heard of; the layer counts them in this order from 1.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Event {
    Listening,
    Connection,
    Disconnect,
    Request,
    Response,
    Error,
    Close,
}

impl Event {
    /// By number from 0.
    const ALL: [(Event, &'static str); 7] = [
        (Event::Listening, "listening"),
        (Event::Connection, "connection"),
        (Event::Disconnect, "disconnect"),
        (Event::Request, "request"),
        (Event::Response, "response"),
        (Event::Error, "error"),
        (Event::Close, "close"),
    ];

    fn name(self) -> &'static str {
        Event::ALL[self as usize].1
    }
}

/// Which events somebody listens to, and which of those that come once have come.
#[derive(Default)]
pub(super) struct Heard {
    events: Cell<u8>,
    opened: Cell<bool>,
    closed: Cell<bool>,
}

impl Heard {
    /// Whether anybody listens to anything.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.events.get() != 0
    }

    #[inline]
    pub(super) fn hears(&self, event: Event) -> bool {
        self.events.get() & (1 << event as u8) != 0
    }
}

/// Upvalues of `emit`, after the state.
const SERVER: c_int = lua_upvalueindex(2);
const REQUEST_METATABLE: c_int = lua_upvalueindex(3);
const RESPONSE_METATABLE: c_int = lua_upvalueindex(4);

/// `event_names()`: all of them, in their order.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn names(l: *mut lua_State) -> c_int {
    for (_, name) in Event::ALL {
        push_literal(l, name);
    }
    Event::ALL.len() as c_int
}

/// `listeners(server)`: the table of its lists.
///
/// SAFETY: R1, R4: the server lies at 1.
pub(super) unsafe extern "C-unwind" fn listeners(l: *mut lua_State) -> c_int {
    of_self(l);
    lua_getfenv(l, 1);
    lua_rawgeti(l, -1, slot::LISTENERS.into());
    1
}

/// `heed(server, number, heeded)`: whether somebody listens to the event of that number.
///
/// SAFETY: R2.
pub(super) unsafe extern "C-unwind" fn heed(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let number = number_arg(l, 2, "number") as usize;
    let heeded = lua_toboolean(l, 3) != 0;
    let Some((event, _)) = number.checked_sub(1).and_then(|at| Event::ALL.get(at)) else {
        fail(l, &line!("no such event"))
    };
    let bit = 1 << *event as u8;
    let events = cell.heard.events.get();
    cell.heard.events.set(if heeded { events | bit } else { events & !bit });
    let watched = cell.heard.hears(Event::Connection) || cell.heard.hears(Event::Disconnect);
    guard(l, || cell.with(|service| service.server.watch(watched)));
    0
}

/// Tells of what has happened to the server and its connections since it was last told.
///
/// SAFETY: R2: may be called where nothing may be raised: Lua runs in `lua_pcall`, and the push before it neither
/// allocates nor exceeds the room that the caller asked for.
#[cold]
pub(super) unsafe fn tell(l: *mut lua_State, cell: &ServerCell, emit: c_int, traceback: c_int) {
    let heard = &cell.heard;
    if heard.hears(Event::Listening) && !heard.opened.replace(true) {
        call(l, Event::Listening, emit, traceback);
    }
    if heard.hears(Event::Connection) || heard.hears(Event::Disconnect) {
        call(l, Event::Connection, emit, traceback);
    }
    let closed = contained(|| cell.with(|service| service.server.is_closed())).flatten();
    if heard.hears(Event::Close) && closed == Some(true) && !heard.closed.replace(true) {
        call(l, Event::Close, emit, traceback);
    }
}

/// Tells of the request being handled, or of its response.
///
/// SAFETY: as `tell`.
#[cold]
pub(super) unsafe fn tell_request(l: *mut lua_State, event: Event, emit: c_int, traceback: c_int) {
    call(l, event, emit, traceback);
}

/// SAFETY: as `tell`. What comes out of `emit` itself is shortness of memory, of which nobody can be told.
unsafe fn call(l: *mut lua_State, event: Event, emit: c_int, traceback: c_int) {
    lua_pushvalue(l, emit);
    lua_pushnumber(l, f64::from(event as u8));
    if lua_pcall(l, 1, 0, traceback) != 0 {
        lua_settop(l, -2);
    }
}

/// Calls the listeners of the event with the number at 1. Its environment is the server's table.
///
/// SAFETY: R1: plain data only; runs in a `lua_pcall` of its own.
pub(super) unsafe extern "C-unwind" fn emit(l: *mut lua_State) -> c_int {
    let cell = &*lua_touserdata(l, SERVER).cast::<ServerCell>();
    let Some((event, _)) = Event::ALL.get(lua_tonumber(l, 1) as usize) else {
        return 0;
    };
    lua_settop(l, 0);
    match event {
        Event::Connection | Event::Disconnect => {
            while let Some(passage) = guard(l, || cell.with(|service| service.server.next_passage())).flatten() {
                push_passage(l, &passage);
                let event = passage.end.map_or(Event::Connection, |_| Event::Disconnect);
                call_listeners(l, cell, event, 1);
                lua_settop(l, 0);
            }
        }
        Event::Request | Event::Response => {
            let id = cell.current.get();
            push_handle(l, cell, id, slot::REQUEST, Tag::request(), REQUEST_METATABLE);
            push_handle(l, cell, id, slot::RESPONSE, Tag::response(), RESPONSE_METATABLE);
            call_listeners(l, cell, *event, 2);
        }
        Event::Listening | Event::Close => {
            lua_pushvalue(l, SERVER);
            call_listeners(l, cell, *event, 1);
        }
        // Told from the report of the failure.
        Event::Error => {}
    }
    0
}

/// Pushes `{ id, remote_address, remote_port, reason }`.
///
/// SAFETY: R1, R3.
unsafe fn push_passage(l: *mut lua_State, passage: &Passage) {
    lua_createtable(l, 0, 4);
    let table = lua_gettop(l);
    lua_pushnumber(l, passage.connection as f64);
    set_field(l, table, "id");
    push_bytes(l, |emit| emit(line!("{}", passage.address.ip()).bytes()));
    set_field(l, table, "remote_address");
    lua_pushnumber(l, passage.address.port().into());
    set_field(l, table, "remote_port");
    if let Some(end) = passage.end {
        push_literal(l, end.name());
        set_field(l, table, "reason");
    }
}

/// Calls every listener of an event with the `count` values on top, which stay there. The running function's environment
/// is the server's table.
///
/// SAFETY: R1: plain data only; the listeners run in a `lua_pcall` each.
pub(super) unsafe fn call_listeners(l: *mut lua_State, cell: &ServerCell, event: Event, count: c_int) {
    if !cell.heard.hears(event) {
        return;
    }
    let first = lua_gettop(l) - count + 1;
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::TRACEBACK.into());
    let traceback = lua_gettop(l);
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::LISTENERS.into());
    lua_rawgeti(l, -1, event as lua_Integer + 1);
    let list = lua_gettop(l);
    let listeners = if lua_type(l, list) == LUA_TTABLE {
        lua_objlen(l, list)
    } else {
        0
    };
    for at in 1..=listeners {
        lua_rawgeti(l, list, at as lua_Integer);
        for argument in 0..count {
            lua_pushvalue(l, first + argument);
        }
        if lua_pcall(l, count, 0, traceback) != 0 {
            failed(l, cell, event);
        }
        lua_settop(l, list);
    }
    lua_settop(l, traceback - 1);
}

/// Tells the log of a listener that has failed, with the failure on top.
///
/// SAFETY: R1.
unsafe fn failed(l: *mut lua_State, cell: &ServerCell, event: Event) {
    push_failure_text(l);
    let text = lua_gettop(l);
    lua_createtable(l, 0, 1);
    push_literal(l, event.name());
    set_field(l, text + 1, "event");
    tell_log(l, cell, text);
}
