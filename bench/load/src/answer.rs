//! Judges what a server answers: every byte of every response.
//!
//! The first response of a kind is parsed and checked field by field, its JSON as JSON. It then is the template of those
//! that follow: they must equal it in every byte but the value of Date, which must be a date. What does not equal it is
//! parsed again. It must never count a response that was cut short, nor pass over a byte that follows one.

use std::ops::Range;

/// What `/big` answers: this many bytes of [`PATTERN`] again and again.
pub const BIG_BYTES: usize = 8 * 1024 * 1024;
const PATTERN: &[u8; 8] = b"fastslua";
/// No head of these routes is longer; more without an end is no response.
const HEAD_BYTES_MAX: usize = 4096;
const DATE_BYTES: usize = 29;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// `OK` as text.
    Health,
    /// The unit of that number as JSON: a client that gets another's answer notices.
    Unit(u32),
    /// [`BIG_BYTES`] of a pattern.
    Big,
}

/// Why a response is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not a response at all.
    Malformed,
    Status(u16),
    /// No or a wrong Content-Length, Content-Type or Date.
    Field,
    Body,
}

impl Fault {
    /// The kind under which it is counted.
    pub fn name(&self) -> String {
        match self {
            Self::Malformed => "malformed".to_owned(),
            Self::Status(status) => format!("status_{status}"),
            Self::Field => "wrong_field".to_owned(),
            Self::Body => "wrong_body".to_owned(),
        }
    }
}

/// What a receive brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// Whole and right responses.
    pub whole: u32,
    /// The last of them announced the end of the connection.
    pub close: bool,
}

struct Template {
    bytes: Vec<u8>,
    date: Option<Range<usize>>,
    close: bool,
}

/// The head of a response that was found right.
struct Head {
    head_bytes: usize,
    content_bytes: usize,
    date: Option<Range<usize>>,
    close: bool,
}

/// Reads the responses of one connection after another.
pub struct Reader {
    content: Content,
    input: Vec<u8>,
    template: Option<Template>,
    /// Of a long body: how much is here, and whether the head said close.
    long: Option<(usize, bool)>,
}

impl Reader {
    pub fn new(content: Content) -> Self {
        Self {
            content,
            input: Vec::new(),
            template: None,
            long: None,
        }
    }

    /// Forgets what came of an unfinished response, for the next connection.
    pub fn reset(&mut self) {
        self.input.clear();
        self.long = None;
    }

    /// Whether part of a response is here.
    pub fn started(&self) -> bool {
        !self.input.is_empty() || self.long.is_some()
    }

    /// How much of a long body is here.
    pub fn long_bytes(&self) -> usize {
        self.long.map_or(0, |(bytes, _)| bytes)
    }

    /// Takes what was received; tells how many responses became whole.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Fed, Fault> {
        if self.content == Content::Big {
            return self.feed_long(bytes);
        }
        let mut fed = Fed::default();
        let mut at = 0;
        if self.input.is_empty()
            && let Some(template) = &mut self.template
        {
            while let Some(length) = template.matches(&bytes[at..]) {
                at += length;
                fed = Fed {
                    whole: fed.whole + 1,
                    close: template.close,
                };
            }
        }
        if at < bytes.len() {
            self.input.extend_from_slice(&bytes[at..]);
            self.parse_input(&mut fed)?;
        }
        Ok(fed)
    }

    fn parse_input(&mut self, fed: &mut Fed) -> Result<(), Fault> {
        while let Some(head) = read_head(&self.input, self.content)? {
            let whole = head.head_bytes + head.content_bytes;
            if self.input.len() < whole {
                break;
            }
            check_body(&self.input[head.head_bytes..whole], self.content)?;
            *fed = Fed {
                whole: fed.whole + 1,
                close: head.close,
            };
            self.template = Some(Template {
                bytes: self.input.drain(..whole).collect(),
                date: head.date,
                close: head.close,
            });
        }
        Ok(())
    }

    /// A body too long to gather: compared with the pattern as it comes.
    fn feed_long(&mut self, bytes: &[u8]) -> Result<Fed, Fault> {
        if let Some((seen, close)) = &mut self.long {
            check_pattern(bytes, *seen)?;
            *seen += bytes.len();
            if *seen < BIG_BYTES {
                return Ok(Fed::default());
            }
            let fed = Fed {
                whole: 1,
                close: *close,
            };
            return if *seen == BIG_BYTES {
                self.reset();
                Ok(fed)
            } else {
                Err(Fault::Body)
            };
        }
        self.input.extend_from_slice(bytes);
        let Some(head) = read_head(&self.input, self.content)? else {
            return Ok(Fed::default());
        };
        let body = self.input.split_off(head.head_bytes);
        self.input.clear();
        self.long = Some((0, head.close));
        self.feed_long(&body)
    }
}

