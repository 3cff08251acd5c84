//! What a peer can do wrong, with the answer it gets: a status and one plain sentence.
//!
//! Every refusal ends the connection. The sentences are constants, so that nothing of a peer's bytes is echoed.

macro_rules! rejects {
    ($($(#[$doc:meta])* $name:ident = $status:literal, $text:literal, $key:literal;)*) => {
        /// Why a request is refused. Knows its status; the variants' names are the reasons shown in statistics.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reject { $($(#[$doc])* $name,)* }

        impl Reject {
            /// Every reason, in a fixed order: `Reject::ALL[reason as usize] == reason`.
            pub const ALL: &'static [Reject] = &[$(Reject::$name,)*];

            /// The status code of the answer.
            pub fn status(self) -> u16 {
                match self { $(Reject::$name => $status,)* }
            }

            /// The sentence sent as the body of the answer.
            pub fn sentence(self) -> &'static str {
                match self { $(Reject::$name => $text,)* }
            }

            /// The reason in snake_case, for counters.
            pub fn name(self) -> &'static str {
                match self { $(Reject::$name => $key,)* }
            }
        }
    };
}

rejects! {
    /// The request line is not `method SP target SP version CRLF` (RFC 9112 3).
    BadRequestLine = 400, "The request line is malformed.", "bad_request_line";
    /// The target has none of the allowed forms, or a bad byte in it (RFC 9112 3.2).
    BadTarget = 400, "The request target is malformed.", "bad_target";
    /// `%` without two hexadecimal digits (RFC 3986 2.1).
    BadPercent = 400, "The request target contains a bad percent sequence.", "bad_percent";
    /// The target is longer than the limit (RFC 9112 3, RFC 9110 15.5.15).
    TargetTooLong = 414, "The request target is too long.", "target_too_long";
    /// The method is longer than any that can be implemented here (RFC 9112 3).
    MethodTooLong = 501, "The request method is not implemented.", "method_too_long";
    /// CONNECT asks for a tunnel; this is an origin server (RFC 9110 9.3.6).
    ConnectMethod = 501, "CONNECT is not implemented.", "connect_method";
    /// A major version other than 1 (RFC 9110 15.6.6).
    UnsupportedVersion = 505, "Only HTTP/1.0 and HTTP/1.1 are supported.", "unsupported_version";
    /// A line ends in LF without CR (RFC 9112 2.2).
    BareLineFeed = 400, "A line does not end in CRLF.", "bare_line_feed";
    /// A CR that no LF follows (RFC 9112 2.2).
    BareCarriageReturn = 400, "A carriage return is not followed by a line feed.", "bare_carriage_return";
    /// A field name is not a token directly followed by a colon; folded lines too (RFC 9112 5).
    BadFieldName = 400, "A header field name is malformed.", "bad_field_name";
    /// A field value contains a control byte (RFC 9110 5.5).
    BadFieldValue = 400, "A header field value is malformed.", "bad_field_value";
    /// The head, or head and trailers together, are longer than the limit (RFC 6585 5).
    HeadTooLarge = 431, "The request header section is too large.", "head_too_large";
    /// More header fields than the limit (RFC 6585 5).
    TooManyFields = 431, "The request has too many header fields.", "too_many_fields";
    /// HTTP/1.1 without Host (RFC 9112 3.2).
    MissingHost = 400, "The Host header field is missing.", "missing_host";
    /// Host more than once (RFC 9112 3.2).
    RepeatedHost = 400, "The Host header field is repeated.", "repeated_host";
    /// Host, or the authority of the target, is not `host[:port]` (RFC 9112 3.2).
    BadHost = 400, "The Host header field is malformed.", "bad_host";
    /// Content-Length is not a number, or one that cannot be counted (RFC 9112 6.3).
    BadContentLength = 400, "The Content-Length header field is malformed.", "bad_content_length";
    /// Content-Length more than once, equal or not (RFC 9112 6.3).
    RepeatedContentLength = 400, "The Content-Length header field is repeated.", "repeated_content_length";
    /// Transfer-Encoding and Content-Length together (RFC 9112 6.1).
    LengthAndCoding = 400, "Content-Length and Transfer-Encoding exclude each other.", "length_and_coding";
    /// Transfer-Encoding in an HTTP/1.0 request (RFC 9112 6.1).
    CodingInHttp10 = 400, "Transfer-Encoding is not part of HTTP/1.0.", "coding_in_http_1_0";
    /// Transfer-Encoding in which chunked is not last, is repeated or has parameters (RFC 9112 6.3, 7).
    BadCoding = 400, "The Transfer-Encoding header field is malformed.", "bad_coding";
    /// A transfer coding other than chunked (RFC 9112 6.1).
    UnknownCoding = 501, "Only the transfer coding chunked is implemented.", "unknown_coding";
    /// An expectation other than 100-continue (RFC 9110 10.1.1).
    UnknownExpectation = 417, "Only the expectation 100-continue is known.", "unknown_expectation";
    /// A chunk size is not hexadecimal, or its line is too long (RFC 9112 7.1).
    BadChunkSize = 400, "A chunk size is malformed.", "bad_chunk_size";
    /// A chunk extension is malformed (RFC 9112 7.1.1).
    BadChunkExtension = 400, "A chunk extension is malformed.", "bad_chunk_extension";
    /// Chunk data are not followed by CRLF (RFC 9112 7.1).
    BadChunkEnd = 400, "Chunk data are not followed by CRLF.", "bad_chunk_end";
    /// A trailer field is malformed (RFC 9112 7.1.2).
    BadTrailer = 400, "A trailer field is malformed.", "bad_trailer";
    /// The body is larger than the limit (RFC 9110 15.5.14).
    BodyTooLarge = 413, "The request body is too large.", "body_too_large";
    /// The peer ended its side inside a request (RFC 9112 8).
    Truncated = 400, "The request is incomplete.", "truncated";
    /// The head did not arrive in time (RFC 9110 15.5.9).
    HeaderTimeout = 408, "The request header section took too long to arrive.", "header_timeout";
    /// The body did not arrive in time (RFC 9110 15.5.9).
    BodyTimeout = 408, "The request body took too long to arrive.", "body_timeout";
    /// The handler failed, or its answer could not be sent; no fault of the peer (RFC 9110 15.6.1).
    HandlerFailed = 500, "The request could not be handled.", "handler_failed";
    /// Waited too long for a handler (RFC 9110 15.6.4).
    DispatchTimeout = 503, "The server is too busy to answer in time.", "dispatch_timeout";
    /// No room for the connection or its bytes (RFC 9110 15.6.4).
    Overloaded = 503, "The server is at its limit.", "overloaded";
    /// The host asked for is not served here (RFC 9110 15.5.20).
    MisdirectedRequest = 421, "This server does not serve the requested host.", "misdirected_request";
    /// The page that sent the request is of a foreign origin (RFC 6454 7).
    ForbiddenOrigin = 403, "Requests from this origin are not allowed.", "forbidden_origin";
}

impl Reject {
    /// Seconds after which trying again makes sense; sent as Retry-After (RFC 9110 10.2.3).
    pub fn retry_after(self) -> Option<u8> {
        matches!(self, Reject::DispatchTimeout | Reject::Overloaded).then_some(1)
    }
}

impl std::fmt::Display for Reject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.sentence())
    }
}
