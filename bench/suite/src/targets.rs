//! What fastslua sets itself to reach, and what it reached: every figure is computed from the results, none is written here.

use crate::plan::FRAME_SECONDS;
use crate::results::{Cell, Results, Sample};

/// Frame scenarios with a connection per request; the same with keep-alive end in `-keep-alive`.
pub const FRAME_SCENARIOS: [&str; 5] = [
    "frame-healthy",
    "frame-idle",
    "frame-slowloris",
    "frame-slow-readers",
    "frame-fragmented",
];
/// Sixteen clients get one answer in each of sixty frames.
const FULL_RATE: f64 = 960.0;
const BODY_KIB: f64 = 8.0 * 1024.0;

pub struct Target {
    pub name: &'static str,
    pub measured: Option<f64>,
    pub must: f64,
    pub goal: f64,
    /// Whether less is better.
    pub at_most: bool,
    pub unit: &'static str,
    pub digits: usize,
    /// What stands beside the figure.
    pub beside: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Goal,
    Must,
    Missed,
    NotMeasured,
}

impl Target {
    fn at_most(name: &'static str, measured: Option<f64>, must: f64, goal: f64, unit: &'static str) -> Self {
        Self {
            name,
            measured,
            must,
            goal,
            at_most: true,
            unit,
            digits: 2,
            beside: String::new(),
        }
    }

    fn at_least(name: &'static str, measured: Option<f64>, must: f64, goal: f64, unit: &'static str) -> Self {
        Self {
            at_most: false,
            ..Self::at_most(name, measured, must, goal, unit)
        }
    }

    fn beside(self, beside: String) -> Self {
        Self { beside, ..self }
    }

    fn digits(self, digits: usize) -> Self {
        Self { digits, ..self }
    }

    pub fn verdict(&self) -> Verdict {
        let reaches = |measured: f64, bound: f64| {
            if self.at_most {
                measured <= bound
            } else {
                measured >= bound
            }
        };
        match self.measured {
            None => Verdict::NotMeasured,
            Some(measured) if reaches(measured, self.goal) => Verdict::Goal,
            Some(measured) if reaches(measured, self.must) => Verdict::Must,
            Some(_) => Verdict::Missed,
        }
    }
}

pub fn all(results: &Results) -> Vec<Target> {
    let mut targets = requests(results);
    targets.extend(frames(results));
    targets.extend(memory(results));
    targets
}

fn cpu(sample: &Sample) -> f64 {
    sample.cpu_us
}

fn requests(results: &Results) -> Vec<Target> {
    let keep_alive = "capacity-keep-alive";
    let busy = |variant| {
        let share = results.cell(keep_alive, variant)?.median(Sample::busy);
        Some(format!("{variant} busy {:.0} %", share * 100.0))
    };
    vec![
        Target::at_most(
            "keep-alive GET through the application: CPU against the floor",
            results.ratio((keep_alive, "app"), (keep_alive, "floor"), cpu),
            1.35,
            1.15,
            "×",
        ),
        Target::at_least(
            "keep-alive GET: requests per second against nginx `return 200`, one worker",
            results.ratio((keep_alive, "app"), (keep_alive, "nginx"), |sample| sample.per_second),
            1.0,
            1.15,
            "×",
        )
        .beside(
            ["app", "nginx"]
                .into_iter()
                .filter_map(busy)
                .collect::<Vec<_>>()
                .join(", "),
        ),
        Target::at_most(
            "connection per request: CPU against plain Lua",
            results.ratio(("capacity", "app"), ("capacity", "plain"), cpu),
            0.6,
            0.5,
            "×",
        ),
        Target::at_most(
            "pipelined by 16: CPU per request",
            results.cell("capacity-pipelined", "app").map(|cell| cell.median(cpu)),
            1.2,
            0.8,
            "µs",
        ),
        Target::at_most(
            "60 Hz, connection per request: CPU of the host against plain Lua, both tuned",
            results.ratio(("frame-healthy", "app-tuned"), ("frame-healthy", "plain-tuned"), cpu),
            0.6,
            0.5,
            "×",
        ),
        Target::at_most(
            "60 Hz, keep-alive: CPU of the host against plain Lua with a connection per request, both tuned",
            results.ratio(
                ("frame-healthy-keep-alive", "app-tuned"),
                ("frame-healthy", "plain-tuned"),
                cpu,
            ),
            0.35,
            0.25,
            "×",
        ),
    ]
}

/// The cells of `app` with default options in these scenarios, with a connection per request and with keep-alive; `None`
/// when one is missing.
fn app_cells<'a>(results: &'a Results, scenarios: &[&str]) -> Option<Vec<&'a Cell>> {
    let names = scenarios
        .iter()
        .flat_map(|name| [(*name).to_owned(), format!("{name}-keep-alive")]);
    names.map(|name| results.cell(&name, "app")).collect()
}

