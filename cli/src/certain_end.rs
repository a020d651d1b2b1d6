//! The certain end: of work that passes its budget, and of the program when a signal asks for it.
//!
//! **Problem.** Work that asks its budget ends by itself ([`coreach_model::budget`]). Some work does not ask:
//! one operation on huge numbers, a query that Z3 does not interrupt, a file that never ends. And a program
//! that ends must not leave behind what it has launched.
//!
//! **Method.** One thread looks every `LONG_PAUSE` at what work has used and at the resident memory
//! (`/proc/self/statm`), and marks budgets as passed. If work has not ended some time later (`grace`), the
//! thread ends the process, with the same message and exit code. Another thread waits for SIGINT, SIGTERM and
//! SIGHUP, but not for signals that the parent process has set to be ignored (`nohup`). It marks all budgets
//! as passed, so that a command may tell what is finished. The process is ended if the command has not ended
//! after `PATIENCE`, if it does not ask (a run of a test case waits for its implementation), or at a second
//! signal.
//!
//! **An end** has these steps. A run that is not judged yet is dropped ([`coreach_execution::interruption`]).
//! All that was launched is ended ([`keeper::end_all`]). Temporary files are removed. The message is written
//! without the locks of the standard streams, which another thread may hold for ever. The process exits
//! without the exit handlers of C++ libraries, since other threads are still in these libraries.
//!
//! After a signal, the exit code is 128 plus the signal's number, as in a shell: 130, 143, 129.

use std::io::IsTerminal;
use std::os::fd::BorrowedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use std::{fs, thread};

use coreach_adapters::keeper;
use coreach_adapters::times::LONG_PAUSE;
use coreach_model::Diagnostic;
use coreach_model::budget::{self, Limit, Overdue, Passed, WAITS};
use coreach_model::lock::lock;
use coreach_pipeline::stop::{INTERRUPTED, Stop};
use coreach_project::{budget as allowed, render};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::answer::{is_json, make_error_document};
use crate::exit::Exit;
use crate::{console, write};

/// How long a command may tell what is finished, after a signal.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long it may take to kill the processes that were launched.
const KILL_TIME: Duration = Duration::from_millis(500);

const SIGNALS: [(i32, &str); 3] = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")];

/// The number of the signal that has come, or 0.
static RECEIVED_SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The thread that ends the process holds this lock for ever.
static END: Mutex<()> = Mutex::new(());

/// Makes the answer of what is finished so far, from the exit code and the reason of the end.
type Partial = Box<dyn Fn(u8, &Diagnostic) -> String + Send>;

static PARTIAL: Mutex<Option<Partial>> = Mutex::new(None);

/// Begins to watch, for the whole life of the process.
pub fn start() {
    let ignored = ignored_signals();
    let is_ignored = |signal: i32| ignored >> (signal - 1) & 1 == 1;
    let handled = SIGNALS.iter().map(|(signal, _)| *signal).filter(|signal| !is_ignored(*signal));
    // If a thread cannot be started, the program goes on: limits are not watched, or signals not handled.
    if let Ok(mut signals) = Signals::new(handled.clone()) {
        let wait = move || signals.forever().for_each(note_signal);
        if thread::Builder::new().name("signals".to_owned()).spawn(wait).is_ok() {
            // The handler itself sets this flag. The thread may be late, and runs would go on until then.
            for signal in handled {
                let _ = signal_hook::flag::register(signal, keeper::ending_flag());
            }
        }
    }
    let watch = move || {
        loop {
            thread::sleep(LONG_PAUSE);
            check_limits();
        }
    };
    let _ = thread::Builder::new().name("watch".to_owned()).spawn(watch);
}

/// Sets how the command tells what it has finished, if it is ended early.
pub fn tell_at_end(partial: impl Fn(u8, &Diagnostic) -> String + Send + 'static) {
    *lock(&PARTIAL) = Some(Box::new(partial));
}

/// Ends all that was launched after a command has ended by itself. Returns the exit code: that of the signal
/// if one has come, else `code`.
pub fn end_command(code: u8) -> u8 {
    match RECEIVED_SIGNAL.load(Ordering::Relaxed) {
        0 => {
            keeper::end_all(KILL_TIME);
            code
        }
        signal => {
            // The thread that would end the process after `PATIENCE` waits for this lock for ever.
            std::mem::forget(lock(&END));
            keeper::end_all(KILL_TIME);
            exit_code_of_signal(signal)
        }
    }
}

