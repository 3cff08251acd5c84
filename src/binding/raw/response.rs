//! `res`: the response in the making and its end.
//!
//! Methods that change it return it, so that calls chain; methods that end it return `true`, or `false` when the client
//! has gone. Using a response after it was sent is an error that names the route.

use super::answer::{self, Sent};
use super::guard::{Line, fail, guard, line};
use super::handle::{self, Handle};
use super::response_cookies;
use super::response_fields;
use super::server::slot;
use super::stack::{Named, push_bytes, push_printable, string_at, text_arg, type_name, wrong_type};
use super::state::Tag;
use crate::binding::content;
use crate::binding::service::Service;
use crate::h1::{ResponseError, ResponseHead};
use crate::server::RequestId;
use mlua::ffi::*;
use std::fmt::Write;
use std::os::raw::c_int;

/// Upvalue of `index`, after the state: the table of methods and of fields (their number).
const MEMBERS: c_int = lua_upvalueindex(2);

/// Fields and their numbers for the table of members.
pub(super) const FIELDS: [&str; 5] = ["headers_sent", "is_closed", "req", "status_code", "bytes"];

/// The methods, for the table of members.
pub(super) const METHODS: [(&str, lua_CFunction); 19] = [
    ("status", status),
    ("set", set),
    ("append", append),
    ("get", get),
    ("has", has),
    ("remove", remove),
    ("type", set_type),
    ("cookie", response_cookies::cookie),
    ("clear_cookie", response_cookies::clear_cookie),
    ("vary", response_fields::vary),
    ("links", response_fields::links),
    ("attachment", response_fields::attachment),
    ("send", send),
    ("json", json),
    ("text", text),
    ("html", html),
    ("redirect", response_fields::redirect),
    ("finish", finish),
    ("on_finish", super::finish::on_finish),
];

/// SAFETY: R4: the handle lies at index 1.
#[inline]
pub(super) unsafe fn of_self<'a>(l: *mut lua_State) -> &'a Handle {
    handle::of_self(l, Tag::response(), "response (res)")
}

/// `res.name`: what a script put there, a method, or a field.
///
/// SAFETY: R1, R2.
pub(super) unsafe extern "C-unwind" fn index(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let Some(number) = handle::member(l, handle, MEMBERS) else {
        return 1;
    };
    match FIELDS[number] {
        "headers_sent" => lua_pushboolean(l, c_int::from(handle.sent.get())),
        "is_closed" => {
            let live = guard(l, || {
                handle.cell().with(|service| service.server.is_live(handle.id)) == Some(true)
            });
            lua_pushboolean(l, c_int::from(!live));
        }
        "status_code" => push_figure(l, handle, |service, id| {
            let answered = service.server.answer(id).map(|(status, _)| status);
            answered
                .or_else(|| service.server.response(id).map(ResponseHead::status))
                .map(f64::from)
        }),
        "bytes" => push_figure(l, handle, |service, id| {
            service.server.answer(id).map(|(_, bytes)| bytes as f64)
        }),
        _ => push_request(l, handle),
    }
    1
}

/// A number, or nil when it is not known (any more).
///
/// SAFETY: R2.
unsafe fn push_figure(l: *mut lua_State, handle: &Handle, read: impl Fn(&mut Service, RequestId) -> Option<f64>) {
    match guard(l, || handle.cell().with(|service| read(service, handle.id)).flatten()) {
        Some(number) => lua_pushnumber(l, number),
        None => lua_pushnil(l),
    }
}

/// The request that this answers; nil once another one is being handled.
///
/// SAFETY: R1: plain data only.
unsafe fn push_request(l: *mut lua_State, handle: &Handle) {
    handle::push_environment(l, handle);
    lua_rawgeti(l, -1, slot::REQUEST.into());
    let request = lua_touserdata(l, -1).cast::<Handle>();
    if request.is_null() || (*request).id != handle.id {
        lua_pushnil(l);
    }
}

/// `res.name = value`: a script's own values, by name.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn new_index(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    handle::set_own(l, handle, "res")
}

/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn describe(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    handle::push_description(l, handle, "response")
}

/// Raises when the response was sent.
///
/// SAFETY: R2: the message is plain data.
#[inline]
pub(super) unsafe fn must_be_unsent(l: *mut lua_State, handle: &Handle) {
    if handle.sent.get() {
        already_sent(l, handle);
    }
}

/// SAFETY: R2.
#[cold]
unsafe fn already_sent(l: *mut lua_State, handle: &Handle) -> ! {
    let mut message = Line::new();
    guard(l, || {
        handle.cell().write_route(handle.id, &mut message);
        message.push(b": the response was already sent");
    });
    fail(l, &message)
}

