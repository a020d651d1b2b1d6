//! Implementations that misbehave, each in its own way: the right verdict or an error comes out, never a Pass that was
//! not earned; in time; nothing is left running, and no file but those that it wrote itself.
//!
//! The same loop goes over standard input and output, TCP and HTTP ([`carriers`]). Each habit is tried a few times. `COREACH_RUNS=100` tries each a hundred times, `COREACH_JOBS` says how many at once,
//! `COREACH_HABIT` that only one is of interest.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod carriers;
mod habits;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::record::record;
use coreach_execution::values::{MIX, Values};
use coreach_execution::{CaseJudge, Drive, Settings, Strategy, TestCase, run};

use self::carriers::{Carrier, JSON_OVER_TCP, LINES_OVER_TCP, OVER_HTTP, OVER_STDIO, adapter};
use self::habits::TIME;

/// The limit of a run.
const LIMIT: Duration = Duration::from_millis(1200);

/// What a run may take beyond it, in milliseconds: on a machine with much else to do a run that ends may end late, so
/// that little is asked here. `COREACH_BEYOND=100` asks more of an idle one.
const BEYOND: usize = 5_000;

/// Python itself: a wrapper in the search path may start slowly.
fn python() -> String {
    let asked =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    String::from_utf8(asked.unwrap().stdout).unwrap().trim().to_owned()
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

/// A folder for a system; what the system has not written there itself is left by us.
fn folder(tag: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(tag);
    std::fs::create_dir(&folder).unwrap();
    folder
}

/// The files that were left there by somebody else, and whether one comes back when all are taken away.
fn left_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut found: Vec<String> = names.filter(|name| name != "own" && !name.starts_with("litter-")).collect();
    // One that still writes would make a file while they are taken away, or have none to write to.
    if let Err(error) = std::fs::remove_dir_all(folder) {
        found.push(format!("{}: {error}", folder.display()));
    }
    found
}

#[test]
fn over_stdio() {
    try_all(&OVER_STDIO);
}

#[test]
fn over_tcp_in_json() {
    try_all(&JSON_OVER_TCP);
}

#[test]
fn over_tcp_in_lines() {
    try_all(&LINES_OVER_TCP);
}

#[test]
fn over_http() {
    try_all(&OVER_HTTP);
}

/// Whatever it does, the verdict is right, in time, and nothing is left.
fn try_all(carrier: &Carrier) {
    let habits = carrier.habits;
    let test = TestCase::from_json(include_bytes!("../data/deliver_coffee.json")).unwrap();
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
        (habits.iter().map(|_| AtomicUsize::new(0)).collect(), AtomicUsize::new(0));
    let problems: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let longest: Mutex<(Duration, &str)> = Mutex::new((Duration::ZERO, ""));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                let mut solver = Z3Solver::default();
                loop {
                    let work = next.fetch_add(1, Ordering::Relaxed);
                    if work >= runs * habits.len() {
                        return;
                    }
                    let (habit, expected) = habits[work % habits.len()];
                    if std::env::var("COREACH_HABIT").is_ok_and(|only| only != habit) {
                        right[work % habits.len()].fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    // Silence is long enough on a machine that is busy; or it is not, and the limit comes first.
                    let settings = settings(if expected == TIME { 60_000 } else { 400 });
                    let way = carrier.name.replace(", ", "-");
                    let tag = format!("coreach-misbehaving-{}-{way}-{work}", std::process::id());
                    let folder = folder(&tag);
                    let mut adapter = adapter((carrier.way)(&python, habit, &tag, &folder));
                    let seed = work as u64;
                    let initial = initial_state(&test, &Default::default(), seed, &mut solver).unwrap();
                    let mut values = Values::new(MIX);
                    let mut strategy = Strategy::random();
                    let mut judge = CaseJudge::new(&test, initial);
                    let done = run(Drive {
                        judge: &mut judge,
                        seed,
                        settings: &settings,
                        adapter: &mut *adapter,
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
                    let mut found = left_in(&folder);
                    let outcome = (record.verdict.name(), record.cause.as_str());
                    let is_slow = match outcome {
                        ("Inconclusive", "silence" | "time") => true,
                        ("RunError", "start") => record.detail.as_str().is_some_and(|why| {
                            ["did not come", "accepted no connection", "was not answered"]
                                .iter()
                                .any(|part| why.contains(part))
                        }),
                        _ => false,
                    };
                    if expected.contains(&outcome) {
                        right[work % habits.len()].fetch_add(1, Ordering::Relaxed);
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
    let count = habits.len();
    println!("{}: {count} habits, {runs} runs each:", carrier.name);
    println!("the longest run ({habit}) went {beyond:?} beyond its limit;");
    println!("after {} runs a killed process was not dead yet;", late.into_inner());
    println!("{} runs came too late for what is expected", slow.into_inner());
    let mut problems = problems.into_inner().unwrap();
    let never = habits.iter().zip(&right).filter(|(_, count)| count.load(Ordering::Relaxed) == 0);
    problems.extend(never.map(|((habit, _), _)| format!("{habit}: never what is expected")));
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
