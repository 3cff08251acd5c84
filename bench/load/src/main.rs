//! `load ADDRESS [OPTION=VALUE...] KIND=COUNT...`: so many clients of each kind against a server on this machine, all
//! driven by one thread. Prints one line of JSON: the window in seconds, the server's CPU time in it, and the figures of
//! each kind. Options: `seconds` to measure, `warmup` seconds before that, `target` (`health` or `unit`) of healthy clients,
//! `interval_us` between two requests of an undisturbed client (else the mean of the run), `pid` of the server, `mark`: an
//! address that is sent the datagrams `begin` and `end` at the edges of the measured window.
//!
//! `load ADDRESS hold COUNT`: opens so many connections, has one request answered on each, prints `held COUNT` and keeps
//! them open and silent until its standard input ends.
//!
//! Every answer is checked byte for byte, JSON as JSON, so a fast wrong answer never counts. It may assume the routes of
//! bench/hosts. It must never take an answer that was cut short for a whole one.

mod answer;
mod client;
mod cpu;
mod drive;
mod hold;
mod tally;

use std::net::{SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use client::{Kind, Target};
use drive::Drive;

const USAGE: &str = "usage: load ADDRESS [OPTION=VALUE...] KIND=COUNT... | load ADDRESS hold COUNT";

struct Job {
    seconds: Duration,
    warmup: Duration,
    target: Target,
    interval: Option<Duration>,
    pid: Option<u32>,
    mark: Option<SocketAddr>,
    kinds: Vec<(Kind, usize)>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("load: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let [address, rest @ ..] = words else {
        return Err(USAGE.to_owned());
    };
    let address: SocketAddr = parse(address)?;
    if let [word, count] = rest
        && word == "hold"
    {
        let count = parse(count)?;
        return hold::hold(address, count).map_err(|error| format!("cannot hold {count} connections: {error}"));
    }
    let job = read_job(rest)?;
    attack(address, &job).map_err(|error| error.to_string())
}

fn parse<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("cannot read {text}; {USAGE}"))
}

fn read_job(words: &[String]) -> Result<Job, String> {
    let mut job = Job {
        seconds: Duration::from_secs(5),
        warmup: Duration::from_millis(300),
        target: Target::Health,
        interval: None,
        pid: None,
        mark: None,
        kinds: Vec::new(),
    };
    for word in words {
        let (name, value) = word.split_once('=').ok_or(USAGE)?;
        match name {
            "seconds" => job.seconds = Duration::from_secs_f64(parse(value)?),
            "warmup" => job.warmup = Duration::from_secs_f64(parse(value)?),
            "target" if value == "health" => job.target = Target::Health,
            "target" if value == "unit" => job.target = Target::Unit,
            "interval_us" => job.interval = Some(Duration::from_micros(parse(value)?)),
            "pid" => job.pid = Some(parse(value)?),
            "mark" => job.mark = Some(parse(value)?),
            _ => {
                let kind = Kind::from_name(name).ok_or_else(|| format!("no option or kind of client is {word}"))?;
                job.kinds.push((kind, parse(value)?));
            }
        }
    }
    Ok(job)
}

fn attack(address: SocketAddr, job: &Job) -> std::io::Result<()> {
    let marks = UdpSocket::bind("127.0.0.1:0")?;
    let mark = |word: &str| job.mark.map_or(Ok(0), |to| marks.send_to(word.as_bytes(), to));
    let cpu = || job.pid.and_then(cpu::process_ns);
    let mut drive = Drive::new(address, job.target, &job.kinds)?;
    drive.start();
    drive.run(Instant::now() + job.warmup)?;

    drive.reset_counts();
    mark("begin")?;
    let (cpu_before, begun) = (cpu(), Instant::now());
    drive.run(begun + job.seconds)?;
    let (window, cpu_after) = (begun.elapsed(), cpu());
    mark("end")?;

    let cpu_ns = cpu_before.zip(cpu_after).map(|(before, after)| after - before);
    let kinds = drive.finish(window, job.interval);
    let line = serde_json::json!({ "window": window.as_secs_f64(), "cpu_ns": cpu_ns, "kinds": kinds });
    println!("{line}");
    Ok(())
}
