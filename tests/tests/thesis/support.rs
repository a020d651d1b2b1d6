//! What the tests of this program share: reading models, running the pipeline, saying a machine in lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_analyses::domains::DomainKind;
use coreach_analyses::reachability;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver};
use coreach_model::iosts::{Iosts, TestPurpose};
use coreach_model::reader::{Specification, read_purpose, read_specification};
use coreach_model::semantics::{Event, State, after, initial_states};
use coreach_model::term::evaluate::Valuation;
use coreach_model::types::Type;
use coreach_model::{SourceFile, Term, Value};
use coreach_pipeline::{Generation, StageOptions, generate};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn source(path: &str) -> Arc<SourceFile> {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    Arc::new(SourceFile { name: path.to_owned(), text })
}

/// Reads a specification that has no errors.
pub fn specification(path: &str) -> Specification {
    read_specification(source(path)).unwrap_or_else(|errors| panic!("{path}: {errors:#?}")).0
}

/// Reads a purpose that has no errors.
pub fn purpose(path: &str, specification: &Specification) -> TestPurpose {
    read_purpose(source(path), specification).unwrap_or_else(|errors| panic!("{path}: {errors:#?}")).0
}

/// A solver with limits that no test meets.
pub fn solver() -> Z3Solver {
    Z3Solver::default()
}

pub fn options(domain: &str) -> StageOptions {
    let domain: DomainKind = domain.parse().unwrap_or_else(|_| panic!("no domain {domain}"));
    StageOptions {
        max_lookahead: 8,
        analysis: reachability::Analysis { domain, ..reachability::Analysis::default() },
        limits: Default::default(),
        check: true,
    }
}

/// The whole pipeline, checked after every stage.
pub fn run(specification_path: &str, purpose_path: &str, domain: &str) -> Generation {
    let specification = specification(specification_path);
    let purpose = purpose(purpose_path, &specification);
    generate(&specification.iosts, purpose, &options(domain), &mut solver(), &mut |_| {})
        .unwrap_or_else(|stop| panic!("{stop:?}"))
}

/// A machine's transitions, a line each: `<Pay,Begin> -Return-> Pass [guard] {v := e}`, sorted.
pub fn lines(iosts: &Iosts) -> Vec<String> {
    let mut lines: Vec<String> = iosts
        .transitions
        .iter()
        .map(|transition| {
            let mut line = iosts.describe(transition);
            if !transition.guard.is_true() {
                line.push_str(&format!(" [{}]", transition.guard));
            }
            if !transition.assignments.is_empty() {
                let effects: Vec<String> =
                    transition.assignments.iter().map(|(v, e)| format!("{v} := {e}")).collect();
                line.push_str(&format!(" {{{}}}", effects.join(", ")));
            }
            line
        })
        .collect();
    lines.sort();
    lines
}

/// Are two conditions equal wherever the context holds?
pub fn equivalent(a: &Term, b: &Term, context: &Term) -> bool {
    let mut solver = solver();
    let differs = Term::or([Term::and([a.clone(), b.not()]), Term::and([b.clone(), a.not()])]);
    solver.check(&[context.clone(), differs]) == Answer::Unsat
}

/// A value for a parameter, from text: an integer, a truth value, or a literal of an enumeration.
pub fn value(text: &str, ty: &Type) -> Value {
    match ty {
        Type::Bool => Value::Bool(text == "true"),
        Type::Enum(enumeration) => {
            let at = enumeration.literals.iter().position(|literal| literal == text);
            Value::Enum(enumeration.clone(), at.unwrap_or_else(|| panic!("no literal {text}")))
        }
        _ => Value::int(text.parse::<i64>().unwrap_or_else(|error| panic!("{text}: {error}"))),
    }
}

/// `Coin(1) Return(0)` as events of the machine.
pub fn trace(iosts: &Iosts, text: &str) -> Vec<Event> {
    text.split_whitespace()
        .map(|word| {
            let (name, values) = word.trim_end_matches(')').split_once('(').unwrap_or((word, ""));
            let id = iosts.find_action(name).unwrap_or_else(|| panic!("no action {name}"));
            let parameters = &iosts.action(id).parameters;
            let values = values.split(',').filter(|value| !value.is_empty());
            Event::new(name, parameters.iter().zip(values).map(|(p, text)| value(text, p.ty())))
        })
        .collect()
}

/// `cPrice=3` as a valuation of the machine's constants.
pub fn constants(iosts: &Iosts, text: &str) -> Valuation {
    text.split_whitespace()
        .map(|word| {
            let (name, text) = word.split_once('=').unwrap_or_else(|| panic!("{word}"));
            let datum = iosts.find_datum(name).unwrap_or_else(|| panic!("no datum {name}"));
            (datum.clone(), value(text, datum.ty()))
        })
        .collect()
}

/// The states after a trace of the instance.
pub fn states_after(iosts: &Iosts, constants_text: &str, events: &[Event]) -> BTreeSet<State> {
    let initial = initial_states(iosts, &constants(iosts, constants_text), 1000);
    let initial = initial.unwrap_or_else(|error| panic!("{error:?}"));
    after(iosts, initial.into_iter().collect(), events)
}

/// The labels of the locations in which the instance can be after a trace.
pub fn locations_after(iosts: &Iosts, constants_text: &str, trace_text: &str) -> Vec<String> {
    let states = states_after(iosts, constants_text, &trace(iosts, trace_text));
    let labels: BTreeSet<String> =
        states.iter().map(|state| iosts.location(state.location).label.clone()).collect();
    labels.into_iter().collect()
}

/// A state's data in words.
pub fn data(state: &State) -> BTreeMap<String, String> {
    state.valuation.iter().map(|(datum, value)| (datum.name().to_owned(), value.to_string())).collect()
}