impl Template {
    /// The length of the response that `bytes` starts with, where it equals this one.
    fn matches(&mut self, bytes: &[u8]) -> Option<usize> {
        let length = self.bytes.len();
        let given = bytes.get(..length)?;
        if given == self.bytes {
            return Some(length);
        }
        let date = self.date.clone()?;
        let same = given[..date.start] == self.bytes[..date.start] && given[date.end..] == self.bytes[date.end..];
        if !same || !is_date(&given[date.clone()]) {
            return None;
        }
        self.bytes[date.clone()].copy_from_slice(&given[date]);
        Some(length)
    }
}

/// The head at the start of `bytes`, `None` while it is not whole.
fn read_head(bytes: &[u8], content: Content) -> Result<Option<Head>, Fault> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut fields = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut fields);
    let head_bytes = match response.parse(bytes) {
        Ok(httparse::Status::Complete(count)) => count,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Ok(None),
        _ => return Err(Fault::Malformed),
    };
    let status = response.code.unwrap_or_default();
    if status != 200 {
        return Err(Fault::Status(status));
    }
    let only = |name: &str| -> Result<Option<&[u8]>, Fault> {
        let mut values = response
            .headers
            .iter()
            .filter(|field| field.name.eq_ignore_ascii_case(name));
        let first = values.next().map(|field| field.value);
        if values.next().is_some() {
            Err(Fault::Field)
        } else {
            Ok(first)
        }
    };
    let length = only("content-length")?.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
    let media_type = only("content-type")?.unwrap_or_default();
    if !media_type.starts_with(content.media_type()) || only("transfer-encoding")?.is_some() {
        return Err(Fault::Field);
    }
    let date = match only("date")? {
        Some(value) if is_date(value) => {
            let start = value.as_ptr() as usize - bytes.as_ptr() as usize;
            Some(start..start + DATE_BYTES)
        }
        Some(_) => return Err(Fault::Field),
        None => None,
    };
    let close = only("connection")?.is_some_and(|value| value.eq_ignore_ascii_case(b"close"));
    let content_bytes = length.ok_or(Fault::Field)?;
    if content == Content::Big && content_bytes != BIG_BYTES {
        return Err(Fault::Body);
    }
    Ok(Some(Head {
        head_bytes,
        content_bytes,
        date,
        close,
    }))
}

impl Content {
    fn media_type(self) -> &'static [u8] {
        match self {
            Self::Health => b"text/plain",
            Self::Unit(_) => b"application/json",
            Self::Big => b"application/octet-stream",
        }
    }
}

fn check_body(body: &[u8], content: Content) -> Result<(), Fault> {
    let right = match content {
        Content::Health => body == b"OK",
        Content::Unit(id) => {
            let value: Option<serde_json::Value> = serde_json::from_slice(body).ok();
            value == Some(serde_json::json!({ "id": id.to_string(), "alive": true }))
        }
        Content::Big => false,
    };
    if right { Ok(()) } else { Err(Fault::Body) }
}

/// `bytes` against the pattern from `offset` on.
fn check_pattern(bytes: &[u8], offset: usize) -> Result<(), Fault> {
    let mut turned = *PATTERN;
    turned.rotate_left(offset % PATTERN.len());
    let chunks = bytes.chunks_exact(PATTERN.len());
    let rest = chunks.remainder();
    let mut right = rest == &turned[..rest.len()];
    for chunk in chunks {
        right &= chunk == turned;
    }
    if right { Ok(()) } else { Err(Fault::Body) }
}

