//! Silence, lateness, disconnect and a new connection, from the outside: what an IUT file says of them
//! decides what a run comes to, and what is kept of it can be told and repeated.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// The exit codes of `test`.
const PASS: i32 = 0;
const FAIL: i32 = 1;
const REFUSED: i32 = 2;
const INCONCLUSIVE: i32 = 3;
const RUN_ERROR: i32 = 4;

/// Asked, it must answer; in `Maybe` it need not, for it may get tired unseen.
const ASKING: &str = "
iosts: asking
variables: { v: int }
initial: { location: Idle, condition: v == 0 }
inputs: { Ask: {}, Tease: {} }
outputs: { Answer: { n: int } }
internals: [tire]
transitions:
  - { from: Idle, to: Asked, on: Ask, assign: { v: v + 1 } }
  - { from: Asked, to: Idle, on: Answer, when: n == v }
  - { from: Idle, to: Maybe, on: Tease }
  - { from: Maybe, to: Idle, on: Answer, when: n == 0 }
  - { from: Maybe, to: Tired, on: tire }
";

const TWICE: &str = "
purpose: twice
of: asking
initial: { location: None }
transitions:
  - { from: None, to: Reject, on: Tease }
  - { from: None, to: Once, on: Answer }
  - { from: Once, to: Reject, on: Tease }
  - { from: Once, to: Accept, on: Answer }
";

const TEASED: &str = "
purpose: teased
of: asking
initial: { location: None }
transitions:
  - { from: None, to: Reject, on: Ask }
  - { from: None, to: Accept, on: Answer }
";

/// Its second answer is on time, late, or never comes.
const ASKED: &str = r#"
import json, sys, time
def say(message):
    print(json.dumps(message), flush=True)
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if "start" in message:
        say({"ready": True})
    elif message["input"] == "Ask":
        asked += 1
        if asked == 2 and sys.argv[1] == "late":
            time.sleep(0.5)
        if asked < 2 or sys.argv[1] != "silent":
            say({"output": "Answer", "values": {"n": asked}})
"#;

/// Answers count over all connections. Only a new connection is answered when it has disconnected.
const SESSION: &str = "
iosts: session
variables: { v: int }
initial: { location: Idle, condition: v == 0 }
inputs: { Ask: {}, Quit: {}, Connect: {} }
outputs: { Answer: { n: int }, Hangup: {} }
transitions:
  - { from: Idle, to: Asked, on: Ask, assign: { v: v + 1 } }
  - { from: Asked, to: Idle, on: Answer, when: n == v }
  - { from: Idle, to: Idle, on: Connect }
  - { from: Idle, to: Leaving, on: Quit }
  - { from: Leaving, to: Gone, on: Hangup }
  - { from: Gone, to: Idle, on: Connect }
";

const BACK: &str = "
purpose: back
of: session
initial: { location: None }
transitions:
  - { from: None, to: Left, on: Hangup }
  - { from: None, to: Reject, on: Connect }
  - { from: Left, to: Again, on: Connect }
  - { from: Left, to: Reject, on: Quit }
  - { from: Again, to: Accept, on: Answer }
  - { from: Again, to: Reject, on: Quit }
  - { from: Again, to: Reject, on: Connect }
";

/// A new connection while the old one is open, after an answer on it.
const MOVED: &str = "
purpose: moved
of: session
initial: { location: None }
transitions:
  - { from: None, to: Reject, on: Quit }
  - { from: None, to: Reject, on: Connect }
  - { from: None, to: Known, on: Answer }
  - { from: Known, to: Reject, on: Quit }
  - { from: Known, to: Reject, on: Ask }
  - { from: Known, to: Moved, on: Connect }
  - { from: Moved, to: Reject, on: Quit }
  - { from: Moved, to: Reject, on: Connect }
  - { from: Moved, to: Accept, on: Answer }
";

