//! One segment of a pattern, matched against the decoded text of one segment of a path.
//!
//! A segment that is more than a literal or one plain parameter is a row of classes, each perhaps repeated ([`Mixed`]).
//! It is matched from the back: the set of items that can take all the text from a byte on is one word of bits,
//! worked out from the word of the byte behind. So the time is linear in the text, whatever the pattern and the text
//! are, and walking forwards along those words finds the captures without ever turning back.

use super::constraint::{Class, Item, Repeat};
use super::pattern::Kind;

/// Items that [`Mixed`] can hold: one bit each, and one for the end.
pub(super) const ITEMS_MAX: usize = 63;
/// No longer text is held against the classes of [`Mixed`], so that a hostile path is bounded in cost.
pub(super) const MIXED_BYTES_MAX: usize = 1024;
/// Integers up to here are exact in a double.
const EXACT_INTEGER_MAX: u64 = 1 << 53;

/// What a segment must be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Segment {
    /// This text, decoded. `exact`: the case of ASCII letters counts.
    Literal {
        text: Box<[u8]>,
        exact: bool,
    },
    /// Anything but nothing: `:name`.
    Any,
    /// A value of this kind: `:name<int>`.
    Typed(Kind),
    Mixed(Box<Mixed>),
}

impl Segment {
    /// Whether the segment takes `text`.
    #[inline]
    pub fn takes(&self, text: &[u8], rows: &mut Vec<u64>) -> bool {
        match self {
            Segment::Literal { text: literal, exact } => same(literal, text, *exact),
            Segment::Any => !text.is_empty(),
            Segment::Typed(kind) => kind.takes(text),
            Segment::Mixed(mixed) => mixed.takes(text, rows),
        }
    }
}

/// Compares text, with or without the case of ASCII letters.
#[inline]
pub(super) fn same(one: &[u8], other: &[u8], exact: bool) -> bool {
    // Most clients write a path as the pattern does, and the same bytes are compared fastest.
    one == other || !exact && one.eq_ignore_ascii_case(other)
}

impl Kind {
    /// Whether a value of this kind is written so.
    pub(super) fn takes(self, text: &[u8]) -> bool {
        let all = |text: &[u8], max: usize, test: fn(&u8) -> bool| {
            !text.is_empty() && text.len() <= max && text.iter().all(test)
        };
        let unsigned = text.strip_prefix(b"-").unwrap_or(text);
        match self {
            Kind::Text => !text.is_empty(),
            Kind::Int => is_exact(unsigned),
            Kind::Uint => is_exact(text),
            Kind::Number => {
                let point = unsigned.iter().position(|&byte| byte == b'.');
                let (whole, part) = unsigned.split_at(point.unwrap_or(unsigned.len()));
                all(whole, 16, u8::is_ascii_digit) && (part.is_empty() || all(&part[1..], 16, u8::is_ascii_digit))
            }
            Kind::Hex => all(text, 64, u8::is_ascii_hexdigit),
            Kind::Uuid => {
                let dash = |index| matches!(index, 8 | 13 | 18 | 23);
                let fits = |(index, byte): (usize, &u8)| {
                    if dash(index) {
                        *byte == b'-'
                    } else {
                        byte.is_ascii_hexdigit()
                    }
                };
                text.len() == 36 && text.iter().enumerate().all(fits)
            }
            Kind::Alpha => all(text, 64, u8::is_ascii_alphabetic),
            Kind::Rest => true,
        }
    }

