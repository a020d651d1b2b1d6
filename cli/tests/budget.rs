//! Nothing needs more than its budget, and everything ends when it is asked to.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::Folder;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A model on which making a test case takes very long: Booleans that switch numbers.
fn endless(folder: &Folder, more: &str) -> PathBuf {
    let all =
        |piece: &dyn Fn(usize) -> String, between: &str| (0..14).map(piece).collect::<Vec<_>>().join(between);
    let variables = all(&|at| format!("b{at}: bool, x{at}: int"), ", ");
    let condition = all(&|at| format!("!b{at} && x{at} == 0"), " && ");
    let inputs = all(&|at| format!("Flip{at}: {{}}"), ", ");
    let flip = |at| {
        let assign = format!("{{ b{at}: '!b{at}', x{at}: if b{at} then x{at} + 1 else 0 - x{at} }}");
        format!("  - {{ from: A, to: A, on: Flip{at}, assign: {assign} }}\n")
    };
    let (flips, sum) = (all(&flip, ""), all(&|at| format!("x{at}"), " + "));
    let text = format!(
        "iosts: endless\nvariables: {{ {variables} }}\ninitial: {{ location: A, condition: \"{condition}\" }}\n\
         inputs: {{ {inputs} }}\noutputs: {{ Tell: {{}} }}\ntransitions:\n{flips}\
         \x20 - {{ from: A, to: B, on: Tell, when: \"{sum} == 77\" }}\n"
    );
    folder.write("specification.yaml", &text);
    folder.write(
        "purpose.yaml",
        "purpose: told\nof: endless\ninitial: { location: Begin }\n\
         transitions:\n  - { from: Begin, to: Accept, on: Tell }\n",
    );
    let analysis = "analysis: { partition_limit: 20000 }";
    let text = format!("specification: specification.yaml\npurpose: purpose.yaml\n{analysis}\n{more}\n");
    folder.write("coreach.yaml", &text)
}

/// What heeds all signals, whatever the one who runs the tests ignores: a shell's background job ignores
/// SIGINT, `nohup` SIGHUP, and coreach leaves ignored what it finds ignored.
fn heeding(program: &str) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", program]);
    command
}

