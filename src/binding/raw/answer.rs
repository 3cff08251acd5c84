//! The end of the way of a request: a Lua value becomes the response's content.
//!
//! Used by `res:send` and its kin and for what handlers return. A string of [`HELD_MIN`] bytes or more is not copied:
//! the server sends it from where it lies.

use super::body::HeldBody;
use super::guard::{Line, fail, guard, line};
use super::handle::{self, Handle};
use super::json_encode;
use super::server::{ServerCell, slot};
use super::stack::{Named, string_at, type_name};
use super::state::{State, current};
use crate::binding::content;
use crate::binding::refusal::refuse;
use crate::binding::service::Service;
use crate::binding::validators;
use crate::http::conditional::Outcome;
use crate::server::{Payload, RequestId, RespondError};
use mlua::ffi::*;
use std::fmt::Write;
use std::os::raw::c_int;

/// Copying less than this is cheaper than a reference and a second part to send.
const HELD_MIN: usize = 64 * 1024;

/// What became of an answer that was not refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    Yes,
    /// The client has gone.
    Gone,
}

/// Answers `id` with the value at `index` (absolute, or 0 for nothing). `content_type` is used where the script has not
/// set one; text without it is plain. `holder`: the handle at 1, or none where the running function's environment is the
/// server's table.
///
/// SAFETY: R1: plain data in this frame; R2: everything that owns memory runs guarded. A fault is raised.
pub(super) unsafe fn send(
    l: *mut lua_State,
    cell: &ServerCell,
    id: RequestId,
    index: c_int,
    holder: Option<&Handle>,
) -> Sent {
    let kind = if index == 0 { LUA_TNIL } else { lua_type(l, index) };
    match kind {
        LUA_TNIL | LUA_TNONE => send_bytes(l, cell, id, b"", None),
        LUA_TTABLE => send_json(l, cell, id, index),
        LUA_TNUMBER => {
            lua_tolstring(l, index, std::ptr::null_mut());
            send_bytes(
                l,
                cell,
                id,
                string_at(l, index).unwrap_or_default(),
                Some(content::TEXT),
            )
        }
        LUA_TSTRING => {
            let text = string_at(l, index).unwrap_or_default();
            if text.len() >= HELD_MIN {
                send_held(l, cell, id, index, holder)
            } else {
                send_bytes(l, cell, id, text, Some(content::TEXT))
            }
        }
        _ => {
            let name = type_name(l, index);
            let message = guard(l, || {
                line!("a response body is a string, a table or nil, got {}", Named(name))
            });
            fail(l, &message)
        }
    }
}

/// The outcome of asking the server, with the words for a refusal in `fault`.
fn respond(
    cell: &ServerCell,
    id: RequestId,
    content_type: Option<&'static [u8]>,
    payload: Payload<'_, HeldBody>,
    fault: &mut Line,
) -> Option<Sent> {
    let run = |service: &mut Service| {
        if let Some(content_type) = content_type
            && let Some(response) = service.server.response_mut(id)
        {
            response.set_default_content_type(content_type);
        }
        let content = match &payload {
            Payload::Bytes(bytes) if service.etag => Some(*bytes),
            _ => None,
        };
        let outcome = validators::apply(&mut service.server, id, content);
        let result = match outcome {
            Outcome::Proceed => service.server.respond(id, payload),
            Outcome::NotModified => service.server.respond(id, Payload::Bytes(b"")),
            Outcome::Failed => {
                refuse(service, id, 412, b"What is here now is not what this request asks for.");
                Ok(())
            }
        };
        if result.is_err() {
            validators::undo(&mut service.server, id, outcome);
        }
        result
    };
    match cell.with(run) {
        Some(Ok(())) => Some(Sent::Yes),
        None | Some(Err(RespondError::Gone)) => Some(Sent::Gone),
        Some(Err(error)) => {
            cell.write_route(id, fault);
            let _ = write!(fault, ": {error}");
            None
        }
    }
}

/// SAFETY: R2: the message is plain data; `bytes` lie in a string that the caller's stack holds, or in a literal.
#[inline]
pub(super) unsafe fn send_bytes(
    l: *mut lua_State,
    cell: &ServerCell,
    id: RequestId,
    bytes: &[u8],
    content_type: Option<&'static [u8]>,
) -> Sent {
    let mut fault = Line::new();
    let sent = guard(l, || respond(cell, id, content_type, Payload::Bytes(bytes), &mut fault));
    match sent {
        Some(sent) => sent,
        None => fail(l, &fault),
    }
}

/// SAFETY: R1: the reference is taken before anything of Rust's owns it, and the body is made and handed over in one
/// guarded block. The table of bodies lives as long as the server.
unsafe fn send_held(
    l: *mut lua_State,
    cell: &ServerCell,
    id: RequestId,
    index: c_int,
    holder: Option<&Handle>,
) -> Sent {
    match holder {
        Some(handle) => handle::push_environment(l, handle),
        None => lua_pushvalue(l, LUA_ENVIRONINDEX),
    }
    lua_rawgeti(l, -1, slot::BODIES.into());
    lua_pushvalue(l, index);
    let reference = luaL_ref(l, -2);
    let mut length = 0;
    let start = lua_tolstring(l, index, &mut length).cast::<u8>();
    let mut fault = Line::new();
    let sent = guard(l, || {
        let Some(releases) = cell.with(|service| service.releases.clone()) else {
            return Some(Sent::Gone);
        };
        let body = HeldBody::new(start, length, reference, releases);
        respond(cell, id, Some(content::TEXT), Payload::Held(body), &mut fault)
    });
    match sent {
        Some(sent) => sent,
        None => fail(l, &fault),
    }
}

/// Answers with the value at `index` as JSON.
///
/// SAFETY: R2: room on the stack is asked for first, then the walk and the answer run guarded.
pub(super) unsafe fn send_json(l: *mut lua_State, cell: &ServerCell, id: RequestId, index: c_int) -> Sent {
    let state: &State = current(l);
    luaL_checkstack(l, json_encode::SLOTS, c"too many values for JSON".as_ptr());
    let mut fault = Line::new();
    let sent = guard(l, || {
        let scratch = &mut *state.scratch.borrow_mut();
        let sent = if json_encode::encode(l, state, scratch, index, cell.style(), &mut fault) {
            respond(
                cell,
                id,
                Some(content::JSON),
                Payload::Bytes(&scratch.bytes),
                &mut fault,
            )
        } else {
            None
        };
        scratch.reset();
        sent
    });
    match sent {
        Some(sent) => sent,
        None => fail(l, &fault),
    }
}
