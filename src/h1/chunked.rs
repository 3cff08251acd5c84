//! The chunked coding (RFC 9112 7.1), decoded where it lies.
//!
//! ```text
//!   | head | body so far | gap: sizes, line ends | not decoded yet |
//!          ^ head_len    ^ head_len + body_len   ^ read_at
//! ```
//! Chunk data move down to the end of the body, each byte once. Extensions are checked and dropped, trailers too; both
//! count as head bytes, so a peer cannot send them without end. Resumable at every byte, with the same verdict.

use memchr::memchr;

use super::scan::{is_field_value, is_tchar, is_token};
use super::{Limits, Reject};

/// Longest line with a chunk size and its extensions, line end included.
pub(super) const CHUNK_LINE_BYTES_MAX: usize = 1024;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Size,
    Data,
    DataEnd,
    Trailers,
}

/// Where the decoder stopped. Offsets count from the request's first byte.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chunked {
    step: Step,
    /// Data of the current chunk that have not come yet.
    remaining: usize,
    body_len: usize,
    read_at: usize,
    /// No line feed lies in `read_at..searched_to`.
    searched_to: usize,
    /// Bytes of head, extensions and trailers so far.
    head_bytes: usize,
}

impl Chunked {
    /// A decoder for the body behind a head of `head_len` bytes.
    pub fn new(head_len: usize) -> Self {
        Self {
            read_at: head_len,
            searched_to: head_len,
            head_bytes: head_len,
            ..Self::default()
        }
    }

    /// Decoded bytes so far.
    pub fn body_len(&self) -> usize {
        self.body_len
    }

    /// The first byte that has not been decoded.
    pub fn read_at(&self) -> usize {
        self.read_at
    }

    /// The bytes from `read_at` on have moved down by `n`.
    pub fn moved_down(&mut self, n: usize) {
        self.read_at -= n;
        self.searched_to -= n;
    }

    /// Decodes what is there; true when the last chunk and the trailers have been read.
    ///
    /// # Errors
    /// 400 for what is not exactly the grammar, 413 as soon as the announced sizes pass the limit, 431 for too many
    /// bytes of extensions and trailers.
    pub fn decode(&mut self, head_len: usize, bytes: &mut [u8], limits: &Limits) -> Result<bool, Reject> {
        loop {
            let more = match self.step {
                Step::Size => self.read_size(bytes, limits)?,
                Step::Data => self.read_data(head_len, bytes),
                Step::DataEnd => self.read_data_end(bytes)?,
                Step::Trailers => match self.read_trailer(bytes, limits)? {
                    Some(true) => return Ok(true),
                    Some(false) => true,
                    None => false,
                },
            };
            if !more {
                return Ok(false);
            }
        }
    }

