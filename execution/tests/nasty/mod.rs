//! Runs behind links that keep no promises: a correct system never gets a Fail from what an earlier run has
//! left under way.
//!
//! Each situation was seen: a run ends with a request outstanding, the next one resets over another
//! connection, and what was outstanding comes after the reset.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod link;
mod systems;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use coreach_adapters::description::{
    AnswerPlace, Command, Encoding, Exchange, Http, Iut, Lines, PreparationStep, Probe, Request, Response,
    ServerLaunch, Settle, Shape, Spelling, Stdio, Tcp, Transport, Unmatched,
};
use coreach_adapters::http::HttpAdapter;
use coreach_adapters::lines::pattern;
use coreach_adapters::template::Template;
use coreach_adapters::{Adapter, Failure, Left, Session, Teardown};
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::monitor::Monitor;
use coreach_execution::run::{Cause, Outcome};
use coreach_execution::{CaseJudge, Run, Settings, Strategy, TestCase, TestSession, initial, open};
use coreach_model::Value;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use link::{Habits, Link};
use systems::Slow;

fn template(text: &str) -> Template {
    Template::parse(text).unwrap()
}

fn request(method: &str, path: &str) -> Request {
    Request {
        is_latin1: false,
        method: method.to_owned(),
        path: template(path),
        body: None,
        headers: Vec::new(),
    }
}

fn probe(request: Request, status: u16) -> PreparationStep {
    PreparationStep::Request(Probe { request, statuses: vec![status], body: None, within: Duration::ZERO })
}

/// The counter behind HTTP, at this address.
fn http(address: SocketAddr) -> Http {
    let response = |status, values: &[(&str, &str)]| Response {
        status,
        values: values.iter().map(|(name, at)| ((*name).to_owned(), AnswerPlace::pointer(at))).collect(),
        ..Response::default()
    };
    Http {
        base: template(&format!("http://{address}")),
        launch: None,
        tls: None,
        reset: vec![probe(request("POST", "/reset"), 204)],
        headers: Vec::new(),
        stimuli: vec![
            ("Add".to_owned(), request("POST", "/add/{pBy}")),
            ("Ask".to_owned(), request("GET", "/ask")),
        ],
        observations: vec![
            ("Done".to_owned(), response(201, &[])),
            ("Value".to_owned(), response(200, &[("pValue", "/value")])),
        ],
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
        settle: Settle::default(),
        places: Default::default(),
    }
}

/// The counter behind lines, at this address.
fn tcp(address: SocketAddr) -> Tcp {
    let encoding = Encoding::Lines(lines());
    let (replies_from, settle) = Default::default();
    Tcp {
        address: template(&address.to_string()),
        launch: None,
        tls: None,
        replies_from,
        encoding,
        connections: Vec::new(),
        settle,
    }
}

fn lines() -> Lines {
    let reset = PreparationStep::Exchange(Exchange {
        send: Some(template("RESET")),
        expect: Some(pattern("ok").unwrap()),
        over: None,
    });
    Lines {
        line_ending: "\n".to_owned(),
        reset: vec![reset],
        stimuli: vec![("Add".to_owned(), template("ADD {pBy}")), ("Ask".to_owned(), template("ASK"))],
        observations: vec![
            ("Done".to_owned(), Shape::fitting([pattern("done").unwrap()])),
            ("Value".to_owned(), Shape::fitting([pattern(r"value (?P<pValue>-?\d+)").unwrap()])),
        ],
        answers: Vec::new(),
        ignored: Vec::new(),
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
    }
}

/// A server of ours that is kept.
fn launch(kind: &str, pause: &str) -> Option<ServerLaunch> {
    let command = command(&["python3", "slow_counter.py", kind, "{port}", pause]);
    Some(ServerLaunch { command, ready: Duration::from_secs(20), keep: true })
}

fn command(words: &[&str]) -> Command {
    let words = words.iter().map(|word| template(word)).collect();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers");
    Command { words, directory, environment: Vec::new(), grace: Duration::ZERO }
}

