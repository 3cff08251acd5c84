//! Reads what developers type into a pattern, and says what is wrong with it.
//!
//! Nothing is guessed: a character that means something in another router's patterns (`?`, `{`, a bare `*`) is refused
//! with the way to write it here, so that a ported route fails when it is registered and not when it is asked for.

use super::constraint;
use super::path::{SEGMENTS_MAX, decode_into};
use super::pattern::{Kind, Options, Param, Pattern, PatternError};
use super::segment::{ITEMS_MAX, Mixed, Part, Segment};

/// Reads the pattern of a route.
pub(super) fn parse(source: &str, options: &Options) -> Result<Pattern, PatternError> {
    let mut parser = Parser {
        source,
        text: source.as_bytes(),
        at: 0,
        params: Vec::new(),
        options,
    };
    match parser.parse() {
        Ok(pattern) => Ok(pattern),
        Err(what) => Err(PatternError::new(format!("route pattern \"{source}\": {what}"))),
    }
}

struct Parser<'p> {
    source: &'p str,
    text: &'p [u8],
    /// `at <= text.len()`.
    at: usize,
    params: Vec<Param>,
    options: &'p Options,
}

impl Parser<'_> {
    fn parse(&mut self) -> Result<Pattern, String> {
        let mut segments = Vec::new();
        let mut rest = false;
        let mut trailing_slash = false;
        if self.peek() != Some(b'/') {
            return Err("it must begin with a slash".into());
        }
        while self.peek().is_some() {
            // A segment ends at a slash or at the end of the text.
            self.at += 1;
            match self.peek() {
                None => trailing_slash = !segments.is_empty(),
                Some(b'/') => return Err("it holds an empty segment (//)".into()),
                Some(b'*') => {
                    self.parse_rest()?;
                    rest = true;
                }
                Some(_) => segments.push(self.parse_segment()?),
            }
        }
        if segments.len() > SEGMENTS_MAX {
            return Err(format!("it has more than {SEGMENTS_MAX} segments"));
        }
        Ok(Pattern {
            source: self.source.into(),
            segments: segments.into_boxed_slice(),
            rest,
            trailing_slash,
            params: std::mem::take(&mut self.params).into_boxed_slice(),
            options: *self.options,
        })
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// `*name` at the end of the pattern.
    fn parse_rest(&mut self) -> Result<(), String> {
        self.at += 1;
        let name = self.parse_name("* needs a name behind it, as in *rest")?;
        if self.peek().is_some() {
            return Err(format!("*{name} must be the last segment, by itself"));
        }
        self.add_param(name, Kind::Rest)
    }

    /// One segment, up to a slash or the end.
    fn parse_segment(&mut self) -> Result<Segment, String> {
        let mut parts = Vec::new();
        let mut constrained = false;
        while let Some(byte) = self.peek()
            && byte != b'/'
        {
            if byte == b':' {
                let follows_open = matches!(parts.last(), Some(Part::Param { kind: Kind::Text, .. })) && !constrained;
                if follows_open {
                    return Err("two parameters stand side by side with no text between them".into());
                }
                let part;
                (part, constrained) = self.parse_param()?;
                parts.push(part);
            } else {
                parts.push(Part::Literal(self.parse_literal()?));
            }
        }
        self.assemble(parts, constrained)
    }

    /// Takes the simplest form that says the same.
    fn assemble(&self, mut parts: Vec<Part>, constrained: bool) -> Result<Segment, String> {
        if let [part] = &mut parts[..] {
            match part {
                Part::Literal(text) => {
                    return Ok(Segment::Literal {
                        text: std::mem::take(text).into_boxed_slice(),
                        exact: self.options.case_sensitive,
                    });
                }
                Part::Param { kind: Kind::Text, .. } if !constrained => return Ok(Segment::Any),
                Part::Param { kind: Kind::Text, .. } => {}
                Part::Param { kind, .. } => return Ok(Segment::Typed(*kind)),
            }
        }
        match Mixed::new(parts, self.options.case_sensitive) {
            Some(mixed) => Ok(Segment::Mixed(Box::new(mixed))),
            None => Err(format!(
                "a segment needs more than {ITEMS_MAX} characters and classes between its ends"
            )),
        }
    }

    /// Literal text up to a parameter, a slash or the end; percent sequences are decoded.
    fn parse_literal(&mut self) -> Result<Vec<u8>, String> {
        let start = self.at;
        while let Some(byte) = self.peek()
            && !matches!(byte, b':' | b'/')
        {
            match byte {
                b'?' => {
                    return Err(
                        "? cannot stand here: write one route for each form; the query is no part of a path".into(),
                    );
                }
                b'#' => return Err("# cannot stand here: a fragment is never sent".into()),
                b'*' => return Err("* must be a segment by itself, as in /*rest".into()),
                b'{' | b'}' => return Err("{ and } cannot stand here: a parameter is written :name".into()),
                b'(' | b')' => return Err("( and ) can only stand behind a parameter, as in :id(%d+)".into()),
                b'<' | b'>' => return Err("< and > can only stand behind a parameter, as in :id<int>".into()),
                b'\\' => return Err("\\ cannot stand here: a reserved character is written %XX".into()),
                byte if byte.is_ascii_control() => return Err("it holds a control character".into()),
                b'%' if !self.at_percent_sequence() => {
                    return Err("% must be followed by two hexadecimal digits".into());
                }
                _ => self.at += 1,
            }
        }
        let mut text = Vec::new();
        decode_into(&self.text[start..self.at], &mut text);
        Ok(text)
    }

    /// Whether two hexadecimal digits follow.
    fn at_percent_sequence(&self) -> bool {
        let digits = self.text.get(self.at + 1..self.at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    }

    /// `:name`, `:name(constraint)` or `:name<type>`; true when something is demanded of it.
    fn parse_param(&mut self) -> Result<(Part, bool), String> {
        self.at += 1;
        let name = self.parse_name(": needs a name behind it, as in :id (a colon itself is written %3A)")?;
        let (items, kind, constrained) = match self.peek() {
            Some(b'(') => {
                let (items, length) = constraint::parse(&self.text[self.at..])?;
                self.at += length;
                (items, Kind::Text, true)
            }
            Some(b'<') => {
                let kind = self.parse_type()?;
                (kind.items(), kind, true)
            }
            _ => (Kind::Text.items(), Kind::Text, false),
        };
        self.add_param(name, kind)?;
        Ok((Part::Param { items, kind }, constrained))
    }

    /// `<type>`.
    fn parse_type(&mut self) -> Result<Kind, String> {
        let text = &self.source[self.at + 1..];
        let name = text.split('>').next().unwrap_or(text);
        let kind = match name {
            "int" => Kind::Int,
            "uint" => Kind::Uint,
            "number" => Kind::Number,
            "hex" => Kind::Hex,
            "uuid" => Kind::Uuid,
            "alpha" => Kind::Alpha,
            _ => {
                return Err(format!(
                    "there is no type <{name}>; there are int, uint, number, hex, uuid and alpha"
                ));
            }
        };
        if name.len() == text.len() {
            return Err(format!("the type <{name} is not closed with >"));
        }
        self.at += name.len() + 2;
        Ok(kind)
    }

    /// A letter or `_`, then letters, digits and `_`.
    fn parse_name(&mut self, missing: &str) -> Result<String, String> {
        let rest = &self.source[self.at..];
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let name = &rest[..length];
        if name.is_empty() {
            return Err(missing.into());
        }
        if name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(format!("the parameter name \"{name}\" begins with a digit"));
        }
        self.at += length;
        Ok(name.into())
    }

    fn add_param(&mut self, name: String, kind: Kind) -> Result<(), String> {
        if self.params.iter().any(|param| *param.name == *name) {
            return Err(format!("it names two parameters \"{name}\""));
        }
        self.params.push(Param {
            name: name.into_boxed_str(),
            kind,
        });
        Ok(())
    }
}
