//! The figures in README.md, between two marks in it.

use crate::Outcome;
use crate::report::throughput_table;
use crate::results::Results;

const FILE: &str = "README.md";
const BEGIN: &str = "<!-- figures: make bench BENCH_ARGS=--readme writes what follows -->\n";
const END: &str = "<!-- end of figures -->";

/// Puts the main table of `results` into README.md.
pub fn write(results: &Results) -> Outcome<()> {
    let text = std::fs::read_to_string(FILE)?;
    Ok(std::fs::write(FILE, replaced(&text, &figures(results))?)?)
}

fn figures(results: &Results) -> String {
    let fact = |name: &str| {
        let found = results.facts.iter().find(|(known, _)| known == name);
        found.map_or("unknown", |(_, text)| text.as_str())
    };
    format!(
        "\n{}\nMeasured at {} on {}.\n\n",
        throughput_table(results, &["app", "plain"], true),
        fact("commit"),
        fact("processor")
    )
}

fn replaced(text: &str, figures: &str) -> Outcome<String> {
    let begin = text.find(BEGIN).ok_or("README.md has no mark where figures begin")? + BEGIN.len();
    let length = text[begin..]
        .find(END)
        .ok_or("README.md has no mark where figures end")?;
    Ok(format!("{}{figures}{}", &text[..begin], &text[begin + length..]))
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, replaced};

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let text = |figures: &str| format!("before\n{BEGIN}{figures}{END}\nafter");
        assert_eq!(replaced(&text("old"), "new").unwrap(), text("new"));
        assert!(replaced("no marks", "new").is_err());
    }
}
