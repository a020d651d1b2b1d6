//! Finds the models through which runs are walked: the specification and the purpose of a test case.
//!
//! A test case has hashes of the models that it was made of ([`coreach_pipeline::sources`]). The named
//! configurations are read, and the one whose models have these hashes is used. A model that was changed
//! since has another hash. It is refused, since its lines are not the lines that ran.
//!
//! Runs are walked through the models as they are in their files, without the configuration's constants. So
//! runs of two configurations of one specification add up, item by item.

use std::path::{Path, PathBuf};

use coreach_analyses::solver::Solver;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_artifact::document::{Source, Sources};
use coreach_execution::TestCase;
use coreach_execution::coverage::{FollowedModel, Walked};
use coreach_model::iosts::TestPurpose;
use coreach_model::reader::{Specification, read_any_specification, yaml};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Diagnostic, Iosts, LocationId, Number};
use coreach_pipeline::Conformance;
use coreach_pipeline::artifact::Product;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::sources::{ModelSources, source_of_specification};
use coreach_pipeline::stages::complete::complete;
use coreach_pipeline::stages::product::make_product;
use coreach_pipeline::stop::Stop;
use coreach_pipeline::suspend::suspend;

use crate::budget;
use crate::configuration::{Configuration, load_without_purpose};
use crate::instantiate::{instantiate, values_of};
use crate::making::Says;
use crate::timing::prepare_input;

/// A configuration with its models as they are written.
pub struct Candidate {
    configuration: Configuration,
    pub specification: Specification,
    pub source: Source,
    pub purposes: Vec<TestPurpose>,
    /// For each purpose, the hashes that its test case has.
    made: Vec<Sources>,
}

/// The models through which the runs of a test case are walked.
pub struct Subject {
    pub candidate: usize,
    pub purpose: usize,
    /// The specification joined with the purpose.
    pub walked: Walked,
    pub constants: Valuation,
}

/// The configurations, and the subjects of the test cases so far.
pub struct Subjects {
    /// The configurations, in the order of their paths.
    pub candidates: Vec<Candidate>,
    pub subjects: Vec<Subject>,
}

impl Subjects {
    /// Reads configurations with all files that they name. With `lenient`, unreadable ones are skipped.
    pub fn read(paths: &[PathBuf], lenient: bool) -> Result<Self, Vec<Diagnostic>> {
        let mut candidates = Vec::new();
        let mut found = Vec::new();
        for path in paths {
            match budget::reading(|| load_candidate(path)) {
                Ok(candidate) => candidates.push(candidate),
                Err(errors) if !lenient => found.extend(errors),
                Err(_) => {}
            }
        }
        if !found.is_empty() {
            return Err(found);
        }
        Ok(Subjects { candidates, subjects: Vec::new() })
    }

    /// Finds or makes the subject of a test case, and returns its number.
    pub fn of(&mut self, test: &TestCase, says: Says<'_>) -> Result<usize, Vec<Diagnostic>> {
        let name = &test.iosts.name;
        let Some(made) = &test.made_of else {
            let message = format!("the test case `{name}` does not say what it was made of");
            return Err(vec![Diagnostic::error("no-test-case", message)]);
        };
        let (candidate, purpose) = self.find_by_hash(made).ok_or_else(|| self.report_changed(name, made))?;
        let known =
            self.subjects.iter().position(|known| (known.candidate, known.purpose) == (candidate, purpose));
        if let Some(known) = known {
            return Ok(known);
        }
        says(format!("reading {name}"));
        let subject = make_subject(&self.candidates[candidate], candidate, purpose)?;
        self.subjects.push(subject);
        Ok(self.subjects.len() - 1)
    }

    /// Finds the numbers of the candidate and of its purpose that a test case was made of, if any.
    fn find_by_hash(&self, made: &Sources) -> Option<(usize, usize)> {
        self.candidates.iter().enumerate().find_map(|(number, candidate)| {
            Some((number, candidate.made.iter().position(|known| known == made)?))
        })
    }

