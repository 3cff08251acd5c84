use std::fmt;

/// Why a value cannot be written as JSON. Plain data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodeError {
    /// The text is not UTF-8 from this byte on.
    InvalidUtf8 { offset: usize },
    /// NaN or an infinity.
    NotFinite,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, _formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonErrorKind {
    UnexpectedEnd,
}

/// What is wrong with a text, and where. Plain data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    pub kind: JsonErrorKind,
    /// Byte offset, from 0.
    pub offset: usize,
    /// From 1.
    pub line: u32,
    /// In bytes, from 1.
    pub column: u32,
}

impl fmt::Display for JsonError {
    fn fmt(&self, _formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
