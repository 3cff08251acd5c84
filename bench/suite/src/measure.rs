//! One cell, once: a fresh server, its clients, and what both sides say afterwards.

use serde::Deserialize;

use crate::Outcome;
use crate::plan::{FRAME_SECONDS, Launch, Scenario, Variant};
use crate::process::{Core, Process, ask_to_finish, sibling};
use crate::results::{KindFigures, Sample, Steps, curve};
use crate::servers::{self, Server};

const MICROSECONDS: f64 = 1e6;

/// The load client's line.
#[derive(Deserialize)]
struct Load {
    window: f64,
    cpu_ns: Option<f64>,
    kinds: Vec<KindFigures>,
}

/// The last line of bench/host.lua.
#[derive(Default, Deserialize)]
struct Host {
    heap_peak_kib: Option<f64>,
    steps_us: Vec<f64>,
    steps_cpu_us: Vec<f64>,
    heap_kib: Vec<f64>,
    rss_kib: Vec<f64>,
}

pub fn measure(variant: &Variant, scenario: &Scenario, seconds: f64, extra: &[&str]) -> Outcome<Sample> {
    let mut server = servers::start(variant, scenario, extra)?;
    let load = attack(&server, scenario, seconds.max(scenario.seconds_min))?;
    let rss_peak_kib = server.process.status_kib("VmHWM");
    let host = if matches!(variant.launch, Launch::Host { .. }) {
        ask_to_finish(&server.address)?;
        serde_json::from_str(&server.process.line()?)?
    } else {
        Host::default()
    };
    let answers: u64 = load.kinds.iter().map(|kind| kind.answers).sum();
    if answers == 0 {
        let said: Vec<&String> = load.kinds.iter().flat_map(|kind| &kind.samples).collect();
        return Err(format!("no right answer came; {said:?}").into());
    }
    let cpu_us = if scenario.frames {
        // The host's loop around the steps is not the server's.
        host.steps_cpu_us.iter().sum::<f64>()
    } else {
        load.cpu_ns.ok_or("the CPU time of the server is unknown")? / 1000.0
    };
    Ok(Sample {
        seconds: load.window,
        cpu_us: cpu_us / answers as f64,
        per_second: load
            .kinds
            .iter()
            .filter(|kind| is_healthy(&kind.kind))
            .map(|kind| kind.answers as f64)
            .sum::<f64>()
            / load.window,
        kinds: load.kinds,
        steps: steps(&host),
        heap_peak_kib: host.heap_peak_kib,
        rss_peak_kib,
        heap_kib: host.heap_kib,
        rss_kib: host.rss_kib,
    })
}

fn is_healthy(kind: &str) -> bool {
    ["close", "keep_alive", "pipelined"].contains(&kind)
}

fn attack(server: &Server, scenario: &Scenario, seconds: f64) -> Outcome<Load> {
    let mut words = vec![
        sibling("load")?,
        server.address.clone(),
        format!("seconds={seconds}"),
        format!("target={}", scenario.target),
        format!("pid={}", server.process.id()),
    ];
    if scenario.frames {
        words.push(format!("interval_us={:.0}", FRAME_SECONDS * MICROSECONDS));
    }
    words.extend(server.marks.iter().map(|address| format!("mark={address}")));
    words.extend(scenario.clients.iter().map(|&word| word.to_owned()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut clients = Process::start(&words, Core::Clients, ";;")?;
    let line = clients.line()?;
    clients.finish()?;
    Ok(serde_json::from_str(&line)?)
}

fn steps(host: &Host) -> Option<Steps> {
    if host.steps_us.is_empty() {
        return None;
    }
    let frame_us = FRAME_SECONDS * MICROSECONDS;
    Some(Steps {
        frames: host.steps_us.len() as u64,
        over_frame: host.steps_us.iter().filter(|&&step| step > frame_us).count() as u64,
        wall: curve(&host.steps_us),
        cpu: curve(&host.steps_cpu_us),
    })
}
