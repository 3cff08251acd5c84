//! Routes the naive way: every route tried one after another, every way to part a segment tried out.
//!
//! Written from what `routing` documents; it shares nothing with the code under test. A [`Plan`] knows what it takes
//! without reading the pattern it writes. The time is exponential in the parameters of a segment: for short paths.

use crate::testing::fuzz::Input;

/// A part of a segment, as a plan has it.
#[derive(Debug, Clone)]
pub enum Piece {
    Text(&'static [u8]),
    /// A parameter with what stands behind its name, one of [`CONSTRAINTS`].
    Param(&'static str),
}

/// What may stand behind a parameter's name.
pub const CONSTRAINTS: &[&str] = &[
    "", "(%d+)", "(%a*)", "([ab]+)", "(a?b*)", "(.-)", "(%a-%d+)", "([^a]+)", "(%w%w)", "<int>", "<uint>", "<hex>",
    "<alpha>", "<number>", "<uuid>",
];

/// The first ones often, so that routes share segments.
const TEXTS: &[&[u8]] = &[
    b"a",
    b"a",
    b"a",
    b"a",
    b"a",
    b"b",
    b"b",
    b"units",
    b"units",
    b"A",
    b"ab",
    b"1",
    b"-",
    b".",
    b"a-b",
    b"Units",
    b"longer-than-eight",
    b"%",
    b"/",
    b"a/b",
    b"\xff",
    b"\xc3\xa9",
];

/// What paths are made of, some of it encoded.
const PATH_PIECES: &[&[u8]] = &[
    b"/",
    b"/",
    b"/",
    b"a",
    b"b",
    b"A",
    b"1",
    b"-",
    b".",
    b"%61",
    b"%2F",
    b"%2d",
    b"ab",
    b"12",
    b"units",
    b"%",
    b"\xff",
    b"9007199254740993",
    b"longer-than-eight",
    b"UNITS",
];

/// One route.
#[derive(Debug, Clone)]
pub struct Plan {
    pub segments: Vec<Vec<Piece>>,
    /// It ends with `*rest`.
    pub rest: bool,
    pub trailing_slash: bool,
    pub case_sensitive: bool,
    pub strict: bool,
    /// Names of methods; none for every method.
    pub methods: &'static [&'static str],
}

/// The plans that take a path, with any method, by their index and in their order, with the decoded values of their
/// parameters. The escapes of the path are whole.
pub fn walk<'p>(plans: impl Iterator<Item = &'p Plan>, path: &[u8]) -> Vec<(usize, Vec<Vec<u8>>)> {
    let taken = |(index, plan): (usize, &Plan)| Some((index, plan.take(path)?));
    plans.enumerate().filter_map(taken).collect()
}

/// Every `%` has two hexadecimal digits behind it.
pub fn escapes_are_whole(path: &[u8]) -> bool {
    let hex = |at: usize| path.get(at).is_some_and(u8::is_ascii_hexdigit);
    (0..path.len()).all(|at| path[at] != b'%' || (hex(at + 1) && hex(at + 2)))
}

/// Percent-decodes a path whose escapes are whole.
fn decode(mut raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some((&byte, behind)) = raw.split_first() {
        let digits = if byte == b'%' { behind.get(..2) } else { None };
        let value = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        out.push(value.unwrap_or(byte));
        raw = if value.is_some() { &behind[2..] } else { behind };
    }
    out
}

impl Plan {
    /// A plan from a fuzzer's bytes.
    pub fn read(input: &mut Input<'_>) -> Plan {
        let segments = (0..input.below(4)).map(|_| read_segment(input)).collect();
        let rest = input.one_in(5);
        Plan {
            segments,
            rest,
            trailing_slash: !rest && input.one_in(2),
            case_sensitive: input.one_in(3),
            strict: input.one_in(3),
            methods: input.pick(&[&["GET"][..], &["POST"], &["HEAD"], &["GET", "BREW"], &[]]),
        }
    }

    /// The pattern; parameters are named in their order. Its texts are encoded, so that none is read as anything else.
    pub fn pattern(&self) -> String {
        let mut count = 0;
        let mut text = String::new();
        for segment in &self.segments {
            text.push('/');
            for piece in segment {
                match piece {
                    Piece::Text(literal) => text.extend(literal.iter().map(|byte| format!("%{byte:02X}"))),
                    Piece::Param(constraint) => {
                        count += 1;
                        text.push_str(&format!(":p{count}{constraint}"));
                    }
                }
            }
        }
        match (self.rest, self.trailing_slash || self.segments.is_empty()) {
            (true, _) => text + "/*rest",
            (false, true) => text + "/",
            (false, false) => text,
        }
    }

