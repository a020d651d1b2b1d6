//! `coreach json`: a session of requests and answers.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, data};
use serde_json::{Value, json};

/// A session, with a folder for temporary files of its own.
struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    temporary: Folder,
}

impl Session {
    fn new() -> Self {
        let temporary = Folder::new();
        // What heeds all signals, whatever the one who runs the tests ignores.
        let mut child = Command::new("env")
            .args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_coreach"), "json"])
            .current_dir(&temporary.0)
            .env("TMPDIR", &temporary.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Session { input: child.stdin.take(), output, child, temporary }
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, request: &Value) -> Value {
        self.send(&request.to_string());
        self.answer()
    }

    /// What is left in the folder for temporary files of requests.
    fn left(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(&self.temporary.0).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| path.to_string_lossy().contains("coreach-tmp-")).collect()
    }

    fn end(mut self) {
        drop(self.input.take());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        assert_eq!(self.left(), Vec::<PathBuf>::new());
    }
}

fn coffee() -> Value {
    let mut files = serde_json::Map::new();
    for entry in fs::read_dir(data("coffee")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            files.insert(name, fs::read_to_string(&path).unwrap().into());
        }
    }
    Value::Object(files)
}

#[test]
fn a_request_gives_what_the_command_gives_and_leaves_nothing() {
    let mut session = Session::new();
    let answer = session.ask(&json!({
        "id": 1, "arguments": ["run", "coreach.yaml"], "files": coffee(), "want": ["test_case.json", "no/such.file"],
    }));
    assert_eq!(
        (&answer["id"], &answer["exit"], &answer["format_version"]),
        (&json!(1), &json!(0), &json!(1))
    );
    assert_eq!(answer["output"]["exit_code"], 0);
    assert_eq!(answer["output"]["purposes"][0]["result"], "made");
    let files = answer["files"].as_object().unwrap();
    let both = ["out/deliver_coffee/test_case.json", "out/several_drinks/test_case.json"];
    assert_eq!(files.keys().collect::<Vec<_>>(), both);
    // The same bytes as without a session.
    let folder = Folder::new();
    crate::common::run(arguments!["run", data("coffee/coreach.yaml"), "--out", &folder.0]);
    let own = fs::read_to_string(folder.0.join("deliver_coffee/test_case.json")).unwrap();
    assert_eq!(files["out/deliver_coffee/test_case.json"], own);
    assert!(answer["withheld"]["no/such.file"].is_string(), "{answer}");
    let made = answer["made"].as_array().unwrap();
    assert!(made.len() > 10 && made.contains(&json!("out/deliver_coffee/product.dot")), "{made:?}");
    assert_eq!(answer["diagnostics"], json!([]));
    assert_eq!(session.left(), Vec::<PathBuf>::new());

    // A command without an answer as JSON gives its text.
    let answer = session.ask(&json!({
        "id": "b", "arguments": ["show", "coreach.yaml", "--stage", "test_case", "--format", "python"],
        "files": coffee(),
    }));
    assert_eq!((&answer["id"], &answer["exit"]), (&json!("b"), &json!(0)));
    assert!(answer["output"].as_str().unwrap().starts_with("# The test case: "), "{answer}");
    session.end();
}

#[test]
fn findings_are_data_whatever_the_command() {
    let mut session = Session::new();
    let wrong = "iosts: m\nlocations: [A]\ninitial: { location: B }\noutputs: { O: {} }\ntransitions: []\n";
    for command in ["check", "show", "explore"] {
        let answer = session.ask(&json!({ "arguments": [command, "m.yaml"], "files": { "m.yaml": wrong } }));
        assert_eq!((&answer["id"], &answer["exit"]), (&Value::Null, &json!(2)), "{answer}");
        let found = answer["diagnostics"].as_array().unwrap();
        assert!(!found.is_empty(), "{command}: {answer}");
        let first = found.iter().find(|one| one["severity"] == "error").unwrap();
        assert_eq!(
            (&first["file"], &first["line"], &first["column"]),
            (&json!("m.yaml"), &json!(3), &json!(22)),
            "{answer}"
        );
        // Each once.
        let texts: std::collections::BTreeSet<String> = found.iter().map(Value::to_string).collect();
        assert_eq!(texts.len(), found.len(), "{answer}");
    }
    // What clap says.
    let answer = session.ask(&json!({ "arguments": ["walk"] }));
    assert_eq!(answer["exit"], 2);
    assert!(answer["messages"].as_str().unwrap().contains("unrecognized subcommand"), "{answer}");
    session.end();
}

