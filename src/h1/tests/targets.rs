//! How a target is taken apart (RFC 9112 3.2), and what of a head a handler can read.

use super::{LIMITS, Server};
use crate::h1::{Connection, Method, Progress, Span, Version};

fn parsed(message: &[u8]) -> Connection {
    let mut connection = Server::new(LIMITS).connection;
    connection.replace_storage(vec![0; 4096].into());
    connection.recv_space()[..message.len()].copy_from_slice(message);
    connection.recv_commit(message.len());
    assert_eq!(
        connection.advance(&LIMITS),
        Progress::Request,
        "{}",
        message.escape_ascii()
    );
    connection
}

#[test]
fn forms_of_targets() {
    // Target, path, query, authority, host.
    let rows = [
        ("/", "/", None, None, "h:1"),
        ("/a/b", "/a/b", None, None, "h:1"),
        ("/a?", "/a", Some(""), None, "h:1"),
        ("/a?b=c", "/a", Some("b=c"), None, "h:1"),
        ("/?a?b", "/", Some("a?b"), None, "h:1"),
        ("//a", "//a", None, None, "h:1"),
        ("/http://x/", "/http://x/", None, None, "h:1"),
        ("http://x", "", None, Some("x"), "x"),
        ("HTTP://x:80/a?b", "/a", Some("b"), Some("x:80"), "x:80"),
        ("https://[::1]:8/?b", "/", Some("b"), Some("[::1]:8"), "[::1]:8"),
        ("http://x?b", "", Some("b"), Some("x"), "x"),
    ];
    for (target, path, query, authority, host) in rows {
        // An empty line in front, and bytes behind, move nothing.
        let message = format!("\r\nGET {target} HTTP/1.1\r\nHost: h:1\r\n\r\nGET /next");
        let connection = parsed(message.as_bytes());
        let head = connection.head();
        let text = |span: Span| std::str::from_utf8(connection.text(span)).unwrap();
        assert_eq!(text(head.target), target);
        assert_eq!(text(head.path), path, "path of {target}");
        assert_eq!(head.query.map(text), query, "query of {target}");
        assert_eq!(head.authority.map(text), authority, "authority of {target}");
        assert_eq!(head.host.map(text), Some(host), "host of {target}");
    }
}

#[test]
fn a_head_is_readable() {
    let connection = parsed(b"PATCH /x HTTP/1.0\r\nA: 1\r\nb:  two words \t\r\nA: 3\r\nContent-Length: 2\r\n\r\nhi");
    let head = connection.head();
    assert_eq!((head.method, head.version), (Method::Patch, Version::Http10));
    assert_eq!(head.host, None);
    let fields: Vec<_> = head
        .fields
        .iter()
        .map(|f| (connection.text(f.name), connection.text(f.value)))
        .collect();
    let expected: [(&[u8], &[u8]); 4] = [
        (b"A", b"1"),
        (b"b", b"two words"),
        (b"A", b"3"),
        (b"Content-Length", b"2"),
    ];
    assert_eq!(fields, expected);
    assert_eq!(connection.header("a"), Some(&b"1"[..]));
    assert_eq!(connection.header("B"), Some(&b"two words"[..]));
    assert_eq!(connection.header("c"), None);
    assert_eq!(connection.body(), b"hi");
    assert!(connection.has_body());
}

#[test]
fn nothing_is_readable_once_the_request_has_ended() {
    let mut connection = parsed(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhiGET / HTTP/1.1\r\n");
    let target = connection.head().target;
    connection.end_request();
    assert_eq!((connection.text(target), connection.body()), (&b""[..], &b""[..]));
    assert_eq!(connection.header("host"), None);
    assert!(!connection.has_body());
}

#[test]
fn methods() {
    let rows = [
        ("GET", Method::Get),
        ("HEAD", Method::Head),
        ("POST", Method::Post),
        ("PUT", Method::Put),
        ("PATCH", Method::Patch),
        ("DELETE", Method::Delete),
        ("OPTIONS", Method::Options),
        ("TRACE", Method::Other),
        ("Get", Method::Other),
    ];
    for (text, method) in rows {
        assert_eq!(
            parsed(format!("{text} / HTTP/1.0\r\n\r\n").as_bytes()).head().method,
            method
        );
    }
}
