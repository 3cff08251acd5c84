//! One server connection: bytes in, whole requests out; responses in, bytes out.

use super::{Buffer, Limits, Reject, RequestHead, ResponseError, ResponseHead, Span};

/// What [`Connection::advance`] has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed: lend space, receive, commit, advance again.
    NeedMore,
    /// The client waits for `100 Continue` (RFC 9110 10.1.1): call [`Connection::write_continue`], send, advance again.
    Continue,
    /// A whole request lies in the buffer.
    Request,
    /// The peer broke the rules. Sticky: call [`Connection::refuse`].
    Refused(Reject),
    /// Clean end. Sticky.
    Closed,
}

/// The server's side of one HTTP/1.1 connection (RFC 9112).
#[derive(Debug, Default)]
pub struct Connection {
    input: Buffer,
    request: RequestHead,
    response: ResponseHead,
}

#[allow(unused_variables, missing_docs)]
impl Connection {
    pub fn new() -> Self {
        Self::default()
    }
    pub fn advance(&mut self, limits: &Limits) -> Progress {
        todo!()
    }
    pub fn recv_wanted(&self, limits: &Limits) -> usize {
        todo!()
    }
    pub fn recv_space(&mut self) -> &mut [u8] {
        self.input.space()
    }
    pub fn recv_commit(&mut self, n: usize) {
        self.input.commit(n)
    }
    pub fn recv_eof(&mut self) {
        todo!()
    }
    pub fn eof(&self) -> bool {
        todo!()
    }
    pub fn buffer_capacity(&self) -> usize {
        self.input.capacity()
    }
    pub fn replace_storage(&mut self, new: Box<[u8]>) -> Box<[u8]> {
        self.input.replace_storage(new)
    }
    pub fn release_storage(&mut self) -> Option<Box<[u8]>> {
        todo!()
    }
    pub fn started(&self) -> bool {
        todo!()
    }
    pub fn in_body(&self) -> bool {
        todo!()
    }
    pub fn buffered(&self) -> usize {
        self.input.len()
    }
    pub fn write_continue(&mut self, out: &mut Vec<u8>) {
        todo!()
    }
    pub fn head(&self) -> &RequestHead {
        &self.request
    }
    pub fn text(&self, span: Span) -> &[u8] {
        span.of(self.input.live())
    }
    pub fn body(&self) -> &[u8] {
        todo!()
    }
    pub fn has_body(&self) -> bool {
        todo!()
    }
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        todo!()
    }
    pub fn response(&self) -> &ResponseHead {
        &self.response
    }
    pub fn response_mut(&mut self) -> &mut ResponseHead {
        &mut self.response
    }
    /// Encodes the whole response head; `Ok(true)`: the caller now sends the `body_len` bytes of the body.
    pub fn respond(
        &mut self,
        date: &[u8; 29],
        body_len: u64,
        close: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool, ResponseError> {
        todo!()
    }
    pub fn respond_stream(&mut self, date: &[u8; 29], close: bool, out: &mut Vec<u8>) -> Result<(), ResponseError> {
        todo!()
    }
    pub fn stream_chunk(&mut self, data: &[u8], out: &mut Vec<u8>) {
        todo!()
    }
    pub fn stream_end(&mut self, out: &mut Vec<u8>) {
        todo!()
    }
    pub fn responded(&self) -> bool {
        todo!()
    }
    pub fn end_request(&mut self) {
        todo!()
    }
    pub fn refuse(&mut self, reject: Reject, date: &[u8; 29], out: &mut Vec<u8>) {
        todo!()
    }
    pub fn persistent(&self) -> bool {
        todo!()
    }
    pub fn lingers(&self) -> bool {
        todo!()
    }
}
