//! A path cut into segments and percent-decoded, once for each search.
//!
//! Untrusted bytes come in here. Only the first [`SEGMENTS_MAX`] segments are looked at: no pattern has more, so a path
//! with more of them can only end in a `*rest`.

/// Segments a pattern may have, and segments of a path that are cut apart.
pub(super) const SEGMENTS_MAX: usize = 64;

/// One segment: a range of the raw path, and where its decoded text lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathSegment {
    pub start: u32,
    pub end: u32,
    /// The range of `SplitPath::decoded` where the segment holds a percent sequence; else empty.
    decoded_start: u32,
    decoded_end: u32,
    pub encoded: bool,
}

/// Why a path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unsplit {
    /// It does not begin with a slash: the `*` of OPTIONS, or an authority.
    NoPath,
    /// A `%` without two hexadecimal digits behind it (RFC 3986 section 2.1).
    BadPercent,
}

/// The segments of one path. Reused from search to search.
#[derive(Debug, Default)]
pub(super) struct SplitPath {
    pub segments: Vec<PathSegment>,
    decoded: Vec<u8>,
    /// The path has more segments than were cut apart.
    pub overlong: bool,
    /// The path ends with a slash that is not the first.
    pub trailing_slash: bool,
}

impl SplitPath {
    /// Cuts `path`. The empty path is `/` (RFC 9110 section 4.2.3).
    pub fn split(&mut self, path: &[u8]) -> Result<(), Unsplit> {
        self.segments.clear();
        self.decoded.clear();
        self.overlong = false;
        self.trailing_slash = path.len() > 1 && path.ends_with(b"/");
        if path.is_empty() {
            return Ok(());
        }
        if path[0] != b'/' {
            return Err(Unsplit::NoPath);
        }
        let end = path.len() - usize::from(self.trailing_slash);
        let (mut start, mut encoded) = (1, false);
        for (at, &byte) in path[..end].iter().enumerate().skip(1) {
            encoded |= byte == b'%';
            if byte == b'/' {
                if self.segments.len() == SEGMENTS_MAX {
                    break;
                }
                self.push(path, start, at, encoded)?;
                (start, encoded) = (at + 1, false);
            }
        }
        if path.len() == 1 {
            return Ok(());
        }
        if self.segments.len() < SEGMENTS_MAX {
            return self.push(path, start, end, encoded);
        }
        self.overlong = true;
        if percent_sequences_are_whole(&path[start..end]) {
            Ok(())
        } else {
            Err(Unsplit::BadPercent)
        }
    }

    /// Adds the segment `start..end`. `encoded`: it holds a `%`.
    #[inline]
    fn push(&mut self, path: &[u8], start: usize, end: usize, encoded: bool) -> Result<(), Unsplit> {
        let decoded_start = self.decoded.len() as u32;
        if encoded {
            let raw = &path[start..end];
            if !percent_sequences_are_whole(raw) {
                return Err(Unsplit::BadPercent);
            }
            decode_into(raw, &mut self.decoded);
        }
        self.segments.push(PathSegment {
            start: start as u32,
            end: end as u32,
            decoded_start,
            decoded_end: self.decoded.len() as u32,
            encoded,
        });
        Ok(())
    }

    /// The decoded text of a segment of the path that was cut.
    #[inline]
    pub fn text<'s>(&'s self, path: &'s [u8], segment: PathSegment) -> &'s [u8] {
        if segment.encoded {
            &self.decoded[segment.decoded_start as usize..segment.decoded_end as usize]
        } else {
            &path[segment.start as usize..segment.end as usize]
        }
    }

    /// Where in the path what lies behind the first `count` segments and their slash begins.
    pub fn rest_start(&self, path: &[u8], count: usize) -> usize {
        let slash = if count == 0 {
            0
        } else {
            self.segments[count - 1].end as usize
        };
        (slash + 1).min(path.len())
    }
}

/// The octet that the percent sequence at `at` stands for.
#[inline]
fn octet(raw: &[u8], at: usize) -> Option<u8> {
    let digit = |offset: usize| char::from(*raw.get(at + offset)?).to_digit(16);
    (raw[at] == b'%').then_some(())?;
    Some((digit(1)? << 4 | digit(2)?) as u8)
}

fn percent_sequences_are_whole(raw: &[u8]) -> bool {
    memchr::memchr_iter(b'%', raw).all(|at| octet(raw, at).is_some())
}

/// Adds the percent-decoded text; a malformed sequence stands for itself.
pub(super) fn decode_into(raw: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < raw.len() {
        match octet(raw, at) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(raw[at]);
                at += 1;
            }
        }
    }
}

/// The length of the raw text that the first `decoded` bytes of its decoded form come from.
pub(super) fn raw_length(raw: &[u8], decoded: usize) -> usize {
    let mut at = 0;
    for _ in 0..decoded {
        at += if at < raw.len() && octet(raw, at).is_some() {
            3
        } else {
            1
        };
    }
    at.min(raw.len())
}
