//! Tests of ioco that are run: implementations that differ from their specification in silence, or behind it,
//! are found by every strategy, and those that conform never fail.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use coreach_adapters::description::Link;
use coreach_adapters::in_process::InProcess;
use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::TreeLimits;
use coreach_execution::campaign::StrategyKind;
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::run::Cause;
use coreach_execution::simulated::Simulated;
use coreach_execution::{Outcome, Settings, TestCase, TestSession, judge};
use coreach_model::reader::{from_bytes, read_purpose, read_specification};
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::{Iosts, Term, Value, Verdict};
use coreach_pipeline::export::{ExportOptions, Format, View, export};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::suspend::suspend;
use coreach_pipeline::{Conformance, Stage, StageOptions, generate_for};
use coreach_project::cover;
use coreach_project::cover::report::make_document;
use coreach_project::project::load;
use coreach_tests::generator::random::Random;

use crate::programs::Folder;

mod suites;

fn model(text: &str) -> Iosts {
    let file = from_bytes("model.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
    read_specification(file).unwrap_or_else(|found| panic!("{text}\n{found:#?}")).0.iosts
}

/// The test case of ioco, as it is read from its document; `None` where a stage stops, or no run can meet the
/// purpose.
fn test_case(specification: &str, purpose: &str) -> Option<TestCase> {
    let file = |text: &str| from_bytes("text.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
    let (read, _) = read_specification(file(specification)).unwrap();
    let (purpose, _) =
        read_purpose(file(purpose), &read).unwrap_or_else(|found| panic!("{purpose}\n{found:#?}"));
    let options = StageOptions {
        max_lookahead: 8,
        analysis: Analysis::default(),
        limits: Limits::default(),
        check: true,
    };
    let mut solver = Z3Solver::default();
    let made =
        generate_for(Conformance::Ioco, &read.iosts, purpose, &options, &mut solver, &mut |_| {}).ok()?;
    let view = View::of(&made, Stage::InputComplete);
    let document = export(&view, Format::Json, ExportOptions::default()).unwrap();
    TestCase::from_json(document.as_bytes()).ok()
}

/// How often each verdict comes of so many runs.
fn verdicts(
    test: &TestCase,
    system: &Iosts,
    strategy: StrategyKind,
    link: Option<Duration>,
    runs: u64,
) -> BTreeMap<&'static str, usize> {
    let mut found = BTreeMap::new();
    let initial = initial_state(test, &Default::default(), 1, &mut Lazy::default()).unwrap();
    let mut judge = judge::make_judge(test, initial, link.map(Link::delayed));
    for seed in 0..runs {
        let run = TestSession {
            judge: judge.as_mut(),
            settings: &Settings { steps: 40, ..Settings::default() },
            adapter: &mut InProcess(Simulated::new(system.clone(), Lazy::default())),
        }
        .run(seed, strategy.start());
        let is_fail = matches!(run.outcome, Outcome::Verdict(Verdict::Fail, _));
        if matches!(run.outcome, Outcome::Verdict(Verdict::Fail, Cause::Silence(_))) {
            found.insert("silent", 1);
        }
        *found.entry(run.outcome.name()).or_default() += 1;
        if is_fail {
            break;
        }
    }
    found
}

/// A machine that a kick brings to its senses: it serves tea at once, or coffee after another button, and is
/// silent in between.
const QUIRKY: &str = "
iosts: quirky
initial: { location: Ready }
inputs: { Button: {} }
outputs: { Tea: {}, Coffee: {} }
transitions:
  - { from: Ready, to: Serves, on: Button }
  - { from: Ready, to: Stuck, on: Button }
  - { from: Serves, to: Served, on: Tea }
  - { from: Serves, to: Serves, on: Button }
  - { from: Stuck, to: Kicked, on: Button }
  - { from: Kicked, to: Served, on: Coffee }
  - { from: Kicked, to: Kicked, on: Button }
  - { from: Served, to: Ready, on: Button }
";

const SERVED: &str = "
purpose: served
of: quirky
initial: { location: Begin }
transitions:
  - { from: Begin, to: Accept, on: Coffee }
  - { from: Begin, to: Begin, on: Tea }
";

/// Where it must answer, something can be sent as well.
const ANSWERS: &str = "
iosts: answers
initial: { location: Ready }
inputs: { Ask: {}, Stop: {} }
outputs: { Answer: {}, Stopped: {} }
transitions:
  - { from: Ready, to: Asked, on: Ask }
  - { from: Asked, to: Ready, on: Answer }
  - { from: Asked, to: Ends, on: Stop }
  - { from: Ends, to: Done, on: Stopped }
";

const STOPPED: &str = "
purpose: stopped
of: answers
initial: { location: Begin }
transitions:
  - { from: Begin, to: Accept, on: Stopped }
";

/// It answers once for each question.
const ONCE: &str = "
iosts: once
initial: { location: Ready }
inputs: { Ask: {} }
outputs: { Answer: {} }
transitions:
  - { from: Ready, to: Asked, on: Ask }
  - { from: Asked, to: Ready, on: Answer }
";

const AND_NO_MORE: &str = "
purpose: and_no_more
of: once
initial: { location: Begin }
transitions:
  - { from: Begin, to: Answered, on: Answer }
  - { from: Answered, to: Accept, on: quiescence }
";

/// Tretmans' machines: by ioc nothing is wrong with them. The first shows by a silence that is allowed, and
/// what comes behind it; the second by one that is not, beside an input. What the third does wrong lies
/// behind the last event that is specified: only who accepts at silence sees it.
#[test]
fn each_strategy_waits_where_silence_decides() {
    let pairs = [
        (QUIRKY, SERVED, QUIRKY.replace("on: Coffee", "on: Tea")),
        (ANSWERS, STOPPED, ANSWERS.replace("  - { from: Asked, to: Ready, on: Answer }\n", "")),
        (ONCE, AND_NO_MORE, format!("{ONCE}  - {{ from: Ready, to: Ready, on: Answer }}\n")),
    ];
    for (specification, purpose, wrong) in pairs {
        let test = test_case(specification, purpose).unwrap();
        for strategy in StrategyKind::ALL {
            for link in [None, Some(Duration::from_millis(50))] {
                let conforming = verdicts(&test, &model(specification), strategy, link, 100);
                assert!(!conforming.contains_key("Fail"), "{strategy:?}, {link:?}: {conforming:?}");
                assert!(conforming.contains_key("Pass"), "{strategy:?}, {link:?}: {conforming:?}");
                let found = verdicts(&test, &model(&wrong), strategy, link, 200);
                assert!(found.contains_key("Fail"), "{strategy:?}, {link:?}: {found:?}\n{wrong}");
            }
        }
    }
}

/// By ioc quiescence never happens: who names it is told so. An action may have its name, and is meant then.
/// *Soundness*, and *precision* in that no model is refused: a multiple of a parameter has no value here and
/// there, however many values the parameter has.
#[test]
fn quiescence_of_multiples_is_exact() {
    type IsPossible = fn(i64) -> bool;
    let cases: [(&str, &str, IsPossible); 6] = [
        ("int[0..20]", "3 * q == x", |x| x % 3 == 0 && (0..=60).contains(&x)),
        ("int[0..100]", "3 * q == x", |x| x % 3 == 0 && (0..=300).contains(&x)),
        ("int", "3 * q == x", |x| x % 3 == 0),
        ("real", "2 * q == x", |_| true),
        ("int", "2 * q + x > 3 && 2 * q < x", |x| (-70..70).any(|q| 2 * q + x > 3 && 2 * q < x)),
        ("string", "matches(q, \"a+\") && x > 0", |x| x > 0),
    ];
    for (ty, guard, is_possible) in cases {
        let text = format!(
            "iosts: m\nvariables: {{ x: int }}\ninputs: {{ Go: {{ p: int }} }}\noutputs: {{ Out: {{ q: \"{ty}\" }} }}\n\
             initial: {{ location: A, condition: x == 0 }}\ntransitions:\n  \
             - {{ from: A, to: B, on: Go, assign: {{ x: p }} }}\n  \
             - {{ from: B, to: A, on: Out, when: '{guard}' }}\n"
        );
        let iosts = model(&text);
        let mut solver = Z3Solver::default();
        let suspended = suspend(&iosts, &Limits::default(), &mut solver);
        let Ok(suspended) = suspended else { panic!("{ty}, {guard}: no condition is found") };
        let silent = suspended.iosts.transitions.iter().skip(suspended.given);
        let at_b = silent.filter(|one| suspended.iosts.location(one.source).label == "B");
        let guards: Vec<&Term> = at_b.map(|one| &one.guard).collect();
        for x in -70..=310 {
            let valuation = Valuation::from([(iosts.variables[0].clone(), Value::int(x))]);
            let is_quiescent = guards.iter().any(|guard| holds(guard, &valuation).unwrap());
            assert_eq!(is_quiescent, !is_possible(x), "{ty}, {guard}, x == {x}: {guards:?}");
        }
    }
}

#[test]
fn quiescence_is_named_for_ioco_only() {
    let folder = Folder::new("quiescence");
    folder.file("once.yaml", ONCE);
    folder.file("purpose.yaml", AND_NO_MORE);
    let text = "specification: once.yaml\npurpose: purpose.yaml\n";
    let found = load(&folder.file("ioc.yaml", text)).err().unwrap();
    assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), ["quiescence-by-ioc"]);
    let (origin, _) = &found[0].labels[0];
    assert!(origin.file.text[origin.span.clone()].contains("on: quiescence"), "{found:?}");
    load(&folder.file("ioco.yaml", &format!("{text}conformance: ioco\n"))).unwrap();

    let named = ONCE.replace("Answer", "quiescence");
    let file = |text: &str| from_bytes("text.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
    let (specification, _) = read_specification(file(&named)).unwrap();
    let purpose = AND_NO_MORE.replace("on: Answer", "on: quiescence");
    let (purpose, _) = read_purpose(file(&purpose), &specification).unwrap();
    assert_eq!(purpose.iosts.actions, specification.iosts.actions);
    // No set has it that does not name it.
    let (specification, _) = read_specification(file(ONCE)).unwrap();
    let every = AND_NO_MORE.replace("on: quiescence", "on: '*'");
    let (purpose, _) = read_purpose(file(&every), &specification).unwrap();
    assert_eq!(purpose.iosts.actions, specification.iosts.actions);
}

