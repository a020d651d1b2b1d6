//! A process that is kept for several runs over its standard input and output: no run sees what another one
//! has left.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Failure, Left, Received, Session};
use coreach_execution::open;
use coreach_model::codec::from_text;
use coreach_model::iosts::Iosts;
use coreach_model::random::Random;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_project::iut;

const MODEL: &str = "
iosts: m
constants: { c: int }
locations: [A]
initial: { location: A }
inputs: { Incr: { n: int }, Who: {}, Die: {} }
outputs: { Value: { v: int }, Me: { p: int } }
transitions: [{ from: A, to: A, on: Incr }, { from: A, to: A, on: Who }, { from: A, to: A, on: Die }]
";

fn model() -> Iosts {
    read_specification(from_bytes("m".to_owned(), MODEL.into()).unwrap()).unwrap().0.iosts
}

/// The file of such a process, with what else is to stand in it.
fn file(way: &str, moment: &str, more: &str) -> String {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/counter.py");
    let command = format!("[python3, {}, {way}, \"{moment}\", \"{{tmp}}\"]", program.display());
    let lines = "
  encoding: lines
  stimuli: { Incr: 'Incr {n}', Who: Who, Die: Die }
  observations: { Value: 'value (?P<v>\\d+)', Me: 'me (?P<p>\\d+)' }
  reset: [{ send: reset, expect: ok }]";
    let lines = if way == "json" { "" } else { lines };
    format!("iut: counter\nstdio:\n  command: {command}\n  keep: true\n{lines}\n{more}\n")
}

fn read(text: &str) -> Result<Box<dyn Adapter>, String> {
    let read = iut::read(from_bytes("iut".to_owned(), text.into()).unwrap(), Path::new("."), Some(&model()));
    let (iut, found) = read.map_err(|found| format!("{found:?}"))?;
    assert!(found.is_empty(), "{found:#?}");
    Ok(open(&iut))
}

struct Runs(Box<dyn Adapter>);

impl Runs {
    fn of(way: &str, moment: &str, more: &str) -> Self {
        Runs(read(&file(way, moment, more)).unwrap())
    }

    fn start(&mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + Duration::from_secs(20);
        self.0.start(&Session { iosts: &model(), constants: &[], seed: 1, deadline })
    }

    fn send(&mut self, action: &str, values: &[&str]) {
        let iosts = model();
        let action = iosts.action(iosts.find_action(action).unwrap());
        let read = |(text, datum): (&&str, &coreach_model::Datum)| from_text(text, datum.ty()).unwrap();
        let values: Vec<_> = values.iter().zip(&action.parameters).map(read).collect();
        self.0.send(&Event::new(&*action.name, values)).unwrap();
    }

    fn next(&mut self) -> String {
        match self.0.receive(Instant::now() + Duration::from_secs(10)) {
            Ok(Received::Output(event)) => event.to_string(),
            Ok(other) => format!("{other:?}"),
            Err(failure) => failure.name().to_owned(),
        }
    }

    fn who(&mut self) -> String {
        self.send("Who", &[]);
        self.next()
    }

    /// Leaves the run, as the tester does.
    fn leave(&mut self) -> Option<Left> {
        let left = self.0.tear_down().map(|teardown| teardown.left);
        self.0.stop();
        left
    }

    /// A run that ends before its answers have come; who it was.
    fn hurried(&mut self) -> (String, Option<Left>) {
        self.start().unwrap();
        let who = self.who();
        for _ in 0..3 {
            self.send("Incr", &["100"]);
        }
        (who, self.leave())
    }

    /// A run that sees its own answers only; who it was.
    #[track_caller]
    fn right(&mut self) -> String {
        self.start().unwrap();
        self.send("Incr", &["1"]);
        assert_eq!(self.next(), "Value(1)");
        self.send("Incr", &["2"]);
        assert_eq!(self.next(), "Value(3)");
        self.who()
    }
}

const BARRIER: &str = "  settle: { barrier: [{ send: sync, expect: synced }] }";

#[test]
fn one_process_has_many_runs_and_none_sees_what_another_one_has_left() {
    for (way, more, left) in [
        ("json", "", None),
        ("lines", BARRIER, None),
        ("lines", "  settle: { quiet_ms: 400 }", Some(Left::Clean)),
    ] {
        let mut runs = Runs::of(way, "60", more);
        let mut all = Vec::new();
        for _ in 0..3 {
            let (who, how) = runs.hurried();
            assert_eq!(how, left, "{way} {more}");
            all.push(who);
            all.push(runs.right());
            runs.leave();
        }
        all.dedup();
        assert_eq!(all.len(), 1, "{way} {more}: {all:?}");
        assert!(all[0].starts_with("Me("), "{all:?}");
    }
}

