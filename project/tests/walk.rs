//! A walk that covers: what it meets, what it finds, and that it blames nobody who does as the specification
//! says.

use std::time::{Duration, Instant};

use coreach_adapters::in_process::InProcess;
use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_analyses::machines::tour::find_closed_walk;
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::run::{Cause, Occurrence, events};
use coreach_execution::session::TestSession;
use coreach_execution::simulated::Simulated;

use coreach_execution::walk::{Walk, WalkLimits, WalkProgress};
use coreach_execution::{Outcome, Run, Settings, Strategy, judge};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_model::{Iosts, Verdict};
use coreach_project::cover::Criterion;
use coreach_project::walk::{ALL, list_all_goals, make_case};

use crate::graphs::{Graph, SORTS};

/// An account: what goes in comes out, and who takes more than there is waits for good.
const ACCOUNT: &str = "
iosts: account
variables: { vSum: nat, vAsked: nat }
initial: { location: Ready, condition: vSum == 0 && vAsked == 0 }
inputs: { Put: { pIn: 'int[1..100]' }, Take: { pOut: 'int[1..1000]' } }
outputs: { Done: { pSum: nat }, Blocked: {} }
transitions:
  - { from: Ready, to: Putting, on: Put, assign: { vSum: vSum + pIn } }
  - { from: Putting, to: Ready, on: Done, when: pSum == vSum }
  - { from: Ready, to: Taking, on: Take, assign: { vAsked: pOut } }
  - { from: Taking, to: Ready, on: Done, when: vAsked <= vSum && pSum == vSum - vAsked, assign: { vSum: pSum } }
  - { from: Taking, to: End, on: Blocked, when: vAsked > vSum }
";

fn model(text: &str) -> Iosts {
    let file = from_bytes("model".to_owned(), text.as_bytes().to_vec()).unwrap();
    read_specification(file).unwrap().0.iosts
}

/// The runs of a walk through a specification, against a model, and how far it came.
fn walked(specification: &str, system: &str, seed: u64, until: WalkLimits) -> (Vec<Run>, WalkProgress) {
    walked_for(&ALL, specification, system, seed, until)
}

/// The same, for the goals of these criteria.
fn walked_for(
    criteria: &[Criterion],
    specification: &str,
    system: &str,
    seed: u64,
    until: WalkLimits,
) -> (Vec<Run>, WalkProgress) {
    walked_slowly(criteria, specification, system, seed, until, Duration::ZERO)
}

/// A system that answers as another one, but so much later.
struct Slow<A> {
    inner: A,
    delay: Duration,
    answers_at: Instant,
}

impl<A: Adapter> Adapter for Slow<A> {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.inner.start(session)
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        self.answers_at = Instant::now() + self.delay;
        self.inner.send(stimulus)
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        std::thread::sleep(self.answers_at.min(until).saturating_duration_since(Instant::now()));
        if Instant::now() < self.answers_at { Ok(Received::Silence) } else { self.inner.receive(until) }
    }

    fn stop(&mut self) {
        self.inner.stop();
    }
}

/// The same, for a system that answers after a delay.
fn walked_slowly(
    criteria: &[Criterion],
    specification: &str,
    system: &str,
    seed: u64,
    until: WalkLimits,
    delay: Duration,
) -> (Vec<Run>, WalkProgress) {
    let (specification, system) = (model(specification), model(system));
    let test = make_case(&specification).unwrap().test;
    let varies = !test.iosts.constants.is_empty();
    let goals = list_all_goals(&test.iosts, criteria);
    let mut walk = Walk::new(test.iosts.clone(), &goals, criteria == ALL, until, varies);
    let moment = Duration::from_millis(1) + 50 * delay;
    let settings =
        Settings { steps: usize::MAX, quiescence: moment, patience: moment, ..Settings::default() };
    let mut runs = Vec::new();
    let mut solver = Lazy::default();
    for number in 0.. {
        let initial = initial_state(&test, &Default::default(), seed + number, &mut solver).unwrap();
        let one = TestSession {
            judge: judge::make_judge_with(&test, initial, None, true).as_mut(),
            settings: &settings,
            adapter: &mut Slow {
                inner: InProcess(Simulated::new(system.clone(), Lazy::default())),
                delay,
                answers_at: Instant::now(),
            },
        }
        .run(seed + number, Strategy::Walk(&mut walk));
        let failed = one.outcome.verdict() == Some(Verdict::Fail);
        runs.push(one);
        if failed || walk.is_over() {
            break;
        }
    }
    (runs, walk.progress())
}

