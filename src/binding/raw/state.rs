//! What belongs to one Lua state: the metatables of our objects and the working memory of the JSON functions.
//!
//! It is a userdata in that state's registry, and upvalue 1 of every function of ours, so it is there as long as any of
//! them is. Nothing of it is shared with another state of the process.

use super::guard::{fail, line};
use super::json_order::Order;
use super::stack::{Named, push_literal, set_field, type_name};
use mlua::ffi::*;
use std::cell::{Cell, RefCell};
use std::os::raw::{c_int, c_void};
use std::ptr;
use std::time::Instant;

/// One level of nesting of a value on its way to JSON.
#[derive(Clone, Copy)]
pub(super) struct Level {
    /// The table's identity.
    pub(super) table: *const c_void,
    /// Where the key of the member being written lies on the stack; 0 when `index` tells it.
    pub(super) key_at: c_int,
    /// The place of the element being written, from 1.
    pub(super) index: usize,
}

/// Working memory; empty between calls, kept to be used again.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) bytes: Vec<u8>,
    pub(super) levels: Vec<Level>,
    pub(super) order: Order,
    /// Counts the values written to it, so that one can tell whether its own is still there.
    pub(super) walks: u64,
}

impl Scratch {
    /// More than this is given back after use.
    const KEPT: usize = 256 * 1024;

    /// Ends a use of it.
    pub(super) fn reset(&mut self) {
        self.levels.clear();
        self.order.reset();
        self.bytes.clear();
        if self.bytes.capacity() > Self::KEPT {
            self.bytes = Vec::new();
        }
    }
}

/// Per-state values; the pointers are identities of tables that the registry holds, for comparison only.
pub(super) struct State {
    pub(super) scratch: RefCell<Scratch>,
    pub(super) array: Cell<*const c_void>,
    pub(super) object: Cell<*const c_void>,
    /// When the library was loaded: where `fastslua.now()` counts from.
    pub(super) began: Instant,
}

/// Upvalue 1 of every function of ours.
pub(super) const STATE: c_int = lua_upvalueindex(1);

/// The registry's key of the state's table: the address of this. The table holds the state itself at 1 and the
/// metatables by name.
static REGISTRY_KEY: u8 = 0;

/// Names of metatables in the registry's table, and what `__name` shows.
pub(super) const SERVER: &str = "fastslua.server";
pub(super) const REQUEST: &str = "fastslua.request";
pub(super) const RESPONSE: &str = "fastslua.response";
pub(super) const ROUTER: &str = "fastslua.router";
pub(super) const ARRAY: &str = "fastslua.json.array";
pub(super) const OBJECT: &str = "fastslua.json.object";
pub(super) const HEADERS: &str = "fastslua.headers";
pub(super) const ERROR: &str = "fastslua.error";

/// The state of the function that runs.
///
/// SAFETY: every closure that calls this was made by `push_function`, which puts the state's userdata there; the
/// closure holds it while it runs.
#[inline]
pub(super) unsafe fn current<'a>(l: *mut lua_State) -> &'a State {
    &*lua_touserdata(l, STATE).cast::<State>()
}

/// Pushes the state's table; `false` (and the empty table) when this is the first load in this Lua state.
///
/// SAFETY: R1: nothing is alive here.
pub(super) unsafe fn push_registry(l: *mut lua_State) -> bool {
    lua_pushlightuserdata(l, ptr::addr_of!(REGISTRY_KEY).cast_mut().cast());
    lua_rawget(l, LUA_REGISTRYINDEX);
    if lua_type(l, -1) == LUA_TTABLE {
        return true;
    }
    lua_settop(l, -2);
    lua_createtable(l, 1, 8);
    false
}

/// Makes the state in the table on top, which stays on top. [`enter`] it when all else is in it.
///
/// SAFETY: R1: `State` is written into Lua's memory before the next call that can raise, and its metatable with `__gc`
/// follows; an error in between leaks an empty value and frees nothing twice.
pub(super) unsafe fn create(l: *mut lua_State) {
    let table = lua_gettop(l);
    let place = lua_newuserdata(l, size_of::<State>()).cast::<State>();
    place.write(State {
        scratch: RefCell::default(),
        array: Cell::new(ptr::null()),
        object: Cell::new(ptr::null()),
        began: Instant::now(),
    });
    lua_createtable(l, 0, 1);
    let metatable = lua_gettop(l);
    lua_pushcclosure(l, collect, 0);
    set_field(l, metatable, "__gc");
    lua_setmetatable(l, -2);
    lua_rawseti(l, table, 1);
}

