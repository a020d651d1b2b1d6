//! One walk that covers, from the outside: when it ends, what it says, what it finds, and what it refuses.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::path::Path;

use serde_json::Value;

use crate::common::Folder;

const SPECIFICATION: &str = "models/specification.yaml";

/// The document of a walk, which must end with this exit code.
#[track_caller]
fn walk(folder: &Folder, iut: &str, more: &[&str], code: i32) -> Value {
    let arguments = ["test", SPECIFICATION, "--iut", iut, "--cover", "all", "--format", "json"];
    let (text, _) = folder.ends(&[&arguments[..], more].concat(), code);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["exit_code"], code);
    document
}

fn number(document: &Value, key: &str) -> u64 {
    document[key].as_u64().unwrap()
}

/// Soundness: a right system is not blamed. Precision: what can be covered of it is.
#[test]
fn a_right_system_is_covered_and_not_blamed() {
    let folder = Folder::of_machines("models");
    let document = walk(&folder, "right.yaml", &["--events", "150"], 0);
    let (goals, covered) = (number(&document, "goals"), number(&document, "covered"));
    assert!(covered * 10 >= goals * 8, "{covered} of {goals}: {}", document["uncovered"]);
    assert_eq!(document["uncovered"].as_array().unwrap().len() as u64, goals - covered);
    assert!(document["runs"].as_array().unwrap().iter().all(|run| run["verdict"] == "Inconclusive"));
    let again = walk(&folder, "right.yaml", &["--events", "150"], 0);
    assert_eq!(number(&again, "covered"), covered);
    assert_eq!(number(&again, "events"), number(&document, "events"));
}

/// Precision: it ends where it was told to, and listens for some more events at most.
#[test]
fn a_walk_ends_with_its_events_or_its_share() {
    /// As many as it listens for at its end.
    const LISTENS: u64 = 16;
    let folder = Folder::of_machines("models");
    for events in [1, 7, 40] {
        let document = walk(&folder, "right.yaml", &["--events", &events.to_string()], 0);
        let made = number(&document, "events");
        assert!((events..=events + LISTENS).contains(&made), "{made} events for {events}");
    }
    let document = walk(&folder, "right.yaml", &["--until", "30%"], 0);
    let (goals, covered) = (number(&document, "goals"), number(&document, "covered"));
    assert!(covered * 100 >= goals * 30 && number(&document, "events") < 100, "{covered} of {goals}");
    let none = ["test", SPECIFICATION, "--iut", "right.yaml", "--until", "30%"];
    folder.ends(&none, 2);
}

/// Precision: a fault is found, told with its trace, kept, explained and repeated.
#[test]
fn a_wrong_system_fails_with_its_trace() {
    let folder = Folder::of_machines("models");
    let document = walk(&folder, "wrong.yaml", &["--keep", "kept"], 1);
    let runs = document["runs"].as_array().unwrap();
    let (last, before) = runs.split_last().unwrap();
    assert_eq!(last["verdict"], "Fail");
    assert!(before.iter().all(|run| run["verdict"] == "Inconclusive"));
    let files: Vec<_> = std::fs::read_dir(folder.0.join("kept")).unwrap().collect();
    assert_eq!(files.len(), runs.len() + 1);
    let seed = last["seed"].as_u64().unwrap();
    let test = files.iter().map(|file| file.as_ref().unwrap().file_name().into_string().unwrap());
    let test = test.clone().find(|name| name.ends_with(".test_case.json")).unwrap();
    let run = test.replace("test_case", &seed.to_string());
    let (run, test) = (format!("kept/{run}"), format!("kept/{test}"));
    let (told, _) = folder.ends(&["explain", &run, "--test", &test], 0);
    assert!(told.contains("Fail"), "{told}");
    folder.ends(&["replay", &run, "--test", &test, "--iut", "wrong.yaml"], 1);
    let (told, progress) =
        folder.ends(&["test", SPECIFICATION, "--iut", "wrong.yaml", "--cover", "transitions"], 1);
    assert!(told.contains("a fault found") && told.contains("Fail"), "{told}");
    assert!(!progress.contains("error"), "{progress}");
    // `--quiet` promises the failure groups.
    let quiet = ["test", SPECIFICATION, "--iut", "wrong.yaml", "--cover", "transitions", "--quiet"];
    let (told, _) = folder.ends(&quiet, 1);
    assert!(told.contains("Fail") && told.contains(": 1 run\n"), "{told}");
}

