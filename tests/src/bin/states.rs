//! How many steps a second each evaluator takes: `states FILE...`
//!
//! Enumerates the states of each specification breadth first, once with the compiled terms of the project and
//! once with the walk over terms of the tests ([`coreach_tests::walker`]). All parameters must have finite
//! types. Both must find the same states. A line for each: the states, the steps tried, seconds of wall
//! clock, and steps a second.

use std::collections::{HashSet, VecDeque};
use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use coreach_model::iosts::Transition;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::{State, fire, initial_states};
use coreach_model::term::evaluate::Valuation;
use coreach_model::value::tuples;
use coreach_model::{Iosts, Value};
use coreach_tests::walker::walk;

/// The most values of a parameter.
const VALUES: usize = 64;

type Step = fn(&Iosts, &Transition, &State, &[Value]) -> Option<State>;

fn main() -> ExitCode {
    println!("model,evaluator,states,steps,seconds,steps per second");
    for name in env::args().skip(1) {
        match compare(&name) {
            Ok(lines) => print!("{lines}"),
            Err(why) => {
                eprintln!("{name}: {why}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}

fn compare(name: &str) -> Result<String, String> {
    let bytes = std::fs::read(name).map_err(|error| error.to_string())?;
    let file = from_bytes(name.to_owned(), bytes).map_err(|found| format!("{found:?}"))?;
    let (specification, _) = read_specification(file).map_err(|found| format!("{found:?}"))?;
    let iosts = specification.iosts;
    let mut lines = String::new();
    let mut counts = Vec::new();
    for (evaluator, step) in [("compiled", fire as Step), ("walked", walk_step as Step)] {
        let begin = Instant::now();
        let (states, steps) = enumerate(&iosts, step)?;
        let seconds = begin.elapsed().as_secs_f64();
        let model = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        let rate = steps as f64 / seconds;
        lines += &format!("{model},{evaluator},{states},{steps},{seconds:.2},{rate:.0}\n");
        counts.push((states, steps));
    }
    if counts[0] == counts[1] { Ok(lines) } else { Err(format!("they disagree: {counts:?}")) }
}

/// The states, and the steps that were tried.
fn enumerate(iosts: &Iosts, step: Step) -> Result<(usize, usize), String> {
    let start = initial_states(iosts, &Valuation::new(), 1).map_err(|error| format!("{error:?}"))?;
    let lists = |transition: &Transition| {
        let parameters = iosts.action(transition.action).parameters.iter();
        let values = parameters.map(|one| Value::enumerate(one.ty(), VALUES)).collect::<Option<Vec<_>>>();
        values.map(|lists| tuples(&lists)).ok_or("a parameter has too many values")
    };
    let mut ways = Vec::new();
    for transition in &iosts.transitions {
        ways.push((transition, lists(transition)?));
    }
    let mut known: HashSet<State> = start.iter().cloned().collect();
    let mut work: VecDeque<State> = start.into();
    let mut steps = 0;
    while let Some(state) = work.pop_front() {
        for (transition, all) in ways.iter().filter(|(transition, _)| transition.source == state.location) {
            for values in all {
                steps += 1;
                if let Some(next) = step(iosts, transition, &state, values)
                    && known.insert(next.clone())
                {
                    work.push_back(next);
                }
            }
        }
    }
    Ok((known.len(), steps))
}

/// As [`fire`], by the walk over terms.
fn walk_step(iosts: &Iosts, transition: &Transition, state: &State, values: &[Value]) -> Option<State> {
    let mut valuation = state.valuation.clone();
    valuation.extend(iosts.action(transition.action).parameters.iter().cloned().zip(values.iter().cloned()));
    if walk(&transition.guard, &valuation) != Ok(Value::Bool(true)) {
        return None;
    }
    let mut next = state.valuation.clone();
    for (variable, term) in &transition.assignments {
        let value = walk(term, &valuation).ok().filter(|value| value.is_in(variable.ty()))?;
        next.insert(variable.clone(), value);
    }
    Some(State { location: transition.target, valuation: next })
}
