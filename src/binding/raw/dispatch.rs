//! One request, under the turn's `lua_pcall`: its handles, its way through the application, its handler, its answer.

use super::answer::{self, Sent};
use super::events::Event;
use super::guard::{Line, fail, guard, line, push_line};
use super::handle::{self, Handle};
use super::report::push_handle;
use super::response;
use super::router::ARGUMENTS_MAX;
use super::server::{ServerCell, slot};
use super::stack::{Named, string_at, type_name};
use super::state::Tag;
use crate::binding::refusal::refuse;
use crate::binding::service::Service;
use crate::h1::Method;
use crate::routing::{Found, Router};
use crate::server::RequestId;
use mlua::ffi::*;
use std::os::raw::c_int;

/// Upvalues of `dispatch`, after the state.
const SERVER: c_int = lua_upvalueindex(2);
/// The handler, or the application's table of functions by route slot.
const HANDLER: c_int = lua_upvalueindex(3);
const REQUEST_METATABLE: c_int = lua_upvalueindex(4);
const RESPONSE_METATABLE: c_int = lua_upvalueindex(5);

/// Where the table of functions has the chain of requests that no route takes: before those by slot + 1.
const UNROUTED: lua_Integer = 0;

/// Where a request goes.
#[derive(Clone, Copy)]
enum Way {
    /// The handler of a server without an application.
    Handler,
    /// The application has changed: its routes have to be compiled before anything is found.
    Compile,
    /// A route of the application, by slot, and how many arguments its function can see.
    Route { slot: usize, arguments: u8 },
    /// No route takes it; the application's middleware may.
    NoRoute,
    /// It has been answered here.
    Answered,
}

/// What `turn` calls for each request. Its environment is the server's table.
///
/// SAFETY: R1: only plain data is alive in this frame. R4: the server is upvalue 2.
pub(super) unsafe extern "C-unwind" fn dispatch(l: *mut lua_State) -> c_int {
    let cell = &*lua_touserdata(l, SERVER).cast::<ServerCell>();
    let id = cell.current.get();
    let mut to = guard(l, || way(cell, id));
    if matches!(to, Way::Compile) {
        lua_rawgeti(l, LUA_ENVIRONINDEX, slot::APP.into());
        compile(l);
        to = guard(l, || way(cell, id));
    }
    if matches!(to, Way::Answered | Way::Compile) {
        return 0;
    }
    let seen = match to {
        Way::Route { arguments, .. } => arguments,
        _ => ARGUMENTS_MAX,
    };
    // Who has heard of the request may have put something on its handles.
    let heard = cell.heard.hears(Event::Request);
    // The response stays at 1, below the arguments: a handler that lets go of it does not free it under us.
    if seen < ARGUMENTS_MAX {
        lua_pushnil(l);
    } else if heard {
        push_handle(l, cell, id, slot::RESPONSE, Tag::response(), RESPONSE_METATABLE);
    } else {
        handle::push(l, cell, id, Tag::response(), RESPONSE_METATABLE);
    }
    match to {
        Way::Route { slot, .. } => {
            lua_rawgeti(l, HANDLER, slot as lua_Integer + 1);
        }
        Way::NoRoute => {
            lua_rawgeti(l, HANDLER, UNROUTED);
            if lua_type(l, -1) == LUA_TNIL {
                guard(l, || conclude(cell, id));
                return 0;
            }
        }
        _ => lua_pushvalue(l, HANDLER),
    }
    if seen > 0 && heard {
        push_handle(l, cell, id, slot::REQUEST, Tag::request(), REQUEST_METATABLE);
    } else if seen > 0 {
        handle::push(l, cell, id, Tag::request(), REQUEST_METATABLE);
        lua_pushvalue(l, -1);
        lua_rawseti(l, LUA_ENVIRONINDEX, slot::REQUEST.into());
    }
    if seen == ARGUMENTS_MAX {
        lua_pushvalue(l, 1);
        lua_pushvalue(l, -1);
        lua_rawseti(l, LUA_ENVIRONINDEX, slot::RESPONSE.into());
    }
    lua_call(l, seen.into(), 3);
    if !settle(l, cell, id) {
        must_be_answered(l, cell, id);
    }
    0
}

/// Answers with the results of a handler, at 2, 3 and 4, if there are any. The response lies at 1, or nil for a handler
/// that cannot see it. Whether the request has been answered for certain.
///
/// SAFETY: R1, R4: what lies at 1 stays there.
unsafe fn settle(l: *mut lua_State, cell: &ServerCell, id: RequestId) -> bool {
    let silent = lua_type(l, 2) == LUA_TNIL && lua_type(l, 3) == LUA_TNIL;
    if lua_type(l, 1) == LUA_TNIL {
        if silent {
            return false;
        }
        if lua_type(l, 2) == LUA_TSTRING {
            return answer::send(l, cell, id, 2, None) == Sent::Yes;
        }
        handle::push(l, cell, id, Tag::response(), RESPONSE_METATABLE);
        lua_replace(l, 1);
    }
    let response = &*lua_touserdata(l, 1).cast::<Handle>();
    if !silent {
        take_results(l, cell, response, None);
    }
    response.sent.get()
}

/// Compiles the routes of the application on top, which is popped.
///
/// SAFETY: R1: nothing is alive here.
pub(super) unsafe fn compile(l: *mut lua_State) {
    lua_getfield(l, -1, c"_compile".as_ptr());
    lua_insert(l, -2);
    lua_call(l, 1, 0);
}

