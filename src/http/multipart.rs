//! `multipart/form-data` (RFC 7578 over RFC 2046 section 5.1): the content taken apart where it lies.
//!
//! The iterator is plain data, walks the content once, and stays ended after a fault. Bounds: [`PARTS_MAX`],
//! [`PART_HEAD_BYTES_MAX`]; how long the content may be is not its business.

use super::disposition::{self, FormData};
use super::grammar::{is_token, trim};
use super::media_type::MediaType;
use memchr::memmem;

/// Parts in one content, at most.
pub const PARTS_MAX: usize = 1000;

/// Bytes of the fields of one part, at most.
pub const PART_HEAD_BYTES_MAX: usize = 8192;

/// Longest boundary (RFC 2046 section 5.1.1).
const BOUNDARY_BYTES_MAX: usize = 70;

/// Why content is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultipartFault {
    /// The media type names no boundary, or one that is none.
    Boundary,
    /// The first delimiter is missing.
    Start,
    /// A part's head has no end, a bare line break, or a line that is no field.
    Head,
    /// A part has no `Content-Disposition: form-data` with a name.
    Disposition,
    /// A part, and so the content, has no end.
    End,
    TooManyParts,
    HeadTooLarge,
}

impl MultipartFault {
    /// The status that the client gets.
    pub fn status(self) -> u16 {
        match self {
            MultipartFault::TooManyParts | MultipartFault::HeadTooLarge => 413,
            _ => 400,
        }
    }

    /// What the client is told.
    pub fn sentence(self) -> &'static str {
        match self {
            MultipartFault::Boundary => "The Content-Type of the form names no valid boundary.",
            MultipartFault::Start => "The form does not contain the boundary that its Content-Type names.",
            MultipartFault::Head => "The headers of a part of the form are malformed.",
            MultipartFault::Disposition => "A part of the form has no Content-Disposition with a name.",
            MultipartFault::End => "The form ends before its closing boundary.",
            MultipartFault::TooManyParts => "The form has too many parts.",
            MultipartFault::HeadTooLarge => "The headers of a part of the form are too large.",
        }
    }
}

/// One part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Field lines, each with its line end.
    head: &'a [u8],
    pub content: &'a [u8],
}

impl<'a> Part<'a> {
    /// Names and values of the part's fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        lines(self.head).filter_map(field)
    }

    /// The first field of that name.
    pub fn field(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.fields()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// Name and file name. [`Parts`] gives only parts that have them.
    pub fn form_data(&self) -> Option<FormData<'a>> {
        disposition::form_data(self.field(b"content-disposition")?)
    }

    /// Its media type as sent; text without one is `text/plain` (RFC 7578 section 4.4).
    pub fn content_type(&self) -> &'a [u8] {
        self.field(b"content-type").unwrap_or(b"text/plain")
    }
}

/// The parts of a content, in order.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// What follows the last delimiter.
    rest: &'a [u8],
    /// CR LF, two hyphens, and the boundary.
    delimiter: [u8; BOUNDARY_BYTES_MAX + 4],
    delimiter_len: usize,
    state: State,
    /// Parts that may still come.
    left: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Part,
    Ended,
}

impl<'a> Parts<'a> {
    /// The parts of `content`, whose media type is `media_type`.
    ///
    /// # Errors
    /// [`MultipartFault::Boundary`].
    pub fn new(media_type: &MediaType<'_>, content: &'a [u8]) -> Result<Self, MultipartFault> {
        let boundary = media_type.parameter(b"boundary").ok_or(MultipartFault::Boundary)?;
        if !is_boundary(&boundary) {
            return Err(MultipartFault::Boundary);
        }
        let mut delimiter = [0; BOUNDARY_BYTES_MAX + 4];
        let delimiter_len = boundary.len() + 4;
        delimiter[..4].copy_from_slice(b"\r\n--");
        delimiter[4..delimiter_len].copy_from_slice(&boundary);
        Ok(Self {
            rest: content,
            delimiter,
            delimiter_len,
            state: State::Start,
            left: PARTS_MAX,
        })
    }

    fn delimiter(&self) -> &[u8] {
        &self.delimiter[..self.delimiter_len]
    }

