//! Implementations that misbehave, each in its own way: the right verdict or an error comes out, never a Pass that was
//! not earned; in time; and nothing is left running.
//!
//! Each habit is tried a few times. `COREACH_RUNS=100` tries each a hundred times, `COREACH_JOBS` says how many at once,
//! `COREACH_HABIT` that only one is of interest.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::adapter::description::{Command, Encoding, Stdio};
use coreach_execution::adapter::stdio::StdioAdapter;
use coreach_execution::adapter::template::Template;
use coreach_execution::constants::initial_state;
use coreach_execution::record::record;
use coreach_execution::values::{MIX, Values};
use coreach_execution::{CaseJudge, Drive, Settings, Strategy, TestCase, run};

/// The limit of a run.
const LIMIT: Duration = Duration::from_millis(1200);

/// What a run may take beyond it, in milliseconds: on a machine with much else to do a run that ends may end late, so
/// that little is asked here. `COREACH_BEYOND=100` asks more of an idle one.
const BEYOND: usize = 5_000;

/// Each habit, and what may come of it: verdict and cause.
const HABITS: &[(&str, &[(&str, &str)])] = &[
    ("none", PASS),
    // In the beginning.
    ("exits_at_once", &[("RunError", "start")]),
    ("never_ready", &[("RunError", "start")]),
    ("logs_instead_of_ready", &[("RunError", "start")]),
    ("says_that_it_cannot", &[("RunError", "start")]),
    ("output_before_start", &[("RunError", "garbage")]),
    ("garbage_before_start", &[("RunError", "garbage")]),
    ("exits_after_ready", &[("RunError", "lost")]),
    ("closes_stdin", &[("RunError", "lost")]),
    // It may be heard before the coin is sent, and is wrong in either case.
    ("speaks_first", &[("Fail", "event")]),
    // It is there and says nothing, or not in time.
    ("hangs", &[("Inconclusive", "silence")]),
    ("stops_itself", &[("Inconclusive", "silence")]),
    ("ignores_signals", &[("Inconclusive", "silence")]),
    ("half_a_line", &[("Inconclusive", "silence")]),
    ("too_late", &[("Inconclusive", "silence")]),
    ("drips", &[("Inconclusive", "silence")]),
    ("floods_logs", &[("Inconclusive", "silence")]),
    ("floods_blank_lines", &[("Inconclusive", "silence")]),
    ("hangs", TIME),
    ("half_a_line", TIME),
    ("floods_logs", TIME),
    ("floods_blank_lines", TIME),
    // It says what it should not.
    ("floods_outputs", &[("Fail", "event")]),
    ("answers_twice", &[("Fail", "event")]),
    ("wrong_change", &[("Fail", "event")]),
    ("huge_integer", &[("Fail", "event")]),
    ("unknown_action", &[("Fail", "alien")]),
    ("input_as_output", &[("Fail", "alien")]),
    ("wrong_parameter", &[("Fail", "alien")]),
    ("missing_value", &[("Fail", "alien")]),
    ("value_outside", &[("Fail", "alien")]),
    ("value_of_wrong_type", &[("Fail", "alien")]),
    // It cannot be understood.
    ("floods_garbage", &[("RunError", "garbage")]),
    ("endless_line", &[("RunError", "flood")]),
    ("not_utf8", &[("RunError", "garbage")]),
    ("wrong_json", &[("RunError", "garbage")]),
    ("deep_json", &[("RunError", "garbage")]),
    ("no_message", &[("RunError", "garbage")]),
    ("echo", &[("RunError", "garbage")]),
    ("ready_again", &[("RunError", "garbage")]),
    ("monstrous_integer", &[("RunError", "garbage")]),
    // It is gone.
    ("reports_an_error", &[("RunError", "lost")]),
    ("closes_stdout", &[("RunError", "lost")]),
    ("segfault", &[("RunError", "lost")]),
    ("kills_itself", &[("RunError", "lost")]),
    ("exits", &[("RunError", "lost")]),
    ("exits_with_a_word", &[("RunError", "lost")]),
    ("exits_after_one_answer", &[("RunError", "lost")]),
    ("half_a_line_and_exit", &[("RunError", "lost")]),
    ("children_hold_pipes", &[("RunError", "lost")]),
    // It does all that it should, and something else besides.
    ("exits_with_the_last_answer", PASS),
    ("stderr_flood", PASS),
    ("children", PASS),
    ("daemon", PASS),
    ("hopping_daemon", PASS),
    ("sheds_its_environment", PASS),
];

const TIME: &[(&str, &str)] = &[("Inconclusive", "time")];

const PASS: &[(&str, &str)] = &[("Pass", "event")];

/// Python itself: a wrapper in the search path may start slowly.
fn python() -> String {
    let asked =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    String::from_utf8(asked.unwrap().stdout).unwrap().trim().to_owned()
}

