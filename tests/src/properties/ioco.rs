//! ioco: the suspended specification, its test cases and their verdicts, against brute force over suspension traces.
//!
//! Brute force adds quiescence to explicit systems by its definition (3.9): a loop at each state without an output and without an internal step.
//! Over the alphabet with that event, ioco is ioc, and all that is known of test cases for ioc must hold of those for ioco: conforming
//! implementations never get Fail, silent ones among them, and those that do not conform relative to the purpose can.

use std::panic::{AssertUnwindSafe, catch_unwind};

use coreach_analyses::solver::z3::Z3Solver;
use coreach_pipeline::artifact::{TestCase, Verdict};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::suspend::{Suspended, suspend};
use coreach_pipeline::{Conformance, Options, generate_for};

use super::test_case::{explored, tester};
use super::{IOCO, Known, Report, SUSPENDED, Settings};
use crate::brute::EventId;
use crate::brute::alphabet::{Alphabet, Letter};
use crate::brute::artifact;
use crate::brute::conformance::{ioc, ioc_tp};
use crate::brute::execution::{execute, input_complete};
use crate::brute::explore::{Concrete, Graph, System};
use crate::brute::pair::Instance;
use crate::brute::walk::Outcome;
use crate::generator::random::Random;
use crate::mutants::explicit;
use crate::source::Input;

/// How many implementations of each kind meet a test case.
const EACH: u64 = 4;

/// Checks a pair under ioco.
pub fn ioco(input: &Input, known: &Known, settings: &Settings, report: &mut Report) {
    if !settings.wants(SUSPENDED) && !settings.wants(IOCO) {
        return;
    }
    let mut solver = Z3Solver::default();
    let made = match suspend(&input.specification, &Limits::default(), &mut solver) {
        Ok(made) => made,
        Err(_) => {
            report.count("ioco: quiescence not found", 1);
            return;
        }
    };
    report.count("ioco: suspended", 1);
    let delta = known.alphabet.letters.len() as EventId;
    let known = with_delta(known, &made, delta);
    if settings.wants(SUSPENDED) {
        let machine = artifact::machine(&made.iosts);
        for instance in &known.instances {
            let Some(system) = explored(&machine, instance, &known, settings, report) else { continue };
            let wrong = (0..system.states.len()).find(|state| {
                let is_quiet = is_quiescent(&system.graph, *state, &known.alphabet, delta);
                let steps = &system.graph.visible[*state];
                steps.iter().any(|(event, _)| *event == delta) != is_quiet
                    || steps.iter().any(|(event, to)| *event == delta && *to as usize != *state)
            });
            let told =
                |state: usize| format!("wrong in {:?}, with {:?}", system.states[state], instance.constants);
            report.note(SUSPENDED, wrong.map_or(Ok(()), |state| Err(told(state))));
        }
    }
    if !settings.wants(IOCO) {
        return;
    }
    let options = Options {
        max_lookahead: settings.max_lookahead,
        analysis: settings.analysis.clone(),
        limits: Limits::default(),
        check: true,
    };
    let made = catch_unwind(AssertUnwindSafe(|| {
        let purpose = input.purpose.clone();
        generate_for(Conformance::Ioco, &input.specification, purpose, &options, &mut solver, &mut |_| {})
    }));
    match made {
        Err(panic) => {
            let said = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            report.note(IOCO, Err(format!("a stage panics: {said}")));
        }
        Ok(Ok(made)) if made.test_graph.is_purpose_reachable() => {
            report.count("ioco: test cases", 1);
            implementations(&made.test_case, &known, delta, settings, report);
        }
        Ok(Ok(_)) => report.count("ioco: empty test graphs", 1),
        Ok(Err(_)) => report.count("ioco: stopped", 1),
    }
}

/// Has the state neither an output nor an internal step?
fn is_quiescent(graph: &Graph, state: usize, alphabet: &Alphabet, delta: EventId) -> bool {
    graph.internal[state].is_empty()
        && !graph.visible[state].iter().any(|(event, _)| *event != delta && alphabet.is_output(*event))
}

/// The system with quiescence as an event (Definition 3.9).
fn suspended(graph: &Graph, alphabet: &Alphabet, delta: EventId) -> Graph {
    let mut graph = graph.clone();
    for state in 0..graph.visible.len() {
        if is_quiescent(&graph, state, alphabet, delta) {
            graph.visible[state].push((delta, state as u32));
        }
    }
    graph
}

