//! Which literal leads from one node of the tree to which other: one hash table for the whole tree.
//!
//! One table instead of one for each node keeps a look-up at one probe and the tree small. Keys come from developers
//! alone, so the hash need not withstand an attacker; the longest chain is a property of the routes, not of paths.

/// A free place.
const FREE: u32 = u32::MAX;
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
/// Sets the bit that tells upper from lower case in ASCII letters. Other characters fall together too: a hash may.
const FOLD: u64 = 0x2020_2020_2020_2020;

#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u32,
    parent: u32,
    child: u32,
}

/// The table. Never more than half full.
#[derive(Debug, Default)]
pub(super) struct Literals {
    /// Its length is zero or a power of two.
    slots: Box<[Slot]>,
    used: usize,
}

/// Hashes a literal below `parent` without regard to case.
#[inline]
pub(super) fn hash(parent: u32, text: &[u8]) -> u32 {
    let mut state = u64::from(parent) ^ (text.len() as u64) << 32;
    let mut rest = text;
    while let Some((chunk, behind)) = rest.split_first_chunk::<8>() {
        state = (state ^ (u64::from_le_bytes(*chunk) | FOLD))
            .wrapping_mul(MULTIPLIER)
            .rotate_left(29);
        rest = behind;
    }
    // The bytes that are left, some of them twice.
    let tail = match (rest.first_chunk::<4>(), rest.last_chunk::<4>(), rest) {
        (Some(first), Some(last), _) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        (_, _, [first, .., last]) => u64::from(*first) | u64::from(rest[rest.len() / 2]) << 8 | u64::from(*last) << 16,
        (_, _, [only]) => u64::from(*only),
        _ => 0,
    };
    state = (state ^ (tail | FOLD)).wrapping_mul(MULTIPLIER);
    (state >> 32) as u32
}

impl Literals {
    /// The child of `parent` that `is` says it is, among those whose text has this hash.
    #[inline]
    pub fn find(&self, parent: u32, hash: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        // A free slot ends the search: at least half of them are free.
        loop {
            let slot = self.slots[at];
            if slot.child == FREE {
                return None;
            }
            if slot.hash == hash && slot.parent == parent && is(slot.child) {
                return Some(slot.child);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a child. `child` is not `u32::MAX`.
    pub fn insert(&mut self, parent: u32, hash: u32, child: u32) {
        if (self.used + 1) * 2 > self.slots.len() {
            let room = (self.slots.len() * 2).max(8);
            let before = std::mem::replace(
                &mut self.slots,
                vec![
                    Slot {
                        hash: 0,
                        parent: 0,
                        child: FREE
                    };
                    room
                ]
                .into(),
            );
            for slot in before.iter().filter(|slot| slot.child != FREE) {
                self.place(*slot);
            }
        }
        self.place(Slot { hash, parent, child });
        self.used += 1;
    }

    /// Takes a child out and puts the table together anew: removing is rare, and searches stay free of tombstones.
    pub fn remove(&mut self, child: u32) {
        let free = vec![
            Slot {
                hash: 0,
                parent: 0,
                child: FREE
            };
            self.slots.len()
        ]
        .into();
        let before = std::mem::replace(&mut self.slots, free);
        self.used = 0;
        for slot in before.iter().filter(|slot| slot.child != FREE && slot.child != child) {
            self.place(*slot);
            self.used += 1;
        }
    }

    fn place(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut at = slot.hash as usize & mask;
        while self.slots[at].child != FREE {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}
