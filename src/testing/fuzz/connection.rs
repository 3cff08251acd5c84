//! Calls on a connection in any order, sensible or not, over bytes that come in any pieces: requests are those that the
//! naive reader sees, each gets one answer that a strict client can read, nothing follows an end, and ends are final.

use super::Input;
use super::exchange::DATE;
use crate::h1::{Connection, Limits, Progress, Reject};
use crate::testing::ResponseReader;
use crate::testing::requests::read_requests;

/// Calls of one input.
const CALLS_MAX: usize = 300;

/// Limits that the pieces do not reach, so that the naive reader need not know them.
const LIMITS: Limits = Limits {
    head_bytes_max: 16384,
    headers_max: 256,
    target_bytes_max: 16384,
    body_bytes_max: 2048,
};

/// What a client sends, whole or not.
const PIECES: &[&[u8]] = &[
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /1 HTTP/1.0\r\n\r\n",
    b"GET /2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"HEAD /3 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"HEAD /4 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    b"POST /5 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
    b"POST /6 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
    b"POST /7 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi",
    b"POST /8 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
    b"\r\n5;a=\"b\"\r\nhello\r\n",
    b"0\r\nX: y\r\n\r\n",
    b"0\r\n\r\n",
    b"\r\n",
    b"HEAD ",
    b"hi",
    b"h",
    b"\x00",
];

/// Bytes as calls.
pub fn connection(data: &[u8]) {
    let mut input = Input::new(data);
    let mut checked = Checked::default();
    for _ in 0..CALLS_MAX {
        if input.is_empty() {
            break;
        }
        checked.call(&mut input);
        checked.check();
    }
    checked.finish();
}

/// What the live request has been given.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// Nothing.
    Due,
    /// The head of a stream, and these bytes of it.
    Stream(Vec<u8>),
    /// All of it, with this body.
    Whole(Vec<u8>),
}

/// The live request, as far as this model needs it.
#[derive(Debug)]
struct Live {
    head: bool,
    status: u16,
    answer: Answer,
}

/// A connection, and what must hold after every call.
#[derive(Default)]
struct Checked {
    connection: Connection,
    /// Sent by the client and not received.
    wire: Vec<u8>,
    received: Vec<u8>,
    /// Requests seen: method, target, body.
    seen: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>,
    live: Option<Live>,
    reader: ResponseReader,
    /// Bodies of the answers that are whole, in order.
    answers: Vec<Vec<u8>>,
    /// Nothing may be written any more.
    silent: bool,
    ended: bool,
}

impl Checked {
    fn call(&mut self, input: &mut Input<'_>) {
        let before = self.connection.responded();
        let mut out = Vec::new();
        match input.below(16) {
            0 | 1 => self.wire.extend_from_slice(input.pick(PIECES)),
            2 => {
                let count = input.below(24);
                self.wire.extend_from_slice(input.take(count));
            }
            3 | 4 => self.receive(usize::MAX),
            5 => self.receive(input.below(64) + 1),
            6 | 7 => self.advance(),
            8 => self.respond(input, &mut out),
            9 => self.respond_stream(input, &mut out),
            10 => self.stream(input, &mut out),
            11 | 12 => self.end_request(),
            13 => {
                self.connection.write_continue(&mut out);
                assert!(out.is_empty() || (self.connection.in_body() && out == b"HTTP/1.1 100 Continue\r\n\r\n"));
            }
            14 => self.storage(input),
            _ => match input.below(4) {
                0 => self.connection.recv_eof(),
                1 => self.refuse(input.pick(&[Reject::HeaderTimeout, Reject::Overloaded, Reject::HandlerFailed])),
                2 => self.field(input),
                // A handler that fails is answered with a refusal, whatever has become of the request.
                _ if before => self.refuse(Reject::HandlerFailed),
                _ => self.advance(),
            },
        }
        self.write(&out);
    }

    /// What the client's side makes of bytes that are no refusal.
    fn write(&mut self, out: &[u8]) {
        assert!(out.is_empty() || !self.silent, "{} behind the end", out.escape_ascii());
        let read = self.reader.receive(out);
        assert_eq!(read, Ok(()), "{}", out.escape_ascii());
    }

    fn receive(&mut self, most: usize) {
        let mut left = most.min(self.wire.len());
        while left > 0 {
            let wanted = self.connection.recv_wanted(&LIMITS);
            if wanted == 0 {
                return;
            }
            if wanted > self.connection.buffer_capacity() {
                self.connection.replace_storage(vec![0xaa; wanted].into());
            }
            let space = self.connection.recv_space();
            let n = left.min(space.len());
            assert!(n > 0, "wanted storage has room");
            space[..n].copy_from_slice(&self.wire[..n]);
            self.connection.recv_commit(n);
            self.received.extend(self.wire.drain(..n));
            left -= n;
            // A whole request has to be seen before more is received.
            self.advance();
        }
    }

