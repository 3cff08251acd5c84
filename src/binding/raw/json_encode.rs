//! Lua values to JSON, straight from the Lua stack.
//!
//! The whole walk runs inside one guard: it only calls API functions that neither raise nor allocate nor run Lua code
//! (R2), so no metamethod is asked, and the working memory may be borrowed throughout.

use super::guard::Line;
use super::json_order::Order;
use super::stack::{push_printable, string_at, type_name};
use super::state::{Level, Scratch, State};
use crate::json::{self, EncodeError, InvalidUtf8};
use mlua::ffi::*;
use std::fmt::Write;
use std::os::raw::{c_int, c_void};

/// Tables inside one another.
pub(super) const DEPTH_MAX: usize = 128;

/// Stack slots a walk needs: a key and a value for each level, and a few to look at.
pub(super) const SLOTS: c_int = 2 * DEPTH_MAX as c_int + 10;

/// How values are written.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) invalid_utf8: InvalidUtf8,
    /// An empty table without a mark is `[]`.
    pub(super) empty_array: bool,
    /// Members are in the order of their names.
    pub(super) sorted: bool,
    /// Tables inside one another, up to [`DEPTH_MAX`].
    pub(super) depth_max: usize,
    /// Bytes of the text. A table that holds another one twice writes it twice, so what a value takes up in Lua is no
    /// measure.
    pub(super) bytes_max: usize,
}

/// The longest text unless told otherwise.
pub(super) const BYTES_MAX: usize = 64 << 20;

impl Style {
    pub(super) const DEFAULT: Self = Self {
        invalid_utf8: InvalidUtf8::Refuse,
        empty_array: false,
        sorted: false,
        depth_max: DEPTH_MAX,
        bytes_max: BYTES_MAX,
    };
}

