//! The tally of work on a thread, from which an account is paid ([`crate::account`]); what spends it
//! ([`crate::budget`]) knows no accounts.

use core::cell::Cell;

thread_local! {
    /// What is left of the account within which the thread works, where it works within one.
    pub(crate) static LEFT: Cell<Option<u64>> = const { Cell::new(None) };

    /// What was spent when nothing was left of it.
    pub(crate) static OWED: Cell<u64> = const { Cell::new(0) };

    /// All that the thread has spent, whether or not an account had it.
    pub(crate) static SPENT: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn spend(work: u64) {
    if let Some(left) = LEFT.get() {
        LEFT.set(Some(left.saturating_sub(work)));
        OWED.set(OWED.get().saturating_add(work.saturating_sub(left)));
    }
    SPENT.set(SPENT.get().wrapping_add(work));
}
