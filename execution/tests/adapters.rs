//! The adapters against real programs: the example of the documentation, servers with a line protocol and
//! with HTTP.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use coreach_adapters::description::{
    AnswerPlace, Command, Encoding, Exchange, Http, Iut, Lines, PreparationStep, Probe, RepliesFrom, Request,
    Response, ServerLaunch, Settle, Shape, Spelling, Spelt, Stdio, Tcp, Transport, Unmatched,
};
use coreach_adapters::evidence::{EvidenceItem, EvidenceKind};
use coreach_adapters::lines::pattern;
use coreach_adapters::template::Template;
use coreach_adapters::{Adapter, Received, Session};
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::explain::reason_of;
use coreach_execution::timed::timing::Timing;
use coreach_execution::{CaseJudge, Run, Settings, Strategy, TestCase, TestSession, open};
use coreach_model::Value;
use coreach_model::semantics::Event;

fn test_case() -> TestCase {
    TestCase::from_json(include_bytes!("data/deliver_coffee.json")).unwrap()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn template(text: &str) -> Template {
    Template::parse(text).unwrap()
}

fn command(words: &[&str], directory: PathBuf) -> Command {
    let words = words.iter().map(|word| template(word)).collect();
    Command { words, directory, environment: Vec::new(), grace: Duration::ZERO }
}

fn adapter(way: Transport) -> Box<dyn Adapter> {
    open(&Iut {
        name: "test".to_owned(),
        way,
        link: Default::default(),
        behaviour: Default::default(),
        evidence: Default::default(),
        place: String::new(),
    })
}

fn stdio(words: &[&str], directory: PathBuf) -> Transport {
    let ready = Duration::from_secs(10);
    Transport::Stdio(Stdio {
        command: command(words, directory),
        ready,
        encoding: Encoding::Json,
        settle: None,
        keep: false,
    })
}

/// The verdicts of some runs.
fn verdicts(adapter: &mut dyn Adapter, count: u64) -> Vec<String> {
    let settings = Settings { quiescence: Duration::from_secs(5), ..Settings::default() };
    runs(adapter, &settings, count).iter().map(|run| format!("{:?}", run.outcome)).collect()
}

/// Some runs.
fn runs(adapter: &mut dyn Adapter, settings: &Settings, count: u64) -> Vec<Run> {
    let test = test_case();
    let mut solver = Z3Solver::default();
    (0..count)
        .map(|seed| {
            let initial = initial_state(&test, &Default::default(), seed, &mut solver).unwrap();
            TestSession { judge: &mut CaseJudge::new(&test, initial), settings, adapter }
                .run(seed, Strategy::random())
        })
        .collect()
}

const PASS: &str = "Verdict(Pass, Event)";

#[test]
fn the_example_of_the_documentation_passes() {
    let way = stdio(&["python3", "iut.py"], folder("../examples/coffee_machine"));
    assert_eq!(verdicts(&mut *adapter(way), 3), [PASS; 3]);
}

fn lines(coin: &str) -> Lines {
    let expect = |text: &str| Some(pattern(text).unwrap());
    Lines {
        line_ending: "\r\n".to_owned(),
        reset: vec![
            PreparationStep::Exchange(Exchange { send: None, expect: expect("220 .*"), over: None }),
            PreparationStep::Exchange(Exchange {
                send: Some(template("PRICE {cPrice}")),
                expect: expect("OK"),
                over: None,
            }),
        ],
        stimuli: vec![
            ("Coin".to_owned(), template(coin)),
            ("ChooseBeverage".to_owned(), template("CHOOSE {pBeverage}")),
        ],
        observations: vec![
            ("Return".to_owned(), Shape::fitting([pattern(r"change (?P<pRemainingValue>-?\d+)").unwrap()])),
            (
                "Deliver".to_owned(),
                Shape::fitting([pattern("take").unwrap(), pattern(r"(?P<pBeverage>\w+)").unwrap()]),
            ),
        ],
        answers: Vec::new(),
        ignored: Vec::new(),
        captures: Vec::new(),
        spelling: Spelling(vec![(
            "pBeverage".to_owned(),
            Spelt::Texts(vec![
                ("tea".to_owned(), "TEA".to_owned()),
                ("coffee".to_owned(), "COFFEE".to_owned()),
            ]),
        )]),
        unmatched: Unmatched::Fail,
    }
}

fn launch(server: &str, keep: bool) -> ServerLaunch {
    let command = command(&["python3", server, "{port}"], folder("tests/servers"));
    ServerLaunch { command, ready: Duration::from_secs(10), keep }
}

#[test]
fn a_line_protocol_is_spoken() {
    for keep in [false, true] {
        let tcp = Tcp {
            connections: Vec::new(),
            address: template("127.0.0.1:{port}"),
            launch: Some(launch("coffee_lines.py", keep)),
            tls: None,
            replies_from: RepliesFrom::default(),
            encoding: Encoding::Lines(lines("COIN {pCoinValue}")),
            settle: Settle::default(),
        };
        assert_eq!(verdicts(&mut *adapter(Transport::Tcp(tcp)), 3), [PASS; 3], "keep: {keep}");
    }
}

#[test]
fn a_line_that_no_pattern_fits_is_no_output_of_the_specification() {
    let tcp = Tcp {
        connections: Vec::new(),
        address: template("127.0.0.1:{port}"),
        launch: Some(launch("coffee_lines.py", false)),
        tls: None,
        replies_from: RepliesFrom::default(),
        encoding: Encoding::Lines(lines("KOIN {pCoinValue}")),
        settle: Settle::default(),
    };
    let expected = "Verdict(Fail, Alien(\"the line `?`, which no pattern fits\\n";
    let found = verdicts(&mut *adapter(Transport::Tcp(tcp)), 1);
    assert!(matches!(found.as_slice(), [one] if one.starts_with(expected)), "{found:?}");
}

/// The coffee machine that answers from another port than that of its address.
fn from_another_port(replies_from: RepliesFrom) -> Box<dyn Adapter> {
    let words = ["python3", "other_port.py", "{port}", "{cPrice}"];
    let command = command(&words, folder("tests/servers"));
    let lines = Lines { line_ending: String::new(), reset: Vec::new(), ..lines("COIN {pCoinValue}") };
    adapter(Transport::Udp(Tcp {
        connections: Vec::new(),
        address: template("127.0.0.1:{port}"),
        launch: Some(ServerLaunch { command, ready: Duration::from_secs(10), keep: false }),
        tls: None,
        replies_from,
        encoding: Encoding::Lines(lines),
        settle: Settle::default(),
    }))
}

/// What came from elsewhere, and from which hosts.
fn strays(run: &Run) -> Vec<(String, String)> {
    let is_from = |item: &&EvidenceItem| item.note.as_ref().is_some_and(|note| note.starts_with("from "));
    let marks = run.wire.iter().filter(is_from);
    let told =
        |item: &EvidenceItem| (String::from_utf8_lossy(&item.bytes).into_owned(), item.note.clone().unwrap());
    marks.map(told).collect()
}

#[test]
fn datagrams_from_another_port_are_taken_where_that_is_said() {
    let settings = Settings { quiescence: Duration::from_secs(20), ..Settings::default() };
    for run in runs(&mut *from_another_port(RepliesFrom::AnyPort), &settings, 3) {
        assert_eq!(format!("{:?}", run.outcome), PASS, "{:#?}", run.wire);
        // Each answer had one of another host before it, which says what no pattern fits.
        let strays = strays(&run);
        assert!(!strays.is_empty());
        for (text, note) in strays {
            assert_eq!(text, "?");
            assert!(note.starts_with("from 127.0.0.2:") && note.ends_with(", another host"), "{note}");
        }
    }
}

#[test]
fn datagrams_from_another_port_are_told_where_they_are_not_taken() {
    let settings = Settings { quiescence: Duration::from_secs(2), ..Settings::default() };
    let run = runs(&mut *from_another_port(RepliesFrom::SamePort), &settings, 1).remove(0);
    assert_eq!(format!("{:?}", run.outcome), "Verdict(Inconclusive, Silence(2s))", "{:#?}", run.wire);
    assert!(run.wire.iter().all(|item| item.kind != EvidenceKind::Received));
    let told = strays(&run);
    let notes =
        |host: &str| told.iter().filter(|(_, note)| note.starts_with(&format!("from {host}:"))).count();
    assert!(notes("127.0.0.1") > 0 && notes("127.0.0.2") > 0, "{told:?}");
    let hint = "another port of the host";
    assert!(told.iter().any(|(text, note)| text.starts_with("change ") && note.ends_with(hint)), "{told:?}");
    let (test, mut solver) = (test_case(), Z3Solver::default());
    let initial = initial_state(&test, &Default::default(), 0, &mut solver).unwrap();
    // A timed run ends in the same silence.
    for run in [Run { timing: Some(Timing::default()), ..run.clone() }, run] {
        let summary = reason_of(&mut CaseJudge::new(&test, initial.clone()), &run).summary;
        assert!(
            summary.contains("came from 127.0.0.1:") && summary.contains("`replies_from: any_port`"),
            "{summary}"
        );
    }
}

#[test]
fn requests_are_sent_and_responses_read() {
    let request = |path: &str, body: Option<&str>| Request {
        is_latin1: false,
        method: "POST".to_owned(),
        path: template(path),
        body: body.map(|body| Template::parse_body(body).unwrap()),
        headers: vec![("Content-Type".to_owned(), template("application/json"))],
    };
    let response = |status, parameter: &str, pointer: &str| Response {
        status,
        values: vec![(parameter.to_owned(), AnswerPlace::pointer(pointer))],
        ..Response::default()
    };
    let http = Http {
        base: template("http://127.0.0.1:{port}"),
        launch: Some(launch("coffee_http.py", true)),
        tls: None,
        reset: vec![PreparationStep::Request(Probe {
            request: request("/price/{cPrice}", None),
            statuses: vec![204],
            body: None,
            within: Duration::ZERO,
        })],
        headers: Vec::new(),
        stimuli: vec![
            ("Coin".to_owned(), request("/coins", Some(r#"{"n": {pCoinValue}}"#))),
            ("ChooseBeverage".to_owned(), request("/choice/{pBeverage}", None)),
        ],
        observations: vec![
            ("Return".to_owned(), response(200, "pRemainingValue", "/back/0")),
            ("Deliver".to_owned(), response(201, "pBeverage", "/drink")),
        ],
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
        settle: Settle::default(),
        places: Default::default(),
    };
    assert_eq!(verdicts(&mut *adapter(Transport::Http(http)), 3), [PASS; 3]);
}

#[test]
fn what_cannot_be_started_is_no_verdict() {
    let mut adapter = adapter(stdio(&["no-such-program"], folder(".")));
    let found = verdicts(&mut *adapter, 1);
    assert!(found[0].starts_with("RunError(Start(\"`no-such-program` cannot be started"), "{}", found[0]);
}

/// `cargo test --release -p coreach-execution --test all adapters:: -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn steps_a_second_over_stdio() {
    const STEPS: i64 = 20_000;
    let test = test_case();
    let mut adapter = adapter(stdio(&["python3", "-I", "-S", "echo.py"], folder("tests/servers")));
    let deadline = Instant::now() + Duration::from_secs(60);
    let session = Session { iosts: &test.iosts, constants: &[], seed: 0, deadline };
    adapter.start(&session).unwrap();
    let begin = Instant::now();
    for number in 0..STEPS {
        adapter.send(&Event::new("Coin", vec![Value::int(number)])).unwrap();
        let answer = Received::Output(Event::new("Return", vec![Value::int(number)]));
        assert_eq!(adapter.receive(deadline), Ok(answer));
    }
    let seconds = begin.elapsed().as_secs_f64();
    adapter.stop();
    let rate = 2.0 * STEPS as f64 / seconds;
    println!("{rate:.0} steps a second, a stimulus or an observation each");
    assert!(rate > 3000.0, "{rate}");
}

/// Threads of this process that make requests.
fn requesting() -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = names.map(|task| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default());
    names.filter(|name| name.trim_end() == "http").count()
}

#[test]
fn a_request_that_is_given_up_leaves_no_thread() {
    // It takes connections, and never answers; after those that its queue holds, connecting itself waits.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let request = Request {
        is_latin1: false,
        method: "GET".to_owned(),
        path: template("/"),
        body: None,
        headers: Vec::new(),
    };
    let http = Http {
        base: template(&format!("http://{}", listener.local_addr().unwrap())),
        launch: None,
        tls: None,
        reset: Vec::new(),
        headers: Vec::new(),
        stimuli: vec![("Coin".to_owned(), request)],
        observations: Vec::new(),
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
        // Nobody here waits for what is given up: each adapter would, for the one before.
        settle: Settle { within: Duration::ZERO, ..Settle::default() },
        places: Default::default(),
    };
    let test = test_case();
    let begin = Instant::now();
    for seed in 0..300 {
        let mut adapter = adapter(Transport::Http(http.clone()));
        let deadline = Instant::now() + Duration::from_secs(60);
        adapter.start(&Session { iosts: &test.iosts, constants: &[], seed, deadline }).unwrap();
        adapter.send(&Event::new("Coin", vec![Value::int(1)])).unwrap();
        let soon = Instant::now() + Duration::from_millis(2);
        assert_eq!(adapter.receive(soon), Ok(Received::Silence));
        adapter.stop();
        // Another test of this process may be making a request at the same time.
        assert!(requesting() <= 2, "{} after {seed} runs", requesting());
    }
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}

#[test]
fn a_value_without_a_text_is_not_sent_by_its_own_name() {
    let mut partial = lines("COIN {pCoinValue}");
    partial.spelling.0[0].1 = Spelt::Texts(vec![("tea".to_owned(), "TEA".to_owned())]);
    let test = test_case();
    let deadline = Instant::now() + Duration::from_secs(1);
    let session = Session { iosts: &test.iosts, constants: &[], seed: 1, deadline };
    let signatures = coreach_adapters::signature::Signatures::of(&session);
    let drink = |at: usize| {
        let parameters = &session.action("ChooseBeverage").unwrap().parameters;
        let values: Vec<Value> = Value::enumerate(parameters[0].ty(), 10).unwrap();
        Event::new("ChooseBeverage", vec![values[at].clone()])
    };
    let sent =
        |at: usize| coreach_adapters::lines::write_stimulus(&partial, &drink(at), &mut signatures.clone());
    let texts = [sent(0), sent(1)];
    assert!(texts.contains(&Ok("CHOOSE tea\r\n".to_owned())), "{texts:?}");
    let refused = |text: &Result<String, coreach_adapters::Failure>| {
        matches!(text, Err(coreach_adapters::Failure::Untranslatable(_)))
    };
    assert_eq!(texts.iter().filter(|text| refused(text)).count(), 1, "{texts:?}");
}
