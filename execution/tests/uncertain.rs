//! Verdicts on traces whose instants are known within a tolerance, against all instants and orders there are.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use coreach_execution::offline::judge::OfflineJudge;
use coreach_execution::offline::prepared::Offline;
use coreach_execution::offline::read::TraceReader;
use coreach_execution::offline::recent::RecentSolver;
use coreach_execution::offline::sequence::{Placed, SeqItem};
use coreach_execution::offline::verdict::{CannotJudge, MOST_CONTEXTS, OfflineVerdict};
use coreach_execution::offline::waiting::Rules;
use coreach_model::Term;
use coreach_model::iosts::{ActionId, ActionKind};
use coreach_model::random::Random;
use coreach_model::reader::{from_bytes, read_timed_specification};
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::{Delayed, delayed};
use dashu_ratio::RBig;

type Model = (Timed, Delayed);

/// Events and their instants.
type Events = Vec<(RBig, ActionId)>;

fn model(text: &str) -> Model {
    let file = from_bytes("model.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
    let timed = read_timed_specification(file).unwrap_or_else(|found| panic!("{found:?}")).0.timed;
    let form = delayed(&timed).unwrap();
    (timed, form)
}

fn units(number: i64) -> RBig {
    RBig::from(number)
}

/// Events at instants, and when the recording ended, as a sequence.
fn items(events: &[(RBig, ActionId)], end: &RBig) -> Vec<SeqItem> {
    let mut at = RBig::ZERO;
    let mut all = Vec::new();
    for (time, action) in events {
        all.extend((*time > at).then(|| SeqItem::Delay(time - &at)));
        all.push(SeqItem::Event(*action, Vec::new()));
        at = time.clone();
    }
    all.extend((*end > at).then(|| SeqItem::Delay(end - &at)));
    all
}

fn judged((timed, form): &Model, items: &[SeqItem], tolerance: &RBig) -> OfflineVerdict {
    let path = vec![timed.transition("1").unwrap()];
    let offline = Offline::new(timed, form, path, Rules::Corrected, MOST_CONTEXTS).within(tolerance.clone());
    let mut solver = RecentSolver::default();
    let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver).unwrap();
    for (place, item) in items.iter().enumerate() {
        judge.take(&Placed { line: place + 1, item: item.clone() }, &mut solver).unwrap();
    }
    judge.verdict()
}

/// Is there no Fail at some instants within the tolerance, each so many parts of a unit from the next, in
/// some order?
fn conforms(model: &Model, events: &[(RBig, ActionId)], end: &RBig, tolerance: i64, parts: i64) -> bool {
    let (timed, form) = model;
    let offline = Offline::new(timed, form, vec![timed.transition("1").unwrap()], Rules::Corrected, 4096);
    let is_input = |action: ActionId| timed.graph().action(action).kind == ActionKind::Input;
    let mut solver = RecentSolver::default();
    let last = end - units(tolerance);
    let steps = tolerance * parts;
    // The taken events of either side, the instants so far.
    let mut work: Vec<(usize, usize, Events)> = Vec::new();
    let (sent, seen): (Vec<_>, Vec<_>) = events.iter().cloned().partition(|(_, action)| is_input(*action));
    for begun in -steps..=steps {
        let begun = units(begun) / units(parts);
        work.push((0, 0, vec![(begun, ActionId(0))]));
        while let Some((inputs, outputs, taken)) = work.pop() {
            let now = taken.last().unwrap().0.clone();
            for (side, place) in [(&sent, inputs), (&seen, outputs)] {
                let Some((time, action)) = side.get(place) else { continue };
                for step in -steps..=steps {
                    let at = time + units(step) / units(parts);
                    if at >= now {
                        let mut taken = taken.clone();
                        taken.push((at, *action));
                        let next =
                            if is_input(*action) { (inputs + 1, outputs) } else { (inputs, outputs + 1) };
                        work.push((next.0, next.1, taken));
                    }
                }
            }
            if (inputs, outputs) != (sent.len(), seen.len()) {
                continue;
            }
            let begun = taken[0].0.clone();
            let since: Events = taken[1..].iter().map(|(time, action)| (time - &begun, *action)).collect();
            let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver).unwrap();
            for item in items(&since, &(&last - &begun)) {
                judge.take(&Placed { line: 0, item }, &mut solver).unwrap();
            }
            if judge.verdict() != OfflineVerdict::Fail {
                return true;
            }
        }
    }
    false
}

