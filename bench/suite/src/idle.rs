//! What open and silent connections cost: time per step, and memory.

use crate::process::{Core, Process, sibling};
use crate::results::{IdleRow, Kernel, median};
use crate::{Outcome, servers};
use std::path::Path;

/// Steps that bench/idle.lua does for one figure.
const ITERATIONS: u64 = 300_000;
pub const CONNECTIONS: &[u64] = &[0, 64, 1024, 10_000];

/// All rows, each the median of `reps`.
pub fn measure(library: &Path, reps: usize, mut done: impl FnMut()) -> Outcome<Vec<IdleRow>> {
    let mut rows = Vec::new();
    for &connections in CONNECTIONS {
        let (mut steps, mut sizes) = (Vec::new(), Vec::new());
        for _ in 0..reps {
            let (step, growth) = measure_once(library, connections)?;
            steps.push(step);
            sizes.push(growth);
            done();
        }
        rows.push(IdleRow {
            connections,
            ns_per_step: median(&steps),
            bytes_per_connection: median(&sizes) * 1024.0 / connections.max(1) as f64,
        });
    }
    Ok(rows)
}

/// The same as kernels: steps that find nothing to do.
pub fn kernels(rows: &[IdleRow]) -> Vec<Kernel> {
    let kernel = |row: &IdleRow| Kernel {
        name: format!("step_idle_{}", row.connections),
        runtime: "Lua 5.1".to_owned(),
        iters: ITERATIONS,
        us_per_op: row.ns_per_step / 1000.0,
    };
    rows.iter().map(kernel).collect()
}

/// Nanoseconds per step and growth in KiB, of a host of its own, so that no row inherits memory that another has freed.
fn measure_once(library: &Path, connections: u64) -> Outcome<(f64, f64)> {
    let mut host = Process::start(&["lua5.1", "bench/idle.lua"], Core::Server, &servers::cpath(library))?;
    let address = host.address()?;
    host.check_library(library)?;
    host.tell(&connections.to_string())?;
    let words = [sibling("load")?, address, "hold".to_owned(), connections.to_string()];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let holder = Process::start(&words, Core::Clients, ";;")?;
    let line = host.line()?;
    let figures: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [_, step, growth] = figures[..] else {
        return Err(format!("idle.lua said: {line}").into());
    };
    holder.finish()?;
    Ok((step, growth))
}
