//! Transfer, block by block: assignments, their inverses, and changes of the space.
//!
//! **Assignment.** The new value of an assigned dimension depends on the old values that its right side
//! reads; that of any other dimension on its own old value. So new dimensions are related when they depend on
//! the same old block. A dimension whose new value depends on another block than its own leaves its block,
//! which forgets it, and enters the other. It enters as 0 and has the right side *added* to it: that is a
//! bijection, which keeps both descriptions of the block ([`crate::dense`]).
//!
//! **Substitution.** The constraints of a block, written in the old values, mention what the right sides of
//! its dimensions read. Blocks whose constraints then mention a common dimension become one.
//!
//! Blocks that have nothing to do with an assigned dimension pass through.

use crate::budget::{Exceeded, RowBudget};
use crate::dense::Dense;
use crate::linear::{Constraint, LinearExpression, Relation};
use crate::partition::UnionFind;
use crate::polyhedron::{self, Block, Polyhedron, positions, push_without};
use crate::product;
use crate::row::{self, Row};
use crate::transfer_one::{assign_one, substitute_one};

struct RightSide {
    dimension: usize,
    /// The numerator, constant first.
    row: Row,
    expression: LinearExpression,
}

impl RightSide {
    fn reads(&self) -> impl Iterator<Item = usize> {
        product::support(&self.row)
    }

    /// Moves the assignment into the space of some dimensions, which include all its variables.
    fn inward(&self, dimensions: &[usize]) -> (usize, LinearExpression) {
        let row = product::gather(&self.row, dimensions);
        let expression = LinearExpression::of_row(row, self.expression.denominator().clone());
        (positions(&[self.dimension], dimensions)[0], expression)
    }
}

/// The change of a group's dimensions by an assignment. Some enter, then values change, then some leave.
struct GroupChange {
    /// The dimensions before or after the assignment.
    space: Vec<usize>,
    /// Those only after it.
    entering: Vec<usize>,
    /// Those only before it. Their new value belongs to another group.
    leaving: Vec<usize>,
}

impl GroupChange {
    /// Compares the `old` dimensions of a group with those whose new values are in it, which `rights` assign.
    fn of(old: &[usize], rights: &[&RightSide], is_assigned: &[bool]) -> Self {
        let mut space: Vec<usize> =
            old.iter().copied().chain(rights.iter().map(|right| right.dimension)).collect();
        space.sort_unstable();
        space.dedup();
        let entering = space.iter().copied().filter(|at| old.binary_search(at).is_err()).collect();
        let arrives = marks(is_assigned.len(), rights.iter().map(|right| right.dimension));
        let leaving = old.iter().copied().filter(|&at| is_assigned[at] && !arrives[at]).collect();
        GroupChange { space, entering, leaving }
    }

    /// Makes the assignments in the space of the group.
    fn moves(&self, rights: &[&RightSide]) -> Vec<(usize, LinearExpression)> {
        let assignment = |right: &&RightSide| {
            let (position, expression) = right.inward(&self.space);
            // An entering dimension is 0, so its value may be added.
            let is_entering = self.entering.binary_search(&right.dimension).is_ok();
            let current = LinearExpression::variable(position);
            (position, if is_entering { current.plus(&expression) } else { expression })
        };
        rights.iter().map(assignment).collect()
    }
}

impl Polyhedron {
    /// Prepares the right sides. Panics if a dimension does not exist or is assigned twice.
    fn right_sides(&self, assignments: &[(usize, LinearExpression)]) -> Vec<RightSide> {
        let mut is_assigned = vec![false; self.dimensions()];
        let fitted = |(dimension, expression): &(usize, LinearExpression)| {
            self.assert_dimension(*dimension);
            assert!(!is_assigned[*dimension], "dimension {dimension} is assigned twice");
            is_assigned[*dimension] = true;
            RightSide {
                dimension: *dimension,
                row: expression.fitted(self.dimensions()),
                expression: expression.clone(),
            }
        };
        assignments.iter().map(fitted).collect()
    }

    /// The image of a parallel assignment: all right sides are evaluated at the old point.
    /// Dimensions not assigned keep their values.
    /// Panics if a dimension is assigned twice, or one is mentioned that does not exist.
    pub fn assign(&self, assignments: &[(usize, LinearExpression)]) -> Self {
        self.assign_within(assignments, &RowBudget::unlimited())
            .unwrap_or_else(|Exceeded| unreachable!("the budget is not limited"))
    }

