//! The lattice: inclusion, meet, join.
//!
//! Meet concatenates constraints, and join concatenates generators. Neither needs a conversion if these are
//! known. Inclusion needs the generators of the smaller side and any constraints of the larger one, so it
//! only evaluates.

use std::sync::Arc;

use crate::dense::{self, Dense, Recipe};
use crate::dual::{Constraints, Dual};
use crate::integer::Integer;
use crate::interval;
use crate::linear::{Constraint, Relation};

impl Dense {
    /// Inclusion: is every point of `self` a point of `other`?
    pub fn is_leq(&self, other: &Self) -> bool {
        self.assert_same_space(other);
        if let (Some(Some(a)), Some(Some(b))) = (self.known_dual(), other.known_dual())
            && Arc::ptr_eq(a, b)
        {
            return true;
        }
        other.is_known_universe()
            || self.is_empty()
            || other.some_constraints().all(|c| self.implies_row(c.row(), c.relation()))
    }

    /// Does every point satisfy the constraint? The row has an entry for each dimension.
    pub(crate) fn implies_row(&self, row: &[Integer], relation: Relation) -> bool {
        self.some_generators()
            .is_none_or(|mut generators| generators.all(|generator| dense::admits(row, relation, generator)))
    }

    /// The intersection.
    pub fn meet(&self, other: &Self) -> Self {
        self.assert_same_space(other);
        if self.is_known_empty() || other.is_known_universe() {
            return self.clone();
        }
        if other.is_known_empty() || self.is_known_universe() {
            return other.clone();
        }
        let size = |(base, _): &(Option<Arc<Dual>>, Constraints)| {
            base.as_ref().map_or(0, |base| base.constraints.len())
        };
        let (a, b) = (self.constraint_parts(), other.constraint_parts());
        // The larger known part is the base, so it is not converted again.
        let (larger, smaller) = if size(&a) >= size(&b) { (a, b) } else { (b, a) };
        let ((base, mut added), (other_base, other_added)) = (larger, smaller);
        added.extend(other_base.iter().flat_map(|dual| dual.constraints.iter().cloned()));
        added.extend(other_added);
        Self::of_source(self.dimensions(), Recipe::Constraints { base, added: Box::new(added) })
    }

    /// The points that also satisfy the constraints.
    /// Panics if a constraint mentions a dimension that does not exist.
    pub fn meet_constraints(&self, constraints: &[Constraint]) -> Self {
        let dimensions = self.dimensions();
        if self.is_known_empty() {
            return self.clone();
        }
        let mut fitted = Constraints::with_capacity(constraints.len());
        for constraint in constraints {
            let constraint = constraint.clone().fitted(dimensions);
            match constraint.trivial() {
                Some(true) => {}
                Some(false) => return Self::empty(dimensions),
                None => fitted.push(constraint),
            }
        }
        if fitted.is_empty() { self.clone() } else { self.meet_fitted(fitted) }
    }

    /// [`Dense::meet_constraints`] for constraints that have a variable, and one coefficient for each
    /// dimension.
    pub(crate) fn meet_fitted(&self, mut fitted: Constraints) -> Self {
        if self.is_known_empty() {
            return self.clone();
        }
        if self.dimensions() == 1
            && let Some(base) = self.known_dual()
        {
            return Self::of_dual(1, interval::from_constraints(base, &fitted));
        }
        let (base, mut added) = self.constraint_parts();
        added.append(&mut fitted);
        Self::of_source(self.dimensions(), Recipe::Constraints { base, added: Box::new(added) })
    }

    /// The smallest polyhedron (closed or not) that contains both.
    pub fn join(&self, other: &Self) -> Self {
        self.assert_same_space(other);
        if self.is_known_universe() {
            return self.clone();
        }
        if other.is_known_universe() {
            return other.clone();
        }
        let (Some(a), Some(b)) = (self.generator_parts(), other.generator_parts()) else {
            return if self.is_empty() { other.clone() } else { self.clone() };
        };
        // `other` was made from `self` by adding generators.
        if let ((Some(own_base), own_added), (Some(other_base), _)) = (&a, &b)
            && Arc::ptr_eq(own_base, other_base)
            && own_added.is_empty()
        {
            return other.clone();
        }
        let size = |(base, _): &(Option<Arc<Dual>>, _)| base.as_ref().map_or(0, |base| base.generators.len());
        let (larger, smaller) = if size(&a) >= size(&b) { (a, b) } else { (b, a) };
        let ((base, mut added), (other_base, other_added)) = (larger, smaller);
        added.extend(other_base.iter().flat_map(|dual| dual.generators.iter().cloned()));
        added.extend(other_added);
        Self::of_generators(self.dimensions(), base, added)
    }

    /// Is it known without conversion that it has every point?
    fn is_known_universe(&self) -> bool {
        self.known_constraints().is_some() && self.is_universe()
    }

    /// Is it known without conversion to be empty?
    pub(crate) fn is_known_empty(&self) -> bool {
        matches!(self.known_dual(), Some(None))
    }
}
