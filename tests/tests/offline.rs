//! Off-line testing of the trajectory module: the figures and examples of Bannour, Escobedo, Gaston, Le Gall
//! (2012), corrected where they are misprinted (semantics B 27 and 28). The merge of Figure 1 is tested
//! beside the merge itself.
#![allow(clippy::unwrap_used, reason = "a test's helper fails its test")]

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::{SymbolicState, System};
use coreach_execution::offline::context::PathPosition;
use coreach_execution::offline::judge::OfflineJudge;
use coreach_execution::offline::merge::merge_sequences;
use coreach_execution::offline::prepared::Offline;
use coreach_execution::offline::read::TraceReader;
use coreach_execution::offline::recent::RecentSolver;
use coreach_execution::offline::sequence::{Placed, SeqItem};
use coreach_execution::offline::verdict::{MOST_CONTEXTS, OfflineVerdict};
use coreach_execution::offline::waiting::Rules;
use coreach_execution::offline::why::Until;
use coreach_execution::offline::write::{TraceForm, write_sequence};
use coreach_model::number::real;
use coreach_model::reader::{from_bytes, read_timed_specification};
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::delayed;
use coreach_model::{Diagnostic, LocationId, Term, Value};
use coreach_project::timed::{TimedModel, load, path};
use dashu_ratio::RBig;

/// The test purpose of the publication.
const PATH: &str = "1, 2, 3, 5, 6, 8, 9, 11";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/trajectory")
}

fn model() -> TimedModel {
    load(&folder().join("specification.yaml")).unwrap().0
}

fn read(model: &TimedModel, name: &str) -> Vec<Placed> {
    let file = BufReader::new(File::open(folder().join(name)).unwrap());
    TraceReader::new(model.timed.graph(), name, file).collect::<Result<_, _>>().unwrap()
}

fn offline<'a>(model: &'a TimedModel, rules: Rules) -> Offline<'a> {
    Offline::new(&model.timed, &model.form, path(&model.timed, PATH).unwrap(), rules, MOST_CONTEXTS)
}

/// B 28: the inputs are ones of the path; merged with the outputs they give the trace, with 1.8 and nCmd!3
/// where 2 and 2 are printed.
#[test]
fn the_published_sequences_are_merged() {
    let model = model();
    let mut merged = Vec::new();
    let (inputs, outputs) = (read(&model, "inputs.csv"), read(&model, "outputs.csv"));
    let ends =
        merge_sequences(inputs.into_iter().map(Ok::<_, Diagnostic>), outputs.into_iter().map(Ok), |item| {
            merged.push(item);
            Ok(())
        });
    // Outputs are recorded until 6.7, inputs end at 5.7.
    let ends = ends.unwrap();
    assert_eq!(
        (ends.inputs.clone(), ends.outputs.clone()),
        (real("5.7", 9).unwrap(), real("6.7", 9).unwrap())
    );
    assert!(ends.check().is_ok());
    let expected = "\
delay,action,values
0.1,location,4
0.1,askPlan,8
2.1,error,6
0.1,nCmd,3
0.5,plan,5
1.8,param,2
1,commands,1
1
";
    assert_eq!(write_sequence(model.timed.graph(), &merged, TraceForm::Csv), expected);
}

/// B 28: the published inputs solve what the path asks for.
#[test]
fn the_published_inputs_are_possible_along_the_path() {
    let model = model();
    let system = System::new(&model.form.iosts);
    let mut state = SymbolicState::initial(&model.form.iosts);
    let mut inputs = read(&model, "inputs.csv").into_iter().map(|placed| placed.item);
    let mut since = Term::int(0).to_real();
    let mut besides = Vec::new();
    for number in path(&model.timed, PATH).unwrap() {
        let (step, next) = system.successor(&state, number).unwrap();
        since = Term::add(&since, &Term::datum(&step.parameters[0]));
        if model.timed.is_controllable(model.form.iosts.transitions[number].action) {
            let Some(SeqItem::Delay(delay)) = inputs.next() else { panic!("a delay comes first") };
            besides.push(Term::equal(&since, &Term::literal(Value::Real(delay))));
            since = Term::int(0).to_real();
            let Some(SeqItem::Event(_, values)) = inputs.next() else { panic!("an event comes next") };
            let given = step.parameters[1..].iter().zip(values);
            besides.extend(
                given.map(|(symbol, value)| Term::equal(&Term::datum(symbol), &Term::literal(value))),
            );
        }
        state = next;
    }
    assert_eq!(inputs.next(), None);
    let mut all = state.condition;
    all.extend(besides.iter().cloned());
    assert_eq!(Z3Solver::default().check(&all), Answer::Sat);
}

