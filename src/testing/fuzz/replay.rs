//! Every target over the inputs kept in `fuzz/corpus`, and over inputs made from them with fixed seeds.
//!
//! So the assertions of the fuzz targets hold in every test run, without a fuzzer.

use std::fs;
use std::path::PathBuf;

use crate::testing::Random;

/// Inputs made for each target.
const MADE: usize = 2000;
/// Longest input that is made, in bytes.
const MADE_BYTES_MAX: usize = 400;

/// The inputs kept for a target, in the order of their names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() >= 20, "{target}: {} inputs are kept", files.len());
    files
        .iter()
        .map(|file| fs::read(file).expect("a readable input"))
        .collect()
}

/// One input with a part of another in it, with words in it or made of words alone, a few bytes changed or gone.
fn made(kept: &[Vec<u8>], words: &[&[u8]], random: &mut Random) -> Vec<u8> {
    let mut data = random.pick(kept).clone();
    match random.below(10) {
        0..4 => {
            let other = random.pick(kept);
            let from = random.below(other.len());
            let part = &other[from..random.between(from, other.len())];
            let at = random.below(data.len() + 1);
            let end = if random.chance(50) {
                at
            } else {
                random.between(at, data.len())
            };
            data.splice(at..end, part.iter().copied());
        }
        4..8 if !words.is_empty() => {
            for _ in 0..random.between(1, 3) {
                let ends = (0..data.len()).filter(|&at| data[at] == b'\n');
                let mut places: Vec<usize> = ends.map(|at| at + 1).collect();
                places.push(random.below(data.len() + 1));
                let at = *random.pick(&places);
                data.splice(at..at, random.pick(words).iter().copied());
            }
        }
        8 if !words.is_empty() => {
            data = (0..random.below(14))
                .flat_map(|_| random.pick(words).to_vec())
                .collect()
        }
        _ => {}
    }
    for _ in 0..random.below(4) {
        let at = random.below(data.len() + 1);
        match random.below(8) {
            0 => data.insert(at, random.bits() as u8),
            1 => data.truncate(at.max(1)),
            _ if at == data.len() => {}
            2 => drop(data.remove(at)),
            3 => data[at] = *random.pick(b"\0\r\n :;,\"\\/%[]{}\x7f\xff019aAxX-+."),
            _ => {}
        }
    }
    data.truncate(MADE_BYTES_MAX);
    data
}

fn replay(name: &str, target: fn(&[u8]), words: &[&[u8]]) {
    let kept = corpus(name);
    target(b"");
    for data in kept.iter().map(Vec::as_slice).chain(words.iter().copied()) {
        target(data);
    }
    let mut random = Random::new(kept.len() as u64);
    for _ in 0..MADE {
        target(&made(&kept, words, &mut random));
    }
    for length in 0..MADE / 10 {
        let noise: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        target(&noise);
    }
}

/// Of requests; a whole one comes often, so that others stand behind it.
const HTTP: &[&[u8]] = &[
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"\r\nGET /a?b HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip\r\n",
    b"Connection: close\r\n",
    b"Connection: x, keep-alive\r\n",
    b"Expect: 100-continue\r\n",
    b"Host: a\r\n",
    b"X: y\r\n",
    b"\r\n",
    b"0\r\n\r\n",
    b"5\r\nhello\r\n",
    b"5;a=\"\\\"\" ; b\r\nhello\r\n",
    b"0\r\nX: y\r\n\r\n",
];

const JSON: &[&[u8]] = &[
    b"[[{},[1,[2],3]],{\"a\":{\"b\":[]},\"c\":1}]",
    b"{\"a\":[{},[[]],{\"b\":[1]},2],\"a\":null}",
    b"[1,",
    b"],",
    b"{\"a\":",
    b"},",
    b",",
    b"]",
    b"}",
    b"\"\\ud83d\\ude00\"",
    b"\"\\udbff\\udfff\\ud800\\udc00\"",
    b"\\ud83d",
    b"\\udc00",
    b"\"\xc3\xa9\"",
    b"-0.5e-7",
    b"true",
    b" ",
];

/// Each target with a folder of its own, a file of its own in `fuzz/`, and a test here.
macro_rules! targets {
    ($($name:ident: $words:expr,)*) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name), super::$name, $words);
            }
        )*

        #[test]
        fn every_target_is_replayed() {
            let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets");
            let mut files: Vec<String> = fs::read_dir(folder)
                .expect("the fuzz targets")
                .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
                .collect();
            files.sort();
            assert_eq!(files, [$(concat!(stringify!($name), ".rs")),*]);
        }
    };
}

targets! {
    chunked: HTTP,
    connection: &[],
    head: HTTP,
    json_decode: JSON,
    json_round_trip: JSON,
    routes: &[],
}
