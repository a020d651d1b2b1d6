//! Several connections as actors of one model: no order between them is believed that nobody has seen.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use coreach_adapters::description::Link;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::judge::crossing::Crossing;
use coreach_execution::judge::{AfterSilence, Judge, Judged, make_judge_with};
use coreach_execution::monitor::Monitor;
use coreach_execution::run::{Cause, Occurrence};
use coreach_execution::{CaseJudge, TestCase, initial};
use coreach_model::random::Random;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::{Event, State, fire, internal_closure};
use coreach_model::{ActionKind, Iosts, Value, Verdict};

/// A register that two clients write and read; each waits for its answer. What is written is told to the
/// other client, too, by itself, before or after the answer. `Quiet` is silence.
const REGISTER: &str = "
iosts: register
variables: { vX: 'int[0..2]', vA: 'int[0..2]', vB: 'int[0..2]', vTell: bool }
initial: { location: On, condition: vX == 0 && vA == 0 && vB == 0 && !vTell }
inputs: { SetA: { pX: 'int[0..2]' }, GetB: {} }
outputs: { DoneA: {}, GotB: { pX: 'int[0..2]' }, ToldB: { pX: 'int[0..2]' }, Quiet: {} }
transitions:
  - { from: On, to: On, on: Quiet, when: vA == 0 && vB == 0 && !vTell }
  - { from: On, to: On, on: SetA, when: vA == 0, assign: { vX: pX, vA: 1, vTell: true } }
  - { from: On, to: On, on: SetA, when: vA != 0 }
  - { from: On, to: On, on: GetB, when: vB == 0, assign: { vB: 1 } }
  - { from: On, to: On, on: GetB, when: vB != 0 }
  - { from: On, to: On, on: DoneA, when: vA == 1, assign: { vA: 0 } }
  - { from: On, to: On, on: GotB, when: vB == 1 && pX == vX, assign: { vB: 0 } }
  - { from: On, to: On, on: ToldB, when: vTell && pX == vX, assign: { vTell: false } }
";

fn model(text: &str) -> Iosts {
    let file = from_bytes("register".to_owned(), text.as_bytes().to_vec()).unwrap();
    let mut model = read_specification(file).unwrap().0.iosts;
    for action in model.actions.iter_mut().filter(|action| action.name == "Quiet") {
        action.kind = ActionKind::Quiescence;
    }
    model
}

fn first(model: &Iosts) -> BTreeSet<State> {
    let states = initial::states(model, &Default::default(), 10, &mut Z3Solver::default()).unwrap();
    states.into_iter().collect()
}

/// An action goes over the connection whose name its own ends with.
fn link(model: &Iosts) -> Link {
    let number = |name: &str| usize::from(!name.ends_with('A'));
    Link::over(model.actions.iter().map(|action| (action.name.clone(), number(&action.name))).collect())
}

fn is_stimulus(model: &Iosts, event: &Event) -> bool {
    model.action(model.find_action(&event.action).unwrap()).kind == ActionKind::Input
}

fn occurrence(model: &Iosts, event: &Event) -> Occurrence {
    if is_stimulus(model, event) {
        Occurrence::Stimulus(event.clone())
    } else {
        Occurrence::Observation(event.clone())
    }
}

/// All that the model does from these states by this event.
fn after(model: &Iosts, states: &BTreeSet<State>, event: &Event) -> BTreeSet<State> {
    let action = model.find_action(&event.action).unwrap();
    let fired = states.iter().flat_map(|state| {
        let all = model.transitions.iter().filter(|one| one.source == state.location && one.action == action);
        all.filter_map(|one| fire(model, one, state, &event.values))
    });
    internal_closure(model, fired.collect())
}