/// For ioco each quiescence is a goal; the purposes of the suite name it, and are met.
#[test]
fn quiescence_is_a_goal() {
    let file = from_bytes("model.yaml".to_owned(), QUIRKY.as_bytes().to_vec()).unwrap();
    let (specification, _) = read_specification(file).unwrap();
    let told = |conformance| {
        let settings = cover::CoverSettings {
            criteria: vec![cover::Criterion::Transitions],
            limits: TreeLimits { is_restricted: true, ..TreeLimits::default() },
            analysis: Analysis::default(),
            conformance,
            stages: Limits::default(),
            steps: 0,
            observe: cover::Observe::default(),
        };
        let kept = cover::Cover::of(&specification, &settings).unwrap();
        let stop = cover::cover(&specification, &settings, &|_| {}, &kept);
        assert!(stop.is_none(), "{stop:?}");
        let found = kept.into_inner().unwrap();
        let document = make_document(settings.limits, &found, None, 0);
        (found, document)
    };
    let (_, by_ioc) = told(Conformance::Ioc);
    assert!(by_ioc.goals.iter().all(|goal| !goal.goal.contains("quiescence")));
    let (found, document) = told(Conformance::Ioco);
    for location in ["Ready", "Stuck", "Served"] {
        let goal = format!("quiescence in {location}");
        let goal = document.goals.iter().find(|one| one.goal == goal).unwrap();
        assert_eq!(goal.status, "covered", "{goal:?}");
    }
    let system = model(QUIRKY);
    let mut silent = 0;
    for member in &found.suite {
        let text = &member.written.text;
        silent += text.matches("quiescence").count();
        let test = test_case(QUIRKY, text).unwrap();
        let runs = verdicts(&test, &system, StrategyKind::Plan, None, 40);
        assert!(!runs.contains_key("Fail") && runs.contains_key("Pass"), "{runs:?}\n{text}");
    }
    assert!(silent > 0, "no purpose names it");
}

