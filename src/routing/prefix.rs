//! Where middleware and mounted routers stand: the beginning of a path, whole segments of it.

use super::captures::Captures;
use super::pattern::{self, Options, Outer, Param, Pattern, PatternError};
use super::segment::{Segment, same};

/// Which paths of a route lie under a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    Always,
    /// [`Prefix::matches`] has to be asked for each path.
    Sometimes,
    Never,
}

/// A prefix that has been compiled: `/admin` takes `/admin`, `/admin/` and `/admin/users`, and not `/administrator`.
#[derive(Debug)]
pub struct Prefix {
    pattern: Pattern,
    /// The prefix as it mostly stands in a path, when it has no parameters; without the slash at its end. Then `exact`
    /// tells whether its case counts, for all of its segments.
    literal: Option<Box<[u8]>>,
    exact: bool,
}

impl Prefix {
    /// Compiles a prefix. It may hold parameters, but no `*rest`: it takes everything below anyway. `strict` means
    /// nothing here.
    pub fn compile(source: &str, options: &Options) -> Result<Prefix, PatternError> {
        Prefix::compile_below(&[], source, options)
    }

    /// Compiles a prefix that stands below others, as [`super::Router::insert_below`] does a route.
    pub fn compile_below(prefixes: &[Outer<'_>], source: &str, options: &Options) -> Result<Prefix, PatternError> {
        pattern::prefix(source, options)?;
        let pattern = Pattern::below(prefixes, source, options)?;
        let first_exact = !matches!(pattern.segments.first(), Some(Segment::Literal { exact: false, .. }));
        let literal = |segment: &Segment| match segment {
            // A percent sign or a slash that was decoded stands encoded in every path.
            Segment::Literal { text, exact }
                if *exact == first_exact && !text.iter().any(|byte| matches!(byte, b'%' | b'/')) =>
            {
                Some([b"/", &**text].concat())
            }
            _ => None,
        };
        let literals: Option<Vec<Vec<u8>>> = pattern.segments.iter().map(literal).collect();
        Ok(Prefix {
            literal: literals.map(|literals| literals.concat().into_boxed_slice()),
            exact: first_exact,
            pattern,
        })
    }

    /// Where the rest of a raw, percent-encoded path begins: at a slash or at the path's end, and at 0 for the prefix
    /// `/`. None when the path lies elsewhere. A path with a malformed `%` lies where it can be compared without
    /// decoding, else nowhere: [`super::Found::BadPercent`] is what tells. The captures are those of the prefix.
    pub fn matches(&self, path: &[u8], captures: &mut Captures) -> Option<usize> {
        captures.values.clear();
        if let Some(literal) = &self.literal
            && let Some((head, rest)) = path.split_at_checked(literal.len())
            && matches!(rest.first(), None | Some(b'/'))
            && same(literal, head, self.exact)
        {
            return Some(literal.len());
        }
        if self.literal.is_some() && memchr::memchr(b'%', path).is_none() {
            return None;
        }
        captures.split.split(path).ok()?;
        let count = self.pattern.segments.len();
        let Captures { split, rows, .. } = captures;
        let takes = |index: usize| {
            let segment = split.segments[index];
            self.pattern.segments[index].takes(split.text(path, segment), rows)
        };
        if split.segments.len() < count || !(0..count).all(takes) {
            return None;
        }
        self.pattern.capture(path, captures);
        Some(if count == 0 {
            0
        } else {
            captures.split.segments[count - 1].end as usize
        })
    }

    /// How many segments of a path the prefix takes.
    pub fn segment_count(&self) -> usize {
        self.pattern.segments.len()
    }

    /// Which of the paths that a route takes lie under the prefix, as far as the patterns tell.
    pub(super) fn covers(&self, route: &Pattern) -> Cover {
        let mut cover = Cover::Always;
        for (index, own) in self.pattern.segments.iter().enumerate() {
            let Some(other) = route.segments.get(index) else {
                return if route.rest { Cover::Sometimes } else { Cover::Never };
            };
            match (own, other) {
                (Segment::Literal { text: one, exact }, Segment::Literal { text, exact: theirs }) => {
                    let same = |exact| same(one, text, exact);
                    if !same(*exact && *theirs) {
                        return Cover::Never;
                    }
                    // A route that ignores case takes more than an exact prefix does.
                    if *exact && !theirs {
                        cover = Cover::Sometimes;
                    }
                }
                (Segment::Any, Segment::Literal { .. } | Segment::Any | Segment::Typed(_)) => {}
                (Segment::Typed(one), Segment::Typed(kind)) if one == kind => {}
                _ => cover = Cover::Sometimes,
            }
        }
        cover
    }

    /// The parameters of the prefix, in the order of its captures.
    pub fn params(&self) -> &[Param] {
        &self.pattern.params
    }
}
