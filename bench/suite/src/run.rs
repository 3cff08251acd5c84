//! The run: everything that was asked for, in interleaved repetitions, with a bar that shows how far it is.
//!
//! Repetitions of all variants are interleaved, so that a change of the machine's mood meets all of them.

use indicatif::{ProgressBar, ProgressStyle};

use crate::plan::{self, SCENARIOS, Scenario, Variant};
use crate::results::{Cell, Results, Sample};
use crate::{Options, Outcome, baseline, features, idle, kernels, machine, measure};

const PARTS: [&str; 3] = ["idle", "features", "kernels"];
/// The mixed run lasts at least so long, and is measured once.
const SOAK_SECONDS: f64 = 60.0;
const QUICK_SOAK_SECONDS: f64 = 6.0;

/// How long and how often.
struct Effort {
    frame_seconds: f64,
    capacity_seconds: f64,
    feature_seconds: f64,
    soak_seconds: f64,
    reps: usize,
}

impl Effort {
    fn of(options: &Options) -> Self {
        let (seconds, reps, soak_seconds) = if options.quick {
            (1.5, 1, QUICK_SOAK_SECONDS)
        } else {
            (5.0, 3, SOAK_SECONDS)
        };
        let seconds = options.duration.unwrap_or(seconds);
        Self {
            frame_seconds: seconds,
            // There every request counts and not every frame, so half the time has far more of them.
            capacity_seconds: seconds / 2.0,
            feature_seconds: seconds / 4.0,
            soak_seconds,
            reps: options.reps.unwrap_or(reps).max(1),
        }
    }

    fn seconds(&self, scenario: &Scenario) -> f64 {
        match scenario {
            _ if scenario.is_soak() => self.soak_seconds,
            _ if scenario.frames => self.frame_seconds,
            _ => self.capacity_seconds,
        }
    }
}

/// Measures what `options` ask for.
pub fn run(options: &Options) -> Outcome<Results> {
    let effort = Effort::of(options);
    let mut notes = Vec::new();
    let mut variants = plan::variants(&mut notes);
    if let Some(reference) = &options.baseline {
        variants.extend(baseline::variants(reference, options.reuse_baseline)?);
    }
    check_names(options, &variants)?;
    let pairs = pairs(options, &variants);
    let current = variants[0].library.clone();
    let wants = |part: &str| options.scenarios.is_empty() || options.scenarios.iter().any(|name| name == part);
    let facts = machine::facts(&variants, effort.reps, effort.frame_seconds, effort.capacity_seconds)?;
    for (name, text) in &facts {
        println!("{name:<16} {text}");
    }

    let part_reps = [
        ("idle", idle::CONNECTIONS.len() * effort.reps),
        ("features", features::COUNT * 2 * effort.reps),
        ("kernels", kernels::COMMANDS),
    ];
    let steps: usize = part_reps
        .iter()
        .filter(|(part, _)| wants(part))
        .map(|(_, count)| count)
        .sum();
    let runs: usize = pairs.iter().map(|(_, scenario)| reps(scenario, &effort)).sum();
    let bar = bar(steps + runs);
    let others = machine::Others::watch();
    let cells = measure_cells(&pairs, &effort, &bar, &mut notes)?;
    let step = || bar.inc(1);
    let mut results = Results {
        facts,
        notes,
        cells,
        idle: Vec::new(),
        features: Vec::new(),
        kernels: Vec::new(),
    };
    if wants("idle") {
        bar.set_message("idle connections");
        results.idle = idle::measure(&current, effort.reps, step)?;
        results.kernels = idle::kernels(&results.idle);
    }
    if wants("features") {
        bar.set_message("features");
        results.features = features::measure(effort.feature_seconds, effort.reps, &mut results.notes, step)?;
    }
    if wants("kernels") {
        bar.set_message("kernels");
        results
            .kernels
            .extend(kernels::measure(options.quick, &mut results.notes, step)?);
    }
    bar.finish_and_clear();
    results.facts.push(("others".to_owned(), others.describe()));
    Ok(results)
}

fn reps(scenario: &Scenario, effort: &Effort) -> usize {
    if scenario.is_soak() { 1 } else { effort.reps }
}

fn bar(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {elapsed} of about {duration}  {msg}");
    let bar = ProgressBar::new(length as u64);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// What goes together and is wanted.
fn pairs<'a>(options: &Options, variants: &'a [Variant]) -> Vec<(&'a Variant, &'static Scenario)> {
    let named = |names: &[String], name: &str| names.is_empty() || names.iter().any(|known| known == name);
    SCENARIOS
        .iter()
        .filter(|scenario| named(&options.scenarios, scenario.name))
        .flat_map(|scenario| variants.iter().map(move |variant| (variant, scenario)))
        .filter(|(variant, scenario)| variant.fits(scenario) && named(&options.variants, &variant.name))
        .filter(|(variant, scenario)| {
            !options.quick || !options.variants.is_empty() || plan::is_quick(variant, scenario)
        })
        .collect()
}

/// A misspelled name would silently measure nothing.
fn check_names(options: &Options, variants: &[Variant]) -> Outcome<()> {
    let scenarios: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).chain(PARTS).collect();
    let known: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    for (what, names, known) in [
        ("scenario", &options.scenarios, scenarios),
        ("variant", &options.variants, known),
    ] {
        for name in names {
            if !known.contains(&name.as_str()) {
                return Err(format!("no {what} is called {name}; there are {}", known.join(", ")).into());
            }
        }
    }
    Ok(())
}

fn measure_cells(
    pairs: &[(&Variant, &'static Scenario)],
    effort: &Effort,
    bar: &ProgressBar,
    notes: &mut Vec<String>,
) -> Outcome<Vec<Cell>> {
    let mut samples: Vec<Vec<Sample>> = pairs.iter().map(|_| Vec::new()).collect();
    for rep in 0..effort.reps {
        for (index, &(variant, scenario)) in pairs.iter().enumerate() {
            if rep >= reps(scenario, effort) {
                continue;
            }
            bar.set_message(format!("{} {}", scenario.name, variant.name));
            match measure::measure(variant, scenario, effort.seconds(scenario), &[]) {
                Ok(sample) => samples[index].push(sample),
                // What is ours has to work; others may not know a scenario.
                Err(error) if variant.is_fastslua() => {
                    return Err(format!("{} {}: {error}", scenario.name, variant.name).into());
                }
                Err(error) => notes.push(format!("{} {}: {error}", scenario.name, variant.name)),
            }
            bar.inc(1);
        }
    }
    let cells = pairs.iter().zip(samples).filter(|(_, samples)| !samples.is_empty());
    Ok(cells
        .map(|((variant, scenario), samples)| Cell {
            scenario: scenario.name.to_owned(),
            variant: variant.name.clone(),
            samples,
        })
        .collect())
}
