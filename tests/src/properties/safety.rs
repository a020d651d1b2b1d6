//! Safety properties: what `verify` says against exact reachability, and the test case of a property against
//! every trace.
//!
//! The property is drawn here as an automaton over valued actions, which brute force follows by itself: the
//! stages read the text that is made of it. Like a user's it says nothing of most events, and is now and then
//! nondeterministic.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use coreach_analyses::solver::Solver;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::SearchLimits;
use coreach_model::TestPurpose;
use coreach_model::iosts::Aim;
use coreach_model::reader::{from_bytes, read_aimed, read_specification};
use coreach_model::term::evaluate::Valuation;
use coreach_pipeline::artifact::{CaseGraph, Verdict, Violated};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::verify::{Proof, PropertyViolation, Verified, verify};
use coreach_pipeline::{StageOptions, generate};

use super::doubtful::Doubtful;
use super::stages::told;
use super::test_case::{explored, tester};
use super::{Known, ONLINE, PROPERTY_TESTED, Report, SAFETY, Settings, online_safety};
use crate::brute::EventId;
use crate::brute::alphabet::Alphabet;
use crate::brute::artifact;
use crate::brute::execution::verdict_of;
use crate::brute::explore::{Graph, State, System};
use crate::brute::pair::Instance;
use crate::brute::subsets::Subsets;
use crate::brute::walk::walk;
use crate::generator::Pair;
use crate::generator::random::Random;
use crate::text;

/// The nodes of the search for a violation.
const NODES: usize = 3000;

/// A property as an automaton over events. Its last location is `Violate`.
#[derive(Debug)]
pub(super) struct Observer {
    locations: u32,
    /// From, by, to; what is not said stays.
    steps: Vec<(u32, EventId, u32)>,
    pub(super) text: String,
}

impl Observer {
    fn violate(&self) -> u32 {
        self.locations
    }

    /// Where it begins.
    pub(super) fn start(&self) -> BTreeSet<u32> {
        BTreeSet::from([0])
    }

    /// Where it may be after an event.
    pub(super) fn after(&self, from: &BTreeSet<u32>, event: EventId) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for &at in from {
            let taken = self.steps.iter().filter(|(source, by, _)| (*source, *by) == (at, event));
            let targets: Vec<u32> = taken.map(|(.., target)| *target).collect();
            if targets.is_empty() {
                found.insert(at);
            }
            found.extend(targets);
        }
        found
    }

    pub(super) fn is_violated(&self, at: &BTreeSet<u32>) -> bool {
        at.contains(&self.violate())
    }
}

/// A random property of the specification.
fn draw(random: &mut Random, name: &str, alphabet: &Alphabet) -> Option<Observer> {
    let locations = random.between((1, 3)) as u32;
    let mut text = format!("property: never\nof: {name}\ninitial: {{ location: P0 }}\ntransitions:\n");
    let mut steps = Vec::new();
    let mut into_violate = 0;
    for number in 0..random.between((1, 6)) {
        let source = random.below(locations as usize) as u32;
        let event = random.below(alphabet.letters.len()) as EventId;
        let letter = &alphabet.letters[event as usize];
        let wants_violate = random.chance(45) || number == 0;
        let target =
            if wants_violate && letter.output { locations } else { random.below(locations as usize) as u32 };
        into_violate += usize::from(target == locations);
        let name = |at: u32| if at == locations { "Violate".to_owned() } else { format!("P{at}") };
        // Writing to a string does not fail.
        let _ = write!(text, "  - {{ from: {}, to: {}, on: ", name(source), name(target));
        let values: Vec<String> = letter.values.iter().map(ToString::to_string).collect();
        let is_scalar =
            |value: &String| value.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if random.chance(60) && !values.is_empty() && values.iter().all(is_scalar) {
            let parameters: Vec<String> = (0..values.len()).map(|at| format!("q{at}")).collect();
            let parts: Vec<String> =
                parameters.iter().zip(&values).map(|(name, value)| format!("{name} == {value}")).collect();
            let (parameters, guard) = (parameters.join(", "), parts.join(" && "));
            let _ = writeln!(text, "\"{}({parameters})\", when: \"{guard}\" }}", letter.action);
            steps.push((source, event, target));
        } else {
            let _ = writeln!(text, "{} }}", letter.action);
            steps.extend(alphabet.of_action[&letter.action].iter().map(|event| (source, *event, target)));
        }
    }
    (into_violate > 0).then_some(Observer { locations, steps, text })
}