fn so_many(events: usize) -> WalkLimits {
    WalkLimits { events, percent: None, deadline: None, ends_when_covered: false }
}

#[test]
fn all_that_can_be_covered_is_in_few_events_and_a_reset_leads_out_of_the_end() {
    let until = WalkLimits { percent: Some(100), ..so_many(400) };
    let (runs, standing) = walked(ACCOUNT, ACCOUNT, 1, until);
    assert_eq!(standing.covered, standing.goals, "{standing:?}");
    assert!(standing.events < 150, "{standing:?}");
    // What is behind Blocked is nothing: each run before the last one ended there.
    assert!(standing.resets >= 1 && standing.resets + 1 == runs.len(), "{standing:?}");
    assert!(runs.iter().all(|run| run.outcome.verdict() == Some(Verdict::Inconclusive)));
}

#[test]
fn one_seed_means_one_walk() {
    let told = |seed| {
        let (runs, standing) = walked(ACCOUNT, ACCOUNT, seed, so_many(120));
        let what = |run: &Run| run.trace.iter().map(|step| step.what.to_string()).collect::<Vec<_>>();
        (runs.iter().map(what).collect::<Vec<_>>(), standing)
    };
    assert_eq!(told(3), told(3));
    assert_ne!(told(3), told(4));
}

/// The tester asks the walk only when it can send, so the walk draws the same lots for a slow system.
#[test]
fn a_seed_means_the_same_walk_for_a_slow_system() {
    for seed in 1..=3 {
        let [quick, slow] = [0, 2].map(|delay| {
            let delay = Duration::from_millis(delay);
            let (runs, _) = walked_slowly(&ALL, ACCOUNT, ACCOUNT, seed, so_many(150), delay);
            let events = runs.iter().flat_map(|run| &run.trace).filter_map(|step| step.what.event().cloned());
            events.collect::<Vec<Event>>()
        });
        assert_eq!(quick, slow, "seed {seed}");
    }
}

/// A guard limits the fields of some alternatives. A walk sends these, too, before it ends, and
/// meets their boundaries if it goes on.
#[test]
fn a_fault_in_an_alternative_is_found() {
    const DESK: &str = "
iosts: desk
types: { Order: [Cancel, Buy: { item: string, count: nat }, Ship: { to: string, rush: bool }] }
variables: { v: Order }
initial: { location: Idle, condition: v == Cancel }
inputs: { Do: { p: Order } }
outputs: { Bill: { num: int } }
transitions:
  - { from: Idle, to: Busy, on: Do, when: 'match p: Cancel -> true | Buy(i, c) -> i in {\"nut\", \"bolt\"} && c <= 700 | Ship(t, _) -> matches(t, \"[A-Z]{2}-[0-9]{3}\")', assign: { v: p } }
  - { from: Busy, to: Idle, on: Bill, when: 'num == (match v: Cancel -> 1 | Buy(i, c) -> c + 7 | Ship(_, r) -> (if r then 9 else 6))' }
";
    let at_end = WalkLimits { ends_when_covered: true, ..so_many(400) };
    for (right, wrong, until) in [
        ("c + 7", "c + 8", &at_end),
        ("(if r then 9 else 6)", "5", &at_end),
        ("c + 7", "if c == 700 then 0 else c + 7", &so_many(400)),
        ("r then 9", "r then 8", &so_many(400)),
    ] {
        for seed in 1..=5 {
            let (runs, _) = walked(DESK, &DESK.replace(right, wrong), seed, until.clone());
            let verdict = runs.last().unwrap().outcome.verdict();
            assert_eq!(verdict, Some(Verdict::Fail), "{wrong} {seed}");
        }
    }
}

/// Values at the boundary are not found by chance: one of a thousand is.
#[test]
fn a_fault_at_equal_values_is_found() {
    let wrong = ACCOUNT
        .replace("vAsked <= vSum && pSum", "vAsked < vSum && pSum")
        .replace("vAsked > vSum", "vAsked >= vSum");
    for seed in 1..=5 {
        let (runs, standing) = walked(ACCOUNT, &wrong, seed, so_many(400));
        let last = runs.last().unwrap();
        assert_eq!(last.outcome, Outcome::Verdict(Verdict::Fail, Cause::Event), "{standing:?}");
        assert!(standing.events < 100, "{standing:?}");
    }
}

/// A parking meter, which is full when its till holds 9,000 cents.
const METER: &str = "
iosts: meter
variables: { vHalves: 'int[1..48]', vCentre: bool, vPaid: nat, vTill: nat }
functions:
  fee: 'if vCentre then (if vHalves <= 4 then 60 * vHalves else 120 + 30 * vHalves) else 20 * vHalves'
