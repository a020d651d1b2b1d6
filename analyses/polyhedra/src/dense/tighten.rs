//! Integer tightening: strengthens constraints whose variables are integers.
//!
//! `c x + k >= 0` with integer `x` and `g = gcd(c)` means `(c/g) x >= ceil(-k/g)`. A strict constraint
//! becomes the closed one of the next integer. An equality whose `g` does not divide `k` has no solution.
//! This is sound, but the integer hull may be smaller still. Each round may show new facets or equalities, so
//! rounds are repeated while something changes, up to a small number: more rounds could take very long and
//! gain little.

use crate::budget::{Exceeded, RowBudget};
use crate::dense::Dense;
use crate::linear::Constraint;

impl Dense {
    /// A polyhedron within `self` that still has all points of `self` whose dimensions marked in `integer`
    /// have integer values. Dimensions beyond the end of `integer` are not marked.
    pub fn tighten(&self, integer: &[bool]) -> Self {
        self.tighten_within(integer, &RowBudget::unlimited())
    }

    /// [`Dense::tighten`], which stops at the last result that is converted when the budget is used up.
    pub(crate) fn tighten_within(&self, integer: &[bool], budget: &RowBudget) -> Self {
        if self.is_known_empty() || !integer.contains(&true) {
            return self.clone();
        }
        let (mut previous, mut current) = (self.clone(), self.clone());
        // Round 0 tightens the constraints as they are written, because the canonical form may have replaced
        // an integer variable by a rational one. After the last round the polyhedron is taken as it is.
        for round in 0..=4 {
            if round > 0 {
                match current.dual_within(budget) {
                    Ok(Some(_)) => {}
                    Ok(None) => return current,
                    Err(Exceeded) => return previous,
                }
            } else if current.known_constraints().is_none() {
                continue;
            }
            let constraints = current.some_constraints();
            let stronger: Vec<Constraint> =
                constraints.filter_map(|constraint| constraint.rounded_to_integers(integer)).collect();
            if !stronger.is_empty() {
                let met = current.meet_constraints(&stronger);
                previous = core::mem::replace(&mut current, met);
            } else if round > 0 {
                break;
            }
        }
        // Within a limit, the result is converted.
        if budget.is_limited() && current.dual_within(budget).is_err() { previous } else { current }
    }
}
