//! The receive buffer of one connection: storage that is lent to it, and the bytes in it that are not yet used up.
//!
//! ```text
//!   0        start                 end                 storage.len()
//!   | used up | received, live      | tail lent to recv |
//! ```
//! Invariant: `start <= end <= storage.len()`. Storage is always fully initialised, so lending it needs no unsafe.
//! It never allocates: who owns the memory pool swaps storage in and out.

/// Bytes received and not yet used up, in storage that somebody else accounts for.
#[derive(Debug, Default)]
pub struct Buffer {
    storage: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Buffer {
    /// A buffer without storage. Allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of storage, used or not.
    pub fn capacity(&self) -> usize {
        self.storage.len()
    }

    /// Live bytes.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// True when no live byte is left.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The live bytes.
    pub fn live(&self) -> &[u8] {
        &self.storage[self.start..self.end]
    }

    /// The live bytes, to be changed in place.
    pub fn live_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.end]
    }

    /// Room behind the live bytes, to receive into. The live bytes move to the front first when there is no room, or
    /// when that costs less than has been used up and gains more room than there is: each byte is moved about once.
    pub fn space(&mut self) -> &mut [u8] {
        let tail = self.storage.len() - self.end;
        if self.start > 0 && (tail == 0 || (tail < self.start && self.len() <= self.start)) {
            // before: |used up|live|tail|    after: |live|room|
            self.storage.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        &mut self.storage[self.end..]
    }

    /// The first `n` bytes of [`Buffer::space`] have been filled. More than the room counts as the room.
    pub fn commit(&mut self, n: usize) {
        debug_assert!(n <= self.storage.len() - self.end, "commit of more than was lent");
        self.end = self.end.saturating_add(n).min(self.storage.len());
    }

    /// The first `n` live bytes are used up. More than there are counts as all.
    pub fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.len(), "consumed more than was received");
        self.start = self.start.saturating_add(n).min(self.end);
        if self.start == self.end {
            self.clear();
        }
    }

    /// Closes a gap: the live bytes from `from` on move down to `to` (both counted from the first live byte).
    pub fn close_gap(&mut self, to: usize, from: usize) {
        debug_assert!(to <= from && from <= self.len(), "a gap lies inside the live bytes");
        self.storage.copy_within(self.start + from..self.end, self.start + to);
        self.end -= from - to;
    }

    /// Forgets every live byte; storage stays.
    pub fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }

    /// Moves the live bytes to the front of `new` and returns the old storage. When `new` is too small for the live
    /// bytes, nothing changes and `new` comes back.
    pub fn replace_storage(&mut self, mut new: Box<[u8]>) -> Box<[u8]> {
        let len = self.len();
        if new.len() < len {
            return new;
        }
        new[..len].copy_from_slice(self.live());
        self.start = 0;
        self.end = len;
        std::mem::replace(&mut self.storage, new)
    }

    /// Gives the storage back. Only sensible when nothing is live: live bytes are forgotten.
    pub fn take_storage(&mut self) -> Box<[u8]> {
        debug_assert!(self.is_empty(), "storage taken from under live bytes");
        self.clear();
        std::mem::take(&mut self.storage)
    }
}
