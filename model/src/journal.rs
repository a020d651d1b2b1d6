//! What is done, for whoever wants to know: which files are read and written, what stages make, what a solver
//! was asked.
//!
//! No crate but the command line prints, and every crate has something to tell. A line is made only where
//! somebody listens, which is nobody but for `--verbose`; nothing depends on it.

use std::sync::OnceLock;

/// Who wants to know; it may be told from several threads at once.
type Listener = Box<dyn Fn(&str) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Somebody wants to know; the first one counts.
pub fn listen(listener: Listener) {
    let _ = LISTENER.set(listener);
}

/// Tells what was done.
pub fn note(what: impl FnOnce() -> String) {
    if let Some(listener) = LISTENER.get() {
        listener(&what());
    }
}
