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

#[derive(Clone, Debug)]
pub struct Polyhedra {
    inner: Polyhedron,
    /// A limit was met in the last operation.
    coarsened: bool,
}

fn of(inner: Polyhedron) -> Polyhedra {
    Polyhedra { inner, coarsened: false }
}

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

/// A join may have so many inequalities with factors beyond `SMALL`.
const MOST_SLANTED: usize = 8;
const SMALL: i64 = 2;

/// Without the slanted faces of a join that has many, but with the bounds of numbers, sums and differences.
///
/// Hulls and roundings to integers in turns make dozens of faces that cut off next to nothing. Each is a hard
/// question to a solver of integers, and no reader makes anything of it. The bounds of sums and differences
/// stay, so the domain still knows what octagons would say of this join.
///
/// A few faces are kept, however large their factors are: `v <= 10^20 * n` says that `v` is 0 once `n` is 0,
/// which a test case needs to aim at a last value.
fn simpler(joined: Polyhedra, operands: [&Polyhedron; 2]) -> Polyhedra {
    let is_one_of_them = || operands.iter().any(|operand| joined.inner.is_leq(operand));
    if joined.inner.inequalities_beyond(SMALL) <= MOST_SLANTED || is_one_of_them() {
        return joined;
    }
    let dimensions = joined.inner.dimensions();
    let is_kept = |one: &Constraint| one.relation() == Relation::Equal || !one.has_factor_beyond(SMALL);
    let mut looked_at: Vec<LinearExpression> = (0..dimensions).map(LinearExpression::variable).collect();
    // Blocks of more numbers are not looked at pair by pair.
    for block in joined.inner.blocks().iter().filter(|block| block.len() <= 16) {
        for (place, &one) in block.iter().enumerate() {
            let pairs = block[..place]
                .iter()
                .map(|&other| (LinearExpression::variable(one), LinearExpression::variable(other)));
            looked_at.extend(pairs.flat_map(|(one, other)| [one.plus(&other), one.minus(&other)]));
        }
    }
    let bounds = looked_at.iter().flat_map(|expression| {
        let Bounds { lower, upper, .. } = joined.inner.bounds(expression);
        let bound = |value: Rational, is_attained: bool, way: i64| {
            let beyond = expression.minus(&LinearExpression::constant(value)).times(&Rational::from(way));
            let relation = if is_attained { Relation::AtLeast } else { Relation::Greater };
            Constraint::from_expression(&beyond, relation)
        };
        let lower = lower.map(|(value, is_attained)| bound(value, is_attained, 1));
        lower.into_iter().chain(upper.map(|(value, is_attained)| bound(value, is_attained, -1)))
    });
    let kept = joined.inner.constraints().into_iter().filter(is_kept);
    let around = Polyhedron::from_constraints(dimensions, kept.chain(bounds));
    Polyhedra { coarsened: true, ..converted(&around) }
}

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
        simpler(joined, [&self.inner, &other.inner])
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