/// Draws a property and checks what is made of it.
pub fn safety(pair: &Pair, known: &Known, settings: &Settings, report: &mut Report) {
    if ![SAFETY, PROPERTY_TESTED, ONLINE].into_iter().any(|property| settings.wants(property)) {
        return;
    }
    let mut random = Random::new(settings.seed ^ 0x7361_6665);
    let name = &pair.specification.name;
    let Some(observer) = draw(&mut random, name, &known.alphabet) else { return };
    let read = |text: String| from_bytes("file".to_owned(), text.into_bytes()).map_err(|found| vec![found]);
    let models =
        read(text::specification(pair)).and_then(read_specification).and_then(|(specification, _)| {
            // Locations of a few letters are near to each other, and some are met nowhere else: no more than
            // warnings here.
            let property =
                read(observer.text.clone()).and_then(|file| read_aimed(file, &specification, Aim::Violate));
            property.map(|(property, _)| (specification.iosts, property))
        });
    let (specification, property) = match models {
        Ok(models) => models,
        Err(found) if found.iter().all(|one| !one.is_error() || one.code == "misspelt-location") => return,
        Err(found) => {
            report.note(SAFETY, Err(format!("a property is not read: {}\n{found:#?}", observer.text)));
            return;
        }
    };
    let options = StageOptions {
        max_lookahead: settings.max_lookahead,
        analysis: settings.analysis.clone(),
        limits: Limits::default(),
        check: true,
    };
    let limits = SearchLimits { nodes: NODES, ..SearchLimits::default() };
    let mut solver: Box<dyn Solver> = match settings.doubt {
        Some(doubt) => Box::new(Doubtful::new(doubt)),
        None => Box::new(Z3Solver::default()),
    };
    if settings.wants(SAFETY) {
        match verify(&specification, &property, &options, &limits, solver.as_mut(), &mut |_| {}) {
            Ok(verified) => is_right(&verified, &property, &observer, known, report),
            Err(_) => report.count("properties: stopped", 1),
        }
    }
    if settings.wants(ONLINE) {
        online_safety::judge(&specification, &property, &observer, known, settings, report);
    }
    if settings.wants(PROPERTY_TESTED) {
        // What a stage left in doubt is not held against its check, which knows.
        let made = catch_unwind(AssertUnwindSafe(|| {
            generate(&specification, property, &options, &mut Z3Solver::default(), &mut |_| {})
        }));
        let Ok(made) = made else {
            report.note(PROPERTY_TESTED, Err(format!("a stage panics\n{}", observer.text)));
            return;
        };
        match made {
            Ok(made) if made.test_graph.is_purpose_reachable() => {
                report.count("properties: test cases", 1);
                tested(&made.test_case, &observer, known, settings, report);
            }
            Ok(_) => {
                report.count("properties: nothing can violate", 1);
                let outcome = match violations(&observer, known, settings.limits.walk, true) {
                    Some(trace) => {
                        Err(format!("no test case, and {trace} violates the property\n{}", observer.text))
                    }
                    None => Ok(()),
                };
                report.note(PROPERTY_TESTED, outcome);
            }
            Err(_) => report.count("properties: no test case, stopped", 1),
        }
    }
}

/// Holds an answer against what brute force reaches.
fn is_right(
    verified: &Verified,
    property: &TestPurpose,
    observer: &Observer,
    known: &Known,
    report: &mut Report,
) {
    let reached: Vec<Option<usize>> =
        known.instances.iter().map(|instance| least(&instance.specification.graph, observer)).collect();
    let outcome = match verified {
        Verified::Proved(proof) => {
            let what = match proof {
                Proof::Facts(_) => "properties: proved by facts",
                Proof::Paths => "properties: proved by paths",
            };
            report.count(what, 1);
            let wrong = known.instances.iter().zip(&reached).find(|(_, reached)| reached.is_some());
            wrong.map_or(Ok(()), |(instance, _)| {
                Err(format!(
                    "{what}, and a run violates it, with {:?}\n{}",
                    instance.constants, observer.text
                ))
            })
        }
        Verified::Violated(violation) => {
            report.count("properties: violated", 1);
            let same =
                known.instances.iter().zip(&reached).find(|(instance, _)| has(instance, &violation.initial));
            match same {
                None => Ok(()),
                Some((_, None)) => Err(format!("violated, and no run violates it\n{}", observer.text)),
                Some((instance, Some(fewest))) => {
                    report.count(
                        "properties: violated, by the fewest steps",
                        usize::from(violation.steps.len() == *fewest),
                    );
                    report.count("properties: violated, looked at", 1);
                    is_run(violation, instance, observer, known)
                }
            }
        }
        Verified::Unknown(_) => {
            report.count("properties: unknown", 1);
            Ok(())
        }
    };
    debug_assert_eq!(property.iosts.name, "never");
    report.note(SAFETY, outcome);
}