fn adapter(way: Transport) -> Box<dyn Adapter> {
    open(&Iut {
        name: "counter".to_owned(),
        way,
        link: Default::default(),
        behaviour: Default::default(),
        evidence: Default::default(),
        place: String::new(),
    })
}

/// How runs end early: after so many events, and without much patience.
fn settings(steps: usize, quiescence: u64) -> Settings {
    let quiescence = Duration::from_millis(quiescence);
    Settings { steps, quiescence, ..Settings::default() }
}

/// So many runs, one after the other.
fn runs(adapter: &mut dyn Adapter, settings: &Settings, count: u64) -> Vec<Run> {
    let test = TestCase::from_json(include_bytes!("../data/counter.json")).unwrap();
    let mut solver = Z3Solver::default();
    let initial = initial_state(&test, &Default::default(), 1, &mut solver).unwrap();
    let one = |seed| {
        TestSession { judge: &mut CaseJudge::new(&test, initial.clone()), settings, adapter }
            .run(seed, Strategy::random())
    };
    (0..count).map(one).collect()
}

fn counts(runs: &[Run]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for run in runs {
        *counts.entry(run.outcome.name()).or_default() += 1;
    }
    counts
}

/// None of them is wrong, and none is lost.
#[track_caller]
fn all_are_verdicts(runs: &[Run]) {
    let counts = counts(runs);
    let broken = runs.iter().find(|run| !matches!(run.outcome.name(), "Pass" | "Inconclusive"));
    assert!(
        broken.is_none(),
        "{counts:?}: {:?} {:#?}",
        broken.map(|run| &run.outcome),
        broken.map(|run| &run.trace)
    );
}

const SLOW: Slow = Slow { ms: 30, every: 7 };

#[test]
fn a_slow_server_behind_http_and_a_limit_of_steps() {
    let mut adapter = adapter(Transport::Http(http(systems::http(SLOW))));
    all_are_verdicts(&runs(&mut *adapter, &settings(3, 200), 150));
}

#[test]
fn a_proxy_that_pauses_longer_than_silence_lasts() {
    let habits = Habits { stall: 250, stalls: 4, ..Habits::default() };
    let link = Link::to(systems::http(Slow { ms: 0, every: 0 }), 11, habits);
    let mut adapter = adapter(Transport::Http(http(link.address)));
    all_are_verdicts(&runs(&mut *adapter, &settings(40, 100), 40));
}

#[test]
fn a_slow_server_behind_lines_and_a_limit_of_steps() {
    let mut adapter = adapter(Transport::Tcp(tcp(systems::lines(SLOW))));
    all_are_verdicts(&runs(&mut *adapter, &settings(3, 200), 150));
}

#[test]
fn lines_through_a_proxy_that_pauses_longer_than_silence_lasts() {
    let habits = Habits { delay: 2, stall: 250, stalls: 4, splits: 20, merges: 20 };
    let link = Link::to(systems::lines(Slow { ms: 0, every: 0 }), 12, habits);
    let mut adapter = adapter(Transport::Tcp(tcp(link.address)));
    all_are_verdicts(&runs(&mut *adapter, &settings(40, 100), 40));
}

/// Nothing tells that a datagram was taken: quiet is waited for, as long as the system says. With 1 ms of it,
/// some of these runs Fail.
#[test]
fn a_slow_system_in_datagrams_and_a_limit_of_steps() {
    let settle = Settle { quiet: Some(Duration::from_millis(60)), ..Settle::default() };
    let udp = Tcp { settle, ..tcp(systems::datagrams(Slow { ms: 8, every: 3 })) };
    let runs = runs(&mut *adapter(Transport::Udp(udp)), &settings(9, 200), 60);
    all_are_verdicts(&runs);
    assert!(runs.iter().any(|run| run.teardown.is_some()));
}