/// The definition: does one of the orders conform that the tester cannot exclude, and is it silent at its
/// end, or may it end anywhere? Everything that was sent has come.
fn is_explained(
    model: &Iosts,
    states: &BTreeSet<State>,
    events: &[Event],
    left: &[usize],
    may_end: bool,
) -> bool {
    let link = link(model);
    let is_before = |one: usize, other: usize| {
        let (first, second) = (&events[one], &events[other]);
        link.number(&first.action) == link.number(&second.action)
            || !is_stimulus(model, first) && is_stimulus(model, second)
    };
    if left.is_empty() {
        return may_end || !after(model, states, &Event::new("Quiet", Vec::new())).is_empty();
    }
    left.iter().enumerate().any(|(at, next)| {
        let is_next = left[..at].iter().all(|earlier| !is_before(*earlier, *next));
        let states = if is_next { after(model, states, &events[*next]) } else { BTreeSet::new() };
        let rest: Vec<usize> = left.iter().copied().filter(|one| one != next).collect();
        !states.is_empty() && is_explained(model, &states, events, &rest, may_end)
    })
}

fn alphabet() -> Vec<Event> {
    let int = |number: u32| Value::Int(number.into());
    let mut all = vec![Event::new("GetB", vec![]), Event::new("DoneA", vec![])];
    all.extend([Event::new("SetA", vec![int(1)]), Event::new("ToldB", vec![int(1)])]);
    all.extend([0, 1].map(|number| Event::new("GotB", vec![int(number)])));
    all
}

const SILENCE: Duration = Duration::from_secs(1);

/// The verdict that something leads to, where it leads to one.
fn verdict(judge: &mut dyn Judge, what: &Occurrence) -> Option<Verdict> {
    match judge.take(what) {
        Judged::Followed(_) => judge.verdict(),
        Judged::Ends(verdict, _) => Some(verdict),
    }
}

/// What a judge comes to, and after how many events; `None` where the tester would not have sent that.
fn judged(model: &Iosts, events: &[Event]) -> Option<(Option<Verdict>, usize)> {
    let mut judge = Crossing::new(link(model), Monitor::new(model, first(model)));
    for (number, event) in events.iter().enumerate() {
        if is_stimulus(model, event) && !judge.can_send(event) {
            return None;
        }
        let verdict = verdict(&mut judge, &occurrence(model, event));
        if verdict.is_some() {
            return Some((verdict, number + 1));
        }
    }
    Some((verdict(&mut judge, &Occurrence::Silence(SILENCE)), events.len() + 1))
}

/// Soundness and precision: Fail exactly where no order explains what came, and that it is silent then; and
/// an early one only where nothing that may come still explains it.
#[test]
fn a_fail_is_given_exactly_where_no_order_explains_what_was_seen() {
    let model = model(REGISTER);
    let start = first(&model);
    let mut traces: Vec<Vec<Event>> = vec![Vec::new()];
    let (mut fails, mut early, mut crossed) = (0, 0, 0);
    for length in 0..=4 {
        let mut next = Vec::new();
        for trace in &traces {
            let all: Vec<usize> = (0..trace.len()).collect();
            let is_right = is_explained(&model, &start, trace, &all, false);
            let Some((verdict, count)) = judged(&model, trace) else { continue };
            assert_eq!(verdict == Some(Verdict::Fail), !is_right, "{trace:?}: {verdict:?}");
            fails += usize::from(!is_right);
            early += usize::from(verdict == Some(Verdict::Fail) && count <= trace.len());
            let in_order = trace.iter().try_fold(start.clone(), |states, event| {
                let next = after(&model, &states, event);
                (!next.is_empty()).then_some(next)
            });
            let crosses = in_order.is_none() && is_explained(&model, &start, trace, &all, true);
            crossed += usize::from(crosses);
            // Whatever follows an early Fail is compared with the definition as well.
            if length < 4 {
                next.extend(alphabet().into_iter().map(|event| [trace.as_slice(), &[event]].concat()));
            }
        }
        traces = next;
    }
    assert!(
        fails > early + 50 && early > 100 && crossed > 5,
        "{fails} fails, {early} early, {crossed} crossed"
    );
}