/// Enters the state's table at `table`, which is complete, into the registry: a load that has failed before leaves nothing
/// that the next one could take for whole.
///
/// SAFETY: R1: nothing is alive here.
pub(super) unsafe fn enter(l: *mut lua_State, table: c_int) {
    lua_pushlightuserdata(l, ptr::addr_of!(REGISTRY_KEY).cast_mut().cast());
    lua_pushvalue(l, table);
    lua_rawset(l, LUA_REGISTRYINDEX);
}

/// `__gc` of the state: leaves an empty one, which finalizers that run later may still use.
///
/// SAFETY: only the collector can reach this metatable, and calls it with our userdata.
unsafe extern "C-unwind" fn collect(l: *mut lua_State) -> c_int {
    let state = &*lua_touserdata(l, 1).cast::<State>();
    super::guard::contained(|| {
        state.scratch.replace(Scratch::default());
    });
    0
}

/// Pushes a function with the state as upvalue 1 and the `more` values on top (which are popped) as those after it.
/// `registry`: where the state's table lies.
///
/// SAFETY: R1: nothing is alive here.
pub(super) unsafe fn push_function(l: *mut lua_State, registry: c_int, function: lua_CFunction, more: c_int) {
    lua_rawgeti(l, registry, 1);
    lua_insert(l, -1 - more);
    lua_pushcclosure(l, function, more + 1);
}

/// Makes a metatable called `name` in the state's table, pushes it, and tells its identity.
///
/// SAFETY: R1: nothing is alive here.
pub(super) unsafe fn push_metatable(l: *mut lua_State, registry: c_int, name: &'static str) -> *const c_void {
    lua_createtable(l, 0, 8);
    let metatable = lua_gettop(l);
    push_literal(l, name);
    set_field(l, metatable, "__name");
    push_literal(l, "protected");
    set_field(l, metatable, "__metatable");
    lua_pushvalue(l, metatable);
    set_field(l, registry, name);
    lua_topointer(l, metatable)
}

/// What a userdata of ours is: its first field, an address that nothing else has.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Tag(*const u8);

static TAGS: [u8; 4] = [0; 4];

impl Tag {
    pub(super) fn server() -> Self {
        Self(&raw const TAGS[0])
    }

    pub(super) fn router() -> Self {
        Self(&raw const TAGS[1])
    }

    pub(super) fn request() -> Self {
        Self(&raw const TAGS[2])
    }

    pub(super) fn response() -> Self {
        Self(&raw const TAGS[3])
    }
}

/// The userdata at `index` when it is of this kind. Two calls of the API, where comparing metatables takes five; this is
/// asked for every field and method.
///
/// SAFETY: `T` is `repr(C)` with its tag in front. Something else's userdata of the same size is read as far as the tag,
/// within its bounds, and holds an address in this library by no accident. R4: the pointer holds while the value stays
/// where it lies; nothing here can raise (`lua_objlen` is only asked for userdata).
#[inline]
pub(super) unsafe fn userdata_at<T>(l: *mut lua_State, index: c_int, tag: Tag) -> Option<*const T> {
    // Lua aligns userdata for its own largest value.
    const { assert!(align_of::<T>() <= align_of::<f64>()) };
    let place = lua_touserdata(l, index);
    if place.is_null() || lua_objlen(l, index) != size_of::<T>() {
        return None;
    }
    (*place.cast::<Tag>() == tag).then_some(place.cast())
}

/// Raises that `self` is not what the method belongs to.
///
/// SAFETY: R1: nothing is alive here.
#[cold]
#[inline(never)]
pub(super) unsafe fn wrong_self(l: *mut lua_State, wanted: &str) -> ! {
    let got = type_name(l, 1);
    fail(
        l,
        &line!(
            "a {wanted} is needed before the colon, got {}; call it as object:method()",
            Named(got)
        ),
    )
}
