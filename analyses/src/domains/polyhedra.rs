//! Convex polyhedra (Cousot & Halbwachs, POPL 1978, <https://doi.org/10.1145/512760.512770>): linear
//! relations.
//!
//! The work is done by `coreach-polyhedra`; this file says when. Integer dimensions are tightened at every
//! meet, never at a join or a widening: tightening a widened element could undo the step that makes the
//! iteration end.
//!
//! Every operation is limited, since the cost of none has a useful bound, and all operations of an analysis
//! together (`coreach_polyhedra::account`); what is beyond the limit is a coarser polyhedron. **Invariant:**
//! both descriptions of every element are known, so questions about it are evaluations. A widening still
//! ends: what is coarser than its result has some of its constraints.

use coreach_polyhedra::account;
use coreach_polyhedra::{
    Bounds, Constraint, Limits, LinearExpression, Outcome, Polyhedron, Rational, Relation,
};

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

/// What an operation on it may use.
fn limits(polyhedron: &Polyhedron) -> Limits {
    account::limits(polyhedron.dimensions())
}

/// With both descriptions within the limit.
fn converted(polyhedron: &Polyhedron) -> Polyhedra {
    with(polyhedron.convert_limited(&limits(polyhedron)))
}

fn with(outcome: Outcome) -> Polyhedra {
    Polyhedra { coarsened: !outcome.is_exact(), inner: outcome.into_polyhedron() }
}

/// Without the inequalities by factors beyond 32 bits that the join of two operands made, but with the
/// bounds of each number.
///
/// Few write such a factor, and what an operand says stays. A join makes them of constants that are as
/// large: `v <= 10^20 * n` is all that the points 0 and 10^20 of `v` for `n` of 0 and 1 have in common. What
/// is made of several of them has numbers of many words, and most of the time goes into these.
fn without_large_factors(joined: Polyhedra, operands: [&Polyhedron; 2]) -> Polyhedra {
    if !joined.inner.has_large_factors() {
        return joined;
    }
    let dimensions = joined.inner.dimensions();
    let said = operands.map(Polyhedron::constraints).concat();
    let is_kept = |one: &Constraint| {
        one.relation() == Relation::Equal || !one.has_large_factors() || said.contains(one)
    };
    if joined.inner.constraints().iter().all(is_kept) {
        return joined;
    }
    let kept = joined.inner.constraints().into_iter().filter(is_kept);
    let bounds = (0..dimensions).flat_map(|at| {
        let variable = LinearExpression::variable(at);
        let Bounds { lower, upper, .. } = joined.inner.bounds(&variable);
        let bound = |value: Rational, is_attained: bool, way: i64| {
            let beyond = variable.minus(&LinearExpression::constant(value)).times(&Rational::from(way));
            let relation = if is_attained { Relation::AtLeast } else { Relation::Greater };
            Constraint::from_expression(&beyond, relation)
        };
        let lower = lower.map(|(value, is_attained)| bound(value, is_attained, 1));
        lower.into_iter().chain(upper.map(|(value, is_attained)| bound(value, is_attained, -1)))
    });
    let around = Polyhedron::from_constraints(dimensions, kept.chain(bounds));
    Polyhedra { coarsened: true, ..converted(&around) }
}

/// The same, tightened.
fn tightened(polyhedron: &Polyhedron, integer: &[bool]) -> Polyhedra {
    let Polyhedra { inner, coarsened } = converted(polyhedron);
    Polyhedra { inner: inner.tighten_limited(integer, &limits(polyhedron)), coarsened }
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
        let joined = with(self.inner.join_limited(&other.inner, &limits(&self.inner)));
        without_large_factors(joined, [&self.inner, &other.inner])
    }

    fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        tightened(&self.inner.meet(&other.inner), integer)
    }

    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        with(self.inner.widen_limited(&other.inner, thresholds, &limits(&self.inner)))
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        tightened(&self.inner.meet_constraints(constraints), integer)
    }

    fn assign(&self, assignments: &Assignments) -> Self {
        let (known, unknown) = split(assignments);
        let assigned = with(self.inner.assign_limited(&known, &limits(&self.inner)));
        let forgotten = converted(&assigned.inner.forget(&unknown));
        Polyhedra { coarsened: assigned.coarsened || forgotten.coarsened, ..forgotten }
    }

    fn substitute(&self, assignments: &Assignments) -> Self {
        let (known, unknown) = split(assignments);
        // The unknown values are chosen first, so that a right side which reads the old value still can.
        let forgotten = converted(&self.inner.forget(&unknown));
        let substituted = converted(&forgotten.inner.substitute(&known));
        Polyhedra { coarsened: forgotten.coarsened || substituted.coarsened, ..substituted }
    }

    fn forget(&self, dimensions: &[usize]) -> Self {
        converted(&self.inner.forget(dimensions))
    }

    fn add_dimensions(&self, count: usize) -> Self {
        of(self.inner.add_dimensions(count))
    }

    fn remove_last_dimensions(&self, count: usize) -> Self {
        let dimensions = self.inner.dimensions();
        let last: Vec<usize> = (dimensions - count..dimensions).collect();
        converted(&self.inner.remove_dimensions(&last))
    }

    fn constraints(&self) -> Vec<Constraint> {
        self.inner.constraints()
    }

    fn coarsened(&self) -> bool {
        self.coarsened
    }
}