/// Is it the instance with these constants?
fn has(instance: &Instance, initial: &Valuation) -> bool {
    instance.constants.iter().all(|(name, value)| {
        let found = initial.iter().find(|(datum, _)| datum.name() == name);
        found.is_none_or(|(_, other)| other.to_string() == value.to_string())
    })
}

/// Is what is seen of a violation a trace of the specification that violates the property?
fn is_run(
    violation: &PropertyViolation,
    instance: &Instance,
    observer: &Observer,
    known: &Known,
) -> Result<(), String> {
    let mut sets = Subsets::new(&instance.specification.graph);
    let mut set = sets.start();
    let mut at = BTreeSet::from([0]);
    for event in violation.events() {
        let values: Vec<String> = event.values.iter().map(ToString::to_string).collect();
        let of_action = known.alphabet.of_action.get(&event.action).into_iter().flatten();
        let found = of_action.copied().find(|id| {
            let letter = &known.alphabet.letters[*id as usize];
            letter.values.iter().map(ToString::to_string).eq(values.iter().cloned())
        });
        let Some(found) = found else { return Ok(()) };
        at = observer.after(&at, found);
        set = set.and_then(|set| sets.next(set).get(&found).copied());
    }
    match (set, observer.is_violated(&at)) {
        (Some(_), true) => Ok(()),
        (None, _) => Err(format!("the run that violates it is none of the specification\n{}", observer.text)),
        (_, false) => Err(format!("the run does not violate it\n{}", observer.text)),
    }
}

/// The fewest steps, internal ones included, with which the specification violates the property.
fn least(graph: &Graph, observer: &Observer) -> Option<usize> {
    let starts: Vec<(u32, u32)> = graph.initial.iter().map(|state| (*state, 0)).collect();
    let mut seen: HashSet<(u32, u32)> = starts.iter().copied().collect();
    let mut work: VecDeque<((u32, u32), usize)> = starts.into_iter().map(|start| (start, 0)).collect();
    while let Some(((state, at), steps)) = work.pop_front() {
        if at == observer.violate() {
            return Some(steps);
        }
        let internal = graph.internal[state as usize].iter().map(|target| (*target, at));
        let visible = graph.visible[state as usize].iter().flat_map(|(event, target)| {
            observer.after(&BTreeSet::from([at]), *event).into_iter().map(|next| (*target, next))
        });
        for next in internal.chain(visible) {
            if seen.insert(next) {
                work.push_back((next, steps + 1));
            }
        }
    }
    None
}

/// A trace after which an output violates the property, be it allowed or not; in some instance that is known.
pub(super) fn violations(
    observer: &Observer,
    known: &Known,
    limit: usize,
    forbidden: bool,
) -> Option<String> {
    known.instances.iter().find_map(|instance| {
        let mut sets = Subsets::new(&instance.specification.graph);
        let start = (sets.start()?, BTreeSet::from([0]));
        violation_behind(&mut sets, start, observer, &known.alphabet, limit, forbidden)
    })
}

