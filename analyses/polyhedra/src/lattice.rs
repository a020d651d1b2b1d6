//! The lattice, block by block: inclusion, meet, join.
//!
//! **Meet** relates the dimensions of blocks that overlap. Other blocks pass through. **Inclusion** asks for
//! each constraint of the larger side whether the smaller one satisfies it. The least value of a constraint
//! over several blocks of a product is the sum of the least values over the blocks, so nothing is merged.
//!
//! **Join** may lose a decomposition: the hull of two products is in general not a product. Each of these
//! steps is exact and keeps blocks apart, and is tried before blocks are merged:
//!
//! 1. Blocks that are the same on both sides pass through.
//! 2. A dimension that is free (in no block) on one side is free in the join, so the other side forgets it.
//!    That may make more dimensions free, and more blocks the same.
//! 3. If what is left of one side is within the other, the other is the answer.
//! 4. If what is left is a single block on both sides, only that is joined.
//!
//! If none of these is enough, the blocks left over are merged into one on each side. The result is
//! decomposed again, as far as possible, once it is converted.
//!
//! **Cost.** A join of k pairs of different blocks has a number of generators exponential in k. No exact
//! representation by generators avoids that. For this there are limits ([`crate::limits`]).

use std::sync::Arc;

use smallvec::SmallVec;

use crate::budget::{Exceeded, RowBudget};
use crate::dense::Dense;
use crate::dual::Constraints;
use crate::integer::Integer;
use crate::linear::{Constraint, Relation};
use crate::partition::UnionFind;
use crate::polyhedron::{self, Block, Blocks, Polyhedron};
use crate::query::RangeBound;
use crate::row::{self, Row};
use crate::{product, query};

impl Polyhedron {
    /// Inclusion: whether every point of `self` is one of `other`.
    pub fn is_leq(&self, other: &Self) -> bool {
        self.assert_same_space(other);
        if self.is_same_object(other) || self.is_empty() {
            return true;
        }
        let (Some(mine), Some(theirs)) = (self.fine(), other.fine()) else {
            return false;
        };
        let owners = block_owners(self.dimensions(), &mine);
        theirs.iter().all(|block| {
            let my_block = owners[block.dimensions[0]].map(|index| &mine[index]);
            match my_block {
                Some(my_block) if my_block.is_known_equal(block) => true,
                Some(my_block) if my_block.dimensions == block.dimensions => {
                    my_block.body.is_leq(&block.body)
                }
                _ => block.body.some_constraints().all(|constraint| {
                    let dimensions = Some(&block.dimensions[..]);
                    satisfies_terms(&mine, &owners, BlockTerms { constraint, dimensions })
                }),
            }
        })
    }

    /// Whether both have the same points.
    pub fn is_equal(&self, other: &Self) -> bool {
        self.is_leq(other) && other.is_leq(self)
    }

    /// Whether every point satisfies the constraint.
    /// Panics if the constraint mentions a dimension that does not exist.
    pub fn implies(&self, constraint: &Constraint) -> bool {
        self.which_implied([constraint]).next().is_some()
    }

