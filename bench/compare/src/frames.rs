//! A host with sixty frames a second: how many answers a frame gives, and how long its longest step is, with healthy
//! clients alone and with hostile ones among them.

use crate::process::{Process, sibling};
use crate::{Effort, Outcome, figure};

const FRAMES_PER_SECOND: f64 = 60.0;
/// The host outlives the clients, so that those which are in the middle of an answer get it whole.
const GRACE_SECONDS: u32 = 3;

/// A name, what healthy clients do, and the clients: the healthy ones first.
const SCENARIOS: &[(&str, &[&str])] = &[
    ("close", &["close=16"]),
    ("keep-alive", &["keep_alive=16"]),
    (
        "close, hostile mix",
        &["close=16", "idle=8", "slowloris=4", "fragmented=4", "slow_reader=4"],
    ),
];

pub fn measure(effort: Effort) -> Outcome<()> {
    println!(
        "\n60 frames a second, 16 healthy clients, {} s each; steps in ms",
        effort.seconds * 3
    );
    println!(
        "{:<24}{:>14}{:>8}{:>10}{:>10}{:>10}{:>10}{:>12}",
        "scenario", "answers/frame", "errors", "p50 step", "p99 step", "longest", "its CPU", "CPU us/req"
    );
    for (name, clients) in SCENARIOS {
        let lines = run(clients, effort.seconds * 3)?;
        report(name, &lines, f64::from(effort.seconds * 3))?;
    }
    Ok(())
}

/// The host's last line, then the lines of the clients.
fn run(clients: &[&str], seconds: u32) -> Outcome<Vec<String>> {
    let host_seconds = (seconds + GRACE_SECONDS).to_string();
    let mut host = Process::start(&["lua5.1", "bench/frames.lua", &host_seconds])?;
    let address = host.address()?;
    let (load, seconds) = (sibling("load")?, seconds.to_string());
    let words: Vec<&str> = [load.as_str(), &address, &seconds]
        .into_iter()
        .chain(clients.iter().copied())
        .collect();
    let mut attackers = Process::start(&words)?;
    let mut lines = vec![host.line()?];
    for _ in clients {
        lines.push(attackers.line()?);
    }
    Ok(lines)
}

fn report(name: &str, lines: &[String], seconds: f64) -> Outcome<()> {
    let (host, healthy) = (&lines[0], &lines[1]);
    let mut errors = 0.0;
    for line in &lines[1..] {
        errors += figure(line, "errors")?;
    }
    let step = |what: &str| Ok::<f64, Box<dyn std::error::Error>>(figure(host, what)? / 1000.0);
    println!(
        "  {name:<22}{:>14.2}{:>8}{:>10.3}{:>10.3}{:>10.3}{:>10.3}{:>12.1}",
        figure(healthy, "answers")? / (seconds * FRAMES_PER_SECOND),
        errors,
        step("p50_us")?,
        step("p99_us")?,
        step("max_us")?,
        step("max_cpu_us")?,
        figure(host, "cpu_seconds")? / figure(host, "dispatched")? * 1e6
    );
    for line in &lines[2..] {
        println!("    {line}");
    }
    Ok(())
}
