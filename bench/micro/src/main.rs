//! `micro [SECONDS]`: times each kernel of the library for SECONDS (0.4 by default), and those that tell how fast the machine
//! is. Prints lines `BENCH <name> iters=N total_us=T us_per_op=P`; P is that of the fastest tenth, since others use the
//! machine too.
//!
//! `micro count NAME ROUNDS`: does so many rounds of one kernel for a tool that counts instructions within `measured`, and
//! prints the number of operations. `micro names`: the kernels that are worth counting.
//!
//! It must use the library as the binding does: no way in that others do not have.

mod calibration;
mod kernels;

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Work in rounds of a fixed number of operations.
pub trait Kernel {
    fn name(&self) -> &'static str;

    /// Operations in one round.
    fn operations(&self) -> u64;

    /// What has to be done before a round and is not measured.
    fn prepare(&mut self) {}

    fn round(&mut self);
}

/// All that is measured happens in here: callgrind counts between its beginning and its end. It has something to do
/// after the round, or the round would take its place on the stack and its end would not be seen.
#[inline(never)]
fn measured(kernel: &mut dyn Kernel) -> u64 {
    kernel.round();
    std::hint::black_box(kernel.operations())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        [] => time_all(0.4),
        ["names"] => {
            for kernel in kernels::all() {
                println!("{}", kernel.name());
            }
            Some(())
        }
        ["count", name, rounds] => rounds.parse().ok().and_then(|rounds| count(name, rounds)),
        [seconds] => seconds.parse().ok().and_then(time_all),
        _ => None,
    };
    if done.is_some() {
        return ExitCode::SUCCESS;
    }
    eprintln!("usage: micro [SECONDS] | micro count NAME ROUNDS | micro names");
    ExitCode::from(2)
}

fn time_all(seconds: f64) -> Option<()> {
    let seconds = Duration::try_from_secs_f64(seconds).ok()?;
    for mut kernel in kernels::all().into_iter().chain(calibration::all()) {
        time(kernel.as_mut(), seconds);
    }
    Some(())
}

fn time(kernel: &mut dyn Kernel, seconds: Duration) {
    let mut rounds: Vec<Duration> = Vec::new();
    let mut total = Duration::ZERO;
    while total < seconds || rounds.len() < 10 {
        kernel.prepare();
        let begun = Instant::now();
        measured(kernel);
        let took = begun.elapsed();
        total += took;
        rounds.push(took);
    }
    let count = rounds.len() as u64 * kernel.operations();
    rounds.sort_unstable();
    let fast = rounds[rounds.len() / 10].as_secs_f64() * 1e6 / kernel.operations() as f64;
    let total = total.as_secs_f64() * 1e6;
    println!(
        "BENCH {} iters={count} total_us={total:.0} us_per_op={fast:.4}",
        kernel.name()
    );
}

fn count(name: &str, rounds: u64) -> Option<()> {
    let mut kernel = kernels::all().into_iter().find(|kernel| kernel.name() == name)?;
    // The first round fills what is kept from then on.
    kernel.prepare();
    kernel.round();
    let mut operations = 0;
    for _ in 0..rounds {
        kernel.prepare();
        operations += measured(kernel.as_mut());
    }
    println!("{operations}");
    Some(())
}
