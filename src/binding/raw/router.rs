//! The routes of an application, as a userdata that `application.lua` fills and the dispatch reads.

use super::guard::{Line, fail, guard, line};
use super::stack::{push_printable, text_arg};
use super::state::{Tag, userdata_at, wrong_self};
use crate::routing::{Options, RouteId, Router};
use mlua::ffi::*;
use std::cell::RefCell;
use std::os::raw::c_int;

/// The userdata.
#[repr(C)]
pub(super) struct RouterCell {
    tag: Tag,
    pub(super) router: RefCell<Router>,
}

impl RouterCell {
    pub(super) fn write_pattern(&self, route: RouteId, line: &mut Line) {
        match self.router.borrow().pattern(route) {
            Some(pattern) => push_printable(line, pattern.as_bytes()),
            None => line.push(b"(a removed route)"),
        }
    }
}

/// `router()`: an empty one. Upvalue 2 is the metatable.
///
/// SAFETY: R1: the cell is in Lua's memory and its metatable set before anything can raise.
pub(super) unsafe extern "C-unwind" fn create(l: *mut lua_State) -> c_int {
    let place = lua_newuserdata(l, size_of::<RouterCell>()).cast::<RouterCell>();
    place.write(RouterCell {
        tag: Tag::router(),
        router: RefCell::new(Router::new()),
    });
    lua_pushvalue(l, lua_upvalueindex(2));
    lua_setmetatable(l, -2);
    1
}

/// SAFETY: R4: the userdata lies at index 1 of the frame.
unsafe fn of_self<'a>(l: *mut lua_State) -> &'a RouterCell {
    match userdata_at::<RouterCell>(l, 1, Tag::router()) {
        Some(cell) => &*cell,
        None => wrong_self(l, "router"),
    }
}

/// `__gc`: leaves an empty router.
///
/// SAFETY: R2.
pub(super) unsafe extern "C-unwind" fn collect(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    super::guard::contained(|| {
        cell.router.replace(Router::new());
    });
    0
}

/// `router:add(methods, pattern)`: `methods` is one name, or "*" for all. The slot of the route, or `nil` and what is
/// wrong with the pattern.
///
/// SAFETY: R2: the pattern is compiled guarded; the message is plain data.
pub(super) unsafe extern "C-unwind" fn add(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let method = text_arg(l, 2, "method");
    let pattern = text_arg(l, 3, "path");
    let mut fault = Line::new();
    let slot = guard(l, || match insert(&mut cell.router.borrow_mut(), method, pattern) {
        Ok(route) => Some(route.slot()),
        Err(message) => {
            fault.push(message.as_bytes());
            None
        }
    });
    match slot {
        Some(slot) => {
            lua_pushnumber(l, slot as f64);
            1
        }
        None => {
            lua_pushnil(l);
            super::guard::push_line(l, &fault);
            2
        }
    }
}

fn insert(router: &mut Router, method: &[u8], pattern: &[u8]) -> Result<RouteId, String> {
    let utf8 = |bytes| std::str::from_utf8(bytes).map_err(|_| String::from("a path is UTF-8 text"));
    let (method, pattern) = (utf8(method)?, utf8(pattern)?);
    let methods = if method == "*" {
        crate::routing::Methods::ALL
    } else {
        router.learn_method(method).map_err(|error| error.to_string())?
    };
    router
        .insert(methods, pattern, &Options::default())
        .map_err(|error| error.to_string())
}

/// The router at `index`, for `listen`.
///
/// SAFETY: R4: the caller keeps it reachable.
pub(super) unsafe fn at(l: *mut lua_State, index: c_int) -> *const RouterCell {
    match userdata_at::<RouterCell>(l, index, Tag::router()) {
        Some(cell) => cell,
        None => fail(
            l,
            &line!("an application made by fastslua.app() is needed before the colon"),
        ),
    }
}
