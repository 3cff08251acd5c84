//! The body of a request as what it says it is: `req:json()`, `req:form()`, `req:multipart()`.
//!
//! A body that is not what the handler asks for is the client's fault: an error object with its status is raised, and
//! unless the handler catches it the client gets it as answer. Bodies are read from Lua strings on the stack, never
//! from the connection's buffer while anything is allocated.

use super::guard::{Line, fail, guard, line, plain};
use super::handle::{self, Handle, Table};
use super::json_decode;
use super::report::raise_client_error;
use super::request::{must_live, of_self, push_text, with};
use super::request_tables::{push_pairs, push_values};
use super::stack::{Named, push_bytes, push_printable, set_field, string_at, text_arg, type_name, wrong_type};
use super::state::{HEADERS, push_registry};
use crate::http::media_type::MediaType;
use crate::http::multipart::{MultipartFault, Part, Parts};
use crate::http::urlencoded;
use crate::server::Request;
use mlua::ffi::*;
use std::os::raw::c_int;

/// Pairs in one form: each makes a string or two, and nobody fills in more.
const FORM_FIELDS_MAX: usize = 1000;

/// Raises 415 (RFC 9110 section 15.5.16) unless the body is of the wanted type, in UTF-8 and in no content coding.
/// A body that is not there has no type, and is judged by what is in it.
///
/// SAFETY: R2: the verdict is plain data.
unsafe fn must_be(l: *mut lua_State, handle: &Handle, wanted: fn(&MediaType<'_>) -> bool, words: &'static str) {
    let verdict = guard(l, || with(handle, |request| verdict(request, wanted)));
    match verdict {
        None | Some(Verdict::Fine) => {}
        Some(Verdict::Type) => raise_client_error(l, 415, &line!("The body has to be {words}.")),
        Some(Verdict::Charset) => raise_client_error(l, 415, &line!("The body has to be in UTF-8.")),
        Some(Verdict::Coding) => {
            raise_client_error(l, 415, &line!("The body has a content coding, and none is taken here."))
        }
    }
}

#[derive(Clone, Copy)]
enum Verdict {
    Fine,
    Type,
    Charset,
    Coding,
}

fn verdict(request: &Request<'_>, wanted: fn(&MediaType<'_>) -> bool) -> Verdict {
    if request.body().is_none_or(<[u8]>::is_empty) {
        return Verdict::Fine;
    }
    let coded = |coding: &[u8]| !coding.eq_ignore_ascii_case(b"identity");
    if request.header("content-encoding").is_some_and(coded) {
        return Verdict::Coding;
    }
    match request.header("content-type").and_then(MediaType::parse) {
        Some(media) if !wanted(&media) => Verdict::Type,
        Some(media) if !media.is_utf8() => Verdict::Charset,
        Some(_) => Verdict::Fine,
        None => Verdict::Type,
    }
}

/// The mark of UTF-8 that some editors put before a text. JSON has none (RFC 8259 section 8.1), and who reads it may pass
/// over it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Pushes the body as a string, empty when there is none.
///
/// SAFETY: R3: `push_text`.
unsafe fn push_body(l: *mut lua_State, handle: &Handle) {
    push_text(l, handle, |request| request.body().or(Some(b"")));
}

/// `req:json([{ force = true }])`: the body as a Lua value. 400 when it is no JSON, 415 when it says that it is something
/// else, unless `force` says not to look.
///
/// SAFETY: R3: the body is made a Lua string, which lies on the stack while it is read.
pub(super) unsafe extern "C-unwind" fn json(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    lua_settop(l, 2);
    let forced = is_forced(l, 2);
    must_live(l, handle, "req:json");
    if !forced {
        must_be(
            l,
            handle,
            |media| media.is_json(),
            "JSON, with the header Content-Type: application/json",
        );
    }
    push_text(l, handle, |request| {
        let body = request.body().unwrap_or_default();
        Some(body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body))
    });
    let mut fault = Line::new();
    if json_decode::push_value(l, 3, json_decode::Manner::DEFAULT, &mut fault) {
        return 1;
    }
    let message = guard(l, || {
        let mut message = Line::new();
        message.push(b"The body is not JSON: ");
        message.push(fault.bytes());
        message
    });
    raise_client_error(l, 400, &message)
}

/// The only option of `req:json`, from the table at `index`.
///
/// SAFETY: R1: the name in the message is copied to the frame.
unsafe fn is_forced(l: *mut lua_State, index: c_int) -> bool {
    match lua_type(l, index) {
        LUA_TNIL => return false,
        LUA_TTABLE => {}
        _ => wrong_type(l, index, "options", "table"),
    }
    let mut forced = false;
    lua_pushnil(l);
    while lua_next(l, index) != 0 {
        if string_at(l, -2) != Some(b"force") {
            let kind = type_name(l, -2);
            let name = string_at(l, -2);
            let message = guard(l, || match name {
                Some(name) => {
                    let mut message = line!("unknown option '");
                    push_printable(&mut message, name);
                    message.push(b"' of req:json");
                    message
                }
                None => line!("options of req:json have names, got {}", Named(kind)),
            });
            fail(l, &message);
        }
        forced = lua_toboolean(l, -1) != 0;
        lua_settop(l, -2);
    }
    forced
}

