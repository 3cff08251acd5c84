//! A network without sockets: readiness exactly as edge-triggered pollers report it, and every fault a real one has.
//!
//! The server side is [`SimNetwork`]; a test holds the [`SimHandle`] and opens [`Peer`]s. Calls cost virtual time. What a
//! correct caller never does (receive into nothing, send after the end, register twice) panics, so that it is found.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use super::wire::{Arrival, ServerSide, Wire};
use super::{Counts, Faults, Random, SimClock, SimHandle};
use crate::net::{LISTENER, Network, Ready, Stream};

/// Everything behind the handles.
pub(super) struct World {
    clock: SimClock,
    random: Random,
    pub(super) faults: Faults,
    pub(super) counts: Counts,
    pub(super) wires: Vec<Wire>,
    pub(super) addresses: Vec<SocketAddr>,
    /// When a wire has something arriving: time, order, wire.
    pub(super) due: BinaryHeap<Reverse<(Duration, u64, usize)>>,
    order: u64,
    /// Wires that may owe a report, in the order of their causes.
    pub(super) owing: VecDeque<usize>,
    tokens: HashMap<usize, usize>,
    pub(super) listening: bool,
    pub(super) backlog: VecDeque<usize>,
    pub(super) owes_listener: bool,
    pub(super) listener_armed: bool,
}

impl World {
    /// A call takes its time, whatever comes of it.
    fn spend_call(&self) {
        self.clock.spend(self.faults.call_cost);
    }

    /// Moving bytes takes time besides.
    fn spend_moved(&self, bytes: usize) {
        let nanos = self.faults.kib_cost.as_nanos() as u64 * bytes as u64 / 1024;
        self.clock.spend(Duration::from_nanos(nanos));
    }

    /// Lets everything arrive whose time has come.
    fn deliver(&mut self) {
        let now = self.clock.elapsed();
        while let Some(&Reverse((at, _, id))) = self.due.peek() {
            if at > now {
                break;
            }
            self.due.pop();
            if let Some((_, arrival)) = self.wires[id].under_way.pop_front() {
                self.wires[id].arrive(arrival, self.faults.strict);
                self.lose_unsent(id);
                self.owing.push_back(id);
            }
        }
    }

    /// A reset may destroy what the peer has not taken yet: all of it, a part, or nothing.
    fn lose_unsent(&mut self, id: usize) {
        let wire = &mut self.wires[id];
        if wire.reset_by_server && !wire.sent.is_empty() {
            let kept = self.random.below(wire.sent.len() + 1);
            wire.sent.truncate(kept);
        }
    }

    pub(super) fn schedule(&mut self, id: usize, delay: Duration, arrival: Arrival) {
        let earliest = self.wires[id].under_way.back().map_or(Duration::ZERO, |last| last.0);
        let at = (self.clock.elapsed() + delay).max(earliest);
        self.wires[id].under_way.push_back((at, arrival));
        self.order += 1;
        self.due.push(Reverse((at, self.order, id)));
    }

    /// Appends what is owed, at most `events_per_poll` reports.
    fn report(&mut self, ready: &mut Vec<Ready>) {
        let first = ready.len();
        if std::mem::take(&mut self.owes_listener) && self.listening {
            ready.push(Ready {
                token: LISTENER,
                readable: true,
                ..Ready::default()
            });
        }
        while ready.len() - first < self.faults.events_per_poll {
            let Some(id) = self.owing.pop_front() else { break };
            ready.extend(self.owed(id));
        }
        if self.random.chance(self.faults.spurious) && !self.wires.is_empty() {
            let wire = self.random.below(self.wires.len());
            if let Some(token) = self.wires[wire].token {
                let readable = self.random.chance(50);
                ready.push(Ready {
                    token,
                    readable,
                    writable: !readable,
                    closed: false,
                });
            }
        }
        self.random.shuffle(&mut ready[first..]);
    }

    fn owed(&mut self, id: usize) -> Option<Ready> {
        let strict = self.faults.strict;
        let wire = &mut self.wires[id];
        let (mut readable, mut writable) = (wire.owes_readable, wire.owes_writable);
        if !readable && !writable {
            return None;
        }
        let token = wire.token?;
        wire.owes_readable = false;
        wire.owes_writable = false;
        if !strict {
            // The system looks again when asked, and tells all that it sees.
            (readable, writable) = (wire.readable(), wire.writable());
        }
        let closed = readable && (wire.ended || wire.reset);
        (readable || writable).then_some(Ready {
            token,
            readable,
            writable,
            closed,
        })
    }

