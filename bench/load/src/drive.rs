//! Drives all clients from one thread: one poller, one queue of timers.
//!
//! It may assume edge-triggered readiness as Linux has it: a receive that does not fill the buffer has emptied the socket.
//! It must never count an answer that is not whole and right, and never spin while nothing is due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token};
use serde_json::Value;

use crate::answer::{BIG_BYTES, Fed};
use crate::client::{Client, KINDS, Kind, Phase, Target};
use crate::tally::Tally;

/// A slowloris client sends a byte as often as this: often enough to look alive, never enough for a request.
const DRIP: Duration = Duration::from_millis(100);
const FRAGMENT_PAUSE: Duration = Duration::from_millis(10);
/// How long a slow reader looks away in the middle of its response.
const READER_PAUSE: Duration = Duration::from_secs(3);
/// After a connection that failed or was refused, so that a server that is down is not stormed.
const RETRY_PAUSE: Duration = Duration::from_millis(10);
/// Who has waited so long at the end of the run counts among the latencies, answered or not.
const LONG_WAIT: Duration = Duration::from_millis(100);
/// An answer that is so late at the end of the run counts as an error.
const STUCK: Duration = Duration::from_secs(2);
const RECEIVE_BYTES: usize = 128 * 1024;

type Timer = Reverse<(Instant, usize, u32)>;

pub struct Drive {
    address: SocketAddr,
    poll: Poll,
    clients: Vec<Client>,
    timers: BinaryHeap<Timer>,
    /// One per kind, in the order of [`KINDS`].
    tallies: Vec<Tally>,
    buffer: Box<[u8]>,
}

impl Drive {
    pub fn new(address: SocketAddr, target: Target, kinds: &[(Kind, usize)]) -> io::Result<Self> {
        let all = kinds.iter().flat_map(|&(kind, count)| (0..count).map(move |_| kind));
        let clients: Vec<Client> = all
            .zip(1..)
            .map(|(kind, number)| Client::new(kind, target, number))
            .collect();
        Ok(Self {
            address,
            poll: Poll::new()?,
            clients,
            timers: BinaryHeap::new(),
            tallies: KINDS.iter().map(|_| Tally::new()).collect(),
            buffer: vec![0; RECEIVE_BYTES].into_boxed_slice(),
        })
    }

    /// Opens every connection.
    pub fn start(&mut self) {
        for slot in 0..self.clients.len() {
            self.open(slot);
        }
    }

    /// Forgets what was counted so far; connections live on.
    pub fn reset_counts(&mut self) {
        self.tallies = KINDS.iter().map(|_| Tally::new()).collect();
        for client in &self.clients {
            // Those who only hold a connection hold it from before.
            if client.stream.is_some() {
                self.tallies[client.kind as usize].opened += 1;
            }
        }
    }

