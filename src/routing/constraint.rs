//! Constraints in parentheses: the part of Lua's patterns that is a row of character classes, each perhaps repeated.
//!
//! `.`, `%a %c %d %l %p %s %u %w %x` and their complements in upper case, `%` before any other character, sets `[a-z_]` and
//! `[^…]`; behind each `*`, `+`, `?` or `-` (as few as possible). ASCII only. No anchors (the whole of a parameter is
//! compared), no captures, no `%b`, `%f`, `%1`: without them matching is linear (see `segment`).

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Class([u64; 4]);

impl Class {
    pub const ANY: Class = Class([u64::MAX; 4]);

    pub fn of(test: impl Fn(u8) -> bool) -> Class {
        let mut class = Class::default();
        for byte in (0..=u8::MAX).filter(|&byte| test(byte)) {
            class.0[usize::from(byte / 64)] |= 1 << (byte % 64);
        }
        class
    }

    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }

    fn complement(self) -> Class {
        Class(self.0.map(|word| !word))
    }

    fn union(self, other: Class) -> Class {
        Class(std::array::from_fn(|index| self.0[index] | other.0[index]))
    }
}

/// How often a class may take a byte, and whether it rather takes many or few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    Once,
    Optional,
    Many,
    /// One or more, as few as possible: a parameter without a constraint.
    ManyFew,
    Any,
    AnyFew,
}

/// One class and its repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    pub class: Class,
    pub repeat: Repeat,
}

impl Item {
    pub const fn new(class: Class, repeat: Repeat) -> Item {
        Item { class, repeat }
    }
}

/// Reads the constraint that begins behind the `(` at the start of `text`.
/// Returns its items and the length up to and with the `)`, or what is wrong.
pub(super) fn parse(text: &[u8]) -> Result<(Vec<Item>, usize), &'static str> {
    let mut items = Vec::new();
    let mut at = 1;
    loop {
        match text.get(at) {
            None => return Err("a constraint is not closed with )"),
            Some(b')') if items.is_empty() => return Err("a constraint is empty"),
            Some(b')') => return Ok((items, at + 1)),
            Some(_) => {}
        }
        let (class, end) = parse_class(text, at)?;
        let repeat = match text.get(end) {
            Some(b'*') => Repeat::Any,
            Some(b'+') => Repeat::Many,
            Some(b'?') => Repeat::Optional,
            Some(b'-') => Repeat::AnyFew,
            _ => Repeat::Once,
        };
        at = end + usize::from(repeat != Repeat::Once);
        items.push(Item::new(class, repeat));
    }
}

/// Reads one class at `at`; returns the offset behind it.
fn parse_class(text: &[u8], at: usize) -> Result<(Class, usize), &'static str> {
    match text[at] {
        b'.' => Ok((Class::ANY, at + 1)),
        b'%' => Ok((escaped(text.get(at + 1).copied())?, at + 2)),
        b'[' => parse_set(text, at + 1),
        b'(' => Err("a constraint cannot hold a capture; a parenthesis is written %( or %)"),
        b'^' | b'$' => Err("a constraint needs no anchor: it always takes the whole value"),
        b'*' | b'+' | b'?' | b'-' => Err("a constraint repeats nothing; a plain character is written with % before it"),
        byte if byte.is_ascii() => Ok((Class::of(|other| other == byte), at + 1)),
        _ => Err("a constraint may hold ASCII characters only"),
    }
}

/// The class that `%` and a letter name.
fn escaped(letter: Option<u8>) -> Result<Class, &'static str> {
    let Some(letter) = letter else {
        return Err("a constraint is not closed with )");
    };
    let class = match letter.to_ascii_lowercase() {
        b'a' => Class::of(|byte| byte.is_ascii_alphabetic()),
        b'c' => Class::of(|byte| byte.is_ascii_control()),
        b'd' => Class::of(|byte| byte.is_ascii_digit()),
        b'l' => Class::of(|byte| byte.is_ascii_lowercase()),
        b'p' => Class::of(|byte| byte.is_ascii_punctuation()),
        b's' => Class::of(|byte| matches!(byte, b' ' | 0x09..=0x0d)),
        b'u' => Class::of(|byte| byte.is_ascii_uppercase()),
        b'w' => Class::of(|byte| byte.is_ascii_alphanumeric()),
        b'x' => Class::of(|byte| byte.is_ascii_hexdigit()),
        _ if letter.is_ascii_alphanumeric() => return Err("a constraint knows %a %c %d %l %p %s %u %w %x only"),
        _ if letter.is_ascii() => return Ok(Class::of(|byte| byte == letter)),
        _ => return Err("a constraint may hold ASCII characters only"),
    };
    Ok(if letter.is_ascii_uppercase() {
        class.complement()
    } else {
        class
    })
}

/// Reads a set at `start`, behind its `[`; a `]` at once is a member, as in Lua.
fn parse_set(text: &[u8], start: usize) -> Result<(Class, usize), &'static str> {
    const OPEN: &str = "a set in a constraint is not closed with ]";
    let negated = text.get(start) == Some(&b'^');
    let mut at = start + usize::from(negated);
    let mut class = Class::default();
    let mut first = true;
    loop {
        let byte = *text.get(at).ok_or(OPEN)?;
        if byte == b']' && !first {
            return Ok((if negated { class.complement() } else { class }, at + 1));
        }
        first = false;
        if !byte.is_ascii() {
            return Err("a constraint may hold ASCII characters only");
        }
        if byte == b'%' {
            class = class.union(escaped(text.get(at + 1).copied())?);
            at += 2;
        } else if text.get(at + 1) == Some(&b'-') && !matches!(text.get(at + 2), None | Some(b']')) {
            let last = text[at + 2];
            if !last.is_ascii() || last < byte {
                return Err("a set in a constraint holds a range that runs backwards or is not ASCII");
            }
            class = class.union(Class::of(|other| (byte..=last).contains(&other)));
            at += 3;
        } else {
            class = class.union(Class::of(|other| other == byte));
            at += 1;
        }
    }
}