initial: { location: Free, condition: vHalves == 1 && !vCentre && vPaid == 0 && vTill == 0 }
inputs: { Select: { pHalves: 'int[1..48]', pCentre: bool }, Insert: { pCents: 'int[1..200]' } }
outputs: { Price: { pCents: nat }, Missing: {}, Ticket: {}, Full: {} }
transitions:
  - { from: Free, to: Quoting, on: Select, when: vTill < 9000, assign: { vHalves: pHalves, vCentre: pCentre } }
  - { from: Free, to: Ended, on: Select, when: vTill >= 9000 }
  - { from: Ended, to: Ended, on: Full }
  - { from: Quoting, to: Paying, on: Price, when: pCents == fee() }
  - { from: Paying, to: Counting, on: Insert, assign: { vPaid: vPaid + pCents } }
  - { from: Counting, to: Paying, on: Missing, when: vPaid < fee() }
  - { from: Counting, to: Free, on: Ticket, when: vPaid >= fee(), assign: { vTill: vTill + fee(), vPaid: 0 } }
";

/// Precision: a walk takes the boundaries in functions, and comes to the end of long sums.
#[test]
fn faults_at_boundaries_of_functions_and_behind_long_sums_are_found() {
    for (right, wrong, most) in
        [("if vHalves <= 4", "if vHalves <= 5", 2000), ("to: Ended, on: Full", "to: Ended, on: Ticket", 2000)]
    {
        let faulty = METER.replace(right, wrong);
        for seed in 1..=2 {
            let (runs, standing) = walked(METER, &faulty, seed, so_many(most));
            let verdict = runs.last().unwrap().outcome.verdict();
            assert_eq!(verdict, Some(Verdict::Fail), "{wrong} {seed}: {standing:?}");
        }
    }
}

#[test]
fn silence_where_the_specification_must_answer_is_a_fail() {
    let silent =
        ACCOUNT.replace("on: Blocked, when: vAsked > vSum", "on: Blocked, when: vAsked > vSum + 1000000");
    let (runs, _) = walked(ACCOUNT, &silent, 1, so_many(400));
    let last = runs.last().unwrap();
    assert!(matches!(last.outcome, Outcome::Verdict(Verdict::Fail, Cause::Silence(_))), "{:?}", last.outcome);
}

/// The answer to the last stimulus is seen, though the budget is used up.
#[test]
fn the_answer_to_the_last_stimulus_is_observed() {
    for budget in 1..8 {
        let (runs, _) = walked(ACCOUNT, ACCOUNT, 1, so_many(budget));
        let run = runs.last().unwrap();
        assert!(events(&run.trace).is_multiple_of(2), "{budget}: {:?}", run.trace);
        assert!(matches!(run.trace.last().unwrap().what, Occurrence::Silence(_)), "{budget}");
    }
}

/// Internal steps, choices, constants: what the specification allows is never a fault.
#[test]
fn who_does_as_the_specification_says_is_not_blamed() {
    let sender = include_str!("../../examples/bounded_retransmission/specification.yaml");
    let vending = include_str!("../../examples/vending_nondeterministic/specification.yaml");
    for text in [sender, vending] {
        for seed in [1, 20, 300] {
            let (runs, standing) = walked(text, text, seed, so_many(150));
            let failed = runs.iter().find(|run| run.outcome.verdict() == Some(Verdict::Fail));
            assert!(failed.is_none(), "{standing:?}: {failed:?}");
            assert!(standing.covered > 0, "{standing:?}");
        }
    }
}

