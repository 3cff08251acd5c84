//! The real network: one listener and its connections over mio (epoll, kqueue, the Windows poller).
//!
//! It may assume that its owner keeps the contract of [`Network`]: a stream is registered once, and whoever stops before
//! `WouldBlock` remembers that it did. It must never wait outside [`Network::poll`], never let a gone peer raise a
//! signal in the host (which is no Rust program, so nobody ignores `SIGPIPE` for us), and holds no thread.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Protocol, Socket, Type};

use super::{LISTENER, Network, Ready, Stream};

/// Reports taken from the system with one call.
const EVENTS_PER_POLL: usize = 1024;

/// Calls in one poll. Whoever is overdue is judged by what was reported, so that after a pause of the host all reports
/// have to be seen; what does not fit even so comes with the next poll.
const POLLS_MAX: usize = 16;

/// A listening TCP socket and the poller of its connections.
pub struct Tcp {
    poll: Poll,
    /// Reused by every poll, so that asking allocates nothing.
    events: Events,
    /// `None` once [`Network::stop_listening`] was called.
    listener: Option<mio::net::TcpListener>,
    /// Kept apart from the listener, so that the address can be told after it is closed.
    local: SocketAddr,
}

impl Tcp {
    /// Binds `addr` and listens with room for `backlog` connections not yet accepted; port 0 lets the system choose.
    ///
    /// `[::]` takes IPv4 too where the system allows it; such a peer is reported by its IPv4 address.
    /// On Unix a port left behind by an ended process can be taken again at once (`SO_REUSEADDR`), never one that is
    /// listened on. Windows gives that option another meaning (a second process could take the port), so there the
    /// listener claims its address for itself (`SO_EXCLUSIVEADDRUSE`).
    ///
    /// Errors are the system's: `AddrInUse`, `PermissionDenied`, `AddrNotAvailable`, or no descriptors left.
    pub fn listen(addr: SocketAddr, backlog: i32) -> io::Result<Tcp> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        #[cfg(windows)]
        super::exclusive::claim_address(&socket)?;
        if addr.ip() == IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED) {
            // Some systems have no dual-stack sockets: IPv6 alone is then what `[::]` means.
            let _ = socket.set_only_v6(false);
        }
        // Inherited by accepted sockets on Linux; elsewhere `accept` sets it again.
        socket.set_tcp_nodelay(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&addr.into())?;
        socket.listen(backlog)?;

        let mut listener = mio::net::TcpListener::from_std(socket.into());
        let local = listener.local_addr()?;
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, Token(LISTENER), Interest::READABLE)?;
        Ok(Tcp {
            poll,
            events: Events::with_capacity(EVENTS_PER_POLL),
            listener: Some(listener),
            local,
        })
    }
}

impl Network for Tcp {
    type Stream = TcpStream;
    const SHORT_READ_DRAINS: bool = cfg!(any(target_os = "linux", target_os = "android"));

    fn poll(&mut self, wait: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let mut wait = wait;
        for _ in 0..POLLS_MAX {
            self.poll.poll(&mut self.events, wait)?;
            let before = ready.len();
            ready.extend(self.events.iter().map(|event| Ready {
                token: event.token().0,
                readable: event.is_readable(),
                writable: event.is_writable(),
                closed: event.is_read_closed() || event.is_write_closed() || event.is_error(),
            }));
            if ready.len() - before < EVENTS_PER_POLL {
                break;
            }
            wait = Some(Duration::ZERO);
        }
        Ok(())
    }

    fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        let Some(listener) = &self.listener else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        let (stream, peer) = listener.accept().map_err(lost_before_accept)?;
        prepare(&stream);
        Ok((
            TcpStream(stream),
            SocketAddr::new(peer.ip().to_canonical(), peer.port()),
        ))
    }

    fn register(&mut self, stream: &mut TcpStream, token: usize) -> io::Result<()> {
        debug_assert_ne!(token, LISTENER);
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(&mut stream.0, Token(token), both)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }

    fn stop_listening(&mut self) {
        if let Some(mut listener) = self.listener.take() {
            // Closing it ends the registration as well; a failure here would change nothing.
            let _ = self.poll.registry().deregister(&mut listener);
        }
    }
}