    /// Whether a request with this method goes here: HEAD goes where GET does.
    pub fn serves(&self, method: &str) -> bool {
        let named = |name: &str| self.methods.contains(&name);
        self.methods.is_empty() || named(method) || (method == "HEAD" && named("GET"))
    }

    /// The decoded values of the parameters, if the path is taken. Its escapes are whole.
    pub fn take(&self, path: &[u8]) -> Option<Vec<Vec<u8>>> {
        let (parts, trailing_slash) = split(path)?;
        let count = self.segments.len();
        if parts.len() < count || (!self.rest && parts.len() > count) {
            return None;
        }
        if self.strict {
            let slash = if self.rest {
                count == 0 || parts.len() > count || trailing_slash
            } else {
                trailing_slash
            };
            if slash != (self.rest || (self.trailing_slash && count > 0)) {
                return None;
            }
        }
        let mut values = self.take_segments(&parts)?;
        if self.rest {
            values.push(decode(path.get(length(&parts[..count]) + 1..).unwrap_or_default()));
        }
        Some(values)
    }

    /// As a prefix: where the rest of the path begins, and the decoded values of the parameters. Without `*rest`.
    pub fn take_prefix(&self, path: &[u8]) -> Option<(usize, Vec<Vec<u8>>)> {
        let (parts, _) = split(path)?;
        let own = parts.get(..self.segments.len())?;
        Some((length(own), self.take_segments(own)?))
    }

    fn take_segments(&self, parts: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
        let mut values = Vec::new();
        for (pieces, part) in self.segments.iter().zip(parts) {
            values.extend(self.take_segment(pieces, &decode(part))?);
        }
        Some(values)
    }

    /// The first way to part the text that fits, in the order of preference; typed values are checked at the end.
    fn take_segment(&self, pieces: &[Piece], text: &[u8]) -> Option<Vec<Vec<u8>>> {
        let values = self.part(pieces, text)?;
        let constraints = pieces.iter().filter_map(|piece| match piece {
            Piece::Param(constraint) => Some(*constraint),
            Piece::Text(_) => None,
        });
        values
            .iter()
            .zip(constraints)
            .all(|(value, constraint)| fits(constraint, value))
            .then_some(values)
    }

    fn part(&self, pieces: &[Piece], text: &[u8]) -> Option<Vec<Vec<u8>>> {
        let Some((piece, others)) = pieces.split_first() else {
            return text.is_empty().then(Vec::new);
        };
        match piece {
            Piece::Text(literal) => {
                let (head, rest) = text.split_at_checked(literal.len())?;
                let same = if self.case_sensitive {
                    head == *literal
                } else {
                    head.eq_ignore_ascii_case(literal)
                };
                same.then(|| self.part(others, rest)).flatten()
            }
            Piece::Param(constraint) => {
                let looks_so = |length: &usize| looks(constraint, &text[..*length]);
                let mut lengths: Vec<usize> = (0..=text.len()).filter(looks_so).collect();
                // Without a constraint, and with `-`, as few as possible are taken.
                if !matches!(*constraint, "" | "(.-)") {
                    lengths.reverse();
                }
                lengths.into_iter().find_map(|length| {
                    let mut values = vec![text[..length].to_vec()];
                    values.extend(self.part(others, &text[length..])?);
                    Some(values)
                })
            }
        }
    }
}

/// The segments of a path, and whether a slash that is not the first ends it. The empty path is `/`.
fn split(path: &[u8]) -> Option<(Vec<&[u8]>, bool)> {
    if path.is_empty() || path == b"/" {
        return Some((Vec::new(), false));
    }
    let body = path.strip_prefix(b"/")?;
    let inner = body.strip_suffix(b"/");
    let parts = inner.unwrap_or(body).split(|&byte| byte == b'/');
    Some((parts.collect(), inner.is_some()))
}

/// The length of segments, each with the slash before it.
fn length(parts: &[&[u8]]) -> usize {
    parts.iter().map(|part| part.len() + 1).sum()
}

fn read_segment(input: &mut Input<'_>) -> Vec<Piece> {
    let kind = input.below(12);
    let mut text = || Piece::Text(input.pick(TEXTS));
    let first = text();
    let mut param = || Piece::Param(input.pick(CONSTRAINTS));
    match kind {
        0..5 => vec![first],
        5..7 => vec![Piece::Param("")],
        7 | 8 => vec![param()],
        9 => vec![first, param()],
        10 => vec![param(), first],
        // A text between two parameters, so that no pattern is refused.
        _ => vec![param(), first, param()],
    }
}

