//! Widening of one block: the standard widening of [`crate::widening`], decided by generators.
//!
//! A constraint of `other` is kept if it is saturated by exactly the same generators of `self` as a
//! constraint of `self`. The head of [`crate::widening`] describes the source, the strict constraints, and
//! why it ends. Tests compare the two.

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

    /// The widening, intersected with those thresholds that `other` (and so `self`) satisfies. Still ends:
    /// there are finitely many thresholds. Precondition as for [`Dense::widen`].
    /// Panics if a threshold mentions a dimension that does not exist.
    pub fn widen_with_thresholds(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        let kept: Vec<Constraint> =
            thresholds.iter().filter(|&threshold| other.implies(threshold)).cloned().collect();
        let widened = self.widen(other);
        if kept.is_empty() { widened } else { widened.meet_constraints(&kept) }
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
