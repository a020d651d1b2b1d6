//! The type: a product of independent blocks.
//!
//! **Problem.** The number of generators of a polyhedron may be exponential in its dimensions, and every
//! algorithm here pays for each of them. But in the polyhedra of program analysis most dimensions have
//! nothing to do with most others.
//!
//! **Representation.** The dimensions are partitioned. Each *block* is a polyhedron in its own few dimensions
//! ([`crate::dense`]), and the whole is their product. A dimension in no block may have any value and costs
//! nothing. Polyhedra share blocks, so an operation does not copy a block that it does not change.
//!
//! **Source.** G. Singh, M. Püschel and M. Vechev, "Fast polyhedra abstract domain", POPL 2017
//! (<https://doi.org/10.1145/3009837.3009885>), after the same idea for octagons (PLDI 2015,
//! <https://doi.org/10.1145/2737924.2738000>).
//!
//! **Where we differ.** There the partition of a result follows from those of the arguments, so it may be
//! coarser than necessary, and stays so. Here a block with both descriptions is replaced by its finest
//! product ([`crate::product`]) before the next operation uses it. Joins compare blocks as sets, and test
//! inclusion before they merge ([`crate::lattice`]). Strict constraints decompose as well.
//!
//! **Exactness.** Decomposition never changes a result: the canonical constraints of a product are those of
//! its blocks, so even the lists that users see are the same as without it. **Laziness.** Whether a block is
//! empty may be known only when it is converted. The product is empty exactly if some block is, so an
//! operation that would drop a block asks it first.

use core::fmt;
use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::budget::{Exceeded, RowBudget};
use crate::dense::{Dense, Generators};
use crate::dual::{Constraints, Dual};
use crate::linear::Constraint;
use crate::partition::Groups;
use crate::product;
use crate::row;

/// A convex polyhedron over the rationals, bounded by closed and strict constraints. Cheap to clone: clones
/// share their descriptions. All operations leave their arguments as they are. Operations on two polyhedra
/// need equal numbers of dimensions and panic otherwise, as they do when a dimension's number is out of
/// range: both are mistakes of the calling program.
#[derive(Clone)]
#[must_use]
pub struct Polyhedron {
    pub(crate) dimensions: usize,
    /// Disjoint blocks ordered by their first dimensions, or `None` if the polyhedron is known to be empty.
    pub(crate) blocks: Option<Arc<Blocks>>,
}

/// A few are stored in place: most operations of an analysis concern one or two dimensions, and most of their
/// cost would be to allocate memory.
pub(crate) type Blocks = SmallVec<[Block; 2]>;

/// Some dimensions, ascending.
pub(crate) type Dimensions = SmallVec<[usize; 4]>;

#[derive(Clone)]
pub(crate) struct Block {
    /// At least one.
    pub(crate) dimensions: Dimensions,
    pub(crate) body: Dense,
}

impl Block {
    pub(crate) fn of(dimensions: &[usize], body: Dense) -> Self {
        debug_assert!(!dimensions.is_empty() && dimensions.len() == body.dimensions());
        Self { dimensions: Dimensions::from_slice(dimensions), body }
    }

    /// Whether both are known to be the same.
    pub(crate) fn is_known_equal(&self, other: &Self) -> bool {
        self.dimensions == other.dimensions && self.body.is_known_equal(&other.body)
    }

    /// Moves a constraint of the block into the whole space.
    pub(crate) fn outward(&self, constraint: &Constraint, dimensions: usize) -> Constraint {
        Constraint::of_canonical(
            product::spread(constraint.row(), &self.dimensions, dimensions + 1),
            constraint.relation(),
        )
    }
}

/// Moves a constraint into the space of `dimensions`, which include all its variables.
pub(crate) fn inward(constraint: &Constraint, dimensions: &[usize]) -> Constraint {
    Constraint::of_canonical(product::gather(constraint.row(), dimensions), constraint.relation())
}

