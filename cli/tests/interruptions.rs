//! What a signal ends is no run: neither a store nor a kept run ever says that an implementation did what the
//! end of the program did to it. `scripts/interruptions` tries it at length. The systems take their time and
//! are never too late, so nothing here hangs on a clock.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::campaigns::sql;
use crate::common::{Folder, stderr};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const SIGNALS: [(Signal, i32); 3] = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];

/// What each system says when it is to leave (nothing: it ends), whether its end is an output, and the
/// verdict on it.
const SYSTEMS: [(&str, &str, bool, &str); 4] = [
    ("right", "Done", false, "Pass"),
    ("wrong", "Pong", false, "Fail"),
    ("right_that_hangs_up", "", true, "Pass"),
    ("wrong_that_stays", "Pong", true, "Fail"),
];

/// At every instant of a run the end of the system would be a verdict, and another one than the system's own
/// in most.
fn systems() -> Folder {
    let folder = Folder::new();
    folder.write(
        "specification.yaml",
        "iosts: line\ninitial: { location: Idle }\ninputs: { Ping: {}, Bye: {} }\n\
         outputs: { Pong: {}, Done: {}, Hangup: {} }\ntransitions:\n\
         \x20 - { from: Idle, to: Asked, on: Ping }\n  - { from: Asked, to: Idle, on: Pong }\n\
         \x20 - { from: Idle, to: Leaving, on: Bye }\n  - { from: Leaving, to: Left, on: Done }\n\
         \x20 - { from: Leaving, to: Left, on: Hangup }\n",
    );
    folder.write(
        "purpose.yaml",
        "purpose: leave\nof: line\ninitial: { location: Begin }\ntransitions:\n\
         \x20 - { from: Begin, to: Accept, on: Done }\n  - { from: Begin, to: Accept, on: Hangup }\n",
    );
    folder.write("coreach.yaml", "specification: specification.yaml\npurpose: purpose.yaml\n");
    folder.write(
        "system.sh",
        "while read -r message; do case $message in\n\
         *start*) echo '{\"ready\": true}' ;;\n\
         *Ping*) sleep 0.03; echo '{\"output\": \"Pong\"}' ;;\n\
         *Bye*) sleep 0.06; test -n \"$1\" || exit 0; echo \"{\\\"output\\\": \\\"$1\\\"}\" ;;\n\
         esac; done\n",
    );
    for (name, says, closes, _) in SYSTEMS {
        let closing = if closes { "on_close: Hangup\n" } else { "" };
        let text = format!("iut: {name}\n{closing}stdio: {{ command: [sh, system.sh, '{says}'] }}\n");
        folder.write(&format!("{name}.yaml"), &text);
    }
    let iuts = SYSTEMS.map(|(name, ..)| format!("{name}.yaml")).join(", ");
    folder.write(
        "campaign.yaml",
        &format!(
            "campaign: ends\ntests: [{{ configuration: coreach.yaml }}]\niuts: [{iuts}]\nthreads: 3\n\
             seeds: {{ first: 1, count: 6 }}\nlimits: {{ quiescence_ms: 30000, patience_ms: 5 }}\n"
        ),
    );
    folder
}