#[test]
fn a_bad_request_is_answered_and_the_session_goes_on() {
    let mut session = Session::new();
    let secret = session.temporary.0.join("secret.yaml");
    fs::write(&secret, "secret").unwrap();
    let bad = [
        "this is no JSON".to_owned(),
        "{\"id\": 1, \"id\": 1, \"arguments\": [\"check\"]}".to_owned(),
        json!({ "id": 2 }).to_string(),
        json!({ "id": 2, "arguments": ["check", secret.display().to_string()] }).to_string(),
        json!({ "id": 2, "arguments": ["check", "../../secret.yaml"] }).to_string(),
        json!({ "id": 2, "arguments": ["run", "a", "--out=/tmp/x"] }).to_string(),
        json!({ "id": 2, "arguments": ["check", "a"], "files": { "../a": "" } }).to_string(),
        json!({ "id": 2, "arguments": ["check", "a"], "files": { "/a": "" } }).to_string(),
        json!({ "id": 2, "arguments": ["check", "a"], "files": { "a": "", "a/b": "" } }).to_string(),
        json!({ "id": 2, "arguments": ["check", "a"], "want": ["../../secret.yaml"] }).to_string(),
        json!({ "id": 2, "arguments": ["json"] }).to_string(),
        json!({ "id": 2, "arguments": ["watch", "a"], "files": { "a": "" } }).to_string(),
        json!({ "id": 2, "arguments": ["check", "a"], "time": 7 }).to_string(),
        "[".repeat(100_000),
        String::new(),
        " \t".to_owned(),
    ];
    for line in &bad {
        session.send(line);
        let answer = session.answer();
        assert!(answer["error"].is_string() && answer.get("exit").is_none(), "{line}: {answer}");
        assert!(answer["id"] == 2 || answer["id"].is_null(), "{line}: {answer}");
    }
    let answer = session.ask(&json!({ "id": 3, "arguments": ["--version"] }));
    assert_eq!((&answer["id"], &answer["exit"]), (&json!(3), &json!(0)));
    session.end();
}

