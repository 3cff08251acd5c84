//! The life of a connection (RFC 9112 9; RFC 9110 7.6.1, 10.1.1): persistence, pipelining, half-close, 100-continue.

use super::{DATE, LIMITS, Row, Server, check_rows, run};
use crate::h1::{Progress, Reject};

pub const ROWS: &[Row] = &[
    ("connection-close", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / close; closed"),
    ("connection-close-in-list", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: foo, CLOSE\r\n\r\n", "GET / close; closed"),
    ("connection-close-second-line", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: foo\r\nConnection:\tclose\r\n\r\n", "GET / close; closed"),
    ("connection-closed-is-not-close", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", "GET /; open"),
    ("connection-keep-alive-1.1", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", "GET /; open"),
    ("connection-close-and-keep-alive", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, close\r\n\r\n", "GET / close; closed"),
    ("http-1.0-closes", b"GET / HTTP/1.0\r\nHost: a\r\n\r\n", "GET / close; closed"),
    ("http-1.0-keep-alive", b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET / HTTP/1.0\r\n\r\n", "GET / keep-alive; GET / close; closed"),
    ("http-1.0-post-keep-alive", b"POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", "POST /=hi keep-alive; open"),
    ("pipeline-order", b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /1; GET /2; GET /3; open"),
    ("pipeline-close-in-middle", b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /never HTTP/1.1\r\nHost: a\r\n\r\n", "GET /1; GET /2 close; closed"),
    ("pipeline-then-bad", b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2\r\n\r\n", "GET /1; 400 bad_request_line"),
    ("expect-with-body-at-once", b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\nhi", "POST /=hi; open"),
    ("expect-chunked", b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "POST /=hi; open"),
];

/// The peer ends its side behind these.
pub const EOF_ROWS: &[Row] = &[
    ("half-close-idle", b"", "closed"),
    (
        "half-close-after-request",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /; closed",
    ),
    ("half-close-after-crlf", b"\r\n", "closed"),
    ("half-close-after-cr", b"\r", "400 truncated"),
    ("fin-inside-head", b"GET / HTTP/1.1\r\nHo", "400 truncated"),
    (
        "fin-inside-body",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello",
        "400 truncated",
    ),
    (
        "fin-inside-chunk",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhello",
        "400 truncated",
    ),
    (
        "fin-before-last-chunk",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
        "400 truncated",
    ),
    (
        "fin-before-body-of-expect",
        b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n",
        "400 truncated",
    ),
    ("fin-after-refusal", b"nonsense\r\n\r\n", "400 bad_request_line"),
];

#[test]
fn connections() {
    check_rows(&LIMITS, ROWS, false);
}

#[test]
fn ends_of_the_peer() {
    check_rows(&LIMITS, EOF_ROWS, true);
}

/// Name `half-close-after-pipelined-10` in the documents: everything received before the end is answered.
#[test]
fn half_close_after_pipelined_requests_answers_them_all() {
    let one: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut server = Server::new(LIMITS);
    server.connection.replace_storage(vec![0; 4096].into());
    let bytes = one.repeat(10);
    server.connection.recv_space()[..bytes.len()].copy_from_slice(&bytes);
    server.connection.recv_commit(bytes.len());
    server.connection.recv_eof();
    assert!(server.connection.persistent());
    server.serve();
    // The last response says that it is the last.
    assert_eq!(
        server.outcome(),
        ["GET /; ".repeat(9), "GET / close; closed".into()].concat()
    );
    assert!(!server.connection.lingers());
}

#[test]
fn pipeline_of_100_in_one_piece() {
    let bytes = b"GET /p HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100);
    assert_eq!(
        run(&LIMITS, &[&bytes], false, false),
        ["GET /p; ".repeat(100), "open".into()].concat()
    );
}

/// What the peer sees of 100-continue when the head comes alone.
fn interim(head: &[u8]) -> (Progress, Vec<u8>) {
    let mut server = Server::new(LIMITS);
    let connection = &mut server.connection;
    connection.replace_storage(vec![0; 4096].into());
    connection.recv_space()[..head.len()].copy_from_slice(head);
    connection.recv_commit(head.len());
    let progress = connection.advance(&LIMITS);
    let mut out = Vec::new();
    connection.write_continue(&mut out);
    connection.write_continue(&mut out);
    (progress, out)
}

#[test]
fn continue_is_sent_once_and_only_where_it_helps() {
    let head = |version: &str, length: &str| {
        format!("POST / HTTP/1.{version}\r\nHost: a\r\nExpect: 100-continue\r\n{length}\r\n\r\n")
    };
    let sent = b"HTTP/1.1 100 Continue\r\n\r\n".to_vec();
    let awaited = (Progress::Continue, sent);
    assert_eq!(
        interim(head("1", "Content-Length: 5").as_bytes()),
        awaited,
        "expect-100-continue"
    );
    assert_eq!(interim(head("1", "Transfer-Encoding: chunked").as_bytes()), awaited);
    let first_byte = [head("1", "Content-Length: 5").as_bytes(), b"h"].concat();
    assert_eq!(interim(&first_byte), (Progress::NeedMore, vec![]), "the body has begun");
    assert_eq!(
        interim(head("1", "Content-Length: 0").as_bytes()),
        (Progress::Request, vec![]),
        "there is no body"
    );
    assert_eq!(
        interim(head("0", "Content-Length: 5").as_bytes()),
        (Progress::NeedMore, vec![]),
        "expect-on-1.0-ignored"
    );
    let refused = (Progress::Refused(Reject::BodyTooLarge), vec![]);
    assert_eq!(
        interim(head("1", "Content-Length: 9999999").as_bytes()),
        refused,
        "a body nobody wants"
    );
}

#[test]
fn continue_holds_until_it_is_written() {
    let mut server = Server::new(LIMITS);
    server.connection.replace_storage(vec![0; 4096].into());
    let head = b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    server.connection.recv_space()[..head.len()].copy_from_slice(head);
    server.connection.recv_commit(head.len());
    assert_eq!(server.connection.advance(&LIMITS), Progress::Continue);
    assert_eq!(server.connection.advance(&LIMITS), Progress::Continue);
    server.connection.write_continue(&mut server.sent);
    assert_eq!(server.connection.advance(&LIMITS), Progress::NeedMore);
    server.receive(b"hi");
    assert_eq!(server.outcome(), "POST /=hi; open");
}

#[test]
fn a_late_refusal_ends_a_live_request_once() {
    let mut server = Server::new(LIMITS);
    let connection = &mut server.connection;
    connection.replace_storage(vec![0; 4096].into());
    let bytes = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    connection.recv_space()[..bytes.len()].copy_from_slice(bytes);
    connection.recv_commit(bytes.len());
    assert_eq!(connection.advance(&LIMITS), Progress::Request);
    let mut out = Vec::new();
    connection.refuse(Reject::DispatchTimeout, DATE, &mut out);
    let text = String::from_utf8(out.clone()).unwrap();
    assert!(
        text.starts_with("HTTP/1.1 503 Service Unavailable\r\n") && text.contains("\r\nRetry-After: 1\r\n"),
        "{text}"
    );
    connection.refuse(Reject::DispatchTimeout, DATE, &mut out);
    assert_eq!(out.len(), text.len());
    assert!(connection.respond(DATE, 0, false, &mut out).is_err());
    assert!(!connection.persistent() && connection.lingers());
    assert!(connection.release_storage().is_some());
}

#[test]
fn a_refusal_behind_a_begun_response_writes_nothing() {
    let mut server = Server::new(LIMITS);
    let connection = &mut server.connection;
    connection.replace_storage(vec![0; 4096].into());
    let bytes = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    connection.recv_space()[..bytes.len()].copy_from_slice(bytes);
    connection.recv_commit(bytes.len());
    assert_eq!(connection.advance(&LIMITS), Progress::Request);
    let mut out = Vec::new();
    connection.respond_stream(DATE, false, &mut out).unwrap();
    let len = out.len();
    connection.refuse(Reject::DispatchTimeout, DATE, &mut out);
    assert_eq!(out.len(), len);
    assert!(!connection.persistent());
}