/// What is mistyped is refused, and said.
#[test]
fn what_is_mistyped_is_refused() {
    let folder = Folder::of_machines("models");
    let test = ["test", SPECIFICATION, "--iut", "right.yaml"];
    for (more, said) in [
        (&["--cover", "everything"][..], "everything"),
        (&["--cover", "all", "--until", "much"], "much"),
        (&["--cover", "all", "--events", "0"], "0"),
        (&["--cover", "all", "--constant", "cPrize=3"], "cPrize"),
    ] {
        let (_, told) = folder.ends(&[&test[..], more].concat(), 2);
        assert!(told.contains(said), "{more:?}: {told}");
    }
    let purpose = ["test", "models/deliver_coffee.yaml", "--iut", "right.yaml", "--cover", "all"];
    let (_, told) = folder.ends(&purpose, 2);
    assert!(told.contains("purpose"), "{told}");
    folder.ends(&["test", SPECIFICATION, "--iut", "nowhere.yaml", "--cover", "all"], 2);
}

/// Soundness: what crosses on a link that is described is no Fail of a walk either.
#[test]
fn what_crosses_is_no_fail_of_a_walk() {
    const TICKER: &str = "
iosts: ticker
initial: { location: Idle }
inputs: { Go: {} }
outputs: { Tick: {}, Done: {} }
transitions:
  - { from: Idle, to: Idle, on: Tick }
  - { from: Idle, to: Busy, on: Go }
  - { from: Busy, to: Idle, on: Done }
";
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../execution/tests/servers/ticker.py");
    let stdio = format!("stdio: {{ command: [python3, {:?}] }}\n", program.display().to_string());
    let linked = format!("iut: ticker\n{stdio}link: {{ ordered: true, delay: 5 s }}\n");
    let folder = Folder::with(&[(SPECIFICATION, TICKER), ("linked.yaml", &linked)]);
    let document = walk(&folder, "linked.yaml", &["--events", "40", "--quiescence", "20000"], 0);
    assert!(number(&document, "covered") >= 3, "{document}");
    assert_eq!(document["runs"][0]["link_ms"].as_f64(), Some(5000.0));
}

/// A run that begins in a state of our choice blames a system that began in another one.
#[test]
fn a_specification_whose_initial_state_is_open_is_refused_without_a_purpose_too() {
    let folder = Folder::of_machines("models");
    let text = "iosts: open
variables: { n: int }
initial: { location: A, condition: n <= 9 }
outputs: { Show: { x: int } }
transitions: [{ from: A, to: A, on: Show, when: x == n }]
";
    std::fs::write(folder.0.join("open.yaml"), text).unwrap();
    std::fs::write(folder.0.join("never.yaml"), text.replace("n <= 9", "n < n")).unwrap();
    for (file, code) in [("open.yaml", "not-initialized"), ("never.yaml", "no-initial-state")] {
        let test = ["test", file, "--iut", "right.yaml", "--cover", "all"];
        // So is a model that stands for a system.
        folder.write("stands.yaml", &format!("iut: stands\nsimulated: {{ model: {file} }}\n"));
        let stands = ["test", "coreach.yaml", "--iut", "stands.yaml"];
        for command in [&test[..], &["cover", file], &stands] {
            let (_, told) = folder.ends(command, 2);
            assert!(told.contains(code), "{command:?}: {told}");
            let is_open = code == "not-initialized";
            assert_eq!(told.contains("nothing assigns `n`: `A -Show-> A`"), is_open, "{told}");
        }
    }
}

/// Who needs no purpose takes a configuration without one; all others say that it is missing.
#[test]
fn a_configuration_needs_no_purpose_for_a_walk() {
    let folder = Folder::of_machines("models");
    folder.write("bare.yaml", &format!("specification: {SPECIFICATION}\nconformance: ioco\n"));
    let walked = ["test", "bare.yaml", "--iut", "right.yaml", "--cover", "transitions", "--events", "40"];
    let (told, _) = folder.ends(&walked, 0);
    assert!(told.contains("no fault found"), "{told}");
    folder.ends(&["cover", "bare.yaml", "--criterion", "locations"], 0);
    let (told, _) = folder.ends(&["check", "bare.yaml"], 0);
    assert!(told.contains("with no purpose"), "{told}");
    for command in [&["run", "bare.yaml"][..], &["test", "bare.yaml", "--iut", "right.yaml"]] {
        let (_, told) = folder.ends(command, 2);
        assert!(told.contains("missing-key") && told.contains("purpose"), "{command:?}: {told}");
    }
}

