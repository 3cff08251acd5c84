use std::borrow::Cow;

/// The value of one parameter: a range of the raw path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capture {
    pub start: u32,
    pub end: u32,
    /// The range holds a percent sequence: `decode` has work to do.
    pub encoded: bool,
}

/// What a match captured, and the matcher's working memory; reused, it allocates nothing.
#[derive(Debug, Default)]
pub struct Captures {
    values: Vec<Capture>,
}

impl Captures {
    pub fn new() -> Self {
        Self::default()
    }

    /// One per parameter of the pattern, in its order.
    pub fn values(&self) -> &[Capture] {
        &self.values
    }

    /// The decoded value of parameter `index` of the path it was captured from.
    pub fn value<'p>(&self, path: &'p [u8], index: usize) -> Option<Cow<'p, [u8]>> {
        let _ = (path, index);
        todo!()
    }
}

/// Percent-decodes; borrowed when there is nothing to decode; a malformed sequence is kept as it is.
pub fn decode(raw: &[u8]) -> Cow<'_, [u8]> {
    let _ = raw;
    todo!()
}
