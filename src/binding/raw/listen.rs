//! `fastslua.listen(options, handler)` and `app:listen(options)`: from options to a server that listens.
//!
//! Everything that can be wrong with the call is found, and everything that Lua has to allocate is allocated, before the
//! port is bound; then binding succeeds, or fails as `nil, message, code`.

use super::access_log;
use super::dispatch::{self, dispatch};
use super::events::emit;
use super::finish::finish;
use super::guard::{Line, fail, guard, line, push_line};
use super::report::{report, traceback};
use super::router;
use super::server::{ServerCell, slot};
use super::stack::{push_literal, push_printable, string_at, type_name, wrong_type};
use super::state::{ERROR, REQUEST, RESPONSE, SERVER, push_function, push_registry};
use crate::binding::failures;
use crate::binding::options::{Callback, Draft, Taken, Value};
use crate::binding::service::Service;
use mlua::ffi::*;
use std::net::SocketAddr;
use std::os::raw::c_int;

/// Stack of a call: the arguments, then these.
const OPTIONS: c_int = 1;
const HANDLER: c_int = 2;
const REGISTRY: c_int = 3;
const SERVER_AT: c_int = 4;
const ENVIRONMENT: c_int = 5;

/// Where a server is to be reached.
#[derive(Clone, Copy)]
enum Reach {
    /// At a port.
    Port,
    /// Within the process alone.
    Process,
}

/// `fastslua.listen(options, handler)`.
///
/// SAFETY: R1: the draft lies in the server's cell, so an error at any point leaves it to the collector.
pub(super) unsafe extern "C-unwind" fn listen(l: *mut lua_State) -> c_int {
    lua_settop(l, 2);
    serve_handler(l, Reach::Port)
}

/// SAFETY: as `listen`.
unsafe fn serve_handler(l: *mut lua_State, reach: Reach) -> c_int {
    let kind = lua_type(l, HANDLER);
    if kind != LUA_TFUNCTION {
        wrong_type(l, HANDLER, "handler", "function");
    }
    let cell = push_server(l);
    start(l, cell, reach)
}

/// `within(options, handler)`: a server within the process, for a handler or an application.
///
/// SAFETY: as `listen`.
pub(super) unsafe extern "C-unwind" fn within(l: *mut lua_State) -> c_int {
    lua_settop(l, 2);
    if lua_type(l, HANDLER) == LUA_TTABLE {
        serve_app(l, Reach::Process)
    } else {
        serve_handler(l, Reach::Process)
    }
}

/// `app:listen(options)`: the application is the handler.
///
/// SAFETY: as `listen`. R4: the router is put into the server's table before the cell points to it.
pub(super) unsafe extern "C-unwind" fn listen_app(l: *mut lua_State) -> c_int {
    lua_settop(l, 2);
    if lua_type(l, 1) != LUA_TTABLE {
        router::not_an_application(l);
    }
    // Options at 1 and the application at 2, as `start` expects them.
    lua_insert(l, 1);
    serve_app(l, Reach::Port)
}

/// SAFETY: as `listen_app`.
unsafe fn serve_app(l: *mut lua_State, reach: Reach) -> c_int {
    let cell = push_server(l);
    lua_pushvalue(l, 2);
    lua_rawseti(l, ENVIRONMENT, slot::APP.into());
    push_literal(l, "_router");
    lua_rawget(l, 2);
    let router = router::at(l, -1);
    lua_rawseti(l, ENVIRONMENT, slot::ROUTER.into());
    cell.router.set(router);
    lua_pushvalue(l, 2);
    dispatch::compile(l);
    push_literal(l, "_chains");
    lua_rawget(l, 2);
    // It is read raw for every request.
    if lua_type(l, -1) != LUA_TTABLE {
        router::not_an_application(l);
    }
    lua_replace(l, HANDLER);
    start(l, cell, reach)
}

/// Pushes the state's table, an empty server, and the server's table, which holds it.
///
/// SAFETY: R1: the cell is in Lua's memory and its metatable set before anything can raise.
unsafe fn push_server<'a>(l: *mut lua_State) -> &'a ServerCell {
    push_registry(l);
    push_literal(l, SERVER);
    lua_rawget(l, REGISTRY);
    let place = lua_newuserdata(l, size_of::<ServerCell>()).cast::<ServerCell>();
    place.write(ServerCell::new());
    lua_insert(l, SERVER_AT);
    lua_setmetatable(l, SERVER_AT);
    lua_createtable(l, slot::COUNT, 0);
    lua_pushvalue(l, SERVER_AT);
    lua_rawseti(l, ENVIRONMENT, slot::SERVER.into());
    lua_pushvalue(l, ENVIRONMENT);
    lua_setfenv(l, SERVER_AT);
    &*place
}