/// Soundness: what is held back over one connection, for longer than silence takes, excuses what came over
/// the other one. Precision: not where the model had to send something.
#[test]
fn what_waits_for_another_connection_is_no_failure_by_silence() {
    let publisher = "
iosts: publisher
initial: { location: On }
outputs: { OneA: {}, TwoB: {}, Quiet: {} }
transitions:
  - { from: On, to: One, on: OneA }
  - { from: One, to: Two, on: TwoB }
";
    let silent = |place: &str| format!("  - {{ from: {place}, to: {place}, on: Quiet }}\n");
    let also = "  - { from: On, to: Alone, on: TwoB }\n".to_owned() + &silent("Alone");
    let (fail, inconclusive) = (Some(Verdict::Fail), Some(Verdict::Inconclusive));
    for (more, trace, expected) in [
        (silent("On") + &silent("Two"), "TwoB", inconclusive),
        (silent("On") + &silent("Two"), "TwoB OneA", None),
        (silent("On"), "TwoB OneA", fail),
        (silent("Two"), "TwoB", fail),
        // In one order everything has come; the other one is not out of the question.
        (silent("On") + &silent("Two") + &also, "TwoB", None),
        (silent("On") + &silent("Two") + &also, "TwoB - OneA", None),
        (silent("Two") + &also, "TwoB - OneA", fail),
    ] {
        let model = model(&format!("{publisher}{more}"));
        let mut judge = Crossing::new(link(&model), Monitor::new(&model, first(&model)));
        let occurrence = |word: &str| match word {
            "-" => Occurrence::Silence(SILENCE),
            name => Occurrence::Observation(Event::new(name, Vec::new())),
        };
        let all = trace.split(' ').chain(["-"]);
        let verdict = all.map(occurrence).find_map(|what| verdict(&mut judge, &what));
        assert_eq!(verdict, expected, "{trace}, with\n{more}");
        // What waits for an output is named.
        let held_back = (expected == inconclusive).then(|| Event::new("TwoB", Vec::new()));
        assert_eq!(judge.held_back().filter(|_| expected != fail), held_back, "{trace}, with\n{more}");
    }
}

/// Soundness: one order has met the purpose, and the specification says nothing of what came to it since. So
/// nothing that is seen then is a Fail, be it no event at all.
#[test]
fn what_is_no_event_is_no_failure_where_one_order_has_met_the_purpose() {
    let test = TestCase::from_json(include_bytes!("data/pair.json")).unwrap();
    let number = |name: &str| usize::from(["Go", "X"].contains(&name));
    let over = ["In", "Out", "Go", "X"].map(|name| (name.to_owned(), number(name)));
    let initial = initial_state(&test, &Default::default(), 1, &mut Z3Solver::default()).unwrap();
    let mut judge = Crossing::new(Link::over(over.into()), CaseJudge::new(&test, initial));
    let event = |name: &str| Event::new(name, Vec::new());
    for stimulus in ["In", "Go"] {
        assert!(judge.can_send(&event(stimulus)));
        judge.take(&Occurrence::Stimulus(event(stimulus)));
        assert!(matches!(judge.alien("garbage".to_owned()), Judged::Ends(Verdict::Fail, _)));
    }
    judge.take(&Occurrence::Observation(event("Out")));
    assert_eq!(judge.verdict(), None);
    assert!(matches!(judge.alien("garbage".to_owned()), Judged::Ends(Verdict::Inconclusive, Cause::Crossed)));
}

