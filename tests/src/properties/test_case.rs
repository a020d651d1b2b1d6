//! The test graph and the test case against the pair: what they may do, what they must do, and what each
//! verdict means, for all traces and so for every implementation at once.

use std::collections::BTreeSet;

use coreach_model::LocationId;
use coreach_pipeline::artifact::{CaseGraph, TestGraph, Verdict};

use super::facts::contained;
use super::stages::{deterministic, show_state, told};
use super::{
    DETERMINISTIC, GRAPH_FACTS, GRAPH_KEEPS, GRAPH_TRACES, INPUT_COMPLETE, Known, Property, Report, Settings,
    VERDICTS,
};
use crate::brute::alphabet::Alphabet;
use crate::brute::artifact;
use crate::brute::conformance::{is_accepted, is_prefix};
use crate::brute::execution::{Tester, justified, verdict_of};
use crate::brute::explore::{Concrete, State, System};
use crate::brute::machine::Machine;
use crate::brute::pair::Instance;
use crate::brute::subsets::Subsets;
use crate::brute::walk::{Outcome, walk};

/// Checks the test graph.
pub fn graph(graph: &TestGraph, known: &Known, settings: &Settings, report: &mut Report) {
    let verdict = |at| match Some(at) {
        at if at == graph.pass => Some(Verdict::Pass),
        at if at == graph.inconclusive => Some(Verdict::Inconclusive),
        _ => None,
    };
    let verdicts: Vec<_> = graph.iosts.location_ids().map(verdict).collect();
    let machine = artifact::machine(&graph.iosts);
    for instance in &known.instances {
        let Some(system) = explored(&machine, instance, known, settings, report) else { continue };
        let concrete = Concrete::new(&machine, &instance.constants, &known.alphabet);
        if settings.wants(GRAPH_FACTS) {
            let all = vec![true; system.states.len()];
            report
                .note(GRAPH_FACTS, contained(&graph.iosts, &machine, &concrete, &system, &graph.reach, &all));
        }
        justify(GRAPH_TRACES, &system, &verdicts, instance, known, settings, report);
        if settings.wants(GRAPH_KEEPS) {
            let tester = tester(&system, &verdicts);
            let outcome = keeps(&tester, instance, &known.alphabet, settings.limits.walk);
            report.note(GRAPH_KEEPS, told(outcome, instance, &known.alphabet));
        }
    }
}

/// Checks the test case.
pub fn case(case: &CaseGraph, known: &Known, settings: &Settings, report: &mut Report) {
    deterministic(DETERMINISTIC, &case.iosts, known, settings, report);
    let machine = artifact::machine(&case.iosts);
    for instance in &known.instances {
        let Some(system) = explored(&machine, instance, known, settings, report) else { continue };
        let concrete = Concrete::new(&machine, &instance.constants, &known.alphabet);
        if settings.wants(GRAPH_FACTS) {
            let all = vec![true; system.states.len()];
            report.note(GRAPH_FACTS, contained(&case.iosts, &machine, &concrete, &system, &case.reach, &all));
        }
        if settings.wants(INPUT_COMPLETE) {
            report.note(INPUT_COMPLETE, takes_outputs(case, &machine, &system, &known.alphabet));
        }
        justify(VERDICTS, &system, &case.verdicts, instance, known, settings, report);
    }
}

pub(super) fn explored(
    machine: &Machine,
    instance: &Instance,
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) -> Option<System<State>> {
    let concrete = Concrete::new(machine, &instance.constants, &known.alphabet);
    let system = concrete.explore(settings.limits.states * 2).ok();
    if system.is_none() {
        report.count("artifacts too large", 1);
    }
    system
}

/// A test case's states with their verdicts.
pub fn tester<'a>(system: &'a System<State>, verdicts: &[Option<Verdict>]) -> Tester<'a> {
    let verdicts = system.states.iter().map(|state| verdicts[state.location as usize]).collect();
    Tester { graph: &system.graph, verdicts }
}