/// Pushes the body of a form, checked.
///
/// SAFETY: R3: the body is a string on the stack when it is looked at.
unsafe fn push_form_text(l: *mut lua_State, handle: &Handle) -> c_int {
    must_be(
        l,
        handle,
        |media| media.is(b"application", b"x-www-form-urlencoded"),
        "a form, with the header Content-Type: application/x-www-form-urlencoded",
    );
    push_body(l, handle);
    let index = lua_gettop(l);
    let text = string_at(l, index).unwrap_or_default();
    let (unsound, count) = guard(l, || {
        (
            urlencoded::unsound_percent_at(text),
            urlencoded::pieces(text).take(FORM_FIELDS_MAX + 1).count(),
        )
    });
    if count > FORM_FIELDS_MAX {
        raise_client_error(l, 413, &line!("The form has more than {FORM_FIELDS_MAX} fields."));
    }
    if let Some(at) = unsound {
        let place = at + 1;
        raise_client_error(
            l,
            400,
            &line!("The form is malformed: at byte {place} a percent sign is not followed by two hexadecimal digits."),
        );
    }
    index
}

/// `req:form()`: the fields of an urlencoded form, decoded, the first of each name.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn form(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    lua_settop(l, 1);
    must_live(l, handle, "req:form");
    if !handle::push_table(l, handle, Table::Form) {
        let text = push_form_text(l, handle);
        push_pairs(l, text);
        handle::keep_table(l, handle, Table::Form);
    }
    1
}

/// `req:form_all(name)`: every value of that name, in order.
///
/// SAFETY: R3: the name lies in a string at 2.
pub(super) unsafe extern "C-unwind" fn form_all(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let wanted = text_arg(l, 2, "name");
    lua_settop(l, 2);
    must_live(l, handle, "req:form_all");
    let text = push_form_text(l, handle);
    push_values(l, text, wanted);
    1
}

/// `req:multipart()`: the parts of a form as a list, and a table of the first part of each name.
///
/// SAFETY: R3: parts are slices of the strings at 2 and 3, which stay there. R1: `Parts` and `Part` are plain data.
pub(super) unsafe extern "C-unwind" fn multipart(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    lua_settop(l, 1);
    must_live(l, handle, "req:multipart");
    let is_form = |media: &MediaType<'_>| media.is(b"multipart", b"form-data");
    must_be(
        l,
        handle,
        is_form,
        "a form, with the header Content-Type: multipart/form-data",
    );
    push_body(l, handle);
    push_text(l, handle, |request| request.header("content-type").or(Some(b"")));
    let (body, media_type) = (string_at(l, 2).unwrap_or_default(), string_at(l, 3).unwrap_or_default());
    lua_createtable(l, 1, 0);
    lua_createtable(l, 0, 1);
    if !guard(l, || MediaType::parse(media_type).is_some_and(|media| is_form(&media))) {
        // Nothing was sent: what is something else was refused.
        return 2;
    }
    let parts = guard(l, || match MediaType::parse(media_type) {
        Some(media) => Parts::new(&media, body),
        None => Err(MultipartFault::Boundary),
    });
    let mut parts = parts.unwrap_or_else(|fault| refuse(l, fault));
    let mut count = 0;
    while let Some(part) = guard(l, || parts.next()) {
        let part = part.unwrap_or_else(|fault| refuse(l, fault));
        count += 1;
        push_part(l, &part);
        lua_pushvalue(l, -1);
        lua_rawseti(l, LIST, count);
        keep_first(l);
    }
    2
}

/// Where `multipart` builds its results.
const LIST: c_int = 4;
const BY_NAME: c_int = 5;

/// SAFETY: R1: nothing is alive here.
#[cold]
unsafe fn refuse(l: *mut lua_State, fault: MultipartFault) -> ! {
    raise_client_error(l, fault.status(), &line!("{}", fault.sentence()))
}

/// Puts the part on top under its name, unless there is one, and pops it.
///
/// SAFETY: R1.
unsafe fn keep_first(l: *mut lua_State) {
    let part = lua_gettop(l);
    lua_getfield(l, part, c"name".as_ptr());
    lua_pushvalue(l, -1);
    lua_rawget(l, BY_NAME);
    if lua_type(l, -1) == LUA_TNIL {
        lua_settop(l, -2);
        lua_pushvalue(l, part);
        lua_rawset(l, BY_NAME);
    }
    lua_settop(l, part - 1);
}

/// Pushes a part: name, filename, type, headers, body.
///
/// SAFETY: R3: its slices lie in strings on the stack.
unsafe fn push_part(l: *mut lua_State, part: &Part<'_>) {
    lua_createtable(l, 0, 5);
    let table = lua_gettop(l);
    if push_bytes(l, |emit| {
        if let Some(form_data) = part.form_data() {
            emit(&form_data.name);
        }
    }) {
        set_field(l, table, "name");
    }
    if push_bytes(l, |emit| {
        if let Some(filename) = part.form_data().and_then(|form_data| form_data.filename) {
            emit(&filename);
        }
    }) {
        set_field(l, table, "filename");
    }
    push_slice(l, part.content_type());
    set_field(l, table, "type");
    push_slice(l, part.content);
    set_field(l, table, "body");
    lua_createtable(l, 0, 2);
    let headers = lua_gettop(l);
    for (name, value) in plain(part.fields()) {
        push_bytes(l, |emit| emit(&name.to_ascii_lowercase()));
        push_slice(l, value);
        lua_rawset(l, headers);
    }
    push_registry(l);
    super::stack::push_literal(l, HEADERS);
    lua_rawget(l, -2);
    lua_setmetatable(l, headers);
    lua_settop(l, headers);
    set_field(l, table, "headers");
}

/// SAFETY: R3: the slice lies in a string on the stack.
unsafe fn push_slice(l: *mut lua_State, slice: &[u8]) {
    lua_pushlstring_(l, slice.as_ptr().cast(), slice.len());
}