/// Accuracy: what no order explains before Pass is no sign of Pass, and nothing judges it after Pass.
/// Precision: each observation is judged by some order, if not all by one.
#[test]
fn what_is_possible_only_after_pass_leads_to_no_pass() {
    // `SawA` and `SawB` tell the number of `Go`, in any order. `SawA` meets the purpose, or either does.
    let by_a = include_str!("data/either_order.json");
    let by_b = r#"{"source": 1, "target": 2, "action": 2, "guard": 6}"#;
    let by_either = by_a.replace(by_b, &by_b.replace(r#""target": 2"#, r#""target": 3"#));
    assert_ne!(by_a, by_either);
    let over = ["Go", "SawA", "SawB"].map(|name| (name.to_owned(), usize::from(name == "SawB")));
    for (text, observed, expected) in [
        (by_a, [("SawA", 7), ("SawB", 7)], Verdict::Pass),
        (by_a, [("SawB", 7), ("SawA", 7)], Verdict::Pass),
        (by_a, [("SawA", 7), ("SawB", 0)], Verdict::Inconclusive),
        (by_a, [("SawB", 0), ("SawA", 7)], Verdict::Inconclusive),
        (&by_either, [("SawA", 7), ("SawB", 7)], Verdict::Pass),
        (&by_either, [("SawB", 7), ("SawA", 7)], Verdict::Pass),
        (&by_either, [("SawA", 7), ("SawB", 0)], Verdict::Inconclusive),
        (&by_either, [("SawB", 7), ("SawA", 0)], Verdict::Inconclusive),
    ] {
        let test = TestCase::from_json(text.as_bytes()).unwrap();
        let initial = initial_state(&test, &Default::default(), 1, &mut Z3Solver::default()).unwrap();
        let mut judge = Crossing::new(Link::over(over.clone().into()), CaseJudge::new(&test, initial));
        let event = |name: &str, number: i32| Event::new(name, vec![Value::Int(number.into())]);
        judge.take(&Occurrence::Stimulus(event("Go", 7)));
        for (name, number) in observed {
            assert_eq!(judge.verdict(), None, "{observed:?}");
            judge.take(&Occurrence::Observation(event(name, number)));
        }
        assert_eq!(judge.verdict(), Some(expected), "{observed:?}");
    }
}

/// Precision: in one order the purpose is out of reach, so nothing is sent any more. Silence that changes
/// nothing in the others is said to tell nothing, and the run need not wait for its limit of time.
#[test]
fn silence_that_changes_nothing_is_known_as_such() {
    let test = TestCase::from_json(include_bytes!("data/race.json")).unwrap();
    let over = ["GoA", "OkA", "GoB"].map(|name| (name.to_owned(), usize::from(name == "GoB")));
    let initial = initial_state(&test, &Default::default(), 1, &mut Z3Solver::default()).unwrap();
    let mut judge = make_judge_with(&test, initial, Some(Link::over(over.into())), true);
    let event = |name: &str| Event::new(name, Vec::new());
    for what in [Occurrence::Stimulus(event("GoA")), Occurrence::Stimulus(event("GoB"))] {
        judge.take(&what);
    }
    judge.take(&Occurrence::Observation(event("OkA")));
    assert!(!judge.can_send(&event("GoA")));
    assert_eq!(judge.take(&Occurrence::Silence(SILENCE)), Judged::Followed(None));
    assert_eq!(judge.silence(), Some(AfterSilence::Nothing));
}

/// Precision: an answer that may be explained by what comes over the other connection, and is not, is what
/// failed; not what came at last.
#[test]
fn what_nothing_explains_is_named_and_not_what_came_last() {
    let model = model(REGISTER);
    let mut judge = Crossing::new(link(&model), Monitor::new(&model, first(&model)));
    let number = |value: u32| vec![Value::Int(value.into())];
    let got = Event::new("GotB", number(1));
    let done = Event::new("DoneA", Vec::new());
    judge.take(&Occurrence::Stimulus(Event::new("SetA", number(2))));
    judge.take(&Occurrence::Stimulus(Event::new("GetB", Vec::new())));
    judge.take(&Occurrence::Observation(got.clone()));
    assert_eq!((judge.verdict(), judge.unexplained(&done)), (None, Some(got)));
    judge.take(&Occurrence::Observation(done));
    assert_eq!(judge.verdict(), Some(Verdict::Fail));
}

/// A system of that model, each connection of which is as late as it likes.
struct Server<'a> {
    model: &'a Iosts,
    state: State,
    taken: [VecDeque<Event>; 2],
    sent: [VecDeque<Event>; 2],
}

impl Server<'_> {
    /// Does something that nobody sees: takes what was sent to it, or sends. False, where there is nothing.
    fn act(&mut self, random: &mut Random, wrong: bool) -> bool {
        let over = link(self.model);
        let outputs = alphabet().into_iter().filter(|event| !is_stimulus(self.model, event));
        let can = |event: &Event| after(self.model, &BTreeSet::from([self.state.clone()]), event).pop_first();
        let mut all: Vec<(Event, Option<usize>, State)> = outputs
            // What it has not taken yet comes before what it sends there: no link is looked at.
            .filter(|event| self.taken[over.number(&event.action)].is_empty())
            .filter_map(|event| Some((event.clone(), None, can(&event)?)))
            .collect();
        for (number, queue) in self.taken.iter().enumerate() {
            all.extend(queue.front().and_then(|event| Some((event.clone(), Some(number), can(event)?))));
        }
        if all.is_empty() {
            return false;
        }
        let (mut event, from, state) = all.swap_remove(random.below(all.len()));
        self.state = state;
        match from {
            Some(number) => drop(self.taken[number].pop_front()),
            None => {
                // It remembers what was written before.
                if wrong && event.action == "GotB" {
                    event.values = vec![Value::Int(
                        (if event.values[0] == Value::Int(1.into()) { 0 } else { 1 }).into(),
                    )];
                }
                self.sent[over.number(&event.action)].push_back(event);
            }
        }
        true
    }
}