/// Where nothing is said of quiet, the barrier is passed before each run.
#[test]
fn a_slow_system_in_datagrams_behind_a_barrier() {
    let barrier = vec![PreparationStep::Pause(Duration::from_millis(60))];
    let udp = Tcp {
        connections: Vec::new(),
        settle: Settle { barrier, ..Settle::default() },
        ..tcp(systems::datagrams(Slow { ms: 8, every: 3 }))
    };
    let runs = runs(&mut *adapter(Transport::Udp(udp)), &settings(9, 200), 50);
    all_are_verdicts(&runs);
    let is_unclean = |run: &Run| run.teardown.as_ref().is_some_and(|teardown| teardown.left == Left::Unclean);
    assert!(runs.iter().any(is_unclean));
}

/// What was waited for is said.
#[test]
fn a_run_says_what_it_has_waited_for() {
    let system = systems::http(Slow { ms: 30, every: 1 });
    let mut adapter = adapter(Transport::Http(http(system)));
    let runs = runs(&mut *adapter, &settings(1, 200), 3);
    all_are_verdicts(&runs);
    for run in &runs {
        let Some(Teardown { awaited, waited, left: Left::Clean }) = &run.teardown else { panic!("{run:?}") };
        assert!(awaited == "the answer to `Add`" || awaited == "the answer to `Ask`", "{awaited}");
        assert!(*waited >= Duration::from_millis(10), "{waited:?}");
    }
}

/// The state of the system outlives a command that only carries what is said to it.
#[test]
fn a_command_that_carries_lines_to_a_slow_server() {
    let system = systems::lines(SLOW);
    let way = |settle| {
        let command = command(&["python3", "-I", "-S", "bridge.py", &system.port().to_string()]);
        Transport::Stdio(Stdio {
            command,
            ready: Duration::from_secs(20),
            encoding: Encoding::Lines(lines()),
            settle,
            keep: false,
        })
    };
    all_are_verdicts(&runs(&mut *adapter(way(Some(Settle::default()))), &settings(3, 200), 40));
}

#[test]
fn a_server_that_is_kept_and_slow() {
    let tcp = Tcp {
        connections: Vec::new(),
        address: template("127.0.0.1:{port}"),
        launch: launch("lines", "30"),
        tls: None,
        replies_from: Default::default(),
        encoding: Encoding::Lines(lines()),
        settle: Settle::default(),
    };
    all_are_verdicts(&runs(&mut *adapter(Transport::Tcp(tcp)), &settings(3, 200), 60));
    let base = template("http://127.0.0.1:{port}");
    let http = Http { base, launch: launch("http", "30"), ..http(([127, 0, 0, 1], 1).into()) };
    all_are_verdicts(&runs(&mut *adapter(Transport::Http(http)), &settings(3, 200), 60));
}

/// What cannot be waited for ends a server of ours: the next run has another one.
#[test]
fn a_server_that_is_kept_and_slower_than_one_waits_is_launched_anew() {
    let settle = Settle { within: Duration::from_millis(50), ..Settle::default() };
    let tcp = Tcp {
        connections: Vec::new(),
        address: template("127.0.0.1:{port}"),
        launch: launch("lines", "800"),
        tls: None,
        replies_from: Default::default(),
        encoding: Encoding::Lines(lines()),
        settle: settle.clone(),
    };
    let base = template("http://127.0.0.1:{port}");
    let http = Http { base, launch: launch("http", "800"), settle, ..http(([127, 0, 0, 1], 1).into()) };
    for way in [Transport::Tcp(tcp), Transport::Http(http)] {
        let runs = runs(&mut *adapter(way), &settings(12, 100), 12);
        all_are_verdicts(&runs);
        let ended = |run: &&Run| run.teardown.as_ref().is_some_and(|teardown| teardown.left == Left::Ended);
        assert!(runs.iter().filter(ended).count() >= 2, "{:?}", counts(&runs));
    }
}

