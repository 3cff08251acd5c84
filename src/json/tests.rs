//! What the decoder accepts and refuses, and that both directions agree with `serde_json`.

use proptest::prelude::*;
use serde_json::Value;

use super::JsonErrorKind::*;
use super::*;
use crate::testing::json::tests::{PIECES, reference};

const REPLACE: DecodeOptions = DecodeOptions {
    depth_max: 128,
    invalid_utf8: InvalidUtf8::Replace,
};

/// Builds the value that `text` holds, the way a caller would.
fn decode(text: &[u8], options: DecodeOptions) -> Result<Value, JsonError> {
    let mut reader = Reader::new(text, options);
    let mut scratch = Vec::new();
    let value = {
        let first = own(reader.next(&mut scratch)?);
        build(&mut reader, &mut scratch, first)?
    };
    match reader.next(&mut scratch)? {
        Token::End => Ok(value),
        token => panic!("{token:?} after a whole value"),
    }
}

/// A token that no longer borrows.
enum Owned {
    Value(Value),
    Key(String),
    Array,
    Object,
    Close,
}

fn own(token: Token<'_>) -> Owned {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("strings are valid UTF-8");
    match token {
        Token::Null => Owned::Value(Value::Null),
        Token::True => Owned::Value(true.into()),
        Token::False => Owned::Value(false.into()),
        Token::Number(number) => Owned::Value(number.into()),
        Token::String(bytes) => Owned::Value(text(bytes).into()),
        Token::Key(bytes) => Owned::Key(text(bytes)),
        Token::ArrayStart => Owned::Array,
        Token::ObjectStart => Owned::Object,
        Token::ArrayEnd | Token::ObjectEnd => Owned::Close,
        Token::End => panic!("the end before a whole value"),
    }
}

fn build(reader: &mut Reader<'_>, scratch: &mut Vec<u8>, first: Owned) -> Result<Value, JsonError> {
    match first {
        Owned::Value(value) => Ok(value),
        Owned::Array => {
            let mut items = Vec::new();
            loop {
                match own(reader.next(scratch)?) {
                    Owned::Close => return Ok(items.into()),
                    item => items.push(build(reader, scratch, item)?),
                }
            }
        }
        Owned::Object => {
            let mut members = serde_json::Map::new();
            loop {
                match own(reader.next(scratch)?) {
                    Owned::Close => return Ok(members.into()),
                    Owned::Key(name) => {
                        let value = own(reader.next(scratch)?);
                        members.insert(name, build(reader, scratch, value)?);
                    }
                    _ => panic!("an object holds something without a name"),
                }
            }
        }
        Owned::Key(_) | Owned::Close => panic!("a value is expected"),
    }
}

#[test]
fn accepts_every_form_of_the_grammar() {
    let rows: &[&[u8]] = &[
        b"null",
        b"true",
        b"false",
        b"0",
        b"-0",
        b"-1",
        b"10",
        b"1.5",
        b"0.1",
        b"-0.0",
        b"1e1",
        b"1E+2",
        b"1e-2",
        b"0e0",
        b"123456789012345678901234567890",
        b"9007199254740993",
        b"1e-400",
        b"4.9e-324",
        b"1.7976931348623157e308",
        b"0.1000000000000000055511151231257827",
        b"1e22",
        b"1e23",
        b"123e-22",
        b"8.5e00001",
        b"1e-00000000000000000001",
        b"\"\"",
        b"\"a\"",
        b"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        b"\"\\u0000\"",
        b"\"\\u00e9\\uD83D\\uDE00\"",
        b"\"\x7f\"",
        "\"h\u{e9}llo \u{1f600}\u{2028}\"".as_bytes(),
        b"\"</script>\"",
        b"[]",
        b"[ ]",
        b"{}",
        b"{\t}",
        b"[[],{}]",
        b" [ 1 , 2 ] ",
        b"{\"a\":1}",
        b"{ \"a\" : { \"b\" : [ null , true ] } }\r\n\t ",
        b"{\"\":0}",
        b"{\"a\":1,\"a\":2}",
        b"{\"\\u0061\":1,\"b\":[{}]}",
    ];
    for row in rows {
        let text = String::from_utf8_lossy(row);
        assert_eq!(
            decode(row, DecodeOptions::default()).as_ref().ok(),
            reference(row).as_ref(),
            "{text}"
        );
        assert!(decode(row, REPLACE).is_ok(), "{text}");
    }
    assert_eq!(
        decode(b"\xef\xbb\xbf[1]", REPLACE).expect("the mark is skipped"),
        reference(b"[1]").expect("JSON")
    );
}

