//! `coreach timed`: exit codes, standard input, what is refused, and that nothing is written over.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::Folder;
use serde_json::Value;

const PATH: [&str; 2] = ["--path", "1,2,3,5,6,8,9,11"];

/// A folder with the example in it.
fn example() -> Folder {
    let folder = Folder::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/trajectory");
    for file in fs::read_dir(from).unwrap() {
        let path = file.unwrap().path();
        fs::copy(&path, folder.0.join(path.file_name().unwrap().to_str().unwrap())).unwrap();
    }
    folder
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap() + &String::from_utf8(output.stderr.clone()).unwrap()
}

fn verdict(folder: &Folder, more: &[&str]) -> (Option<i32>, String) {
    let output = folder.coreach(&[&["timed", "verdict", "specification.yaml"], &PATH[..], more].concat());
    (output.status.code(), text(&output))
}

#[test]
fn verdicts_have_their_exit_codes() {
    let folder = example();
    let (code, said) = verdict(&folder, &["--trace", "late.csv"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("line 5: askParam!(2) at time 3.7, 1.2 after plan?(5) of line 4"), "{said}");
    // The same in milliseconds.
    let seconds = fs::read_to_string(folder.0.join("along.csv")).unwrap();
    let thousands = |line: &str| {
        let (delay, rest) = line.split_once(',').unwrap_or((line, ""));
        delay.parse::<f64>().map_or(line.to_owned(), |delay| format!("{},{rest}", delay * 1e3))
    };
    folder.write("thousands.csv", &seconds.lines().map(thousands).collect::<Vec<_>>().join("\n"));
    let (code, said) = verdict(&folder, &["--trace", "thousands.csv"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("if these are milliseconds"), "{said}");
    assert_eq!(verdict(&folder, &["--trace", "along.csv"]).0, Some(3));
    assert_eq!(verdict(&folder, &["--trace", "along.csv", "--inconclusive", "ok"]).0, Some(0));
    assert_eq!(verdict(&folder, &["--trace", "along.csv", "--inconclusive", "fail"]).0, Some(1));
    let (code, said) = verdict(&folder, &["--trace", "late.csv", "--format", "json"]);
    let document: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &document["exit_code"], &document["why"]["line"]), (Some(1), &1.into(), &5.into()));
}

/// Items in brackets come again, as they do for `timed path`.
#[test]
fn a_path_may_repeat_some_of_its_transitions() {
    let folder = Folder::new();
    folder.write(
        "pump.yaml",
        "iosts: pump
clocks: [w]
initial: { location: A }
inputs: { Set: {} }
outputs: { Got: {} }
transitions:
  - { name: set, from: A, to: B, on: Set, reset: [w] }
  - { name: got, from: B, to: A, on: Got, when: w <= 1 }
",
    );
    folder.write("t.csv", "0.1,Set\n0.5,Got\n0.1,Set\n0.5,Got\n");
    let of = |arguments: &[&str]| {
        let output = folder.coreach(&[&["timed"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        text(&output)
    };
    for command in [vec!["verdict", "pump.yaml", "--trace", "t.csv"], vec!["inputs", "pump.yaml"]] {
        let along = |path| of(&[&command[..], &["--path", path]].concat());
        assert_eq!(along("(set,got)*2"), along("set,got,set,got"));
    }
}

/// What was due before 1 and came after 1.2: *sound*, it may have come in time where both instants may be off
/// by more than 0.1; *precise*, it has not where they may be off by 0.1.
#[test]
fn a_tolerance_excuses_what_it_can_have_caused() {
    let folder = example();
    let of = |tolerance: &str| verdict(&folder, &["--trace", "late.csv", "--tolerance", tolerance]);
    let (code, said) = of("1/10");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("each instant may be up to 0.1 from the recorded one\nline 5"), "{said}");
    let (code, said) = of("0.11");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("5 events up to time 4.2, 5 of 8 transitions of the path"), "{said}");
    let (code, said) = of("-1");
    assert_eq!(code, Some(2), "{said}");
    // A delay that is too long is explained alike with exact instants and with a tolerance.
    let along = fs::read_to_string(folder.0.join("along.csv")).unwrap();
    let begin: Vec<&str> = along.lines().take(4).collect();
    folder.write("silent.csv", &(begin.join("\n") + "\n3,\n"));
    for tolerance in ["0", "0.1"] {
        let (code, said) = verdict(&folder, &["--trace", "silent.csv", "--tolerance", tolerance]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("Fail: expected askParam within 0..1, got nothing until 3\n"), "{said}");
        assert!(said.contains("line 5: a delay of 3, until 3 after plan?(5) of line 4"), "{said}");
    }
}

#[test]
fn a_trace_may_come_by_standard_input() {
    let folder = example();
    let whole = folder.coreach(&[&["timed", "inputs", "specification.yaml", "--whole"], &PATH[..]].concat());
    assert_eq!(whole.status.code(), Some(0));
    let mut child = Command::new(env!("CARGO_BIN_EXE_coreach"))
        .args([&["timed", "verdict", "specification.yaml", "--trace", "-"], &PATH[..]].concat())
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&whole.stdout).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).starts_with("Pass"));
}

