//! The request line (RFC 9112 2.2, 3).

use super::{LIMITS, Row, check_rows};

pub const ROWS: &[Row] = &[
    (
        "get-health",
        b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /health; open",
    ),
    (
        "head-health",
        b"HEAD /health HTTP/1.1\r\nHost: a\r\n\r\n",
        "HEAD /health; open",
    ),
    (
        "query-string",
        b"GET /health?a=1&b=%20 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /health?a=1&b=%20; open",
    ),
    (
        "crlf-before-request-line",
        b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /; open",
    ),
    (
        "crlf-between-requests",
        b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /1; GET /2; open",
    ),
    ("crlf-only", b"\r\n", "open"),
    ("cr-only", b"\r", "waits"),
    (
        "two-crlf-before-request-line",
        b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "lf-before-request-line",
        b"\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "cr-before-request-line",
        b"\rGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bare_carriage_return",
    ),
    (
        "space-before-request-line",
        b" GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "absolute-form",
        b"GET http://a:80/health HTTP/1.1\r\nHost: b\r\n\r\n",
        "GET http://a:80/health; open",
    ),
    (
        "absolute-form-without-host",
        b"GET http://a/health HTTP/1.1\r\n\r\n",
        "400 missing_host",
    ),
    (
        "absolute-form-scheme-case",
        b"GET HTTPS://a HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET HTTPS://a; open",
    ),
    (
        "absolute-form-other-scheme",
        b"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_target",
    ),
    (
        "absolute-form-empty-host",
        b"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_host",
    ),
    (
        "absolute-form-port-only",
        b"GET http://:80/x HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_host",
    ),
    (
        "absolute-form-userinfo",
        b"GET http://u@a/x HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_host",
    ),
    (
        "asterisk-options",
        b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        "OPTIONS *; open",
    ),
    ("asterisk-get", b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", "400 bad_target"),
    (
        "asterisk-longer",
        b"OPTIONS *x HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_target",
    ),
    (
        "connect",
        b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
        "501 connect_method",
    ),
    (
        "authority-form-get",
        b"GET a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_target",
    ),
    (
        "target-without-slash",
        b"GET health HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_target",
    ),
    (
        "target-query-only",
        b"GET ?a HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_target",
    ),
    (
        "target-fragment",
        b"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_target",
    ),
    (
        "target-absolute-fragment",
        b"GET http://a#b HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_target",
    ),
    (
        "target-utf-8",
        b"GET /caf\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
        r"GET /caf\xc3\xa9; open",
    ),
    (
        "target-not-utf-8",
        b"GET /caf\xe9 HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "target-percent-good",
        b"GET /%2f%2F?%00 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /%2f%2F?%00; open",
    ),
    (
        "target-percent-short",
        b"GET /% HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_percent",
    ),
    (
        "target-percent-one-digit",
        b"GET /a%2 HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_percent",
    ),
    (
        "target-percent-not-hex",
        b"GET /a%2g HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_percent",
    ),
    (
        "target-percent-in-query",
        b"GET /a?b=%zz HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_percent",
    ),
    (
        "nul-in-target",
        b"GET /hea\x00lth HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "del-in-target",
        b"GET /hea\x7flth HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "tab-in-target",
        b"GET /hea\tlth HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "space-in-target",
        b"GET /hea lth HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "target-empty",
        b"GET  HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "two-spaces-before-version",
        b"GET /  HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "trace",
        b"TRACE /health HTTP/1.1\r\nHost: a\r\n\r\n",
        "TRACE /health; open",
    ),
    ("unknown-method", b"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", "BREW /; open"),
    ("method-lowercase", b"get / HTTP/1.1\r\nHost: a\r\n\r\n", "get /; open"),
    (
        "method-32-bytes",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZ012345 / HTTP/1.1\r\nHost: a\r\n\r\n",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345 /; open",
    ),
    (
        "method-33-bytes",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456 / HTTP/1.1\r\nHost: a\r\n\r\n",
        "501 method_too_long",
    ),
    (
        "method-with-bracket",
        b"GE(T / HTTP/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "tls-client-hello",
        b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\x11\x11\x11",
        "400 bad_request_line",
    ),
    ("http-0.9", b"GET /\r\n", "400 bad_request_line"),
    ("http-0.9-version", b"GET / HTTP/0.9\r\n\r\n", "505 unsupported_version"),
    ("version-1.2", b"GET / HTTP/1.2\r\nHost: a\r\n\r\n", "GET /; open"),
    (
        "version-1.9-without-host",
        b"GET / HTTP/1.9\r\n\r\n",
        "400 missing_host",
    ),
    (
        "version-2.0",
        b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "505 unsupported_version",
    ),
    (
        "version-lowercase",
        b"GET / http/1.1\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "version-two-digits",
        b"GET / HTTP/1.10\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "version-major-only",
        b"GET / HTTP/2\r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    (
        "version-then-space",
        b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
        "400 bad_request_line",
    ),
    ("version-missing", b"GET / \r\nHost: a\r\n\r\n", "400 bad_request_line"),
    (
        "http2-preface",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
        "505 unsupported_version",
    ),
    (
        "request-line-bare-lf",
        b"GET / HTTP/1.1\nHost: a\n\n",
        "400 bare_line_feed",
    ),
    (
        "request-line-bare-cr",
        b"GET / HTTP/1.1\rHost: a\r\r",
        "400 bad_request_line",
    ),
    ("request-line-incomplete", b"GET / HTT", "waits"),
];

#[test]
fn request_lines() {
    check_rows(&LIMITS, ROWS, false);
}