fn coreach(words: &[&str]) -> Command {
    let mut command = heeding(env!("CARGO_BIN_EXE_coreach"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(output: &Output) -> String {
    format!(
        "{:?}\nstdout:\n{}\nstderr:\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn work_that_takes_too_long_is_a_stop_that_names_stage_and_knob() {
    let folder = Folder::new();
    let config = endless(&folder, "");
    let begin = Instant::now();
    let output = coreach(&["run", config.to_str().unwrap(), "--time", "700ms"]).output().unwrap();
    let said = text(&output);
    assert!(begin.elapsed() < Duration::from_secs(10), "{said}");
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(
        said.contains("stopped after 700 ms of processor time: in stage") && said.contains("--time 2800ms"),
        "{said}"
    );
}

#[test]
fn the_configuration_has_the_same_knobs_and_the_json_says_why() {
    let folder = Folder::new();
    let config = endless(&folder, "budget: { time: 600ms, memory: 3GB }");
    let output = coreach(&["run", config.to_str().unwrap(), "--format", "json"]).output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    assert_eq!(document["exit_code"], 6);
    assert!(document.to_string().contains("stopped after 600 ms"), "{said}");
    let wrong = endless(&folder, "budget: { time: soon }");
    let output = coreach(&["check", wrong.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("expected a time"), "{}", text(&output));
}

#[test]
fn memory_has_a_limit_too() {
    let folder = Folder::new();
    let config = endless(&folder, "");
    let words = ["run", config.to_str().unwrap(), "--memory", "10MB", "--time", "30s"];
    let output = coreach(&words).output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("stopped at 10 MB of memory") && said.contains("--memory 20MB"), "{said}");
}

#[test]
fn a_signal_ends_the_work_at_once() {
    for (number, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let folder = Folder::new();
        let config = endless(&folder, "");
        let child = coreach(&["run", config.to_str().unwrap()]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(400));
        let begin = Instant::now();
        signal(&child, number);
        let output = child.wait_with_output().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
        assert_eq!(output.status.code(), Some(code), "{}", text(&output));
        assert!(text(&output).contains("interrupted\n"), "{}", text(&output));
    }
}

/// Numbers with which Z3 works as long as it may: questions of sums of cubes.
fn cubes(folder: &Folder) {
    folder.write(
        "specification.yaml",
        "iosts: cubes\nconstants: { c: int }\nvariables: { n: int }\n\
         initial: { location: A, condition: n == 0 && c > 0 }\n\
         inputs: { Go: { p: int, q: int, r: int } }\noutputs: { Done: { s: int, t: int, u: int } }\ntransitions:\n\
         \x20 - { from: A, to: B, on: Go, when: \"p*p*p + q*q*q + r*r*r == 114*c && p*q*r > c\", assign: { n: p } }\n\
         \x20 - { from: B, to: A, on: Done, when: \"s*s*s + t*t*t + u*u*u == 390 + n*n && s*t > u*u\" }\n",
    );
    folder.write(
        "purpose.yaml",
        "purpose: done\nof: cubes\ninitial: { location: Begin }\n\
         transitions:\n  - { from: Begin, to: Accept, on: Done }\n",
    );
    folder.write("coreach.yaml", "specification: specification.yaml\npurpose: purpose.yaml\n");
}

/// Z3 has a handler of SIGINT of its own, which would end the question alone.
#[test]
fn a_signal_ends_the_command_while_z3_is_asked() {
    let folder = Folder::new();
    cubes(&folder);
    for words in [
        ["run", "coreach.yaml"].as_slice(),
        &["cover", "specification.yaml"],
        &["compare", "coreach.yaml"],
        &["show", "coreach.yaml", "--stage", "test_case"],
    ] {
        let child = coreach(words).current_dir(&folder.0).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        signal(&child, Signal::INT);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{words:?}: {}", text(&output));
    }
}

/// A shell that has become coreach leaves it its own children.
#[test]
fn what_was_there_before_is_left_alone() {
    let folder = Folder::new();
    let config = endless(&folder, "");
    let number = folder.0.join("number");
    let mut command = heeding("sh");
    command.args([
        "-c",
        "sleep 60 & echo $! > \"$1\"; exec \"$0\" run \"$2\"",
        env!("CARGO_BIN_EXE_coreach"),
    ]);
    command.arg(&number).arg(&config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(600));
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let sleeper: i32 = fs::read_to_string(&number).unwrap().trim().parse().unwrap();
    let state = fs::read_to_string(format!("/proc/{sleeper}/stat")).unwrap_or_default();
    assert!(state.contains("(sleep) S"), "{state}");
    kill_process(Pid::from_raw(sleeper).unwrap(), Signal::KILL).unwrap();
}

/// `x := x * x + 2` in a loop: after twenty rounds the number has millions of digits.
#[test]
fn a_run_in_which_numbers_explode_ends_as_inconclusive() {
    let folder = Folder::new();
    folder.write(
        "specification.yaml",
        "iosts: squares\nvariables: { x: int, n: nat }\ninitial: { location: A, condition: x == 2 && n == 0 }\n\
         inputs: { Go: {} }\noutputs: { Done: {} }\n\
         transitions:\n  - { from: A, to: B, on: Go, assign: { x: x * x + 2, n: n + 1 } }\n\
         \x20 - { from: B, to: A, on: Done, when: \"x > 1\" }\n",
    );
    folder.write(
        "purpose.yaml",
        "purpose: far\nof: squares\nobserves: [n]\ninitial: { location: Begin }\n\
         transitions:\n  - { from: Begin, to: Accept, on: Done, when: n > 500 }\n\
         \x20 - { from: Begin, to: Begin, on: Done, when: n <= 500 }\n",
    );
    let config = folder.write(
        "coreach.yaml",
        "specification: specification.yaml\npurpose: purpose.yaml\nanalysis: { domain: location }\n",
    );
    let iut = folder.write("iut.yaml", "iut: itself\nsimulated: { model: specification.yaml }\n");
    let words = [
        "test",
        config.to_str().unwrap(),
        "--iut",
        iut.to_str().unwrap(),
        "--time",
        "20s",
        "--quiescence",
        "5",
        "--patience",
        "5",
        "--format",
        "json",
    ];
    let begin = Instant::now();
    let output = coreach(&words).output().unwrap();
    let said = text(&output);
    assert!(begin.elapsed() < Duration::from_secs(40), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    assert_eq!(document["runs"][0]["verdict"], "Inconclusive", "{said}");
    assert_eq!(document["runs"][0]["cause"], "digits", "{said}");
}

/// A slice of `scripts/signals`.
#[test]
fn nothing_is_left_of_what_was_launched() {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../scripts/signals");
    let seed = std::process::id().to_string();
    let words = ["18", "--seed", &seed, "--within", "5", "--coreach", env!("CARGO_BIN_EXE_coreach")];
    let output = Command::new(script).args(words).output().unwrap();
    assert!(output.status.success(), "seed {seed}: {}", text(&output));
}
