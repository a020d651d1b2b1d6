//! Convex polyhedra (Cousot & Halbwachs, POPL 1978, <https://doi.org/10.1145/512760.512770>): linear relations.
//!
//! The work is done by `coreach-polyhedra`; this file says when. Integer dimensions are tightened at every meet, never
//! at a join or a widening: tightening a widened element could undo the step that makes the iteration end. Joins are
//! limited, since their cost has no useful bound; one beyond the limit is a coarser polyhedron.

use coreach_polyhedra::{Constraint, Limits, LinearExpression, Polyhedron};

use crate::domains::{Assignments, Domain};

/// A convex polyhedron.
#[derive(Clone, Debug)]
pub struct Polyhedra {
    inner: Polyhedron,
    /// A limit was met in the last operation.
    coarsened: bool,
}

fn of(inner: Polyhedron) -> Polyhedra {
    Polyhedra { inner, coarsened: false }
}

/// The right sides that are known, and the dimensions whose new value is not.
fn split(assignments: &Assignments) -> (Vec<(usize, LinearExpression)>, Vec<usize>) {
    let known = assignments.iter().filter_map(|(at, value)| Some((*at, value.clone()?)));
    let unknown = assignments.iter().filter(|(_, value)| value.is_none());
    (known.collect(), unknown.map(|(at, _)| *at).collect())
}

impl Domain for Polyhedra {
    fn top(dimensions: usize) -> Self {
        of(Polyhedron::universe(dimensions))
    }

    fn bottom(dimensions: usize) -> Self {
        of(Polyhedron::empty(dimensions))
    }

    fn is_bottom(&self) -> bool {
        self.inner.is_empty()
    }

    fn is_leq(&self, other: &Self) -> bool {
        self.inner.is_leq(&other.inner)
    }

    fn join(&self, other: &Self) -> Self {
        let outcome = self.inner.join_limited(&other.inner, &Limits::default());
        Polyhedra { coarsened: !outcome.is_exact(), inner: outcome.into_polyhedron() }
    }

    fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        limited(&self.inner.meet(&other.inner), integer)
    }

    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        of(self.inner.widen_with_thresholds(&other.inner, thresholds))
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        limited(&self.inner.meet_constraints(constraints), integer)
    }

    fn assign(&self, assignments: &Assignments) -> Self {
        let (known, unknown) = split(assignments);
        of(self.inner.assign(&known).forget(&unknown))
    }

    fn substitute(&self, assignments: &Assignments) -> Self {
        let (known, unknown) = split(assignments);
        // The unknown values are chosen first, so that a right side which reads the old value still can.
        of(self.inner.forget(&unknown).substitute(&known))
    }

    fn forget(&self, dimensions: &[usize]) -> Self {
        of(self.inner.forget(dimensions))
    }

    fn add_dimensions(&self, count: usize) -> Self {
        of(self.inner.add_dimensions(count))
    }

    fn remove_last_dimensions(&self, count: usize) -> Self {
        let dimensions = self.inner.dimensions();
        let last: Vec<usize> = (dimensions - count..dimensions).collect();
        of(self.inner.remove_dimensions(&last))
    }

    fn constraints(&self) -> Vec<Constraint> {
        self.inner.constraints()
    }

    fn coarsened(&self) -> bool {
        self.coarsened
    }
}

/// Tightened, with both descriptions within the limit.
fn limited(polyhedron: &Polyhedron, integer: &[bool]) -> Polyhedra {
    let outcome = polyhedron.convert_limited(&Limits::default());
    let coarsened = !outcome.is_exact();
    Polyhedra { inner: outcome.into_polyhedron().tighten(integer), coarsened }
}
