//! Choices that the pair graph sees to stay open for ever, one test for each reason why that is no obstacle,
//! and those where it is. Each pair is made by the whole pipeline, every artifact checked.
#![allow(clippy::unwrap_used, reason = "a test's helper fails its test")]

use std::sync::Arc;

use coreach_analyses::reachability;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::iosts::Aim;
use coreach_model::reader::{read_aimed, read_specification};
use coreach_model::{Iosts, SourceFile, TestPurpose};
use coreach_pipeline::limits::{Limits, Quantity};
use coreach_pipeline::stop::Stop;
use coreach_pipeline::{Generation, StageOptions, generate};
use coreach_tests::source::read_text;

/// What becomes of a specification with these transitions, an `int` x that begins at 0, and the purpose to
/// see `done`.
fn made(transitions: &[&str]) -> Result<Generation, Stop> {
    made_within(transitions, Limits::default())
}

fn made_within(transitions: &[&str], limits: Limits) -> Result<Generation, Stop> {
    made_with(transitions, limits, 8)
}

fn made_with(transitions: &[&str], limits: Limits, max_lookahead: usize) -> Result<Generation, Stop> {
    let purpose = "purpose: see\nof: machine\ninitial: { location: Wait }\n\
                   transitions: [{ from: Wait, to: Accept, on: done }]\n";
    let pair = read_text(specification(transitions), purpose.to_owned()).unwrap();
    generated(&pair.specification, pair.purpose, limits, max_lookahead)
}

fn specification(transitions: &[&str]) -> String {
    let listed: String = transitions.iter().map(|transition| format!("  - {{ {transition} }}\n")).collect();
    format!(
        "iosts: machine\nvariables: {{ x: int }}\ninitial: {{ location: l, condition: x == 0 }}\n\
         inputs: {{ set: {{ q: int }}, go: {{}} }}\noutputs: {{ step: {{}}, say: {{ p: int }}, done: {{}} }}\n\
         transitions:\n{listed}"
    )
}

fn generated(
    specification: &Iosts,
    purpose: TestPurpose,
    limits: Limits,
    max_lookahead: usize,
) -> Result<Generation, Stop> {
    let analysis = reachability::Analysis::default();
    let options = StageOptions { max_lookahead, analysis, limits, check: true };
    generate(specification, purpose, &options, &mut Z3Solver::default(), &mut |_| {})
}

/// The visible transitions, in lines.
fn visible(made: &Generation) -> Vec<String> {
    let iosts = &made.visible.iosts;
    let mut lines: Vec<String> = iosts
        .transitions
        .iter()
        .map(|t| {
            let effect: Vec<String> =
                t.assignments.iter().map(|(v, value)| format!("{v} := {value}")).collect();
            format!("{} [{}] {{{}}}", iosts.describe(t), t.guard, effect.join(", "))
        })
        .collect();
    lines.sort();
    lines
}

fn stop(made: Result<Generation, Stop>) -> Stop {
    match made {
        Ok(made) => panic!("{:#?}", visible(&made)),
        Err(stop) => stop,
    }
}

/// Two ways that go on alike for ever, from a choice that `first` and `second` are.
fn for_ever(first: &str, second: &str) -> Vec<String> {
    let loops = ["m", "n"].map(|at| format!("from: {at}, to: {at}, on: step"));
    let ends = ["from: m, to: end, on: say, when: p == x", "from: n, to: end, on: done"].map(str::to_owned);
    let mut all = vec![first.to_owned(), second.to_owned()];
    all.extend(loops.into_iter().chain(ends));
    all.push("from: end, to: end, on: done".to_owned());
    all
}

