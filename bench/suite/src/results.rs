//! What a run found, as results.json has it: every sample of every cell, so that a report can be made from it again.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Outcome;

/// Shares at which a distribution of step times is kept.
pub const SHARES: [f64; 16] = [
    0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9975, 0.999, 0.9995, 0.9999, 1.0,
];

#[derive(Clone, Serialize, Deserialize)]
pub struct Results {
    /// Facts about machine, versions and commit: name and text.
    pub facts: Vec<(String, String)>,
    /// What was left out, and why.
    pub notes: Vec<String>,
    pub cells: Vec<Cell>,
    pub idle: Vec<IdleRow>,
    pub features: Vec<FeatureRow>,
    pub kernels: Vec<Kernel>,
}

/// One scenario on one variant: a sample per repetition.
#[derive(Clone, Serialize, Deserialize)]
pub struct Cell {
    pub scenario: String,
    pub variant: String,
    pub samples: Vec<Sample>,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Sample {
    /// Length of the measured window.
    pub seconds: f64,
    /// The server's CPU time per answer of any kind.
    pub cpu_us: f64,
    /// Answers per second to healthy clients.
    pub per_second: f64,
    /// The first kind is the healthy one.
    pub kinds: Vec<KindFigures>,
    pub steps: Option<Steps>,
    pub heap_peak_kib: Option<f64>,
    pub rss_peak_kib: Option<f64>,
    /// Once a second.
    #[serde(default)]
    pub heap_kib: Vec<f64>,
    #[serde(default)]
    pub rss_kib: Vec<f64>,
}

/// As the load client prints it.
#[derive(Clone, Serialize, Deserialize)]
pub struct KindFigures {
    pub kind: String,
    pub clients: u64,
    pub answers: u64,
    pub opened: u64,
    pub closed: u64,
    pub errors: BTreeMap<String, u64>,
    #[serde(default)]
    pub samples: Vec<String>,
    pub p50_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
}

/// Times of steps in microseconds.
#[derive(Clone, Serialize, Deserialize)]
pub struct Steps {
    pub frames: u64,
    /// Steps that took longer than a frame of 1/60 s.
    pub over_frame: u64,
    /// By the wall clock, at [`SHARES`].
    pub wall: Vec<f64>,
    /// The host's CPU time, at [`SHARES`].
    pub cpu: Vec<f64>,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct IdleRow {
    pub connections: u64,
    pub ns_per_step: f64,
    pub bytes_per_connection: f64,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct FeatureRow {
    pub name: String,
    pub off_us: f64,
    pub on_us: f64,
    /// Median of the differences within one repetition.
    pub added_us: f64,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Kernel {
    pub name: String,
    /// What ran it: Rust, C, Lua 5.1 or LuaJIT.
    pub runtime: String,
    pub iters: u64,
    pub us_per_op: f64,
}

impl Results {
    pub fn read(folder: &Path) -> Outcome<Self> {
        let path = folder.join("results.json");
        let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(serde_json::from_slice(&text)?)
    }

    pub fn write(&self, folder: &Path) -> Outcome<()> {
        std::fs::create_dir_all(folder)?;
        let mut text = serde_json::to_string(self)?;
        // A line per cell: short enough to keep, and a change can be read.
        for mark in ["{\"scenario\"", "\"idle\":[", "\"features\":[", "\"kernels\":["] {
            text = text.replace(mark, &format!("\n{mark}"));
        }
        Ok(std::fs::write(folder.join("results.json"), text + "\n")?)
    }

    pub fn cell(&self, scenario: &str, variant: &str) -> Option<&Cell> {
        self.cells
            .iter()
            .find(|cell| cell.scenario == scenario && cell.variant == variant)
    }

    /// The median of the ratios within one repetition; `None` where one of the two was not measured.
    pub fn ratio(&self, one: (&str, &str), other: (&str, &str), value: impl Fn(&Sample) -> f64) -> Option<f64> {
        let (one, other) = (self.cell(one.0, one.1)?, self.cell(other.0, other.1)?);
        let ratios: Vec<f64> = one
            .samples
            .iter()
            .zip(&other.samples)
            .map(|(a, b)| value(a) / value(b))
            .collect();
        Some(median(&ratios))
    }
}

impl Cell {
    /// The median over the repetitions.
    pub fn median(&self, value: impl Fn(&Sample) -> f64) -> f64 {
        median(&self.samples.iter().map(value).collect::<Vec<_>>())
    }

    /// The largest of the repetitions.
    pub fn worst(&self, value: impl Fn(&Sample) -> f64) -> f64 {
        self.samples.iter().map(value).fold(f64::NAN, f64::max)
    }

    /// Errors of all kinds of clients in all repetitions.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        let mut sum = BTreeMap::new();
        for kind in self.samples.iter().flat_map(|sample| &sample.kinds) {
            for (name, count) in &kind.errors {
                *sum.entry(format!("{} {name}", kind.kind)).or_default() += count;
            }
        }
        sum
    }

    /// The sum over the repetitions of a figure of that kind of client; `None` when there was none.
    pub fn sum(&self, kind: &str, value: impl Fn(&KindFigures) -> u64) -> Option<u64> {
        let mut figures = self
            .samples
            .iter()
            .flat_map(|sample| &sample.kinds)
            .filter(|figures| figures.kind == kind)
            .map(value)
            .peekable();
        figures.peek()?;
        Some(figures.sum())
    }

    pub fn has_steps(&self) -> bool {
        self.samples.iter().all(|sample| sample.steps.is_some())
    }

    /// A figure of that kind of client, the median over the repetitions.
    pub fn kind_median(&self, kind: &str, value: impl Fn(&KindFigures) -> f64) -> Option<f64> {
        let figures = self
            .samples
            .iter()
            .flat_map(|sample| &sample.kinds)
            .filter(|figures| figures.kind == kind);
        let values: Vec<f64> = figures.map(value).collect();
        (!values.is_empty()).then(|| median(&values))
    }
}

impl Sample {
    pub fn healthy(&self) -> &KindFigures {
        &self.kinds[0]
    }

    /// Share of the window in which the server used its core.
    pub fn busy(&self) -> f64 {
        let answers: u64 = self.kinds.iter().map(|kind| kind.answers).sum();
        self.cpu_us * answers as f64 / (self.seconds * 1e6)
    }

    pub fn wall(&self, share: f64) -> f64 {
        self.steps.as_ref().map_or(f64::NAN, |steps| at(&steps.wall, share))
    }

    pub fn cpu(&self, share: f64) -> f64 {
        self.steps.as_ref().map_or(f64::NAN, |steps| at(&steps.cpu, share))
    }
}

fn at(curve: &[f64], share: f64) -> f64 {
    let place = SHARES.iter().position(|&known| known >= share);
    place.and_then(|place| curve.get(place).copied()).unwrap_or(f64::NAN)
}

/// `values` at [`SHARES`], by nearest rank.
pub fn curve(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = |share: f64| ((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1);
    SHARES
        .iter()
        .filter_map(|&share| sorted.get(rank(share)).copied())
        .collect()
}

/// The middle value; of an even number, the mean of the two in the middle.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::{curve, median};

    #[test]
    fn medians_and_curves() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        let curve = curve(&values);
        assert_eq!((curve[0], curve[4], curve[15]), (1.0, 50.0, 100.0));
    }
}
