//! The rows and the work that a computation may still use. They are counted, never timed.
//!
//! A limit by the clock would make results depend on the machine and on its load. So work is counted in *row
//! operations*: one for each dot product or combination of two rows, and one for each [`COMPARISONS`]
//! comparisons of saturation sets, which cost much less. So a computation with the same inputs stops at the
//! same place everywhere.

use core::cell::Cell;

/// A conversion would have needed more than its budget allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exceeded;

/// How many comparisons of sets count as one row operation.
const COMPARISONS: u64 = 8;

/// The rows and the work that are left. All parts of one operation share it, hence the interior mutability.
#[derive(Debug)]
pub(crate) struct RowBudget {
    /// The most rows of one side of one block at a time.
    rows: usize,
    /// The work at the beginning.
    given: u64,
    work: Cell<u64>,
}

impl Drop for RowBudget {
    fn drop(&mut self) {
        crate::tally::spend(self.given - self.work.get());
    }
}

impl RowBudget {
    pub(crate) fn new(rows: usize, work: u64) -> Self {
        Self { rows, given: work, work: Cell::new(work) }
    }

    /// A budget of more than any machine can use.
    pub(crate) fn unlimited() -> Self {
        Self::new(usize::MAX, u64::MAX)
    }

    /// Fails if `count` rows are too many. A space of `width` coordinates may always hold `width` rows, since
    /// nothing can be represented by fewer.
    pub(crate) fn hold(&self, count: usize, width: usize) -> Result<(), Exceeded> {
        if count <= self.rows.max(width) { Ok(()) } else { Err(Exceeded) }
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.rows < usize::MAX
    }

    /// Counts row operations. Once they are used up, it fails, and keeps failing.
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

    /// Is no work left?
    pub(crate) fn is_spent(&self) -> bool {
        self.work.get() == 0
    }
}
