//! Finds the end of a request head, wherever the bytes were cut, and holds the byte classes of the grammar.
//!
//! The scanner remembers where it stopped, so a head that drips in costs as much as one that comes whole. It judges a
//! line as soon as the first wrong byte of it is there, in the order of the bytes: the verdict is the same at every cut.
//! What it lets pass is parsed once, by the parser in `head`; it must never accept an end that the parser would not.

use memchr::memchr;

use super::{Limits, Reject};

/// Longest method that can be implemented here: a longer one is refused with 501 (RFC 9112 3).
pub(super) const METHOD_BYTES_MAX: usize = 32;

/// `HTTP/1.1` and the line end: what follows the target in a request line.
const VERSION_BYTES: usize = 10;

/// Where the scanner stopped. All offsets count from the request's first byte.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeadScan {
    /// Everything before it holds no line feed that has not been judged.
    at: u32,
    line_start: u32,
    /// The space behind the method; 0 = not found yet.
    method_end: u32,
    /// The space behind the target; 0 = not found yet.
    target_end: u32,
    /// Complete lines so far.
    lines: u32,
}

impl HeadScan {
    /// True when nothing of this head has been looked at.
    pub fn is_fresh(&self) -> bool {
        self.at == 0
    }

    /// Looks at the bytes that are new since the last call. `Some(n)`: the head is the first `n` bytes, the empty line
    /// included. Each byte is looked at once, however often this is called.
    ///
    /// # Errors
    /// A bad line end, a bad or too long request line, a head over the limits.
    pub fn scan(&mut self, input: &[u8], limits: &Limits) -> Result<Option<usize>, Reject> {
        let bytes_max = limits.head_bytes_max.min(u32::MAX as usize);
        let window = &input[..input.len().min(bytes_max)];
        while let Some(found) = memchr(b'\n', &window[self.at as usize..]) {
            let line_feed = self.at as usize + found;
            if self.lines == 0 {
                self.judge_request_line(&window[..=line_feed], limits)?;
            }
            if line_feed == 0 || window[line_feed - 1] != b'\r' {
                return Err(Reject::BareLineFeed);
            }
            if line_feed == self.line_start as usize + 1 {
                return Ok(Some(line_feed + 1));
            }
            self.lines += 1;
            if self.lines as usize > limits.headers_max.saturating_add(1) {
                return Err(Reject::TooManyFields);
            }
            self.line_start = line_feed as u32 + 1;
            self.at = self.line_start;
        }
        if self.lines == 0 {
            self.judge_request_line(window, limits)?;
        }
        self.at = window.len() as u32;
        if window.len() == bytes_max {
            Err(Reject::HeadTooLarge)
        } else {
            Ok(None)
        }
    }

    /// Where the version begins in a complete request line.
    pub fn version_at(&self) -> usize {
        self.target_end as usize + 1
    }

    /// Judges what is there of the request line (`line` holds its LF when it is complete), RFC 9112 3.
    fn judge_request_line(&mut self, line: &[u8], limits: &Limits) -> Result<(), Reject> {
        if self.method_end == 0 {
            let method = &line[..line.len().min(METHOD_BYTES_MAX + 1)];
            match method.iter().position(|&b| !is_tchar(b)) {
                Some(end) if end > 0 && method[end] == b' ' => self.method_end = end as u32,
                Some(_) => return Err(Reject::BadRequestLine),
                None if method.len() > METHOD_BYTES_MAX => return Err(Reject::MethodTooLong),
                None => return Ok(()),
            }
        }
        if self.target_end == 0 {
            let start = self.method_end as usize + 1;
            let from = start.max(self.at as usize);
            let space = line.get(from..).and_then(|rest| memchr(b' ', rest)).map(|n| from + n);
            if space.unwrap_or(line.len()).saturating_sub(start) > limits.target_bytes_max {
                return Err(Reject::TargetTooLong);
            }
            match space {
                Some(end) => self.target_end = end as u32,
                None if line.ends_with(b"\n") => return Err(Reject::BadRequestLine),
                None => return Ok(()),
            }
        }
        let rest = &line[self.version_at()..];
        let complete = rest.ends_with(b"\n");
        if rest.len() > VERSION_BYTES || (rest.len() == VERSION_BYTES && !complete) {
            return Err(Reject::BadRequestLine);
        }
        Ok(())
    }
}

/// True for a token (RFC 9110 5.6.2): at least one tchar and nothing else.
pub(super) fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|&b| is_tchar(b))
}

/// True for a byte that a token may contain.
pub(super) fn is_tchar(byte: u8) -> bool {
    TCHAR[byte as usize]
}

/// True when every byte may stand in a field value (RFC 9110 5.5): visible ASCII, space, tab, 0x80 and above.
pub(super) fn is_field_value(text: &[u8]) -> bool {
    // No early end, so that the compiler can look at many bytes at once.
    text.iter()
        .fold(true, |good, &b| good & (((b >= b' ') & (b != 0x7f)) | (b == b'\t')))
}

/// Without the spaces and tabs around it (RFC 9110 5.6.3).
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

static TCHAR: [bool; 256] = tchar_table();

const fn tchar_table() -> [bool; 256] {
    let mut table = [false; 256];
    let marks = b"!#$%&'*+-.^_`|~";
    let mut i = 0;
    while i < 256 {
        table[i] = (i as u8).is_ascii_alphanumeric();
        i += 1;
    }
    i = 0;
    while i < marks.len() {
        table[marks[i] as usize] = true;
        i += 1;
    }
    table
}
