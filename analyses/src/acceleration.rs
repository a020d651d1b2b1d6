//! Acceleration: the result of a simple loop, in one step.
//!
//! **Problem.** Widening guesses where a loop ends that moves a state by the same amount each time. A guess
//! that is too large may go round a second loop before narrowing corrects it.
//!
//! **Source.** Abstract acceleration (Gonnord and Halbwachs, SAS 2006,
//! <https://doi.org/10.1007/11823230_10>). A case of a transition from a location to itself is *simple* where
//! each number that it changes is moved by a constant, or set to an expression over numbers that the case
//! does not change. Let P be a convex element, G the guard and d the amount. All states that P comes to after
//! one or more times lie in `{ x + n * d | x in P, G(x), n >= 1 }`, and each of them is a state of G moved by
//! `d`. The number of times is a dimension of its own that is projected away, so any domain can do it.
//! Backward is alike.
//!
//! **Where we differ**: a number that is set has its value after the first time, so the element after the
//! first time is accelerated. Cases with parameters, and cases that change finite data, are left to widening.
//!
//! **Why it is right**: the result contains the result of one time, so a solution of the accelerated
//! equations is a solution of the equations themselves. Descending steps use the latter.

use coreach_polyhedra::{Constraint, LinearExpression, Rational, Relation};

use crate::condition::Condition;
use crate::domains::{Assignments, Domain};
use crate::effect::Case;

pub struct Repetition {
    /// The moved numbers, each with the amount.
    moves: Vec<(usize, Rational)>,
    /// Does the case also set numbers? They are the same from the first time on.
    pub sets: bool,
}

/// Reads what a case does each time. `None`: the case is not simple, or moves nothing.
pub fn find_repetition(case: &Case, dimensions: usize) -> Option<Repetition> {
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
    /// Takes an element forward, one or more times.
    pub fn go_forward<D: Domain>(&self, case: &Case, from: &D, integer: &[bool]) -> D {
        let guarded = case.condition.meet(from.clone(), integer, integer.len());
        self.move_repeatedly(&guarded, 1, integer)
            .meet_constraints(&self.moved_guard(&case.condition), integer)
    }

    /// Takes an element backward, one or more times.
    pub fn go_backward<D: Domain>(&self, case: &Case, to: &D, integer: &[bool]) -> D {
        let guarded = to.meet_constraints(&self.moved_guard(&case.condition), integer);
        case.condition.meet(self.move_repeatedly(&guarded, -1, integer), integer, integer.len())
    }

    /// Moves every vector one or more times: forward if `way` is 1, backward if it is -1.
    fn move_repeatedly<D: Domain>(&self, from: &D, way: i64, integer: &[bool]) -> D {
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

    /// The constraints of the condition, moved once: they hold after each time.
    fn moved_guard(&self, condition: &Condition) -> Vec<Constraint> {
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
