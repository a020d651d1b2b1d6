//! Strong and tight closure: from some bounds to the best ones.
//!
//! **Problem.** Bounds on differences imply others: `x <= y` and `y <= 3` imply `x <= 3`. An entry is *best*
//! if no smaller one is implied. When all are, questions are answered by looking at entries, and equal sets
//! have equal matrices.
//!
//! **Algorithm.**
//! - *Paths.* A bound is a path; shortest paths by Floyd and Warshall, one pivot being a variable with both
//!   of its nodes. Which pivots are needed: **the variables whose bounds were lowered since the matrix was
//!   last closed**, since a shortest path is made of old shortest paths and new bounds, and these meet at the
//!   ends of new bounds (Singh, Püschel, Vechev, *Making numerical program analysis fast*, PLDI 2015,
//!   <https://doi.org/10.1145/2737924.2738000>, call it incremental closure). One new constraint costs
//!   `O(n²)`; all variables, `O(n³)`.
//! - *Strengthening.* `2V_i <= a` and `2V_j <= b` imply `V_i + V_j <= (a + b) / 2`. One pass of it after the
//!   paths gives the strong closure (A. Miné, *The octagon abstract domain*, HOSC 19, 2006,
//!   <https://doi.org/10.1007/s10990-006-8609-1>; that one pass at the end is enough: R. Bagnara, P. Hill, E.
//!   Zaffanella, *Weakly-relational shapes for numeric abstractions*, FMSD 35, 2009,
//!   <https://doi.org/10.1007/s10703-009-0073-1>).
//! - *Tightening*, of integers: bounds are rounded down, those of `2V` to even numbers. Where all variables
//!   are integers, rounding between the two steps gives the tight closure: the best bounds of the integer
//!   points, and emptiness exactly if there is none (the same paper).
//!
//! **Strictness.** Nothing changes: values with a strict bit are an ordered monoid in which halves exist. A
//! cycle of length `< 0` *or* `0, strict` is a contradiction.
//!
//! **Mixed frames** (some variables integer) are ours. After the paths, the entries between integers describe
//! the projection onto them exactly. These are rounded and the ends of changed entries are pivots again,
//! until nothing is left to round: that is at most twice. After the first time all entries between integers
//! are integers, and a path between two integers through reals is no shorter than the entries between the
//! integers on it, so the second paths add integers only; what they may leave is an odd bound of `2V` (of
//! `x - y >= 3` and `x + y <= 0`, both rounded, follows `2y <= -3`). After the second time a path from `V` to
//! `-V` through one rounded bound `2W` is even, and one through two, `2W` and `2U`, is no shorter than the
//! better of those through one of them. So emptiness and the bounds between integers are exact here too.
//! Bounds of reals need not be: of `y >= x`, `y >= 1 - x` with an integer `x` follows `y >= 1`, but only
//! `y >= 1/2` is found.
//!
//! **Halves.** Rational bounds of `2V` may have odd numbers; then the scale is doubled before strengthening.
//!
//! **Cost.** `O(p n²)` for `p` pivots, within one block of related variables ([`crate::block`]).

use coreach_polyhedra::Integer;

use crate::bound::UpperBound;
use crate::matrix::{Matrix, pairs};

/// Lowers all bounds to the best ones. Returns `false` if the matrix has no point.
///
/// The matrix must have been closed before bounds were lowered. `changed` lists the variables of these
/// bounds, both variables of each. `integer` marks the integers, one flag for each variable.
pub(crate) fn close(matrix: &mut Matrix, changed: &[usize], integer: &[bool]) -> bool {
    let any_integer = integer.contains(&true);
    let mut pivots = changed.to_vec();
    if any_integer {
        pivots.extend(round(matrix, integer));
    }
    let mixed = any_integer && integer.contains(&false);
    while !pivots.is_empty() {
        if !close_over(matrix, pivots) {
            return false;
        }
        pivots = if any_integer { round(matrix, integer) } else { Vec::new() };
        // If all variables are integers, no second round of paths is needed: strengthening has the same
        // effect.
        if !mixed {
            break;
        }
    }
    strengthen(matrix);
    !matrix.has_negative_cycle()
}

