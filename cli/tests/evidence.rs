//! What went over the wire is in the record of its run, whatever became of it.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use serde_json::Value;

/// The items of a run's evidence: direction, phase, text and note.
fn told(record: &Value) -> Vec<String> {
    let items = record["wire"].as_array().unwrap();
    items
        .iter()
        .map(|item| {
            let text = |key: &str| item[key].as_str().unwrap_or_default();
            assert!(item["at_ms"].is_number(), "{item}");
            let words = [text("phase"), text("direction"), text("note"), text("text"), text("base64")];
            words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(": ")
        })
        .collect()
}

fn has(told: &[String], expected: &str) {
    assert!(told.iter().any(|item| item == expected), "{expected:?} is not in {told:#?}");
}

#[test]
fn a_process_is_heard_word_for_word() {
    let folder = crate::adder::folder();
    let told = told(&crate::adder::run(&folder, "stdio", "none", "Pass"));
    assert!(told[0].starts_with("start: sent: {\"start\":"), "{told:#?}");
    has(&told, "start: received: {\"ready\":   true}\n");
    assert!(
        told.iter().any(|item| item.starts_with("sent: {\"input\":\"Add\",\"values\":{\"n\":")),
        "{told:#?}"
    );
    assert_eq!(told.iter().filter(|item| item.starts_with("received: {\"output\":   \"Sum\"")).count(), 4);
    has(&told, "stderr: the adder is up\n");
}

#[test]
fn what_is_no_event_is_kept_as_it_came() {
    let folder = crate::adder::folder();
    let told = |way: &str, fault: &str, verdict: &str| told(&crate::adder::run(&folder, way, fault, verdict));
    has(
        &told("stdio", "alien", "Fail"),
        "mark: alien: {\"output\": \"Nonsense\", \"values\": {\"what\": \"größer\\u0007\"}}",
    );
    // It has a control character, so it is no text for a person.
    let line = "what'; \u{7} \"$(exit 3)\" %s \\";
    let tcp = crate::adder::run(&folder, "tcp", "alien", "Fail");
    let mark = tcp["wire"].as_array().unwrap().iter().find(|item| item["direction"] == "mark").unwrap();
    assert_eq!(crate::adder::bytes(mark), line.as_bytes());
    let http = crate::adder::run(&folder, "http", "alien", "Fail");
    let mark = http["wire"].as_array().unwrap().iter().find(|item| item["direction"] == "mark").unwrap();
    assert_eq!(crate::adder::bytes(mark), line.as_bytes());
}

#[test]
fn half_an_answer_is_kept() {
    let folder = crate::adder::folder();
    let told = |way: &str| told(&crate::adder::run(&folder, way, "half", "RunError"));
    let stdio = told("stdio");
    has(&stdio, "received: {\"output\": \"Su");
    has(&stdio, "end: the implementation has closed its output");
    has(&stdio, "mark: incomplete: {\"output\": \"Su");
    has(&told("tcp"), "mark: incomplete: su");
    has(&told("http"), "received: HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"su");
}

#[test]
fn what_comes_when_the_run_is_over_is_kept() {
    let folder = crate::adder::folder();
    let told = told(&crate::adder::run(&folder, "tcp", "late", "Pass"));
    has(&told, "start: received: 220 adder\r\n");
    has(&told, "start: sent: RESET\r\n");
    has(&told, "settle: end: the tester has ended its side");
    has(&told, "settle: received: bye\r\n");
    has(&told, "settle: end: the implementation has closed the connection");
}

#[test]
fn a_request_is_kept_as_it_was_sent() {
    let folder = crate::adder::folder();
    let told = told(&crate::adder::run(&folder, "http", "none", "Pass"));
    assert!(told[0].starts_with("start: sent: POST /reset HTTP/1.1\r\n"), "{told:#?}");
    let sent: Vec<&String> = told.iter().filter(|item| item.starts_with("sent: POST /add?by=")).collect();
    assert_eq!(sent.len(), 4, "{told:#?}");
    assert!(sent[0].to_lowercase().contains("authorization: bearer it's\r\n"), "{sent:?}");
    assert!(sent[0].contains("\r\n\r\n{\"n\": "), "{sent:?}");
    assert_eq!(told.iter().filter(|item| item.contains("{\"sum\": ")).count(), 4, "{told:#?}");
}

#[test]
fn explain_shows_the_wire_beside_the_events_and_no_control_sign() {
    let folder = crate::adder::folder();
    crate::adder::run(&folder, "tcp", "alien", "Fail");
    let output = folder.coreach(&["explain", "tcp-alien/four.1.json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\u{7}'), "{text}");
    let lines: Vec<&str> =
        text.lines().map(|line| line.trim_start().split_once(' ').map_or("", |(_, rest)| rest)).collect();
    let place =
        |line: &str| lines.iter().position(|one| *one == line).unwrap_or_else(|| panic!("{line}:\n{text}"));
    let reset = place("-> RESET\\r\\n");
    let sent = lines.iter().position(|line| line.starts_with("-> ADD ")).unwrap();
    let stimulus = lines.iter().position(|line| line.starts_with("== 1 Add(")).unwrap();
    let seen = lines.iter().position(|line| line.starts_with("<- sum ")).unwrap();
    let observation = lines.iter().position(|line| line.starts_with("== 2 Sum(")).unwrap();
    let alien = place("?? alien: what'; \\x07 \"$(exit 3)\" %s \\\\");
    let order = [reset, sent, stimulus, seen, observation, alien];
    assert!(order.is_sorted(), "{order:?}\n{text}");
    let output = folder.coreach(&["explain", "tcp-alien/four.1.json", "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["wire"].as_array().unwrap().len() > 8, "{document}");
}
