//! What a chain of middleware and handlers asks of the library while a request is on its way through it.
//!
//! Each function gets the handle of the request (or response) first. The way itself, which function comes after which,
//! is compiled by the Lua layer.

use super::dispatch;
use super::guard::{fail, guard, line};
use super::handle::{self, Handle};
use super::params;
use super::router::{Home, RouterCell};
use super::stack::number_arg;
use super::state::{Tag, userdata_at};
use crate::routing::Found;
use mlua::ffi::*;
use std::os::raw::c_int;

/// The request at 1 and its application's router. It has to be the one being handled.
///
/// SAFETY: R4: the handle lies at index 1 of the frame, and its server's table holds the router.
#[inline]
unsafe fn of_self<'a>(l: *mut lua_State) -> (&'a Handle, &'a RouterCell) {
    let handle = handle::of_self(l, Tag::request(), "request (req)");
    let router = handle.cell().router.get();
    if handle.id != handle.cell().current.get() || router.is_null() {
        fail(
            l,
            &line!("next() can only be called while the request is being handled"),
        );
    }
    (handle, &*router)
}

/// `follow(req)`: goes on to the next route that takes the request; its slot + 1, or nil when there is none.
///
/// SAFETY: R2: the search runs guarded.
pub(super) unsafe extern "C-unwind" fn follow(l: *mut lua_State) -> c_int {
    let (handle, router) = of_self(l);
    let cell = handle.cell();
    params::forget(handle);
    let found = guard(l, || {
        let router = router.router.borrow();
        let route = cell.route.take()?;
        // A route that was taken out meanwhile has no place any more.
        router.pattern(route)?;
        cell.with(|service| {
            let request = service.server.request(handle.id)?;
            let method = router.method(request.text(request.head().method_text));
            let path = request.text(request.head().path);
            Some(router.find_after(route.place(), method, path, &mut cell.captures.borrow_mut()))
        })
        .flatten()
    });
    let found = found.unwrap_or(Found::NotFound);
    cell.found.set(found);
    match found {
        Found::Route(route) => {
            cell.route.set(Some(route));
            lua_pushnumber(l, (route.slot() + 1) as f64);
        }
        _ => lua_pushnil(l),
    }
    1
}

/// `conclude(req, res)`: the answer to a request that no route has taken, unless somebody has answered: true.
///
/// SAFETY: R2; R4: the response lies at index 2 of the frame.
pub(super) unsafe extern "C-unwind" fn conclude(l: *mut lua_State) -> c_int {
    let (handle, _) = of_self(l);
    guard(l, || dispatch::conclude(handle.cell(), handle.id));
    if let Some(response) = userdata_at::<Handle>(l, 2, Tag::response()) {
        (*response).sent.set(true);
    }
    lua_pushboolean(l, 1);
    1
}

/// `enter(req, base, scope)`: how many segments of the path lie before the running function's router, and which error
/// handlers are its own. Returns what it was before.
///
/// SAFETY: R1: plain data only; R2.
pub(super) unsafe extern "C-unwind" fn enter(l: *mut lua_State) -> c_int {
    let (handle, _) = of_self(l);
    let cell = handle.cell();
    let base = number_arg(l, 2, "base") as u16;
    let scope = number_arg(l, 3, "scope") as u32;
    let before = guard(l, || cell.home());
    cell.place.set(Some(Home { base, scope }));
    lua_pushnumber(l, before.base.into());
    lua_pushnumber(l, before.scope.into());
    2
}

/// `under(req, prefix)`: whether the path lies under it.
///
/// SAFETY: R2.
pub(super) unsafe extern "C-unwind" fn under(l: *mut lua_State) -> c_int {
    let (handle, router) = of_self(l);
    let index = number_arg(l, 2, "prefix") as usize;
    let under = matches(l, handle, router, index);
    lua_pushboolean(l, c_int::from(under));
    1
}

/// `capture(req, prefix)`: the same, and `req.params` has the parameters of the prefix too.
///
/// SAFETY: R2.
pub(super) unsafe extern "C-unwind" fn capture(l: *mut lua_State) -> c_int {
    let (handle, router) = of_self(l);
    let index = number_arg(l, 2, "prefix") as usize;
    lua_settop(l, 1);
    let under = matches(l, handle, router, index) && params::push_with_prefix(l, handle, router, index);
    lua_pushboolean(l, c_int::from(under));
    1
}

/// SAFETY: R2.
unsafe fn matches(l: *mut lua_State, handle: &Handle, router: &RouterCell, index: usize) -> bool {
    guard(l, || {
        handle.cell().with(|service| {
            let request = service.server.request(handle.id)?;
            let prefixes = router.prefixes.borrow();
            let path = request.text(request.head().path);
            prefixes.get(index)?.matches(path, &mut router.scratch.borrow_mut())
        })
    })
    .flatten()
    .is_some()
}

/// `release(req)`: `req.params` is that of the route again.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn release(l: *mut lua_State) -> c_int {
    let (handle, _) = of_self(l);
    params::forget(handle);
    0
}

/// `settle(res, ...)`: answers with what a handler has returned; true when that was an answer.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn settle(l: *mut lua_State) -> c_int {
    let handle = handle::of_self(l, Tag::response(), "response (res)");
    lua_settop(l, 4);
    dispatch::take_results(l, handle.cell(), handle, Some(handle));
    lua_pushboolean(l, c_int::from(handle.sent.get()));
    1
}
