//! The machine, the versions and the commit that figures belong to.

use std::fs;

use crate::Outcome;
use crate::plan::Variant;
use crate::process::{installed, output_of};

/// Facts by name, in the order of the report.
pub fn facts(variants: &[Variant], reps: usize, frames: f64, capacity: f64) -> Outcome<Vec<(String, String)>> {
    let mut facts = vec![
        ("commit".to_owned(), commit()),
        ("processor".to_owned(), processor()),
        ("memory".to_owned(), memory()),
        ("system".to_owned(), output_of(&["uname", "-srm"]).unwrap_or_default()),
        (
            "load before".to_owned(),
            fs::read_to_string("/proc/loadavg")
                .unwrap_or_default()
                .trim()
                .to_owned(),
        ),
        (
            "effort".to_owned(),
            format!("{reps} repetitions, {frames} s each with frames, {capacity} s for capacity"),
        ),
    ];
    for (name, words) in [
        ("rustc", &["rustc", "--version"][..]),
        ("Lua", &["lua5.1", "-v"]),
        ("LuaJIT", &["luajit", "-v"]),
        ("Node", &["node", "--version"]),
        ("C compiler", &["cc", "--version"]),
    ] {
        let said = output_of(words).and_then(|said| said.lines().next().map(str::to_owned));
        facts.extend(said.map(|said| (name.to_owned(), said)));
    }
    if let Some(nginx) = installed("nginx") {
        facts.extend(output_of(&[&nginx, "-v"]).map(|said| ("nginx".to_owned(), said)));
    }
    let mut libraries: Vec<_> = variants.iter().filter(|variant| variant.is_fastslua()).collect();
    libraries.dedup_by(|a, b| a.library == b.library);
    for variant in libraries {
        let path = variant.library.to_string_lossy();
        let sum = output_of(&["sha256sum", &path]).ok_or_else(|| format!("{path} is not built: make build"))?;
        facts.push((
            format!("library of {}", variant.name),
            format!("sha256 {}", &sum[..16.min(sum.len())]),
        ));
    }
    Ok(facts)
}

fn commit() -> String {
    let hash = output_of(&["git", "rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let when = output_of(&["git", "show", "-s", "--format=%cs", "HEAD"]).unwrap_or_default();
    // What the report itself changes is no change of what is measured.
    let changed = output_of(&[
        "git",
        "status",
        "--porcelain",
        "--",
        ".",
        ":!bench/results",
        ":!README.md",
    ]);
    let changed = if changed.is_none_or(|text| text.is_empty()) {
        ""
    } else {
        ", with changes"
    };
    format!("{hash} of {when}{changed}")
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{}, {cores} cores", model.map_or("unknown", |(_, model)| model))
}

fn memory() -> String {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = text.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?
            .split_whitespace()
            .next()?
            .parse::<f64>()
            .ok()
    });
    kib.map_or_else(
        || "unknown".to_owned(),
        |kib| format!("{:.1} GiB", kib / 1024.0 / 1024.0),
    )
}
