//! The routes of an application, as a userdata that the Lua layer fills and the dispatch reads.
//!
//! A route or prefix that stands below others is written as the parts of its pattern, outermost first, with line breaks
//! between them: no pattern holds one. A `=` before a part says that its case counts: every pattern begins with a slash.

use super::guard::{Line, fail, guard, line, push_line};
use super::json;
use super::json_encode::Style;
use super::stack::{number_arg, push_bytes, push_printable, text_arg};
use super::state::{Tag, userdata_at, wrong_self};
use crate::routing::{Captures, Cover, Found, Methods, Options, Outer, Prefix, RouteId, Router};
use mlua::ffi::*;
use std::cell::{Cell, RefCell};
use std::os::raw::c_int;

/// Stands for all methods.
const ALL: &[u8] = b"*";

/// Where a function stands.
#[derive(Clone, Copy)]
pub(super) struct Home {
    /// Segments of the path before its router: those of the prefixes that is mounted under.
    pub(super) base: u16,
    /// Which error handlers are its own.
    pub(super) scope: u32,
}

impl Home {
    /// That of the application itself.
    pub(super) const APPLICATION: Self = Self { base: 0, scope: 1 };
}

/// The userdata.
#[repr(C)]
pub(super) struct RouterCell {
    tag: Tag,
    pub(super) router: RefCell<Router>,
    /// What middleware stands under, by the number that `prefix` gave.
    pub(super) prefixes: RefCell<Vec<Prefix>>,
    /// Where prefixes capture their parameters.
    pub(super) scratch: RefCell<Captures>,
    /// By slot.
    routes: RefCell<Vec<Option<Known>>>,
    /// The application has changed since its routes were compiled.
    pub(super) stale: Cell<bool>,
    /// Answers to failures tell the client everything.
    pub(super) debug: Cell<bool>,
    /// How answers are written as JSON.
    pub(super) style: Cell<Style>,
}

/// What is known of a route beside its pattern.
#[derive(Clone, Copy)]
struct Known {
    route: RouteId,
    home: Home,
    /// How many arguments its function can see, of `req` and `res`.
    arguments: u8,
}

/// A function of a route sees at most these: `req` and `res`.
pub(super) const ARGUMENTS_MAX: u8 = 2;

impl RouterCell {
    fn new() -> Self {
        Self {
            tag: Tag::router(),
            router: RefCell::new(Router::new()),
            prefixes: RefCell::default(),
            scratch: RefCell::default(),
            routes: RefCell::default(),
            stale: Cell::new(false),
            debug: Cell::new(false),
            style: Cell::new(Style::DEFAULT),
        }
    }

    pub(super) fn write_pattern(&self, route: RouteId, line: &mut Line) {
        match self.router.borrow().pattern(route) {
            Some(pattern) => push_printable(line, pattern.as_bytes()),
            None => line.push(b"(a removed route)"),
        }
    }

    /// Where the handlers of a route stand.
    pub(super) fn home(&self, route: RouteId) -> Home {
        self.known(route).map_or(Home::APPLICATION, |known| known.home)
    }

    /// How many arguments the function of a route can see.
    #[inline]
    pub(super) fn arguments(&self, route: RouteId) -> u8 {
        self.known(route).map_or(ARGUMENTS_MAX, |known| known.arguments)
    }

    #[inline]
    fn known(&self, route: RouteId) -> Option<Known> {
        let known = (*self.routes.borrow().get(route.slot())?)?;
        (known.route == route).then_some(known)
    }

    /// Takes everything out. Ids and places are never given again, so that a request under way finds nothing wrong.
    fn clear(&self) {
        let mut router = self.router.borrow_mut();
        for known in self.routes.borrow_mut().drain(..).flatten() {
            router.remove(known.route);
        }
        self.prefixes.borrow_mut().clear();
    }

    /// Registers a route behind all others; its slot, or what is wrong.
    fn insert(&self, method: &[u8], parts: &[u8], strict: bool, scope: u32) -> Result<usize, String> {
        let parts = split(parts)?;
        let (pattern, prefixes) = parts.split_last().ok_or("a pattern is missing")?;
        let options = Options {
            case_sensitive: pattern.case_sensitive,
            strict,
        };
        let mut router = self.router.borrow_mut();
        let methods = methods(&mut router, method)?;
        let route = router
            .insert_below(methods, prefixes, pattern.source, &options)
            .map_err(|error| error.to_string())?;
        let mut base = 0;
        if let Some((last, outer)) = prefixes.split_last() {
            let prefix = compile_prefix(outer, last)?;
            base = prefix.segment_count() as u16;
        }
        let mut routes = self.routes.borrow_mut();
        if routes.len() <= route.slot() {
            routes.resize(route.slot() + 1, None);
        }
        routes[route.slot()] = Some(Known {
            route,
            home: Home { base, scope },
            arguments: ARGUMENTS_MAX,
        });
        Ok(route.slot())
    }

