//! A client's connection: sends bytes as told, reads one whole response, and judges it.
//!
//! It may assume responses with a Content-Length, as the servers under test send for these routes. It must never call a
//! response whole that is not, and waits at most [`PATIENCE`] for a byte.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// How long a client waits for a byte before it calls the server stuck.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub const HEALTH: &[u8] = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
pub const UNIT: &[u8] = b"GET /units/7 HTTP/1.1\r\nHost: localhost\r\n\r\n";
pub const UNIT_CLOSE: &[u8] = b"GET /units/7 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
pub const BIG: &[u8] = b"GET /big HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

pub const BIG_BYTES: usize = 8 * 1024 * 1024;
const BIG_PATTERN: &[u8] = b"fastslua";

pub struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

pub struct Response {
    pub status: u16,
    pub body: Vec<u8>,
}

/// What the head of a response says.
pub struct Head {
    pub status: u16,
    pub head_bytes: usize,
    pub content_bytes: usize,
}

impl Connection {
    /// `receive_buffer`: a size for the kernel's receive buffer, to be a reader that soon lets the server wait.
    pub fn open(address: SocketAddr, receive_buffer: Option<usize>) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        if let Some(bytes) = receive_buffer {
            socket.set_recv_buffer_size(bytes)?;
        }
        socket.set_tcp_nodelay(true)?;
        socket.connect_timeout(&address.into(), PATIENCE)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream: socket.into(),
            received: Vec::new(),
        })
    }

    pub fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(patience))
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Receives once; an end is an error, as nothing here expects one.
    pub fn receive_some(&mut self) -> io::Result<()> {
        let mut chunk = [0; 64 * 1024];
        match self.stream.read(&mut chunk)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.received.extend_from_slice(&chunk[..count]);
                Ok(())
            }
        }
    }

    /// Receives on until a head is whole.
    pub fn receive_head(&mut self) -> io::Result<Head> {
        loop {
            if let Some(head) = read_head(&self.received)? {
                return Ok(head);
            }
            self.receive_some()?;
        }
    }

    /// Receives one whole response; what follows it is an error, since nothing else was asked for.
    pub fn receive(&mut self) -> io::Result<Response> {
        let head = self.receive_head()?;
        let whole = head.head_bytes + head.content_bytes;
        while self.received.len() < whole {
            self.receive_some()?;
        }
        if self.received.len() > whole {
            return Err(io::Error::other("bytes after the response"));
        }
        let body = self.received.split_off(head.head_bytes);
        self.received.clear();
        Ok(Response {
            status: head.status,
            body,
        })
    }

    /// How much of the head and body is here.
    pub fn received_bytes(&self) -> usize {
        self.received.len()
    }

    /// Waits for the server to end the connection; a byte before that is an error.
    pub fn receive_end(&mut self) -> io::Result<()> {
        match self.stream.read(&mut [0; 1])? {
            0 => Ok(()),
            _ => Err(io::Error::other("bytes after the response")),
        }
    }
}

fn read_head(bytes: &[u8]) -> io::Result<Option<Head>> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut fields);
    let parsed = response
        .parse(bytes)
        .map_err(|error| io::Error::other(format!("not a response: {error}")))?;
    let httparse::Status::Complete(head_bytes) = parsed else {
        return Ok(None);
    };
    let length = response
        .headers
        .iter()
        .find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let content_bytes = length
        .and_then(|field| std::str::from_utf8(field.value).ok()?.parse().ok())
        .ok_or_else(|| io::Error::other("a response without a Content-Length"))?;
    Ok(Some(Head {
        status: response.code.unwrap_or_default(),
        head_bytes,
        content_bytes,
    }))
}

impl Response {
    pub fn check_health(&self) -> Result<(), String> {
        self.check(self.body == b"OK")
    }

    pub fn check_unit(&self) -> Result<(), String> {
        let value: Option<serde_json::Value> = serde_json::from_slice(&self.body).ok();
        self.check(value == Some(serde_json::json!({ "id": "7", "alive": true })))
    }

    pub fn check_big(&self) -> Result<(), String> {
        let whole = self.body.len() == BIG_BYTES && self.body.chunks(BIG_PATTERN.len()).all(|part| part == BIG_PATTERN);
        self.check(whole)
    }

    fn check(&self, right: bool) -> Result<(), String> {
        if self.status == 200 && right {
            return Ok(());
        }
        let shown = String::from_utf8_lossy(&self.body[..self.body.len().min(60)]);
        Err(format!(
            "wrong answer: {} with {} bytes: {shown}",
            self.status,
            self.body.len()
        ))
    }
}
