//! RESULTS.md, from the results alone: what a reader wants first stands first.

use crate::hostile;
use crate::plan::SCENARIOS;
use crate::results::{Cell, Kernel, Results, Sample};
use crate::tables::{Table, maybe, ms, number, short};
use crate::targets::{self, FRAME_SCENARIOS, Verdict};

pub fn whole(results: &Results, plots: &[(String, String)]) -> String {
    let parts = [
        head(),
        against_plain(results),
        cpu_per_request(results),
        target_table(results),
        pictures(plots),
        details(results),
        hostile::sections(results),
        idle(results),
        soak(results),
        features(results),
        kernels(results),
        facts(results),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// What is printed at the end of a run.
pub fn summary(results: &Results) -> String {
    [against_plain(results), cpu_per_request(results), target_table(results)].join("\n")
}

fn head() -> String {
    "# Results\n\n\
     Written by `make bench`; [what is measured and how](../README.md). Figures are medians of the repetitions; a longest step is \
     the longest of all repetitions, by the wall clock, and in brackets by CPU time: where the two differ much, the system ran \
     somebody else meanwhile. Figures of two runs on different machines do not compare: look at the ratios within one.\n"
        .to_owned()
}

pub fn cell_name(variant: &str) -> &str {
    match variant {
        "app" => "fastslua",
        "app-tuned" => "fastslua, tuned",
        "low" => "fastslua without application",
        "app-luajit" => "fastslua on LuaJIT",
        "native" => "fastslua, handler in Rust",
        "plain" => "plain Lua",
        "plain-tuned" => "plain Lua, tuned",
        "baseline" => "baseline",
        "baseline-tuned" => "baseline, tuned",
        "floor" => "floor (Rust, no Lua, no limits)",
        other => other,
    }
}

fn longest(cell: &Cell) -> String {
    let (wall, cpu) = (
        cell.worst(|sample| sample.wall(1.0)),
        cell.worst(|sample| sample.cpu(1.0)),
    );
    format!("{} ({})", ms(wall), ms(cpu))
}

fn rate(cell: &Cell) -> f64 {
    cell.median(|sample| sample.per_second)
}

fn against_plain(results: &Results) -> String {
    let variants = ["app", "plain", "app-tuned", "plain-tuned", "baseline", "baseline-tuned"];
    let table = throughput_table(results, &variants, false);
    if table.is_empty() {
        return table;
    }
    format!(
        "## Throughput and longest step, against plain Lua\n\n\
         A connection per request. `capacity`: as fast as it goes; `frame-…`: sixty frames a second and sixteen healthy \
         clients, which cannot get more than 960 answers. In brackets: how full the server's core was; a connection costs \
         its client more than the server, so where the core is not full compare CPU time.\n\n{table}"
    )
}

/// Without frames also how full the server's core was: where it was not, the clients' was, and only CPU time compares.
fn rate_and_load(cell: &Cell) -> String {
    let text = number(rate(cell), 0);
    if cell.has_steps() {
        return text;
    }
    format!("{text} ({} %)", number(cell.median(Sample::busy) * 100.0, 0))
}

/// Answers per second and longest step, of those `variants` that were measured; CPU time where it is asked for. README.md
/// has it, too.
pub fn throughput_table(results: &Results, variants: &[&str], with_cpu: bool) -> String {
    let measured = |variant: &&&str| results.cells.iter().any(|cell| cell.variant == **variant);
    let variants: Vec<&str> = variants.iter().filter(measured).copied().collect();
    if variants.is_empty() {
        return String::new();
    }
    let mut titles = vec!["scenario".to_owned()];
    for variant in &variants {
        titles.push(format!("{}: answers/s", cell_name(variant)));
        if with_cpu {
            titles.push("CPU µs each".to_owned());
        }
        titles.push("longest step, ms".to_owned());
    }
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut table = Table::new(&titles);
    for scenario in std::iter::once("capacity").chain(FRAME_SCENARIOS) {
        let mut row = vec![scenario.to_owned()];
        for variant in &variants {
            let cell = results.cell(scenario, variant);
            row.push(cell.map_or_else(|| "–".to_owned(), rate_and_load));
            if with_cpu {
                row.push(maybe(cell.map(|cell| cell.median(|sample| sample.cpu_us)), 1));
            }
            row.push(
                cell.filter(|cell| cell.has_steps())
                    .map_or_else(|| "–".to_owned(), longest),
            );
        }
        if row[1..].iter().any(|field| field != "–") {
            table.row(&row);
        }
    }
    table.finish()
}

fn cpu_per_request(results: &Results) -> String {
    let scenarios = ["capacity", "capacity-keep-alive", "capacity-pipelined", "capacity-json"];
    let mut table = Table::new(&[
        "CPU µs per request",
        "connection each",
        "× floor",
        "keep-alive",
        "× floor",
        "requests/s",
        "pipelined by 16",
        "JSON, keep-alive",
    ]);
    let mut any = false;
    for variant in variants_of(results, |cell| scenarios.contains(&cell.scenario.as_str())) {
        let cpu = |scenario| {
            results
                .cell(scenario, variant)
                .map(|cell| cell.median(|sample| sample.cpu_us))
        };
        let floor = |scenario| results.ratio((scenario, variant), (scenario, "floor"), |sample| sample.cpu_us);
        let keep_alive = results.cell(scenarios[1], variant).map(rate);
        table.row(&[
            cell_name(variant).to_owned(),
            maybe(cpu(scenarios[0]), 2),
            maybe(floor(scenarios[0]), 2),
            maybe(cpu(scenarios[1]), 2),
            maybe(floor(scenarios[1]), 2),
            maybe(keep_alive, 0),
            maybe(cpu(scenarios[2]), 2),
            maybe(cpu(scenarios[3]), 2),
        ]);
        any = true;
    }
    if !any {
        return String::new();
    }
    format!(
        "## CPU per request, against everything\n\n\
         64 clients as fast as it goes, the server on one core and the clients on another; CPU time of the server's process, \
         user and system.\n\n{}",
        table.finish()
    )
}

/// Variants in the order in which they were measured.
fn variants_of(results: &Results, of: impl Fn(&Cell) -> bool) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for cell in results.cells.iter().filter(|cell| of(cell)) {
        if !names.contains(&cell.variant.as_str()) {
            names.push(&cell.variant);
        }
    }
    names
}

fn target_table(results: &Results) -> String {
    let mut table = Table::new(&["target", "measured", "must", "goal", "reached", "beside"]);
    for target in targets::all(results) {
        let sign = if target.at_most { "≤" } else { "≥" };
        let bound = |value: f64| format!("{sign} {} {}", number(value, target.digits), target.unit);
        let measured = target.measured.map_or_else(
            || "–".to_owned(),
            |value| format!("**{} {}**", number(value, target.digits), target.unit),
        );
        let verdict = match target.verdict() {
            Verdict::Goal => "goal",
            Verdict::Must => "must",
            Verdict::Missed => "**missed**",
            Verdict::NotMeasured => "not measured",
        };
        table.row(&[
            target.name.to_owned(),
            measured,
            bound(target.must),
            bound(target.goal),
            verdict.to_owned(),
            target.beside,
        ]);
    }
    format!(
        "## Targets\n\nRatios are taken within one repetition.\n\n{}",
        table.finish()
    )
}

fn pictures(plots: &[(String, String)]) -> String {
    plots
        .iter()
        .map(|(file, title)| format!("![{title}]({file})\n"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn details(results: &Results) -> String {
    let mut text = String::from(
        "## Every scenario\n\n\
         Answers per second to healthy clients; latencies from the start of the connect (or the last byte of a fragmented \
         request) to the end of the answer, with those that a stalled client could not ask for put back in. `over` counts steps \
         over 16.7 ms in all repetitions; `busy` is the share of its core that the server used.\n",
    );
    for scenario in SCENARIOS {
        let cells: Vec<&Cell> = results
            .cells
            .iter()
            .filter(|cell| cell.scenario == scenario.name)
            .collect();
        if cells.is_empty() {
            continue;
        }
        text.push_str(&format!(
            "\n### {}\n\n{}\n\n",
            scenario.name,
            scenario.clients.join(", ")
        ));
        text.push_str(&if scenario.frames {
            frame_table(&cells)
        } else {
            capacity_table(&cells)
        });
    }
    text
}

fn errors(cell: &Cell) -> String {
    let errors: Vec<String> = cell
        .errors()
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    if errors.is_empty() {
        "0".to_owned()
    } else {
        errors.join(", ")
    }
}

fn latency(cell: &Cell) -> [String; 3] {
    [
        number(cell.median(|sample| sample.healthy().p50_us / 1000.0), 2),
        number(cell.median(|sample| sample.healthy().p99_us / 1000.0), 2),
        number(cell.worst(|sample| sample.healthy().max_us / 1000.0), 1),
    ]
}

fn memory(cell: &Cell) -> [String; 2] {
    let mib = |value: Option<f64>| value.map_or(f64::NAN, |kib| kib / 1024.0);
    [
        number(cell.worst(|sample| mib(sample.heap_peak_kib)), 1),
        number(cell.worst(|sample| mib(sample.rss_peak_kib)), 1),
    ]
}

fn capacity_table(cells: &[&Cell]) -> String {
    let mut table = Table::new(&[
        "variant",
        "answers/s",
        "busy %",
        "CPU µs",
        "latency p50, ms",
        "p99",
        "max",
        "heap MiB",
        "RSS MiB",
        "errors",
    ]);
    for cell in cells {
        let [p50, p99, max] = latency(cell);
        let [heap, rss] = memory(cell);
        table.row(&[
            cell_name(&cell.variant).to_owned(),
            number(rate(cell), 0),
            number(cell.median(Sample::busy) * 100.0, 0),
            number(cell.median(|sample| sample.cpu_us), 2),
            p50,
            p99,
            max,
            heap,
            rss,
            errors(cell),
        ]);
    }
    table.finish()
}

fn frame_table(cells: &[&Cell]) -> String {
    let mut table = Table::new(&[
        "variant",
        "answers/s",
        "CPU µs",
        "step p50, ms",
        "p99",
        "longest",
        "over",
        "latency p50, ms",
        "p99",
        "max",
        "heap MiB",
        "RSS MiB",
        "errors",
    ]);
    for cell in cells {
        let [p50, p99, max] = latency(cell);
        let [heap, rss] = memory(cell);
        let step = |share: f64| {
            let (wall, cpu) = (
                cell.median(|sample| sample.wall(share)),
                cell.median(|sample| sample.cpu(share)),
            );
            format!("{} ({})", ms(wall), ms(cpu))
        };
        let over: u64 = cell
            .samples
            .iter()
            .filter_map(|sample| sample.steps.as_ref())
            .map(|steps| steps.over_frame)
            .sum();
        table.row(&[
            cell_name(&cell.variant).to_owned(),
            number(rate(cell), 0),
            number(cell.median(|sample| sample.cpu_us), 1),
            step(0.5),
            step(0.99),
            longest(cell),
            over.to_string(),
            p50,
            p99,
            max,
            heap,
            rss,
            errors(cell),
        ]);
    }
    table.finish()
}

fn idle(results: &Results) -> String {
    if results.idle.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["connections", "ns per step", "bytes per connection"]);
    for row in &results.idle {
        let bytes = if row.connections == 0 {
            f64::NAN
        } else {
            row.bytes_per_connection
        };
        table.row(&[
            number(row.connections as f64, 0),
            number(row.ns_per_step, 0),
            number(bytes, 0),
        ]);
    }
    format!(
        "## Idle connections\n\nEach was served once and is silent. Memory is what the process has grown by, without the \
         sockets in the kernel.\n\n{}",
        table.finish()
    )
}

/// Memory in the second and in the last quarter of the mixed run: what grows shows.
fn soak(results: &Results) -> String {
    let cells: Vec<&Cell> = results.cells.iter().filter(|cell| cell.scenario == "soak").collect();
    if cells.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        "variant",
        "seconds",
        "heap MiB, second quarter",
        "last quarter",
        "RSS MiB, second quarter",
        "last quarter",
    ]);
    for cell in cells {
        let sample = &cell.samples[0];
        let quarter = |values: &[f64], number: usize| {
            let length = values.len() / 4;
            let part = values.get(number * length..(number + 1) * length).unwrap_or_default();
            part.iter().sum::<f64>() / part.len() as f64 / 1024.0
        };
        table.row(&[
            cell_name(&cell.variant).to_owned(),
            number(sample.seconds, 0),
            number(quarter(&sample.heap_kib, 1), 2),
            number(quarter(&sample.heap_kib, 3), 2),
            number(quarter(&sample.rss_kib, 1), 2),
            number(quarter(&sample.rss_kib, 3), 2),
        ]);
    }
    format!(
        "## Mixed run\n\nAll kinds of clients at once; its other figures are under `soak` above.\n\n{}",
        table.finish()
    )
}

fn features(results: &Results) -> String {
    if results.features.is_empty() {
        return String::new();
    }
    let request = results
        .cell("capacity-keep-alive", "app")
        .map(|cell| cell.median(|sample| sample.cpu_us));
    let mut table = Table::new(&[
        "feature",
        "off, CPU µs",
        "on, CPU µs",
        "added, ns",
        "of a keep-alive request",
    ]);
    for row in &results.features {
        let share = request.map(|request| row.added_us / request * 100.0);
        table.row(&[
            row.name.clone(),
            number(row.off_us, 3),
            number(row.on_us, 3),
            number(row.added_us * 1000.0, 0),
            share.map_or_else(|| "–".to_owned(), |share| format!("{} %", number(share, 1))),
        ]);
    }
    format!(
        "## What features cost\n\nThrough the application, pipelined by 16, where a tenth of a microsecond shows; the last \
         column is what was added as a share of the CPU time of one keep-alive request.\n\n{}",
        table.finish()
    )
}

fn kernels(results: &Results) -> String {
    if results.kernels.is_empty() {
        return String::new();
    }
    let (machine, library): (Vec<&Kernel>, Vec<&Kernel>) = results
        .kernels
        .iter()
        .partition(|kernel| CALIBRATION.contains(&kernel.name.as_str()));
    let library = kernel_table(
        &library,
        "kernel, µs",
        &[
            ("inside the library", "Rust", ""),
            ("from Lua 5.1", "Lua 5.1", ""),
            ("from LuaJIT", "LuaJIT", ""),
            ("plain Lua 5.1", "Lua 5.1", IN_LUA),
            ("plain Lua on LuaJIT", "LuaJIT", IN_LUA),
        ],
    );
    let machine = kernel_table(
        &machine,
        "calibration, µs",
        &[
            ("Rust", "Rust", ""),
            ("C", "C", ""),
            ("Lua 5.1", "Lua 5.1", ""),
            ("LuaJIT", "LuaJIT", ""),
        ],
    );
    format!(
        "## Kernels\n\nMicroseconds per operation, those of the fastest tenth. Plain Lua does the same work in code of ours, as a \
         careful program would. The second table says how fast the machine is.\n\n{library}\n{machine}"
    )
}

const CALIBRATION: [&str; 4] = ["int_loop", "fib30", "string_concat", "array_push"];
const IN_LUA: &str = "_in_lua";

/// `columns`: a title, what ran the kernel, and the end of its name there.
fn kernel_table(kernels: &[&Kernel], title: &str, columns: &[(&str, &str, &str)]) -> String {
    let titles: Vec<&str> = std::iter::once(title)
        .chain(columns.iter().map(|(title, ..)| *title))
        .collect();
    let mut table = Table::new(&titles);
    let mut names: Vec<&str> = Vec::new();
    for kernel in kernels {
        let name = kernel.name.strip_suffix(IN_LUA).unwrap_or(&kernel.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let figure = |(_, runtime, end): &(&str, &str, &str)| {
            let is_it = |kernel: &&&Kernel| kernel.runtime == *runtime && kernel.name == format!("{name}{end}");
            kernels
                .iter()
                .find(is_it)
                .map_or_else(|| "–".to_owned(), |kernel| short(kernel.us_per_op))
        };
        let row: Vec<String> = std::iter::once(name.to_owned())
            .chain(columns.iter().map(figure))
            .collect();
        table.row(&row);
    }
    table.finish()
}

fn facts(results: &Results) -> String {
    let mut table = Table::new(&["machine", ""]);
    for (name, text) in &results.facts {
        table.row(&[name.clone(), text.replace('|', "/")]);
    }
    let mut text = format!("## Machine and versions\n\n{}", table.finish());
    if !results.notes.is_empty() {
        text.push_str("\nNotes:\n\n");
        for note in &results.notes {
            text.push_str(&format!("- {}\n", note.replace('\n', " ")));
        }
    }
    text
}