/// Names every failure of one waiting connection `ConnectionAborted`. Linux hands an accepter the network errors of the
/// new socket (accept(2), "Error handling"), a firewall's refusal among them; the connections behind it are sound.
fn lost_before_accept(error: io::Error) -> io::Error {
    use io::ErrorKind::*;
    match error.kind() {
        ConnectionReset | NetworkDown | NetworkUnreachable | HostUnreachable | TimedOut | PermissionDenied
        | Interrupted => io::Error::new(ConnectionAborted, error),
        _ => error,
    }
}

/// Sets what an accepted socket does not inherit from the listener. A failure means that the peer is gone, which the
/// first receive tells.
fn prepare(stream: &mio::net::TcpStream) {
    #[cfg(not(target_os = "linux"))]
    let _ = stream.set_nodelay(true);
    #[cfg(target_vendor = "apple")]
    let _ = socket2::SockRef::from(stream).set_nosigpipe(true);
    #[cfg(target_os = "linux")]
    let _ = stream;
}

/// One accepted connection. Dropping it closes the socket and ends its registration.
pub struct TcpStream(mio::net::TcpStream);

impl Stream for TcpStream {
    fn recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The standard library sends with MSG_NOSIGNAL where there is one.
        self.0.write(bytes)
    }

    fn send_two(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        // `try_io` because the Windows poller arms itself again when it sees the `WouldBlock` go by.
        self.0.try_io(|| send_gathered(&self.0, first, second))
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn send_last(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // MSG_MORE keeps the segment back; the end of our side, which follows at once, sends it, and goes with it.
        const MSG_MORE: i32 = 0x8000;
        let count = socket2::SockRef::from(&self.0).send_with_flags(bytes, MSG_NOSIGNAL | MSG_MORE)?;
        if count == bytes.len() {
            self.shutdown_write()?;
        }
        Ok(count)
    }

    fn shutdown_write(&mut self) -> io::Result<()> {
        self.0.shutdown(Shutdown::Write)
    }
}

/// A peer that has gone is an error of the call and no signal.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MSG_NOSIGNAL: i32 = 0x4000;

/// One system call for two pieces. The standard library's `write_vectored` is writev(2), which takes no flags and would
/// raise `SIGPIPE` when the peer is gone.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn send_gathered(stream: &mio::net::TcpStream, first: &[u8], second: &[u8]) -> io::Result<usize> {
    let pieces = [io::IoSlice::new(first), io::IoSlice::new(second)];
    socket2::SockRef::from(stream).send_vectored_with_flags(&pieces, MSG_NOSIGNAL)
}

/// Apple's sockets carry `SO_NOSIGPIPE` (see [`prepare`]); Windows has no such signal.
#[cfg(any(target_vendor = "apple", windows))]
fn send_gathered(stream: &mio::net::TcpStream, first: &[u8], second: &[u8]) -> io::Result<usize> {
    socket2::SockRef::from(stream).send_vectored(&[io::IoSlice::new(first), io::IoSlice::new(second)])
}