/// A transition of a system without data: from, action, to.
type Edge = (usize, usize, usize);

/// Of the actions of a random system, the first two are inputs.
const ACTIONS: [&str; 4] = ["a", "b", "x", "y"];
const INPUTS: usize = 2;
const LOCATIONS: usize = 5;
/// Silence, behind the actions.
const SILENCE: usize = 4;

fn edge(random: &mut Random) -> Edge {
    (random.below(LOCATIONS), random.below(ACTIONS.len()), random.below(LOCATIONS))
}

/// As text: what is called `name`.
fn written(edges: &[Edge]) -> String {
    let mut text = "iosts: random
initial: { location: L0 }
inputs: { a: {}, b: {} }
outputs: { x: {}, y: {} }
locations: [L0, L1, L2, L3, L4]
transitions:
"
    .to_owned();
    for (from, on, to) in edges {
        text += &format!("  - {{ from: L{from}, to: L{to}, on: {} }}\n", ACTIONS[*on]);
    }
    text
}

/// The same but for a transition that is missing, new, or leads elsewhere.
fn mutant(random: &mut Random, edges: &[Edge]) -> Vec<Edge> {
    let mut edges = edges.to_vec();
    let at = random.below(edges.len());
    match random.below(3) {
        0 => drop(edges.remove(at)),
        1 => edges[at].2 = random.below(LOCATIONS),
        _ => edges.push(edge(random)),
    }
    edges
}

/// Of some mutants the one that differs latest.
fn mutated(random: &mut Random, edges: &[Edge]) -> Vec<Edge> {
    let all = (0..8).map(|_| mutant(random, edges));
    all.max_by_key(|system| differs_after(edges, system)).unwrap_or_default()
}

