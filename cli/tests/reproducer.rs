//! A failed run as a script that stands alone: it fails without coreach, and no longer where the fault is
//! cured.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::process::{Command, Output};

use crate::adder::WAYS;
use crate::common::Folder;

/// The same in frames of bytes: each says its length, or is a datagram.
const FRAMES: [&str; 2] = ["frames", "datagrams"];

/// Writes the script of a run with this fault.
fn script(folder: &Folder, way: &str, fault: &str) -> String {
    let verdict = if fault == "half" { "RunError" } else { "Fail" };
    crate::adder::run(folder, way, fault, verdict);
    let (run, iut) = (format!("{way}-{fault}/four.1.json"), format!("{way}_{fault}.yaml"));
    let path = format!("{way}-{fault}.py");
    let output = folder.coreach(&["explain", &run, "--iut", &iut, "--reproducer", &path]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    path
}

/// Starts the script by its name, from another folder, and without coreach's environment.
fn started(folder: &Folder, path: &str) -> Output {
    let path = folder.0.join(path);
    Command::new(path).current_dir(std::env::temp_dir()).output().unwrap()
}

#[track_caller]
fn ends(output: &Output, code: i32, sentence: &str) {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(last.starts_with(sentence), "{output:?}");
}

/// A run that `replay` keeps stands beside its test case: a script can be made of it, as of one that `test`
/// has kept.
#[test]
fn a_shrunk_run_has_its_test_case_beside_it() {
    let folder = Folder::of_machines("");
    let seeds = "seeds: { first: 1, count: 3 }";
    let campaign =
        format!("campaign: night\ntests: [{{ configuration: coreach.yaml }}]\niuts: [wrong.yaml]\n{seeds}\n");
    folder.write("campaign.yaml", &campaign);
    folder.ends(&["campaign", "campaign.yaml", "--store", "night.sqlite"], 1);
    let _ = fs::create_dir_all(folder.0.join("short"));
    let is_kept = (1..=3).any(|number: i32| {
        let _ = fs::remove_file(folder.0.join("short/one.json"));
        let (number, keep) =
            (number.to_string(), ["--keep", "short/one.json", "--shrink", "--attempts", "5"]);
        folder.coreach(&[&["replay", "night.sqlite", &number][..], &keep].concat()).status.code() == Some(1)
    });
    assert!(is_kept && folder.0.join("short/one.test_case.json").exists());
    let (out, _) = folder.ends(&["explain", "short/one.json"], 0);
    assert!(out.contains("Fail"), "{out}");
    folder.ends(&["replay", "short/one.json", "--iut", "wrong.yaml"], 1);
    // Beside another test case it is not put.
    folder.write("other/one.test_case.json", "{}");
    let (_, err) = folder.ends(&["replay", "night.sqlite", "1", "--keep", "other/one.json"], 2);
    assert!(err.contains("output-is-there") && !folder.0.join("other/one.json").exists(), "{err}");
    assert_eq!(folder.read("other/one.test_case.json"), "{}");
}

#[test]
fn a_script_fails_alone_and_no_longer_when_the_fault_is_cured() {
    fails_alone_until_cured(&WAYS);
}

#[test]
fn so_does_one_of_frames_of_bytes() {
    fails_alone_until_cured(&FRAMES);
}

fn fails_alone_until_cured(ways: &[&str]) {
    for fault in ["sum", "alien", "half", "kind"] {
        let folder = crate::adder::folder();
        let scripts: Vec<String> = ways.iter().map(|way| script(&folder, way, fault)).collect();
        for path in &scripts {
            let output = started(&folder, path);
            ends(&output, 1, "FAILED: the failure is seen again");
        }
        let server = folder.0.join("server.py");
        let text = fs::read_to_string(&server).unwrap();
        let cured = text.replace("WAY, FAULT = sys.argv[1], sys.argv[2]", "WAY, FAULT = sys.argv[1], 'none'");
        assert_ne!(text, cured);
        fs::write(&server, cured).unwrap();
        for path in &scripts {
            ends(&started(&folder, path), 0, "not seen: the failure is not seen");
        }
        if fault != "sum" && fault != "alien" {
            continue;
        }
        // Another fault is another failure.
        let other = if fault == "sum" { "alien" } else { "sum" };
        fs::write(&server, text.replace("sys.argv[2]", &format!("'{other}'"))).unwrap();
        for path in &scripts {
            ends(&started(&folder, path), 0, "not seen: the failure is not seen");
        }
        fs::remove_file(&server).unwrap();
        for path in &scripts {
            ends(&started(&folder, path), 2, "could not be tried: ");
        }
    }
}

#[test]
fn silence_that_is_a_failure_is_shown_again() {
    let folder = crate::adder::folder();
    let server = folder.0.join("server.py");
    let text = fs::read_to_string(&server).unwrap();
    for way in ["stdio", "tcp", "udp", "http", "frames"] {
        edit(&folder, &format!("{way}.yaml"), "iut: adder", "iut: adder\nsilence: fail\nwithin: 900 ms");
        let (iut, path) = (crate::adder::iut(&folder, way, "mute"), format!("{way}-mute.py"));
        let output = folder.coreach(&["test", "coreach.yaml", "--iut", &iut, "--keep", way]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let run = format!("{way}/four.1.json");
        let output = folder.coreach(&["explain", &run, "--iut", &iut, "--reproducer", &path]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        ends(&started(&folder, &path), 1, "FAILED: the failure is seen again: nothing came in time");
        // An answer is no silence.
        let cured = text.replace("            time.sleep(60)\n", "            pass\n");
        assert_ne!(cured, text);
        fs::write(&server, cured).unwrap();
        ends(&started(&folder, &path), 0, "not seen: the failure is not seen");
        fs::write(&server, &text).unwrap();
    }
}

#[test]
fn a_hang_up_that_is_an_output_is_shown_again() {
    let folder = crate::adder::folder();
    for (name, from, to) in [
        ("model.yaml", "Sum: { s: int } }", "Sum: { s: int }, Closed: {} }"),
        ("stdio.yaml", "iut: adder", "iut: adder\non_close: Closed"),
        ("tcp.yaml", "iut: adder", "iut: adder\non_close: Closed"),
        ("frames.yaml", "iut: adder", "iut: adder\non_close: Closed"),
    ] {
        edit(&folder, name, from, to);
    }
    for way in ["stdio", "tcp", "frames"] {
        let path = script(&folder, way, "close");
        ends(&started(&folder, &path), 1, "FAILED");
        let text = fs::read_to_string(folder.0.join("server.py")).unwrap();
        fs::write(folder.0.join("server.py"), text.replace("sys.argv[2]", "'none'")).unwrap();
        ends(&started(&folder, &path), 0, "not seen: the failure is not seen");
        fs::write(folder.0.join("server.py"), text).unwrap();
    }
}

#[test]
fn a_hang_up_in_the_middle_is_told_from_the_whole_answer() {
    let folder = crate::adder::folder();
    edit(&folder, "model.yaml", "Sum: { s: int } }", "Sum: { s: int }, Closed: {} }");
    for way in ["stdio", "tcp", "frames"] {
        edit(&folder, &format!("{way}.yaml"), "iut: adder", "iut: adder\non_close: Closed");
        let path = script(&folder, way, "half");
        ends(&started(&folder, &path), 1, "FAILED");
        let text = fs::read_to_string(folder.0.join("server.py")).unwrap();
        fs::write(folder.0.join("server.py"), text.replace("sys.argv[2]", "'none'")).unwrap();
        ends(&started(&folder, &path), 0, "not seen: the failure is not seen");
        fs::write(folder.0.join("server.py"), text).unwrap();
    }
}

#[test]
fn who_may_end_by_itself_is_let_by_the_script() {
    let folder = crate::adder::folder();
    edit(&folder, "stdio.yaml", "FAULT] }", "FAULT], grace_ms: 20000 }");
    edit(&folder, "server.py", "    for line in sys.stdin:\n", "    for line in leaving(sys.stdin):\n");
    let leaving =
        "def leaving(lines):\n    yield from lines\n    open('left', 'w').close()\n\n\ndef stdio():";
    edit(&folder, "server.py", "def stdio():", leaving);
    let path = script(&folder, "stdio", "sum");
    let _ = fs::remove_file(folder.0.join("left"));
    ends(&started(&folder, &path), 1, "FAILED");
    assert!(folder.0.join("left").exists());
}

#[test]
fn of_a_new_connection_there_is_no_script() {
    let folder = crate::adder::folder();
    for (name, from, to) in [
        ("model.yaml", "inputs: { Add", "inputs: { Again: {}, Add"),
        (
            "model.yaml",
            "transitions:",
            "transitions:\n  - { from: Idle, to: New, on: Again }\n  - { from: New, to: Idle, on: Sum }",
        ),
        ("purpose.yaml", "{ from: None, to: Once, on: Sum }", "{ from: None, to: Once, on: Again }"),
        ("tcp.yaml", "iut: adder", "iut: adder\nreconnect: Again"),
    ] {
        edit(&folder, name, from, to);
    }
    // The greeting over the new connection is none of the specification's outputs.
    crate::adder::run(&folder, "tcp", "none", "Fail");
    let arguments = ["explain", "tcp-none/four.1.json", "--iut", "tcp_none.yaml", "--reproducer", "again.py"];
    let output = folder.coreach(&arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("`Again` makes a new connection"), "{output:?}");
    assert!(!folder.0.join("again.py").exists());
}

fn edit(folder: &Folder, name: &str, from: &str, to: &str) {
    let path = folder.0.join(name);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(&path, text.replace(from, to)).unwrap();
}

#[test]
fn a_script_of_a_campaign_takes_its_implementation_from_the_store() {
    let folder = crate::adder::folder();
    let iut = crate::adder::iut(&folder, "http", "sum");
    let campaign = format!(
        "campaign: night\ntests: [ {{ configuration: coreach.yaml }} ]\niuts: [{iut}]\nseeds: {{ first: 1, count: 1 }}\n"
    );
    fs::write(folder.0.join("night.yaml"), campaign).unwrap();
    let output = folder.coreach(&["campaign", "night.yaml"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let output = folder.coreach(&["explain", "night.sqlite", "1", "--reproducer", "night.py"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    ends(&started(&folder, "night.py"), 1, "FAILED");
}

#[test]
fn what_cannot_be_shown_again_is_refused_and_nothing_is_written() {
    let folder = crate::adder::folder();
    crate::adder::run(&folder, "stdio", "none", "Pass");
    let run = "stdio-none/four.1.json";
    for (arguments, expected) in [
        (vec!["--iut", "stdio_none.yaml", "--reproducer", "a.py"], "no answer of"),
        (vec!["--reproducer", "a.py"], "give `--iut FILE`"),
        (vec!["--iut", "stdio_none.yaml", "--reproducer", "stdio_none.yaml"], "stdio_none.yaml"),
        (vec!["--iut", "stdio_none.yaml", "--reproducer", run], run),
    ] {
        let before = fs::read(folder.0.join("stdio_none.yaml")).unwrap();
        let output = folder.coreach(&[vec!["explain", run], arguments].concat());
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(err.contains(expected), "{err}");
        assert!(!folder.0.join("a.py").exists());
        assert_eq!(fs::read(folder.0.join("stdio_none.yaml")).unwrap(), before);
    }
}

#[test]
fn a_redacted_header_is_in_no_file() {
    let folder = crate::adder::folder();
    let path = folder.0.join("http.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text + "evidence: { redact: [AUTHORIZATION] }\n").unwrap();
    let path = script(&folder, "http", "sum");
    let record = fs::read_to_string(folder.0.join("http-sum/four.1.json")).unwrap();
    let written = fs::read_to_string(folder.0.join(&path)).unwrap();
    assert!(record.contains("authorization: [redacted]"), "{record}");
    for text in [&record, &written] {
        assert!(!text.contains("Bearer"), "{text}");
    }
    ends(&started(&folder, &path), 2, "could not be tried: set SECRET_AUTHORIZATION");
    let output =
        Command::new(folder.0.join(&path)).env("SECRET_AUTHORIZATION", "Bearer it's").output().unwrap();
    ends(&output, 1, "FAILED");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("Bearer"), "{output:?}");
}