/// The same from here.
pub(super) fn violation_behind(
    sets: &mut Subsets<'_>,
    start: (u32, BTreeSet<u32>),
    observer: &Observer,
    alphabet: &Alphabet,
    limit: usize,
    forbidden: bool,
) -> Option<String> {
    let mut seen = HashSet::from([start.clone()]);
    let mut work = VecDeque::from([(start, Vec::new())]);
    while let Some(((set, at), trace)) = work.pop_front() {
        let next = sets.next(set);
        for event in alphabet.events() {
            let behind = observer.after(&at, event);
            let mut longer: Vec<EventId> = trace.clone();
            longer.push(event);
            if observer.is_violated(&behind) {
                if alphabet.is_output(event) && (forbidden || next.contains_key(&event)) {
                    return Some(alphabet.show(&longer));
                }
                continue;
            }
            let Some(&target) = next.get(&event) else { continue };
            if seen.len() < limit && seen.insert((target, behind.clone())) {
                work.push_back(((target, behind), longer));
            }
        }
    }
    None
}

/// Every trace of the test case: it goes on along the specification, takes every output, and each verdict is
/// what the table of `pipeline/src/violations.rs` says.
fn tested(case: &CaseGraph, observer: &Observer, known: &Known, settings: &Settings, report: &mut Report) {
    let machine = artifact::machine(&case.iosts);
    let alphabet = &known.alphabet;
    let violates: BTreeMap<u32, Violated> = case.violated.iter().map(|(at, how)| (at.0, *how)).collect();
    for instance in &known.instances {
        let Some(system) = explored(&machine, instance, known, settings, report) else { continue };
        let tester = tester(&system, &case.verdicts);
        let (mut tests, mut specified) =
            (Subsets::new(tester.graph), Subsets::new(&instance.specification.graph));
        let (Some(test), Some(start)) = (tests.start(), specified.start()) else {
            report.note(PROPERTY_TESTED, Ok(()));
            continue;
        };
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        let outcome =
            walk((test, Some(start), BTreeSet::from([0])), settings.limits.walk, |(test, set, at)| {
                let states = tests.states(*test);
                let Some(verdict) = verdict_of(&tester, &states) else {
                    if observer.is_violated(at) || set.is_none() {
                        return Err("no verdict, and it should end".to_owned());
                    }
                    let (next, there) = (tests.next(*test), set.map(|set| specified.next(set)));
                    for event in alphabet.events().filter(|event| alphabet.is_output(*event)) {
                        if !next.contains_key(&event) {
                            return Err(format!("{} is not taken", alphabet.show(&[event])));
                        }
                    }
                    let behind = next.iter().map(|(event, test)| {
                        let set = there.as_ref().and_then(|there| there.get(event).copied());
                        (*event, (*test, set, observer.after(at, *event)))
                    });
                    return Ok(behind.collect());
                };
                let how = how(&system, &violates, &states);
                let (what, is_right) = match (verdict, how) {
                    (Verdict::Fail, Some(Violated::Allowed)) => {
                        ("allowed violations", set.is_some() && observer.is_violated(at))
                    }
                    (Verdict::Fail, Some(Violated::Forbidden)) => {
                        ("forbidden violations", set.is_none() && observer.is_violated(at))
                    }
                    (Verdict::Fail, None) => ("other Fail", set.is_none() && !observer.is_violated(at)),
                    (Verdict::Inconclusive, None) => {
                        let behind = set.and_then(|set| {
                            let start = (set, at.clone());
                            violation_behind(
                                &mut specified,
                                start,
                                observer,
                                alphabet,
                                settings.limits.walk,
                                true,
                            )
                        });
                        if let Some(trace) = behind {
                            return Err(format!("Inconclusive, and then {trace} violates the property"));
                        }
                        ("Inconclusive", set.is_some() && !observer.is_violated(at))
                    }
                    _ => ("a verdict that there is not", false),
                };
                *counts.entry(what).or_default() += 1;
                if is_right { Ok(Vec::new()) } else { Err(format!("{what}: wrong")) }
            });
        for (what, count) in counts {
            let what = match what {
                "allowed violations" => "properties: traces to Violate",
                "forbidden violations" => "properties: traces to ViolateFail",
                "Inconclusive" => "properties: traces to Inconclusive",
                _ => "properties: traces to Fail",
            };
            report.count(what, count);
        }
        let outcome = told(outcome, instance, alphabet);
        report.note(PROPERTY_TESTED, outcome.map_err(|text| format!("{text}\n{}", observer.text)));
    }
}

/// How the property is violated at these states of the test case.
fn how(system: &System<State>, violates: &BTreeMap<u32, Violated>, states: &[u32]) -> Option<Violated> {
    let state = states.first()?;
    violates.get(&system.states[*state as usize].location).copied()
}
