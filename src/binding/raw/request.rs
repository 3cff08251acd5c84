//! `req`: what a handler reads of a request, each value made when it is asked for.
//!
//! A request can be read until it has ended; then only what a script has put on it is left, and asking for anything else
//! is an error that names the field.

use super::conditions;
use super::guard::{fail, guard, line};
use super::handle::{self, Handle, Table};
use super::negotiation;
use super::origin;
use super::params;
use super::request_body;
use super::request_cookies;
use super::request_tables::{header_all, push_headers, push_query, query_all};
use super::server::slot;
use super::stack::{push_bytes, string_at, text_arg};
use super::state::Tag;
use crate::h1::Version;
use crate::routing::decode;
use crate::server::Request;
use mlua::ffi::*;
use std::os::raw::c_int;

/// Upvalues of `index`, after the state: the table of fields (numbers) and methods (functions), and the metatable of
/// tables of headers.
const MEMBERS: c_int = lua_upvalueindex(2);
pub(super) const HEADERS_METATABLE: c_int = lua_upvalueindex(3);

/// The fields, by the number that the table of members holds for each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Method,
    Target,
    Path,
    RawPath,
    Query,
    QueryString,
    Params,
    BasePath,
    Version,
    Headers,
    Body,
    RemoteAddress,
    RemotePort,
    Id,
    Route,
    App,
    Cookies,
    Scheme,
    Secure,
    Host,
    Hostname,
    PeerAddress,
    ConnectionId,
    Fresh,
}

/// Every field and its name.
const FIELDS: [(&str, Field); 24] = [
    ("method", Field::Method),
    ("target", Field::Target),
    ("path", Field::Path),
    ("raw_path", Field::RawPath),
    ("query", Field::Query),
    ("query_string", Field::QueryString),
    ("params", Field::Params),
    ("base_path", Field::BasePath),
    ("version", Field::Version),
    ("headers", Field::Headers),
    ("body", Field::Body),
    ("remote_address", Field::RemoteAddress),
    ("remote_port", Field::RemotePort),
    ("id", Field::Id),
    ("route", Field::Route),
    ("app", Field::App),
    ("cookies", Field::Cookies),
    ("scheme", Field::Scheme),
    ("secure", Field::Secure),
    ("host", Field::Host),
    ("hostname", Field::Hostname),
    ("peer_address", Field::PeerAddress),
    ("connection_id", Field::ConnectionId),
    ("fresh", Field::Fresh),
];

/// Names and numbers for the table of members.
pub(super) fn fields() -> impl Iterator<Item = (&'static str, usize)> {
    FIELDS.iter().enumerate().map(|(number, (name, _))| (*name, number))
}

/// The methods, for the table of members.
pub(super) const METHODS: [(&str, lua_CFunction); 14] = [
    ("header", header),
    ("header_all", header_all),
    ("query_all", query_all),
    ("json", request_body::json),
    ("form", request_body::form),
    ("form_all", request_body::form_all),
    ("multipart", request_body::multipart),
    ("cookie", request_cookies::cookie),
    ("permits", conditions::permits),
    ("is", negotiation::is),
    ("accepts", negotiation::accepts),
    ("accepts_languages", negotiation::accepts_languages),
    ("accepts_charsets", negotiation::accepts_charsets),
    ("accepts_encodings", negotiation::accepts_encodings),
];

/// SAFETY: R4: the handle lies at index 1.
#[inline]
pub(super) unsafe fn of_self<'a>(l: *mut lua_State) -> &'a Handle {
    handle::of_self(l, Tag::request(), "request (req)")
}

/// `req.name`: what a script put there, a method, or a field.
///
/// SAFETY: R1: plain data only.
pub(super) unsafe extern "C-unwind" fn index(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let Some(number) = handle::member(l, handle, MEMBERS) else {
        return 1;
    };
    lua_settop(l, 2);
    let (name, field) = FIELDS[number];
    if !push_field(l, handle, field) {
        let message = guard(l, || {
            line!(
                "req.{name} can no longer be read: request {} has ended",
                handle.id.serial
            )
        });
        fail(l, &message);
    }
    1
}

/// `req.name = value`: a script's own values, by name.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn new_index(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    handle::set_own(l, handle, "req")
}

/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn describe(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    handle::push_description(l, handle, "request")
}

