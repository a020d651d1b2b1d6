//! Golden diagnostics of IUT files: what a user is told about a wrong one, as it is drawn.
//!
//! Each `data/iut/<name>.yaml` is read against the coffee machine, `records_<name>.yaml` against
//! `data/records.yaml`, and `held_<name>.yaml` against `data/held.yaml`. Each has the expected drawing beside
//! it in `<name>.out`; of a good one nothing is drawn, and the file is empty. With `COREACH_BLESS=1` in the
//! environment the expected files are rewritten.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

use std::fs;
use std::path::Path;

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
