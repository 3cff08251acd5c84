//! The far side of a server within the process, for `fastslua.test`: connections by number, and a time that moves when it
//! is told to.
//!
//! Only the Lua layer calls these, with a server that it made itself. They must never turn the server.

use super::guard::{fail, guard, line};
use super::server::{ServerCell, of_self, optional_seconds};
use super::stack::{number_arg, push_bytes, text_arg};
use crate::binding::service::FarSide;
use crate::net::FarEnd;
use mlua::ffi::*;
use std::net::{IpAddr, SocketAddr};
use std::os::raw::c_int;
use std::time::Duration;

/// Runs `run` on the far side of the server.
fn with<R>(cell: &ServerCell, run: impl FnOnce(&mut FarSide) -> R) -> Option<R> {
    cell.with(|service| service.far.as_mut().map(run)).flatten()
}

/// Runs `run` on the connection of that number.
fn with_end<R>(cell: &ServerCell, number: usize, run: impl FnOnce(&FarEnd) -> R) -> Option<R> {
    with(cell, |far| far.end(number).map(run)).flatten()
}

/// SAFETY: R1.
unsafe fn connection(l: *mut lua_State) -> usize {
    number_arg(l, 2, "connection") as usize
}

/// `connect(server, address, port)`: the number of a new connection from there; nil when the server takes none.
///
/// SAFETY: R2, R3: the address lies in a string at 2.
pub(super) unsafe extern "C-unwind" fn connect(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let text = text_arg(l, 2, "remote_address");
    let port = number_arg(l, 3, "remote_port") as u16;
    let address = guard(l, || std::str::from_utf8(text).ok()?.parse::<IpAddr>().ok());
    let Some(address) = address else {
        fail(l, &line!("remote_address must be an IP address"));
    };
    match guard(l, || {
        with(cell, |far| far.connect(SocketAddr::new(address, port))).flatten()
    }) {
        Some(number) => lua_pushnumber(l, number as f64),
        None => lua_pushnil(l),
    }
    1
}

/// `send(server, connection, bytes)`: false when the server has ended the connection.
///
/// SAFETY: R2, R3: the bytes lie in a string at 3.
pub(super) unsafe extern "C-unwind" fn send(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let number = connection(l);
    let bytes = text_arg(l, 3, "bytes");
    let sent = guard(l, || with_end(cell, number, |end| end.send(bytes)).unwrap_or(false));
    lua_pushboolean(l, c_int::from(sent));
    1
}

/// `receive(server, connection)`: what has come since the last time, and whether the server has ended the connection.
///
/// SAFETY: R2, R3: only what was pushed is forgotten.
pub(super) unsafe extern "C-unwind" fn receive(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let number = connection(l);
    let pushed = push_bytes(l, |emit| {
        with_end(cell, number, |end| end.received(|bytes| emit(bytes)));
    });
    if !pushed {
        lua_pushnil(l);
    }
    let count = lua_objlen(l, -1);
    let ended = guard(l, || {
        with_end(cell, number, |end| {
            end.forget(count);
            end.ended()
        })
    });
    lua_pushboolean(l, c_int::from(ended.unwrap_or(true)));
    2
}

/// `finish(server, connection)`: this side sends no more.
///
/// SAFETY: R2.
pub(super) unsafe extern "C-unwind" fn finish(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let number = connection(l);
    guard(l, || with_end(cell, number, FarEnd::finish));
    0
}

/// `drop(server, connection)`: the connection is gone.
///
/// SAFETY: R2.
pub(super) unsafe extern "C-unwind" fn drop_connection(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let number = connection(l);
    guard(l, || with(cell, |far| far.close(number)));
    0
}

/// `advance(server, seconds)`: time goes on by that much.
///
/// SAFETY: R2.
pub(super) unsafe extern "C-unwind" fn advance(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let by: Option<Duration> = optional_seconds(l, 2, "seconds");
    guard(l, || cell.with(|service| service.clock.advance(by.unwrap_or_default())));
    0
}
