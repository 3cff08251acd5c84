//! `server:step()` and `server:run()`: one turn, and turns until the end.
//!
//! A turn alternates between the server and Lua: the server names a request, its borrow ends, `dispatch` runs under one
//! `lua_pcall`. Between the moment the stepping flag is set and the moment it is cleared nothing here may raise.

use super::access_log;
use super::events::{self, Event};
use super::finish;
use super::guard::{contained, fail, guard, line};
use super::report;
use super::server::{NO_REQUEST, ServerCell, of_self, optional_seconds, slot};
use super::stack::wrong_type;
use crate::binding::service::Service;
use crate::server::{Clock, RequestId};
use mlua::ffi::*;
use std::io;
use std::os::raw::c_int;
use std::time::Duration;

/// `run` asks its function at least this often.
const UNTIL_PERIOD: Duration = Duration::from_millis(50);

/// `run` looks for Ctrl-C at least this often: a signal that comes just before the sleep does not end it.
const SIGNAL_PERIOD: Duration = Duration::from_millis(500);

/// What a turn did.
#[derive(Clone, Copy)]
struct Done {
    dispatched: usize,
    waiting: usize,
    /// The poller failed; a turn that a signal cut short has not failed.
    failed: bool,
}

/// Stack of a turn, above what the caller left there.
pub(super) struct Frame {
    pub(super) traceback: c_int,
    dispatch: c_int,
    pub(super) report: c_int,
    pub(super) finish: c_int,
    pub(super) access: c_int,
    emit: c_int,
}

/// `server:step([seconds])`: requests dispatched, requests waiting.
///
/// SAFETY: R1: only plain data is alive in this frame.
pub(super) unsafe extern "C-unwind" fn step(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let budget = optional_seconds(l, 2, "seconds");
    lua_settop(l, 1);
    let done = turn(l, cell, budget, Duration::ZERO);
    lua_pushnumber(l, done.dispatched as f64);
    lua_pushnumber(l, done.waiting as f64);
    2
}

/// `server:run([until_fn])`: turns until the server is closed or `until_fn()` is true.
///
/// SAFETY: R1: only plain data is alive in this frame; the until function and debug hooks may raise out of it.
pub(super) unsafe extern "C-unwind" fn run(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let until = lua_type(l, 2) > LUA_TNIL;
    if until && lua_type(l, 2) != LUA_TFUNCTION {
        wrong_type(l, 2, "until_fn", "function");
    }
    lua_settop(l, 2);
    let longest = if until { UNTIL_PERIOD } else { SIGNAL_PERIOD };
    loop {
        let done = turn(l, cell, None, longest);
        if cell.interrupted.replace(false) {
            fail(l, &line!("interrupted!"));
        }
        if done.failed {
            fail(l, &line!("the system's poller failed"));
        }
        // A signal handler of the host's sets a hook, which fires only where Lua runs.
        if lua_gethook(l).is_some() {
            lua_getfenv(l, 1);
            lua_rawgeti(l, -1, slot::NOTHING.into());
            lua_call(l, 0, 0);
            lua_settop(l, 2);
        }
        if guard(l, || cell.with(|service| service.server.is_closed()).unwrap_or(true)) {
            return 0;
        }
        if until {
            lua_pushvalue(l, 2);
            lua_call(l, 0, 1);
            let ended = lua_toboolean(l, -1) != 0;
            lua_settop(l, 2);
            if ended {
                return 0;
            }
        }
    }
}

