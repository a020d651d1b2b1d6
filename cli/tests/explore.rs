//! `coreach explore` from the outside: what it counts, what it draws, what it refuses, and with which code it
//! ends.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn teller_machine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/models/teller_machine.yaml")
}

fn explore(arguments: &[&str]) -> Output {
    let model = teller_machine();
    Command::new(env!("CARGO_BIN_EXE_coreach")).arg("explore").arg(model).args(arguments).output().unwrap()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_same_limits_give_the_same_bytes() {
    let arguments = ["--nodes", "500", "--quiescence", "loop", "--format", "json"];
    let (one, other) = (explore(&arguments), explore(&arguments));
    assert_eq!((one.status.code(), &one.stdout), (Some(0), &other.stdout));
    let counts = &document(&one)["counts"];
    assert!(counts["out_of_room"].as_u64().unwrap() > 100, "{counts}");
}

#[test]
fn what_is_told_is_what_the_document_counts() {
    let arguments = ["--inclusion", "1", "--quiescence", "sink"];
    let told = String::from_utf8(explore(&arguments).stdout).unwrap();
    assert!(told.contains("teller_machine: 18 nodes, the longest path has 3 steps\n"), "{told}");
    assert!(told.contains("       10 to be accepted\n"), "{told}");
    let document = document(&explore(&[&arguments[..], &["--format", "json"]].concat()));
    assert_eq!((&document["counts"]["nodes"], &document["counts"]["accepting"]), (&18.into(), &10.into()));
    let nodes = document["nodes"].as_array().unwrap();
    assert_eq!(nodes.iter().filter(|node| node["accepts"] == true).count(), 10);
}

#[test]
fn a_purpose_that_does_not_fit_the_limits_is_stopped() {
    for purpose in [["--inclusion", "1"], ["--all-paths", "9"]] {
        let output = explore(&[&purpose[..], &["--nodes", "5"]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(6), "{said}");
        assert!(said.contains("`--nodes`"), "{said}");
    }
    let output = explore(&["--nodes", "50000", "--time", "1ms"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{said}");
}

#[test]
fn the_picture_has_every_node_and_writes_over_nothing() {
    let folder = std::env::temp_dir().join(format!("coreach-explore-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let picture = folder.join("tree.dot");
    let output = explore(&["--restrict", "--quiescence", "sink", "--draw", picture.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let drawn = fs::read_to_string(&picture).unwrap();
    for node in 0..9 {
        assert!(drawn.contains(&format!("n{node} [label=")), "{drawn}");
    }
    assert!(!drawn.contains("n9 [") && drawn.contains("quiescence!"), "{drawn}");
    assert_eq!(drawn.matches("style=\"dashed\"").count(), 5, "{drawn}");
    fs::remove_dir_all(&folder).unwrap();

    let model = teller_machine();
    let before = fs::read(&model).unwrap();
    let output = explore(&["--draw", model.to_str().unwrap()]);
    assert_eq!((output.status.code(), fs::read(&model).unwrap()), (Some(2), before));
}

#[test]
fn a_purpose_is_no_specification() {
    let purpose =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/coffee_machine/deliver_coffee.yaml");
    let output = Command::new(env!("CARGO_BIN_EXE_coreach")).arg("explore").arg(purpose).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
