//! A slow, obvious reader of JSON, written from RFC 8259, with the choices that `json` documents: a leading byte order
//! mark is skipped, a number is the nearest double and must be finite, members of the same name all count.
//!
//! It reads by recursion and copies everything. It shares nothing with the code under test.

/// One value.
#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Value>),
    /// In the order of the text.
    Object(Vec<(String, Value)>),
}

/// Numbers are the same when their bits are: minus zero is not zero.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(two)) => one == two,
            (Value::Number(one), Value::Number(two)) => one.to_bits() == two.to_bits(),
            (Value::String(one), Value::String(two)) => one == two,
            (Value::Array(one), Value::Array(two)) => one == two,
            (Value::Object(one), Value::Object(two)) => one == two,
            _ => false,
        }
    }
}

/// The value that `text` holds; `None` when it is not JSON, or nests deeper than `depth_max` containers. `replace`: what
/// is not Unicode becomes U+FFFD instead, as far as it stands in strings.
pub fn read(text: &[u8], depth_max: usize, replace: bool) -> Option<Value> {
    let mut reader = Naive {
        rest: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text),
        depth_left: depth_max,
        replace,
    };
    let value = reader.value()?;
    reader.space();
    reader.rest.is_empty().then_some(value)
}

struct Naive<'a> {
    rest: &'a [u8],
    depth_left: usize,
    replace: bool,
}

