//! A limit of the work of many operations together.
//!
//! **Problem.** [`OperationLimits`] bound one operation. An analysis performs thousands, and if the polyhedra
//! are at the limit, each takes a second. **Method.** An account has work for all of them. An operation may
//! use half of the work that is left, and never more than the default. So the work that is left
//! decays but is not used up: the first operations are as exact as without an account, and the last are
//! coarse. Each operation may use a least amount. If nothing is left, this amount is added to a debt, and it
//! becomes smaller as the debt grows. So the total grows with the square root of the number of operations.
//! The limit of rows shrinks with that of work, since rows are what each user of a polyhedron pays for.
//!
//! Work is counted (`budget.rs`), so an analysis gives the same result everywhere. The account belongs to the
//! thread, and only to the work in [`Account::within`]. Outside of it, operations have the default limits.
//!
//! **Cost** of an analysis: its account, and about as much again for work that is not counted.

use crate::limits::OperationLimits;
use crate::tally::{LEFT, OWED, SPENT};

/// The row operations of an analysis, which take some tenths of a second. Ten times as many gave no better
/// results on random test cases or programs.
const ALL: u64 = 300_000;

/// Work for many operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The work that is left, in row operations.
    pub(crate) left: u64,
    owed: u64,
}

impl Default for Account {
    fn default() -> Self {
        Account { left: ALL, owed: 0 }
    }
}

impl Account {
    /// Does work whose operations draw on the account.
    pub fn within<R>(&mut self, work: impl FnOnce() -> R) -> R {
        // Restores the outer account of the thread, also if the work unwinds.
        struct Outer(Option<u64>, u64);
        impl Drop for Outer {
            fn drop(&mut self) {
                LEFT.set(self.0);
                OWED.set(self.1);
            }
        }
        let outer = Outer(LEFT.replace(Some(self.left)), OWED.replace(self.owed));
        let result = work();
        self.left = LEFT.get().unwrap_or(0);
        self.owed = OWED.get();
        drop(outer);
        result
    }
}

/// The row operations of this thread since it began. The difference of two readings is all the work between
/// them, also beyond the end of an account.
pub fn spent() -> u64 {
    SPENT.get()
}

/// The present limits of an operation in so many dimensions. Outside of an account they are the default
/// limits.
pub fn limits(dimensions: usize) -> OperationLimits {
    let most = OperationLimits::default();
    let Some(left) = LEFT.get() else { return most };
    let pairs = (dimensions as u64).saturating_mul(dimensions as u64);
    // The least amount without a debt suffices for boxes and a few relations. It grows with the square of the
    // dimensions: a cone of as many constraints as dimensions takes less, and the linear programs that
    // replace its conversion take more.
    let least_work = pairs.saturating_mul(8).max(2_000).min(most.work);
    let least_work = least_work.saturating_mul(ALL) / ALL.saturating_add(OWED.get());
    let work = (left / 2).clamp(least_work, most.work);
    let rows = usize::try_from(most.rows as u64 * work / most.work).unwrap_or(most.rows);
    // A block may always have 64 rows, or four for each dimension.
    OperationLimits { rows: rows.max(64).max(dimensions.saturating_mul(4)), work }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Constraint, LinearExpression, Polyhedron, Relation};

    /// Computes the hull of a cross in so many dimensions, which has 2^n facets. Returns whether it is exact.
    fn cross(dimensions: usize, limits: impl Fn() -> OperationLimits) -> bool {
        let point = |at: usize, value: i64| {
            let equal = |dimension: usize| {
                let variable = LinearExpression::variable(dimension);
                let value =
                    crate::Rational::from(crate::Integer::from(if dimension == at { value } else { 0 }));
                let value = LinearExpression::constant(value);
                Constraint::from_expression(&variable.minus(&value), Relation::Equal)
            };
            Polyhedron::from_constraints(dimensions, (0..dimensions).map(equal))
        };
        let mut hull = point(0, 1);
        let mut is_exact = true;
        for at in 0..dimensions {
            for value in [1, -1] {
                let joined = hull.join_limited(&point(at, value), &limits());
                is_exact &= joined.is_exact();
                hull = joined.into_polyhedron();
            }
        }
        is_exact
    }

    #[test]
    fn operations_get_less_when_little_is_left() {
        let mut account = Account { left: 40_000_000, owed: 0 };
        assert_eq!(account.within(|| limits(6)), OperationLimits::default());
        assert!(account.within(|| cross(6, || limits(6))));
        assert!(account.left < 40_000_000);
        account.left = 0;
        let before = spent();
        assert!(!account.within(|| cross(6, || limits(6))));
        assert_eq!(account.left, 0);
        assert!(spent() > before, "what nobody has to pay for is counted");
        let at_first = Account { left: 0, owed: 0 }.within(|| limits(40)).work;
        let (most, later) = (limits(40).work, account.within(|| limits(40)).work);
        assert!(later < at_first && at_first < most, "{later}, {at_first}, {most}");
        assert_eq!(limits(6), OperationLimits::default());
        assert!(cross(6, || limits(6)));
    }
}
