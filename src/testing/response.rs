//! A reader of HTTP/1.1 responses for the client's side, written from RFC 9112 and stricter than any client.
//!
//! It shares nothing with the encoder under test. Whatever a careful recipient could object to is an error: a bare CR or
//! LF, a field it may not carry, a framing that leaves two readings, a byte behind the last response.

use std::collections::VecDeque;

/// One message from the server, its body de-chunked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub fields: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    /// The connection ends behind this response (RFC 9112 section 9.6, or its body was delimited by the end).
    pub close: bool,
}

impl Response {
    /// The first field of that name, compared without case.
    pub fn field<'a>(&'a self, name: &'a str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields
            .iter()
            .filter(move |field| field.0.eq_ignore_ascii_case(name))
            .map(|field| field.1.as_slice())
    }
}

/// How the body of the response being read ends (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(usize),
    ChunkSize,
    ChunkData(usize),
    Trailer,
    UntilEnd,
}

/// Reads a sequence of responses from bytes that come in any pieces. An error is final.
#[derive(Debug, Default)]
pub struct ResponseReader {
    input: Vec<u8>,
    /// Start of what is not read yet in `input`.
    at: usize,
    /// For each request sent and not answered: was it HEAD?
    asked: VecDeque<bool>,
    reading: Option<(Response, Framing)>,
    done: VecDeque<Response>,
    closed: bool,
}

impl ResponseReader {
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells of a request that was sent: the next final response not spoken for answers it. A response that nothing
    /// asked for (408, 503 …) is read as one to GET.
    pub fn expect(&mut self, head: bool) {
        self.asked.push_back(head);
    }

    /// Takes bytes from the connection.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.input.extend_from_slice(bytes);
        while self.advance()? {}
        self.input.drain(..std::mem::take(&mut self.at));
        Ok(())
    }

    /// The server ended the connection in order.
    pub fn end(&mut self) -> Result<(), String> {
        match self.reading.take() {
            Some((response, Framing::UntilEnd)) => self.complete(response),
            Some((response, framing)) => return Err(format!("ended inside the body ({framing:?}) of {response:?}")),
            None if self.input.is_empty() => {}
            None => {
                return Err(format!(
                    "ended inside a head: {:?}",
                    String::from_utf8_lossy(&self.input)
                ));
            }
        }
        Ok(())
    }

    /// The next whole message, interim ones (1xx) among them.
    pub fn next_response(&mut self) -> Option<Response> {
        self.done.pop_front()
    }

    /// A part of a response has come, and not the whole.
    pub fn inside(&self) -> bool {
        self.reading.is_some() || !self.input.is_empty()
    }

    /// Reads one step further; false when more bytes are needed.
    fn advance(&mut self) -> Result<bool, String> {
        let rest = self.input.len() - self.at;
        let Some((_, framing)) = &mut self.reading else {
            return self.advance_head();
        };
        let (next, taken) = match *framing {
            Framing::Length(left) => (Framing::Length(left - left.min(rest)), left.min(rest)),
            Framing::UntilEnd => (Framing::UntilEnd, rest),
            Framing::ChunkData(left) if left > 0 => (Framing::ChunkData(left - left.min(rest)), left.min(rest)),
            Framing::ChunkData(_) | Framing::ChunkSize | Framing::Trailer => return self.advance_chunk_line(),
        };
        *framing = next;
        let bytes = self.input[self.at..self.at + taken].to_vec();
        self.at += taken;
        let (mut response, framing) = self.reading.take().expect("matched above");
        response.body.extend(bytes);
        if framing == Framing::Length(0) {
            self.complete(response);
            return Ok(true);
        }
        self.reading = Some((response, framing));
        Ok(taken > 0)
    }

    /// Chunk sizes, the line end behind a chunk, trailers (RFC 9112 section 7.1). Extensions are no business of ours to send.
    fn advance_chunk_line(&mut self) -> Result<bool, String> {
        let Some(line) = self.line()? else { return Ok(false) };
        let (response, framing) = self.reading.take().expect("called while reading");
        let next = match framing {
            Framing::ChunkData(0) if line.is_empty() => Framing::ChunkSize,
            Framing::ChunkSize => match chunk_size(&line)? {
                0 => Framing::Trailer,
                size => Framing::ChunkData(size),
            },
            Framing::Trailer if line.is_empty() => {
                self.complete(response);
                return Ok(true);
            }
            _ => return Err(format!("{line:?} where {framing:?} was due")),
        };
        self.reading = Some((response, next));
        Ok(true)
    }

    /// The next line without its CRLF.
    fn line(&mut self) -> Result<Option<Vec<u8>>, String> {
        let rest = &self.input[self.at..];
        let Some(end) = rest.iter().position(|&byte| byte == b'\n') else {
            return Ok(None);
        };
        let line = rest[..end]
            .strip_suffix(b"\r")
            .ok_or("a line that ends in a bare LF")?
            .to_vec();
        if line.contains(&b'\r') {
            return Err("a bare CR inside a line".into());
        }
        self.at += end + 1;
        Ok(Some(line))
    }

    fn advance_head(&mut self) -> Result<bool, String> {
        let rest = &self.input[self.at..];
        if self.closed && !rest.is_empty() {
            return Err(format!(
                "bytes behind the last response: {:?}",
                String::from_utf8_lossy(rest)
            ));
        }
        if !rest.windows(4).any(|window| window == b"\r\n\r\n") {
            return Ok(false);
        }
        let first = self.line()?.expect("a whole head lies there");
        let status = status_line(&first)?;
        let mut fields = Vec::new();
        loop {
            let line = self.line()?.expect("a whole head lies there");
            if line.is_empty() {
                break;
            }
            fields.push(field_line(&line)?);
        }
        let close = fields
            .iter()
            .any(|(name, value)| name.eq_ignore_ascii_case("connection") && lists(value, "close"));
        let response = Response {
            status,
            fields,
            body: Vec::new(),
            close,
        };
        let head = status >= 200 && self.asked.pop_front().unwrap_or(false);
        match framing(&response, head)? {
            Framing::Length(0) => self.complete(response),
            framing => self.reading = Some((response, framing)),
        }
        Ok(true)
    }

    fn complete(&mut self, mut response: Response) {
        // A body delimited by the end of the connection leaves nothing to come.
        let delimited = response.field("content-length").is_some() || response.field("transfer-encoding").is_some();
        response.close |= !delimited && !response.body.is_empty();
        self.closed |= response.close;
        self.done.push_back(response);
    }
}