    /// [`Polyhedron::assign`] within a budget. If that is limited, necessary conversions are done within it.
    pub(crate) fn assign_within(
        &self,
        assignments: &[(usize, LinearExpression)],
        budget: &RowBudget,
    ) -> Result<Self, Exceeded> {
        let dimensions = self.dimensions();
        let Some(blocks) = self.fine() else {
            return Ok(self.clone());
        };
        if let [(dimension, expression)] = assignments {
            self.assert_dimension(*dimension);
            expression.assert_fits(dimensions);
            if let Some(assigned) = assign_one(dimensions, &blocks, *dimension, expression) {
                return Ok(assigned);
            }
        }
        let rights = self.right_sides(assignments);
        if rights.is_empty() {
            return Ok(self.clone());
        }
        let is_assigned = marks(dimensions, rights.iter().map(|right| right.dimension));
        // Member `at` is the old value of a dimension, `dimensions + at` the new one if assigned.
        let mut partition = UnionFind::new(2 * dimensions);
        for block in blocks.iter() {
            partition.relate(block.dimensions.iter().copied());
        }
        for right in &rights {
            partition.relate(right.reads().chain([dimensions + right.dimension]));
        }
        let groups = partition.groups();
        let blocks_by_group = polyhedron::by_group(&blocks, &groups);
        let mut result = Vec::new();
        for (group, blocks) in groups.iter().zip(&blocks_by_group) {
            let is_own = |right: &&RightSide| group.binary_search(&(dimensions + right.dimension)).is_ok();
            let own_rights: Vec<&RightSide> = rights.iter().filter(is_own).collect();
            let old: Vec<usize> = group.iter().copied().filter(|&at| at < dimensions).collect();
            // The group has nothing to do with an assigned dimension.
            if own_rights.is_empty() && !old.iter().any(|&at| is_assigned[at]) {
                result.extend(blocks.iter().map(|&block| block.clone()));
                continue;
            }
            let change = GroupChange::of(&old, &own_rights, &is_assigned);
            let mut body = add_zero_dimensions(blocks, &change.entering, &change.space);
            if budget.is_limited() {
                body.dual_within(budget)?;
            }
            body = body.assign(&change.moves(&own_rights));
            if !push_without(&mut result, body, &change.space, &change.leaving) {
                // The block is empty, so the whole is.
                return Ok(Self::empty(dimensions));
            }
        }
        Ok(Self::of_blocks(dimensions, result))
    }

