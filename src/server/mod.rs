//! The server: connections, turns, budgets, deadlines and counters. Drives [`crate::h1`] over a [`Network`]; knows
//! no Lua and reads no clock of its own.
//!
//! One turn is `begin_turn`, then `next_request` / the handler / `end_request` until there is none, then `end_turn`.
//! Between these calls the server is whole, so that whoever handles a request may call anything on it.
//!
//! Data flows one way. A connection with something to do stands in one first-in-first-out queue; a visit sends what
//! waits, receives once and parses. A whole request goes to its handler at once, while its bytes are in the cache, and
//! its answer is encoded into the connection's output and sent at the end of the request: one receive, one send, one
//! handler call. A connection with a further request goes to the queue's end, so pipelining buys no priority.
//!
//! It must never wait (unless told to), and never do more in a turn than its budget plus one unit.

mod config;
mod deadlines;
mod exchange;
mod expire;
mod guard;
mod outgoing;
mod pool;
mod slots;
mod stats;
mod turn;
mod visit;
mod watch;

pub use config::{AllowedHosts, AllowedOrigins, Config, ConfigError, MAX_HEADERS_BOUND, MIN_RATE};
pub use exchange::{Payload, Request, RespondError};
pub use stats::{End, Stats};
pub use turn::Turn;
pub use watch::Passage;

use crate::h1;
use crate::net::{Network, Ready};
use deadlines::{Deadlines, Wait};
use pool::Pool;
use slots::{Key, Peer, Slots};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};
use turn::TurnState;

// A poller token carries a slot and its generation.
const _: () = assert!(usize::BITS >= 64, "poller tokens need 64 bits");

/// Where time comes from; the server asks between units of work.
pub trait Clock {
    /// Monotonic.
    fn now(&self) -> Instant;
    /// Seconds since 1970-01-01 UTC, for `Date`.
    fn unix_time(&self) -> u64;
}

/// Names one request of one server. It stays valid as a name for ever: what comes late finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId {
    pub slot: u32,
    /// Counts the requests of the server from 1; unique within it.
    pub serial: u64,
}

/// Connections that have been answered for good and drain the peer's last bytes; they do not count as served.
const LINGERING_MAX: usize = 256;

/// An HTTP/1.1 server over `N`. `B` is a response body sent from where it lies.
pub struct Server<N: Network, B: AsRef<[u8]>> {
    network: N,
    config: Config,
    limits: h1::Limits,
    slots: Slots<N::Stream, B>,
    /// Who has something to do. Unreached ones stay at the front from turn to turn.
    queue: VecDeque<Key>,
    /// Who may not receive until the pool has room.
    starved: VecDeque<Key>,
    deadlines: Deadlines,
    pool: Pool,
    stats: Stats,
    ready: Vec<Ready>,
    turn: TurnState,
    /// Accepting may find a connection: no `WouldBlock` since the last event.
    listener_ready: bool,
    /// The system could not accept; asked again at this time.
    accept_after: Option<Instant>,
    serial: u64,
    answered: Answered,
    lingering: usize,
    per_address: HashMap<IpAddr, usize>,
    date: Date,
    guard: guard::Guard,
    watch: watch::Watch,
    /// Where bytes go that nobody reads.
    sink: Box<[u8]>,
    /// Shutting down: no new connections, and the rest end here at the latest.
    draining: Option<Instant>,
    closed: bool,
}

/// What the last answer was.
#[derive(Clone, Copy, Debug, Default)]
struct Answered {
    serial: u64,
    status: u16,
    content_bytes: u64,
}

/// The `Date` field's value, made anew when its second is over.
struct Date {
    text: [u8; 29],
    until: Option<Instant>,
}

impl Date {
    const NONE: Self = Self {
        text: *b"Thu, 01 Jan 1970 00:00:00 GMT",
        until: None,
    };

    fn refresh(&mut self, now: Instant, clock: &impl Clock) {
        if self.until.is_some_and(|until| now < until) {
            return;
        }
        let time = std::time::UNIX_EPOCH + Duration::from_secs(clock.unix_time());
        let text = httpdate::fmt_http_date(time);
        if let Ok(text) = text.as_bytes().try_into() {
            self.text = text;
        }
        // Up to a second behind, as any clock of whole seconds.
        self.until = Some(now + Duration::from_millis(500));
    }
}

