//! A request head as ranges into the connection's buffer, and the one place that turns bytes into it.
//!
//! It may assume that the scanner has found the head's end, that every line in it ends in CRLF and that the limits
//! hold. It must never keep a slice: buffers move, ranges stay right.

use std::mem::MaybeUninit;

use super::framing::{Framing, FramingFields, frame, is_authority, is_host, judge_escapes};
use super::scan::{HeadScan, METHOD_BYTES_MAX, trim};
use super::{HEADERS_MAX, Limits, Reject};

/// A range of bytes, counted from the request's first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// Bytes in the range.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// True for a range without bytes.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The bytes of the range in `bytes`; empty when they are not there.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// One header field line (RFC 9110 5): the name as sent, the value without the white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// A token.
    pub name: Span,
    /// Visible ASCII, bytes from 0x80 on, space and tab; may be empty.
    pub value: Span,
}

/// The method (RFC 9110 9). Case-sensitive: `get` is [`Method::Other`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// GET
    #[default]
    Get,
    /// HEAD
    Head,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH (RFC 5789)
    Patch,
    /// DELETE
    Delete,
    /// OPTIONS
    Options,
    /// Any other token, TRACE among them: read the text.
    Other,
}

impl Method {
    /// The method that `text` names.
    pub fn of(text: &[u8]) -> Self {
        match text {
            b"GET" => Method::Get,
            b"HEAD" => Method::Head,
            b"POST" => Method::Post,
            b"PUT" => Method::Put,
            b"PATCH" => Method::Patch,
            b"DELETE" => Method::Delete,
            b"OPTIONS" => Method::Options,
            _ => Method::Other,
        }
    }
}

/// The version that the request is treated as (RFC 9110 2.5: a later minor version counts as 1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    #[default]
    Http11,
}

/// One parsed request head. The ranges are valid while the request is live.
#[derive(Debug, Default)]
pub struct RequestHead {
    /// The method.
    pub method: Method,
    /// The method as sent.
    pub method_text: Span,
    /// The whole target as sent (RFC 9112 3.2).
    pub target: Span,
    /// `host[:port]` of an absolute-form target.
    pub authority: Option<Span>,
    /// The path as sent, not decoded: begins with `/`, is `*` (OPTIONS only), or empty for an absolute-form target
    /// without a path, which means `/`.
    pub path: Span,
    /// What follows the first `?`, not decoded.
    pub query: Option<Span>,
    /// The version.
    pub version: Version,
    /// The host that the request is for: the authority of an absolute-form target, else the Host field, which may be
    /// empty; `None` only for HTTP/1.0 without one (RFC 9112 3.2.2).
    pub host: Option<Span>,
    /// Every header field in the order sent.
    pub fields: Vec<Field>,
    /// A field may be a condition (RFC 9110 13.1): its name is as long as one, and begins with `If-`.
    pub conditional: bool,
    /// How the body ends.
    pub(super) framing: Framing,
    /// The client lets the connection stay open (RFC 9112 9.3).
    pub(super) keeps_alive: bool,
    /// The client may wait for 100 before it sends the body (RFC 9110 10.1.1).
    pub(super) expects_continue: bool,
}

