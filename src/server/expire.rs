//! What happens when a connection's time is over, and how a shutdown empties the house.
//!
//! Bounded by the turn's time, at least one per turn. A connection that stands in the queue has something to do, so the
//! delay may be ours: it is judged by its next visit, when it has had its chance.

use super::*;
use crate::h1::Reject;

/// After this time an expired connection that waits for its visit is looked at again.
const GRACE: Duration = Duration::from_secs(1);

impl<N: Network, B: AsRef<[u8]>> Server<N, B> {
    /// Deals with every wait that is over, while there is time.
    pub(super) fn expire(&mut self, clock: &impl Clock) {
        while let Some((slot, wait)) = self.deadlines.expired(self.turn.now) {
            match self.slots.key(slot) {
                Some(key) => self.expire_one(key, wait),
                None => self.deadlines.disarm(slot),
            }
            self.turn.now = clock.now();
            if self.turn.now >= self.turn.deadline {
                return;
            }
        }
    }

    fn expire_one(&mut self, key: Key, wait: Wait) {
        let Some(peer) = self.slots.get_mut(key) else { return };
        match wait {
            _ if peer.queued && wait != Wait::Linger => {
                peer.overdue = true;
                self.deadlines.arm(key.slot, wait, self.turn.now + GRACE);
            }
            // A silent preconnect is normal: no 408, no word.
            Wait::Silent | Wait::Idle => self.end(key, End::IdleTimeout),
            Wait::Head => self.refuse(key, Reject::HeaderTimeout),
            Wait::Body => self.refuse(key, Reject::BodyTimeout),
            Wait::Write => self.end(key, End::WriteTimeout),
            Wait::Linger => self.end_for_its_reason(key),
        }
    }

    /// While shutting down: ends who has nothing in flight, and everybody at the deadline.
    pub(super) fn drain_for_shutdown(&mut self, clock: &impl Clock) {
        let Some(until) = self.draining else { return };
        if self.slots.len() == 0 || self.turn.now >= until {
            self.close();
            return;
        }
        for wait in [Wait::Silent, Wait::Idle] {
            while let Some(key) = self.deadlines.oldest(wait).and_then(|slot| self.slots.key(slot)) {
                if self.slots.get(key).is_none_or(|peer| peer.queued) {
                    break;
                }
                self.end(key, End::ServerClosed);
                self.turn.now = clock.now();
                if self.turn.now >= self.turn.deadline {
                    return;
                }
            }
        }
    }
}
