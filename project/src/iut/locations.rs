//! The locations of the specification that `within` of an IUT's file may name.
//!
//! A test case has those of its specification that its purpose leads through. So a name that it does not have
//! is a mistake only where the specification itself is known; where test cases were read from documents alone
//! it is told, and nothing is refused.

use std::collections::BTreeSet;
use std::ops::Range;

use coreach_execution::TestCase;
use coreach_model::diagnostic::{Diagnostic, Severity};
use coreach_model::iosts::Iosts;
use coreach_model::reader::collect::Collector;

#[derive(Clone, Default, Debug)]
pub struct ReportedLocations {
    names: BTreeSet<String>,
    /// Has some test case no specification beside it?
    may_miss_some: bool,
}

impl ReportedLocations {
    pub fn add(&mut self, specification: &Iosts) {
        self.names.extend(specification.locations.iter().map(|location| location.name.clone()));
    }

    /// Adds those that a test case was made of, of which nothing is known but its document.
    pub fn add_document(&mut self, test: &TestCase) {
        self.names.extend(test.origins.iter().flatten().cloned());
        self.may_miss_some = true;
    }

    /// Tells of a name that is none of them.
    pub(super) fn check(&self, collector: &mut Collector, name: &str, span: &Range<usize>) {
        if self.names.contains(name) {
            return;
        }
        let known = || self.names.iter().map(String::as_str);
        let help = collector.meant(name, "locations", known);
        let (severity, message, label) = match self.may_miss_some {
            true => (
                Severity::Warning,
                format!("no test case was made of a location `{name}`"),
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
