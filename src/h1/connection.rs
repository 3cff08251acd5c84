//! One server connection: committed bytes in, whole requests out.
//!
//! The states are those of one request: its head, its body, live (a handler may answer it), and two ends that never
//! change again: refused and closed. One request is looked at a time; what was pipelined behind it stays in the buffer
//! until it has ended. Answers are in `respond`. Nothing here waits, knows the time or owns a socket.

use super::chunked::{CHUNK_LINE_BYTES_MAX, Chunked};
use super::framing::Framing;
use super::scan::HeadScan;
use super::{Buffer, Limits, Reject, RequestHead, ResponseHead, Span};

/// The storage a request begins with, in bytes: holds the head of a browser's request.
const FIRST_STORAGE: usize = 4096;

/// A table of fields above this many entries is not kept by an idle connection.
const IDLE_FIELDS_MAX: usize = 16;

/// What [`Connection::advance`] has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed: lend space, receive, commit, advance again.
    NeedMore,
    /// The client waits for `100 Continue` (RFC 9110 10.1.1): call [`Connection::write_continue`], send, advance again.
    Continue,
    /// A whole request lies in the buffer: [`Connection::head`], [`Connection::body`]. Stays until it has ended.
    Request,
    /// The peer broke the rules. Sticky: call [`Connection::refuse`], send, then linger or close.
    Refused(Reject),
    /// Clean end: everything was answered, or the peer left between requests. Sticky.
    Closed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// The head is incomplete.
    #[default]
    Head,
    /// The head is complete, the body is not.
    Body,
    /// The request is whole, and a handler may answer it.
    Live,
    /// Sticky.
    Refused(Reject),
    /// Sticky.
    Closed,
}

/// What may still be written for the live request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing has been written.
    #[default]
    Due,
    /// A streamed body, framed in chunks.
    Chunks,
    /// A streamed body that the end of the connection ends.
    UntilClose,
    /// A streamed body of which nothing is written (HEAD, 204, 304).
    Unwritten,
    /// The answer is whole, once the body that the caller sends is behind the head.
    Done,
}

/// The server's side of one HTTP/1.1 connection (RFC 9112).
#[derive(Debug, Default)]
pub struct Connection {
    pub(super) input: Buffer,
    pub(super) phase: Phase,
    pub(super) answer: Answer,
    /// The peer has ended its sending side.
    pub(super) eof: bool,
    /// No request follows the live one.
    pub(super) closing: bool,
    /// The peer may still be sending when we end.
    pub(super) peer_sends_on: bool,
    /// The answer to a refusal has been written.
    pub(super) refusal_written: bool,
    skipped_empty_line: bool,
    continue_due: bool,
    scan: HeadScan,
    chunked: Chunked,
    head_len: usize,
    body_len: usize,
    /// Bytes that the live request takes in the buffer; 0 while none is live.
    pub(super) request_len: usize,
    pub(super) request: RequestHead,
    pub(super) response: ResponseHead,
}

impl Connection {
    /// A connection that has received nothing. Allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in what has been committed, as far as the next event. Calling it again changes nothing.
    ///
    /// Looks at each byte once, however the bytes arrive.
    pub fn advance(&mut self, limits: &Limits) -> Progress {
        let outcome = match self.phase {
            Phase::Head => self.advance_head(limits),
            Phase::Body => self.advance_body(limits),
            Phase::Live => return Progress::Request,
            Phase::Refused(reject) => return Progress::Refused(reject),
            Phase::Closed => return Progress::Closed,
        };
        outcome.unwrap_or_else(|reject| {
            self.phase = Phase::Refused(reject);
            Progress::Refused(reject)
        })
    }

    fn advance_head(&mut self, limits: &Limits) -> Result<Progress, Reject> {
        if !self.skipped_empty_line {
            self.skip_empty_line()?;
        }
        match self.input.live() {
            [] if self.eof => {
                self.phase = Phase::Closed;
                return Ok(Progress::Closed);
            }
            [] => return Ok(Progress::NeedMore),
            [b'\r'] if !self.skipped_empty_line => return self.starved(),
            _ => {}
        }
        // Nearly every head comes whole: then one pass is enough.
        if self.scan.is_fresh()
            && let Some(head_len) = self.request.parse_whole(self.input.live(), limits)?
        {
            return self.begin_body(head_len, limits);
        }
        match self.scan.scan(self.input.live(), limits)? {
            None => self.starved(),
            Some(head_len) => {
                let head = &mut self.input.live_mut()[..head_len];
                self.request.parse(head, &self.scan, limits.headers_max)?;
                self.begin_body(head_len, limits)
            }
        }
    }

