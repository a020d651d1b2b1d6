//! Implementations that misbehave, each in its own way: the right verdict or an error comes out, never a Pass
//! or a Fail that was not earned; nothing is left running, and no file but those that it wrote itself.
//!
//! The same loop goes over standard input and output, TCP and HTTP ([`carriers`]).
//!
//! *Soundness*, which no load of the machine excuses: a Pass or a Fail that is not expected. *Precision*,
//! which a busy machine can spoil, since a start and an answer have limits of time: that what is expected
//! comes at all. So a run that ends without either verdict in another way than expected is no evidence, and
//! the habit is tried again, up to `MOST_TRIES` times. `scripts/misbehave`, for a quiet machine, sets
//! `COREACH_RUNS` and asks more: each run ends as expected, and in time. `COREACH_JOBS` says how many runs at
//! once, `COREACH_HABIT` that only one habit is of interest.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod carriers;
mod habits;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::record::make_record;
use coreach_execution::{CaseJudge, Settings, Strategy, TestCase, TestSession};
use serde_json::Value;

use self::carriers::{Carrier, JSON_OVER_TCP, LINES_OVER_TCP, OVER_HTTP, OVER_STDIO, adapter};
use self::habits::{Habit, TIME};

/// The limit of a run.
const LIMIT: Duration = Duration::from_millis(1200);

/// What a run may take beyond it, in milliseconds, where the machine is quiet. `COREACH_BEYOND=100` asks
/// more.
const BEYOND: usize = 5_000;

/// So often is a habit tried until it shows what is expected.
const MOST_TRIES: usize = 8;

/// So long may a killed process wait for the processor to die on.
const DYING: Duration = Duration::from_secs(30);

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

/// What is still alive when killed processes have had their time to die.
fn alive_after_all(tag: &str) -> Vec<String> {
    let begin = Instant::now();
    loop {
        let left = alive(tag);
        if left.is_empty() || begin.elapsed() > DYING {
            return left;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
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

/// Whatever it does, the verdict is right, and nothing is left.
fn try_all(carrier: &Carrier) {
    let program = std::env::current_exe().unwrap();
    coreach_adapters::keeper::provide(program, crate::KEEPER.map(str::to_owned).to_vec());
    let test = TestCase::from_json(include_bytes!("../data/deliver_coffee.json")).unwrap();
    let only = std::env::var("COREACH_HABIT").ok();
    let is_asked = |(habit, _): &Habit| only.as_ref().is_none_or(|only| only == habit);
    let habits: Vec<Habit> = carrier.habits.iter().copied().filter(is_asked).collect();
    let is_quiet = std::env::var_os("COREACH_RUNS").is_some();
    let (runs, jobs) = (number("COREACH_RUNS", 2), number("COREACH_JOBS", 4));
    let most = LIMIT + Duration::from_millis(number("COREACH_BEYOND", BEYOND) as u64);
    let python = python();
    let next = AtomicUsize::new(0);
    let problems: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let longest: Mutex<(Duration, &str)> = Mutex::new((Duration::ZERO, ""));
    let (slow, late) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let try_habit = |at: usize, solver: &mut Z3Solver| {
        let (habit, expected) = habits[at];
        let mut has_shown = false;
        let mut other = Vec::new();
        for attempt in 0..if is_quiet { runs } else { MOST_TRIES } {
            if !is_quiet && attempt >= runs && has_shown {
                break;
            }
            let (done, is_late) = try_once(&test, carrier, &python, habits[at], at * 1000 + attempt, solver);
            late.fetch_add(usize::from(is_late), Ordering::Relaxed);
            let outcome = (done.verdict.as_str(), done.cause.as_str());
            let is_expected = expected.contains(&outcome);
            has_shown |= is_expected;
            let told = format!("{habit}: {} ({}): {}", done.verdict, done.cause, done.detail);
            let mut found = done.problems.clone();
            if !is_expected && (is_quiet && !done.may_be_slow() || is_unearned(habit, outcome.0)) {
                found.push(told);
            } else if !is_expected {
                slow.fetch_add(1, Ordering::Relaxed);
                other.push(told);
            }
            if is_quiet && done.time > most {
                found.push(format!("{habit}: it took {:?}", done.time));
            }
            problems.lock().unwrap().extend(found);
            let mut longest = longest.lock().unwrap();
            *longest = (*longest).max((done.time, habit));
        }
        if !has_shown {
            problems.lock().unwrap().push(format!("{habit}: never what is expected, but {other:?}"));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                let mut solver = Z3Solver::default();
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && at < habits.len()
                {
                    try_habit(at, &mut solver);
                }
            });
        }
    });
    let (time, habit) = longest.into_inner().unwrap();
    let beyond = time.saturating_sub(LIMIT);
    println!("{}: {} habits, {runs} runs each:", carrier.name, habits.len());
    println!("the longest run ({habit}) went {beyond:?} beyond its limit;");
    println!("after {} runs a killed process was not dead yet;", late.into_inner());
    println!("{} runs ended without a verdict, in another way than expected", slow.into_inner());
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// A Pass of who says what is right, only later, is earned where the tester was as slow.
fn is_unearned(habit: &str, verdict: &str) -> bool {
    verdict == "Fail" || verdict == "Pass" && !["too_late", "drips"].contains(&habit)
}

/// How a run with a bad habit ended, and what was wrong around it.
struct Ended {
    verdict: String,
    cause: String,
    detail: Value,
    time: Duration,
    problems: Vec<String>,
}

impl Ended {
    /// On a machine with much else to do, what is right may come too late; then nothing is known of the
    /// implementation.
    fn may_be_slow(&self) -> bool {
        let is_start = |why: &str| {
            ["did not come", "accepted no connection", "was not answered"]
                .iter()
                .any(|part| why.contains(part))
        };
        match (self.verdict.as_str(), self.cause.as_str()) {
            ("Inconclusive", "silence" | "time") => true,
            ("RunError", "start") => self.detail.as_str().is_some_and(is_start),
            _ => false,
        }
    }
}

/// One run, and whether a killed process was not dead at its end.
fn try_once(
    test: &TestCase,
    carrier: &Carrier,
    python: &str,
    (habit, expected): Habit,
    number: usize,
    solver: &mut Z3Solver,
) -> (Ended, bool) {
    let settings = Settings {
        // Silence is long enough on a machine that is busy; or it is not, and the limit comes first.
        quiescence: Duration::from_millis(if expected == TIME { 60_000 } else { 400 }),
        patience: Duration::from_millis(20),
        time: LIMIT,
        ..Settings::default()
    };
    let way = carrier.name.replace(", ", "-");
    let tag = format!("coreach-misbehaving-{}-{way}-{number}", std::process::id());
    let folder = folder(&tag);
    let mut adapter = adapter((carrier.way)(python, habit, &tag, &folder));
    let seed = number as u64;
    let initial = initial_state(test, &Default::default(), seed, solver).unwrap();
    let mut judge = CaseJudge::new(test, initial);
    let done = TestSession { judge: &mut judge, settings: &settings, adapter: &mut *adapter }
        .run(seed, Strategy::random());
    let is_late = !alive(&tag).is_empty();
    let mut problems = left_in(&folder);
    let left = alive_after_all(&tag);
    if !left.is_empty() {
        problems.push(format!("left running: {left:?}"));
    }
    let record = make_record(&mut judge, &done);
    let ended = Ended {
        verdict: record.verdict.name().to_owned(),
        cause: record.cause.as_str().to_owned(),
        detail: record.detail,
        time: done.time,
        problems: problems.into_iter().map(|text| format!("{habit}: {text}")).collect(),
    };
    (ended, is_late)
}