/// Ways to a system that is not ours, through a link that stalls longer than one waits.
fn stalling(seed: u64, settle: &Settle) -> [(Link, Transport); 2] {
    let habits = Habits { stall: 700, stalls: 4, ..Habits::default() };
    let quick = Slow { ms: 0, every: 0 };
    let (one, other) =
        (Link::to(systems::http(quick), seed, habits), Link::to(systems::lines(quick), seed, habits));
    let http = Http { settle: settle.clone(), ..http(one.address) };
    let tcp = Tcp { settle: settle.clone(), ..tcp(other.address) };
    [(one, Transport::Http(http)), (other, Transport::Tcp(tcp))]
}

/// What cannot be waited for keeps the next run from beginning; when it has come, runs begin again.
#[test]
fn a_system_that_is_not_ours_is_not_used_before_it_is_clean() {
    let settle = Settle { within: Duration::from_millis(250), ..Settle::default() };
    for (_link, way) in stalling(3, &settle) {
        let runs = runs(&mut *adapter(way), &settings(60, 100), 40);
        let counts = counts(&runs);
        assert!(!counts.contains_key("Fail"), "{counts:?}");
        let is_unclean = |run: &Run| matches!(&run.outcome, Outcome::RunError(Failure::Unclean(text)) if text.contains("may still come"));
        let unclean = runs.iter().filter(|run| is_unclean(run)).count();
        assert!(unclean > 0 && unclean < 30, "{counts:?}");
        for (before, run) in runs.iter().zip(&runs[1..]) {
            let left = before.teardown.as_ref().map(|teardown| teardown.left);
            // A run that does not begin leaves nothing of its own.
            assert!(
                !is_unclean(run) || left == Some(Left::Unclean) || is_unclean(before),
                "{before:?} {run:?}"
            );
        }
    }
}

#[test]
fn a_barrier_cleanses_a_system_that_is_not_ours() {
    let barrier = vec![PreparationStep::Pause(Duration::from_millis(800))];
    let settle = Settle { within: Duration::from_millis(250), barrier, ..Settle::default() };
    for (_link, way) in stalling(4, &settle) {
        let runs = runs(&mut *adapter(way), &settings(60, 100), 30);
        all_are_verdicts(&runs);
        let unclean =
            |run: &&Run| run.teardown.as_ref().is_some_and(|teardown| teardown.left == Left::Unclean);
        assert!(runs.iter().filter(unclean).count() > 0, "{:?}", counts(&runs));
    }
}

