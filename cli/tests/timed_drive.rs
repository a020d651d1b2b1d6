//! `coreach timed drive`: what is sent and seen is recorded as it was, and nothing that was not.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::Folder;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const PATH: &str = "open,opened,call,first,result,done,close,closed";

fn told(folder: &Folder, words: &str, code: i32) -> String {
    let output = folder.coreach(&words.split(' ').collect::<Vec<_>>());
    let told = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words}: {told}{said}");
    told + &said
}

/// The session's specification, and a model with this change that stands for the server.
fn session(from: &str, to: &str) -> Folder {
    let folder = Folder::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/session/specification.yaml");
    let text = fs::read_to_string(path).unwrap();
    assert!(from == to || text.contains(from));
    folder.write("specification.yaml", &text);
    folder.write("model.yaml", &text.replace(from, to));
    folder.write("iut.yaml", "iut: server\nsimulated: { model: model.yaml }\n");
    let inputs = folder.coreach(&["timed", "inputs", "specification.yaml", "--path", PATH, "--seed", "3"]);
    folder.write("inputs.csv", &String::from_utf8(inputs.stdout).unwrap());
    folder
}

/// Soundness: whatever a right system does, its recorded trace is no Fail. Precision: one that tries again
/// too early is found, with time as it was recorded.
#[test]
fn what_is_recorded_of_a_system_is_judged_as_it_is() {
    let early = ("0.15 <= call && call <= 0.18 && beat <= 0.23 && vTries < 3", "call <= 0.18 && vTries < 3");
    let mut failed = 0;
    for (from, to) in [("", ""), early] {
        let folder = session(from, to);
        for seed in 1..=16 {
            let drive =
                format!("timed drive specification.yaml --inputs inputs.csv --iut iut.yaml --seed {seed}");
            let output = folder.coreach(&drive.split(' ').collect::<Vec<_>>());
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
            fs::write(folder.0.join("trace.csv"), output.stdout).unwrap();
            let judge = ["timed", "verdict", "specification.yaml", "--path", PATH, "--trace", "trace.csv"];
            let output = folder.coreach(&judge);
            let has_failed = output.status.code() == Some(1);
            assert!(!has_failed || !from.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
            failed += usize::from(has_failed);
        }
    }
    assert!(failed >= 2, "{failed}");
}

/// Soundness: inputs stand at their instants, and the trace lasts for the wait behind the last of them.
#[test]
fn the_document_has_all_inputs_and_lasts_for_the_wait() {
    let folder = session("", "");
    folder.write("inputs.csv", "0.5,Open\n0.125,Call,4\n");
    let drive =
        "timed drive specification.yaml --inputs inputs.csv --iut iut.yaml --wait 250ms --format json";
    let output = folder.coreach(&drive.split(' ').collect::<Vec<_>>());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["exit_code"], 0);
    assert_eq!((&document["run"]["whole"], &document["run"]["sent"]), (&true.into(), &2.into()));
    let mut at = 0.0;
    let mut sent = Vec::new();
    for line in document["trace"].as_array().unwrap() {
        let delay = &line["delay"];
        at += delay.as_f64().or(delay.as_str().map(|text| text.parse().unwrap())).unwrap_or(0.0);
        if line["action"] == "Open" || line["action"] == "Call" {
            sent.push((at * 1e6).round());
        }
    }
    assert_eq!((sent, (at * 1e6).round()), (vec![500_000.0, 625_000.0], 875_000.0));
    // What the model has not is no recording, and what the tester does not send is not sent.
    folder.write("inputs.csv", "0.5,Opened\n");
    assert!(told(&folder, &drive.replace("json", "csv"), 2).contains("trace-direction"));
    let model = fs::read_to_string(folder.0.join("specification.yaml")).unwrap();
    folder
        .write("specification.yaml", &model.replace("variables:", "constants: { cBeat: real }\nvariables:"));
    folder.write("inputs.csv", "0.5,Open\n");
    assert!(told(&folder, &drive.replace("json", "csv"), 2).contains("open-constant"));
}

/// After a pong the system must be ready within 50 ms: silence that is cut off would be a Fail.
fn asked(system: &str) -> Folder {
    Folder::with(&[
        (
            "specification.yaml",
            "iosts: asked\nclocks: [c]\ninitial: { location: Idle }\ninputs: { Ping: {} }\n\
             outputs: { Pong: {}, Ready: {} }\ntransitions:\n\
             \x20 - { name: ping, from: Idle, to: Asked, on: Ping, reset: [c] }\n\
             \x20 - { name: pong, from: Asked, to: Late, on: Pong, when: c <= 30, reset: [c] }\n\
             \x20 - { name: ready, from: Late, to: Idle, on: Ready, when: c <= 0.05, reset: [c] }\n",
        ),
        ("iut.yaml", "iut: asked\nstdio: { command: [sh, system.sh] }\n"),
        (
            "system.sh",
            &format!(
                "while read -r message; do case $message in\n*start*) echo '{{\"ready\": true}}' ;;\n\
                 *Ping*) echo '{{\"output\": \"Pong\"}}'; {system} ;;\nesac; done\n"
            ),
        ),
        ("inputs.csv", "0.05,Ping\n60,Ping\n"),
    ])
}

const DRIVE: &str = "timed drive specification.yaml --inputs inputs.csv --iut iut.yaml";

/// Soundness: a trace ends where the recording does, and nobody takes the rest for silence.
fn is_no_failure(folder: &Folder, trace: &str) {
    folder.write("trace.csv", trace);
    let said = told(folder, "timed verdict specification.yaml --path ping,pong --trace trace.csv", 0);
    assert!(said.starts_with("Pass"), "{said}");
}

fn begin(folder: &Folder, words: &str) -> Child {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_coreach")]).args(words.split(' '));
    let command = command.current_dir(&folder.0).stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::null()).spawn().unwrap()
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn an_interrupted_recording_is_a_beginning_of_the_trace() {
    let folder = asked("touch seen");
    let mut child = begin(&folder, DRIVE);
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut trace = String::new();
    while !trace.contains("Pong") {
        assert_ne!(lines.read_line(&mut trace).unwrap(), 0, "{trace}");
    }
    interrupt(&child);
    lines.read_to_string(&mut trace).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(trace.lines().last().unwrap().ends_with(",Pong"), "{trace}");
    is_no_failure(&folder, &trace);
    // As a document.
    let folder = asked("touch seen");
    let child = begin(&folder, &format!("{DRIVE} --format json"));
    while !folder.0.join("seen").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &document["exit_code"]), (Some(130), &130.into()));
    assert_eq!((&document["trace"][0]["action"], &document["run"]), (&"Ping".into(), &Value::Null));
}

#[test]
fn a_system_that_breaks_leaves_its_trace() {
    let folder = asked("exit 3");
    let output = folder.coreach(&DRIVE.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("error: 1 input not sent"), "{said}");
    is_no_failure(&folder, &String::from_utf8(output.stdout).unwrap());
    // An output that the model has not is no member of a trace, and no fine end.
    let folder = asked("echo '{\"output\": \"Bang\"}'");
    let output = folder.coreach(&DRIVE.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Bang"));
    is_no_failure(&folder, &String::from_utf8(output.stdout).unwrap());
}
