//! Limits: a result in bounded space, exact or coarser, and saying which.
//!
//! The number of generators of a polyhedron may be exponential in the number of its constraints
//! and conversely, and joins do explode in practice. A caller that cannot wait gives the number of
//! rows (lines and rays held at one time by a conversion). Where they do not suffice,
//!
//! * a polyhedron made from constraints leaves out those constraints that would need more;
//! * a join becomes the weak join - the constraints of either side that both satisfy - and the
//!   smallest box around both. These are constraints again, treated as above, the box first.
//!
//! Both contain the exact result, so an over-approximating analysis stays sound.

use crate::conversion::Exceeded;
use crate::dual;
use crate::linear::{Constraint, LinearExpression, Relation};
use crate::polyhedron::Polyhedron;
use crate::rational::Rational;

/// What an operation may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lines, rays and corners a result may have, and rows of the computed side that a conversion
    /// may hold at one time. A space's dimension plus one are always allowed, as nothing can be
    /// represented by fewer.
    pub rows: usize,
}

impl Default for Limits {
    /// Rows enough for all but exploding cases, and few enough to end within about a second.
    fn default() -> Self {
        Self { rows: 2000 }
    }
}

/// A result together with whether it is exact.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The result.
    Exact(Polyhedron),
    /// A polyhedron that contains the result, which exceeded the limits.
    Coarser(Polyhedron),
}

impl Outcome {
    /// The polyhedron, exact or coarser.
    #[must_use]
    pub fn into_polyhedron(self) -> Polyhedron {
        match self {
            Self::Exact(polyhedron) | Self::Coarser(polyhedron) => polyhedron,
        }
    }

    /// The polyhedron, exact or coarser.
    #[must_use]
    pub fn polyhedron(&self) -> &Polyhedron {
        match self {
            Self::Exact(polyhedron) | Self::Coarser(polyhedron) => polyhedron,
        }
    }

    /// Whether nothing was lost.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::Exact(_))
    }

    fn of(polyhedron: Polyhedron, is_exact: bool) -> Self {
        if is_exact { Self::Exact(polyhedron) } else { Self::Coarser(polyhedron) }
    }
}

impl Polyhedron {
    /// The polyhedron with both descriptions computed, so that questions about it are cheap, or a
    /// coarser one for which the limits suffice.
    #[must_use]
    pub fn convert_limited(&self, limits: &Limits) -> Outcome {
        match self.dual_within(limits.rows) {
            Ok(_) => Outcome::Exact(self.clone()),
            Err(Exceeded) => Outcome::Coarser(self.coarsened(limits)),
        }
    }

    /// A polyhedron around `self`, whose conversion exceeds the limits.
    fn coarsened(&self, limits: &Limits) -> Self {
        if self.known_constraints().is_none() {
            // Known by generators: a box around them needs no conversion to be computed.
            return within(self.dimensions(), &self.box_around(), limits).0;
        }
        let constraints: Vec<Constraint> = self.some_constraints().cloned().collect();
        let constraints: Vec<Constraint> = dual::in_order(&constraints).into_iter().cloned().collect();
        within(self.dimensions(), &constraints, limits).0
    }

    /// The intersection with both descriptions computed within the limits, or a polyhedron around
    /// it.
    #[must_use]
    pub fn meet_limited(&self, other: &Self, limits: &Limits) -> Outcome {
        let (a, b) = (self.convert_limited(limits), other.convert_limited(limits));
        let is_exact = a.is_exact() && b.is_exact();
        let met = a.polyhedron().meet(b.polyhedron()).convert_limited(limits);
        Outcome::of(met.polyhedron().clone(), is_exact && met.is_exact())
    }

    /// The join, or a polyhedron around it.
    #[must_use]
    pub fn join_limited(&self, other: &Self, limits: &Limits) -> Outcome {
        self.assert_same_space(other);
        let (a, b) = (self.convert_limited(limits), other.convert_limited(limits));
        let is_exact = a.is_exact() && b.is_exact();
        let (a, b) = (a.into_polyhedron(), b.into_polyhedron());
        let joined = a.join(&b);
        if joined.dual_within(limits.rows).is_ok() {
            return Outcome::of(joined, is_exact);
        }
        // The box before the rest: its constraints bound every dimension, with few rows at first.
        let mut constraints = joined.box_around();
        let (of_a, of_b) = (a.some_constraints(), b.some_constraints());
        for (mine, theirs) in of_a.map(|c| (c, &b)).chain(of_b.map(|c| (c, &a))) {
            for half in halves(mine) {
                if theirs.implies_fitted(&half) {
                    constraints.push(half);
                }
            }
        }
        Outcome::Coarser(within(self.dimensions(), &constraints, limits).0)
    }

    /// The constraints of the smallest box around a non-empty polyhedron whose generators are known.
    fn box_around(&self) -> Vec<Constraint> {
        let mut constraints = Vec::new();
        for dimension in 0..self.dimensions() {
            let variable = LinearExpression::variable(dimension);
            let bounds = self.bounds(&variable);
            let mut bound = |value: Option<(Rational, bool)>, is_lower: bool| {
                let Some((value, attained)) = value else { return };
                let constant = LinearExpression::constant(value);
                let distance = if is_lower { variable.minus(&constant) } else { constant.minus(&variable) };
                let relation = if attained { Relation::AtLeast } else { Relation::Greater };
                constraints.push(Constraint::from_expression(&distance, relation).fitted(self.dimensions()));
            };
            bound(bounds.lower, true);
            bound(bounds.upper, false);
        }
        constraints
    }
}

/// An inequality itself, an equality's two sides; a strict one also in its closed form, which the
/// other side may satisfy although it does not satisfy the strict one.
fn halves(constraint: &Constraint) -> Vec<Constraint> {
    match constraint.relation() {
        Relation::AtLeast => vec![constraint.clone()],
        Relation::Greater => vec![constraint.clone(), constraint.with_relation(Relation::AtLeast)],
        Relation::Equal => {
            let mut both = vec![constraint.with_relation(Relation::AtLeast)];
            both.extend(constraint.with_relation(Relation::Greater).negated());
            both
        }
    }
}

/// The polyhedron of those constraints for which the limits suffice, taken in order; whether they
/// were all.
fn within(dimensions: usize, constraints: &[Constraint], limits: &Limits) -> (Polyhedron, bool) {
    let (dual, complete) = dual::from_constraints_within(dimensions, constraints, limits.rows);
    (Polyhedron::of_dual(dimensions, dual.map(std::sync::Arc::new)), complete)
}
