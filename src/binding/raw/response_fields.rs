//! Fields of a response whose values have a form of their own: `res:redirect`, `vary`, `links`, `attachment`.

use super::guard::{Line, fail, guard, line};
use super::response::{chain, change, change_field, end, must_be_unsent, of_self, set_status};
use super::stack::{Named, number_arg, push_printable, spread, string_at, text_arg, type_name, wrong_type};
use crate::binding::content;
use crate::binding::service::Service;
use crate::h1::{ResponseError, ResponseHead};
use crate::http::{disposition, uri, vary as vary_field};
use mlua::ffi::*;
use std::fmt::Write;
use std::os::raw::c_int;

/// Statuses that send a client elsewhere (RFC 9110 section 15.4): 304, and what is out of use, do not.
const REDIRECTIONS: [f64; 6] = [300.0, 301.0, 302.0, 303.0, 307.0, 308.0];

/// Where `redirect` puts its body.
const BODY_AT: c_int = 4;

/// `res:redirect(url[, code])`: 302 unless told otherwise, with a line for people. What has no place in a URL is sent as
/// percent sequences.
///
/// SAFETY: R1; the URL lies in a string at 2.
pub(super) unsafe extern "C-unwind" fn redirect(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let url = text_arg(l, 2, "url");
    lua_settop(l, 3);
    must_be_unsent(l, handle);
    if lua_type(l, 3) == LUA_TNIL {
        lua_pushnumber(l, 302.0);
        lua_replace(l, 3);
    }
    let code = number_arg(l, 3, "code");
    if !REDIRECTIONS.contains(&code) {
        let message = guard(l, || {
            line!("code must be a redirection (300, 301, 302, 303, 307 or 308), got {code}")
        });
        fail(l, &message);
    }
    change_field(l, handle, b"Location", |response| {
        let mut location = Vec::new();
        uri::write_reference(url, &mut location);
        response.set(b"Location", &location)
    });
    set_status(l, handle, 3, "code");
    change(l, handle, "type", |response| response.set_content_type(content::TEXT));
    super::stack::push_bytes(l, |emit| {
        let mut sentence = b"The answer is at ".to_vec();
        uri::write_reference(url, &mut sentence);
        sentence.push(b'\n');
        emit(&sentence);
    });
    end(l, handle, BODY_AT)
}

/// `res:vary(name, …)`: adds names to `Vary` that it does not have yet.
///
/// SAFETY: R2: the names are strings on the stack, read with functions that cannot raise.
pub(super) unsafe extern "C-unwind" fn vary(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let last = spread(l, 2, "res:vary");
    change_field(l, handle, b"Vary", |response| {
        let names = (2..=last).map(|index| string_at(l, index).unwrap_or_default());
        let mut value = Vec::new();
        if !vary_field::merge(response.get_all(b"vary"), names, &mut value) {
            return Err(ResponseError::NotAToken);
        }
        response.set(b"Vary", &value)
    });
    chain(l)
}

/// `res:links({ relation = url, … })`: adds a `Link` for each, in the order of the relations.
///
/// SAFETY: R2: the table is read, and its strings are used, in one guarded block: nothing of Lua's is allocated or runs
/// meanwhile, so they stay where they are.
pub(super) unsafe extern "C-unwind" fn links(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    lua_settop(l, 2);
    if lua_type(l, 2) != LUA_TTABLE {
        wrong_type(l, 2, "links", "table");
    }
    must_be_unsent(l, handle);
    let mut fault = Line::new();
    let fine = guard(l, || {
        let mut value = Vec::new();
        if !write_links(l, 2, &mut value, &mut fault) {
            return false;
        }
        let append = |service: &mut Service| {
            let response = service.server.response_mut(handle.id).filter(|_| !value.is_empty())?;
            response.append(b"Link", &value).err()
        };
        match handle.cell().with(append).flatten() {
            Some(error) => {
                fault = line!("response header 'Link': {error}");
                false
            }
            None => true,
        }
    });
    if !fine {
        fail(l, &fault);
    }
    chain(l)
}

/// Writes the links of the table at `index`, or what is wrong with them.
///
/// SAFETY: called guarded: R2.
unsafe fn write_links(l: *mut lua_State, index: c_int, out: &mut Vec<u8>, fault: &mut Line) -> bool {
    let mut links = Vec::new();
    lua_pushnil(l);
    while lua_next(l, index) != 0 {
        let (Some(relation), Some(url)) = (string_at(l, -2), string_at(l, -1)) else {
            let kinds = (type_name(l, -2), type_name(l, -1));
            // Writing to a line cuts and never fails.
            let _ = write!(
                fault,
                "links must be a table of URLs by relation, got {} as relation of {}",
                Named(kinds.0),
                Named(kinds.1)
            );
            return false;
        };
        links.push((relation, url));
        lua_settop(l, -2);
    }
    links.sort_unstable();
    for (relation, url) in links {
        if !uri::write_link(url, relation, out) {
            fault.push(b"'");
            push_printable(fault, relation);
            fault.push(b"' is no relation of a link");
            return false;
        }
    }
    true
}

/// `res:attachment([filename])`: the content is to be saved, under that name; its type is that of the name's extension
/// where none was set.
///
/// SAFETY: R1; the name lies in a string at 2.
pub(super) unsafe extern "C-unwind" fn attachment(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    lua_settop(l, 2);
    let filename = (lua_type(l, 2) != LUA_TNIL).then(|| text_arg(l, 2, "filename"));
    change_field(l, handle, b"Content-Disposition", |response| {
        let mut value = Vec::new();
        disposition::write_attachment(filename, &mut value);
        response.set(b"Content-Disposition", &value)?;
        set_type_of(response, filename.unwrap_or_default())
    });
    chain(l)
}

/// Sets the type that the extension of a name says, unless there is one or nobody knows the extension.
fn set_type_of(response: &mut ResponseHead, filename: &[u8]) -> Result<(), ResponseError> {
    let dot = filename.iter().rposition(|&byte| byte == b'.');
    let extension = dot.map_or(&b""[..], |dot| &filename[dot..]).to_ascii_lowercase();
    match content::of_short_name(&extension) {
        Some(media_type) if !response.has(b"content-type") => response.set_content_type(media_type),
        _ => Ok(()),
    }
}
