//! Widening: joins that stop growing.
//!
//! **Problem.** A growing sequence of octagons need not end. **Algorithm**, after Bagnara, Hill, Zaffanella
//! (2009, <https://doi.org/10.1007/s10703-009-0073-1>):
//!
//! - if `other` satisfies fewer equalities than `self`, the result is `other`;
//! - otherwise it has those bounds of the strong reduction of `self` ([`crate::reduce`]) that `other`
//!   satisfies; a strict one that it satisfies only in its closed form becomes closed.
//!
//! And all thresholds that `other` satisfies are kept.
//!
//! **Why not on matrices.** Miné's widening keeps stable entries of a matrix that must then not be closed:
//! closing may bring back a bound that was given up, a little higher each time, for ever. It forces one to
//! carry an open matrix beside the closed one, and to widen equal sets differently by how they are written.
//! Of the reduced form, in which no bound follows from others, a widened octagon has a part; so it may be
//! closed, and the result depends on the sets alone.
//!
//! **Why it ends.** The equalities can only become fewer a finite number of times. While they stay, so do the
//! classes of nodes and their leaders, and the values of each reduced form are a part of those of the one
//! before, beside thresholds. The thresholds that are satisfied become fewer finitely often; those that stay
//! do not count. And once the values stay, strict bounds can only become closed.

use std::sync::Arc;

use coreach_polyhedra::Constraint;

use crate::edge::{DbmEdge, WeightedSum, sides};
use crate::lattice::find_same_block;
use crate::octagon::Octagon;
use crate::reduce::{Reduced, reduced};

impl Octagon {
    /// An upper bound of both such that a sequence `x := x.widen(y)` with growing `y` becomes stable.
    /// Thresholds that both satisfy, and that are octagonal, are kept.
    ///
    /// **Precondition:** `self.is_leq(other)`. Without it the result still contains `other`.
    /// Panics if the numbers of dimensions differ.
    pub fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        self.assert_same_space(other);
        let (Some(old), Some(new)) = (&self.blocks, &other.blocks) else { return self.join(other) };
        let places = other.places();
        let mut kept = Vec::new();
        let mut old_parts: Vec<Reduced> = Vec::new();
        for block in old {
            match find_same_block(other, &places, block) {
                Some(twin) => kept.push(Arc::clone(twin)),
                None => old_parts.push(reduced(block)),
            }
        }
        // Blocks that both have add equally many equalities to both sides, so they are not counted.
        let equalities =
            |reduced: &[Reduced]| reduced.iter().map(|part| part.equalities.len()).sum::<usize>();
        if equalities(&old_parts) > 0 {
            let differs = |block: &&Arc<_>| !kept.iter().any(|kept: &Arc<_>| Arc::ptr_eq(kept, block));
            let new_parts: Vec<Reduced> = new.iter().filter(differs).map(|block| reduced(block)).collect();
            if equalities(&new_parts) < equalities(&old_parts) {
                return other.clone();
            }
        }
        let satisfied = |edge: &DbmEdge| {
            other.value(&places, edge.row, edge.column).is_some_and(|(value, strict)| {
                value < edge.value || (value == edge.value && (strict || !edge.strict))
            })
        };
        let mut edges = Vec::new();
        for edge in old_parts.iter().flat_map(|part| &part.inequalities) {
            let closed = DbmEdge { strict: false, ..edge.clone() };
            edges.extend([edge.clone(), closed].into_iter().find(|edge| satisfied(edge)));
        }
        for edge in old_parts.iter().flat_map(|part| &part.equalities) {
            let back = DbmEdge { row: edge.column, column: edge.row, value: -&edge.value, strict: false };
            edges.extend([edge.clone(), back].into_iter().filter(|edge| satisfied(edge)));
        }
        let thresholds = thresholds.iter().flat_map(sides).filter_map(|side: WeightedSum| side.edge());
        edges.extend(thresholds.filter(satisfied));
        Self::of(self.dimensions, kept).meet_edges(&edges, &[])
    }
}
