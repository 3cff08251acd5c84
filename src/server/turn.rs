//! A turn: ask the poller, expire, accept, then visit connections until the queue is empty or the budget is spent.
//!
//! Budgets are looked at between units; each phase does at least one unit, so a tiny budget is slow and never stuck.
//! The time of a turn is therefore at most its budget, one handler and one unit of input or output.

use super::*;
use crate::net::LISTENER;

/// What a turn did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Requests handed to the handler.
    pub dispatched: usize,
    /// Connections that still have work the budget did not reach.
    pub waiting: usize,
}

/// The running turn's budget.
pub(super) struct TurnState {
    pub(super) number: u64,
    pub(super) started: Instant,
    pub(super) deadline: Instant,
    /// The time as last read.
    pub(super) now: Instant,
    pub(super) handler_started: Instant,
    pub(super) io_left: usize,
    pub(super) dispatches_left: usize,
    pub(super) dispatched: usize,
    pub(super) visits: usize,
    /// Connections whose answers were kept back in this turn.
    pub(super) batched: usize,
    /// Connections that were reported to have ended their side.
    leaving: usize,
}

impl TurnState {
    pub(super) fn before_any(now: Instant) -> Self {
        Self {
            number: 0,
            started: now,
            deadline: now,
            now,
            handler_started: now,
            io_left: 0,
            dispatches_left: 0,
            dispatched: 0,
            visits: 0,
            batched: 0,
            leaving: 0,
        }
    }

    fn begin(&mut self, now: Instant, budget: Duration, config: &Config) {
        let dispatches = match config.max_dispatches_per_step {
            0 => usize::MAX,
            most => most,
        };
        let number = self.number + 1;
        *self = Self {
            number,
            deadline: now + budget,
            io_left: config.max_io_bytes_per_step,
            dispatches_left: dispatches,
            ..Self::before_any(now)
        };
    }

    fn has_time(&self) -> bool {
        self.now < self.deadline
    }

    fn may_visit(&self) -> bool {
        self.visits == 0 || (self.has_time() && self.io_left > 0 && self.dispatches_left > 0)
    }
}

/// Silent connections that are looked at for one to evict: those in the queue have just been heard of.
const EVICTION_LOOKS: usize = 64;

