//! Collects the locations that `within` of an IUT's file may name.
//!
//! A test case has only those locations of its specification that its purpose leads through. So an unknown
//! name is a mistake only if the specification itself is known. With only a document it is a warning.

use std::collections::BTreeSet;
use std::ops::Range;

use coreach_execution::TestCase;
use coreach_model::diagnostic::{Diagnostic, Severity};
use coreach_model::iosts::Iosts;
use coreach_model::reader::collect::Collector;

/// The names of locations that `within` may use.
#[derive(Clone, Default, Debug)]
pub struct NameableLocations {
    names: BTreeSet<String>,
    /// Is there a test case whose specification is not known?
    may_miss_some: bool,
}

impl NameableLocations {
    pub fn add(&mut self, specification: &Iosts) {
        self.names.extend(specification.locations.iter().map(|location| location.name.clone()));
    }

    /// Adds the locations from which a test case was made, as its document names them.
    pub fn add_document(&mut self, test: &TestCase) {
        self.names.extend(test.origins.iter().flatten().cloned());
        self.may_miss_some = true;
    }

    /// Reports a name that is none of the locations.
    pub(super) fn report_unknown(&self, collector: &mut Collector, name: &str, span: &Range<usize>) {
        if self.names.contains(name) {
            return;
        }
        let known = || self.names.iter().map(String::as_str);
        let help = collector.suggest(name, "locations", known);
        let (severity, message, label) = match self.may_miss_some {
            true => (
                Severity::Warning,
                format!("no test case has the location `{name}`"),
                "in none of these test cases",
            ),
            false => (
                Severity::Error,
                format!("unknown location `{name}`"),
                "the specification has no such location",
            ),
        };
        let diagnostic =
            Diagnostic::error("unknown-location", message).at(collector.origin(span), label).help(help);
        collector.push(Diagnostic { severity, ..diagnostic });
    }
}
