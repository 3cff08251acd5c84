//! What a match captured: ranges of the raw path, and the memory a search works in.
//!
//! One [`Captures`] serves any number of searches and allocates only when a path is longer than all before it.

use std::borrow::Cow;

use super::path::{SplitPath, decode_into};

/// The value of one parameter: a range of the raw path that was searched for, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capture {
    pub start: u32,
    pub end: u32,
    /// The range holds a percent sequence, so that [`decode`] has work to do.
    pub encoded: bool,
}

/// The captures of the last search, and its working memory.
#[derive(Debug, Default)]
pub struct Captures {
    pub(super) values: Vec<Capture>,
    pub(super) split: SplitPath,
    /// For `segment::Mixed`: what may still match at each byte of a segment.
    pub(super) rows: Vec<u64>,
}

impl Captures {
    pub fn new() -> Self {
        Self::default()
    }

    /// One for each parameter of the route that was found, in the order of its pattern. Empty when none was.
    pub fn values(&self) -> &[Capture] {
        &self.values
    }

    /// The decoded value of parameter `index`, counted from 0. `path` is the one that was searched for.
    pub fn value<'p>(&self, path: &'p [u8], index: usize) -> Option<Cow<'p, [u8]>> {
        let capture = self.values.get(index)?;
        let raw = path.get(capture.start as usize..capture.end as usize)?;
        Some(if capture.encoded {
            decode(raw)
        } else {
            Cow::Borrowed(raw)
        })
    }
}

/// Percent-decodes (RFC 3986 section 2.1); borrowed when there is nothing to decode. A malformed sequence stands for
/// itself. `+` is a plus sign: only queries and forms make it a space.
pub fn decode(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'%', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut text = Vec::with_capacity(raw.len());
    decode_into(raw, &mut text);
    Cow::Owned(text)
}
