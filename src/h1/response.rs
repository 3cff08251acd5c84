//! The draft of a response head: a status and fields, kept as the lines that will be sent.
//!
//! Every name and value is checked when it is set, so encoding cannot fail and no handler can split a response. What
//! frames the message (RFC 9112 6) belongs to the encoder and is refused here.

use std::fmt;

use super::scan::{is_field_value, is_token, trim};

/// Most bytes that the fields of one response head may take, line ends included.
pub const RESPONSE_HEAD_BYTES_MAX: usize = 64 * 1024;

/// What a handler did wrong with a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseError {
    /// The field name is not a token (RFC 9110 5.1).
    NotAToken,
    /// The field value contains CR, LF, NUL or another control byte (RFC 9110 5.5).
    BadValue,
    /// The status is not in 200..=599.
    BadStatus,
    /// The field belongs to the server; the name is given in its usual spelling.
    FramingField(&'static str),
    /// The response head has been sent.
    AlreadySent,
    /// No request is live.
    NotLive,
    /// The fields take more than [`RESPONSE_HEAD_BYTES_MAX`].
    TooLarge,
}

impl fmt::Display for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResponseError::NotAToken => f.write_str("header name is not a token (letters, digits and !#$%&'*+-.^_`|~)"),
            ResponseError::BadValue => f.write_str("header value contains a line break or another control character"),
            ResponseError::BadStatus => f.write_str("status must be an integer from 200 to 599"),
            ResponseError::FramingField(name) => write!(f, "header {name} is set by the server"),
            ResponseError::AlreadySent => f.write_str("the response has already been sent"),
            ResponseError::NotLive => f.write_str("the request has ended"),
            ResponseError::TooLarge => {
                write!(f, "response headers take more than {RESPONSE_HEAD_BYTES_MAX} bytes")
            }
        }
    }
}

impl std::error::Error for ResponseError {}

/// Status and fields of a response that has not been sent. Starts as 200 without fields.
#[derive(Debug)]
pub struct ResponseHead {
    /// `name: value CRLF`, one after the other.
    lines: Vec<u8>,
    status: u16,
    has_date: bool,
    /// An `ETag` or a `Last-Modified` has been set, and perhaps removed since.
    validators: bool,
    close: bool,
}

impl Default for ResponseHead {
    fn default() -> Self {
        Self {
            lines: Vec::new(),
            status: 200,
            has_date: false,
            validators: false,
            close: false,
        }
    }
}

impl ResponseHead {
    /// The status code; 200 unless set.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Sets the status code.
    ///
    /// # Errors
    /// [`ResponseError::BadStatus`] outside 200..=599: interim responses (1xx) are not a handler's to send.
    pub fn set_status(&mut self, status: u16) -> Result<(), ResponseError> {
        if !(200..=599).contains(&status) {
            return Err(ResponseError::BadStatus);
        }
        self.status = status;
        Ok(())
    }

    /// Sets a field: every earlier one of that name is replaced. `Connection: close` ends the connection after this
    /// response; a `Date` replaces the server's.
    ///
    /// # Errors
    /// [`ResponseError::NotAToken`], [`ResponseError::BadValue`], [`ResponseError::FramingField`],
    /// [`ResponseError::TooLarge`]; then nothing has changed.
    pub fn set(&mut self, name: &[u8], value: &[u8]) -> Result<(), ResponseError> {
        let value = trim(value);
        match self.check(name, value)? {
            Kind::Connection => self.close = true,
            Kind::Plain => self.replace(name, value)?,
            Kind::Validator => {
                self.replace(name, value)?;
                self.validators = true;
            }
            Kind::Date => {
                self.replace(name, value)?;
                self.has_date = true;
            }
        }
        Ok(())
    }