#[test]
fn however_a_run_is_cut_off_the_next_one_is_right() {
    for (way, more, rounds) in
        [("json", "", 40), ("lines", BARRIER, 40), ("lines", "  settle: { quiet_ms: 300 }", 10)]
    {
        let mut runs = Runs::of(way, "random", more);
        let mut random = Random::new(3);
        for number in 0..rounds {
            runs.start().unwrap();
            for _ in 0..random.below(5) {
                runs.send("Incr", &["100"]);
            }
            for _ in 0..random.below(2) {
                runs.send("Incr", &["1000"]);
                runs.next();
            }
            assert_ne!(runs.leave(), Some(Left::Ended), "{way} {more} {number}");
            assert!(runs.right().starts_with("Me("));
            runs.leave();
        }
    }
}

#[test]
fn where_nothing_tells_that_it_is_over_the_next_run_has_another_process() {
    let (short, deaf) = (
        "  settle: { within_ms: 50, quiet_ms: 40 }",
        "  settle: { within_ms: 300, barrier: [{ send: sync, expect: synced }] }",
    );
    for (way, moment, more, left) in [
        // Answers that take longer than that is waited: it goes on.
        ("lines", "30", short, Some(Left::Ended)),
        ("half", "0", "  settle: { quiet_ms: 50 }", Some(Left::Ended)),
        ("deaf", "0", deaf, None),
    ] {
        let mut runs = Runs::of(way, moment, more);
        let (first, how) = runs.hurried();
        assert_eq!(how, left, "{way}");
        runs.start().unwrap();
        let second = runs.who();
        assert_ne!(first, second, "{way}");
        assert!(second.starts_with("Me("), "{second}");
    }
}

#[test]
fn where_it_does_not_become_quiet_the_barrier_tells() {
    let settle = "  settle: { within_ms: 50, quiet_ms: 40, barrier: [{ send: sync, expect: synced }] }";
    let mut runs = Runs::of("lines", "30", settle);
    let (first, left) = runs.hurried();
    assert_eq!(left, Some(Left::Unclean));
    assert_eq!(runs.right(), first);
}

/// Soundness: a death that no run has seen is the next run's error, once.
#[test]
fn after_its_death_and_after_a_run_error_there_is_another_one() {
    for (way, more) in [("json", ""), ("lines", BARRIER)] {
        let mut runs = Runs::of(way, "0", more);
        let first = runs.right();
        runs.send("Die", &[]);
        assert_eq!(runs.next(), "lost");
        runs.leave();
        let second = runs.right();
        assert_ne!(first, second);
        runs.send("Die", &[]);
        // It dies between two runs.
        runs.leave();
        std::thread::sleep(Duration::from_millis(300));
        let died = runs.start().unwrap_err().to_string();
        assert!(died.contains("ended with status 3 after the run before"), "{died}");
        runs.leave();
        let third = runs.right();
        assert_ne!(second, third);
        runs.leave();
        assert_eq!(third, runs.right());
    }
}

#[test]
fn a_command_of_the_reset_finds_the_files_of_the_process() {
    let note = std::env::temp_dir().join(format!("coreach-kept-{}", std::process::id()));
    let command = format!("[sh, -c, 'test -d \"$1\" && echo $1 >> {}', sh, \"{{tmp}}\"]", note.display());
    let text = file("lines", "0", BARRIER)
        .replace("reset: [{ send: reset", &format!("reset: [{{ command: {command} }}, {{ send: reset"));
    let mut runs = Runs(read(&text).unwrap());
    for _ in 0..3 {
        runs.right();
        runs.leave();
    }
    let written = std::fs::read_to_string(&note).unwrap();
    let mut folders: Vec<PathBuf> = written.lines().map(PathBuf::from).collect();
    assert_eq!(folders.len(), 3);
    folders.dedup();
    assert!(folders.len() == 1 && folders[0].is_dir(), "{folders:?}");
    drop(runs);
    assert!(!folders[0].exists());
    std::fs::remove_file(note).unwrap();
}

#[test]
fn what_is_kept_must_be_reset_and_settled_and_knows_no_constants() {
    let whole = file("lines", "0", BARRIER);
    for (text, why) in [
        (whole.replace("  reset: [{ send: reset, expect: ok }]", ""), "missing-key"),
        (whole.replace(BARRIER, ""), "unsettled"),
        (whole.replace(BARRIER, "  settle: { within_ms: 7 }"), "unsettled"),
        (whole.replace("\"{tmp}\"", "\"{tmp} {c}\""), "unknown-parameter"),
    ] {
        assert_ne!(text, whole);
        let found = read(&text).err().unwrap_or_default();
        assert!(found.contains(why), "{why}: {found}");
    }
    // With JSON messages, the protocol says it all.
    assert!(read(&file("json", "0", "")).is_ok());
}