impl<N: Network, B: AsRef<[u8]>> Server<N, B> {
    /// A server that listens on `network`. `config` has passed [`Config::check`].
    pub fn new(network: N, config: Config, now: Instant) -> Self {
        debug_assert_eq!(config.check(), Ok(()));
        Self {
            limits: config.h1_limits(),
            slots: Slots::new(),
            queue: VecDeque::new(),
            starved: VecDeque::new(),
            deadlines: Deadlines::new(),
            pool: Pool::new(config.max_buffered_bytes),
            stats: Stats::new(),
            ready: Vec::new(),
            turn: TurnState::before_any(now),
            listener_ready: false,
            accept_after: None,
            serial: 0,
            answered: Answered::default(),
            lingering: 0,
            per_address: HashMap::new(),
            date: Date::NONE,
            guard: guard::Guard::new(config.allowed_hosts.clone(), config.allowed_origins.clone()),
            watch: watch::Watch::default(),
            sink: vec![0; SINK_BYTES].into_boxed_slice(),
            draining: None,
            closed: false,
            network,
            config,
        }
    }

    /// What the listener is bound to.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.network.local_addr()
    }

    /// The limits it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The time as `Date` has it, at the beginning of this turn (RFC 9110 section 5.6.7).
    pub fn date(&self) -> &[u8; 29] {
        &self.date.text
    }

    /// How long the request being handled has been with its handler.
    pub fn handler_time(&self, clock: &impl Clock) -> Duration {
        clock.now().saturating_duration_since(self.turn.handler_started)
    }

    /// Open connections, lingering ones among them.
    pub fn active(&self) -> usize {
        self.slots.len()
    }

    /// Request and response bytes held now.
    pub fn buffered_bytes(&self) -> usize {
        self.pool.used()
    }

    /// Whether [`Server::close`] was called or a shutdown has come to its end.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// How long the owner may sleep before the next turn: zero while work is queued, `None` while nothing is awaited
    /// but the network.
    pub fn wait_hint(&self, now: Instant) -> Option<Duration> {
        let can_accept = self.listener_ready && self.accept_after.is_none_or(|after| after <= now);
        let fed = !self.starved.is_empty() && self.pool.fits(pool::BASE);
        if self.closed || can_accept || fed || !self.queue.is_empty() {
            return Some(Duration::ZERO);
        }
        let paused = if self.listener_ready { self.accept_after } else { None };
        let next = [self.deadlines.next(), self.draining, paused]
            .into_iter()
            .flatten()
            .min();
        next.map(|at| at.saturating_duration_since(now))
    }

    /// Stops accepting, lets what is in flight finish within `within`, then closes. Progresses in later turns.
    pub fn shutdown(&mut self, within: Duration, clock: &impl Clock) {
        self.network.stop_listening();
        self.listener_ready = false;
        let until = clock.now() + within;
        self.draining = Some(self.draining.map_or(until, |earlier| earlier.min(until)));
    }

    /// Ends everything now: unsent bytes are lost, nothing is called back. Safe to repeat.
    pub fn close(&mut self) {
        self.closed = true;
        self.network.stop_listening();
        self.listener_ready = false;
        let keys: Vec<Key> = self.slots.keys().collect();
        for key in keys {
            self.end(key, End::ServerClosed);
        }
        self.queue.clear();
        self.starved.clear();
    }

    /// Puts a connection at the queue's end, once.
    fn enqueue(&mut self, key: Key) {
        let now = self.turn.now;
        if let Some(peer) = self.slots.get_mut(key)
            && !peer.queued
        {
            peer.queued = true;
            peer.queued_at = now;
            self.queue.push_back(key);
        }
    }

    /// Ends a connection: its socket closes, its buffers and its place are free, its request is gone.
    fn end(&mut self, key: Key, end: End) {
        let Some(mut peer) = self.slots.remove(key) else { return };
        self.deadlines.disarm(key.slot);
        self.stats.ended(end);
        if peer.serial != 0 && !peer.h1.responded() {
            self.stats.unanswered += 1;
        }
        if peer.lingering {
            self.lingering -= 1;
        }
        self.watch.record(Passage {
            connection: peer.number,
            address: peer.address,
            end: Some(end),
        });
        self.release_address(peer.address.ip());
        self.pool.forget_input(peer.h1.buffer_capacity());
        peer.out.discard();
        self.pool.give_output(&mut peer.out.bytes);
    }

    fn release_address(&mut self, ip: IpAddr) {
        if let Some(count) = self.per_address.get_mut(&ip) {
            *count -= 1;
            if *count == 0 {
                self.per_address.remove(&ip);
            }
        }
    }

    /// The connection of a live request.
    fn live(&self, id: RequestId) -> Option<(Key, &Peer<N::Stream, B>)> {
        let key = self.slots.key(id.slot)?;
        let peer = self.slots.get(key)?;
        (peer.serial == id.serial).then_some((key, peer))
    }
}

/// Bytes thrown away with one call.
const SINK_BYTES: usize = 64 << 10;
