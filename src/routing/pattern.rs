/// How a pattern is compared. The defaults are Express's: `/a`, `/A` and `/a/` are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    pub case_sensitive: bool,
    pub strict: bool,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Text,
    Int,
    Uint,
    Number,
    Hex,
    Uuid,
    Alpha,
    Rest,
}

/// A parameter of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    pub name: Box<str>,
    pub kind: Kind,
}

/// What is wrong with a pattern: a sentence that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(String);

impl std::fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}
