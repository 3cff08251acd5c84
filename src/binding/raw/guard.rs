//! The wall between Rust and Lua: panics stop here, and errors for Lua are raised from here.
//!
//! It may assume nothing of the code it runs but that its result is `Copy`. It must never let a panic into a Lua frame,
//! and never raise while something with a destructor is alive.

use mlua::ffi::*;
use std::fmt::{self, Write};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Text in the frame: for messages on their way to Lua, so that nothing has to be freed when the error jumps. What does
/// not fit is cut.
#[derive(Clone, Copy)]
pub(super) struct Line {
    /// The first `length` are written; making an empty line costs nothing.
    bytes: [MaybeUninit<u8>; Line::CAPACITY],
    length: usize,
}

impl Line {
    /// Longest message in bytes: more than any sentence of ours with a path in it.
    const CAPACITY: usize = 1024;

    pub(super) fn new() -> Self {
        // SAFETY: an array of `MaybeUninit` needs no initialisation; asked for in this way, none is done.
        let bytes = unsafe { MaybeUninit::uninit().assume_init() };
        Self { bytes, length: 0 }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `push` has written this many bytes.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().cast(), self.length) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(super) fn push(&mut self, more: &[u8]) {
        let taken = more.len().min(Self::CAPACITY - self.length);
        for (place, &byte) in self.bytes[self.length..].iter_mut().zip(&more[..taken]) {
            place.write(byte);
        }
        self.length += taken;
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// A line from format arguments.
macro_rules! line {
    ($($arguments:tt)*) => {{
        let mut line = $crate::binding::raw::guard::Line::new();
        // Writing to a line cuts and never fails.
        let _ = ::std::fmt::Write::write_fmt(&mut line, format_args!($($arguments)*));
        line
    }};
}
pub(super) use line;

/// Hands on a value that is alive where Lua may raise: the compiler sees to it that it has no destructor (R1).
#[inline]
pub(super) fn plain<T>(value: T) -> T {
    const {
        assert!(
            !std::mem::needs_drop::<T>(),
            "a Lua error would jump over its destructor"
        )
    };
    value
}

/// Runs Rust that may panic. A panic becomes a Lua error.
///
/// SAFETY: R1: when it raises, `run` and everything it owned is gone, `R` has no destructor, and the payload is
/// forgotten (dropping one may panic again).
#[inline]
pub(super) unsafe fn guard<R: Copy>(l: *mut lua_State, run: impl FnOnce() -> R) -> R {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(payload) => {
            std::mem::forget(payload);
            raise_panic(l)
        }
    }
}

/// The same where nothing may be raised: a panic is `None`.
#[inline]
pub(super) fn contained<R: Copy>(run: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => Some(result),
        Err(payload) => {
            std::mem::forget(payload);
            None
        }
    }
}

/// SAFETY: R1: nothing is alive here.
#[cold]
#[inline(never)]
unsafe fn raise_panic(l: *mut lua_State) -> ! {
    fail(l, &line!("internal error in fastslua: please report it"))
}

/// Raises a message, with the position of the Lua function that called us in front.
///
/// SAFETY: R1: a `Line` is plain memory. R3: its bytes lie in a frame of ours.
#[cold]
#[inline(never)]
pub(super) unsafe fn fail(l: *mut lua_State, message: &Line) -> ! {
    lua_settop(l, 0);
    luaL_where(l, 1);
    push_line(l, message);
    lua_concat(l, 2);
    lua_error(l)
}

/// SAFETY: R3: the bytes lie in a frame of ours.
pub(super) unsafe fn push_line(l: *mut lua_State, line: &Line) {
    lua_pushlstring_(l, line.bytes().as_ptr().cast(), line.bytes().len());
}

/// Panics print to stderr by default. A library inside another program does not print; what it has to say it raises.
pub(super) fn silence_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}