fn stdio(python: &str, habit: &str, tag: &str) -> Stdio {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misbehaving");
    let words = [python, "-I", "-S", "iut.py", habit, tag].map(Template::fixed).to_vec();
    let command = Command { words, directory: folder, environment: Vec::new(), grace: Duration::ZERO };
    Stdio { command, ready: Duration::from_millis(800), encoding: Encoding::Json, settle: None }
}

/// The processes that are alive and carry the tag among their arguments.
fn alive(tag: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let path = entry.path();
        let Ok(arguments) = std::fs::read(path.join("cmdline")) else { continue };
        if arguments.split(|byte| *byte == 0).any(|argument| argument == tag.as_bytes()) {
            let status = std::fs::read_to_string(path.join("status")).unwrap_or_default();
            if !status.contains("State:\tZ") && !status.is_empty() {
                found.push(format!("{}: {status}", path.display()));
            }
        }
    }
    found
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn whatever_it_does_the_verdict_is_right_in_time_and_nothing_is_left() {
    let test = TestCase::from_json(include_bytes!("data/deliver_coffee.json")).unwrap();
    let settings = |quiescence| Settings {
        quiescence: Duration::from_millis(quiescence),
        patience: Duration::from_millis(20),
        time: LIMIT,
        ..Settings::default()
    };
    let python = python();
    let (runs, jobs) = (number("COREACH_RUNS", 2), number("COREACH_JOBS", 4));
    let most = LIMIT + Duration::from_millis(number("COREACH_BEYOND", BEYOND) as u64);
    let (next, late) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // On a busy machine, what is right may come too late; then nothing is known of the implementation.
    let (right, slow): (Vec<AtomicUsize>, _) =
        (HABITS.iter().map(|_| AtomicUsize::new(0)).collect(), AtomicUsize::new(0));
    let problems: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let longest: Mutex<(Duration, &str)> = Mutex::new((Duration::ZERO, ""));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                let mut solver = Z3Solver::default();
                loop {
                    let work = next.fetch_add(1, Ordering::Relaxed);
                    if work >= runs * HABITS.len() {
                        return;
                    }
                    let (habit, expected) = HABITS[work % HABITS.len()];
                    if std::env::var("COREACH_HABIT").is_ok_and(|only| only != habit) {
                        right[work % HABITS.len()].fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    // Silence is long enough on a machine that is busy; or it is not, and the limit comes first.
                    let settings = settings(if expected == TIME { 60_000 } else { 400 });
                    let tag = format!("coreach-misbehaving-{}-{work}", std::process::id());
                    let mut adapter = StdioAdapter::new(stdio(&python, habit, &tag), Default::default());
                    let seed = work as u64;
                    let initial = initial_state(&test, &Default::default(), seed, &mut solver).unwrap();
                    let mut values = Values::new(MIX);
                    let mut strategy = Strategy::random();
                    let mut judge = CaseJudge::new(&test, initial);
                    let done = run(Drive {
                        judge: &mut judge,
                        seed,
                        settings: &settings,
                        adapter: &mut adapter,
                        strategy: &mut strategy,
                        values: &mut values,
                        solver: &mut solver,
                    });
                    let left = alive(&tag);
                    // One that was killed may wait for the processor to die on.
                    if !left.is_empty() {
                        late.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_secs(1));
                    }
                    let left = alive(&tag);
                    let record = record(&mut judge, &done);
                    let mut found = Vec::new();
                    let outcome = (record.verdict.name(), record.cause.as_str());
                    let is_slow = match outcome {
                        ("Inconclusive", "silence" | "time") => true,
                        ("RunError", "start") => {
                            record.detail.as_str().is_some_and(|why| why.contains("did not come"))
                        }
                        _ => false,
                    };
                    if expected.contains(&outcome) {
                        right[work % HABITS.len()].fetch_add(1, Ordering::Relaxed);
                    } else if is_slow {
                        slow.fetch_add(1, Ordering::Relaxed);
                    } else {
                        found.push(format!("{} ({}): {}", record.verdict, record.cause, record.detail));
                    }
                    if done.time > most {
                        found.push(format!("it took {:?}", done.time));
                    }
                    if !left.is_empty() {
                        found.push(format!("left running: {left:?}"));
                    }
                    problems.lock().unwrap().extend(found.into_iter().map(|text| format!("{habit}: {text}")));
                    let mut longest = longest.lock().unwrap();
                    *longest = (*longest).max((done.time, habit));
                }
            });
        }
    });
    let (time, habit) = longest.into_inner().unwrap();
    let beyond = time.saturating_sub(LIMIT);
    let (habits, late) = (HABITS.len(), late.into_inner());
    println!(
        "{habits} habits, {runs} runs each: the longest run ({habit}) went {beyond:?} beyond its limit;"
    );
    println!("after {late} runs a killed process was not dead yet");
    println!("{} runs came too late for what is expected", slow.into_inner());
    let mut problems = problems.into_inner().unwrap();
    let never = HABITS.iter().zip(&right).filter(|(_, count)| count.load(Ordering::Relaxed) == 0);
    problems.extend(never.map(|((habit, _), _)| format!("{habit}: never what is expected")));
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
