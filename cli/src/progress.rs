//! A line that shows what is being done, what was used of the budget, and the time, if the work takes longer
//! than a second. Elsewhere than on a terminal, one line is printed for each half minute.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use coreach_model::budget;
use coreach_model::journal::SILENT;
use coreach_project::making::Says;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState};

use crate::visible::visible;

/// The line. It disappears when this value is dropped.
pub struct ProgressLine {
    bar: ProgressBar,
    /// The thread that shows the line after [`SILENT`], and the end of a channel whose drop ends it
    /// earlier.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ProgressLine {
    /// Starts a line about so many pieces of work. Nothing is shown if it is not wanted.
    pub fn start(jobs: usize, wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(jobs as u64), ProgressDrawTarget::hidden());
        let template = "{spinner} [{pos}/{len}] {msg} ({used}{elapsed})";
        if let Ok(style) = indicatif::ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("used", write_used));
        }
        if !wanted {
            return ProgressLine { bar, waiting: None };
        }
        let (done, wait) = mpsc::channel();
        let shown = bar.clone();
        let handle = thread::spawn(move || {
            if !std::io::stderr().is_terminal() {
                while wait.recv_timeout(Duration::from_secs(30)) == Err(RecvTimeoutError::Timeout) {
                    crate::console::say(&format!("{} ({} s)", shown.message(), shown.elapsed().as_secs()));
                }
                return;
            }
            if wait.recv_timeout(SILENT) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(120));
            }
        });
        ProgressLine { bar, waiting: Some((done, handle)) }
    }

    pub fn says(&self, what: String) {
        self.bar.set_message(visible(&what).into_owned());
    }

    /// Prints a line that stays, above this one.
    pub fn prints(&self, line: &str) {
        self.bar.suspend(|| crate::console::say(line));
    }

    /// Counts a piece as done.
    pub fn one_done(&self) {
        self.bar.inc(1);
    }
}

/// Does work that shows its progress, if that is wanted, until it is done.
pub fn with_progress<R>(is_wanted: bool, work: impl FnOnce(Says<'_>) -> R) -> R {
    let progress = ProgressLine::start(1, is_wanted);
    work(&|what| progress.says(what))
}

/// Writes what the piece of work that is nearest to its end has used: `12 of 60 s of processor time, `.
fn write_used(_: &ProgressState, line: &mut dyn std::fmt::Write) {
    if let Some((used, limit)) = budget::nearest_to_limit() {
        let (used, limit) = (used.processor.as_secs_f64(), limit.as_secs_f64());
        // The line is a text in memory, so this does not fail.
        let _ = write!(line, "{used:.0} of {limit} s of processor time, ");
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some((done, handle)) = self.waiting.take() {
            drop(done);
            // The thread only waits and draws, so this does not block.
            let _ = handle.join();
        }
        self.bar.finish_and_clear();
    }
}