/// One run with a system: the verdict, and how many observations have crossed.
fn run(model: &Iosts, seed: u64, is_wrong: bool) -> (Option<Verdict>, usize) {
    let mut random = Random::new(seed);
    let state = first(model).pop_first().unwrap();
    let mut server = Server { model, state, taken: Default::default(), sent: Default::default() };
    let mut judge = Crossing::new(link(model), Monitor::new(model, first(model)));
    let mut owed = [false, false];
    for _ in 0..60 {
        let what = match random.below(4) {
            0 => {
                let inputs: Vec<Event> =
                    alphabet().into_iter().filter(|event| is_stimulus(model, event)).collect();
                let event = inputs[random.below(inputs.len())].clone();
                let over = link(model).number(&event.action);
                // Each waits for its answer; what comes unasked over the same connection would need a link.
                if owed[over] || !server.sent[over].is_empty() || !judge.can_send(&event) {
                    continue;
                }
                owed[over] = true;
                server.taken[over].push_back(event.clone());
                Occurrence::Stimulus(event)
            }
            1 | 2 => {
                server.act(&mut random, is_wrong);
                continue;
            }
            _ => {
                let over = random.below(2);
                let Some(event) = server.sent[over].pop_front() else { continue };
                owed[over] &= event.action == "ToldB";
                Occurrence::Observation(event)
            }
        };
        let verdict = verdict(&mut judge, &what);
        if verdict.is_some() {
            return (verdict, judge.crossed());
        }
    }
    (None, judge.crossed())
}

/// Soundness: a conforming system is never blamed, however late each connection is. Precision: one that is
/// wrong is found, and orders that nobody saw are needed to explain the right one.
#[test]
fn a_system_with_late_connections_is_not_blamed_and_a_wrong_one_is() {
    let model = model(REGISTER);
    let (mut crossed, mut found) = (0, 0);
    for seed in 0..300 {
        let (verdict, count) = run(&model, seed, false);
        assert_eq!(verdict, None, "seed {seed}");
        crossed += usize::from(count > 0);
        if seed < 60 {
            found += usize::from(run(&model, seed, true).0 == Some(Verdict::Fail));
        }
    }
    assert!(crossed > 30 && found > 40, "{crossed} have crossed, {found} found");
}
