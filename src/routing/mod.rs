//! Routes: patterns compiled once, paths matched in one walk. Text in, match out.
//!
//! [`Router`] holds the routes of one application and finds the first, in registration order, that takes a method and a
//! path; [`Prefix`] tells whether middleware mounted somewhere sees a path. A pattern is made of
//!
//! | written | takes |
//! |---|---|
//! | `/units` | that text; `%XX` stands for any character, a reserved one included |
//! | `/:name` | a whole segment that is not empty |
//! | `/:from-:to`, `/file.:ext` | parts of a segment; the first `-` parts them, as in Express |
//! | `/:id(%d+)` | what a Lua pattern of classes, sets and `* + ? -` takes, all of it |
//! | `/:id<int>` | a typed value: `int uint number hex uuid alpha`, see [`Kind`] |
//! | `/files/*rest` | everything below, or nothing |
//!
//! Paths are the raw, percent-encoded bytes of the target up to `?`. They are compared segment by segment after
//! percent-decoding, so a decoded `%2F` is a character like any other within its segment. Nothing is normalised: an empty
//! segment (`//`), `.` and `..` are text. Captures are ranges of the raw path, decoded only when somebody asks.
//!
//! Nothing in here knows of connections, of JSON or of Lua. No path that a peer sends costs more than one visit to each
//! part of the index, and a segment is matched in time linear in its length.

mod captures;
mod constraint;
mod literals;
mod method;
mod parser;
mod path;
mod pattern;
#[cfg(test)]
mod pattern_tests;
mod prefix;
#[cfg(test)]
mod reference_tests;
mod router;
mod segment;
#[cfg(test)]
mod tests;
mod tree;
mod wholes;

pub use captures::{Capture, Captures, decode};
pub use method::Methods;
pub use pattern::{Kind, Options, Outer, Param, PatternError};
pub use prefix::{Cover, Prefix};
pub use router::{Found, Place, RouteId, Router};
