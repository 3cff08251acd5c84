use super::{InvalidUtf8, JsonError};

/// The deepest nesting that `DecodeOptions::depth_max` may allow.
pub const DEPTH_LIMIT: u32 = 1024;

#[derive(Debug, Clone, Copy)]
pub struct DecodeOptions {
    /// Containers inside one another, at most `DEPTH_LIMIT`; default 128.
    pub depth_max: u32,
    pub invalid_utf8: InvalidUtf8,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        DecodeOptions { depth_max: 128, invalid_utf8: InvalidUtf8::Refuse }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'t> {
    Null,
    True,
    False,
    Number(f64),
    String(&'t [u8]),
    /// The name of the member whose value comes next.
    Key(&'t [u8]),
    ArrayStart,
    ArrayEnd,
    ObjectStart,
    ObjectEnd,
    /// The text has ended, whole. Comes again when asked again.
    End,
}

/// Reads one text; plain data.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    input: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(input: &'a [u8], options: DecodeOptions) -> Reader<'a> {
        let _ = options;
        Reader { input }
    }
    /// The next token; strings with escapes are put together in `scratch`. After an error, the same error.
    pub fn next<'t>(&mut self, scratch: &'t mut Vec<u8>) -> Result<Token<'t>, JsonError>
    where
        'a: 't,
    {
        let _ = (scratch, self.input);
        todo!()
    }
    /// How many containers are open.
    pub fn depth(&self) -> u32 {
        todo!()
    }
    /// Bytes read so far.
    pub fn offset(&self) -> usize {
        todo!()
    }
}
