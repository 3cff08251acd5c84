//! What open and silent connections cost: time per step, and memory.

use crate::Outcome;
use crate::process::{Process, sibling};

const CONNECTIONS: &[usize] = &[0, 64, 1024, 10_000];

pub fn measure() -> Outcome<()> {
    println!(
        "\n{:<24}{:>12}{:>12}{:>16}",
        "idle connections", "ns/step", "RSS KiB", "bytes/connection"
    );
    let mut empty_rss = None;
    for &count in CONNECTIONS {
        // A host of its own for each row, so that no row inherits memory that another has freed.
        let mut host = Process::start(&["lua5.1", "bench/idle.lua"])?;
        let address = host.address()?;
        let load = sibling("load")?;
        host.tell(&count.to_string())?;
        let holder = Process::start(&[&load, &address, "hold", &count.to_string()])?;
        let line = host.line()?;
        let mut words = line.split_whitespace().skip(1);
        let (step, rss) = words
            .next()
            .zip(words.next())
            .ok_or_else(|| format!("idle.lua said: {line}"))?;
        let rss: f64 = rss.parse()?;
        let empty = *empty_rss.get_or_insert(rss);
        let each = if count == 0 {
            0.0
        } else {
            (rss - empty) * 1024.0 / count as f64
        };
        println!("  {count:<22}{step:>12}{rss:>12}{each:>16.0}");
        holder.finish()?;
    }
    Ok(())
}
