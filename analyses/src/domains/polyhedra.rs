//! Convex polyhedra (Cousot & Halbwachs, POPL 1978, <https://doi.org/10.1145/512760.512770>): linear
//! relations.
//!
//! `coreach-polyhedra` does the work. Here it is decided when to tighten: integer dimensions are tightened at
//! every meet, and never at a join or a widening. Tightening a widened element could undo the step that makes
//! the iteration end.
//!
//! No operation has a useful bound of its cost. So each operation is limited, and also all operations of an
//! analysis together (`coreach_polyhedra::account`). Beyond the limit the result is a coarser polyhedron.
//! **Invariant:** both descriptions of every element are known, so questions about it are evaluations. A
//! widening still ends: a coarser result has only some of its constraints.

use coreach_polyhedra::account;
use coreach_polyhedra::{Approx, Constraint, LinearExpression, OperationLimits, Polyhedron, Relation};

use crate::domains::{Assignments, Domain, split_assignments};

#[derive(Clone, Debug)]
pub struct Polyhedra {
    inner: Polyhedron,
    /// A limit was met in the last operation.
    coarsened: bool,
}

fn exact_element(inner: Polyhedron) -> Polyhedra {
    Polyhedra { inner, coarsened: false }
}

fn limits(polyhedron: &Polyhedron) -> OperationLimits {
    account::limits(polyhedron.dimensions())
}

/// Computes both descriptions, within the limit.
fn convert_within_limit(polyhedron: &Polyhedron) -> Polyhedra {
    limited_element(polyhedron.convert_limited(&limits(polyhedron)))
}

fn limited_element(outcome: Approx) -> Polyhedra {
    Polyhedra { coarsened: !outcome.is_exact(), inner: outcome.into_polyhedron() }
}

/// The most inequalities of a join that have a factor beyond [`SMALL`], which are called slanted.
const MOST_SLANTED: usize = 8;
const SMALL: i64 = 2;

/// Replaces the slanted faces of a join, if it has many, by the bounds of numbers, sums and differences.
/// Hulls and roundings to integers in turns make dozens of faces that cut off next to nothing. Each is a hard
/// question for a solver of integers, and tells a reader nothing. With the bounds of sums and differences the
/// domain is still as precise as octagons. A few faces are kept, however large their factors are: `v <= 10^20
/// * n` says that `v` is 0 once `n` is 0, which a test case needs to aim at a last value.
fn simplify_join(joined: Polyhedra, operands: [&Polyhedron; 2]) -> Polyhedra {
    let is_an_operand = || operands.iter().any(|operand| joined.inner.is_leq(operand));
    if joined.inner.inequalities_beyond(SMALL) <= MOST_SLANTED || is_an_operand() {
        return joined;
    }
    let dimensions = joined.inner.dimensions();
    let is_kept = |constraint: &Constraint| {
        constraint.relation() == Relation::Equal || !constraint.has_factor_beyond(SMALL)
    };
    let mut expressions: Vec<LinearExpression> = (0..dimensions).map(LinearExpression::variable).collect();
    // Blocks of more than 16 numbers have too many pairs.
    for block in joined.inner.blocks().iter().filter(|block| block.len() <= 16) {
        for (place, &dimension) in block.iter().enumerate() {
            let x = LinearExpression::variable(dimension);
            let earlier = block[..place].iter().copied().map(LinearExpression::variable);
            expressions.extend(earlier.flat_map(|y| [x.plus(&y), x.minus(&y)]));
        }
    }
    let bounds =
        expressions.iter().flat_map(|expression| joined.inner.bounds(expression).constraints(expression));
    let kept = joined.inner.constraints().into_iter().filter(is_kept);
    let simpler = Polyhedron::from_constraints(dimensions, kept.chain(bounds));
    Polyhedra { coarsened: true, ..convert_within_limit(&simpler) }
}

/// Converts a polyhedron, and tightens its integer dimensions.
fn tighten(polyhedron: &Polyhedron, integer: &[bool]) -> Polyhedra {
    let Polyhedra { inner, coarsened } = convert_within_limit(polyhedron);
    Polyhedra { inner: inner.tighten_limited(integer, &limits(polyhedron)), coarsened }
}

impl Domain for Polyhedra {
    fn top(dimensions: usize) -> Self {
        exact_element(Polyhedron::universe(dimensions))
    }

    fn bottom(dimensions: usize) -> Self {
        exact_element(Polyhedron::empty(dimensions))
    }

    fn is_bottom(&self) -> bool {
        self.inner.is_empty()
    }

    fn is_leq(&self, other: &Self) -> bool {
        self.inner.is_leq(&other.inner)
    }

    fn join(&self, other: &Self) -> Self {
        let joined = limited_element(self.inner.join_limited(&other.inner, &limits(&self.inner)));
        simplify_join(joined, [&self.inner, &other.inner])
    }

    fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        tighten(&self.inner.meet(&other.inner), integer)
    }

    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        limited_element(self.inner.widen_limited(&other.inner, thresholds, &limits(&self.inner)))
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        tighten(&self.inner.meet_constraints(constraints), integer)
    }

    fn assign(&self, assignments: &Assignments) -> Self {
        let (known, unknown) = split_assignments(assignments);
        let assigned = limited_element(self.inner.assign_limited(&known, &limits(&self.inner)));
        let forgotten = convert_within_limit(&assigned.inner.forget(&unknown));
        Polyhedra { coarsened: assigned.coarsened || forgotten.coarsened, ..forgotten }
    }

    fn substitute(&self, assignments: &Assignments) -> Self {
        let (known, unknown) = split_assignments(assignments);
        // The unknown values are chosen first, so that a right side which reads the old value still can.
        let forgotten = convert_within_limit(&self.inner.forget(&unknown));
        let substituted = convert_within_limit(&forgotten.inner.substitute(&known));
        Polyhedra { coarsened: forgotten.coarsened || substituted.coarsened, ..substituted }
    }

    fn forget(&self, dimensions: &[usize]) -> Self {
        convert_within_limit(&self.inner.forget(dimensions))
    }

    fn add_dimensions(&self, count: usize) -> Self {
        exact_element(self.inner.add_dimensions(count))
    }

    fn remove_last_dimensions(&self, count: usize) -> Self {
        let dimensions = self.inner.dimensions();
        let last: Vec<usize> = (dimensions - count..dimensions).collect();
        convert_within_limit(&self.inner.remove_dimensions(&last))
    }

    fn constraints(&self) -> Vec<Constraint> {
        self.inner.constraints()
    }

    fn coarsened(&self) -> bool {
        self.coarsened
    }
}
