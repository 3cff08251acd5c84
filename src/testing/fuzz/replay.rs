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

/// A part of one input, with a part of another in it, a few bytes changed, doubled or gone.
fn made(kept: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut data = random.pick(kept).clone();
    if random.chance(60) {
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
    for _ in 0..random.below(4) {
        let at = random.below(data.len() + 1);
        match random.below(4) {
            0 => data.insert(at, random.bits() as u8),
            1 => data.truncate(at.max(1)),
            _ if at == data.len() => {}
            2 => drop(data.remove(at)),
            _ => data[at] = *random.pick(b"\0\r\n :;,\"\\/%[]{}\x7f\xff019aAxX-+."),
        }
    }
    data.truncate(MADE_BYTES_MAX);
    data
}

fn replay(name: &str, target: fn(&[u8])) {
    let kept = corpus(name);
    target(b"");
    for data in &kept {
        target(data);
    }
    let mut random = Random::new(kept.len() as u64);
    for _ in 0..MADE {
        target(&made(&kept, &mut random));
    }
    for length in 0..MADE / 10 {
        let noise: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        target(&noise);
    }
}

/// Each target with a folder of its own, a file of its own in `fuzz/`, and a test here.
macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name), super::$name);
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
    chunked
    connection
    head
    json_decode
    json_round_trip
    routes
}
