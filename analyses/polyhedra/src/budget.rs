//! What a computation may still use: rows and work, counted, never timed.
//!
//! A limit by the clock would make results depend on the machine and on its load. Work is therefore
//! counted in *row operations*: one for each dot product or combination of two rows, one for each
//! [`COMPARISONS`] comparisons of saturation sets, each of which costs a small fraction of the
//! former. The same inputs thus stop at the same place everywhere.

use core::cell::Cell;

/// A conversion would have needed more than its budget allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exceeded;

/// Comparisons of sets that count as one row operation.
const COMPARISONS: u64 = 8;

/// What is left. Shared by all parts of one operation, hence the interior mutability.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Rows of one side of one block that may be held at a time.
    rows: usize,
    /// At the beginning.
    given: u64,
    work: Cell<u64>,
}

impl Drop for Budget {
    fn drop(&mut self) {
        crate::tally::spend(self.given - self.work.get());
    }
}

impl Budget {
    pub(crate) fn new(rows: usize, work: u64) -> Self {
        Self { rows, given: work, work: Cell::new(work) }
    }

    /// More than any machine can use.
    pub(crate) fn unlimited() -> Self {
        Self::new(usize::MAX, u64::MAX)
    }

    /// Fails if `count` rows are too many. A space of `width` coordinates always may hold that many,
    /// as nothing can be represented by fewer.
    pub(crate) fn hold(&self, count: usize, width: usize) -> Result<(), Exceeded> {
        if count <= self.rows.max(width) { Ok(()) } else { Err(Exceeded) }
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.rows < usize::MAX
    }

    /// Counts row operations; fails, and keeps failing, once they are used up.
    pub(crate) fn spend(&self, operations: usize) -> Result<(), Exceeded> {
        let left = self.work.get().checked_sub(operations as u64);
        self.work.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(Exceeded)
    }

    /// Counts comparisons of saturation sets.
    pub(crate) fn compare(&self, comparisons: u64) -> Result<(), Exceeded> {
        self.spend(usize::try_from(comparisons / COMPARISONS).unwrap_or(usize::MAX))
    }

    pub(crate) fn left(&self) -> u64 {
        self.work.get()
    }

    /// Whether nothing more can be done.
    pub(crate) fn is_spent(&self) -> bool {
        self.work.get() == 0
    }
}
