//! Two domains at once: a vector is in the element if it is in both parts.
//!
//! A product in the sense of Cousot & Cousot (POPL 1979, <https://doi.org/10.1145/567752.567778>, section
//! 10.1): the order and the operations are those of the parts, and an element is empty as soon as one of them
//! is. After a meet with constraints, each part gets the constraints of the other (a step of the reduction).
//! This happens nowhere else: a reduction after a join or a widening could undo the step that makes the
//! iteration end, and so could rounding.
//!
//! If one part knows congruences, there is a second step: a bound of a linear form that lies between two
//! values of the form's class moves to the next value. `x >= 3` of an even `x` is `x >= 4`.

use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};

use crate::domains::{Assignments, Domain};
use crate::grid::{Congruence, Grid};

#[derive(Clone, Debug)]
pub struct Both<A, B>(A, B);

impl<A: Domain, B: Domain> Both<A, B> {
    fn map(&self, first: impl FnOnce(&A) -> A, second: impl FnOnce(&B) -> B) -> Self {
        Both(first(&self.0), second(&self.1))
    }

    /// Lets each part use what the other knows. Each part gets the other's constraints. Then a bound between
    /// two values of its class of integers moves to the next value.
    fn reduce(self, integer: &[bool]) -> Self {
        if self.is_bottom() {
            return self;
        }
        let Both(first, second) = self;
        // Without classes of integers there is only the first step, whose meets cost little.
        if !Self::KNOWS_CONGRUENCES || !integer.contains(&true) {
            let second = second.meet_constraints(&first.constraints(), integer);
            let first = first.meet_constraints(&second.constraints(), integer);
            return Both(first, second);
        }
        let second = meet_new(second, &first.constraints(), integer);
        let first = meet_new(first, &second.constraints(), integer);
        let congruences = [first.congruences(), second.congruences()].concat();
        let classes = Grid::all(integer.len()).with(&first.constraints(), &congruences);
        if !classes.has_classes() {
            return Both(first, second);
        }
        let first = meet_new(first.clone(), &move_to_classes(&first.constraints(), &classes), integer);
        let second = meet_new(second.clone(), &move_to_classes(&second.constraints(), &classes), integer);
        Both(first, second)
    }
}

/// Meets an element with those constraints that it does not have yet: for some domains even a meet that
/// changes nothing is costly.
fn meet_new<D: Domain>(element: D, constraints: &[Constraint], integer: &[bool]) -> D {
    let own = element.constraints();
    let is_new = |constraint: &&Constraint| !own.contains(constraint);
    let mut new: Vec<Constraint> = constraints.iter().filter(is_new).cloned().collect();
    if new.iter().any(|constraint| constraint.relation() == Relation::Equal) {
        let equalities = Grid::all(integer.len()).with(&own, &[]);
        new.retain(|constraint| !equalities.implies_equality(constraint));
    }
    if new.is_empty() { element } else { element.meet_constraints(&new, integer) }
}

/// Moves bounds of linear forms that lie between two values of the form's class to the next value.
fn move_to_classes(constraints: &[Constraint], classes: &Grid) -> Vec<Constraint> {
    let move_bound = |constraint: &Constraint| {
        let (remainder, distance) = classes.class(constraint.coefficients())?;
        let end = -Rational::from(constraint.constant().clone());
        let steps = (&end - &remainder).checked_div(&distance)?;
        let steps = match constraint.relation() {
            Relation::Equal => return None,
            Relation::AtLeast => steps.ceil(),
            Relation::Greater => &steps.floor() + &Integer::ONE,
        };
        let next = &remainder + &(&distance * &Rational::from(steps));
        let move_by = LinearExpression::constant(&next - &end);
        (next != end)
            .then(|| Constraint::from_expression(&constraint.expression().minus(&move_by), Relation::AtLeast))
    };
    constraints.iter().filter_map(move_bound).collect()
}

impl<A: Domain, B: Domain> Domain for Both<A, B> {
    const SEES_DATA: bool = A::SEES_DATA || B::SEES_DATA;
    const RELATES: bool = A::RELATES || B::RELATES;
    const KNOWS_CONGRUENCES: bool = A::KNOWS_CONGRUENCES || B::KNOWS_CONGRUENCES;

    fn top(dimensions: usize) -> Self {
        Both(A::top(dimensions), B::top(dimensions))
    }

    fn bottom(dimensions: usize) -> Self {
        Both(A::bottom(dimensions), B::bottom(dimensions))
    }

    fn is_bottom(&self) -> bool {
        self.0.is_bottom() || self.1.is_bottom()
    }

    fn is_leq(&self, other: &Self) -> bool {
        self.is_bottom() || self.0.is_leq(&other.0) && self.1.is_leq(&other.1)
    }

    fn join(&self, other: &Self) -> Self {
        match (self.is_bottom(), other.is_bottom()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            _ => Both(self.0.join(&other.0), self.1.join(&other.1)),
        }
    }

    fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        let met = Both(self.0.meet(&other.0, integer), self.1.meet(&other.1, integer));
        // If no number is an integer, the meet gives no new class.
        if Self::KNOWS_CONGRUENCES && integer.contains(&true) { met.reduce(integer) } else { met }
    }

    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        if self.is_bottom() {
            return other.clone();
        }
        Both(self.0.widen(&other.0, thresholds), self.1.widen(&other.1, thresholds))
    }

    fn narrow(&self, other: &Self, integer: &[bool]) -> Self {
        Both(self.0.narrow(&other.0, integer), self.1.narrow(&other.1, integer))
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        self.map(|a| a.meet_constraints(constraints, integer), |b| b.meet_constraints(constraints, integer))
            .reduce(integer)
    }

    fn meet_congruences(self, congruences: &[Congruence], integer: &[bool]) -> Self {
        let Both(first, second) = self;
        let met =
            Both(first.meet_congruences(congruences, integer), second.meet_congruences(congruences, integer));
        if congruences.is_empty() { met } else { met.reduce(integer) }
    }

    fn assign(&self, assignments: &Assignments) -> Self {
        self.map(|a| a.assign(assignments), |b| b.assign(assignments))
    }

    fn substitute(&self, assignments: &Assignments) -> Self {
        self.map(|a| a.substitute(assignments), |b| b.substitute(assignments))
    }

    fn forget(&self, dimensions: &[usize]) -> Self {
        self.map(|a| a.forget(dimensions), |b| b.forget(dimensions))
    }

    fn add_dimensions(&self, count: usize) -> Self {
        self.map(|a| a.add_dimensions(count), |b| b.add_dimensions(count))
    }

    fn remove_last_dimensions(&self, count: usize) -> Self {
        self.map(|a| a.remove_last_dimensions(count), |b| b.remove_last_dimensions(count))
    }

    fn constraints(&self) -> Vec<Constraint> {
        // A constraint of both parts is listed twice. A term has it once.
        [self.0.constraints(), self.1.constraints()].concat()
    }

    fn congruences(&self) -> Vec<Congruence> {
        [self.0.congruences(), self.1.congruences()].concat()
    }

    fn coarsened(&self) -> bool {
        self.0.coarsened() || self.1.coarsened()
    }
}
