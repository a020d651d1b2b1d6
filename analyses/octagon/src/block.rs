//! A set of related dimensions with its bounds.
//!
//! **Problem.** A strongly closed matrix is dense: any two bounded variables have a bound on their sum. But
//! if that is only the sum of their own bounds, it says nothing new.
//!
//! **Method.** Two variables are *related* if an entry between them is less than what their own bounds imply;
//! a block is a connected set of related variables, closed. Where no entry relates, the set is a product, so
//! entries between blocks need not be kept: they are sums of bounds. The finest such decomposition depends on
//! the set of points alone. A variable without bounds has no block. (Singh, Püschel, Vechev 2015 decompose
//! the matrix, and merge what has bounds; to leave out the implied entries is ours.)

use std::sync::Arc;

use crate::bound::UpperBound;
use crate::matrix::Matrix;
use crate::partition::DimensionSets;

/// A closed matrix over some dimensions, not empty, normalised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OctagonBlock {
    /// The dimensions in ascending order.
    pub(crate) dimensions: Vec<usize>,
    pub(crate) matrix: Matrix,
}

/// Are these blocks equal? Blocks that are shared are not compared number by number.
pub(crate) fn equal(a: &Arc<OctagonBlock>, b: &Arc<OctagonBlock>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// Appends the blocks of a closed matrix over these ascending dimensions.
pub(crate) fn split(dimensions: &[usize], matrix: Matrix, into: &mut Vec<Arc<OctagonBlock>>) {
    let count = matrix.variables();
    let mut partition = DimensionSets::singletons(count);
    for a in 0..count {
        for b in 0..a {
            if partition.find(a) != partition.find(b) && are_related(&matrix, a, b) {
                partition.unite(a, b);
            }
        }
    }
    let sets = partition.sets();
    if let [_] = sets[..] {
        return push_normalised(dimensions.to_vec(), matrix, into);
    }
    for set in sets {
        push_normalised(set.iter().map(|at| dimensions[*at]).collect(), part_over(&matrix, &set), into);
    }
}

/// Appends a block, unless it is a single dimension without bounds.
fn push_normalised(dimensions: Vec<usize>, matrix: Matrix, into: &mut Vec<Arc<OctagonBlock>>) {
    let is_free = dimensions.len() == 1 && matrix.get(0, 1).is_infinite() && matrix.get(1, 0).is_infinite();
    if !is_free {
        into.push(Arc::new(OctagonBlock { dimensions, matrix: matrix.normalised() }));
    }
}

/// Is an entry between two variables lower than what the bounds of each imply?
fn are_related(matrix: &Matrix, a: usize, b: usize) -> bool {
    for row in [2 * a, 2 * a + 1] {
        for column in [2 * b, 2 * b + 1] {
            let entry = matrix.get(row, column);
            if !entry.is_infinite() && *entry < implied_bound(matrix, row, column) {
                return true;
            }
        }
    }
    false
}

/// The bound of an entry that follows from the bounds of its two variables.
pub(crate) fn implied_bound(matrix: &Matrix, row: usize, column: usize) -> UpperBound {
    matrix.get(row, row ^ 1).half().plus(&matrix.get(column ^ 1, column).half())
}

/// The part of a matrix over some of its variables.
pub(crate) fn part_over(matrix: &Matrix, variables: &[usize]) -> Matrix {
    let mut part = Matrix::unbounded(variables.len(), matrix.scale().clone());
    let node = |node: usize| 2 * variables[node / 2] + node % 2;
    for row in 0..part.nodes() {
        for column in 0..=row | 1 {
            part.set(row, column, matrix.get(node(row), node(column)).clone());
        }
    }
    part
}