/// Nobody tells whether what was sent over a connection that broke has been done. One run says so.
#[test]
fn a_request_without_an_answer_is_one_that_may_still_come() {
    let settle = Settle { within: Duration::from_millis(150), ..Settle::default() };
    let http = Http { settle, ..http(systems::broken()) };
    let found: Vec<String> = runs(&mut *adapter(Transport::Http(http)), &settings(60, 100), 6)
        .iter()
        .map(|run| match &run.outcome {
            Outcome::RunError(failure) => failure.name().to_owned(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(found, ["lost", "unclean", "lost", "unclean", "lost", "unclean"]);
}

/// While an answer is outstanding, a request would wait for its turn: it must not be judged as if it had been
/// sent.
#[test]
fn nothing_is_sent_over_http_before_the_answer_has_come() {
    const MODEL: &str = "
iosts: counter
variables: { vCount: int }
initial: { location: Idle, condition: vCount == 0 }
inputs: { Add: { pBy: \"int[1..9]\" }, Ask: {} }
outputs: { Value: { pValue: int }, Done: {} }
transitions:
  - { from: Idle, to: Adding, on: Add, assign: { vCount: vCount + pBy } }
  - { from: Adding, to: Idle, on: Done }
  - { from: Adding, to: Both, on: Ask }
  - { from: Both, to: Adding, on: Value, when: pValue == vCount }
";
    let file = from_bytes("counter".to_owned(), MODEL.as_bytes().to_vec()).unwrap();
    let model = read_specification(file).unwrap().0.iosts;
    let states = initial::states(&model, &Default::default(), 10, &mut Z3Solver::default()).unwrap();
    let mut judge = Monitor::new(&model, states.into_iter().collect());
    let mut adapter = adapter(Transport::Http(http(systems::http(Slow { ms: 60, every: 1 }))));
    for seed in 0..5 {
        let run = TestSession { judge: &mut judge, settings: &settings(8, 5000), adapter: &mut *adapter }
            .run(seed, Strategy::random());
        assert_eq!(run.outcome, Outcome::inconclusive(Cause::Steps(8)), "{:#?}", run.trace);
    }
}

/// As after a kill: the way to the system is gone, and what it has sent is not. Another way, be it of another
/// program, waits.
#[test]
fn what_a_run_that_was_cut_off_has_left_is_waited_for() {
    let settle = Settle { within: Duration::from_millis(600), ..Settle::default() };
    let system = systems::http(Slow { ms: 300, every: 1 });
    let way = || Transport::Http(Http { settle: settle.clone(), ..http(system) });
    for seed in 0..6 {
        let test = TestCase::from_json(include_bytes!("../data/counter.json")).unwrap();
        let mut cut_off =
            HttpAdapter::new(Http { settle: settle.clone(), ..http(system) }, Default::default());
        let deadline = Instant::now() + Duration::from_secs(60);
        cut_off.start(&Session { iosts: &test.iosts, constants: &[], seed, deadline }).unwrap();
        cut_off.send(&Event::new("Add", vec![Value::int(5)])).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        drop(cut_off);
        let runs = runs(&mut *adapter(way()), &settings(4, 500), 1);
        all_are_verdicts(&runs);
    }
}

/// Two programs at one system would reset each other: one waits for the other.
#[test]
fn two_ways_to_one_system_take_turns() {
    let system = systems::lines(Slow { ms: 0, every: 0 });
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                all_are_verdicts(&runs(&mut *adapter(Transport::Tcp(tcp(system))), &settings(20, 500), 20));
            });
        }
    });
}

/// `cargo test --profile soak -p coreach-execution --test all nasty:: -- --ignored --nocapture`: figures for
/// `docs/explanation/evidence.md`. `COREACH_RUNS` says how many runs of each kind.
#[test]
#[ignore = "takes minutes"]
fn thousands_of_runs_behind_the_nasty_link() {
    let each: u64 = std::env::var("COREACH_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(1250);
    let habits = [
        Habits { delay: 4, stall: 60, stalls: 2, splits: 20, merges: 20 },
        Habits { delay: 1, ..Habits::default() },
    ];
    let mut all = BTreeMap::new();
    for (number, habits) in habits.into_iter().enumerate() {
        for slow in [SLOW, Slow { ms: 0, every: 0 }] {
            let seed = 20 + number as u64;
            let (one, other) =
                (Link::to(systems::http(slow), seed, habits), Link::to(systems::lines(slow), seed, habits));
            for way in [Transport::Http(http(one.address)), Transport::Tcp(tcp(other.address))] {
                let kind = if matches!(way, Transport::Tcp(_)) { "tcp" } else { "http" };
                let steps = 3 + 3 * number;
                let runs = runs(&mut *adapter(way), &settings(steps, 20), each);
                let waited =
                    runs.iter().filter_map(|run| run.teardown.as_ref()).map(|teardown| teardown.waited);
                let longest = waited.clone().max().unwrap_or_default();
                println!(
                    "{kind} {habits:?} {slow:?} {steps} steps: {:?}, {} waited, {longest:?} at most",
                    counts(&runs),
                    waited.count()
                );
                for (name, count) in counts(&runs) {
                    *all.entry(name).or_insert(0) += count;
                }
            }
        }
    }
    println!("in all: {all:?}");
    assert!(!all.contains_key("Fail") && !all.contains_key("RunError"), "{all:?}");
}
