//! A server that answers every request at once and writes down what it saw, through the public calls alone.

use crate::h1::{Connection, Limits, Progress, Reject};
use crate::testing::requests::Request;

/// A date as the layer above gives it.
pub const DATE: &[u8; 29] = b"Sun, 06 Nov 1994 08:49:37 GMT";

/// How a connection stands when everything has been fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It waits for bytes; true when it holds some already.
    Waits(bool),
    Refused(Reject),
    Closed,
}

/// What came of the bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Exchange {
    pub requests: Vec<Request>,
    pub standing: Standing,
}

/// Feeds `pieces` to a new connection, then the end of the peer's side when `eof` says so.
pub fn exchange(limits: &Limits, pieces: &[&[u8]], eof: bool) -> Exchange {
    let mut server = Server {
        connection: Connection::new(),
        limits,
        requests: Vec::new(),
        standing: Standing::Waits(false),
    };
    for piece in pieces {
        server.receive(piece);
    }
    if eof {
        server.connection.recv_eof();
        server.serve();
    }
    Exchange {
        requests: server.requests,
        standing: server.standing,
    }
}

struct Server<'a> {
    connection: Connection,
    limits: &'a Limits,
    requests: Vec<Request>,
    standing: Standing,
}

impl Server<'_> {
    fn receive(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            let wanted = self.connection.recv_wanted(self.limits);
            if wanted == 0 {
                assert!(!matches!(self.standing, Standing::Waits(_)), "who waits wants bytes");
                return;
            }
            if wanted > self.connection.buffer_capacity() {
                self.connection.replace_storage(vec![0xaa; wanted].into());
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

    fn serve(&mut self) {
        loop {
            let progress = self.connection.advance(self.limits);
            assert_eq!(
                self.connection.advance(self.limits),
                progress,
                "advancing twice changes nothing"
            );
            match progress {
                Progress::Request => self.answer(),
                Progress::Continue => {
                    let mut out = Vec::new();
                    self.connection.write_continue(&mut out);
                    assert_eq!(out, b"HTTP/1.1 100 Continue\r\n\r\n");
                }
                Progress::NeedMore => {
                    self.standing = Standing::Waits(self.connection.buffered() > 0);
                    return;
                }
                Progress::Refused(reject) => return self.refuse(reject),
                Progress::Closed => {
                    assert!(!self.connection.persistent());
                    self.standing = Standing::Closed;
                    return;
                }
            }
        }
    }

    fn answer(&mut self) {
        let connection = &mut self.connection;
        let head = connection.head();
        let own = |span| connection.text(span).to_vec();
        let mut request = Request {
            method: own(head.method_text),
            target: own(head.target),
            path: own(head.path),
            query: head.query.map(own),
            host: head.host.map(own),
            fields: head
                .fields
                .iter()
                .map(|field| (own(field.name), own(field.value)))
                .collect(),
            body: connection.has_body().then(|| connection.body().to_vec()),
            persistent: false,
        };
        let mut out = Vec::new();
        let body = connection
            .respond(DATE, 3, false, &mut out)
            .expect("the request is live");
        assert_eq!(
            body,
            request.method != b"HEAD",
            "only the answer to HEAD goes without its body"
        );
        let heads = out.windows(9).filter(|window| window == b"HTTP/1.1 ").count();
        assert!(heads == 1 && out.ends_with(b"\r\n\r\n"), "one whole head");
        let said = |option: &[u8]| out.windows(option.len()).any(|window| window == option);
        request.persistent = !said(b"\r\nConnection: close\r\n");
        assert_eq!(
            request.persistent,
            connection.persistent(),
            "the head says how it goes on"
        );
        self.requests.push(request);
        connection.end_request();
    }

    fn refuse(&mut self, reject: Reject) {
        let connection = &mut self.connection;
        if self.standing != Standing::Refused(reject) {
            let mut out = Vec::new();
            connection.refuse(reject, DATE, &mut out);
            assert!(out.starts_with(format!("HTTP/1.1 {} ", reject.status()).as_bytes()));
            assert!(
                matches!(reject.status(), 400 | 413 | 414 | 417 | 431 | 501 | 505),
                "{reject:?}"
            );
            self.standing = Standing::Refused(reject);
        }
        assert!(!connection.persistent() && connection.buffered() == 0);
        assert_eq!(connection.lingers(), !connection.eof());
    }
}
