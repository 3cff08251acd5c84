//! Bytes as JSON: the decoder agrees with the naive reader, and what is written reads back the same.

use super::Input;
use crate::json::{DecodeOptions, InvalidUtf8, JsonError, Reader, Token, write_integer, write_number, write_string};
use crate::testing::json::{Value, read};

/// The deepest nesting tried, small enough for the naive reader's recursion.
const DEPTHS: [u32; 2] = [3, 128];

/// The bytes as a text: accepted or refused as the naive reader does, with the same value.
pub fn json_decode(data: &[u8]) {
    for depth_max in DEPTHS {
        for invalid_utf8 in [InvalidUtf8::Refuse, InvalidUtf8::Replace] {
            let options = DecodeOptions {
                depth_max,
                invalid_utf8,
            };
            let expected = read(data, depth_max as usize, invalid_utf8 == InvalidUtf8::Replace);
            match decode(data, options) {
                Ok(value) => assert_eq!(Some(value), expected),
                Err(error) => {
                    assert_eq!(None, expected, "{error}");
                    places_are_right(data, error);
                }
            }
        }
    }
}

/// The bytes as a text, as one string, and as numbers: what is written reads back the same, and is written the same again.
pub fn json_round_trip(data: &[u8]) {
    let replace = DecodeOptions {
        invalid_utf8: InvalidUtf8::Replace,
        ..DecodeOptions::default()
    };
    if let Ok(value) = decode(data, replace) {
        let text = written(&value);
        assert_eq!(read(&text, 128, false).as_ref(), Some(&value));
        assert_eq!(decode(&text, DecodeOptions::default()).as_ref(), Ok(&value));
    }
    string_comes_back(data);
    let mut input = Input::new(data);
    while !input.is_empty() {
        let bits = input.take(8).iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        number_comes_back(f64::from_bits(bits));
        number_comes_back(bits as i64 as f64);
        let mut out = Vec::new();
        write_integer(&mut out, bits as i64);
        assert_eq!(String::from_utf8(out).map(|text| text.parse()), Ok(Ok(bits as i64)));
    }
}

fn string_comes_back(data: &[u8]) {
    let before = b"[";
    let mut out = before.to_vec();
    let refused = write_string(&mut out, data, InvalidUtf8::Refuse).is_err();
    assert_eq!(refused, std::str::from_utf8(data).is_err());
    assert!(!refused || out == before, "a refusal leaves the buffer as it was");
    let mut replaced = Vec::new();
    write_string(&mut replaced, data, InvalidUtf8::Replace).expect("what is no UTF-8 is replaced");
    assert!(refused || out[1..] == replaced);
    let expected = Value::String(String::from_utf8_lossy(data).into_owned());
    assert_eq!(read(&replaced, 0, false).as_ref(), Some(&expected));
    assert_eq!(decode(&replaced, DecodeOptions::default()), Ok(expected));
}

fn number_comes_back(number: f64) {
    let mut out = Vec::new();
    assert_eq!(write_number(&mut out, number).is_ok(), number.is_finite());
    if number.is_finite() {
        let expected = Value::Number(number);
        assert_eq!(read(&out, 0, false).as_ref(), Some(&expected));
        assert_eq!(decode(&out, DecodeOptions::default()), Ok(expected));
    } else {
        assert!(out.is_empty(), "a refusal leaves the buffer as it was");
    }
}

/// An error names a place inside the text, counts its lines, and comes again.
fn places_are_right(data: &[u8], error: JsonError) {
    let before = data.get(..error.offset).expect("a place in the text");
    let lines: Vec<&[u8]> = before.split(|&byte| byte == b'\n').collect();
    let column = lines.last().map_or(0, |line| line.len()) + 1;
    assert_eq!((error.line as usize, error.column as usize), (lines.len(), column));
}

/// The value of a text, put together from tokens as a caller would.
fn decode(data: &[u8], options: DecodeOptions) -> Result<Value, JsonError> {
    let mut reader = Reader::new(data, options);
    let mut scratch = Vec::new();
    // Containers that are open, with the name that a member of the innermost will have.
    let mut open: Vec<(Value, Option<String>)> = Vec::new();
    let mut whole = None;
    loop {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("strings are UTF-8");
        let token = match reader.next(&mut scratch) {
            Ok(token) => token,
            Err(error) => {
                assert_eq!(reader.next(&mut scratch), Err(error), "an error comes again");
                return Err(error);
            }
        };
        let value = match token {
            Token::Null => Value::Null,
            Token::True => Value::Bool(true),
            Token::False => Value::Bool(false),
            Token::Number(number) => Value::Number(number),
            Token::String(bytes) => Value::String(text(bytes)),
            Token::Key(bytes) => {
                let (_, name) = open.last_mut().expect("a name stands in an object");
                assert!(name.replace(text(bytes)).is_none(), "one name for one value");
                continue;
            }
            Token::ArrayStart | Token::ObjectStart => {
                let object = token == Token::ObjectStart;
                let empty = if object {
                    Value::Object(Vec::new())
                } else {
                    Value::Array(Vec::new())
                };
                open.push((empty, None));
                assert_eq!(reader.depth() as usize, open.len());
                continue;
            }
            Token::ArrayEnd | Token::ObjectEnd => {
                let (value, name) = open.pop().expect("what ends has begun");
                let object = matches!(value, Value::Object(_));
                assert!(name.is_none() && object == (token == Token::ObjectEnd));
                value
            }
            Token::End => {
                assert!(open.is_empty() && reader.offset() == data.len());
                return Ok(whole.expect("a value before the end"));
            }
        };
        match open.last_mut() {
            None => assert!(whole.replace(value).is_none(), "one value"),
            Some((Value::Array(items), None)) => items.push(value),
            Some((Value::Object(members), name)) => {
                members.push((name.take().expect("a name before its value"), value))
            }
            Some(other) => panic!("{other:?} holds no such value"),
        }
    }
}

/// The value written with the primitives, as a caller would.
fn written(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(&mut out, value);
    out
}

fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Value::Number(number) => write_number(out, *number).expect("what was read is finite"),
        Value::String(text) => write_string(out, text.as_bytes(), InvalidUtf8::Refuse).expect("UTF-8"),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"" } else { b"," });
                write_value(out, item);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            out.push(b'{');
            for (index, (name, member)) in members.iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"" } else { b"," });
                write_string(out, name.as_bytes(), InvalidUtf8::Refuse).expect("UTF-8");
                out.push(b':');
                write_value(out, member);
            }
            out.push(b'}');
        }
    }
}