/// The positions of `some` within `all`, which contains them. Both are in ascending order.
pub(crate) fn positions(some: &[usize], all: &[usize]) -> Dimensions {
    // Both are sorted, so the search goes on where the last dimension was found.
    let mut position = 0;
    some.iter()
        .map(|dimension| {
            while all[position] != *dimension {
                position += 1;
            }
            position
        })
        .collect()
}

impl Polyhedron {
    /// All points of the space.
    pub fn universe(dimensions: usize) -> Self {
        Self::of_blocks(dimensions, [])
    }

    /// No points.
    pub fn empty(dimensions: usize) -> Self {
        Self { dimensions, blocks: None }
    }

    /// The points that satisfy all constraints. Constraints may have fewer coefficients than there
    /// are dimensions; the missing ones are 0.
    /// Panics if a constraint mentions a dimension that does not exist.
    pub fn from_constraints(dimensions: usize, constraints: impl IntoIterator<Item = Constraint>) -> Self {
        let constraints: Vec<Constraint> = constraints.into_iter().collect();
        Self::universe(dimensions).meet_constraints(&constraints)
    }

    /// The number of dimensions of the space.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.raw().is_none_or(|blocks| blocks.iter().any(|block| block.body.is_empty()))
    }

    /// Whether every point of the space is in.
    pub fn is_universe(&self) -> bool {
        self.raw().is_some_and(|blocks| blocks.iter().all(|block| block.body.is_universe()))
    }

    /// The minimal constraints in canonical order: equal polyhedra give identical lists. Equalities come
    /// first, in reduced echelon form; then the facets, reduced modulo the equalities and sorted; then the
    /// strict constraints that leave out faces smaller than a facet, each the sum of the facets through that
    /// face. The universe has none; the empty polyhedron has the single constraint `-1 >= 0`.
    pub fn constraints(&self) -> Vec<Constraint> {
        if let Some([block]) = self.raw()
            && block.dimensions.len() == self.dimensions
        {
            return block.body.constraints();
        }
        if self.is_empty() {
            return vec![Constraint::contradiction(self.dimensions)];
        }
        let blocks = self.raw().unwrap_or_default();
        let duals: SmallVec<[&Dual; 8]> =
            blocks.iter().filter_map(|block| Some(block.body.dual()?.as_ref())).collect();
        // Rows of different blocks have no column in common, so the first coefficient of a row decides where
        // it belongs. Rows of one block are in order already. So no rows must be compared.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum RowKind {
            Equality,
            Facet,
            Extra,
        }
        // The kind, the key among rows of this kind, the block, and the row in it.
        let mut order: SmallVec<[(RowKind, isize, usize, usize); 32]> = SmallVec::new();
        for (number, (block, dual)) in blocks.iter().zip(&duals).enumerate() {
            for (index, constraint) in dual.constraints.iter().enumerate() {
                let kind = match index {
                    _ if index < dual.equalities => RowKind::Equality,
                    _ if index < dual.equalities + dual.facets => RowKind::Facet,
                    _ => RowKind::Extra,
                };
                // The column, among all dimensions, of the first coefficient. A minimal constraint has one.
                let pivot = row::pivot(constraint.row());
                let first = block.dimensions[pivot - 1] as isize + 1;
                // Inequalities are sorted by their coefficients. The earlier the dimension of the first one
                // is, the closer it brings a row to the beginning if negative, and to the end if positive.
                let key = match constraint.row()[pivot].is_positive() {
                    _ if kind == RowKind::Equality => first,
                    true => self.dimensions as isize - first,
                    false => first - self.dimensions as isize - 1,
                };
                order.push((kind, key, number, index));
            }
        }
        order.sort_unstable();
        let constraint = |&(_, _, number, index): &(RowKind, isize, usize, usize)| {
            blocks[number].outward(&duals[number].constraints[index], self.dimensions)
        };
        order.iter().map(constraint).collect()
    }

    /// The minimal generators, in an order that depends on the set of points alone. The corners of a product
    /// are all combinations of its blocks' corners: there may be very many.
    pub fn generators(&self) -> Generators {
        self.to_dense().generators()
    }

    /// The blocks of dimensions that are related, as far as is known: the polyhedron is the product
    /// of its projections to them, and dimensions in no block may take any value. After
    /// [`Polyhedron::constraints`] it is the finest such partition.
    pub fn blocks(&self) -> Vec<Vec<usize>> {
        self.fine().unwrap_or_default().iter().map(|block| block.dimensions.to_vec()).collect()
    }

    /// The polyhedron as one block over all dimensions.
    pub(crate) fn to_dense(&self) -> Dense {
        let all: Vec<usize> = (0..self.dimensions).collect();
        match self.duals_unless_empty() {
            Some(blocks) => {
                let blocks: Vec<&Block> = blocks.iter().collect();
                merge_generators(&blocks, &all, &RowBudget::unlimited())
                    .unwrap_or_else(|Exceeded| unreachable!("the budget is not limited"))
            }
            None => Dense::empty(self.dimensions),
        }
    }

    pub(crate) fn of_blocks(dimensions: usize, blocks: impl IntoIterator<Item = Block>) -> Self {
        let mut blocks: Blocks = blocks.into_iter().collect();
        if blocks.iter().any(|block| block.body.is_known_empty()) {
            return Self::empty(dimensions);
        }
        blocks.sort_unstable_by_key(|block| block.dimensions[0]);
        Self { dimensions, blocks: Some(Arc::new(blocks)) }
    }

    /// The blocks as they were made, unless the polyhedron is known to be empty.
    pub(crate) fn raw(&self) -> Option<&[Block]> {
        self.blocks.as_deref().map(Blocks::as_slice)
    }

    /// The blocks, each replaced by its finest product if that is known; `None` if the polyhedron
    /// is known to be empty.
    pub(crate) fn fine(&self) -> Option<Cow<'_, [Block]>> {
        let blocks = self.raw()?;
        if blocks.iter().any(|block| block.body.is_known_empty()) {
            return None;
        }
        if blocks.iter().all(|block| block.body.factors().is_none()) {
            return Some(Cow::Borrowed(blocks));
        }
        let mut fine = Vec::with_capacity(blocks.len());
        for block in blocks {
            let Some(factors) = block.body.factors() else {
                fine.push(block.clone());
                continue;
            };
            fine.extend(factors.iter().map(|(positions, body)| Block {
                dimensions: positions.iter().map(|&position| block.dimensions[position]).collect(),
                body: body.clone(),
            }));
        }
        fine.sort_unstable_by_key(|block| block.dimensions[0]);
        Some(Cow::Owned(fine))
    }

    /// Computes the finest product and both descriptions of each factor. Returns `None` if the polyhedron is
    /// empty.
    pub(crate) fn duals_unless_empty(&self) -> Option<Cow<'_, [Block]>> {
        self.duals_unless_empty_within(&RowBudget::unlimited())
            .unwrap_or_else(|Exceeded| unreachable!("the budget is not limited"))
    }

    /// [`Polyhedron::duals_unless_empty`] within a budget.
    pub(crate) fn duals_unless_empty_within(
        &self,
        budget: &RowBudget,
    ) -> Result<Option<Cow<'_, [Block]>>, Exceeded> {
        for block in self.raw().unwrap_or_default() {
            if block.body.dual_within(budget)?.is_none() {
                return Ok(None);
            }
        }
        Ok(self.fine())
    }

    /// Whether both share all their blocks.
    pub(crate) fn is_same_object(&self, other: &Self) -> bool {
        match (&self.blocks, &other.blocks) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    pub(crate) fn assert_same_space(&self, other: &Self) {
        assert_eq!(self.dimensions, other.dimensions, "operations on two polyhedra need the same space");
    }

    pub(crate) fn assert_dimension(&self, dimension: usize) {
        assert!(
            dimension < self.dimensions,
            "dimension {dimension} of a polyhedron with {}",
            self.dimensions
        );
    }
}

