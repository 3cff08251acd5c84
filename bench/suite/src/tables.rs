//! Tables in Markdown, and how figures are written in them.

/// A table: the first column to the left, the others to the right.
pub struct Table {
    columns: usize,
    text: String,
}

impl Table {
    pub fn new(titles: &[&str]) -> Self {
        let mut text = format!("| {} |\n|---|", titles.join(" | "));
        text.push_str(&"---:|".repeat(titles.len() - 1));
        text.push('\n');
        Self {
            columns: titles.len(),
            text,
        }
    }

    pub fn row(&mut self, fields: &[String]) {
        debug_assert_eq!(fields.len(), self.columns);
        self.text.push_str(&format!("| {} |\n", fields.join(" | ")));
    }

    pub fn finish(self) -> String {
        self.text
    }
}

/// `digits` after the point, with thin groups of thousands; a dash where there is no figure.
pub fn number(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{:.digits$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        // A figure of four digits is read well without a space.
        if index > 0 && (whole.len() - index).is_multiple_of(3) && whole.len() > 4 {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{grouped}{rest}")
}

pub fn maybe(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| number(value, digits))
}

pub fn ms(microseconds: f64) -> String {
    number(microseconds / 1000.0, 2)
}

/// Three significant digits, for figures of very different sizes.
pub fn short(value: f64) -> String {
    let digits = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        value if value >= 0.1 => 3,
        _ => 4,
    };
    number(value, digits)
}

#[cfg(test)]
mod tests {
    use super::{Table, number};

    #[test]
    fn figures_and_rows() {
        assert_eq!(number(1234.56, 1), "1234.6");
        assert_eq!(number(123_456.0, 0), "123\u{202f}456");
        assert_eq!(number(f64::NAN, 0), "–");
        let mut table = Table::new(&["a", "b"]);
        table.row(&["x".to_owned(), "1".to_owned()]);
        assert_eq!(table.finish(), "| a | b |\n|---|---:|\n| x | 1 |\n");
    }
}
