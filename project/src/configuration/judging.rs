//! The keys whose values are words: by what runs are judged and by whom (`conformance`, `judge`), and by what
//! facts are made sharper (`analysis: refine`).

use coreach_analyses::reachability::Refinement;
use coreach_model::Diagnostic;
use coreach_model::reader::collect::{Collector, listed};
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, Scalar};
use coreach_pipeline::Conformance;

coreach_model::words! {
    #[derive(Default)]
    pub enum Judging {
        /// A test case, made by the whole pipeline.
        #[default]
        TestCase = "test_case",
        /// The product of specification and purpose, followed in all states that are possible: nothing is
        /// closed or determinized.
        Online = "online",
    }
}

/// `conformance`.
pub(super) fn read_conformance(collector: &mut Collector, entries: &[Entry]) -> Option<Conformance> {
    let Some(node) = shape::get(entries, "conformance") else { return Some(Conformance::default()) };
    let scalar = shape::scalar(collector, node, "`conformance`", "conformance: ioco")?;
    let all = Conformance::ALL.map(|conformance| (conformance.name(), conformance));
    known(collector, scalar, "conformance", "no relation that is known here", &all)
}

pub(super) fn read_judging(collector: &mut Collector, entries: &[Entry]) -> Option<Judging> {
    let Some(node) = shape::get(entries, "judge") else { return Some(Judging::default()) };
    let scalar = shape::scalar(collector, node, "`judge`", "judge: online")?;
    let all = Judging::ALL.map(|judging| (judging.name(), judging));
    known(collector, scalar, "judge", "nobody who judges", &all)
}

/// `analysis: refine`.
pub(super) fn read_refine(collector: &mut Collector, analysis: &[Entry]) -> Option<Refinement> {
    let Some(node) = shape::get(analysis, "refine") else { return Some(Refinement::default()) };
    let scalar = shape::scalar(collector, node, "`refine`", "refine: exact")?;
    let all = Refinement::ALL.map(|refinement| (refinement.name(), refinement));
    known(collector, scalar, "refinement", "nothing that refines", &all)
}

/// What a word means, or a mistake with the nearest word.
pub(super) fn known<T: Copy>(
    collector: &mut Collector,
    scalar: &Scalar,
    what: &str,
    label: &str,
    all: &[(&'static str, T)],
) -> Option<T> {
    let found = all.iter().find(|(name, _)| *name == scalar.text).map(|(_, value)| *value);
    if found.is_none() {
        let names = || all.iter().map(|(name, _)| *name);
        let help = match collector.nearest(&scalar.text, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", listed(names())),
        };
        let diagnostic = Diagnostic::error("wrong-value", format!("unknown {what} `{}`", scalar.text))
            .at(collector.origin(&scalar.span), label)
            .help(help);
        collector.push(diagnostic);
    }
    found
}
