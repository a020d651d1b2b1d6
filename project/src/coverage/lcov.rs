//! The report as LCOV, which coverage viewers read: `genhtml` of the LCOV project, editors, build servers.
//!
//! The format is that of `geninfo(1)`. A record stands for a test (`TN`) and a file (`SF`): here for each
//! purpose, what its runs covered of the specification, and of the purpose. Viewers add them up.
//!
//! | LCOV | here |
//! |---|---|
//! | a line (`DA`) | the first line of a transition, how often it was taken; of a location that is described under `locations:`, how often it was visited |
//! | a branch (`BRDA`) | a condition, on its transition's line: for conjunct n the branches 2n (it held) and 2n + 1 (it alone did not) |
//! | a function (`FN`) | a location, how often it was visited |
//!
//! Counts are those that are certain; what is only possible is 0. What is proved to be out of reach, and what
//! a purpose rejects, is left out. Where several transitions stand on one line, it has the least of their
//! counts: the line is not covered while one of them is not; each is a block of its branches.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::report::{CoverageReport, Met, ModelCoverage};

pub fn lcov(report: &CoverageReport) -> String {
    let mut text = String::new();
    for specification in &report.specifications {
        for purpose in &specification.purposes {
            let test = format!("{}__{}", specification.own.name, purpose.own.name);
            record(&mut text, &test, &purpose.specification);
            record(&mut text, &test, &purpose.own);
        }
    }
    text
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

pub(super) fn is_asked(met: &Met) -> bool {
    met.status.is_asked()
}

/// How often each line was met: where several things stand on one, the least often.
pub(super) fn lines(model: &ModelCoverage) -> BTreeMap<usize, u64> {
    let transitions = model.transitions.iter().map(|transition| (transition.line, &transition.met));
    let described = model.locations.iter().filter(|location| location.is_described);
    let all = transitions.chain(described.map(|location| (location.line, &location.met)));
    let mut lines: BTreeMap<usize, u64> = BTreeMap::new();
    for (number, met) in all.filter(|(_, met)| is_asked(met)) {
        let least = lines.entry(number).or_insert(met.times);
        *least = met.times.min(*least);
    }
    lines
}

fn record(text: &mut String, test: &str, model: &ModelCoverage) {
    // The format allows these signs only.
    let test: String =
        test.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' }).collect();
    put(text, format_args!("TN:{test}"));
    put(text, format_args!("SF:{}", one_line(&model.file)));
    let locations: Vec<_> = model.locations.iter().filter(|location| is_asked(&location.met)).collect();
    for location in &locations {
        put(text, format_args!("FN:{},{}", location.line, location.name));
    }
    for location in &locations {
        put(text, format_args!("FNDA:{},{}", location.met.times, location.name));
    }
    put(text, format_args!("FNF:{}", locations.len()));
    put(text, format_args!("FNH:{}", locations.iter().filter(|location| location.met.times > 0).count()));

    let mut blocks: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut found, mut hit) = (0, 0);
    for transition in model.transitions.iter().filter(|transition| is_asked(&transition.met)) {
        let block = blocks.entry(transition.line).or_default();
        let conditions =
            || transition.conjuncts.iter().flat_map(|conjunct| [&conjunct.holds, &conjunct.fails]);
        let is_evaluated = conditions().any(|condition| condition.times > 0);
        for (branch, condition) in conditions().enumerate().filter(|(_, condition)| is_asked(condition)) {
            let taken = if is_evaluated { condition.times.to_string() } else { "-".to_owned() };
            put(text, format_args!("BRDA:{},{block},{branch},{taken}", transition.line));
            found += 1;
            hit += usize::from(condition.times > 0);
        }
        *block += 1;
    }
    put(text, format_args!("BRF:{found}"));
    put(text, format_args!("BRH:{hit}"));
    let lines = lines(model);
    for (number, times) in &lines {
        put(text, format_args!("DA:{number},{times}"));
    }
    put(text, format_args!("LF:{}", lines.len()));
    put(text, format_args!("LH:{}", lines.values().filter(|times| **times > 0).count()));
    put(text, format_args!("end_of_record"));
}

/// A name of a file may hold any sign; a record has one line for it.
fn one_line(name: &str) -> String {
    name.replace(['\n', '\r'], " ")
}
