//! A pattern that has been read: its segments, its parameters and how it is compared.
//!
//! `parser` makes these from text; `tree` and `prefix` match them.

use std::fmt;

use super::captures::{Capture, Captures};
use super::parser;
use super::path::{SEGMENTS_MAX, raw_length};
use super::segment::Segment;

/// How a pattern is compared. The defaults are Express's: `/a`, `/A` and `/a/` are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Literal text tells `a` from `A`. Off: ASCII letters are the same in both cases; other characters, and what
    /// constraints take, are always compared as they are.
    pub case_sensitive: bool,
    /// A slash at the end must be there or not, as in the pattern. Off: it makes no difference.
    pub strict: bool,
}

/// A prefix that a route or another prefix stands below.
#[derive(Debug, Clone, Copy)]
pub struct Outer<'p> {
    pub source: &'p str,
    /// As in [`Options`], for this part alone: who mounts a router says how its prefix is compared.
    pub case_sensitive: bool,
}

impl Outer<'_> {
    fn read(&self) -> Result<Pattern, PatternError> {
        let options = Options {
            case_sensitive: self.case_sensitive,
            ..Options::default()
        };
        prefix(self.source, &options)
    }
}

/// What a parameter takes. No value a type takes is longer than 64 bytes, save those of `Text` and `Rest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Any text but the empty one, or what the constraint in parentheses takes.
    Text,
    /// `<int>`: decimal digits, `-` before them or not; a magnitude up to 2^53 in at most 16 digits.
    Int,
    /// `<uint>`: the same without a sign.
    Uint,
    /// `<number>`: as `-12.5`: 1 to 16 digits, and where a point follows 1 to 16 behind it. No exponent.
    Number,
    /// `<hex>`: 1 to 64 hexadecimal digits of either case.
    Hex,
    /// `<uuid>`: 8-4-4-4-12 hexadecimal digits of either case.
    Uuid,
    /// `<alpha>`: 1 to 64 ASCII letters.
    Alpha,
    /// `*name`: what lies below, slashes included; may be empty.
    Rest,
}

/// A parameter of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// A letter or `_`, then letters, digits and `_`.
    pub name: Box<str>,
    pub kind: Kind,
}

/// What is wrong with a pattern or a method: a sentence that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(String);

impl PatternError {
    pub(super) fn new(sentence: String) -> PatternError {
        PatternError(sentence)
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

/// A pattern that has been read.
#[derive(Debug)]
pub(super) struct Pattern {
    /// As it was written.
    pub source: Box<str>,
    /// At most `SEGMENTS_MAX`.
    pub segments: Box<[Segment]>,
    /// It ends with `*name`.
    pub rest: bool,
    /// It ends with a slash that is not the first.
    pub trailing_slash: bool,
    pub params: Box<[Param]>,
    pub options: Options,
}

impl Pattern {
    /// Reads a pattern that stands below `prefixes`, outermost first: `/units` below `/api` and `/v1` is
    /// `/api/v1/units`, and `/` below them is `/api/v1`. A name may come again in another part. Each part is compared by
    /// its own rule, `options` are those of `source`.
    pub fn below(prefixes: &[Outer<'_>], source: &str, options: &Options) -> Result<Pattern, PatternError> {
        let last = parser::parse(source, options)?;
        let Some((outermost, others)) = prefixes.split_first() else {
            return Ok(last);
        };
        let mut pattern = outermost.read()?;
        for other in others {
            pattern = pattern.join(other.read()?);
        }
        let pattern = pattern.join(last);
        if pattern.segments.len() > SEGMENTS_MAX {
            let what = format!("it has more than {SEGMENTS_MAX} segments");
            return Err(PatternError::new(format!(
                "route pattern \"{}\": {what}",
                pattern.source
            )));
        }
        Ok(pattern)
    }

    /// The pattern with another one behind it.
    fn join(self, behind: Pattern) -> Pattern {
        let before = self.source.strip_suffix('/').unwrap_or(&self.source);
        let source = match &*behind.source {
            "/" if !before.is_empty() => before.into(),
            other => [before, other].concat().into_boxed_str(),
        };
        Pattern {
            source,
            segments: [&*self.segments, &*behind.segments].concat().into_boxed_slice(),
            params: [&*self.params, &*behind.params].concat().into_boxed_slice(),
            ..behind
        }
    }

    /// The path that a pattern without parameters is written as; none for other patterns, and for those whose text holds
    /// what has to be encoded in a path.
    pub fn path(&self) -> Option<Vec<u8>> {
        let mut path = Vec::new();
        for segment in &self.segments {
            match segment {
                Segment::Literal { text, .. } if !text.iter().any(|byte| b"/%?".contains(byte)) => {
                    path.push(b'/');
                    path.extend_from_slice(text);
                }
                _ => return None,
            }
        }
        if path.is_empty() || self.trailing_slash {
            path.push(b'/');
        }
        (!self.rest).then_some(path)
    }

    /// Notes where the parameters stand in `path`, which has been cut in `captures` and matches.
    pub fn capture(&self, path: &[u8], captures: &mut Captures) {
        captures.values.clear();
        if self.params.is_empty() {
            return;
        }
        for (segment, part) in self.segments.iter().zip(&captures.split.segments) {
            match segment {
                Segment::Literal { .. } => {}
                Segment::Any | Segment::Typed(_) => {
                    captures.values.push(Capture {
                        start: part.start,
                        end: part.end,
                        encoded: part.encoded,
                    });
                }
                Segment::Mixed(mixed) => {
                    let raw = &path[part.start as usize..part.end as usize];
                    let text = captures.split.text(path, *part);
                    let values = &mut captures.values;
                    mixed.locate(text, &mut captures.rows, |start, end| {
                        let place = |offset| if part.encoded { raw_length(raw, offset) } else { offset } as u32;
                        values.push(Capture {
                            start: part.start + place(start),
                            end: part.start + place(end),
                            encoded: part.encoded,
                        });
                    });
                }
            }
        }
        if self.rest {
            let start = captures.split.rest_start(path, self.segments.len());
            let encoded = memchr::memchr(b'%', &path[start..]).is_some();
            captures.values.push(Capture {
                start: start as u32,
                end: path.len() as u32,
                encoded,
            });
        }
    }
}

/// Reads the pattern of a prefix.
pub(super) fn prefix(source: &str, options: &Options) -> Result<Pattern, PatternError> {
    let pattern = parser::parse(source, options)?;
    if pattern.rest {
        let what = "a prefix takes everything below it and cannot hold a * segment";
        return Err(PatternError::new(format!("prefix \"{source}\": {what}")));
    }
    Ok(pattern)
}