/// Where the system may be after one more event. One that is an implementation ignores the inputs that it
/// does not take.
fn after(edges: &[Edge], from: &BTreeSet<usize>, event: usize, ignores: bool) -> BTreeSet<usize> {
    let mut to = BTreeSet::new();
    for at in from {
        let leaving = || edges.iter().filter(|(source, ..)| source == at);
        let taken: Vec<usize> = leaving().filter(|(_, on, _)| *on == event).map(|(.., to)| *to).collect();
        let is_quiet = event == SILENCE && leaving().all(|(_, on, _)| *on < INPUTS);
        if is_quiet || ignores && event < INPUTS && taken.is_empty() {
            to.insert(*at);
        }
        to.extend(taken);
    }
    to
}

/// The fewest events after which the implementation does what the specification does not, where it does; the
/// last of them is it.
fn differs_after(specification: &[Edge], system: &[Edge]) -> Option<usize> {
    let start = (BTreeSet::from([0]), BTreeSet::from([0]));
    let (mut seen, mut layer) = (BTreeSet::from([start.clone()]), vec![start]);
    let mut length = 0;
    while !layer.is_empty() {
        length += 1;
        let mut next = Vec::new();
        for (allowed, actual) in layer {
            for event in 0..=SILENCE {
                let pair =
                    (after(specification, &allowed, event, false), after(system, &actual, event, true));
                match (pair.0.is_empty(), pair.1.is_empty()) {
                    (_, true) => {}
                    (true, false) if event >= INPUTS => return Some(length),
                    (true, false) => {}
                    (false, false) => next.extend(seen.insert(pair.clone()).then_some(pair)),
                }
            }
        }
        layer = next;
    }
    None
}

/// Any so many events, silence among them where it is named.
fn any_events(count: usize, names: &[&str]) -> String {
    let mut text = "purpose: any\nof: random\ninitial: { location: S0 }\ntransitions:\n".to_owned();
    for at in 0..count {
        let to = if at + 1 == count { "Accept".to_owned() } else { format!("S{}", at + 1) };
        for on in names {
            text += &format!("  - {{ from: S{at}, to: {to}, on: {on} }}\n");
        }
    }
    text
}

/// Against brute force over suspension traces: who conforms never fails, and who differs within the events of
/// a purpose that names quiescence is found.
#[test]
fn what_differs_from_its_specification_within_the_events_of_a_purpose_is_found() {
    let counts = measured(40, 1500, &["'*'", "quiescence"]);
    println!("{counts:?}");
    assert_eq!(counts.get("not found").copied().unwrap_or(0), 0, "{counts:?}");
    assert!(counts["found"] >= 10 && counts["conforms"] >= 10, "{counts:?}");
    assert!(counts["found, by silence"] >= 5, "{counts:?}");
}

#[test]
#[ignore = "measures; run it alone"]
fn what_naming_quiescence_finds() {
    for names in [&["'*'", "quiescence"] as &[&str], &["'*'"]] {
        println!("{names:?}: {:?}", measured(240, 1500, names));
    }
}

fn measured(pairs: u64, runs: u64, names: &[&str]) -> BTreeMap<&'static str, usize> {
    const EVENTS: usize = 8;
    let mut counts = BTreeMap::new();
    for seed in 0..pairs {
        let mut random = Random::new(seed ^ 0x0073_696c_656e_6365);
        let edges: Vec<Edge> = (0..5 + random.below(5)).map(|_| edge(&mut random)).collect();
        let system = if seed % 4 == 0 { edges.clone() } else { mutated(&mut random, &edges) };
        let differs = differs_after(&edges, &system);
        let Some(test) = test_case(&written(&edges), &any_events(EVENTS, names)) else {
            let what = if differs.is_some() { "no test case, and differs" } else { "no test case" };
            *counts.entry(what).or_default() += 1;
            continue;
        };
        // A plan goes the same way to Pass each time, and finds what lies beside it.
        let strategies: &[StrategyKind] = match differs {
            Some(_) => &[StrategyKind::Random, StrategyKind::Coverage],
            None => &StrategyKind::ALL,
        };
        let strategy = strategies[seed as usize % strategies.len()];
        let runs = if differs.is_some() { runs } else { runs / 20 };
        let found = verdicts(&test, &model(&written(&system)), strategy, None, runs);
        let what = match (differs, found.contains_key("Fail")) {
            (None, false) => "conforms",
            (None, true) => {
                panic!("seed {seed}: it conforms, and fails\n{}{}", written(&edges), written(&system))
            }
            (Some(length), false) if length > EVENTS => "differs later",
            (Some(length), false) => {
                println!("seed {seed}, {strategy:?}, differs after {length}: {found:?}");
                "not found"
            }
            (Some(_), true) if found.contains_key("silent") => "found, by silence",
            (Some(_), true) => "found",
        };
        *counts.entry(what).or_default() += 1;
    }
    counts
}