/// B 28: the contexts along the trace, and FAIL at nCmd!: an algorithm on line says INCONC at the delay of
/// 2.1 or at error!.
#[test]
fn the_published_trace_fails_at_the_command() {
    let model = model();
    for rules in [Rules::Corrected, Rules::Published] {
        let offline = offline(&model, rules);
        let mut solver = Z3Solver::default();
        let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver).unwrap();
        let mut merged = Vec::new();
        let (inputs, outputs) = (read(&model, "inputs.csv"), read(&model, "outputs.csv"));
        merge_sequences(inputs.into_iter().map(Ok::<_, Diagnostic>), outputs.into_iter().map(Ok), |item| {
            merged.push(item);
            Ok(())
        })
        .unwrap();
        let places = ["q0", "q1", "q1", "q2", "q2", "q0", "q0"];
        let steps = [
            PathPosition::On(0),
            PathPosition::On(1),
            PathPosition::On(1),
            PathPosition::On(2),
            PathPosition::On(2),
            PathPosition::Off,
            PathPosition::Off,
        ];
        for (number, item) in merged.iter().enumerate() {
            judge.take(&Placed { line: number + 1, item: item.clone() }, &mut solver).unwrap();
            if number == 7 {
                break;
            }
            let [context] = judge.contexts() else { panic!("one context at {number}") };
            let name = &model.timed.graph().location(context.state.location).name;
            assert_eq!((name.as_str(), context.place), (places[number], steps[number]), "{number}");
            assert_eq!(judge.verdict(), OfflineVerdict::InconclusiveR);
        }
        assert_eq!(judge.verdict(), OfflineVerdict::Fail);
        let why = judge.why().unwrap();
        assert_eq!((why.seen.line, why.elapsed.clone()), (8, real("0.1", 9).unwrap()));
        let events: Vec<&str> = why.allowed.iter().map(|allowed| allowed.event.as_str()).collect();
        assert_eq!((events, &why.until), (vec!["location?(pLoc)"], &Until::Forever));
        assert!(why.refused.is_empty(), "no transition of nCmd leaves q0");
    }
}

/// B 28, facts about quiescence: nothing answers in q0, so it may wait for ever, by the data alone; in q1
/// some delay is below 1, so it may not.
#[test]
fn waiting_is_as_published() {
    let model = model();
    let system = System::new(&model.form.iosts);
    let mut solver = Z3Solver::default();
    let initial = SymbolicState::start(&system, &Valuation::new(), &mut solver).unwrap();
    for rules in [Rules::Corrected, Rules::Published] {
        let offline = offline(&model, rules);
        let mut waits = |place: &str, until: &str| {
            let location = model.timed.graph().find_location(place).unwrap();
            let state = SymbolicState { location, ..initial.clone() };
            offline.may_wait(&state, &real(until, 9).unwrap(), &mut solver)
        };
        for (place, until, can) in [
            ("q0", "1000000", true),
            ("q1", "0.999", true),
            ("q1", "1", false),
            ("q2", "2.999", true),
            ("q2", "3", false),
            ("q4", "1.999", true),
            ("q4", "2", false),
            ("q7", "8.999", true),
            ("q7", "9", false),
        ] {
            assert_eq!(waits(place, until), can, "{place} {until} {rules:?}");
        }
    }
    let quiescent: Vec<LocationId> = model
        .timed
        .graph()
        .location_ids()
        .filter(|location| {
            let offline = offline(&model, Rules::Corrected);
            let state = SymbolicState { location: *location, ..initial.clone() };
            offline.may_wait(&state, &real("1e9", 10).unwrap(), &mut solver)
        })
        .collect();
    assert_eq!(quiescent, [model.timed.graph().initial]);
}

/// A trace along the path passes; with a planted fault of time it fails, at the delay that was too long.
#[test]
fn a_fault_of_time_is_found_where_it_is() {
    let model = model();
    let offline = offline(&model, Rules::Corrected);
    let mut along = read(&model, "along.csv");
    // Up to the end of the path.
    along.truncate(16);
    let mut solver = Z3Solver::default();
    let mut verdict = |trace: &[Placed]| {
        let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver).unwrap();
        for placed in trace {
            judge.take(placed, &mut solver).unwrap();
        }
        (judge.verdict(), judge.why().map(|why| why.seen.line))
    };
    assert_eq!(verdict(&along), (OfflineVerdict::Pass, None));
    // Each answer, later than it may be. The delays of outputs are where the model has a clock below a bound.
    let bounds = [(2, "1"), (6, "1"), (10, "1"), (14, "9")];
    for (place, bound) in bounds {
        let mut late = along.clone();
        late[place].item = SeqItem::Delay(real(bound, 9).unwrap());
        assert_eq!(verdict(&late), (OfflineVerdict::Fail, Some(late[place].line)), "{place}");
    }
    assert_eq!(verdict(&read(&model, "late.csv")), (OfflineVerdict::Fail, Some(5)));
}

/// A module with data that nobody gives, and a trace of it: each event says something new of them.
const OPEN: &str = "\
iosts: open
clocks: [c]
variables: { n: int, most: real }
initial: { location: A }
inputs: { Least: { x: int }, Other: { x: int } }
outputs: { Tick: {} }
transitions:
  - { name: least, from: A, to: A, on: Least, when: x <= n, reset: [c] }
  - { name: other, from: A, to: A, on: Other, when: x != n, reset: [c] }
  - { name: tick, from: A, to: A, on: Tick, when: c <= most && n < 1000, reset: [c] }
