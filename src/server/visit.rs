//! One visit of one connection: send what waits, receive, parse, and hand out at most one request.
//!
//! A visit makes at most one send, and receives at most `max_io_bytes_per_visit` in a bounded number of calls.
//! Readiness is edge-triggered: a connection leaves the queue only when the system has said `WouldBlock` (or a short
//! read has, where that is known to mean the same), or when somebody else is to act next.

use super::*;
use crate::h1::{Progress, Reject};
use crate::net::Stream;
use std::io::ErrorKind;

/// What a send has come to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// Everything has gone; the connection goes on.
    All,
    /// The rest waits for room or for the next visit.
    Part,
    /// The connection has ended or lingers.
    Gone,
}

/// What a receive has come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Received {
    /// Something new for the parser, perhaps the end.
    News,
    /// Nothing for now.
    Later,
}

/// Receives in one visit. A buffer that doubles from 4 KiB holds 64 KiB after five; a peer whose bytes trickle in while
/// we look has to wait for its next turn.
const RECEIVES_PER_VISIT: usize = 16;

/// Lingering ends after this time (RFC 9112 section 9.6): long enough for a far peer to read our answer.
const LINGER_TIME: Duration = Duration::from_secs(5);

/// Lingering reads at most this much; then the reset is deserved.
const LINGER_BYTES: u64 = 64 << 20;

impl<N: Network, B: AsRef<[u8]>> Server<N, B> {
    /// Visits a connection; `Some` when it has a request for the handler.
    pub(super) fn visit(&mut self, key: Key) -> Option<RequestId> {
        let number = self.turn.number;
        let peer = self.slots.get_mut(key)?;
        peer.queued = false;
        self.turn.visits += 1;
        if peer.lingering {
            self.drain(key);
            return None;
        }
        if !peer.out.is_empty() {
            // Kept back in this turn: the next answer joins it, unless nothing may follow.
            let joins = peer.batched_in == number && !peer.out.holds() && peer.ending.is_none();
            if !joins && self.flush(key) != Sent::All {
                return None;
            }
        }
        self.receive(key)
    }

    fn receive(&mut self, key: Key) -> Option<RequestId> {
        let mut left = self.config.max_io_bytes_per_visit.min(self.turn.io_left.max(1));
        let mut calls = 0;
        loop {
            let peer = self.slots.get_mut(key)?;
            match peer.h1.advance(&self.limits) {
                Progress::Request => return self.dispatch(key),
                Progress::NeedMore => {
                    calls += 1;
                    if calls > RECEIVES_PER_VISIT {
                        left = 0;
                    }
                    if self.receive_once(key, &mut left) == Received::Later {
                        return None;
                    }
                }
                Progress::Continue => {
                    let before = peer.out.bytes.capacity();
                    peer.h1.write_continue(&mut peer.out.bytes);
                    self.pool.true_up(before, &peer.out.bytes);
                    if self.flush(key) != Sent::All {
                        return None;
                    }
                }
                Progress::Refused(reject) => {
                    self.refuse(key, reject);
                    return None;
                }
                Progress::Closed => {
                    self.finish_with(key, End::PeerClosed);
                    return None;
                }
            }
        }
    }

    /// Receives once into the connection's own buffer.
    fn receive_once(&mut self, key: Key, left: &mut usize) -> Received {
        let Some(peer) = self.slots.get_mut(key) else {
            return Received::Later;
        };
        // Nothing may be received while answers wait: the peer has to read first.
        if !peer.out.is_empty() && self.flush(key) != Sent::All {
            return Received::Later;
        }
        let Some(peer) = self.slots.get_mut(key) else {
            return Received::Later;
        };
        if !peer.readable {
            self.park(key);
            return Received::Later;
        }
        if *left == 0 {
            self.enqueue(key);
            return Received::Later;
        }
        if !self.make_room(key) {
            return Received::Later;
        }
        let Some(peer) = self.slots.get_mut(key) else {
            return Received::Later;
        };
        let space = peer.h1.recv_space();
        let lent = space.len().min(*left);
        match peer.stream.recv(&mut space[..lent]) {
            Ok(0) => {
                peer.readable = false;
                peer.h1.recv_eof();
                Received::News
            }
            Ok(count) => {
                peer.h1.recv_commit(count);
                peer.moved += count as u64;
                peer.readable = count == lent || peer.closed || !N::SHORT_READ_DRAINS;
                *left -= count;
                self.turn.io_left = self.turn.io_left.saturating_sub(count);
                self.stats.bytes_in += count as u64;
                Received::News
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => {
                    peer.readable = false;
                    self.park(key);
                    Received::Later
                }
                ErrorKind::Interrupted => Received::News,
                _ => {
                    self.end(key, End::Reset);
                    Received::Later
                }
            },
        }
    }