    /// RFC 9112 2.2: at least one empty line before the request line is ignored; exactly one is here.
    fn skip_empty_line(&mut self) -> Result<(), Reject> {
        match self.input.live() {
            [b'\r', b'\n', ..] => {
                self.input.consume(2);
                self.skipped_empty_line = true;
                Ok(())
            }
            [b'\r', _, ..] => Err(Reject::BareCarriageReturn),
            _ => Ok(()),
        }
    }

    fn begin_body(&mut self, head_len: usize, limits: &Limits) -> Result<Progress, Reject> {
        self.head_len = head_len;
        match self.request.framing {
            Framing::None | Framing::Length(0) => return Ok(self.begin_request(0, head_len)),
            Framing::Length(len) if len > limits.body_bytes_max as u64 => return Err(Reject::BodyTooLarge),
            Framing::Length(_) => {}
            Framing::Chunked => self.chunked = Chunked::new(head_len),
        }
        self.continue_due = self.request.expects_continue;
        self.phase = Phase::Body;
        self.advance_body(limits)
    }

    fn advance_body(&mut self, limits: &Limits) -> Result<Progress, Reject> {
        let received = self.input.len();
        // RFC 9110 10.1.1: no 100 once the body has begun to arrive.
        self.continue_due &= received == self.head_len;
        match self.request.framing {
            Framing::Chunked => {
                if self.chunked.decode(self.head_len, self.input.live_mut(), limits)? {
                    return Ok(self.begin_request(self.chunked.body_len(), self.chunked.read_at()));
                }
                self.close_gap();
            }
            _ if received >= self.body_end() => {
                return Ok(self.begin_request(self.body_end() - self.head_len, self.body_end()));
            }
            _ => {}
        }
        match self.starved()? {
            Progress::NeedMore if self.continue_due => Ok(Progress::Continue),
            progress => Ok(progress),
        }
    }

    /// Where a body with a known length ends in the buffer.
    fn body_end(&self) -> usize {
        match self.request.framing {
            // The length has been compared with the limit, which is a usize.
            Framing::Length(len) => self.head_len.saturating_add(usize::try_from(len).unwrap_or(usize::MAX)),
            _ => self.head_len,
        }
    }

    /// What has not been decoded moves down to the body, so that the buffer holds head, body and one piece of a line.
    fn close_gap(&mut self) {
        let body_end = self.head_len + self.chunked.body_len();
        let gap = self.chunked.read_at() - body_end;
        if gap > 0 {
            self.input.close_gap(body_end, self.chunked.read_at());
            self.chunked.moved_down(gap);
        }
    }

    /// An incomplete request: more will come, or never.
    fn starved(&self) -> Result<Progress, Reject> {
        if self.eof {
            Err(Reject::Truncated)
        } else {
            Ok(Progress::NeedMore)
        }
    }

    fn begin_request(&mut self, body_len: usize, request_len: usize) -> Progress {
        debug_assert!(self.head_len + body_len <= request_len && request_len <= self.input.len());
        self.body_len = body_len;
        self.request_len = request_len;
        self.continue_due = false;
        self.phase = Phase::Live;
        Progress::Request
    }

    /// Forgets the live request, with its answer: what was pipelined behind it comes next, or the end. A request that
    /// got no whole answer ends the connection.
    pub fn end_request(&mut self) {
        if self.phase != Phase::Live {
            return;
        }
        if self.answer != Answer::Done {
            self.closing = true;
            self.peer_sends_on |= self.request.keeps_alive;
        }
        self.input.consume(self.request_len);
        self.response.reset();
        self.answer = Answer::Due;
        self.scan = HeadScan::default();
        self.skipped_empty_line = false;
        (self.head_len, self.body_len, self.request_len) = (0, 0, 0);
        self.phase = Phase::Head;
        if self.closing {
            self.peer_sends_on |= !self.input.is_empty();
            self.end(Phase::Closed);
        }
    }

    /// Enters a sticky end: nothing that was received is looked at again, and no stream goes on.
    pub(super) fn end(&mut self, phase: Phase) {
        self.phase = phase;
        self.answer = Answer::Due;
        self.input.clear();
        (self.head_len, self.body_len, self.request_len) = (0, 0, 0);
        self.closing = true;
    }

