//! What goes wrong on the simulated network, and what its calls cost and count.
//!
//! A draw leaves out each kind of fault half of the time: a run in which everything fails finds less than many runs that
//! each fail in their own way.

use std::time::Duration;

use super::Random;

/// What goes wrong, and how often (percent of calls).
#[derive(Clone, Debug)]
pub struct Faults {
    /// As on Windows: a report comes once, and again only after a call said `WouldBlock`. Otherwise as on Linux: every
    /// arrival is reported, with everything else that is ready.
    pub strict: bool,
    pub short_recv: u32,
    pub short_send: u32,
    /// Polls that report a token for which nothing happened.
    pub spurious: u32,
    /// Receives and sends ended by a signal.
    pub interrupted: u32,
    /// Accepts that fail: half of them lose the connection, half find no descriptor free.
    pub accept_fails: u32,
    /// Reports per poll; the rest comes with the next.
    pub events_per_poll: usize,
    /// Virtual time of one call.
    pub call_cost: Duration,
    /// Virtual time of 1024 bytes moved.
    pub kib_cost: Duration,
}

impl Faults {
    /// A network on which nothing goes wrong and no time passes.
    pub fn none() -> Self {
        Faults {
            strict: false,
            short_recv: 0,
            short_send: 0,
            spurious: 0,
            interrupted: 0,
            accept_fails: 0,
            events_per_poll: 1024,
            call_cost: Duration::ZERO,
            kib_cost: Duration::ZERO,
        }
    }

    /// A draw of faults: each kind is absent half of the time, so that every combination is met.
    pub fn draw(random: &mut Random) -> Self {
        let mut percent = |most: usize| {
            if random.chance(50) {
                0
            } else {
                random.between(1, most) as u32
            }
        };
        let (short_recv, short_send, spurious) = (percent(60), percent(60), percent(30));
        let (interrupted, accept_fails) = (percent(10), percent(20));
        Faults {
            strict: random.chance(50),
            short_recv,
            short_send,
            spurious,
            interrupted,
            accept_fails,
            events_per_poll: if random.chance(20) { random.between(1, 4) } else { 1024 },
            call_cost: Duration::from_nanos(random.between(200, 8000) as u64),
            kib_cost: Duration::from_nanos(random.between(50, 400) as u64),
        }
    }
}

/// Calls and bytes since the start, as the server made them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub polls: u64,
    /// Calls of `accept`, and how many of them gave a connection.
    pub accepts: u64,
    pub accepted: u64,
    pub registers: u64,
    pub recvs: u64,
    pub sends: u64,
    pub shutdowns: u64,
    /// Streams the server dropped.
    pub drops: u64,
    pub received_bytes: u64,
    pub sent_bytes: u64,
}

impl Counts {
    /// Calls that reach the system.
    pub fn calls(&self) -> u64 {
        self.polls + self.accepts + self.registers + self.recvs + self.sends + self.shutdowns
    }
}
