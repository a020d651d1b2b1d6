//! Golden diagnostics: what a user is told about a wrong model, purpose or configuration, as it is drawn.
//!
//! Each `diagnostics/<area>/<name>.yaml` has the expected drawing beside it in `<name>.out`. The good files
//! that purposes and configurations refer to lie in `diagnostics/good/`. With `COREACH_BLESS=1` in the
//! environment the expected files are rewritten; read them before you commit them: the words underlined must
//! be the offending ones, and the help must help.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::iosts::Aim;
use coreach_model::reader::{
    Specification, TimedSpecification, from_bytes, read_aimed, read_any_specification, read_purpose,
    read_specification, read_timed_aimed, read_timed_specification,
};
use coreach_project::configuration::{evaluate_instantiate, read_configuration};
use coreach_project::project::load;
use coreach_project::render::{Style, render, to_json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("diagnostics")
}

fn read(path: &Path) -> Result<Arc<SourceFile>, Diagnostic> {
    let name = path.strip_prefix(folder()).unwrap().display().to_string();
    from_bytes(name, fs::read(path).unwrap())
}

fn coffee_machine() -> Specification {
    let file = read(&folder().join("good/coffee_machine.yaml")).unwrap();
    read_specification(file).expect("the good specification is good").0
}

fn session() -> TimedSpecification {
    let file = read(&folder().join("good/session.yaml")).unwrap();
    read_timed_specification(file).expect("the good timed specification is good").0
}

/// The same, with names of files that begin below the folder.
fn named_below(mut found: Diagnostic) -> Diagnostic {
    for (origin, _) in &mut found.labels {
        let name = Path::new(&origin.file.name).strip_prefix(folder());
        if let Ok(name) = name.map(|name| name.display().to_string()) {
            origin.file = Arc::new(SourceFile { name, text: origin.file.text.clone() });
        }
    }
    found
}

/// Everything that is found in the file, warnings included.
fn findings(area: &str, path: &Path) -> Vec<Diagnostic> {
    let file = match read(path) {
        Ok(file) => file,
        Err(finding) => return vec![finding],
    };
    match area {
        "specification" => read_specification(file).map_or_else(|found| found, |(_, warnings)| warnings),
        "purpose" => {
            read_purpose(file, &coffee_machine()).map_or_else(|found| found, |(_, warnings)| warnings)
        }
        "property" => {
            let read = read_aimed(file, &coffee_machine(), Aim::Violate);
            read.map_or_else(|found| found, |(_, warnings)| warnings)
        }
        "composition" => {
            let (place, text) = (path.display().to_string(), fs::read(path).unwrap());
            // Its parts are found from where it lies.
            let read = from_bytes(place, text).map_err(|found| vec![found]).and_then(read_specification);
            read.map_or_else(|found| found, |(_, warnings)| warnings).into_iter().map(named_below).collect()
        }
        "timed" => read_any_specification(file).map_or_else(|found| found, |(_, warnings)| warnings),
        "timed_purpose" => read_timed_aimed(file, &session(), Aim::Accept)
            .map_or_else(|found| found, |(_, warnings)| warnings),
        "timed_configuration" => {
            // Their places are told below the folder.
            let found = load(path).map_or_else(|found| found, |(_, warnings)| warnings);
            found.into_iter().map(named_below).collect()
        }
        "configuration" => match read_configuration(file, path.parent().unwrap()) {
            Err(found) => found,
            Ok((configuration, mut found)) => {
                let constants = coffee_machine().iosts.constants;
                found.extend(
                    evaluate_instantiate(&configuration.instantiate, &constants).err().unwrap_or_default(),
                );
                found
            }
        },
        other => panic!("no area {other}"),
    }
}

fn cases(area: &str) -> Vec<PathBuf> {
    let items = fs::read_dir(folder().join(area)).unwrap().map(|item| item.unwrap().path());
    let mut cases: Vec<PathBuf> =
        items.filter(|path| path.extension().is_some_and(|e| e == "yaml")).collect();
    cases.sort();
    cases
}

/// A line of either text that the other does not have in its place.
fn difference(expected: &str, found: &str) -> String {
    let (mut expected, mut found) = (expected.lines(), found.lines());
    let mut lines = Vec::new();
    loop {
        match (expected.next(), found.next()) {
            (None, None) => return lines.join("\n"),
            (old, new) if old == new => lines.push(format!("   {}", new.unwrap_or_default())),
            (old, new) => {
                lines.extend(old.map(|line| format!(" - {line}")));
                lines.extend(new.map(|line| format!(" + {line}")));
            }
        }
    }
}

fn check(area: &str) {
    let bless = std::env::var("COREACH_BLESS").is_ok_and(|value| value == "1");
    let mut wrong = Vec::new();
    for path in cases(area) {
        let found = findings(area, &path);
        assert!(!found.is_empty(), "{}: nothing was found", path.display());
        let drawn = render(&found, Style::PLAIN);
        let golden = path.with_extension("out");
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if drawn == expected {
            continue;
        }
        if bless {
            fs::write(&golden, drawn).unwrap();
        } else {
            wrong.push(format!("{}:\n{}", golden.display(), difference(&expected, &drawn)));
        }
    }
    assert!(wrong.is_empty(), "{}\n(COREACH_BLESS=1 rewrites the expected files)", wrong.join("\n\n"));
}

#[test]
fn wrong_specifications_are_explained() {
    check("specification");
}

#[test]
fn wrong_purposes_are_explained() {
    check("purpose");
}

#[test]
fn wrong_properties_are_explained() {
    check("property");
}

#[test]
fn parts_that_do_not_go_together_are_explained() {
    check("composition");
}

#[test]
fn mistakes_about_time_are_explained() {
    check("timed");
    check("timed_purpose");
    check("timed_configuration");
}

#[test]
fn wrong_configurations_are_explained() {
    check("configuration");
}

#[test]
fn a_good_specification_has_no_findings() {
    let file = read(&folder().join("good/coffee_machine.yaml")).unwrap();
    assert_eq!(read_specification(file).unwrap().1, []);
    let file = read(&folder().join("good/deliver_coffee.yaml")).unwrap();
    assert_eq!(read_purpose(file, &coffee_machine()).unwrap().1, []);
}

#[test]
fn a_diagnostic_for_a_program_has_its_place_in_numbers() {
    let path = folder().join("specification/unknown_name_near.yaml");
    let json = to_json(&findings("specification", &path));
    let first = &json[0];
    assert_eq!(first["code"], "unknown-name");
    assert_eq!(first["severity"], "error");
    assert_eq!(first["file"], "specification/unknown_name_near.yaml");
    assert_eq!(first["text"], "vPaidd");
    assert_eq!((first["line"].as_u64(), first["end_line"].as_u64()), (Some(6), Some(6)));
    let width = first["end_column"].as_u64().unwrap() - first["column"].as_u64().unwrap();
    assert_eq!(width, 6);
    assert_eq!(first["labels"][0]["label"], "not declared");
}