impl Naive<'_> {
    fn space(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Takes `text` if it comes next.
    fn takes(&mut self, text: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes `text`, with white space around it, if it comes next.
    fn takes_mark(&mut self, text: &[u8]) -> bool {
        self.space();
        let taken = self.takes(text);
        self.space();
        taken
    }

    fn value(&mut self) -> Option<Value> {
        self.space();
        for (text, value) in [
            (&b"null"[..], Value::Null),
            (b"true", Value::Bool(true)),
            (b"false", Value::Bool(false)),
        ] {
            if self.takes(text) {
                return Some(value);
            }
        }
        match self.rest.first()? {
            b'"' => self.string().map(Value::String),
            b'[' | b'{' => {
                self.depth_left = self.depth_left.checked_sub(1)?;
                let value = if self.takes_mark(b"[") {
                    self.array()
                } else {
                    self.object()
                };
                self.depth_left += 1;
                value
            }
            _ => self.number().map(Value::Number),
        }
    }

    fn array(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        if self.takes(b"]") {
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            if !self.takes_mark(b",") {
                return self.takes(b"]").then_some(Value::Array(items));
            }
        }
    }

    fn object(&mut self) -> Option<Value> {
        let mut members = Vec::new();
        self.takes_mark(b"{");
        if self.takes(b"}") {
            return Some(Value::Object(members));
        }
        loop {
            let name = self.string()?;
            if !self.takes_mark(b":") {
                return None;
            }
            members.push((name, self.value()?));
            if !self.takes_mark(b",") {
                return self.takes(b"}").then_some(Value::Object(members));
            }
        }
    }

    /// `[ "-" ] int [ "." 1*DIGIT ] [ e [ sign ] 1*DIGIT ]`; no zero before other digits.
    fn number(&mut self) -> Option<f64> {
        let before = self.rest;
        self.takes(b"-");
        let zero = self.rest.first() == Some(&b'0');
        if self.digits()? > 1 && zero {
            return None;
        }
        if self.takes(b".") {
            self.digits()?;
        }
        if self.takes(b"e") || self.takes(b"E") {
            let _signed = self.takes(b"+") || self.takes(b"-");
            self.digits()?;
        }
        let text = std::str::from_utf8(&before[..before.len() - self.rest.len()]).ok()?;
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Takes digits and counts them; there has to be one.
    fn digits(&mut self) -> Option<usize> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = &self.rest[count..];
        (count > 0).then_some(count)
    }

    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        if !self.takes(b"\"") {
            return None;
        }
        loop {
            let plain = |byte: &&u8| **byte >= 0x20 && **byte != b'"' && **byte != b'\\';
            let length = self.rest.iter().take_while(plain).count();
            let (run, rest) = self.rest.split_at(length);
            self.rest = rest;
            match std::str::from_utf8(run) {
                Ok(run) => text.push_str(run),
                Err(_) if self.replace => text.push_str(&String::from_utf8_lossy(run)),
                Err(_) => return None,
            }
            if self.takes(b"\"") {
                return Some(text);
            }
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Option<char> {
        if !self.takes(b"\\") {
            return None;
        }
        let (&letter, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return None,
        })
    }

    /// Behind `\u`: four digits, or two halves of a pair (RFC 8259 section 7).
    fn unicode(&mut self) -> Option<char> {
        let first = self.hex()?;
        if let Some(character) = char::from_u32(first) {
            return Some(character);
        }
        let behind = self.rest;
        if first < 0xdc00 && self.takes(b"\\u") {
            // A malformed escape is seen when its own turn comes.
            if let Some(second) = self.hex().filter(|second| (0xdc00..0xe000).contains(second)) {
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
        }
        self.rest = behind;
        self.replace.then_some('\u{fffd}')
    }

    fn hex(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        self.rest = rest;
        digits
            .iter()
            .try_fold(0, |sum, &byte| Some(sum * 16 + char::from(byte).to_digit(16)?))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::{Value, read};

    /// As `serde_json` has it: of members with the same name the last counts.
    fn plain(value: Value) -> serde_json::Value {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => value.into(),
            Value::Number(number) => number.into(),
            Value::String(text) => text.into(),
            Value::Array(items) => items.into_iter().map(plain).collect(),
            Value::Object(members) => members.into_iter().map(|(name, value)| (name, plain(value))).collect(),
        }
    }

    /// What `serde_json` reads, its integers as doubles.
    pub(crate) fn reference(text: &[u8]) -> Option<serde_json::Value> {
        fn doubles(value: serde_json::Value) -> serde_json::Value {
            match value {
                serde_json::Value::Number(number) => number.as_f64().expect("a double").into(),
                serde_json::Value::Array(items) => items.into_iter().map(doubles).collect(),
                serde_json::Value::Object(members) => members
                    .into_iter()
                    .map(|(name, value)| (name, doubles(value)))
                    .collect(),
                other => other,
            }
        }
        serde_json::from_slice(text).ok().map(doubles)
    }

    /// Pieces of the grammar; in any order they are text that is nearly JSON.
    pub(crate) const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\u00e9",
        "\\ud83d",
        "\\ude00",
        "\\n",
        "0",
        "1",
        "-",
        ".",
        "e",
        "E+",
        "9",
        "12345",
        "true",
        "null",
        "false",
        " ",
        "\n",
        "\"a\"",
        "\"a\":",
        "\"k\":",
        "{\"a\":1}",
        "[1]",
        "{}",
        "\u{e9}",
        "\u{1f600}",
        "\t",
        "x",
        "\u{1}",
        "1e999",
        "\"\\ud83d\\ude00\"",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_agrees_with_serde_json(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..10)) {
            let text = pieces.concat();
            for text in [text.clone(), format!("[{text}]"), format!("\"{text}\""), format!("{{\"a\":{text}}}")] {
                prop_assert_eq!(read(text.as_bytes(), 100, false).map(plain), reference(text.as_bytes()), "{}", text);
            }
        }

        #[test]
        fn it_agrees_with_serde_json_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..6)) {
            let text = [b"\"", &bytes[..], b"\""].concat();
            prop_assert_eq!(read(&text, 1, false).map(plain), reference(&text));
            prop_assert_eq!(read(&bytes, 1, false).map(plain), reference(&bytes));
        }
    }

    #[test]
    fn it_counts_depth_and_replaces() {
        assert!(read(b"[[]]", 1, true).is_none() && read(b"[[],{}]", 2, true).is_some());
        let replaced = read(b"\"\\ud800\\u0041\xff\"", 0, true);
        assert_eq!(replaced, Some(Value::String("\u{fffd}A\u{fffd}".into())));
        assert_eq!(read(b"\"\\ud800\"", 0, false), None);
        assert_ne!(read(b"-0", 0, false), read(b"0", 0, false));
    }
}
