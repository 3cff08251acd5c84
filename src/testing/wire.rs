//! One simulated connection: what is on its way, what has arrived, and what the poller owes a report of.
//!
//! Pure state, no clock and no randomness: `network` decides when things arrive and which faults happen.

use std::collections::VecDeque;
use std::time::Duration;

/// Something a peer did, on its way to the server.
#[derive(Debug)]
pub enum Arrival {
    Bytes(Vec<u8>),
    /// The peer ended its sending side.
    End,
    /// The peer gave the connection up. `keep`: bytes that arrived before may still be received.
    Reset {
        keep: bool,
    },
}

/// How the server's socket stands as the server sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerSide {
    /// Waits to be accepted.
    Backlog,
    Open,
    /// The server dropped its stream, or never got it.
    Gone,
}

/// Both directions of one connection.
#[derive(Debug)]
pub struct Wire {
    pub server: ServerSide,
    pub token: Option<usize>,

    // Peer to server.
    pub under_way: VecDeque<(Duration, Arrival)>,
    pub arrived: VecDeque<u8>,
    pub ended: bool,
    pub reset: bool,

    // Server to peer.
    pub sent: VecDeque<u8>,
    /// How many bytes may lie in `sent`: the socket buffers of both sides together.
    pub window: usize,
    pub send_ended: bool,
    /// The server's side was reset while the peer still sent, or is gone with bytes unread.
    pub reset_by_server: bool,

    // What the poller owes.
    pub owes_readable: bool,
    pub owes_writable: bool,
    /// The last receive said `WouldBlock`, so the next arrival is reported in strict mode.
    pub read_armed: bool,
    /// The last send said `WouldBlock` (or, in loose mode, was short), so room is reported.
    pub write_armed: bool,
}

impl Wire {
    pub fn new(window: usize) -> Self {
        Wire {
            server: ServerSide::Backlog,
            token: None,
            under_way: VecDeque::new(),
            arrived: VecDeque::new(),
            ended: false,
            reset: false,
            sent: VecDeque::new(),
            window,
            send_ended: false,
            reset_by_server: false,
            owes_readable: false,
            owes_writable: false,
            read_armed: true,
            write_armed: true,
        }
    }

    /// A receive would not say `WouldBlock`.
    pub fn readable(&self) -> bool {
        !self.arrived.is_empty() || self.ended || self.reset
    }

    /// A send would not say `WouldBlock`.
    pub fn writable(&self) -> bool {
        self.reset || self.sent.len() < self.window
    }

    /// Takes what arrives at the server's socket and owes the report of it.
    pub fn arrive(&mut self, arrival: Arrival, strict: bool) {
        if self.server == ServerSide::Gone {
            // Nobody is there to take it: the system answers with a reset, unless this is the peer's own farewell.
            if matches!(arrival, Arrival::Bytes(_)) {
                self.reset_by_server = true;
            }
            return;
        }
        match arrival {
            Arrival::Bytes(bytes) => self.arrived.extend(bytes),
            Arrival::End => self.ended = true,
            Arrival::Reset { keep } => {
                self.reset = true;
                self.sent.clear();
                if !keep {
                    self.arrived.clear();
                }
            }
        }
        // Loose: every arrival is an edge. Strict: one report, then silence until a receive found nothing.
        if self.read_armed || !strict {
            self.owes_readable = true;
            self.read_armed = false;
        }
        if self.reset {
            self.owes_writable |= self.write_armed || !strict;
        }
    }

    /// The peer took bytes: owes the report of room if a send had found none.
    pub fn room_made(&mut self) {
        if self.write_armed && self.sent.len() < self.window {
            self.owes_writable = true;
            self.write_armed = false;
        }
    }

    /// A receive found nothing: the next arrival is an edge again.
    pub fn arm_read(&mut self) {
        self.read_armed = true;
    }

    /// A send found no room (or, in loose mode, not enough): the next room is an edge again.
    pub fn arm_write(&mut self) {
        self.write_armed = true;
    }

    /// Registration reports what is ready already, and arms the rest.
    pub fn register(&mut self, token: usize) {
        self.token = Some(token);
        self.owes_readable = self.readable();
        self.owes_writable = self.writable();
        self.read_armed = !self.owes_readable;
        self.write_armed = !self.owes_writable;
    }

    /// The server closed its socket. True when that resets the connection: bytes were left unread (RFC 9112 section 9.6).
    pub fn close(&mut self) -> bool {
        self.server = ServerSide::Gone;
        self.token = None;
        self.owes_readable = false;
        self.owes_writable = false;
        self.send_ended = true;
        let resets = !self.arrived.is_empty();
        self.reset_by_server |= resets;
        self.arrived.clear();
        resets
    }
}
