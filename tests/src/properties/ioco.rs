//! ioco: the suspended specification, its test cases and their verdicts, against brute force over suspension
//! traces.
//!
//! Brute force adds quiescence to explicit systems by its definition (3.9): a loop at each state without an
//! output and without an internal step. Over the alphabet with that event, ioco is ioc, and all that is known
//! of test cases for ioc must hold of those for ioco: conforming implementations never get Fail, silent ones
//! among them, and those that do not conform relative to the purpose can. The same for purposes that name
//! quiescence, whose product is made here on explicit systems.

use std::panic::{AssertUnwindSafe, catch_unwind};

use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::iosts::{Iosts, QUIESCENCE, TestPurpose};
use coreach_model::reader::{Specification, from_bytes, read_purpose};
use coreach_pipeline::artifact::{CaseGraph, Verdict};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::suspend::{Suspended, suspend};
use coreach_pipeline::{Conformance, StageOptions, generate_for};

use super::online::held;
use super::test_case::{explored, tester};
use super::{IOCO, Known, ONLINE, Report, SUSPENDED, Settings};
use crate::brute::EventId;
use crate::brute::alphabet::{Alphabet, Letter};
use crate::brute::artifact;
use crate::brute::conformance::{ioc, ioc_tp};
use crate::brute::execution::{execute, input_complete};
use crate::brute::explore::{Concrete, Graph, System, coreachable, explore};
use crate::brute::pair::{Instance, PairState, Place};
use crate::brute::walk::Outcome;
use crate::generator::random::Random;
use crate::mutants::explicit;
use crate::source::Input;

/// How many implementations of each kind meet a test case.
const EACH: u64 = 4;

/// Checks a pair under ioco.
pub fn ioco(input: &Input, known: &Known, settings: &Settings, report: &mut Report) {
    if ![SUSPENDED, IOCO, ONLINE].into_iter().any(|property| settings.wants(property)) {
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
    if !settings.wants(IOCO) && !settings.wants(ONLINE) {
        return;
    }
    tested(input.specification.clone(), input.purpose.clone(), &known, delta, settings, report);
    if let Some((purpose, known)) = quiet_purpose(&input.specification, &known, delta, settings.seed) {
        report.count("ioco: purposes that name quiescence", 1);
        tested(input.specification.clone(), purpose, &known, delta, settings, report);
    }
}

/// The test case of a purpose, against implementations.
fn tested(
    specification: Iosts,
    purpose: TestPurpose,
    known: &Known,
    delta: EventId,
    settings: &Settings,
    report: &mut Report,
) {
    if settings.wants(ONLINE) {
        held(Conformance::Ioco, (&specification, &purpose), known, Some(delta), settings, report);
    }
    if !settings.wants(IOCO) {
        return;
    }
    let options = StageOptions {
        max_lookahead: settings.max_lookahead,
        analysis: settings.analysis.clone(),
        limits: Limits::default(),
        check: true,
    };
    let made = catch_unwind(AssertUnwindSafe(|| {
        let mut solver = Z3Solver::default();
        generate_for(Conformance::Ioco, &specification, purpose, &options, &mut solver, &mut |_| {})
    }));
    match made {
        Err(panic) => {
            let said = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            report.note(IOCO, Err(format!("a stage panics: {said}")));
        }
        Ok(Ok(made)) if made.test_graph.is_purpose_reachable() => {
            report.count("ioco: test cases", 1);
            implementations(&made.test_case, known, delta, settings, report);
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

/// A purpose of a few locations that says of some actions, and of quiescence, where they lead; and what is
/// known with it. It has no data, so that its product with an explicit system is one line of the definition:
/// what it says nothing of lets it stay.
fn quiet_purpose(
    specification: &Iosts,
    known: &Known,
    delta: EventId,
    seed: u64,
) -> Option<(TestPurpose, Known)> {
    const PLACES: [&str; 4] = ["Begin", "Then", "Reject", "Accept"];
    let (accept, reject) = (3, 2);
    let mut random = Random::new(seed ^ 0x0071_7569_6574);
    let visible = specification.actions.iter().filter(|action| action.is_visible());
    let actions: Vec<&str> = visible.map(|action| action.name.as_str()).chain([QUIESCENCE]).collect();
    let mut steps = vec![(random.below(2), QUIESCENCE, *random.pick(&[1, 1, reject, accept])?)];
    for _ in 0..4 {
        steps.push((random.below(2), *random.pick(&actions)?, random.below(PLACES.len())));
    }
    let last = if random.below(2) == 0 { QUIESCENCE } else { *random.pick(&actions)? };
    steps.push((1, last, accept));
    let mut text = format!(
        "purpose: quiet\nof: {}\nlocations: [{}]\ninitial: {{ location: Begin }}\ntransitions:\n",
        specification.name,
        PLACES.join(", ")
    );
    for (from, on, to) in &steps {
        text += &format!("  - {{ from: {}, to: {}, on: {on} }}\n", PLACES[*from], PLACES[*to]);
    }
    let file = from_bytes("quiet.yaml".to_owned(), text.into_bytes()).ok()?;
    let of = Specification { iosts: specification.clone(), types: Vec::new(), functions: Vec::new() };
    let (purpose, _) = read_purpose(file, &of).ok()?;

    let event = |of: &str| match of {
        QUIESCENCE => vec![delta],
        name => known.alphabet.of_action.get(name).cloned().unwrap_or_default(),
    };
    let follows = |place: usize, seen: EventId| -> Vec<usize> {
        let said = steps.iter().filter(|(from, on, _)| *from == place && event(on).contains(&seen));
        let to: Vec<usize> = said.map(|(.., to)| *to).collect();
        if to.is_empty() { vec![place] } else { to }
    };
    let instances = known.instances.iter().filter_map(|instance| {
        let graph = &instance.specification.graph;
        let initial = graph.initial.iter().map(|state| (*state, 0)).collect();
        let both = explore(initial, usize::MAX, |&(state, place): &(u32, usize)| {
            let visible = graph.visible[state as usize].iter().flat_map(|&(event, to)| {
                follows(place, event).into_iter().map(move |next| (Some(event), (to, next)))
            });
            let internal = graph.internal[state as usize].iter().map(|to| (None, (*to, place)));
            visible.chain(internal).collect()
        });
        let System { states, graph } = both.ok()?;
        let accepting: Vec<bool> = states.iter().map(|(_, place)| *place == accept).collect();
        let alive = coreachable(&graph, &accepting);
        let pair = |(state, place): (u32, usize)| PairState {
            specification: instance.specification.states[state as usize].clone(),
            place: Place::At(place as u32),
            own: Vec::new(),
        };
        Some(Instance {
            constants: instance.constants.clone(),
            specification: instance.specification.clone(),
            both: System { states: states.into_iter().map(pair).collect(), graph },
            accepting,
            alive,
        })
    });
    let instances = instances.collect();
    Some((purpose, Known { pair: known.pair.clone(), instances, alphabet: known.alphabet.clone() }))
}

/// The test case against the specification, mutants of its states, and ones that are silent where it is not.
fn implementations(
    case: &CaseGraph,
    known: &Known,
    delta: EventId,
    settings: &Settings,
    report: &mut Report,
) {
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
