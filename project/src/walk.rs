//! What a walk that covers needs (`coreach test --cover`): a specification as a test that is judged on line,
//! and its goals.
//!
//! **The test.** A test document without a location that is Accept: nothing is asked for but that the
//! specification allows what is seen. It is one like any other (`online_test`), so a run against it is kept,
//! told, replayed and shrunk as every run. Its transitions are those of the specification, in their order, so
//! the goals of both have the same numbers. By ioco that is the suspended specification, so silence is an
//! event like others.
//!
//! **The goals** are those of `coreach cover` ([`crate::cover::goals`]).

use std::collections::BTreeSet;
use std::path::Path;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_artifact::document::Origins;
use coreach_artifact::layout::to_text;
use coreach_execution::TestCase;
use coreach_execution::coverage::{Item, Items};
use coreach_execution::record::Record;
use coreach_execution::walk::goals::{WalkGoal, counts_on, sets_back};
use coreach_execution::walk::{Standing, Walk};
use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::obligation::enabling_condition;
use coreach_model::reader::Reading;
use coreach_model::{Datum, TransitionId};
use coreach_pipeline::Conformance;
use coreach_pipeline::export::{self, ONLINE, View};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::suspend::suspend;
use serde_json::{Value as Json, json};

use crate::budget;
use crate::cases::Case;
use crate::cover::Criterion;
use crate::cover::goals::{self, Goal, definitions_and_uses, goals};
use crate::file_kind::{FileKind, load_text_of};
use crate::{project, render};

/// All that a walk covers; then it seeks classes of data as well.
pub const ALL: [Criterion; 3] = [Criterion::Transitions, Criterion::DefinitionUse, Criterion::Pairs];

#[derive(Clone, Debug)]
pub struct Walkable {
    /// The test without a purpose.
    pub case: Case,
    /// The specification: by ioco it is suspended.
    pub specification: Iosts,
    pub conformance: Conformance,
}

/// Reads a specification, or that of a configuration.
///
/// # Errors
/// What is wrong with it, or that it has clocks.
pub fn read(path: &Path) -> Reading<Walkable> {
    let takes = [FileKind::Specification, FileKind::Configuration];
    let (kind, file) = budget::reading(|| load_text_of(path, &takes))?;
    let (specification, conformance, warnings) = match kind {
        FileKind::Configuration => {
            let (project, warnings) = project::load_specification(path)?;
            if project.timing.is_some() {
                let message = format!("the specification of {} has clocks", path.display());
                let help =
                    "a walk that covers is of models without time; `coreach timed` makes test cases of paths";
                return Err(vec![Diagnostic::error("timed-model", message).help(help)]);
            }
            (project.specification.iosts, project.conformance, warnings)
        }
        _ => {
            let (specification, warnings) = project::of_specification(file)?;
            (specification.iosts, Conformance::default(), warnings)
        }
    };
    let specification = match conformance {
        Conformance::Ioc => specification,
        Conformance::Ioco => add_quiescence(specification)?,
    };
    let case = case(&specification).map_err(|found| vec![found])?;
    Ok((Walkable { case, specification, conformance }, warnings))
}

/// With quiescence as a transition. Where it cannot be said when it is quiescent, as it is: then silence is a
/// failure where all its states must answer, and says nothing where it is allowed.
fn add_quiescence(specification: Iosts) -> Result<Iosts, Vec<Diagnostic>> {
    let made = budget::within("suspend", budget::time(None), |_| {
        suspend(&specification, &Limits::default(), &mut Z3Solver::default())
    });
    let made = made.map_err(|stop| vec![stop.to_diagnostic()])?;
    Ok(made.map_or(specification, |made| made.iosts))
}

