//! What is done, for whoever wants to know: which files are read and written, what stages make, what a solver
//! was asked.
//!
//! No crate but the command line prints, and every crate has something to tell. A line is made only where
//! somebody listens, which is nobody but for `--verbose`; nothing depends on it. What holds up the work is
//! told in any case.

use std::sync::OnceLock;

/// Who wants to know; it may be told from several threads at once.
type Listener = Box<dyn Fn(&str) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Somebody wants to know; the first one counts.
pub fn listen(listener: Listener) {
    let _ = LISTENER.set(listener);
}

/// Who wants to know what holds up the work, which is told without `--verbose`, too.
static WAITING: OnceLock<Listener> = OnceLock::new();

/// Somebody wants to know what holds up the work; the first one counts.
pub fn listen_for_hold_ups(listener: Listener) {
    let _ = WAITING.set(listener);
}

/// Tells what holds up the work.
pub fn hold_up(what: &str) {
    if let Some(listener) = WAITING.get() {
        listener(what);
    }
}

pub fn note(what: impl FnOnce() -> String) {
    if let Some(listener) = LISTENER.get() {
        listener(&what());
    }
}