/// Reads the options, makes the functions of a turn, and binds.
///
/// SAFETY: R1, R2.
unsafe fn start(l: *mut lua_State, cell: &ServerCell, reach: Reach) -> c_int {
    read_options(l, cell);
    push_functions(l);
    let mut words = Line::new();
    let address = guard(l, || {
        cell.draft
            .borrow_mut()
            .as_mut()
            .and_then(|draft| draft.finish(&mut words))
    });
    let Some(address) = address else { fail(l, &words) };
    match guard(l, || bind(cell, reach, address, &mut words)) {
        Ok(()) => {
            lua_settop(l, SERVER_AT);
            1
        }
        Err(code) => {
            lua_pushnil(l);
            push_line(l, &words);
            push_literal(l, code);
            3
        }
    }
}

/// Binds what the draft describes; or writes why not, and gives the code.
fn bind(cell: &ServerCell, reach: Reach, address: SocketAddr, words: &mut Line) -> Result<(), &'static str> {
    let Some(draft) = cell.draft.take() else {
        return Err("EIO");
    };
    let service = match reach {
        Reach::Port => Service::listen(address, draft.backlog, draft.config),
        Reach::Process => Service::within(address, draft.config),
    };
    match service {
        Ok(mut service) => {
            service.proxies = draft.proxies;
            service.etag = draft.etag;
            cell.service.replace(Some(service));
            Ok(())
        }
        Err(error) => {
            // Writing to a line cuts and never fails.
            let _ = failures::write_listen_failure(words, address, &error);
            Err(failures::code(&error))
        }
    }
}

/// Takes the options at 1, a table or a port, into the draft.
///
/// SAFETY: R1: names and values lie in strings on the stack; the draft is in the cell.
unsafe fn read_options(l: *mut lua_State, cell: &ServerCell) {
    guard(l, || {
        cell.draft.replace(Some(Draft::new()));
    });
    match lua_type(l, OPTIONS) {
        LUA_TNUMBER => take(l, cell, b"port", OPTIONS),
        LUA_TTABLE => {
            lua_pushnil(l);
            while lua_next(l, OPTIONS) != 0 {
                let Some(name) = string_at(l, -2) else {
                    let kind = type_name(l, -2);
                    let message = guard(l, || line!("names of options are strings, got a {kind} as name"));
                    fail(l, &message)
                };
                let value = lua_gettop(l);
                take(l, cell, name, value);
                lua_settop(l, value - 1);
            }
        }
        _ => wrong_type(l, OPTIONS, "options", "table or a port number"),
    }
}

/// Takes one option.
///
/// SAFETY: R2.
unsafe fn take(l: *mut lua_State, cell: &ServerCell, name: &[u8], index: c_int) {
    let value = match lua_type(l, index) {
        LUA_TNUMBER => Value::Number(lua_tonumber(l, index)),
        LUA_TSTRING => Value::Text(string_at(l, index).unwrap_or_default()),
        LUA_TTABLE => Value::List,
        LUA_TFUNCTION => Value::Function,
        LUA_TBOOLEAN => Value::Flag(lua_toboolean(l, index) != 0),
        _ => Value::Other(type_name(l, index)),
    };
    let mut words = Line::new();
    let taken = guard(l, || {
        cell.draft
            .borrow_mut()
            .as_mut()
            .and_then(|draft| draft.take(name, value, &mut words))
    });
    match taken {
        None => fail(l, &words),
        Some(Taken::Whole) => {}
        Some(Taken::Callback(which)) => {
            let place = match which {
                Callback::OnError => slot::ON_ERROR,
                Callback::OnLog => slot::ON_LOG,
                Callback::AccessLog => {
                    cell.logs_access.set(true);
                    slot::ACCESS_LOG
                }
            };
            lua_pushvalue(l, index);
            lua_rawseti(l, ENVIRONMENT, place.into());
        }
        Some(Taken::Items) => take_items(l, cell, name, index),
    }
}

