//! The domain that sees no data: an element is "reached" or "not reached".
//!
//! With it the analyses compute reachability in the graph of transitions (thesis, Example 7.5). Only the
//! literal guard `false` closes a transition.

use coreach_polyhedra::Constraint;

use crate::domains::{Assignments, Domain};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Control {
    reached: bool,
}

impl Domain for Control {
    const SEES_DATA: bool = false;
    const RELATES: bool = false;

    fn top(_: usize) -> Self {
        Control { reached: true }
    }

    fn bottom(_: usize) -> Self {
        Control { reached: false }
    }

    fn is_bottom(&self) -> bool {
        !self.reached
    }

    fn is_leq(&self, other: &Self) -> bool {
        !self.reached || other.reached
    }

    fn join(&self, other: &Self) -> Self {
        Control { reached: self.reached || other.reached }
    }

    fn meet(&self, other: &Self, _: &[bool]) -> Self {
        Control { reached: self.reached && other.reached }
    }

    fn widen(&self, other: &Self, _: &[Constraint]) -> Self {
        self.join(other)
    }

    fn meet_constraints(&self, constraints: &[Constraint], _: &[bool]) -> Self {
        let closed =
            constraints.iter().any(|constraint| crate::linear::constant_truth(constraint) == Some(false));
        Control { reached: self.reached && !closed }
    }

    fn assign(&self, _: &Assignments) -> Self {
        *self
    }

    fn substitute(&self, _: &Assignments) -> Self {
        *self
    }

    fn forget(&self, _: &[usize]) -> Self {
        *self
    }

    fn add_dimensions(&self, _: usize) -> Self {
        *self
    }

    fn remove_last_dimensions(&self, _: usize) -> Self {
        *self
    }

    fn constraints(&self) -> Vec<Constraint> {
        Vec::new()
    }
}
