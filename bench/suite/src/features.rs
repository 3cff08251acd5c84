//! What an optional feature costs: the application with and without it, one after the other in each repetition.
//!
//! Requests are pipelined, since there the system calls are few and a tenth of a microsecond shows.

use std::path::PathBuf;

use crate::Outcome;
use crate::measure::measure as measure_cell;
use crate::plan::{Launch, SCENARIOS, Variant};
use crate::results::{FeatureRow, median};

/// Names as bench/hosts/fast.lua has them, and what the report calls them. `guard_off` is the guard the other way round.
const FEATURES: [(&str, &str); 6] = [
    (
        "remote_address",
        "a handler that takes `req` and reads `req.remote_address`",
    ),
    ("access_log", "an access log that a function takes"),
    ("guard_off", "the guard of host names (on by default)"),
    ("middleware", "one middleware that calls `next()`"),
    ("logger", "`fastslua.middleware.logger` with a sink that keeps nothing"),
    ("metrics", "`fastslua.middleware.metrics`"),
];
pub const COUNT: usize = FEATURES.len();

/// A row for each feature that this version has; the others are told in `notes`.
pub fn measure(seconds: f64, reps: usize, notes: &mut Vec<String>, mut done: impl FnMut()) -> Outcome<Vec<FeatureRow>> {
    let scenario = SCENARIOS
        .iter()
        .find(|scenario| scenario.name == "capacity-pipelined")
        .ok_or("no scenario for features")?;
    let app = Variant {
        name: "app".to_owned(),
        launch: Launch::Host {
            server: "app",
            lua: "lua5.1",
        },
        profile: "default",
        library: PathBuf::from("build/fastslua.so"),
    };
    let mut rows = Vec::new();
    for (feature, title) in FEATURES {
        let (mut off, mut on) = (Vec::new(), Vec::new());
        let extra = format!("feature={feature}");
        for _ in 0..reps {
            let without = measure_cell(&app, scenario, seconds, &[])?;
            let with = match measure_cell(&app, scenario, seconds, &[&extra]) {
                Ok(sample) => sample,
                Err(error) => {
                    notes.push(format!("{title}: not measured ({error})"));
                    break;
                }
            };
            off.push(without.cpu_us);
            on.push(with.cpu_us);
            done();
            done();
        }
        if on.is_empty() {
            continue;
        }
        if feature == "guard_off" {
            std::mem::swap(&mut off, &mut on);
        }
        let added: Vec<f64> = on.iter().zip(&off).map(|(on, off)| on - off).collect();
        rows.push(FeatureRow {
            name: title.to_owned(),
            off_us: median(&off),
            on_us: median(&on),
            added_us: median(&added),
        });
    }
    Ok(rows)
}
