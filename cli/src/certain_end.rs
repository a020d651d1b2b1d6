//! The certain end: of work that passes its budget, and of the program when a signal asks for it.
//!
//! **Problem.** Work that asks ends by itself ([`coreach_model::budget`]). One operation on huge numbers, a
//! query that Z3 does not interrupt, a file that never ends do not ask. And a program that is to end must not
//! leave behind what it has launched.
//!
//! **Method.** One thread looks every `LOOK` at what work has used and at the resident memory
//! (`/proc/self/statm`) and passes budgets. Work that has not ended some time after (`grace`) is ended with
//! the process: the same message, the same exit code. Another thread waits for SIGINT, SIGTERM and SIGHUP,
//! unless whoever started us has them ignored (`nohup`). It passes all budgets, so that a command may tell
//! what is finished; who has not ended after `PATIENCE`, or does not ask at all (a run of a test case waits
//! for its implementation), is ended, and so is everybody at a second signal.
//!
//! **An end**: a run that is not judged yet is none any more ([`coreach_execution::interruption`]),
//! all that was launched is ended ([`keeper::end_all`]), temporary files are removed, the message is written
//! without the locks of the standard streams, which somebody may hold for ever, and the process exits without
//! running what C++ libraries do at an exit, since other threads are still in them.
//!
//! The exit code for a signal is 128 and its number, as of a shell: 130, 143, 129.

use std::os::fd::BorrowedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use std::{fs, thread};

use coreach_adapters::keeper;
use coreach_model::Diagnostic;
use coreach_model::budget::{self, Limit, Overdue, Passed, WAITS};
use coreach_model::lock::lock;
use coreach_pipeline::stop::{INTERRUPTED, Stop};
use coreach_project::{budget as allowed, render};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::answer::is_json;
use crate::exit::Exit;
use crate::{console, write};

const LOOK: Duration = Duration::from_millis(20);

/// How long a command may tell what is finished, after a signal.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long killing what is below us may take.
const KILLING: Duration = Duration::from_millis(500);

const SIGNALS: [(i32, &str); 3] = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")];

/// The signal that has come; 0 while none has.
static CAME: AtomicI32 = AtomicI32::new(0);

/// Held by who ends the process, for ever.
static END: Mutex<()> = Mutex::new(());

/// What a command has finished so far, as its document with this exit code and the reason of the end.
type Partial = Box<dyn Fn(u8, &Diagnostic) -> String + Send>;

static PARTIAL: Mutex<Option<Partial>> = Mutex::new(None);

/// Begins to watch, for the whole life of the process.
pub fn start() {
    let ignored = ignored();
    let wanted = SIGNALS.iter().map(|(signal, _)| *signal).filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Without its threads the program ends as others do: a limit is not watched, a signal is not handled.
    if let Ok(mut signals) = Signals::new(wanted.clone()) {
        let wait = move || {
            for signal in signals.forever() {
                note_signal(signal);
            }
        };
        if thread::Builder::new().name("signals".to_owned()).spawn(wait).is_ok() {
            // In the handler: that thread may be long in coming, and runs go on until then.
            for signal in wanted {
                let _ = signal_hook::flag::register(signal, keeper::ending_flag());
            }
        }
    }
    let watch = move || {
        loop {
            thread::sleep(LOOK);
            check_limits();
        }
    };
    let _ = thread::Builder::new().name("watch".to_owned()).spawn(watch);
}

/// What a command has finished is told at its end, should that come early.
pub fn tell_at_end(partial: impl Fn(u8, &Diagnostic) -> String + Send + 'static) {
    *lock(&PARTIAL) = Some(Box::new(partial));
}

/// The exit code of a command that has ended by itself; after a signal, of that. Nothing of what it has
/// launched is left.
pub fn ended(code: u8) -> u8 {
    match CAME.load(Ordering::Relaxed) {
        0 => {
            keeper::end_all(KILLING);
            code
        }
        signal => {
            // Who ends the process after a while finds that somebody does already.
            std::mem::forget(lock(&END));
            keeper::end_all(KILLING);
            code_of(signal)
        }
    }
}

