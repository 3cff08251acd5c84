//! `access_log(line, req, res, seconds)`: called once for each request that has been answered.
//!
//! It runs after the functions of `res:on_finish` and before the request is forgotten. A server without the option pays
//! one comparison for it. What it raises is reported like a handler's failure and changes no answer.

use super::guard::{contained, guard};
use super::report::{self, push_handle};
use super::server::{ServerCell, slot};
use super::stack::push_bytes;
use super::state::Tag;
use super::turn::Frame;
use crate::binding::origin;
use crate::binding::service::Service;
use crate::h1::Version;
use crate::http::common_log::Entry;
use crate::server::RequestId;
use mlua::ffi::*;
use std::os::raw::c_int;

/// Upvalues of `tell`, after the state.
const SERVER: c_int = lua_upvalueindex(2);
const REQUEST_METATABLE: c_int = lua_upvalueindex(3);
const RESPONSE_METATABLE: c_int = lua_upvalueindex(4);

/// Tells the log of a request, if it was answered.
///
/// SAFETY: R2: called where nothing may be raised: Lua runs in `lua_pcall`, and the push before it neither allocates nor
/// exceeds the room that the turn asked for.
#[cold]
pub(super) unsafe fn run(l: *mut lua_State, cell: &ServerCell, id: RequestId, frame: &Frame) {
    let answered = contained(|| cell.with(|service| service.server.answer(id).is_some())).flatten();
    if answered != Some(true) {
        return;
    }
    lua_pushvalue(l, frame.access);
    if lua_pcall(l, 0, 0, frame.traceback) != 0 {
        report::failed(l, cell, id, frame.report);
    }
}

/// Makes the line and calls the function. Its environment is the server's table.
///
/// SAFETY: R1: plain data only; runs in a `lua_pcall` of its own.
pub(super) unsafe extern "C-unwind" fn tell(l: *mut lua_State) -> c_int {
    let cell = &*lua_touserdata(l, SERVER).cast::<ServerCell>();
    let id = cell.current.get();
    let seconds = guard(l, || cell.with(|service| service.server.handler_time(&service.clock)));
    lua_rawgeti(l, LUA_ENVIRONINDEX, slot::ACCESS_LOG.into());
    let pushed = push_bytes(l, |emit| {
        cell.with(|service| {
            let mut line = Vec::new();
            if write_line(service, id, &mut line).is_some() {
                emit(&line);
            }
        });
    });
    if !pushed {
        // The connection has gone, and what it asked for with it.
        return 0;
    }
    push_handle(l, cell, id, slot::REQUEST, Tag::request(), REQUEST_METATABLE);
    push_handle(l, cell, id, slot::RESPONSE, Tag::response(), RESPONSE_METATABLE);
    lua_pushnumber(l, seconds.unwrap_or_default().as_secs_f64());
    lua_call(l, 4, 0);
    0
}

fn write_line(service: &Service, id: RequestId, out: &mut Vec<u8>) -> Option<()> {
    let request = service.server.request(id)?;
    let (status, bytes) = service.server.answer(id)?;
    let head = request.head();
    let entry = Entry {
        address: origin::of(&service.proxies, &request, |origin| origin.address),
        date: service.server.date(),
        method: request.text(head.method_text),
        target: request.text(head.target),
        version: match head.version {
            Version::Http11 => "1.1",
            Version::Http10 => "1.0",
        },
        status,
        bytes,
    };
    entry.write(out);
    Some(())
}
