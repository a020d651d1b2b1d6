//! `complete`, `product`, `close` and `determinize` against the pair's own behaviour.

use coreach_model::iosts::Iosts;
use coreach_pipeline::artifact::CompletePurpose;

use super::{COMPLETE, Known, Property, Report, Settings};
use crate::brute::alphabet::Alphabet;
use crate::brute::artifact;
use crate::brute::explore::{Concrete, Graph, State, System, bind, labels};
use crate::brute::machine::{Machine, Step, assigned};
use crate::brute::pair::{Instance, Place, follow};
use crate::brute::subsets::Subsets;
use crate::brute::walk::{Outcome, walk};

/// In every reachable state of the pair, for every step of the specification: the completed purpose, whose
/// transitions alone are looked at, goes where the definition of completion says.
pub fn complete(complete: &CompletePurpose, known: &Known, settings: &Settings, report: &mut Report) {
    if !settings.wants(COMPLETE) {
        return;
    }
    let made = artifact::machine(&complete.purpose.iosts);
    for instance in &known.instances {
        report.note(
            COMPLETE,
            pointwise(&made, complete.reject.map_or(u32::MAX, |reject| reject.0), instance, known),
        );
    }
}

fn pointwise(made: &Machine, reject: u32, instance: &Instance, known: &Known) -> Result<(), String> {
    let (pair, alphabet) = (&known.pair, &known.alphabet);
    let concrete = Concrete::new(&pair.specification, &instance.constants, alphabet);
    for state in &instance.both.states {
        let seen = pair.seen(&instance.constants, &state.specification);
        let mut possible = concrete.places(&state.specification);
        let place = |place| match place {
            Place::At(location) => location,
            Place::Rejected => reject,
        };
        let mut places = made.places(&seen, &state.own);
        let here = |step: &&Step| step.source == state.specification.location;
        for step in pair.specification.steps.iter().filter(here) {
            let action = &pair.specification.actions[step.action].name;
            for label in labels(&pair.specification, step, alphabet) {
                // Only of what the specification can do does completion say anything.
                bind(&pair.specification, alphabet, label, &mut possible);
                if step.fire(&pair.specification, &possible).is_none() {
                    continue;
                }
                bind(made, alphabet, label, &mut places);
                let mut found = Vec::new();
                let there = made.steps.iter().filter(|step| step.source == place(state.place));
                for step in there.filter(|step| made.actions[step.action].name == *action) {
                    if let Some(changes) = step.fire(made, &places) {
                        found.push((step.target, assigned(&state.own, changes)));
                    }
                }
                let wanted = follow(pair, state, &seen, action, label, alphabet);
                let mut wanted: Vec<_> = wanted.into_iter().map(|(at, own)| (place(at), own)).collect();
                for list in [&mut found, &mut wanted] {
                    list.sort();
                    list.dedup();
                }
                if found != wanted {
                    let event = label.map_or_else(|| action.clone(), |event| alphabet.show(&[event]));
                    return Err(format!(
                        "at {} with {seen:?} {:?}: {event} leads to {found:?}, and should to {wanted:?}",
                        made.locations[place(state.place) as usize],
                        state.own
                    ));
                }
            }
        }
    }
    Ok(())
}

/// The artifact has exactly the pair's traces, and accepts exactly the traces that the pair accepts; of a
/// location that `ends`, nothing more is asked than that the pair accepts there, or cannot come to Accept any
/// more.
pub fn traces(
    property: Property,
    iosts: &Iosts,
    accepting: &[bool],
    ends: Option<&[bool]>,
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) {
    if !settings.wants(property) {
        return;
    }
    let machine = artifact::machine(iosts);
    for instance in &known.instances {
        let concrete = Concrete::new(&machine, &instance.constants, &known.alphabet);
        let Ok(system) = concrete.explore(settings.limits.states * 2) else {
            report.count("artifacts too large", 1);
            continue;
        };
        let at = |flags: &[bool]| -> Vec<bool> {
            system.states.iter().map(|state| flags[state.location as usize]).collect()
        };
        let outcome = same_traces(
            instance,
            (&system.graph, &at(accepting), &ends.map_or_else(|| vec![false; system.states.len()], at)),
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
    expected: &Instance,
    actual: (&Graph, &[bool], &[bool]),
    alphabet: &Alphabet,
    limit: usize,
) -> Outcome {
    let (mut one, mut other) = (Subsets::new(&expected.both.graph), Subsets::new(actual.0));
    let start = match (one.start(), other.start()) {
        (None, None) => return Outcome::Done,
        (Some(a), Some(b)) => (a, b),
        (a, b) => return Outcome::Found(Vec::new(), format!("initial states: {a:?} and {b:?}")),
    };
    walk(start, limit, |&(a, b)| {
        let any_of = |states: &[u32], flags: &[bool]| states.iter().any(|state| flags[*state as usize]);
        let (pair, artifact) = (one.states(a), other.states(b));
        let (accepted, accepts) = (any_of(&pair, &expected.accepting), any_of(&artifact, actual.1));
        if accepted != accepts {
            return Err(format!("the pair accepts: {accepted}, the artifact: {accepts}"));
        }
        if any_of(&artifact, actual.2) {
            return match !accepted && any_of(&pair, &expected.alive) {
                true => Err("the artifact ends, and the pair can come to Accept".to_owned()),
                false => Ok(Vec::new()),
            };
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
    let machine = artifact::machine(iosts);
    for instance in &known.instances {
        let concrete = Concrete::new(&machine, &instance.constants, &known.alphabet);
        if let Ok(system) = concrete.explore(settings.limits.states * 2) {
            report.note(property, two_ways(&machine, &system, &known.alphabet));
        }
    }
}

fn two_ways(machine: &Machine, system: &System<State>, alphabet: &Alphabet) -> Result<(), String> {
    for (state, steps) in system.graph.visible.iter().enumerate() {
        for pair in steps.windows(2) {
            if pair[0].0 == pair[1].0 {
                let at = show_state(machine, &system.states[state]);
                return Err(format!("at {at}: two successors by {}", alphabet.show(&[pair[0].0])));
            }
        }
    }
    Ok(())
}

/// A state in words.
pub fn show_state(machine: &Machine, state: &State) -> String {
    let values = machine.variables.iter().zip(&state.variables);
    let values: Vec<String> = values.map(|(variable, value)| format!("{}={value}", variable.name)).collect();
    format!("{}({})", machine.locations[state.location as usize], values.join(", "))
}
