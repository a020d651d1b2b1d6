//! Assignments, their inverses, and changes of the space.
//!
//! **One operation does most.** In an *image*, each dimension of the result takes `±x + c` of an old
//! dimension, a constant, or any value. Its matrix is read entry by entry from the old one, and is closed as
//! that was: no paths are needed. So forgetting, adding and removing dimensions, and parallel assignments of
//! these forms cost what they copy, and are exact; blocks that stay as they are are shared.
//!
//! Any other right side `e` is first the value of a new dimension `t`, met with `t = e`; this gives `t` the
//! range of `e`, and `t - x` the range of `e - x` for all `x` in it ([`crate::linear`]). Then `t` is
//! assigned.
//!
//! The inverse renames the assigned dimensions to new ones, meets these with the right sides over the old
//! ones, and projects them away.

use std::sync::Arc;

use coreach_polyhedra::{Constraint, LinearExpression, Rational, Relation};

use crate::block;
use crate::bound::UpperBound;
use crate::matrix::{Matrix, pairs};
use crate::octagon::Octagon;

#[derive(Clone, PartialEq, Debug)]
enum ImageSource {
    Anything,
    Constant(Rational),
    /// The value of a node of the old space plus a constant.
    Node(usize, Rational),
}

fn unchanged_source(dimension: usize) -> ImageSource {
    ImageSource::Node(2 * dimension, Rational::ZERO)
}

/// The source that gives the value of an expression. `None`: it is neither a constant nor `±x + c`.
fn find_source(expression: &LinearExpression, dimensions: usize) -> Option<ImageSource> {
    let mut used = (0..dimensions).filter(|at| !expression.coefficient(*at).is_zero());
    let constant = expression.constant_term();
    match (used.next(), used.next()) {
        (None, _) => Some(ImageSource::Constant(constant)),
        (Some(at), None) => {
            let coefficient = expression.coefficient(at);
            let unit = coefficient.numerator().abs().is_one() && coefficient.is_integer();
            unit.then(|| ImageSource::Node(2 * at + usize::from(coefficient.signum() < 0), constant))
        }
        _ => None,
    }
}

impl Octagon {
    /// The image of a parallel assignment. All right sides are evaluated at the old vector; without a right
    /// side the dimension may get any value. Exact for `±x + c` and constants, and otherwise an upper
    /// approximation. Integers are not rounded.
    /// Panics if a dimension does not exist.
    pub fn assign(&self, assignments: &[(usize, Option<LinearExpression>)]) -> Self {
        let mut sources: Vec<ImageSource> = (0..self.dimensions).map(unchanged_source).collect();
        let mut ties = Vec::new();
        for (dimension, value) in assignments {
            sources[*dimension] = match value {
                None => ImageSource::Anything,
                Some(expression) => find_source(expression, self.dimensions).unwrap_or_else(|| {
                    let new = self.dimensions + ties.len();
                    ties.push(tie_to_expression(new, expression));
                    unchanged_source(new)
                }),
            };
        }
        if ties.is_empty() {
            return image(self, &sources);
        }
        image(&self.add_dimensions(ties.len()).meet_constraints(&ties, &[]), &sources)
    }

    /// The vectors that a parallel assignment takes into this octagon, or may take if it assigns any value.
    /// Exactness is as in [`Octagon::assign`].
    /// Panics if a dimension does not exist.
    pub fn substitute(&self, assignments: &[(usize, Option<LinearExpression>)]) -> Self {
        let mut sources: Vec<ImageSource> = (0..self.dimensions).map(unchanged_source).collect();
        let mut ties = Vec::new();
        for (dimension, value) in assignments {
            sources[*dimension] = ImageSource::Anything;
            if let Some(expression) = value {
                ties.push(tie_to_expression(sources.len(), expression));
                sources.push(unchanged_source(*dimension));
            }
        }
        image(self, &sources).meet_constraints(&ties, &[]).remove_last_dimensions(ties.len())
    }

    /// Lets the given dimensions have any value. Exact.
    /// Panics if a dimension does not exist.
    pub fn forget(&self, dimensions: &[usize]) -> Self {
        let mut sources: Vec<ImageSource> = (0..self.dimensions).map(unchanged_source).collect();
        for dimension in dimensions {
            sources[*dimension] = ImageSource::Anything;
        }
        image(self, &sources)
    }

