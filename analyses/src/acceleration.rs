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
//! **Why it is right**: the result contains the result of one time, so a solution of the accelerated
//! equations is a solution of the equations themselves. Descending steps use the latter.

use coreach_polyhedra::{Constraint, LinearExpression, Rational, Relation};

use crate::condition::Formula;
use crate::domains::Assignments;
use crate::domains::any::AnyElement;
use crate::effect::Update;

pub struct Repetition {
    /// The moved numbers, each with the amount.
    moves: Vec<(usize, Rational)>,
    /// Does the case also set numbers? They are the same from the first time on.
    pub sets: bool,
}

/// Reads what a case does each time. `None`: the case is not simple, or moves nothing.
pub fn find_repetition(case: &Update, dimensions: usize) -> Option<Repetition> {
    // A case with dimensions of its own is not simple.
    if !case.extra.is_empty() {
        return None;
    }
    let is_assigned = |dimension: usize| case.numeric.iter().any(|(assigned, _)| *assigned == dimension);
    let (mut moves, mut sets) = (Vec::new(), false);
    for (assigned, value) in &case.numeric {
        let value = value.as_ref()?;
        let change = value.minus(&LinearExpression::variable(*assigned));
        if (0..dimensions).all(|dimension| change.coefficient(dimension).is_zero()) {
            moves.push((*assigned, change.constant_term()));
            continue;
        }
        if (0..dimensions).any(|dimension| is_assigned(dimension) && !value.coefficient(dimension).is_zero())
        {
            return None;
        }
        sets = true;
    }
    moves.retain(|(_, change)| !change.is_zero());
    (!moves.is_empty()).then_some(Repetition { moves, sets })
}

impl Repetition {
    /// Takes an element forward, one or more times.
    pub fn go_forward(&self, case: &Update, from: &AnyElement, integer: &[bool]) -> AnyElement {
        let guarded = case.condition.meet(from.clone(), integer, integer.len());
        self.move_repeatedly(&guarded, 1, integer)
            .meet_constraints(&self.moved_guard(&case.condition), integer)
    }

    /// Takes an element backward, one or more times.
    pub fn go_backward(&self, case: &Update, to: &AnyElement, integer: &[bool]) -> AnyElement {
        let guarded = to.meet_constraints(&self.moved_guard(&case.condition), integer);
        case.condition.meet(self.move_repeatedly(&guarded, -1, integer), integer, integer.len())
    }

    /// Moves every vector one or more times: forward if `sign` is 1, backward if it is -1.
    fn move_repeatedly(&self, from: &AnyElement, sign: i64, integer: &[bool]) -> AnyElement {
        if from.is_bottom() {
            return from.clone();
        }
        let times = LinearExpression::variable(integer.len());
        let times_less_one = times.minus(&LinearExpression::constant(Rational::from(1)));
        let at_least_once = Constraint::from_expression(&times_less_one, Relation::AtLeast);
        let integer = [integer, &[true]].concat();
        let moves = self.moves.iter().map(|(dimension, amount)| {
            let change = times.times(&(amount * &Rational::from(sign)));
            (*dimension, Some(LinearExpression::variable(*dimension).plus(&change)))
        });
        let moves: Box<Assignments> = moves.collect();
        // Without congruences, the meet only tells the domain that the new dimension is an integer.
        let with_times = from.add_dimensions(1).meet_congruences(&[], &integer);
        with_times.meet_constraints(&[at_least_once], &integer).assign(&moves).remove_last_dimensions(1)
    }

    /// The constraints of the condition, moved once: they hold after each time.
    fn moved_guard(&self, condition: &Formula) -> Vec<Constraint> {
        let shift = |constraint: &Constraint| {
            let mut shifted = constraint.expression();
            for (dimension, amount) in &self.moves {
                let change = shifted.coefficient(*dimension).clone() * amount.clone();
                shifted = shifted.minus(&LinearExpression::constant(change));
            }
            Constraint::from_expression(&shifted, constraint.relation())
        };
        condition.linear_part().iter().map(shift).collect()
    }
}