/// Begins a command.
fn begin(folder: &Folder, words: &[&str]) -> Child {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_coreach")]).args(words);
    let command = command.current_dir(&folder.0).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end that a signal brings. Had it ended by itself before?
fn had_ended(child: Child, code: i32) -> bool {
    let output = child.wait_with_output().unwrap();
    // One that comes before the program handles signals ends it as any other.
    match output.status.code() {
        None => false,
        Some(other) if other == code => false,
        Some(0 | 1) => true,
        Some(other) => panic!("{other}: {}", stderr(&output)),
    }
}

#[test]
fn a_campaign_that_is_interrupted_and_resumed_has_the_verdicts_of_one_that_is_not() {
    let folder = systems();
    for number in 0_u64..12 {
        let (signal, code) = SIGNALS[number as usize % 3];
        let child = begin(&folder, &["campaign", "campaign.yaml"]);
        thread::sleep(Duration::from_millis(200 + number * 67 % 500));
        kill_process(Pid::from_child(&child), signal).unwrap();
        if had_ended(child, code) {
            fs::remove_file(folder.0.join("ends.sqlite")).unwrap();
        }
    }
    folder.ends(&["campaign", "campaign.yaml"], 1);
    let store = folder.0.join("ends.sqlite");
    assert_eq!(sql(&store, "SELECT count(*) FROM runs"), 24);
    for (system, _, _, verdict) in SYSTEMS {
        let which = format!(
            "FROM runs r JOIN iuts i ON i.hash = r.iut WHERE i.name = '{system}' AND r.verdict = '{verdict}'"
        );
        assert_eq!(sql(&store, &format!("SELECT count(*) {which}")), 6, "{system}");
    }
}

#[test]
fn test_keeps_and_reports_no_run_that_was_interrupted() {
    let folder = systems();
    let test = ["test", "coreach.yaml", "--runs", "1000", "--quiescence", "30000", "--patience", "5"];
    for (round, (signal, code)) in SIGNALS.iter().cycle().take(6).enumerate() {
        // Several at once, so that each of them is slow to end.
        let all = SYSTEMS.into_iter().enumerate().map(|(number, (system, _, _, verdict))| {
            let (iut, keep) = (format!("{system}.yaml"), format!("kept-{round}-{number}"));
            let report = format!("{keep}.xml");
            let more = ["--iut", &iut, "--keep", &keep, "--junit", &report];
            let child = begin(&folder, &[test.as_slice(), &more].concat());
            (child, folder.0.join(keep), folder.0.join(report), verdict)
        });
        let all: Vec<_> = all.collect();
        thread::sleep(Duration::from_millis(600 + 71 * round as u64));
        all.iter().for_each(|(child, ..)| kill_process(Pid::from_child(child), *signal).unwrap());
        for (child, keep, report, verdict) in all {
            assert!(!had_ended(child, *code) && !report.exists());
            for (path, run) in runs(&keep) {
                assert_eq!(run["verdict"], verdict, "{path}: {run:#}");
            }
        }
    }
}

/// The runs that were kept in a folder.
fn runs(folder: &Path) -> Vec<(String, Value)> {
    let paths = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let named = paths.map(|path| (path.display().to_string(), path));
    let kept = named.filter(|(name, _)| !name.ends_with(".test_case.json"));
    kept.map(|(name, path)| (name, serde_json::from_slice(&fs::read(path).unwrap()).unwrap())).collect()
}

/// How a system ends that was asked something, as by a signal that meets it before it meets us: what it says
/// before, and what stands in its file besides.
const ENDS: [(&str, &str, &str); 3] =
    [("closes", ":", "on_close: Hangup\n"), ("is_lost", ":", ""), ("breaks_off", "printf '{\"output\"'", "")];

/// Soundness: of a conforming system that a signal ends, nothing is kept, whatever its end looked like.
#[test]
fn a_walk_that_is_stopped_says_how_far_it_came() {
    let folder = systems();
    let words = ["test", "specification.yaml", "--iut", "right.yaml", "--cover", "all", "--events", "100000"];
    let mut command = Command::new("env");
    command.args(["--default-signal=TERM", env!("CARGO_BIN_EXE_coreach")]).args(words);
    let child = command.current_dir(&folder.0).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    let ended_early = child.try_wait().unwrap();
    assert!(ended_early.is_none(), "{ended_early:?}");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(143), "{shown}");
    assert!(shown.starts_with("stopped early: covered "), "{shown}");
}

#[test]
fn an_end_that_is_seen_before_the_own_one_is_no_verdict() {
    /// Longer than the program takes by itself, and shorter than it has to wait.
    const BETWEEN: Duration = Duration::from_millis(80);
    const AT_MOST: Duration = Duration::from_millis(150);
    const TRIES: usize = 20;
    let folder = systems();
    for (name, says, closing) in ENDS {
        folder.write(
            "ends.sh",
            &format!(
                "while read -r message; do case $message in\n\
                 *start*) echo '{{\"ready\": true}}' ;;\n\
                 *) {says}; : > ended; exit 0 ;;\n\
                 esac; done\n"
            ),
        );
        folder.write("ends.yaml", &format!("iut: ends\n{closing}stdio: {{ command: [sh, ends.sh] }}\n"));
        folder.write(
            "campaign.yaml",
            "campaign: ends\ntests: [{ configuration: coreach.yaml }]\niuts: [ends.yaml]\nthreads: 1\n\
             seeds: { first: 1, count: 1 }\nlimits: { quiescence_ms: 30000, patience_ms: 5 }\n",
        );
        let (store, ended) = (folder.0.join("ends.sqlite"), folder.0.join("ended"));
        // A machine that is slow lets us be too late: then nothing is learnt.
        let is_learnt = (0..TRIES).any(|_| {
            let _ = (fs::remove_file(&store), fs::remove_file(&ended));
            let child = begin(&folder, &["campaign", "campaign.yaml"]);
            while !ended.exists() {
                thread::sleep(Duration::from_millis(1));
            }
            let since = Instant::now();
            thread::sleep(BETWEEN);
            kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
            let was_in_time = since.elapsed() < AT_MOST;
            let output = child.wait_with_output().unwrap();
            if was_in_time {
                assert_eq!(sql(&store, "SELECT count(*) FROM runs"), 0, "{name}");
                assert_eq!(output.status.code(), Some(143), "{name}: {}", stderr(&output));
            }
            was_in_time
        });
        assert!(is_learnt, "{name}: the machine is too slow");
    }
}

/// A process for a question to the solver waits for its standard input here, which outlives the one that has
/// asked.
#[test]
fn the_engine_ends_with_the_process_that_has_asked_it() {
    let script = "exec 3<&0; \"$0\" horn-clauses $$ <&3 & echo $!; wait";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_coreach")]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let mut number = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut number).unwrap();
    let status = format!("/proc/{}/stat", number.trim());
    let is_alive = || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        text.contains("coreach) ") && !text.contains(") Z ") || text.contains("sh) ")
    };
    // It may be on its way to that still; so it is seen to end whenever the other one does.
    thread::sleep(Duration::from_millis(300));
    assert!(is_alive(), "{}", fs::read_to_string(&status).unwrap_or_default());
    shell.kill().unwrap();
    let input = shell.stdin.take();
    shell.wait().unwrap();
    let mut looks = 0..2000;
    while is_alive() {
        assert!(looks.next().is_some(), "it goes on");
        thread::sleep(Duration::from_millis(10));
    }
    drop(input);
}
