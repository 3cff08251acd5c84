//! Calls in any order, sensible or not: nothing panics, ends are final, and no request gets two answers.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{DATE, LIMITS};
use crate::h1::{Connection, Progress, Reject};

#[derive(Clone, Copy, Debug)]
enum Operation {
    Receive(&'static [u8]),
    Eof,
    Advance,
    Continue,
    Respond { status: u16, len: u64, close: bool },
    Stream { close: bool },
    Chunk,
    StreamEnd,
    EndRequest,
    Refuse(Reject),
    Release,
}

const PIECES: &[&[u8]] = &[
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.0\r\n\r\nHEAD",
    b"HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi",
    b"\r\n0\r\n\r\n",
    b"\r\n",
    b"h",
    b"hi",
    b"\x00",
];

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::{Advance, Chunk, Continue, EndRequest, Eof, Receive, Refuse, Release, Respond, Stream, StreamEnd};
    prop_oneof![
        6 => select(PIECES).prop_map(Receive),
        6 => Just(Advance),
        3 => (select(&[200, 204, 205, 304, 404, 599][..]), 0..9u64, any::<bool>())
            .prop_map(|(status, len, close)| Respond { status, len, close }),
        3 => Just(EndRequest),
        1 => any::<bool>().prop_map(|close| Stream { close }),
        1 => Just(Chunk),
        1 => Just(StreamEnd),
        1 => Just(Continue),
        1 => Just(Release),
        1 => Just(Eof),
        1 => select(&[Reject::HeaderTimeout, Reject::Overloaded][..]).prop_map(Refuse),
    ]
}

/// A connection, and what must hold after every call.
#[derive(Default)]
struct Checked {
    connection: Connection,
    out: Vec<u8>,
    requests: usize,
    /// The live request has been counted.
    counted: bool,
    ended: Option<Progress>,
}

impl Checked {
    fn run(&mut self, operation: Operation) {
        let connection = &mut self.connection;
        let date = DATE;
        match operation {
            Operation::Receive(piece) => self.receive(piece),
            Operation::Eof => connection.recv_eof(),
            Operation::Advance => self.advance(),
            Operation::Continue => {
                let before = self.out.len();
                connection.write_continue(&mut self.out);
                assert!(self.out.len() == before || connection.in_body());
                self.out.truncate(before);
            }
            Operation::Respond { status, len, close } => {
                connection.response_mut().set_status(status).expect("a legal status");
                let live = connection.phase == crate::h1::connection::Phase::Live && !connection.responded();
                let result = connection.respond(date, len, close, &mut self.out);
                assert_eq!(result.is_ok(), live);
                assert!(result != Ok(true) || len > 0);
            }
            Operation::Stream { close } => drop(connection.respond_stream(date, close, &mut self.out)),
            Operation::Chunk => connection.stream_chunk(b"piece", &mut self.out),
            Operation::StreamEnd => connection.stream_end(&mut self.out),
            Operation::EndRequest => {
                connection.end_request();
                self.counted = false;
            }
            Operation::Refuse(reject) => connection.refuse(reject, date, &mut self.out),
            Operation::Release => {
                let buffered = connection.buffered();
                assert!(connection.release_storage().is_none() || buffered == 0);
            }
        }
    }

    fn receive(&mut self, piece: &[u8]) {
        let connection = &mut self.connection;
        if connection.recv_wanted(&LIMITS) == 0 {
            return;
        }
        let size = connection.buffered() + piece.len();
        connection.replace_storage(vec![0; size].into());
        connection.recv_space()[..piece.len()].copy_from_slice(piece);
        connection.recv_commit(piece.len());
    }

    fn advance(&mut self) {
        let progress = self.connection.advance(&LIMITS);
        assert_eq!(
            self.connection.advance(&LIMITS),
            progress,
            "advancing twice changes nothing"
        );
        if progress == Progress::Request && !std::mem::replace(&mut self.counted, true) {
            self.requests += 1;
        }
        if matches!(progress, Progress::Refused(_) | Progress::Closed) {
            assert!(!self.connection.persistent());
        }
    }

    fn check(&mut self) {
        let connection = &self.connection;
        let progress = self.ended.take();
        if let Some(ended) = progress {
            assert!(!connection.persistent(), "{ended:?} is final");
        }
        self.ended = match connection.phase {
            crate::h1::connection::Phase::Refused(reject) => Some(Progress::Refused(reject)),
            crate::h1::connection::Phase::Closed => Some(Progress::Closed),
            _ => None,
        };
        assert!(progress.is_none() || self.ended.is_some(), "an end is an end");
        assert!(!connection.lingers() || !connection.persistent());
        // One head per request, and at most one refusal besides.
        let heads = self.out.windows(9).filter(|w| w == b"HTTP/1.1 ").count();
        assert!(
            heads <= self.requests + 1,
            "{heads} heads for {} requests",
            self.requests
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn calls_in_any_order(operations in vec(operation(), 0..24)) {
        let mut checked = Checked::default();
        for operation in operations {
            checked.run(operation);
            checked.check();
        }
    }
}
