//! The answering half of a connection: drafts become bytes, and the connection goes on or ends.
//!
//! Each request gets one head. Once a head is out nothing else can begin: a late refusal only ends the connection.

use super::connection::{Answer, Connection, Phase};
use super::encode::{self, Announced, Length, Persistence, content};
use super::{Reject, ResponseError, ResponseHead, Version};

impl Connection {
    /// Appends `100 Continue`, if [`super::Progress::Continue`] still holds (RFC 9110 10.1.1).
    pub fn write_continue(&mut self, out: &mut Vec<u8>) {
        if self.take_continue() {
            out.extend_from_slice(encode::CONTINUE);
        }
    }

    /// The draft of the response to the live request.
    pub fn response(&self) -> &ResponseHead {
        &self.response
    }

    /// The draft of the response, to be changed. Changes after the head was sent have no effect.
    pub fn response_mut(&mut self) -> &mut ResponseHead {
        &mut self.response
    }

    /// Appends the head of a response whose body has `body_len` bytes. `Ok(true)`: the caller sends those bytes next;
    /// `Ok(false)`: none, because there are none or the method or status forbids them. `date` is an IMF-fixdate
    /// (RFC 9110 5.6.7); `close` ends the connection after this response.
    ///
    /// # Errors
    /// [`ResponseError::NotLive`], [`ResponseError::AlreadySent`]; then nothing is appended.
    pub fn respond(
        &mut self,
        date: &[u8; 29],
        body_len: u64,
        close: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool, ResponseError> {
        let (_, send) = self.write_head(date, Announced::Whole(body_len), close, out)?;
        self.answer = Answer::Done;
        Ok(send)
    }

    /// Appends the head of a response whose body comes in pieces: chunked for HTTP/1.1, ended by the end of the
    /// connection for HTTP/1.0. Then [`Connection::stream_chunk`] and [`Connection::stream_end`].
    ///
    /// # Errors
    /// As [`Connection::respond`].
    pub fn respond_stream(&mut self, date: &[u8; 29], close: bool, out: &mut Vec<u8>) -> Result<(), ResponseError> {
        let (length, send) = self.write_head(date, Announced::Stream, close, out)?;
        self.answer = match length {
            Length::Chunked if send => Answer::Chunks,
            Length::UntilClose => Answer::UntilClose,
            _ => Answer::Unwritten,
        };
        Ok(())
    }

    /// Appends a piece of the streamed body as it goes over the wire. Nothing when no stream is open, or when the body
    /// is not to be written (HEAD, 204, 304).
    pub fn stream_chunk(&mut self, data: &[u8], out: &mut Vec<u8>) {
        match self.answer {
            Answer::Chunks => encode::chunk(data, out),
            Answer::UntilClose => out.extend_from_slice(data),
            Answer::Due | Answer::Unwritten | Answer::Done => {}
        }
    }

    /// Ends the streamed body.
    pub fn stream_end(&mut self, out: &mut Vec<u8>) {
        if self.answer == Answer::Chunks {
            out.extend_from_slice(encode::LAST_CHUNK);
        }
        if self.answer != Answer::Due {
            self.answer = Answer::Done;
        }
    }

    /// True when the head of the response to the live request has been written, be it a refusal.
    pub fn responded(&self) -> bool {
        match self.phase {
            Phase::Live => self.answer != Answer::Due,
            Phase::Refused(_) => self.refusal_written,
            Phase::Head | Phase::Body | Phase::Closed => false,
        }
    }

    /// Ends the connection with a whole error response, for a refusal of [`Connection::advance`] or one that the layer
    /// above decides (timeout, overload, foreign host). Written once, and only where no other head has been begun.
    pub fn refuse(&mut self, reject: Reject, date: &[u8; 29], out: &mut Vec<u8>) {
        let unanswered = match self.phase {
            Phase::Closed => false,
            Phase::Live => self.answer == Answer::Due,
            Phase::Head | Phase::Body | Phase::Refused(_) => !self.refusal_written,
        };
        if unanswered {
            // The head may be too broken to have been parsed; a HEAD must not get a body all the same (RFC 9110 9.3.2).
            let with_body = !self.input.live().starts_with(b"HEAD ");
            encode::refusal(reject, date, with_body, out);
        }
        if self.phase != Phase::Closed {
            self.refusal_written = true;
            self.peer_sends_on = true;
            self.end(Phase::Refused(reject));
        }
    }

    /// True while another request may follow. False once a response said close, after a refusal, and when the peer has
    /// ended its side and everything it sent is live or answered: after the last byte the connection ends.
    pub fn persistent(&self) -> bool {
        !self.closing && !matches!(self.phase, Phase::Refused(_) | Phase::Closed) && (!self.eof || self.has_behind())
    }

    /// True when the connection ends while the peer may still be sending: closing at once would reset it and could
    /// destroy the answer, so shut down the sending side, drain within a bound, then close (RFC 9112 9.6).
    pub fn lingers(&self) -> bool {
        let refused = matches!(self.phase, Phase::Refused(_));
        !self.eof && (refused || (self.closing && (self.peer_sends_on || self.has_behind())))
    }

    /// True when bytes lie behind the live request, or where the next one begins.
    fn has_behind(&self) -> bool {
        self.input.len() > self.request_len
    }

    /// Writes the response head and decides about the connection.
    fn write_head(
        &mut self,
        date: &[u8; 29],
        announced: Announced,
        close: bool,
        out: &mut Vec<u8>,
    ) -> Result<(Length, bool), ResponseError> {
        if self.phase != Phase::Live {
            return Err(ResponseError::NotLive);
        }
        if self.answer != Answer::Due {
            return Err(ResponseError::AlreadySent);
        }
        let request = &self.request;
        let (length, send) = content(request.method, request.version, self.response.status(), announced);
        let last = close || self.response.closes() || (self.eof && !self.has_behind());
        self.closing = last || !request.keeps_alive || length == Length::UntilClose;
        // A client that did not ask for the end may have sent more already.
        self.peer_sends_on = self.closing && request.keeps_alive;
        let persistence = match (self.closing, request.version) {
            (true, _) => Persistence::Close,
            (false, Version::Http10) => Persistence::KeepAlive,
            (false, Version::Http11) => Persistence::Silent,
        };
        encode::head(&self.response, date, length, persistence, out);
        Ok((length, send))
    }
}
