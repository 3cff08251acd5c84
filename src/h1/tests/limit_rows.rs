//! Every limit, at its last good byte and one above, and as it is met while a message is still arriving.

use super::{LIMITS, Row, Server, check, check_rows, run};
use crate::h1::Limits;

/// Small enough that every cut of a message at the limits can be tried.
const SMALL: Limits = Limits {
    head_bytes_max: 64,
    headers_max: 3,
    target_bytes_max: 12,
    body_bytes_max: 8,
};

pub const ROWS: &[Row] = &[
    (
        "target-over-limit",
        b"GET /234567890123 HTTP/1.1\r\nHost: a\r\n\r\n",
        "414 target_too_long",
    ),
    (
        "target-at-limit",
        b"GET /23456789012 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /23456789012; open",
    ),
    (
        "target-over-limit-incomplete",
        b"GET /234567890123",
        "414 target_too_long",
    ),
    (
        "target-never-ends",
        b"GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "414 target_too_long",
    ),
    (
        "target-too-long-then-bare-lf",
        b"GET /234567890123\n",
        "414 target_too_long",
    ),
    (
        "head-at-limit",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: 01234567890123456789012345678901\r\n\r\n",
        "GET /; open",
    ),
    (
        "head-over-limit",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: 012345678901234567890123456789012\r\n\r\n",
        "431 head_too_large",
    ),
    (
        "head-over-limit-incomplete",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: 012345678901234567890123456789012345678901234567",
        "431 head_too_large",
    ),
    (
        "crlf-does-not-count",
        b"\r\nGET / HTTP/1.1\r\nHost: a\r\nX: 01234567890123456789012345678901\r\n\r\n",
        "GET /; open",
    ),
    (
        "headers-at-limit",
        b"GET / HTTP/1.1\r\nHost: a\r\nb:\r\nc:\r\n\r\n",
        "GET /; open",
    ),
    (
        "headers-over-limit",
        b"GET / HTTP/1.1\r\nHost: a\r\nb:\r\nc:\r\nd:\r\n\r\n",
        "431 too_many_fields",
    ),
    (
        "headers-over-limit-incomplete",
        b"GET / HTTP/1.1\r\na:\r\nb:\r\nc:\r\nd:\r\n",
        "431 too_many_fields",
    ),
    (
        "cl-at-limit",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n12345678",
        "POST /=12345678; open",
    ),
    (
        "cl-over-limit",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
        "413 body_too_large",
    ),
];

const HEAD: &str = "POST / HTTP/1.1\r\na:\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Behind [`HEAD`], with 16 bytes left for extensions and trailers.
pub const CHUNK_ROWS: &[Row] = &[
    (
        "chunked-at-limit",
        b"5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n",
        "POST /=helloabc; open",
    ),
    ("chunked-over-limit", b"5\r\nhello\r\n4\r\n", "413 body_too_large"),
    ("trailers-at-limit", b"0\r\nX: 3456\r\nY: 45\r\n\r\n", "POST /=; open"),
    (
        "trailers-over-limit",
        b"0\r\nX: 3456\r\nY: 456\r\n\r\n",
        "431 head_too_large",
    ),
    ("trailer-never-ends", b"0\r\nX: 3456789012345678", "431 head_too_large"),
    (
        "extensions-at-limit",
        b"1;a=45678\r\nx\r\n0;a=45678\r\n\r\n",
        "POST /=x; open",
    ),
    (
        "extensions-over-limit",
        b"1;a=45678\r\nx\r\n0;a=456789\r\n\r\n",
        "431 head_too_large",
    ),
];

#[test]
fn small_limits() {
    check_rows(&SMALL, ROWS, false);
}

#[test]
fn small_limits_of_chunked_bodies() {
    let limits = Limits {
        head_bytes_max: HEAD.len() + 16,
        ..SMALL
    };
    for (name, bytes, outcome) in CHUNK_ROWS {
        check(&limits, name, &[HEAD.as_bytes(), bytes].concat(), false, outcome);
    }
}

#[test]
fn a_head_of_exactly_the_limit_may_have_a_chunked_body() {
    let limits = Limits {
        head_bytes_max: HEAD.len(),
        ..SMALL
    };
    check(
        &limits,
        "head-at-limit-chunked",
        &[HEAD.as_bytes(), b"1\r\nx\r\n0\r\n\r\n"].concat(),
        false,
        "POST /=x; open",
    );
}

/// Long messages, at pieces of several sizes. The names are those of the documents.
#[test]
fn default_limits() {
    let long = |before: &str, byte: &str, times: usize, after: &str| [before, &byte.repeat(times), after].concat();
    let end = " HTTP/1.1\r\nHost: a\r\n\r\n";
    let target = "u".repeat(7000);
    let body = "z".repeat(1 << 20);
    let rows = [
        (
            "uri-7000-bytes",
            long("GET /", "u", 7000, end),
            format!("GET /{target}; open"),
        ),
        (
            "uri-64KiB",
            long("GET /", "a", 65536, end),
            "414 target_too_long".into(),
        ),
        (
            "uri-2MiB-never-ends",
            long("GET /", "a", 2 << 20, ""),
            "414 target_too_long".into(),
        ),
        (
            "header-64KiB",
            long("GET / HTTP/1.1\r\nHost: a\r\nX: ", "b", 65536, "\r\n\r\n"),
            "431 head_too_large".into(),
        ),
        (
            "headers-5000-tiny",
            long("GET / HTTP/1.1\r\nHost: a\r\n", "a:b\r\n", 5000, "\r\n"),
            "431 too_many_fields".into(),
        ),
        (
            "post-1MiB",
            long(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n",
                "z",
                1 << 20,
                "",
            ),
            format!("POST /={body}; open"),
        ),
        (
            "chunk-line-never-ends",
            long(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                "0",
                1024,
                "",
            ),
            "400 bad_chunk_size".into(),
        ),
        (
            "chunk-line-of-1024",
            long(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                "0",
                1022,
                "\r\n\r\n",
            ),
            "POST /=; open".into(),
        ),
    ];
    for (name, bytes, outcome) in rows {
        check(&LIMITS, name, bytes.as_bytes(), false, &outcome);
    }
}

#[test]
fn a_chunked_body_larger_than_every_storage_step_arrives_whole() {
    let body: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
    let mut message = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for part in body.chunks(777) {
        crate::h1::encode::chunk(part, &mut message);
    }
    message.extend_from_slice(b"0\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    let outcome = format!("POST /={}; GET /next; open", body.escape_ascii());
    for size in [1, 5, 4096, message.len()] {
        let pieces: Vec<_> = message.chunks(size).collect();
        assert_eq!(run(&LIMITS, &pieces, false, false), outcome, "pieces of {size}");
    }
}

/// What was announced is never reserved; what the limits do not allow is never wanted.
#[test]
fn storage_follows_what_was_received() {
    let mut server = Server::new(LIMITS);
    server.receive(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n");
    assert_eq!(server.connection.recv_wanted(&LIMITS), 4096);
    server.receive(&[b'x'; 4000]);
    assert_eq!(server.connection.recv_wanted(&LIMITS), 8192);
    let mut server = Server::new(LIMITS);
    server.receive(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4090\r\n\r\nabc");
    server.receive(&[b'x'; 4030]);
    assert_eq!(
        server.connection.recv_wanted(&LIMITS),
        50 + 4090,
        "the end of the body is known"
    );
    assert_eq!(Server::new(SMALL).connection.recv_wanted(&SMALL), 64);
}
