//! The decoder: one token for each call, nothing kept but a position and one bit for each open container.
//!
//! The grammar is RFC 8259's and nothing more (no trailing commas, comments, NaN, single quotes). It is checked here, so
//! a caller may rely on it: containers are balanced, a value follows every [`Token::Key`], and [`Token::End`] comes
//! exactly when one whole value has been read. Work is linear in the text and memory bounded, whatever the text holds.

use super::{InvalidUtf8, JsonError, JsonErrorKind, number, string};

/// The deepest nesting that [`DecodeOptions::depth_max`] may allow: one bit each in [`Reader`].
pub const DEPTH_LIMIT: u32 = 1024;
/// A byte order mark, U+FEFF.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How a text is read.
#[derive(Debug, Clone, Copy)]
pub struct DecodeOptions {
    /// Containers inside one another: at most [`DEPTH_LIMIT`] (a larger value means that), 128 by default.
    pub depth_max: u32,
    pub invalid_utf8: InvalidUtf8,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        DecodeOptions {
            depth_max: 128,
            invalid_utf8: InvalidUtf8::Refuse,
        }
    }
}

/// A piece of the text. Strings lie in the text itself or in the scratch buffer of the call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'t> {
    Null,
    True,
    False,
    /// The double nearest to what is written; always finite.
    Number(f64),
    /// Valid UTF-8.
    String(&'t [u8]),
    /// The name of the member whose value comes next: valid UTF-8.
    Key(&'t [u8]),
    ArrayStart,
    ArrayEnd,
    ObjectStart,
    ObjectEnd,
    /// The text holds nothing more.
    End,
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A value: the text begins, or a name has been read.
    Value,
    /// A value or the end of the array that has just begun.
    FirstElement,
    /// A name or the end of the object that has just begun.
    FirstKey,
    /// A comma or the end of the container; behind the outermost value, the end of the text.
    Next,
}

/// Reads one text. Plain data without a destructor.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    input: &'a [u8],
    /// `at <= input.len()`.
    at: usize,
    expect: Expect,
    options: DecodeOptions,
    /// `depth <= options.depth_max <= DEPTH_LIMIT`.
    depth: u32,
    /// Whether the innermost container is an object; false outside all.
    in_object: bool,
    /// Bit `n` tells whether container `n`, from the outermost, is an object.
    objects: [u64; (DEPTH_LIMIT / 64) as usize],
    /// The first error; nothing is read after it.
    failed: Option<JsonError>,
}

impl<'a> Reader<'a> {
    /// Reads `input` from its beginning, behind a byte order mark if there is one.
    pub fn new(input: &'a [u8], options: DecodeOptions) -> Reader<'a> {
        let depth_max = options.depth_max.min(DEPTH_LIMIT);
        Reader {
            input,
            at: if input.starts_with(BYTE_ORDER_MARK) {
                BYTE_ORDER_MARK.len()
            } else {
                0
            },
            expect: Expect::Value,
            options: DecodeOptions { depth_max, ..options },
            depth: 0,
            in_object: false,
            objects: [0; (DEPTH_LIMIT / 64) as usize],
            failed: None,
        }
    }

    /// How many containers are open.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Bytes read so far.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The next token. A string with escapes is put together in `scratch`, whose former contents are lost.
    /// [`Token::End`] and an error come again as often as one asks.
    #[inline]
    pub fn next<'t>(&mut self, scratch: &'t mut Vec<u8>) -> Result<Token<'t>, JsonError>
    where
        'a: 't,
    {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.read_token(scratch).map_err(|(kind, offset)| {
            let error = JsonError::locate(kind, self.input, offset);
            self.failed = Some(error);
            error
        })
    }