/// A text, what is wrong with it, and at which byte.
const REFUSED: &[(&[u8], JsonErrorKind, usize)] = &[
    (b"", UnexpectedEnd, 0),
    (b"  ", UnexpectedEnd, 2),
    (b"\xef\xbb\xbf", UnexpectedEnd, 3),
    (b"\xef\xbb\xbf\xef\xbb\xbf1", ExpectedValue, 3),
    (b"nul", UnexpectedEnd, 3),
    (b"nulL", ExpectedValue, 0),
    (b"True", ExpectedValue, 0),
    (b"NaN", ExpectedValue, 0),
    (b"Infinity", ExpectedValue, 0),
    (b"-Infinity", BadNumber, 1),
    (b"'a'", ExpectedValue, 0),
    (b"+1", ExpectedValue, 0),
    (b".5", ExpectedValue, 0),
    (b"-", UnexpectedEnd, 1),
    (b"01", BadNumber, 0),
    (b"-01", BadNumber, 1),
    (b"00", BadNumber, 0),
    (b"1.", UnexpectedEnd, 2),
    (b"[1.]", BadNumber, 3),
    (b"1.e1", BadNumber, 2),
    (b"1e", UnexpectedEnd, 2),
    (b"1e+", UnexpectedEnd, 3),
    (b"[1e+]", BadNumber, 4),
    (b"0x10", TrailingText, 1),
    (b"1_000", TrailingText, 1),
    (b"1e999", NumberRange, 0),
    (b"[-1e309]", NumberRange, 1),
    (b"1e99999999999999999999", NumberRange, 0),
    (b"1 2", TrailingText, 2),
    (b"[] x", TrailingText, 3),
    (b"{}}", TrailingText, 2),
    (b"1\0", TrailingText, 1),
    (b"[", UnexpectedEnd, 1),
    (b"[1", UnexpectedEnd, 2),
    (b"[1,", UnexpectedEnd, 3),
    (b"[1,]", TrailingComma, 3),
    (b"[,1]", ExpectedValue, 1),
    (b"[1,,2]", ExpectedValue, 3),
    (b"[1 2]", ExpectedArrayEnd, 3),
    (b"[1}", ExpectedArrayEnd, 2),
    (b"]", ExpectedValue, 0),
    (b"[1:2]", ExpectedArrayEnd, 2),
    (b"[\x0b1]", ExpectedValue, 1),
    (b"[1/**/]", ExpectedArrayEnd, 2),
    (b"{", UnexpectedEnd, 1),
    (b"{a:1}", ExpectedKey, 1),
    (b"{1:1}", ExpectedKey, 1),
    (b"{\"a\"}", ExpectedColon, 4),
    (b"{\"a\" 1}", ExpectedColon, 5),
    (b"{\"a\"", UnexpectedEnd, 4),
    (b"{\"a\":}", ExpectedValue, 5),
    (b"{\"a\":1,}", TrailingComma, 7),
    (b"{\"a\":1", UnexpectedEnd, 6),
    (b"{\"a\":1]", ExpectedObjectEnd, 6),
    (b"{,}", ExpectedKey, 1),
    (b"{\"a\":1 \"b\":2}", ExpectedObjectEnd, 7),
    (b"{\"a\":1,2}", ExpectedKey, 7),
    (b"\"a", UnexpectedEnd, 2),
    (b"\"a\n\"", ControlCharacter, 2),
    (b"\"\0\"", ControlCharacter, 1),
    (b"\"\x1f\"", ControlCharacter, 1),
    (b"\"\\", UnexpectedEnd, 2),
    (b"\"\\x41\"", BadEscape, 1),
    (b"\"\\u12\"", BadEscape, 1),
    (b"\"\\u12", UnexpectedEnd, 5),
    (b"\"\\u+123\"", BadEscape, 1),
    (b"\"\\uD800\"", LoneSurrogate, 1),
    (b"\"\\uDC00\\uD800\"", LoneSurrogate, 1),
    (b"\"\\uD800\\n\"", LoneSurrogate, 1),
    (b"\"ab\xff\"", IllFormedUtf8, 3),
    (b"\"\\n\xc3\"", IllFormedUtf8, 3),
    (b"\"\xed\xa0\x80\"", IllFormedUtf8, 1),
    (b"\"\xc0\x80\"", IllFormedUtf8, 1),
    (b"\xff", ExpectedValue, 0),
];

#[test]
fn refuses_all_else_and_says_where() {
    for &(row, kind, offset) in REFUSED {
        let error = decode(row, DecodeOptions::default()).expect_err(&String::from_utf8_lossy(row));
        assert_eq!(
            (error.kind, error.offset),
            (kind, offset),
            "{}",
            String::from_utf8_lossy(row)
        );
    }
}

