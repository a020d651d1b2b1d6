//! The journal of the work, for a listener: which files are read and written, what stages make, what a solver
//! was asked.
//!
//! Only the command line prints, and every crate has something to tell. A line is made only if a listener is
//! set, which `--verbose` does. Nothing depends on it. Messages about what holds up the work are told in any
//! case.

use std::sync::OnceLock;
use std::time::Duration;

/// Receives the lines. It may be called from several threads at once.
type Listener = Box<dyn Fn(&str) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Sets the listener. Only the first call counts.
pub fn listen(listener: Listener) {
    let _ = LISTENER.set(listener);
}

/// Receives messages about what holds up the work, also without `--verbose`.
static HOLD_UP_LISTENER: OnceLock<Listener> = OnceLock::new();

/// Sets the listener for what holds up the work. Only the first call counts.
pub fn listen_for_hold_ups(listener: Listener) {
    let _ = HOLD_UP_LISTENER.set(listener);
}

/// A longer wait is reported to the user.
pub const SILENT: Duration = Duration::from_secs(1);

/// Tells the listener what holds up the work.
pub fn hold_up(what: &str) {
    if let Some(listener) = HOLD_UP_LISTENER.get() {
        listener(what);
    }
}

/// Tells the listener a line, which is made only if there is a listener.
pub fn note(what: impl FnOnce() -> String) {
    if let Some(listener) = LISTENER.get() {
        listener(&what());
    }
}
