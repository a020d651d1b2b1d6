//! Reads each written text back before coreach says that it was written.
//!
//! After an exit code of 0, no file may be a test case that cannot be run, or a model with another meaning
//! than the stage's result. So each text in a format that coreach reads (YAML; JSON of the test case) is read
//! from memory by its own reader, and compared with the graph that it was made of. If the text exceeds a
//! limit of the reader, that limit is reported. Any other difference is a bug of ours, and a panic.
//!
//! **Cost**: that of reading the text. Terms are shared, so comparing them costs almost nothing. The solver
//! is asked only if a term was read in another form ([`coreach_pipeline::export::equal`]).

use std::collections::HashSet;
use std::sync::Arc;

use coreach_analyses::solver::Solver;
use coreach_execution::TestCase;
use coreach_execution::test_case::DocumentError;
use coreach_model::Number;
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::iosts::{ActionId, ActionKind, Iosts, LocationId, Transition};
use coreach_model::reader::{Specification, from_bytes, read_aimed, read_specification};
use coreach_pipeline::Stage;
use coreach_pipeline::export::equal::find_difference;
use coreach_pipeline::export::{Format, Mark, ONLINE, View};

/// Codes of diagnostics that report a limit.
const LIMITS: [&str; 7] = [
    "file-too-large",
    "too-many-values",
    "expression-too-long",
    "nested-too-deep",
    "expression-too-deep",
    "number-too-long",
    "too-many-errors",
];

/// Reads a text back. Does nothing for formats that coreach does not read.
///
/// # Errors
/// The text exceeds a limit of the reader: a message about that limit.
///
/// # Panics
/// The text has another meaning than the view, or cannot be read at all.
pub fn read_back(
    view: &View<'_>,
    format: Format,
    text: &str,
    specification: &Specification,
    solver: &mut dyn Solver,
) -> Result<(), String> {
    let read = match (format, view.stage) {
        (Format::Yaml, _) => read_model_back(view, text, specification),
        (Format::Json | Format::ReadableJson, None)
            if view.what == ONLINE && view.found.reachable != Some(false) =>
        {
            read_test_case_back(view, text)
        }
        (Format::Json | Format::ReadableJson, Some(Stage::InputComplete))
            if view.found.reachable != Some(false) =>
        {
            read_test_case_back(view, text)
        }
        _ => return Ok(()),
    };
    let iosts = match read {
        Ok(iosts) => iosts,
        Err(found) => {
            let is_limit = |finding: &&Diagnostic| LIMITS.contains(&finding.code);
            let are_all_limits =
                found.iter().filter(|finding| finding.is_error()).all(|error| is_limit(&error));
            let limit = found.iter().find(is_limit).filter(|_| are_all_limits);
            assert!(limit.is_some(), "coreach cannot read the {format} that it wrote: {found:#?}");
            return Err(limit.map(|finding| finding.message.clone()).unwrap_or_default());
        }
    };
    let difference = find_difference(view.iosts, &iosts, solver);
    assert!(difference.is_none(), "coreach reads the {format} that it wrote differently: {difference:?}");
    Ok(())
}

/// Reads a model, and makes its quiescence an action of that kind again.
fn read_model_back(view: &View<'_>, text: &str, original: &Specification) -> Result<Iosts, Vec<Diagnostic>> {
    let quiescence = view.iosts.actions.numbered().find(|(_, action)| action.kind == ActionKind::Quiescence);
    let mut specification = original.clone();
    if quiescence.is_some() && view.particulars.purpose.is_some() {
        // A purpose is read against the specification that it was completed for.
        specification.iosts.actions = view.iosts.actions.clone();
    }
    let mut iosts = read_model(view, text, &specification)?;
    // YAML has no section for quiescence, so it is read as an output.
    if let Some((_, action)) = quiescence
        && let Some(read) = iosts.find_action(&action.name)
    {
        iosts.actions[read].kind = ActionKind::Quiescence;
    }
    Ok(iosts)
}

fn read_model(view: &View<'_>, text: &str, specification: &Specification) -> Result<Iosts, Vec<Diagnostic>> {
    let name = format!("{} in {}", view.what, Format::Yaml);
    let file: Arc<SourceFile> = from_bytes(name, text.as_bytes().to_vec()).map_err(|found| vec![found])?;
    if let Some((purpose, _)) = view.particulars.purpose {
        return read_aimed(file, specification, purpose.aim).map(|(purpose, _)| purpose.iosts);
    }
    read_specification(file).map(|(read, _)| read.iosts)
}

/// Reads a test case, and checks its verdicts and the transitions that stand for `others_fail`.
fn read_test_case_back(view: &View<'_>, text: &str) -> Result<Iosts, Vec<Diagnostic>> {
    let test = match TestCase::from_json(text.as_bytes()) {
        Ok(test) => test,
        Err(DocumentError::TooDeep(what)) => return Err(vec![Diagnostic::error("nested-too-deep", what)]),
        Err(other) => return Err(vec![Diagnostic::error("no-test-case", other.to_string())]),
    };
    let marks = view.iosts.location_ids().map(|at| view.mark(at));
    let are_equal = test.verdicts.iter().map(|verdict| verdict.map(Mark::Verdict)).eq(marks);
    assert!(are_equal, "coreach reads the verdicts of the test case differently");
    let mut iosts = test.iosts.clone();
    if let Some(fail) = view.particulars.others_fail {
        let added = iosts.transitions.split_off(view.iosts.transitions.len().min(iosts.transitions.len()));
        assert!(
            is_others_fail_expanded(view, fail, &test, &added),
            "coreach reads `others_fail` differently"
        );
    }
    Ok(iosts)
}

/// Has the reader expanded `others_fail` as it should? It adds one transition for each output, and many
/// locations list it. These are `added`, and are numbered after those of the view. Each must only lead to
/// Fail. A location without a verdict lists those outputs for which it has no transition of its own. A
/// location with a verdict lists none.
fn is_others_fail_expanded(view: &View<'_>, fail: LocationId, read: &TestCase, added: &[Transition]) -> bool {
    let own: HashSet<_> = view.iosts.transitions.iter().map(|t| (t.source, t.action)).collect();
    let outputs = || view.iosts.action_ids().filter(|action| view.iosts.action(*action).is_observed());
    let only_fails = |t: &Transition| t.guard.is_true() && t.assignments.is_empty() && t.target == fail;
    let first_added = view.iosts.transitions.len();
    let listed_at = |at: LocationId| -> Vec<ActionId> {
        let lists = [&read.observations[at], &read.silences[at]];
        let numbers = lists.into_iter().flatten().filter(|number| number.place() >= first_added);
        let mut actions: Vec<_> = numbers.map(|number| read.iosts.transitions[*number].action).collect();
        actions.sort();
        actions
    };
    added.iter().all(only_fails)
        && added.iter().map(|t| t.action).eq(outputs())
        // The added transitions begin at Fail, so its lists are not compared.
        && view.iosts.location_ids().filter(|at| *at != fail).all(|at| {
            let is_open = !matches!(view.mark(at), Some(Mark::Verdict(_)));
            let expected = outputs().filter(|action| is_open && !own.contains(&(at, *action)));
            listed_at(at).into_iter().eq(expected)
        })
}