#[test]
fn an_error_is_a_sentence_with_a_place_and_comes_again() {
    let mut reader = Reader::new(b"[1,\n  2,\n  x]", DecodeOptions::default());
    let mut scratch = Vec::new();
    let error = loop {
        if let Err(error) = reader.next(&mut scratch) {
            break error;
        }
    };
    assert_eq!(error.to_string(), "a value is expected at line 3 column 3 (byte 12)");
    assert_eq!(reader.next(&mut scratch), Err(error));
    let mut reader = Reader::new(b"1", DecodeOptions::default());
    assert_eq!(reader.next(&mut scratch), Ok(Token::Number(1.0)));
    assert_eq!(reader.next(&mut scratch), Ok(Token::End));
    assert_eq!(reader.next(&mut scratch), Ok(Token::End));
}

#[test]
fn replaces_what_is_not_unicode_when_told_so() {
    let rows: &[(&[u8], &str)] = &[
        (b"\"\\uD800\"", "\u{fffd}"),
        (b"\"\\uDC00\\uD83D\\uDE00\"", "\u{fffd}\u{1f600}"),
        (b"\"\\uD800\\uD83D\\uDE00\"", "\u{fffd}\u{1f600}"),
        (b"\"\\uD800\\u0041\"", "\u{fffd}A"),
        (b"\"a\xffb\xf0\x9f\x98\"", "a\u{fffd}b\u{fffd}"),
        (b"\"\xc3\\u0041\xa9\"", "\u{fffd}A\u{fffd}"),
    ];
    for &(row, expected) in rows {
        assert_eq!(
            decode(row, REPLACE),
            Ok(expected.into()),
            "{}",
            String::from_utf8_lossy(row)
        );
    }
    assert_eq!(
        decode(b"\"\\uZZZZ\"", REPLACE).map_err(|error| error.kind),
        Err(BadEscape)
    );
}

#[test]
fn nesting_is_bounded_exactly() {
    for depth_max in [1, 2, 63, 64, 65, 128, DEPTH_LIMIT, u32::MAX] {
        let options = DecodeOptions {
            depth_max,
            ..DecodeOptions::default()
        };
        let limit = depth_max.min(DEPTH_LIMIT) as usize;
        let nested = |depth: usize| {
            let opening = (0..depth)
                .map(|level| if level % 3 == 0 { "[" } else { "{\"k\":" })
                .collect::<String>();
            let closing = (0..depth)
                .rev()
                .map(|level| if level % 3 == 0 { "]" } else { "}" })
                .collect::<String>();
            format!("{opening}{}{closing}", if depth % 3 == 1 { "" } else { "0" })
        };
        let count = |text: &str| {
            let mut reader = Reader::new(text.as_bytes(), options);
            let mut scratch = Vec::new();
            let mut deepest = 0;
            while reader.next(&mut scratch)? != Token::End {
                deepest = deepest.max(reader.depth() as usize);
            }
            Ok::<usize, JsonError>(deepest)
        };
        assert_eq!(count(&nested(limit)), Ok(limit));
        assert_eq!(count(&nested(limit + 1)).map_err(|error| error.kind), Err(TooDeep));
    }
    let hostile = vec![b'['; 1 << 20];
    assert_eq!(
        decode(&hostile, DecodeOptions::default()).map_err(|error| error.offset),
        Err(128)
    );
}

#[test]
fn nothing_between_two_calls_has_a_destructor() {
    assert!(!std::mem::needs_drop::<Reader<'_>>());
    assert!(!std::mem::needs_drop::<Result<Token<'_>, JsonError>>());
    assert!(!std::mem::needs_drop::<Result<(), EncodeError>>());
}

fn written(number: f64) -> String {
    let mut out = Vec::new();
    write_number(&mut out, number).expect("finite");
    String::from_utf8(out).expect("ASCII")
}

#[test]
fn numbers_are_written_short_and_exact() {
    let rows: &[(f64, &str)] = &[
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-42.0, "-42"),
        (0.1, "0.1"),
        (1.0 / 3.0, "0.3333333333333333"),
        (1e15, "1000000000000000"),
        (9007199254740991.0, "9007199254740991"),
        (9007199254740992.0, "9007199254740992"),
        (9007199254740994.0, "9007199254740994"),
        (-9007199254740992.0, "-9007199254740992"),
    ];
    for &(number, expected) in rows {
        assert_eq!(written(number), expected);
    }
    let mut out = b"[".to_vec();
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(write_number(&mut out, number), Err(EncodeError::NotFinite));
    }
    assert_eq!(out, b"[");
    write_integer(&mut out, i64::MIN);
    assert_eq!(out, b"[-9223372036854775808");
}