    /// Serves until `end`.
    pub fn run(&mut self, end: Instant) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            let now = Instant::now();
            if now >= end {
                return Ok(());
            }
            self.fire_timers(now);
            let next = self.timers.peek().map_or(end, |Reverse((due, ..))| end.min(*due));
            match self
                .poll
                .poll(&mut events, Some(next.saturating_duration_since(Instant::now())))
            {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            for event in &events {
                let Token(slot) = event.token();
                if event.is_writable()
                    && let Err(error) = self.clients[slot].writable()
                {
                    self.broken(slot, &error);
                    continue;
                }
                if event.is_readable() || event.is_read_closed() || event.is_error() {
                    self.readable(slot, event.is_read_closed() || event.is_error());
                }
            }
        }
    }

    /// Counts those whose answer is overdue, and gives the figures of every kind that took part.
    pub fn finish(mut self, window: Duration, interval: Option<Duration>) -> Vec<Value> {
        let now = Instant::now();
        for client in &self.clients {
            let tally = &mut self.tallies[client.kind as usize];
            match client.waiting(now) {
                Some(waited) if waited >= LONG_WAIT && client.kind != Kind::SlowReader => {
                    tally.waited(waited);
                    if waited >= STUCK {
                        tally.failed("stuck", "no answer at the end of the run");
                    }
                }
                _ => {}
            }
        }
        let count = |kind| self.clients.iter().filter(|client| client.kind == kind).count();
        let interval_of = |kind| match kind {
            Kind::SlowReader | Kind::Fragmented => None,
            _ => interval,
        };
        KINDS
            .iter()
            .zip(&self.tallies)
            .filter(|((kind, _), _)| count(*kind) > 0)
            .map(|((kind, name), tally)| tally.json(name, count(*kind), window, interval_of(*kind)))
            .collect()
    }

    fn tally(&mut self, slot: usize) -> &mut Tally {
        &mut self.tallies[self.clients[slot].kind as usize]
    }

    fn after(&mut self, slot: usize, pause: Duration) {
        let generation = self.clients[slot].generation;
        self.timers.push(Reverse((Instant::now() + pause, slot, generation)));
    }

    fn open(&mut self, slot: usize) {
        let address = self.address;
        self.tally(slot).opened += 1;
        let opened = self.clients[slot].open(address, self.poll.registry(), Token(slot));
        match opened {
            Ok(()) => match self.clients[slot].kind {
                Kind::Slowloris => self.after(slot, DRIP),
                Kind::Fragmented => self.after(slot, FRAGMENT_PAUSE),
                _ => {}
            },
            Err(error) => self.broken(slot, &error),
        }
    }

    fn fire_timers(&mut self, now: Instant) {
        while let Some(&Reverse((due, slot, generation))) = self.timers.peek() {
            if due > now {
                return;
            }
            self.timers.pop();
            if self.clients[slot].generation == generation {
                self.timer(slot);
            }
        }
    }

    fn timer(&mut self, slot: usize) {
        let client = &mut self.clients[slot];
        match (client.kind, client.phase) {
            (_, Phase::Away) => self.open(slot),
            (Kind::Slowloris, _) => match client.drip() {
                Ok(()) => self.after(slot, DRIP),
                Err(error) => self.broken(slot, &error),
            },
            (Kind::Fragmented, Phase::Asking) => match client.send_fragment() {
                Ok(false) => self.after(slot, FRAGMENT_PAUSE),
                // What a client waits for begins with the last byte of its request.
                Ok(true) => client.since = Instant::now(),
                Err(error) => self.broken(slot, &error),
            },
            (Kind::SlowReader, Phase::Paused) => {
                client.phase = Phase::Asking;
                self.readable(slot, true);
            }
            _ => {}
        }
    }

    /// Receives all there is. `to_end`: a short receive is not the last, since the end of the stream may follow.
    fn readable(&mut self, slot: usize, to_end: bool) {
        let generation = self.clients[slot].generation;
        while self.clients[slot].phase != Phase::Paused && self.clients[slot].generation == generation {
            match self.clients[slot].receive(&mut self.buffer) {
                Ok(0) => return self.ended(slot),
                Ok(count) => {
                    self.received(slot, count);
                    // Slow readers have a small receive buffer that more may have come into meanwhile.
                    if count < self.buffer.len() && !to_end && self.clients[slot].kind != Kind::SlowReader {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.broken(slot, &error),
            }
        }
    }

    fn received(&mut self, slot: usize, count: usize) {
        let client = &mut self.clients[slot];
        let tally = &mut self.tallies[client.kind as usize];
        if matches!(client.kind, Kind::Idle | Kind::Slowloris) {
            // A refusal, before the connection ends: what they are due.
            return;
        }
        let fed = match client.reader.feed(&self.buffer[..count]) {
            Ok(fed) => fed,
            Err(fault) => {
                let shown = String::from_utf8_lossy(&self.buffer[..count.min(100)]).into_owned();
                tally.failed(&fault.name(), &shown);
                return self.retry(slot);
            }
        };
        if fed.whole > client.owed || (fed.whole == client.owed && client.reader.started()) {
            tally.failed("extra_bytes", "more than was asked for");
            return self.retry(slot);
        }
        client.owed -= fed.whole;
        client.answers += fed.whole;
        match client.kind {
            Kind::KeepAlive | Kind::Pipelined => self.answered_persistent(slot, fed),
            Kind::SlowReader
                if client.answers == 0
                    && client.phase == Phase::Asking
                    && client.reader.long_bytes() >= BIG_BYTES / 2
                    && !client.rested =>
            {
                client.phase = Phase::Paused;
                client.rested = true;
                self.after(slot, READER_PAUSE);
            }
            _ if client.owed == 0 && client.answers > 0 => client.phase = Phase::Ending,
            _ => {}
        }
    }

    fn answered_persistent(&mut self, slot: usize, fed: Fed) {
        let client = &mut self.clients[slot];
        let tally = &mut self.tallies[client.kind as usize];
        let now = Instant::now();
        for _ in 0..fed.whole {
            tally.answered(now - client.since);
        }
        if fed.close {
            // The server has had enough of this connection and says so: answers that it still owes are asked for again.
            tally.closed += 1;
            return self.open(slot);
        }
        if client.owed == 0 {
            client.since = now;
            if let Err(error) = client.ask() {
                self.broken(slot, &error);
            }
        }
    }

    /// The server has ended the connection.
    fn ended(&mut self, slot: usize) {
        let client = &mut self.clients[slot];
        let tally = &mut self.tallies[client.kind as usize];
        match (client.kind, client.phase) {
            (_, Phase::Ending) => {
                tally.answered(client.since.elapsed());
                return self.open(slot);
            }
            (Kind::Idle | Kind::Slowloris, _) => tally.closed += 1,
            // A server may end a persistent connection between two requests; then a client asks again on a new one.
            (Kind::KeepAlive | Kind::Pipelined, _) if client.answers > 0 && !client.reader.started() => {
                tally.closed += 1
            }
            _ if client.reader.started() => tally.failed("cut", "the connection ended within a response"),
            _ => tally.failed("no_answer", "the connection ended before a response"),
        }
        self.retry(slot);
    }

    fn broken(&mut self, slot: usize, error: &io::Error) {
        let client = &mut self.clients[slot];
        let tally = &mut self.tallies[client.kind as usize];
        if matches!(client.kind, Kind::Idle | Kind::Slowloris) && client.stream.is_some() {
            tally.closed += 1;
        } else {
            let kind = match error.kind() {
                _ if client.reader.started() => "cut",
                io::ErrorKind::ConnectionRefused => "refused",
                io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "reset",
                _ => "io",
            };
            tally.failed(kind, &error.to_string());
        }
        self.retry(slot);
    }

    fn retry(&mut self, slot: usize) {
        self.clients[slot].leave();
        self.after(slot, RETRY_PAUSE);
    }
}
