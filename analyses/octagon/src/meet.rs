//! Meets an octagon with another octagon, with bounds of entries, or with any linear constraints.
//!
//! Blocks that a new bound relates are merged, the bounds lowered, and the result closed from there
//! ([`crate::close`]) and split again. Blocks that nothing touches are shared, unless their integers were not
//! yet rounded. Of a constraint that is not octagonal, the bounds that it implies for single variables and
//! pairs are added ([`crate::linear`]). This is repeated a fixed number of times, since two constraints may
//! improve each other for ever. To stop early is sound.

use std::sync::Arc;

use coreach_polyhedra::Constraint;

use crate::block::{self, OctagonBlock};
use crate::bound::UpperBound;
use crate::close::{close, needs_rounding};
use crate::edge::{DbmEdge, WeightedSum, sides};
use crate::linear;
use crate::matrix::{Matrix, aligned};
use crate::octagon::Octagon;
use crate::partition::DimensionSets;

impl Octagon {
    /// Meets this octagon with another. `integer` marks the dimensions that are integers, of which only the
    /// integer values need be kept; dimensions beyond its end are not integers. Emptiness and the bounds
    /// among integers are then exact. Bounds of reals may be coarser than the integers allow.
    /// Panics if the numbers of dimensions differ.
    pub fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        self.assert_same_space(other);
        let (Some(ours), Some(theirs)) = (&self.blocks, &other.blocks) else {
            return Octagon::empty(self.dimensions);
        };
        // Dimensions that no constraint of either octagon relates are met separately.
        let mut partition = DimensionSets::singletons(self.dimensions);
        for block in ours.iter().chain(theirs) {
            partition.unite_all(&block.dimensions);
        }
        let ours = group_blocks(&mut partition, self.dimensions, ours);
        let theirs = group_blocks(&mut partition, self.dimensions, theirs);
        let mut blocks = Vec::new();
        for set in partition.sets() {
            let (ours, theirs) = (&ours[set[0]], &theirs[set[0]]);
            let are_same =
                || ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| block::equal(a, b));
            // Nothing is lowered if one octagon has no bounds here, or both have the same.
            let has_points = if theirs.is_empty() || ours.is_empty() || are_same() {
                let known = if ours.is_empty() { theirs } else { ours };
                known.iter().all(|block| push_rounded(block, integer, &mut blocks))
            } else {
                let (mut met, bounds) =
                    aligned(self.bounds_within_blocks(&set), other.bounds_within_blocks(&set));
                let changed = met.lower_all(&bounds);
                push_closed(&set, met, &changed, integer, &mut blocks)
            };
            if !has_points {
                return Octagon::empty(self.dimensions);
            }
        }
        Octagon::of(self.dimensions, blocks)
    }

    /// Adds constraints. This is exact for those of the form `±x ± y`, up to a factor. Of others it keeps at
    /// most what they imply for single variables and pairs. `integer` is as in [`Octagon::meet`].
    /// Panics if a constraint mentions a dimension that does not exist.
    pub fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        let sums: Vec<WeightedSum> = constraints.iter().flat_map(sides).collect();
        let fails = |sum: &WeightedSum| {
            sum.terms.is_empty() && (sum.value.is_negative() || (sum.strict && sum.value.is_zero()))
        };
        if sums.iter().any(fails) {
            return Self::empty(self.dimensions);
        }
        let edges: Vec<DbmEdge> = sums.iter().filter_map(WeightedSum::edge).collect();
        let others: Vec<&WeightedSum> =
            sums.iter().filter(|sum| sum.terms.len() > 1 && sum.edge().is_none()).collect();
        let mut met = self.meet_edges(&edges, integer);
        // The constraints that are not octagonal are repeated, since each may gain from what others imply.
        for _ in 0..4 {
            let mut changed = false;
            for sum in &others {
                let edges = met.keep_improving(&linear::implied_edges(&met, sum));
                if !edges.is_empty() {
                    changed = true;
                    met = met.meet_edges(&edges, integer);
                }
                if met.is_empty() {
                    return met;
                }
            }
            if !changed {
                break;
            }
        }
        met
    }

    /// Keeps the bounds that are lower than those of this octagon.
    fn keep_improving(&self, edges: &[DbmEdge]) -> Vec<DbmEdge> {
        let places = self.places();
        let improves = |edge: &&DbmEdge| match self.value(&places, edge.row, edge.column) {
            None => true,
            Some((value, strict)) => edge.value < value || (edge.value == value && edge.strict && !strict),
        };
        edges.iter().filter(improves).cloned().collect()
    }

    /// Adds bounds: merges the blocks that they relate, lowers their entries, and closes each merged block.
    pub(crate) fn meet_edges(&self, edges: &[DbmEdge], integer: &[bool]) -> Self {
        let Some(old_blocks) = &self.blocks else { return self.clone() };
        let edges = &self.keep_improving(edges);
        let dimensions = self.dimensions;
        let mut partition = DimensionSets::singletons(dimensions);
        for block in old_blocks {
            partition.unite_all(&block.dimensions);
        }
        for edge in edges {
            partition.unite_all(&edge.variables());
        }
        let groups = group_blocks(&mut partition, dimensions, old_blocks);
        let mut edges_of = vec![Vec::new(); dimensions];
        for edge in edges {
            edges_of[partition.find(edge.row / 2)].push(edge);
        }
        let mut blocks = Vec::new();
        for set in partition.sets() {
            let edges = &edges_of[set[0]];
            if edges.is_empty() {
                if !groups[set[0]].iter().all(|block| push_rounded(block, integer, &mut blocks)) {
                    return Octagon::empty(dimensions);
                }
                continue;
            }
            let matrix = self.bounds_within_blocks(&set);
            let scale =
                edges.iter().fold(matrix.scale().clone(), |lcm, edge| lcm.lcm(edge.value.denominator()));
            let mut matrix = matrix.with_scale(&scale);
            let mut changed = Vec::new();
            for edge in edges {
                // The ends of an edge are in its set.
                let node = |node: usize| 2 * set.partition_point(|at| *at < node / 2) + node % 2;
                let number = edge.value.numerator() * &scale.div_exact(edge.value.denominator());
                let (row, column) = (node(edge.row), node(edge.column));
                if matrix.lower(row, column, &UpperBound::new(number, edge.strict)) {
                    changed.extend([row / 2, column / 2]);
                }
            }
            if !push_closed(&set, matrix, &changed, integer, &mut blocks) {
                return Octagon::empty(dimensions);
            }
        }
        Octagon::of(dimensions, blocks)
    }
}

