//! `res:cookie` and `res:clear_cookie`: options from a table, and every rule of [`crate::http::set_cookie`] on them.

use super::guard::{Line, fail, guard, line};
use super::handle::Handle;
use super::response::{chain, must_be_unsent, of_self};
use super::stack::{Named, push_printable, string_at, text_arg, type_name, wrong_type};
use crate::binding::service::Service;
use crate::http::set_cookie::{SameSite, SetCookie};
use mlua::ffi::*;
use std::fmt::Write;
use std::os::raw::c_int;

/// Whole seconds that a double holds exactly.
const SECONDS_MAX: f64 = 9_007_199_254_740_992.0;

/// `res:cookie(name, value[, options])`.
///
/// SAFETY: R1; name and value lie in strings on the stack.
pub(super) unsafe extern "C-unwind" fn cookie(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let name = text_arg(l, 2, "name");
    let value = text_arg(l, 3, "value");
    lua_settop(l, 4);
    let made = SetCookie {
        name,
        value,
        path: Some(b"/"),
        ..SetCookie::default()
    };
    add(l, handle, made, 4, "res:cookie", |_| {})
}

/// `res:clear_cookie(name[, options])`: tells the browser to forget it. Path and domain have to be those it was set with.
///
/// SAFETY: as `cookie`.
pub(super) unsafe extern "C-unwind" fn clear_cookie(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let name = text_arg(l, 2, "name");
    lua_settop(l, 3);
    let made = SetCookie {
        name,
        path: Some(b"/"),
        ..SetCookie::default()
    };
    add(l, handle, made, 3, "res:clear_cookie", |cookie| {
        (cookie.max_age, cookie.expires) = (Some(0), Some(0));
    })
}

/// Reads the options at `index` into the cookie, and adds it to the response.
///
/// SAFETY: R2: the table is read, and its strings are used, in one guarded block: nothing of Lua's is allocated or runs
/// meanwhile, so they stay where they are. `SetCookie` is plain data.
unsafe fn add(
    l: *mut lua_State,
    handle: &Handle,
    mut cookie: SetCookie<'_>,
    index: c_int,
    what: &'static str,
    finish: fn(&mut SetCookie<'_>),
) -> c_int {
    must_be_unsent(l, handle);
    if !matches!(lua_type(l, index), LUA_TNIL | LUA_TTABLE) {
        wrong_type(l, index, "options", "table");
    }
    let mut fault = Line::new();
    let fine = guard(l, || {
        if lua_type(l, index) == LUA_TTABLE && !read_options(l, index, &mut cookie, what, &mut fault) {
            return false;
        }
        finish(&mut cookie);
        let mut field = Vec::new();
        let added = match cookie.write(&mut field) {
            Err(error) => Err(line!("{error}")),
            Ok(()) => {
                let append = |service: &mut Service| {
                    let response = service.server.response_mut(handle.id)?;
                    response.append(b"Set-Cookie", &field).err()
                };
                // A client that has gone gets no cookie.
                match handle.cell().with(append).flatten() {
                    Some(error) => Err(line!("{error}")),
                    None => Ok(()),
                }
            }
        };
        if let Err(reason) = &added {
            fault.push(b"cookie '");
            push_printable(&mut fault, cookie.name);
            fault.push(b"': ");
            fault.push(reason.bytes());
        }
        added.is_ok()
    });
    if !fine {
        fail(l, &fault);
    }
    chain(l)
}

/// Reads a table of options; what is wrong with it is written.
///
/// SAFETY: called guarded: R2.
unsafe fn read_options<'a>(
    l: *mut lua_State,
    index: c_int,
    cookie: &mut SetCookie<'a>,
    what: &str,
    fault: &mut Line,
) -> bool {
    lua_pushnil(l);
    while lua_next(l, index) != 0 {
        let Some(name) = string_at(l, -2) else {
            let kind = type_name(l, -2);
            // Writing to a line cuts and never fails.
            let _ = write!(fault, "options of {what} have names, got {}", Named(kind));
            return false;
        };
        if let Err(reason) = take(l, name, cookie) {
            fault.push(if reason.is_some() {
                b"option '"
            } else {
                b"unknown option '"
            });
            push_printable(fault, name);
            let _ = write!(fault, "' of {what}");
            if let Some(wanted) = reason {
                let _ = match lua_type(l, -1) {
                    LUA_TNUMBER if wanted == SECONDS => {
                        write!(fault, " must be {wanted}, got {}", lua_tonumber(l, -1))
                    }
                    _ => write!(fault, " must be {wanted}, got {}", Named(type_name(l, -1))),
                };
            }
            return false;
        }
        lua_settop(l, -2);
    }
    true
}

/// What a time in an option has to be.
const SECONDS: &str = "a whole number of seconds";

/// Takes the option whose value is on top; what it has to be, or nothing when nobody knows it.
///
/// SAFETY: as `read_options`.
unsafe fn take<'a>(l: *mut lua_State, name: &[u8], cookie: &mut SetCookie<'a>) -> Result<(), Option<&'static str>> {
    let text = || string_at::<'a>(l, -1).ok_or(Some("a string"));
    let flag = || match lua_type(l, -1) {
        LUA_TBOOLEAN => Ok(lua_toboolean(l, -1) != 0),
        _ => Err(Some("true or false")),
    };
    let seconds = |least: f64| {
        let number = if lua_type(l, -1) == LUA_TNUMBER {
            lua_tonumber(l, -1)
        } else {
            f64::NAN
        };
        let whole = number.fract() == 0.0 && (least..=SECONDS_MAX).contains(&number);
        whole.then_some(number as i64).ok_or(Some(SECONDS))
    };
    match name {
        b"path" => cookie.path = Some(text()?),
        b"domain" => cookie.domain = Some(text()?),
        b"max_age" => cookie.max_age = Some(seconds(-SECONDS_MAX)?),
        b"expires" => cookie.expires = Some(seconds(0.0)?.unsigned_abs()),
        b"secure" => cookie.secure = flag()?,
        b"http_only" => cookie.http_only = flag()?,
        b"partitioned" => cookie.partitioned = flag()?,
        b"same_site" => {
            cookie.same_site = Some(match &*text()?.to_ascii_lowercase() {
                b"strict" => SameSite::Strict,
                b"lax" => SameSite::Lax,
                b"none" => SameSite::None,
                _ => return Err(Some("'strict', 'lax' or 'none'")),
            });
        }
        _ => return Err(None),
    }
    Ok(())
}
