//! The folder for a launch's files: there while it lasts, gone when it is over, however that comes.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::Folder;
use rustix::process::{Pid, Signal, kill_process};

/// The adder, with files of its own that are not easily removed. It notes down where they are.
const FILES: &str = r#"
import os, sys, time
way, fault, given = sys.argv[1:4]
folder = os.environ["COREACH_TMP"]
assert given == folder and os.path.isabs(folder) and os.listdir(folder) == [], given
os.makedirs(folder + "/a/b/c")
open(folder + "/a/b/file", "w").close()
os.symlink("..", folder + "/a/link")
os.chmod(folder + "/a/b", 0)
with open("folders", "a") as log:
    log.write(folder + "\n")
if fault == "hang":
    time.sleep(60)
del sys.argv[3]
exec(open("server.py").read())
"#;

const WAYS: [&str; 4] = ["stdio", "tcp", "udp", "http"];

/// The adder's files, with a place for temporary ones.
fn folder() -> Folder {
    let folder = crate::adder::folder();
    fs::create_dir(folder.0.join("tmp")).unwrap();
    fs::write(folder.0.join("files.py"), FILES).unwrap();
    for way in WAYS {
        let path = folder.0.join(format!("{way}.yaml"));
        let text = fs::read_to_string(&path).unwrap();
        let edited = text
            .replace(&format!("server.py, {way}, FAULT"), &format!("files.py, {way}, FAULT, \"{{tmp}}\""));
        assert_ne!(text, edited);
        fs::write(path, edited).unwrap();
    }
    folder
}

fn coreach(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_coreach")]);
    command.args(arguments).current_dir(&folder.0).env("TMPDIR", folder.0.join("tmp"));
    // As if somebody had launched us: that is not what we launch with.
    command.env("COREACH_TMP", "/nowhere");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn test(folder: &Folder, iut: &str) -> Output {
    let arguments = ["test", "coreach.yaml", "--iut", iut, "--runs", "3", "--quiescence", "5000"];
    coreach(folder, &arguments).output().unwrap()
}

/// Where the launches had their files.
fn noted(folder: &Folder) -> Vec<PathBuf> {
    let text = fs::read_to_string(folder.0.join("folders")).unwrap_or_default();
    text.lines().map(PathBuf::from).collect()
}

/// What is left where temporary files are, but for the claims of systems.
fn left(folder: &Folder) -> Vec<String> {
    let names = fs::read_dir(folder.0.join("tmp")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with("coreach-systems")).collect()
}

#[test]
fn each_launch_has_one_and_none_is_left() {
    for (way, fault, code, launches) in [
        ("stdio", "none", 0, 3),
        ("tcp", "none", 0, 1),
        ("udp", "none", 0, 3),
        ("http", "none", 0, 3),
        ("stdio", "sum", 1, 3),
        // A run error.
        ("stdio", "half", 4, 3),
        ("http", "half", 4, 3),
    ] {
        let folder = folder();
        let output = test(&folder, &crate::adder::iut(&folder, way, fault));
        assert_eq!(output.status.code(), Some(code), "{way} {fault}: {output:?}");
        let mut noted = noted(&folder);
        assert!(noted.iter().all(|path| path.starts_with(folder.0.join("tmp"))), "{noted:?}");
        noted.dedup();
        assert_eq!(noted.len(), launches, "{way} {fault}: {noted:?}");
        assert_eq!(left(&folder), Vec::<String>::new(), "{way} {fault}");
    }
}

#[test]
fn what_cannot_be_started_leaves_none_and_where_there_is_no_place_nothing_is() {
    let folder = folder();
    fs::write(folder.0.join("missing.yaml"), "iut: m\nstdio: { command: [./missing, \"{tmp}\"] }\n").unwrap();
    let output = test(&folder, "missing.yaml");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert_eq!(left(&folder), Vec::<String>::new());
    fs::remove_dir_all(folder.0.join("tmp")).unwrap();
    let output = test(&folder, &crate::adder::iut(&folder, "stdio", "none"));
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(said.contains("cannot make a folder for temporary files"), "{said}");
    assert_eq!(noted(&folder), Vec::<PathBuf>::new());
}

#[test]
fn reset_knows_the_port_and_the_folder() {
    let folder = folder();
    let knows = r#"{ command: [sh, -c, 'test -d "$1/a" && test "$1" = "$COREACH_TMP"', knows, "{tmp}"] }"#;
    for (way, from, to) in [
        ("tcp", "  reset:\n", format!("  reset:\n    - {knows}\n")),
        (
            "tcp",
            "    - { send: RESET",
            "    - { send: \"ADD {port}\", expect: 'sum \\d+' }\n    - { send: RESET".to_owned(),
        ),
        (
            "http",
            "reset: { method: POST, path: /reset, status: 204 }",
            format!(
                "reset:\n    - {knows}\n    - {{ method: POST, path: '/add?in={{tmp}}', body: '{{\"n\": {{port}}}}' }}\n    - {{ method: POST, path: /reset, status: [204, 404] }}"
            ),
        ),
    ] {
        let path = folder.0.join(format!("{way}.yaml"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, &to)).unwrap();
    }
    for way in ["tcp", "http"] {
        let output = test(&folder, &crate::adder::iut(&folder, way, "none"));
        assert_eq!(output.status.code(), Some(0), "{way}: {output:?}");
    }
}

/// Starts a test of a system that never becomes ready, and waits until it has its files.
fn hanging(folder: &Folder, count: usize) -> Child {
    let iut = crate::adder::iut(folder, "stdio", "hang");
    let child = coreach(folder, &["test", "coreach.yaml", "--iut", &iut, "--time", "60000"]).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while noted(folder).len() < count {
        assert!(Instant::now() < until, "it was not launched");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_signal_removes_it() {
    for (number, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let folder = folder();
        let child = hanging(&folder, 1);
        assert!(noted(&folder)[0].join("a/link").exists());
        signal(&child, number);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert_eq!(left(&folder), Vec::<String>::new());
    }
}

#[test]
fn of_two_at_once_the_folder_of_the_one_that_is_killed_goes_and_the_other_one_stays() {
    let folder = folder();
    let mut killed = hanging(&folder, 1);
    let other = hanging(&folder, 2);
    let [first, second] = noted(&folder).try_into().unwrap();
    assert_ne!(first, second);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while first.exists() {
        assert!(Instant::now() < until, "{:?}", left(&folder));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(second.join("a/link").exists(), "{:?}", left(&folder));
    signal(&other, Signal::TERM);
    other.wait_with_output().unwrap();
    assert_eq!(left(&folder), Vec::<String>::new());
}

#[test]
fn a_constant_may_not_be_called_like_what_belongs_to_a_launch() {
    let folder = folder();
    let path: &Path = &folder.0.join("model.yaml");
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, text.replace("variables:", "constants: { tmp: int }\nvariables:")).unwrap();
    let output = test(&folder, &crate::adder::iut(&folder, "stdio", "none"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(said.contains("two-meanings") && said.contains("{tmp}"), "{said}");
    assert_eq!(noted(&folder), Vec::<PathBuf>::new());
}
