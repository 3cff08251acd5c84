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

/// What others did on the machine meanwhile, so that a report says itself how quiet it was.
pub struct Others {
    begun: Ticks,
}

/// Times since the machine was started, in ticks: of all cores, and of this process with the children it has waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    all: u64,
    busy: u64,
    stolen: u64,
    own: u64,
}

impl Others {
    pub fn watch() -> Self {
        Self { begun: Ticks::now() }
    }

    /// In words; to be asked once all children have ended.
    pub fn describe(&self) -> String {
        let (now, begun) = (Ticks::now(), self.begun);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let one_core = (now.all - begun.all).max(1) as f64 / cores as f64;
        let others = (now.busy - begun.busy).saturating_sub(now.own - begun.own);
        let percent = |ticks: u64| ticks as f64 / one_core * 100.0;
        format!(
            "{:.0} % of one core was used by others, {:.0} % stolen by the hypervisor",
            percent(others),
            percent(now.stolen - begun.stolen)
        )
    }
}

impl Ticks {
    fn now() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self::parse(&read("/proc/stat"), &read("/proc/self/stat"))
    }

    /// From the texts of /proc/stat and /proc/PID/stat, as proc(5) has them.
    fn parse(system: &str, process: &str) -> Self {
        // What is no such number, as the -1 of no terminal, keeps its place.
        let numbers = |text: &str| -> Vec<u64> {
            let words = text.split_whitespace();
            words.map(|word| word.parse().unwrap_or_default()).collect()
        };
        let cores = numbers(system.lines().next().unwrap_or_default());
        // cpu user nice system idle iowait irq softirq steal; guest times are in user and nice already.
        let at = |index: usize| cores.get(index + 1).copied().unwrap_or_default();
        // The name of the program may have spaces, and ends with the last bracket; utime is the twelfth field after it.
        let fields = numbers(
            process
                .rsplit_once(") ")
                .map_or("", |(_, rest)| rest.get(2..).unwrap_or_default()),
        );
        Self {
            all: (0..8).map(at).sum(),
            busy: at(0) + at(1) + at(2) + at(5) + at(6),
            stolen: at(7),
            own: fields.iter().skip(10).take(4).sum(),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::Ticks;

    #[test]
    fn ticks_are_read() {
        let system = "cpu  10 20 30 1000 5 1 2 7 0 0\ncpu0 5 10 15 500 2 0 1 3 0 0\n";
        let process = "42 (a b) c) S 1 42 42 0 -1 4194304 100 200 0 0 3 4 50 60 20 0 1 0 12345 1 2";
        let ticks = Ticks::parse(system, process);
        let expected = Ticks {
            all: 1075,
            busy: 63,
            stolen: 7,
            own: 117,
        };
        assert_eq!(ticks, expected);
    }
}
