//! The server's userdata and the methods that neither turn nor serve: `stats`, `address`, `port`, `shutdown`, `close`.
//!
//! The cell lives in Lua's memory. `__gc` empties it and leaves a closed shell, since finalizers and handles may still
//! use it while the state closes.

use super::events::{self, Heard};
use super::guard::{Line, contained, fail, guard, line};
use super::handle::Table;
use super::json_encode::Style;
use super::router::{Home, RouterCell};
use super::stack::{number_arg, push_bytes, push_literal, set_field};
use super::state::{Tag, userdata_at, wrong_self};
use crate::binding::options::{self, Draft};
use crate::binding::service::Service;
use crate::h1::Reject;
use crate::routing::{Captures, Found, RouteId};
use crate::server::{End, RequestId, Stats};
use mlua::ffi::*;
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::os::raw::c_int;
use std::time::Duration;

/// What a server's environment table holds, by index.
pub(super) mod slot {
    use std::os::raw::c_int;
    pub(in super::super) const SERVER: c_int = 1;
    /// Strings on their way to the network, by reference.
    pub(in super::super) const BODIES: c_int = 2;
    pub(in super::super) const ON_ERROR: c_int = 3;
    pub(in super::super) const ON_LOG: c_int = 4;
    /// The request being handled.
    pub(in super::super) const REQUEST: c_int = 5;
    pub(in super::super) const APP: c_int = 6;
    pub(in super::super) const ROUTER: c_int = 7;
    pub(in super::super) const DISPATCH: c_int = 8;
    pub(in super::super) const TRACEBACK: c_int = 9;
    pub(in super::super) const REPORT: c_int = 10;
    /// A Lua function that does nothing: debug hooks fire in it.
    pub(in super::super) const NOTHING: c_int = 11;
    /// The response to the request being handled.
    pub(in super::super) const RESPONSE: c_int = 12;
    /// Functions that hear of the end of the request being handled.
    pub(in super::super) const FINISHERS: c_int = 13;
    /// What calls one of them.
    pub(in super::super) const FINISH: c_int = 14;
    pub(in super::super) const ACCESS_LOG: c_int = 15;
    /// What calls it.
    pub(in super::super) const TELL_ACCESS: c_int = 16;
    /// Who listens to its events: lists by number.
    pub(in super::super) const LISTENERS: c_int = 17;
    /// What calls them.
    pub(in super::super) const EMIT: c_int = 18;
    /// The tables of the request being handled, by [`super::Table`]: the last places.
    pub(in super::super) const TABLES: c_int = 19;
    pub(in super::super) const COUNT: c_int = TABLES + super::Table::COUNT as c_int - 1;
}

/// A server as Lua holds it.
#[repr(C)]
pub(super) struct ServerCell {
    tag: Tag,
    /// Only borrowed while no Lua runs. `None` before it listens and after `__gc`.
    pub(super) service: RefCell<Option<Service>>,
    /// Only while `listen` runs.
    pub(super) draft: RefCell<Option<Draft>>,
    pub(super) stepping: Cell<bool>,
    /// A handler was stopped by Ctrl-C.
    pub(super) interrupted: Cell<bool>,
    /// The request being handled.
    pub(super) current: Cell<RequestId>,
    /// Null without an application; held by the environment table.
    pub(super) router: Cell<*const RouterCell>,
    /// Where the request being handled was led to.
    pub(super) route: Cell<Option<RouteId>>,
    pub(super) captures: RefCell<Captures>,
    /// How many functions wait for the end of the request being handled.
    pub(super) finishers: Cell<u32>,
    /// There is an access log.
    pub(super) logs_access: Cell<bool>,
    /// What somebody listens to.
    pub(super) heard: Heard,
    /// Whose tables the environment keeps: serials, by [`Table`].
    pub(super) tables: [Cell<u64>; Table::COUNT],
    /// What the router has last said.
    pub(super) found: Cell<Found>,
    /// Where the running function stands; `None` where its route's handlers do.
    pub(super) place: Cell<Option<Home>>,
}

/// No request: serials begin at 1.
pub(super) const NO_REQUEST: RequestId = RequestId { slot: 0, serial: 0 };

impl ServerCell {
    pub(super) fn new() -> Self {
        Self {
            tag: Tag::server(),
            service: RefCell::new(None),
            draft: RefCell::new(None),
            stepping: Cell::new(false),
            interrupted: Cell::new(false),
            current: Cell::new(NO_REQUEST),
            router: Cell::new(std::ptr::null()),
            route: Cell::new(None),
            captures: RefCell::new(Captures::new()),
            finishers: Cell::new(0),
            logs_access: Cell::new(false),
            heard: Heard::default(),
            tables: [const { Cell::new(0) }; Table::COUNT],
            found: Cell::new(Found::NotFound),
            place: Cell::new(None),
        }
    }

