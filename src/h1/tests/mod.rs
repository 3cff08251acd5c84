//! Tables of bytes and outcomes for the server connection, and the small server that runs them.
//!
//! A row's outcome reads: each request as `METHOD target`, `=body` when a body was announced, and what the response
//! says about the connection; then how it ended: `open` (nothing buffered), `waits` (something buffered), `closed`, or
//! the refusal's status and reason. Every row is run at every cut.

mod body_rows;
mod connection_rows;
mod docs;
mod exhaustive;
mod field_rows;
mod limit_rows;
mod line_rows;
mod memory;
mod random;
mod reference;
mod responses;
mod targets;

use super::{Connection, Limits, Progress, Reject};
use crate::testing::splits::every_split;

/// A date as the layer above gives it.
pub const DATE: &[u8; 29] = b"Sun, 06 Nov 1994 08:49:37 GMT";

/// The limits of a server with default options.
pub const LIMITS: Limits = Limits {
    head_bytes_max: 16384,
    headers_max: 100,
    target_bytes_max: 8192,
    body_bytes_max: 1 << 20,
};

/// Name, what the peer sends, outcome.
pub type Row = (&'static str, &'static [u8], &'static str);

/// A server that answers every request at once and writes down what happened.
pub struct Server {
    pub connection: Connection,
    pub limits: Limits,
    pub events: Vec<String>,
    pub sent: Vec<u8>,
    /// Storage grows by single bytes, so that every move of the buffer is exercised.
    pub tight: bool,
}

impl Server {
    pub fn new(limits: Limits) -> Self {
        Self {
            connection: Connection::new(),
            limits,
            events: Vec::new(),
            sent: Vec::new(),
            tight: false,
        }
    }

    /// Receives `piece`, or as much of it as is wanted.
    pub fn receive(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            let wanted = self.connection.recv_wanted(&self.limits);
            if wanted == 0 {
                assert!(self.connection.closing, "a connection that goes on wants bytes");
                return;
            }
            let most = self.connection.buffer_capacity().max(4096.min(wanted)) * 2;
            assert!(wanted <= most, "storage grows at most by doubling");
            let size = if self.tight {
                self.connection.buffered() + 1
            } else {
                wanted
            };
            if size > self.connection.buffer_capacity() || self.tight {
                self.connection.replace_storage(vec![0; size].into());
            }
            let space = self.connection.recv_space();
            let n = space.len().min(piece.len());
            assert!(n > 0, "wanted storage has room");
            space[..n].copy_from_slice(&piece[..n]);
            self.connection.recv_commit(n);
            piece = &piece[n..];
            self.serve();
        }
    }

    /// Serves what has been received.
    pub fn serve(&mut self) {
        loop {
            match self.connection.advance(&self.limits) {
                Progress::Request => self.answer(),
                Progress::Continue => {
                    let before = self.sent.len();
                    self.connection.write_continue(&mut self.sent);
                    assert_eq!(&self.sent[before..], b"HTTP/1.1 100 Continue\r\n\r\n");
                }
                Progress::NeedMore => return,
                Progress::Closed => {
                    assert!(!self.connection.persistent());
                    return;
                }
                Progress::Refused(reject) => return self.refuse(reject),
            }
        }
    }

    fn answer(&mut self) {
        let connection = &mut self.connection;
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let head = connection.head();
        let mut event = format!(
            "{} {}",
            text(connection.text(head.method_text)),
            text(connection.text(head.target))
        );
        if connection.has_body() {
            event.push('=');
            event.push_str(&text(connection.body()));
        }
        let mut out = Vec::new();
        let body = connection.body().to_vec();
        if connection
            .respond(DATE, body.len() as u64, false, &mut out)
            .expect("the request is live")
        {
            out.extend_from_slice(&body);
        }
        let head_end = out
            .windows(4)
            .position(|w| w == b"\r\n\r\n")
            .expect("a head ends in an empty line");
        let head = String::from_utf8_lossy(&out[..head_end]).to_string();
        assert_eq!(head.contains("\r\nConnection: close"), !connection.persistent());
        for said in ["close", "keep-alive"] {
            if head.contains(&format!("\r\nConnection: {said}")) {
                event.push(' ');
                event.push_str(said);
            }
        }
        self.sent.extend_from_slice(&out);
        self.events.push(event);
        connection.end_request();
    }

    fn refuse(&mut self, reject: Reject) {
        let before = self.sent.len();
        self.connection.refuse(reject, DATE, &mut self.sent);
        if self.sent.len() > before {
            let line = format!("HTTP/1.1 {} ", reject.status());
            assert!(
                self.sent[before..].starts_with(line.as_bytes()),
                "the refusal says its status"
            );
            self.events.push(format!("{} {}", reject.status(), reject.name()));
        }
        assert!(!self.connection.persistent());
        assert_eq!(self.connection.lingers(), !self.connection.eof());
        assert_eq!(
            self.connection.advance(&self.limits),
            Progress::Refused(reject),
            "refusals are sticky"
        );
    }

    /// What happened, and how it stands.
    pub fn outcome(&self) -> String {
        let mut events = self.events.clone();
        let connection = &self.connection;
        match connection.phase {
            super::connection::Phase::Refused(_) => {}
            super::connection::Phase::Closed => events.push("closed".into()),
            _ if connection.buffered() == 0 => events.push("open".into()),
            _ => events.push("waits".into()),
        }
        events.join("; ")
    }
}

/// What comes of `pieces`, and of the end of the peer's side when `eof` says so.
pub fn run(limits: &Limits, pieces: &[&[u8]], eof: bool, tight: bool) -> String {
    let mut server = Server::new(limits.clone());
    server.tight = tight;
    for piece in pieces {
        server.receive(piece);
    }
    if eof {
        server.connection.recv_eof();
        server.serve();
    }
    server.outcome()
}

/// Runs one row at every cut.
pub fn check(limits: &Limits, name: &str, bytes: &[u8], eof: bool, outcome: &str) {
    let mut runs = 0;
    every_split(bytes, |pieces| {
        runs += 1;
        let cuts: Vec<_> = pieces.iter().map(|piece| piece.len()).take(4).collect();
        assert_eq!(
            run(limits, pieces, eof, false),
            outcome,
            "row {name}, {} pieces of {cuts:?}",
            pieces.len()
        );
    });
    assert!(runs > 1 || bytes.is_empty());
    if bytes.len() < 4096 {
        let single: Vec<_> = bytes.chunks(1).collect();
        assert_eq!(
            run(limits, &single, eof, true),
            outcome,
            "row {name}, storage that grows by single bytes"
        );
    }
}

/// Runs a table at every cut.
pub fn check_rows(limits: &Limits, rows: &[Row], eof: bool) {
    for (name, bytes, outcome) in rows {
        check(limits, name, bytes, eof, outcome);
    }
}
