//! Timed sequences: what is read, what is written, what is judged, and the words of its explanation.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use coreach_adapters::cut::LONGEST;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::SearchLimits;
use coreach_execution::offline::inputs::{NoSequence, Reached, inputs_of, path_to, sequence_along};
use coreach_execution::offline::judge::OfflineJudge;
use coreach_execution::offline::prepared::Offline;
use coreach_execution::offline::read::TraceReader;
use coreach_execution::offline::sequence::{Placed, SeqItem};
use coreach_execution::offline::verdict::{CannotJudge, MOST_CONTEXTS, OfflineVerdict};
use coreach_execution::offline::waiting::Rules;
use coreach_execution::offline::why::{SpanEnd, Until};
use coreach_execution::offline::write::{TraceForm, write_sequence};
use coreach_model::Diagnostic;
use coreach_model::iosts::TransitionId;
use coreach_model::number::real;
use coreach_model::reader::{from_bytes, read_timed_specification};
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::{Delayed, delayed};

fn model(text: &str) -> (Timed, Delayed) {
    let file = from_bytes("model.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
    let timed = read_timed_specification(file).unwrap_or_else(|found| panic!("{found:?}")).0.timed;
    let form = delayed(&timed).unwrap();
    (timed, form)
}

const MODEL: &str = "\
iosts: session
clocks: [w]
types: { Colour: [RED, GREEN], Pair: { first: int, second: bool } }
variables: { limit: real }
initial: { location: Idle, condition: limit == 1 }
inputs:
  Open: { bound: real, colour: Colour }
  Whole: { pair: Pair }
outputs:
  Reply: { m: 'int[0..9]' }
transitions:
  - { from: Idle, to: Busy, on: Open, reset: [w], assign: { limit: bound } }
  - { from: Idle, to: Idle, on: Whole }
  - { from: Busy, to: Idle, on: Reply, when: w <= limit }
";

fn read(timed: &Timed, bytes: &[u8]) -> Result<Vec<Placed>, Diagnostic> {
    TraceReader::new(timed.graph(), "trace.csv", bytes).collect()
}

/// What was wrong, and its line and column.
fn mistake(timed: &Timed, text: &str) -> (&'static str, usize, usize) {
    let found = read(timed, text.as_bytes()).unwrap_err();
    let (line, column) = found.labels.first().map_or((0, 0), |(origin, _)| origin.line_and_column());
    (found.code, line, column)
}

#[test]
fn both_forms_are_read_as_they_were_written() {
    let (timed, _) = model(MODEL);
    let csv = "\
delay,action,values
0.1,Open,1/3,GREEN
,Whole,\"{\"\"first\"\":-2,\"\"second\"\":true}\"
12.000001
3,Reply,7
1/3
";
    let items: Vec<SeqItem> =
        read(&timed, csv.as_bytes()).unwrap().into_iter().map(|placed| placed.item).collect();
    assert_eq!(items.len(), 7);
    assert_eq!(items[0], SeqItem::Delay(real("1/10", 9).unwrap()));
    // 12.000001 and 3 stand together.
    let normal = coreach_execution::offline::sequence::normalize(items);
    for form in [TraceForm::Csv, TraceForm::JsonLines] {
        let written = write_sequence(timed.graph(), &normal, form);
        let again = read(&timed, written.as_bytes()).unwrap();
        let again: Vec<SeqItem> = again.into_iter().map(|placed| placed.item).collect();
        assert_eq!(again, normal, "{written}");
        assert_eq!(write_sequence(timed.graph(), &again, form), written);
    }
    assert_eq!(write_sequence(timed.graph(), &[], TraceForm::Csv), "delay,action,values\n");
    // Lines end as on other systems, too; empty ones count for nothing, but are counted.
    let places = read(&timed, b"\r\n\r\n1,Reply,0\r\n").unwrap();
    assert_eq!(places.iter().map(|placed| placed.line).collect::<Vec<_>>(), [3, 3]);
}

/// As spreadsheets and loggers write them.
#[test]
fn a_byte_order_mark_and_a_delay_of_zero_are_read() {
    let (timed, _) = model(MODEL);
    let items = |text: &str| -> Vec<SeqItem> {
        read(&timed, text.as_bytes()).unwrap().into_iter().map(|placed| placed.item).collect()
    };
    let expected = items(",Reply,1\n2,Reply,2\n");
    assert_eq!(expected.len(), 3);
    for text in [
        "\u{feff}delay,action,values\n,Reply,1\n2,Reply,2\n",
        "\u{feff}0,Reply,1\n2,Reply,2\n",
        "0.0,Reply,1\n0,\n0\n2,Reply,2\n",
        "\u{feff}{\"delay\":0,\"action\":\"Reply\",\"values\":{\"m\":1}}\n{\"delay\":0}\n{\"delay\":2,\"action\":\"Reply\",\"values\":{\"m\":2}}\n",
    ] {
        assert_eq!(items(text), expected, "{text}");
    }
    // Elsewhere such a sign is no part of a number.
    assert_eq!(mistake(&timed, "1,Reply,1\n\u{feff}1,Reply,1\n"), ("trace-delay", 2, 1));
}

#[test]
fn mistakes_have_their_line_and_column() {
    let (timed, _) = model(MODEL);
    for (text, code, line, column) in [
        ("delay,action,values\n-1/3,Reply,1\n", "trace-delay", 2, 1),
        ("1,Reply,1\n-0.5,Reply,1\n", "trace-delay", 2, 1),
        ("1s,Reply,1\n", "trace-delay", 1, 1),
        (" 1,Reply,1\n", "trace-delay", 1, 1),
        ("1,Replay,1\n", "unknown-action", 1, 3),
        ("1,,\n", "unknown-action", 1, 3),
        ("1\n\n1,Reply\n", "trace-values", 3, 3),
        ("1,Reply,1,2\n", "trace-values", 1, 3),
        ("1,Reply,10\n", "trace-value", 1, 9),
        ("1,Open,one,RED\n", "trace-value", 1, 8),
        ("1,Open,1,BLUE\n", "trace-value", 1, 10),
        ("1,Reply,\"1\n", "trace-line", 1, 9),
        ("1,Reply,\"1\"2\n", "trace-line", 1, 12),
        (",\n", "unknown-action", 1, 2),
        ("{\"delay\":1,\"action\":\"Reply\",\"values\":{\"m\":10}}\n", "trace-value", 1, 39),
        ("{\"delay\":1}\n{\"delay\":-1}\n", "trace-delay", 2, 2),
        ("{\"delay\":1,\"action\":\"Reply\"}\n", "trace-values", 1, 1),
        ("{\"delay\":1,\"event\":\"Reply\"}\n", "unknown-key", 1, 12),
        ("{\"delay\":1,\"delay\":1}\n", "trace-line", 1, 1),
        ("{}\n", "trace-line", 1, 1),
        ("{\"delay\":1}\n1,Reply,1\n", "trace-line", 2, 2),
    ] {
        assert_eq!(mistake(&timed, text), (code, line, column), "{text}");
    }
    let long = format!("1,Reply,{}\n", "1".repeat(LONGEST));
    assert_eq!(mistake(&timed, &long).0, "trace-line");
    // The longest line may end in `\r\n`, and is one line.
    let longest = format!("{{\"delay\":1{}}}\r\n{{\"delay\":-1}}\n", " ".repeat(LONGEST - 11));
    assert_eq!(mistake(&timed, &longest), ("trace-delay", 2, 2));
    assert_eq!(read(&timed, b"1,Reply,\xff\n").unwrap_err().code, "trace-line");
    // Others behind it are told with it.
    let notes = read(&timed, b"1,Replay,1\n1,Reply,1\n\n1,Reply\n\xff\n1,Reply,10\n").unwrap_err().notes;
    let places: Vec<&str> = notes.iter().map(|note| note.split(": ").next().unwrap()).collect();
    assert!(places.len() == 2 && places[0].ends_with(":4") && places[1].ends_with(":6"), "{notes:?}");
    // A name that is nearly right.
    let help = read(&timed, b"1,Replay,1\n").unwrap_err().help.unwrap();
    assert!(help.contains("`Reply`"), "{help}");
}

fn judge_trace<'a>(offline: &'a Offline<'a>, trace: impl IntoIterator<Item = Placed>) -> OfflineJudge<'a> {
    let solver = &mut Z3Solver::default();
    let mut judge = OfflineJudge::new(offline, &Valuation::new(), solver).unwrap();
    trace.into_iter().for_each(|placed| judge.take(&placed, solver).unwrap());
    judge
}

/// The verdict on a trace in CSV, with the judge that gave it.
fn verdict<R>(
    (timed, form): &(Timed, Delayed),
    path: &str,
    trace: &str,
    rules: Rules,
    look: impl FnOnce(&OfflineJudge<'_>) -> R,
) -> (OfflineVerdict, R) {
    let path: Vec<TransitionId> = path.split(',').map(|name| timed.transition(name).unwrap()).collect();
    let offline = Offline::new(timed, form, path, rules, MOST_CONTEXTS);
    let judge = judge_trace(&offline, read(timed, trace.as_bytes()).unwrap());
    (judge.verdict(), look(&judge))
}

/// A state whose outputs are excluded partly by time and partly by data is quiescent: the published formulas,
/// which ask both apart, blame a system that waits there. And a transition that the data exclude is no reason
/// to wait: by the published rule, a silent system does not fail.
#[test]
fn the_published_formulas_of_waiting_are_wrong() {
    const WRONG: &str = "\
iosts: apart
clocks: [w]
variables: { n: int }
initial: { location: A, condition: n == 0 }
inputs: { Go: {} }
outputs: { One: {}, Two: {} }
transitions:
  - { from: A, to: B, on: Go, when: w >= 1 }
  - { from: B, to: A, on: One, when: w < 1 }
  - { from: B, to: A, on: Two, when: n > 0 }
  - { from: A, to: C, on: Two, when: w < 1 }
  - { from: C, to: A, on: One, when: w < 2 }
  - { from: C, to: A, on: Two, when: w >= 2 && w < 9 && n > 0 }
";
    let model = model(WRONG);
    let of = |trace: &str, rules| verdict(&model, "1", trace, rules, |_| ()).0;
    // In B, One is too late and Two has no data: it may be silent for ever.
    assert_eq!(of("1,Go\n50\n", Rules::Corrected), OfflineVerdict::Pass);
    // What can be taken at some delay of the time alone (Two) lets it wait, by the published rule; that it is
    // quiescent is not seen.
    assert_eq!(of("1,Go\n50\n", Rules::Published), OfflineVerdict::Pass);
    // In C, One had to come before 2; Two has no data.
    assert_eq!(of("0.5,Two\n1,One\n", Rules::Corrected), OfflineVerdict::InconclusiveR);
    assert_eq!(of("0.5,Two\n4\n", Rules::Corrected), OfflineVerdict::Fail);
    assert_eq!(
        of("0.5,Two\n4\n", Rules::Published),
        OfflineVerdict::InconclusiveR,
        "a late system is not found"
    );

    // As above, but the data exclude an output that had its time, so that nothing is left that could be taken
    // later.
    let model = self::model(&WRONG.replace("on: Two, when: n > 0 }", "on: Two, when: n > 0 && w < 5 }"));
    let of = |trace: &str, rules| verdict(&model, "1", trace, rules, |_| ()).0;
    assert_eq!(of("1,Go\n50\n", Rules::Corrected), OfflineVerdict::Pass);
    assert_eq!(of("1,Go\n50\n", Rules::Published), OfflineVerdict::Fail, "a system that conforms is blamed");
}

/// What the first events leave one value is known from then on: no more is asked, however long the trace.
#[test]
fn what_the_first_events_pin_is_put_in() {
    for (says, first, then) in [
        ("m == n + 1", "1,Ask\n1,Tell,8,0\n", "1,Ask\n1,Tell,8,0\n"),
        ("2 * n + 3 == m && k == n", "1,Ask\n1,Tell,9,3\n", "1,Ask\n1,Tell,9,3\n"),
        (
            "n + r == m && (n - r == k || k == 9)",
            "1,Ask\n1,Tell,5,9\n1,Ask\n1,Tell,5,1\n",
            "1,Ask\n1,Tell,5,1\n",
        ),
        ("m <= n && n < m + 1", "1,Ask\n1,Tell,5,9\n", "1,Ask\n1,Tell,5,1\n"),
        (
            "m == pair.first && (k == 3) == pair.second && n == 4",
            "1,Ask\n1,Tell,5,3\n",
            "1,Ask\n1,Tell,5,3\n",
        ),
    ] {
        let (timed, form) = model(&format!(
            "\
iosts: pinned
clocks: [w]
types: {{ Pair: {{ first: int, second: bool }} }}
variables: {{ n: int, r: int, pair: Pair }}
initial: {{ location: A, condition: n >= 0 }}
inputs: {{ Ask: {{}} }}
outputs: {{ Tell: {{ m: int, k: int }} }}
transitions:
  - {{ from: A, to: B, on: Ask, reset: [w] }}
  - {{ from: B, to: A, on: Tell, when: w <= 5 && {says} }}
"
        ));
        let path = vec![timed.transition("1").unwrap()];
        let offline = Offline::new(&timed, &form, path, Rules::Corrected, MOST_CONTEXTS);
        let mut solver = Z3Solver::default();
        let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver).unwrap();
        let mut take = |text: &str| {
            for placed in read(&timed, text.as_bytes()).unwrap() {
                judge.take(&placed, &mut solver).unwrap();
            }
            let [one] = judge.contexts() else { panic!("{says}: {:?}", judge.contexts()) };
            let asked = coreach_analyses::solver::Solver::statistics(&solver).queries;
            (one.state.condition.clone(), asked)
        };
        let (_, asked) = take(first);
        let (condition, later) = take(&then.repeat(20));
        assert!(condition.is_empty(), "{says}: {condition:?}");
        assert_eq!(later, asked, "{says}: what is known costs nothing");
        // And what contradicts it is a fault.
        take("1,Ask\n");
        let wrong = read(&timed, b"1,Tell,77,77\n").unwrap();
        for placed in wrong {
            judge.take(&placed, &mut solver).unwrap();
        }
        assert_eq!(judge.verdict(), OfflineVerdict::Fail, "{says}");
    }
}

#[test]
fn what_is_not_known_in_the_beginning_is_learnt_from_the_trace() {
    let model = model(
        "\
iosts: learning
clocks: [w]
constants: { limit: real }
variables: { code: int }
initial: { location: A, condition: limit >= 1 && limit <= 5 }
inputs: { Ask: {} }
outputs: { Tell: { m: int } }
transitions:
  - { from: A, to: B, on: Ask, reset: [w] }
  - { from: B, to: A, on: Tell, when: w <= limit && m == code }
",
    );
    let of = |trace: &str| verdict(&model, "1,2", trace, Rules::Corrected, |judge| judge.most_at_once());
    assert_eq!(of("1,Ask\n3,Tell,7\n"), (OfflineVerdict::Pass, 1));
    // The code is the same the second time, and the limit is at least what was seen.
    assert_eq!(of("1,Ask\n3,Tell,7\n1,Ask\n4,Tell,7\n").0, OfflineVerdict::InconclusiveR);
    assert_eq!(of("1,Ask\n3,Tell,7\n1,Ask\n2,Tell,8\n").0, OfflineVerdict::Fail);
    assert_eq!(of("1,Ask\n5.5,Tell,7\n").0, OfflineVerdict::Fail);
    // Silence: until the largest limit that is possible.
    assert_eq!(of("1,Ask\n5\n").0, OfflineVerdict::InconclusiveR);
    let (verdict, why) =
        verdict(&model, "1,2", "1,Ask\n5.01\n", Rules::Corrected, |judge| judge.why().cloned().unwrap());
    assert_eq!(verdict, OfflineVerdict::Fail);
    assert_eq!(why.until, Until::End(SpanEnd { delay: real("5", 9).unwrap(), is_in: true }));
}

/// What is not known stays small, however long the trace is.
#[test]
fn a_condition_does_not_grow_with_the_trace() {
    let model = model(
        "\
iosts: flat
clocks: [w]
constants: { limit: real, other: int }
variables: { n: int }
initial: { location: A, condition: limit >= 1 && other > 0 }
inputs: { Ask: { a: int } }
outputs: { Tell: { m: int } }
transitions:
  - { from: A, to: B, on: Ask, reset: [w], assign: { n: n + a } }
  - { from: B, to: A, on: Tell, when: w <= limit && m <= n + other }
",
    );
    let mut trace = String::new();
    for number in 0..60 {
        trace += &format!("1,Ask,1\n{}.{},Tell,{}\n", number * 7 % 13 + 1, number, number % 7);
    }
    let (verdict, sizes) = verdict(&model, "1,2", &trace, Rules::Corrected, |judge| {
        judge.contexts().iter().map(|context| context.state.condition.len()).collect::<Vec<_>>()
    });
    assert_eq!(verdict, OfflineVerdict::InconclusiveR);
    assert!(sizes.len() == 1 && sizes[0] <= 4, "{sizes:?}");
}

/// Nor does a datum that nobody knows and that each event adds to; one that cannot be said in a sum stops at
/// a limit.
#[test]
fn a_datum_that_is_not_known_does_not_grow_with_the_trace() {
    let text = "\
iosts: adding
clocks: [w]
variables: { n: int, late: real }
initial: { location: A }
inputs: { Ask: { a: int } }
outputs: { Tell: { m: int } }
transitions:
  - { from: A, to: B, on: Ask, reset: [w], assign: { n: n + a, late: late + w } }
  - { from: B, to: A, on: Tell, when: m <= n }
";
    let trace = "0.1,Ask,1\n0.3,Tell,0\n".repeat(400);
    let (verdict, sizes) = verdict(&model(text), "1,2", &trace, Rules::Corrected, |judge| {
        let open = |context: &coreach_execution::offline::context::Context| {
            context.state.open.values().map(|term| term.written_size()).max().unwrap_or(0)
        };
        judge.contexts().iter().map(open).collect::<Vec<_>>()
    });
    assert_eq!((verdict, sizes.len()), (OfflineVerdict::InconclusiveR, 1));
    assert!(sizes[0] <= 5, "{sizes:?}");

    let (timed, form) = model(&text.replace("n: n + a", "n: (n + a) mod 7").replace(", when: m <= n", ""));
    let path = vec![timed.transition("1").unwrap()];
    let offline = Offline::new(&timed, &form, path, Rules::Corrected, MOST_CONTEXTS);
    let mut solver = Z3Solver::default();
    let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver).unwrap();
    let trace = "0.1,Ask,1\n0.3,Tell,-9\n".repeat(4000);
    let stopped =
        read(&timed, trace.as_bytes()).unwrap().iter().find_map(|item| judge.take(item, &mut solver).err());
    assert!(matches!(stopped, Some(CannotJudge::TooLarge { .. })), "{stopped:?}");
}