/// Which of these dimensions are integers.
fn integer_flags(dimensions: &[usize], integer: &[bool]) -> Vec<bool> {
    dimensions.iter().map(|dimension| integer.get(*dimension) == Some(&true)).collect()
}

/// Rounds the integer bounds of a block and appends it. Returns `false` if it is then empty.
fn push_rounded(block: &Arc<OctagonBlock>, integer: &[bool], into: &mut Vec<Arc<OctagonBlock>>) -> bool {
    if needs_rounding(&block.matrix, &integer_flags(&block.dimensions, integer)) {
        return push_closed(&block.dimensions, block.matrix.clone(), &[], integer, into);
    }
    into.push(Arc::clone(block));
    true
}

/// Closes a matrix over these dimensions, in which bounds of `changed` variables were lowered, and appends
/// its blocks. Returns `false` if it has no point.
fn push_closed(
    dimensions: &[usize],
    mut matrix: Matrix,
    changed: &[usize],
    integer: &[bool],
    into: &mut Vec<Arc<OctagonBlock>>,
) -> bool {
    let has_points = close(&mut matrix, changed, &integer_flags(dimensions, integer));
    if has_points {
        block::split(dimensions, matrix, into);
    }
    has_points
}

/// Lists the blocks of each set of a partition, at the index of the set's least member.
fn group_blocks<'a>(
    partition: &mut DimensionSets,
    count: usize,
    blocks: &'a [Arc<OctagonBlock>],
) -> Vec<Vec<&'a Arc<OctagonBlock>>> {
    let mut groups = vec![Vec::new(); count];
    for block in blocks {
        groups[partition.find(block.dimensions[0])].push(block);
    }
    groups
}
