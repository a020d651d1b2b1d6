//! One dimension gets a new value: by far the most frequent transfer.
//!
//! **Problem.** In general a parallel assignment takes blocks apart and puts them together again
//! ([`crate::transfer`]). To find out which blocks costs more than the work on these small polyhedra.
//!
//! **Method.** One assignment that reads a single block, or nothing, needs no partition. Its dimension
//!
//! - belongs to the block that is read: then only that block changes, within its dimensions;
//! - or leaves its own block, which forgets it, and enters the other one as a function of the dimensions
//!   there: each corner gets one more coordinate, and one equality is added to the constraints;
//! - or gets a constant, and is a block of its own.
//!
//! Its inverse changes only the block of its dimension, if it reads nothing else, or one dimension in which
//! there is no block. Everything else is left to the general way, as are assignments to blocks that are not
//! converted yet.

use crate::dense::Dense;
use crate::dual::Constraints;
use crate::lattice;
use crate::linear::{Constraint, LinearExpression, Relation};
use crate::polyhedron::{Block, Blocks, Polyhedron, positions, push_without};
use crate::product;
use crate::row;

/// The image of `x_dimension := expression` if that has one of the simple forms above. The blocks are those
/// of a polyhedron with this many dimensions.
pub(crate) fn assign_one(
    dimensions: usize,
    blocks: &[Block],
    dimension: usize,
    expression: &LinearExpression,
) -> Option<Polyhedron> {
    let owners = lattice::block_owners(dimensions, blocks);
    let mut reads = product::support(expression.row());
    let read = match reads.next() {
        None => None,
        Some(first) => {
            let read = owners[first]?;
            if !reads.all(|other| owners[other] == Some(read)) {
                return None;
            }
            Some(read)
        }
    };
    let own = owners[dimension];
    let concerned = own.into_iter().chain(read);
    if concerned.into_iter().any(|index| blocks[index].body.known_dual().is_none()) {
        return None;
    }
    let mut result = Blocks::new();
    let others = blocks.iter().enumerate().filter(|(index, _)| Some(*index) != own && Some(*index) != read);
    result.extend(others.map(|(_, block)| block.clone()));
    let new = match read.map(|read| &blocks[read]) {
        None => block_of_value(dimension, expression),
        Some(block) if own == read => {
            let at = positions(&[dimension], &block.dimensions)[0];
            let body = block.body.assign(&[(at, inward(expression, &block.dimensions))]);
            result.push(Block { dimensions: block.dimensions.clone(), body });
            return Some(Polyhedron::of_blocks(dimensions, result));
        }
        Some(block) => {
            let mut space = block.dimensions.clone();
            let at = space.iter().position(|&other| other > dimension).unwrap_or(space.len());
            space.insert(at, dimension);
            let body = block.body.with_function(at, &inward(expression, &space))?;
            Block { dimensions: space, body }
        }
    };
    // The dimension leaves its own block, if it has one.
    if let Some(own) = own.map(|own| &blocks[own])
        && !push_without(&mut result, own.body.clone(), &own.dimensions, &[dimension])
    {
        return Some(Polyhedron::empty(dimensions));
    }
    result.push(new);
    Some(Polyhedron::of_blocks(dimensions, result))
}

/// The points from which `x_dimension := expression` leads into a polyhedron with these blocks, if that has
/// one of the simple forms above.
pub(crate) fn substitute_one(
    whole: &Polyhedron,
    blocks: &[Block],
    dimension: usize,
    expression: &LinearExpression,
) -> Option<Polyhedron> {
    let dimensions = whole.dimensions();
    let owners = lattice::block_owners(dimensions, blocks);
    let Some(own) = owners[dimension] else {
        // Every old value leads into the polyhedron.
        return Some(whole.clone());
    };
    let block = &blocks[own];
    let others = blocks.iter().enumerate().filter(|(index, _)| *index != own);
    let mut result: Blocks = others.map(|(_, block)| block.clone()).collect();
    let mut reads = product::support(expression.row());
    if product::support(expression.row()).all(|read| owners[read] == Some(own)) {
        let at = positions(&[dimension], &block.dimensions)[0];
        let body = block.body.substitute(&[(at, inward(expression, &block.dimensions))]);
        let leaving = if reads.any(|read| read == dimension) { &[][..] } else { &[dimension] };
        if !push_without(&mut result, body, &block.dimensions, leaving) {
            return Some(Polyhedron::empty(dimensions));
        }
        return Some(Polyhedron::of_blocks(dimensions, result));
    }
    // The dimension is alone in its block, and the one that is read is in no block, so it takes its place.
    let read = reads.next()?;
    if reads.next().is_some() || owners[read].is_some() || block.dimensions.len() > 1 {
        return None;
    }
    let body = block.body.substitute(&[(0, inward(expression, &[read]))]);
    result.push(Block::of(&[read], body));
    Some(Polyhedron::of_blocks(dimensions, result))
}

/// Moves an expression into the space of some dimensions, which include all its variables.
fn inward(expression: &LinearExpression, space: &[usize]) -> LinearExpression {
    let row = product::gather(expression.row(), space);
    LinearExpression::of_row(row, expression.denominator().clone())
}

/// The block of a dimension that has a constant value.
fn block_of_value(dimension: usize, constant: &LinearExpression) -> Block {
    let mut row = row::unit(2, 1);
    row[0] = -&constant.row()[0];
    row[1] = constant.denominator().clone();
    let is_constant: Constraints = [Constraint::of_row(row, Relation::Equal)].into_iter().collect();
    Block::of(&[dimension], Dense::from_fitted(1, is_constant))
}
