//! A few elements of a domain at once: a vector is in the set where it is in one of them.
//!
//! **Problem.** The join of a convex domain forgets that something lies between: `x == 0 || x == 10` becomes
//! `0 <= x <= 10`. **Method.** The finite powerset of Bagnara, Hill & Zaffanella (STTT 2007,
//! <https://doi.org/10.1007/s10009-007-0029-y>) with a bound: at most `MOST` elements, none within another,
//! in the order of what they say. A set is below another where each of its elements is below one of the
//! other's. What a join or a meet has beyond the bound is joined, the last two first: so a join is an upper
//! bound, not the least one.
//!
//! **Widening.** Each new element is joined to the first old one that it contains, or else to the first of
//! all; then each old one is widened by what came to it. **Why it ends**: a set never has more elements than
//! the old one, so their number falls finitely often; while it stays, each new element is the widening of an
//! old one of its own, a sequence that ends by the domain's promise.
//!
//! **Cost**: that of the domain's operations, `MOST` times for images, `MOST²` times for the order and the
//! meets.

use coreach_polyhedra::Constraint;

use crate::domains::{Assignments, Domain};

/// A set of at most `MOST` elements (at least one); none at all is bottom.
#[derive(Clone, Debug)]
pub struct Powerset<D, const MOST: usize> {
    elements: Vec<D>,
    dimensions: usize,
}

impl<D: Domain, const MOST: usize> Powerset<D, MOST> {
    /// The set of these: without doubles, in order, within the bound.
    fn of(dimensions: usize, elements: impl IntoIterator<Item = D>) -> Self {
        // A congruence would be of one element, and there is no place for it in the disjuncts.
        const { assert!(!D::KNOWS_CONGRUENCES) }
        let mut elements = maximal(elements.into_iter().collect());
        while elements.len() > MOST.max(1) {
            let joined = elements.pop().zip(elements.pop()).map(|(last, before)| before.join(&last));
            elements = maximal(elements.into_iter().chain(joined).collect());
        }
        Powerset { elements, dimensions }
    }

    fn map(&self, change: impl Fn(&D) -> D) -> Self {
        Self::of(self.dimensions, self.elements.iter().map(change))
    }
}

/// Those that are within no other, each once, in the order of what they say.
fn maximal<D: Domain>(elements: Vec<D>) -> Vec<D> {
    let mut kept: Vec<D> = Vec::new();
    for element in elements {
        if !element.is_bottom() && !kept.iter().any(|other| element.is_leq(other)) {
            kept.retain(|other| !other.is_leq(&element));
            kept.push(element);
        }
    }
    kept.sort_by_cached_key(Domain::disjuncts);
    kept
}

impl<D: Domain, const MOST: usize> Domain for Powerset<D, MOST> {
    const SEES_DATA: bool = D::SEES_DATA;

    fn top(dimensions: usize) -> Self {
        Self::of(dimensions, [D::top(dimensions)])
    }

    fn bottom(dimensions: usize) -> Self {
        Self::of(dimensions, [])
    }

    fn is_bottom(&self) -> bool {
        self.elements.is_empty()
    }

    fn is_leq(&self, other: &Self) -> bool {
        self.elements.iter().all(|a| other.elements.iter().any(|b| a.is_leq(b)))
    }

    fn join(&self, other: &Self) -> Self {
        Self::of(self.dimensions, self.elements.iter().chain(&other.elements).cloned())
    }

    fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        if self.is_leq(other) {
            return self.clone();
        }
        if other.is_leq(self) {
            return other.clone();
        }
        let pairs = self.elements.iter().flat_map(|a| other.elements.iter().map(move |b| a.meet(b, integer)));
        Self::of(self.dimensions, pairs)
    }

    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        let mut grown = self.elements.clone();
        if grown.is_empty() {
            return other.clone();
        }
        for new in &other.elements {
            let at = self.elements.iter().position(|old| old.is_leq(new)).unwrap_or(0);
            grown[at] = grown[at].join(new);
        }
        let widened = self.elements.iter().zip(&grown).map(|(old, grown)| old.widen(grown, thresholds));
        Self::of(self.dimensions, widened)
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        self.map(|element| element.meet_constraints(constraints, integer))
    }

    fn assign(&self, assignments: &Assignments) -> Self {
        self.map(|element| element.assign(assignments))
    }

    fn substitute(&self, assignments: &Assignments) -> Self {
        self.map(|element| element.substitute(assignments))
    }

    fn forget(&self, dimensions: &[usize]) -> Self {
        self.map(|element| element.forget(dimensions))
    }

    fn add_dimensions(&self, count: usize) -> Self {
        let longer = self.elements.iter().map(|element| element.add_dimensions(count));
        Self::of(self.dimensions + count, longer)
    }

    fn remove_last_dimensions(&self, count: usize) -> Self {
        let shorter = self.elements.iter().map(|element| element.remove_last_dimensions(count));
        Self::of(self.dimensions - count, shorter)
    }

    fn disjuncts(&self) -> Vec<Vec<Constraint>> {
        self.elements.iter().flat_map(Domain::disjuncts).collect()
    }

    fn coarsened(&self) -> bool {
        self.elements.iter().any(Domain::coarsened)
    }
}