impl RequestHead {
    /// Parses a complete head. Reuses the memory of the fields; whatever was here before is overwritten.
    ///
    /// A later minor version is processed as HTTP/1.1 (RFC 9110 2.5): its digit is overwritten in `head`, so that one
    /// parser sees every head.
    ///
    /// # Errors
    /// The reason for which the request is refused; then only the memory of `self` is of use.
    pub(super) fn parse(&mut self, head: &mut [u8], scan: &HeadScan, headers_max: usize) -> Result<(), Reject> {
        self.version = take_version(&mut head[scan.version_at()..])?;
        let head = &*head;
        let mut table = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut []);
        let parsed = request.parse_with_uninit_headers(head, &mut table[..headers_max.min(HEADERS_MAX)]);
        match parsed {
            Ok(httparse::Status::Complete(len)) if len == head.len() => self.take(head, &request),
            // The scanner has seen the empty line, so there is no partial head unless the grammars disagree.
            Ok(_) => Err(Reject::BadRequestLine),
            Err(error) => Err(reject_of(error)),
        }
    }

    /// Parses the head that `input` begins with, if it is there whole and nothing about it is out of the ordinary, and
    /// tells its length. `None`: the scanner has to look; it passes everything that passes here, so a head gets the
    /// same verdict whether it came whole or in pieces.
    ///
    /// # Errors
    /// As [`RequestHead::parse`].
    pub(super) fn parse_whole(&mut self, input: &[u8], limits: &Limits) -> Result<Option<usize>, Reject> {
        let mut table = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut []);
        let most = limits.headers_max.min(HEADERS_MAX);
        let Ok(httparse::Status::Complete(len)) = request.parse_with_uninit_headers(input, &mut table[..most]) else {
            return Ok(None);
        };
        let head = &input[..len];
        if len > limits.head_bytes_max || !is_ordinary(head, &request, limits) {
            return Ok(None);
        }
        self.version = match request.version {
            Some(0) => Version::Http10,
            _ => Version::Http11,
        };
        self.take(head, &request)?;
        Ok(Some(len))
    }

    /// Turns what the parser found in `head` into ranges.
    fn take(&mut self, head: &[u8], request: &httparse::Request<'_, '_>) -> Result<(), Reject> {
        let (Some(method), Some(target)) = (request.method, request.path) else {
            return Err(Reject::BadRequestLine);
        };
        self.method = Method::of(method.as_bytes());
        self.method_text = span_in(head, method.as_bytes());
        self.target = span_in(head, target.as_bytes());
        self.split_target(head)?;
        self.take_fields(head, request.headers)
    }

    /// Reads the fields that matter to the protocol while all of them become ranges.
    fn take_fields(&mut self, head: &[u8], headers: &[httparse::Header<'_>]) -> Result<(), Reject> {
        let span = |part: &[u8]| span_in(head, part);
        self.fields.clear();
        self.fields.reserve(headers.len());
        let mut framing = FramingFields::default();
        let mut connection = ConnectionOptions::default();
        let (mut host, mut host_repeated) = (None, false);
        let (mut expects_continue, mut expects_other) = (false, false);
        self.conditional = false;
        for header in headers {
            let (name, value) = (header.name.as_bytes(), header.value);
            self.fields.push(Field {
                name: span(name),
                value: span(value),
            });
            match name.len() {
                4 if name.eq_ignore_ascii_case(b"host") => host_repeated |= host.replace(span(value)).is_some(),
                6 if name.eq_ignore_ascii_case(b"expect") => {
                    // RFC 9110 10.1.1: a list; 5.6.1.2: its empty elements mean nothing.
                    for element in value.split(|&b| b == b',').map(trim).filter(|e| !e.is_empty()) {
                        let known = element.eq_ignore_ascii_case(b"100-continue");
                        expects_continue |= known;
                        expects_other |= !known;
                    }
                }
                10 if name.eq_ignore_ascii_case(b"connection") => connection.take(value),
                14 if name.eq_ignore_ascii_case(b"content-length") => framing.content_length(value),
                17 if name.eq_ignore_ascii_case(b"transfer-encoding") => framing.transfer_encoding(value),
                8 | 13 | 17 | 19 => self.conditional |= name[..3].eq_ignore_ascii_case(b"if-"),
                _ => {}
            }
        }
        if host_repeated {
            return Err(Reject::RepeatedHost);
        }
        self.take_host(head, host)?;
        self.framing = frame(self.version, &framing)?;
        let http11 = self.version == Version::Http11;
        self.keeps_alive = !connection.close && (http11 || connection.keep_alive);
        // RFC 9110 10.1.1: an expectation in an HTTP/1.0 request is ignored.
        self.expects_continue = http11 && expects_continue;
        if http11 && expects_other {
            Err(Reject::UnknownExpectation)
        } else {
            Ok(())
        }
    }

    /// RFC 9112 3.2: exactly one Host in HTTP/1.1; 3.2.2: the authority of the target takes its place.
    fn take_host(&mut self, head: &[u8], host: Option<Span>) -> Result<(), Reject> {
        match host {
            Some(host) if !is_host(host.of(head)) => return Err(Reject::BadHost),
            None if self.version == Version::Http11 => return Err(Reject::MissingHost),
            _ => {}
        }
        self.host = self.authority.or(host);
        Ok(())
    }

    /// Tells the forms of a target apart (RFC 9112 3.2) and splits it into path and query.
    fn split_target(&mut self, head: &[u8]) -> Result<(), Reject> {
        let target = self.target.of(head);
        self.authority = None;
        self.query = None;
        self.path = self.target;
        match target {
            _ if self.method_text.of(head) == b"CONNECT" => return Err(Reject::ConnectMethod),
            [b'/', ..] => {}
            b"*" if self.method == Method::Options => return Ok(()),
            _ => {
                let authority = absolute_authority(self.target, head).ok_or(Reject::BadTarget)?;
                if !is_authority(authority.of(head)) {
                    return Err(Reject::BadHost);
                }
                self.authority = Some(authority);
                self.path.start = authority.end;
            }
        }
        let rest = self.path.of(head);
        // Most targets hold none of the three: one look for all of them.
        let Some(special) = memchr::memchr3(b'?', b'%', b'#', rest) else {
            return Ok(());
        };
        judge_escapes(&rest[special..])?;
        if let Some(mark) = memchr::memchr(b'?', &rest[special..]) {
            let mark = self.path.start + (special + mark) as u32;
            self.query = Some(Span {
                start: mark + 1,
                end: self.path.end,
            });
            self.path.end = mark;
        }
        Ok(())
    }
}