    fn read_token<'t>(&mut self, scratch: &'t mut Vec<u8>) -> Result<Token<'t>, (JsonErrorKind, usize)>
    where
        'a: 't,
    {
        let mut byte = self.skip_space();
        match self.expect {
            Expect::Value => {}
            Expect::FirstElement if byte == Some(b']') => return Ok(self.close()),
            Expect::FirstElement => {}
            Expect::FirstKey if byte == Some(b'}') => return Ok(self.close()),
            Expect::FirstKey => return self.read_key(byte, scratch),
            Expect::Next if self.depth == 0 => {
                return byte.map_or(Ok(Token::End), |_| Err((JsonErrorKind::TrailingText, self.at)));
            }
            Expect::Next => match byte {
                Some(b',') => {
                    self.at += 1;
                    byte = self.skip_space();
                    if matches!(byte, Some(b']' | b'}')) {
                        return Err((JsonErrorKind::TrailingComma, self.at));
                    }
                    if self.in_object {
                        return self.read_key(byte, scratch);
                    }
                }
                Some(b'}') if self.in_object => return Ok(self.close()),
                Some(b']') if !self.in_object => return Ok(self.close()),
                _ if self.in_object => return Err(self.unexpected(JsonErrorKind::ExpectedObjectEnd)),
                _ => return Err(self.unexpected(JsonErrorKind::ExpectedArrayEnd)),
            },
        }
        self.read_value(byte, scratch)
    }

    /// A name and the colon behind it.
    #[inline]
    fn read_key<'t>(&mut self, byte: Option<u8>, scratch: &'t mut Vec<u8>) -> Result<Token<'t>, (JsonErrorKind, usize)>
    where
        'a: 't,
    {
        if byte != Some(b'"') {
            return Err(self.unexpected(JsonErrorKind::ExpectedKey));
        }
        let (text, end) = string::read(self.input, self.at + 1, self.options.invalid_utf8, scratch)?;
        self.at = end;
        if self.skip_space() != Some(b':') {
            return Err(self.unexpected(JsonErrorKind::ExpectedColon));
        }
        self.at += 1;
        self.expect = Expect::Value;
        Ok(Token::Key(text))
    }

    #[inline]
    fn read_value<'t>(
        &mut self,
        byte: Option<u8>,
        scratch: &'t mut Vec<u8>,
    ) -> Result<Token<'t>, (JsonErrorKind, usize)>
    where
        'a: 't,
    {
        match byte {
            Some(b'"') => {
                let (text, end) = string::read(self.input, self.at + 1, self.options.invalid_utf8, scratch)?;
                self.at = end;
                self.expect = Expect::Next;
                Ok(Token::String(text))
            }
            Some(b'-' | b'0'..=b'9') => {
                let (value, end) = number::read(self.input, self.at)?;
                self.at = end;
                self.expect = Expect::Next;
                Ok(Token::Number(value))
            }
            Some(b'{') => self.open(true),
            Some(b'[') => self.open(false),
            Some(b't') => self.read_literal(b"true", Token::True),
            Some(b'f') => self.read_literal(b"false", Token::False),
            Some(b'n') => self.read_literal(b"null", Token::Null),
            _ => Err(self.unexpected(JsonErrorKind::ExpectedValue)),
        }
    }

    fn read_literal<'t>(&mut self, literal: &[u8], token: Token<'t>) -> Result<Token<'t>, (JsonErrorKind, usize)> {
        let rest = &self.input[self.at..];
        if !rest.starts_with(literal) {
            let cut = rest.len() < literal.len() && literal.starts_with(rest);
            let kind = if cut {
                JsonErrorKind::UnexpectedEnd
            } else {
                JsonErrorKind::ExpectedValue
            };
            return Err((kind, if cut { self.input.len() } else { self.at }));
        }
        self.at += literal.len();
        self.expect = Expect::Next;
        Ok(token)
    }

    /// Steps over white space; the byte behind it, if the text goes on.
    #[inline]
    fn skip_space(&mut self) -> Option<u8> {
        loop {
            let byte = *self.input.get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// The error for what stands here, or for the end of the text.
    #[cold]
    fn unexpected(&self, kind: JsonErrorKind) -> (JsonErrorKind, usize) {
        let ended = self.at == self.input.len();
        (if ended { JsonErrorKind::UnexpectedEnd } else { kind }, self.at)
    }

    #[inline]
    fn open<'t>(&mut self, object: bool) -> Result<Token<'t>, (JsonErrorKind, usize)> {
        if self.depth == self.options.depth_max {
            return Err((JsonErrorKind::TooDeep, self.at));
        }
        let word = &mut self.objects[self.depth as usize / 64];
        let bit = 1 << (self.depth % 64);
        *word = if object { *word | bit } else { *word & !bit };
        self.depth += 1;
        self.at += 1;
        self.in_object = object;
        self.expect = if object { Expect::FirstKey } else { Expect::FirstElement };
        Ok(if object { Token::ObjectStart } else { Token::ArrayStart })
    }

    /// Ends the innermost container; its bracket stands here and there is one.
    #[inline]
    fn close<'t>(&mut self) -> Token<'t> {
        let token = if self.in_object {
            Token::ObjectEnd
        } else {
            Token::ArrayEnd
        };
        self.at += 1;
        self.depth -= 1;
        self.expect = Expect::Next;
        let parent = self.depth.wrapping_sub(1);
        let word = self.objects.get(parent as usize / 64).copied().unwrap_or(0);
        self.in_object = word >> (parent % 64) & 1 == 1;
        token
    }
}
