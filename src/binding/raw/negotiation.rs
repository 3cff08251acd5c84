//! What a request asks for and has: `req:is`, `req:accepts` and its kin.
//!
//! Arguments are strings, or one list of them. What is returned is the argument that fits, as it was given.

use super::guard::guard;
use super::request::{must_live, of_self, with};
use super::stack::{spread, string_at};
use crate::binding::content;
use crate::binding::origin::joined;
use crate::http::accept::{self, Dimension};
use crate::http::media_type::MediaType;
use mlua::ffi::*;
use std::os::raw::c_int;

/// Where the offers begin: behind the request.
const FIRST: c_int = 2;

/// Pushes the offer at a place that was found among them, or nil.
///
/// SAFETY: R1.
unsafe fn push_offer(l: *mut lua_State, place: Option<usize>) -> c_int {
    match place {
        Some(place) => lua_pushvalue(l, FIRST + place as c_int),
        None => lua_pushnil(l),
    }
    1
}

/// SAFETY: R2: offers are strings on the stack, read with functions that cannot raise.
unsafe fn negotiate(l: *mut lua_State, what: &str, dimension: Dimension, field: &'static [u8]) -> c_int {
    let handle = of_self(l);
    let last = spread(l, FIRST, what);
    must_live(l, handle, what);
    let place = guard(l, || {
        let offers = (FIRST..=last).map(|index| {
            let offer = string_at(l, index).unwrap_or_default();
            match dimension {
                Dimension::Media => content::of_short_name(offer).unwrap_or(offer),
                _ => offer,
            }
        });
        with(handle, |request| {
            accept::best(dimension, joined(request, field).as_deref(), offers)
        })
        .flatten()
    });
    push_offer(l, place)
}

/// `req:accepts(type, …)`: the media type, or short name of one, that the client likes best; nil when it takes none.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn accepts(l: *mut lua_State) -> c_int {
    negotiate(l, "req:accepts", Dimension::Media, b"accept")
}

/// `req:accepts_languages(tag, …)`.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn accepts_languages(l: *mut lua_State) -> c_int {
    negotiate(l, "req:accepts_languages", Dimension::Language, b"accept-language")
}

/// `req:accepts_charsets(name, …)`.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn accepts_charsets(l: *mut lua_State) -> c_int {
    negotiate(l, "req:accepts_charsets", Dimension::Charset, b"accept-charset")
}

/// `req:accepts_encodings(coding, …)`.
///
/// SAFETY: R1.
pub(super) unsafe extern "C-unwind" fn accepts_encodings(l: *mut lua_State) -> c_int {
    negotiate(l, "req:accepts_encodings", Dimension::Encoding, b"accept-encoding")
}

/// `req:is(type, …)`: the first of the types that the body is of, or nil. A type is a media type, a pattern of one
/// (`"text/*"`, `"+json"`), or a short name.
///
/// SAFETY: R2: as `negotiate`.
pub(super) unsafe extern "C-unwind" fn is(l: *mut lua_State) -> c_int {
    let handle = of_self(l);
    let last = spread(l, FIRST, "req:is");
    must_live(l, handle, "req:is");
    let place = guard(l, || {
        with(handle, |request| {
            let media = MediaType::parse(request.header("content-type")?)?;
            (FIRST..=last).position(|index| {
                let pattern = string_at(l, index).unwrap_or_default();
                let pattern: &[u8] = match pattern {
                    b"multipart" => b"multipart/*",
                    b"urlencoded" => b"application/x-www-form-urlencoded",
                    name => content::of_short_name(name).unwrap_or(name),
                };
                media.matches(pattern)
            })
        })
        .flatten()
    });
    push_offer(l, place)
}
