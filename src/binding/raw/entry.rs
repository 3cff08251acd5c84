//! `require("fastslua")`: makes the module's table, once per load, and the metatables, once per Lua state.
//!
//! Loading again in the same state (after `package.loaded.fastslua = nil`) finds the metatables of before, so objects of
//! both loads work together. The Lua layers are part of this file's code and are found by `require` through
//! `package.preload`.

use super::guard::silence_panics;
use super::stack::{push_literal, set_field};
use super::state::{self, *};
use super::{
    chain, events, json, layers, listen, origin, report, request, request_tables, response, router, server, tools,
    turn, within,
};
use mlua::ffi::*;
use std::os::raw::c_int;

/// What `require` calls.
///
/// SAFETY: called by Lua with a state of its own. R1: nothing is alive when anything raises.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn luaopen_fastslua(l: *mut lua_State) -> c_int {
    silence_panics();
    lua_settop(l, 0);
    luaL_checkstack(l, LUA_MINSTACK, c"fastslua".as_ptr());
    if !push_registry(l) {
        state::create(l);
        fill_registry(l);
        state::enter(l, REGISTRY);
    }
    push_module(l);
    1
}

/// Index of the state's table while loading, and of the module's.
const REGISTRY: c_int = 1;
const MODULE_AT: c_int = 2;

/// Makes every metatable.
///
/// SAFETY: R1.
unsafe fn fill_registry(l: *mut lua_State) {
    lua_rawgeti(l, REGISTRY, 1);
    let state = &*lua_touserdata(l, -1).cast::<State>();
    lua_settop(l, REGISTRY);
    push_metatable(l, REGISTRY, SERVER);
    fill_server(l, lua_gettop(l));
    push_metatable(l, REGISTRY, ROUTER);
    fill_router(l, lua_gettop(l));
    state.array.set(push_metatable(l, REGISTRY, ARRAY));
    state.object.set(push_metatable(l, REGISTRY, OBJECT));
    push_metatable(l, REGISTRY, ERROR);
    let errors = lua_gettop(l);
    set_functions(l, errors, &[("__tostring", report::error_text)]);
    push_metatable(l, REGISTRY, HEADERS);
    let headers = lua_gettop(l);
    set_functions(l, headers, &[("__index", request_tables::headers_index)]);
    push_metatable(l, REGISTRY, REQUEST);
    fill_request(l, lua_gettop(l), headers);
    push_metatable(l, REGISTRY, RESPONSE);
    fill_response(l, lua_gettop(l));
    // Marked tables are the program's own: their metatables are no secret.
    for name in [ARRAY, OBJECT, HEADERS] {
        push_literal(l, name);
        lua_rawget(l, REGISTRY);
        lua_pushnil(l);
        let table = lua_gettop(l) - 1;
        set_field(l, table, "__metatable");
    }
    lua_settop(l, REGISTRY);
}