fn exit_code_of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Says whether work has gone on for too long after it passed its budget. Processor time counts, since a busy
/// machine needs long to drop what was made. Work that waits uses no processor time, so the clock ends it.
fn is_beyond_grace(overdue: &Overdue) -> bool {
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

/// Ends the process if work, or the memory of the process, is too far beyond its limit.
fn check_limits() {
    let memory = allowed::memory();
    let used = resident_memory();
    let passed = (used > memory).then_some(Limit::Memory(memory));
    let (overdue, is_working) = budget::check_budgets(passed);
    // After a signal, another thread ends the process.
    if let Some(overdue) = overdue
        && is_beyond_grace(&overdue)
        && RECEIVED_SIGNAL.load(Ordering::Relaxed) == 0
    {
        stop_process(overdue.passed);
    }
    // Work that asks its budget ends by itself, and gives its memory back.
    let is_far_beyond = used > memory + memory / 4;
    if let Some(limit) = passed
        && (!is_working || is_far_beyond)
    {
        let (stage, doing) = budget::current_work();
        let stage = if stage.is_empty() { "run" } else { stage };
        stop_process(Passed { limit, stage, doing });
    }
}

fn resident_memory() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

/// Reads which signals the parent process has set to be ignored, as a mask: bit 0 is signal 1.
fn ignored_signals() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Ends the process, since a signal has come. At the first one, a command that asks its budget has `PATIENCE`
/// to tell what is finished.
fn note_signal(signal: i32) {
    let name = SIGNALS.iter().find(|(known, _)| *known == signal).map_or("a signal", |(_, name)| *name);
    let is_first = RECEIVED_SIGNAL.swap(signal, Ordering::Relaxed) == 0;
    let limit = Limit::Signal(name);
    let end_now = move || {
        let (stage, doing) = budget::current_work();
        end_process(exit_code_of_signal(signal), || match stage {
            "" => Diagnostic::error(INTERRUPTED, format!("stopped by {name}")),
            stage => Stop::Budget(Passed { limit, stage, doing }).to_diagnostic(),
        });
    };
    let has_command_that_asks = is_first && budget::end_all(limit);
    let end_later = move || {
        thread::sleep(PATIENCE);
        end_now();
    };
    // This thread goes on, to hear a second signal.
    if !has_command_that_asks || thread::Builder::new().name("end".to_owned()).spawn(end_later).is_err() {
        end_now();
    }
}

fn stop_process(passed: Passed) -> ! {
    end_process(Exit::Stopped.code(), || Stop::Budget(passed).to_diagnostic())
}

/// Ends the process by the steps above. The lock lets only one thread do so.
fn end_process(code: u8, why: impl FnOnce() -> Diagnostic) -> ! {
    std::mem::forget(lock(&END));
    keeper::end_all(KILL_TIME);
    write::remove_temporary_files();
    let reasons = [why()];
    let partial = lock(&PARTIAL).take();
    let answer = match partial {
        Some(partial) => Some(partial(code, &reasons[0])),
        None => is_json().then(|| console::document_text(&make_error_document(code, &reasons))),
    };
    if let Some(answer) = &answer {
        write_raw(rustix::stdio::stdout(), answer);
    }
    // A document says the reason itself.
    if !is_json() {
        let clear_line = if std::io::stderr().is_terminal() { "\r\u{1b}[2K" } else { "" };
        let text = render::render(&reasons, console::style());
        write_raw(rustix::stdio::stderr(), &format!("{clear_line}{text}\n"));
    }
    signal_hook::low_level::exit(code.into())
}

/// Writes without the locks of the standard streams. Gives up if nobody reads.
fn write_raw(to: BorrowedFd<'_>, text: &str) {
    const READER_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let mut unwritten = text.as_bytes();
    while !unwritten.is_empty() {
        let mut fds = [PollFd::new(&to, PollFlags::OUT)];
        // A pipe that is ready takes this many bytes without blocking.
        let piece = &unwritten[..unwritten.len().min(4096)];
        if !matches!(poll(&mut fds, Some(&READER_TIME)), Ok(1..)) {
            return;
        }
        match rustix::io::write(to, piece) {
            Ok(count) if count > 0 => unwritten = &unwritten[count..],
            _ => return,
        }
    }
}
