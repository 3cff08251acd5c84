//! Where connections live: slots with a generation, so that what is late for a gone connection finds nothing.
//!
//! A [`Key`] names one life of a slot. It is what the poller and the queue carry; a key whose connection has ended is
//! normal and leads nowhere. Connections are boxed, so that growing the table moves pointers only.

use super::outgoing::Outgoing;
use super::stats::End;
use crate::h1::Connection;
use std::net::SocketAddr;
use std::time::Instant;

/// One life of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) slot: u32,
    generation: u32,
}

impl Key {
    /// As the poller carries it.
    pub(super) fn token(self) -> usize {
        // The generation's top bit stays clear, so that no key equals the listener's token.
        ((self.generation as usize) << 32) | self.slot as usize
    }

    pub(super) fn from_token(token: usize) -> Self {
        Self {
            slot: token as u32,
            generation: (token >> 32) as u32,
        }
    }
}

const GENERATION_MASK: u32 = 0x7fff_ffff;

/// One connection.
pub(super) struct Peer<S, B> {
    pub(super) stream: S,
    pub(super) address: SocketAddr,
    /// Counts the connections of the server from 1.
    pub(super) number: u64,
    pub(super) h1: Connection,
    pub(super) out: Outgoing<B>,
    /// The live request's serial; 0 when there is none.
    pub(super) serial: u64,
    /// Requests dispatched on this connection.
    pub(super) requests: u32,
    /// Reported to the poller.
    pub(super) registered: bool,
    /// May have something to receive: no `WouldBlock` since the last event.
    pub(super) readable: bool,
    /// May take bytes: no `WouldBlock` since the last event.
    pub(super) writable: bool,
    /// The poller reported an end or an error that receiving has not shown yet.
    pub(super) closed: bool,
    /// Stands in the service queue, since this time.
    pub(super) queued: bool,
    pub(super) queued_at: Instant,
    /// Its time was over while it stood in the queue: the visit has to get what was waited for.
    pub(super) overdue: bool,
    /// Stands among those who wait for memory.
    pub(super) starved: bool,
    /// Encoded answers are kept back for the next one of a pipeline, in the turn of this number.
    pub(super) batched_in: u64,
    /// Ends as soon as `out` is empty, for this reason.
    pub(super) ending: Option<End>,
    /// Our side is shut down; what the peer still sends is drained, this many bytes so far.
    pub(super) lingering: bool,
    pub(super) drained: u64,
    /// The window over which a minimum rate is asked: since when, and bytes moved in it.
    pub(super) window: Instant,
    pub(super) moved: u64,
    pub(super) moved_before: u64,
}

impl<S, B: AsRef<[u8]>> Peer<S, B> {
    pub(super) fn new(stream: S, address: SocketAddr, number: u64, now: Instant) -> Self {
        Self {
            stream,
            address,
            number,
            h1: Connection::new(),
            out: Outgoing::new(),
            serial: 0,
            requests: 0,
            registered: false,
            readable: true,
            writable: true,
            closed: false,
            queued: false,
            queued_at: now,
            overdue: false,
            starved: false,
            batched_in: 0,
            ending: None,
            lingering: false,
            drained: 0,
            window: now,
            moved: 0,
            moved_before: 0,
        }
    }
}

struct Slot<S, B> {
    generation: u32,
    peer: Option<Box<Peer<S, B>>>,
}

/// All connections.
pub(super) struct Slots<S, B> {
    slots: Vec<Slot<S, B>>,
    free: Vec<u32>,
}

impl<S, B> Slots<S, B> {
    pub(super) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, peer: Peer<S, B>) -> Key {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                peer: None,
            });
            // Config bounds connections to 2^20.
            (self.slots.len() - 1) as u32
        });
        let entry = &mut self.slots[slot as usize];
        entry.peer = Some(Box::new(peer));
        Key {
            slot,
            generation: entry.generation,
        }
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<Box<Peer<S, B>>> {
        let entry = self.slots.get_mut(key.slot as usize)?;
        if entry.generation != key.generation {
            return None;
        }
        let peer = entry.peer.take()?;
        entry.generation = (entry.generation + 1) & GENERATION_MASK;
        self.free.push(key.slot);
        Some(peer)
    }

    pub(super) fn get(&self, key: Key) -> Option<&Peer<S, B>> {
        self.slots
            .get(key.slot as usize)
            .filter(|entry| entry.generation == key.generation)?
            .peer
            .as_deref()
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut Peer<S, B>> {
        self.slots
            .get_mut(key.slot as usize)
            .filter(|entry| entry.generation == key.generation)?
            .peer
            .as_deref_mut()
    }

    /// The present life of a slot.
    pub(super) fn key(&self, slot: u32) -> Option<Key> {
        let entry = self.slots.get(slot as usize)?;
        entry.peer.as_ref()?;
        Some(Key {
            slot,
            generation: entry.generation,
        })
    }

    /// Every present key.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        (0..self.slots.len() as u32).filter_map(|slot| self.key(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_outlives_its_connection_and_finds_nothing() {
        let address = SocketAddr::from(([127, 0, 0, 1], 9));
        let mut slots: Slots<(), Vec<u8>> = Slots::new();
        let first = slots.insert(Peer::new((), address, 1, Instant::now()));
        assert_eq!(Key::from_token(first.token()), first);
        assert!(slots.remove(first).is_some());
        assert!(slots.remove(first).is_none());
        let second = slots.insert(Peer::new((), address, 1, Instant::now()));
        assert_eq!(second.slot, first.slot);
        assert!(slots.get(first).is_none() && slots.get_mut(second).is_some());
        assert_eq!((slots.len(), slots.key(second.slot)), (1, Some(second)));
    }
}
