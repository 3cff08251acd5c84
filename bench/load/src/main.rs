//! `load ADDRESS SECONDS KIND=COUNT...`: so many clients of each kind against a server on this machine, each in a thread of its
//! own, for so long. Prints a line per kind: `KIND answers=N errors=N closed=N p50_us=N p99_us=N max_us=N`.
//!
//! `load ADDRESS hold COUNT`: opens so many connections, has one request answered on each, prints `held COUNT` and keeps
//! them open and silent until its standard input ends.
//!
//! Every answer is checked byte for byte, JSON as JSON, so a fast wrong answer never counts. It may assume the routes of
//! bench/server.lua. It must never take an answer that was cut short for a whole one.

mod clients;
mod http;

use std::io::{self, Read};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clients::{Kind, Tally};

const USAGE: &str = "usage: load ADDRESS SECONDS KIND=COUNT... | load ADDRESS hold COUNT";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let [address, what, rest @ ..] = words else {
        return Err(USAGE.to_owned());
    };
    let address: SocketAddr = address.parse().map_err(|_| format!("not an address: {address}"))?;
    if what == "hold" {
        let count = rest.first().and_then(|word| word.parse().ok()).ok_or(USAGE)?;
        return hold(address, count).map_err(|error| format!("cannot hold {count} connections: {error}"));
    }
    let seconds: f64 = what.parse().map_err(|_| USAGE)?;
    let mut kinds = Vec::new();
    for word in rest {
        let (name, count) = word.split_once('=').ok_or(USAGE)?;
        let kind = Kind::from_name(name).ok_or_else(|| format!("no kind of client is called {name}"))?;
        kinds.push((kind, count.parse().map_err(|_| USAGE)?));
    }
    attack(address, Duration::from_secs_f64(seconds), &kinds);
    Ok(())
}

fn attack(address: SocketAddr, duration: Duration, kinds: &[(Kind, usize)]) {
    let end = Instant::now() + duration;
    let threads: Vec<_> = kinds
        .iter()
        .flat_map(|&(kind, count)| (0..count).map(move |_| kind))
        .map(|kind| (kind, thread::spawn(move || clients::run(kind, address, end))))
        .collect();
    let mut tallies: Vec<(Kind, Tally)> = Vec::new();
    for (kind, thread) in threads {
        let tally = thread.join().expect("a client does not panic");
        match tallies.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, sum)) => sum.add(tally),
            None => tallies.push((kind, tally)),
        }
    }
    for (kind, tally) in &mut tallies {
        println!("{} {tally}", kind.name());
        for error in &tally.samples {
            eprintln!("{}: {error}", kind.name());
        }
    }
}

fn hold(address: SocketAddr, count: usize) -> io::Result<()> {
    let mut held = Vec::with_capacity(count);
    for _ in 0..count {
        let mut connection = http::Connection::open(address, None)?;
        connection.send(http::HEALTH)?;
        connection.receive()?.check_health().map_err(io::Error::other)?;
        held.push(connection);
    }
    println!("held {count}");
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