    /// Runs `run` on the service, if there is one.
    #[inline]
    pub(super) fn with<R>(&self, run: impl FnOnce(&mut Service) -> R) -> Option<R> {
        self.service.borrow_mut().as_mut().map(run)
    }

    /// The application's router, if there is one.
    #[inline]
    pub(super) fn app_router(&self) -> Option<&RouterCell> {
        let router = self.router.get();
        // SAFETY: R4: the environment table, which holds us, holds the router.
        (!router.is_null()).then(|| unsafe { &*router })
    }

    /// Where the function that runs for the current request stands.
    pub(super) fn home(&self) -> Home {
        let of_route = || Some(self.app_router()?.home(self.route.get()?));
        self.place.get().or_else(of_route).unwrap_or(Home::APPLICATION)
    }

    /// How answers are written as JSON.
    #[inline]
    pub(super) fn style(&self) -> Style {
        self.app_router().map_or(Style::DEFAULT, |router| router.style.get())
    }

    /// Writes "GET /units/:id" for the request being handled: its route, or its path when it has none.
    pub(super) fn write_route(&self, id: RequestId, line: &mut Line) {
        self.with(|service| {
            let Some(request) = service.server.request(id) else {
                let _ = write!(line, "request {}", id.serial);
                return;
            };
            super::stack::push_printable(line, request.text(request.head().method_text));
            line.push(b" ");
            let router = self.app_router();
            let route = self.route.get().filter(|_| id == self.current.get());
            match (router, route) {
                (Some(router), Some(route)) => router.write_pattern(route, line),
                _ => super::stack::push_printable(line, request.text(request.head().path)),
            }
        });
    }
}

/// The server a method was called on.
///
/// SAFETY: R4: it lies at index 1 of the frame, which leaves it there.
#[inline]
pub(super) unsafe fn of_self<'a>(l: *mut lua_State) -> &'a ServerCell {
    match userdata_at::<ServerCell>(l, 1, Tag::server()) {
        Some(cell) => &*cell,
        None => wrong_self(l, "server"),
    }
}

/// `__gc`: closes everything at once and calls no Lua.
///
/// SAFETY: R2: dropping runs contained and calls no API function.
pub(super) unsafe extern "C-unwind" fn collect(l: *mut lua_State) -> c_int {
    if let Some(cell) = userdata_at::<ServerCell>(l, 1, Tag::server()) {
        let cell = &*cell;
        contained(|| {
            drop(cell.service.take());
            drop(cell.draft.take());
            cell.captures.replace(Captures::new());
        });
    }
    0
}

/// `tostring(server)`.
///
/// SAFETY: R2: the line is plain data.
pub(super) unsafe extern "C-unwind" fn describe(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let text = guard(l, || {
        let closed = |service: &mut Service| (service.address, service.server.is_closed());
        match cell.with(closed) {
            Some((address, false)) => line!("fastslua.server ({address})"),
            Some((address, true)) => line!("fastslua.server ({address}, closed)"),
            None => line!("fastslua.server (closed)"),
        }
    });
    super::guard::push_line(l, &text);
    1
}

/// `server:address()`: host and port, as bound.
///
/// SAFETY: R2: results are plain data.
pub(super) unsafe extern "C-unwind" fn address(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let pushed = push_bytes(l, |emit| {
        cell.with(|service| emit(line!("{}", service.address.ip()).bytes()));
    });
    if !pushed {
        return 0;
    }
    1 + port(l)
}

/// `server:port()`.
///
/// SAFETY: R2: results are plain data.
pub(super) unsafe extern "C-unwind" fn port(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    match guard(l, || cell.with(|service| service.address.port())) {
        Some(port) => lua_pushnumber(l, f64::from(port)),
        None => lua_pushnil(l),
    }
    1
}

/// `server:close()`: everything ends now. Safe twice, and from inside a handler; then those who listen hear of it at the
/// end of the turn.
///
/// SAFETY: R2: closing runs guarded and calls no Lua.
pub(super) unsafe extern "C-unwind" fn close(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    guard(l, || {
        cell.with(|service| service.server.close());
    });
    if cell.heard.any() && !cell.stepping.get() {
        lua_settop(l, 1);
        lua_getfenv(l, 1);
        lua_rawgeti(l, 2, slot::EMIT.into());
        lua_rawgeti(l, 2, slot::TRACEBACK.into());
        events::tell(l, cell, 3, 4);
    }
    0
}

