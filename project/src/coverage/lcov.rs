//! Writes the report as LCOV for coverage viewers: `genhtml` of the LCOV project, editors, build servers.
//!
//! The format is that of `geninfo(1)`. A record is for a test (`TN`) and a file (`SF`). Here each purpose has
//! two records: one for the specification, and one for the purpose itself. Viewers add them up.
//!
//! | LCOV | here |
//! |---|---|
//! | a line (`DA`) | the first line of a transition, how often it was taken; of a location that is described under `locations:`, how often it was visited |
//! | a branch (`BRDA`) | a condition, on its transition's line: for conjunct n the branches 2n (it held) and 2n + 1 (it alone did not) |
//! | a function (`FN`) | a location, how often it was visited |
//!
//! Counts are the certain ones: an item that is only possible has 0. Unreachable items, and items that a
//! purpose rejects, are left out. A line with several transitions has the least of their counts, so it is
//! covered only if all of them are. Each of these transitions is a block of branches.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::report::{CoverageReport, ModelCoverage};

pub fn write_lcov(report: &CoverageReport) -> String {
    let mut text = String::new();
    for specification in &report.specifications {
        for purpose in &specification.purposes {
            let test = format!("{}__{}", specification.own.name, purpose.own.name);
            write_record(&mut text, &test, &purpose.specification);
            write_record(&mut text, &test, &purpose.own);
        }
    }
    text
}

fn put_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

/// Counts how often each line was met. A line with several items has the least of their counts.
pub(super) fn count_lines(model: &ModelCoverage) -> BTreeMap<usize, u64> {
    let transitions = model.transitions.iter().map(|transition| (transition.line, &transition.met));
    let described = model.locations.iter().filter(|location| location.is_described);
    let all = transitions.chain(described.map(|location| (location.line, &location.met)));
    let mut lines: BTreeMap<usize, u64> = BTreeMap::new();
    for (number, met) in all.filter(|(_, met)| met.status.is_asked()) {
        let least = lines.entry(number).or_insert(met.times);
        *least = met.times.min(*least);
    }
    lines
}

/// Writes the record of one model: its locations, its branches, its lines.
fn write_record(text: &mut String, test: &str, model: &ModelCoverage) {
    // The format allows these signs only.
    let test: String =
        test.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' }).collect();
    put_line(text, format_args!("TN:{test}"));
    put_line(text, format_args!("SF:{}", model.file.replace(['\n', '\r'], " ")));
    let locations: Vec<_> =
        model.locations.iter().filter(|location| location.met.status.is_asked()).collect();
    for location in &locations {
        put_line(text, format_args!("FN:{},{}", location.line, location.name));
    }
    for location in &locations {
        put_line(text, format_args!("FNDA:{},{}", location.met.times, location.name));
    }
    let visited = locations.iter().filter(|location| location.met.times > 0).count();
    put_line(text, format_args!("FNF:{}", locations.len()));
    put_line(text, format_args!("FNH:{visited}"));

    let mut blocks: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut found, mut hit) = (0, 0);
    for transition in model.transitions.iter().filter(|transition| transition.met.status.is_asked()) {
        let block = blocks.entry(transition.line).or_default();
        let conditions =
            || transition.conjuncts.iter().flat_map(|conjunct| [&conjunct.holds, &conjunct.fails]);
        let is_evaluated = conditions().any(|condition| condition.times > 0);
        for (branch, condition) in
            conditions().enumerate().filter(|(_, condition)| condition.status.is_asked())
        {
            // The sign `-` says that the guard was never evaluated.
            let taken = if is_evaluated { condition.times.to_string() } else { "-".to_owned() };
            put_line(text, format_args!("BRDA:{},{block},{branch},{taken}", transition.line));
            found += 1;
            hit += usize::from(condition.times > 0);
        }
        *block += 1;
    }
    put_line(text, format_args!("BRF:{found}"));
    put_line(text, format_args!("BRH:{hit}"));
    let lines = count_lines(model);
    for (number, times) in &lines {
        put_line(text, format_args!("DA:{number},{times}"));
    }
    put_line(text, format_args!("LF:{}", lines.len()));
    put_line(text, format_args!("LH:{}", lines.values().filter(|times| **times > 0).count()));
    put_line(text, format_args!("end_of_record"));
}