/// What is known of the pair, over suspension traces.
fn with_delta(known: &Known, made: &Suspended, delta: EventId) -> Known {
    let name = made.iosts.action(made.quiescence).name.clone();
    let mut alphabet = known.alphabet.clone();
    alphabet.letters.push(Letter { action: name.clone(), values: Vec::new(), output: true });
    alphabet.of_action.insert(name, vec![delta]);
    let instances = known.instances.iter().map(|instance| Instance {
        constants: instance.constants.clone(),
        specification: System {
            states: instance.specification.states.clone(),
            graph: suspended(&instance.specification.graph, &alphabet, delta),
        },
        both: System {
            states: instance.both.states.clone(),
            graph: suspended(&instance.both.graph, &alphabet, delta),
        },
        accepting: instance.accepting.clone(),
        alive: instance.alive.clone(),
    });
    Known { pair: known.pair.clone(), instances: instances.collect(), alphabet }
}

/// The test case against the specification, mutants of its states, and ones that are silent where it is not.
fn implementations(case: &TestCase, known: &Known, delta: EventId, settings: &Settings, report: &mut Report) {
    let machine = artifact::machine(&case.iosts);
    let (alphabet, limit) = (&known.alphabet, settings.limits.walk);
    for (at, instance) in known.instances.iter().enumerate() {
        let concrete = Concrete::new(&known.pair.specification, &instance.constants, alphabet);
        let Ok(plain) = concrete.explore(settings.limits.states) else { continue };
        let Some(system) = explored(&machine, instance, known, settings, report) else { continue };
        let tests = tester(&system, &case.verdicts);
        let mut random = Random::new(settings.seed ^ 0x0069_6f63_6f00 ^ ((at as u64) << 40));
        let mut all = vec![("the specification", Some(plain.graph.clone()))];
        for _ in 0..EACH {
            all.push(("a silent mutant", silenced(&mut random, &plain.graph, alphabet, delta)));
            all.push((
                "a mutant",
                explicit::mutant(&mut random, &plain.graph, &without(alphabet, delta))
                    .map(|(_, graph)| graph),
            ));
        }
        for (name, iut) in all {
            let Some(iut) = iut else { continue };
            let iut = suspended(&input_complete(&iut, &without(alphabet, delta)), alphabet, delta);
            let conforms = ioc(&instance.specification.graph, &iut, alphabet, limit);
            let relatively = ioc_tp(instance, &iut, alphabet, limit);
            let runs = execute(instance, &tests, &iut, alphabet, limit);
            let fail = runs.verdicts.get(&Verdict::Fail);
            let about = |text: String| Err(format!("{name}, with {:?}: {text}", instance.constants));
            let outcome = match (&runs.wrong, &conforms, &relatively, fail) {
                (Some((trace, message)), ..) => about(format!("after {}: {message}", alphabet.show(trace))),
                (None, Outcome::Done, _, Some(trace)) => {
                    about(format!("conforms (ioco), and Fail after {}", alphabet.show(trace)))
                }
                (None, _, Outcome::Found(trace, message), None) if !runs.cut => {
                    about(format!("does not conform: after {}: {message}; never Fail", alphabet.show(trace)))
                }
                _ => Ok(()),
            };
            report.note(IOCO, outcome);
            report.count("ioco: implementations", 1);
            report.count("ioco: implementations that conform", usize::from(conforms == Outcome::Done));
            let by_silence = fail.is_some_and(|trace| trace.last() == Some(&delta));
            report.count("ioco: Fail by silence", usize::from(by_silence));
            let is_found = matches!(relatively, Outcome::Found(..)) && fail.is_some();
            report.count("ioco: not ioco_TP, and found", usize::from(is_found));
        }
    }
}

/// The alphabet of what is not suspended.
fn without(alphabet: &Alphabet, delta: EventId) -> Alphabet {
    let mut plain = alphabet.clone();
    plain.letters.truncate(delta as usize);
    plain.of_action.retain(|_, events| !events.contains(&delta));
    plain
}

/// The system without the outputs of one state that has some.
fn silenced(random: &mut Random, graph: &Graph, alphabet: &Alphabet, delta: EventId) -> Option<Graph> {
    let loud: Vec<usize> = (0..graph.visible.len())
        .filter(|state| {
            graph.visible[*state].iter().any(|(event, _)| *event != delta && alphabet.is_output(*event))
        })
        .collect();
    let state = *random.pick(&loud)?;
    let mut graph = graph.clone();
    graph.visible[state].retain(|(event, _)| !alphabet.is_output(*event));
    Some(graph)
}
