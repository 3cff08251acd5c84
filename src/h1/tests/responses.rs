//! Responses byte for byte, and everything a handler may do wrong with one.

use super::{DATE, LIMITS, Server};
use crate::h1::{Connection, Progress, Reject, ResponseError, ResponseHead, reason_phrase};

const DATE_LINE: &str = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";

fn live(method: &str, version: &str, fields: &str) -> Connection {
    let message = format!("{method} / HTTP/{version}\r\nHost: a\r\n{fields}\r\n");
    let mut connection = Server::new(LIMITS).connection;
    connection.replace_storage(vec![0; 4096].into());
    connection.recv_space()[..message.len()].copy_from_slice(message.as_bytes());
    connection.recv_commit(message.len());
    assert_eq!(connection.advance(&LIMITS), Progress::Request);
    connection
}

/// Method, version, status and body length; the status line, what follows the date, and whether the body is sent.
type Whole = (&'static str, &'static str, u16, u64, &'static str, &'static str, bool);

const WHOLE: &[Whole] = &[
    (
        "GET",
        "1.1",
        200,
        5,
        "HTTP/1.1 200 OK\r\n",
        "Content-Length: 5\r\n\r\n",
        true,
    ),
    (
        "GET",
        "1.1",
        404,
        0,
        "HTTP/1.1 404 Not Found\r\n",
        "Content-Length: 0\r\n\r\n",
        false,
    ),
    (
        "HEAD",
        "1.1",
        200,
        5,
        "HTTP/1.1 200 OK\r\n",
        "Content-Length: 5\r\n\r\n",
        false,
    ),
    ("GET", "1.1", 204, 5, "HTTP/1.1 204 No Content\r\n", "\r\n", false),
    (
        "GET",
        "1.1",
        205,
        5,
        "HTTP/1.1 205 Reset Content\r\n",
        "Content-Length: 0\r\n\r\n",
        false,
    ),
    ("GET", "1.1", 304, 5, "HTTP/1.1 304 Not Modified\r\n", "\r\n", false),
    (
        "GET",
        "1.1",
        418,
        1,
        "HTTP/1.1 418 \r\n",
        "Content-Length: 1\r\n\r\n",
        true,
    ),
    (
        "GET",
        "1.0",
        200,
        5,
        "HTTP/1.1 200 OK\r\n",
        "Content-Length: 5\r\nConnection: close\r\n\r\n",
        true,
    ),
    (
        "POST",
        "1.1",
        201,
        u64::MAX,
        "HTTP/1.1 201 Created\r\n",
        "Content-Length: 18446744073709551615\r\n\r\n",
        true,
    ),
];

#[test]
fn whole_responses() {
    for &(method, version, status, len, line, rest, send) in WHOLE {
        let mut connection = live(method, version, "");
        connection.response_mut().set_status(status).unwrap();
        let mut out = Vec::new();
        assert_eq!(
            connection.respond(DATE, len, false, &mut out),
            Ok(send),
            "{method} {version} {status}"
        );
        assert_eq!(String::from_utf8(out).unwrap(), [line, DATE_LINE, rest].concat());
    }
}