    /// The characters of such a value, for [`Mixed`]; the whole value is checked with [`Kind::takes`] afterwards.
    pub(super) fn items(self) -> Vec<Item> {
        let digits = Class::of(|byte| byte.is_ascii_digit());
        let one = |character: u8| Class::of(move |byte| byte == character);
        let many = |class: Class| vec![Item::new(class, Repeat::Many)];
        match self {
            Kind::Text | Kind::Rest => vec![Item::new(Class::ANY, Repeat::ManyFew)],
            Kind::Uint => many(digits),
            Kind::Int => vec![Item::new(one(b'-'), Repeat::Optional), Item::new(digits, Repeat::Many)],
            Kind::Number => vec![
                Item::new(one(b'-'), Repeat::Optional),
                Item::new(digits, Repeat::Many),
                Item::new(one(b'.'), Repeat::Optional),
                Item::new(digits, Repeat::Any),
            ],
            Kind::Hex => many(Class::of(|byte| byte.is_ascii_hexdigit())),
            Kind::Uuid => many(Class::of(|byte| byte.is_ascii_hexdigit() || byte == b'-')),
            Kind::Alpha => many(Class::of(|byte| byte.is_ascii_alphabetic())),
        }
    }
}

/// At most 16 digits that a double holds exactly.
fn is_exact(digits: &[u8]) -> bool {
    let value = |digits: &[u8]| {
        digits
            .iter()
            .fold(0, |value: u64, digit| value * 10 + u64::from(digit - b'0'))
    };
    (1..=16).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) && value(digits) <= EXACT_INTEGER_MAX
}

/// A parameter of a [`Mixed`]: its items are `first..end`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slice {
    first: usize,
    end: usize,
    kind: Kind,
}

/// A part of a segment as it is written.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Literal(Vec<u8>),
    Param { items: Vec<Item>, kind: Kind },
}

/// Literals and parameters side by side: `:from-:to`, `v:major<uint>.json`, `:id(%d+)`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mixed {
    /// Literals at both ends, compared as a whole; `items` take what is between them.
    prefix: Box<[u8]>,
    suffix: Box<[u8]>,
    exact: bool,
    items: Box<[Item]>,
    params: Box<[Slice]>,
    /// Some parameter is typed, so that a match depends on what is captured.
    typed: bool,
    /// For each byte the items whose class holds it.
    table: Box<[u64; 256]>,
    /// Items that go on to the next one having taken a byte, that stay, and that need not take one.
    advance: u64,
    stay: u64,
    skip: u64,
}

impl Mixed {
    /// Puts the parts of a segment together; none when they need more than [`ITEMS_MAX`] items.
    pub fn new(mut parts: Vec<Part>, exact: bool) -> Option<Mixed> {
        let suffix = parts.pop_if(|part| matches!(part, Part::Literal(_)));
        let leads = matches!(parts.first(), Some(Part::Literal(_)));
        let prefix = leads.then(|| parts.remove(0));
        let literal = |part: Option<Part>| match part {
            Some(Part::Literal(text)) => text.into_boxed_slice(),
            _ => Box::default(),
        };
        let mut items = Vec::new();
        let mut params = Vec::new();
        for part in parts {
            match part {
                Part::Literal(text) => items.extend(
                    text.into_iter()
                        .map(|byte| Item::new(Class::of(|other| same(&[byte], &[other], exact)), Repeat::Once)),
                ),
                Part::Param { items: of_param, kind } => {
                    params.push(Slice {
                        first: items.len(),
                        end: items.len() + of_param.len(),
                        kind,
                    });
                    items.extend(of_param);
                }
            }
        }
        if items.len() > ITEMS_MAX {
            return None;
        }
        let bits = |test: &dyn Fn(&Item) -> bool| {
            items
                .iter()
                .enumerate()
                .filter(|(_, item)| test(item))
                .fold(0, |bits, (index, _)| bits | 1u64 << index)
        };
        Some(Mixed {
            prefix: literal(prefix),
            suffix: literal(suffix),
            exact,
            typed: params.iter().any(|slice| slice.kind != Kind::Text),
            table: Box::new(std::array::from_fn(|byte| {
                bits(&|item| item.class.contains(byte as u8))
            })),
            advance: bits(&|item| !matches!(item.repeat, Repeat::Any | Repeat::AnyFew)),
            stay: bits(&|item| !matches!(item.repeat, Repeat::Once | Repeat::Optional)),
            skip: bits(&|item| matches!(item.repeat, Repeat::Optional | Repeat::Any | Repeat::AnyFew)),
            items: items.into_boxed_slice(),
            params: params.into_boxed_slice(),
        })
    }