fn least_rate(results: &Results, scenarios: &[&str]) -> Option<f64> {
    let cells = app_cells(results, scenarios)?;
    Some(
        cells
            .iter()
            .map(|cell| cell.median(|sample| sample.per_second))
            .fold(f64::INFINITY, f64::min),
    )
}

/// The longest of the steps in milliseconds that these cells have, as `step` tells it, and the name of the scenario.
fn longest(cells: &[&Cell], step: impl Fn(&Cell) -> f64) -> (f64, String) {
    let steps = cells.iter().map(|cell| (step(cell) / 1000.0, cell.scenario.clone()));
    steps.fold(
        (0.0, String::new()),
        |most, next| if next.0 > most.0 { next } else { most },
    )
}

fn frames(results: &Results) -> Vec<Target> {
    let (slow_readers, others): (Vec<&str>, Vec<&str>) = FRAME_SCENARIOS
        .iter()
        .copied()
        .partition(|name| *name == "frame-slow-readers");
    let cells = app_cells(results, &FRAME_SCENARIOS);
    let wall = |sample: &Sample| sample.wall(1.0);
    let median = cells.as_ref().map(|cells| longest(cells, |cell| cell.median(wall)));
    let beside = cells.as_ref().zip(median.as_ref()).map(|(cells, (_, name))| {
        let (most, most_name) = longest(cells, |cell| cell.worst(wall));
        let (cpu, cpu_name) = longest(cells, |cell| cell.worst(|sample| sample.cpu(1.0)));
        format!(
            "by the wall clock, in {name}; the longest of all repetitions: {most:.2} ms in {most_name}, \
             by CPU time {cpu:.2} ms in {cpu_name}"
        )
    });
    let fragmented = results.cell("frame-fragmented", "app");
    let frame_us = FRAME_SECONDS * 1e6;
    vec![
        Target::at_least(
            "60 Hz, default options: answers per second, the least of four frame scenarios",
            least_rate(results, &others),
            FULL_RATE * 0.99,
            FULL_RATE * 0.99,
            "/s",
        )
        .digits(1),
        Target::at_least(
            "60 Hz, default options: answers per second among slow readers",
            least_rate(results, &slow_readers),
            900.0,
            900.0,
            "/s",
        )
        .digits(1),
        Target::at_most(
            "longest step of a repetition, the median, in all frame scenarios, default options",
            median.map(|(step, _)| step),
            2.5,
            2.0,
            "ms",
        )
        .beside(beside.unwrap_or_default()),
        Target::at_most(
            "fragmented client: median time from its last byte to its answer",
            fragmented.and_then(|cell| cell.kind_median("fragmented", |kind| kind.p50_us / frame_us)),
            2.0,
            2.0,
            "frames",
        ),
    ]
}

fn memory(results: &Results) -> Vec<Target> {
    let most = results.idle.iter().find(|row| row.connections == 10_000);
    let heap = |scenario| {
        let kib = |sample: &Sample| sample.heap_peak_kib.unwrap_or(f64::NAN);
        results.cell(scenario, "app").map(|cell| cell.worst(kib) / 1024.0)
    };
    let lazy = heap("frame-slow-readers")
        .map(|mib| format!("collected once a second; {mib:.2} MiB as Lua collects by itself"));
    vec![
        Target::at_most(
            "step with 10 000 idle connections",
            most.map(|row| row.ns_per_step / 1000.0),
            1.0,
            0.3,
            "µs",
        ),
        Target::at_most(
            "memory per idle connection, of 10 000",
            most.map(|row| row.bytes_per_connection / 1024.0),
            2.0,
            1.0,
            "KiB",
        ),
        Target::at_most(
            "peak Lua heap with 8 MiB responses to 4 slow readers",
            heap("heap-slow-readers"),
            BODY_KIB / 1024.0 + 2.0,
            BODY_KIB / 1024.0 + 2.0,
            "MiB",
        )
        .beside(lazy.unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Target, Verdict};

    #[test]
    fn a_verdict_follows_the_figure() {
        let verdict = |measured| Target::at_most("", measured, 2.0, 1.0, "").verdict();
        assert_eq!(verdict(Some(1.0)), Verdict::Goal);
        assert_eq!(verdict(Some(1.5)), Verdict::Must);
        assert_eq!(verdict(Some(2.1)), Verdict::Missed);
        assert_eq!(verdict(None), Verdict::NotMeasured);
        assert_eq!(verdict(Some(f64::NAN)), Verdict::Missed);
        let verdict = |measured| Target::at_least("", Some(measured), 1.0, 1.15, "").verdict();
        assert_eq!(verdict(1.2), Verdict::Goal);
        assert_eq!(verdict(1.1), Verdict::Must);
        assert_eq!(verdict(0.9), Verdict::Missed);
    }
}