/// The specification as a test without a purpose.
///
/// # Errors
/// It cannot be written, or evaluates to too much.
pub fn case(specification: &Iosts) -> Result<Case, Diagnostic> {
    let mut iosts = specification.clone();
    for transition in &mut iosts.transitions {
        transition.guard = enabling_condition(transition);
    }
    let origins = iosts.locations.map(|location| Origins {
        specification: BTreeSet::from([location.name.clone()]),
        purpose: BTreeSet::new(),
    });
    let view = View { what: ONLINE, origins: Some(&origins), ..View::of_specification(&iosts) };
    let written = budget::within("write", budget::time(None), |_| export::json::to_document(&view));
    let document = written.map_err(|stop| stop.to_diagnostic())?;
    let test = TestCase::from_document(&document)
        .map_err(|error| Diagnostic::error("not-exported", format!("the test cannot be read: {error}")))?;
    let (name, specification) = (iosts.name.clone(), Some(specification.clone()));
    Ok(Case { name, test, document: to_text(&document), specification })
}

pub fn of(iosts: &Iosts, criterion: Criterion) -> Vec<WalkGoal> {
    let items = Items::of(iosts);
    let is_quiet = |number| iosts.action(iosts.transitions[number].action).kind == ActionKind::Quiescence;
    let goal = |goal| match goal {
        Goal::Item(number) => match items.all()[number] {
            Item::Transition(transition) => Some(WalkGoal::Transition(transition)),
            _ => None,
        },
        // A second silence after the first is not awaited.
        Goal::Pair(first, second) if is_quiet(first) && is_quiet(second) => None,
        Goal::Pair(first, second) => Some(WalkGoal::Pair(first, second)),
        Goal::DefinitionUse { variable, definition, used } => {
            Some(WalkGoal::DefinitionUse(variable, definition, used))
        }
        Goal::Path(_) | Goal::Fault(_) | Goal::Sequence(_) => None,
    };
    let mut all = goals(iosts, &items, criterion);
    if criterion == Criterion::DefinitionUse {
        // A counter that is set back counts on from there.
        let keeps = |definition: TransitionId, number: TransitionId, variable: &Datum| {
            sets_back(iosts, &iosts.transitions[definition], variable)
                && counts_on(&iosts.transitions[number], variable)
        };
        all = definitions_and_uses(iosts, &keeps);
    }
    all.into_iter().filter_map(goal).collect()
}

pub fn listed(iosts: &Iosts, criteria: &[Criterion]) -> Vec<WalkGoal> {
    criteria.iter().flat_map(|criterion| of(iosts, *criterion)).collect()
}

/// A goal in words about the user's model.
pub fn name(specification: &Iosts, goal: &WalkGoal) -> String {
    let items = Items::of(specification);
    let named = match goal {
        WalkGoal::Transition(transition) => {
            let is_it = |item: &Item| *item == Item::Transition(*transition);
            Goal::Item(items.all().iter().position(is_it).unwrap_or_default())
        }
        WalkGoal::Pair(first, second) => Goal::Pair(*first, *second),
        WalkGoal::DefinitionUse(variable, definition, used) => {
            Goal::DefinitionUse { variable: variable.clone(), definition: *definition, used: *used }
        }
    };
    goals::name(specification, &items, &named)
}

/// What came of a walk, as a document (`docs/walk.schema.json`).
pub fn document(
    walkable: &Walkable,
    (criteria, impossible): (&[Criterion], &[WalkGoal]),
    walk: &Walk,
    runs: &[Record],
    diagnostics: &[Diagnostic],
    exit_code: u8,
) -> Json {
    let Standing { covered, goals, events, resets, round } = walk.standing();
    let uncovered = walk.goals().iter().zip(walk.covered()).filter(|(_, covered)| !*covered);
    let names = |goals: &mut dyn Iterator<Item = &WalkGoal>| -> Vec<String> {
        goals.map(|goal| name(&walkable.specification, goal)).collect()
    };
    let uncovered = names(&mut uncovered.map(|(goal, _)| goal));
    json!({
        "format_version": 1,
        "exit_code": exit_code,
        "diagnostics": render::to_json(diagnostics),
        "specification": walkable.specification.name,
        "criteria": criteria.iter().map(Criterion::to_string).collect::<Vec<_>>(),
        "goals": goals,
        "covered": covered,
        "uncovered": uncovered,
        "impossible": names(&mut impossible.iter()),
        "events": events,
        "resets": resets,
        "rounds": round,
        "runs": runs,
    })
}