fn of(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

#[test]
fn guards_that_overlap_where_no_run_gets_are_no_choice() {
    // x is 0 for ever, and both hold from 5 on only.
    let all = for_ever("from: l, to: m, on: go, when: x < 10", "from: l, to: n, on: go, when: x >= 5");
    let made = made(&of(&all)).unwrap();
    assert_eq!(made.visible.lookahead, Some(0));
    assert!(made.visible.members.iter().all(|members| members.len() == 1));
}

#[test]
fn ways_that_nothing_tells_apart_keep_their_data() {
    let all = for_ever("from: l, to: m, on: set, assign: { x: q }", "from: l, to: n, on: set");
    let made = made(&of(&all)).unwrap();
    assert_eq!(made.visible.lookahead, None);
    let lines = visible(&made);
    assert!(
        lines.iter().any(|line| line.contains("<m,Wait>,<n,Wait>> -step-> <<m,Wait>,<n,Wait>>")),
        "{lines:#?}"
    );
}

#[test]
fn effects_of_one_value_are_one() {
    let made = made(&[
        "from: l, to: m, on: set, when: q >= 3, assign: { x: q - 3 }",
        "from: l, to: m, on: set, when: q <= 3, assign: { x: 0 }",
        "from: m, to: m, on: step, assign: { x: x + 1 }",
        "from: m, to: end, on: say, when: p == x",
        "from: end, to: end, on: done",
    ]);
    let made = made.unwrap();
    assert!(made.visible.members.iter().all(|members| members.len() == 1), "{:#?}", visible(&made));
}

#[test]
fn effects_that_differ_in_what_nobody_reads_are_one() {
    let made = made(&[
        "from: l, to: m, on: set, assign: { x: q }",
        "from: l, to: m, on: set, assign: { x: 1 }",
        "from: m, to: m, on: step",
        "from: m, to: k, on: go, assign: { x: 7 }",
        "from: k, to: end, on: say, when: p == x",
        "from: end, to: end, on: done",
    ]);
    assert!(made.unwrap().visible.members.iter().all(|members| members.len() == 1));
}

#[test]
fn a_value_that_nobody_reads_need_not_be_there() {
    // 10 div q has no value at 0, where the other way is taken; x is read by nobody.
    let made = made(&[
        "from: l, to: m, on: set, when: q != 0, assign: { x: 10 div q }",
        "from: l, to: m, on: set, when: q >= 0, assign: { x: 1 }",
        "from: l, to: n, on: set",
        "from: m, to: m, on: step",
        "from: n, to: n, on: step",
        "from: m, to: end, on: done",
    ]);
    assert_eq!(made.unwrap().visible.lookahead, None);
}

/// At each `step` any of two things happened to x: the ways grow without bound.
const GROWING: [&str; 4] = [
    "from: m, to: m, on: step, when: x >= 3, assign: { x: x + 1 }",
    "from: m, to: m, on: step, when: x >= 2, assign: { x: 2 * x + 1 }",
    "from: m, to: m, on: go",
    "from: m, to: m, on: say, when: p == x",
];

fn with_growing(more: &[&'static str]) -> Vec<&'static str> {
    more.iter().copied().chain(GROWING).collect()
}

#[test]
fn ways_that_grow_without_bound_are_refused_with_what_helps() {
    let transitions =
        with_growing(&["from: l, to: m, on: set, assign: { x: q }", "from: m, to: m, on: done"]);
    let stop = stop(made(&transitions));
    let Stop::NoLookahead { choice, witness, cycle, quantity, limit, .. } = &stop else { panic!("{stop:?}") };
    let told = choice.each_ref().map(|shown| shown.text.as_str());
    assert!(told[0].contains("{x := x + 1}") && told[1].contains("{x := 2 * x + 1}"), "{told:?}");
    assert_eq!((witness.len(), cycle.len()), (1, 1));
    let diagnostic = stop.to_diagnostic();
    assert!(diagnostic.notes.iter().any(|note| note.starts_with("both can be taken with: x = ")));
    let help = diagnostic.help.clone().unwrap();
    assert!(
        help.contains("exclude each other")
            && help.contains(&format!("`limits: {{ {}: {} }}`", quantity.key(), 4 * limit))
    );
}

#[test]
fn a_choice_behind_accept_is_nobodys_concern() {
    let transitions = with_growing(&["from: l, to: m, on: done, assign: { x: 3 }"]);
    assert_eq!(made(&transitions).unwrap().visible.lookahead, Some(0));
}

#[test]
fn a_choice_on_the_event_that_enters_accept_is_nobodys_concern() {
    let transitions =
        with_growing(&["from: l, to: m, on: done, assign: { x: 3 }", "from: l, to: m, on: done"]);
    let made = made(&transitions).unwrap();
    let ends = made.visible.ends.iter().filter(|ends| **ends).count();
    assert_eq!(ends, made.visible.accepting.iter().filter(|accepts| **accepts).count());
}

#[test]
fn where_accept_is_out_of_reach_one_event_is_followed() {
    // `step` leads to where nothing is ever `done`.
    let transitions = with_growing(&[
        "from: l, to: l, on: go",
        "from: l, to: end, on: done",
        "from: l, to: m, on: step, assign: { x: 3 }",
        "from: l, to: m, on: step, assign: { x: 4 }",
    ]);
    let made = made(&transitions).unwrap();
    let lines = visible(&made);
    assert!(lines.iter().any(|line| line.starts_with("<l,Wait> -step->")), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.starts_with("<m,Wait>")), "{lines:#?}");
    // What is allowed there for one step ends the test, and is no failure.
    assert_eq!(made.test_graph.selection.inconclusive, 1);
}

#[test]
fn an_end_of_one_location_is_another_location() {
    // After `step` x is too large for `done`, whichever way it was; after `set` it need not be.
    let made = made(&[
        "from: l, to: m, on: set, assign: { x: q }",
        "from: l, to: m, on: step, assign: { x: 13 }",
        "from: l, to: m, on: step, assign: { x: 14 }",
        "from: m, to: m, on: say, when: p == x",
        "from: m, to: end, on: done, when: x <= 9",
    ]);
    let visible = made.unwrap().visible;
    let labelled = |label: &str| {
        visible
            .iosts
            .locations
            .numbers()
            .filter(|at| visible.iosts.locations[*at].label == label)
            .collect::<Vec<_>>()
    };
    let [one, other] = labelled("<m,Wait>")[..] else { panic!() };
    assert_eq!(visible.ends[one] as u8 + visible.ends[other] as u8, 1);
    assert_ne!(visible.iosts.locations[one].name, visible.iosts.locations[other].name);
}

#[test]
fn one_side_out_of_reach_of_accept_is_followed_for_what_it_may_send() {
    // From `n` nothing is ever `done`; but as long as the run may be in `m`, what `n` sends is no failure.
    let made = made(&[
        "from: l, to: m, on: go",
        "from: l, to: n, on: go",
        "from: m, to: m, on: step",
        "from: n, to: n, on: step",
        "from: n, to: k, on: say, when: p == 1",
        "from: m, to: end, on: done",
    ]);
    let made = made.unwrap();
    let lines = visible(&made);
    assert!(
        lines.iter().any(|line| line.starts_with("<<m,Wait>,<n,Wait>> -say-> <k,Wait> [p == 1]")),
        "{lines:#?}"
    );
}

#[test]
fn a_choice_that_data_resolve_one_event_later_is_none() {
    // The actions are the same for ever; the parity of x tells them apart at once.
    let made = made(&[
        "from: l, to: m, on: set, assign: { x: 2 * q }",
        "from: l, to: n, on: set, assign: { x: 2 * q + 1 }",
        "from: m, to: m, on: say, when: p == x",
        "from: n, to: n, on: say, when: p == x",
        "from: m, to: end, on: done",
    ]);
    let graph = made.unwrap().test_graph.iosts;
    let both = graph.locations.iter().filter(|location| location.label == "<<m,Wait>,<n,Wait>>").count();
    let stay = graph.transitions.iter().filter(|t| t.source != graph.initial && t.source == t.target);
    let stay: Vec<&str> = stay.map(|t| graph.location(t.source).label.as_str()).collect();
    assert_eq!((both, stay), (1, vec!["<m,Wait>"]));
}

#[test]
fn what_lies_behind_accept_needs_no_lookahead() {
    // Behind `done` a choice needs two events to be resolved, and one may be waited for.
    let late = |first: &'static str| {
        [
            first,
            "from: m, to: n, on: go",
            "from: m, to: k, on: go",
            "from: n, to: n2, on: step",
            "from: k, to: k2, on: step",
            "from: n2, to: end, on: say, when: p == x",
            "from: k2, to: end, on: done",
        ]
    };
    let behind = made_with(&late("from: l, to: m, on: done"), Limits::default(), 1);
    assert_eq!(behind.unwrap().visible.lookahead, Some(0));
    let before = made_with(&late("from: l, to: m, on: step"), Limits::default(), 1);
    assert!(matches!(before, Err(Stop::LookaheadLimit { limit: 1, needed: 2, .. })));
}

#[test]
fn a_property_may_be_violated_where_no_behaviour_leads_to_a_violation() {
    // The specification is never `done`, whichever way it went: an implementation that is violates the
    // property everywhere.
    let transitions = [
        "from: l, to: m, on: set, assign: { x: q }",
        "from: l, to: n, on: set",
        "from: m, to: m, on: step",
        "from: n, to: n, on: step",
        "from: m, to: m, on: say, when: p == x",
    ];
    let property = "property: never\nof: machine\ninitial: { location: Wait }\n\
                    transitions: [{ from: Wait, to: Violate, on: done }]\n";
    let file = |name: &str, text: String| Arc::new(SourceFile { name: name.to_owned(), text });
    let (read, _) = read_specification(file("specification.yaml", specification(&transitions))).unwrap();
    let (property, _) = read_aimed(file("property.yaml", property.to_owned()), &read, Aim::Violate).unwrap();
    let made = generated(&read.iosts, property, Limits::default(), 8).unwrap();
    assert!(!made.visible.ends.contains(&true));
    let set = "<<m,Wait>,<n,Wait>>";
    let lines = visible(&made);
    for (action, target) in [("step", set), ("done", "ViolateFail")] {
        let wanted = format!("{set} -{action}-> {target} ");
        assert!(lines.iter().any(|line| line.starts_with(&wanted)), "{wanted}: {lines:#?}");
    }
}

#[test]
fn the_limit_of_ways_is_the_one_that_is_set() {
    let all = for_ever("from: l, to: m, on: set, assign: { x: q }", "from: l, to: n, on: set");
    let stop = stop(made_within(&of(&all), Limits::default().with(Quantity::Ways, 1)));
    assert!(matches!(stop, Stop::NoLookahead { quantity: Quantity::Ways, limit: 1, .. }), "{stop:?}");
}
