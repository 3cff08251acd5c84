//! When a connection has to have moved on: one ordered list per kind of wait, so that asking costs nothing.
//!
//! All waits of one kind last equally long, so a new one belongs at its list's tail and the next to expire is at the
//! head: arming, moving and disarming are O(1), and a step with 10 000 waiting connections looks at six heads. Where a
//! time is earlier than the tail's (a moment of grace, say), the wait is inserted in order from the tail.
//!
//! Each slot waits for at most one thing. It must never hold a slot that has been freed: the owner disarms first.

use std::time::Instant;

/// What a connection is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// The first byte ever.
    Silent,
    /// The rest of a request head.
    Head,
    /// The rest of a request body.
    Body,
    /// The first byte of the next request.
    Idle,
    /// The peer to take more of a response.
    Write,
    /// The peer to read our last bytes and close.
    Linger,
}

const KINDS: [Wait; 6] = [
    Wait::Silent,
    Wait::Head,
    Wait::Body,
    Wait::Idle,
    Wait::Write,
    Wait::Linger,
];

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Link {
    wait: Option<Wait>,
    at: Option<Instant>,
    previous: u32,
    next: u32,
}

const UNLINKED: Link = Link {
    wait: None,
    at: None,
    previous: NONE,
    next: NONE,
};

#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

/// The waits of all slots.
pub(super) struct Deadlines {
    lists: [List; KINDS.len()],
    links: Vec<Link>,
}

impl Deadlines {
    pub(super) fn new() -> Self {
        Self {
            lists: [List { head: NONE, tail: NONE }; KINDS.len()],
            links: Vec::new(),
        }
    }

    /// Lets `slot` wait for `wait` until `at`, instead of whatever it waited for.
    pub(super) fn arm(&mut self, slot: u32, wait: Wait, at: Instant) {
        self.disarm(slot);
        if self.links.len() <= slot as usize {
            self.links.resize(slot as usize + 1, UNLINKED);
        }
        let mut after = self.lists[wait as usize].tail;
        while after != NONE && self.links[after as usize].at > Some(at) {
            after = self.links[after as usize].previous;
        }
        let next = match after {
            NONE => std::mem::replace(&mut self.lists[wait as usize].head, slot),
            after => std::mem::replace(&mut self.links[after as usize].next, slot),
        };
        match next {
            NONE => self.lists[wait as usize].tail = slot,
            next => self.links[next as usize].previous = slot,
        }
        self.links[slot as usize] = Link {
            wait: Some(wait),
            at: Some(at),
            previous: after,
            next,
        };
    }

    /// Lets `slot` wait for nothing.
    pub(super) fn disarm(&mut self, slot: u32) {
        let Some(link) = self.links.get(slot as usize).copied() else {
            return;
        };
        let Some(wait) = link.wait else { return };
        match link.previous {
            NONE => self.lists[wait as usize].head = link.next,
            previous => self.links[previous as usize].next = link.next,
        }
        match link.next {
            NONE => self.lists[wait as usize].tail = link.previous,
            next => self.links[next as usize].previous = link.previous,
        }
        self.links[slot as usize] = UNLINKED;
    }

    /// What `slot` waits for.
    pub(super) fn wait_of(&self, slot: u32) -> Option<Wait> {
        self.links.get(slot as usize).and_then(|link| link.wait)
    }

    /// The slot that has waited longest for `wait`.
    pub(super) fn oldest(&self, wait: Wait) -> Option<u32> {
        match self.lists[wait as usize].head {
            NONE => None,
            slot => Some(slot),
        }
    }

    /// All slots that wait for this, the next to expire first.
    pub(super) fn in_order(&self, wait: Wait) -> impl Iterator<Item = u32> + '_ {
        let next = move |slot: &u32| Some(self.links[*slot as usize].next).filter(|next| *next != NONE);
        std::iter::successors(self.oldest(wait), next)
    }

    /// A slot whose time has come at `now`.
    pub(super) fn expired(&self, now: Instant) -> Option<(u32, Wait)> {
        KINDS.into_iter().find_map(|wait| {
            let slot = self.oldest(wait)?;
            (self.links[slot as usize].at <= Some(now)).then_some((slot, wait))
        })
    }

    /// The first time at which something expires.
    pub(super) fn next(&self) -> Option<Instant> {
        KINDS
            .into_iter()
            .filter_map(|wait| self.links[self.oldest(wait)? as usize].at)
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn expires_in_order_whatever_the_order_of_arming() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut deadlines = Deadlines::new();
        for (slot, ms) in [(0, 30), (1, 10), (2, 20), (3, 40)] {
            deadlines.arm(slot, Wait::Body, at(ms));
        }
        assert_eq!(deadlines.next(), Some(at(10)));
        assert_eq!(deadlines.expired(at(9)), None);
        let mut order = Vec::new();
        while let Some((slot, wait)) = deadlines.expired(at(35)) {
            assert_eq!(wait, Wait::Body);
            order.push(slot);
            deadlines.disarm(slot);
        }
        assert_eq!(order, [1, 2, 0]);
        assert_eq!(deadlines.next(), Some(at(40)));
    }

    #[test]
    fn arming_again_moves_between_lists_and_disarming_unlinks_middle_head_and_tail() {
        let start = Instant::now();
        let at = |s| start + Duration::from_secs(s);
        for gone in 0..3 {
            let mut deadlines = Deadlines::new();
            for slot in 0..3 {
                deadlines.arm(slot, Wait::Idle, at(slot as u64));
            }
            deadlines.arm(gone, Wait::Head, at(5));
            assert_eq!(deadlines.wait_of(gone), Some(Wait::Head));
            let mut rest = Vec::new();
            while let Some(slot) = deadlines.oldest(Wait::Idle) {
                rest.push(slot);
                deadlines.disarm(slot);
            }
            assert_eq!(rest, (0..3).filter(|slot| *slot != gone).collect::<Vec<_>>());
            assert_eq!(deadlines.expired(at(5)), Some((gone, Wait::Head)));
            deadlines.disarm(gone);
            deadlines.disarm(gone);
            assert_eq!(deadlines.next(), None);
        }
    }
}