/// Fractions whose denominators have nothing in common add up to a longer number with each.
#[test]
fn delays_do_not_add_up_to_ever_longer_numbers() {
    let (timed, _) = model(MODEL);
    let lines = |count: u32| (1..count).map(|n| format!("1/{}\n", 2 * n + 1)).collect::<String>();
    assert!(read(&timed, lines(1000).as_bytes()).is_ok());
    assert_eq!(read(&timed, lines(100_000).as_bytes()).unwrap_err().code, "trace-delay");
    let decimals: String = (1..3000).map(|n| format!("0.{n:09}\n")).collect();
    assert!(read(&timed, decimals.as_bytes()).is_ok());
}

/// Two ways that one trace may have gone: one is the path.
#[test]
fn a_trace_of_two_ways_is_a_weak_pass() {
    let model = model(
        "\
iosts: choice
clocks: [w]
initial: { location: A }
inputs: { Go: {} }
outputs: { Yes: {} }
internals: [tau]
transitions:
  - { from: A, to: B, on: Go, reset: [w] }
  - { from: A, to: C, on: Go, reset: [w] }
  - { from: B, to: A, on: Yes, when: w <= 2 }
  - { from: C, to: A, on: Yes, when: w <= 1 }
  - { from: A, to: D, on: tau }
",
    );
    let of = |path: &str, trace: &str| verdict(&model, path, trace, Rules::Corrected, |_| ()).0;
    assert_eq!(of("1", "1,Go\n1\n"), OfflineVerdict::WeakPass);
    // Only one of both may still wait.
    assert_eq!(of("1", "1,Go\n1.5\n"), OfflineVerdict::Pass);
    assert_eq!(of("2", "1,Go\n1.5\n"), OfflineVerdict::InconclusiveR);
    assert_eq!(of("1", "1,Go\n2.5\n"), OfflineVerdict::Fail);
    // Behind the path an internal step may have been taken: nobody sees it.
    assert_eq!(of("1,3", "1,Go\n1.5,Yes\n"), OfflineVerdict::WeakPass);
    assert_eq!(of("1", "1,Yes\n"), OfflineVerdict::Fail);
    assert_eq!(of("1", "1,Go\n,Go\n"), OfflineVerdict::InconclusiveI);
    // A fault goes before everything, also behind the end of the path.
    assert_eq!(of("1,3", "1,Go\n1.5,Yes\n3,Yes\n"), OfflineVerdict::Fail);
}