    /// Gives the connection a buffer with room to receive; false when there is no memory for it now.
    fn make_room(&mut self, key: Key) -> bool {
        let Some(peer) = self.slots.get_mut(key) else {
            return false;
        };
        let (wanted, have) = (peer.h1.recv_wanted(&self.limits), peer.h1.buffer_capacity());
        if wanted <= have {
            return true;
        }
        if let Some(storage) = self.pool.take_input(wanted) {
            let old = peer.h1.replace_storage(storage);
            if !old.is_empty() {
                self.pool.give_input(old);
            }
            return true;
        }
        if have == 0 {
            // It has no part of a request here yet: its bytes wait where they are.
            if !peer.starved {
                peer.starved = true;
                self.starved.push_back(key);
            }
        } else {
            self.refuse(key, Reject::Overloaded);
        }
        false
    }

    /// Nothing to do until the poller says so: has the connection watched, and sees that it moves on in time.
    pub(super) fn park(&mut self, key: Key) {
        let Some(peer) = self.slots.get_mut(key) else { return };
        if !peer.registered {
            if self.network.register(&mut peer.stream, key.token()).is_err() {
                self.end(key, End::Reset);
                return;
            }
            peer.registered = true;
        }
        let now = self.turn.now;
        let overdue = std::mem::take(&mut peer.overdue);
        if !peer.out.is_empty() {
            return self.await_progress(key, Wait::Write, self.config.write_timeout, overdue);
        }
        if let Some(storage) = peer.h1.release_storage() {
            self.pool.give_input(storage);
        }
        let wait = self.deadlines.wait_of(key.slot);
        if peer.h1.in_body() {
            self.await_progress(key, Wait::Body, self.config.body_timeout, overdue);
        } else if peer.h1.started() {
            if wait != Some(Wait::Head) {
                self.deadlines
                    .arm(key.slot, Wait::Head, now + self.config.header_timeout);
            } else if overdue {
                // However much has come of it: a head's time is absolute.
                self.refuse(key, Reject::HeaderTimeout);
            }
        } else {
            let kind = if peer.requests == 0 { Wait::Silent } else { Wait::Idle };
            if wait != Some(kind) {
                self.deadlines.arm(key.slot, kind, now + self.config.keep_alive_timeout);
            } else if overdue {
                self.end(key, End::IdleTimeout);
            }
        }
    }

    /// Arms a wait that every progress renews, as long as it is fast enough over a whole time-out. `overdue`: its time is
    /// over, and the visit that has just been was the last chance.
    fn await_progress(&mut self, key: Key, wait: Wait, timeout: Duration, overdue: bool) {
        let now = self.turn.now;
        let renewed = self.deadlines.wait_of(key.slot) == Some(wait);
        let Some(peer) = self.slots.get_mut(key) else { return };
        if !renewed {
            peer.window = now;
            (peer.moved, peer.moved_before) = (0, 0);
            return self.deadlines.arm(key.slot, wait, now + timeout);
        }
        let stands = peer.moved == peer.moved_before;
        if stands && !overdue {
            return;
        }
        let full = now.saturating_duration_since(peer.window) >= timeout;
        if stands || full {
            if stands || (peer.moved as f64) < MIN_RATE as f64 * timeout.as_secs_f64() {
                match wait {
                    Wait::Body => self.refuse(key, Reject::BodyTimeout),
                    _ => self.end(key, End::WriteTimeout),
                }
                return;
            }
            peer.window = now;
            peer.moved = 0;
        }
        peer.moved_before = peer.moved;
        self.deadlines.arm(key.slot, wait, now + timeout);
    }

