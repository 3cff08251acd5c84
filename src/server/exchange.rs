//! The middle of the way: a whole request goes out to its handler, a whole response comes back.
//!
//! While a handler runs, no borrow of the server is alive; a [`RequestId`] finds its request again, or nothing when the
//! connection has gone. An answer is encoded at once and sent when the handler has returned.

use super::*;
use crate::h1::{Connection, Progress, Reject, RequestHead, ResponseError, ResponseHead};
use std::fmt;
use visit::Sent;

/// Answers to a pipeline are kept back up to this size, to be sent with one call.
const BATCH_MAX: usize = 16 << 10;

/// Room for a status line and the fields that the encoder adds.
pub(super) const HEAD_ROOM: usize = 320;

/// A response's content.
pub enum Payload<'a, B> {
    /// Copied behind the head.
    Bytes(&'a [u8]),
    /// Sent from where it lies; dropped when its last byte has gone or the connection has ended.
    Held(B),
}

impl<B: AsRef<[u8]>> Payload<'_, B> {
    fn len(&self) -> usize {
        match self {
            Payload::Bytes(bytes) => bytes.len(),
            Payload::Held(body) => body.as_ref().len(),
        }
    }
}

/// Why a response was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RespondError {
    /// The request's connection has gone. Normal for late answers.
    Gone,
    /// The request has been answered.
    AlreadySent,
    /// Longer than `max_response_bytes`.
    TooLarge { bytes: usize, most: usize },
    /// `max_buffered_bytes` has no room for it now.
    NoMemory { bytes: usize },
    /// The response contradicts itself.
    Response(ResponseError),
}

impl fmt::Display for RespondError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RespondError::Gone => write!(out, "the client has gone"),
            RespondError::AlreadySent => write!(out, "the response has already been sent"),
            RespondError::TooLarge { bytes, most } => {
                write!(
                    out,
                    "a response of {bytes} bytes is more than max_response_bytes ({most})"
                )
            }
            RespondError::NoMemory { bytes } => {
                write!(out, "max_buffered_bytes has no room for a response of {bytes} bytes")
            }
            RespondError::Response(error) => write!(out, "{error}"),
        }
    }
}

/// A live request, as it lies in its connection's buffer.
pub struct Request<'a> {
    h1: &'a Connection,
    address: SocketAddr,
    connection: u64,
}

impl<'a> Request<'a> {
    /// The parsed head; its spans are read with [`Request::text`].
    pub fn head(&self) -> &'a RequestHead {
        self.h1.head()
    }

    /// The bytes of a span of the head.
    pub fn text(&self, span: h1::Span) -> &'a [u8] {
        self.h1.text(span)
    }

    /// The first field of this name, compared without regard to case.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.h1.header(name)
    }

    /// The content, de-chunked; `None` when the request announced none.
    pub fn body(&self) -> Option<&'a [u8]> {
        self.h1.has_body().then(|| self.h1.body())
    }

    /// The number of its connection; the server counts them from 1.
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// The peer's address, as the socket tells it.
    pub fn remote_addr(&self) -> SocketAddr {
        self.address
    }
}

impl<N: Network, B: AsRef<[u8]>> Server<N, B> {
    /// Hands a whole request out, unless it has to be refused.
    pub(super) fn dispatch(&mut self, key: Key) -> Option<RequestId> {
        let now = self.turn.now;
        let peer = self.slots.get_mut(key)?;
        let waited = now.saturating_duration_since(peer.queued_at);
        let refusal = if waited > self.config.dispatch_timeout {
            Some(Reject::DispatchTimeout)
        } else {
            self.guard.refusal(&peer.h1)
        };
        if let Some(reject) = refusal {
            self.refuse(key, reject);
            return None;
        }
        self.serial += 1;
        peer.serial = self.serial;
        peer.overdue = false;
        peer.requests = peer.requests.saturating_add(1);
        self.stats.requests += 1;
        self.turn.dispatched += 1;
        self.turn.dispatches_left -= 1;
        self.turn.handler_started = now;
        Some(RequestId {
            slot: key.slot,
            serial: self.serial,
        })
    }

