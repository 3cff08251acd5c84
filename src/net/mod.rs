//! Sockets and readiness, nothing else: the two traits the server is generic over, their real implementation, and one
//! within the process for those who test their handlers.
//!
//! The server may assume of a [`Network`]: nothing here waits unless [`Network::poll`] is told to; readiness is
//! edge-triggered, so whoever does not read or write until `WouldBlock` has to remember that it did not.
//! This layer must never look at the bytes it carries.

mod either;
#[cfg(windows)]
mod exclusive;
mod memory;
mod tcp;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

pub use either::{Either, EitherStream};
pub use memory::{Far, FarEnd, Memory, MemoryStream};
pub use tcp::{Tcp, TcpStream};

/// The token under which the listener itself is reported.
pub const LISTENER: usize = usize::MAX;

/// What the poller reports of one token since it was last asked.
///
/// A report is a hint: it may come when nothing is there (then the call says `WouldBlock`), it comes once per change, and
/// a token may be reported twice in one poll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    pub token: usize,
    /// Bytes, an end or an error may be there to receive; for [`LISTENER`], a connection to accept.
    pub readable: bool,
    /// The socket takes bytes again.
    pub writable: bool,
    /// The peer has ended its sending side, or the connection failed: receive on until the end or the error shows.
    pub closed: bool,
}

/// One connection. No call waits: what cannot be done at once is `WouldBlock`.
///
/// Only `WouldBlock` means that readiness will be reported again; a short count does not (on Windows it arms nothing).
/// `Interrupted` may be tried again; every other error ends the connection, and it has to be dropped.
pub trait Stream {
    /// Receives into `into`; `Ok(0)` with a non-empty `into` is the end of the peer's sending side.
    fn recv(&mut self, into: &mut [u8]) -> io::Result<usize>;
    /// Sends a prefix of `bytes`; returns how many were taken.
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Sends a prefix of `first` followed by `second` in one call; either may be empty, not both.
    fn send_two(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize>;
    /// Sends a prefix of `bytes`, behind which nothing follows: when all of them are taken, our sending side is ended as by
    /// [`Stream::shutdown_write`], and the end may travel with the last bytes.
    fn send_last(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.send(bytes)?;
        if count == bytes.len() {
            self.shutdown_write()?;
        }
        Ok(count)
    }
    /// Ends our sending side; the peer still may send (RFC 9112 section 9.6). `NotConnected` when it is gone already.
    fn shutdown_write(&mut self) -> io::Result<()>;
}

/// A listener and the readiness of its connections.
pub trait Network {
    type Stream: Stream;
    /// Whether a receive that fills less than it was lent has left nothing behind, so that the next byte is a new event.
    /// True of epoll; elsewhere only `WouldBlock` tells.
    const SHORT_READ_DRAINS: bool;
    /// Appends what became ready to `ready`. `wait`: how long to sleep when nothing is ready, zero to only ask, `None`
    /// until something is. A signal ends the sleep with `Interrupted`.
    fn poll(&mut self, wait: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<()>;
    /// The next connection and its peer's address; `WouldBlock` when there is none.
    ///
    /// `ConnectionAborted`: this one was lost before it was taken, ask for the next. Any other error: the system has no
    /// room now (descriptors, memory); the connection still waits and is not reported again, so ask in a later turn.
    fn accept(&mut self) -> io::Result<(Self::Stream, SocketAddr)>;
    /// Has `stream` reported under `token`, both directions, from now until it is dropped. What is ready already is
    /// reported by the next poll.
    fn register(&mut self, stream: &mut Self::Stream, token: usize) -> io::Result<()>;
    /// What the listener is bound to; told after [`Network::stop_listening`] too.
    fn local_addr(&self) -> io::Result<SocketAddr>;
    /// Closes the listener: later connections are refused by the system, those not yet accepted are lost. Accepted ones
    /// live on.
    fn stop_listening(&mut self);
}