/// Soundness: a walk has no verdict if the system leaves the second `B` unanswered, whatever was covered.
#[test]
fn an_answer_that_does_not_come_ends_a_walk() {
    const PAIRS: &str = "
iosts: pairs
initial: { location: Idle }
inputs: { A: {}, B: {} }
outputs: { Ok: {} }
transitions:
  - { from: Idle, to: First, on: A }
  - { from: Idle, to: Second, on: B }
  - { from: First, to: Idle, on: Ok }
  - { from: Second, to: Idle, on: Ok }
";
    const MUTE: &str = "import sys
count = 0
for line in sys.stdin.buffer:
    count += line.strip() == b'b'
    if line.strip() == b'a' or count < 2:
        print('ok', flush=True)
";
    let iut = "iut: mute
stdio:
  command: [python3, mute.py]
  encoding: lines
  stimuli: { A: a, B: b }
  observations: { Ok: '^ok$' }
link: synchronous
";
    let folder = Folder::with(&[(SPECIFICATION, PAIRS), ("mute.yaml", iut), ("mute.py", MUTE)]);
    let test = ["test", SPECIFICATION, "--iut", "mute.yaml", "--cover", "pairs", "--events", "60"];
    let (told, _) = folder.ends(&[&test[..], &["--quiescence", "300", "--keep", "runs"]].concat(), 3);
    assert!(told.contains("no verdict, since an answer did not come"), "{told}");
    // The walk goes on, so a later Fail is not hidden.
    folder.write("mute.py", &MUTE.replace(" or count < 2", "").replace("'ok'", "'ko'"));
    for seed in ["1", "2", "3", "4"] {
        folder.ends(&[&test[..], &["--quiescence", "300", "--seed", seed]].concat(), 1);
    }
    // coreach reads its own record.
    let kept = std::fs::read_dir(folder.0.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let last = kept.filter(|path| !path.to_string_lossy().contains("test_case")).max().unwrap();
    let (told, _) = folder.ends(&["explain", &last.display().to_string()], 0);
    assert!(told.contains("nothing was observed in Second"), "{told}");
}

/// A run that broke has no verdict, and its walk found no fault.
#[test]
fn a_run_error_is_no_fault() {
    let folder = Folder::of_machines("models");
    let text = "iut: gone\nstdio: { command: [./no-such-program] }\n";
    std::fs::write(folder.0.join("gone.yaml"), text).unwrap();
    let (told, _) =
        folder.ends(&["test", SPECIFICATION, "--iut", "gone.yaml", "--cover", "all", "--quiet"], 4);
    assert!(told.contains("a run error") && !told.contains("fault"), "{told}");
}

/// Soundness: a system may refuse ids that nobody handed out, so a walk takes ids from the samples.
#[test]
fn a_walk_takes_ids_from_the_samples() {
    let folder = Folder::with(&[
        (
            "model.yaml",
            "iosts: notes\ntypes: { Note: id }\nvariables: { vNotes: 'map[3] of Note to string' }\n\
             initial: { location: Idle, condition: 'vNotes == []' }\n\
             inputs: { Get: { pNote: Note } }\noutputs: { Missing: {}, Malformed: {} }\ntransitions:\n\
             \x20 - { from: Idle, to: Getting, on: Get }\n  - { from: Getting, to: Idle, on: Missing }\n",
        ),
        ("iut.yaml", "iut: notes\nstdio: { command: [python3, notes.py] }\nsamples: { pNote: [n-7, n-8] }\n"),
        (
            "notes.py",
            "import json, sys\nfor line in sys.stdin:\n    message = json.loads(line)\n    if 'start' in message:\n        \
             answer = {'ready': True}\n    else:\n        is_note = message['values']['pNote'].startswith('n-')\n        \
             answer = {'output': 'Missing' if is_note else 'Malformed'}\n    print(json.dumps(answer), flush=True)\n",
        ),
    ]);
    folder.ends(&["test", "model.yaml", "--iut", "iut.yaml", "--cover", "all", "--events", "60"], 0);
}

/// Precision: after `Kill` little can happen, so the walk begins again, though nothing is new anywhere.
#[test]
fn a_walk_leaves_a_part_in_which_little_can_happen() {
    let folder = Folder::with(&[
        (
            "spec.yaml",
            "iosts: absorb\nvariables: { v: int, vDead: bool }\ninitial: { location: Idle, condition: v == 0 && vDead == false }\n\
             inputs: { Put: { p: 'int[0..9]' }, Get: {}, Kill: {} }\noutputs: { Ok: {}, Value: { p: int }, Dead: {} }\ntransitions:\n\
             - { from: Idle, to: Putting, on: Put, when: '!vDead', assign: { v: p } }\n- { from: Putting, to: Idle, on: Ok }\n\
             - { from: Idle, to: Getting, on: Get }\n- { from: Getting, to: Idle, on: Value, when: '!vDead && p == v' }\n\
             - { from: Getting, to: Idle, on: Dead, when: vDead }\n\
             - { from: Idle, to: Killing, on: Kill, assign: { vDead: true } }\n- { from: Killing, to: Idle, on: Dead }\n",
        ),
        ("iut.yaml", "iut: same\nsimulated: { model: spec.yaml }\n"),
    ]);
    let arguments = [
        "test",
        "spec.yaml",
        "--cover",
        "transitions",
        "--iut",
        "iut.yaml",
        "--events",
        "900",
        "--format",
        "json",
    ];
    let document: Value = serde_json::from_str(&folder.ends(&arguments, 0).0).unwrap();
    assert!(number(&document, "resets") > 2, "{document:#}");
}