/// The same model and seed give the same bytes; another seed gives others, which lead along the path as well.
#[test]
fn inputs_are_repeatable() {
    let folder = example();
    let inputs = |more: &[&str]| {
        let output = folder.coreach(&[&["timed", "inputs", "specification.yaml"], &PATH[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        output.stdout
    };
    assert_eq!(inputs(&["--seed", "7"]), inputs(&["--seed", "7"]));
    assert_ne!(inputs(&["--seed", "7"]), inputs(&["--seed", "8"]));
    assert_ne!(inputs(&[]), inputs(&["--seed", "7"]));
    fs::write(folder.0.join("seven.jsonl"), inputs(&["--seed", "7", "--whole", "--format", "json-lines"]))
        .unwrap();
    assert_eq!(verdict(&folder, &["--trace", "seven.jsonl"]).0, Some(0));
}

/// Each pair has a sequence along which the model goes through it; what follows no run is said so.
/// Soundness: a trace that goes so passes for its path.
#[test]
fn pairs_are_covered_with_time() {
    let folder = example();
    let arguments = "timed inputs specification.yaml --cover pairs --whole --out pairs";
    let output = folder.coreach(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let said = text(&output);
    assert!(said.contains("5-7: ") && said.contains("11-1: "), "{said}");
    let mut pairs = 0;
    for line in said.lines() {
        let (name, path) = (line.split(':').next().unwrap(), line.rsplit(' ').next().unwrap());
        assert!(path.ends_with(&name.replace('-', ",")), "{line}");
        let trace = format!("pairs/{name}.csv");
        let judge = ["timed", "verdict", "specification.yaml", "--path", path, "--trace", &trace];
        assert_eq!(folder.coreach(&judge).status.code(), Some(0), "{line}");
        pairs += 1;
    }
    assert_eq!(pairs, 14);
    // A pair that its times exclude.
    let model = fs::read_to_string(folder.0.join("specification.yaml")).unwrap();
    folder.write(
        "late.yaml",
        &model.replace("when: dClock < 1\n    reset", "when: dClock < 1 && aClock > 5\n    reset"),
    );
    let output = folder.coreach(&["timed", "inputs", "late.yaml", "--cover", "pairs", "--out", "late"]);
    assert!(text(&output).contains("5-6: no run takes it"), "{}", text(&output));
}

/// What no command takes is no model that is well.
/// *Sound*: each sequence of a criterion goes along its path. *Precise*: what can be met is.
#[test]
fn criteria_of_coverage_are_met_with_time() {
    let folder = Folder::new();
    let model = "\
iosts: session
clocks: [w]
variables: { limit: real }
initial: { location: Idle, condition: limit == 1 }
inputs: { Open: { bound: real } }
outputs: { Reply: {}, Late: {} }
transitions:
  - { name: open, from: Idle, to: Busy, on: Open, when: bound >= 1 && bound <= 5, reset: [w], assign: { limit: bound } }
  - { name: reply, from: Busy, to: Idle, on: Reply, when: w <= limit }
  - { name: late, from: Busy, to: Idle, on: Late, when: w > limit && w < 9 }
";
    fs::write(folder.0.join("session.yaml"), model).unwrap();
    for (criterion, goals, expected) in [
        ("locations", 2, 2),
        ("guards", 10, 5),
        ("boundaries", 8, 7),
        ("definition-use", 2, 2),
        ("all-paths-4", 4, 4),
    ] {
        let arguments = format!("timed inputs session.yaml --cover {criterion} --whole --out {criterion}");
        let output = folder.coreach(&arguments.split(' ').collect::<Vec<_>>());
        let said = text(&output);
        assert_eq!(said.lines().count(), goals, "{said}");
        let met = said.lines().filter(|line| line.contains(" along ")).map(|line| {
            let (name, path) = (line.split(' ').next().unwrap(), line.rsplit(' ').next().unwrap());
            let trace = format!("{criterion}/{}.csv", name.trim_end_matches(':'));
            let judge = ["timed", "verdict", "session.yaml", "--path", path, "--trace", &trace];
            assert_eq!(folder.coreach(&judge).status.code(), Some(0), "{line}");
        });
        assert_eq!(met.count(), expected, "{said}");
    }
    let refused = ["timed", "inputs", "session.yaml", "--cover", "faults-3", "--out", "faults"];
    assert_eq!(folder.coreach(&refused).status.code(), Some(2));
}

/// A model of two parts that both have a clock `w`: what is sent and seen of it goes along its paths.
#[test]
fn parts_with_clocks_are_one_model() {
    let folder = Folder::new();
    let part = |name: &str, input: &str, output: &str| {
        format!(
            "iosts: {name}\nclocks: [w]\ninitial: {{ location: A }}\ninputs: {{ {input}: {{}} }}\noutputs: {{ {output}: {{}} }}\n\
             transitions:\n  - {{ from: A, to: B, on: {input}, reset: [w] }}\n  - {{ from: B, to: A, on: {output}, when: w >= 1 && w <= 2 }}\n"
        )
    };
    fs::write(folder.0.join("one.yaml"), part("one", "Go", "Pass")).unwrap();
    fs::write(folder.0.join("other.yaml"), part("other", "Pass", "Done")).unwrap();
    let whole = |parts: &str| {
        fs::write(folder.0.join("whole.yaml"), format!("iosts: whole\ncompose: [{parts}]\n")).unwrap();
        folder.coreach(&["timed", "inputs", "whole.yaml", "--cover", "pairs", "--whole", "--out", "pairs"])
    };
    let same = whole("one.yaml, other.yaml");
    assert_eq!(same.status.code(), Some(2), "{}", text(&same));
    assert!(text(&same).contains("two parts have something called `w`"), "{}", text(&same));
    let renamed = whole("one.yaml, { model: other.yaml, rename: { w: v } }");
    let said = text(&renamed);
    assert_eq!(renamed.status.code(), Some(0), "{said}");
    assert!(said.lines().count() >= 6, "{said}");
    for line in said.lines().filter(|line| line.contains(" along ")) {
        let (name, path) = (line.split(':').next().unwrap(), line.rsplit(' ').next().unwrap());
        let trace = format!("pairs/{name}.csv");
        let judge = ["timed", "verdict", "whole.yaml", "--path", path, "--trace", &trace];
        assert_eq!(folder.coreach(&judge).status.code(), Some(0), "{line}");
    }
    assert_eq!(folder.coreach(&["check", "whole.yaml"]).status.code(), Some(0));
}

/// Precision: what happens unseen, and when, is found by what comes of it. Soundness: it may be at any
/// instant.
#[test]
fn an_internal_step_that_takes_time_is_followed_by_the_verdict() {
    let folder = example();
    let model = "\
iosts: resting
clocks: [w]
initial: { location: A }
outputs: { Rest: {} }
internals: [tau]
transitions:
  - { from: A, to: B, on: tau, when: 2 <= w && w <= 5, reset: [w] }
  - { from: B, to: C, on: tau }
  - { name: rest, from: C, to: C, on: Rest, when: w <= 1 }
";
    fs::write(folder.0.join("resting.yaml"), model).unwrap();
    let output = folder.coreach(&["check", "resting.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("internal-time"), "{}", text(&output));
    let output = folder.coreach(&["timed", "inputs", "resting.yaml", "--path", "1,2,rest", "--whole"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    // The clock begins anew with the unseen step, somewhere from 2 to 5: it is over at 6.
    for (trace, code) in [("1,Rest\n", 1), ("2,Rest\n", 0), ("6,Rest\n", 0), ("6.5,Rest\n", 1), ("7\n", 1)] {
        fs::write(folder.0.join("trace.csv"), format!("delay,action,values\n{trace}")).unwrap();
        let judge = ["timed", "verdict", "resting.yaml", "--path", "1,2,rest", "--trace", "trace.csv"];
        let output = folder.coreach(&judge);
        assert_eq!(output.status.code(), Some(code), "{trace}: {}", text(&output));
    }
    // A little earlier than it was written down, it was in time.
    fs::write(folder.0.join("trace.csv"), "delay,action,values\n6.2,Rest\n").unwrap();
    let judge =
        ["timed", "verdict", "resting.yaml", "--path", "1,2,rest", "--trace", "trace.csv", "--tolerance"];
    let judged = |tolerance: &str| folder.coreach(&[&judge[..], &[tolerance]].concat()).status.code();
    assert_eq!((judged("0.3"), judged("0.05")), (Some(0), Some(1)));
    // Everything else takes internal steps for ones that need no time.
    fs::write(folder.0.join("aim.yaml"), "purpose: aim\nof: resting\ninitial: { location: A }\ntransitions: [{ from: A, to: Accept, on: Rest }]\n").unwrap();
    fs::write(
        folder.0.join("coreach.yaml"),
        "specification: resting.yaml\npurpose: aim.yaml\ntimed: { silence_after: 5 }\n",
    )
    .unwrap();
    let output = folder.coreach(&["run", "coreach.yaml"]);
    assert!(output.status.code() == Some(2) && text(&output).contains("internal-time"), "{}", text(&output));
}

#[test]
fn mistakes_are_told_on_the_line() {
    let folder = example();
    fs::write(folder.0.join("wrong.csv"), "delay,action,values\n1,location,4\n-1,askPlan,8\n").unwrap();
    let (code, said) = verdict(&folder, &["--trace", "wrong.csv"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("[wrong.csv:3:1]"), "{said}");
    // Also behind what has settled the verdict.
    fs::write(folder.0.join("wrong.csv"), "1,nCmd,4\n1,location,4,4\n").unwrap();
    let (code, said) = verdict(&folder, &["--trace", "wrong.csv"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("[wrong.csv:2:3]"), "{said}");
    let refused = |arguments: &[&str]| {
        let output = folder.coreach(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        text(&output)
    };
    let inputs = |path: &str| refused(&["timed", "inputs", "specification.yaml", "--path", path]);
    assert!(inputs("1,twelve").contains("no transition is called `twelve`"));
    assert!(inputs("(1,2").contains("a bracket is not closed"));
    assert!(inputs("1,3").contains("broken-path"));
    assert!(inputs(" , ").contains("empty-path"));
    let merge = |inputs: &str, outputs: &str| {
        refused(&["timed", "merge", "specification.yaml", "--inputs", inputs, "--outputs", outputs])
    };
    assert!(merge("outputs.csv", "inputs.csv").contains("trace-direction"));
    fs::write(folder.0.join("short.csv"), "0.2,askPlan,8\n5.5\n").unwrap();
    let said = merge("inputs.csv", "short.csv");
    assert!(said.contains("trace-duration") && !said.contains("location"), "{said}");
    assert!(merge("inputs.csv", "none.csv").contains("cannot read none.csv"));
}

/// A name of a transition may lead out of the folder, or to what is read: neither is written.
#[test]
fn nothing_is_written_over_what_is_read() {
    let folder = example();
    let model = fs::read_to_string(folder.0.join("specification.yaml")).unwrap();
    let cover = ["timed", "inputs", "model.csv", "--cover", "transitions", "--out", "."];
    fs::write(folder.0.join("model.csv"), model.replacen("{ from: q0", "{ name: model, from: q0", 1))
        .unwrap();
    let output = folder.coreach(&cover);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert_eq!(fs::read_to_string(folder.0.join("model.csv")).unwrap().len(), model.len() + 13);
    fs::write(folder.0.join("model.csv"), model).unwrap();
    assert_eq!(folder.coreach(&cover).status.code(), Some(0));
    assert!(folder.0.join("11.csv").exists());
}

#[test]
fn too_many_contexts_are_a_stop_that_names_its_knob() {
    let folder = example();
    let model = "\
iosts: many
clocks: [w]
variables: { n: int }
initial: { location: A, condition: n == 0 }
inputs: { Go: {} }
transitions:
  - { from: A, to: A, on: Go, assign: { n: 2 * n } }
  - { from: A, to: A, on: Go, assign: { n: 2 * n + 1 } }
";
    fs::write(folder.0.join("many.yaml"), model).unwrap();
    fs::write(folder.0.join("many.csv"), "1,Go\n".repeat(8)).unwrap();
    let judge = |most: &str| {
        folder.coreach(&[
            "timed",
            "verdict",
            "many.yaml",
            "--path",
            "1",
            "--trace",
            "many.csv",
            "--contexts",
            most,
        ])
    };
    let output = judge("100");
    assert_eq!(output.status.code(), Some(6));
    assert!(text(&output).contains("`--contexts`"), "{}", text(&output));
    assert_eq!(judge("600").status.code(), Some(3));
}