#[test]
fn a_limit_of_contexts_is_a_stop() {
    let (timed, form) = model(
        "\
iosts: many
clocks: [w]
variables: { n: int }
initial: { location: A, condition: n == 0 }
inputs: { Go: {} }
transitions:
  - { from: A, to: A, on: Go, assign: { n: 2 * n } }
  - { from: A, to: A, on: Go, assign: { n: 2 * n + 1 } }
",
    );
    let path = vec![timed.transition("1").unwrap()];
    let offline = Offline::new(&timed, &form, path, Rules::Corrected, 50);
    let mut solver = Z3Solver::default();
    let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver).unwrap();
    let items = read(&timed, b"1,Go\n1,Go\n1,Go\n1,Go\n1,Go\n1,Go\n1,Go\n").unwrap();
    let stopped = items.iter().find_map(|item| judge.take(item, &mut solver).err());
    // 32 after five of them.
    assert_eq!(stopped, Some(CannotJudge::Contexts { line: 6, most: 50 }));
}

/// soundness: what can be is no Fail; precise: what cannot be is one, of 2^40 states.
#[test]
fn contexts_that_add_up_unseen_become_few() {
    let model = model(
        "\
iosts: many
clocks: [w]
variables: { n: int }
initial: { location: A, condition: n == 0 }
inputs: { Go: {} }
outputs: { Tell: { m: int } }
transitions:
  - { from: A, to: A, on: Go, reset: [w], assign: { n: 2 * n } }
  - { from: A, to: A, on: Go, reset: [w], assign: { n: 2 * n + 1 } }
  - { from: A, to: A, on: Tell, when: m == n && w <= 1 }
",
    );
    for (told, expected) in [
        ("1,Tell,123456789", OfflineVerdict::InconclusiveR),
        ("1,Tell,1099511627775", OfflineVerdict::InconclusiveR),
        ("1,Tell,1099511627776", OfflineVerdict::Fail),
        ("1.1,Tell,5", OfflineVerdict::Fail),
        ("1,Tell,5\n,Tell,6", OfflineVerdict::Fail),
    ] {
        let trace = "1,Go\n".repeat(40) + told + "\n";
        let (verdict, most) = verdict(&model, "1", &trace, Rules::Corrected, |judge| judge.most_at_once());
        assert_eq!(verdict, expected, "{told}");
        assert!(most <= 512, "{most}");
    }
}