/// Changes the response in the making; a fault is raised with `what` in front, and a client that has gone is none.
///
/// SAFETY: R2: `change` runs guarded.
#[inline]
pub(super) unsafe fn change(
    l: *mut lua_State,
    handle: &Handle,
    what: &str,
    change: impl FnOnce(&mut ResponseHead) -> Result<(), ResponseError>,
) {
    must_be_unsent(l, handle);
    let run = |service: &mut Service| service.server.response_mut(handle.id).map(change);
    if let Some(Some(Err(error))) = guard(l, || handle.cell().with(run)) {
        let message = guard(l, || line!("{what}: {error}"));
        fail(l, &message);
    }
}

/// The same for a field, which the fault names.
///
/// SAFETY: R2; `name` and `value` lie in strings on the caller's stack.
pub(super) unsafe fn change_field(
    l: *mut lua_State,
    handle: &Handle,
    name: &[u8],
    run: impl FnOnce(&mut ResponseHead) -> Result<(), ResponseError>,
) {
    must_be_unsent(l, handle);
    let run = |service: &mut Service| service.server.response_mut(handle.id).map(run);
    if let Some(Some(Err(error))) = guard(l, || handle.cell().with(run)) {
        let message = guard(l, || {
            let mut message = Line::new();
            message.push(b"response header '");
            push_printable(&mut message, name);
            let _ = write!(message, "': {error}");
            message
        });
        fail(l, &message);
    }
}

/// Ends a method that changes: the response itself.
///
/// SAFETY: R1.
pub(super) unsafe fn chain(l: *mut lua_State) -> c_int {
    lua_settop(l, 1);
    1
}

/// `res:status(code)`.
///
/// SAFETY: R1.
unsafe extern "C-unwind" fn status(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    set_status(l, handle, 2, "status");
    chain(l)
}

/// Sets the status to the number at `index`, which `what` names in errors.
///
/// SAFETY: R2.
pub(super) unsafe fn set_status(l: *mut lua_State, handle: &Handle, index: c_int, what: &str) {
    let number = super::stack::number_arg(l, index, what);
    // Outside of 16 bits it is outside of 200 to 599 too.
    let status = if number.fract() == 0.0 && (0.0..1000.0).contains(&number) {
        number as u16
    } else {
        0
    };
    if status == 0 {
        let message = guard(l, || {
            line!("{what} must be a whole number from 200 to 599, got {number}")
        });
        fail(l, &message);
    }
    change(l, handle, what, |response| response.set_status(status));
}

/// `res:set(name, value)`: a string, a number, or a list of them for a field that repeats.
///
/// SAFETY: R1.
unsafe extern "C-unwind" fn set(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let name = text_arg(l, 2, "name");
    set_field(l, handle, name, 3);
    chain(l)
}

/// Sets one field to the value at `index` (absolute).
///
/// SAFETY: R1; `name` lies in a string on the caller's stack, and so does each value.
unsafe fn set_field(l: *mut lua_State, handle: &Handle, name: &[u8], index: c_int) {
    if lua_type(l, index) != LUA_TTABLE {
        let value = text_arg(l, index, "value");
        return change_field(l, handle, name, |response| response.set(name, value));
    }
    change_field(l, handle, name, |response| {
        response.remove(name);
        Ok(())
    });
    append_each(l, handle, name, index);
}

/// Sets every field of the table of names and values at `index` (absolute).
///
/// SAFETY: R1. A name is only used while `lua_next` keeps it on the stack, and numbers are converted in copies.
pub(super) unsafe fn set_fields(l: *mut lua_State, handle: &Handle, index: c_int) {
    lua_pushnil(l);
    while lua_next(l, index) != 0 {
        let Some(name) = string_at(l, -2) else {
            let kind = type_name(l, -2);
            let message = guard(l, || {
                line!("names of response headers are strings, got {}", Named(kind))
            });
            fail(l, &message)
        };
        let value_at = lua_gettop(l);
        set_field(l, handle, name, value_at);
        lua_settop(l, value_at - 1);
    }
}

/// `res:append(name, value)`: one more field of that name, or one for each value of a list.
///
/// SAFETY: R1; name and values lie in strings on the stack.
unsafe extern "C-unwind" fn append(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let name = text_arg(l, 2, "name");
    if lua_type(l, 3) == LUA_TTABLE {
        append_each(l, handle, name, 3);
    } else {
        let value = text_arg(l, 3, "value");
        change_field(l, handle, name, |response| response.append(name, value));
    }
    chain(l)
}

