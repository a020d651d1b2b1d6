//! Compares a campaign's names of constants and locations with those of its test cases. Before the test cases
//! are made, it compares them with the names of the models that the test cases are made of.

use std::collections::BTreeSet;

use coreach_model::diagnostic::nearest;
use coreach_model::reader::collect::{inventory, merge_equal};
use coreach_model::{Datum, Diagnostic, Iosts, Severity, codec};

use crate::campaign::{Campaign, Constants, WrittenConstant};
use crate::configuration::Instantiation;
use crate::project::Project;

#[derive(Default)]
pub struct KnownNames {
    constants: Vec<Datum>,
    /// Constants that configurations fix.
    fixed: Vec<Instantiation>,
    locations: BTreeSet<String>,
    /// Locations of specifications. The names of locations of future test cases begin with these.
    beginnings: BTreeSet<String>,
}

impl KnownNames {
    pub fn add_test(&mut self, test: &Iosts) {
        self.constants.extend(test.constants.iter().cloned());
        self.locations.extend(test.locations.iter().map(|location| location.name.clone()));
    }

    /// Adds the names of the models that a configuration's test cases are made of.
    pub fn add_project(&mut self, project: &Project) {
        let purposes = project.purposes.iter().flat_map(|purpose| &purpose.iosts.constants);
        self.constants.extend(project.specification.iosts.constants.iter().chain(purposes).cloned());
        self.add_fixed(project);
        let names = project.specification.iosts.locations.iter().map(|location| location.name.clone());
        self.beginnings.extend(names);
    }

    pub fn add_fixed(&mut self, project: &Project) {
        self.fixed.extend(project.fixed.iter().cloned());
    }

    /// Reports constants and locations that no test case has, and values that constants cannot have. Unknown
    /// names are only warnings if a test case of the campaign is missing (`is_whole` is false).
    pub fn check(&self, campaign: &Campaign, is_whole: bool) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if let Constants::Given(list) = &campaign.constants {
            for WrittenConstant { name, name_origin, value, value_origin } in
                list.iter().flat_map(|instance| &instance.pairs)
            {
                let data = || self.constants.iter().filter(|datum| datum.name() == name);
                if data().next().is_none() {
                    let known = self.constants.iter().map(Datum::name);
                    let diagnostic = report_unknown("unknown-constant", "constant", name, known, is_whole);
                    found.push(match self.fixed.iter().find(|fixed| fixed.name == *name) {
                        Some(fixed) => diagnostic
                            .at(fixed.name_origin.clone(), "its configuration fixes it here")
                            .help(format!(
                                "remove `{name}` under `instantiate`, so that the campaign gives its values"
                            )),
                        None => diagnostic.at(name_origin.clone(), "no constant of this name"),
                    });
                }
                if let Some(why) = data().find_map(|datum| codec::from_text(value, datum.ty()).err()) {
                    let message = format!("`{name}` has no such value: {why}");
                    let diagnostic = Diagnostic::error("wrong-value", message);
                    found.push(diagnostic.at(value_origin.clone(), "not such a value"));
                }
            }
        }
        let mut names: Vec<&String> = campaign.settings.limits.quiescence_at.keys().collect();
        names.sort();
        for name in names.into_iter().filter(|name| !self.is_location(name)) {
            let known = self.locations.iter().chain(&self.beginnings).map(String::as_str);
            // The names of a test case's locations are known only after it was made.
            let is_sure = is_whole && self.beginnings.is_empty();
            let diagnostic = report_unknown("unknown-location", "location", name, known, is_sure);
            found.push(diagnostic.at(campaign.places.get(name).cloned(), "no location of this name"));
        }
        merge_equal(found)
    }

    /// Has a test case this location, or may a future one have it?
    fn is_location(&self, name: &str) -> bool {
        let begins_name = |beginning: &String| {
            let suffix = name.strip_prefix(beginning.as_str());
            suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('_'))
        };
        self.locations.contains(name) || self.beginnings.iter().any(begins_name)
    }
}

/// Reports a name that no test case has, with the nearest known name or all of them.
fn report_unknown<'a>(
    code: &'static str,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    is_sure: bool,
) -> Diagnostic {
    let known: BTreeSet<&str> = known.collect();
    // The name of a test case's location joins the names of its parts. The specification's name is the first.
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
