//! The Lua layers: every file below `lua/fastslua/` is part of this library, and `require` finds it through
//! `package.preload`.
//!
//! A layer is a chunk that gets its name, the module's table and the functions that only layers may use, and returns
//! what `require` returns. Those who work on the layers have them read from the folder that `FASTSLUA_LUA_PATH` names.

use super::guard::{fail, line};
use super::stack::{push_bytes, push_literal, set_field, text_arg};
use super::state::{push_function, push_registry};
use mlua::ffi::*;
use std::ffi::CStr;
use std::os::raw::c_int;

/// Where the Lua layers are read from instead.
const LUA_PATH_VARIABLE: &str = "FASTSLUA_LUA_PATH";

/// A Lua layer.
struct Layer {
    /// What `require` is called with.
    name: &'static CStr,
    /// The file below `lua/`.
    file: &'static str,
    /// The name in tracebacks.
    chunk: &'static CStr,
    text: &'static str,
}

macro_rules! layers {
    ($($name:literal = $file:literal, $chunk:literal;)*) => {
        &[$(Layer { name: $name, file: $file, chunk: $chunk, text: include_str!(concat!("../../../lua/", $file)) },)*]
    };
}

/// Every layer, once.
static LAYERS: &[Layer] = layers! {
    c"fastslua.application" = "fastslua/application.lua", c"=fastslua/application.lua";
    c"fastslua.adapters.http_server" = "fastslua/adapters/http_server.lua", c"=fastslua/adapters/http_server.lua";
    c"fastslua.adapters.http_statuses" = "fastslua/adapters/http_statuses.lua", c"=fastslua/adapters/http_statuses.lua";
    c"fastslua.adapters.wsapi" = "fastslua/adapters/wsapi.lua", c"=fastslua/adapters/wsapi.lua";
    c"fastslua.arity" = "fastslua/arity.lua", c"=fastslua/arity.lua";
    c"fastslua.chain" = "fastslua/chain.lua", c"=fastslua/chain.lua";
    c"fastslua.compiler" = "fastslua/compiler.lua", c"=fastslua/compiler.lua";
    c"fastslua.errors" = "fastslua/errors.lua", c"=fastslua/errors.lua";
    c"fastslua.events" = "fastslua/events.lua", c"=fastslua/events.lua";
    c"fastslua.exposition" = "fastslua/exposition.lua", c"=fastslua/exposition.lua";
    c"fastslua.middleware.basic_auth" = "fastslua/middleware/basic_auth.lua", c"=fastslua/middleware/basic_auth.lua";
    c"fastslua.middleware.bearer_auth" = "fastslua/middleware/bearer_auth.lua", c"=fastslua/middleware/bearer_auth.lua";
    c"fastslua.middleware.body_json" = "fastslua/middleware/body_json.lua", c"=fastslua/middleware/body_json.lua";
    c"fastslua.middleware.cors" = "fastslua/middleware/cors.lua", c"=fastslua/middleware/cors.lua";
    c"fastslua.middleware.logger" = "fastslua/middleware/logger.lua", c"=fastslua/middleware/logger.lua";
    c"fastslua.middleware.metrics" = "fastslua/middleware/metrics.lua", c"=fastslua/middleware/metrics.lua";
    c"fastslua.middleware.rate_limit" = "fastslua/middleware/rate_limit.lua", c"=fastslua/middleware/rate_limit.lua";
    c"fastslua.middleware.request_id" = "fastslua/middleware/request_id.lua", c"=fastslua/middleware/request_id.lua";
    c"fastslua.middleware.security_headers" = "fastslua/middleware/security_headers.lua", c"=fastslua/middleware/security_headers.lua";
    c"fastslua.middleware.timeout" = "fastslua/middleware/timeout.lua", c"=fastslua/middleware/timeout.lua";
    c"fastslua.options" = "fastslua/options.lua", c"=fastslua/options.lua";
    c"fastslua.patterns" = "fastslua/patterns.lua", c"=fastslua/patterns.lua";
    c"fastslua.router" = "fastslua/router.lua", c"=fastslua/router.lua";
    c"fastslua.routing" = "fastslua/routing.lua", c"=fastslua/routing.lua";
    c"fastslua.testing" = "fastslua/testing.lua", c"=fastslua/testing.lua";
};