    /// The points from which the parallel assignment leads into `self`.
    /// Panics if a dimension is assigned twice, or one is mentioned that does not exist.
    pub fn substitute(&self, assignments: &[(usize, LinearExpression)]) -> Self {
        let dimensions = self.dimensions();
        let Some(blocks) = self.fine() else {
            return self.clone();
        };
        if let [(dimension, expression)] = assignments {
            self.assert_dimension(*dimension);
            expression.assert_fits(dimensions);
            if let Some(substituted) = substitute_one(self, &blocks, *dimension, expression) {
                return substituted;
            }
        }
        let rights = self.right_sides(assignments);
        let mut right_of: Vec<Option<&RightSide>> = vec![None; dimensions];
        rights.iter().for_each(|right| right_of[right.dimension] = Some(right));
        // The dimensions that the constraints of each block mention afterwards.
        let mentioned: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| {
                let mut mentioned: Vec<usize> = Vec::new();
                for &dimension in block.dimensions.iter() {
                    match right_of[dimension] {
                        Some(right) => mentioned.extend(right.reads()),
                        None => mentioned.push(dimension),
                    }
                }
                mentioned.sort_unstable();
                mentioned.dedup();
                mentioned
            })
            .collect();
        let mut partition = UnionFind::new(dimensions);
        mentioned.iter().for_each(|of_block| partition.relate(of_block.iter().copied()));
        let groups = partition.groups();
        let mut members: Vec<(Vec<&Block>, &[usize])> =
            groups.iter().map(|group| (Vec::new(), group)).collect();
        for (block, of_block) in blocks.iter().zip(&mentioned) {
            match of_block.first().and_then(|&first| groups.of(first)) {
                Some(group) => members[group].0.push(block),
                // All right sides for the block are constants.
                None => members.push((vec![block], &[])),
            }
        }
        let mut result = Vec::new();
        // For each group: the dimensions of its blocks, and those that the constraints mention afterwards.
        for (blocks, mentioned) in members {
            let constrained = || blocks.iter().flat_map(|block| block.dimensions.iter().copied());
            let own_rights: Vec<&RightSide> = constrained().filter_map(|at| right_of[at]).collect();
            if own_rights.is_empty() {
                result.extend(blocks.iter().map(|&block| block.clone()));
                continue;
            }
            let mut space: Vec<usize> = constrained().chain(mentioned.iter().copied()).collect();
            space.sort_unstable();
            space.dedup();
            let moves: Vec<(usize, LinearExpression)> =
                own_rights.iter().map(|right| right.inward(&space)).collect();
            let body = polyhedron::merge_constraints(&blocks, &space).substitute(&moves);
            let is_mentioned = marks(dimensions, mentioned.iter().copied());
            let leaving: Vec<usize> = space.iter().copied().filter(|&at| !is_mentioned[at]).collect();
            if !push_without(&mut result, body, &space, &leaving) {
                return Self::empty(dimensions);
            }
        }
        Self::of_blocks(dimensions, result)
    }

    /// Existential projection: the given dimensions may take any value afterwards. The space stays.
    /// Panics if a dimension does not exist.
    pub fn forget(&self, dimensions: &[usize]) -> Self {
        dimensions.iter().for_each(|&dimension| self.assert_dimension(dimension));
        let Some(blocks) = self.fine() else {
            return self.clone();
        };
        let is_forgotten = marks(self.dimensions(), dimensions.iter().copied());
        let mut result = Vec::with_capacity(blocks.len());
        let mut is_changed = false;
        for block in blocks.iter().cloned() {
            let leaving: Vec<usize> =
                block.dimensions.iter().copied().filter(|&at| is_forgotten[at]).collect();
            if leaving.is_empty() {
                result.push(block);
                continue;
            }
            is_changed = true;
            if leaving.len() == block.dimensions.len() {
                // An empty block makes the product empty, so it is not simply dropped.
                if block.body.is_empty() {
                    return Self::empty(self.dimensions());
                }
                continue;
            }
            // The block keeps the dimension as a free one until it is converted. Then the conversion starts
            // from the known description, and splits the block as far as possible.
            let body = block.body.forget(&positions(&leaving, &block.dimensions));
            result.push(Block { dimensions: block.dimensions, body });
        }
        if is_changed { Self::of_blocks(self.dimensions(), result) } else { self.clone() }
    }

    /// The same polyhedron in a space with `count` more dimensions at the end, which may take any value.
    pub fn add_dimensions(&self, count: usize) -> Self {
        Self { dimensions: self.dimensions + count, blocks: self.blocks.clone() }
    }

    /// Projects the given dimensions away and drops them; the others move up, in order.
    /// Panics if a dimension does not exist.
    pub fn remove_dimensions(&self, dimensions: &[usize]) -> Self {
        dimensions.iter().for_each(|&dimension| self.assert_dimension(dimension));
        if dimensions.is_empty() {
            return self.clone();
        }
        let is_removed = marks(self.dimensions(), dimensions.iter().copied());
        let mut new_of = Vec::with_capacity(self.dimensions());
        let mut next = 0;
        for is_removed in &is_removed {
            new_of.push(next);
            next += usize::from(!is_removed);
        }
        let Some(blocks) = self.fine() else {
            return Self::empty(next);
        };
        let mut result = Vec::with_capacity(blocks.len());
        for block in blocks.iter().cloned() {
            let leaving: Vec<usize> = block.dimensions.iter().copied().filter(|&at| is_removed[at]).collect();
            if !push_without(&mut result, block.body, &block.dimensions, &leaving) {
                return Self::empty(next);
            }
        }
        for block in &mut result {
            block.dimensions = block.dimensions.iter().map(|&at| new_of[at]).collect();
        }
        Self::of_blocks(next, result)
    }

    /// A polyhedron within `self` that still has all points of `self` whose dimensions marked in `integer`
    /// have integer values. Dimensions beyond the end of `integer` are not marked.
    pub fn tighten(&self, integer: &[bool]) -> Self {
        self.tighten_within(integer, &RowBudget::unlimited())
    }

    /// [`Polyhedron::tighten`], block by block, as far as the budget suffices.
    pub(crate) fn tighten_within(&self, integer: &[bool], budget: &RowBudget) -> Self {
        let Some(blocks) = self.fine() else {
            return self.clone();
        };
        let tightened = blocks.iter().map(|block| {
            let own: Vec<bool> =
                block.dimensions.iter().map(|&at| integer.get(at).copied().unwrap_or(false)).collect();
            Block { body: block.body.tighten_within(&own, budget), dimensions: block.dimensions.clone() }
        });
        Self::of_blocks(self.dimensions(), tightened)
    }
}

/// For each number below `count`: is it a member?
fn marks(count: usize, members: impl Iterator<Item = usize>) -> Vec<bool> {
    let mut marks = vec![false; count];
    members.for_each(|member| marks[member] = true);
    marks
}

/// The product of blocks with further dimensions that are 0.
fn add_zero_dimensions(blocks: &[&Block], entering: &[usize], space: &[usize]) -> Dense {
    if entering.is_empty() {
        return polyhedron::merge_constraints(blocks, space);
    }
    let zeros = (0..entering.len())
        .map(|at| Constraint::of_row(row::unit(entering.len() + 1, at + 1), Relation::Equal))
        .collect();
    let zero = Dense::from_fitted(entering.len(), zeros);
    let zero = Block::of(entering, zero);
    let with_zero: Vec<&Block> = blocks.iter().copied().chain([&zero]).collect();
    // A block with one corner does not multiply the number of corners, so generators are kept.
    let are_known = blocks.iter().all(|block| block.body.known_dual().is_some());
    if are_known && blocks.len() == 1 {
        let merged = polyhedron::merge_generators(&with_zero, space, &RowBudget::unlimited());
        return merged.unwrap_or_else(|Exceeded| unreachable!("the budget is not limited"));
    }
    polyhedron::merge_constraints(&with_zero, space)
}
