//! Where a request came from, as its fields tell a handler: `remote_address`, `peer_address`, `scheme`, `secure`, `host`,
//! `hostname`.
//!
//! Whom to believe is decided in [`crate::binding::origin`]; here it is only shown to Lua.

use super::guard::{guard, line};
use super::handle::Handle;
use super::request::{of_self, push_nil_if_live, with};
use super::stack::push_bytes;
use crate::binding::origin;
use crate::binding::service::Service;
use crate::http::forwarded::Origin;
use crate::server::Request;
use mlua::ffi::*;
use std::os::raw::c_int;

/// Runs `read` on the request and what can be believed of its origin, while it lives.
fn with_origin<R>(handle: &Handle, read: impl FnOnce(&Request<'_>, Origin<'_>) -> R) -> Option<R> {
    let run = |service: &mut Service| {
        let request = service.server.request(handle.id)?;
        Some(origin::of(&service.proxies, &request, |origin| read(&request, origin)))
    };
    handle.cell().with(run).flatten()
}

/// `req.remote_address`: the client's, as trusted proxies tell it, and else the socket's.
///
/// SAFETY: R3: `push_bytes`.
pub(super) unsafe fn push_address(l: *mut lua_State, handle: &Handle) -> bool {
    push_bytes(l, |emit| {
        with_origin(handle, |_, origin| emit(line!("{}", origin.address).bytes()));
    })
}

/// `req.scheme`: `"http"`, unless a trusted proxy tells that the client came by `"https"`.
///
/// SAFETY: R3: `push_bytes`.
pub(super) unsafe fn push_scheme(l: *mut lua_State, handle: &Handle) -> bool {
    push_bytes(l, |emit| {
        with_origin(handle, |_, origin| {
            emit(&origin.scheme.unwrap_or(b"http").to_ascii_lowercase());
        });
    })
}

/// `req.secure`.
///
/// SAFETY: R2.
pub(super) unsafe fn push_secure(l: *mut lua_State, handle: &Handle) -> bool {
    let secure = guard(l, || {
        with_origin(handle, |_, origin| {
            origin
                .scheme
                .is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"https"))
        })
    });
    match secure {
        Some(secure) => {
            lua_pushboolean(l, c_int::from(secure));
            true
        }
        None => false,
    }
}

/// `req.host` and, without the port, `req.hostname`: what the client asked for; nil for an HTTP/1.0 client that did not
/// say.
///
/// SAFETY: R3: `push_bytes`.
pub(super) unsafe fn push_host(l: *mut lua_State, handle: &Handle, name_only: bool) -> bool {
    let pushed = push_bytes(l, |emit| {
        with_origin(handle, |request, told| {
            if let Some(host) = told.host.or_else(|| origin::authority(request)) {
                emit(if name_only { origin::host_name(host) } else { host });
            }
        });
    });
    pushed || push_nil_if_live(l, handle)
}

/// `req.peer_address`: the socket's, whatever anyone says.
///
/// SAFETY: R3: `push_bytes`.
pub(super) unsafe fn push_peer(l: *mut lua_State, handle: &Handle) -> bool {
    push_bytes(l, |emit| {
        with(handle, |request| emit(line!("{}", origin::peer(request)).bytes()));
    })
}

/// `surroundings(req)`: the address and the port that the server is bound to, and its `max_response_bytes`. Nothing once
/// the server is gone.
///
/// SAFETY: R2, R3: `push_bytes`; the numbers are plain data.
pub(super) unsafe extern "C-unwind" fn surroundings(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let cell = handle.cell();
    let pushed = push_bytes(l, |emit| {
        cell.with(|service| emit(line!("{}", service.address.ip()).bytes()));
    });
    let numbers = guard(l, || {
        cell.with(|service| (service.address.port(), service.server.config().max_response_bytes))
    });
    let (true, Some((port, most))) = (pushed, numbers) else {
        return 0;
    };
    lua_pushnumber(l, f64::from(port));
    lua_pushnumber(l, most as f64);
    3
}
