//! Makes the test and the goals of a walk that covers a specification (`coreach test --cover`).
//!
//! **The test.** It is a document of an online test (`online_test`) without a location that is Accept. It
//! demands only that the specification allows all observations. A run against it is kept, reported, replayed
//! and shrunk like any other run. Its transitions are those of the specification in the same order, so the
//! goals of both have the same numbers. For ioco silence is an event like others.
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
use coreach_execution::walk::{Walk, WalkProgress};
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
use crate::cover::goals::{self, Goal, definitions_and_uses, list_goals as list_cover_goals};
use crate::file_kind::{FileKind, load_text_of};
use crate::{project, render};

/// All criteria of a walk. After these are covered, a walk looks for classes of data.
pub const ALL: [Criterion; 3] = [Criterion::Transitions, Criterion::DefinitionUse, Criterion::Pairs];

pub struct Walkable {
    /// The test without a purpose.
    pub case: Case,
    /// The specification. For ioco it is suspended.
    pub specification: Iosts,
    pub conformance: Conformance,
}

/// Reads a specification, or the specification of a configuration.
///
/// # Errors
/// It has mistakes, or clocks.
pub fn read(path: &Path) -> Reading<Walkable> {
    let takes = [FileKind::Specification, FileKind::Configuration];
    let (kind, file) = budget::reading(|| load_text_of(path, &takes))?;
    let (specification, conformance, warnings) = match kind {
        FileKind::Configuration => {
            let (project, warnings) = project::load_specification(path)?;
            if project.timing.is_some() {
                let message = format!("the specification of {} has clocks", path.display());
                let help = "`test --cover` needs a model without clocks; `coreach timed path` makes a test case of a path";
                return Err(vec![Diagnostic::error("timed-model", message).help(help)]);
            }
            (project.specification.iosts, project.conformance, warnings)
        }
        _ => {
            let (specification, warnings) = project::read_runnable_specification(file)?;
            (specification.iosts, Conformance::default(), warnings)
        }
    };
    let specification = match conformance {
        Conformance::Ioc => specification,
        Conformance::Ioco => add_quiescence(specification)?,
    };
    let case = make_case(&specification).map_err(|found| vec![found])?;
    Ok((Walkable { case, specification, conformance }, warnings))
}

/// Adds quiescence as a transition. If no condition says when the specification is quiescent, it stays as it
/// is. Then silence is a failure if all possible states must answer, and an allowed silence means nothing.
fn add_quiescence(specification: Iosts) -> Result<Iosts, Vec<Diagnostic>> {
    let suspended = budget::within("suspend", budget::time(None), |_| {
        suspend(&specification, &Limits::default(), &mut Z3Solver::default())
    });
    let suspended = suspended.map_err(|stop| vec![stop.to_diagnostic()])?;
    Ok(suspended.map_or(specification, |suspended| suspended.iosts))
}

/// Makes a test without a purpose of the specification.
///
/// # Errors
/// The test cannot be written, or its terms are too large to be read back.
pub fn make_case(specification: &Iosts) -> Result<Case, Diagnostic> {
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
    let mut test = TestCase::from_document(&document)
        .map_err(|error| Diagnostic::error("not-exported", format!("the test cannot be read: {error}")))?;
    test.add_origins(iosts.transitions.iter().map(|transition| transition.origin.clone()));
    let (name, specification) = (iosts.name.clone(), Some(specification.clone()));
    let document = to_text(&document);
    Ok(Case { name, test, document, specification, purpose: None, fixed: Vec::new() })
}

/// Lists the goals of a criterion.
pub fn list_goals(iosts: &Iosts, criterion: Criterion) -> Vec<WalkGoal> {
    let items = Items::of(iosts);
    let is_quiet = |number| iosts.action(iosts.transitions[number].action).kind == ActionKind::Quiescence;
    let goal = |goal| match goal {
        Goal::Item(number) => match items.all()[number] {
            Item::Transition(transition) => Some(WalkGoal::Transition(transition)),
            _ => None,
        },
        // A walk does not wait for a second silence after the first.
        Goal::Pair(first, second) if is_quiet(first) && is_quiet(second) => None,
        Goal::Pair(first, second) => Some(WalkGoal::Pair(first, second)),
        Goal::DefinitionUse { variable, definition, used } => {
            Some(WalkGoal::DefinitionUse(variable, definition, used))
        }
        Goal::Path(_) | Goal::Fault(_) | Goal::Sequence(_) => None,
    };
    let mut all = list_cover_goals(iosts, &items, criterion);
    if criterion == Criterion::DefinitionUse {
        // A definition that sets a counter back stays in force while transitions count on from it.
        let keeps = |definition: TransitionId, number: TransitionId, variable: &Datum| {
            sets_back(iosts, &iosts.transitions[definition], variable)
                && counts_on(&iosts.transitions[number], variable)
        };
        all = definitions_and_uses(iosts, &keeps);
    }
    all.into_iter().filter_map(goal).collect()
}

pub fn list_all_goals(iosts: &Iosts, criteria: &[Criterion]) -> Vec<WalkGoal> {
    criteria.iter().flat_map(|criterion| list_goals(iosts, *criterion)).collect()
}

pub fn describe_goal(specification: &Iosts, goal: &WalkGoal) -> String {
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
    goals::describe_goal(specification, &items, &named)
}

/// Makes the document of a walk's result (`docs/walk.schema.json`).
pub fn make_document(
    walkable: &Walkable,
    (criteria, impossible): (&[Criterion], &[WalkGoal]),
    walk: &Walk,
    runs: &[Record],
    diagnostics: &[Diagnostic],
    exit_code: u8,
) -> Json {
    let WalkProgress { covered, goals, events, resets, round } = walk.progress();
    let uncovered = walk.goals().iter().zip(walk.covered()).filter(|(_, covered)| !*covered);
    let names = |goals: &mut dyn Iterator<Item = &WalkGoal>| -> Vec<String> {
        goals.map(|goal| describe_goal(&walkable.specification, goal)).collect()
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
