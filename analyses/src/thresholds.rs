//! Thresholds: constraints at which widening may stop, before it gives up a bound.
//!
//! The types' bounds are always among them. Others are listed by the user, or taken from the guards.

use std::collections::BTreeSet;

use coreach_model::Iosts;
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};
use dashu_int::IBig;

use crate::domains::DomainKind;
use crate::domains::any::AnyDomain;
use crate::effect::{list_comparisons, project_guards};
use crate::frame::Frame;
use crate::linear::integer;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Thresholds {
    /// The comparisons of guards and initial condition, also with one more and one less. If they mention a
    /// parameter, they are projected to the variables before and after the transition.
    Auto,
    /// These numbers, as bounds of every number.
    List(Vec<IBig>),
}

/// Lists the constraints at which widening over the frame may stop, each once.
pub fn list_thresholds(
    domain: AnyDomain,
    iosts: &Iosts,
    frame: &Frame,
    wanted: &Thresholds,
) -> Vec<Constraint> {
    let mut thresholds = frame.bounds.clone();
    match wanted {
        Thresholds::List(numbers) => {
            for variable in (0..frame.dimensions()).map(LinearExpression::variable) {
                for number in numbers {
                    let number = LinearExpression::constant(Rational::from(integer(number)));
                    thresholds.push(Constraint::from_expression(&variable.minus(&number), Relation::AtLeast));
                    thresholds.push(Constraint::from_expression(&number.minus(&variable), Relation::AtLeast));
                }
            }
        }
        Thresholds::Auto => {
            let guards = iosts.transitions.iter().map(|transition| transition.guard.clone());
            let terms = std::iter::once(iosts.initial_condition.clone()).chain(guards);
            for atom in list_comparisons(frame, terms) {
                thresholds.extend(shifted_bounds(&atom));
            }
            // Only bounds of single numbers are used, and no very large ones. A threshold that a polyhedron
            // satisfies becomes one of its rows, and rows over several numbers, or with 64-bit constants,
            // make conversions explode.
            let projecting = match (domain.knows_congruences, domain.relates) {
                (false, _) => domain,
                // For a guard with many cases, a projection with congruences takes longer than the analysis.
                (true, true) => DomainKind::Polyhedra.implementation(),
                (true, false) => DomainKind::Interval.implementation(),
            };
            let projected = project_guards(projecting, frame, iosts);
            thresholds.extend(projected.into_iter().filter(is_bound));
        }
    }
    let mut seen = BTreeSet::new();
    thresholds.retain(|constraint| seen.insert(constraint.clone()));
    // Each threshold is tried at each widening, so there are at most 400.
    thresholds.truncate(400);
    thresholds
}

/// Is it a bound of one number, and not beyond 32 bits?
fn is_bound(constraint: &Constraint) -> bool {
    let is_small = constraint.constant().abs() < Integer::from(i64::from(i32::MAX));
    is_small && constraint.terms().count() == 1
}

/// Both half-spaces of a comparison, at its constant, one below and one above.
fn shifted_bounds(atom: &Constraint) -> Vec<Constraint> {
    let expression = atom.expression();
    let mut bounds = Vec::new();
    for offset in [-1i64, 0, 1] {
        let shifted = expression.plus(&LinearExpression::constant(Rational::from(Integer::from(offset))));
        bounds.push(Constraint::from_expression(&shifted, Relation::AtLeast));
        bounds.push(Constraint::from_expression(&shifted.times(&Rational::from(-1)), Relation::AtLeast));
    }
    bounds
}
