//! `require("fastslua")`: makes the module's table, once per load, and the metatables, once per Lua state.
//!
//! Loading again in the same state (after `package.loaded.fastslua = nil`) finds the metatables of before, so objects of
//! both loads work together. The Lua layers are part of this file's code and are found by `require` through
//! `package.preload`.

use super::guard::{fail, line, silence_panics};
use super::stack::{push_literal, set_field};
use super::state::{self, *};
use super::{json, listen, request, response, router, server, turn};
use mlua::ffi::*;
use std::ffi::CStr;
use std::os::raw::c_int;

/// Where the Lua layers are read from instead, for those who work on them.
const LUA_PATH_VARIABLE: &str = "FASTSLUA_LUA_PATH";

/// A Lua layer: its name for `require`, its file below `lua/`, the name in tracebacks, its text.
type Layer = (&'static CStr, &'static str, &'static CStr, &'static str);

const LAYERS: [Layer; 1] = [(
    c"fastslua.application",
    "fastslua/application.lua",
    c"=fastslua/application.lua",
    include_str!("../../../lua/fastslua/application.lua"),
)];

/// Upvalue of `load_layer`, after the state: the module's table and which layer.
const MODULE: c_int = lua_upvalueindex(2);
const LAYER: c_int = lua_upvalueindex(3);

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
    state.server.set(push_metatable(l, REGISTRY, SERVER));
    fill_server(l, lua_gettop(l));
    state.router.set(push_metatable(l, REGISTRY, ROUTER));
    fill_router(l, lua_gettop(l));
    state.array.set(push_metatable(l, REGISTRY, ARRAY));
    state.object.set(push_metatable(l, REGISTRY, OBJECT));
    push_metatable(l, REGISTRY, ERROR);
    let errors = lua_gettop(l);
    set_functions(l, errors, &[("__tostring", request::error_text)]);
    push_metatable(l, REGISTRY, HEADERS);
    let headers = lua_gettop(l);
    set_functions(l, headers, &[("__index", request::headers_index)]);
    state.request.set(push_metatable(l, REGISTRY, REQUEST));
    fill_request(l, lua_gettop(l), headers, errors);
    state.response.set(push_metatable(l, REGISTRY, RESPONSE));
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
    lua_createtable(l, 0, 1);
    let methods = lua_gettop(l);
    set_functions(l, methods, &[("add", router::add)]);
    set_field(l, metatable, "__index");
}

/// SAFETY: R1.
unsafe fn fill_request(l: *mut lua_State, metatable: c_int, headers: c_int, errors: c_int) {
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
    for (name, function) in request::METHODS {
        lua_pushvalue(l, errors);
        push_function(l, REGISTRY, function, 1);
        set_field(l, members, name);
    }
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
    push_json(l);
    set_field(l, MODULE_AT, "json");
    preload_layers(l);
    push_layer_value(l, 0);
    push_literal(l, "new");
    lua_rawget(l, -2);
    set_field(l, MODULE_AT, "app");
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

/// Has `require` find the Lua layers, where there is a `package` table.
///
/// SAFETY: R1.
unsafe fn preload_layers(l: *mut lua_State) {
    lua_getfield(l, LUA_GLOBALSINDEX, c"package".as_ptr());
    if lua_type(l, -1) != LUA_TTABLE {
        return;
    }
    push_literal(l, "preload");
    lua_rawget(l, -2);
    if lua_type(l, -1) != LUA_TTABLE {
        return;
    }
    let preload = lua_gettop(l);
    for (at, layer) in LAYERS.iter().enumerate() {
        push_loader(l, at);
        lua_setfield(l, preload, layer.0.as_ptr());
    }
}

/// SAFETY: R1.
unsafe fn push_loader(l: *mut lua_State, at: usize) {
    lua_pushvalue(l, MODULE_AT);
    lua_pushnumber(l, at as f64);
    push_function(l, REGISTRY, load_layer, 2);
}

/// Pushes what a layer returns.
///
/// SAFETY: R1.
unsafe fn push_layer_value(l: *mut lua_State, at: usize) {
    push_loader(l, at);
    lua_pushstring(l, LAYERS[at].0.as_ptr());
    lua_call(l, 1, 1);
}

/// Loads a layer and runs it with its name, the module, and the functions that only layers may use.
///
/// SAFETY: R1: the path's string is gone before the file is loaded from its copy on the stack.
unsafe extern "C-unwind" fn load_layer(l: *mut lua_State) -> c_int {
    let at = lua_tonumber(l, LAYER) as usize;
    let Some((_, file, name, text)) = LAYERS.get(at) else {
        fail(l, &line!("no such layer"))
    };
    lua_settop(l, 1);
    let from_disk = super::stack::push_bytes(l, |emit| {
        if let Some(folder) = std::env::var_os(LUA_PATH_VARIABLE) {
            emit(std::path::Path::new(&folder).join(file).as_os_str().as_encoded_bytes());
        }
    });
    let status = if from_disk {
        luaL_loadfile(l, lua_tolstring(l, -1, std::ptr::null_mut()))
    } else {
        luaL_loadbuffer(l, text.as_ptr().cast(), text.len(), name.as_ptr())
    };
    if status != 0 {
        lua_error(l);
    }
    lua_pushvalue(l, 1);
    lua_pushvalue(l, MODULE);
    push_native(l);
    lua_call(l, 3, 1);
    1
}

/// Pushes the functions that only the Lua layers use.
///
/// SAFETY: R1.
unsafe fn push_native(l: *mut lua_State) {
    push_registry(l);
    let registry = lua_gettop(l);
    lua_createtable(l, 0, 2);
    let table = lua_gettop(l);
    push_literal(l, ROUTER);
    lua_rawget(l, registry);
    push_function(l, registry, router::create, 1);
    set_field(l, table, "router");
    push_function(l, registry, listen::listen_app, 0);
    set_field(l, table, "listen");
    lua_remove(l, registry);
}