    /// Adds a field and keeps earlier ones of that name.
    ///
    /// # Errors
    /// As [`ResponseHead::set`].
    pub fn append(&mut self, name: &[u8], value: &[u8]) -> Result<(), ResponseError> {
        let value = trim(value);
        match self.check(name, value)? {
            Kind::Connection => self.close = true,
            // There is one Date (RFC 9110 6.6.1).
            Kind::Date => return self.set(name, value),
            kind @ (Kind::Plain | Kind::Validator) => {
                self.check_room(0, name, value)?;
                self.push(name, value);
                self.validators |= kind == Kind::Validator;
            }
        }
        Ok(())
    }

    /// Bytes that the fields take up when encoded.
    pub fn encoded_len(&self) -> usize {
        self.lines.len()
    }

    /// The first value of that name.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        if self.close && name.eq_ignore_ascii_case(b"connection") {
            return Some(b"close");
        }
        self.fields()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// Every value of that name, in the order added.
    pub fn get_all<'a>(&'a self, name: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.fields()
            .filter(move |(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// Every field, in the order added. `Connection` is not among them.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        Lines(&self.lines).map(|line| (line.name, line.value))
    }

    /// True when a field of that name is set.
    pub fn has(&self, name: &[u8]) -> bool {
        self.get(name).is_some()
    }

    /// Removes every field of that name; false when there was none.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        if name.eq_ignore_ascii_case(b"connection") {
            return std::mem::take(&mut self.close);
        }
        let mut kept = 0;
        let mut at = 0;
        while let Some(line) = Lines(&self.lines[at..]).next() {
            let (keep, len) = (!line.name.eq_ignore_ascii_case(name), line.len);
            if keep {
                self.lines.copy_within(at..at + len, kept);
                kept += len;
            }
            at += len;
        }
        self.lines.truncate(kept);
        if name.eq_ignore_ascii_case(b"date") {
            self.has_date = false;
        }
        kept < at
    }

    /// Sets `Content-Type`.
    ///
    /// # Errors
    /// As [`ResponseHead::set`].
    pub fn set_content_type(&mut self, value: &[u8]) -> Result<(), ResponseError> {
        // Nearly every response sets it, so what is known of the name is not asked again.
        let value = trim(value);
        if !is_field_value(value) {
            return Err(ResponseError::BadValue);
        }
        self.replace(b"Content-Type", value)
    }

    /// Sets `Content-Type` unless the handler has set one. `value` is a media type as it is sent, known to be sound.
    pub fn set_default_content_type(&mut self, value: &'static [u8]) {
        debug_assert!(is_field_value(value) && trim(value).len() == value.len());
        let name = b"Content-Type";
        let free = self.lines.is_empty() || !self.has(name);
        if free && self.check_room(0, name, value).is_ok() {
            self.push(name, value);
        }
    }

    /// Adds a weak entity tag (RFC 9110 8.8.3), given without `W/` and quotation marks, to a response that has none.
    /// Nearly every response gets one, so it costs no more than copying a line. Without effect when there is no room.
    pub fn add_weak_etag(&mut self, tag: &[u8; 16]) {
        debug_assert!(!self.has(b"etag") && is_field_value(tag));
        let mut line = *b"ETag: W/\"................\"\r\n";
        line[9..25].copy_from_slice(tag);
        if self.lines.len() + line.len() <= RESPONSE_HEAD_BYTES_MAX {
            self.lines.extend_from_slice(&line);
        }
    }

    /// False when neither `ETag` nor `Last-Modified` has been set.
    #[inline]
    pub fn may_have_validators(&self) -> bool {
        self.validators
    }

    /// Back to 200 without fields. Lines of usual size keep their memory for the next response.
    pub fn reset(&mut self) {
        const KEPT_BYTES_MAX: usize = 4096;
        if self.lines.capacity() > KEPT_BYTES_MAX {
            self.lines = Vec::new();
        }
        self.lines.clear();
        self.status = 200;
        self.has_date = false;
        self.validators = false;
        self.close = false;
    }

    /// The field lines as they are sent.
    pub(super) fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// True when the handler has set a Date of its own.
    pub(super) fn has_date(&self) -> bool {
        self.has_date
    }

    /// True when the handler wants the connection to end.
    pub(super) fn closes(&self) -> bool {
        self.close
    }

    /// Gives memory back that an idle connection should not hold.
    pub(super) fn release(&mut self) {
        const IDLE_BYTES_MAX: usize = 256;
        self.reset();
        self.lines.shrink_to(IDLE_BYTES_MAX);
    }

    fn check(&self, name: &[u8], value: &[u8]) -> Result<Kind, ResponseError> {
        if !is_token(name) {
            return Err(ResponseError::NotAToken);
        }
        if !is_field_value(value) {
            return Err(ResponseError::BadValue);
        }
        kind_of(name, value)
    }

    fn replace(&mut self, name: &[u8], value: &[u8]) -> Result<(), ResponseError> {
        let old = self.bytes_of(name);
        self.check_room(old, name, value)?;
        if old > 0 {
            self.remove(name);
        }
        self.push(name, value);
        Ok(())
    }

    fn check_room(&self, freed: usize, name: &[u8], value: &[u8]) -> Result<(), ResponseError> {
        let room = RESPONSE_HEAD_BYTES_MAX - (self.lines.len() - freed);
        let fits = name
            .len()
            .checked_add(value.len())
            .and_then(|n| n.checked_add(4))
            .is_some_and(|n| n <= room);
        if fits { Ok(()) } else { Err(ResponseError::TooLarge) }
    }

    fn bytes_of(&self, name: &[u8]) -> usize {
        Lines(&self.lines)
            .filter(|line| line.name.eq_ignore_ascii_case(name))
            .map(|line| line.len)
            .sum()
    }

    fn push(&mut self, name: &[u8], value: &[u8]) {
        self.lines.reserve(name.len() + value.len() + 4);
        self.lines.extend_from_slice(name);
        self.lines.extend_from_slice(b": ");
        self.lines.extend_from_slice(value);
        self.lines.extend_from_slice(b"\r\n");
    }
}

