//! Mutants as goals on random finite systems: who must fail fails, and who is said to conform does nothing
//! that its specification would not do, by brute force.

use std::collections::BTreeSet;
use std::time::Duration;

use coreach_adapters::in_process::InProcess;
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::simulated::Simulated;
use coreach_execution::strategy::Strategy;
use coreach_execution::{Settings, TestCase, TestSession, judge};
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::reader::Specification;
use coreach_model::semantics::{Event, State, internal_closure, step};
use coreach_model::{Value, Verdict};
use coreach_project::cover::{Criterion, Fate, Goal};
use coreach_tests::generator::generate;
use coreach_tests::symbolic::cover::{found, test_case, values};
use coreach_tests::symbolic::tree::initial;
use coreach_tests::text;

use super::cover::{read, shape};

/// More sets of states are not gone through.
const MOST: usize = 1500;

/// Where a system may be behind an event; as an implementation it ignores what it does not take, also not
/// behind internal steps.
fn after(iosts: &Iosts, states: &BTreeSet<State>, event: &Event, ignores: bool) -> BTreeSet<State> {
    let mut next = BTreeSet::new();
    for state in states {
        let own = internal_closure(iosts, BTreeSet::from([state.clone()]));
        let taken: BTreeSet<State> = own.iter().flat_map(|state| step(iosts, state, event)).collect();
        if taken.is_empty() && ignores {
            next.insert(state.clone());
        }
        next.extend(taken);
    }
    internal_closure(iosts, next)
}

/// Does the mutant do what the specification does not allow; `is_strange`: and would not do as a system, when
/// stimuli cross its steps? Unknown where there are too many sets of states.
fn differs(specification: &Iosts, mutant: &Iosts, is_strange: bool) -> Option<bool> {
    let mut events = BTreeSet::new();
    for (number, transition) in mutant.transitions.numbered() {
        let action = mutant.action(transition.action);
        if action.is_visible() {
            for values in values(mutant, number)? {
                events.insert((action.kind == ActionKind::Input, Event::new(action.name.clone(), values)));
            }
        }
    }
    let begin = |iosts: &Iosts| Some(internal_closure(iosts, initial(iosts)?.into_iter().collect()));
    let start = (begin(specification)?, begin(specification)?, begin(mutant)?);
    let (mut open, mut seen) = (vec![start.clone()], BTreeSet::from([start]));
    while let Some((allowed, itself, actual)) = open.pop() {
        for (is_input, event) in &events {
            let next = (
                after(specification, &allowed, event, false),
                after(specification, &itself, event, *is_input),
                after(mutant, &actual, event, *is_input),
            );
            if !is_input && !next.2.is_empty() && next.0.is_empty() && (!is_strange || next.1.is_empty()) {
                return Some(true);
            }
            if next.0.is_empty() || next.2.is_empty() {
                continue;
            }
            if seen.len() > MOST {
                return None;
            }
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Some(false)
}

/// Verdicts of some runs, those that begin with other constants left out.
fn verdicts(test: &TestCase, begin: &State, iut: &Iosts) -> Vec<Option<Verdict>> {
    let moment = Duration::from_millis(1);
    let settings = Settings { quiescence: moment, patience: moment, steps: 40, ..Settings::default() };
    let mut found = Vec::new();
    for seed in 0..8 {
        let Ok(initial) = initial_state(test, &Default::default(), seed, &mut Lazy::default()) else {
            break;
        };
        let value = |name: &str| -> Option<&Value> {
            begin.valuation.iter().find(|(datum, _)| datum.name() == name).map(|(_, value)| value)
        };
        let constants = test.constants_in(&initial);
        if constants.iter().any(|(datum, chosen)| value(datum.name()).is_some_and(|known| known != chosen)) {
            continue;
        }
        let run = TestSession {
            judge: judge::make_judge(test, initial, None).as_mut(),
            settings: &settings,
            adapter: &mut InProcess(Simulated::new(iut.clone(), Lazy::default())),
        }
        .run(seed, Strategy::plan());
        found.push(run.outcome.verdict());
    }
    found
}

/// What was looked at, to see that it was looked at.
#[derive(Default, Debug)]
struct Seen {
    must: usize,
    may: usize,
    failed: usize,
    conforming: usize,
    unknown: usize,
}

/// Soundness: of what is said of a mutant.
fn compare(specification: &Specification, mutants: usize, name: &str, seen: &mut Seen) {
    let iosts = &specification.iosts;
    let cover = found(specification, vec![Criterion::Faults(mutants)], 0);
    let mut names = BTreeSet::new();
    let tests: Vec<Option<TestCase>> =
        cover.suite.iter().map(|member| test_case(iosts, member).unwrap()).collect();
    for (number, one) in cover.goals.iter().enumerate() {
        let Goal::Fault(fault) = &one.goal else { panic!() };
        // Its name tells it from all others.
        assert!(names.insert(&fault.change), "{name}: {}", fault.change);
        let mutant = fault.iosts.as_ref().unwrap();
        let said = || format!("{name}: {}", fault.change);
        match &one.fate {
            Fate::Covered(own) => {
                assert_ne!(differs(iosts, mutant, false), Some(false), "{}", said());
                for (member, test) in cover.suite.iter().zip(&tests) {
                    let Some(test) = test.as_ref().filter(|_| member.chosen.goals.contains(&number)) else {
                        continue;
                    };
                    let verdicts = verdicts(test, &member.chosen.found.evidence.initial, mutant);
                    let fails = verdicts.iter().filter(|one| **one == Some(Verdict::Fail)).count();
                    if own.is_certain {
                        seen.must += usize::from(fails > 0);
                        let text = &member.written.text;
                        assert_eq!(fails, verdicts.len(), "{}: {verdicts:?}\n{text}", said());
                    } else {
                        seen.may += 1;
                        seen.failed += usize::from(fails > 0);
                    }
                }
            }
            Fate::Unreachable(why) => {
                seen.conforming += 1;
                assert_ne!(differs(iosts, mutant, true), Some(true), "{}: {why}", said());
            }
            Fate::Unknown(_) | Fate::Open => seen.unknown += 1,
        }
    }
}

#[test]
fn what_is_said_of_mutants_of_random_systems_holds() {
    let mut seen = Seen::default();
    for seed in 4..24u64 {
        let Some(specification) = read(text::specification(&generate(seed, &shape()))) else { continue };
        compare(&specification, 8, &format!("seed {seed}"), &mut seen);
    }
    println!("{seen:?}");
    assert!(seen.conforming > 20 && seen.may > 0, "{seen:?}");
}

#[test]
fn who_must_differ_fails_each_run() {
    let mut seen = Seen::default();
    for name in ["coffee_machine", "locker"] {
        let path = format!("{}/../examples/{name}/specification.yaml", env!("CARGO_MANIFEST_DIR"));
        compare(&read(std::fs::read_to_string(path).unwrap()).unwrap(), 60, name, &mut seen);
    }
    println!("{seen:?}");
    // Precision.
    assert!(seen.must > 15 && seen.failed > 10 && seen.conforming > 20, "{seen:?}");
}