/// Sets functions of ours, with only the state as upvalue, in the table at `table`.
///
/// SAFETY: R1.
unsafe fn set_functions(l: *mut lua_State, table: c_int, functions: &[(&'static str, lua_CFunction)]) {
    for &(name, function) in functions {
        push_function(l, REGISTRY, function, 0);
        set_field(l, table, name);
    }
}

/// SAFETY: R1.
unsafe fn fill_server(l: *mut lua_State, metatable: c_int) {
    set_functions(
        l,
        metatable,
        &[("__gc", server::collect), ("__tostring", server::describe)],
    );
    lua_createtable(l, 0, 8);
    let methods = lua_gettop(l);
    let functions: [(&str, lua_CFunction); 7] = [
        ("step", turn::step),
        ("run", turn::run),
        ("stats", server::stats),
        ("address", server::address),
        ("port", server::port),
        ("shutdown", server::shutdown),
        ("close", server::close),
    ];
    set_functions(l, methods, &functions);
    set_field(l, metatable, "__index");
}

/// SAFETY: R1.
unsafe fn fill_router(l: *mut lua_State, metatable: c_int) {
    set_functions(l, metatable, &[("__gc", router::collect)]);
    lua_createtable(l, 0, 8);
    let methods = lua_gettop(l);
    set_functions(l, methods, &router::METHODS);
    set_field(l, metatable, "__index");
}

/// SAFETY: R1.
unsafe fn fill_request(l: *mut lua_State, metatable: c_int, headers: c_int) {
    set_functions(
        l,
        metatable,
        &[("__newindex", request::new_index), ("__tostring", request::describe)],
    );
    lua_createtable(l, 0, 24);
    let members = lua_gettop(l);
    for (name, number) in request::fields() {
        lua_pushnumber(l, number as f64);
        set_field(l, members, name);
    }
    set_functions(l, members, &request::METHODS);
    lua_pushvalue(l, headers);
    push_function(l, REGISTRY, request::index, 2);
    set_field(l, metatable, "__index");
}

/// SAFETY: R1.
unsafe fn fill_response(l: *mut lua_State, metatable: c_int) {
    set_functions(
        l,
        metatable,
        &[("__newindex", response::new_index), ("__tostring", response::describe)],
    );
    lua_createtable(l, 0, 20);
    let members = lua_gettop(l);
    for (number, name) in response::FIELDS.into_iter().enumerate() {
        lua_pushnumber(l, number as f64);
        set_field(l, members, name);
    }
    set_functions(l, members, &response::METHODS);
    push_function(l, REGISTRY, response::index, 1);
    set_field(l, metatable, "__index");
}

/// Makes the table that `require` returns.
///
/// SAFETY: R1.
unsafe fn push_module(l: *mut lua_State) {
    lua_createtable(l, 0, 8);
    push_literal(l, env!("CARGO_PKG_VERSION"));
    set_field(l, MODULE_AT, "version");
    set_functions(l, MODULE_AT, &[("listen", listen::listen)]);
    set_functions(l, MODULE_AT, &tools::FUNCTIONS);
    push_json(l);
    set_field(l, MODULE_AT, "json");
    push_native(l);
    let native = lua_gettop(l);
    layers::preload(l, MODULE_AT, native);
    // It puts `app`, `router` and `error` into the module.
    layers::push_value(l, MODULE_AT, native, layers::APPLICATION);
    lua_settop(l, MODULE_AT);
}

/// SAFETY: R1.
unsafe fn push_json(l: *mut lua_State) {
    lua_createtable(l, 0, 5);
    let table = lua_gettop(l);
    set_functions(l, table, &[("encode", json::encode), ("decode", json::decode)]);
    lua_pushlightuserdata(l, std::ptr::null_mut());
    set_field(l, table, "null");
    for (name, metatable) in [("array", ARRAY), ("object", OBJECT)] {
        push_literal(l, metatable);
        lua_rawget(l, REGISTRY);
        push_function(l, REGISTRY, json::mark, 1);
        set_field(l, table, name);
    }
}

/// The functions that only the Lua layers use.
const NATIVE: &[(&str, lua_CFunction)] = &[
    ("listen", listen::listen_app),
    ("within", listen::within),
    ("connect", within::connect),
    ("send", within::send),
    ("receive", within::receive),
    ("finish", within::finish),
    ("drop", within::drop_connection),
    ("advance", within::advance),
    ("event_names", events::names),
    ("listeners", events::listeners),
    ("heed", events::heed),
    ("check", router::check),
    ("fits", router::fits),
    ("reason", report::reason),
    ("follow", chain::follow),
    ("conclude", chain::conclude),
    ("enter", chain::enter),
    ("under", chain::under),
    ("capture", chain::capture),
    ("release", chain::release),
    ("settle", chain::settle),
    ("surroundings", origin::surroundings),
    ("base64_decode", tools::base64_decode),
];

/// Pushes the table of them, with the metatable of error objects.
///
/// SAFETY: R1.
unsafe fn push_native(l: *mut lua_State) {
    push_registry(l);
    let registry = lua_gettop(l);
    lua_createtable(l, 0, 16);
    let table = lua_gettop(l);
    push_literal(l, ROUTER);
    lua_rawget(l, registry);
    push_function(l, registry, router::create, 1);
    set_field(l, table, "router");
    push_literal(l, ERROR);
    lua_rawget(l, registry);
    set_field(l, table, "error_metatable");
    push_literal(l, SERVER);
    lua_rawget(l, registry);
    push_literal(l, "__index");
    lua_rawget(l, -2);
    lua_remove(l, -2);
    set_field(l, table, "server_methods");
    for &(name, function) in NATIVE {
        push_function(l, registry, function, 0);
        set_field(l, table, name);
    }
    lua_remove(l, registry);
}