    /// Picks those of some constraints that every point satisfies.
    pub(crate) fn which_implied<'a>(
        &'a self,
        constraints: impl IntoIterator<Item = &'a Constraint>,
    ) -> impl Iterator<Item = &'a Constraint> {
        let dimensions = self.dimensions();
        let blocks = if self.is_empty() { None } else { self.fine() };
        let owners = block_owners(dimensions, blocks.as_deref().unwrap_or_default());
        constraints.into_iter().filter(move |constraint| {
            constraint.assert_fits(dimensions);
            blocks.as_ref().is_none_or(|blocks| satisfies(blocks, &owners, constraint))
        })
    }

    /// The intersection.
    pub fn meet(&self, other: &Self) -> Self {
        self.assert_same_space(other);
        if self.is_same_object(other) {
            return self.clone();
        }
        let (Some(mine), Some(theirs)) = (self.fine(), other.fine()) else {
            return Self::empty(self.dimensions());
        };
        if mine.is_empty() {
            return other.clone();
        }
        if theirs.is_empty() {
            return self.clone();
        }
        let mut partition = UnionFind::new(self.dimensions());
        for block in mine.iter().chain(theirs.iter()) {
            partition.relate(block.dimensions.iter().copied());
        }
        // Each group of related dimensions becomes one block.
        let groups = partition.groups();
        let my_blocks = polyhedron::by_group(&mine, &groups);
        let their_blocks = polyhedron::by_group(&theirs, &groups);
        let pairs = groups.iter().zip(my_blocks.iter().zip(&their_blocks));
        let met = pairs.map(|(group, (a, b))| match (&a[..], &b[..]) {
            ([a], []) => (*a).clone(),
            ([], [b]) => (*b).clone(),
            ([a], [b]) if a.is_known_equal(b) => (*a).clone(),
            ([a], [b]) if a.dimensions == b.dimensions => Block::of(group, a.body.meet(&b.body)),
            _ => {
                // The side that is in fewer pieces is more likely to be worth starting from.
                let (fewer, more) = if a.len() <= b.len() { (a, b) } else { (b, a) };
                let base = polyhedron::merge_constraints(fewer, group);
                let mut added = Vec::new();
                for block in more {
                    let outward = block.body.some_constraints().map(|c| block.outward(c, self.dimensions()));
                    added.extend(outward.map(|c| polyhedron::inward(&c, group)));
                }
                Block::of(group, base.meet_constraints(&added))
            }
        });
        Self::of_blocks(self.dimensions(), met)
    }

    /// The points that also satisfy the constraints.
    /// Panics if a constraint mentions a dimension that does not exist.
    pub fn meet_constraints(&self, constraints: &[Constraint]) -> Self {
        let dimensions = self.dimensions();
        let mut added: SmallVec<[&Constraint; 8]> = SmallVec::new();
        for constraint in constraints {
            constraint.assert_fits(dimensions);
            match constraint.trivial() {
                Some(true) => {}
                Some(false) => return Self::empty(dimensions),
                None => added.push(constraint),
            }
        }
        if added.is_empty() {
            return self.clone();
        }
        let Some(blocks) = self.fine() else {
            return Self::empty(dimensions);
        };
        // Usually no blocks need be merged.
        if let Some(met) = meet_block_by_block(dimensions, &blocks, &added) {
            return Self::of_blocks(dimensions, met);
        }
        // A group has the dimensions that a block or a constraint relates. It becomes one block.
        let mut partition = UnionFind::new(dimensions);
        for block in blocks.iter() {
            partition.relate(block.dimensions.iter().copied());
        }
        for constraint in &added {
            partition.relate(product::support(constraint.row()));
        }
        let groups = partition.groups();
        let blocks_by_group = polyhedron::by_group(&blocks, &groups);
        let mut constraints_by_group: SmallVec<[Constraints; 2]> =
            SmallVec::from_elem(Constraints::new(), groups.len());
        for constraint in &added {
            // Trivial constraints are gone, so this one has a variable.
            let number = product::support(constraint.row()).next().and_then(|first| groups.of(first));
            if let Some(number) = number {
                constraints_by_group[number].push(polyhedron::inward(constraint, groups.members(number)));
            }
        }
        let parts = groups.iter().zip(blocks_by_group).zip(constraints_by_group);
        let met = parts.map(|((group, blocks), constraints)| match &blocks[..] {
            [block] if constraints.is_empty() => (*block).clone(),
            _ => Block::of(group, polyhedron::merge_constraints(&blocks, group).meet_fitted(constraints)),
        });
        Self::of_blocks(dimensions, met)
    }

    /// The smallest polyhedron (closed or not) that contains both.
    pub fn join(&self, other: &Self) -> Self {
        self.join_within(other, &RowBudget::unlimited(), &RowBudget::unlimited())
            .unwrap_or_else(|Exceeded| unreachable!("the budget is not limited"))
    }

    /// The join. If several blocks differ, they are merged within a budget of their own, `coupled`, and their
    /// join is converted within it if it is limited. Nothing else is converted yet.
    /// Errors: a budget does not suffice.
    pub(crate) fn join_within(
        &self,
        other: &Self,
        budget: &RowBudget,
        coupled: &RowBudget,
    ) -> Result<Self, Exceeded> {
        self.assert_same_space(other);
        if self.is_same_object(other) {
            return Ok(self.clone());
        }
        let Differing { mut same, mine, theirs } = match set_apart(self, other, budget)? {
            Joined::Parts(parts) => parts,
            Joined::Whole(whole) => return Ok(whole),
        };
        if mine.is_empty() || theirs.is_empty() {
            return Ok(Self::of_blocks(self.dimensions(), same));
        }
        if let ([a], [b]) = (&mine[..], &theirs[..])
            && a.dimensions == b.dimensions
        {
            let joined = if a.body.is_leq(&b.body) {
                b.body.clone()
            } else if b.body.is_leq(&a.body) {
                a.body.clone()
            } else {
                a.body.join(&b.body)
            };
            same.push(Block { dimensions: a.dimensions.clone(), body: joined });
            return Ok(Self::of_blocks(self.dimensions(), same));
        }
        if is_within(self.dimensions(), &mine, &theirs) {
            same.extend(theirs);
            return Ok(Self::of_blocks(self.dimensions(), same));
        }
        if is_within(self.dimensions(), &theirs, &mine) {
            same.extend(mine);
            return Ok(Self::of_blocks(self.dimensions(), same));
        }
        // The other blocks become one on each side.
        let both = mine.iter().chain(&theirs);
        let mut space: Vec<usize> = both.flat_map(|block| block.dimensions.iter().copied()).collect();
        space.sort_unstable();
        space.dedup();
        // Both sizes are compared with the budget before either product is made.
        coupled.hold(size(&mine).max(size(&theirs)), space.len() + 1)?;
        let merge = |blocks: &[Block]| -> Result<Dense, Exceeded> {
            let blocks: Vec<&Block> = blocks.iter().collect();
            polyhedron::merge_generators(&blocks, &space, coupled)
        };
        let joined = merge(&mine)?.join(&merge(&theirs)?);
        if coupled.is_limited() {
            joined.dual_within(coupled)?;
        }
        same.push(Block::of(&space, joined));
        Ok(Self::of_blocks(self.dimensions(), same))
    }
}