    fn advance(&mut self) {
        let progress = self.connection.advance(&LIMITS);
        assert_eq!(
            self.connection.advance(&LIMITS),
            progress,
            "advancing twice changes nothing"
        );
        match progress {
            Progress::Request if self.live.is_none() => {
                assert!(!self.ended);
                let connection = &self.connection;
                let head = connection.head();
                let own = |span| connection.text(span).to_vec();
                let request = (own(head.method_text), own(head.target), connection.body().to_vec());
                self.live = Some(Live {
                    head: request.0 == b"HEAD",
                    status: 200,
                    answer: Answer::Due,
                });
                self.seen.push(request);
            }
            Progress::Request | Progress::NeedMore | Progress::Continue => {
                assert!(!self.ended && self.live.is_some() == (progress == Progress::Request));
            }
            Progress::Refused(_) | Progress::Closed => {
                assert!(self.live.is_none() && !self.connection.persistent());
                self.ended = true;
            }
        }
    }

    /// A status, and perhaps a field, for the draft.
    fn draft(&mut self, input: &mut Input<'_>) {
        let status = input.pick(&[200, 200, 204, 205, 304, 404, 599]);
        self.connection
            .response_mut()
            .set_status(status)
            .expect("a legal status");
        if let Some(live) = &mut self.live
            && live.answer == Answer::Due
        {
            live.status = status;
        }
    }