/// RFC 9112 section 4: `HTTP/1.1 SP 3DIGIT SP [ reason-phrase ]`.
fn status_line(line: &[u8]) -> Result<u16, String> {
    let fault = || format!("no status line: {:?}", String::from_utf8_lossy(line));
    let rest = line.strip_prefix(b"HTTP/1.1 ").ok_or_else(fault)?;
    let (digits, reason) = rest.split_at_checked(3).ok_or_else(fault)?;
    let reason = reason.strip_prefix(b" ").ok_or_else(fault)?;
    if !digits.iter().all(u8::is_ascii_digit) || !reason.iter().all(|&byte| byte == b' ' || byte.is_ascii_graphic()) {
        return Err(fault());
    }
    let status = digits
        .iter()
        .fold(0, |number, digit| number * 10 + u16::from(digit - b'0'));
    if (100..=599).contains(&status) {
        Ok(status)
    } else {
        Err(fault())
    }
}

/// RFC 9112 section 5: `field-name ":" OWS field-value OWS`, no white space before the colon, no control bytes.
fn field_line(line: &[u8]) -> Result<(String, Vec<u8>), String> {
    let fault = || format!("no field line: {:?}", String::from_utf8_lossy(line));
    let colon = line.iter().position(|&byte| byte == b':').ok_or_else(fault)?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    if name.is_empty() || !name.iter().all(token) {
        return Err(fault());
    }
    if value.iter().any(|&byte| byte == 0x7f || byte < 0x20 && byte != b'\t') {
        return Err(fault());
    }
    Ok((String::from_utf8_lossy(name).into_owned(), value.to_vec()))
}

/// RFC 9112 section 6.3, refusing what a sender must not send (RFC 9110 sections 8.6, 15.3.5; RFC 9112 section 6.1).
fn framing(response: &Response, head: bool) -> Result<Framing, String> {
    let fault = |what: &str| Err(format!("{what}: {response:?}"));
    let lengths: Vec<&[u8]> = response.all("content-length").collect();
    let codings: Vec<&[u8]> = response.all("transfer-encoding").collect();
    if lengths.len() > 1 || codings.len() > 1 || !lengths.is_empty() && !codings.is_empty() {
        return fault("framing with two readings");
    }
    let bodiless = response.status < 200 || response.status == 204;
    if bodiless && (!lengths.is_empty() || !codings.is_empty()) {
        return fault("a framing field on a response that has no body");
    }
    if response.status >= 200 {
        match response.all("date").collect::<Vec<_>>()[..] {
            [date] if is_date(date) => {}
            _ => return fault("not one Date"),
        }
    }
    let length = match lengths.first() {
        Some(digits) => Some(decimal(digits).ok_or_else(|| format!("bad Content-Length: {response:?}"))?),
        None => None,
    };
    if codings.first().is_some_and(|coding| *coding != b"chunked") {
        return fault("an unknown coding");
    }
    if head || bodiless || response.status == 304 {
        return Ok(Framing::Length(0));
    }
    match (codings.is_empty(), length) {
        (false, _) => Ok(Framing::ChunkSize),
        (true, Some(length)) => Ok(Framing::Length(length)),
        (true, None) if response.close => Ok(Framing::UntilEnd),
        (true, None) => fault("a body without an end on a connection that stays open"),
    }
}