/// Every state that is no verdict takes every output of the implementation.
fn takes_outputs(
    case: &CaseGraph,
    machine: &Machine,
    system: &System<State>,
    alphabet: &Alphabet,
) -> Result<(), String> {
    for (state, steps) in system.states.iter().zip(&system.graph.visible) {
        if case.verdicts[LocationId(state.location)].is_some() {
            continue;
        }
        let taken: BTreeSet<_> = steps.iter().map(|(event, _)| *event).collect();
        let missing = alphabet.events().find(|event| alphabet.is_output(*event) && !taken.contains(event));
        if let Some(event) = missing {
            let at = show_state(machine, state);
            return Err(format!("{at} does not take {}", alphabet.show(&[event])));
        }
    }
    Ok(())
}

/// Every trace is one of the pair, or ends in Fail; every verdict is justified. Counts the imprecisions: the
/// graph goes on although Accept is out of reach.
fn justify(
    property: Property,
    system: &System<State>,
    verdicts: &[Option<Verdict>],
    instance: &Instance,
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) {
    if !settings.wants(property) {
        return;
    }
    let tester = tester(system, verdicts);
    let alphabet = &known.alphabet;
    let (mut tests, mut both) = (Subsets::new(tester.graph), Subsets::new(&instance.both.graph));
    let (Some(test), Some(pair)) = (tests.start(), both.start()) else {
        return report.note(property, Ok(()));
    };
    let mut imprecisions = 0;
    let mut open = 0;
    let outcome = walk((test, Some(pair), None), settings.limits.walk, |&(test, pair, last)| {
        let states = tests.states(test);
        let pair_states = pair.map(|pair| both.states(pair));
        if let Some(verdict) = verdict_of(&tester, &states) {
            return justified(instance, verdict, pair_states.as_deref(), last, alphabet).map(|()| Vec::new());
        }
        let Some(pair_states) = pair_states else {
            return Err("the test goes on, and the specification does not have this trace".to_owned());
        };
        if is_accepted(instance, &pair_states) {
            return Err("the purpose accepts this trace, and the test does not say Pass".to_owned());
        }
        open += 1;
        imprecisions += usize::from(!is_prefix(instance, &pair_states));
        let followed = pair.map(|pair| both.next(pair));
        let next = tests.next(test);
        let next = next.iter().map(|(event, test)| {
            let pair = followed.as_ref().and_then(|next| next.get(event).copied());
            (*event, (*test, pair, Some(*event)))
        });
        Ok(next.collect())
    });
    if property == VERDICTS {
        report.count("open states of tests", open);
        report.count("open states out of reach of Accept (imprecision)", imprecisions);
    }
    report.note(property, told(outcome, instance, alphabet));
}

/// The strict prefixes of accepted traces lead to no verdict, and the shortest accepted traces to Pass.
fn keeps(tester: &Tester<'_>, instance: &Instance, alphabet: &Alphabet, limit: usize) -> Outcome {
    let (mut tests, mut both) = (Subsets::new(tester.graph), Subsets::new(&instance.both.graph));
    let Some(pair) = both.start() else { return Outcome::Done };
    if !is_prefix(instance, &both.states(pair)) {
        return Outcome::Done;
    }
    let Some(test) = tests.start() else {
        return Outcome::Found(Vec::new(), "there is no test, and Accept is within reach".to_owned());
    };
    walk((test, pair), limit, |&(test, pair)| {
        let verdict = verdict_of(tester, &tests.states(test));
        let pair_states = both.states(pair);
        if is_accepted(instance, &pair_states) {
            return match verdict {
                Some(Verdict::Pass) => Ok(Vec::new()),
                other => Err(format!("the purpose accepts this trace, and the verdict is {other:?}")),
            };
        }
        if let Some(verdict) = verdict {
            return Err(format!("{verdict:?}, and Accept is within reach"));
        }
        let (next, there) = (both.next(pair), tests.next(test));
        let mut found = Vec::new();
        for (event, pair) in next.iter() {
            if !is_prefix(instance, &both.states(*pair)) {
                continue;
            }
            let Some(test) = there.get(event) else {
                return Err(format!("the test does not go on with {}", alphabet.show(&[*event])));
            };
            found.push((*event, (*test, *pair)));
        }
        Ok(found)
    })
}