/// A request that middleware alone has seen gets the answer of a request without a route; one whose handler has let it
/// go unanswered is a failure.
///
/// SAFETY: R2: the message is plain data.
unsafe fn must_be_answered(l: *mut lua_State, cell: &ServerCell, id: RequestId) {
    if guard(l, || cell.with(|service| service.server.responded(id)).unwrap_or(true)) {
        return;
    }
    if cell.app_router().is_some() && cell.route.get().is_none() {
        guard(l, || conclude(cell, id));
        return;
    }
    // It is the route's own failure, whichever function has run last.
    cell.place.set(None);
    let mut message = Line::new();
    guard(l, || {
        message.push(b"the handler of ");
        cell.write_route(id, &mut message);
        message.push(b" has returned without an answer");
    });
    push_line(l, &message);
    lua_error(l);
}

/// Finds the way of a request, and answers those that need no handler.
fn way(cell: &ServerCell, id: RequestId) -> Way {
    let way = cell.with(|service| {
        let Some(request) = service.server.request(id) else {
            return Way::Answered;
        };
        let head = request.head();
        let Some(router) = cell.app_router() else {
            return Way::Handler;
        };
        if router.stale.get() {
            return Way::Compile;
        }
        cell.place.set(None);
        let routes = router.router.borrow();
        let method = routes.method(request.text(head.method_text));
        let path = request.text(head.path);
        let found = routes.find(method, path, &mut cell.captures.borrow_mut());
        cell.found.set(found);
        match found {
            Found::Route(route) => {
                cell.route.set(Some(route));
                Way::Route {
                    slot: route.slot(),
                    arguments: router.arguments(route),
                }
            }
            _ => Way::NoRoute,
        }
    });
    way.unwrap_or(Way::Answered)
}

/// Answers a request that no route has taken, unless somebody has answered it.
pub(super) fn conclude(cell: &ServerCell, id: RequestId) {
    cell.with(|service| {
        if let Some(router) = cell.app_router()
            && !service.server.responded(id)
        {
            answer_without_route(service, id, &router.router.borrow(), cell.found.get());
        }
    });
}

/// 404, 405 with `Allow`, and the answer to OPTIONS (RFC 9110 sections 15.5.5, 15.5.6, 9.3.7).
fn answer_without_route(service: &mut Service, id: RequestId, router: &Router, found: Found) {
    let Some(request) = service.server.request(id) else {
        return;
    };
    let options = request.head().method == Method::Options;
    let asterisk = request.text(request.head().path) == b"*";
    if options && asterisk {
        return allow(service, id, 204, b"", b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    }
    match found {
        Found::WrongMethod(methods) => {
            let mut names = Vec::new();
            router.write_allow(methods, &mut names);
            if options {
                allow(service, id, 204, b"", &names);
            } else {
                allow(service, id, 405, b"This path does not take this method.", &names);
            }
        }
        Found::BadPercent => refuse(service, id, 400, b"A percent sequence in the path is malformed."),
        _ => refuse(service, id, 404, b"Nothing is found at this path."),
    }
}

fn allow(service: &mut Service, id: RequestId, status: u16, sentence: &[u8], methods: &[u8]) {
    if let Some(response) = service.server.response_mut(id) {
        // Names of methods are tokens, so they make a value.
        let _ = response.set(b"Allow", methods);
    }
    refuse(service, id, status, sentence);
}

/// What a handler returned, at 2, 3 and 4: text, a table for JSON, or status, body, headers. The response lies at 1;
/// `holder` as for [`answer::send`].
///
/// SAFETY: R1: plain data only; faults are raised.
pub(super) unsafe fn take_results(l: *mut lua_State, cell: &ServerCell, response: &Handle, holder: Option<&Handle>) {
    let kind = lua_type(l, 2);
    let body_at = match kind {
        LUA_TSTRING | LUA_TTABLE => 2,
        LUA_TNUMBER => 3,
        // `return res:send(...)`: the result of an ending method, or the response itself.
        LUA_TBOOLEAN => return,
        LUA_TUSERDATA if lua_touserdata(l, 2) == lua_touserdata(l, 1) => return,
        LUA_TNIL => return returned_failure(l),
        _ => {
            let name = type_name(l, 2);
            let message = guard(l, || {
                line!(
                    "a handler returns a string, a table, a status with a body, or nothing; got {}",
                    Named(name)
                )
            });
            push_line(l, &message);
            lua_error(l)
        }
    };
    if response.sent.get() {
        let mut message = Line::new();
        guard(l, || {
            cell.write_route(response.id, &mut message);
            message.push(b": the handler has returned an answer, but the response was already sent");
        });
        push_line(l, &message);
        lua_error(l);
    }
    if kind == LUA_TNUMBER {
        response::set_status(l, response, 2, "a handler's status");
        match lua_type(l, 4) {
            LUA_TNIL => {}
            LUA_TTABLE => response::set_fields(l, response, 4),
            _ => {
                let name = type_name(l, 4);
                let message = guard(l, || {
                    line!(
                        "a handler's headers, behind its status and body, are a table; got {}",
                        Named(name)
                    )
                });
                push_line(l, &message);
                lua_error(l);
            }
        }
    }
    if answer::send(l, cell, response.id, body_at, holder) == Sent::Yes {
        response.sent.set(true);
    }
}

/// `return nil, message`: the failure of whatever the handler called.
///
/// SAFETY: R1: nothing is alive here.
unsafe fn returned_failure(l: *mut lua_State) {
    if string_at(l, 3).is_none() {
        fail(l, &line!("a handler has returned nil with something else after it"));
    }
    lua_pushvalue(l, 3);
    lua_error(l);
}