/// What `require` calls for a layer that is asked for before the module: Lua looks for these in the file of the module
/// itself.
macro_rules! openers {
    ($($opener:ident = $name:literal;)*) => {
        $(
            /// SAFETY: called by Lua with a state of its own. R1: nothing is alive when anything raises.
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $opener(l: *mut lua_State) -> c_int {
                open(l, $name)
            }
        )*
    };
}

openers! {
    luaopen_fastslua_adapters_http_server = c"fastslua.adapters.http_server";
    luaopen_fastslua_adapters_wsapi = c"fastslua.adapters.wsapi";
    luaopen_fastslua_exposition = c"fastslua.exposition";
    luaopen_fastslua_middleware_basic_auth = c"fastslua.middleware.basic_auth";
    luaopen_fastslua_middleware_bearer_auth = c"fastslua.middleware.bearer_auth";
    luaopen_fastslua_middleware_body_json = c"fastslua.middleware.body_json";
    luaopen_fastslua_middleware_cors = c"fastslua.middleware.cors";
    luaopen_fastslua_middleware_logger = c"fastslua.middleware.logger";
    luaopen_fastslua_middleware_metrics = c"fastslua.middleware.metrics";
    luaopen_fastslua_middleware_rate_limit = c"fastslua.middleware.rate_limit";
    luaopen_fastslua_middleware_request_id = c"fastslua.middleware.request_id";
    luaopen_fastslua_middleware_security_headers = c"fastslua.middleware.security_headers";
    luaopen_fastslua_middleware_timeout = c"fastslua.middleware.timeout";
    luaopen_fastslua_router = c"fastslua.router";
}

/// Has the module loaded, which lets `package.preload` know the layer, and gives what the layer returns.
///
/// SAFETY: R1.
unsafe fn open(l: *mut lua_State, name: &'static CStr) -> c_int {
    lua_settop(l, 0);
    lua_getfield(l, LUA_GLOBALSINDEX, c"require".as_ptr());
    push_literal(l, "fastslua");
    lua_call(l, 1, 0);
    lua_getfield(l, LUA_GLOBALSINDEX, c"package".as_ptr());
    lua_getfield(l, 1, c"preload".as_ptr());
    lua_getfield(l, 2, name.as_ptr());
    lua_pushstring(l, name.as_ptr());
    lua_call(l, 1, 1);
    1
}

/// The place of the application in the list.
pub(super) const APPLICATION: usize = 0;

/// Upvalues of `load`, after the state: the module's table, which layer, and the table of functions that only layers may
/// use. At 1 that one holds a table of the layers that were loaded, by number from 1.
const MODULE: c_int = lua_upvalueindex(2);
const LAYER: c_int = lua_upvalueindex(3);
const NATIVE: c_int = lua_upvalueindex(4);
const LOADED: lua_Integer = 1;

/// The state's table lies at 1 while the module is made.
const REGISTRY: c_int = 1;

