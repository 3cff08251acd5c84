//! Path parameters as Lua values: those of the route, and those of a prefix that middleware stands under.

use super::guard::{guard, line};
use super::handle::{self, Handle, Table};
use super::report::raise_client_error;
use super::router::RouterCell;
use super::stack::{push_bytes, string_at};
use crate::routing::{Captures, Kind, Param, RouteId};
use crate::server::Request;
use mlua::ffi::*;
use std::cell::RefCell;
use std::os::raw::c_int;

/// Runs `read` on the request while it lives.
fn with<R>(handle: &Handle, read: impl FnOnce(&Request<'_>) -> R) -> Option<R> {
    handle
        .cell()
        .with(|service| service.server.request(handle.id).map(|request| read(&request)))
        .flatten()
}

/// The router and the route of the request, while it is being handled.
///
/// SAFETY: R4: the server's table holds the router.
unsafe fn route_of(handle: &Handle) -> Option<(&RouterCell, RouteId)> {
    let cell = handle.cell();
    let router = cell.router.get();
    let route = cell.route.get().filter(|_| handle.id == cell.current.get())?;
    (!router.is_null()).then(|| (&*router, route))
}

/// Pushes the table of parameters of the request whose handle lies at 1, and keeps it there: those of the route, decoded,
/// those of a numeric type as numbers. `false` and nothing pushed when the request has ended.
///
/// SAFETY: R2, R3: one name or value at a time is copied while Lua stands still.
pub(super) unsafe fn push(l: *mut lua_State, handle: &Handle) -> bool {
    if guard(l, || with(handle, |_| ()).is_none()) {
        return false;
    }
    lua_createtable(l, 0, 2);
    let table = lua_gettop(l);
    let mut at = 0;
    if let Some((router, route)) = route_of(handle) {
        let captures = &handle.cell().captures;
        while add(l, handle, table, captures, at, |read| {
            if let Some(param) = router.router.borrow().params(route).get(at) {
                read(param);
            }
        }) {
            at += 1;
        }
    }
    handle::keep_table(l, handle, Table::Params);
    true
}

/// The same with the parameters of a prefix in it, which `RouterCell::scratch` has captured.
///
/// SAFETY: as `push`; the router's borrow ends before Lua goes on.
pub(super) unsafe fn push_with_prefix(l: *mut lua_State, handle: &Handle, router: &RouterCell, prefix: usize) -> bool {
    if !push(l, handle) {
        return false;
    }
    let table = lua_gettop(l);
    let mut at = 0;
    while add(l, handle, table, &router.scratch, at, |read| {
        let prefixes = router.prefixes.borrow();
        if let Some(param) = prefixes.get(prefix).and_then(|prefix| prefix.params().get(at)) {
            read(param);
        }
    }) {
        at += 1;
    }
    true
}

/// Sets the parameter that `find` gives to the capture `at`; `false` when there is none.
///
/// SAFETY: R2, R3.
unsafe fn add(
    l: *mut lua_State,
    handle: &Handle,
    table: c_int,
    captures: &RefCell<Captures>,
    at: usize,
    find: impl Fn(&mut dyn FnMut(&Param)),
) -> bool {
    let mut kind = Kind::Text;
    let known = guard(l, || {
        let mut known = false;
        find(&mut |param| {
            kind = param.kind;
            known = true;
        });
        known
    });
    if !known || !push_bytes(l, |emit| find(&mut |param| emit(param.name.as_bytes()))) {
        return false;
    }
    let number = match kind {
        Kind::Int | Kind::Uint | Kind::Number => guard(l, || {
            let read = |request: &Request<'_>| {
                let path = request.text(request.head().path);
                let captures = captures.borrow();
                let value = captures.value(path, at)?;
                std::str::from_utf8(&value).ok()?.parse::<f64>().ok()
            };
            with(handle, read).flatten()
        }),
        _ => None,
    };
    let valued = if let Some(number) = number {
        lua_pushnumber(l, number);
        true
    } else {
        push_bytes(l, |emit| {
            with(handle, |request| {
                let path = request.text(request.head().path);
                if let Some(value) = captures.borrow().value(path, at) {
                    emit(&value);
                }
            });
        })
    };
    if valued {
        must_be_text(l);
        lua_rawset(l, table);
    } else {
        // A finalizer has closed the server.
        lua_settop(l, table);
    }
    true
}

/// Raises 400 when the string on top is not UTF-8. Whoever hands on what a client sent, as JSON say, need not expect that
/// it cannot be; what was sent stays in `req.target`.
///
/// SAFETY: R1: the string lies on the stack, and nothing else is alive.
pub(super) unsafe fn must_be_text(l: *mut lua_State) {
    if string_at(l, -1).is_some_and(|text| !text.is_ascii() && std::str::from_utf8(text).is_err()) {
        raise_client_error(
            l,
            400,
            &line!("A part of the request that was percent-encoded is not UTF-8."),
        );
    }
}

/// Forgets the table, so that it is made anew when it is read next.
pub(super) fn forget(handle: &Handle) {
    handle.cell().tables[Table::Params as usize].set(0);
}

/// Pushes the part of the path that the running handler's router is mounted under: decoded, empty at the root. `false`
/// when the request has ended.
///
/// SAFETY: R3: `push_bytes`.
pub(super) unsafe fn push_base_path(l: *mut lua_State, handle: &Handle) -> bool {
    let count = if handle.id == handle.cell().current.get() {
        guard(l, || handle.cell().home().base)
    } else {
        0
    };
    push_bytes(l, |emit| {
        with(handle, |request| {
            let path = request.text(request.head().path);
            let end = memchr::memchr_iter(b'/', path).nth(count.into()).unwrap_or(path.len());
            emit(&crate::routing::decode(&path[..end]));
        });
    })
}