    /// Reports that no configuration fits a test case: a model has changed, or there is none.
    fn report_changed(&self, name: &str, made: &Sources) -> Vec<Diagnostic> {
        let again = "coverage needs the model that ran: run the tests again, or name a configuration with the old models";
        let is_of_specification = |candidate: &&Candidate| candidate.source.name == made.specification.name;
        for candidate in self.candidates.iter().filter(is_of_specification) {
            let purpose = candidate.made.iter().position(|known| known.purpose.name == made.purpose.name);
            let Some(purpose) = purpose else { continue };
            let (what, origin) = match candidate.made[purpose].specification == made.specification {
                true => {
                    (format!("purpose `{}`", made.purpose.name), &candidate.purposes[purpose].iosts.origin)
                }
                false => (
                    format!("specification `{}`", made.specification.name),
                    &candidate.specification.iosts.origin,
                ),
            };
            let message = format!("the {what} has changed since the test case `{name}` was made");
            let label = "this model, or a constant that the configuration gives it, has changed";
            return vec![Diagnostic::error("other-model", message).at(origin.clone(), label).help(again)];
        }
        let message =
            format!("no configuration has the specification and the purpose of the test case `{name}`");
        let names =
            format!("this test case was made of `{}` and `{}`", made.specification.name, made.purpose.name);
        vec![Diagnostic::error("other-model", message).note(names).help(
            "name the configuration, or the campaign that names it: `coreach coverage coreach.yaml nightly.sqlite`",
        )]
    }
}

/// Loads a configuration, its models, and the hashes that their test cases have.
fn load_candidate(path: &Path) -> Result<Candidate, Vec<Diagnostic>> {
    let (configuration, _) = load_without_purpose(path)?;
    let load = |path: &Path| yaml::load(path).map_err(|found| vec![found]);
    let (specification, _) = read_any_specification(load(&configuration.specification.path)?)?;
    // A timed specification takes the form in which time is data. Its graph is the user's.
    let input = prepare_input(specification, &configuration)?;
    let mut purposes = Vec::new();
    for (reference, aim) in configuration.aimed() {
        purposes.push(input.read_purpose(load(&reference.path)?, aim)?.0);
    }
    let specification = input.specification;
    let (mut fixed, mut fixed_purposes) = (specification.iosts.clone(), purposes.clone());
    instantiate(&configuration, &mut fixed, &mut fixed_purposes)?;
    let made = fixed_purposes.iter().map(|purpose| ModelSources::of(&fixed, purpose).models).collect();
    let source = source_of_specification(&specification.iosts);
    Ok(Candidate { configuration, specification, source, purposes, made })
}

/// Joins the specification of a candidate, which has this `number`, with one of its purposes, as written.
fn make_subject(candidate: &Candidate, number: usize, purpose: usize) -> Result<Subject, Vec<Diagnostic>> {
    let Candidate { configuration, specification, purposes, .. } = candidate;
    let (left, right) = (&specification.iosts, &purposes[purpose]);
    let constants = values_of(configuration, left, purposes, right)?;
    let limits = &configuration.limits;
    let time = budget::time(configuration.budget.time);
    let both = budget::within("product", time, |_| {
        let mut solver = Z3Solver::default();
        match configuration.conformance {
            Conformance::Ioc => join_models(left, right, limits, &mut solver),
            Conformance::Ioco => join_suspended_models(left, right, limits, &mut solver),
        }
    });
    let walked = both.and_then(|both| both).map_err(|stop| vec![stop.to_diagnostic()])?;
    Ok(Subject { candidate: number, purpose, walked, constants })
}

/// Joins a specification and a purpose in their product, which follows the same traces as the specification.
pub fn join_models(
    left: &Iosts,
    right: &TestPurpose,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Walked, Stop> {
    let both = make_product(left, complete(right.clone(), limits, solver), limits, solver)?;
    Ok(make_walked(left, right, both))
}

/// Suspends the specification and joins it with a purpose. A run of a test of ioco shows quiescence as
/// silence. The added transitions are not counted.
pub fn join_suspended_models(
    left: &Iosts,
    right: &TestPurpose,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Walked, Stop> {
    let suspended = suspend(left, limits, solver)?;
    let purpose = complete(suspended.purpose(right.clone()), limits, solver);
    let both = make_product(&suspended.iosts, purpose, limits, solver)?;
    Ok(make_walked(left, right, both))
}

/// Makes the product walkable: says which parts come from the specification and the purpose.
fn make_walked(left: &Iosts, right: &TestPurpose, both: Product) -> Walked {
    // Parts that completion added come from neither. They are numbered after the author's.
    let written = |location: LocationId| Some(location).filter(|at| at.place() < right.iosts.locations.len());
    let (own_left, own_right) = (left.transitions.len(), right.iosts.transitions.len());
    let of_left = FollowedModel::new(
        left,
        both.pairs.map(|(location, _)| Some(*location)),
        both.made_of.map(|(transition, _)| Some(*transition).filter(|at| at.place() < own_left)),
    );
    let of_right = FollowedModel::new(
        &right.iosts,
        both.pairs.map(|(_, location)| written(*location)),
        both.made_of.map(|(_, transition)| transition.filter(|at| at.place() < own_right)),
    );
    Walked::new(both.iosts, vec![of_left, of_right])
}
