//! What guards ask of values: that a parameter is always the same, or always what another one was before.
//!
//! **Problem.** A transition without a guard takes any values, and a specification that allows any output
//! tests nothing. A guard that is wrong forbids what was recorded.
//!
//! **Method.** Two small generalisations, each of which holds of every recorded event of the transition, so
//! that no trace is lost:
//!
//! - *always the same value*, seen at least twice: `p == 5`;
//! - *what a parameter was before*: whenever the transition was taken, some action had happened before in the
//!   trace, and the last value of one of its parameters was the value now; with at least two different
//!   values, or it would be chance. A variable keeps that value: `p == lastCoin_n`.
//!
//! Of several parameters that were the same the one is taken that was set last, on average over the events;
//! then the first in the order of the file. Values of inputs are not generalised to what was before: a tester
//! may send others. Constants are for both, since a value that never varied is all that is known.
//!
//! The variables begin with a value of their type that nobody reads in a recorded trace. **Costs** events
//! times parameters squared.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::term::Substitution;
use coreach_model::{ActionKind, Datum, Term, Type, Value, budget};

use super::recorded::Raw;
use super::values::NamedTraces;
use super::{learn::Learned, recorded::RecordedTraces};
use crate::names::Naming;

/// A parameter: its action's number, and its place.
type Parameter = (usize, usize);

/// What was found.
#[derive(Debug)]
pub struct Generalized {
    /// For each transition its guard.
    pub guards: Vec<Term>,
    /// For each parameter that is kept its variable, and the parameter itself.
    kept: BTreeMap<Parameter, (Datum, Datum)>,
}

impl Generalized {
    /// The variables.
    pub fn variables(&self) -> Vec<Datum> {
        self.kept.values().map(|(variable, _)| variable.clone()).collect()
    }

    /// What they are in the beginning.
    pub fn initial_condition(&self) -> Term {
        Term::and(self.kept.values().map(|(variable, _)| {
            Term::equal(&Term::datum(variable), &Term::literal(Value::any(variable.ty())))
        }))
    }

    /// What every transition of the action assigns.
    pub fn assignments(&self, action: usize) -> Substitution {
        let own = self.kept.iter().filter(|((of, _), _)| *of == action);
        own.map(|(_, (variable, parameter))| (variable.clone(), Term::datum(parameter))).collect()
    }
}

/// What is known of a parameter at a transition, while its events are gone through.
#[derive(Default)]
struct Evidence<'a> {
    values: BTreeSet<&'a Raw>,
    events: usize,
    /// Which parameters had the value before, each with how long ago that was, all events together. None
    /// before the first event.
    equal: Option<BTreeMap<Parameter, usize>>,
}

/// Guards that hold of all that was recorded.
pub fn generalize(recorded: &RecordedTraces, named: &NamedTraces, learned: &Learned) -> Generalized {
    let mut evidence: BTreeMap<(usize, usize), Evidence<'_>> = BTreeMap::new();
    for (trace, steps) in recorded.traces.iter().zip(&learned.taken) {
        // The last value of each parameter, and when it was.
        let mut last: BTreeMap<Parameter, (&Raw, usize)> = BTreeMap::new();
        for (at, (event, step)) in trace.iter().zip(steps).enumerate() {
            budget::ask();
            let is_output = recorded.actions[event.action].kind == ActionKind::Output;
            for (place, value) in event.values.iter().enumerate() {
                let known = evidence.entry((*step, place)).or_default();
                known.values.insert(value);
                known.events += 1;
                let ty = named.actions[event.action].1[place].ty();
                let now = last.iter().filter(|((action, other), (old, _))| {
                    is_output && *old == value && named.actions[*action].1[*other].ty() == ty
                });
                let now: BTreeMap<Parameter, usize> = now.map(|(of, (_, when))| (*of, at - when)).collect();
                known.equal = Some(match known.equal.take() {
                    None => now,
                    Some(before) => {
                        before.into_iter().filter_map(|(of, sum)| Some((of, sum + now.get(&of)?))).collect()
                    }
                });
            }
            for (place, value) in event.values.iter().enumerate() {
                last.insert((event.action, place), (value, at));
            }
        }
    }
    let mut chosen: BTreeMap<(usize, usize), Parameter> = BTreeMap::new();
    for (of, known) in &evidence {
        if known.values.len() > 1
            && let Some(nearest) =
                known.equal.as_ref().and_then(|equal| equal.iter().min_by_key(|(_, sum)| **sum))
        {
            chosen.insert(*of, *nearest.0);
        }
    }
    let kept = kept(recorded, named, &chosen);
    let guards = learned
        .steps
        .iter()
        .enumerate()
        .map(|(number, step)| {
            let parameters = &named.actions[step.action].1;
            Term::and(parameters.iter().enumerate().filter_map(|(place, parameter)| {
                let known = evidence.get(&(number, place))?;
                let value = match (chosen.get(&(number, place)), known.values.first()) {
                    (Some(of), _) => Term::datum(&kept.get(of)?.0),
                    (None, Some(value)) if known.values.len() == 1 && known.events > 1 => {
                        named.term(value, parameter.ty())
                    }
                    _ => return None,
                };
                Some(Term::equal(&Term::datum(parameter), &value))
            }))
        })
        .collect();
    Generalized { guards, kept }
}

/// A variable for each parameter that some guard speaks of.
fn kept(
    recorded: &RecordedTraces,
    named: &NamedTraces,
    chosen: &BTreeMap<(usize, usize), Parameter>,
) -> BTreeMap<Parameter, (Datum, Datum)> {
    let used: BTreeSet<Parameter> = chosen.values().copied().collect();
    let keys: Vec<String> = used
        .iter()
        .map(|(action, place)| {
            let known = &recorded.actions[*action];
            format!("last {} {}", known.name, known.parameters[*place])
        })
        .collect();
    // Two pairs of names may join to one text; numbers tell them apart.
    let distinct: Vec<String> =
        keys.iter().zip(&used).map(|(key, (action, place))| format!("{key}\u{0}{action} {place}")).collect();
    let mut naming: BTreeMap<&str, String> = BTreeMap::new();
    let mut taken = named.taken.clone();
    for (key, distinct) in keys.iter().zip(&distinct) {
        let name = Naming::of([(key.as_str(), None)], &taken, "v").get(key).to_owned();
        taken.insert(name.clone());
        naming.insert(distinct, name);
    }
    used.iter()
        .zip(&distinct)
        .map(|(parameter, key)| {
            let datum = named.actions[parameter.0].1[parameter.1].clone();
            let ty: &Type = datum.ty();
            (*parameter, (Datum::new(naming[key.as_str()].clone(), ty.clone()), datum))
        })
        .collect()
}
