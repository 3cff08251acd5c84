//! `suite [OPTIONS]`: measures fastslua beside what stands next to it, all in one run, since figures of two runs on a shared
//! machine do not compare, and writes the report. bench/README.md tells what is measured and how.
//!
//! It may assume that it is started at the root of the sources, that build/fastslua.so is built, and that `floor`,
//! `native`, `load` and `micro` lie beside it. It must never print a figure from answers that were wrong: those are
//! counted as errors and shown.

mod baseline;
mod features;
mod hostile;
mod idle;
mod kernels;
mod machine;
mod measure;
mod plan;
mod plots;
mod process;
mod readme;
mod report;
mod results;
mod run;
mod servers;
mod tables;
mod targets;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use results::Results;

/// A failed measurement is the end of the run, with a sentence.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Measures fastslua beside a floor, a plain-Lua server and what is installed of other servers; writes the report.
#[derive(Parser)]
pub struct Options {
    /// Under two minutes: fewer variants, short windows, one repetition.
    #[arg(long)]
    pub quick: bool,
    /// Only these scenarios; idle, features and kernels count as such.
    #[arg(long, value_delimiter = ',')]
    pub scenarios: Vec<String>,
    /// Only these variants.
    #[arg(long, value_delimiter = ',')]
    pub variants: Vec<String>,
    /// How often each cell is measured; figures are medians.
    #[arg(long)]
    pub reps: Option<usize>,
    /// Seconds that a scenario is measured for in one repetition.
    #[arg(long)]
    pub duration: Option<f64>,
    /// Measures that git revision beside the current sources.
    #[arg(long, value_name = "REF")]
    pub baseline: Option<String>,
    /// Takes the library that an earlier run built for the same baseline.
    #[arg(long, requires = "baseline")]
    pub reuse_baseline: bool,
    /// Measures nothing; makes the report again from results.json.
    #[arg(long)]
    pub report_only: bool,
    /// What a reader should know of this run: it stands in the report.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Puts the main table into README.md.
    #[arg(long)]
    pub readme: bool,
    /// Where the report goes: bench/results, but build/bench for a run that leaves something out.
    #[arg(long)]
    pub out: Option<PathBuf>,
}

impl Options {
    /// Whether everything is measured as the committed figures are.
    fn is_full(&self) -> bool {
        !self.quick && self.scenarios.is_empty() && self.variants.is_empty()
    }

    fn folder(&self) -> PathBuf {
        let usual = if self.is_full() { "bench/results" } else { "build/bench" };
        self.out.clone().unwrap_or_else(|| PathBuf::from(usual))
    }
}

fn main() -> ExitCode {
    match act(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("suite: {error}");
            ExitCode::FAILURE
        }
    }
}

fn act(options: &Options) -> Outcome<()> {
    let folder = options.folder();
    let mut results = if options.report_only {
        Results::read(&folder)?
    } else {
        run::run(options)?
    };
    results.notes.extend(options.note.clone());
    results.write(&folder)?;
    write_report(&results, &folder)?;
    if options.readme {
        readme::write(&results)?;
    }
    println!("{}", report::summary(&results));
    println!("The report is {}", folder.join("RESULTS.md").display());
    Ok(())
}

fn write_report(results: &Results, folder: &Path) -> Outcome<()> {
    let plots = plots::draw(results, folder)?;
    std::fs::write(folder.join("RESULTS.md"), report::whole(results, &plots))?;
    Ok(())
}