#[test]
fn streamed_responses() {
    let rows = [
        (
            "GET",
            "1.1",
            200,
            "Transfer-Encoding: chunked\r\n\r\n",
            "5\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
            true,
        ),
        ("HEAD", "1.1", 200, "Transfer-Encoding: chunked\r\n\r\n", "", true),
        ("GET", "1.1", 304, "\r\n", "", true),
        (
            "GET",
            "1.0",
            200,
            "Connection: close\r\n\r\n",
            "hello0123456789abcdef",
            false,
        ),
        ("HEAD", "1.0", 200, "Connection: keep-alive\r\n\r\n", "", true),
    ];
    for (method, version, status, rest, body, persistent) in rows {
        let mut connection = live(method, version, "Connection: keep-alive\r\n");
        connection.response_mut().set_status(status).unwrap();
        let mut out = Vec::new();
        connection.respond_stream(DATE, false, &mut out).unwrap();
        let head = [
            &format!("HTTP/1.1 {status} {}\r\n", reason_phrase(status)),
            DATE_LINE,
            rest,
        ]
        .concat();
        assert_eq!(String::from_utf8(out.clone()).unwrap(), head);
        out.clear();
        for piece in ["hello", "", "0123456789abcdef"] {
            connection.stream_chunk(piece.as_bytes(), &mut out);
        }
        connection.stream_end(&mut out);
        connection.stream_end(&mut out);
        connection.stream_chunk(b"late", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), body, "{method} {version} {status}");
        assert_eq!(connection.persistent(), persistent);
        connection.end_request();
        assert_eq!(
            connection.advance(&LIMITS),
            if persistent {
                Progress::NeedMore
            } else {
                Progress::Closed
            }
        );
    }
}

#[test]
fn an_unfinished_stream_ends_the_connection() {
    let mut connection = live("GET", "1.1", "");
    connection.respond_stream(DATE, false, &mut Vec::new()).unwrap();
    connection.end_request();
    assert!(!connection.persistent());
    assert_eq!(connection.advance(&LIMITS), Progress::Closed);
}

#[test]
fn a_stream_that_broke_off_is_never_made_to_look_whole() {
    for (version, refused) in [("1.1", true), ("1.1", false), ("1.0", true), ("1.0", false)] {
        let mut connection = live("GET", version, "");
        connection.respond_stream(DATE, false, &mut Vec::new()).unwrap();
        connection.stream_chunk(b"part", &mut Vec::new());
        let mut out = Vec::new();
        if refused {
            connection.refuse(Reject::HandlerFailed, DATE, &mut out);
        } else {
            connection.end_request();
        }
        connection.stream_chunk(b"late", &mut out);
        connection.stream_end(&mut out);
        assert_eq!(out, b"", "HTTP/{version}, refused: {refused}");
    }
}

#[test]
fn who_ends_the_connection() {
    // Asked by: client, server, handler. A client that asked for it is not lingered for.
    for (fields, server, handler, closes, lingers) in [
        ("", false, false, false, false),
        ("Connection: close\r\n", false, false, true, false),
        ("", true, false, true, true),
        ("", false, true, true, true),
    ] {
        let mut connection = live("GET", "1.1", fields);
        if handler {
            connection.response_mut().set(b"connection", b"Close").unwrap();
        }
        let mut out = Vec::new();
        connection.respond(DATE, 0, server, &mut out).unwrap();
        let count = String::from_utf8(out).unwrap().matches("Connection: close\r\n").count();
        assert_eq!(
            (count == 1, connection.persistent(), connection.lingers()),
            (closes, !closes, lingers)
        );
        connection.end_request();
        assert_eq!((connection.persistent(), connection.lingers()), (!closes, lingers));
    }
}

#[test]
fn one_head_per_request() {
    let mut connection = live("GET", "1.1", "");
    assert!(!connection.responded());
    let mut out = Vec::new();
    connection.respond(DATE, 0, false, &mut out).unwrap();
    assert!(connection.responded());
    let len = out.len();
    assert_eq!(
        connection.respond(DATE, 0, false, &mut out),
        Err(ResponseError::AlreadySent)
    );
    assert_eq!(
        connection.respond_stream(DATE, false, &mut out),
        Err(ResponseError::AlreadySent)
    );
    connection.end_request();
    assert_eq!(
        connection.respond(DATE, 0, false, &mut out),
        Err(ResponseError::NotLive)
    );
    assert_eq!(out.len(), len);
}