/// Why a value is no JSON; where is told by the levels.
enum Fault {
    Type(&'static str),
    Text(EncodeError),
    Key(&'static str),
    Mixed,
    Sparse(usize),
    Marked(&'static str),
    Cycle,
    TooDeep,
    TooLong,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    Array,
    Object,
}

struct Encoder<'s> {
    l: *mut lua_State,
    out: &'s mut Vec<u8>,
    levels: &'s mut Vec<Level>,
    order: &'s mut Order,
    array: *const c_void,
    object: *const c_void,
    style: Style,
}

/// Writes the value at `index` (absolute) to `scratch.bytes`, or writes why not and where. The stack is left as it was.
///
/// SAFETY: R2: call it guarded, after `lua_checkstack` of [`SLOTS`]. Nothing here raises or allocates in Lua.
pub(super) unsafe fn encode(
    l: *mut lua_State,
    state: &State,
    scratch: &mut Scratch,
    index: c_int,
    style: Style,
    fault: &mut Line,
) -> bool {
    let top = lua_gettop(l);
    scratch.reset();
    let Scratch {
        bytes,
        levels,
        order,
        walks,
    } = scratch;
    *walks += 1;
    let mut encoder = Encoder {
        l,
        out: bytes,
        levels,
        order,
        array: state.array.get(),
        object: state.object.get(),
        style,
    };
    lua_pushvalue(l, index);
    let result = encoder.value();
    if let Err(why) = &result {
        encoder.explain(why, fault);
    }
    lua_settop(l, top);
    result.is_ok()
}

impl Encoder<'_> {
    /// Writes the value on top, which stays there.
    ///
    /// SAFETY: R2: as `encode`.
    unsafe fn value(&mut self) -> Result<(), Fault> {
        match lua_type(self.l, -1) {
            LUA_TNIL => self.out.extend_from_slice(b"null"),
            LUA_TBOOLEAN if lua_toboolean(self.l, -1) != 0 => self.out.extend_from_slice(b"true"),
            LUA_TBOOLEAN => self.out.extend_from_slice(b"false"),
            LUA_TNUMBER => json::write_number(self.out, lua_tonumber(self.l, -1)).map_err(Fault::Text)?,
            LUA_TSTRING => self.text(-1)?,
            LUA_TTABLE => self.table()?,
            LUA_TLIGHTUSERDATA if lua_touserdata(self.l, -1).is_null() => self.out.extend_from_slice(b"null"),
            _ => return Err(Fault::Type(type_name(self.l, -1))),
        }
        if self.out.len() > self.style.bytes_max {
            return Err(Fault::TooLong);
        }
        Ok(())
    }

    /// Writes the value at `index`, which is a string.
    ///
    /// SAFETY: R2: `lua_tolstring` of a string neither converts nor allocates, and the string lies on the stack.
    unsafe fn text(&mut self, index: c_int) -> Result<(), Fault> {
        let mut length = 0;
        let start = lua_tolstring(self.l, index, &mut length);
        let text = std::slice::from_raw_parts(start.cast(), length);
        json::write_string(self.out, text, self.style.invalid_utf8).map_err(Fault::Text)
    }

    /// SAFETY: R2: as `encode`.
    unsafe fn mark(&self) -> Mark {
        if lua_getmetatable(self.l, -1) == 0 {
            return Mark::None;
        }
        let metatable = lua_topointer(self.l, -1);
        lua_settop(self.l, -2);
        match metatable {
            of if of == self.array => Mark::Array,
            of if of == self.object => Mark::Object,
            _ => Mark::None,
        }
    }

    /// Writes the table on top, which stays there.
    ///
    /// SAFETY: R2: as `encode`.
    unsafe fn table(&mut self) -> Result<(), Fault> {
        let identity = lua_topointer(self.l, -1);
        if self.levels.iter().any(|level| level.table == identity) {
            return Err(Fault::Cycle);
        }
        if self.levels.len() >= self.style.depth_max {
            return Err(Fault::TooDeep);
        }
        let table = lua_gettop(self.l);
        let mark = self.mark();
        self.levels.push(Level {
            table: identity,
            key_at: 0,
            index: 0,
        });
        lua_pushnil(self.l);
        if lua_next(self.l, table) == 0 {
            let array = mark == Mark::Array || (mark == Mark::None && self.style.empty_array);
            self.out.extend_from_slice(if array { b"[]" } else { b"{}" });
        } else if mark == Mark::Object || (mark == Mark::None && lua_type(self.l, -2) == LUA_TSTRING) {
            self.object(table)?;
        } else {
            self.array(table, mark)?;
        }
        self.levels.pop();
        Ok(())
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("a table is entered before its members")
    }

    /// Members, the first of which is on the stack.
    ///
    /// SAFETY: R2: as `encode`.
    unsafe fn object(&mut self, table: c_int) -> Result<(), Fault> {
        let mut separator = b'{';
        let mark = self.order.begin();
        loop {
            let kind = lua_type(self.l, -2);
            if kind != LUA_TSTRING {
                let mixed = kind == LUA_TNUMBER && separator == b',';
                return Err(if mixed {
                    Fault::Mixed
                } else {
                    Fault::Key(type_name(self.l, -2))
                });
            }
            self.out.push(separator);
            separator = b',';
            self.level().key_at = table + 1;
            let start = self.out.len();
            self.text(-2)?;
            self.out.push(b':');
            self.value()?;
            lua_settop(self.l, -2);
            if self.style.sorted {
                let name = string_at(self.l, -1).unwrap_or_default();
                self.order.add(name, start, self.out.len());
            }
            if lua_next(self.l, table) == 0 {
                break;
            }
        }
        if self.style.sorted {
            self.order.end(mark, self.out);
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Elements, the first of which is on the stack. Tables are walked in the order 1, 2, 3 as long as that is the order
    /// they are stored in, which it nearly always is; else they are counted and asked by index.
    ///
    /// SAFETY: R2: as `encode`.
    unsafe fn array(&mut self, table: c_int, mark: Mark) -> Result<(), Fault> {
        let start = self.out.len();
        let mut index = 0;
        loop {
            index += 1;
            if lua_type(self.l, -2) != LUA_TNUMBER || lua_tonumber(self.l, -2) != index as f64 {
                self.out.truncate(start);
                lua_settop(self.l, table);
                return self.stored_elsewhere(table, mark);
            }
            self.out.push(if index == 1 { b'[' } else { b',' });
            self.level().index = index;
            self.value()?;
            lua_settop(self.l, -2);
            if lua_next(self.l, table) == 0 {
                break;
            }
        }
        self.out.push(b']');
        Ok(())
    }

    /// SAFETY: R2: as `encode`.
    unsafe fn stored_elsewhere(&mut self, table: c_int, mark: Mark) -> Result<(), Fault> {
        self.level().index = 0;
        let count = self.count_elements(table, mark)?;
        for index in 1..=count {
            self.out.push(if index == 1 { b'[' } else { b',' });
            self.level().index = index;
            lua_rawgeti(self.l, table, index as lua_Integer);
            if lua_type(self.l, -1) == LUA_TNIL {
                self.level().index = 0;
                return Err(Fault::Sparse(index));
            }
            self.value()?;
            lua_settop(self.l, -2);
        }
        self.out.push(b']');
        Ok(())
    }

    /// How many members there are, all with keys from 1 up.
    ///
    /// SAFETY: R2: as `encode`.
    unsafe fn count_elements(&mut self, table: c_int, mark: Mark) -> Result<usize, Fault> {
        let mut count = 0;
        lua_pushnil(self.l);
        while lua_next(self.l, table) != 0 {
            lua_settop(self.l, -2);
            count += 1;
            let kind = lua_type(self.l, -1);
            if kind == LUA_TSTRING {
                return Err(if mark == Mark::Array {
                    Fault::Marked("string")
                } else {
                    Fault::Mixed
                });
            }
            let number = lua_tonumber(self.l, -1);
            if kind != LUA_TNUMBER || number < 1.0 || number.fract() != 0.0 {
                return Err(Fault::Key(type_name(self.l, -1)));
            }
        }
        Ok(count)
    }

    /// Writes "$.units[3].callback: a function cannot be JSON". The stack is as it was at the fault. The middle of a long
    /// way is left out.
    ///
    /// SAFETY: R2: as `encode`.
    unsafe fn explain(&self, fault: &Fault, line: &mut Line) {
        /// Levels shown at either end of a way that is longer.
        const ENDS: usize = 10;
        line.push(b"$");
        let count = self.levels.len();
        for (at, level) in self.levels.iter().enumerate() {
            if at >= ENDS && at + ENDS < count {
                if at == ENDS {
                    line.push("…".as_bytes());
                }
                continue;
            }
            if level.key_at != 0 {
                line.push(b".");
                push_printable(line, string_at(self.l, level.key_at).unwrap_or_default());
            } else if level.index != 0 {
                let _ = write!(line, "[{}]", level.index);
            }
        }
        let _ = match fault {
            Fault::Type(name) => write!(line, ": a {name} cannot be JSON"),
            Fault::Text(error) => write!(line, ": {error}"),
            Fault::Key(name) => write!(
                line,
                ": a {name} that is not a name or a place from 1 cannot be a key in JSON"
            ),
            Fault::Mixed => write!(line, ": a table with both names and numbers as keys cannot be JSON"),
            Fault::Sparse(index) => write!(line, ": element {index} is missing (json.null can take its place)"),
            Fault::Marked(name) => write!(line, ": an array cannot have a {name} as key"),
            Fault::Cycle => write!(line, ": a table that holds itself cannot be JSON"),
            Fault::TooDeep => write!(line, ": more than {} tables inside one another", self.style.depth_max),
            Fault::TooLong => write!(line, ": the text is longer than {} bytes", self.style.bytes_max),
        };
    }
}
