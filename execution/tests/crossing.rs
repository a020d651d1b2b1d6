//! What was sent and what is seen pass each other: the judge that knows of the link, over the specification
//! as the inner judge.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::time::Duration;

use coreach_adapters::description::{
    Encoding, Iut, Lines, Link, Settle, Shape, Spelling, Tcp, Transport, Unmatched,
};
use coreach_adapters::in_process::{Implementation, InProcess};
use coreach_adapters::lines::pattern;
use coreach_adapters::template::Template;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::explain::reason_of;
use coreach_execution::judge::crossing::{Crossing, MOST_UNDER_WAY};
use coreach_execution::judge::{Judge, Judged};
use coreach_execution::monitor::Monitor;
use coreach_execution::run::{Cause, Occurrence};
use coreach_execution::{Outcome, Run, RunStep, Settings, Strategy, TestSession, initial, open};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_model::{Datum, Iosts, Value, Verdict};

/// It ticks until it is told to go, and answers that once; told to stop while it is idle, it says nothing
/// that is known.
const MODEL: &str = "
iosts: ticker
initial: { location: Idle }
inputs: { Go: {}, Stop: {} }
outputs: { Tick: {}, Done: {} }
transitions:
  - { from: Idle, to: Idle, on: Tick }
  - { from: Idle, to: Busy, on: Go }
  - { from: Busy, to: Idle, on: Done }
  - { from: Busy, to: Still, on: Stop }
";

const DELAY: Duration = Duration::from_millis(50);

fn model() -> Iosts {
    let file = from_bytes("ticker".to_owned(), MODEL.as_bytes().to_vec()).unwrap();
    read_specification(file).unwrap().0.iosts
}

fn monitor(model: &Iosts) -> Monitor<'_> {
    let states = initial::states(model, &Default::default(), 10, &mut Z3Solver::default()).unwrap();
    Monitor::new(model, states.into_iter().collect::<BTreeSet<_>>())
}

/// `?` is sent, `!` is seen, a number is a delay in milliseconds.
fn occurrence(word: &str) -> Occurrence {
    let event = || Event::new(&word[1..], Vec::new());
    match word.as_bytes()[0] {
        b'?' => Occurrence::Stimulus(event()),
        b'!' => Occurrence::Observation(event()),
        _ => Occurrence::Delay(Duration::from_millis(word.parse().unwrap())),
    }
}

/// What a trace comes to, and how many have crossed.
fn judged(judge: &mut dyn Judge, trace: &str) -> (Option<Verdict>, usize) {
    judge.begin();
    for word in trace.split(' ') {
        match judge.take(&occurrence(word)) {
            Judged::Followed(_) if judge.verdict().is_none() => {}
            Judged::Followed(_) => break,
            Judged::Ends(verdict, _) => return (Some(verdict), judge.crossed()),
        }
    }
    (judge.verdict(), judge.crossed())
}

#[test]
fn an_observation_may_be_older_than_a_stimulus_and_not_too_old() {
    let model = model();
    let mut judge = Crossing::new(Link::delayed(DELAY), monitor(&model));
    let (fail, unknown) = (Some(Verdict::Fail), Some(Verdict::Inconclusive));
    for (trace, verdict, crossed) in [
        ("!Tick ?Go !Done !Tick", None, 0),
        // It was sent before the stimulus came; so were two.
        ("?Go !Tick !Done", None, 1),
        ("?Go !Tick !Tick !Done !Tick", None, 2),
        ("?Go 30 !Tick !Done", None, 1),
        ("?Go 30 19 !Tick !Done", None, 1),
        // The stimulus has come by then.
        ("?Go 50 !Tick", fail, 0),
        ("?Go 30 20 !Tick", fail, 0),
        ("?Go 30 !Tick 20 !Tick", fail, 1),
        // When `Done` was sent, it had come.
        ("?Go !Done !Done", fail, 0),
        // Order is kept: the second one came behind the first.
        ("?Go !Tick !Done ?Go !Done !Tick", None, 1),
        // An output that no order explains.
        ("!Done", fail, 0),
        // `Stop` came when it was idle again: nothing is said of that, once it is sure to have come.
        ("?Go ?Stop !Done", None, 1),
        ("?Go ?Stop !Done 50", unknown, 1),
        ("?Go ?Stop 50 !Done", None, 1),
        ("?Go ?Stop 50 50 !Done", fail, 0),
        ("?Go ?Stop !Tick 50 !Tick", fail, 1),
        // What is not said of a state is not said of the link either.
        ("?Stop", unknown, 0),
    ] {
        assert_eq!(judged(&mut judge, trace), (verdict, crossed), "{trace}");
        let alone = judged(&mut monitor(&model), trace).0;
        assert!(verdict != fail || alone == fail, "{trace}: a link forgives, and blames for nothing more");
    }
}