#[test]
fn refusals_are_whole_responses() {
    for reject in Reject::ALL.iter().copied() {
        let mut out = Vec::new();
        Connection::new().refuse(reject, DATE, &mut out);
        let text = String::from_utf8(out).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = reject.status();
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status} {}\r\nDate: ", reason_phrase(status))),
            "{text}"
        );
        assert!(
            head.contains(&format!("\r\nContent-Length: {}\r\n", body.len()))
                && head.ends_with("\r\nConnection: close")
        );
        assert_eq!(body, format!("{reject}\n"));
        assert_eq!(head.contains("Retry-After: 1"), status == 503);
        assert_eq!(Reject::ALL[reject as usize], reject);
    }
}

#[test]
fn a_refused_head_request_gets_no_body() {
    let mut server = Server::new(LIMITS);
    server.receive(b"HEAD / HTTP/1.1\r\nHost : a\r\n\r\n");
    assert_eq!(server.outcome(), "400 bad_field_name");
    assert!(server.sent.ends_with(b"Connection: close\r\n\r\n"));
}

#[test]
fn fields_of_a_draft() {
    let mut draft = ResponseHead::default();
    draft.append(b"Set-Cookie", b"a=1").unwrap();
    draft.append(b"set-cookie", b" b=2\t").unwrap();
    draft.set_content_type(b"text/html").unwrap();
    draft.append(b"X", b"").unwrap();
    assert_eq!(draft.get_all(b"SET-COOKIE").collect::<Vec<_>>(), [b"a=1", b"b=2"]);
    assert_eq!(draft.get(b"content-type"), Some(&b"text/html"[..]));
    assert_eq!(draft.get(b"x"), Some(&b""[..]));
    draft.set(b"Set-Cookie", b"c=3").unwrap();
    assert_eq!(draft.lines(), b"Content-Type: text/html\r\nX: \r\nSet-Cookie: c=3\r\n");
    assert!(draft.remove(b"x") && !draft.remove(b"x") && !draft.has(b"x"));
    assert!(draft.set(b"Connection", b"close").is_ok() && draft.has(b"connection") && draft.remove(b"connection"));
    draft.reset();
    assert_eq!((draft.status(), draft.lines()), (200, &b""[..]));
}

#[test]
fn a_date_of_the_handler_replaces_ours() {
    let mut connection = live("GET", "1.1", "");
    connection.response_mut().append(b"date", b"x").unwrap();
    connection.response_mut().append(b"Date", b"y").unwrap();
    let mut out = Vec::new();
    connection.respond(DATE, 0, false, &mut out).unwrap();
    assert_eq!(out, b"HTTP/1.1 200 OK\r\nDate: y\r\nContent-Length: 0\r\n\r\n");
}

#[test]
fn what_a_draft_refuses() {
    let mut draft = ResponseHead::default();
    draft.set(b"X", b"kept").unwrap();
    for name in [&b""[..], b"a b", b"a:", b"a\r\n", b"a\x00", b"\xc3\xa9"] {
        assert_eq!(draft.set(name, b"v"), Err(ResponseError::NotAToken));
    }
    for value in [&b"a\r\nB: c"[..], b"a\n", b"a\r", b"a\x00", b"\x1b", b"\x7f"] {
        assert_eq!(draft.set(b"X", value), Err(ResponseError::BadValue));
        assert_eq!(draft.append(b"Connection", value), Err(ResponseError::BadValue));
    }
    for name in [
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Keep-Alive",
        "Upgrade",
        "Trailer",
    ] {
        assert_eq!(
            draft.set(name.to_lowercase().as_bytes(), b"1"),
            Err(ResponseError::FramingField(name))
        );
    }
    for status in [0, 100, 101, 199, 600, 999] {
        assert_eq!(draft.set_status(status), Err(ResponseError::BadStatus));
    }
    assert_eq!(draft.append(b"Y", &vec![b'y'; 65536]), Err(ResponseError::TooLarge));
    assert_eq!(
        (draft.status(), draft.lines()),
        (200, &b"X: kept\r\n"[..]),
        "nothing has changed"
    );
    for (error, word) in [
        (ResponseError::BadStatus, "200"),
        (ResponseError::FramingField("Trailer"), "Trailer"),
    ] {
        assert!(error.to_string().contains(word));
    }
}
