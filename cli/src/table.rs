//! Tables for people: columns aligned, two blanks between them, and nothing drawn. Rows that are too wide are
//! wrapped within their cells.
//!
//! Only text is wrapped, in the columns to the left. It is wrapped at blanks outside of strings, and within a
//! word only if this word takes more than its part of the row. Figures, to the right, are never split. So
//! many figures may make a table wider.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};

use crate::console;

/// A blank in a string while rows are wrapped. It is no character of any text.
const BLANK: &str = "\u{fdd0}";

/// Makes a table of cells, as wide as standard output allows. The first `left` columns are aligned to the
/// left, the others to the right.
pub(crate) fn table(rows: &[Vec<String>], left: usize) -> String {
    table_within(rows, left, console::output_width())
}

/// Makes a table for a terminal of `width` columns.
fn table_within(rows: &[Vec<String>], left: usize, width: u16) -> String {
    let mut rows = rows.to_vec();
    for cell in rows.iter_mut().flatten() {
        *cell = keep_strings(cell, usize::from(width / 2), BLANK);
    }
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    for row in &rows {
        let cell = |(column, cell): (usize, &String)| {
            let alignment = if column < left { CellAlignment::Left } else { CellAlignment::Right };
            Cell::new(cell).set_alignment(alignment)
        };
        table.add_row(row.iter().enumerate().map(cell));
    }
    // Each column needs the width of its longest word, or of its widest figure.
    let widths = table.column_max_content_widths();
    let mut least_width = 0_u16;
    for (number, column) in table.column_iter_mut().enumerate() {
        let gap = if number + 1 == widths.len() { 0 } else { 2 };
        let widest = widths.get(number).copied().unwrap_or(0);
        let cells = rows.iter().filter_map(|row| row.get(number));
        let words = cells.flat_map(|cell| cell.split(' ')).map(|word| word.chars().count());
        // A longer word than a sixth of a row may be split.
        let longest_word = u16::try_from(words.max().unwrap_or(0)).unwrap_or(u16::MAX).min(width / 6);
        let needs = if number < left { longest_word.min(widest) } else { widest }.saturating_add(gap);
        least_width = least_width.saturating_add(needs);
        column.set_padding((0, gap)).set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(needs)));
    }
    table.set_width(width.max(least_width));
    table.lines().map(|line| line.trim_end().replace(BLANK, " ") + "\n").collect()
}

/// Replaces each blank in a quoted string by `blank`, so that no line is broken there. Strings of `longest`
/// characters and more stay.
pub(crate) fn keep_strings(text: &str, longest: usize, blank: &str) -> String {
    // A quote in a string does not end it.
    const QUOTE_IN_STRING: &str = "\u{1}";
    let text = text.replace("\\\"", QUOTE_IN_STRING);
    let mut parts: Vec<String> = text.split('"').map(str::to_owned).collect();
    // Each second part is within quotes. A string without its last quote is none.
    let last = parts.len() - 1;
    for string in parts[..last].iter_mut().skip(1).step_by(2) {
        if string.chars().count() < longest {
            *string = string.replace(' ', blank);
        }
    }
    parts.join("\"").replace(QUOTE_IN_STRING, "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cells: &[&[&str]]) -> Vec<Vec<String>> {
        cells.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn what_fits_is_aligned_and_nothing_else() {
        let rows = rows(&[
            &["name", "", "runs", "seconds"],
            &["a longer one", "x", "7", ""],
            &["  b", "", "12345", "0.5"],
        ]);
        let expected =
            "name              runs  seconds\na longer one  x      7\n  b              12345      0.5\n";
        assert_eq!(table_within(&rows, 2, 120), expected);
        assert_eq!(table_within(&[], 2, 120), "");
    }

    #[test]
    fn figures_are_never_split() {
        let head: Vec<String> = (0..30).map(|number| format!("figure {number}")).collect();
        let figures: Vec<String> = (0..30).map(|number| format!("{}", 1_000_000 + number)).collect();
        let text = table_within(&[head, figures.clone()], 0, 80);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(figures.iter().all(|figure| text.contains(figure)), "{text}");
    }

    #[test]
    fn a_string_is_not_wrapped() {
        let rows = rows(&[&["30", "Transferred(reply = NoAccount(\"      x  \"))", &"word ".repeat(30)]]);
        let text = table_within(&rows, 3, 60);
        assert!(text.contains("\"      x  \""), "{text}");
    }

    #[test]
    fn what_is_too_wide_is_wrapped_and_whole() {
        let values: Vec<String> = (0..60).map(|number| format!("value{number} = {number}")).collect();
        let long = values.join(", ");
        let signs = "x".repeat(300);
        let rows = rows(&[&["", "event", "with"], &["1", "Coin(pValue = 3)", &long], &["2", &signs, ""]]);
        for width in [40, 80, 120] {
            let text = table_within(&rows, 3, width);
            assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{width}\n{text}");
            assert_eq!(text.matches('x').count(), 300);
            for part in 0..60 {
                let words: String = text.split_whitespace().collect();
                assert!(words.contains(&format!("value{part}")) || width == 40, "{width}: {part}\n{text}");
            }
        }
    }
}