/// Soundness: a busy system takes stimuli one after the other, and may need the delay for each.
#[test]
fn the_delay_of_a_stimulus_begins_when_those_before_it_have_been_taken() {
    let text =
        format!("{MODEL}  - {{ from: Busy, to: Both, on: Go }}\n  - {{ from: Both, to: Busy, on: Done }}\n");
    let file = from_bytes("ticker".to_owned(), text.into_bytes()).unwrap();
    let model = read_specification(file).unwrap().0.iosts;
    let mut judge = Crossing::new(Link::delayed(DELAY), monitor(&model));
    for (trace, verdict) in [
        ("?Go ?Go 40 !Done 40 !Tick !Done", None),
        ("?Go ?Go 40 !Done 49 !Tick !Done", None),
        ("?Go ?Go 40 !Done 50 !Tick", Some(Verdict::Fail)),
        ("?Go ?Go 50 !Tick", Some(Verdict::Fail)),
        ("?Go ?Go 50 !Done 49 !Tick !Done", None),
        ("?Go ?Go 50 !Done 50 !Tick", Some(Verdict::Fail)),
        ("?Go ?Go 50 50 !Done !Tick", Some(Verdict::Fail)),
    ] {
        assert_eq!(judged(&mut judge, trace).0, verdict, "{trace}");
    }
}

/// A run of this trace, which the judge has followed to a Fail.
fn failed(judge: &mut dyn Judge, trace: &str) -> Run {
    assert_eq!(judged(judge, trace).0, Some(Verdict::Fail), "{trace}");
    let step = |word| RunStep { what: occurrence(word), transition: None, at: Duration::ZERO };
    Run {
        constants: Vec::new(),
        seed: 1,
        trace: trace.split(' ').map(step).collect(),
        outcome: Outcome::Verdict(Verdict::Fail, Cause::Event),
        end: judge.shown(),
        mix: Default::default(),
        link: judge.link(),
        crossed: judge.crossed(),
        teardown: None,
        wire: Vec::new(),
        retried: 0,
        timing: None,
        time: Duration::ZERO,
    }
}

/// Precision: what a longer delay excuses is said, with the keys, and only that.
#[test]
fn a_fail_that_another_order_explains_says_so() {
    let model = model();
    let (late, crossed) = ("taken more than 50 ms after", "`link: synchronous`");
    for (delay, trace, told) in [
        (DELAY, "?Go 50 !Tick", Some(late)),
        (DELAY, "?Go 30 20 !Tick", Some(late)),
        (DELAY, "!Tick ?Go !Done ?Go 50 !Tick", Some(late)),
        (DELAY, "?Go !Done !Done", None),
        (DELAY, "!Done", None),
        (Duration::ZERO, "?Go !Tick", Some(crossed)),
        (Duration::ZERO, "?Go !Done ?Go !Tick", Some(crossed)),
        (Duration::ZERO, "?Go !Done !Done", None),
    ] {
        let mut judge = Crossing::new(Link::delayed(delay), monitor(&model));
        let run = failed(&mut judge, trace);
        let summary = reason_of(&mut judge, &run).summary;
        for one in [late, crossed] {
            assert_eq!(summary.contains(one), told == Some(one), "{trace}: {summary}");
        }
        // A judge that looks at no link has nothing to say of one.
        let mut alone = monitor(&model);
        let run = failed(&mut alone, trace);
        assert!(!reason_of(&mut alone, &run).summary.contains("link"), "{trace}");
    }
}

/// Answers when it is waited for, and never before. It counts what it was sent before it had answered.
#[derive(Default)]
struct Patient {
    owes: bool,
    asked: usize,
    interrupted: usize,
}