    fn field(&mut self, input: &mut Input<'_>) {
        let name = input.pick(&[
            &b"X-A"[..],
            b"Date",
            b"Connection",
            b"Content-Length",
            b"Content-Type",
            b"",
        ]);
        let length = input.below(12);
        // Whoever sets Date sets a date; all else is for the connection to judge.
        let value = if name == b"Date" { &DATE[..] } else { input.take(length) };
        let draft = self.connection.response_mut();
        let added = if input.one_in(2) {
            draft.append(name, value)
        } else {
            draft.set(name, value)
        };
        let is_clean = value
            .iter()
            .all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f));
        assert!(added.is_err() || is_clean, "{}", value.escape_ascii());
    }

    fn respond(&mut self, input: &mut Input<'_>, out: &mut Vec<u8>) {
        self.draft(input);
        let (length, close) = (input.below(40), input.one_in(4));
        let due = self.live.as_ref().is_some_and(|live| live.answer == Answer::Due);
        let result = self.connection.respond(DATE, length as u64, close, out);
        assert_eq!(result.is_ok(), due);
        assert!(due || out.is_empty());
        let Some(live) = self.live.as_mut().filter(|_| due) else {
            return;
        };
        self.reader.expect(live.head);
        says_how_it_goes_on(&self.connection, out);
        let body = vec![b'b'; if live.bodiless() { 0 } else { length }];
        assert_eq!(result, Ok(!body.is_empty()));
        out.extend_from_slice(&body);
        live.answer = Answer::Whole(body);
    }

    fn respond_stream(&mut self, input: &mut Input<'_>, out: &mut Vec<u8>) {
        self.draft(input);
        let due = self.live.as_ref().is_some_and(|live| live.answer == Answer::Due);
        let result = self.connection.respond_stream(DATE, input.one_in(4), out);
        assert_eq!(result.is_ok(), due);
        assert!(due || out.is_empty());
        if let Some(live) = self.live.as_mut().filter(|_| due) {
            self.reader.expect(live.head);
            says_how_it_goes_on(&self.connection, out);
            live.answer = Answer::Stream(Vec::new());
        }
    }

    /// A piece of a stream, or its end.
    fn stream(&mut self, input: &mut Input<'_>, out: &mut Vec<u8>) {
        let ends = input.one_in(3);
        let length = input.below(20);
        let data = input.take(length);
        if ends {
            self.connection.stream_end(out);
        } else {
            self.connection.stream_chunk(data, out);
        }
        let Some(live) = &mut self.live else {
            assert!(out.is_empty(), "no stream without a request");
            return;
        };
        let bodiless = live.bodiless();
        match &mut live.answer {
            Answer::Stream(sent) if ends => live.answer = Answer::Whole(std::mem::take(sent)),
            Answer::Stream(_) if bodiless => assert!(out.is_empty()),
            Answer::Stream(sent) => sent.extend_from_slice(data),
            Answer::Due | Answer::Whole(_) => assert!(out.is_empty(), "no stream is open"),
        }
    }

    fn end_request(&mut self) {
        self.connection.end_request();
        let Some(live) = self.live.take() else { return };
        match live.answer {
            Answer::Whole(body) => self.answers.push(body),
            Answer::Due | Answer::Stream(_) => {
                assert!(
                    !self.connection.persistent(),
                    "a request without a whole answer ends the connection"
                );
                self.silent = true;
            }
        }
        self.ended |= !self.connection.persistent() && self.connection.buffered() == 0;
    }

    fn refuse(&mut self, reject: Reject) {
        let mut out = Vec::new();
        self.connection.refuse(reject, DATE, &mut out);
        if !out.is_empty() {
            let begun = self.live.as_ref().is_some_and(|live| live.answer != Answer::Due);
            assert!(!self.silent && !begun, "a refusal behind another head");
            // The request may be to HEAD as far as it has come; then there is no body.
            let head = self.received.windows(5).any(|window| window == b"HEAD ");
            let read = |head| {
                let mut reader = ResponseReader::new();
                reader.expect(head);
                reader.receive(&out).and_then(|()| reader.end()).ok()?;
                reader.next_response()
            };
            let response = read(false)
                .or_else(|| read(true).filter(|_| head))
                .expect("a whole answer");
            assert!(response.close && response.status == reject.status());
        }
        if let Some(Live {
            answer: Answer::Whole(body),
            ..
        }) = self.live.take()
        {
            self.answers.push(body);
        }
        self.silent = true;
        self.ended = true;
        assert!(!self.connection.persistent());
    }

    fn storage(&mut self, input: &mut Input<'_>) {
        let buffered = self.connection.buffered();
        let size = input.below(256) * 4;
        if input.one_in(2) {
            assert!(self.connection.release_storage().is_none() || buffered == 0);
        } else {
            let capacity = self.connection.buffer_capacity();
            let back = self.connection.replace_storage(vec![0x55; size].into());
            assert_eq!(back.len(), if size < buffered { size } else { capacity });
        }
        assert_eq!(self.connection.buffered(), buffered);
    }

    fn check(&mut self) {
        let connection = &self.connection;
        let answered = self.live.as_ref().is_some_and(|live| live.answer != Answer::Due);
        assert!(self.live.is_none() || connection.responded() == answered);
        assert!(!self.ended || !connection.persistent(), "ends are final");
        assert!(!connection.lingers() || !connection.persistent());
        assert!(!(connection.started() && connection.in_body()));
        if let (Some(_), Some((method, target, body))) = (&self.live, self.seen.last()) {
            let head = connection.head();
            let texts = (
                connection.text(head.method_text),
                connection.text(head.target),
                connection.body(),
            );
            assert_eq!(
                texts,
                (&method[..], &target[..], &body[..]),
                "a live request stays as it is"
            );
        }
    }

    /// What the client has read, and what it has sent.
    fn finish(mut self) {
        if let Some(Live {
            answer: Answer::Whole(body),
            ..
        }) = self.live.take()
        {
            self.answers.push(body);
        } else if !self.silent && !self.reader.inside() {
            assert_eq!(self.reader.end(), Ok(()));
        }
        let _part_of_a_stream = self.reader.end();
        let responses = std::iter::from_fn(|| self.reader.next_response());
        let bodies: Vec<Vec<u8>> = responses.filter(|one| one.status >= 200).map(|one| one.body).collect();
        // The last may be a stream that a client reads until the end, and that was never whole.
        let whole = bodies.get(..self.answers.len());
        assert_eq!(whole, Some(&self.answers[..]), "each answer as it was given");
        assert!(bodies.len() <= self.answers.len() + 1);
        let (requests, _) = read_requests(&self.received, LIMITS.body_bytes_max);
        let expected = requests
            .into_iter()
            .map(|one| (one.method, one.target, one.body.unwrap_or_default()));
        let expected: Vec<_> = expected.take(self.seen.len()).collect();
        assert_eq!(self.seen, expected);
    }
}

/// A head that has just been written says `close` exactly when nothing follows (RFC 9112 section 9.6).
fn says_how_it_goes_on(connection: &Connection, head: &[u8]) {
    let option = b"\r\nConnection: close\r\n";
    let closes = head.windows(option.len()).any(|window| window == option);
    assert_eq!(closes, !connection.persistent(), "{}", head.escape_ascii());
}

impl Live {
    /// RFC 9110 section 6.4.1: no body follows, whatever the handler gives. 205 has none either (section 15.3.6).
    fn bodiless(&self) -> bool {
        self.head || matches!(self.status, 204 | 205 | 304)
    }
}