/// After the system failed to accept (out of descriptors, say), it is asked again this much later.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl<N: Network, B: AsRef<[u8]>> Server<N, B> {
    /// Begins a turn: asks the poller, sleeping at most `wait` (zero: not at all; `None`: until something happens),
    /// then expires and accepts. `budget` replaces `step_seconds` for this turn. On an error of the poller, which may
    /// be `Interrupted`, the turn has begun all the same.
    pub fn begin_turn(
        &mut self,
        clock: &impl Clock,
        budget: Option<Duration>,
        wait: Option<Duration>,
    ) -> io::Result<()> {
        let asked = clock.now();
        let polled = if self.closed {
            Ok(())
        } else {
            self.network.poll(wait, &mut self.ready)
        };
        let started = if wait == Some(Duration::ZERO) {
            asked
        } else {
            clock.now()
        };
        self.turn
            .begin(started, budget.unwrap_or(self.config.step_seconds), &self.config);
        self.stats.steps += 1;
        if self.closed {
            return Ok(());
        }
        self.date.refresh(started, clock);
        self.take_events();
        self.feed_starved();
        self.expire(clock);
        self.drain_for_shutdown(clock);
        self.accept(clock);
        polled
    }

    /// The next request to hand to the handler, after as many visits as it takes to find one. `None` ends the turn.
    pub fn next_request(&mut self, clock: &impl Clock) -> Option<RequestId> {
        while self.turn.may_visit() {
            let key = self.queue.pop_front()?;
            if let Some(id) = self.visit(key) {
                return Some(id);
            }
            self.turn.now = clock.now();
        }
        None
    }

    /// Ends the turn: sends what was kept back for a pipeline that the budget cut, and counts.
    pub fn end_turn(&mut self, clock: &impl Clock) -> Turn {
        if self.turn.batched > 0 {
            self.send_kept_back(clock);
        }
        // An idle turn read the clock once; its end is its beginning as far as anybody can tell.
        if self.turn.visits > 0 {
            self.turn.now = clock.now();
        }
        let took = self.turn.now.saturating_duration_since(self.turn.started);
        self.stats.step_time_total += took;
        self.stats.step_time_max = self.stats.step_time_max.max(took);
        if self.turn.visits > 0 && self.turn.now > self.turn.deadline {
            self.stats.steps_over_budget += 1;
        }
        Turn {
            dispatched: self.turn.dispatched,
            waiting: self.queue.len(),
        }
    }

    fn take_events(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        for event in ready.drain(..) {
            if event.token == LISTENER {
                self.listener_ready = self.draining.is_none();
                continue;
            }
            let key = Key::from_token(event.token);
            let Some(peer) = self.slots.get_mut(key) else { continue };
            peer.readable |= event.readable || event.closed;
            peer.writable |= event.writable;
            peer.closed |= event.closed;
            self.turn.leaving += usize::from(event.closed);
            // While an answer waits to be sent nothing is received: then only room to send is work.
            let has_work = if peer.out.is_empty() {
                peer.readable
            } else {
                peer.writable
            };
            if has_work {
                self.enqueue(key);
            }
        }
        self.ready = ready;
    }

    fn feed_starved(&mut self) {
        let mut room = pool::BASE;
        while !self.starved.is_empty() && self.pool.fits(room) {
            room += pool::BASE;
            let Some(key) = self.starved.pop_front() else { return };
            if let Some(peer) = self.slots.get_mut(key) {
                peer.starved = false;
                self.enqueue(key);
            }
        }
    }

    fn accept(&mut self, clock: &impl Clock) {
        let mut left = self.config.max_accepts_per_step;
        if self.accept_after.is_some_and(|after| self.turn.now < after) {
            return;
        }
        self.accept_after = None;
        while self.listener_ready && left > 0 {
            // Who leaves in this turn makes room for who comes in the next.
            if self.turn.leaving > 0 && self.is_full() {
                return;
            }
            left -= 1;
            match self.network.accept() {
                Ok((stream, address)) => self.admit(stream, address),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => self.listener_ready = false,
                    // The connection was gone before we came to it.
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted => {}
                    _ => {
                        self.stats.accept_errors += 1;
                        self.accept_after = Some(self.turn.now + ACCEPT_PAUSE);
                        return;
                    }
                },
            }
            self.turn.now = clock.now();
            if !self.turn.has_time() {
                return;
            }
        }
    }

    /// Gives an accepted connection a place and its first visit, or refuses it.
    fn admit(&mut self, stream: N::Stream, address: SocketAddr) {
        self.stats.accepted += 1;
        let per_address = self.config.max_connections_per_address;
        let crowded = per_address > 0 && self.per_address.get(&address.ip()).is_some_and(|n| *n >= per_address);
        let full = !crowded && self.is_full() && !self.evict();
        if per_address > 0 {
            *self.per_address.entry(address.ip()).or_insert(0) += 1;
        }
        let number = self.stats.accepted;
        self.watch.record(Passage {
            connection: number,
            address,
            end: None,
        });
        let key = self.slots.insert(Peer::new(stream, address, number, self.turn.now));
        if crowded || full {
            self.refuse_connection(key);
        } else {
            self.enqueue(key);
        }
    }

    /// Ends the oldest connection that has never sent anything; false when there is none.
    fn evict(&mut self) -> bool {
        let is_silent = |key: &Key| self.slots.get(*key).is_some_and(|peer| !peer.queued);
        let silent = self.deadlines.in_order(Wait::Silent).take(EVICTION_LOOKS);
        let Some(key) = silent.filter_map(|slot| self.slots.key(slot)).find(is_silent) else {
            return false;
        };
        self.end(key, End::Evicted);
        true
    }

    /// Whether there is no place for a connection.
    fn is_full(&self) -> bool {
        self.slots.len() - self.lingering >= self.config.max_connections
    }

    fn send_kept_back(&mut self, clock: &impl Clock) {
        let number = self.turn.number;
        let mut sent = 0;
        for at in 0..self.queue.len() {
            let key = self.queue[at];
            if self
                .slots
                .get(key)
                .is_none_or(|peer| peer.batched_in != number || peer.out.is_empty())
            {
                continue;
            }
            self.flush(key);
            sent += 1;
            self.turn.now = clock.now();
            if sent == self.turn.batched || !self.turn.has_time() || self.turn.io_left == 0 {
                return;
            }
        }
    }
}