impl Implementation for Patient {
    fn reset(&mut self, _: &[(Datum, Value)], _: u64) -> Result<(), String> {
        self.owes = false;
        Ok(())
    }

    fn input(&mut self, _: &Event) {
        self.asked += 1;
        self.interrupted += usize::from(self.owes);
        self.owes = true;
    }

    fn output(&mut self, waited: bool) -> Option<Event> {
        (waited && std::mem::take(&mut self.owes)).then(|| Event::new("Done", Vec::new()))
    }
}

/// Precision: an answer that is owed is awaited in most moves, and not in all.
#[test]
fn an_owed_answer_is_awaited_in_most_moves() {
    let text = MODEL
        .replace("  - { from: Idle, to: Idle, on: Tick }\n", "")
        .replace("to: Still, on: Stop", "to: Busy, on: Go");
    let file = from_bytes("ticker".to_owned(), text.into_bytes()).unwrap();
    let model = read_specification(file).unwrap().0.iosts;
    let share = |judge: &mut dyn Judge| {
        let mut adapter = InProcess(Patient::default());
        let settings = Settings { steps: 40, ..Settings::default() };
        for seed in 0..20 {
            TestSession { judge: &mut *judge, settings: &settings, adapter: &mut adapter }
                .run(seed, Strategy::random());
        }
        adapter.0.interrupted * 100 / adapter.0.asked
    };
    let behind = share(&mut Crossing::new(Link::delayed(DELAY), monitor(&model)));
    assert!((5..25).contains(&behind), "{behind}");
    // Where nothing crosses, nothing is lost by sending.
    let alone = share(&mut monitor(&model));
    assert!(alone > 50, "{alone}");
}

#[test]
fn with_no_delay_it_is_the_inner_judge() {
    let model = model();
    let words = ["?Go", "?Stop", "!Tick", "!Done"];
    let mut traces: Vec<String> = words.map(str::to_owned).to_vec();
    for _ in 0..3 {
        traces = traces.iter().flat_map(|trace| words.map(|word| format!("{trace} {word}"))).collect();
    }
    for trace in traces {
        // A moment passes behind each stimulus.
        let timed = trace.replace("?Go", "?Go 0").replace("?Stop", "?Stop 0");
        let behind = judged(&mut Crossing::new(Link::delayed(Duration::ZERO), monitor(&model)), &timed);
        assert_eq!(behind, (judged(&mut monitor(&model), &trace).0, 0), "{trace}");
    }
}

#[test]
fn no_more_is_sent_than_is_followed() {
    let text = MODEL.replace("on: Done }", "on: Done }\n  - { from: Busy, to: Busy, on: Go }");
    let file = from_bytes("ticker".to_owned(), text.into_bytes()).unwrap();
    let model = read_specification(file).unwrap().0.iosts;
    let mut judge = Crossing::new(Link::delayed(DELAY), monitor(&model));
    let go = Event::new("Go", Vec::new());
    let mut count = 0;
    while judge.can_send(&go) {
        assert!(matches!(judge.take(&Occurrence::Stimulus(go.clone())), Judged::Followed(_)));
        count += 1;
    }
    assert_eq!(count, MOST_UNDER_WAY);
    let ends = Judged::Ends(Verdict::Inconclusive, Cause::Crossed);
    assert_eq!(judge.take(&Occurrence::Stimulus(go.clone())), ends);
    // Time makes room.
    judge.take(&Occurrence::Delay(DELAY));
    assert!(judge.can_send(&go));
}

/// A ticker that looks at what it was sent only after a tick: the tick crosses every `Go`. One that is wrong
/// ticks once more when it has been told, so many milliseconds later.
fn ticker(wrong: Option<u64>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || -> std::io::Result<()> {
                let mut writer = stream.try_clone()?;
                let (sender, told) = mpsc::channel();
                std::thread::spawn(move || {
                    for line in BufReader::new(stream).lines().map_while(Result::ok) {
                        if sender.send(line).is_err() {
                            return;
                        }
                    }
                });
                loop {
                    std::thread::sleep(Duration::from_millis(6));
                    writer.write_all(b"tick\n")?;
                    match told.try_recv() {
                        Err(mpsc::TryRecvError::Empty) => {}
                        Err(mpsc::TryRecvError::Disconnected) => {
                            return writer.shutdown(std::net::Shutdown::Both);
                        }
                        Ok(_) => {
                            if let Some(late) = wrong {
                                std::thread::sleep(Duration::from_millis(late));
                                writer.write_all(b"tick\n")?;
                            }
                            std::thread::sleep(Duration::from_millis(10));
                            writer.write_all(b"done\n")?;
                        }
                    }
                }
            });
        }
    });
    address
}