    /// The request of this name, while it lives.
    pub fn request(&self, id: RequestId) -> Option<Request<'_>> {
        let (_, peer) = self.live(id)?;
        Some(Request {
            h1: &peer.h1,
            address: peer.address,
            connection: peer.number,
        })
    }

    /// Whether the request's connection is there and the handler may still read it.
    pub fn is_live(&self, id: RequestId) -> bool {
        self.live(id).is_some()
    }

    /// Whether the request has been answered, or can't be any more.
    pub fn responded(&self, id: RequestId) -> bool {
        self.live(id).is_none_or(|(_, peer)| peer.h1.responded())
    }

    /// The response in the making.
    pub fn response(&self, id: RequestId) -> Option<&ResponseHead> {
        self.live(id).map(|(_, peer)| peer.h1.response())
    }

    /// The response in the making.
    pub fn response_mut(&mut self, id: RequestId) -> Option<&mut ResponseHead> {
        let (key, _) = self.live(id)?;
        self.slots.get_mut(key).map(|peer| peer.h1.response_mut())
    }

    /// Status and content bytes of the answer to this request, until another request is answered. No content is counted
    /// where none was sent (HEAD, 204, 304), nor that of a refusal.
    pub fn answer(&self, id: RequestId) -> Option<(u16, u64)> {
        let answered = self.answered;
        (id.serial != 0 && answered.serial == id.serial).then_some((answered.status, answered.content_bytes))
    }

    /// Answers with the response in the making and this content. It is sent when the handler has returned.
    pub fn respond(&mut self, id: RequestId, payload: Payload<'_, B>) -> Result<(), RespondError> {
        let Some((key, _)) = self.live(id) else {
            return Err(RespondError::Gone);
        };
        let Some(peer) = self.slots.get_mut(key) else {
            return Err(RespondError::Gone);
        };
        if peer.h1.responded() {
            return Err(RespondError::AlreadySent);
        }
        let bytes = payload.len();
        let most = self.config.max_response_bytes;
        if bytes > most {
            return Err(RespondError::TooLarge { bytes, most });
        }
        let copied = if matches!(payload, Payload::Bytes(_)) { bytes } else { 0 };
        let room = HEAD_ROOM + peer.h1.response().encoded_len() + copied;
        if !self.pool.reserve_output(&mut peer.out.bytes, room) {
            return Err(RespondError::NoMemory { bytes });
        }
        let last = self.config.max_requests_per_connection;
        let close = self.draining.is_some() || (last > 0 && peer.requests >= last);
        let before = peer.out.bytes.capacity();
        let status = peer.h1.response().status();
        let with_body = peer
            .h1
            .respond(&self.date.text, bytes as u64, close, &mut peer.out.bytes)
            .map_err(RespondError::Response)?;
        if with_body {
            match payload {
                Payload::Bytes(bytes) => peer.out.bytes.extend_from_slice(bytes),
                Payload::Held(body) => peer.out.hold(body),
            }
        }
        self.pool.true_up(before, &peer.out.bytes);
        self.stats.responded(status);
        self.answered = Answered {
            serial: id.serial,
            status,
            content_bytes: if with_body { bytes as u64 } else { 0 },
        };
        Ok(())
    }

    /// Answers a live request with a refusal and ends its connection after it: what is left when a handler's own answer
    /// can't be sent. Without effect once it has been answered.
    pub fn refuse_request(&mut self, id: RequestId, reject: Reject) {
        let Some((key, peer)) = self.live(id) else { return };
        if peer.h1.responded() {
            return;
        }
        self.stats.responded(reject.status());
        self.answered = Answered {
            serial: id.serial,
            status: reject.status(),
            content_bytes: 0,
        };
        self.write_refusal(key, reject, End::ResponseFailed);
    }

    /// The handler has returned: its answer is sent, and the connection goes on to its next request. A request that
    /// nobody answered loses its connection; whoever calls handlers sees to it that this does not happen.
    pub fn end_request(&mut self, id: RequestId, clock: &impl Clock) {
        let now = clock.now();
        let took = now.saturating_duration_since(self.turn.handler_started);
        self.turn.now = now;
        self.stats.handler_time_total += took;
        if took > self.stats.handler_time_max {
            self.stats.handler_time_max = took;
            self.stats.handler_slowest = id.serial;
        }
        let Some((key, peer)) = self.live(id) else { return };
        if !peer.h1.responded() {
            return self.end(key, End::ResponseFailed);
        }
        self.complete(key);
    }

    fn complete(&mut self, key: Key) {
        let number = self.turn.number;
        let Some(peer) = self.slots.get_mut(key) else { return };
        peer.serial = 0;
        if !peer.h1.persistent() {
            peer.ending.get_or_insert(End::Answered);
            self.flush(key);
            return;
        }
        peer.h1.end_request();
        let progress = peer.h1.advance(&self.limits);
        if progress == Progress::Request && !peer.out.holds() && peer.out.pending() < BATCH_MAX {
            if peer.batched_in != number {
                peer.batched_in = number;
                self.turn.batched += 1;
            }
            return self.enqueue(key);
        }
        peer.batched_in = 0;
        if self.flush(key) != Sent::All {
            return;
        }
        let Some(peer) = self.slots.get_mut(key) else { return };
        if progress != Progress::NeedMore || peer.readable {
            // The poller will not say again what it has said: the next visit goes on.
            self.rest(key);
            return self.enqueue(key);
        }
        self.rest(key);
        self.park(key);
    }

    /// The request is over, so its waits are: the time for the next one begins now.
    fn rest(&mut self, key: Key) {
        let Some(peer) = self.slots.get(key) else { return };
        if peer.h1.started() {
            self.deadlines.disarm(key.slot);
        } else {
            self.deadlines
                .arm(key.slot, Wait::Idle, self.turn.now + self.config.keep_alive_timeout);
        }
    }
}
