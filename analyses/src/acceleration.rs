//! Acceleration: what a simple loop comes to, in one step.
//!
//! **Problem.** A loop that moves a state by the same amount each time is followed by widening, which guesses
//! where it ends, and what was guessed too large may go round a second loop before narrowing sees it.
//!
//! **Source.** Abstract acceleration (Gonnord and Halbwachs, SAS 2006,
//! <https://doi.org/10.1007/11823230_10>). A case of a transition from a location to itself is *simple* where
//! each number that it changes is moved by a constant, or set to what the case does not change. All states
//! that a convex element P comes to after one or more times, the guard being G and the amount d, lie in
//! `{ x + n * d | x in P, G(x), n >= 1 }`, and each of them stands one `d` behind a state in G. The number of
//! times is a dimension of its own that is projected away, so that any domain can do it. Backward likewise.
//!
//! **Where we differ**: what is set is set by the first time, so the element behind that one is accelerated.
//! Cases with parameters, and such as change finite data, are left to widening.
//!
//! **Why it is right**: the result contains what one time comes to, so that a solution of the accelerated
//! equations is one of the equations themselves; descending steps are made with these.

use coreach_polyhedra::{Constraint, LinearExpression, Rational, Relation};

use crate::condition::Condition;
use crate::domains::{Assignments, Domain};
use crate::effect::Case;

pub struct Repetition {
    /// By how much each number is moved.
    moves: Vec<(usize, Rational)>,
    /// It sets numbers besides, which are the same from the first time on.
    pub sets: bool,
}

/// What the case does each time, where it is simple and moves something.
pub fn repetition(case: &Case, dimensions: usize) -> Option<Repetition> {
    let is_assigned = |at: usize| case.numeric.iter().any(|(assigned, _)| *assigned == at);
    let (mut moves, mut sets) = (Vec::new(), false);
    for (at, value) in case.numeric.iter().filter(|_| case.extra.is_empty()) {
        let value = value.as_ref()?;
        let change = value.minus(&LinearExpression::variable(*at));
        if (0..dimensions).all(|other| change.coefficient(other).is_zero()) {
            moves.push((*at, change.constant_term()));
        } else if (0..dimensions).any(|other| is_assigned(other) && !value.coefficient(other).is_zero()) {
            return None;
        } else {
            sets = true;
        }
    }
    moves.retain(|(_, change)| !change.is_zero());
    (!moves.is_empty()).then_some(Repetition { moves, sets })
}

impl Repetition {
    /// What `from` comes to by one or more times.
    pub fn ahead<D: Domain>(&self, case: &Case, from: &D, integer: &[bool]) -> D {
        let there = case.condition.meet(from.clone(), integer, integer.len());
        self.moved(&there, 1, integer).meet_constraints(&self.behind(&case.condition), integer)
    }

    /// What comes to `to` by one or more times.
    pub fn back<D: Domain>(&self, case: &Case, to: &D, integer: &[bool]) -> D {
        let there = to.meet_constraints(&self.behind(&case.condition), integer);
        case.condition.meet(self.moved(&there, -1, integer), integer, integer.len())
    }

    /// Every vector moved once or more often, ahead or back.
    fn moved<D: Domain>(&self, from: &D, way: i64, integer: &[bool]) -> D {
        if from.is_bottom() {
            return from.clone();
        }
        let times = LinearExpression::variable(integer.len());
        let is_once = times.minus(&LinearExpression::constant(Rational::from(1)));
        let is_once = Constraint::from_expression(&is_once, Relation::AtLeast);
        let with_times = [integer, &[true]].concat();
        let moves = self.moves.iter().map(|(at, by)| {
            let by = times.times(&(by * &Rational::from(way)));
            (*at, Some(LinearExpression::variable(*at).plus(&by)))
        });
        let moves: Box<Assignments> = moves.collect();
        let all = from.add_dimensions(1).meet_congruences(&[], &with_times);
        all.meet_constraints(&[is_once], &with_times).assign(&moves).remove_last_dimensions(1)
    }

    fn behind(&self, condition: &Condition) -> Vec<Constraint> {
        let linear = match condition {
            Condition::Linear(constraints) => constraints,
            Condition::And(parts) => match parts.first() {
                Some(Condition::Linear(constraints)) => constraints,
                _ => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        let shifted = |constraint: &Constraint| {
            let expression = constraint.expression();
            let by = |(at, by): &(usize, Rational)| expression.coefficient(*at).clone() * by.clone();
            let by = self.moves.iter().map(by).fold(Rational::ZERO, |sum, one| sum + one);
            Constraint::from_expression(
                &expression.minus(&LinearExpression::constant(by)),
                constraint.relation(),
            )
        };
        linear.iter().map(shifted).collect()
    }
}