    fn interrupted(&mut self) -> io::Result<()> {
        if self.random.chance(self.faults.interrupted) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(())
    }

    fn accept(&mut self) -> io::Result<usize> {
        self.counts.accepts += 1;
        self.spend_call();
        if self.backlog.is_empty() {
            self.listener_armed = true;
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if self.random.chance(self.faults.accept_fails) {
            if self.random.chance(50) {
                // No descriptor free: the connection waits on, and nobody reports it again.
                return Err(io::Error::other("too many open files"));
            }
            let lost = self.backlog.pop_front().expect("asked above");
            self.wires[lost].close();
            self.wires[lost].reset_by_server = true;
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let id = self.backlog.pop_front().expect("asked above");
        self.wires[id].server = ServerSide::Open;
        self.counts.accepted += 1;
        Ok(id)
    }

    fn recv(&mut self, id: usize, into: &mut [u8]) -> io::Result<usize> {
        assert!(
            !into.is_empty(),
            "received into nothing: the count would look like the end"
        );
        self.counts.recvs += 1;
        self.spend_call();
        self.deliver();
        self.interrupted()?;
        let wire = &mut self.wires[id];
        if wire.arrived.is_empty() {
            if wire.reset {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            if wire.ended {
                return Ok(0);
            }
            wire.arm_read();
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut count = into.len().min(wire.arrived.len());
        if self.random.chance(self.faults.short_recv) {
            count = self.random.between(1, count);
        }
        for (to, from) in into.iter_mut().zip(wire.arrived.drain(..count)) {
            *to = from;
        }
        self.counts.received_bytes += count as u64;
        self.spend_moved(count);
        Ok(count)
    }

    fn send(&mut self, id: usize, pieces: [&[u8]; 2]) -> io::Result<usize> {
        let len = pieces[0].len() + pieces[1].len();
        assert!(len > 0, "sent nothing");
        assert!(!self.wires[id].send_ended, "sent after the sending side was shut down");
        self.counts.sends += 1;
        self.spend_call();
        self.deliver();
        self.interrupted()?;
        let wire = &mut self.wires[id];
        if wire.reset {
            let kind = if self.random.chance(50) {
                io::ErrorKind::BrokenPipe
            } else {
                io::ErrorKind::ConnectionReset
            };
            return Err(kind.into());
        }
        let room = wire.window.saturating_sub(wire.sent.len());
        if room == 0 {
            wire.arm_write();
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut count = len.min(room);
        if self.random.chance(self.faults.short_send) {
            count = self.random.between(1, count);
        }
        if count == room && count < len && !self.faults.strict {
            wire.arm_write();
        }
        wire.sent.extend(pieces[0].iter().chain(pieces[1]).take(count));
        self.counts.sent_bytes += count as u64;
        self.spend_moved(count);
        Ok(count)
    }
}

/// The server's side: give it to the server under test. `DRAINS` is what it claims as
/// [`Network::SHORT_READ_DRAINS`]; a network with short receives or strict readiness may not claim it.
pub struct SimNetwork<const DRAINS: bool> {
    world: Rc<RefCell<World>>,
}

impl<const DRAINS: bool> SimNetwork<DRAINS> {
    /// A network on `clock` whose faults are drawn from `random`, and the test's side of it.
    pub fn new(clock: SimClock, random: Random, faults: Faults) -> (Self, SimHandle) {
        assert!(
            !DRAINS || !faults.strict && faults.short_recv == 0,
            "a claim these faults would break"
        );
        let world = Rc::new(RefCell::new(World {
            clock,
            random,
            faults,
            counts: Counts::default(),
            wires: Vec::new(),
            addresses: Vec::new(),
            due: BinaryHeap::new(),
            order: 0,
            owing: VecDeque::new(),
            tokens: HashMap::new(),
            listening: true,
            backlog: VecDeque::new(),
            owes_listener: false,
            listener_armed: true,
        }));
        (SimNetwork { world: world.clone() }, SimHandle { world })
    }
}

impl<const DRAINS: bool> Network for SimNetwork<DRAINS> {
    type Stream = SimStream;
    const SHORT_READ_DRAINS: bool = DRAINS;

    /// As the trait says; a sleep moves the clock. Sleeping for ever with nothing to come is ended by a signal.
    fn poll(&mut self, wait: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let mut world = self.world.borrow_mut();
        world.counts.polls += 1;
        world.spend_call();
        world.deliver();
        let first = ready.len();
        world.report(ready);
        if ready.len() > first || wait == Some(Duration::ZERO) {
            return Ok(());
        }
        let end = wait.map(|wait| world.clock.elapsed() + wait);
        let next = world.due.peek().map(|due| due.0.0);
        match (next, end) {
            (Some(next), end) if end.is_none_or(|end| next <= end) => world.clock.reach(next),
            (_, Some(end)) => world.clock.reach(end),
            (_, None) => return Err(io::ErrorKind::Interrupted.into()),
        }
        world.deliver();
        world.report(ready);
        Ok(())
    }

    fn accept(&mut self) -> io::Result<(SimStream, SocketAddr)> {
        let mut world = self.world.borrow_mut();
        let id = world.accept()?;
        Ok((
            SimStream {
                world: self.world.clone(),
                id,
            },
            world.addresses[id],
        ))
    }

    fn register(&mut self, stream: &mut SimStream, token: usize) -> io::Result<()> {
        let mut world = self.world.borrow_mut();
        world.counts.registers += 1;
        world.spend_call();
        world.deliver();
        assert!(token != LISTENER, "the listener's own token");
        assert!(world.wires[stream.id].token.is_none(), "registered twice");
        assert_eq!(
            world.tokens.insert(token, stream.id),
            None,
            "the token of another live stream"
        );
        world.wires[stream.id].register(token);
        world.owing.push_back(stream.id);
        Ok(())
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(SocketAddr::from(([127, 0, 0, 1], 8080)))
    }

    fn stop_listening(&mut self) {
        let mut world = self.world.borrow_mut();
        world.listening = false;
        while let Some(id) = world.backlog.pop_front() {
            world.wires[id].close();
            world.wires[id].reset_by_server = true;
        }
    }
}

/// The server's end of one connection.
pub struct SimStream {
    world: Rc<RefCell<World>>,
    id: usize,
}

impl Stream for SimStream {
    fn recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.world.borrow_mut().recv(self.id, into)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.world.borrow_mut().send(self.id, [bytes, &[]])
    }

    fn send_two(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        self.world.borrow_mut().send(self.id, [first, second])
    }

    fn shutdown_write(&mut self) -> io::Result<()> {
        let mut world = self.world.borrow_mut();
        world.counts.shutdowns += 1;
        world.spend_call();
        let wire = &mut world.wires[self.id];
        if wire.reset {
            return Err(io::ErrorKind::NotConnected.into());
        }
        wire.send_ended = true;
        Ok(())
    }
}

impl Drop for SimStream {
    fn drop(&mut self) {
        let mut world = self.world.borrow_mut();
        world.counts.drops += 1;
        if let Some(token) = world.wires[self.id].token {
            world.tokens.remove(&token);
        }
        if world.wires[self.id].close() {
            world.lose_unsent(self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Peer, PeerState};

    const ADDRESS: ([u8; 4], u16) = ([10, 0, 0, 1], 4000);

    fn network(strict: bool) -> (SimClock, SimNetwork<false>, SimHandle) {
        let clock = SimClock::new();
        let faults = Faults {
            strict,
            ..Faults::none()
        };
        let (network, handle) = SimNetwork::new(clock.clone(), Random::new(1), faults);
        (clock, network, handle)
    }

    fn poll(network: &mut SimNetwork<false>) -> Vec<Ready> {
        let mut ready = Vec::new();
        network.poll(Some(Duration::ZERO), &mut ready).unwrap();
        ready
    }

    /// A registered connection whose first reports have been taken and whose input was found empty.
    fn connected(network: &mut SimNetwork<false>, handle: &SimHandle) -> (Peer, SimStream) {
        let peer = handle.connect(ADDRESS.into(), 10);
        assert_eq!(
            poll(network),
            [Ready {
                token: LISTENER,
                readable: true,
                ..Ready::default()
            }]
        );
        let (mut stream, address) = network.accept().unwrap();
        assert_eq!(address, ADDRESS.into());
        assert_eq!(network.accept().err().unwrap().kind(), io::ErrorKind::WouldBlock);
        network.register(&mut stream, 5).unwrap();
        assert_eq!(
            poll(network),
            [Ready {
                token: 5,
                writable: true,
                ..Ready::default()
            }]
        );
        assert_eq!(stream.recv(&mut [0; 4]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        (peer, stream)
    }

    #[test]
    fn a_report_comes_once_and_bytes_after_their_delay() {
        for strict in [false, true] {
            let (clock, mut network, handle) = network(strict);
            let (peer, mut stream) = connected(&mut network, &handle);
            peer.send(b"hello", Duration::from_millis(3));
            assert_eq!(poll(&mut network), []);
            clock.spend(Duration::from_millis(3));
            assert!(poll(&mut network)[0].readable);
            assert_eq!(poll(&mut network), []);
            assert_eq!(stream.recv(&mut [0; 3]).unwrap(), 3);
            // Nobody says again what was left behind.
            assert_eq!(poll(&mut network), []);
            peer.send(b"!", Duration::ZERO);
            assert_eq!(
                poll(&mut network).len(),
                usize::from(!strict),
                "strict waits for WouldBlock"
            );
            assert_eq!(stream.recv(&mut [0; 9]).unwrap(), 3);
        }
    }

    #[test]
    fn room_is_reported_only_to_whom_it_was_refused() {
        for strict in [false, true] {
            let (_, mut network, handle) = network(strict);
            let (peer, mut stream) = connected(&mut network, &handle);
            assert_eq!(stream.send_two(b"12345", b"6789abc").unwrap(), 10);
            assert_eq!(peer.receive(4), b"1234");
            assert_eq!(
                poll(&mut network).len(),
                usize::from(!strict),
                "a short send arms epoll alone"
            );
            assert_eq!(stream.send(b"defgh").unwrap(), 4);
            assert_eq!(stream.send(b"h").unwrap_err().kind(), io::ErrorKind::WouldBlock);
            peer.receive(1);
            assert!(poll(&mut network)[0].writable);
        }
    }

    #[test]
    fn ends_and_resets_reach_both_sides() {
        let (_, mut network, handle) = network(true);
        let (peer, mut stream) = connected(&mut network, &handle);
        peer.send(b"x", Duration::ZERO);
        peer.end(Duration::ZERO);
        assert!(poll(&mut network)[0].closed);
        assert_eq!(stream.recv(&mut [0; 9]).unwrap(), 1);
        assert_eq!(stream.recv(&mut [0; 9]).unwrap(), 0);
        stream.send(b"bye").unwrap();
        stream.shutdown_write().unwrap();
        assert_eq!(peer.state(), PeerState::Open);
        assert_eq!(peer.receive(9), b"bye");
        assert_eq!(peer.state(), PeerState::Ended);
        drop(stream);

        let (peer, stream) = connected(&mut network, &handle);
        peer.send(b"unread", Duration::ZERO);
        poll(&mut network);
        drop(stream);
        assert_eq!(peer.state(), PeerState::Reset);

        let (peer, mut stream) = connected(&mut network, &handle);
        peer.reset(Duration::ZERO, false);
        assert!(poll(&mut network)[0].closed);
        assert_eq!(
            stream.recv(&mut [0; 9]).unwrap_err().kind(),
            io::ErrorKind::ConnectionReset
        );
        assert!(stream.send(b"x").is_err());
    }

    #[test]
    fn a_sleep_moves_the_clock_to_the_next_arrival() {
        let (clock, mut network, handle) = network(false);
        let (peer, _stream) = connected(&mut network, &handle);
        peer.send(b"x", Duration::from_secs(9));
        let mut ready = Vec::new();
        network.poll(Some(Duration::from_secs(2)), &mut ready).unwrap();
        assert_eq!((ready.len(), clock.elapsed()), (0, Duration::from_secs(2)));
        network.poll(None, &mut ready).unwrap();
        assert_eq!((ready.len(), clock.elapsed()), (1, Duration::from_secs(9)));
        let error = network.poll(None, &mut ready).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }
}
