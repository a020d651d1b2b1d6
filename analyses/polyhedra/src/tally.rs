//! Counts the work of a thread, which an account pays ([`crate::account`]). The code that spends the work
//! ([`crate::budget`]) does not know of accounts.

use core::cell::Cell;

thread_local! {
    /// What is left of the account that pays for the thread, if there is one.
    pub(crate) static LEFT: Cell<Option<u64>> = const { Cell::new(None) };

    /// The work done after the account was used up.
    pub(crate) static OWED: Cell<u64> = const { Cell::new(0) };

    /// All work of the thread, paid by an account or not.
    pub(crate) static SPENT: Cell<u64> = const { Cell::new(0) };
}

/// Counts work. What the account does not have is owed.
pub(crate) fn spend(work: u64) {
    if let Some(left) = LEFT.get() {
        LEFT.set(Some(left.saturating_sub(work)));
        OWED.set(OWED.get().saturating_add(work.saturating_sub(left)));
    }
    SPENT.set(SPENT.get().wrapping_add(work));
}
