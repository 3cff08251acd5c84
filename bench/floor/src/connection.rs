//! One connection of the floor server: receive, answer every whole request, send once.
//!
//! It may assume that it is served whenever its socket became readable or writable. All connections share one buffer to
//! receive into and one to send from; only what is left of an unfinished request or answer is kept per connection.
//! It must never answer a request whose head it has not read whole.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;

use mio::net::TcpStream;

const RECEIVE_BYTES: usize = 64 * 1024;
const HEAD_BYTES_MAX: usize = 16 * 1024;
const FIELDS_MAX: usize = 100;
const DATE_BYTES: usize = 29;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Open,
    Closed,
}

/// What a head decides.
#[derive(Clone, Copy)]
struct Request {
    head_bytes: usize,
    health: bool,
    close: bool,
}

/// Buffers and prepared answers that all connections share.
pub struct Scratch {
    received: Box<[u8]>,
    output: Vec<u8>,
    health: Prepared,
    health_close: Prepared,
    not_found: Prepared,
    refused: Prepared,
}

/// A whole response in which only the date changes.
struct Prepared {
    bytes: Vec<u8>,
    date_start: usize,
}

impl Prepared {
    fn new(status: &str, connection: &str, body: &str, date: &[u8]) -> Self {
        let mut bytes = format!("HTTP/1.1 {status}\r\nDate: ").into_bytes();
        let date_start = bytes.len();
        bytes.extend_from_slice(date);
        bytes.extend_from_slice(
            format!(
                "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{connection}\r\n{body}",
                body.len()
            )
            .as_bytes(),
        );
        Self { bytes, date_start }
    }
}

impl Scratch {
    pub fn new(date: &[u8]) -> Self {
        let close = "Connection: close\r\n";
        Self {
            received: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            output: Vec::with_capacity(RECEIVE_BYTES),
            health: Prepared::new("200 OK", "", "OK", date),
            health_close: Prepared::new("200 OK", close, "OK", date),
            not_found: Prepared::new("404 Not Found", close, "Not Found", date),
            refused: Prepared::new("400 Bad Request", close, "Bad Request", date),
        }
    }

    /// `date` is an IMF-fixdate of 29 bytes.
    pub fn set_date(&mut self, date: &[u8]) {
        for answer in [
            &mut self.health,
            &mut self.health_close,
            &mut self.not_found,
            &mut self.refused,
        ] {
            answer.bytes[answer.date_start..answer.date_start + DATE_BYTES].copy_from_slice(date);
        }
    }
}