/// One turn on the server at index 1, which sleeps at most `longest` while there is nothing to do. The stack is left as
/// it was.
///
/// SAFETY: R1, R2: until the flag is set everything may raise and nothing is alive; from then on Rust runs contained,
/// and Lua in `lua_pcall`. The stack's room is asked for before.
unsafe fn turn(l: *mut lua_State, cell: &ServerCell, budget: Option<Duration>, longest: Duration) -> Done {
    if cell.stepping.get() {
        fail(
            l,
            &line!("step inside step: a handler cannot turn the server that called it"),
        );
    }
    let top = lua_gettop(l);
    if lua_checkstack(l, LUA_MINSTACK) == 0 {
        fail(l, &line!("the Lua stack is full"));
    }
    let frame = prepare(l, cell);
    cell.stepping.set(true);
    let begun = contained(|| cell.with(|service| begin(service, budget, longest))).flatten();
    while let Some(id) = next(cell) {
        cell.current.set(id);
        cell.route.set(None);
        let heard = cell.heard.any();
        if !heard || tell_request(l, cell, id, &frame) {
            lua_pushvalue(l, frame.dispatch);
            if lua_pcall(l, 0, 0, frame.traceback) != 0 {
                report::failed(l, cell, id, frame.report);
            }
        }
        if cell.finishers.get() > 0 {
            finish::run(l, cell, id, &frame);
        }
        if cell.logs_access.get() {
            access_log::run(l, cell, id, &frame);
        }
        if heard && cell.heard.hears(Event::Response) {
            events::tell_request(l, Event::Response, frame.emit, frame.traceback);
        }
        contained(|| cell.with(|service| service.server.end_request(id, &service.clock)));
    }
    cell.current.set(NO_REQUEST);
    let turn = contained(|| cell.with(|service| service.server.end_turn(&service.clock))).flatten();
    if cell.heard.any() {
        events::tell(l, cell, frame.emit, frame.traceback);
    }
    cell.stepping.set(false);
    lua_settop(l, top);
    let (dispatched, waiting) = turn.map_or((0, 0), |turn| (turn.dispatched, turn.waiting));
    Done {
        dispatched,
        waiting,
        failed: begun == Some(false),
    }
}

/// Tells those who listen of the connections that have come and gone, and of the request. False when a listener has
/// answered the request, or has closed the server: then there is nothing to handle.
///
/// SAFETY: R2: as `turn`.
#[cold]
unsafe fn tell_request(l: *mut lua_State, cell: &ServerCell, id: RequestId, frame: &Frame) -> bool {
    events::tell(l, cell, frame.emit, frame.traceback);
    if cell.heard.hears(Event::Request) {
        events::tell_request(l, Event::Request, frame.emit, frame.traceback);
    }
    let responded = contained(|| cell.with(|service| service.server.responded(id))).flatten();
    responded == Some(false)
}

/// Whether the poller works. A signal that ends its sleep is no failure: the owner looks for what it meant.
fn begin(service: &mut Service, budget: Option<Duration>, longest: Duration) -> bool {
    let wait = if longest.is_zero() {
        longest
    } else {
        service
            .server
            .wait_hint(service.clock.now())
            .map_or(longest, |wait| wait.min(longest))
    };
    match service.server.begin_turn(&service.clock, budget, Some(wait)) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::Interrupted,
    }
}

/// Releases what has been sent, and lays out the stack of a turn.
///
/// SAFETY: R1: nothing is alive; an error here loses one reference, not more.
unsafe fn prepare(l: *mut lua_State, cell: &ServerCell) -> Frame {
    lua_getfenv(l, 1);
    let environment = lua_gettop(l);
    lua_rawgeti(l, environment, slot::BODIES.into());
    while let Some(reference) = guard(l, || cell.with(|service| service.releases.borrow_mut().pop()).flatten()) {
        luaL_unref(l, -1, reference);
    }
    lua_rawgeti(l, environment, slot::TRACEBACK.into());
    lua_rawgeti(l, environment, slot::DISPATCH.into());
    lua_rawgeti(l, environment, slot::REPORT.into());
    let report = lua_gettop(l);
    lua_rawgeti(l, environment, slot::FINISH.into());
    lua_rawgeti(l, environment, slot::TELL_ACCESS.into());
    lua_rawgeti(l, environment, slot::EMIT.into());
    Frame {
        traceback: report - 2,
        dispatch: report - 1,
        report,
        finish: report + 1,
        access: report + 2,
        emit: report + 3,
    }
}

/// The next request to handle.
fn next(cell: &ServerCell) -> Option<RequestId> {
    contained(|| cell.with(|service| service.server.next_request(&service.clock)))
        .flatten()
        .flatten()
}
