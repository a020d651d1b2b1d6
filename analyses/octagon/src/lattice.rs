//! Order and join.
//!
//! Both are read off the closed matrices: `a` is in `b` if no entry of `a` is above that of `b`, and the
//! entries of the least octagon around both are the greater ones, closed already - strongly if both are,
//! tightly if both are (Miné 2006, section 4). Only dimensions whose blocks differ are looked at: beside a
//! block that both have, the greater entries say no more than the greater bounds.

use std::sync::Arc;

use crate::block::{self, OctagonBlock};
use crate::matrix::aligned;
use crate::octagon::Octagon;

impl Octagon {
    /// Is every vector of this one in the other? Exact, over the rationals.
    /// Panics if the numbers of dimensions differ.
    pub fn is_leq(&self, other: &Self) -> bool {
        self.assert_same_space(other);
        let (Some(_), Some(theirs)) = (&self.blocks, &other.blocks) else { return self.is_empty() };
        let places = self.places();
        for block in theirs {
            if find_same_block(self, &places, block).is_some() {
                continue;
            }
            if block.dimensions.iter().any(|dimension| places[*dimension].is_none()) {
                // It may have any value here, but each dimension of a block is bounded or related.
                return false;
            }
            let ours = self.bounds_among(&block.dimensions);
            if !ours.is_leq(&block.matrix) {
                return false;
            }
        }
        true
    }

    /// Joins two octagons: the least octagon that contains both.
    /// Panics if the numbers of dimensions differ.
    pub fn join(&self, other: &Self) -> Self {
        self.assert_same_space(other);
        match (&self.blocks, &other.blocks) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(a), Some(b)) if is_same(a, b) => self.clone(),
            _ => join(self, other),
        }
    }
}

fn is_same(a: &[Arc<OctagonBlock>], b: &[Arc<OctagonBlock>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| block::equal(a, b))
}

/// Finds the block that equals a block of another octagon. `places` are those of `octagon`.
pub(crate) fn find_same_block<'a>(
    octagon: &'a Octagon,
    places: &[Option<(usize, usize)>],
    block: &Arc<OctagonBlock>,
) -> Option<&'a Arc<OctagonBlock>> {
    let (index, _) = places[block.dimensions[0]]?;
    octagon.blocks.as_ref()?.get(index).filter(|twin| block::equal(twin, block))
}

/// The join of two octagons that have vectors: the greater bounds, where both have some.
fn join(a: &Octagon, b: &Octagon) -> Octagon {
    let places_of_b = b.places();
    let mut blocks = Vec::new();
    let mut differing = Vec::new();
    for block in a.blocks.iter().flatten() {
        if find_same_block(b, &places_of_b, block).is_some() {
            blocks.push(Arc::clone(block));
        } else {
            let both = |dimension: &&usize| places_of_b[**dimension].is_some();
            differing.extend(block.dimensions.iter().filter(both).copied());
        }
    }
    differing.sort_unstable();
    if !differing.is_empty() {
        let (ours, theirs) = aligned(a.bounds_among(&differing), b.bounds_among(&differing));
        block::split(&differing, ours.greatest(&theirs), &mut blocks);
    }
    Octagon::of(a.dimensions, blocks)
}