/// A trace of so many events at whole instants, mostly one of the model that was recorded too early or too
/// late.
fn drawn(model: &Model, random: &mut Random, count: usize) -> (Events, RBig) {
    let graph = model.0.graph();
    let visible: Vec<ActionId> =
        graph.action_ids().filter(|action| graph.action(*action).is_visible()).collect();
    let mut at = 0;
    let mut happened: Vec<(i64, ActionId)> = Vec::new();
    for _ in 0..count {
        for attempt in 0..12 {
            let next = at + i64::try_from(random.below(5)).unwrap();
            happened.push((next, visible[random.below(visible.len())]));
            let exact: Vec<_> = happened.iter().map(|(time, action)| (units(*time), *action)).collect();
            let verdict = judged(model, &items(&exact, &units(next)), &RBig::ZERO);
            if verdict == OfflineVerdict::InconclusiveR || verdict == OfflineVerdict::Pass || attempt == 11 {
                at = next;
                break;
            }
            happened.pop();
        }
    }
    // Of one side, no order changes.
    let mut last = [0, 0];
    let mut recorded: Events = Vec::new();
    for (time, action) in happened {
        let side = usize::from(graph.action(action).kind == ActionKind::Input);
        last[side] = last[side].max(time + i64::try_from(random.below(7)).unwrap() - 3);
        recorded.push((units(last[side]), action));
    }
    recorded.sort_by(|(a, _), (b, _)| a.cmp(b));
    let end = recorded.last().unwrap().0.clone() + units(i64::try_from(random.below(5)).unwrap());
    (recorded, end)
}

fn compare(text: &str, (traces, count, parts): (usize, usize, i64), is_precise: bool) {
    let model = model(text);
    let mut random = Random::new(11);
    let (mut fails, mut excused) = (0, 0);
    for _ in 0..traces {
        let (events, end) = drawn(&model, &mut random, count);
        let trace = items(&events, &end);
        let is_fail = judged(&model, &trace, &units(1)) == OfflineVerdict::Fail;
        let conforms = conforms(&model, &events, &end, 1, parts);
        // *Sound*: what may have been a trace of the model does not fail.
        assert!(!(is_fail && conforms), "{text}{events:?} {end}");
        // *Precise*: what cannot have been one fails.
        assert!(!is_precise || is_fail || conforms, "{text}{events:?} {end}");
        fails += usize::from(is_fail);
        excused += usize::from(!is_fail && judged(&model, &trace, &RBig::ZERO) == OfflineVerdict::Fail);
    }
    assert!(fails > 2 && excused > 2, "{fails} {excused}");
}

/// Bounds that belong to their windows, two clocks, inputs that are always taken: whole instants suffice.
const CLOSED: &str = "\
iosts: closed
clocks: [w, v]
initial: { location: A }
inputs: { Go: {} }
outputs: { One: {}, Two: {} }
transitions:
  - { from: A, to: B, on: Go, reset: [w] }
  - { from: B, to: B, on: Go }
  - { from: B, to: C, on: One, when: w >= 2 && w <= 3, reset: [v] }
  - { from: C, to: C, on: Go, reset: [w] }
  - { from: C, to: A, on: Two, when: v <= 2 && w <= 6 && v >= 1 }
  - { from: C, to: B, on: One, when: w >= 5 && w <= 7, reset: [w] }
";

/// An input that is not always taken, bounds that do not belong to their windows.
const OPEN: &str = "\
iosts: open
clocks: [w]
initial: { location: A }
inputs: { Go: {} }
outputs: { One: {} }
transitions:
  - { from: A, to: B, on: Go, when: w < 3, reset: [w] }
  - { from: B, to: A, on: One, when: w > 1 && w < 4, reset: [w] }
  - { from: A, to: A, on: One, when: w > 3, reset: [w] }
";

/// Choices that nobody sees, a first value that nobody knows.
const UNKNOWN: &str = "\
iosts: unknown
clocks: [w]
variables: { n: int }
initial: { location: A, condition: n >= 1 && n <= 3 }
inputs: { Go: {} }
outputs: { One: {} }
internals: [skip]
transitions:
  - { from: A, to: B, on: Go, reset: [w] }
  - { from: A, to: C, on: Go, when: w >= 2, reset: [w] }
  - { from: B, to: C, on: skip, when: n >= 2 }
  - { from: B, to: A, on: One, when: w >= n && w <= n + 1 }
  - { from: C, to: C, on: Go }
  - { from: C, to: A, on: One, when: w <= 1, reset: [w] }