/// Precision: on a plain graph the walk is a shortest tour, but for what was tried by lot before it was
/// planned; and it is found again where the system answers otherwise.
#[test]
fn a_walk_over_a_plain_graph_is_hardly_longer_than_the_shortest_tour() {
    for sort in SORTS {
        let graph = Graph::drawn(sort, 60, 1);
        let (text, shortest) = (graph.written(false), graph.bound());
        let edges = graph.edges.len();
        let tour = find_closed_walk(graph.locations, &graph.edges, &vec![true; edges], 0).unwrap();
        assert_eq!(tour.len(), shortest, "{sort}");
        let until = WalkLimits { percent: Some(100), ..so_many(10 * shortest) };
        let (runs, standing) = walked_for(&[Criterion::Transitions], &text, &text, 1, until);
        assert_eq!((standing.covered, runs.len()), (edges, 1), "{sort}: {standing:?}");
        assert!(standing.events <= shortest + shortest / 10, "{sort}: {standing:?} {shortest}");
    }
    // Each answer has two places to go on, by lot.
    let answers = "
iosts: answers
initial: { location: L0 }
inputs: { I: {}, J: {} }
outputs: { A: {}, B: {} }
transitions:
  - { from: L0, to: L1, on: I }
  - { from: L1, to: L2, on: A }
  - { from: L1, to: L0, on: B }
  - { from: L2, to: L3, on: I }
  - { from: L2, to: L2, on: J }
  - { from: L3, to: L0, on: A }
  - { from: L3, to: L2, on: B }
";
    for seed in 1..=5 {
        let until = WalkLimits { percent: Some(100), ..so_many(200) };
        let (_, standing) = walked_for(&[Criterion::Transitions], answers, answers, seed, until);
        assert_eq!(standing.covered, 7, "{seed}: {standing:?}");
    }
}

/// Precision: what comes where nothing may come is seen at the first visit.
#[test]
fn a_walk_listens_where_nothing_may_come() {
    let talkative = format!("{ACCOUNT}  - {{ from: Ready, to: Ready, on: Blocked }}\n");
    for seed in 1..=5 {
        let (runs, standing) = walked(ACCOUNT, &talkative, seed, so_many(400));
        assert_eq!(runs.last().unwrap().outcome.verdict(), Some(Verdict::Fail));
        assert_eq!(standing.events, 1, "{standing:?}");
    }
}

/// Cost: where nothing may come, also where only a guard says so, no wait is longer than a moment; but at the
/// end it is.
#[test]
fn a_walk_listens_for_a_moment_only() {
    let guarded = format!("{ACCOUNT}  - {{ from: Ready, to: Ready, on: Blocked, when: vSum < 0 }}\n");
    for text in [ACCOUNT, &guarded] {
        for seed in 1..=5 {
            let (runs, _) = walked(text, ACCOUNT, seed, so_many(60));
            let is_silence = |what: &Occurrence| matches!(what, Occurrence::Silence(_));
            let silences: Vec<usize> = runs
                .iter()
                .map(|run| run.trace.iter().filter(|step| is_silence(&step.what)).count())
                .collect();
            let (last, before) = silences.split_last().unwrap();
            assert!(*last == 1 && before.iter().all(|count| *count == 0), "{silences:?}");
        }
    }
}

/// Precision: a record is sent with other fields, and with texts that the state knows, so that all answers
/// come.
#[test]
fn a_walk_sends_different_records() {
    let calendar = "
iosts: calendar
types: { Appt: { title: string, start: \"int[0..23]\", who: \"set[bool]\" } }
variables: { vNew: Appt }
initial: { location: Idle }
inputs: { Plan: { appt: Appt } }
outputs: { Late: {}, Nobody: {}, Fine: {} }
transitions:
  - { from: Idle, to: Planning, on: Plan(a), when: 'matches(a.title, \"[A-Z][a-z]{1,6}\")', assign: { vNew: a } }
  - { from: Planning, to: Idle, on: Late, when: vNew.start > 20 }
  - { from: Planning, to: Idle, on: Nobody, when: \"vNew.start <= 20 && vNew.who == {}\" }
  - { from: Planning, to: Idle, on: Fine, when: \"vNew.start <= 20 && vNew.who != {}\" }
";
    let library = "
iosts: library
types: { Wait: { book: \"int[1..3]\", card: string } }
variables: { vMembers: \"set[4] of string\", vWait: Wait }
initial: { location: Open, condition: \"vMembers == {}\" }
inputs: { Join: { card: string }, Borrow: { what: Wait } }
outputs: { Welcome: {}, Lent: {}, Unknown: {} }
transitions:
  - { from: Open, to: Joining, on: Join(c), when: '!(c in vMembers) && len(vMembers) < 4', assign: { vMembers: \"vMembers + {c}\" } }
  - { from: Joining, to: Open, on: Welcome }
  - { from: Open, to: Busy, on: Borrow(w), assign: { vWait: w } }
  - { from: Busy, to: Open, on: Lent, when: vWait.card in vMembers }
  - { from: Busy, to: Open, on: Unknown, when: \"!(vWait.card in vMembers)\" }
";
    for (text, goals) in [(calendar, 4), (library, 5)] {
        for seed in 1..=5 {
            let (_, standing) = walked_for(&[Criterion::Transitions], text, text, seed, so_many(60));
            assert_eq!(standing.covered, goals, "{seed}: {standing:?}");
        }
    }
}