    /// Sends what waits, with one call. Ends or lingers when that was the last of it.
    pub(super) fn flush(&mut self, key: Key) -> Sent {
        let most = self.config.max_io_bytes_per_visit.min(self.turn.io_left.max(1));
        let Some(peer) = self.slots.get_mut(key) else {
            return Sent::Gone;
        };
        if peer.writable && !peer.out.is_empty() {
            match peer.out.send(&mut peer.stream, most, peer.ending.is_some()) {
                Ok(count) => {
                    peer.moved += count as u64;
                    self.turn.io_left = self.turn.io_left.saturating_sub(count);
                    self.stats.bytes_out += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => peer.writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.end(key, End::Reset);
                    return Sent::Gone;
                }
            }
        }
        if peer.out.is_empty() {
            self.pool.give_output(&mut peer.out.bytes);
            if self.deadlines.wait_of(key.slot) == Some(Wait::Write) {
                self.deadlines.disarm(key.slot);
            }
            return match peer.ending {
                None => Sent::All,
                Some(_) => self.linger_or_end(key),
            };
        }
        let writable = peer.writable;
        self.park(key);
        if writable {
            self.enqueue(key);
        }
        Sent::Part
    }

    /// Has the connection end for `end` as soon as everything is sent.
    pub(super) fn finish_with(&mut self, key: Key, end: End) {
        let Some(peer) = self.slots.get_mut(key) else { return };
        peer.ending = Some(end);
        self.flush(key);
    }

    /// Answers in a handler's stead, and ends the connection after it.
    pub(super) fn refuse(&mut self, key: Key, reject: Reject) {
        self.stats.refused(reject);
        self.write_refusal(key, reject, End::Refused);
        self.flush(key);
    }

    /// Answers a connection for which there is no place.
    pub(super) fn refuse_connection(&mut self, key: Key) {
        self.stats.refused(Reject::Overloaded);
        self.write_refusal(key, Reject::Overloaded, End::Full);
        self.flush(key);
    }

    /// Encodes a refusal, which ends the connection for `end`. It may exceed the pool: one sentence per connection is
    /// little, and saying nothing would be worse.
    pub(super) fn write_refusal(&mut self, key: Key, reject: Reject, end: End) {
        let Some(peer) = self.slots.get_mut(key) else { return };
        let _within_limit = self.pool.reserve_output(&mut peer.out.bytes, exchange::HEAD_ROOM);
        let before = peer.out.bytes.capacity();
        peer.h1.refuse(reject, &self.date.text, &mut peer.out.bytes);
        self.pool.true_up(before, &peer.out.bytes);
        peer.ending = Some(end);
    }

    /// Everything is sent. Closing with unread bytes would reset the connection and might destroy the answer, so that
    /// our side is shut down first and the peer's last bytes are drained (RFC 9112 section 9.6).
    fn linger_or_end(&mut self, key: Key) -> Sent {
        let Some(peer) = self.slots.get_mut(key) else {
            return Sent::Gone;
        };
        let unread = peer.readable || peer.h1.lingers();
        if !unread || peer.stream.shutdown_write().is_err() {
            self.end_for_its_reason(key);
            return Sent::Gone;
        }
        peer.lingering = true;
        let held = peer.h1.buffer_capacity();
        peer.h1 = h1::Connection::new();
        self.pool.forget_input(held);
        self.lingering += 1;
        self.deadlines.arm(key.slot, Wait::Linger, self.turn.now + LINGER_TIME);
        self.enqueue(key);
        if self.lingering > LINGERING_MAX
            && let Some(oldest) = self
                .deadlines
                .oldest(Wait::Linger)
                .and_then(|slot| self.slots.key(slot))
        {
            self.end_for_its_reason(oldest);
        }
        Sent::Gone
    }

    /// Throws away what a lingering peer still sends.
    fn drain(&mut self, key: Key) {
        let most = self
            .config
            .max_io_bytes_per_visit
            .min(self.turn.io_left.max(1))
            .min(self.sink.len());
        let Some(peer) = self.slots.get_mut(key) else { return };
        match peer.stream.recv(&mut self.sink[..most]) {
            Ok(0) => self.end_for_its_reason(key),
            Ok(count) => {
                peer.drained += count as u64;
                self.turn.io_left = self.turn.io_left.saturating_sub(count);
                self.stats.bytes_in += count as u64;
                if peer.drained > LINGER_BYTES {
                    self.end_for_its_reason(key);
                } else {
                    self.enqueue(key);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => self.enqueue(key),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                peer.readable = false;
                if !peer.registered {
                    if self.network.register(&mut peer.stream, key.token()).is_err() {
                        return self.end_for_its_reason(key);
                    }
                    peer.registered = true;
                }
            }
            Err(_) => self.end_for_its_reason(key),
        }
    }

    pub(super) fn end_for_its_reason(&mut self, key: Key) {
        let end = self
            .slots
            .get(key)
            .and_then(|peer| peer.ending)
            .unwrap_or(End::Answered);
        self.end(key, end);
    }
}