#[test]
fn strings_are_escaped_and_refused() {
    let rows: &[(&[u8], &str)] = &[
        (b"", "\"\""),
        (b"plain", "\"plain\""),
        (b"a\"b\\c/d</script>", "\"a\\\"b\\\\c/d</script>\""),
        (
            b"\x00\x01\x08\x09\x0a\x0b\x0c\x0d\x1f\x7f",
            "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\x7f\"",
        ),
        ("h\u{e9}llo \u{1f600}".as_bytes(), "\"h\u{e9}llo \u{1f600}\""),
    ];
    for &(text, expected) in rows {
        let mut out = b"x".to_vec();
        assert_eq!(write_string(&mut out, text, InvalidUtf8::Refuse), Ok(()));
        assert_eq!(out[1..], *expected.as_bytes());
    }
    let mut out = b"x".to_vec();
    let refused = write_string(&mut out, b"ab\"\xff\n", InvalidUtf8::Refuse);
    assert_eq!(
        (refused, out.as_slice()),
        (Err(EncodeError::InvalidUtf8 { offset: 3 }), &b"x"[..])
    );
    assert_eq!(write_string(&mut out, b"ab\"\xff\n", InvalidUtf8::Replace), Ok(()));
    assert_eq!(out, "x\"ab\\\"\u{fffd}\\n\"".as_bytes());
}

/// Text that is nearly JSON: whole pieces of the grammar in any order.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        20 => proptest::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 1),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Any value, a few containers deep.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(Value::from),
        any::<i32>().prop_map(|number| Value::from(f64::from(number))),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_and_refuses_what_serde_json_does(text in nearly_json()) {
        prop_assert_eq!(decode(&text, DecodeOptions::default()).ok(), reference(&text));
        let _ = decode(&text, REPLACE);
    }

    #[test]
    fn reads_what_serde_json_writes(value in json_value(), cut in any::<proptest::sample::Index>()) {
        for text in [serde_json::to_vec(&value).expect("JSON"), serde_json::to_vec_pretty(&value).expect("JSON")] {
            prop_assert_eq!(decode(&text, DecodeOptions::default()), Ok(value.clone()));
            let part = &text[..cut.index(text.len())];
            prop_assert_eq!(decode(part, DecodeOptions::default()).ok(), reference(part));
        }
    }

    #[test]
    fn any_bytes_end_in_a_value_or_an_error(text in proptest::collection::vec(any::<u8>(), 0..64)) {
        prop_assert_eq!(decode(&text, DecodeOptions::default()).ok(), reference(&text));
    }

    #[test]
    fn numbers_come_back_the_same(bits in any::<u64>(), integer in any::<i64>(), cents in any::<i32>()) {
        for number in [f64::from_bits(bits), integer as f64, (integer >> 12) as f64, f64::from(cents) / 100.0] {
            if !number.is_finite() {
                continue;
            }
            let text = written(number);
            prop_assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()));
            let mut reader = Reader::new(text.as_bytes(), DecodeOptions::default());
            match reader.next(&mut Vec::new()) {
                Ok(Token::Number(back)) => prop_assert_eq!(back.to_bits(), number.to_bits()),
                other => prop_assert!(false, "{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn decimals_are_read_to_the_nearest_double(text in "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][-+]?[0-9]{1,3})?") {
        let nearest: f64 = text.parse().expect("a number");
        let read = decode(text.as_bytes(), DecodeOptions::default()).ok().and_then(|value| value.as_f64());
        prop_assert_eq!(read.map(f64::to_bits), nearest.is_finite().then_some(nearest.to_bits()));
    }

    #[test]
    fn strings_come_back_the_same(text in proptest::collection::vec(any::<u8>(), 0..40), valid in any::<String>()) {
        let mut out = Vec::new();
        write_string(&mut out, valid.as_bytes(), InvalidUtf8::Refuse).expect("UTF-8");
        prop_assert_eq!(serde_json::from_slice::<String>(&out).ok(), Some(valid.clone()));
        prop_assert_eq!(decode(&out, DecodeOptions::default()), Ok(valid.into()));
        out.clear();
        let written = write_string(&mut out, &text, InvalidUtf8::Refuse);
        prop_assert_eq!(written.is_ok(), std::str::from_utf8(&text).is_ok());
        out.clear();
        write_string(&mut out, &text, InvalidUtf8::Replace).expect("replaced");
        prop_assert_eq!(decode(&out, DecodeOptions::default()), Ok(String::from_utf8_lossy(&text).into()));
    }
}
