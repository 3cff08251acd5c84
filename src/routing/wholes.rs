//! Whole paths that are known to lead to a route without parameters: found by one look at a hash table.
//!
//! What it answers for a path is what a search through the tree has answered for the same bytes when the table was
//! made, so it says nothing that the tree does not. It knows the paths that patterns without parameters are written as,
//! never one that a peer made up, and it is made anew when routes have changed.

use super::literals::{Literals, hash};
use super::tree::Entry;

/// The parent of all paths in the table of literals.
const PARENT: u32 = 0;

#[derive(Debug)]
struct Whole {
    path: Box<[u8]>,
    /// In the order of their places: all routes that take the path up to the last of these.
    entries: Box<[Entry]>,
}

/// The paths. An empty table has no memory of its own.
#[derive(Debug, Default)]
pub(super) struct Wholes {
    table: Literals,
    wholes: Vec<Whole>,
    /// A bit for each length that some path has, the last one for all lengths from 63 on: most paths with parameters are
    /// told apart by it, without a look at their bytes.
    lengths: u64,
}

fn length_bit(path: &[u8]) -> u64 {
    1 << path.len().min(63)
}

impl Wholes {
    /// At most so many routes are kept for one path; a search through the tree finds the others.
    pub const ENTRIES_MAX: usize = 4;

    /// The first routes that take a path; none when nothing is known of it.
    #[inline]
    pub fn entries(&self, path: &[u8]) -> &[Entry] {
        if self.lengths & length_bit(path) == 0 {
            return &[];
        }
        let at = self
            .table
            .find(PARENT, hash(PARENT, path), |at| *self.wholes[at as usize].path == *path);
        at.map_or(&[], |at| &self.wholes[at as usize].entries)
    }

    /// Adds what is known of a path that is not there yet.
    pub fn insert(&mut self, path: Vec<u8>, entries: Vec<Entry>) {
        self.lengths |= length_bit(&path);
        self.table.insert(PARENT, hash(PARENT, &path), self.wholes.len() as u32);
        self.wholes.push(Whole {
            path: path.into_boxed_slice(),
            entries: entries.into_boxed_slice(),
        });
    }

    pub fn is_empty(&self) -> bool {
        self.wholes.is_empty()
    }
}