/// The shape of an IMF-fixdate (RFC 9110 section 5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`.
fn is_date(text: &[u8]) -> bool {
    let shape = b"Aaa, 00 Aaa 0000 00:00:00 GMT";
    text.len() == shape.len()
        && text
            .iter()
            .zip(shape)
            .enumerate()
            .all(|(index, (&byte, &mark))| match mark {
                b'0' => byte.is_ascii_digit(),
                b'A' if index < 26 => byte.is_ascii_uppercase(),
                b'a' => byte.is_ascii_lowercase(),
                other => byte == other,
            })
}

#[cfg(test)]
mod tests {
    use super::{BIG_BYTES, Content, Fault, Fed, PATTERN, Reader, is_date};

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    fn health(date: &str, body: &str) -> Vec<u8> {
        let fields = "Content-Type: text/plain\r\nContent-Length: 2";
        format!("HTTP/1.1 200 OK\r\nDate: {date}\r\n{fields}\r\n\r\n{body}").into_bytes()
    }

    fn one() -> Result<Fed, Fault> {
        Ok(Fed { whole: 1, close: false })
    }

    #[test]
    fn a_date_has_its_shape() {
        assert!(is_date(DATE.as_bytes()));
        assert!(!is_date(b"Sun, 06 Nov 1994 08:49:37 UTC"));
        assert!(!is_date(b"Sun, 6 Nov 1994 08:49:37 GMT"));
    }

    #[test]
    fn only_the_date_may_change() {
        let mut reader = Reader::new(Content::Health);
        assert_eq!(reader.feed(&health(DATE, "OK")), one());
        assert_eq!(reader.feed(&health("Mon, 07 Nov 1994 08:49:38 GMT", "OK")), one());
        assert_eq!(
            reader.feed(&health("Xon, 07 Nov 1994 08:49:3 GMT", "OK")),
            Err(Fault::Field)
        );
        let mut reader = Reader::new(Content::Health);
        assert_eq!(reader.feed(&health(DATE, "OK")), one());
        assert_eq!(reader.feed(&health(DATE, "NO")), Err(Fault::Body));
    }

    #[test]
    fn responses_are_counted_at_every_cut() {
        let text = [health(DATE, "OK"), health(DATE, "OK")].concat();
        for cut in 0..=text.len() {
            let mut reader = Reader::new(Content::Health);
            let whole = reader.feed(&text[..cut]).unwrap().whole + reader.feed(&text[cut..]).unwrap().whole;
            assert_eq!((whole, reader.started()), (2, false), "cut at {cut}");
        }
    }

    #[test]
    fn bytes_after_a_response_are_no_response() {
        let mut reader = Reader::new(Content::Health);
        assert_eq!(reader.feed(&health(DATE, "OK")), one());
        assert_eq!(reader.feed(&health(DATE, "OKH")), one());
        assert!(reader.started());
        assert_eq!(reader.feed(b"x"), Err(Fault::Malformed));
    }

    #[test]
    fn a_unit_is_read_as_json_and_has_its_number() {
        let answer = |body: &str| {
            let fields = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
            format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n{body}").into_bytes()
        };
        for body in [r#"{"id":"7","alive":true}"#, r#"{ "alive": true, "id": "7" }"#] {
            assert_eq!(Reader::new(Content::Unit(7)).feed(&answer(body)), one());
            assert_eq!(Reader::new(Content::Unit(8)).feed(&answer(body)), Err(Fault::Body));
        }
    }

    #[test]
    fn a_long_body_is_compared_at_every_offset() {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {BIG_BYTES}\r\n\r\n");
        let body = PATTERN.repeat(BIG_BYTES / PATTERN.len());
        let mut reader = Reader::new(Content::Big);
        assert_eq!(reader.feed(head.as_bytes()), Ok(Fed::default()));
        let mut whole = 0;
        for chunk in body.chunks(10_001) {
            whole += reader.feed(chunk).unwrap().whole;
        }
        assert_eq!(whole, 1);
        assert_eq!(reader.feed(head.as_bytes()), Ok(Fed::default()));
        assert_eq!(reader.feed(b"fastsluA"), Err(Fault::Body));
    }
}
