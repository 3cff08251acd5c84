//! Bytes from nowhere: nothing panics, and no cut changes what happens.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{LIMITS, run};
use crate::h1::Limits;

const TOKENS: &[&[u8]] = &[
    b"GET ",
    b"POST ",
    b"HEAD ",
    b"/",
    b"/a?b=%20",
    b"*",
    b"http://h/x",
    b" HTTP/1.1\r\n",
    b" HTTP/1.0\r\n",
    b" HTTP/2.0\r\n",
    b"Host: a\r\n",
    b"Host: b c\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"Content-Length: x\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Connection: close\r\n",
    b"Connection: keep-alive\r\n",
    b"Expect: 100-continue\r\n",
    b"\r\n",
    b"\r\n",
    b"\r\n",
    b"\n",
    b"\r",
    b"hello",
    b"5\r\nhello\r\n",
    b"0\r\n\r\n",
    b"0\r\n",
    b"X: y\r\n",
    b" ",
    b":",
    b";a=b",
    b"\x00",
    b"\xff",
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
];

fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.sort_unstable();
    ends.push(bytes.len());
    let mut start = 0;
    ends.into_iter()
        .map(|end| &bytes[std::mem::replace(&mut start, end)..end])
        .collect()
}

const TINY: Limits = Limits {
    head_bytes_max: 70,
    headers_max: 3,
    target_bytes_max: 10,
    body_bytes_max: 7,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cuts_change_nothing(parts in vec(select(TOKENS), 0..16), cuts in vec(any::<usize>(), 0..8), eof: bool) {
        let bytes = parts.concat();
        for limits in [&LIMITS, &TINY] {
            let whole = run(limits, &[&bytes], eof, false);
            prop_assert_eq!(&run(limits, &pieces(&bytes, &cuts), eof, false), &whole);
            prop_assert_eq!(&run(limits, &bytes.chunks(1).collect::<Vec<_>>(), eof, true), &whole);
        }
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..300), cuts in vec(any::<usize>(), 0..4), eof: bool) {
        let whole = run(&LIMITS, &[&bytes], eof, false);
        prop_assert_eq!(run(&LIMITS, &pieces(&bytes, &cuts), eof, false), whole);
    }

    #[test]
    fn one_wrong_byte_does_not_panic(at in any::<usize>(), byte: u8, cuts in vec(any::<usize>(), 0..4)) {
        let mut bytes = b"POST /a?b HTTP/1.1\r\nHost: a:80\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"b\"\r\nhello\r\n0\r\nX: y\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        let whole = run(&LIMITS, &[&bytes], false, false);
        prop_assert_eq!(run(&LIMITS, &pieces(&bytes, &cuts), false, false), whole);
    }
}