/// Elsewhere the pieces go one at a time: a prefix is all that was promised.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple", windows)))]
fn send_gathered(stream: &mio::net::TcpStream, first: &[u8], second: &[u8]) -> io::Result<usize> {
    let mut stream = stream;
    stream.write(if first.is_empty() { second } else { first })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    /// Polls without waiting until `token` is reported, at most five seconds.
    fn wait_for(tcp: &mut Tcp, token: usize) -> Ready {
        let start = std::time::Instant::now();
        let mut ready = Vec::new();
        while start.elapsed() < Duration::from_secs(5) {
            tcp.poll(Some(Duration::from_millis(20)), &mut ready).unwrap();
            if let Some(found) = ready.iter().find(|event| event.token == token) {
                return *found;
            }
        }
        panic!("token {token} was never reported");
    }

    fn connected(tcp: &mut Tcp) -> (std::net::TcpStream, TcpStream) {
        let client = std::net::TcpStream::connect(tcp.local_addr().unwrap()).unwrap();
        assert!(wait_for(tcp, LISTENER).readable);
        let (mut stream, peer) = tcp.accept().unwrap();
        assert_eq!(peer, client.local_addr().unwrap());
        tcp.register(&mut stream, 7).unwrap();
        (client, stream)
    }

    #[test]
    fn asks_before_accepting_and_tells_the_peer() {
        let mut tcp = Tcp::listen(loopback(), 8).unwrap();
        assert_eq!(tcp.accept().err().unwrap().kind(), io::ErrorKind::WouldBlock);
        let mut ready = Vec::new();
        tcp.poll(Some(Duration::ZERO), &mut ready).unwrap();
        assert_eq!(ready, []);
        let (_client, stream) = connected(&mut tcp);
        assert!(stream.0.nodelay().unwrap());
    }

    #[test]
    fn a_taken_port_is_refused() {
        let tcp = Tcp::listen(loopback(), 8).unwrap();
        let error = Tcp::listen(tcp.local_addr().unwrap(), 8).err().unwrap();
        assert!(is_taken(&error), "{error}");
    }

    /// Windows tells a socket that does not ask to share an exclusively held port `AddrInUse`, one that does
    /// `PermissionDenied`.
    fn is_taken(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::AddrInUse || (cfg!(windows) && error.kind() == io::ErrorKind::PermissionDenied)
    }

    #[test]
    fn nobody_shares_our_port() {
        let tcp = Tcp::listen(loopback(), 8).unwrap();
        let thief = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).unwrap();
        thief.set_reuse_address(true).unwrap();
        // Linux lets the bind pass and refuses to listen, others refuse the bind.
        let error = thief
            .bind(&tcp.local_addr().unwrap().into())
            .and_then(|()| thief.listen(1))
            .unwrap_err();
        assert!(is_taken(&error), "{error}");
    }

    #[test]
    fn stops_listening_and_keeps_its_connections() {
        let mut tcp = Tcp::listen(loopback(), 8).unwrap();
        let (mut client, mut stream) = connected(&mut tcp);
        let address = tcp.local_addr().unwrap();
        tcp.stop_listening();
        assert!(std::net::TcpStream::connect(address).is_err());
        assert_eq!(tcp.accept().err().unwrap().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(tcp.local_addr().unwrap(), address);
        assert_eq!(stream.send_two(b"one ", b"two").unwrap(), 7);
        let mut got = [0; 7];
        client.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"one two");
    }

    #[test]
    fn a_gone_peer_is_an_error_of_every_send() {
        let mut tcp = Tcp::listen(loopback(), 8).unwrap();
        let (client, mut stream) = connected(&mut tcp);
        socket2::SockRef::from(&client)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
        drop(client);
        let start = std::time::Instant::now();
        while !wait_for(&mut tcp, 7).closed {
            assert!(start.elapsed() < Duration::from_secs(5));
        }
        // Wine's poller consumes the error: what is left to receive there is the end.
        let received = stream.recv(&mut [0; 8]);
        assert!(received.is_err() || cfg!(windows) && matches!(received, Ok(0)));
        let gone: &[io::ErrorKind] = if cfg!(windows) {
            &[io::ErrorKind::ConnectionReset, io::ErrorKind::ConnectionAborted]
        } else {
            &[io::ErrorKind::BrokenPipe]
        };
        let (one, two) = (stream.send(b"x").unwrap_err(), stream.send_two(b"x", b"y").unwrap_err());
        assert!(gone.contains(&one.kind()), "{one}");
        assert!(gone.contains(&two.kind()), "{two}");
    }

    #[test]
    fn ipv6_for_all_takes_ipv4_by_its_own_address() {
        // A machine without IPv6 has nothing to test here.
        let Ok(mut tcp) = Tcp::listen("[::]:0".parse().unwrap(), 8) else {
            return;
        };
        let port = tcp.local_addr().unwrap().port();
        let client = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        wait_for(&mut tcp, LISTENER);
        assert_eq!(tcp.accept().unwrap().1, client.local_addr().unwrap());
    }

    #[test]
    fn a_lost_connection_is_told_from_a_full_system() {
        let lost = lost_before_accept(io::ErrorKind::NetworkDown.into());
        assert_eq!(lost.kind(), io::ErrorKind::ConnectionAborted);
        let full = lost_before_accept(io::ErrorKind::OutOfMemory.into());
        assert_eq!(full.kind(), io::ErrorKind::OutOfMemory);
    }
}