    /// What is between the literals at both ends, if they are there.
    fn between<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let (start, end) = (self.prefix.len(), text.len().checked_sub(self.suffix.len())?);
        let middle = text.get(start..end)?;
        let fits = same(&self.prefix, &text[..start], self.exact) && same(&self.suffix, &text[end..], self.exact);
        (fits && middle.len() <= MIXED_BYTES_MAX).then_some(middle)
    }

    /// Items that can take all the text from a byte on, from those (`behind`) that can from the next byte on.
    #[inline]
    fn step(&self, byte: u8, behind: u64) -> u64 {
        let taking = self.table[usize::from(byte)];
        self.skipping(taking & ((behind >> 1 & self.advance) | (behind & self.stay)))
    }

    /// Adds the items that need not take anything and whose next item is in the set.
    #[inline]
    fn skipping(&self, mut set: u64) -> u64 {
        loop {
            let more = set | (set >> 1 & self.skip);
            if more == set {
                return set;
            }
            set = more;
        }
    }

    /// The set at the end of the text: nothing is left to take.
    fn at_end(&self) -> u64 {
        self.skipping(1 << self.items.len())
    }

    fn takes(&self, text: &[u8], rows: &mut Vec<u64>) -> bool {
        if self.typed {
            let mut kinds = self.params.iter().map(|slice| slice.kind);
            let mut fits = true;
            let found = self.locate(text, rows, |start, end| {
                let kind = kinds.next().unwrap_or(Kind::Text);
                // A constraint may take the empty text, which `Kind::Text` would refuse.
                fits &= kind == Kind::Text || kind.takes(&text[start..end]);
            });
            return found && fits;
        }
        let Some(middle) = self.between(text) else {
            return false;
        };
        middle
            .iter()
            .rev()
            .fold(self.at_end(), |behind, &byte| self.step(byte, behind))
            & 1
            == 1
    }

    /// Reports where each parameter begins and ends in `text`, in their order. False when the classes do not match.
    pub fn locate(&self, text: &[u8], rows: &mut Vec<u64>, mut report: impl FnMut(usize, usize)) -> bool {
        let Some(middle) = self.between(text) else {
            return false;
        };
        rows.clear();
        rows.resize(middle.len() + 1, 0);
        rows[middle.len()] = self.at_end();
        for at in (0..middle.len()).rev() {
            rows[at] = self.step(middle[at], rows[at + 1]);
        }
        if rows[0] & 1 == 0 {
            return false;
        }
        let entered = self.walk(middle, rows);
        let start = self.prefix.len();
        for slice in &self.params {
            report(
                start + usize::from(entered[slice.first]),
                start + usize::from(entered[slice.end]),
            );
        }
        true
    }

    /// Walks from item to item along `rows`; returns at which byte each of them begins. The text matches.
    fn walk(&self, middle: &[u8], rows: &[u64]) -> [u16; ITEMS_MAX + 1] {
        let mut entered = [0; ITEMS_MAX + 1];
        let mut at = 0;
        for (index, item) in self.items.iter().enumerate() {
            let next_can = |at: usize| rows[at] >> (index + 1) & 1 == 1;
            // Whether the item can take this byte and, staying, some of those behind it.
            let can_stay =
                |at: usize| at < middle.len() && item.class.contains(middle[at]) && rows[at + 1] >> index & 1 == 1;
            match item.repeat {
                Repeat::Once => at += 1,
                Repeat::Optional => {
                    at += usize::from(at < middle.len() && item.class.contains(middle[at]) && next_can(at + 1));
                }
                Repeat::Many => {
                    while can_stay(at) {
                        at += 1;
                    }
                    at += 1;
                }
                Repeat::ManyFew => {
                    at += 1;
                    while !next_can(at) {
                        at += 1;
                    }
                }
                Repeat::Any => {
                    while can_stay(at) {
                        at += 1;
                    }
                }
                Repeat::AnyFew => {
                    while !next_can(at) {
                        at += 1;
                    }
                }
            }
            entered[index + 1] = at as u16;
        }
        entered
    }
}
