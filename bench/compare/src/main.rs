//! `compare [--quick] [requests|idle|frames]...`: measures fastslua beside the floor and, where they are installed, LuaJIT and
//! nginx, all in one run, since figures of two runs on a shared machine do not compare.
//!
//! It may assume that it is started at the root of the sources, that build/fastslua.so is built, and that `floor`,
//! `native` and `load` lie beside it. It must never print a figure from answers that were wrong: those are counted and shown.

mod frames;
mod idle;
mod process;
mod requests;

use std::process::ExitCode;

/// A failed measurement is the end of the run, with a sentence.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// How long and how often to measure.
#[derive(Clone, Copy)]
pub struct Effort {
    pub seconds: u32,
    pub repetitions: u32,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let quick = words.iter().any(|word| word == "--quick");
    let chosen: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| *word != "--quick")
        .collect();
    if let Some(word) = chosen
        .iter()
        .find(|word| !["requests", "idle", "frames"].contains(word))
    {
        eprintln!("compare knows requests, idle, frames and --quick, not {word}");
        return ExitCode::from(2);
    }
    let effort = if quick {
        Effort {
            seconds: 3,
            repetitions: 1,
        }
    } else {
        Effort {
            seconds: 4,
            repetitions: 3,
        }
    };
    let wanted = |name: &str| chosen.is_empty() || chosen.contains(&name);
    match run(effort, wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("compare: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(effort: Effort, wanted: impl Fn(&str) -> bool) -> Outcome<()> {
    if wanted("requests") {
        requests::compare(effort)?;
    }
    if wanted("idle") {
        idle::measure()?;
    }
    if wanted("frames") {
        frames::measure(effort)?;
    }
    Ok(())
}

/// The middle value; of an even number, the upper of the two in the middle.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The number after `name=` in a line of such pairs.
pub fn figure(line: &str, name: &str) -> Outcome<f64> {
    let pair = line
        .split_whitespace()
        .find_map(|word| word.split_once('=').filter(|(key, _)| *key == name));
    let (_, value) = pair.ok_or_else(|| format!("no {name} in: {line}"))?;
    Ok(value.parse()?)
}
