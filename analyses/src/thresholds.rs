//! Where widening may stop: constraints that it tries before it gives a bound up.
//!
//! The types' bounds are always among them. What else is worth trying the user lists, or the guards say.

use std::collections::BTreeSet;

use coreach_model::Iosts;
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};
use dashu_int::IBig;

use crate::domains::Domain;
use crate::domains::interval::Interval;
use crate::domains::polyhedra::Polyhedra;
use crate::effect::{atoms, projections};
use crate::frame::Frame;
use crate::linear::{integer, positive_constraint};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Thresholds {
    /// The comparisons of guards and initial condition, and one more and one less; where they mention a
    /// parameter, what they say of the variables before and behind the transition.
    Auto,
    /// These numbers, as bounds of every number.
    List(Vec<IBig>),
}

/// The constraints at which widening over the frame may stop, each once.
pub fn thresholds<D: Domain>(iosts: &Iosts, frame: &Frame, wanted: &Thresholds) -> Vec<Constraint> {
    let mut found = frame.bounds.clone();
    match wanted {
        Thresholds::List(numbers) => {
            for (dimension, number) in
                (0..frame.dimensions()).flat_map(|dimension| numbers.iter().map(move |n| (dimension, n)))
            {
                let variable = LinearExpression::variable(dimension);
                let number = LinearExpression::constant(Rational::from(integer(number)));
                found.push(positive_constraint(&variable.minus(&number), Relation::AtLeast));
                found.push(positive_constraint(&number.minus(&variable), Relation::AtLeast));
            }
        }
        Thresholds::Auto => {
            let guards = iosts.transitions.iter().map(|transition| transition.guard.clone());
            let terms = std::iter::once(iosts.initial_condition.clone()).chain(guards);
            for atom in atoms(frame, terms) {
                found.extend(around(&atom));
            }
            // Bounds by numbers that somebody counts to, and no others: each threshold that a polyhedron
            // satisfies is a row of it from then on, and rows over several numbers, or with the ends of 64
            // bits, make conversions explode.
            let projected = match (D::KNOWS_CONGRUENCES, D::RELATES) {
                (false, _) => projections::<D>(frame, iosts),
                // What congruences know besides of a guard with many cases takes longer than the analysis.
                (true, true) => projections::<Polyhedra>(frame, iosts),
                (true, false) => projections::<Interval>(frame, iosts),
            };
            found.extend(projected.into_iter().filter(is_bound));
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|constraint| seen.insert(constraint.clone()));
    // The most thresholds that are read off a model: each is tried at each widening.
    found.truncate(400);
    found
}

/// Is it about one number, and no end of a machine's words?
fn is_bound(constraint: &Constraint) -> bool {
    let largest = Integer::from(i64::from(i32::MAX));
    let is_small = *constraint.constant() < largest && -constraint.constant().clone() < largest;
    is_small && constraint.coefficients().iter().filter(|coefficient| !coefficient.is_zero()).count() == 1
}

/// Both sides of an atom, at its constant and one beside it.
fn around(atom: &Constraint) -> Vec<Constraint> {
    let expression = atom.expression();
    let mut found = Vec::new();
    for offset in [-1i64, 0, 1] {
        let shifted = expression.plus(&LinearExpression::constant(Rational::from(Integer::from(offset))));
        found.push(positive_constraint(&shifted, Relation::AtLeast));
        found.push(positive_constraint(&shifted.times(&Rational::from(-1)), Relation::AtLeast));
    }
    found
}
