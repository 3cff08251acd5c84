//! Header fields, Host and line ends (RFC 9112 2.2, 3.2, 5; RFC 9110 5.5, 10.1.1).

use super::{LIMITS, Row, check_rows};

pub const ROWS: &[Row] = &[
    (
        "obs-text-header-value",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: caf\xc3\xa9 \xff\r\n\r\n",
        "GET /; open",
    ),
    (
        "empty-header-value",
        b"GET / HTTP/1.1\r\nHost: a\r\nX:\r\nY: \t \r\n\r\n",
        "GET /; open",
    ),
    (
        "tab-in-header-value",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\tb\r\n\r\n",
        "GET /; open",
    ),
    (
        "no-space-after-colon",
        b"GET / HTTP/1.1\r\nHost:a\r\n\r\n",
        "GET /; open",
    ),
    (
        "underscore-te-is-another-header",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer_Encoding: chunked\r\nContent-Length: 1\r\n\r\nx",
        "POST /=x; open",
    ),
    ("host-missing", b"GET / HTTP/1.1\r\nX: a\r\n\r\n", "400 missing_host"),
    ("host-missing-no-fields", b"GET / HTTP/1.1\r\n\r\n", "400 missing_host"),
    ("host-missing-1.0", b"GET / HTTP/1.0\r\n\r\n", "GET / close; closed"),
    (
        "host-twice",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: other.test\r\n\r\n",
        "400 repeated_host",
    ),
    (
        "host-twice-same",
        b"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
        "400 repeated_host",
    ),
    (
        "host-twice-1.0",
        b"GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        "400 repeated_host",
    ),
    ("host-empty", b"GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET /; open"),
    ("host-port-empty", b"GET / HTTP/1.1\r\nHost: a:\r\n\r\n", "GET /; open"),
    (
        "host-ipv6",
        b"GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
        "GET /; open",
    ),
    (
        "host-underscore",
        b"GET / HTTP/1.1\r\nHost: my_pc.lan:80\r\n\r\n",
        "GET /; open",
    ),
    ("host-invalid", b"GET / HTTP/1.1\r\nHost: a b/c\r\n\r\n", "400 bad_host"),
    ("host-list", b"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", "400 bad_host"),
    ("host-slash", b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "400 bad_host"),
    ("host-userinfo", b"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", "400 bad_host"),
    (
        "host-port-not-digits",
        b"GET / HTTP/1.1\r\nHost: a:8o\r\n\r\n",
        "400 bad_host",
    ),
    (
        "host-port-too-large",
        b"GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n",
        "400 bad_host",
    ),
    (
        "host-port-largest",
        b"GET / HTTP/1.1\r\nHost: a:65535\r\n\r\n",
        "GET /; open",
    ),
    (
        "host-port-six-digits",
        b"GET / HTTP/1.1\r\nHost: a:000080\r\n\r\n",
        "400 bad_host",
    ),
    (
        "host-two-colons",
        b"GET / HTTP/1.1\r\nHost: ::1\r\n\r\n",
        "400 bad_host",
    ),
    (
        "host-ipv6-bad",
        b"GET / HTTP/1.1\r\nHost: [::g]\r\n\r\n",
        "400 bad_host",
    ),
    (
        "host-ipv6-open",
        b"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
        "400 bad_host",
    ),
    (
        "host-ipv6-then-text",
        b"GET / HTTP/1.1\r\nHost: [::1]a\r\n\r\n",
        "400 bad_host",
    ),
    (
        "host-percent-bad",
        b"GET / HTTP/1.1\r\nHost: a%2\r\n\r\n",
        "400 bad_host",
    ),
    (
        "host-obs-text",
        b"GET / HTTP/1.1\r\nHost: caf\xc3\xa9\r\n\r\n",
        "400 bad_host",
    ),
    (
        "space-before-colon-host",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "tab-before-colon",
        b"GET / HTTP/1.1\r\nHost: a\r\nX\t: x\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "obs-fold",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "obs-fold-tab",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n\t2\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "space-before-first-field",
        b"GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "header-no-colon",
        b"GET / HTTP/1.1\r\nHost: a\r\nJustAWord\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "header-empty-name",
        b"GET / HTTP/1.1\r\nHost: a\r\n: v\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "header-name-not-token",
        b"GET / HTTP/1.1\r\nHost: a\r\nX@Y: v\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "header-name-obs-text",
        b"GET / HTTP/1.1\r\nHost: a\r\nX\xe9: v\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "nul-in-header-name",
        b"GET / HTTP/1.1\r\nHost: a\r\nX\x00: v\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "nul-in-header-value",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
        "400 bad_field_value",
    ),
    (
        "escape-in-header-value",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: \x1b[0m\r\n\r\n",
        "400 bad_field_value",
    ),
    (
        "del-in-header-value",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\x7f\r\n\r\n",
        "400 bad_field_value",
    ),
    (
        "bare-cr-in-header-value",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
        "400 bad_field_value",
    ),
    (
        "cr-cr-lf",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\r\n\r\n",
        "400 bad_field_value",
    ),
    (
        "cr-before-empty-line",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\r\n\r\n",
        "400 bare_carriage_return",
    ),
    (
        "header-bare-lf",
        b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
        "400 bare_line_feed",
    ),
    (
        "empty-line-bare-lf",
        b"GET / HTTP/1.1\r\nHost: a\r\n\n",
        "400 bare_line_feed",
    ),
    (
        "bare-cr-lines",
        b"GET /health HTTP/1.1\rHost: a\r\r",
        "400 bad_request_line",
    ),
    ("head-incomplete", b"GET / HTTP/1.1\r\nHost: a\r\n", "waits"),
    (
        "expect-unknown",
        b"POST / HTTP/1.1\r\nHost: a\r\nExpect: something-else\r\nContent-Length: 1\r\n\r\nx",
        "417 unknown_expectation",
    ),
    (
        "expect-unknown-second",
        b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nExpect: x\r\nContent-Length: 1\r\n\r\nx",
        "417 unknown_expectation",
    ),
    (
        "expect-empty",
        b"POST / HTTP/1.1\r\nHost: a\r\nExpect:\r\nContent-Length: 1\r\n\r\nx",
        "POST /=x; open",
    ),
    (
        "expect-list",
        b"POST / HTTP/1.1\r\nHost: a\r\nExpect: , 100-continue,\r\nContent-Length: 1\r\n\r\nx",
        "POST /=x; open",
    ),
    (
        "expect-unknown-in-list",
        b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue, x\r\nContent-Length: 1\r\n\r\nx",
        "417 unknown_expectation",
    ),
    (
        "expect-unknown-1.0",
        b"POST / HTTP/1.0\r\nExpect: something-else\r\nContent-Length: 1\r\n\r\nx",
        "POST /=x close; closed",
    ),
    (
        "upgrade-unknown-ignored",
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo/1\r\n\r\n",
        "GET /; open",
    ),
];

#[test]
fn fields() {
    check_rows(&LIMITS, ROWS, false);
}
