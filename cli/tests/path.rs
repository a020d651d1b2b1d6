//! `coreach timed path` from the outside: what it counts, what it writes, what it refuses, and with which
//! code it ends.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn atm() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/atm_timed/specification.yaml")
}

fn of(model: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coreach"));
    command.args(["timed", "path"]).arg(model).args(arguments).output().unwrap()
}

fn path(arguments: &[&str]) -> Output {
    of(&atm(), arguments)
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A folder of this test alone.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("coreach-path-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn each_rule_is_counted() {
    let output = path(&["--path", "tr1,tr2,tr3,tr4", "--tm", "5", "--check"]);
    let told = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        told.starts_with("atm: a path of 4 steps, a test case of 34 transitions; silence after 5.0\n"),
        "{told}"
    );
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let line = |name: &str| words(told.lines().find(|line| line.starts_with(name)).unwrap());
    assert_eq!(line("ec2").join(" "), "ec2 tr3 - - - 1 4 1 - 1 1 1");
    assert_eq!(line("all").join(" "), "all 1 1 1 5 16 1 1 3 2 3");
    let output = path(&["--path", "(tr1 tr2 tr3 tr4)*2", "--tm", "5", "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["transitions"], 68);
    let contexts = document["contexts"].as_array().unwrap();
    assert_eq!(
        (contexts.len(), &contexts[4]["idle"]["R8"], &contexts[4]["step"]),
        (8, &1.into(), &"tr1".into())
    );
    let symbolic = path(&["--path", "tr1,tr2,tr3,tr4", "--tm", "symbolic", "--format", "json"]);
    let document: Value = serde_json::from_slice(&symbolic.stdout).unwrap();
    assert_eq!((&document["transitions"], &document["silence_after"]), (&36.into(), &"TM".into()));
}

/// The same path gives the same bytes, in every form; nothing is written over what is read.
#[test]
fn all_forms_are_written_and_nothing_is_written_over() {
    let folder = folder("forms");
    let write = |name: &str| {
        let out = folder.join(name);
        let forms = "dot,json,yaml,sptg";
        let output = path(&[
            "--path",
            "tr1,tr2,tr3,tr4",
            "--tm",
            "5",
            "--out",
            out.to_str().unwrap(),
            "--formats",
            forms,
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(&out)
            .unwrap()
            .map(|file| file.unwrap().path())
            .map(|file| (file.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&file).unwrap()))
            .collect();
        files.sort();
        files
    };
    let one = write("one");
    let names: Vec<&str> = one.iter().map(|(name, _)| name.as_str()).collect();
    let expected =
        ["test_case.dot", "test_case.json", "test_case.yaml", "testcase.json", "testcase_smt.json"];
    assert_eq!(names, expected);
    assert_eq!(one, write("other"));
    let model = folder.join("test_case.yaml");
    fs::copy(atm(), &model).unwrap();
    let out = folder.to_str().unwrap();
    let output = of(&model, &["--path", "tr8,tr9", "--tm", "5", "--out", out, "--formats", "yaml"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(fs::read(&model).unwrap(), fs::read(atm()).unwrap());
    fs::remove_dir_all(&folder).unwrap();
}

/// A configuration says when silence is a fact; the argument wins.
#[test]
fn a_configuration_gives_the_model_and_the_time() {
    let folder = folder("configuration");
    fs::copy(atm(), folder.join("atm.yaml")).unwrap();
    fs::write(folder.join("cash.yaml"), "purpose: cash\nof: atm\n").unwrap();
    let configuration = folder.join("coreach.yaml");
    let text = "specification: atm.yaml\npurpose: cash.yaml\ntimed: { silence_after: 5 }\n";
    fs::write(&configuration, text).unwrap();
    let after = |more: &[&str]| {
        let arguments = [&["--path", "tr1,tr2,tr3,tr4", "--format", "json"], more].concat();
        let output = of(&configuration, &arguments);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        (document["transitions"].clone(), document["silence_after"].clone())
    };
    assert_eq!(after(&[]), (34.into(), "5.0".into()));
    assert_eq!(after(&["--tm", "symbolic"]), (36.into(), "TM".into()));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_refused_is_shown_on_the_text() {
    for (arguments, code, expected) in [
        (
            vec!["--path", "tr1,tr3", "--tm", "5"],
            2,
            "step 2 of the path, `tr3`, leaves q2, but the path is at q1",
        ),
        (vec!["--path", "tr1,trr2", "--tm", "5"], 2, "no transition is called `trr2`"),
        (vec!["--path", "tr1,tr2,tr3", "--tm", "5"], 2, "the path ends in `tr3`, which is not an output"),
        (vec!["--path", "tr1,tr2,tr3,tr4"], 2, "`--tm 5`"),
        (vec!["--path", "tr1,tr2,tr3,tr4", "--tm", "0"], 2, "must be greater than 0"),
        (vec!["--path", "tr1,tr2,tr3,tr4", "--tm", "soon"], 2, "expected a time"),
    ] {
        let output = path(&arguments);
        let said = said(&output);
        // On a terminal of any width.
        let flat = said.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(flat.contains(expected), "{said}");
    }
}

/// A path that silence cuts is made, and it is said that nothing can pass.
#[test]
fn a_time_that_is_too_short_is_told() {
    let folder = folder("short");
    let model = folder.join("slow.yaml");
    let text = "iosts: slow\nclocks: [w]\ninitial: { location: q0 }\ninputs: { In: {} }\noutputs: { Out: {} }\ntransitions:\n  - { from: q0, to: q1, on: In, reset: [w] }\n  - { from: q1, to: q0, on: Out, when: 10 <= w && w <= 12 }\n";
    fs::write(&model, text).unwrap();
    let output = of(&model, &["--path", "1,2", "--tm", "5"]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("no run can pass"), "{said}");
    fs::remove_dir_all(&folder).unwrap();
}