    fn insert_prefix(&self, parts: &[u8]) -> Result<usize, String> {
        let parts = split(parts)?;
        let (pattern, outer) = parts.split_last().ok_or("a prefix is missing")?;
        let prefix = compile_prefix(outer, pattern)?;
        let mut prefixes = self.prefixes.borrow_mut();
        prefixes.push(prefix);
        Ok(prefixes.len() - 1)
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| String::from("a path is UTF-8 text"))
}

fn split(parts: &[u8]) -> Result<Vec<Outer<'_>>, String> {
    let outer = |text| {
        let source = str::strip_prefix(text, '=');
        Outer {
            source: source.unwrap_or(text),
            case_sensitive: source.is_some(),
        }
    };
    Ok(utf8(parts)?.split('\n').map(outer).collect())
}

fn compile_prefix(outer: &[Outer<'_>], last: &Outer<'_>) -> Result<Prefix, String> {
    let options = Options {
        case_sensitive: last.case_sensitive,
        strict: false,
    };
    Prefix::compile_below(outer, last.source, &options).map_err(|error| error.to_string())
}

fn methods(router: &mut Router, method: &[u8]) -> Result<Methods, String> {
    if method == ALL {
        return Ok(Methods::ALL);
    }
    router.learn_method(utf8(method)?).map_err(|error| error.to_string())
}

/// The options of patterns at `index` (case_sensitive) and behind it (strict).
///
/// SAFETY: `lua_toboolean` cannot raise.
unsafe fn options(l: *mut lua_State, index: c_int) -> Options {
    Options {
        case_sensitive: lua_toboolean(l, index) != 0,
        strict: lua_toboolean(l, index + 1) != 0,
    }
}

/// `router()`: an empty one. Upvalue 2 is the metatable.
///
/// SAFETY: R1: the cell is in Lua's memory and its metatable set before anything can raise.
pub(super) unsafe extern "C-unwind" fn create(l: *mut lua_State) -> c_int {
    let place = lua_newuserdata(l, size_of::<RouterCell>()).cast::<RouterCell>();
    place.write(RouterCell::new());
    lua_pushvalue(l, lua_upvalueindex(2));
    lua_setmetatable(l, -2);
    1
}

/// SAFETY: R4: the userdata lies at index 1 of the frame.
unsafe fn of_self<'a>(l: *mut lua_State) -> &'a RouterCell {
    match userdata_at::<RouterCell>(l, 1, Tag::router()) {
        Some(cell) => &*cell,
        None => wrong_self(l, "router"),
    }
}

/// `__gc`: leaves an empty router.
///
/// SAFETY: R2.
pub(super) unsafe extern "C-unwind" fn collect(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    super::guard::contained(|| {
        // Each of these is empty without memory of its own, which nobody would free.
        cell.router.replace(Router::new());
        cell.prefixes.replace(Vec::new());
        cell.scratch.replace(Captures::new());
        cell.routes.replace(Vec::new());
    });
    0
}

/// The methods of the userdata.
pub(super) const METHODS: [(&str, lua_CFunction); 8] = [
    ("add", add),
    ("prefix", prefix),
    ("cover", cover),
    ("sees", sees),
    ("clear", clear),
    ("touch", touch),
    ("compiled", compiled),
    ("configure", configure),
];

/// Pushes a number, or `nil` and what is wrong.
///
/// SAFETY: R1: the outcome is plain data.
unsafe fn push_outcome(l: *mut lua_State, number: Option<usize>, fault: &Line) -> c_int {
    match number {
        Some(number) => {
            lua_pushnumber(l, number as f64);
            1
        }
        None => {
            lua_pushnil(l);
            push_line(l, fault);
            2
        }
    }
}

/// Runs what may fail with a sentence, guarded.
///
/// SAFETY: R2: the sentence is copied to the frame.
unsafe fn attempt<R: Copy>(l: *mut lua_State, fault: &mut Line, run: impl FnOnce() -> Result<R, String>) -> Option<R> {
    guard(l, || match run() {
        Ok(result) => Some(result),
        Err(sentence) => {
            fault.push(sentence.as_bytes());
            None
        }
    })
}

/// `router:add(method, parts, strict, scope)`: `method` is one name, or "*" for all; `scope` tells the
/// error handlers. The slot of the route, or `nil` and what is wrong.
///
/// SAFETY: R2: the texts lie in strings on the stack.
unsafe extern "C-unwind" fn add(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let method = text_arg(l, 2, "method");
    let parts = text_arg(l, 3, "path");
    let strict = lua_toboolean(l, 4) != 0;
    let scope = number_arg(l, 5, "scope") as u32;
    let mut fault = Line::new();
    let slot = attempt(l, &mut fault, || cell.insert(method, parts, strict, scope));
    push_outcome(l, slot, &fault)
}

/// `router:prefix(parts)`: the number of the prefix and how many segments it has, or `nil` and what is
/// wrong.
///
/// SAFETY: R2.
unsafe extern "C-unwind" fn prefix(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let parts = text_arg(l, 2, "prefix");
    let mut fault = Line::new();
    let number = attempt(l, &mut fault, || cell.insert_prefix(parts));
    let pushed = push_outcome(l, number, &fault);
    if let Some(number) = number {
        let count = guard(l, || {
            cell.prefixes.borrow().get(number).map_or(0, Prefix::segment_count)
        });
        lua_pushnumber(l, count as f64);
    }
    pushed + c_int::from(number.is_some())
}

/// `router:cover(prefix, slot)`: true when every path of the route lies under the prefix, false when none does, nil when
/// each has to be looked at.
///
/// SAFETY: R2.
unsafe extern "C-unwind" fn cover(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let prefix = number_arg(l, 2, "prefix") as usize;
    let slot = number_arg(l, 3, "slot") as usize;
    let cover = guard(l, || {
        let prefixes = cell.prefixes.borrow();
        let known = (*cell.routes.borrow().get(slot)?)?;
        Some(cell.router.borrow().cover(prefixes.get(prefix)?, known.route))
    });
    match cover {
        Some(Cover::Always) => lua_pushboolean(l, 1),
        Some(Cover::Sometimes) => lua_pushnil(l),
        Some(Cover::Never) | None => lua_pushboolean(l, 0),
    }
    1
}

/// `router:sees(slot, count)`: the function of the route can see that many of its arguments; what it cannot see is not
/// made.
///
/// SAFETY: R2.
unsafe extern "C-unwind" fn sees(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    let slot = number_arg(l, 2, "slot") as usize;
    let count = number_arg(l, 3, "count").min(ARGUMENTS_MAX.into()) as u8;
    guard(l, || {
        if let Some(Some(known)) = cell.routes.borrow_mut().get_mut(slot) {
            known.arguments = count;
        }
    });
    0
}

/// `router:clear()`.
///
/// SAFETY: R2.
unsafe extern "C-unwind" fn clear(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    guard(l, || cell.clear());
    0
}

/// `router:touch()`: what was compiled no longer holds.
///
/// SAFETY: R1.
unsafe extern "C-unwind" fn touch(l: *mut lua_State) -> c_int {
    of_self(l).stale.set(true);
    0
}

/// `router:compiled()`: it holds again.
///
/// SAFETY: R2.
unsafe extern "C-unwind" fn compiled(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    guard(l, || cell.router.borrow_mut().seal());
    cell.stale.set(false);
    0
}

/// `router:configure(debug, json)`.
///
/// SAFETY: R1.
unsafe extern "C-unwind" fn configure(l: *mut lua_State) -> c_int {
    let cell = of_self(l);
    cell.style.set(json::style(l, 3));
    cell.debug.set(lua_toboolean(l, 2) != 0);
    0
}

/// `check(method, path, case_sensitive, strict)`: the names of the path's parameters with line breaks behind them, or
/// `nil` and what is wrong with the method or the path. Without a method the path is a prefix.
///
/// SAFETY: R2, R3: the names are copied out by `push_bytes`.
pub(super) unsafe extern "C-unwind" fn check(l: *mut lua_State) -> c_int {
    let method = (lua_type(l, 1) != LUA_TNIL).then(|| text_arg(l, 1, "method"));
    let path = text_arg(l, 2, "path");
    let options = options(l, 3);
    let mut fault = Line::new();
    let names = || -> Result<String, String> {
        let mut router = Router::new();
        let path = utf8(path)?;
        let text = |error: crate::routing::PatternError| error.to_string();
        let params = match method {
            Some(method) => {
                let methods = methods(&mut router, method)?;
                let route = router.insert(methods, path, &options).map_err(text)?;
                router.params(route).to_vec()
            }
            None => Prefix::compile(path, &options).map_err(text)?.params().to_vec(),
        };
        Ok(params.iter().map(|param| format!("{}\n", param.name)).collect())
    };
    if attempt(l, &mut fault, || names().map(|_| ())).is_none() {
        return push_outcome(l, None, &fault);
    }
    push_bytes(l, |emit| {
        if let Ok(names) = names() {
            emit(names.as_bytes());
        }
    });
    1
}

/// `fits(parts, path)`: whether a route with this pattern takes the path.
///
/// SAFETY: R2.
pub(super) unsafe extern "C-unwind" fn fits(l: *mut lua_State) -> c_int {
    let parts = text_arg(l, 1, "pattern");
    let path = text_arg(l, 2, "path");
    let fits = guard(l, || {
        let cell = RouterCell::new();
        let inserted = cell.insert(ALL, parts, false, 0).is_ok();
        let mut captures = Captures::new();
        let found = cell.router.borrow().find(Methods::GET, path, &mut captures);
        inserted && matches!(found, Found::Route(_))
    });
    lua_pushboolean(l, c_int::from(fits));
    1
}

/// The router at `index`, for `listen`.
///
/// SAFETY: R4: the caller keeps it reachable.
pub(super) unsafe fn at(l: *mut lua_State, index: c_int) -> *const RouterCell {
    match userdata_at::<RouterCell>(l, index, Tag::router()) {
        Some(cell) => cell,
        None => not_an_application(l),
    }
}

/// SAFETY: R1: nothing is alive here.
#[cold]
pub(super) unsafe fn not_an_application(l: *mut lua_State) -> ! {
    fail(
        l,
        &line!("an application made by fastslua.app() is needed before the colon"),
    )
}
