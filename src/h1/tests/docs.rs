//! The page that tells what is supported names every row, and only rows and tests that exist.

use std::collections::BTreeSet;

use super::{body_rows, connection_rows, field_rows, limit_rows, line_rows};

const PAGE: &str = include_str!("../../../docs/http-support.md");

/// Tests whose cases are no table rows are found by name in their sources.
const SOURCES: [&str; 5] = [
    include_str!("body_rows.rs"),
    include_str!("connection_rows.rs"),
    include_str!("limit_rows.rs"),
    include_str!("responses.rs"),
    include_str!("line_rows.rs"),
];

fn row_names() -> BTreeSet<&'static str> {
    let tables = [
        line_rows::ROWS,
        field_rows::ROWS,
        body_rows::LENGTH_ROWS,
        body_rows::CODING_ROWS,
        body_rows::CHUNK_ROWS,
        connection_rows::ROWS,
        connection_rows::EOF_ROWS,
        limit_rows::ROWS,
        limit_rows::CHUNK_ROWS,
    ];
    tables.into_iter().flatten().map(|row| row.0).collect()
}

/// What stands in backticks in the last column of the page's tables.
fn named() -> BTreeSet<&'static str> {
    let lines = PAGE
        .lines()
        .filter(|line| line.starts_with("| ") && line.matches(" | ").count() == 3);
    let cells = lines.filter_map(|line| line.trim_end_matches(" |").rsplit(" | ").next());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn every_name_on_the_page_is_a_row_or_a_test() {
    let rows = row_names();
    for name in named() {
        let in_sources = |text: &str| text.contains(&format!("\"{name}\"")) || text.contains(&format!("fn {name}()"));
        // One name stands in a comment, at the test that cuts differently.
        let in_comment = |text: &str| text.contains(&format!("Name `{name}`"));
        let found = rows.contains(name) || SOURCES.iter().any(|text| in_sources(text) || in_comment(text));
        assert!(found, "docs/http-support.md names {name}, which is no row");
    }
}

#[test]
fn every_row_is_on_the_page() {
    // Rows that show a state in between, not a rule.
    let between = [
        "cr-only",
        "request-line-incomplete",
        "head-incomplete",
        "post-cl-incomplete",
        "fin-after-refusal",
    ];
    let named = named();
    for row in row_names() {
        let known = named.contains(row) || between.contains(&row) || row.starts_with("chunked-");
        assert!(known, "docs/http-support.md does not name {row}");
    }
    assert!(named.len() > 150);
}
