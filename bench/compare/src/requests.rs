//! CPU time and rate per request, under wrk: keep-alive, a connection per request, sixteen pipelined.
//!
//! All servers run through the whole comparison and are idle while another one is asked; repetitions are interleaved, so
//! that what disturbs the machine disturbs all. Ratios are taken within one repetition, then their median.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use crate::process::{Process, installed, sibling};
use crate::{Effort, Outcome, median};

struct Server {
    name: &'static str,
    process: Process,
    address: String,
}

/// One way to ask. `options` are wrk's.
struct Load {
    name: &'static str,
    path: &'static str,
    options: &'static [&'static str],
}

const LOADS: &[Load] = &[
    Load {
        name: "keep-alive",
        path: "/health",
        options: &[],
    },
    Load {
        name: "connection per request",
        path: "/health",
        options: &["-H", "Connection: close"],
    },
    Load {
        name: "pipelined by 16",
        path: "/health",
        options: &["-s", "bench/wrk/pipeline.lua"],
    },
];

/// What one run of wrk against one server gave.
#[derive(Clone, Copy)]
struct Sample {
    cpu_us: f64,
    per_second: f64,
    wrong: f64,
}

pub fn compare(effort: Effort) -> Outcome<()> {
    if installed("wrk").is_none() {
        return Err("wrk is missing: apt-get install wrk".into());
    }
    let servers = start_servers()?;
    println!(
        "CPU per request, {} x {} s of wrk -t2 -c64; medians",
        effort.repetitions, effort.seconds
    );
    for load in LOADS {
        // samples[repetition][server]
        let mut samples: Vec<Vec<Sample>> = Vec::new();
        for _ in 0..effort.repetitions {
            let round: Outcome<Vec<Sample>> = servers.iter().map(|server| ask(server, load, effort.seconds)).collect();
            samples.push(round?);
        }
        report(load, &servers, &samples);
    }
    Ok(())
}

fn report(load: &Load, servers: &[Server], samples: &[Vec<Sample>]) {
    println!(
        "\n{:<24}{:>12}{:>12}{:>10}{:>8}",
        load.name, "us/request", "requests/s", "x floor", "wrong"
    );
    for (index, server) in servers.iter().enumerate() {
        let middle =
            |value: fn(&Sample) -> f64| median(&samples.iter().map(|round| value(&round[index])).collect::<Vec<_>>());
        let ratios: Vec<f64> = samples
            .iter()
            .map(|round| round[index].cpu_us / round[0].cpu_us)
            .collect();
        let wrong: f64 = samples.iter().map(|round| round[index].wrong).sum();
        println!(
            "  {:<22}{:>12.2}{:>12.0}{:>10.2}{:>8}",
            server.name,
            middle(|sample| sample.cpu_us),
            middle(|sample| sample.per_second),
            median(&ratios),
            wrong
        );
    }
}

/// The floor is first: ratios are to it.
fn start_servers() -> Outcome<Vec<Server>> {
    let mut servers = vec![
        start("floor", &[&sibling("floor")?])?,
        start("fastslua, no Lua", &[&sibling("native")?])?,
        start("fastslua, Lua 5.1", &["lua5.1", "bench/server.lua"])?,
    ];
    if installed("luajit").is_some() {
        servers.push(start("fastslua, LuaJIT", &["luajit", "bench/server.lua"])?);
    } else {
        println!("luajit is not installed: left out");
    }
    match installed("nginx") {
        Some(nginx) => servers.push(start_nginx(&nginx)?),
        None => println!("nginx is not installed: left out"),
    }
    Ok(servers)
}

fn start(name: &'static str, words: &[&str]) -> Outcome<Server> {
    let mut process = Process::start(words)?;
    let address = process.address().map_err(|error| format!("{name}: {error}"))?;
    Ok(Server { name, process, address })
}

/// One process that answers by itself, with the same 200. nginx cannot tell a port it chose, so one is chosen for it.
fn start_nginx(nginx: &str) -> Outcome<Server> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let folder = std::env::temp_dir().join(format!("fastslua-bench-nginx-{port}"));
    fs::create_dir_all(&folder)?;
    let config = folder.join("nginx.conf");
    fs::write(
        &config,
        fs::read_to_string("bench/nginx.conf")?.replace("PORT", &port.to_string()),
    )?;
    let (folder, config) = (folder.to_string_lossy(), config.to_string_lossy());
    let process = Process::start(&[nginx, "-e", "stderr", "-p", &folder, "-c", &config])?;
    let address = format!("127.0.0.1:{port}");
    wait_for(&address)?;
    Ok(Server {
        name: "nginx return 200",
        process,
        address,
    })
}

fn wait_for(address: &str) -> Outcome<()> {
    for _ in 0..100 {
        if std::net::TcpStream::connect(address).is_ok() {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    Err(format!("nothing listens on {address}").into())
}

fn ask(server: &Server, load: &Load, seconds: u32) -> Outcome<Sample> {
    let duration = format!("-d{seconds}s");
    let url = format!("http://{}{}", server.address, load.path);
    let before = server.process.cpu_seconds()?;
    let output = Command::new("wrk")
        .args(["-t2", "-c64", &duration])
        .args(load.options)
        .arg(url)
        .output()?;
    let cpu = server.process.cpu_seconds()? - before;
    let text = String::from_utf8_lossy(&output.stdout);
    let sample = read_wrk(&text).ok_or_else(|| format!("{}: wrk said: {text}", server.name))?;
    Ok(Sample {
        cpu_us: cpu / sample.requests * 1e6,
        per_second: sample.per_second,
        wrong: sample.wrong,
    })
}

struct WrkFigures {
    requests: f64,
    per_second: f64,
    wrong: f64,
}

fn read_wrk(text: &str) -> Option<WrkFigures> {
    let after = |mark: &str| text.lines().find_map(|line| line.trim().strip_prefix(mark));
    let requests = text
        .lines()
        .find(|line| line.contains(" requests in "))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    let per_second = after("Requests/sec:")?.trim().parse().ok()?;
    let statuses = after("Non-2xx or 3xx responses:").map_or(Some(0.0), |count| count.trim().parse().ok())?;
    let sockets = after("Socket errors:").map_or(0.0, |counts| {
        counts
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|count| count.parse::<f64>().ok())
            .sum()
    });
    (requests > 0.0).then_some(WrkFigures {
        requests,
        per_second,
        wrong: statuses + sockets,
    })
}

#[cfg(test)]
mod tests {
    use super::read_wrk;

    #[test]
    fn figures_are_read_from_what_wrk_prints() {
        let text = "Running 1s test\n  2 threads and 64 connections\n  1000 requests in 1.01s, 1.5MB read\n  \
                    Socket errors: connect 0, read 3, write 0, timeout 1\n  Non-2xx or 3xx responses: 5\n\
                    Requests/sec:    990.10\nTransfer/sec:      1.48MB\n";
        let figures = read_wrk(text).unwrap();
        assert_eq!(
            (figures.requests, figures.per_second, figures.wrong),
            (1000.0, 990.1, 9.0)
        );
        assert!(read_wrk("unable to connect").is_none());
    }
}
