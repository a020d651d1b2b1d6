//! The tables of `docs/dev/architecture.md` that hold the house: a table is found by the words of its head.

use super::sources::text;

/// A row: the words in backticks of each cell.
pub type Row = Vec<Vec<String>>;

/// The rows of the table whose head begins with these cells.
pub fn table(head: &str) -> Vec<Row> {
    let text = text("docs/dev/architecture.md");
    let mut lines = text.lines().skip_while(|line| !line.starts_with(head));
    assert!(lines.next().is_some(), "docs/dev/architecture.md has no table with the head `{head}`");
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|line| line.trim_matches('|').split(" | ").map(quoted).collect()).collect()
}

fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