    /// Adds dimensions at the end, which may have any value.
    pub fn add_dimensions(&self, count: usize) -> Self {
        Self { dimensions: self.dimensions + count, blocks: self.blocks.clone() }
    }

    /// Projects the last dimensions away and drops them. Exact.
    /// Panics if there are fewer.
    pub fn remove_last_dimensions(&self, count: usize) -> Self {
        assert!(count <= self.dimensions, "more dimensions are removed than there are");
        let sources: Vec<ImageSource> = (0..self.dimensions - count).map(unchanged_source).collect();
        image(self, &sources)
    }
}

/// `x_new = expression`.
fn tie_to_expression(new: usize, expression: &LinearExpression) -> Constraint {
    Constraint::from_expression(&LinearExpression::variable(new).minus(expression), Relation::Equal)
}

/// Makes the octagon whose dimensions have their values from these sources.
fn image(octagon: &Octagon, sources: &[ImageSource]) -> Octagon {
    let Some(old) = &octagon.blocks else { return Octagon::empty(sources.len()) };
    let places = octagon.places();
    let mut targets_of = vec![Vec::new(); old.len()];
    // Copies of a value are equal even if it has no bounds.
    let mut copies_of = vec![Vec::new(); octagon.dimensions];
    let mut blocks = Vec::new();
    for (target, source) in sources.iter().enumerate() {
        match source {
            ImageSource::Anything => {}
            ImageSource::Constant(value) => {
                let mut matrix = Matrix::unbounded(1, value.denominator().clone());
                let double = value.numerator() + value.numerator();
                matrix.set(0, 1, UpperBound::new(-&double, /* strict */ false));
                matrix.set(1, 0, UpperBound::new(double, /* strict */ false));
                block::split(&[target], matrix, &mut blocks);
            }
            ImageSource::Node(node, _) => match places[node / 2] {
                Some((index, _)) => targets_of[index].push(target),
                None => copies_of[node / 2].push(target),
            },
        }
    }
    for targets in copies_of.into_iter().filter(|targets| targets.len() > 1) {
        let free = Matrix::unbounded(1, 1.into());
        let matrix = image_of_matrix(&free, |_| Some(0), &targets, sources);
        block::split(&targets, matrix, &mut blocks);
    }
    for (block, targets) in old.iter().zip(targets_of) {
        if targets == block.dimensions
            && targets.iter().all(|target| sources[*target] == unchanged_source(*target))
        {
            blocks.push(Arc::clone(block));
        } else if !targets.is_empty() {
            let position = |dimension: usize| places[dimension].map(|(_, position)| position);
            let matrix = image_of_matrix(&block.matrix, position, &targets, sources);
            block::split(&targets, matrix, &mut blocks);
        }
    }
    Octagon::of(sources.len(), blocks)
}

/// Makes the matrix of some targets, all of which have their values from nodes of one matrix. `position` is
/// that of an old dimension in it.
fn image_of_matrix(
    matrix: &Matrix,
    position: impl Fn(usize) -> Option<usize>,
    targets: &[usize],
    sources: &[ImageSource],
) -> Matrix {
    // For each node of the result, the node from which it has its value, and the constant added to that.
    let mut nodes = Vec::new();
    for target in targets {
        let ImageSource::Node(node, offset) = &sources[*target] else { continue };
        let Some(place) = position(node / 2) else { continue };
        let node = 2 * place + node % 2;
        nodes.extend([(node, offset.clone()), (node ^ 1, -offset)]);
    }
    let scale = nodes.iter().fold(matrix.scale().clone(), |lcm, (_, offset)| lcm.lcm(offset.denominator()));
    let matrix = matrix.clone().with_scale(&scale);
    let offsets: Vec<_> =
        nodes.iter().map(|(_, offset)| offset.numerator() * &scale.div_exact(offset.denominator())).collect();
    let mut moved = Matrix::unbounded(targets.len(), scale);
    for (row, column) in pairs(targets.len()) {
        if row != column {
            let shift = UpperBound::new(&offsets[column] - &offsets[row], /* strict */ false);
            moved.set(row, column, matrix.get(nodes[row].0, nodes[column].0).plus(&shift));
        }
    }
    moved
}
