//! Body framing (RFC 9112 6, 7). A hidden request in a body must never be answered.

use super::{LIMITS, Row, check, check_rows};

pub const LENGTH_ROWS: &[Row] = &[
    (
        "post-cl",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
        "POST /echo=hello; open",
    ),
    (
        "post-cl-0",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        "POST /echo=; open",
    ),
    (
        "post-without-length",
        b"POST /echo HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /echo; open",
    ),
    (
        "post-cl-leading-zeros",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0005\r\n\r\nhello",
        "POST /echo=hello; open",
    ),
    (
        "post-cl-incomplete",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell",
        "waits",
    ),
    (
        "get-with-body-is-consumed",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 19\r\n\r\nGET /x HTTP/1.1\r\n\r\n",
        r"GET /=GET /x HTTP/1.1\r\n\r\n; open",
    ),
    (
        "head-with-body-is-consumed",
        b"HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxyGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "HEAD /=xy; GET /; open",
    ),
    (
        "cl-differ",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "400 repeated_content_length",
    ),
    (
        "cl-same-twice",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "400 repeated_content_length",
    ),
    (
        "cl-list",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5,5\r\n\r\nhello",
        "400 bad_content_length",
    ),
    (
        "cl-plus",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello",
        "400 bad_content_length",
    ),
    (
        "cl-negative",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nhello",
        "400 bad_content_length",
    ),
    (
        "cl-inner-space",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 5\r\n\r\nhello",
        "400 bad_content_length",
    ),
    (
        "cl-empty",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nhello",
        "400 bad_content_length",
    ),
    (
        "cl-hex",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello",
        "400 bad_content_length",
    ),
    (
        "cl-exponent",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5e0\r\n\r\nhello",
        "400 bad_content_length",
    ),
    (
        "cl-overflow-wraps-to-5",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551621\r\n\r\nhello",
        "400 bad_content_length",
    ),
    (
        "cl-largest",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\nhello",
        "413 body_too_large",
    ),
    (
        "cl-space-before-colon",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello",
        "400 bad_field_name",
    ),
    (
        "cl-te-both",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "400 length_and_coding",
    ),
    (
        "te-cl-both",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        "400 length_and_coding",
    ),
];

pub const CODING_ROWS: &[Row] = &[
    (
        "te-xchunked",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-identity",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-chunked-identity",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-quoted",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-vtab",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
        "400 bad_field_value",
    ),
    (
        "te-nul",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\x00\r\n\r\n0\r\n\r\n",
        "400 bad_field_value",
    ),
    (
        "te-twice-chunked",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-gzip-chunked",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "501 unknown_coding",
    ),
    (
        "te-gzip-chunked-two-lines",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip;a=b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "501 unknown_coding",
    ),
    (
        "te-chunked-param",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-chunked-empty-param",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;\r\n\r\n0\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-two-headers",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-empty",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-empty-element",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: , chunked\r\n\r\n0\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-trailing-comma",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked,\r\n\r\n0\r\n\r\n",
        "400 bad_coding",
    ),
    (
        "te-space-before-colon",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "400 bad_field_name",
    ),
    (
        "te-http-1.0",
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "400 coding_in_http_1_0",
    ),
];

