//! Golden diagnostics of IUT files: what a user is told about a wrong one, as it is drawn.
//!
//! Each `data/iut/<name>.yaml` is read against the coffee machine, `records_<name>.yaml` against
//! `data/records.yaml`, and `held_<name>.yaml` against `data/held.yaml`. Each has the expected drawing beside
//! it in `<name>.out`; of a good one nothing is drawn, and the file is empty. With `COREACH_BLESS=1` in the
//! environment the expected files are rewritten.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

use std::fs;
use std::path::Path;

use coreach_adapters::behaviour::Behaviour;
use coreach_adapters::description::Transport;
use coreach_model::iosts::Iosts;
use coreach_model::reader::{from_bytes, load, read_specification};
use coreach_project::iut;
use coreach_project::render::{Style, render};

fn coffee_machine() -> Iosts {
    model("../cli/tests/data/coffee/specification.yaml")
}

fn model(path: &str) -> Iosts {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let file = load(&path).expect("it is there");
    read_specification(file).expect("it is good").0.iosts
}

#[test]
fn what_is_wrong_is_drawn_where_it_stands() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/iut");
    let (coffee, records) = (coffee_machine(), model("tests/data/records.yaml"));
    let held = model("tests/data/held.yaml");
    let is_blessed = std::env::var_os("COREACH_BLESS").is_some();
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    assert!(paths.len() > 10);
    let mut wrong = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let file = from_bytes(name.clone(), fs::read(&path).unwrap()).unwrap();
        let iosts = match name.split('_').next() {
            Some("records") => &records,
            Some("held") => &held,
            _ => &coffee,
        };
        let (is_good, found) = match iut::read(file, &folder, Some(iosts)) {
            Ok((_, found)) => (true, found),
            Err(found) => (false, found),
        };
        assert_eq!(is_good, !found.iter().any(|diagnostic| diagnostic.is_error()), "{name}");
        let drawn = render(&found, Style::PLAIN);
        let expected = path.with_extension("out");
        if is_blessed {
            fs::write(&expected, &drawn).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != drawn {
            wrong.push(format!("{name}:\n{drawn}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn those_of_the_examples_are_good() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/coffee_machine");
    let iosts = coffee_machine();
    let way = |name: &str| {
        let (iut, found) = iut::load(&folder.join(name), &iosts).expect("it is good");
        assert!(found.is_empty(), "{found:?}");
        iut.way
    };
    assert!(matches!(way("iut.yaml"), Transport::Stdio(_)));
    assert!(matches!(way("iut_model.yaml"), Transport::Simulated(_)));
}

/// Precision: a value with parts is written as in a model, or as it is sent.
#[test]
fn samples_are_written_as_in_a_model() {
    let text = "iosts: m\ntypes: { Color: [RED, BLUE], Order: [Cancel, Buy: { item: string, of: 'list[3] of Color' }], R: { f: \
                Order, g: 'option[int]', h: 'option[Color]' } }\ninitial: { location: l }\ninputs: { I: { p: R, q: Order } }\n\
                outputs: { O: {} }\ntransitions: [{ from: l, to: l, on: I }, { from: l, to: l, on: O }]\n";
    let file = |text: String| from_bytes("f".to_owned(), text.into_bytes()).unwrap();
    let iosts = read_specification(file(text.to_owned())).unwrap().0.iosts;
    let read = |samples: &str| {
        let text = format!("iut: m\nstdio: {{ command: [x] }}\nsamples: {samples}\n");
        let samples = |behaviour: Behaviour| behaviour.samples.into_values().flatten().collect::<Vec<_>>();
        iut::read(file(text), Path::new("."), Some(&iosts)).map(|(iut, _)| samples(iut.behaviour))
    };
    let sent = r#"{"Buy":{"item":"nut","of":["RED","BLUE"]}}"#;
    let written = "{ q: [Cancel, 'Buy(\"nut\", [RED, BLUE])', '{\"Buy\": {\"item\": \"nut\", \"of\": [\"RED\", \"BLUE\"]}}'] }";
    assert_eq!(
        read(written).map(|all| [all[0].clone(), all[1].clone()]),
        Ok(["Cancel".to_owned(), sent.to_owned()])
    );
    let record = r#"{ p: ['R { f: Buy("nut", [RED, BLUE]), g: some(3), h: some(RED) }', 'R { f: Cancel, g: none, h: none }'] }"#;
    let expected =
        [format!(r#"{{"f":{sent},"g":3,"h":"RED"}}"#), r#"{"f":"Cancel","g":null,"h":null}"#.to_owned()];
    assert_eq!(read(record), Ok(expected.to_vec()));
    for (wrong, code) in [
        ("['Buy(3, [])']", "type-mismatch"),
        ("[Buy]", "wrong-value"),
        ("['Bzy(\"a\")']", "unknown-function"),
        ("['{\"Buy\": 3}']", "wrong-value"),
    ] {
        let codes = |found: &Vec<coreach_model::Diagnostic>| found[0].code.to_string();
        assert_eq!(read(&format!("{{ q: {wrong} }}")).map_err(|found| codes(&found)), Err(code.to_owned()));
    }
}