/// Over tcp, with its habit in the second word; over standard input and output, what counts is kept in a
/// file.
const SERVER: &str = r#"
import os, socket, sys, threading
habit = sys.argv[2]
count = 0
def serve(connection):
    global count
    reader = connection.makefile("r")
    for line in reader:
        line = line.strip()
        if line == "ask" and habit == "early":
            break
        if line == "ask" and habit == "unfinished":
            connection.sendall(b"answ")
            break
        if line == "ask":
            count += 1
            wrong = count + 5 if habit == "wrong" and count > 1 else count
            connection.sendall(b"answer %d\n" % wrong)
        if line == "quit":
            break
    else:
        if habit == "bye":
            connection.sendall(b"answer 77\n")
    reader.close()
    connection.shutdown(socket.SHUT_RDWR)
    connection.close()
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection, _ = listener.accept()
    threading.Thread(target=serve, args=(connection,)).start()
"#;

/// The same as a process for each connection: it has ended when it has disconnected.
const PROCESS: &str = r#"
import json, sys
name = sys.argv[1]
def say(message):
    print(json.dumps(message), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "start" in message:
        open(name, "w").write("0")
        say({"ready": True})
    elif "resume" in message:
        say({"ready": True})
    elif message["input"] == "Ask":
        count = int(open(name).read()) + 1
        open(name, "w").write(str(count))
        say({"output": "Answer", "values": {"n": count}})
    elif message["input"] == "Quit":
        break
"#;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            Folder(std::env::temp_dir().join(format!("coreach-behaviour-{name}-{}", std::process::id())));
        fs::create_dir_all(&folder.0).unwrap();
        for (name, text) in [
            ("asking.yaml", ASKING),
            ("twice.yaml", TWICE),
            ("teased.yaml", TEASED),
            ("asked.py", ASKED),
            ("asking_twice.yaml", "specification: asking.yaml\npurpose: twice.yaml\n"),
            ("asking_teased.yaml", "specification: asking.yaml\npurpose: teased.yaml\n"),
            ("session.yaml", SESSION),
            ("back.yaml", BACK),
            ("moved.yaml", MOVED),
            ("server.py", SERVER),
            ("process.py", PROCESS),
            ("session_back.yaml", "specification: session.yaml\npurpose: back.yaml\n"),
            ("session_moved.yaml", "specification: session.yaml\npurpose: moved.yaml\n"),
        ] {
            folder.write(name, text);
        }
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.0.join(name)).unwrap()).unwrap()
    }

    /// The asked one with this habit, and what more its file says.
    fn asked(&self, habit: &str, more: &str) {
        self.write(
            "iut.yaml",
            &format!("iut: asked\nstdio: {{ command: [python3, asked.py, {habit}] }}\n{more}"),
        );
    }

    /// The server with this habit.
    fn served(&self, habit: &str, more: &str) {
        self.write(
            "iut.yaml",
            &format!(
                "iut: served\ntcp:\n  address: 127.0.0.1:{{port}}\n  launch: {{ command: [python3, server.py, \"{{port}}\", {habit}] }}\n  \
                 encoding: lines\n  stimuli: {{ Ask: ask, Quit: quit }}\n  observations: {{ Answer: '^answer (?P<n>\\d+)$' }}\n{more}"
            ),
        );
    }

    #[track_caller]
    fn coreach(&self, arguments: &[&str], code: i32) -> String {
        let output: Output = Command::new(env!("CARGO_BIN_EXE_coreach"))
            .args(arguments)
            .current_dir(&self.0)
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\nstdout:\n{out}\nstderr:\n{err}");
        out + &err
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn silence_where_it_must_answer_fails_if_the_file_says_so() {
    let folder = Folder::new("silence");
    let test = ["test", "asking_twice.yaml", "--iut", "iut.yaml", "--strategy", "plan"];
    // Not by itself.
    folder.asked("silent", "within: 200 ms\n");
    folder.coreach(&test, INCONCLUSIVE);
    folder.asked("silent", "within: 200 ms\nsilence: fail\n");
    let told = folder.coreach(&[&test[..], &["--keep", "kept"]].concat(), FAIL);
    assert!(told.contains("does not allow silence in"), "{told}");
    let kept = folder.json("kept/twice.1.json");
    assert_eq!((kept["verdict"].as_str(), kept["cause"].as_str()), (Some("Fail"), Some("silence")));
    assert_eq!(kept["detail"].as_u64(), Some(200), "how long was waited");
    assert_eq!(kept["bucket"]["place"].as_str(), Some("Asked"), "{kept}");
    assert_eq!(kept["bucket"]["cause"].as_str(), Some("silence"));
    assert_eq!(kept["trace"].as_array().unwrap().len(), 3, "{kept}");
    let expected = kept["reason"]["expected"][0].as_str().unwrap();
    assert!(expected.starts_with("Answer(n = 2)"), "{kept}");
    let run = ["kept/twice.1.json", "--test", "kept/twice.test_case.json"];
    let told = folder.coreach(&[&["explain"], &run[..]].concat(), PASS);
    assert!(
        told.contains("nothing was observed for 200 ms") && told.contains("expected Answer(n = 2)"),
        "{told}"
    );
    let replay = [&["replay"], &run[..], &["--iut", "iut.yaml"]].concat();
    let told = folder.coreach(&replay, FAIL);
    assert!(told.contains("the same 3 events again"), "{told}");
    let shrink =
        [&replay[..], &["--shrink", "--attempts", "6", "--again", "1", "--keep", "short.json"]].concat();
    folder.coreach(&shrink, FAIL);
    assert_eq!(folder.json("short.json")["bucket"], kept["bucket"]);
    // What the test case does not say is not held against anybody: an old document, and a record that is of
    // another test case.
    let mut old = folder.json("kept/twice.test_case.json");
    for location in old["locations"].as_array_mut().unwrap() {
        location.as_object_mut().unwrap().remove("must_answer");
    }
    folder.write("old.json", &old.to_string());
    folder.coreach(&["test", "old.json", "--iut", "iut.yaml", "--strategy", "plan"], INCONCLUSIVE);
    let told = folder.coreach(&["explain", "kept/twice.1.json", "--test", "old.json"], REFUSED);
    assert!(told.contains("it failed for silence"), "{told}");
    // Who answers passes; where it may stay silent, silence is no failure.
    folder.asked("good", "silence: fail\n");
    folder.coreach(&test, PASS);
    folder.asked("silent", "within: 200 ms\nsilence: fail\n");
    folder.coreach(&["test", "asking_teased.yaml", "--iut", "iut.yaml"], INCONCLUSIVE);
}

#[test]
fn silence_beside_an_internal_step_is_judged_by_the_data() {
    let folder = Folder::new("unseen");
    let answers = "{ from: Asked, to: Idle, on: Answer, when: n == v }";
    let teased = "{ from: None, to: Reject, on: Tease }";
    assert!(ASKING.contains(answers) && TWICE.contains(teased));
    folder.write(
        "twice.yaml",
        &TWICE
            .replace(teased, "{ from: None, to: Reject, on: Tease }\n  - { from: None, to: None, on: tire }"),
    );
    let test = ["test", "asking_twice.yaml", "--iut", "iut.yaml", "--strategy", "plan"];
    folder.asked("silent", "within: 200 ms\nsilence: fail\n");
    // It is silent when it is asked the second time.
    let cases = [
        // The step cannot be taken there, or it can, to where nothing is sent.
        ("{ from: Asked, to: Tired, on: tire, when: v > 2 }", FAIL),
        ("{ from: Asked, to: Tired, on: tire, when: v > 1 }", INCONCLUSIVE),
        // It leads to where it must answer; so does whatever follows, or it does not.
        ("{ from: Asked, to: Late, on: tire }\n  - { from: Late, to: Idle, on: Answer, when: n == v }", FAIL),
        (
            "{ from: Asked, to: Late, on: tire }\n  - { from: Late, to: Idle, on: Answer, when: n == v }\n  \
             - { from: Late, to: Tired, on: tire, when: v > 1 }",
            INCONCLUSIVE,
        ),
    ];
    for (number, (beside, code)) in cases.into_iter().enumerate() {
        folder.write("asking.yaml", &ASKING.replace(answers, &format!("{answers}\n  - {beside}")));
        let kept = format!("kept{number}");
        folder.coreach(&[&test[..], &["--keep", &kept]].concat(), code);
        let (run, case) = (format!("{kept}/twice.1.json"), format!("{kept}/twice.test_case.json"));
        let told = folder.coreach(&["explain", &run, "--test", &case], PASS);
        assert!(told.contains("nothing was observed"), "{told}");
    }
    // Nothing is sent but behind the step.
    let only = "{ from: Asked, to: Late, on: tire }\n  - { from: Late, to: Idle, on: Answer, when: n == v }";
    folder.write("asking.yaml", &ASKING.replace(answers, only));
    folder.coreach(&test, FAIL);
}

#[test]
fn how_long_a_reply_may_take_is_said_for_all_for_a_place_or_after_an_action() {
    let folder = Folder::new("within");
    let test = ["test", "asking_twice.yaml", "--iut", "iut.yaml", "--strategy", "plan"];
    for (within, code) in [
        ("within: 100 ms", FAIL),
        ("within: 10 s", PASS),
        ("within: { all: 100 ms, after: { Ask: 10 s } }", PASS),
        ("within: { all: 100 ms, locations: { Asked: 10 s } }", PASS),
        ("within: { all: 10 s, locations: { Asked: 100 ms } }", FAIL),
        ("within: { all: 10 s, after: { Ask: 100 ms }, locations: { Idle: 5 s } }", FAIL),
        // Of two that apply, the longer one.
        ("within: { after: { Ask: 100 ms }, locations: { Asked: 10 s } }", PASS),
    ] {
        folder.asked("late", &format!("silence: fail\n{within}\n"));
        folder.coreach(&test, code);
    }
    // The command line has the last word.
    folder.asked("late", "silence: fail\nwithin: { all: 100 ms, locations: { Asked: 100 ms } }\n");
    folder.coreach(&[&test[..], &["--quiescence", "10000"]].concat(), PASS);
    let place = folder.json_of_place("asking_twice.yaml");
    folder.coreach(&[&test[..], &["--quiescence", &format!("{place}=10000")]].concat(), PASS);
}

impl Folder {
    /// The test case's name for the second time of `Asked`.
    fn json_of_place(&self, configuration: &str) -> String {
        let told = self.coreach(&["test", configuration, "--iut", "iut.yaml", "--keep", "named"], FAIL);
        assert!(!told.is_empty());
        let case = self.json("named/twice.test_case.json");
        let locations = case["locations"].as_array().unwrap();
        let of = |location: &&Value| location["label"] == "<Asked,Once>";
        locations.iter().find(of).unwrap()["name"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_campaign_keeps_silence_that_failed() {
    let folder = Folder::new("campaign");
    folder.asked("silent", "within: 150 ms\nsilence: fail\n");
    folder.write(
        "model_iut.yaml",
        "iut: model\nsilence: fail\nwithin: 5 ms\nsimulated: { model: asking.yaml }\n",
    );
    folder.write(
        "campaign.yaml",
        "campaign: silent\ntests: [ { configuration: asking_twice.yaml } ]\niuts: [iut.yaml, model_iut.yaml]\nseeds: { first: 1, count: 2 }\n\
         strategy: plan\nlimits: { quiescence_ms: 60000 }\n",
    );
    let told = folder.coreach(&["campaign", "campaign.yaml", "--junit", "junit.xml"], FAIL);
    assert!(told.contains("where it must answer"), "{told}");
    let junit = fs::read_to_string(folder.0.join("junit.xml")).unwrap();
    assert!(junit.contains("silence"), "{junit}");
    let store = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path());
    let store = store.into_iter().find(|path| path.extension().is_some_and(|end| end == "sqlite")).unwrap();
    let store = store.file_name().unwrap().to_str().unwrap().to_owned();
    let mut codes: Vec<_> = (1..=4)
        .map(|number: u32| {
            let output = Command::new(env!("CARGO_BIN_EXE_coreach"))
                .args(["replay", &store, &number.to_string()])
                .current_dir(&folder.0)
                .output()
                .unwrap();
            output.status.code().unwrap()
        })
        .collect();
    codes.sort_unstable();
    assert_eq!(codes, [PASS, PASS, FAIL, FAIL], "the model answers, the silent one does not");
}

const BOTH: &str = "on_close: Hangup\nreconnect: Connect\n";

#[test]
fn a_closed_connection_is_an_output_where_the_file_says_so() {
    let folder = Folder::new("hangup");
    let test = ["test", "session_back.yaml", "--iut", "iut.yaml", "--runs", "5"];
    folder.served("good", BOTH);
    let told = folder.coreach(&[&test[..], &["--keep", "kept", "--format", "json"]].concat(), PASS);
    assert_eq!(told.matches("\"Hangup\"").count(), 5, "once in each run: {told}");
    let replay = ["replay", "kept/back.2.json", "--test", "kept/back.test_case.json", "--iut", "iut.yaml"];
    assert!(folder.coreach(&replay, PASS).contains("and Pass"));
    // What is counted goes on over the new connection.
    folder.served("wrong", BOTH);
    assert!(folder.coreach(&test, FAIL).contains("expected n ="));
    // It hangs up where the model has it answer.
    folder.served("early", BOTH);
    assert!(folder.coreach(&test, FAIL).contains("does not allow Hangup()"));
    // Half a line is neither an answer nor nothing.
    folder.served("unfinished", BOTH);
    assert!(folder.coreach(&test, RUN_ERROR).contains("in the middle of a line: answ"));
    // Without a word in the file it is what it was.
    folder.served("good", "reconnect: Connect\n");
    let told = folder.coreach(&["test", "session_back.yaml", "--iut", "iut.yaml"], REFUSED);
    assert!(told.contains("`observations` has nothing for `Hangup`"), "{told}");
    let file = fs::read_to_string(folder.0.join("iut.yaml")).unwrap();
    folder.write("iut.yaml", &file.replace("Answer:", "Hangup: never, Answer:"));
    let told = folder.coreach(&test, RUN_ERROR);
    assert!(
        told.contains("\n  help: if the model describes that the system closes it, name this output"),
        "{told}"
    );
}

#[test]
fn nobody_is_blamed_for_silence_where_nothing_could_be_heard() {
    let folder = Folder::new("deaf");
    // It has to say something behind the disconnect, and has no way to.
    folder.write(
        "session.yaml",
        &SESSION.replace("from: Gone, to: Idle, on: Connect", "from: Gone, to: Idle, on: Answer"),
    );
    folder.write("last.yaml", "purpose: last\nof: session\ninitial: { location: None }\ntransitions:\n  - { from: None, to: Left, on: Hangup }\n  \
         - { from: None, to: Reject, on: Answer }\n  - { from: None, to: Reject, on: Connect }\n  - { from: Left, to: Accept, on: Answer }\n");
    folder.write("session_last.yaml", "specification: session.yaml\npurpose: last.yaml\n");
    folder.served("good", &format!("{BOTH}silence: fail\nwithin: 100 ms\n"));
    let test = ["test", "session_last.yaml", "--iut", "iut.yaml", "--strategy", "plan", "--keep", "kept"];
    assert!(folder.coreach(&test, INCONCLUSIVE).contains("nothing was observed in <Gone,Left>"));
    let case = folder.json("kept/last.test_case.json");
    let mut locations = case["locations"].as_array().unwrap().iter();
    assert!(
        locations.any(|location| {
            let always = location["must_answer"].as_u64().map(|number| &case["terms"][number as usize][2]);
            location["label"] == "<Gone,Left>" && always == Some(&true.into())
        }),
        "{case}"
    );
    let replay = ["replay", "kept/last.1.json", "--test", "kept/last.test_case.json", "--iut", "iut.yaml"];
    folder.coreach(&replay, INCONCLUSIVE);
}

#[test]
fn what_is_under_way_on_the_old_connection_is_no_answer_on_the_new_one() {
    let folder = Folder::new("moved");
    let test = ["test", "session_moved.yaml", "--iut", "iut.yaml", "--runs", "5", "--strategy", "plan"];
    folder.served("good", BOTH);
    folder.coreach(&test, PASS);
    // It says something when the old connection ends: nobody knows in which order that was.
    folder.served("bye", BOTH);
    let told = folder.coreach(&test, INCONCLUSIVE);
    assert!(told.contains("may have crossed"), "{told}");
    // A server that is not ours is left as clean.
    folder.served("good", &format!("{BOTH}silence: fail\nwithin: 10 s\n"));
    folder.coreach(&test, PASS);
}

#[test]
fn a_process_is_a_connection_and_is_started_again() {
    let folder = Folder::new("process");
    folder.write(
        "iut.yaml",
        &format!("iut: process\nstdio: {{ command: [python3, process.py, count] }}\n{BOTH}silence: fail\nwithin: 20 s\n"),
    );
    for configuration in ["session_back.yaml", "session_moved.yaml"] {
        folder.coreach(&["test", configuration, "--iut", "iut.yaml", "--runs", "3"], PASS);
    }
    // It forgets what it has counted.
    folder.write(
        "process.py",
        &PROCESS.replace(
            "elif \"resume\" in message:",
            "elif \"resume\" in message:\n        open(name, \"w\").write(\"7\")",
        ),
    );
    assert!(folder.coreach(&["test", "session_moved.yaml", "--iut", "iut.yaml"], FAIL).contains("n == v"));
}

#[test]
fn mistakes_are_said_where_they_stand() {
    let folder = Folder::new("mistakes");
    let simulated = "iut: m\nsimulated: { model: session.yaml }\n";
    let http = "iut: m\nhttp: { base: \"http://127.0.0.1:1\", stimuli: {}, observations: {} }\n";
    for (head, more, wanted) in [
        ("", "on_close: Hangip\n", "did you mean `Hangup`?"),
        ("", "on_close: Ask\n", "`Ask` is an input of the model"),
        ("", "on_close: Answer\n", "`Answer` has parameters"),
        ("", "reconnect: Hangup\n", "`Hangup` is an output of the model"),
        ("", "reconnect: Conect\n", "did you mean `Connect`?"),
        ("", "reconnect: Ask\n", "`Ask` is written here, and also as `on_close` or `reconnect`"),
        (simulated, "on_close: Hangup\n", "has no meaning with `simulated`"),
        (http, "on_close: Hangup\n", "has no meaning over `http`"),
        (http, "reconnect: Connect\n", "has no meaning over `http`"),
        ("", "silence: fial\n", "did you mean `fail`?"),
        ("", "within: soon\n", "`within` is not a time"),
        ("", "within: { after: { Aks: 3 s } }\n", "did you mean `Ask`?"),
        ("", "within: { locations: { Asked: x } }\n", "`Asked` is not a time"),
        ("", "within: { place: { Asked: 3 s } }\n", "unknown key `place`"),
    ] {
        if head.is_empty() {
            folder.served("good", more);
        } else {
            folder.write("iut.yaml", &format!("{head}{more}"));
        }
        let told = folder.coreach(&["test", "session_back.yaml", "--iut", "iut.yaml"], REFUSED);
        assert!(told.contains(wanted), "{more}: {wanted}\n{told}");
    }
    // A time for nobody's location is refused, wherever the specification is known; else it is told.
    folder.served("good", &format!("{BOTH}within: {{ locations: {{ Leavin: 3 s, Nowhere: 1 s }} }}\n"));
    folder.write(
        "campaign.yaml",
        "campaign: c\ntests: [{ configuration: session_back.yaml }]\niuts: [iut.yaml]\nseeds: [1]\nstore: s\n",
    );
    for command in [
        &["test", "session_back.yaml", "--iut", "iut.yaml"][..],
        &["campaign", "campaign.yaml"],
        &["check", "session_back.yaml", "iut.yaml"],
    ] {
        let told = folder.coreach(command, REFUSED);
        assert!(told.contains("did you mean `Leaving`?") && told.contains("`Nowhere`"), "{told}");
    }
    folder.served("good", BOTH);
    folder.coreach(&["test", "session_back.yaml", "--iut", "iut.yaml", "--keep", "kept"], PASS);
    folder.served("good", &format!("{BOTH}within: {{ locations: {{ Leavin: 3 s, Left: 1 s }} }}\n"));
    let told = folder.coreach(&["test", "kept/back.test_case.json", "--iut", "iut.yaml"], PASS);
    assert!(told.contains("did you mean `Leaving`?") && told.contains("`Left`"), "{told}");
}

/// Transitions that differ in their guards alone are joined in a test case. A Fail names the line of the one
/// that the state allows.
#[test]
fn a_joined_transition_is_told_by_the_line_that_counts() {
    let model = "iosts: m
variables: { v: int, n: int }
initial: { location: A, condition: v == 0 && n == 0 }
inputs: { Add: { p: 'int[0..9]' } }
outputs: { Refused: { why: int } }
transitions:
  - { from: A, to: B, on: Add, assign: { v: p } }
  - { from: B, to: A, on: Refused, when: v < 3 && why == 1 }
  - { from: B, to: A, on: Refused, when: v < 3 && why == 1 || v >= 3 && why == v }
";
    let folder = crate::common::Folder::with(&[
        ("s.yaml", model),
        ("m.yaml", &model.replace("why == v", "why == v + 1")),
        (
            "p.yaml",
            "purpose: p\nof: m\ninitial: { location: L }\ntransitions: [{ from: L, to: M, on: Refused }, { from: M, to: Accept, on: Add }]\n",
        ),
        ("c.yaml", "specification: s.yaml\npurpose: p.yaml\n"),
        ("i.yaml", "iut: i\nsimulated: { model: m.yaml }\n"),
    ]);
    let (told, _) = folder.ends(&["test", "c.yaml", "--iut", "i.yaml", "--runs", "9", "--fail-fast"], 1);
    assert!(told.contains("(s.yaml:9): `why == v` does not hold: v = "), "{told}");
}

/// A purpose that counts splits a transition, and joins what leads to Pass. The explanation has neither.
#[test]
fn a_purpose_does_not_show_in_an_explanation() {
    let model = "iosts: m
types: { Reply: [Content: { size: int }, Denied: { locked: bool }] }
variables: { vHas: bool, vLocked: bool, vSize: int }
initial: { location: Up, condition: '!vHas && !vLocked && vSize == 0' }
inputs: { Put: { has: bool, locked: bool, size: 'int[1..9]' }, Read: {} }
outputs: { Got: { reply: Reply } }
transitions:
  - { from: Up, to: Up, on: Put, assign: { vHas: has, vLocked: locked, vSize: size } }
  - { from: Up, to: Reading, on: Read }
  - { from: Reading, to: Up, on: Got, when: '!vHas && reply == Denied(false)' }
  - { from: Reading, to: Up, on: Got, when: 'vHas && vLocked && reply == Denied(true)' }
  - { from: Reading, to: Up, on: Got, when: 'vHas && !vLocked && (match reply: Content(s) -> s == vSize | _ -> false)' }
";
    let purpose = "purpose: many
of: m
variables: { n: nat }
initial: { location: Begin, condition: n == 0 }
transitions:
  - { from: Begin, to: Begin, on: Got, when: n < 20, assign: { n: n + 1 } }
  - { from: Begin, to: Accept, on: Got, when: n == 20 }
";
    for (right, wrong, told) in [
        (
            "vHas && vLocked && reply == Denied(true)",
            "vHas && vLocked && reply == Denied(false)",
            &[
                "(s.yaml:11): `reply == Denied(true)` does not",
                "(s.yaml:10): `!vHas` does not hold: vHas = true",
            ][..],
        ),
        (
            "s == vSize",
            "s == vSize + 1",
            &["(s.yaml:12): `match reply: Content(s) -> s == vSize | _ -> false` does"],
        ),
        (
            "vHas && !vLocked && (match reply: Content(s) -> s == vSize | _ -> false)",
            "vHas && !vLocked && reply == Denied(false)",
            &["(s.yaml:10): `!vHas` does not hold: vHas = true"],
        ),
    ] {
        let folder = crate::common::Folder::with(&[
            ("s.yaml", model),
            ("m.yaml", &model.replace(right, wrong)),
            ("p.yaml", purpose),
            ("c.yaml", "specification: s.yaml\npurpose: p.yaml\n"),
            ("i.yaml", "iut: i\nsimulated: { model: m.yaml }\n"),
        ]);
        let (text, _) = folder.ends(&["test", "c.yaml", "--iut", "i.yaml", "--runs", "9", "--fail-fast"], 1);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(flat.matches("-Got-> <Up,Begin> (s.yaml").count(), told.len(), "{text}");
        assert!(told.iter().all(|part| flat.contains(part)), "{text}");
        assert!(!text.contains("-> Pass (") && !text.contains("n == 20"), "{text}");
    }
}