";

/// Its events: an action, a value, and how long to wait before, in thousandths.
fn open_trace(timed: &Timed, events: impl Iterator<Item = (&'static str, i32, u32)>) -> Vec<Placed> {
    let items = events.flat_map(|(name, value, wait)| {
        let action = timed.graph().find_action(name).unwrap();
        let values = timed.graph().action(action).parameters.iter().map(|_| Value::int(value)).collect();
        [SeqItem::Delay(RBig::from(wait) / RBig::from(1000)), SeqItem::Event(action, values)]
    });
    items.enumerate().map(|(at, item)| Placed { line: at + 1, item }).collect()
}

fn judged(trace: impl Fn(&Timed) -> Vec<Placed>, then: impl Fn(&OfflineJudge<'_>, u64)) {
    judged_within(RBig::ZERO, trace, then);
}

fn judged_within(
    tolerance: RBig,
    trace: impl Fn(&Timed) -> Vec<Placed>,
    then: impl Fn(&OfflineJudge<'_>, u64),
) {
    let file = from_bytes("open.yaml".to_owned(), OPEN.as_bytes().to_vec()).unwrap();
    let timed = read_timed_specification(file).unwrap().0.timed;
    let form = delayed(&timed).unwrap();
    let tick = timed.transition("tick").unwrap();
    let offline = Offline::new(&timed, &form, vec![tick], Rules::Corrected, MOST_CONTEXTS).within(tolerance);
    let mut solver = RecentSolver::default();
    let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver).unwrap();
    for placed in trace(&timed) {
        judge.take(&placed, &mut solver).unwrap();
    }
    then(&judge, solver.statistics().queries);
}

/// What an event adds to a bound of data that nobody gives takes no question where the bound is there
/// already. Cost: a trace of a million events is judged in the time that it takes to read it.
#[test]
fn bounds_of_unknown_data_take_few_questions() {
    let event = |at: i32| match at % 2 {
        0 => ("Least", at * 37 % 500, 1 + at as u32 * 13 % 700),
        _ => ("Tick", 0, 1 + at as u32 * 17 % 700),
    };
    judged(
        |timed| open_trace(timed, (0..2000).map(event)),
        |judge, queries| {
            assert_eq!((judge.verdict(), judge.events()), (OfflineVerdict::InconclusiveR, 2000));
            assert!(queries < 400, "{queries}");
            assert!(!judge.has_forgotten() && judge.contexts()[0].state.condition.len() <= 3);
        },
    );
    // Soundness: what is known is not lost.
    judged(
        |timed| open_trace(timed, (0..200).map(event).chain([("Least", 1000, 1)])),
        |judge, _| assert_eq!(judge.verdict(), OfflineVerdict::InconclusiveI),
    );
}

/// What the ends of the instants tell takes no question. Cost: with a tolerance, too, most events are judged
/// without the solver.
#[test]
fn instants_within_a_tolerance_take_few_questions() {
    let event = |at: i32| match at % 2 {
        0 => ("Least", at * 37 % 500, 1 + at as u32 * 13 % 700),
        _ => ("Tick", 0, 1 + at as u32 * 17 % 700),
    };
    let tolerance = || RBig::from(1) / RBig::from(1000);
    judged_within(
        tolerance(),
        |timed| open_trace(timed, (0..400).map(event)),
        |judge, queries| {
            assert_eq!((judge.verdict(), judge.events()), (OfflineVerdict::InconclusiveR, 400));
            assert!(queries < 100, "{queries}");
        },
    );
    // Soundness: what is known is not lost.
    judged_within(
        tolerance(),
        |timed| open_trace(timed, (0..200).map(event).chain([("Least", 1000, 1)])),
        |judge, _| assert_eq!(judge.verdict(), OfflineVerdict::InconclusiveI),
    );
}

/// Values that a datum does not have add up: some are kept, so that the state stays small. Soundness: what
/// was forgotten makes no Fail. Precision: what was kept still does.
#[test]
fn values_that_are_excluded_are_kept_up_to_a_number() {
    let others = |timed: &Timed, last: &[(&'static str, i32)]| {
        let events = (0..400).map(|at| ("Other", at, 1)).chain(last.iter().map(|(name, x)| (*name, *x, 1)));
        open_trace(timed, events)
    };
    judged(
        |timed| others(timed, &[]),
        |judge, _| {
            assert!(judge.has_forgotten() && judge.contexts()[0].state.condition.len() < 80);
            assert_eq!(judge.verdict(), OfflineVerdict::InconclusiveR);
        },
    );
    // Between 399 and 999 it may be anything.
    judged(
        |timed| others(timed, &[("Least", 500), ("Tick", 0)]),
        |judge, _| assert_eq!(judge.verdict(), OfflineVerdict::InconclusiveR),
    );
    judged(
        |timed| others(timed, &[("Least", 1000), ("Tick", 0)]),
        |judge, _| assert_eq!(judge.verdict(), OfflineVerdict::Fail),
    );
}
