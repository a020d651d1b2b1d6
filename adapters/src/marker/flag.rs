//! The flag of an end: set before anything below us is killed, by the signal's own handler where there is
//! one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static ENDING: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// For the handler of a signal that ends the program for certain: it sets this.
pub fn flag() -> Arc<AtomicBool> {
    ENDING.clone()
}

/// Is the program ending?
pub fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}

/// From now on it is.
pub(super) fn begin() {
    ENDING.store(true, Ordering::SeqCst);
}
