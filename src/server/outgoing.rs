//! What a connection still has to send: encoded bytes, and behind them at most one body sent from where it lies.
//!
//! While a held body waits, nothing may be encoded behind it; the server does not dispatch until it has gone.

use crate::net::Stream;
use std::io;

/// Bytes on their way to one peer.
pub(super) struct Outgoing<B> {
    /// Encoded heads and small bodies; storage accounted by the pool.
    pub(super) bytes: Vec<u8>,
    sent: usize,
    held: Option<B>,
    held_sent: usize,
}

impl<B: AsRef<[u8]>> Outgoing<B> {
    pub(super) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            sent: 0,
            held: None,
            held_sent: 0,
        }
    }

    /// Puts a body behind the encoded bytes.
    pub(super) fn hold(&mut self, body: B) {
        debug_assert!(self.held.is_none(), "one held body at a time");
        self.held = Some(body);
        self.held_sent = 0;
    }

    pub(super) fn holds(&self) -> bool {
        self.held.is_some()
    }

    /// Bytes not sent yet.
    pub(super) fn pending(&self) -> usize {
        let held = self
            .held
            .as_ref()
            .map_or(0, |body| body.as_ref().len() - self.held_sent);
        self.bytes.len() - self.sent + held
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sent == self.bytes.len() && self.held.is_none()
    }

    /// Sends at most `most` bytes with one call. A held body is dropped as soon as its last byte has gone. `last`: nothing
    /// will follow what is here, and our side may end with it.
    pub(super) fn send(&mut self, stream: &mut impl Stream, most: usize, last: bool) -> io::Result<usize> {
        let encoded = &self.bytes[self.sent..];
        let encoded = &encoded[..encoded.len().min(most)];
        let taken = match &self.held {
            None if last && self.sent + encoded.len() == self.bytes.len() => stream.send_last(encoded)?,
            None => stream.send(encoded)?,
            Some(body) => {
                let rest = &body.as_ref()[self.held_sent..];
                let rest = &rest[..rest.len().min(most - encoded.len())];
                if encoded.is_empty() {
                    stream.send(rest)?
                } else {
                    stream.send_two(encoded, rest)?
                }
            }
        };
        let of_encoded = taken.min(encoded.len());
        self.sent += of_encoded;
        self.held_sent += taken - of_encoded;
        if self
            .held
            .as_ref()
            .is_some_and(|body| self.held_sent >= body.as_ref().len())
            && self.sent == self.bytes.len()
        {
            self.held = None;
        }
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.sent = 0;
        }
        Ok(taken)
    }

    /// Forgets everything unsent.
    pub(super) fn discard(&mut self) {
        self.bytes.clear();
        self.sent = 0;
        self.held = None;
    }
}