/// Where `part`, a slice of `head`, lies in it.
fn span_in(head: &[u8], part: &[u8]) -> Span {
    let start = part.as_ptr() as usize - head.as_ptr() as usize;
    Span {
        start: start as u32,
        end: (start + part.len()) as u32,
    }
}

/// True when the scanner would let this parsed head pass: it begins at its first byte, keeps the limits of the request
/// line, and every line of it ends in CRLF (the parser takes a bare LF too).
fn is_ordinary(head: &[u8], request: &httparse::Request<'_, '_>, limits: &Limits) -> bool {
    let (Some(method), Some(target)) = (request.method, request.path) else {
        return false;
    };
    if span_in(head, method.as_bytes()).start != 0
        || method.len() > METHOD_BYTES_MAX
        || target.len() > limits.target_bytes_max
    {
        return false;
    }
    let mut line_end = span_in(head, target.as_bytes()).end as usize + " HTTP/1.1".len();
    for header in request.headers.iter() {
        if !head[line_end..].starts_with(b"\r\n") {
            return false;
        }
        line_end = span_in(head, header.value).end as usize;
        while let [b' ' | b'\t', ..] = head[line_end..] {
            line_end += 1;
        }
    }
    head[line_end..] == *b"\r\n\r\n"
}

/// What Connection says (RFC 9110 7.6.1); options that mean nothing here are ignored.
#[derive(Default)]
struct ConnectionOptions {
    close: bool,
    keep_alive: bool,
}

impl ConnectionOptions {
    fn take(&mut self, value: &[u8]) {
        for option in value.split(|&b| b == b',').map(trim) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }
}

/// The version at the front of `rest`. Every minor version above 1 counts as 1.1 and is rewritten to it.
fn take_version(rest: &mut [u8]) -> Result<Version, Reject> {
    match rest {
        [
            b'H',
            b'T',
            b'T',
            b'P',
            b'/',
            b'1',
            b'.',
            minor @ b'0'..=b'9',
            b'\r',
            b'\n',
            ..,
        ] => {
            if *minor == b'0' {
                return Ok(Version::Http10);
            }
            *minor = b'1';
            Ok(Version::Http11)
        }
        [
            b'H',
            b'T',
            b'T',
            b'P',
            b'/',
            b'0'..=b'9',
            b'.',
            b'0'..=b'9',
            b'\r',
            b'\n',
            ..,
        ] => Err(Reject::UnsupportedVersion),
        _ => Err(Reject::BadRequestLine),
    }
}

/// The authority of an absolute-form target with the scheme http or https, in any case.
fn absolute_authority(target: Span, head: &[u8]) -> Option<Span> {
    let text = target.of(head);
    let skipped = [&b"http://"[..], b"https://"]
        .into_iter()
        .find(|scheme| {
            text.get(..scheme.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        })?
        .len();
    let rest = &text[skipped..];
    let len = rest
        .iter()
        .position(|b| matches!(b, b'/' | b'?' | b'#'))
        .unwrap_or(rest.len());
    let start = target.start + skipped as u32;
    Some(Span {
        start,
        end: start + len as u32,
    })
}

/// What the parser's error means to the peer.
fn reject_of(error: httparse::Error) -> Reject {
    match error {
        httparse::Error::HeaderName => Reject::BadFieldName,
        httparse::Error::HeaderValue => Reject::BadFieldValue,
        httparse::Error::NewLine => Reject::BareCarriageReturn,
        httparse::Error::TooManyHeaders => Reject::TooManyFields,
        httparse::Error::Token | httparse::Error::Status | httparse::Error::Version => Reject::BadRequestLine,
    }
}