fn code_of(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Has work gone on for too long after it has passed its budget? That is processor time, too: on a machine
/// that is busy it takes long to drop what was made. Work that waits computes nothing more, so the clock
/// ends it.
fn is_beyond(overdue: &Overdue) -> bool {
    let grace = grace(overdue.passed.limit);
    overdue.since.processor > grace || overdue.since.clock > grace.saturating_mul(WAITS)
}

/// How long work may go on after it has passed its budget: long enough to drop what it has made.
fn grace(limit: Limit) -> Duration {
    const LEAST: Duration = Duration::from_secs(1);
    match limit {
        Limit::Time(time) => LEAST + (time / 20).min(Duration::from_secs(10)),
        _ => LEAST,
    }
}

fn check_limits() {
    let memory = allowed::memory();
    let used = resident();
    let beyond = (used > memory).then_some(Limit::Memory(memory));
    let (overdue, is_working) = budget::check_budgets(beyond);
    if let Some(overdue) = overdue
        && is_beyond(&overdue)
        && CAME.load(Ordering::Relaxed) == 0
    {
        stop(overdue.passed);
    }
    if let Some(limit) = beyond
        && (!is_working || used > memory + memory / 4)
    {
        let (stage, doing) = budget::current_work();
        let stage = if stage.is_empty() { "run" } else { stage };
        stop(Passed { limit, stage, doing });
    }
}

fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

/// The signals that whoever started us has ignored, as a mask.
fn ignored() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn note_signal(signal: i32) {
    let name = SIGNALS.iter().find(|(known, _)| *known == signal).map_or("a signal", |(_, name)| *name);
    let is_first = CAME.swap(signal, Ordering::Relaxed) == 0;
    let limit = Limit::Signal(name);
    let finish = move || {
        let (stage, doing) = budget::current_work();
        end(code_of(signal), || match stage {
            "" => Diagnostic::error(INTERRUPTED, format!("stopped by {name}")),
            stage => Stop::Budget(Passed { limit, stage, doing }).to_diagnostic(),
        });
    };
    if is_first && budget::end_all(limit) {
        // The command tells what is finished; this thread goes on to hear a second signal.
        let later = move || {
            thread::sleep(PATIENCE);
            finish();
        };
        if thread::Builder::new().name("end".to_owned()).spawn(later).is_ok() {
            return;
        }
    }
    finish();
}

fn stop(passed: Passed) -> ! {
    end(Exit::Stopped.code(), || Stop::Budget(passed).to_diagnostic())
}

fn end(code: u8, why: impl FnOnce() -> Diagnostic) -> ! {
    std::mem::forget(lock(&END));
    keeper::end_all(KILLING);
    write::abandon();
    let found = [why()];
    let partial = lock(&PARTIAL).take();
    let document = match partial {
        Some(partial) => Some(partial(code, &found[0])),
        None if is_json() => {
            let document = serde_json::json!({
                "format_version": 1,
                "exit_code": code,
                "diagnostics": render::to_json(&found),
            });
            Some(format!("{document:#}\n"))
        }
        None => None,
    };
    if let Some(document) = &document {
        write_raw(rustix::stdio::stdout(), document);
    }
    if document.is_none() || !is_json() {
        let clean = if std::io::IsTerminal::is_terminal(&std::io::stderr()) { "\r\u{1b}[2K" } else { "" };
        write_raw(rustix::stdio::stderr(), &format!("{clean}{}\n", render::render(&found, console::style())));
    }
    signal_hook::low_level::exit(code.into())
}

/// Writes past the locks of the standard streams; gives up where nobody reads.
fn write_raw(to: BorrowedFd<'_>, text: &str) {
    const READER: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let mut fds = [PollFd::new(&to, PollFlags::OUT)];
        // A pipe that is ready takes this many bytes without blocking.
        let piece = &rest[..rest.len().min(4096)];
        match poll(&mut fds, Some(&READER)) {
            Ok(1..) => {}
            _ => return,
        }
        match rustix::io::write(to, piece) {
            Ok(count) if count > 0 => rest = &rest[count..],
            _ => return,
        }
    }
}
