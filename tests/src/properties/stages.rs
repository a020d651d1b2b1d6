//! `complete`, `product`, `close` and `determinize` against the pair's own behaviour.

use coreach_model::iosts::Iosts;
use coreach_pipeline::artifact::CompletePurpose;

use super::{COMPLETE, Known, Property, Report, Settings};
use crate::brute::alphabet::Alphabet;
use crate::brute::explore::{Concrete, Graph, State, System, bind, fire, labels};
use crate::brute::pair::{Instance, Place, follow};
use crate::brute::subsets::Subsets;
use crate::brute::walk::{Outcome, walk};
use crate::generator::Pair;

/// In every reachable state of the pair, for every step of the specification: the completed purpose, whose transitions
/// alone are looked at, goes where the definition of completion says.
pub fn complete(
    pair: &Pair,
    complete: &CompletePurpose,
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) {
    if !settings.wants(COMPLETE) {
        return;
    }
    for instance in &known.instances {
        report.note(COMPLETE, pointwise(pair, complete, instance, &known.alphabet));
    }
}

fn pointwise(
    pair: &Pair,
    complete: &CompletePurpose,
    instance: &Instance,
    alphabet: &Alphabet,
) -> Result<(), String> {
    let purpose = &complete.purpose.iosts;
    let concrete = Concrete::new(&pair.specification, &instance.constants, alphabet);
    for state in &instance.both.states {
        let before = concrete.valuation(&state.specification);
        let location = match state.place {
            Place::At(location) => location,
            Place::Rejected => complete.reject,
        };
        let mut valuation = before.clone();
        valuation.extend(purpose.variables.iter().cloned().zip(state.own.iter().cloned()));
        for step in pair.specification.transitions.iter().filter(|t| t.source == state.specification.location)
        {
            let action = &pair.specification.action(step.action).name;
            for label in labels(&pair.specification, step, alphabet) {
                let mut found = Vec::new();
                let here = purpose.transitions.iter().filter(|t| t.source == location);
                for transition in here.filter(|t| purpose.action(t.action).name == *action) {
                    bind(purpose, transition, alphabet, label, &mut valuation);
                    if let Some(assigned) = fire(transition, &valuation) {
                        let own = purpose.variables.iter().zip(&state.own);
                        let own: Vec<_> =
                            own.map(|(v, old)| assigned.get(v).unwrap_or(old).clone()).collect();
                        found.push((transition.target, own));
                    }
                }
                let wanted = follow(pair, state, &before, action, label, alphabet);
                let place = |place| match place {
                    Place::At(location) => location,
                    Place::Rejected => complete.reject,
                };
                let mut wanted: Vec<_> = wanted.into_iter().map(|(at, own)| (place(at), own)).collect();
                for list in [&mut found, &mut wanted] {
                    list.sort();
                    list.dedup();
                }
                if found != wanted {
                    let event = label.map_or_else(|| action.clone(), |event| alphabet.show(&[event]));
                    return Err(format!(
                        "at {} with {valuation:?}: {event} leads to {found:?}, and should to {wanted:?}",
                        purpose.location(location).name
                    ));
                }
            }
        }
    }
    Ok(())
}

/// The artifact has exactly the pair's traces, and accepts exactly the traces that the pair accepts.
pub fn traces(
    property: Property,
    iosts: &Iosts,
    accepting: &[bool],
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) {
    if !settings.wants(property) {
        return;
    }
    for instance in &known.instances {
        let concrete = Concrete::new(iosts, &instance.constants, &known.alphabet);
        let Ok(system) = concrete.explore(settings.limits.states * 2) else {
            report.count("artifacts too large", 1);
            continue;
        };
        let accepts: Vec<bool> =
            system.states.iter().map(|state| accepting[state.location.0 as usize]).collect();
        let outcome = same_traces(
            (&instance.both.graph, &instance.accepting),
            (&system.graph, &accepts),
            &known.alphabet,
            settings.limits.walk,
        );
        if outcome == Outcome::Cut {
            report.count("comparisons cut", 1);
        }
        report.note(property, told(outcome, instance, &known.alphabet));
    }
}

fn same_traces(
    expected: (&Graph, &[bool]),
    actual: (&Graph, &[bool]),
    alphabet: &Alphabet,
    limit: usize,
) -> Outcome {
    let (mut one, mut other) = (Subsets::new(expected.0), Subsets::new(actual.0));
    let start = match (one.start(), other.start()) {
        (None, None) => return Outcome::Done,
        (Some(a), Some(b)) => (a, b),
        (a, b) => return Outcome::Found(Vec::new(), format!("initial states: {a:?} and {b:?}")),
    };
    walk(start, limit, |&(a, b)| {
        let accepted = one.states(a).iter().any(|state| expected.1[*state as usize]);
        let accepts = other.states(b).iter().any(|state| actual.1[*state as usize]);
        if accepted != accepts {
            return Err(format!("the pair accepts: {accepted}, the artifact: {accepts}"));
        }
        let (next, there) = (one.next(a), other.next(b));
        if let Some(event) = next.keys().find(|event| !there.contains_key(event)) {
            return Err(format!("the artifact lacks {}", alphabet.show(&[*event])));
        }
        if let Some(event) = there.keys().find(|event| !next.contains_key(event)) {
            return Err(format!("the artifact adds {}", alphabet.show(&[*event])));
        }
        Ok(next.iter().filter_map(|(event, a)| Some((*event, (*a, *there.get(event)?)))).collect())
    })
}

/// The outcome of a walk in words.
pub fn told(outcome: Outcome, instance: &Instance, alphabet: &Alphabet) -> Result<(), String> {
    match outcome {
        Outcome::Done | Outcome::Cut => Ok(()),
        Outcome::Found(trace, message) => {
            Err(format!("with {:?}, after {}: {message}", instance.constants, alphabet.show(&trace)))
        }
    }
}

/// No state has two successors by one event.
pub fn deterministic(
    property: Property,
    iosts: &Iosts,
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) {
    if !settings.wants(property) {
        return;
    }
    for instance in &known.instances {
        let concrete = Concrete::new(iosts, &instance.constants, &known.alphabet);
        if let Ok(system) = concrete.explore(settings.limits.states * 2) {
            report.note(property, two_ways(iosts, &system, &known.alphabet));
        }
    }
}

fn two_ways(iosts: &Iosts, system: &System<State>, alphabet: &Alphabet) -> Result<(), String> {
    for (state, steps) in system.graph.visible.iter().enumerate() {
        for pair in steps.windows(2) {
            if pair[0].0 == pair[1].0 {
                let at = show_state(iosts, &system.states[state]);
                return Err(format!("at {at}: two successors by {}", alphabet.show(&[pair[0].0])));
            }
        }
    }
    Ok(())
}

/// A state in words.
pub fn show_state(iosts: &Iosts, state: &State) -> String {
    let values = iosts.variables.iter().zip(&state.variables);
    let values: Vec<String> = values.map(|(variable, value)| format!("{variable}={value}")).collect();
    format!("{}({})", iosts.location(state.location).name, values.join(", "))
}