/// Takes the strings of a list option.
///
/// SAFETY: R2; each item lies on the stack while it is read.
unsafe fn take_items(l: *mut lua_State, cell: &ServerCell, name: &[u8], index: c_int) {
    let mut words = Line::new();
    let count = lua_objlen(l, index);
    must_be_list(l, name, index, count);
    for at in 1..=count {
        lua_rawgeti(l, index, at as lua_Integer);
        let Some(item) = string_at(l, -1) else {
            let kind = type_name(l, -1);
            let message = guard(l, || {
                let mut message = Line::new();
                message.push(b"option '");
                push_printable(&mut message, name);
                message.push(line!("' must be a list of strings, got a {kind} in it").bytes());
                message
            });
            fail(l, &message)
        };
        let taken = guard(l, || {
            cell.draft
                .borrow_mut()
                .as_mut()
                .is_some_and(|draft| draft.push_item(name, item, &mut words))
        });
        if !taken {
            fail(l, &words);
        }
        lua_settop(l, -2);
    }
}

/// Raises unless the table at `index` has exactly the members 1 to `count`.
///
/// SAFETY: R1: the name lies in a string on the stack.
unsafe fn must_be_list(l: *mut lua_State, name: &[u8], index: c_int, count: usize) {
    let mut members = 0;
    lua_pushnil(l);
    while lua_next(l, index) != 0 {
        lua_settop(l, -2);
        members += 1;
    }
    if members != count {
        let message = guard(l, || {
            let mut message = Line::new();
            message.push(b"option '");
            push_printable(&mut message, name);
            message.push(b"' must be a list, got a table with other keys than 1, 2, 3 ...");
            message
        });
        fail(l, &message);
    }
}

/// Puts what a turn calls into the server's table: functions that exist before the first request, so that nothing has
/// to be allocated outside of a protected call.
///
/// SAFETY: R1. The environment of `dispatch` and `report` is the server's table, so that handles inherit it.
unsafe fn push_functions(l: *mut lua_State) {
    lua_createtable(l, 0, 0);
    lua_rawseti(l, ENVIRONMENT, slot::BODIES.into());

    lua_pushvalue(l, SERVER_AT);
    lua_pushvalue(l, HANDLER);
    push_metatable(l, REQUEST);
    push_metatable(l, RESPONSE);
    push_function(l, REGISTRY, dispatch, 4);
    keep_with_environment(l, slot::DISPATCH);

    lua_pushvalue(l, SERVER_AT);
    push_function(l, REGISTRY, traceback, 1);
    keep_with_environment(l, slot::TRACEBACK);

    lua_pushvalue(l, SERVER_AT);
    push_metatable(l, REQUEST);
    push_metatable(l, RESPONSE);
    push_metatable(l, ERROR);
    push_function(l, REGISTRY, report, 4);
    keep_with_environment(l, slot::REPORT);

    lua_createtable(l, 0, 0);
    lua_rawseti(l, ENVIRONMENT, slot::FINISHERS.into());
    lua_pushvalue(l, SERVER_AT);
    push_function(l, REGISTRY, finish, 1);
    keep_with_environment(l, slot::FINISH);

    lua_pushvalue(l, SERVER_AT);
    push_metatable(l, REQUEST);
    push_metatable(l, RESPONSE);
    push_function(l, REGISTRY, access_log::tell, 3);
    keep_with_environment(l, slot::TELL_ACCESS);

    lua_createtable(l, 0, 0);
    lua_rawseti(l, ENVIRONMENT, slot::LISTENERS.into());
    lua_pushvalue(l, SERVER_AT);
    push_metatable(l, REQUEST);
    push_metatable(l, RESPONSE);
    push_function(l, REGISTRY, emit, 3);
    keep_with_environment(l, slot::EMIT);

    if luaL_loadbuffer(l, c"".as_ptr(), 0, c"=fastslua".as_ptr()) != 0 {
        lua_error(l);
    }
    lua_rawseti(l, ENVIRONMENT, slot::NOTHING.into());
}

/// SAFETY: R1.
unsafe fn push_metatable(l: *mut lua_State, name: &'static str) {
    push_literal(l, name);
    lua_rawget(l, REGISTRY);
}

/// SAFETY: R1.
unsafe fn keep_with_environment(l: *mut lua_State, place: c_int) {
    lua_pushvalue(l, ENVIRONMENT);
    lua_setfenv(l, -2);
    lua_rawseti(l, ENVIRONMENT, place.into());
}