/// Pushes a field; `false` when the request has ended.
///
/// SAFETY: R2, R3 by `push_bytes` and `guard`.
unsafe fn push_field(l: *mut lua_State, handle: &Handle, field: Field) -> bool {
    match field {
        Field::Method => push_text(l, handle, |request| Some(request.text(request.head().method_text))),
        Field::Target => push_text(l, handle, |request| Some(request.text(request.head().target))),
        Field::RawPath => push_text(l, handle, |request| Some(request.text(request.head().path))),
        Field::Path => push_bytes(l, |emit| {
            with(handle, |request| emit(&decode(request.text(request.head().path))));
        }),
        Field::QueryString => push_text(l, handle, |request| Some(query_of(request))),
        Field::Version => push_text(l, handle, |request| match request.head().version {
            Version::Http11 => Some(b"1.1"),
            Version::Http10 => Some(b"1.0"),
        }),
        Field::Body => push_body(l, handle),
        Field::Query => handle::push_table(l, handle, Table::Query) || push_query(l, handle),
        Field::Params => handle::push_table(l, handle, Table::Params) || params::push(l, handle),
        Field::BasePath => params::push_base_path(l, handle),
        Field::Headers => handle::push_table(l, handle, Table::Headers) || push_headers(l, handle),
        Field::RemoteAddress => origin::push_address(l, handle),
        Field::PeerAddress => origin::push_peer(l, handle),
        Field::ConnectionId => push_number(l, handle, |request| request.connection() as f64),
        Field::RemotePort => push_number(l, handle, |request| f64::from(request.remote_addr().port())),
        Field::Id => {
            lua_pushnumber(l, handle.id.serial as f64);
            true
        }
        Field::Route => push_route(l, handle),
        Field::Cookies => handle::push_table(l, handle, Table::Cookies) || request_cookies::push_cookies(l, handle),
        Field::Scheme => origin::push_scheme(l, handle),
        Field::Secure => origin::push_secure(l, handle),
        Field::Host => origin::push_host(l, handle, false),
        Field::Hostname => origin::push_host(l, handle, true),
        Field::Fresh => conditions::push_fresh(l, handle),
        Field::App => {
            handle::push_environment(l, handle);
            lua_rawgeti(l, -1, slot::APP.into());
            true
        }
    }
}

/// Runs `read` on the request while it lives.
#[inline]
pub(super) fn with<R>(handle: &Handle, read: impl FnOnce(&Request<'_>) -> R) -> Option<R> {
    handle
        .cell()
        .with(|service| service.server.request(handle.id).map(|request| read(&request)))
        .flatten()
}

pub(super) fn query_of<'a>(request: &Request<'a>) -> &'a [u8] {
    request.head().query.map_or(b"", |query| request.text(query))
}

/// Pushes a piece of the request; nil when the live request has none.
///
/// SAFETY: R3: `push_bytes`.
#[inline]
pub(super) unsafe fn push_text(
    l: *mut lua_State,
    handle: &Handle,
    read: impl for<'a> Fn(&Request<'a>) -> Option<&'a [u8]>,
) -> bool {
    let pushed = push_bytes(l, |emit| {
        with(handle, |request| {
            if let Some(bytes) = read(request) {
                emit(bytes);
            }
        });
    });
    pushed || push_nil_if_live(l, handle)
}

/// SAFETY: R2.
#[cold]
pub(super) unsafe fn push_nil_if_live(l: *mut lua_State, handle: &Handle) -> bool {
    let live = guard(l, || with(handle, |_| ()).is_some());
    if live {
        lua_pushnil(l);
    }
    live
}

/// SAFETY: R2.
unsafe fn push_number(l: *mut lua_State, handle: &Handle, read: impl Fn(&Request<'_>) -> f64) -> bool {
    match guard(l, || with(handle, |request| read(request))) {
        Some(number) => {
            lua_pushnumber(l, number);
            true
        }
        None => false,
    }
}

/// A body that is worth keeping is made a string once.
///
/// SAFETY: R3: `push_bytes`.
unsafe fn push_body(l: *mut lua_State, handle: &Handle) -> bool {
    const KEPT: usize = 4096;
    if !push_text(l, handle, |request| request.body()) {
        return false;
    }
    if string_at(l, -1).is_some_and(|body| body.len() >= KEPT) {
        handle::keep(l, handle, 2);
    }
    true
}

/// The route's pattern; nil without an application.
///
/// SAFETY: R2, R3, R4: the server's table holds the router.
unsafe fn push_route(l: *mut lua_State, handle: &Handle) -> bool {
    let cell = handle.cell();
    let current = handle.id == cell.current.get();
    let pushed = push_bytes(l, |emit| {
        let router = cell.router.get();
        if let Some(route) = cell.route.get()
            && current
            && !router.is_null()
            && let Some(pattern) = (*router).router.borrow().pattern(route)
        {
            emit(pattern.as_bytes());
        }
    });
    pushed || push_nil_if_live(l, handle)
}

/// Raises unless the request lives.
///
/// SAFETY: R1.
pub(super) unsafe fn must_live(l: *mut lua_State, handle: &Handle, what: &str) {
    if guard(l, || with(handle, |_| ()).is_none()) {
        let message = guard(l, || {
            line!("{what}() can no longer be read: request {} has ended", handle.id.serial)
        });
        fail(l, &message);
    }
}

/// `req:header(name)`: the first field of that name, or nil.
///
/// SAFETY: R3; the name lies in a string at 2.
unsafe extern "C-unwind" fn header(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let name = text_arg(l, 2, "name");
    let pushed = push_bytes(l, |emit| {
        if let Ok(name) = std::str::from_utf8(name) {
            with(handle, |request| {
                if let Some(value) = request.header(name) {
                    emit(value);
                }
            });
        }
    });
    if !pushed {
        must_live(l, handle, "req:header");
        lua_pushnil(l);
    }
    1
}
