//! Names that a campaign has for constants and locations, compared with those of its test cases; or, before
//! these are made, with what they are made of.

use std::collections::BTreeSet;

use coreach_model::diagnostic::nearest;
use coreach_model::reader::collect::inventory;
use coreach_model::{Datum, Diagnostic, Iosts, Severity, codec};

use crate::campaign::{Campaign, Constants};
use crate::project::Project;

#[derive(Default)]
pub struct KnownNames {
    constants: Vec<Datum>,
    locations: BTreeSet<String>,
    /// Of specifications, from whose names test cases that are to be made take theirs.
    beginnings: BTreeSet<String>,
}

impl KnownNames {
    pub fn add_test(&mut self, test: &Iosts) {
        self.constants.extend(test.constants.iter().cloned());
        self.locations.extend(test.locations.iter().map(|location| location.name.clone()));
    }

    /// Takes what the test cases of a configuration are made of.
    pub fn add_project(&mut self, project: &Project) {
        let purposes = project.purposes.iter().flat_map(|purpose| &purpose.iosts.constants);
        self.constants.extend(project.specification.iosts.constants.iter().chain(purposes).cloned());
        let names = project.specification.iosts.locations.iter().map(|location| location.name.clone());
        self.beginnings.extend(names);
    }

    /// Constants and locations that no test case has, and values that constants do not have: mistakes, where
    /// all test cases that were asked for are there (`is_whole`).
    pub fn check(&self, campaign: &Campaign, is_whole: bool) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if let Constants::Given(list) = &campaign.constants {
            for (name, name_origin, value, origin) in list.iter().flat_map(|one| &one.pairs) {
                let data = || self.constants.iter().filter(|datum| datum.name() == name);
                if data().next().is_none() {
                    let known = self.constants.iter().map(Datum::name);
                    let diagnostic = unknown("unknown-constant", "constant", name, known, is_whole);
                    found.push(diagnostic.at(name_origin.clone(), "no constant of this name"));
                }
                if let Some(why) = data().find_map(|datum| codec::from_text(value, datum.ty()).err()) {
                    let message = format!("`{name}` has no such value: {why}");
                    let diagnostic = Diagnostic::error("wrong-value", message);
                    found.push(diagnostic.at(origin.clone(), "not such a value"));
                }
            }
        }
        let mut names: Vec<&String> = campaign.settings.limits.quiescence_at.keys().collect();
        names.sort();
        for name in names.into_iter().filter(|name| !self.may_have(name)) {
            let known = self.locations.iter().chain(&self.beginnings).map(String::as_str);
            // How a test case calls its locations is known when it is made.
            let is_sure = is_whole && self.beginnings.is_empty();
            let diagnostic = unknown("unknown-location", "location", name, known, is_sure);
            found.push(diagnostic.at(campaign.places.get(name).cloned(), "no location of this name"));
        }
        found
    }

    /// May a test case have a location of this name?
    fn may_have(&self, name: &str) -> bool {
        let begins = |known: &String| {
            name.strip_prefix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        self.locations.contains(name) || self.beginnings.iter().any(begins)
    }
}

fn unknown<'a>(
    code: &'static str,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    is_sure: bool,
) -> Diagnostic {
    let known: BTreeSet<&str> = known.collect();
    // A location of a test case is called by those that it is made of, the specification's first.
    let first = name.split("__").next().unwrap_or_default();
    let near = |name| nearest(name, known.iter().copied());
    let help = match near(name).or_else(|| near(first)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => inventory(&format!("{what}s"), known),
    };
    let severity = if is_sure { Severity::Error } else { Severity::Warning };
    let message = format!("no test case of the campaign has the {what} `{name}`");
    Diagnostic { severity, ..Diagnostic::error(code, message).help(help) }
}
