//! Widening: joins that stop growing.
//!
//! **Problem.** A fixpoint iteration over polyhedra may climb for ever. Widening replaces the join
//! so that every chain `p, p widen q1, (p widen q1) widen q2, ..` becomes stationary.
//!
//! **Algorithm**: the standard widening of P. Cousot and N. Halbwachs (1978,
//! <https://doi.org/10.1145/512760.512770>) in the form of Halbwachs' thesis (1979). The result has
//!
//! * the constraints of `self` that `other` satisfies, and
//! * those constraints of `other` that `self` could have had in place of one of its own: they are
//!   saturated by exactly the same generators of `self`.
//!
//! The second part makes the result independent of how `self` is written. The equalities of `self`
//! count as two inequalities each.
//!
//! **Strictness.** The above is done on the closures. A constraint kept is strict if it is strict in `other`,
//! and was so in `self` (for the second part: if the constraint replaced was strict). A strict constraint of
//! `self` that is no facet is kept if `other` satisfies it and all the facets it is the sum of.
//!
//! **Why it ends.** On closures it is the standard widening, so the closures become stationary
//! (dimension, and then number of facets, can only change finitely often). From then on the facets
//! are the same, and the strict constraints of each element are among those of the one before.

use crate::bits::Bits;
use crate::dense::Dense;
use crate::dual::{Dual, Generator};
use crate::linear::{Constraint, Relation};
use crate::row;

impl Dense {
    /// The standard widening (Halbwachs 1979).
    ///
    /// **Precondition:** `self` is included in `other`; the caller ensures it, usually by
    /// `self.widen(&self.join(&other))`. Without it the result still contains `other`, but not
    /// necessarily `self`.
    pub fn widen(&self, other: &Self) -> Self {
        self.assert_same_space(other);
        let (Some(old), Some(new)) = (self.dual(), other.dual()) else {
            return other.clone();
        };
        Self::from_fitted(self.dimensions(), widening_constraints(old, new, other).into())
    }

    /// The widening, intersected with those thresholds that `other` (and so `self`) satisfies.
    ///
    /// Still ends: there are finitely many thresholds. Precondition as for [`Dense::widen`].
    /// Panics if a threshold mentions a dimension that does not exist.
    pub fn widen_with_thresholds(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        let kept: Vec<Constraint> =
            thresholds.iter().filter(|&threshold| other.implies(threshold)).cloned().collect();
        let widening_constraints = self.widen(other);
        if kept.is_empty() { widening_constraints } else { widening_constraints.meet_constraints(&kept) }
    }
}

/// Returns the constraints of the widening: those of the old polyhedron that the new one satisfies, and those
/// of the new one that are on the same face of the old one.
fn widening_constraints(old: &Dual, new: &Dual, other: &Dense) -> Vec<Constraint> {
    let generators = old.closure_generators();
    // The first part, and what the second part may replace: faces of the old closure.
    let mut result = Vec::new();
    let mut faces: Vec<(Bits, bool)> = Vec::new();
    for constraint in old.closure_constraints() {
        let is_strict = constraint.relation() == Relation::Greater;
        faces.push((saturating_generators(constraint, generators), is_strict));
        if constraint.relation() == Relation::Equal {
            let closed = |constraint: &Constraint| constraint.with_relation(Relation::AtLeast);
            let opposite = constraint.with_relation(Relation::Greater).negated();
            let halves = core::iter::once(closed(constraint)).chain(opposite);
            result.extend(halves.filter(|half| other.implies_fitted(half)));
        } else if other.implies_fitted(constraint) {
            result.push(constraint.clone());
        } else if is_strict {
            let closed = constraint.with_relation(Relation::AtLeast);
            result.extend(other.implies_fitted(&closed).then_some(closed));
        }
    }
    for constraint in new.closure_constraints() {
        let face = saturating_generators(constraint, generators);
        let mut same = faces.iter().filter(|(old_face, _)| *old_face == face).peekable();
        if same.peek().is_none() {
            continue;
        }
        let was_strict = same.any(|(_, is_strict)| *is_strict);
        result.push(match constraint.relation() {
            Relation::Greater if !was_strict => constraint.with_relation(Relation::AtLeast),
            _ => constraint.clone(),
        });
    }
    for extra in old.extra_constraints() {
        let face = saturating_generators(extra, generators);
        let mut through = old.closure_constraints()[old.equalities..]
            .iter()
            .filter(|facet| face.is_subset(&saturating_generators(facet, generators)));
        if other.implies_fitted(extra) && through.all(|facet| other.implies_fitted(facet)) {
            result.push(extra.clone());
        }
    }
    result
}

fn saturating_generators(constraint: &Constraint, generators: &[Generator]) -> Bits {
    let mut set = Bits::default();
    for (index, generator) in generators.iter().enumerate() {
        if row::dot(constraint.row(), &generator.row).is_zero() {
            set.insert(index);
        }
    }
    set
}
