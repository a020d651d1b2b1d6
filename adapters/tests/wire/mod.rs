//! Mutated valid messages on every wire: no mutation is an event but by being one.
//!
//! Valid messages are changed at random: bytes flipped, put in, left out, pieces doubled, moved, taken from
//! another message, signs replaced by such as look alike or by their escapes. What the adapters make of the
//! result is compared with [`oracle`], which knows the same model and was written apart from them, on another
//! parser: an event where it says an event, the same one, and none where it says none. 20,000 mutants a wire
//! are tried in every run of the tests; more with
//!
//! ```text
//! COREACH_MUTANTS=1000000 cargo test --profile soak -p coreach-adapters --test all wire:: -- --nocapture
//! ```

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod frames;
mod mutate;
mod oracle;
mod wires;

use std::time::{Duration, Instant};

use coreach_adapters::description::{AnswerPlace, Http, Response, Spelling, Unmatched};
use coreach_adapters::json_lines::read_message;
use coreach_adapters::reply::{Reply, translate};
use coreach_adapters::template::Template;
use coreach_adapters::{Failure, Received};
use coreach_model::random::Random;
use wires::{MODEL, signatures};

/// How many are tried.
fn mutants() -> usize {
    let asked = std::env::var("COREACH_MUTANTS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(20_000)
}

/// Compares adapter and oracle on mutants of the seeds.
fn compare(
    wire: &str,
    seeds: &[&str],
    adapter: impl Fn(&str) -> Option<String>,
    oracle: impl Fn(&str) -> Option<String>,
) {
    let count = mutants();
    let mut random = Random::new(10);
    for seed in seeds {
        assert!(adapter(seed).is_some(), "{wire}: no event: {seed}");
        assert_eq!(adapter(seed), oracle(seed), "{wire}: {seed}");
    }
    let (mut events, mut wrong) = (0, Vec::new());
    let begin = Instant::now();
    for _ in 0..count {
        let mutant = mutate::mutant(seeds, &mut random);
        let Ok(mutant) = String::from_utf8(mutant) else { continue };
        if mutant.contains('\n') && wire != "http" {
            continue;
        }
        let (found, expected) = (adapter(&mutant), oracle(&mutant));
        events += usize::from(expected.is_some());
        if found != expected {
            wrong.push(format!("{mutant:?}: {found:?}, not {expected:?}"));
        }
    }
    println!(
        "{wire}: {count} mutants, {events} of them events, {} wrong, {:?}",
        wrong.len(),
        begin.elapsed()
    );
    // A test of mutants of which none is an event, or all are, tests little.
    assert!(events > count / 100 && events < count * 9 / 10, "{events} of {count}");
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{wire}:\n{}", wrong.join("\n"));
}

const JSON: &[&str] = &[
    r#"{"output":"Out","values":{"n":5,"b":true,"r":"1/3"}}"#,
    r#"{"output": "Out", "values": {"n": "-9007199254740993", "b": false, "r": 2.50}}"#,
    r#"{"values":{"r":-1e2,"n":120,"b":true},"output":"Out"}"#,
    r#"{"output":"Deliver","values":{"d":"COFFEE"}}"#,
    r#"{"output":"Deliver","values":{"d":"TEA"}}"#,
    r#"{"output":"Both","values":{"p":{"a":7,"d":"TEA"},"s":"COFFEE"}}"#,
    r#"{"output":"Cells","values":{"c":{"default":0,"cells":[[1,5],[-2,6]]}}}"#,
    r#"{"output":"Say","values":{"t":"a b\n\u00e9\u0000\ud83d\ude00"}}"#,
    r#"{"output":"Quote","values":{"q":"\"\\ 7"}}"#,
    r#"{"output":"None"}"#,
    r#"{"output":"None","values":{}}"#,
];

#[test]
fn no_mutant_of_a_json_line_is_an_event_but_by_being_one() {
    let signatures = signatures(MODEL);
    let adapter = |line: &str| wires::json_line(&signatures, line);
    compare("json", JSON, adapter, oracle::json_line);
}

#[test]
fn no_mutant_of_a_pattern_line_is_an_event_but_by_being_one() {
    let signatures = signatures(MODEL);
    let lines = wires::lines();
    let adapter = |line: &str| wires::pattern_line(&lines, &signatures, line);
    let seeds = [
        "out 5 true 1/3",
        "out -120 false 2.50",
        "out 0 true -7e3",
        "take COFFEE",
        "take TEA",
        r#"both {"a":7,"d":"TEA"} coffee"#,
        r#"both {"d": "COFFEE", "a": "9007199254740993"} tea"#,
        "say  what, \u{e9}\t\"7\" ",
        r#"quote "a\tb\u0000\\" "#,
    ];
    // A carriage return at its end is the line's end.
    let oracle = |line: &str| oracle::pattern_line(line.strip_suffix('\r').unwrap_or(line));
    compare("lines", &seeds, adapter, oracle);
}

#[test]
fn no_mutant_of_a_body_is_an_event_but_by_being_one() {
    let signatures = signatures(MODEL);
    let http = wires::http();
    let adapter = |text: &str| wires::body(&http, &signatures, text);
    let seeds = [
        r#"{"n":5,"b":[true,{"r":"1/3"}]}"#,
        r#"{ "b": [false, {"r": 0.5, "x": [1, {}]}], "more": null, "n": "19007199254740992" }"#,
        r#"{"p":{"a":7,"d":"TEA"},"s":"coffee"}"#,
        r#"{"s":"tea","q":"","p":{"d":"COFFEE","a":-3}}"#,
        r#"{"t":"a\u0000b \u00e9"}"#,
        r#"{"t":"","p":3}"#,
    ];
    compare("http", &seeds, adapter, oracle::body);
}

#[test]
fn a_number_that_is_too_long_is_refused_before_it_is_read_at_any_depth() {
    let signatures = signatures(MODEL);
    for quote in ["", "\""] {
        for digits in [4097, 1_000_000] {
            let digits = "9".repeat(digits);
            let line = format!(
                r#"{{"output":"Both","values":{{"p":{{"a":{quote}{digits}{quote},"d":"TEA"}},"s":"TEA"}}}}"#
            );
            let begin = Instant::now();
            assert!(matches!(read_message(&line, &signatures), Err(Failure::Garbage(_))));
            // Not a measurement: converting a million digits takes many times as long, on a busy machine,
            // too.
            assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        }
    }
}

#[test]
fn an_answer_in_a_coding_that_nobody_asked_for_is_alien() {
    let signatures = signatures(MODEL);
    let response = |status, values: &[(&str, &str)]| Response {
        status,
        values: values.iter().map(|(name, at)| ((*name).to_owned(), AnswerPlace::pointer(at))).collect(),
        ..Response::default()
    };
    let http = Http {
        base: Template::fixed("http://127.0.0.1:1"),
        launch: None,
        tls: None,
        reset: Vec::new(),
        headers: Vec::new(),
        stimuli: Vec::new(),
        observations: vec![
            ("None".to_owned(), response(204, &[])),
            ("Deliver".to_owned(), response(200, &[("d", "/d")])),
        ],
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
        settle: Default::default(),
        places: Default::default(),
    };
    let answer = |status, coding: Option<&str>, body: &[u8]| {
        let coding = coding.map(str::to_owned);
        let reply = Reply { status, coding, body: body.to_vec(), ..Reply::default() };
        translate(&reply, &http, &signatures).map(|all| <[Received; 1]>::try_from(all).unwrap())
    };
    let found = answer(200, Some("gzip"), b"\x1f\x8b\x08\0");
    let Ok([Received::Alien(text)]) = &found else { panic!("{found:?}") };
    assert!(text.contains("the content coding `gzip`, which was not asked for"), "{text}");
    assert!(matches!(answer(200, Some("identity"), br#"{"d":"TEA"}"#), Ok([Received::Output(_)])));
    // Where the status says it all, the body is nobody's business.
    assert!(matches!(answer(204, Some("gzip"), b"\x1f\x8b"), Ok([Received::Output(_)])));
}
