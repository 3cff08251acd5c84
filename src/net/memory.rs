//! A network within the process: connections are two queues of bytes, so that an application can be asked without a port.
//!
//! It carries what the server sends and the far side puts in, whole and in order, and takes any amount. It may assume
//! that both sides live on one thread. It must never wait: nothing happens between two calls, so a poll that finds
//! nothing has nothing to sleep for.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::Duration;

use super::{LISTENER, Network, Ready, Stream};

/// One connection, seen from both sides.
#[derive(Default)]
struct Pipe {
    /// From the far side to the server.
    to_server: VecDeque<u8>,
    /// The far side has ended its sending.
    far_ended: bool,
    /// From the server to the far side.
    to_far: Vec<u8>,
    /// The server has ended its sending, or has dropped its stream.
    server_ended: bool,
    /// Under which the server wants to hear of it.
    token: Option<usize>,
    /// Something has come that was not reported yet.
    news: bool,
}

/// What the listener and the far side share.
struct Exchange {
    /// Connections that were made and not yet accepted.
    waiting: VecDeque<(Rc<RefCell<Pipe>>, SocketAddr)>,
    /// Every connection that the server holds.
    open: Vec<Weak<RefCell<Pipe>>>,
    listening: bool,
}

/// The server's side: a listener that no system knows of.
pub struct Memory {
    exchange: Rc<RefCell<Exchange>>,
    local: SocketAddr,
}

impl Memory {
    /// A network whose server says that it listens at `local`, and the side from which connections are made.
    pub fn new(local: SocketAddr) -> (Memory, Far) {
        let exchange = Rc::new(RefCell::new(Exchange {
            waiting: VecDeque::new(),
            open: Vec::new(),
            listening: true,
        }));
        let far = Far(Rc::clone(&exchange));
        (Memory { exchange, local }, far)
    }
}

impl Network for Memory {
    type Stream = MemoryStream;
    const SHORT_READ_DRAINS: bool = true;

    fn poll(&mut self, _wait: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let mut exchange = self.exchange.borrow_mut();
        if !exchange.waiting.is_empty() {
            ready.push(Ready {
                token: LISTENER,
                readable: true,
                ..Ready::default()
            });
        }
        exchange.open.retain(|pipe| {
            let Some(pipe) = pipe.upgrade() else { return false };
            let mut pipe = pipe.borrow_mut();
            if let Some(token) = pipe.token
                && std::mem::take(&mut pipe.news)
            {
                ready.push(Ready {
                    token,
                    readable: true,
                    writable: true,
                    closed: pipe.far_ended,
                });
            }
            true
        });
        Ok(())
    }

    fn accept(&mut self) -> io::Result<(MemoryStream, SocketAddr)> {
        let mut exchange = self.exchange.borrow_mut();
        let (pipe, address) = exchange.waiting.pop_front().ok_or(io::ErrorKind::WouldBlock)?;
        exchange.open.push(Rc::downgrade(&pipe));
        Ok((MemoryStream(pipe), address))
    }

    fn register(&mut self, stream: &mut MemoryStream, token: usize) -> io::Result<()> {
        let mut pipe = stream.0.borrow_mut();
        pipe.token = Some(token);
        pipe.news = true;
        Ok(())
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }

    fn stop_listening(&mut self) {
        let mut exchange = self.exchange.borrow_mut();
        exchange.listening = false;
        for (pipe, _) in exchange.waiting.drain(..) {
            pipe.borrow_mut().server_ended = true;
        }
    }
}

/// The server's end of one connection. Dropping it ends the connection.
pub struct MemoryStream(Rc<RefCell<Pipe>>);

impl Drop for MemoryStream {
    fn drop(&mut self) {
        self.0.borrow_mut().server_ended = true;
    }
}

impl Stream for MemoryStream {
    fn recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut pipe = self.0.borrow_mut();
        if pipe.to_server.is_empty() {
            return if pipe.far_ended {
                Ok(0)
            } else {
                Err(io::ErrorKind::WouldBlock.into())
            };
        }
        io::Read::read(&mut pipe.to_server, into)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send_two(bytes, &[])
    }

    fn send_two(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        let mut pipe = self.0.borrow_mut();
        if pipe.server_ended {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        pipe.to_far.extend_from_slice(first);
        pipe.to_far.extend_from_slice(second);
        Ok(first.len() + second.len())
    }

    fn shutdown_write(&mut self) -> io::Result<()> {
        self.0.borrow_mut().server_ended = true;
        Ok(())
    }
}

/// Where connections come from.
pub struct Far(Rc<RefCell<Exchange>>);

