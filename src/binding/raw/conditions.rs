//! Conditions of a request: `req.fresh`, and `req:permits(tag, last_modified)` before something is changed.

use super::guard::{fail, guard, line};
use super::handle::Handle;
use super::request::{must_live, of_self, with};
use super::stack::{string_at, wrong_type};
use crate::binding::service::Service;
use crate::binding::validators;
use crate::http::conditional::is_entity_tag;
use mlua::ffi::*;
use std::os::raw::c_int;

/// Whether the client has what the response in the making would give it; `false` and nothing pushed when the request
/// has ended.
///
/// SAFETY: R2: the answer is plain data.
pub(super) unsafe fn push_fresh(l: *mut lua_State, handle: &Handle) -> bool {
    let run = |service: &mut Service| validators::is_fresh(&service.server, handle.id);
    match guard(l, || handle.cell().with(run).flatten()) {
        Some(fresh) => {
            lua_pushboolean(l, c_int::from(fresh));
            true
        }
        None => false,
    }
}

/// `req:permits(tag[, last_modified])`: whether the request may change what has this entity tag now, by its `If-Match`,
/// `If-None-Match` and `If-Unmodified-Since`. Without both there is nothing yet.
///
/// SAFETY: R2: both lie in strings on the stack, read with functions that cannot raise.
pub(super) unsafe extern "C-unwind" fn permits(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    lua_settop(l, 3);
    for (index, what) in [(2, "tag"), (3, "last_modified")] {
        if !matches!(lua_type(l, index), LUA_TNIL | LUA_TSTRING) {
            wrong_type(l, index, what, "string");
        }
    }
    let (tag, last_modified) = (string_at(l, 2), string_at(l, 3));
    if tag.is_some_and(|tag| !guard(l, || is_entity_tag(tag))) {
        fail(
            l,
            &line!("tag must be an entity tag, in quotation marks as \"v1\" or W/\"v1\""),
        );
    }
    must_live(l, handle, "req:permits");
    let permits = guard(l, || {
        with(handle, |request| validators::permits(request, tag, last_modified))
    });
    lua_pushboolean(l, c_int::from(permits == Some(true)));
    1
}
