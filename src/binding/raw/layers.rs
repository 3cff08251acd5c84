//! The Lua layers: every file below `lua/fastslua/` is part of this library, and `require` finds it through
//! `package.preload`.
//!
//! A layer is a chunk that gets its name, the module's table and the functions that only layers may use, and returns
//! what `require` returns. Those who work on the layers have them read from the folder that `FASTSLUA_LUA_PATH` names.

use super::entry::push_native;
use super::guard::{fail, line};
use super::stack::{push_bytes, push_literal};
use super::state::push_function;
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
};

/// The place of the application in the list.
pub(super) const APPLICATION: usize = 0;

/// Upvalues of `load`, after the state: the module's table and which layer.
const MODULE: c_int = lua_upvalueindex(2);
const LAYER: c_int = lua_upvalueindex(3);

/// The state's table lies at 1 while the module is made.
const REGISTRY: c_int = 1;

/// Has `require` find the layers, where there is a `package` table. `module`: where the module's table lies.
///
/// SAFETY: R1: nothing is alive here.
pub(super) unsafe fn preload(l: *mut lua_State, module: c_int) {
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
        push_loader(l, module, at);
        lua_setfield(l, preload, layer.name.as_ptr());
    }
}

/// SAFETY: R1.
unsafe fn push_loader(l: *mut lua_State, module: c_int, at: usize) {
    lua_pushvalue(l, module);
    lua_pushnumber(l, at as f64);
    push_function(l, REGISTRY, load, 2);
}

/// Pushes what a layer returns.
///
/// SAFETY: R1.
pub(super) unsafe fn push_value(l: *mut lua_State, module: c_int, at: usize) {
    push_loader(l, module, at);
    lua_pushstring(l, LAYERS[at].name.as_ptr());
    lua_call(l, 1, 1);
}

/// Loads a layer and runs it with its name, the module, and the functions that only layers may use.
///
/// SAFETY: R1: the path's string is gone before the file is loaded from its copy on the stack.
unsafe extern "C-unwind" fn load(l: *mut lua_State) -> c_int {
    let at = lua_tonumber(l, LAYER) as usize;
    let Some(layer) = LAYERS.get(at) else {
        fail(l, &line!("no such layer"))
    };
    lua_settop(l, 1);
    let from_disk = push_bytes(l, |emit| {
        if let Some(folder) = std::env::var_os(LUA_PATH_VARIABLE) {
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
    push_native(l);
    lua_call(l, 3, 1);
    1
}
