//! Trees of paths and goals of coverage of a pair's specification against brute force ([`crate::symbolic`]).
//!
//! Both take longer than most of what else is checked of a pair: where nobody asks for them alone, each is
//! checked of every so many pairs only.

use coreach_analyses::symbolic::Quiescence;
use coreach_model::SourceFile;
use coreach_model::reader::read_specification;

use super::{COVER, Property, Report, Settings, TREE};
use crate::generator::Pair;
use crate::source::Input;
use crate::symbolic::tree::{compare_restriction, compare_tree, is_small};
use crate::symbolic::{cover, tree};
use crate::text;

/// Trees of every so many pairs, and goals of every so many.
const EACH: (u64, u64) = (4, 16);

/// Checks both of a pair.
pub fn symbolic(pair: &Pair, input: &Input, settings: &Settings, report: &mut Report) {
    let is_due = |property: Property, each: u64| {
        settings.wants(property) && (settings.only.is_some() || settings.seed.is_multiple_of(each))
    };
    let iosts = &input.specification;
    if !is_small(iosts) {
        return;
    }
    if is_due(TREE, EACH.0) {
        let mut seen = tree::Seen::default();
        let quiescence = if settings.seed.is_multiple_of(3) { Quiescence::Loop } else { Quiescence::Unseen };
        let outcome =
            compare_tree(iosts, quiescence, &mut seen).and_then(|()| compare_restriction(iosts, &mut seen));
        report.count("nodes of trees", seen.nodes);
        report.count("restrictions that fit their limits", seen.complete);
        report.note(TREE, outcome);
    }
    if is_due(COVER, EACH.1) {
        let file = SourceFile { name: "specification.yaml".to_owned(), text: text::specification(pair) };
        let Ok((specification, _)) = read_specification(file.into()) else { return };
        let mut seen = cover::Seen::default();
        let outcome =
            cover::compare(&specification, if settings.seed.is_multiple_of(2) { 0 } else { 7 }, &mut seen);
        report.count("goals that are covered", seen.covered);
        report.count("goals that are proved unreachable", seen.unreachable);
        if seen.systems > 0 {
            report.note(COVER, outcome);
        }
    }
}