/// A path from a fuzzer's bytes: one that a plan may well take, or anything.
pub fn read_path(input: &mut Input<'_>, plans: &[&Plan]) -> Vec<u8> {
    let mut path = Vec::new();
    if !plans.is_empty() && input.one_in(2) {
        let plan = plans[input.below(plans.len().min(256))];
        for segment in &plan.segments {
            path.push(b'/');
            for piece in segment {
                match piece {
                    Piece::Text(text) if !text.iter().any(|byte| b"/%".contains(byte)) && !input.one_in(8) => {
                        path.extend_from_slice(text);
                    }
                    Piece::Text(text) => path.extend(text.iter().flat_map(|byte| format!("%{byte:02x}").into_bytes())),
                    Piece::Param(_) => path.extend_from_slice(input.pick(&[
                        b"a",
                        b"12",
                        b"ab",
                        b"a1",
                        b"-7",
                        b"1.5",
                        b"b%41",
                        b"x-y",
                        b"0f",
                        b"",
                        b"01234567-89ab-cdef-0123-456789abcdef",
                    ])),
                }
            }
        }
        path.extend_from_slice(input.pick(&[b"", b"", b"/", b"/a/b", b"//"]));
    } else {
        path.extend_from_slice(input.pick(&[b"/", b"/", b"/", b""]));
        for _ in 0..input.below(12) {
            path.extend_from_slice(input.pick(PATH_PIECES));
        }
    }
    if input.one_in(4) {
        let flip = |byte: &mut u8| *byte ^= if byte.is_ascii_alphabetic() { 0x20 } else { 0 };
        path.iter_mut().for_each(flip);
    }
    if input.one_in(8) {
        let at = input.below(256) % (path.len() + 1);
        path.insert(at, input.byte());
    }
    path
}

/// Whether a value has the characters that a parameter takes.
fn looks(constraint: &str, value: &[u8]) -> bool {
    let all = |test: fn(&u8) -> bool| value.iter().all(test);
    let some = !value.is_empty();
    let unsigned = value.strip_prefix(b"-").unwrap_or(value);
    match constraint {
        "" => some,
        "(%d+)" | "<uint>" => some && all(u8::is_ascii_digit),
        "(%a*)" => all(u8::is_ascii_alphabetic),
        "([ab]+)" => some && all(|byte| matches!(byte, b'a' | b'b')),
        "(a?b*)" => value
            .strip_prefix(b"a")
            .unwrap_or(value)
            .iter()
            .all(|byte| *byte == b'b'),
        "(.-)" => true,
        "(%a-%d+)" => {
            let letters = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            letters < value.len() && value[letters..].iter().all(u8::is_ascii_digit)
        }
        "([^a]+)" => some && all(|byte| *byte != b'a'),
        "(%w%w)" => value.len() == 2 && all(u8::is_ascii_alphanumeric),
        "<int>" => !unsigned.is_empty() && unsigned.iter().all(u8::is_ascii_digit),
        "<hex>" => some && all(u8::is_ascii_hexdigit),
        "<alpha>" => some && all(u8::is_ascii_alphabetic),
        "<uuid>" => some && all(|byte| byte.is_ascii_hexdigit() || *byte == b'-'),
        "<number>" => {
            let mut halves = unsigned.splitn(2, |byte| *byte == b'.');
            let whole = halves.next().unwrap_or_default();
            let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
            !whole.is_empty() && digits(whole) && digits(halves.next().unwrap_or_default())
        }
        other => panic!("{other}"),
    }
}

/// Whether a whole value is of its type, beyond its characters.
fn fits(constraint: &str, value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    match constraint {
        "<int>" | "<uint>" => {
            let exact = |number: i64| number.unsigned_abs() <= 1 << 53;
            text.trim_start_matches('-').len() <= 16 && text.parse().is_ok_and(exact)
        }
        "<number>" => {
            let (whole, part) = text.trim_start_matches('-').split_once('.').unwrap_or((&text, "0"));
            whole.trim_start_matches('-').len() <= 16 && (1..=16).contains(&part.len())
        }
        "<hex>" | "<alpha>" => value.len() <= 64,
        "<uuid>" => text.split('-').map(str::len).eq([8, 4, 4, 4, 12]),
        _ => true,
    }
}
