//! Slow, obvious readers of the same grammar. They share nothing with the code under test.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::LIMITS;
use crate::h1::chunked::Chunked;
use crate::h1::scan::HeadScan;
use crate::h1::{Limits, Reject};

/// A body, and the bytes that follow it; `None` when bytes are missing.
type Decoded<'a> = Option<(Vec<u8>, &'a [u8])>;

/// A line without its CRLF, and what follows.
type Line<'a> = Option<(&'a [u8], &'a [u8])>;

/// As [`Decoded`], from pieces.
type DecodedPieces = Option<(Vec<u8>, Vec<u8>)>;

/// Where the head ends, if every line up to there ends in CRLF.
fn head_end(bytes: &[u8]) -> Result<Option<usize>, ()> {
    let mut line_start = 0;
    for at in 0..bytes.len() {
        if bytes[at] == b'\n' {
            if at == 0 || bytes[at - 1] != b'\r' {
                return Err(());
            }
            if at - line_start == 1 {
                return Ok(Some(at + 1));
            }
            line_start = at + 1;
        }
    }
    Ok(None)
}

/// Decodes a whole chunked body.
fn dechunk(mut rest: &[u8]) -> Result<Decoded<'_>, ()> {
    let mut body = Vec::new();
    loop {
        let Some((line, after)) = take_line(rest)? else {
            return Ok(None);
        };
        let size_text = std::str::from_utf8(line)
            .map_err(drop)?
            .split(';')
            .next()
            .unwrap_or_default();
        if size_text.starts_with('+') {
            return Err(());
        }
        let size = usize::from_str_radix(size_text, 16).map_err(drop)?;
        if !extensions_are_good(&line[size_text.len()..]) || body.len() + size > 64 {
            return Err(());
        }
        rest = after;
        if size == 0 {
            break;
        }
        if rest.len() < size + 2 {
            let seen = rest.get(size..).unwrap_or_default();
            return if b"\r\n".starts_with(seen) { Ok(None) } else { Err(()) };
        }
        body.extend_from_slice(&rest[..size]);
        if &rest[size..size + 2] != b"\r\n" {
            return Err(());
        }
        rest = &rest[size + 2..];
    }
    loop {
        let Some((line, after)) = take_line(rest)? else {
            return Ok(None);
        };
        rest = after;
        match line {
            b"" => return Ok(Some((body, rest))),
            _ if line.contains(&b'\r') => return Err(()),
            _ if line
                .iter()
                .position(|&b| b == b':')
                .is_some_and(|at| at > 0 && !line[..at].contains(&b';')) => {}
            _ => return Err(()),
        }
    }
}

/// The tokens below hold letters, digits and `+`; white space is not tried here.
fn extensions_are_good(text: &[u8]) -> bool {
    let token = |text: &[u8]| !text.is_empty() && text.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'+');
    let mut parts = text.split(|&b| b == b';');
    parts.next() == Some(b"")
        && parts.all(|part| match part.iter().position(|&b| b == b'=') {
            Some(at) => token(&part[..at]) && token(&part[at + 1..]),
            None => token(part),
        })
}

fn take_line(bytes: &[u8]) -> Result<Line<'_>, ()> {
    match bytes.iter().position(|&b| b == b'\n') {
        None => Ok(None),
        Some(at) if at > 0 && bytes[at - 1] == b'\r' => Ok(Some((&bytes[..at - 1], &bytes[at + 1..]))),
        Some(_) => Err(()),
    }
}

/// Feeds the scanner growing prefixes that end at `cuts`, then everything.
fn scan(bytes: &[u8], cuts: &[usize]) -> Result<Option<usize>, Reject> {
    let mut scanner = HeadScan::default();
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.sort_unstable();
    ends.push(bytes.len());
    for end in ends {
        if let Some(len) = scanner.scan(&bytes[..end], &LIMITS)? {
            return Ok(Some(len));
        }
    }
    Ok(None)
}

/// Feeds the decoder piece by piece, closing gaps as a connection does. The body, and what is left behind it.
fn decode(bytes: &[u8], cuts: &[usize]) -> Result<DecodedPieces, Reject> {
    let limits = Limits {
        body_bytes_max: 64,
        ..LIMITS
    };
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.sort_unstable();
    ends.push(bytes.len());
    let head = b"head";
    let mut decoder = Chunked::new(head.len());
    let mut buffer = head.to_vec();
    let mut fed = 0;
    for end in ends {
        buffer.extend_from_slice(&bytes[fed..end]);
        fed = end;
        if decoder.decode(head.len(), &mut buffer, &limits)? {
            assert_eq!(&buffer[..4], head);
            let mut rest = buffer[decoder.read_at()..].to_vec();
            rest.extend_from_slice(&bytes[fed..]);
            return Ok(Some((buffer[4..4 + decoder.body_len()].to_vec(), rest)));
        }
        let body_end = head.len() + decoder.body_len();
        let gap = decoder.read_at() - body_end;
        buffer.drain(body_end..body_end + gap);
        decoder.moved_down(gap);
    }
    Ok(None)
}

fn joined(tokens: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(select(tokens), 0..most).prop_map(|parts| parts.concat().into_bytes())
}

const HEAD_TOKENS: &[&str] = &["\r\n", "\r\n", "\r\n\r\n", "\r", "\n", "a: b", "Host: a", " ", "x"];
const CHUNK_TOKENS: &[&str] = &[
    "0\r\n",
    "0\r\n\r\n",
    "1\r\nx\r\n",
    "5\r\nhello\r\n",
    "a",
    "\r\n",
    "\r",
    "\n",
    ";x=y",
    ";x",
    ";",
    "X: y\r\n",
    "5",
    "00",
    "+",
    "hello",
    "100\r\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scanner_agrees_with_the_naive_one(tail in joined(HEAD_TOKENS, 14), cuts in vec(any::<usize>(), 0..6)) {
        let bytes = [b"GET / HTTP/1.1\r\n", &tail[..]].concat();
        prop_assert_eq!(scan(&bytes, &cuts).map_err(drop), head_end(&bytes));
    }

    #[test]
    fn decoder_agrees_with_the_naive_one(bytes in joined(CHUNK_TOKENS, 12), cuts in vec(any::<usize>(), 0..6)) {
        let expected = dechunk(&bytes).map(|found| found.map(|(body, rest)| (body, rest.to_vec())));
        match (decode(&bytes, &cuts), expected) {
            (Ok(Some(found)), expected) => prop_assert_eq!(Ok(Some(found)), expected),
            (Err(_), Err(())) => {}
            // Both judge a line only when it is whole.
            (Ok(None), Ok(None)) => {}
            (found, expected) => prop_assert!(false, "{:?} but {:?}", found, expected),
        }
    }

    #[test]
    fn what_was_chunked_is_decoded(pieces in vec(vec(any::<u8>(), 1..9), 0..7), cuts in vec(any::<usize>(), 0..9)) {
        let mut bytes = Vec::new();
        for piece in &pieces {
            crate::h1::encode::chunk(piece, &mut bytes);
        }
        bytes.extend_from_slice(b"0\r\n\r\nnext");
        prop_assert_eq!(decode(&bytes, &cuts), Ok(Some((pieces.concat(), b"next".to_vec()))));
    }
}