/// Has `require` find the layers, where there is a `package` table, and the layers one another. `module` and `native`: where
/// these tables lie.
///
/// SAFETY: R1: nothing is alive here.
pub(super) unsafe fn preload(l: *mut lua_State, module: c_int, native: c_int) {
    let top = lua_gettop(l);
    lua_createtable(l, LAYERS.len() as c_int, 0);
    lua_rawseti(l, native, LOADED);
    lua_pushvalue(l, module);
    lua_pushvalue(l, native);
    push_function(l, REGISTRY, layer, 2);
    set_field(l, native, "layer");
    lua_getfield(l, LUA_GLOBALSINDEX, c"package".as_ptr());
    if lua_type(l, -1) == LUA_TTABLE {
        push_literal(l, "preload");
        lua_rawget(l, -2);
    }
    if lua_type(l, -1) == LUA_TTABLE {
        let preload = lua_gettop(l);
        for (at, layer) in LAYERS.iter().enumerate() {
            push_loader(l, module, native, at);
            lua_setfield(l, preload, layer.name.as_ptr());
        }
    }
    lua_settop(l, top);
}

/// SAFETY: R1.
unsafe fn push_loader(l: *mut lua_State, module: c_int, native: c_int, at: usize) {
    lua_pushvalue(l, module);
    lua_pushnumber(l, at as f64);
    lua_pushvalue(l, native);
    push_loading(l);
}

/// Makes the loader of the three values on top.
///
/// SAFETY: R1.
unsafe fn push_loading(l: *mut lua_State) {
    push_registry(l);
    lua_insert(l, -4);
    let registry = lua_gettop(l) - 3;
    push_function(l, registry, load, 3);
    lua_remove(l, registry);
}

/// Pushes what a layer returns.
///
/// SAFETY: R1.
pub(super) unsafe fn push_value(l: *mut lua_State, module: c_int, native: c_int, at: usize) {
    push_loader(l, module, native, at);
    lua_pushstring(l, LAYERS[at].name.as_ptr());
    lua_call(l, 1, 1);
}

/// `layer(name)`: what a layer returns, for the others. Its upvalues are those of `load`, without the number.
///
/// SAFETY: R1: nothing is alive here.
unsafe extern "C-unwind" fn layer(l: *mut lua_State) -> c_int {
    let name = text_arg(l, 1, "name");
    let Some(at) = LAYERS.iter().position(|layer| layer.name.to_bytes() == name) else {
        fail(l, &line!("no such layer"))
    };
    lua_pushvalue(l, MODULE);
    lua_pushnumber(l, at as f64);
    lua_pushvalue(l, LAYER);
    push_loading(l);
    lua_pushvalue(l, 1);
    lua_call(l, 1, 1);
    1
}

/// Loads a layer and runs it with its name, the module, and the functions that only layers may use; once for each load of
/// the module, whoever asks.
///
/// SAFETY: R1: the path's string is gone before the file is loaded from its copy on the stack.
unsafe extern "C-unwind" fn load(l: *mut lua_State) -> c_int {
    let at = lua_tonumber(l, LAYER) as usize;
    let Some(layer) = LAYERS.get(at) else {
        fail(l, &line!("no such layer"))
    };
    lua_settop(l, 1);
    lua_rawgeti(l, NATIVE, LOADED);
    lua_rawgeti(l, 2, at as lua_Integer + 1);
    if lua_type(l, -1) != LUA_TNIL {
        return 1;
    }
    lua_settop(l, 2);
    let from_disk = push_bytes(l, |emit| {
        if let Some(folder) = std::env::var_os(LUA_PATH_VARIABLE).filter(|folder| !folder.is_empty()) {
            let path = std::path::Path::new(&folder).join(layer.file);
            emit(path.as_os_str().as_encoded_bytes());
        }
    });
    let status = if from_disk {
        luaL_loadfile(l, lua_tolstring(l, -1, std::ptr::null_mut()))
    } else {
        luaL_loadbuffer(l, layer.text.as_ptr().cast(), layer.text.len(), layer.chunk.as_ptr())
    };
    if status != 0 {
        lua_error(l);
    }
    lua_pushvalue(l, 1);
    lua_pushvalue(l, MODULE);
    lua_pushvalue(l, NATIVE);
    lua_call(l, 3, 1);
    lua_pushvalue(l, -1);
    lua_rawseti(l, 2, at as lua_Integer + 1);
    1
}