    /// The next line of at most `bytes_max` bytes, without its CRLF. `None`: not there yet.
    fn line<'a>(&mut self, bytes: &'a [u8], bytes_max: usize, too_long: Reject) -> Result<Option<&'a [u8]>, Reject> {
        let window = &bytes[..bytes.len().min(self.read_at.saturating_add(bytes_max))];
        // The window can end before what was searched: limits may have become smaller. Then nothing is found.
        let unseen = window.get(self.searched_to..).unwrap_or_default();
        let Some(found) = memchr(b'\n', unseen) else {
            self.searched_to = self.searched_to.max(window.len());
            return if window.len() - self.read_at >= bytes_max {
                Err(too_long)
            } else {
                Ok(None)
            };
        };
        let line = &bytes[self.read_at..self.searched_to + found];
        self.read_at = self.searched_to + found + 1;
        self.searched_to = self.read_at;
        match line {
            [line @ .., b'\r'] => Ok(Some(line)),
            _ => Err(Reject::BareLineFeed),
        }
    }

    fn read_size(&mut self, bytes: &[u8], limits: &Limits) -> Result<bool, Reject> {
        let Some(line) = self.line(bytes, CHUNK_LINE_BYTES_MAX, Reject::BadChunkSize)? else {
            return Ok(false);
        };
        let digits = line.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        let (size, extensions) = line.split_at(digits);
        if size.is_empty() {
            return Err(Reject::BadChunkSize);
        }
        judge_extensions(extensions)?;
        self.head_bytes += extensions.len();
        if self.head_bytes > limits.head_bytes_max {
            return Err(Reject::HeadTooLarge);
        }
        let room = limits.body_bytes_max.saturating_sub(self.body_len);
        // A size that cannot be counted is over every limit.
        let size = parse_size(size)
            .filter(|&size| size <= room)
            .ok_or(Reject::BodyTooLarge)?;
        self.remaining = size;
        self.step = if size == 0 { Step::Trailers } else { Step::Data };
        Ok(true)
    }

    fn read_data(&mut self, head_len: usize, bytes: &mut [u8]) -> bool {
        let n = self.remaining.min(bytes.len() - self.read_at);
        bytes.copy_within(self.read_at..self.read_at + n, head_len + self.body_len);
        self.body_len += n;
        self.read_at += n;
        self.searched_to = self.read_at;
        self.remaining -= n;
        if self.remaining == 0 {
            self.step = Step::DataEnd;
        }
        self.remaining == 0
    }

    fn read_data_end(&mut self, bytes: &[u8]) -> Result<bool, Reject> {
        match &bytes[self.read_at..] {
            [] | [b'\r'] => Ok(false),
            [b'\r', b'\n', ..] => {
                self.read_at += 2;
                self.searched_to = self.read_at;
                self.step = Step::Size;
                Ok(true)
            }
            _ => Err(Reject::BadChunkEnd),
        }
    }

    /// `Some(true)`: the empty line that ends the message; `Some(false)`: a trailer field; `None`: not there yet.
    fn read_trailer(&mut self, bytes: &[u8], limits: &Limits) -> Result<Option<bool>, Reject> {
        // The empty line is always allowed, or a head of exactly the limit could have no chunked body.
        let room = limits.head_bytes_max.saturating_add(2).saturating_sub(self.head_bytes);
        let Some(line) = self.line(bytes, room, Reject::HeadTooLarge)? else {
            return Ok(None);
        };
        if line.is_empty() {
            return Ok(Some(true));
        }
        self.head_bytes += line.len() + 2;
        let colon = memchr(b':', line).ok_or(Reject::BadTrailer)?;
        if !is_token(&line[..colon]) || !is_field_value(&line[colon + 1..]) {
            return Err(Reject::BadTrailer);
        }
        Ok(Some(false))
    }
}

/// `1*HEXDIG`; leading zeros are legal. `None` when a usize does not hold it.
fn parse_size(digits: &[u8]) -> Option<usize> {
    digits.iter().try_fold(0usize, |sum, &b| {
        let digit = char::from(b).to_digit(16)? as usize;
        sum.checked_mul(16)?.checked_add(digit)
    })
}

/// `*( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )` (RFC 9112 7.1.1). White space there is bad, but
/// a recipient must take it (RFC 9110 5.6.3); at the end of the line it is not part of the grammar.
fn judge_extensions(mut rest: &[u8]) -> Result<(), Reject> {
    while !rest.is_empty() {
        rest = after(skip_space(rest), b';')
            .and_then(|rest| skip_token(skip_space(rest)))
            .ok_or(BAD_EXTENSION)?;
        if let Some(value) = after(skip_space(rest), b'=') {
            let value = skip_space(value);
            rest = match value {
                [b'"', text @ ..] => skip_quoted(text),
                _ => skip_token(value),
            }
            .ok_or(BAD_EXTENSION)?;
        }
    }
    Ok(())
}

const BAD_EXTENSION: Reject = Reject::BadChunkExtension;

fn skip_space(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    text
}

fn after(text: &[u8], byte: u8) -> Option<&[u8]> {
    text.split_first()
        .filter(|&(&first, _)| first == byte)
        .map(|(_, rest)| rest)
}

fn skip_token(text: &[u8]) -> Option<&[u8]> {
    let len = text.iter().take_while(|&&b| is_tchar(b)).count();
    (len > 0).then(|| &text[len..])
}

/// Behind the closing quote of a quoted-string (RFC 9110 5.6.4) whose opening quote has been taken.
fn skip_quoted(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        text = match text {
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', escaped, rest @ ..] if is_field_value(&[*escaped]) => rest,
            [b'\\', ..] => return None,
            [plain, rest @ ..] if is_field_value(&[*plain]) => rest,
            _ => return None,
        };
    }
}
