//! Strong reduction: a closed block with the fewest bounds.
//!
//! After Bagnara, Hill, Zaffanella (2009, <https://doi.org/10.1007/s10703-009-0073-1>). Nodes at distance 0
//! of each other in both directions are equal up to a constant; one node of each such class, of the least
//! variable, leads it, and the others are said by equalities. Among the leaders no cycle has length 0, so a
//! bound that equals the sum of two others, or half the sum of the bounds of its two variables, may be left
//! out, all of them at once. What is left is minimal, and depends on the set of points alone.
//!
//! **Strictness.** That argument is about values: of `x >= 1`, `x + y >= 1`, `y <= 0` the first follows from
//! the others, and `x > 1` does not; but it implies `x - y > 1`, which with `x + y >= 1` implies it. So
//! bounds are left out by value alone, and then those strict ones are taken back, in a fixed order, whose
//! strictness does not follow from the rest.
//!
//! **Cost.** `O(n³)` for a block of `n` variables, and as much again for each strict bound that is taken
//! back, and its proof.

use crate::block::{OctagonBlock, implied_bound};
use crate::bound::UpperBound;
use crate::close::close;
use crate::edge::DbmEdge;
use crate::matrix::{Matrix, pairs};

/// The bounds that describe a block. Their nodes are over all dimensions.
pub(crate) struct Reduced {
    /// Closed bounds whose negations are bounds too.
    pub(crate) equalities: Vec<DbmEdge>,
    pub(crate) inequalities: Vec<DbmEdge>,
}

/// Finds constraints that describe the block, none of which follows from the others.
pub(crate) fn reduced(block: &OctagonBlock) -> Reduced {
    let matrix = &block.matrix;
    let edge = |row: usize, column: usize| {
        let node = |node: usize| 2 * block.dimensions[node / 2] + node % 2;
        let (value, strict) = matrix.value(row, column)?;
        Some(DbmEdge { row: node(row), column: node(column), value, strict })
    };
    let mut reduced = Reduced { equalities: Vec::new(), inequalities: Vec::new() };
    // A single variable with one value.
    if matrix.variables() == 1 && matrix.get(0, 1).plus(matrix.get(1, 0)) == UpperBound::ZERO {
        reduced.equalities.extend(edge(1, 0));
        return reduced;
    }
    // A value that is fixed makes a block of its own, so here no node equals its negation.
    let mut leaders: Vec<usize> = Vec::new();
    for variable in 0..matrix.variables() {
        let node = 2 * variable;
        let equal = |of: &&usize| matrix.get(**of, node).plus(matrix.get(node, **of)) == UpperBound::ZERO;
        match leaders.iter().find(equal).copied() {
            Some(leader) => reduced.equalities.extend(edge(leader, node)),
            None => leaders.extend([node, node + 1]),
        }
    }
    let mut kept = Vec::new();
    let mut strict = Vec::new();
    for (a, b) in pairs(leaders.len() / 2) {
        let (row, column) = (leaders[a], leaders[b]);
        if a == b || matrix.get(row, column).is_infinite() {
            continue;
        }
        if !is_redundant(matrix, &leaders, row, column) {
            kept.push((row, column));
        } else if matrix.get(row, column).is_strict() {
            strict.push((row, column));
        }
    }
    if !strict.is_empty() {
        // Bounds of single variables first: they imply many others.
        strict.sort_by_key(|(row, column)| *row != *column ^ 1);
        kept.extend(strict_bounds_to_keep(matrix, &leaders, &kept, &strict));
    }
    reduced.inequalities.extend(kept.into_iter().filter_map(|(row, column)| edge(row, column)));
    reduced
}

/// Does the value of a bound follow from two others, strictness aside?
fn is_redundant(matrix: &Matrix, leaders: &[usize], row: usize, column: usize) -> bool {
    let entry = matrix.get(row, column).with_strictness(false);
    let reaches = |bound: UpperBound| bound.with_strictness(false) <= entry;
    let through = |middle: usize| matrix.get(row, middle).plus(matrix.get(middle, column));
    (row != column ^ 1 && reaches(implied_bound(matrix, row, column)))
        || leaders.iter().any(|&at| at != row && at != column && reaches(through(at)))
}

/// Selects strict bounds to keep: with the bounds in `kept`, they imply all the strict ones, and none of them
/// follows from the others.
fn strict_bounds_to_keep(
    matrix: &Matrix,
    leaders: &[usize],
    kept: &[(usize, usize)],
    strict: &[(usize, usize)],
) -> Vec<(usize, usize)> {
    // All values among the leaders follow, so only strictness is compared.
    let closed = |taken: &[(usize, usize)]| {
        let mut closed = Matrix::unbounded(matrix.variables(), matrix.scale().clone());
        for (row, column) in kept.iter().chain(taken) {
            closed.set(*row, *column, matrix.get(*row, *column).clone());
        }
        let pivots: Vec<usize> = leaders.iter().map(|node| node / 2).collect();
        // These are bounds of a block that has points, so they cannot contradict each other.
        close(&mut closed, &pivots, &vec![false; matrix.variables()]);
        closed
    };
    let mut taken = Vec::new();
    let mut present = closed(&taken);
    for (row, column) in strict {
        if !present.get(*row, *column).is_strict() {
            taken.push((*row, *column));
            present = closed(&taken);
        }
    }
    // The later ones may imply an earlier one.
    let mut at = 0;
    while taken.len() > 1 && at < taken.len() {
        let (row, column) = taken.remove(at);
        if !closed(&taken).get(row, column).is_strict() {
            taken.insert(at, (row, column));
            at += 1;
        }
    }
    taken
}
