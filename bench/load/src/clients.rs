//! The kinds of clients. Each runs its one connection after another until the end, and counts what came of them.
//!
//! It may assume nothing of the server but its address. A client must never count an answer it has not checked, and never
//! outlive the end by more than the answer it waits for.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use crate::http::{BIG, BIG_BYTES, Connection, HEALTH, UNIT, UNIT_CLOSE};

/// A slowloris client sends a byte as often as this: often enough to look alive, never enough for a request.
const DRIP: Duration = Duration::from_millis(100);
const FRAGMENT_BYTES: usize = 16;
const FRAGMENT_PAUSE: Duration = Duration::from_millis(10);
/// How long a slow reader looks away in the middle of its response.
const READER_PAUSE: Duration = Duration::from_secs(3);
const READER_BUFFER: usize = 64 * 1024;
/// After a connection that failed or was refused, so that a server that is down is not stormed.
const RETRY_PAUSE: Duration = Duration::from_millis(10);
const SAMPLES_MAX: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A connection per request.
    Close,
    /// One connection for all requests.
    KeepAlive,
    /// Connects and says nothing.
    Idle,
    /// Sends a head that never ends, a byte at a time.
    Slowloris,
    /// Sends whole requests in small pieces with pauses.
    Fragmented,
    /// Asks for 8 MiB and pauses in the middle of reading them.
    SlowReader,
}

const KINDS: [(Kind, &str); 6] = [
    (Kind::Close, "close"),
    (Kind::KeepAlive, "keep_alive"),
    (Kind::Idle, "idle"),
    (Kind::Slowloris, "slowloris"),
    (Kind::Fragmented, "fragmented"),
    (Kind::SlowReader, "slow_reader"),
];

impl Kind {
    pub fn from_name(name: &str) -> Option<Self> {
        KINDS.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    pub fn name(self) -> &'static str {
        KINDS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("", |(_, name)| name)
    }
}

/// What came of one kind's connections.
#[derive(Default)]
pub struct Tally {
    /// Whole answers, each checked.
    answers: u64,
    errors: u64,
    /// Connections that the server ended where the kind invites it to.
    closed: u64,
    latencies_us: Vec<u64>,
    /// The first few errors, in words.
    pub samples: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.answers += other.answers;
        self.errors += other.errors;
        self.closed += other.closed;
        self.latencies_us.extend(other.latencies_us);
        self.samples.extend(other.samples);
        self.samples.truncate(SAMPLES_MAX);
    }

    fn answered(&mut self, since: Instant) {
        self.answers += 1;
        self.latencies_us
            .push(u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX));
    }

    fn failed(&mut self, error: String) {
        self.errors += 1;
        if self.samples.len() < SAMPLES_MAX {
            self.samples.push(error);
        }
        thread::sleep(RETRY_PAUSE);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted = self.latencies_us.clone();
        sorted.sort_unstable();
        let at = |share: f64| {
            let rank = (sorted.len() as f64 * share).ceil() as usize;
            sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        write!(
            f,
            "answers={} errors={} closed={} p50_us={} p99_us={} max_us={}",
            self.answers,
            self.errors,
            self.closed,
            at(0.5),
            at(0.99),
            at(1.0)
        )
    }
}

/// One client of that kind, until `end`.
pub fn run(kind: Kind, address: SocketAddr, end: Instant) -> Tally {
    let mut tally = Tally::default();
    while Instant::now() < end {
        let outcome = match kind {
            Kind::Close => close(address, &mut tally),
            Kind::KeepAlive => keep_alive(address, end, &mut tally),
            Kind::Idle => idle(address, end, &mut tally),
            Kind::Slowloris => slowloris(address, end, &mut tally),
            Kind::Fragmented => fragmented(address, end, &mut tally),
            Kind::SlowReader => slow_reader(address, end, &mut tally),
        };
        if let Err(error) = outcome {
            tally.failed(error.to_string());
        }
    }
    tally
}

fn close(address: SocketAddr, tally: &mut Tally) -> io::Result<()> {
    let since = Instant::now();
    let mut connection = Connection::open(address, None)?;
    connection.send(UNIT_CLOSE)?;
    connection.receive()?.check_unit().map_err(io::Error::other)?;
    connection.receive_end()?;
    tally.answered(since);
    Ok(())
}

fn keep_alive(address: SocketAddr, end: Instant, tally: &mut Tally) -> io::Result<()> {
    let mut connection = Connection::open(address, None)?;
    for request in 1.. {
        if Instant::now() >= end {
            break;
        }
        let since = Instant::now();
        connection.send(UNIT)?;
        match connection.receive() {
            Ok(response) => response.check_unit().map_err(io::Error::other)?,
            // A server may end a persistent connection between two requests; then a client asks again on a new one.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && request > 1 => {
                tally.closed += 1;
                break;
            }
            Err(error) => return Err(error),
        }
        tally.answered(since);
    }
    Ok(())
}

fn idle(address: SocketAddr, end: Instant, tally: &mut Tally) -> io::Result<()> {
    let mut connection = Connection::open(address, None)?;
    connection.set_patience(remaining(end))?;
    match connection.receive_end() {
        Err(error) if is_timeout(&error) => {}
        other => {
            other?;
            tally.closed += 1;
        }
    }
    Ok(())
}

fn slowloris(address: SocketAddr, end: Instant, tally: &mut Tally) -> io::Result<()> {
    let mut connection = Connection::open(address, None)?;
    connection.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")?;
    while Instant::now() < end {
        thread::sleep(DRIP.min(remaining(end)));
        // A refusal, or an end, shows as an error here sooner or later: that is what a slowloris client is due.
        if connection.send(b"x").is_err() {
            tally.closed += 1;
            break;
        }
    }
    Ok(())
}

fn fragmented(address: SocketAddr, end: Instant, tally: &mut Tally) -> io::Result<()> {
    let mut connection = Connection::open(address, None)?;
    while Instant::now() < end {
        for fragment in HEALTH.chunks(FRAGMENT_BYTES) {
            thread::sleep(FRAGMENT_PAUSE);
            connection.send(fragment)?;
        }
        let since = Instant::now();
        connection.receive()?.check_health().map_err(io::Error::other)?;
        tally.answered(since);
    }
    Ok(())
}

fn slow_reader(address: SocketAddr, end: Instant, tally: &mut Tally) -> io::Result<()> {
    let since = Instant::now();
    let mut connection = Connection::open(address, Some(READER_BUFFER))?;
    connection.send(BIG)?;
    while connection.received_bytes() < BIG_BYTES / 2 {
        connection.receive_some()?;
    }
    thread::sleep(READER_PAUSE.min(remaining(end)));
    connection.receive()?.check_big().map_err(io::Error::other)?;
    tally.answered(since);
    Ok(())
}

/// Until `end`, and never zero, which a socket would take for no time-out at all.
fn remaining(end: Instant) -> Duration {
    end.saturating_duration_since(Instant::now())
        .max(Duration::from_millis(1))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
