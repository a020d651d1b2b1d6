//! Makes the report of coverage: a document for programs. The tables for people and the LCOV are made of it.
//!
//! `docs/coverage.schema.json` is its schema. Specifications are in the order of their names and files, each
//! with its purposes. The items of a model keep the model's order.

use std::collections::BTreeMap;

use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::coverage::{Count, Item, Items, Tally, proofs};
use coreach_model::{Iosts, LocationId, Number, Term};
use coreach_pipeline::sources::ModelSources;
use serde::Serialize;

use crate::budget;
use crate::coverage::lines::CoveredLines;
use crate::coverage::subjects::Subjects;
use crate::coverage::{Measure, Runs, Stops};
use crate::making::Says;

/// The version of the format. Only a change that old readers do not understand raises it.
pub const FORMAT_VERSION: u32 = 1;

coreach_model::words! {
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CoverageKind {
        Locations = "locations",
        Transitions = "transitions",
        Conjuncts = "conjuncts",
        Parameters = "parameters",
    }
}

impl CoverageKind {
    fn of(item: &Item) -> Self {
        match item {
            Item::Location(_) => CoverageKind::Locations,
            Item::Transition(_) => CoverageKind::Transitions,
            Item::Condition { .. } => CoverageKind::Conjuncts,
            Item::Class { .. } => CoverageKind::Parameters,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All explanations of some run meet it.
    Covered,
    /// Some run may have met it, but no run for certain.
    Possible,
    /// It is proved that no event that the specification allows meets it.
    Unreachable,
    /// The purpose rejects it, so its tests avoid it.
    Rejected,
    Gap,
}

impl Status {
    pub fn is_asked(self) -> bool {
        !matches!(self, Status::Unreachable | Status::Rejected)
    }

    fn of(count: &Count) -> Self {
        match count.possible_runs {
            _ if count.is_covered() => Status::Covered,
            0 => Status::Gap,
            _ => Status::Possible,
        }
    }
}

/// The counts of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Met {
    pub status: Status,
    pub runs: u64,
    pub possible_runs: u64,
    /// How often all runs together met it at least.
    pub times: u64,
    pub most_times: u64,
}

impl Met {
    /// `excluded` is the status of an item that is not asked for. A faulty system may meet it.
    fn new(count: &Count, excluded: Option<Status>) -> Self {
        Met {
            status: excluded.unwrap_or(Status::of(count)),
            runs: count.runs,
            possible_runs: count.possible_runs,
            times: count.least,
            most_times: count.most,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct Figure {
    pub all: usize,
    pub covered: usize,
    pub possible: usize,
    pub unreachable: usize,
    pub rejected: usize,
    pub gaps: usize,
    /// The covered share of the items that are asked for, rounded down to a tenth. Of no items it is 100.
    pub percent: f64,
}

impl Figure {
    /// Counts one more item, and computes the share anew.
    fn count(&mut self, status: Status) {
        self.all += 1;
        match status {
            Status::Covered => self.covered += 1,
            Status::Possible => self.possible += 1,
            Status::Unreachable => self.unreachable += 1,
            Status::Rejected => self.rejected += 1,
            Status::Gap => self.gaps += 1,
        }
        let tenths = (self.covered * 1000).checked_div(self.asked()).unwrap_or(1000);
        self.percent = tenths as f64 / 10.0;
    }

    /// Counts the items that could be covered, as far as is known.
    pub fn asked(&self) -> usize {
        self.all - self.unreachable - self.rejected
    }

    /// Is at least this share of the items covered?
    pub fn reaches(&self, percent: usize) -> bool {
        self.covered * 100 >= percent * self.asked()
    }
}

#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct Figures {
    pub locations: Figure,
    pub transitions: Figure,
    pub conjuncts: Figure,
    pub parameters: Figure,
}

impl Figures {
    pub fn of(&self, kind: CoverageKind) -> &Figure {
        match kind {
            CoverageKind::Locations => &self.locations,
            CoverageKind::Transitions => &self.transitions,
            CoverageKind::Conjuncts => &self.conjuncts,
            CoverageKind::Parameters => &self.parameters,
        }
    }

    fn of_mut(&mut self, kind: CoverageKind) -> &mut Figure {
        match kind {
            CoverageKind::Locations => &mut self.locations,
            CoverageKind::Transitions => &mut self.transitions,
            CoverageKind::Conjuncts => &mut self.conjuncts,
            CoverageKind::Parameters => &mut self.parameters,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LocationCoverage {
    pub name: String,
    pub line: usize,
    /// Is it described on that line? If not, a transition is there.
    #[serde(skip)]
    pub is_described: bool,
    #[serde(flatten)]
    pub met: Met,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TransitionCoverage {
    /// `Pay -Return-> Choose`
    pub name: String,
    pub line: usize,
    #[serde(flatten)]
    pub met: Met,
    pub conjuncts: Vec<ConjunctCoverage>,
    pub parameters: Vec<ParameterCoverage>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConjunctCoverage {
    pub text: String,
    pub holds: Met,
    pub fails: Met,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ParameterCoverage {
    pub name: String,
    pub classes: Vec<ClassCoverage>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ClassCoverage {
    pub class: String,
    #[serde(flatten)]
    pub met: Met,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ModelCoverage {
    pub name: String,
    pub file: String,
    pub runs: u64,
    pub figures: Figures,
    pub locations: Vec<LocationCoverage>,
    pub transitions: Vec<TransitionCoverage>,
}

/// The coverage of a purpose, and the coverage of the specification by the purpose's runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PurposeCoverage {
    #[serde(flatten)]
    pub own: ModelCoverage,
    pub of_specification: Figures,
    #[serde(skip)]
    pub specification: ModelCoverage,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SpecificationCoverage {
    /// The coverage of the specification by all runs together.
    #[serde(flatten)]
    pub own: ModelCoverage,
    pub purposes: Vec<PurposeCoverage>,
}

/// The share of each specification's items that must be covered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Requirement {
    pub kind: CoverageKind,
    pub percent: usize,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CoverageReport {
    pub format_version: u32,
    pub exit_code: u8,
    pub runs: Runs,
    /// The domain of the proofs. `None`, if nothing was proved.
    pub domain: Option<&'static str>,
    pub specifications: Vec<SpecificationCoverage>,
    /// The requirements that are not met.
    pub unmet: Vec<Unmet>,
    /// The work that a budget has ended, so that something may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<serde_json::Value>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Unmet {
    pub specification: String,
    #[serde(flatten)]
    pub requirement: Requirement,
    /// The share that is covered, in percent, rounded down to a tenth.
    pub covered: f64,
}

impl CoverageReport {
    /// Notes the requirements that a specification does not meet.
    pub fn require(&mut self, requirements: &[Requirement]) {
        for specification in &self.specifications {
            for requirement in requirements {
                let figure = specification.own.figures.of(requirement.kind);
                if !figure.reaches(requirement.percent) {
                    self.unmet.push(Unmet {
                        specification: specification.own.name.clone(),
                        requirement: *requirement,
                        covered: figure.percent,
                    });
                }
            }
        }
    }
}

/// Sums the tallies of the same models, proves items unreachable, and makes the report.
pub(super) fn make_report(
    subjects: &Subjects,
    tallies: &[Tally],
    runs: Runs,
    settings: &Measure,
    stops: &mut Stops,
    says: Says<'_>,
) -> CoverageReport {
    // The numbers of the subjects, by their specification and then by all their models. Several
    // configurations may name the same models.
    let mut groups: BTreeMap<_, BTreeMap<_, Vec<usize>>> = BTreeMap::new();
    for (number, subject) in subjects.subjects.iter().enumerate() {
        let candidate = &subjects.candidates[subject.candidate];
        let purpose = &candidate.purposes[subject.purpose];
        let sources = ModelSources::of(&candidate.specification.iosts, purpose).models;
        groups.entry(candidate.source.clone()).or_default().entry(sources).or_default().push(number);
    }
    let mut specifications = Vec::new();
    for purposes in groups.values() {
        let members = || purposes.values().flatten();
        // If several files have the same model, the first file by name is reported.
        let file = |number: &&usize| {
            let subject = &subjects.subjects[**number];
            subject.walked.parts[0].iosts.origin.as_ref().map(|origin| origin.file.name.clone())
        };
        let Some(first) = members().min_by_key(file) else { continue };
        // Part 0 of the joined models is the specification, part 1 the purpose.
        let part = &subjects.subjects[*first].walked.parts[0];
        says(format!("{}: what can be reached", part.iosts.name));
        let excluded = prove_unreachable(&part.iosts, &part.items, settings, stops);
        let cover_specification = |numbers: &mut dyn Iterator<Item = &usize>| {
            let tally = sum_tallies(tallies, numbers, 0, part.items.all().len());
            cover_model(&part.iosts, &part.items, &tally, &excluded)
        };
        let own = cover_specification(&mut members());
        let mut reported = Vec::new();
        for numbers in purposes.values() {
            let own = cover_purpose(subjects, tallies, numbers, settings, stops);
            let specification = cover_specification(&mut numbers.iter());
            let of_specification = specification.figures;
            reported.push(PurposeCoverage { own, of_specification, specification });
        }
        reported.sort_by(|a, b| (&a.own.name, &a.own.file).cmp(&(&b.own.name, &b.own.file)));
        specifications.push(SpecificationCoverage { own, purposes: reported });
    }
    CoverageReport {
        format_version: FORMAT_VERSION,
        exit_code: 0,
        runs,
        domain: settings.domain.map(|domain| domain.name()),
        specifications,
        unmet: Vec::new(),
        diagnostics: Vec::new(),
    }
}

/// Makes the coverage of a purpose from the tallies of its subjects.
fn cover_purpose(
    subjects: &Subjects,
    tallies: &[Tally],
    numbers: &[usize],
    settings: &Measure,
    stops: &mut Stops,
) -> ModelCoverage {
    let first = &subjects.subjects[numbers[0]];
    let [specification, purpose] = [0, 1].map(|part| &first.walked.parts[part]);
    // A tally counts the items of the specification, and then those of the purpose.
    let first_item = specification.items.all().len();
    let tally = sum_tallies(tallies, &mut numbers.iter(), first_item, purpose.items.all().len());
    let reject = subjects.candidates[first.candidate].purposes[first.purpose].reject;
    let mut excluded = prove_guards(&purpose.iosts, &purpose.items, settings, stops);
    exclude_reject(&purpose.iosts, &purpose.items, reject, &mut excluded);
    cover_model(&purpose.iosts, &purpose.items, &tally, &excluded)
}

/// Sums the tallies of these subjects, for `count` items from the number `first` on.
fn sum_tallies(
    tallies: &[Tally],
    numbers: &mut dyn Iterator<Item = &usize>,
    first: usize,
    count: usize,
) -> Tally {
    let mut sum = Tally::new(count);
    for number in numbers {
        let tally = &tallies[*number];
        sum.merge(&Tally { runs: tally.runs, counts: tally.counts[first..first + count].to_vec() });
    }
    sum
}

/// Proves for the items of a specification that no event meets them. `None` without a proof, as when the user
/// wants none or the budget ends it.
fn prove_unreachable(
    iosts: &Iosts,
    items: &Items,
    settings: &Measure,
    stops: &mut Stops,
) -> Vec<Option<Status>> {
    let Some(domain) = settings.domain else { return vec![None; items.all().len()] };
    let options = Analysis { domain, ..Analysis::default() };
    let prove = || as_statuses(proofs::unreachable_items(iosts, items, &options, &mut Z3Solver::default()));
    prove_within_budget(items, prove, stops)
}

/// Runs a proof within the budget. If the budget ends it, nothing counts as proved.
fn prove_within_budget(
    items: &Items,
    prove: impl FnOnce() -> Vec<Option<Status>>,
    stops: &mut Stops,
) -> Vec<Option<Status>> {
    budget::within("reach", budget::time(None), |_| prove()).unwrap_or_else(|stop| {
        stops.add(&stop);
        vec![None; items.all().len()]
    })
}

/// Proves for the items of a purpose that no run can meet them, by its guards alone. Without a proof: `None`.
fn prove_guards(iosts: &Iosts, items: &Items, settings: &Measure, stops: &mut Stops) -> Vec<Option<Status>> {
    // Without a domain, the user wants no proofs, so also none that need no domain.
    if settings.domain.is_none() {
        return vec![None; items.all().len()];
    }
    let anything = iosts.locations.map(|_| Term::yes());
    let prove = || {
        let mut unreachable = proofs::unreachable_by_facts(iosts, items, &anything, &mut Z3Solver::default());
        // A condition fails in an event that another transition takes. In a purpose, that may be one of
        // completion, which is not among `iosts`. So the proof says nothing of failing conditions.
        for (item, is_unreachable) in items.all().iter().zip(&mut unreachable) {
            *is_unreachable &= !matches!(item, Item::Condition { holds: false, .. });
        }
        as_statuses(unreachable)
    };
    prove_within_budget(items, prove, stops)
}

fn as_statuses(unreachable: Vec<bool>) -> Vec<Option<Status>> {
    unreachable.into_iter().map(|is_unreachable| is_unreachable.then_some(Status::Unreachable)).collect()
}

/// Excludes the items at Reject. A test sends no stimulus that leads there, and ends if an output does.
fn exclude_reject(iosts: &Iosts, items: &Items, reject: Option<LocationId>, excluded: &mut [Option<Status>]) {
    let Some(reject) = reject else { return };
    for (item, excluded) in items.all().iter().zip(excluded) {
        let is_at_reject =
            |number| [iosts.transitions[number].source, iosts.transitions[number].target].contains(&reject);
        if *item == Item::Location(reject) || item.transition().is_some_and(is_at_reject) {
            *excluded = Some(Status::Rejected);
        }
    }
}

/// Makes the coverage of one model from its counts.
fn cover_model(iosts: &Iosts, items: &Items, tally: &Tally, excluded: &[Option<Status>]) -> ModelCoverage {
    let lines = CoveredLines::of(iosts);
    let mut coverage = ModelCoverage {
        name: iosts.name.clone(),
        file: lines.as_ref().map(|lines| lines.file.name.clone()).unwrap_or_default(),
        runs: tally.runs,
        figures: Figures::default(),
        locations: Vec::new(),
        transitions: Vec::new(),
    };
    for ((item, count), excluded) in items.all().iter().zip(&tally.counts).zip(excluded) {
        // Only a failing condition may be shown by a faulty system. Anything else is a bug of ours.
        assert!(
            !(*excluded == Some(Status::Unreachable) && count.is_covered())
                || matches!(item, Item::Condition { holds: false, .. }),
            "a run met what was proved to be out of reach: {item:?} of {}",
            iosts.name
        );
        let met = Met::new(count, *excluded);
        coverage.figures.of_mut(CoverageKind::of(item)).count(met.status);
        match item {
            Item::Location(location) => coverage.locations.push(LocationCoverage {
                name: iosts.location(*location).name.clone(),
                line: lines.as_ref().map_or(1, |lines| lines.locations[*location]),
                is_described: lines.as_ref().is_some_and(|lines| lines.described[*location]),
                met,
            }),
            Item::Transition(number) => {
                let transition = &iosts.transitions[*number];
                let parameters = iosts.action(transition.action).parameters.iter();
                let parameters = parameters
                    .map(|datum| ParameterCoverage { name: datum.name().to_owned(), classes: Vec::new() });
                coverage.transitions.push(TransitionCoverage {
                    name: iosts.describe(transition),
                    line: lines.as_ref().map_or(1, |lines| lines.transitions[*number]),
                    met,
                    conjuncts: Vec::new(),
                    parameters: parameters.collect(),
                });
            }
            Item::Condition { transition, condition, holds } => {
                let text = || items.conditions(*transition)[*condition].to_string();
                let conjuncts = &mut coverage.transitions[transition.place()].conjuncts;
                // The item where the condition fails comes right after the one where it holds.
                match holds {
                    true => conjuncts.push(ConjunctCoverage { text: text(), holds: met, fails: met }),
                    false => conjuncts[*condition].fails = met,
                }
            }
            Item::Class { transition, parameter, class } => {
                let parameters = &mut coverage.transitions[transition.place()].parameters;
                parameters[*parameter].classes.push(ClassCoverage { class: class.name(), met });
            }
        }
    }
    coverage
}