const HEAD: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Without the head: [`HEAD`] goes before each.
pub const CHUNK_ROWS: &[Row] = &[
    ("chunked", b"5\r\nhello\r\n0\r\n\r\n", "POST /=hello; open"),
    (
        "chunked-two-chunks",
        b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
        "POST /=hello!; open",
    ),
    (
        "chunked-hex-leading-zeros",
        b"00000A\r\n0123456789\r\n000\r\n\r\n",
        "POST /=0123456789; open",
    ),
    (
        "chunked-many-leading-zeros",
        b"00000000000000000000000001\r\nx\r\n0\r\n\r\n",
        "POST /=x; open",
    ),
    ("chunked-zero", b"0\r\n\r\n", "POST /=; open"),
    (
        "chunked-data-looks-like-chunks",
        b"7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n",
        r"POST /=0\r\n\r\n\r\n; open",
    ),
    (
        "chunk-extensions",
        b"5;a=b;c=\"d;\\\"e\";f\r\nhello\r\n0;x=y\r\n\r\n",
        "POST /=hello; open",
    ),
    (
        "chunk-extension-bad-white-space",
        b"1 ; a\t= b\r\nx\r\n0\r\n\r\n",
        "POST /=x; open",
    ),
    (
        "trailers",
        b"1\r\nx\r\n0\r\nX-Sum: 1\r\nX-Two:\r\n\r\n",
        "POST /=x; open",
    ),
    (
        "trailers-then-next-in-step",
        b"1\r\nx\r\n0\r\nContent-Length: 90\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /=x; GET /b; open",
    ),
    (
        "pipeline-after-chunked-post",
        b"1\r\nx\r\n0\r\n\r\nGET /7 HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /=x; GET /7; open",
    ),
    ("chunked-incomplete", b"5\r\nhel", "waits"),
    ("chunked-without-last", b"5\r\nhello\r\n", "waits"),
    ("chunked-without-final-line", b"0\r\n", "waits"),
    ("chunk-size-not-hex", b"g\r\nhello\r\n0\r\n\r\n", "400 bad_chunk_size"),
    ("chunk-size-negative", b"-5\r\nhello\r\n0\r\n\r\n", "400 bad_chunk_size"),
    ("chunk-size-plus", b"+5\r\nhello\r\n0\r\n\r\n", "400 bad_chunk_size"),
    ("chunk-size-0x", b"0x5\r\nhello\r\n0\r\n\r\n", "400 bad_chunk_extension"),
    ("chunk-size-empty", b"\r\nhello\r\n0\r\n\r\n", "400 bad_chunk_size"),
    (
        "chunk-size-extension-only",
        b";a\r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_size",
    ),
    (
        "chunk-size-leading-space",
        b" 5\r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_size",
    ),
    (
        "chunk-size-trailing-space",
        b"5 \r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_extension",
    ),
    (
        "chunk-size-underscore",
        b"1_0\r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_extension",
    ),
    ("chunk-data-too-long", b"5\r\nhelloX\r\n0\r\n\r\n", "400 bad_chunk_end"),
    ("chunk-data-no-crlf", b"5\r\nhello0\r\n\r\n", "400 bad_chunk_end"),
    ("chunk-data-lf", b"5\r\nhello\n0\r\n\r\n", "400 bad_chunk_end"),
    ("chunk-data-cr", b"5\r\nhello\r0\r\n\r\n", "400 bad_chunk_end"),
    ("chunk-lf-only", b"5\nhello\n0\n\n", "400 bare_line_feed"),
    ("chunk-size-bare-lf", b"5\r\nhello\r\n0\n\r\n", "400 bare_line_feed"),
    ("chunk-ext-bare-lf", b"5;a\nhello\r\n0\r\n\r\n", "400 bare_line_feed"),
    (
        "chunk-size-bare-cr",
        b"5\rX\r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_extension",
    ),
    (
        "chunk-ext-bare-cr",
        b"5;a\rb\r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_extension",
    ),
    (
        "chunk-ext-empty-name",
        b"5;\r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_extension",
    ),
    (
        "chunk-ext-empty-value",
        b"5;a=\r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_extension",
    ),
    (
        "chunk-ext-open-quote",
        b"5;a=\"b\r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_extension",
    ),
    (
        "chunk-ext-nul",
        b"5;a=\"\x00\"\r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_extension",
    ),
    (
        "chunk-ext-trailing-space",
        b"5;a \r\nhello\r\n0\r\n\r\n",
        "400 bad_chunk_extension",
    ),
    (
        "chunk-size-max-16-hex",
        b"ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        "413 body_too_large",
    ),
    (
        "chunk-size-17-hex-wraps",
        b"10000000000000005\r\nhello\r\n0\r\n\r\n",
        "413 body_too_large",
    ),
    ("trailer-bare-lf", b"0\r\nX: 1\n\r\n", "400 bare_line_feed"),
    ("trailer-end-bare-lf", b"0\r\nX: 1\r\n\n", "400 bare_line_feed"),
    ("trailer-no-colon", b"0\r\nX\r\n\r\n", "400 bad_trailer"),
    ("trailer-empty-name", b"0\r\n: x\r\n\r\n", "400 bad_trailer"),
    ("trailer-space-before-colon", b"0\r\nX : 1\r\n\r\n", "400 bad_trailer"),
    ("trailer-folded", b"0\r\nX: 1\r\n 2\r\n\r\n", "400 bad_trailer"),
    ("trailer-nul", b"0\r\nX: \x00\r\n\r\n", "400 bad_trailer"),
    ("trailer-bare-cr", b"0\r\nX: a\rb\r\n\r\n", "400 bad_trailer"),
];

#[test]
fn content_length() {
    check_rows(&LIMITS, LENGTH_ROWS, false);
}

#[test]
fn transfer_encoding() {
    check_rows(&LIMITS, CODING_ROWS, false);
}

#[test]
fn chunks() {
    for (name, bytes, outcome) in CHUNK_ROWS {
        check(&LIMITS, name, &[HEAD.as_bytes(), bytes].concat(), false, outcome);
    }
}

#[test]
fn coding_names_are_case_insensitive() {
    let message = b"POST / HTTP/1.1\r\nhOST: a\r\ntRANSFER-eNCODING: ChunKed\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    check(&LIMITS, "chunked-mixed-case-name", message, false, "POST /=x; open");
}

#[test]
fn binary_body_arrives_byte_for_byte() {
    let body: Vec<u8> = (0..=255).collect();
    let head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 256\r\n\r\n";
    let outcome = format!("POST /={}; open", body.escape_ascii());
    check(
        &LIMITS,
        "post-binary-256",
        &[&head[..], &body].concat(),
        false,
        &outcome,
    );
}
