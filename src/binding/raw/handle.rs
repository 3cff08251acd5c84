//! What `req` and `res` are: small userdata that name a request of a server.
//!
//! A handle is valid for ever; its request is not, so each use looks it up. Its environment is the server's table, or,
//! once a script has put something of its own on it, a private table that holds the server's.

use super::guard::{Line, fail, guard, line};
use super::server::{ServerCell, slot};
use super::stack::type_name;
use super::state::{Tag, userdata_at, wrong_self};
use crate::server::RequestId;
use mlua::ffi::*;
use std::cell::Cell;
use std::os::raw::c_int;
use std::ptr;

/// The userdata behind `req` and `res`.
#[repr(C)]
pub(super) struct Handle {
    tag: Tag,
    cell: *const ServerCell,
    pub(super) id: RequestId,
    /// The environment is a private table.
    private: Cell<bool>,
    /// The response was handed over through this handle.
    pub(super) sent: Cell<bool>,
}

/// Where a private table keeps the server's: under the address of this, which no script can name.
static ANCHOR_KEY: u8 = 0;

impl Handle {
    /// SAFETY: R4: the handle's environment holds the server's userdata, and whoever has the handle holds it.
    #[inline]
    pub(super) fn cell(&self) -> &ServerCell {
        unsafe { &*self.cell }
    }
}

/// Pushes a handle for `id` with the metatable at `metatable`.
///
/// SAFETY: R1: plain data. The running function's environment has to be the server's table, since a new userdata
/// inherits it; this holds for `dispatch` and `report` only.
#[inline]
pub(super) unsafe fn push(
    l: *mut lua_State,
    cell: &ServerCell,
    id: RequestId,
    tag: Tag,
    metatable: c_int,
) -> *const Handle {
    let handle = lua_newuserdata(l, size_of::<Handle>()).cast::<Handle>();
    handle.write(Handle {
        tag,
        cell,
        id,
        private: Cell::new(false),
        sent: Cell::new(false),
    });
    lua_pushvalue(l, metatable);
    lua_setmetatable(l, -2);
    handle
}

/// The handle that a method was called on; `name` is what errors call it.
///
/// SAFETY: R4: it lies at index 1 of the frame, which has to leave it there.
#[inline]
pub(super) unsafe fn of_self<'a>(l: *mut lua_State, tag: Tag, name: &str) -> &'a Handle {
    match userdata_at::<Handle>(l, 1, tag) {
        Some(handle) => &*handle,
        None => wrong_self(l, name),
    }
}

/// Pushes the server's table for the handle at 1.
///
/// SAFETY: R1: plain data only.
pub(super) unsafe fn push_environment(l: *mut lua_State, handle: &Handle) {
    lua_getfenv(l, 1);
    if handle.private.get() {
        lua_pushlightuserdata(l, ptr::addr_of!(ANCHOR_KEY).cast_mut().cast());
        lua_rawget(l, -2);
        lua_remove(l, -2);
    }
}

/// Pushes the private table of the handle at 1, made when there is none.
///
/// SAFETY: R1: plain data only. R3: making the table may run a finalizer that gives the handle one; from then on nothing
/// collects. R4: the private table holds the server's before it takes its place.
pub(super) unsafe fn push_private(l: *mut lua_State, handle: &Handle) {
    if handle.private.get() {
        lua_getfenv(l, 1);
        return;
    }
    lua_createtable(l, 0, 2);
    if handle.private.get() {
        lua_getfenv(l, 1);
        lua_replace(l, -2);
        return;
    }
    lua_pushlightuserdata(l, ptr::addr_of!(ANCHOR_KEY).cast_mut().cast());
    lua_getfenv(l, 1);
    lua_rawset(l, -3);
    lua_pushvalue(l, -1);
    lua_setfenv(l, 1);
    handle.private.set(true);
}

/// Tables that are made of a request once.
#[derive(Clone, Copy)]
pub(super) enum Table {
    Params,
    Query,
    Headers,
    Cookies,
    Form,
}

impl Table {
    pub(super) const COUNT: usize = Table::Form as usize + 1;
}

/// Pushes the table of the request being handled when it was made before.
///
/// SAFETY: R1: plain data only.
#[inline]
pub(super) unsafe fn push_table(l: *mut lua_State, handle: &Handle, table: Table) -> bool {
    let cell = handle.cell();
    if handle.id != cell.current.get() || cell.tables[table as usize].get() != handle.id.serial {
        return false;
    }
    push_environment(l, handle);
    lua_rawgeti(l, -1, (slot::TABLES + table as c_int).into());
    true
}

/// Keeps the table on top, which stays there, as the one of the request being handled: in the server's table, so that
/// nothing is allocated for it, until the next request makes its own.
///
/// SAFETY: R1: plain data only.
pub(super) unsafe fn keep_table(l: *mut lua_State, handle: &Handle, table: Table) {
    let cell = handle.cell();
    if handle.id != cell.current.get() {
        return;
    }
    push_environment(l, handle);
    lua_pushvalue(l, -2);
    lua_rawseti(l, -2, (slot::TABLES + table as c_int).into());
    lua_settop(l, -2);
    cell.tables[table as usize].set(handle.id.serial);
}

/// Keeps a copy of the value on top under `name` on the handle at 1; the value stays on top.
///
/// SAFETY: as `push_private`.
pub(super) unsafe fn keep(l: *mut lua_State, handle: &Handle, name_at: c_int) {
    push_private(l, handle);
    lua_pushvalue(l, name_at);
    lua_pushvalue(l, -3);
    lua_rawset(l, -3);
    lua_settop(l, -2);
}

/// Pushes what the handle at 1 has of its own under the key at 2; `false` and nothing pushed when it has nothing.
///
/// SAFETY: R1: plain data only; raw, so no metamethod runs.
#[inline]
unsafe fn push_own(l: *mut lua_State, handle: &Handle) -> bool {
    if !handle.private.get() || lua_type(l, 2) != LUA_TSTRING {
        return false;
    }
    lua_getfenv(l, 1);
    lua_pushvalue(l, 2);
    lua_rawget(l, -2);
    if lua_type(l, -1) == LUA_TNIL {
        lua_settop(l, 2);
        return false;
    }
    true
}

/// What the name at 2 is on the handle at 1, by its table of members at `members`: the number of a field; or nothing, and
/// what a script has put there, a method or nil is pushed.
///
/// SAFETY: R1: plain data only; raw, so no metamethod runs.
#[inline]
pub(super) unsafe fn member(l: *mut lua_State, handle: &Handle, members: c_int) -> Option<usize> {
    if push_own(l, handle) {
        return None;
    }
    lua_pushvalue(l, 2);
    lua_rawget(l, members);
    (lua_type(l, -1) == LUA_TNUMBER).then(|| lua_tonumber(l, -1) as usize)
}

/// Stores a script's own value: the body of both `__newindex`.
///
/// SAFETY: R1: plain data only.
pub(super) unsafe fn set_own(l: *mut lua_State, handle: &Handle, what: &str) -> c_int {
    if lua_type(l, 2) != LUA_TSTRING {
        let key = type_name(l, 2);
        let message = guard(l, || line!("fields of {what} have names, got a {key} as key"));
        fail(l, &message);
    }
    lua_settop(l, 3);
    keep(l, handle, 2);
    0
}

/// `__tostring` of both.
///
/// SAFETY: R2: the line is plain data.
pub(super) unsafe fn push_description(l: *mut lua_State, handle: &Handle, what: &str) -> c_int {
    let text: Line = guard(l, || line!("fastslua.{what} ({})", handle.id.serial));
    super::guard::push_line(l, &text);
    1
}
