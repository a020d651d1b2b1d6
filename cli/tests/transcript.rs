//! What went over the wire, as text that a shell runs: it sends the same bytes again.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::adder::bytes;
use crate::common::Folder;

/// Stands for `nc` and `curl`: notes its words, and what it is given.
const NOTES: &str =
    "#!/bin/sh\n{ printf '%s\\n' \"$0\" \"$@\"; case \"$*\" in *@-*|h*) cat;; esac; } >> said\n";

/// The transcript of a run with this fault, and what a shell that runs it starts.
fn transcript(folder: &Folder, way: &str, fault: &str, verdict: &str) -> (String, Vec<u8>, Value) {
    let record = crate::adder::run(folder, way, fault, verdict);
    let (text, _) = folder.ends(&["explain", &format!("{way}-{fault}/four.1.json"), "--transcript"], 0);
    for program in ["nc", "curl", "sleep"] {
        let path = folder.0.join("bin").join(program);
        folder.write(&format!("bin/{program}"), if program == "sleep" { "#!/bin/sh\n" } else { NOTES });
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder.write("transcript", &text);
    let _ = fs::remove_file(folder.0.join("said"));
    let path = format!("bin:{}", std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let shell =
        shell.arg("transcript").current_dir(&folder.0).env("PATH", path).envs([("HOST", "h"), ("PORT", "1")]);
    let output = shell.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}\n{text}");
    (text, fs::read(folder.0.join("said")).unwrap(), record)
}

/// Soundness: the shell sends the bytes of the run, in their order, and nothing else.
#[test]
fn a_shell_sends_the_bytes_of_the_run_again() {
    let folder = crate::adder::folder();
    for (way, fault, verdict) in [
        ("tcp", "sum", "Fail"),
        ("tcp", "alien", "Fail"),
        ("udp", "none", "Pass"),
        ("stdio", "half", "RunError"),
        ("frames", "sum", "Fail"),
    ] {
        let (text, said, record) = transcript(&folder, way, fault, verdict);
        let items = record["wire"].as_array().unwrap();
        let sent = items.iter().filter(|item| item["direction"] == "sent").flat_map(bytes);
        let expected = [b"bin/nc\nh\n1\n".to_vec(), sent.collect()].concat();
        assert_eq!(String::from_utf8_lossy(&said), String::from_utf8_lossy(&expected), "{text}");
        let received = items.iter().filter(|item| item["direction"] == "received").count();
        assert!(text.matches("\n# received ").count() >= received, "{text}");
    }
}

/// Soundness: a request of HTTP is one call of `curl` with its method, its place, its headers and its body.
#[test]
fn a_request_of_http_is_a_call_of_curl() {
    let folder = crate::adder::folder();
    let (text, said, record) = transcript(&folder, "http", "sum", "Fail");
    let said = String::from_utf8(said).unwrap();
    let items = record["wire"].as_array().unwrap();
    let sent = items.iter().filter(|item| item["direction"] == "sent").map(bytes);
    let sent: Vec<String> = sent.map(|bytes| String::from_utf8(bytes).unwrap()).collect();
    assert_eq!(said.matches("bin/curl\n").count(), sent.len(), "{text}");
    let mut rest = said.as_str();
    for request in &sent {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let [method, path, _] =
            head.lines().next().unwrap().split(' ').collect::<Vec<_>>().try_into().unwrap();
        let wanted = [format!("-X\n{method}\n"), format!("{path}\n"), body.to_owned()];
        for wanted in wanted {
            let (_, behind) = rest.split_once(&wanted).unwrap_or_else(|| panic!("{wanted}: {said}"));
            rest = behind;
        }
    }
}

#[test]
fn a_redacted_header_and_a_run_without_evidence() {
    let folder = crate::adder::folder();
    let http = folder.read("http.yaml") + "evidence: { redact: [AUTHORIZATION] }\n";
    folder.write("http.yaml", &http);
    let (text, _, _) = transcript(&folder, "http", "sum", "Fail");
    assert!(text.contains("authorization: [redacted]") && !text.contains("Bearer"), "{text}");
    folder.write("tcp.yaml", &(folder.read("tcp.yaml") + "evidence: { run_kb: 0 }\n"));
    crate::adder::run(&folder, "tcp", "sum", "Fail");
    let (_, err) = folder.ends(&["explain", "tcp-sum/four.1.json", "--transcript"], 2);
    assert!(err.contains("no-wire"), "{err}");
}

/// A run that `replay` keeps stands beside its test case: it can be explained, as one that `test`
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
