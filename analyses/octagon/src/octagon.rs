//! The octagon as a value: a product of closed blocks, or empty.
//!
//! Blocks ([`crate::block`]) are shared between octagons: an operation copies those it changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use coreach_polyhedra::{Constraint, Integer, Rational, Relation};

use crate::block::{OctagonBlock, implied_bound};
use crate::matrix::{Matrix, pairs};
use crate::reduce;

/// A set of vectors of rationals that bounds of `x`, `-x` and `±x ± y` describe; each bound may be strict.
///
/// ```
/// use coreach_octagon::{Constraint, Octagon, Relation};
/// let octagon = Octagon::universe(2).meet_constraints(
///     &[Constraint::of(&[1, -1], 0, Relation::AtLeast), Constraint::of(&[-1, 0], 3, Relation::Greater)],
///     &[],
/// );
/// let shown: Vec<String> = octagon.constraints().iter().map(ToString::to_string).collect();
/// assert_eq!(shown, ["-x0 + 3 > 0", "x0 - x1 >= 0"]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Octagon {
    pub(crate) dimensions: usize,
    /// The blocks in the order of their least dimensions, or `None` if the octagon is empty.
    pub(crate) blocks: Option<Vec<Arc<OctagonBlock>>>,
}

impl Octagon {
    /// All vectors of this many dimensions.
    pub fn universe(dimensions: usize) -> Self {
        Self { dimensions, blocks: Some(Vec::new()) }
    }

    /// No vector.
    pub fn empty(dimensions: usize) -> Self {
        Self { dimensions, blocks: None }
    }

    pub(crate) fn of(dimensions: usize, mut blocks: Vec<Arc<OctagonBlock>>) -> Self {
        blocks.sort_by_key(|block| block.dimensions[0]);
        Self { dimensions, blocks: Some(blocks) }
    }

    /// The number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Is there no vector? Exact.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_none()
    }

    /// The constraints in a canonical form: equal octagons give identical lists. Equalities come first. No
    /// inequality is implied by the other constraints.
    pub fn constraints(&self) -> Vec<Constraint> {
        let Some(blocks) = &self.blocks else { return vec![Constraint::of(&[], -1, Relation::AtLeast)] };
        let mut constraints = Vec::new();
        for block in blocks {
            let reduced = reduce::reduced(block);
            constraints.extend(
                reduced.equalities.iter().map(|edge| edge.constraint(self.dimensions, Relation::Equal)),
            );
            constraints.extend(reduced.inequalities.iter().map(|edge| {
                let relation = if edge.strict { Relation::Greater } else { Relation::AtLeast };
                edge.constraint(self.dimensions, relation)
            }));
        }
        constraints.sort_by(|a, b| {
            let inequality = |c: &Constraint| c.relation() != Relation::Equal;
            inequality(a).cmp(&inequality(b)).then_with(|| a.cmp(b))
        });
        constraints
    }

    /// For each dimension, its block and the position in it, if it has a bound.
    pub(crate) fn places(&self) -> Vec<Option<(usize, usize)>> {
        let mut places = vec![None; self.dimensions];
        for (index, block) in self.blocks.iter().flatten().enumerate() {
            for (position, dimension) in block.dimensions.iter().enumerate() {
                places[*dimension] = Some((index, position));
            }
        }
        places
    }

    /// The bound of an entry, if any, and whether it is strict. Its nodes are over all dimensions.
    pub(crate) fn value(
        &self,
        places: &[Option<(usize, usize)>],
        row: usize,
        column: usize,
    ) -> Option<(Rational, bool)> {
        let blocks = self.blocks.as_ref()?;
        if row == column {
            return Some((Rational::ZERO, false));
        }
        let ((row_block, row_place), (column_block, column_place)) = (places[row / 2]?, places[column / 2]?);
        let own_node = |place: usize, node: usize| 2 * place + node % 2;
        let (own_row, own_column) = (own_node(row_place, row), own_node(column_place, column));
        if row_block == column_block {
            return blocks[row_block].matrix.value(own_row, own_column);
        }
        // Between two blocks, the bounds of `-2 V_row` and `2 V_column` are added up and halved.
        let (a, is_a_strict) = blocks[row_block].matrix.value(own_row, own_row ^ 1)?;
        let (b, is_b_strict) = blocks[column_block].matrix.value(own_column ^ 1, own_column)?;
        let half = Rational::new(1.into(), 2.into())?;
        Some((&(&a + &b) * &half, is_a_strict || is_b_strict))
    }

    /// Gathers the bounds among these ascending dimensions in one matrix. Between dimensions of different
    /// blocks it has the bounds that the bounds of each imply.
    pub(crate) fn bounds_among(&self, dimensions: &[usize]) -> Matrix {
        let places = self.places();
        let mut gathered = self.bounds_within_blocks(dimensions);
        for (row, column) in pairs(dimensions.len()) {
            let block_of = |node: usize| places[dimensions[node / 2]].map(|(block, _)| block);
            let blocks = (block_of(row), block_of(column));
            if matches!(blocks, (Some(a), Some(b)) if a != b) {
                let bound = implied_bound(&gathered, row, column);
                gathered.set(row, column, bound);
            }
        }
        gathered
    }

    /// Gathers the bounds among these ascending dimensions in one matrix, which has no bounds between
    /// dimensions of different blocks.
    pub(crate) fn bounds_within_blocks(&self, dimensions: &[usize]) -> Matrix {
        let places = self.places();
        let blocks = self.blocks.as_deref().unwrap_or_default();
        let used: BTreeSet<usize> = dimensions.iter().filter_map(|at| Some(places[*at]?.0)).collect();
        let scale = used.iter().fold(Integer::ONE, |scale, block| scale.lcm(blocks[*block].matrix.scale()));
        let mut gathered = Matrix::unbounded(dimensions.len(), scale.clone());
        for (row, column) in pairs(dimensions.len()) {
            let place_of = |node: usize| places[dimensions[node / 2]];
            let (Some((block, a)), Some((other_block, b))) = (place_of(row), place_of(column)) else {
                continue;
            };
            if block == other_block {
                let matrix = &blocks[block].matrix;
                let entry = matrix.get(2 * a + row % 2, 2 * b + column % 2);
                let factor = scale.div_exact(matrix.scale());
                gathered.set(row, column, if factor.is_one() { entry.clone() } else { entry.times(&factor) });
            }
        }
        gathered
    }

    pub(crate) fn assert_same_space(&self, other: &Self) {
        assert_eq!(self.dimensions, other.dimensions, "octagons of different spaces");
    }
}