#[derive(PartialEq, Eq)]
enum Kind {
    Plain,
    /// What a condition of a request may be about (RFC 9110 8.8).
    Validator,
    Date,
    Connection,
}

/// Which of the fields that mean something to the encoder this is.
fn kind_of(name: &[u8], value: &[u8]) -> Result<Kind, ResponseError> {
    const FRAMING: [&str; 5] = [
        "Content-Length",
        "Transfer-Encoding",
        "Keep-Alive",
        "Upgrade",
        "Trailer",
    ];
    match name.len() {
        4 if name.eq_ignore_ascii_case(b"date") => return Ok(Kind::Date),
        4 if name.eq_ignore_ascii_case(b"etag") => return Ok(Kind::Validator),
        13 if name.eq_ignore_ascii_case(b"last-modified") => return Ok(Kind::Validator),
        _ => {}
    }
    if name.eq_ignore_ascii_case(b"connection") {
        let close = value.eq_ignore_ascii_case(b"close");
        return if close {
            Ok(Kind::Connection)
        } else {
            Err(ResponseError::FramingField("Connection"))
        };
    }
    match FRAMING
        .iter()
        .find(|framing| name.eq_ignore_ascii_case(framing.as_bytes()))
    {
        Some(framing) => Err(ResponseError::FramingField(framing)),
        None => Ok(Kind::Plain),
    }
}

struct Line<'a> {
    name: &'a [u8],
    value: &'a [u8],
    len: usize,
}

/// Walks encoded lines. Values hold no CR or LF and names no colon, so the separators are unambiguous.
struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let end = memchr::memchr(b'\r', self.0)?;
        let colon = memchr::memchr(b':', self.0)?;
        let line = Line {
            name: &self.0[..colon],
            value: &self.0[colon + 2..end],
            len: end + 2,
        };
        self.0 = &self.0[end + 2..];
        Some(line)
    }
}

/// The reason phrase of a status code (RFC 9110 15); empty for one that is not registered.
pub fn reason_phrase(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        207 => "Multi-Status",
        208 => "Already Reported",
        226 => "IM Used",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        305 => "Use Proxy",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        506 => "Variant Also Negotiates",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        511 => "Network Authentication Required",
        _ => "",
    }
}