#[test]
fn sequences_go_along_their_path() {
    let (timed, form) = model(MODEL);
    let path: Vec<TransitionId> = ["2", "1", "3"].map(|name| timed.transition(name).unwrap()).to_vec();
    let mut texts = Vec::new();
    for seed in [None, Some(1), Some(2), Some(3)] {
        let items = sequence_along(&form, &path, &Valuation::new(), seed, &mut Z3Solver::default()).unwrap();
        let offline = Offline::new(&timed, &form, path.clone(), Rules::Corrected, MOST_CONTEXTS);
        let placed = items.iter().cloned().enumerate();
        let judge = judge_trace(&offline, placed.map(|(line, item)| Placed { line, item }));
        assert_eq!(judge.verdict(), OfflineVerdict::Pass, "{items:?}");
        let inputs = inputs_of(&timed, &items);
        assert!(matches!(inputs.last(), Some(SeqItem::Event(action, _)) if timed.is_controllable(*action)));
        texts.push(write_sequence(timed.graph(), &items, TraceForm::Csv));
    }
    assert_eq!(texts.len(), 4);
    texts.sort();
    texts.dedup();
    assert!(texts.len() >= 3, "a seed changes the delays");
    // A path that no data and no times go along.
    let (timed, form) = model(&MODEL.replace("w <= limit }", "w <= limit && limit < 0 && w >= 0 }"));
    let path: Vec<TransitionId> = ["1", "3"].map(|name| timed.transition(name).unwrap()).to_vec();
    let none = sequence_along(&form, &path, &Valuation::new(), None, &mut Z3Solver::default());
    assert_eq!(none, Err(NoSequence::Impossible(1)));
    let reached =
        path_to(&form, &path[1..2], &Valuation::new(), &SearchLimits::default(), &mut Z3Solver::default());
    assert_eq!(reached, Reached::Never);
}
