//! Models, paths, test cases, and runs through their documents.

use std::path::Path;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::{initial_state, read_constants};
use coreach_execution::test_case::TestCase;
use coreach_model::reader::read_timed_specification;
use coreach_model::semantics::{State, fire};
use coreach_model::timed::Timed;
use coreach_model::{SourceFile, codec};
use coreach_pipeline::export::{self, Format, View, export};
use coreach_pipeline::timed::{PathGuided, PathStop, SilenceAfter, TimedOptions, path_guided, resolve};

/// The purpose of the publication.
pub const PURPOSE: &str = "tr1,tr2,tr3,tr4";

/// The cash machine of the example.
pub fn atm() -> Timed {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/atm_timed/specification.yaml");
    model(&std::fs::read_to_string(file).unwrap())
}

/// A model from its text.
pub fn model(text: &str) -> Timed {
    let file = SourceFile { name: "model.yaml".to_owned(), text: text.to_owned() };
    read_timed_specification(file.into()).unwrap().0.timed
}

/// TM as a number, or as a constant where it is empty.
pub fn options(time: &str) -> TimedOptions {
    let silence_after = match time {
        "" => SilenceAfter::Constant,
        time => SilenceAfter::Time(time.parse().unwrap()),
    };
    TimedOptions { silence_after, published: false, check: true }
}

/// What comes of a path.
pub fn of(timed: &Timed, path: &str, options: &TimedOptions) -> Result<PathGuided, PathStop> {
    path_guided(timed, &resolve(timed, path)?, options, &mut Z3Solver::default())
}

/// The document of a test case, read.
pub fn document(made: &PathGuided) -> TestCase {
    let text = export(&View::of_path(made), Format::Json, export::ExportOptions::default()).unwrap();
    TestCase::from_json(text.as_bytes()).unwrap()
}

/// Follows events, each `(delay, action, values)`, from the initial state with these constants: the name of
/// the location behind each. Of the transitions of an event, exactly one can be taken.
pub fn follow(test: &TestCase, constants: &[(&str, &str)], events: &[(&str, &str, &[&str])]) -> Vec<String> {
    let mut solver = Z3Solver::default();
    let known = read_constants(test, constants.iter().copied()).unwrap();
    let mut state = initial_state(test, &known, 0, &mut solver).unwrap();
    let mut places = Vec::new();
    for (delay, action, values) in events {
        let next = after(test, &state, delay, action, values);
        assert_eq!(next.len(), 1, "{action}{values:?} after {delay} in {}: {next:?}", places.len());
        state = next.into_iter().next().unwrap();
        places.push(test.iosts.location(state.location).name.clone());
    }
    places
}

/// The states behind an event.
pub fn after(test: &TestCase, state: &State, delay: &str, action: &str, values: &[&str]) -> Vec<State> {
    let id = test.iosts.find_action(action).unwrap();
    let parameters = &test.iosts.action(id).parameters;
    let texts = std::iter::once(delay).chain(values.iter().copied());
    let values: Vec<_> = parameters
        .iter()
        .zip(texts)
        .map(|(datum, text)| codec::from_text(text, datum.ty()).unwrap())
        .collect();
    let leaving = test.iosts.transitions.iter().filter(|t| t.source == state.location && t.action == id);
    leaving.filter_map(|transition| fire(&test.iosts, transition, state, &values)).collect()
}
