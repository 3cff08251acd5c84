//! What came of the clients of one kind: counts, errors by kind, latencies.
//!
//! Latencies are free of coordinated omission: a client that waits for its answer asks no more, so a stall hides the
//! requests that would have been made in it. They are put back, one per interval that the wait outlasted.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

const LATENCY_US_MAX: u64 = 120_000_000;
const SAMPLES_MAX: usize = 3;

pub struct Tally {
    /// Whole answers, each checked in every byte.
    pub answers: u64,
    pub opened: u64,
    /// Connections that the server ended where the kind invites it to.
    pub closed: u64,
    errors: BTreeMap<String, u64>,
    /// The first few errors, in words.
    samples: Vec<String>,
    latency: Histogram<u64>,
}

impl Tally {
    pub fn new() -> Self {
        Self {
            answers: 0,
            opened: 0,
            closed: 0,
            errors: BTreeMap::new(),
            samples: Vec::new(),
            latency: Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("1 <= bounds, three digits"),
        }
    }

    pub fn answered(&mut self, took: Duration) {
        self.answers += 1;
        self.waited(took);
    }

    /// A wait that belongs to the latencies though no answer came of it yet.
    pub fn waited(&mut self, took: Duration) {
        self.latency
            .saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1));
    }

    pub fn failed(&mut self, kind: &str, detail: &str) {
        *self.errors.entry(kind.to_owned()).or_default() += 1;
        if self.samples.len() < SAMPLES_MAX {
            self.samples.push(format!("{kind}: {detail}"));
        }
    }

    /// `interval`: the time from one request of a client to its next in undisturbed operation; `None`: the mean of this run.
    pub fn json(&self, kind: &str, clients: usize, window: Duration, interval: Option<Duration>) -> Value {
        let mean = window.mul_f64(clients as f64 / self.answers.max(1) as f64);
        let interval = u64::try_from(interval.unwrap_or(mean).as_micros()).unwrap_or(u64::MAX);
        let corrected = self.latency.clone_correct(interval.max(1));
        json!({
            "kind": kind,
            "clients": clients,
            "answers": self.answers,
            "opened": self.opened,
            "closed": self.closed,
            "errors": self.errors,
            "samples": self.samples,
            "p50_us": corrected.value_at_quantile(0.5),
            "p99_us": corrected.value_at_quantile(0.99),
            "max_us": corrected.max(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;
    use std::time::Duration;

    #[test]
    fn a_stall_is_counted_for_the_requests_it_hid() {
        let mut tally = Tally::new();
        for _ in 0..10 {
            tally.answered(Duration::from_millis(1));
        }
        tally.answered(Duration::from_millis(100));
        let line = tally.json("close", 1, Duration::from_secs(1), Some(Duration::from_millis(1)));
        assert_eq!(line["answers"], 11);
        assert!(line["p50_us"].as_u64().unwrap() > 30_000, "{line}");
    }
}
