//! Congruences as a domain: parities, and the classes of linear forms. [`crate::grid`] has the algebra.
//!
//! Only equalities are kept of the constraints.
//!
//! **Widening**: if all numbers are integers, there is nothing to do. A chain of growing elements loses an
//! equality or divides a modulus each time, so it ends. A modulus of real numbers can be halved for ever. So
//! widening keeps the congruences of integers only. In a growing chain no real number becomes an integer.

use coreach_polyhedra::Constraint;

use crate::domains::{Assignments, Domain};
use crate::grid::{Congruence, Grid};
use crate::linear::constant_truth;

impl Domain for Grid {
    const KNOWS_CONGRUENCES: bool = true;

    fn top(dimensions: usize) -> Self {
        Grid::all(dimensions)
    }

    fn bottom(dimensions: usize) -> Self {
        Grid::none(dimensions)
    }

    fn is_bottom(&self) -> bool {
        self.is_none()
    }

    fn is_leq(&self, other: &Self) -> bool {
        self.is_leq(other)
    }

    fn join(&self, other: &Self) -> Self {
        self.join(other)
    }

    fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        self.meet(other).with_integers(integer)
    }

    fn widen(&self, other: &Self, _: &[Constraint]) -> Self {
        other.congruent_in(&other.whole_dimensions())
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        if constraints.iter().any(|constraint| constant_truth(constraint) == Some(false)) {
            return Grid::none(self.dimensions());
        }
        self.with(constraints, &[]).with_integers(integer)
    }

    fn meet_congruences(self, congruences: &[Congruence], integer: &[bool]) -> Self {
        self.with(&[], congruences).with_integers(integer).congruent_in(integer)
    }

    fn assign(&self, assignments: &Assignments) -> Self {
        self.image(assignments)
    }

    fn substitute(&self, assignments: &Assignments) -> Self {
        self.preimage(assignments)
    }

    fn forget(&self, dimensions: &[usize]) -> Self {
        self.image(&dimensions.iter().map(|at| (*at, None)).collect::<Vec<_>>())
    }

    fn add_dimensions(&self, count: usize) -> Self {
        self.longer(count)
    }

    fn remove_last_dimensions(&self, count: usize) -> Self {
        self.project(&(0..self.dimensions() - count).collect::<Vec<_>>())
    }

    fn constraints(&self) -> Vec<Constraint> {
        self.equalities()
    }

    fn congruences(&self) -> Vec<Congruence> {
        self.congruences()
    }
}
