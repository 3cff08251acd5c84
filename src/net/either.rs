//! One of the two networks, chosen when a server is made.
//!
//! A branch per call, always the same one for a server, is all that it costs. It must never do more than pass on.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use super::{Memory, MemoryStream, Network, Ready, Stream, Tcp, TcpStream};

/// Sockets, or a network within the process.
pub enum Either {
    /// The system's.
    Tcp(Tcp),
    /// The process's own.
    Memory(Memory),
}

/// A connection of [`Either`].
pub enum EitherStream {
    /// A socket.
    Tcp(TcpStream),
    /// Two queues.
    Memory(MemoryStream),
}

/// A stream that was given to a network of another kind.
fn foreign() -> io::Error {
    io::ErrorKind::InvalidInput.into()
}

impl Network for Either {
    type Stream = EitherStream;
    const SHORT_READ_DRAINS: bool = Tcp::SHORT_READ_DRAINS;

    #[inline]
    fn poll(&mut self, wait: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<()> {
        match self {
            Either::Tcp(tcp) => tcp.poll(wait, ready),
            Either::Memory(memory) => memory.poll(wait, ready),
        }
    }

    #[inline]
    fn accept(&mut self) -> io::Result<(EitherStream, SocketAddr)> {
        match self {
            Either::Tcp(tcp) => tcp.accept().map(|(stream, peer)| (EitherStream::Tcp(stream), peer)),
            Either::Memory(memory) => memory
                .accept()
                .map(|(stream, peer)| (EitherStream::Memory(stream), peer)),
        }
    }

    #[inline]
    fn register(&mut self, stream: &mut EitherStream, token: usize) -> io::Result<()> {
        match (self, stream) {
            (Either::Tcp(tcp), EitherStream::Tcp(stream)) => tcp.register(stream, token),
            (Either::Memory(memory), EitherStream::Memory(stream)) => memory.register(stream, token),
            _ => Err(foreign()),
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Either::Tcp(tcp) => tcp.local_addr(),
            Either::Memory(memory) => memory.local_addr(),
        }
    }

    fn stop_listening(&mut self) {
        match self {
            Either::Tcp(tcp) => tcp.stop_listening(),
            Either::Memory(memory) => memory.stop_listening(),
        }
    }
}

impl Stream for EitherStream {
    #[inline]
    fn recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            EitherStream::Tcp(stream) => stream.recv(into),
            EitherStream::Memory(stream) => stream.recv(into),
        }
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            EitherStream::Tcp(stream) => stream.send(bytes),
            EitherStream::Memory(stream) => stream.send(bytes),
        }
    }

    #[inline]
    fn send_two(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        match self {
            EitherStream::Tcp(stream) => stream.send_two(first, second),
            EitherStream::Memory(stream) => stream.send_two(first, second),
        }
    }

    #[inline]
    fn send_last(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            EitherStream::Tcp(stream) => stream.send_last(bytes),
            EitherStream::Memory(stream) => stream.send_last(bytes),
        }
    }

    #[inline]
    fn shutdown_write(&mut self) -> io::Result<()> {
        match self {
            EitherStream::Tcp(stream) => stream.shutdown_write(),
            EitherStream::Memory(stream) => stream.shutdown_write(),
        }
    }
}