impl Far {
    /// A new connection from `address`; `None` when the server listens no more.
    pub fn connect(&self, address: SocketAddr) -> Option<FarEnd> {
        let mut exchange = self.0.borrow_mut();
        if !exchange.listening {
            return None;
        }
        let pipe = Rc::default();
        exchange.waiting.push_back((Rc::clone(&pipe), address));
        Some(FarEnd(pipe))
    }
}

/// The client's end of one connection.
pub struct FarEnd(Rc<RefCell<Pipe>>);

impl FarEnd {
    /// Sends bytes to the server; false when it has closed the connection or this side has ended.
    pub fn send(&self, bytes: &[u8]) -> bool {
        let mut pipe = self.0.borrow_mut();
        if pipe.far_ended || pipe.server_ended {
            return false;
        }
        pipe.to_server.extend(bytes);
        pipe.news = true;
        true
    }

    /// Ends this side's sending: the server may still answer.
    pub fn finish(&self) {
        let mut pipe = self.0.borrow_mut();
        pipe.far_ended = true;
        pipe.news = true;
    }

    /// Calls `read` with what the server has sent and nobody has [forgotten](FarEnd::forget).
    pub fn received<R>(&self, read: impl FnOnce(&[u8]) -> R) -> R {
        read(&self.0.borrow().to_far)
    }

    /// Forgets the first `count` bytes of it.
    pub fn forget(&self, count: usize) {
        let mut pipe = self.0.borrow_mut();
        let count = count.min(pipe.to_far.len());
        pipe.to_far.drain(..count);
    }

    /// Whether the server has ended the connection; what it sent before may still be read.
    pub fn ended(&self) -> bool {
        self.0.borrow().server_ended
    }
}

/// A client that has gone sends no more.
impl Drop for FarEnd {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 80);
    const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 50000);

    fn reports(memory: &mut Memory) -> Vec<Ready> {
        let mut ready = Vec::new();
        memory.poll(Some(Duration::ZERO), &mut ready).unwrap();
        ready
    }

    fn kind<T>(result: io::Result<T>) -> io::ErrorKind {
        result.err().expect("an error").kind()
    }

    #[test]
    fn carries_bytes_both_ways_and_reports_each_change_once() {
        let (mut memory, far) = Memory::new(SERVER);
        assert_eq!(memory.local_addr().unwrap(), SERVER);
        assert_eq!(kind(memory.accept()), io::ErrorKind::WouldBlock);
        assert_eq!(reports(&mut memory), []);
        let client = far.connect(CLIENT).unwrap();
        assert_eq!(reports(&mut memory)[0].token, LISTENER);
        let (mut stream, address) = memory.accept().unwrap();
        assert_eq!(address, CLIENT);
        assert_eq!(kind(stream.recv(&mut [0; 4])), io::ErrorKind::WouldBlock);
        memory.register(&mut stream, 7).unwrap();
        assert_eq!(reports(&mut memory)[0].token, 7);
        assert_eq!(reports(&mut memory), []);
        assert!(client.send(b"hello"));
        assert!(reports(&mut memory)[0].readable);
        let mut bytes = [0; 4];
        assert_eq!(stream.recv(&mut bytes).unwrap(), 4);
        assert_eq!(&bytes, b"hell");
        assert_eq!(stream.recv(&mut bytes).unwrap(), 1);
        assert_eq!(stream.send_two(b"good", b"bye").unwrap(), 7);
        client.received(|bytes| assert_eq!(bytes, b"goodbye"));
        client.forget(4);
        client.received(|bytes| assert_eq!(bytes, b"bye"));
        client.forget(9);
        client.received(|bytes| assert_eq!(bytes, b""));
        drop(client);
        assert!(reports(&mut memory)[0].closed);
        assert_eq!(stream.recv(&mut bytes).unwrap(), 0);
    }

    #[test]
    fn ends_on_either_side() {
        let (mut memory, far) = Memory::new(SERVER);
        let client = far.connect(CLIENT).unwrap();
        let (mut stream, _) = memory.accept().unwrap();
        client.send(b"x");
        client.finish();
        assert!(!client.send(b"y"));
        assert_eq!(stream.recv(&mut [0; 4]).unwrap(), 1);
        assert_eq!(stream.recv(&mut [0; 4]).unwrap(), 0);
        stream.send(b"late").unwrap();
        stream.shutdown_write().unwrap();
        assert_eq!(kind(stream.send(b"later")), io::ErrorKind::BrokenPipe);
        assert!(client.ended());
        client.received(|bytes| assert_eq!(bytes, b"late"));

        let other = far.connect(CLIENT).unwrap();
        drop(memory.accept().unwrap());
        assert!(other.ended() && !other.send(b"x"));
        let third = far.connect(CLIENT).unwrap();
        memory.stop_listening();
        assert!(third.ended());
        assert!(far.connect(CLIENT).is_none());
        assert_eq!(kind(memory.accept()), io::ErrorKind::WouldBlock);
    }
}