    /// Passes the preamble and the first delimiter, which may stand at the very beginning.
    fn start(&mut self) -> Result<(), MultipartFault> {
        let first = self.rest.strip_prefix(&self.delimiter()[2..]).and_then(delimiter_end);
        let (rest, last) = match first {
            Some(found) => found,
            None => self
                .next_delimiter(0)
                .map(|(_, rest, last)| (rest, last))
                .ok_or(MultipartFault::Start)?,
        };
        self.rest = rest;
        self.state = if last { State::Ended } else { State::Part };
        Ok(())
    }

    /// The next delimiter at or after `from`: where it begins, what follows it, and whether it closes.
    fn next_delimiter(&self, from: usize) -> Option<(usize, &'a [u8], bool)> {
        let finder = memmem::Finder::new(self.delimiter());
        let searched = self.rest.get(from..)?;
        // A line that only begins like the delimiter belongs to the content.
        finder.find_iter(searched).find_map(|at| {
            let after = &searched[at + self.delimiter_len..];
            delimiter_end(after).map(|(rest, last)| (from + at, rest, last))
        })
    }

    fn part(&mut self) -> Result<Part<'a>, MultipartFault> {
        self.left = self.left.checked_sub(1).ok_or(MultipartFault::TooManyParts)?;
        let head_len = head_length(self.rest)?;
        let head = &self.rest[..head_len];
        if !lines(head).all(|line| field(line).is_some()) {
            return Err(MultipartFault::Head);
        }
        // An empty content's delimiter begins with the line break that ends the head.
        let (end, rest, last) = self.next_delimiter(head_len).ok_or(MultipartFault::End)?;
        let part = Part {
            head,
            content: self.rest.get(head_len + 2..end).unwrap_or_default(),
        };
        if part.form_data().is_none() {
            return Err(MultipartFault::Disposition);
        }
        self.rest = rest;
        if last {
            self.state = State::Ended;
        }
        Ok(part)
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Result<Part<'a>, MultipartFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Start
            && let Err(fault) = self.start()
        {
            self.state = State::Ended;
            return Some(Err(fault));
        }
        if self.state == State::Ended {
            return None;
        }
        let part = self.part();
        if part.is_err() {
            self.state = State::Ended;
        }
        Some(part)
    }
}

/// What follows the line of a delimiter whose boundary has just ended, and whether it closes; `None` when the line goes
/// on, so that it is no delimiter.
fn delimiter_end(after: &[u8]) -> Option<(&[u8], bool)> {
    if let Some(rest) = after.strip_prefix(b"--") {
        return Some((rest, true));
    }
    let padding = after.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
    after[padding..].strip_prefix(b"\r\n").map(|rest| (rest, false))
}

/// Bytes of the field lines at the start of a part; an empty line follows them.
fn head_length(part: &[u8]) -> Result<usize, MultipartFault> {
    if part.starts_with(b"\r\n") {
        return Ok(0);
    }
    let searched = &part[..part.len().min(PART_HEAD_BYTES_MAX + 4)];
    match memmem::find(searched, b"\r\n\r\n") {
        Some(at) => Ok(at + 2),
        None if searched.len() < part.len() => Err(MultipartFault::HeadTooLarge),
        None => Err(MultipartFault::Head),
    }
}

/// The lines of a head, without their ends.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = head;
    std::iter::from_fn(move || {
        let end = memmem::find(rest, b"\r\n")?;
        let line = &rest[..end];
        rest = &rest[end + 2..];
        Some(line)
    })
}

/// Name and value of a field line; `None` when it is none.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let value = trim(&line[colon + 1..]);
    let sound = is_token(&line[..colon]) && !value.iter().any(|&byte| byte.is_ascii_control() && byte != b'\t');
    sound.then_some((&line[..colon], value))
}

/// One to seventy bytes of those that a boundary may have, the last of them no space (RFC 2046 section 5.1.1).
fn is_boundary(text: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(byte);
    (1..=BOUNDARY_BYTES_MAX).contains(&text.len()) && text.iter().all(allowed) && !text.ends_with(b" ")
}