fn lists(value: &[u8], option: &str) -> bool {
    value
        .split(|&byte| byte == b',')
        .any(|item| item.trim_ascii().eq_ignore_ascii_case(option.as_bytes()))
}

fn decimal(digits: &[u8]) -> Option<usize> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    plain.then(|| std::str::from_utf8(digits).ok()?.parse().ok())?
}

fn chunk_size(line: &[u8]) -> Result<usize, String> {
    let fault = || format!("no chunk size: {:?}", String::from_utf8_lossy(line));
    if line.is_empty() || !line.iter().all(u8::is_ascii_hexdigit) {
        return Err(fault());
    }
    let text = std::str::from_utf8(line).map_err(|_| fault())?;
    usize::from_str_radix(text, 16).map_err(|_| fault())
}

/// The shape of an IMF-fixdate (RFC 9110 section 5.6.7): `Sun, 09 Sep 2001 01:46:40 GMT`.
fn is_date(value: &[u8]) -> bool {
    let shape = b"Aaa, 00 Aaa 0000 00:00:00 GMT";
    value.len() == shape.len()
        && value.iter().zip(shape).all(|(byte, shape)| match shape {
            b'A' => byte.is_ascii_uppercase(),
            b'a' => byte.is_ascii_lowercase(),
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Date: Sun, 09 Sep 2001 01:46:40 GMT\r\n";

    /// Reads `text` in two pieces cut at every place; the outcome may not depend on the cut.
    fn read(asked: &[bool], text: &str, end: bool) -> Result<Vec<(u16, Vec<u8>)>, String> {
        let run = |cut: usize| {
            let mut reader = ResponseReader::new();
            asked.iter().for_each(|&head| reader.expect(head));
            reader.receive(&text.as_bytes()[..cut])?;
            reader.receive(&text.as_bytes()[cut..])?;
            if end {
                reader.end()?;
            }
            Ok::<_, String>(
                std::iter::from_fn(|| reader.next_response())
                    .map(|got| (got.status, got.body))
                    .collect::<Vec<_>>(),
            )
        };
        let whole = run(text.len());
        for cut in 0..text.len() {
            assert_eq!(run(cut).ok(), whole.clone().ok(), "cut at {cut} of {text:?}");
        }
        whole
    }

    #[test]
    fn reads_every_framing() {
        let ok = |rest: &str| format!("HTTP/1.1 200 OK\r\n{DATE}{rest}");
        let two = ok("Content-Length: 2\r\n\r\nhi")
            + &ok("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n");
        assert_eq!(
            read(&[false, false], &two, true).unwrap(),
            [(200, b"hi".to_vec()), (200, b"abc0123456789".to_vec())]
        );
        assert_eq!(
            read(&[false], &ok("Connection: close\r\n\r\nrest"), true).unwrap(),
            [(200, b"rest".to_vec())]
        );
        assert_eq!(
            read(&[true], &ok("Content-Length: 9\r\n\r\n"), true).unwrap(),
            [(200, vec![])]
        );
        let interim = String::from("HTTP/1.1 100 Continue\r\n\r\n") + &ok("Content-Length: 0\r\n\r\n");
        assert_eq!(read(&[false], &interim, true).unwrap(), [(100, vec![]), (200, vec![])]);
        let none = format!("HTTP/1.1 204 No Content\r\n{DATE}\r\n");
        assert_eq!(read(&[false], &none, true).unwrap(), [(204, vec![])]);
    }

    #[test]
    fn objects_to_what_leaves_a_doubt() {
        let dated = |rest: &str| format!("HTTP/1.1 200 OK\r\n{DATE}{rest}");
        for bad in [
            dated("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"),
            dated("Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi"),
            dated("Content-Length: +2\r\n\r\nhi"),
            dated("Content-Length : 2\r\n\r\nhi"),
            dated("\r\nhi"),
            dated("Content-Length: 0\r\nConnection: close\r\n\r\nmore\r\n\r\n"),
            dated("Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n"),
            dated("Transfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n0\r\n\r\n"),
            String::from("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            format!("HTTP/1.1 204 No Content\r\n{DATE}Content-Length: 0\r\n\r\n"),
            format!("HTTP/1.1 20 OK\r\n{DATE}\r\n"),
            format!("HTTP/1.0 200 OK\r\n{DATE}Content-Length: 0\r\n\r\n"),
            format!("HTTP/1.1 200 OK\n{DATE}Content-Length: 0\r\n\r\n"),
        ] {
            assert!(read(&[false], &bad, true).is_err(), "{bad:?} passed");
        }
    }

    #[test]
    fn an_end_inside_a_message_is_an_error() {
        let cut = format!("HTTP/1.1 200 OK\r\n{DATE}Content-Length: 3\r\n\r\nhi");
        assert!(read(&[false], &cut, false).unwrap().is_empty());
        assert!(read(&[false], &cut, true).is_err());
        assert!(read(&[false], "HTTP/1.1 200", true).is_err());
    }
}