/// Two polyhedra to be joined, after steps 1 and 2.
pub(crate) struct Differing {
    pub(crate) same: Vec<Block>,
    /// The blocks that differ, with both descriptions. The dimensions of both sides are the same, unless the
    /// products of their blocks are small.
    pub(crate) mine: Vec<Block>,
    pub(crate) theirs: Vec<Block>,
}

pub(crate) enum Joined {
    Parts(Differing),
    /// One side is empty, so the other is the join.
    Whole(Polyhedron),
}

/// Separates the blocks that differ between the two sides. A dimension that only one side bounds becomes
/// free, as it is in the join.
pub(crate) fn set_apart(a: &Polyhedron, b: &Polyhedron, budget: &RowBudget) -> Result<Joined, Exceeded> {
    let dimensions = a.dimensions();
    let Some(mine) = a.duals_unless_empty_within(budget)? else {
        return Ok(Joined::Whole(b.clone()));
    };
    let Some(theirs) = b.duals_unless_empty_within(budget)? else {
        return Ok(Joined::Whole(a.clone()));
    };
    let (mut mine, mut theirs) = (mine.into_owned(), theirs.into_owned());
    let mut same = Vec::new();
    split_off_same(dimensions, &mut same, &mut mine, &mut theirs);
    // Each round frees a dimension or is the last.
    loop {
        let (my_owners, their_owners) = (block_owners(dimensions, &mine), block_owners(dimensions, &theirs));
        let half_free: Vec<usize> =
            (0..dimensions).filter(|&at| my_owners[at].is_some() != their_owners[at].is_some()).collect();
        if half_free.is_empty() {
            break;
        }
        // Blocks whose dimensions all become free are dropped. They are not empty, so nothing else is lost.
        let is_half_free = |at: &usize| half_free.binary_search(at).is_ok();
        mine.retain(|block| !block.dimensions.iter().all(is_half_free));
        theirs.retain(|block| !block.dimensions.iter().all(is_half_free));
        // Lines, rays and corners up to which a product may be made without looking for a better way.
        let is_small = |blocks: &[Block]| blocks.len() <= 1 || size(blocks) <= 32;
        if is_small(&mine) && is_small(&theirs) {
            // The join of the two products frees the dimension, and merging costs less than projecting first.
            break;
        }
        for side in [&mut mine, &mut theirs] {
            let smaller = Polyhedron::of_blocks(dimensions, core::mem::take(side)).forget(&half_free);
            // Projections of non-empty sets are not empty.
            *side = smaller.duals_unless_empty_within(budget)?.unwrap_or_default().into_owned();
        }
        split_off_same(dimensions, &mut same, &mut mine, &mut theirs);
    }
    Ok(Joined::Parts(Differing { same, mine, theirs }))
}