/// Adds one field for each value of the list at `index` (absolute).
///
/// SAFETY: R1; `name` lies in a string on the caller's stack, and so does each value.
unsafe fn append_each(l: *mut lua_State, handle: &Handle, name: &[u8], index: c_int) {
    for at in 1..=lua_objlen(l, index) {
        lua_rawgeti(l, index, at as lua_Integer);
        let value = text_arg(l, -1, "each value");
        change_field(l, handle, name, |response| response.append(name, value));
        lua_settop(l, -2);
    }
}

/// `res:get(name)`: the first field of that name in the response in the making, or nil.
///
/// SAFETY: R3.
unsafe extern "C-unwind" fn get(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let name = text_arg(l, 2, "name");
    let pushed = push_bytes(l, |emit| {
        handle.cell().with(|service| {
            if let Some(value) = service
                .server
                .response(handle.id)
                .and_then(|response| response.get(name))
            {
                emit(value);
            }
        });
    });
    if !pushed {
        lua_pushnil(l);
    }
    1
}

/// `res:has(name)`.
///
/// SAFETY: R2.
unsafe extern "C-unwind" fn has(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let name = text_arg(l, 2, "name");
    let run = |service: &mut Service| {
        service
            .server
            .response(handle.id)
            .is_some_and(|response| response.has(name))
    };
    let has = guard(l, || handle.cell().with(run)) == Some(true);
    lua_pushboolean(l, c_int::from(has));
    1
}

/// `res:remove(name)`: whether there was such a field.
///
/// SAFETY: R2.
unsafe extern "C-unwind" fn remove(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let name = text_arg(l, 2, "name");
    must_be_unsent(l, handle);
    let run = |service: &mut Service| {
        service
            .server
            .response_mut(handle.id)
            .is_some_and(|response| response.remove(name))
    };
    let removed = guard(l, || handle.cell().with(run)) == Some(true);
    lua_pushboolean(l, c_int::from(removed));
    1
}

/// `res:type(name)`: a media type or a short name for one ("json", "png").
///
/// SAFETY: R2.
unsafe extern "C-unwind" fn set_type(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let name = text_arg(l, 2, "type");
    if !guard(l, || content::is_type(name)) {
        let message = guard(l, || {
            let mut message = Line::new();
            message.push(b"type must be a media type or a short name for one, got '");
            push_printable(&mut message, name);
            message.push(b"'");
            message
        });
        fail(l, &message);
    }
    change(l, handle, "type", |response| {
        let mut value = Vec::new();
        content::write_type(name, &mut value);
        response.set_content_type(&value)
    });
    chain(l)
}

/// Ends the response with the value at `index` (0: nothing).
///
/// SAFETY: R1.
#[inline]
pub(super) unsafe fn end(l: *mut lua_State, handle: &Handle, index: c_int) -> c_int {
    must_be_unsent(l, handle);
    let sent = answer::send(l, handle.cell(), handle.id, index, Some(handle));
    finish_with(l, handle, sent)
}

/// SAFETY: R1.
#[inline]
unsafe fn finish_with(l: *mut lua_State, handle: &Handle, sent: Sent) -> c_int {
    handle.sent.set(sent == Sent::Yes);
    lua_pushboolean(l, c_int::from(sent == Sent::Yes));
    1
}

/// `res:send(body)`: a string, a table (as JSON), or nothing.
///
/// SAFETY: R1.
unsafe extern "C-unwind" fn send(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    lua_settop(l, 2);
    end(l, handle, 2)
}

/// `res:json(value)`: any value that JSON knows.
///
/// SAFETY: R1.
unsafe extern "C-unwind" fn json(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    lua_settop(l, 2);
    must_be_unsent(l, handle);
    let sent = answer::send_json(l, handle.cell(), handle.id, 2);
    finish_with(l, handle, sent)
}

/// `res:text(s)`.
///
/// SAFETY: R1.
unsafe extern "C-unwind" fn text(l: *mut lua_State) -> c_int {
    send_typed(l, content::TEXT)
}

/// `res:html(s)`.
///
/// SAFETY: R1.
unsafe extern "C-unwind" fn html(l: *mut lua_State) -> c_int {
    send_typed(l, content::HTML)
}

/// SAFETY: R1.
unsafe fn send_typed(l: *mut lua_State, content_type: &'static [u8]) -> c_int {
    let handle = of_self(l);
    lua_settop(l, 2);
    text_arg(l, 2, "body");
    change(l, handle, "type", |response| response.set_content_type(content_type));
    end(l, handle, 2)
}

/// `res:finish([body])`: ends the response as it stands.
///
/// SAFETY: R1.
unsafe extern "C-unwind" fn finish(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    lua_settop(l, 2);
    if lua_type(l, 2) != LUA_TNIL && lua_type(l, 2) != LUA_TSTRING {
        wrong_type(l, 2, "body", "string");
    }
    end(l, handle, 2)
}