";

#[test]
fn a_fail_is_one_at_all_instants_within_the_tolerance() {
    compare(CLOSED, (24, 3, 1), true);
}

#[test]
fn an_input_that_may_have_been_refused_makes_no_fail() {
    compare(OPEN, (20, 2, 4), true);
}

#[test]
fn what_nobody_sees_is_no_fail_within_the_tolerance() {
    compare(UNKNOWN, (24, 2, 2), false);
}

/// *Precise*: so many orders are not followed that the limit of contexts is passed.
#[test]
fn too_many_orders_are_a_stop() {
    let (timed, form) = model(
        "iosts: any\nclocks: [w]\ninitial: { location: A }\ninputs: { Go: {} }\noutputs: { One: {} }\n\
         transitions:\n  - { from: A, to: A, on: Go, reset: [w] }\n  - { from: A, to: A, on: One }\n",
    );
    let path = vec![timed.transition("1").unwrap()];
    let of = |most: usize| {
        let offline = Offline::new(&timed, &form, path.clone(), Rules::Corrected, most).within(units(1));
        let mut solver = RecentSolver::default();
        let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver).unwrap();
        let action = |name: &str| timed.graph().find_action(name).unwrap();
        let names = ["Go", "Go", "Go", "One", "One", "One"].into_iter().enumerate();
        let mut taken = names.map(|(line, name)| {
            let item = SeqItem::Event(action(name), Vec::new());
            judge.take(&Placed { line, item }, &mut solver)
        });
        taken.find_map(Result::err)
    };
    assert_eq!(of(100), None);
    assert!(matches!(of(15), Some(CannotJudge::Contexts { most: 15, .. })), "{:?}", of(15));
}

/// precision: alternatives that lie in others are forgotten, and what is known stays short. `low` is never
/// known, and at each event it is compared with another difference of instants.
#[test]
fn alternatives_do_not_grow_with_the_trace() {
    let (timed, form) = model(
        "\
iosts: alternatives
clocks: [x, y]
variables: { low: 'int[0..2]', high: 'int[0..2]' }
initial: { location: A, condition: high == 1 }
outputs: { Tell: { m: 'int[0..2]' } }
transitions:
  - { from: A, to: B, on: Tell, when: x == 0 && low < 1 && high == 1, reset: [x], assign: { low: m, high: high + 1 } }
  - { from: B, to: B, on: Tell, when: y > low && m > low, reset: [y], assign: { low: low + 1, high: high + 1 } }
  - { from: A, to: A, on: Tell, when: x < 1 && y < high, reset: [x], assign: { high: 1 } }
  - { from: A, to: A, on: Tell, when: y >= low, reset: [x] }
  - { from: A, to: B, on: Tell, when: x > 3 && y <= 1, reset: [x] }
",
    );
    let path = vec![timed.transition("4").unwrap(), timed.transition("1").unwrap()];
    let quarter = RBig::ONE / RBig::from(4);
    let offline = Offline::new(&timed, &form, path, Rules::Corrected, MOST_CONTEXTS).within(quarter);
    let mut solver = RecentSolver::default();
    let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver).unwrap();
    let mut random = Random::new(5);
    let mut trace = String::from("1/8,Tell,2\n1,Tell,0\n");
    for _ in 0..40 {
        let delay = if random.chance(20) { "1/8" } else { "" };
        trace += &format!("{delay},Tell,{}\n", random.below(3));
    }
    for placed in TraceReader::new(timed.graph(), "trace.csv", trace.as_bytes()) {
        judge.take(&placed.unwrap(), &mut solver).unwrap();
        let size = |parts: &[Term]| parts.iter().map(Term::written_size).sum::<u64>();
        let sizes = judge.contexts().iter().map(|context| size(&context.state.condition));
        assert!(sizes.max().is_some_and(|size| size < 100), "{:?}", judge.contexts());
    }
    assert_eq!(judge.verdict(), OfflineVerdict::InconclusiveR);
}
