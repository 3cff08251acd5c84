//! One client: what it asks, how it is connected, where in its exchange it stands.
//!
//! It may assume a server on this machine. It must never block: what cannot be sent now waits for the poller.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Socket, Type};

use crate::answer::{Content, Reader};

pub const PIPELINE_DEPTH: u32 = 16;
pub const FRAGMENT_BYTES: usize = 16;
/// Small, so that a slow reader soon lets the server wait.
const READER_BUFFER: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A connection per request.
    Close,
    /// One connection for all requests.
    KeepAlive,
    /// The same, [`PIPELINE_DEPTH`] requests in each send.
    Pipelined,
    /// Connects and says nothing.
    Idle,
    /// Sends a head that never ends, a byte at a time.
    Slowloris,
    /// Sends whole requests in small pieces with pauses.
    Fragmented,
    /// Asks for 8 MiB and pauses in the middle of reading them.
    SlowReader,
}

pub const KINDS: [(Kind, &str); 7] = [
    (Kind::Close, "close"),
    (Kind::KeepAlive, "keep_alive"),
    (Kind::Pipelined, "pipelined"),
    (Kind::Idle, "idle"),
    (Kind::Slowloris, "slowloris"),
    (Kind::Fragmented, "fragmented"),
    (Kind::SlowReader, "slow_reader"),
];

impl Kind {
    pub fn from_name(name: &str) -> Option<Self> {
        KINDS.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// Answers that one send asks for.
    fn depth(self) -> u32 {
        match self {
            Self::Idle | Self::Slowloris => 0,
            Self::Pipelined => PIPELINE_DEPTH,
            _ => 1,
        }
    }
}

/// What healthy clients ask for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Health,
    Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not connected; a timer opens it.
    Away,
    /// The request is on its way or answered in part.
    Asking,
    /// Answered; the server has to end the connection.
    Ending,
    /// Looks away, until a timer.
    Paused,
}

pub struct Client {
    pub kind: Kind,
    pub phase: Phase,
    pub reader: Reader,
    pub stream: Option<TcpStream>,
    /// When the exchange began, as the user of a client would see it.
    pub since: Instant,
    /// Answers still owed on this connection, and those that have come.
    pub owed: u32,
    pub answers: u32,
    /// A slow reader that has had its pause.
    pub rested: bool,
    /// Timers of an earlier connection find another number here.
    pub generation: u32,
    request: Vec<u8>,
    sent: usize,
}

impl Client {
    /// `number` tells this client's answers from those of others.
    pub fn new(kind: Kind, target: Target, number: u32) -> Self {
        let content = match (kind, target) {
            (Kind::SlowReader, _) => Content::Big,
            (Kind::Fragmented, _) | (_, Target::Health) => Content::Health,
            (_, Target::Unit) => Content::Unit(number),
        };
        Self {
            kind,
            phase: Phase::Away,
            reader: Reader::new(content),
            stream: None,
            since: Instant::now(),
            owed: 0,
            answers: 0,
            rested: false,
            generation: 0,
            request: request(kind, content),
            sent: 0,
        }
    }

    /// Connects, and sends at once what the kind sends at once.
    pub fn open(&mut self, address: SocketAddr, registry: &Registry, token: Token) -> io::Result<()> {
        self.leave();
        self.since = Instant::now();
        let mut stream = connect(address, self.kind)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.phase = Phase::Asking;
        if self.kind == Kind::Close {
            // On the loopback a connection stands when connect returns, so that most never wait to be writable.
            self.stream = Some(stream);
            self.ask()?;
            let interest = if self.sent == self.request.len() {
                Interest::READABLE
            } else {
                interest
            };
            return match &mut self.stream {
                Some(stream) => registry.register(stream, token, interest),
                None => Ok(()),
            };
        }
        registry.register(&mut stream, token, interest)?;
        self.stream = Some(stream);
        match self.kind {
            Kind::Idle | Kind::Fragmented => Ok(()),
            _ => self.ask(),
        }
    }

    /// Ends the connection, and with it everything that was under way.
    pub fn leave(&mut self) {
        self.stream = None;
        self.phase = Phase::Away;
        self.generation = self.generation.wrapping_add(1);
        self.reader.reset();
        (self.sent, self.owed, self.answers, self.rested) = (0, 0, 0, false);
    }

    /// Starts the next exchange on the connection.
    pub fn ask(&mut self) -> io::Result<()> {
        self.sent = 0;
        self.owed = self.kind.depth();
        self.send_rest()
    }

    /// Sends what is left of the request, as far as the socket takes it.
    pub fn send_rest(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        while self.sent < self.request.len() {
            match stream.write(&self.request[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if is_not_yet(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sends the next fragment; true when it was the last.
    pub fn send_fragment(&mut self) -> io::Result<bool> {
        let Some(stream) = &mut self.stream else {
            return Ok(false);
        };
        let end = (self.sent + FRAGMENT_BYTES).min(self.request.len());
        match stream.write(&self.request[self.sent..end]) {
            Ok(count) => self.sent += count,
            Err(error) if is_not_yet(&error) => {}
            Err(error) => return Err(error),
        }
        self.owed = 1;
        Ok(self.sent == self.request.len())
    }

    /// One more byte of a head without end.
    pub fn drip(&mut self) -> io::Result<()> {
        match self.stream.as_mut().map(|stream| stream.write(b"x")) {
            Some(Err(error)) if !is_not_yet(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// What to do when the socket became writable.
    pub fn writable(&mut self) -> io::Result<()> {
        match self.kind {
            Kind::Idle | Kind::Fragmented => Ok(()),
            _ => self.send_rest(),
        }
    }

    /// Receives once.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.stream {
            Some(stream) => stream.read(buffer),
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// How long an answer is overdue that was asked for.
    pub fn waiting(&self, now: Instant) -> Option<Duration> {
        (self.phase == Phase::Asking && self.owed > 0 && self.sent == self.request.len())
            .then(|| now.saturating_duration_since(self.since))
    }
}

fn connect(address: SocketAddr, kind: Kind) -> io::Result<TcpStream> {
    if kind != Kind::SlowReader {
        let stream = TcpStream::connect(address)?;
        if kind != Kind::Close {
            stream.set_nodelay(true)?;
        }
        return Ok(stream);
    }
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_recv_buffer_size(READER_BUFFER)?;
    // A connect over the loopback does not wait.
    socket.connect(&address.into())?;
    socket.set_nonblocking(true)?;
    Ok(TcpStream::from_std(socket.into()))
}

/// Not connected yet, or no room: the poller will tell.
fn is_not_yet(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected | io::ErrorKind::Interrupted
    )
}

fn request(kind: Kind, content: Content) -> Vec<u8> {
    let path = match content {
        Content::Health => "/health".to_owned(),
        Content::Unit(number) => format!("/units/{number}"),
        Content::Big => "/big".to_owned(),
    };
    let end = match kind {
        Kind::Close | Kind::Fragmented | Kind::SlowReader => "Connection: close\r\n\r\n",
        Kind::Slowloris => "X-Slow: ",
        _ => "\r\n",
    };
    let one = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{end}").into_bytes();
    match kind {
        Kind::Idle => Vec::new(),
        Kind::Pipelined => one.repeat(PIPELINE_DEPTH as usize),
        _ => one,
    }
}
