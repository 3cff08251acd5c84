//! Members of objects in the order of their names: written as they come, then put in order where they lie.
//!
//! Plain Rust over the encoder's output. Names are told by where they lie in Lua strings, so a list of members must not
//! outlive the walk over the table that holds them.

use std::slice;

/// One member that has been written.
#[derive(Clone, Copy)]
struct Member {
    name: *const u8,
    length: usize,
    /// Where its text, from the quote of the name on, begins and ends.
    start: usize,
    end: usize,
}

/// The members of all objects that are being written, innermost last, and memory to turn them round in.
#[derive(Default)]
pub(super) struct Order {
    members: Vec<Member>,
    spare: Vec<u8>,
}

impl Order {
    /// Nothing is being written; memory of unusual size is given back.
    pub(super) fn reset(&mut self) {
        const KEPT_BYTES_MAX: usize = 256 * 1024;
        const KEPT_MEMBERS_MAX: usize = 4096;
        self.members.clear();
        if self.members.capacity() > KEPT_MEMBERS_MAX {
            self.members = Vec::new();
        }
        if self.spare.capacity() > KEPT_BYTES_MAX {
            self.spare = Vec::new();
        }
    }

    /// Begins an object: the mark to end it with.
    pub(super) fn begin(&self) -> usize {
        self.members.len()
    }

    /// A member was written as `out[start..end]`.
    pub(super) fn add(&mut self, name: &[u8], start: usize, end: usize) {
        self.members.push(Member {
            name: name.as_ptr(),
            length: name.len(),
            start,
            end,
        });
    }

    /// Ends the object begun at `mark`: its members, which end `out` with commas between them, are put in the order of the
    /// bytes of their names.
    ///
    /// SAFETY: R3: the names lie in strings that the table being walked holds.
    pub(super) unsafe fn end(&mut self, mark: usize, out: &mut Vec<u8>) {
        let members = &mut self.members[mark..];
        let Some(first) = members.first() else { return };
        let start = first.start;
        members.sort_unstable_by(|one, other| {
            let bytes = |member: &Member| slice::from_raw_parts(member.name, member.length);
            bytes(one).cmp(bytes(other))
        });
        self.spare.clear();
        for (index, member) in members.iter().enumerate() {
            if index > 0 {
                self.spare.push(b',');
            }
            self.spare.extend_from_slice(&out[member.start..member.end]);
        }
        out.truncate(start);
        out.extend_from_slice(&self.spare);
        self.members.truncate(mark);
    }
}