pub(crate) type Selection<'a> = SmallVec<[&'a Block; 4]>;

/// Blocks by the groups of a partition that relates at least the dimensions of each.
pub(crate) fn by_group<'a>(blocks: &'a [Block], groups: &Groups) -> SmallVec<[Selection<'a>; 2]> {
    let mut result: SmallVec<[Selection<'a>; 2]> = SmallVec::from_elem(Selection::new(), groups.len());
    for block in blocks {
        if let Some(group) = groups.of(block.dimensions[0]) {
            result[group].push(block);
        }
    }
    result
}

/// The product of blocks in a space that has their dimensions and perhaps more, to be met with
/// further constraints.
pub(crate) fn merge_constraints(blocks: &[&Block], dimensions: &[usize]) -> Dense {
    if let [block] = blocks
        && block.dimensions.len() == dimensions.len()
    {
        return block.body.clone();
    }
    if blocks.is_empty() {
        return Dense::universe(dimensions.len());
    }
    let known: Option<Vec<&Dual>> =
        blocks.iter().map(|block| Some(block.body.known_dual()??.as_ref())).collect();
    // Blocks with up to 128 generators are merged by these. Beyond, the conversion of the merged block starts
    // from constraints, which may see fewer.
    if let Some(duals) = known
        && product::size(duals.into_iter()) <= 128
        && let Ok(merged) = merge_generators(blocks, dimensions, &RowBudget::unlimited())
    {
        return merged;
    }
    let mut constraints = Constraints::new();
    for block in blocks {
        let positions = positions(&block.dimensions, dimensions);
        constraints.extend(block.body.some_constraints().map(|c| {
            Constraint::of_canonical(product::spread(c.row(), &positions, dimensions.len() + 1), c.relation())
        }));
    }
    Dense::from_fitted(dimensions.len(), constraints)
}

/// The product of blocks, both of whose descriptions are known, in a space that has their dimensions
/// and perhaps more, by both descriptions.
pub(crate) fn merge_generators(
    blocks: &[&Block],
    dimensions: &[usize],
    budget: &RowBudget,
) -> Result<Dense, Exceeded> {
    if let [block] = blocks
        && block.dimensions.len() == dimensions.len()
    {
        return Ok(block.body.clone());
    }
    let places: Vec<Dimensions> =
        blocks.iter().map(|block| positions(&block.dimensions, dimensions)).collect();
    let mut parts = Vec::with_capacity(blocks.len());
    for (block, places) in blocks.iter().zip(&places) {
        match block.body.dual_within(budget)? {
            Some(dual) => parts.push((places.as_slice(), dual.as_ref())),
            None => return Ok(Dense::empty(dimensions.len())),
        }
    }
    let dual = product::product(dimensions.len(), &parts, budget)?;
    Ok(Dense::of_dual(dimensions.len(), Some(Arc::new(dual))))
}

/// Shows constraints or generators as they are known, so that printing never converts.
impl fmt::Debug for Polyhedron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Polyhedron[{}]", self.dimensions)?;
        let Some(blocks) = self.raw() else {
            return f.write_str(" empty");
        };
        for block in blocks {
            if let Some((first, second)) = block.body.known_constraints() {
                let all = first.iter().chain(second).map(|c| block.outward(c, self.dimensions));
                write!(f, " ")?;
                f.debug_set().entries(all).finish()?;
            } else {
                write!(f, " {:?}: {:?}", block.dimensions, block.body)?;
            }
        }
        Ok(())
    }
}

/// Projects a block to the dimensions that are not `leaving`, and adds it to `result`. Returns whether the
/// block may have points. If all its dimensions leave, nothing is added.
pub(crate) fn push_without(
    result: &mut impl Extend<Block>,
    body: Dense,
    space: &[usize],
    leaving: &[usize],
) -> bool {
    if leaving.is_empty() {
        if !space.is_empty() {
            result.extend([Block::of(space, body)]);
        }
        return true;
    }
    if leaving.len() == space.len() {
        return !body.is_empty();
    }
    let staying: Vec<usize> = space.iter().copied().filter(|at| leaving.binary_search(at).is_err()).collect();
    result.extend([Block::of(&staying, body.remove_dimensions(&positions(leaving, space)))]);
    true
}