/// A duration argument that may be missing.
///
/// SAFETY: R2: the message is plain data when it is raised.
pub(super) unsafe fn optional_seconds(l: *mut lua_State, index: c_int, what: &str) -> Option<Duration> {
    if lua_type(l, index) <= LUA_TNIL {
        return None;
    }
    let number = number_arg(l, index, what);
    let mut message = Line::new();
    let duration = guard(l, || match options::seconds(options::Value::Number(number)) {
        Ok(duration) => Some(duration),
        Err(why) => {
            message = line!("{what} {why}");
            None
        }
    });
    if duration.is_none() {
        fail(l, &message);
    }
    duration
}

/// How long `shutdown` waits for what is in flight when it is not told.
const SHUTDOWN_DEFAULT: Duration = Duration::from_secs(10);

/// `server:shutdown([seconds])`.
///
/// SAFETY: R2.
pub(super) unsafe extern "C-unwind" fn shutdown(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let within = optional_seconds(l, 2, "seconds").unwrap_or(SHUTDOWN_DEFAULT);
    guard(l, || {
        cell.with(|service| service.server.shutdown(within, &service.clock));
    });
    0
}

/// A number of `stats()`, or a table of counts by name.
#[derive(Clone, Copy)]
enum Figure {
    Number(f64),
    Responses([u64; 4]),
    Ends,
    Refusals,
}

/// Everything `stats()` tells, read at one moment.
fn figures(service: &Service) -> [(&'static str, Figure); 19] {
    let stats: &Stats = service.server.stats();
    let count = |value: u64| Figure::Number(value as f64);
    let seconds = |value: Duration| Figure::Number(value.as_secs_f64());
    [
        ("accepted", count(stats.accepted)),
        ("closed", count(stats.closed)),
        ("active", count(service.server.active() as u64)),
        ("requests", count(stats.requests)),
        ("unanswered", count(stats.unanswered)),
        ("responses", Figure::Responses(stats.responses)),
        ("ends", Figure::Ends),
        ("refusals", Figure::Refusals),
        ("bytes_in", count(stats.bytes_in)),
        ("bytes_out", count(stats.bytes_out)),
        ("buffered_bytes", count(service.server.buffered_bytes() as u64)),
        ("steps", count(stats.steps)),
        ("steps_over_budget", count(stats.steps_over_budget)),
        ("step_seconds_total", seconds(stats.step_time_total)),
        ("step_seconds_max", seconds(stats.step_time_max)),
        ("handler_seconds_total", seconds(stats.handler_time_total)),
        ("handler_seconds_max", seconds(stats.handler_time_max)),
        ("slowest_request", count(stats.handler_slowest)),
        ("accept_errors", count(stats.accept_errors)),
    ]
}

/// `server:stats()`: a new table each time.
///
/// SAFETY: R2, R3: the figures are copied before anything is pushed; names are literals.
pub(super) unsafe extern "C-unwind" fn stats(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let Some(figures) = guard(l, || cell.with(|service| figures(service))) else {
        lua_createtable(l, 0, 0);
        return 1;
    };
    lua_createtable(l, 0, figures.len() as c_int);
    let table = lua_gettop(l);
    for (name, figure) in figures {
        match figure {
            Figure::Number(number) => lua_pushnumber(l, number),
            Figure::Responses(classes) => {
                let names = ["2xx", "3xx", "4xx", "5xx"];
                push_counts(l, 4, |at| Some((names[at], classes[at])));
            }
            Figure::Ends => {
                push_counts(l, End::ALL.len(), |at| {
                    cell.with(|service| (End::ALL[at].name(), service.server.stats().ends[at]))
                });
            }
            Figure::Refusals => {
                push_counts(l, Reject::ALL.len(), |at| {
                    cell.with(|service| (Reject::ALL[at].name(), service.server.stats().refusals[at]))
                });
            }
        }
        set_field(l, table, name);
    }
    1
}

/// Pushes a table of counts by name.
///
/// SAFETY: R2: `count` runs guarded and its result is plain data.
unsafe fn push_counts(l: *mut lua_State, length: usize, count: impl Fn(usize) -> Option<(&'static str, u64)>) {
    lua_createtable(l, 0, length as c_int);
    for at in 0..length {
        if let Some((name, value)) = guard(l, || count(at)) {
            push_literal(l, name);
            lua_pushnumber(l, value as f64);
            lua_rawset(l, -3);
        }
    }
}
