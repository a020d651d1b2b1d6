//! Two domains at once: a vector is in the element where it is in both parts.
//!
//! A product in the sense of Cousot & Cousot (POPL 1979, <https://doi.org/10.1145/567752.567778>, section
//! 10.1): the order and the operations are those of the parts, and an element is nothing as soon as one of
//! them is. Where constraints are met, each part is told what the other has made of them (a step of the
//! reduction). Nowhere else: a reduction behind a join or a widening could undo the step that makes the
//! iteration end, as rounding could.

use coreach_polyhedra::Constraint;

use crate::domains::{Assignments, Domain};

/// An element of each.
#[derive(Clone, Debug)]
pub struct Both<A, B>(A, B);

impl<A: Domain, B: Domain> Both<A, B> {
    fn map(&self, first: impl FnOnce(&A) -> A, second: impl FnOnce(&B) -> B) -> Self {
        Both(first(&self.0), second(&self.1))
    }
}

/// What an element says as one conjunction, where it does.
fn told<D: Domain>(element: &D) -> Vec<Constraint> {
    match &element.disjuncts()[..] {
        [only] => only.clone(),
        _ => Vec::new(),
    }
}

impl<A: Domain, B: Domain> Domain for Both<A, B> {
    const SEES_DATA: bool = A::SEES_DATA || B::SEES_DATA;

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
        Both(self.0.meet(&other.0, integer), self.1.meet(&other.1, integer))
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
        let Both(first, second) = self
            .map(|a| a.meet_constraints(constraints, integer), |b| b.meet_constraints(constraints, integer));
        let second = second.meet_constraints(&told(&first), integer);
        let first = first.meet_constraints(&told(&second), integer);
        Both(first, second)
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

    fn disjuncts(&self) -> Vec<Vec<Constraint>> {
        // By distribution. What both say stands there twice, and once in a term.
        let (first, second) = (self.0.disjuncts(), self.1.disjuncts());
        first.iter().flat_map(|a| second.iter().map(move |b| [&a[..], b].concat())).collect()
    }

    fn coarsened(&self) -> bool {
        self.0.coarsened() || self.1.coarsened()
    }
}