pub struct Connection {
    stream: TcpStream,
    /// The start of a request whose head is not whole yet.
    unfinished: Vec<u8>,
    /// What the socket did not take. While it is not empty nothing is received.
    unsent: Vec<u8>,
    closing: bool,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            unfinished: Vec::new(),
            unsent: Vec::new(),
            closing: false,
        }
    }

    pub fn stream_mut(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Everything that can be done now. `read_closed`: the poller has seen the end, so a short receive is not the last.
    pub fn serve(&mut self, read_closed: bool, scratch: &mut Scratch) -> Outcome {
        if !self.unsent.is_empty() && !self.send_unsent() {
            return self.outcome();
        }
        while !self.closing && self.unsent.is_empty() {
            match self.stream.read(&mut scratch.received) {
                Ok(0) => self.closing = true,
                Ok(count) => {
                    self.answer(count, scratch);
                    // On Linux a receive that does not fill the buffer has emptied the socket.
                    if count < scratch.received.len() && !read_closed {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.closing = true,
            }
        }
        self.outcome()
    }

    fn outcome(&self) -> Outcome {
        if self.closing && self.unsent.is_empty() {
            Outcome::Closed
        } else {
            Outcome::Open
        }
    }

    /// Answers the whole requests in what was received, in order and with one send; keeps the rest.
    fn answer(&mut self, count: usize, scratch: &mut Scratch) {
        let Scratch {
            received,
            output,
            health,
            health_close,
            not_found,
            refused,
        } = scratch;
        output.clear();
        let joined;
        let bytes: &[u8] = if self.unfinished.is_empty() {
            &received[..count]
        } else {
            self.unfinished.extend_from_slice(&received[..count]);
            joined = std::mem::take(&mut self.unfinished);
            &joined
        };
        let mut start = 0;
        while start < bytes.len() && !self.closing {
            match read_head(&bytes[start..]) {
                Ok(Some(request)) => {
                    start += request.head_bytes;
                    self.closing = request.close || !request.health;
                    let answer = match (request.health, request.close) {
                        (true, false) => &*health,
                        (true, true) => &*health_close,
                        (false, _) => &*not_found,
                    };
                    output.extend_from_slice(&answer.bytes);
                }
                Ok(None) if bytes.len() - start < HEAD_BYTES_MAX => break,
                Ok(None) | Err(_) => {
                    self.closing = true;
                    output.extend_from_slice(&refused.bytes);
                }
            }
        }
        if !self.closing {
            self.unfinished.extend_from_slice(&bytes[start..]);
        }
        self.send(output);
    }

    fn send(&mut self, output: &[u8]) {
        let mut sent = 0;
        while sent < output.len() {
            match self.send_once(&output[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.unsent.extend_from_slice(&output[sent..]);
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.closing = true;
                    return;
                }
            }
        }
    }

    /// One send. The last one of a connection goes with its end, as in the server that is measured.
    fn send_once(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(target_os = "linux")]
        if self.closing {
            const NOSIGNAL_MORE: i32 = 0x4000 | 0x8000;
            let count = socket2::SockRef::from(&self.stream).send_with_flags(bytes, NOSIGNAL_MORE)?;
            if count == bytes.len() {
                self.stream.shutdown(std::net::Shutdown::Write)?;
            }
            return Ok(count);
        }
        self.stream.write(bytes)
    }

    /// True when nothing is left and receiving may go on.
    fn send_unsent(&mut self) -> bool {
        let waiting = std::mem::take(&mut self.unsent);
        self.send(&waiting);
        self.unsent.is_empty() && !self.closing
    }
}

/// The next head in `bytes`, or `None` while it is not whole. A request with a body is refused: the floor has no use for one.
fn read_head(bytes: &[u8]) -> Result<Option<Request>, httparse::Error> {
    let mut fields = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; FIELDS_MAX];
    let mut head = httparse::Request::new(&mut []);
    let httparse::Status::Complete(head_bytes) = head.parse_with_uninit_headers(bytes, &mut fields)? else {
        return Ok(None);
    };
    // HTTP/1.0 closes unless asked otherwise, and the floor never is (RFC 9112 section 9.3).
    let mut close = head.version == Some(0);
    for field in head.headers.iter() {
        let name = field.name;
        if name.eq_ignore_ascii_case("connection") {
            close |= field
                .value
                .split(|&byte| byte == b',')
                .any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close"));
        } else if name.eq_ignore_ascii_case("transfer-encoding")
            || (name.eq_ignore_ascii_case("content-length") && field.value != b"0")
        {
            return Err(httparse::Error::HeaderValue);
        }
    }
    let health = head.method == Some("GET") && head.path == Some("/health");
    Ok(Some(Request {
        head_bytes,
        health,
        close,
    }))
}

#[cfg(test)]
mod tests {
    use super::read_head;

    #[test]
    fn a_head_is_whole_or_waited_for() {
        let text = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
        for cut in 0..text.len() {
            assert!(matches!(read_head(&text[..cut]), Ok(None)), "cut at {cut}");
        }
        let request = read_head(text).unwrap().unwrap();
        assert_eq!(
            (request.head_bytes, request.health, request.close),
            (text.len(), true, false)
        );
    }

    #[test]
    fn close_is_heard_among_other_options() {
        let text = b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: TE, Close\r\n\r\n";
        assert!(read_head(text).unwrap().unwrap().close);
        assert!(read_head(b"GET /health HTTP/1.0\r\n\r\n").unwrap().unwrap().close);
    }

    #[test]
    fn a_body_is_refused() {
        assert!(read_head(b"POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc").is_err());
        assert!(read_head(b"POST /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").is_err());
    }
}