    /// Bytes of storage that the buffer should have now, so that [`Connection::recv_space`] is not empty: at least
    /// 4096 (unless the limits allow less), at most double what it has once that is nearly full, and never what was
    /// only announced. 0: nothing is to be received now.
    pub fn recv_wanted(&self, limits: &Limits) -> usize {
        let most = match self.phase {
            _ if self.eof => return 0,
            Phase::Head => limits.head_bytes_max,
            Phase::Body if self.request.framing == Framing::Chunked => self
                .head_len
                .saturating_add(limits.body_bytes_max)
                .saturating_add(CHUNK_LINE_BYTES_MAX.max(limits.head_bytes_max.saturating_add(2))),
            Phase::Body => self.body_end(),
            Phase::Live | Phase::Refused(_) | Phase::Closed => return 0,
        };
        let capacity = self.input.capacity();
        let room = capacity - self.input.len();
        if capacity < FIRST_STORAGE.min(most) {
            FIRST_STORAGE.min(most)
        } else if capacity >= most || room > capacity / 8 {
            capacity
        } else {
            capacity.saturating_mul(2).min(most)
        }
    }

    /// Room to receive into, behind what is buffered. May be empty: see [`Connection::recv_wanted`].
    pub fn recv_space(&mut self) -> &mut [u8] {
        self.input.space()
    }

    /// The first `n` bytes of [`Connection::recv_space`] have been received.
    pub fn recv_commit(&mut self, n: usize) {
        self.input.commit(n);
    }

    /// The peer has ended its sending side. Whole requests that it sent before are still answered (RFC 9112 9.6).
    pub fn recv_eof(&mut self) {
        self.eof = true;
    }

    /// True when the peer has ended its sending side.
    pub fn eof(&self) -> bool {
        self.eof
    }

    /// Bytes of storage that the connection holds.
    pub fn buffer_capacity(&self) -> usize {
        self.input.capacity()
    }

    /// Moves what is buffered into `new` and returns the old storage; returns `new` unchanged when it is too small.
    pub fn replace_storage(&mut self, new: Box<[u8]>) -> Box<[u8]> {
        self.input.replace_storage(new)
    }

    /// Gives the storage back when nothing is buffered, along with memory that only a busy connection needs. `None`
    /// when something is buffered or there is no storage.
    pub fn release_storage(&mut self) -> Option<Box<[u8]>> {
        if !self.input.is_empty() {
            return None;
        }
        if self.request.fields.capacity() > IDLE_FIELDS_MAX {
            self.request.fields = Vec::new();
        }
        self.response.release();
        (self.input.capacity() > 0).then(|| self.input.take_storage())
    }

    /// True when a byte of the next head has come and the head is not complete.
    pub fn started(&self) -> bool {
        self.phase == Phase::Head && !self.input.is_empty()
    }

    /// True when a head is complete and its body is not.
    pub fn in_body(&self) -> bool {
        self.phase == Phase::Body
    }

    /// Bytes received and not used up, those of the live request among them.
    pub fn buffered(&self) -> usize {
        self.input.len()
    }

    /// The head of the live request. While none is live it is what the last one left.
    pub fn head(&self) -> &RequestHead {
        &self.request
    }

    /// The bytes of a range of the live request; empty once it has ended.
    pub fn text(&self, span: Span) -> &[u8] {
        span.of(&self.input.live()[..self.request_len])
    }

    /// The body of the live request, without its framing.
    pub fn body(&self) -> &[u8] {
        &self.input.live()[self.head_len..self.head_len + self.body_len]
    }

    /// True when the live request announced a body, an empty one too.
    pub fn has_body(&self) -> bool {
        self.phase == Phase::Live && self.request.framing != Framing::None
    }

    /// The first value of the field with that name, in any case, of the live request.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let name = name.as_bytes();
        let fields = if self.phase == Phase::Live {
            &self.request.fields[..]
        } else {
            &[]
        };
        let field = fields
            .iter()
            .find(|f| f.name.len() == name.len() && self.text(f.name).eq_ignore_ascii_case(name))?;
        Some(self.text(field.value))
    }

    /// True when the client waits and nothing of the body has come; [`Connection::write_continue`] ends it.
    pub(super) fn take_continue(&mut self) -> bool {
        self.phase == Phase::Body && std::mem::take(&mut self.continue_due)
    }
}
