//! The bytes of a fuzzer as a row of decisions: each is read once, and when none are left every decision is the first.

/// What is left of the bytes.
#[derive(Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Input { rest: data }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte; 0 when none is left.
    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// A number in `0..bound`, for bounds from 1 to 256.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// True in one of `odds` cases, not when the bytes are used up.
    pub fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == odds - 1
    }

    /// One of `choices`, at most 256 of them.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// The next `count` bytes, or as many as are left.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (head, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        head
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }
}
