//! Virtual time: it stands still until someone spends it.
//!
//! The simulated network spends some on every call; a test spends what its handlers cost and the time between turns.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::server::Clock;

/// Unix time at which every simulation starts: 2001-09-09 01:46:40 UTC.
const EPOCH: u64 = 1_000_000_000;

/// A clock shared by its clones; see the head of this file.
#[derive(Clone, Debug)]
pub struct SimClock {
    /// Where it started. Only differences to it are ever looked at, so runs do not differ by it.
    base: Instant,
    elapsed: Rc<Cell<Duration>>,
}

impl SimClock {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        SimClock {
            base: Instant::now(),
            elapsed: Rc::default(),
        }
    }

    /// Virtual time since the start.
    pub fn elapsed(&self) -> Duration {
        self.elapsed.get()
    }

    /// Lets `time` pass.
    pub fn spend(&self, time: Duration) {
        self.elapsed.set(self.elapsed.get() + time);
    }

    /// Moves on to `elapsed` since the start; never back.
    pub fn reach(&self, elapsed: Duration) {
        self.elapsed.set(self.elapsed.get().max(elapsed));
    }
}

impl Clock for SimClock {
    fn now(&self) -> Instant {
        self.base + self.elapsed.get()
    }

    fn unix_time(&self) -> u64 {
        EPOCH + self.elapsed.get().as_secs()
    }
}
