//! Transfer within limits: assignments and rounding to integers that never hang.
//!
//! An assignment that is no bijection needs generators. If it relates blocks whose product has too many
//! generators, the assigned dimensions only keep the bounds of their right sides. Over a product these are
//! sums of the blocks' own bounds ([`crate::query`]), so their cost is proportional to the size of the
//! arguments. Sums and differences of two dimensions that have a single value are kept as well, so two
//! counters that move together still do. Forgetting and removing dimensions, substitution and widening need
//! no conversion if both descriptions of their arguments are known. For them it is enough to call
//! [`Polyhedron::convert_limited`] before and after.

use crate::limits::{Approx, OperationLimits};
use crate::linear::{Constraint, LinearExpression, Relation};
use crate::polyhedron::Polyhedron;

impl Polyhedron {
    /// [`Polyhedron::assign`] with both descriptions of the result, computed within the limits. If they do
    /// not suffice, the result is a polyhedron around the image.
    /// Panics if a dimension is assigned twice, or a mentioned one does not exist.
    pub fn assign_limited(
        &self,
        assignments: &[(usize, LinearExpression)],
        limits: &OperationLimits,
    ) -> Approx {
        let start = self.convert_limited(limits);
        let was_exact = start.is_exact();
        let start = start.into_polyhedron();
        if let Ok(image) = start.assign_within(assignments, &limits.budget()) {
            let converted = image.convert_limited(limits);
            let is_exact = was_exact && converted.is_exact();
            return Approx::of(converted.into_polyhedron(), is_exact);
        }
        let targets: Vec<usize> = assignments.iter().map(|(target, _)| *target).collect();
        let mut known: Vec<Constraint> = Vec::new();
        for (target, expression) in assignments {
            known.extend(start.bounds(expression).constraints(&LinearExpression::variable(*target)));
        }
        known.extend(equal_values(&start, assignments));
        let others = start.forget(&targets).convert_limited(limits).into_polyhedron();
        Approx::Coarser(others.meet_constraints(&known).convert_limited(limits).into_polyhedron())
    }

    /// [`Polyhedron::tighten`] as far as the limits suffice: a block that would need more is left as it was.
    /// Both descriptions of the result are known if those of `self` are.
    pub fn tighten_limited(&self, integer: &[bool], limits: &OperationLimits) -> Self {
        self.tighten_within(integer, &limits.budget())
    }
}

/// Lists the sums and differences of an assigned dimension and another one that have a single value after the
/// assignments.
fn equal_values(start: &Polyhedron, assignments: &[(usize, LinearExpression)]) -> Vec<Constraint> {
    let place_of = |at: usize| assignments.iter().position(|(target, _)| *target == at);
    let mut constraints = Vec::new();
    for (place, (target, value)) in assignments.iter().enumerate() {
        for other in 0..start.dimensions() {
            let other_value = match place_of(other) {
                // This pair was treated already.
                Some(before) if before <= place => continue,
                Some(later) => assignments[later].1.clone(),
                None => LinearExpression::variable(other),
            };
            let (left, right) = (LinearExpression::variable(*target), LinearExpression::variable(other));
            for (after, before) in [
                (left.minus(&right), value.minus(&other_value)),
                (left.plus(&right), value.plus(&other_value)),
            ] {
                let bounds = start.bounds(&before);
                if let (Some((lower, _)), Some((upper, _))) = (bounds.lower, bounds.upper)
                    && lower == upper
                {
                    let distance = after.minus(&LinearExpression::constant(lower));
                    constraints.push(Constraint::from_expression(&distance, Relation::Equal));
                }
            }
        }
    }
    constraints
}
