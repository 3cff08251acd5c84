//! The part of the report about clients that are no healthy ones: what became of them.

use crate::report::cell_name;
use crate::results::{Cell, KindFigures, Results};
use crate::tables::{Table, maybe, number};

/// Three tables, over the scenarios with frames.
pub fn sections(results: &Results) -> String {
    let cells: Vec<&Cell> = results.cells.iter().filter(|cell| cell.has_steps()).collect();
    if cells.is_empty() {
        return String::new();
    }
    format!(
        "## Idle, slow and fragmented clients\n\nSums over the repetitions; times are medians.\n\n{}\n{}\n{}",
        holders(&cells),
        slow_readers(&cells),
        fragmented(&cells)
    )
}

/// The cells with clients of that kind: scenario, variant and number of clients.
fn with<'a>(cells: &[&'a Cell], kind: &str) -> Vec<(&'a Cell, [String; 3])> {
    let of = |cell: &&'a Cell| {
        let clients = cell.kind_median(kind, |figures| figures.clients as f64)?;
        let names = [
            cell.scenario.clone(),
            cell_name(&cell.variant).to_owned(),
            number(clients, 0),
        ];
        Some((*cell, names))
    };
    cells.iter().filter_map(of).collect()
}

fn sum(cell: &Cell, kind: &str, value: impl Fn(&KindFigures) -> u64) -> String {
    cell.sum(kind, value).unwrap_or_default().to_string()
}

fn errors(cell: &Cell, kind: &str) -> String {
    sum(cell, kind, |figures| figures.errors.values().sum())
}

fn holders(cells: &[&Cell]) -> String {
    let mut table = Table::new(&["scenario", "variant", "clients", "opened", "closed by the server"]);
    for kind in ["idle", "slowloris"] {
        for (cell, [scenario, variant, clients]) in with(cells, kind) {
            let opened = sum(cell, kind, |figures| figures.opened);
            let closed = sum(cell, kind, |figures| figures.closed);
            table.row(&[scenario, variant, format!("{clients} {kind}"), opened, closed]);
        }
    }
    table.finish()
}

fn slow_readers(cells: &[&Cell]) -> String {
    let kind = "slow_reader";
    let mut table = Table::new(&[
        "scenario",
        "variant",
        "slow readers",
        "whole 8 MiB responses",
        "cut",
        "slowest, s",
    ]);
    for (cell, [scenario, variant, clients]) in with(cells, kind) {
        let whole = sum(cell, kind, |figures| figures.answers);
        let slowest = maybe(cell.kind_median(kind, |figures| figures.max_us / 1e6), 2);
        table.row(&[scenario, variant, clients, whole, errors(cell, kind), slowest]);
    }
    table.finish()
}

fn fragmented(cells: &[&Cell]) -> String {
    let kind = "fragmented";
    let mut table = Table::new(&[
        "scenario",
        "variant",
        "fragmented",
        "answers",
        "p50, ms",
        "p99, ms",
        "errors",
    ]);
    for (cell, [scenario, variant, clients]) in with(cells, kind) {
        let answers = sum(cell, kind, |figures| figures.answers);
        let p50 = maybe(cell.kind_median(kind, |figures| figures.p50_us / 1000.0), 1);
        let p99 = maybe(cell.kind_median(kind, |figures| figures.p99_us / 1000.0), 1);
        table.row(&[scenario, variant, clients, answers, p50, p99, errors(cell, kind)]);
    }
    table.finish()
}
