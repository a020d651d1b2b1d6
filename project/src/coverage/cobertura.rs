//! The report as Cobertura's XML, which build servers draw.
//!
//! The format is that of `coverage-04.dtd`. A package is a specification; its classes are the specification,
//! by all runs together, and its purposes, each by its own. Lines, branches and what is left out are those
//! of [`super::lcov`]; a method is a location.
//!
//! The time of the report, which the format asks for, is 0: the same runs make the same bytes.

use std::collections::BTreeMap;
use std::fmt::Write;

use coreach_model::visible::visible;

use super::lcov::{is_asked, lines};
use super::report::{CoverageReport, ModelCoverage, SpecificationCoverage, TransitionCoverage};

/// Of so many, so many are covered.
#[derive(Clone, Copy, Default)]
struct Share {
    covered: usize,
    all: usize,
}

impl Share {
    fn add(&mut self, times: u64) {
        self.all += 1;
        self.covered += usize::from(times > 0);
    }

    fn and(self, other: Share) -> Share {
        Share { covered: self.covered + other.covered, all: self.all + other.all }
    }

    /// From 0 to 1, rounded down: nothing is covered wholly that is not.
    fn rate(self) -> String {
        match (self.covered * 10_000).checked_div(self.all) {
            None | Some(10_000) => "1".to_owned(),
            Some(part) => format!("0.{part:04}"),
        }
    }

    fn percent(self) -> String {
        format!("{}%", (self.covered * 100).checked_div(self.all).unwrap_or(100))
    }
}

/// The branches of each line: one share for each conjunct of its transitions.
type Branches = BTreeMap<usize, Vec<Share>>;

fn branches(model: &ModelCoverage) -> Branches {
    let mut found = Branches::new();
    for transition in model.transitions.iter().filter(|transition| is_asked(&transition.met)) {
        let shares = conjuncts(transition);
        if !shares.is_empty() {
            found.entry(transition.line).or_default().extend(shares);
        }
    }
    found
}

fn conjuncts(transition: &TransitionCoverage) -> Vec<Share> {
    let shares = transition.conjuncts.iter().map(|conjunct| {
        let mut share = Share::default();
        [&conjunct.holds, &conjunct.fails]
            .into_iter()
            .filter(|condition| is_asked(condition))
            .for_each(|condition| share.add(condition.times));
        share
    });
    shares.filter(|share| share.all > 0).collect()
}

fn shares(model: &ModelCoverage) -> (Share, Share) {
    let mut of_lines = Share::default();
    lines(model).values().for_each(|times| of_lines.add(*times));
    let of_branches = branches(model).into_values().flatten().fold(Share::default(), Share::and);
    (of_lines, of_branches)
}

fn models(specification: &SpecificationCoverage) -> impl Iterator<Item = &ModelCoverage> {
    std::iter::once(&specification.own).chain(specification.purposes.iter().map(|purpose| &purpose.own))
}

fn sum<'a>(models: impl Iterator<Item = &'a ModelCoverage>) -> (Share, Share) {
    models
        .map(shares)
        .fold(Default::default(), |(lines, branches), (more, others)| (lines.and(more), branches.and(others)))
}

/// The report as Cobertura's XML.
pub fn cobertura(report: &CoverageReport) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n"
        .to_owned();
    let (of_lines, of_branches) = sum(report.specifications.iter().flat_map(models));
    put(
        &mut text,
        format_args!(
            "<coverage {} lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" branches-valid=\"{}\" complexity=\"0\" version=\"coreach {}\" timestamp=\"0\">",
            rates((of_lines, of_branches)),
            of_lines.covered,
            of_lines.all,
            of_branches.covered,
            of_branches.all,
            env!("CARGO_PKG_VERSION")
        ),
    );
    text += "  <sources><source>.</source></sources>\n  <packages>\n";
    for specification in &report.specifications {
        let (name, rates) = (quoted(&specification.own.name), rates(sum(models(specification))));
        put(&mut text, format_args!("    <package name=\"{name}\" {rates} complexity=\"0\">"));
        text += "      <classes>\n";
        models(specification).for_each(|model| class(&mut text, model));
        text += "      </classes>\n    </package>\n";
    }
    text + "  </packages>\n</coverage>\n"
}

fn class(text: &mut String, model: &ModelCoverage) {
    let (name, file) = (quoted(&model.name), quoted(&model.file));
    let rates = rates(shares(model));
    put(text, format_args!("        <class name=\"{name}\" filename=\"{file}\" {rates} complexity=\"0\">"));
    text.push_str("          <methods>\n");
    for location in model.locations.iter().filter(|location| is_asked(&location.met)) {
        let (name, line, times) = (quoted(&location.name), location.line, location.met.times);
        let mut share = Share::default();
        share.add(times);
        let rates = self::rates((share, Share::default()));
        put(
            text,
            format_args!("            <method name=\"{name}\" signature=\"()\" {rates} complexity=\"0\">"),
        );
        put(text, format_args!("              <lines><line number=\"{line}\" hits=\"{times}\"/></lines>"));
        text.push_str("            </method>\n");
    }
    text.push_str("          </methods>\n          <lines>\n");
    let branches = branches(model);
    for (line, times) in lines(model) {
        let Some(conditions) = branches.get(&line) else {
            put(
                text,
                format_args!("            <line number=\"{line}\" hits=\"{times}\" branch=\"false\"/>"),
            );
            continue;
        };
        let all = conditions.iter().fold(Share::default(), |all, one| all.and(*one));
        let covered = format!("{} ({}/{})", all.percent(), all.covered, all.all);
        put(
            text,
            format_args!(
                "            <line number=\"{line}\" hits=\"{times}\" branch=\"true\" condition-coverage=\"{covered}\">"
            ),
        );
        text.push_str("              <conditions>\n");
        for (number, one) in conditions.iter().enumerate() {
            let covered = one.percent();
            put(
                text,
                format_args!(
                    "                <condition number=\"{number}\" type=\"jump\" coverage=\"{covered}\"/>"
                ),
            );
        }
        text.push_str("              </conditions>\n            </line>\n");
    }
    text.push_str("          </lines>\n        </class>\n");
}

fn rates((lines, branches): (Share, Share)) -> String {
    format!("line-rate=\"{}\" branch-rate=\"{}\"", lines.rate(), branches.rate())
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

/// As an attribute's value. XML has no way to write most control signs: they are shown by their numbers.
fn quoted(name: &str) -> String {
    let one_line = name.replace(['\n', '\r', '\t'], " ");
    visible(&one_line).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
