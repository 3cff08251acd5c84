//! Who came and who went: connections, kept for an owner that wants to hear of them.
//!
//! Nothing is recorded for one that does not. An owner that does takes what was recorded in each turn, which bounds it:
//! a turn accepts so many connections, and can end no more than there are.

use super::*;

/// A connection that was accepted or has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Counts the connections of the server from 1.
    pub connection: u64,
    /// The peer's address, as the socket told it.
    pub address: SocketAddr,
    /// Why it has ended; `None` for one that was accepted.
    pub end: Option<End>,
}

/// What was recorded, if anything is.
#[derive(Default)]
pub(super) struct Watch {
    on: bool,
    passages: VecDeque<Passage>,
}

impl Watch {
    #[inline]
    pub(super) fn record(&mut self, passage: Passage) {
        if self.on {
            self.passages.push_back(passage);
        }
    }
}

impl<N: Network, B: AsRef<[u8]>> Server<N, B> {
    /// Begins or stops to record who comes and goes. What nobody took is forgotten when it stops.
    pub fn watch(&mut self, on: bool) {
        self.watch.on = on;
        if !on {
            self.watch.passages = VecDeque::new();
        }
    }

    /// The earliest passage that nobody has taken.
    pub fn next_passage(&mut self) -> Option<Passage> {
        self.watch.passages.pop_front()
    }
}