/// Would rounding change some bound?
pub(crate) fn needs_rounding(matrix: &Matrix, integer: &[bool]) -> bool {
    if !integer.contains(&true) {
        return false;
    }
    let (unit, double) = units(matrix);
    for (row, column) in pairs(matrix.variables()) {
        if row != column && integer[row / 2] && integer[column / 2] {
            let entry = matrix.get(row, column);
            if entry.rounded(if row == column ^ 1 { &double } else { &unit }) != *entry {
                return true;
            }
        }
    }
    false
}

/// The units of rounding: that of sums and differences, and its double, that of `2V`.
fn units(matrix: &Matrix) -> (Integer, Integer) {
    (matrix.scale().clone(), matrix.scale() + matrix.scale())
}

/// Rounds the bounds between integers. Returns the variables of the changed bounds.
fn round(matrix: &mut Matrix, integer: &[bool]) -> Vec<usize> {
    let (unit, double) = units(matrix);
    let mut changed = Vec::new();
    for (row, column) in pairs(matrix.variables()) {
        if row != column && integer[row / 2] && integer[column / 2] {
            let rounded = matrix.get(row, column).rounded(if row == column ^ 1 { &double } else { &unit });
            if matrix.lower(row, column, &rounded) {
                changed.extend([row / 2, column / 2]);
            }
        }
    }
    changed
}

/// Lowers the bounds to the shortest paths through the pivots. Returns `false` if a cycle is negative.
fn close_over(matrix: &mut Matrix, mut pivots: Vec<usize>) -> bool {
    pivots.sort_unstable();
    pivots.dedup();
    for pivot in pivots {
        close_over_one(matrix, pivot);
        // This is checked after each pivot, because the length of a negative cycle may grow exponentially
        // with the pivots that follow.
        if matrix.has_negative_cycle() {
            return false;
        }
    }
    true
}

/// Lowers the bounds to the shortest paths through both nodes of a variable.
fn close_over_one(matrix: &mut Matrix, variable: usize) {
    let (plus, minus) = (2 * variable, 2 * variable + 1);
    let (old_from_plus, old_from_minus) = (matrix.full_row(plus), matrix.full_row(minus));
    // A path from one of the two nodes may go through the other.
    let (mut from_plus, mut from_minus) = (old_from_plus.clone(), old_from_minus.clone());
    UpperBound::relax(&mut from_plus, &old_from_plus[minus], &old_from_minus);
    UpperBound::relax(&mut from_minus, &old_from_minus[plus], &old_from_plus);
    for row in 0..matrix.nodes() {
        // By coherence, the bounds to a node are those from its negation.
        let (to_plus, to_minus) = (&from_minus[row ^ 1], &from_plus[row ^ 1]);
        UpperBound::relax(matrix.row_mut(row), to_plus, &from_plus);
        UpperBound::relax(matrix.row_mut(row), to_minus, &from_minus);
    }
}

/// Lowers the bounds of sums to what the bounds of single variables imply.
pub(crate) fn strengthen(matrix: &mut Matrix) {
    if (0..matrix.nodes()).any(|node| matrix.get(node, node ^ 1).is_odd()) {
        let doubled = matrix.scale() + matrix.scale();
        *matrix = matrix.clone().with_scale(&doubled);
    }
    // What `V_j - V_i` is at most is the sum of the halves for `V_j` and for `-V_i`.
    let halves: Vec<UpperBound> = (0..matrix.nodes()).map(|node| matrix.get(node, node ^ 1).half()).collect();
    let of_columns: Vec<UpperBound> = (0..matrix.nodes()).map(|node| halves[node ^ 1].clone()).collect();
    for (row, half) in halves.iter().enumerate() {
        UpperBound::relax(matrix.row_mut(row), half, &of_columns);
    }
}
