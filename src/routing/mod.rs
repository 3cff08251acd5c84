//! Routes: patterns compiled once, paths matched in one walk. Text in, match out.
//!
//! - [`Router`] holds the routes of one application and finds the first, in registration order, that
//!   takes a method and a path; [`Prefix`] tells whether middleware mounted somewhere sees a path.
//! - `pattern` reads what developers type; `segment` matches one segment against a constraint;
//!   `path` splits and decodes what peers send; `tree` is the index that keeps 1000 routes as cheap as 10.
//!
//! Paths are the raw, percent-encoded bytes of the target up to `?`. They are compared segment by segment
//! after percent-decoding, so a decoded `%2F` is a character like any other within its segment. Nothing is
//! normalised: an empty segment (`//`), `.` and `..` are text. Captures are ranges into the raw path, decoded
//! only when somebody asks. Nothing in here knows of connections, of JSON or of Lua, and no path that a peer
//! sends costs more than one visit to each part of the index.

mod captures;
mod method;
mod pattern;
mod prefix;
mod router;

pub use captures::{Capture, Captures, decode};
pub use method::Methods;
pub use pattern::{Kind, Options, Param, PatternError};
pub use prefix::Prefix;
pub use router::{Found, Place, RouteId, Router};