/// The lines, rays and corners of a product of blocks, both descriptions being known.
pub(crate) fn size(blocks: &[Block]) -> usize {
    let duals = blocks.iter().filter_map(|block| block.body.known_dual().flatten());
    product::size(duals.map(Arc::as_ref))
}

/// Moves the blocks that both sides have to `same`.
pub(crate) fn split_off_same(
    dimensions: usize,
    same: &mut Vec<Block>,
    mine: &mut Vec<Block>,
    theirs: &mut Vec<Block>,
) {
    let owners = block_owners(dimensions, theirs);
    let mut is_shared = vec![false; theirs.len()];
    mine.retain(|block| {
        let twin = owners[block.dimensions[0]].filter(|&index| theirs[index].is_known_equal(block));
        if let Some(index) = twin {
            is_shared[index] = true;
            same.push(block.clone());
        }
        twin.is_none()
    });
    let mut shared = is_shared.iter();
    theirs.retain(|_| !shared.next().copied().unwrap_or(false));
}

/// The blocks with the constraints added, if each constraint concerns one block or one dimension alone, so
/// that no blocks must be merged. Otherwise `None`.
fn meet_block_by_block(dimensions: usize, blocks: &[Block], added: &[&Constraint]) -> Option<Blocks> {
    let owners = block_owners(dimensions, blocks);
    // The number of a block, or behind these that of a dimension in none.
    let home = |constraint: &&Constraint| {
        let mut support = product::support(constraint.row());
        let first = support.next()?;
        let is_at_home = match owners[first] {
            Some(home) => support.all(|dimension| owners[dimension] == Some(home)),
            None => support.next().is_none(),
        };
        is_at_home.then(|| owners[first].unwrap_or(blocks.len() + first))
    };
    let homes: SmallVec<[usize; 8]> = added.iter().map(home).collect::<Option<_>>()?;
    let constraints_at = |home: usize, space: &[usize]| -> Constraints {
        let with_homes = added.iter().zip(&homes).filter(|(_, other)| **other == home);
        with_homes.map(|(constraint, _)| polyhedron::inward(constraint, space)).collect()
    };
    let mut met = Blocks::new();
    for (index, block) in blocks.iter().enumerate() {
        let body = match homes.contains(&index) {
            true => block.body.meet_fitted(constraints_at(index, &block.dimensions)),
            false => block.body.clone(),
        };
        met.push(Block { dimensions: block.dimensions.clone(), body });
    }
    // New blocks of one dimension, each once.
    for (place, &home) in homes.iter().enumerate().filter(|(_, home)| **home >= blocks.len()) {
        if homes[..place].contains(&home) {
            continue;
        }
        let space = [home - blocks.len()];
        met.push(Block::of(&space, Dense::from_fitted(1, constraints_at(home, &space))));
    }
    Some(met)
}

