//! Why a text is no JSON, and why a value cannot become JSON: plain data that turns into sentences.
//!
//! Nothing here has a destructor, so an error may lie in a frame that is jumped over.

use std::fmt;

/// Why a value cannot be written as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodeError {
    /// The text is not UTF-8 from this byte on (counted from 0).
    InvalidUtf8 { offset: usize },
    /// NaN or an infinity.
    NotFinite,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::InvalidUtf8 { offset } => {
                write!(formatter, "the string is not valid UTF-8 from byte {} on", offset + 1)
            }
            EncodeError::NotFinite => formatter.write_str("JSON has no NaN and no infinity"),
        }
    }
}

impl std::error::Error for EncodeError {}

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// The text ends inside a value, or holds none.
    UnexpectedEnd,
    /// No value begins here.
    ExpectedValue,
    /// A member needs a name in double quotes.
    ExpectedKey,
    /// A name needs a colon behind it.
    ExpectedColon,
    /// An array goes on with a comma or ends.
    ExpectedArrayEnd,
    /// An object goes on with a comma or ends.
    ExpectedObjectEnd,
    /// A comma with nothing behind it.
    TrailingComma,
    /// Something stands behind the value.
    TrailingText,
    /// Not a number of RFC 8259 section 6: a leading zero or plus, a missing digit.
    BadNumber,
    /// A number no double comes near, such as `1e999`.
    NumberRange,
    /// A control character must be escaped inside a string.
    ControlCharacter,
    /// A backslash with something behind it that is no escape.
    BadEscape,
    /// Half of a surrogate pair.
    LoneSurrogate,
    /// Not UTF-8.
    IllFormedUtf8,
    /// More containers inside one another than allowed.
    TooDeep,
}

impl JsonErrorKind {
    /// What is wrong, as a sentence without its end.
    pub fn sentence(self) -> &'static str {
        match self {
            JsonErrorKind::UnexpectedEnd => "the text ends too early",
            JsonErrorKind::ExpectedValue => "a value is expected",
            JsonErrorKind::ExpectedKey => "a name in double quotes is expected",
            JsonErrorKind::ExpectedColon => "a colon is expected after the name",
            JsonErrorKind::ExpectedArrayEnd => "a comma or ] is expected",
            JsonErrorKind::ExpectedObjectEnd => "a comma or } is expected",
            JsonErrorKind::TrailingComma => "nothing follows the comma",
            JsonErrorKind::TrailingText => "something follows the value",
            JsonErrorKind::BadNumber => "the number is malformed",
            JsonErrorKind::NumberRange => "the number is too large",
            JsonErrorKind::ControlCharacter => "a control character in a string must be escaped",
            JsonErrorKind::BadEscape => "the escape sequence is malformed",
            JsonErrorKind::LoneSurrogate => "the escape is one half of a surrogate pair",
            JsonErrorKind::IllFormedUtf8 => "the string is not valid UTF-8",
            JsonErrorKind::TooDeep => "arrays and objects are nested too deep",
        }
    }
}

/// What is wrong with a text, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    pub kind: JsonErrorKind,
    /// Bytes before the place, from 0 up to the length of the text.
    pub offset: usize,
    /// Lines from 1; a line ends with LF.
    pub line: u32,
    /// Bytes within the line, from 1.
    pub column: u32,
}

impl JsonError {
    /// Counts the lines before `offset`.
    #[cold]
    pub(super) fn locate(kind: JsonErrorKind, input: &[u8], offset: usize) -> JsonError {
        let before = &input[..offset.min(input.len())];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        JsonError {
            kind,
            offset,
            line: count(memchr::memchr_iter(b'\n', before).count() + 1),
            column: count(before.len() - line_start + 1),
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JsonError {
            kind,
            line,
            column,
            offset,
        } = self;
        write!(
            formatter,
            "{} at line {line} column {column} (byte {})",
            kind.sentence(),
            offset + 1
        )
    }
}

impl std::error::Error for JsonError {}
