//! `res:on_finish(fn)`: functions that hear of the end of a request, whichever way it ended.
//!
//! They run after the answer was made, be it the handler's or that of its failure, and before the request is forgotten. A
//! request that nobody waits for costs one comparison. What such a function raises is reported like a handler's failure
//! and changes no answer.

use super::guard::{fail, line};
use super::handle;
use super::report;
use super::server::{ServerCell, slot};
use super::stack::wrong_type;
use super::state::Tag;
use super::turn::Frame;
use crate::server::RequestId;
use mlua::ffi::*;
use std::os::raw::c_int;

/// `res:on_finish(fn)`: has `fn(req, res)` called at the end of the request; the response.
///
/// SAFETY: R1: plain data only. The list has the function before the count says so.
pub(super) unsafe extern "C-unwind" fn on_finish(l: *mut lua_State) -> c_int {
    let handle = handle::of_self(l, Tag::response(), "response (res)");
    if lua_type(l, 2) != LUA_TFUNCTION {
        wrong_type(l, 2, "fn", "function");
    }
    let cell = handle.cell();
    if handle.id != cell.current.get() {
        fail(l, &line!("on_finish: the request is not being handled any more"));
    }
    lua_settop(l, 2);
    handle::push_environment(l, handle);
    lua_rawgeti(l, -1, slot::FINISHERS.into());
    let list = lua_gettop(l);
    let count = cell.finishers.get() + 1;
    lua_pushvalue(l, 2);
    lua_rawseti(l, list, count.into());
    cell.finishers.set(count);
    lua_settop(l, 1);
    1
}

/// Calls the functions that wait for the end of `id`, those that they add too.
///
/// SAFETY: R2: called where nothing may be raised: Lua runs in `lua_pcall`, and the pushes before it neither allocate nor
/// exceed the room that the turn asked for.
#[cold]
pub(super) unsafe fn run(l: *mut lua_State, cell: &ServerCell, id: RequestId, frame: &Frame) {
    let mut number = 1;
    while number <= cell.finishers.get() {
        lua_pushvalue(l, frame.finish);
        lua_pushnumber(l, f64::from(number));
        if lua_pcall(l, 1, 0, frame.traceback) != 0 {
            report::failed(l, cell, id, frame.report);
        }
        number += 1;
    }
    cell.finishers.set(0);
}

/// Calls the function with the number at 1 and takes it out of the list. Its environment is the server's table.
///
/// SAFETY: R1: plain data only; runs in a `lua_pcall` of its own.
pub(super) unsafe extern "C-unwind" fn finish(l: *mut lua_State) -> c_int {
    let number = lua_tonumber(l, 1) as lua_Integer;
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::FINISHERS.into());
    lua_rawgeti(l, 2, number);
    lua_pushnil(l);
    lua_rawseti(l, 2, number);
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::REQUEST.into());
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::RESPONSE.into());
    lua_call(l, 2, 0);
    0
}