/// Whether the product of some non-empty blocks is within that of others.
fn is_within(dimensions: usize, smaller: &[Block], larger: &[Block]) -> bool {
    let product = |blocks: &[Block]| Polyhedron::of_blocks(dimensions, blocks.iter().cloned());
    product(smaller).is_leq(&product(larger))
}

pub(crate) type Owners = SmallVec<[Option<usize>; 16]>;

/// For each dimension, the index of the block that it belongs to.
pub(crate) fn block_owners(dimensions: usize, blocks: &[Block]) -> Owners {
    let mut owners = Owners::from_elem(None, dimensions);
    for (index, block) in blocks.iter().enumerate() {
        block.dimensions.iter().for_each(|&dimension| owners[dimension] = Some(index));
    }
    owners
}

/// A constraint whose coefficients belong to these dimensions of the space, in order.
#[derive(Clone, Copy)]
struct BlockTerms<'a> {
    constraint: &'a Constraint,
    /// `None` if they are the dimensions 0, 1, 2 and so on.
    dimensions: Option<&'a [usize]>,
}

impl<'a> BlockTerms<'a> {
    /// The coefficients other than 0, with their dimensions.
    fn iter(self) -> impl Iterator<Item = (usize, &'a Integer)> {
        let place = move |at: usize| self.dimensions.map_or(at, |dimensions| dimensions[at]);
        self.constraint.terms().map(move |(at, entry)| (place(at), entry))
    }

    /// The terms of a block, as a row in its space with this constant.
    fn inward(self, block: &Block, constant: Integer) -> Row {
        let mut row = row::zero(block.dimensions.len() + 1);
        row[0] = constant;
        for (dimension, entry) in self.iter() {
            if let Some(at) = block.dimensions.iter().position(|&own| own == dimension) {
                row[at + 1] = entry.clone();
            }
        }
        row
    }
}

/// Whether the product of non-empty blocks satisfies a constraint of the whole space.
pub(crate) fn satisfies(blocks: &[Block], owners: &[Option<usize>], constraint: &Constraint) -> bool {
    satisfies_terms(blocks, owners, BlockTerms { constraint, dimensions: None })
}

/// Asks the block that the constraint concerns. If it concerns several, their least values are added up.
fn satisfies_terms(blocks: &[Block], owners: &[Option<usize>], terms: BlockTerms<'_>) -> bool {
    let mut concerned: SmallVec<[usize; 8]> = SmallVec::new();
    for (dimension, _) in terms.iter() {
        match owners[dimension] {
            // The dimension may have any value.
            None => return false,
            Some(index) if concerned.contains(&index) => {}
            Some(index) => concerned.push(index),
        }
    }
    let constraint = terms.constraint;
    match &concerned[..] {
        [] => constraint.relation().admits(constraint.constant().signum()),
        [index] => {
            let block = &blocks[*index];
            let row = terms.inward(block, constraint.constant().clone());
            block.body.implies_row(&row, constraint.relation())
        }
        _ if constraint.relation() != Relation::Equal => {
            // The least value as a fraction that is not reduced, and whether some point attains it.
            let (mut sum, mut height, mut is_attained) = (constraint.constant().clone(), Integer::ONE, true);
            for &index in &concerned {
                let part = terms.inward(&blocks[index], Integer::ZERO);
                let Some((value, own_height, is_own_attained)) = blocks[index].body.least_of_row(&part)
                else {
                    return false;
                };
                sum = &sum * &own_height + &value * &height;
                height = &height * &own_height;
                is_attained &= is_own_attained;
            }
            match sum.signum() {
                0 => !is_attained || constraint.relation() == Relation::AtLeast,
                sign => sign > 0,
            }
        }
        _ => {
            let parts = concerned.iter().map(|&index| &blocks[index]);
            let parts = parts.map(|block| (block, terms.inward(block, Integer::ZERO)));
            let bounds = query::bounds_of_sum(constraint.constant(), parts);
            let is_zero = |bound: RangeBound| bound.is_some_and(|(value, _)| value.is_zero());
            is_zero(bounds.lower) && is_zero(bounds.upper)
        }
    }
}
