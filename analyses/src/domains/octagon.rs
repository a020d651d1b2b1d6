//! Octagons (Miné, HOSC 2006, <https://doi.org/10.1007/s10990-006-8609-1>): bounds of `x` and of `x + y`,
//! `x - y`.
//!
//! `coreach-octagon` does the work. Here it is decided when to round: integer dimensions are rounded at every
//! meet, and never at a join or a widening. Rounding a widened element could undo the step that makes the
//! iteration end. Everything is polynomial, so there are no limits.

use coreach_polyhedra::Constraint;

use crate::domains::{Assignments, Domain};

#[derive(Clone, Debug)]
pub struct Octagons(coreach_octagon::Octagon);

impl Domain for Octagons {
    fn top(dimensions: usize) -> Self {
        Self(coreach_octagon::Octagon::universe(dimensions))
    }

    fn bottom(dimensions: usize) -> Self {
        Self(coreach_octagon::Octagon::empty(dimensions))
    }

    fn is_bottom(&self) -> bool {
        self.0.is_empty()
    }

    fn is_leq(&self, other: &Self) -> bool {
        self.0.is_leq(&other.0)
    }

    fn join(&self, other: &Self) -> Self {
        Self(self.0.join(&other.0))
    }

    fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        Self(self.0.meet(&other.0, integer))
    }

    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        Self(self.0.widen(&other.0, thresholds))
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        Self(self.0.meet_constraints(constraints, integer))
    }

    fn assign(&self, assignments: &Assignments) -> Self {
        Self(self.0.assign(assignments))
    }

    fn substitute(&self, assignments: &Assignments) -> Self {
        Self(self.0.substitute(assignments))
    }

    fn forget(&self, dimensions: &[usize]) -> Self {
        Self(self.0.forget(dimensions))
    }

    fn add_dimensions(&self, count: usize) -> Self {
        Self(self.0.add_dimensions(count))
    }

    fn remove_last_dimensions(&self, count: usize) -> Self {
        Self(self.0.remove_last_dimensions(count))
    }

    fn constraints(&self) -> Vec<Constraint> {
        self.0.constraints()
    }
}