fn way(address: SocketAddr) -> Transport {
    let template = |text: &str| Template::parse(text).unwrap();
    let encoding = Encoding::Lines(Lines {
        line_ending: "\n".to_owned(),
        reset: Vec::new(),
        stimuli: vec![("Go".to_owned(), template("go")), ("Stop".to_owned(), template("stop"))],
        observations: vec![
            ("Tick".to_owned(), Shape::fitting([pattern("tick").unwrap()])),
            ("Done".to_owned(), Shape::fitting([pattern("done").unwrap()])),
        ],
        answers: Vec::new(),
        ignored: Vec::new(),
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
    });
    Transport::Tcp(Tcp {
        address: template(&address.to_string()),
        launch: None,
        tls: None,
        replies_from: Default::default(),
        encoding,
        connections: Vec::new(),
        settle: Settle::default(),
    })
}

/// What runs come to, none of which sends `Stop`.
fn runs(judge: &mut dyn Judge, address: SocketAddr, count: u64) -> Vec<Run> {
    let iut = Iut {
        name: "ticker".to_owned(),
        way: way(address),
        link: Default::default(),
        behaviour: Default::default(),
        evidence: Default::default(),
        place: String::new(),
    };
    let mut adapter = open(&iut);
    let settings = Settings {
        steps: 12,
        quiescence: Duration::from_secs(10),
        patience: Duration::from_millis(20),
        ..Settings::default()
    };
    let mut found = Vec::new();
    for seed in 0..count {
        let run = TestSession { judge: &mut *judge, settings: &settings, adapter: adapter.as_mut() }
            .run(seed, Strategy::random());
        found.push(run);
    }
    // Whatever was told is told again by the trace alone.
    for run in &found {
        judge.begin();
        for step in &run.trace {
            assert!(matches!(judge.take(&step.what), Judged::Followed(_)), "{run:?}");
        }
        assert_eq!((judge.crossed(), judge.shown()), (run.crossed, run.end.clone()));
    }
    let again = TestSession { judge, settings: &settings, adapter: adapter.as_mut() }.replay(&found[0]).run;
    assert!(judge.link().is_none() || again.outcome.name() == found[0].outcome.name(), "{again:?}");
    found
}

/// Without `Stop`, whose place in the order nobody could tell.
fn simple() -> Iosts {
    let text = MODEL.replace("  - { from: Busy, to: Still, on: Stop }\n", "");
    let file = from_bytes("ticker".to_owned(), text.into_bytes()).unwrap();
    read_specification(file).unwrap().0.iosts
}

fn fails(runs: &[Run]) -> usize {
    runs.iter().filter(|run| run.outcome.verdict() == Some(Verdict::Fail)).count()
}

#[test]
fn a_tick_that_crosses_is_no_fail_and_one_that_cannot_have_crossed_is() {
    let model = simple();
    let right = ticker(None);
    // Long enough for a machine that does much else.
    let mut behind = Crossing::new(Link::delayed(Duration::from_secs(2)), monitor(&model));
    // Without looking at the link, a correct system fails.
    assert!(fails(&runs(&mut monitor(&model), right, 5)) > 0);
    let found = runs(&mut behind, right, 15);
    assert_eq!(fails(&found), 0, "{found:#?}");
    assert!(found.iter().map(|run| run.crossed).sum::<usize>() >= 10);
    // Wrong at once: it may have been before. Wrong much later: it cannot.
    assert_eq!(fails(&runs(&mut behind, ticker(Some(1)), 5)), 0);
    assert!(fails(&runs(&mut behind, ticker(Some(4000)), 2)) > 0);
}