/// What a command puts into its folder beside plain files is not followed.
#[test]
fn links_that_a_command_leaves_are_not_followed() {
    let mut session = Session::new();
    fs::write(session.temporary.0.join("secret"), "secret").unwrap();
    let iut = "iut: m\nstdio:\n  command: [sh, -c, 'ln -s ../../secret link; ln -s ../.. up; mkfifo pipe; echo plain > plain']\n";
    let mut files = coffee();
    files["iut.yaml"] = iut.into();
    let answer = session.ask(&json!({
        "id": 1, "arguments": ["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "1"],
        "files": files, "want": ["link", "up/secret", "secret", "pipe", "plain"],
    }));
    assert_eq!(answer["files"], json!({ "plain": "plain\n" }), "{answer}");
    let withheld = answer["withheld"].as_object().unwrap();
    assert_eq!(withheld["link"], "it is behind a link");
    assert_eq!(withheld["up/secret"], "it is behind a link");
    assert_eq!(withheld.len(), 4, "{withheld:?}");
    session.end();
}

/// A request against a system that says nothing, many times.
fn without_end(more: &[(&str, Value)]) -> Value {
    let mut files = coffee();
    files["iut.yaml"] = "iut: m\nstdio: { command: [sleep, '1000'], ready_ms: 300 }\n".into();
    let arguments = ["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "100000"];
    let mut request = json!({ "arguments": arguments, "files": files });
    request.as_object_mut().unwrap().extend(more.iter().map(|(key, value)| (key.to_string(), value.clone())));
    request
}

#[test]
fn a_request_without_end_is_ended_in_its_time_and_the_session_goes_on() {
    let mut session = Session::new();
    let answer = session.ask(&without_end(&[("id", 1.into()), ("time", "4s".into())]));
    assert_eq!((&answer["id"], &answer["exit"]), (&json!(1), &json!(6)), "{answer}");
    let found = answer["diagnostics"].as_array().unwrap();
    let late = found.iter().find(|one| one["code"] == "budget").unwrap_or_else(|| panic!("{answer}"));
    assert!(late["message"].as_str().unwrap().contains("longer than 4000 ms"), "{late}");
    assert!(late["help"].to_string().contains("16000ms"), "{late}");
    assert_eq!(session.left(), Vec::<PathBuf>::new());
    assert_eq!(session.ask(&json!({ "arguments": ["--version"] }))["exit"], 0);
    session.end();
}

#[test]
fn what_a_killed_session_has_left_is_gone_after_the_next_start() {
    let mut session = Session::new();
    session.send(&without_end(&[]).to_string());
    while children_of(session.child.id()).is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let request = children_of(session.child.id()).remove(0);
    session.child.kill().unwrap();
    session.child.wait().unwrap();
    // Nobody is there any more to end the request in time: it ends with the session.
    let begun = Instant::now();
    let is_there = || {
        let status = fs::read_to_string(format!("/proc/{request}/status")).unwrap_or_default();
        !status.is_empty() && !status.contains("State:\tZ")
    };
    while is_there() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the request goes on without its session");
        std::thread::sleep(Duration::from_millis(20));
    }
    let next = crate::common::coreach(["schema"]).env("TMPDIR", &session.temporary.0).output().unwrap();
    crate::common::exits(&next, 0);
    assert_eq!(session.left(), Vec::<PathBuf>::new());
}

/// Also where a file says so and no argument.
#[test]
fn nothing_is_written_outside_the_folder() {
    let mut session = Session::new();
    let outside = session.temporary.0.join("outside");
    let mut files = coffee();
    let configured = files["coreach.yaml"].as_str().unwrap().to_owned();
    files["iut.yaml"] = "iut: m\nsimulated: { model: specification.yaml }\n".into();
    for place in ["../../outside", outside.to_str().unwrap()] {
        let text: Vec<&str> = configured.lines().filter(|line| !line.starts_with("output:")).collect();
        let output = format!("output: {{ directory: \"{place}\", formats: [json] }}");
        files["coreach.yaml"] = format!("{}\n{output}\n", text.join("\n")).into();
        files["campaign.yaml"] = format!(
            "campaign: c\ntests: [{{ configuration: coreach.yaml }}]\niuts: [iut.yaml]\nstore: \"{place}.sqlite\"\n"
        )
        .into();
        for arguments in [["run", "coreach.yaml"], ["campaign", "campaign.yaml"]] {
            let answer = session.ask(&json!({ "arguments": arguments, "files": files }));
            assert_eq!(answer["exit"], 2, "{answer}");
            let found = answer["diagnostics"].as_array().unwrap();
            assert!(found.iter().any(|one| one["code"] == "writes-outside"), "{answer}");
        }
    }
    assert_eq!(fs::read_dir(&session.temporary.0).unwrap().count(), 0);
    session.end();
}

fn children_of(pid: u32) -> Vec<String> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// A signal in the middle of a request: nothing is left, neither a process nor a folder, and no half answer
/// is told.
#[test]
fn a_signal_leaves_nothing_behind() {
    use rustix::process::Signal;
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut session = Session::new();
        let mut files = coffee();
        files["iut.yaml"] = "iut: m\nstdio:\n  command: [sleep, '1000']\n".into();
        session.send(
            &json!({ "arguments": ["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "1"], "files": files })
                .to_string(),
        );
        let pid = session.child.id();
        let begun = Instant::now();
        let child = loop {
            if let Some(child) = children_of(pid).first() {
                break child.clone();
            }
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(10));
        };
        std::thread::sleep(Duration::from_millis(200));
        // That of the request, and that of the launch, if it has come so far.
        assert!(!session.left().is_empty());
        let own = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(own, signal).unwrap();
        let code = session.child.wait().unwrap().code();
        assert_eq!(code, Some(128 + signal.as_raw()));
        // What the request itself had launched was killed with it.
        assert_eq!(session.left(), Vec::<PathBuf>::new());
        let mut rest = String::new();
        session.output.read_line(&mut rest).unwrap();
        assert_eq!(rest, "");
        // What is dead may not have been waited for yet by whoever got it.
        let status = fs::read_to_string(Path::new("/proc").join(child).join("status")).unwrap_or_default();
        assert!(status.is_empty() || status.contains("State:\tZ"), "{status}");
    }
}

/// What `docs/json.md` shows of a session runs as it stands there.
#[test]
fn the_notebook_of_the_document_runs() {
    let document = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/json.md")).unwrap();
    let (_, section) = document.split_once("## A session").unwrap();
    let (_, block) = section.split_once("```python\n").unwrap();
    let (script, _) = block.split_once("```").unwrap();
    let folder = Folder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/coffee_machine");
    for name in ["coreach.yaml", "specification.yaml", "deliver_coffee.yaml"] {
        fs::copy(example.join(name), folder.0.join(name)).unwrap();
    }
    folder.write("notebook.py", script);
    // Whatever is installed here: what it prints without a notebook is compared.
    folder.write("IPython.py", "raise ImportError\n");
    let programs = Path::new(env!("CARGO_BIN_EXE_coreach")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let output =
        Command::new("python3").arg("notebook.py").current_dir(&folder.0).env("PATH", path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].parse::<usize>().unwrap() > 3, "{text}");
    assert!(lines[1].starts_with("('location', ") && lines[2].starts_with("('polyhedra', 5, 12"), "{text}");
}
