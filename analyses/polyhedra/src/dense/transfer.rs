//! Transfer: assignments, their inverses, and changes of the space.
//!
//! An assignment maps generators, and a substitution maps constraints. Each is exact without a conversion,
//! strictness included. If the assigned part is invertible, both maps are bijections, and a polyhedron with
//! both descriptions keeps both.

use std::sync::Arc;

use smallvec::smallvec;

use crate::bits::BitSet;
use crate::budget::{Exceeded, RowBudget};
use crate::dense::{Dense, Recipe};
use crate::dual::{Dual, Generator, GeneratorRows, Kind};
use crate::integer::Integer;
use crate::interval;
use crate::linear::{Constraint, LinearExpression, Relation};
use crate::minimise::{Facet, Minimal};
use crate::product;
use crate::rational::Rational;
use crate::row::{self, Row};

/// A parallel assignment, fitted to a space.
struct AffineMap {
    /// Dimension, numerator row, and the factor that brings the numerator to [`AffineMap::scale`].
    parts: Vec<(usize, Row, Integer)>,
    /// The common denominator of all expressions.
    scale: Integer,
}

impl AffineMap {
    /// Panics if a dimension is assigned twice, or one is mentioned that does not exist.
    fn new(space: &Dense, assignments: &[(usize, LinearExpression)]) -> Self {
        let scale =
            assignments.iter().fold(Integer::ONE, |lcm, (_, expression)| lcm.lcm(expression.denominator()));
        let mut parts: Vec<(usize, Row, Integer)> = Vec::with_capacity(assignments.len());
        for (dimension, expression) in assignments {
            space.assert_dimension(*dimension);
            assert!(
                parts.iter().all(|(other, _, _)| other != dimension),
                "dimension {dimension} is assigned twice"
            );
            let factor = scale.div_exact(expression.denominator());
            parts.push((*dimension, expression.fitted(space.dimensions()), factor));
        }
        Self { parts, scale }
    }

    /// The generator after the assignment.
    fn image(&self, generator: &[Integer]) -> Row {
        let mut result: Row = generator.iter().map(|entry| entry * &self.scale).collect();
        for (dimension, row, factor) in &self.parts {
            result[dimension + 1] = &row::dot(row, generator) * factor;
        }
        row::normalise(&mut result);
        result
    }

    /// The constraint that holds before the assignment exactly when the given one holds after it.
    fn preimage(&self, constraint: &Constraint) -> Constraint {
        let row_after = constraint.row();
        let mut result: Row = row_after.iter().map(|entry| entry * &self.scale).collect();
        // The assignment is parallel, so all assigned entries are taken away before expressions are added.
        for (dimension, _, _) in &self.parts {
            result[dimension + 1] = Integer::ZERO;
        }
        for (dimension, row, factor) in &self.parts {
            let coefficient = &row_after[dimension + 1] * factor;
            if !coefficient.is_zero() {
                result = result.iter().zip(row).map(|(sum, entry)| sum + &(&coefficient * entry)).collect();
            }
        }
        Constraint::of_row(result, constraint.relation())
    }
}

/// The assignment that undoes `assignments`, if there is one. With S the assigned dimensions, `x'_S = A x_S +
/// r`, where r depends on other dimensions only, which stay as they are; so `x_S = A^-1 (x'_S - r)`, and only
/// the small matrix A is inverted.
fn invert_assignments(assignments: &[(usize, LinearExpression)]) -> Option<Vec<(usize, LinearExpression)>> {
    if let [(dimension, expression)] = assignments {
        return expression.solved_for(*dimension).map(|undo| vec![(*dimension, undo)]);
    }
    let size = assignments.len();
    let mut matrix: Vec<Vec<Rational>> = assignments
        .iter()
        .map(|(_, expression)| {
            assignments.iter().map(|(dimension, _)| expression.coefficient(*dimension)).collect()
        })
        .collect();
    let mut right: Vec<LinearExpression> = assignments
        .iter()
        .map(|(dimension, expression)| {
            // `x' - r`
            let mut r = expression.clone();
            for (assigned, _) in assignments {
                let variable = LinearExpression::variable(*assigned);
                r = r.minus(&variable.times(&expression.coefficient(*assigned)));
            }
            LinearExpression::variable(*dimension).minus(&r)
        })
        .collect();
    // Gauss-Jordan elimination, applied to the right side too.
    for column in 0..size {
        let pivot_row = (column..size).find(|&index| !matrix[index][column].is_zero())?;
        matrix.swap(column, pivot_row);
        right.swap(column, pivot_row);
        let factor = matrix[column][column].reciprocal()?;
        matrix[column].iter_mut().for_each(|entry| *entry = &*entry * &factor);
        right[column] = right[column].times(&factor);
        let (pivot, pivot_right) = (matrix[column].clone(), right[column].clone());
        for index in (0..size).filter(|&index| index != column) {
            let factor = matrix[index][column].clone();
            if factor.is_zero() {
                continue;
            }
            for (entry, pivot_entry) in matrix[index].iter_mut().zip(&pivot) {
                *entry = &*entry - &(&factor * pivot_entry);
            }
            right[index] = right[index].minus(&pivot_right.times(&factor));
        }
    }
    Some(assignments.iter().map(|(dimension, _)| *dimension).zip(right).collect())
}

/// The points of a polyhedron, each with one more coordinate: the value of an expression, in a space where
/// the new dimension is number `new`. The expression, whose numerator is a row of that space, does not read
/// it.
fn with_function(dual: &Dual, new: usize, row: &[Integer], denominator: &Integer) -> Dual {
    let wider = |old: &[Integer], value: Integer| -> Row {
        let mut wider = Row::with_capacity(old.len() + 1);
        wider.extend(old[..=new].iter().cloned());
        wider.push(value);
        wider.extend(old[new + 1..].iter().cloned());
        wider
    };
    let image = |old: &[Integer]| {
        let mut image = wider(old, Integer::ZERO);
        let value = row::dot(row, &image);
        if !denominator.is_one() {
            image.iter_mut().for_each(|entry| *entry = &*entry * denominator);
        }
        image[new + 1] = value;
        row::normalise(&mut image);
        image
    };
    // All images satisfy `denominator * x_new - row == 0`.
    let mut graph: Row = row.into();
    row::negate(&mut graph);
    graph[new + 1] = denominator.clone();
    map_dual(dual, image, |constraint| wider(constraint.row(), Integer::ZERO), Some(graph))
}

/// Both descriptions after a map that is one-to-one: `image` maps generators, `constraint` constraints to
/// rows of what holds of the images, and one more equality may be what all images satisfy.
fn map_dual(
    dual: &Dual,
    image: impl Fn(&[Integer]) -> Row,
    constraint: impl Fn(&Constraint) -> Row,
    equality: Option<Row>,
) -> Dual {
    let (equalities, facets) = dual.closure_constraints().split_at(dual.equalities);
    let equalities = row::echelon(equalities.iter().map(&constraint).chain(equality).collect());
    let reduce = |facet: &Constraint| {
        let mut row = constraint(facet);
        row::reduce(&mut row, &equalities);
        row
    };
    let facets = facets.iter().map(|facet| Facet { row: reduce(facet), rays: BitSet::default() }).collect();
    let (lines, extremes) = dual.closure_generators().split_at(dual.lines);
    let lines = row::echelon(lines.iter().map(|line| image(&line.row)).collect());
    let rays = extremes.iter().map(|generator| {
        let mut row = image(&generator.row);
        row::reduce(&mut row, &lines);
        row
    });
    let rays = rays.collect();
    // Strictness is computed anew. Its canonical form has sums of normalised rows (for corners cut off, and
    // for points in the middle of faces). A bijection does not map such a sum to that of the images.
    let strict: Vec<Row> =
        dual.constraints.iter().filter(|c| c.relation() == Relation::Greater).map(reduce).collect();
    let minimal = Minimal { lines, rays, equalities, facets };
    product::finish(minimal, dual.has_infinite_facet, &strict, &RowBudget::unlimited())
        .unwrap_or_else(|Exceeded| unreachable!("the budget is not limited"))
}

/// Is the generator still one? A direction may have been mapped to 0.
fn is_nonzero(generator: &Generator) -> bool {
    generator.row.iter().any(|entry| !entry.is_zero())
}

impl Dense {
    /// The image of a parallel assignment: all right sides are evaluated at the old point.
    /// Dimensions not assigned keep their values.
    /// Panics if a dimension is assigned twice, or one is mentioned that does not exist.
    pub fn assign(&self, assignments: &[(usize, LinearExpression)]) -> Self {
        if let ([(0, expression)], Some(Some(dual))) = (assignments, self.known_dual())
            && self.dimensions() == 1
        {
            return Self::of_dual(1, interval::image(dual, expression));
        }
        let map = AffineMap::new(self, assignments);
        if assignments.is_empty() || self.is_known_empty() {
            return self.clone();
        }
        let dimensions = self.dimensions();
        if let Some(undo) = invert_assignments(assignments) {
            let undo = AffineMap::new(self, &undo);
            return self.map_bijectively(|row| map.image(row), |c| undo.preimage(c));
        }
        let Some(generators) = self.some_generators() else {
            return Self::empty(dimensions);
        };
        let image = |old: &Generator| Generator { kind: old.kind, row: map.image(&old.row) };
        Self::of_generators(dimensions, None, generators.map(image).filter(is_nonzero).collect())
    }

    /// The points, each with one more coordinate: the value of an expression that does not read it, in a
    /// space where the new dimension is number `new`. Nothing if a conversion would be needed.
    pub(crate) fn with_function(&self, new: usize, expression: &LinearExpression) -> Option<Self> {
        let dual = self.known_dual()?;
        let dimensions = self.dimensions() + 1;
        let row = expression.fitted(dimensions);
        debug_assert!(row[new + 1].is_zero());
        let extended = |dual: &Arc<Dual>| with_function(dual, new, &row, expression.denominator());
        Some(Self::of_dual(dimensions, dual.map(|dual| Arc::new(extended(dual)))))
    }

    /// The image under a bijection. A known double description is mapped as such, and so are the constraints
    /// or generators that were added to it.
    fn map_bijectively(
        &self,
        image: impl Fn(&[Integer]) -> Row,
        constraint: impl Fn(&Constraint) -> Constraint,
    ) -> Self {
        let dimensions = self.dimensions();
        let row = |old: &Constraint| constraint(old).into_row();
        let mapped = |dual: &Arc<Dual>| Arc::new(map_dual(dual, &image, row, None));
        match (self.known_dual(), self.source()) {
            (Some(dual), _) => Self::of_dual(dimensions, dual.map(mapped)),
            (None, Recipe::Known) => unreachable!("both descriptions were there from the beginning"),
            (None, Recipe::Constraints { base, added }) => {
                let added = Box::new(added.iter().map(&constraint).collect());
                Self::of_source(dimensions, Recipe::Constraints { base: base.as_ref().map(mapped), added })
            }
            (None, Recipe::Generators { base, added }) => {
                let added = added.iter().map(|g| Generator { kind: g.kind, row: image(&g.row) }).collect();
                Self::of_generators(dimensions, base.as_ref().map(mapped), added)
            }
        }
    }

    /// The points from which the parallel assignment leads into `self`.
    /// Panics if a dimension is assigned twice, or one is mentioned that does not exist.
    pub fn substitute(&self, assignments: &[(usize, LinearExpression)]) -> Self {
        if let ([(0, expression)], Some(Some(dual))) = (assignments, self.known_dual())
            && self.dimensions() == 1
        {
            return Self::of_dual(1, interval::preimage(dual, expression));
        }
        let map = AffineMap::new(self, assignments);
        if assignments.is_empty() || self.is_known_empty() {
            return self.clone();
        }
        let dimensions = self.dimensions();
        if let Some(undo) = invert_assignments(assignments) {
            let undo = AffineMap::new(self, &undo);
            return self.map_bijectively(|row| undo.image(row), |c| map.preimage(c));
        }
        let mapped = self.some_constraints().map(|c| map.preimage(c)).collect();
        Self::from_fitted(dimensions, mapped)
    }

    /// Existential projection: the given dimensions may take any value afterwards. The space stays.
    /// Panics if a dimension does not exist.
    pub fn forget(&self, dimensions: &[usize]) -> Self {
        dimensions.iter().for_each(|&dimension| self.assert_dimension(dimension));
        if self.is_known_empty() {
            return self.clone();
        }
        if self.is_known_free_in(dimensions) {
            return self.clone();
        }
        if let Some(eliminated) = self.free_by_elimination(dimensions) {
            return eliminated;
        }
        let Some((base, mut added)) = self.generator_parts() else {
            return Self::empty(self.dimensions());
        };
        added.extend(dimensions.iter().map(|&dimension| Generator {
            kind: Kind::Line,
            row: row::unit(self.dimensions() + 1, dimension + 1),
        }));
        Self::of_generators(self.dimensions(), base, added)
    }

    /// Are constraints known without conversion, none of which mentions these dimensions?
    fn is_known_free_in(&self, dimensions: &[usize]) -> bool {
        let mentions_none = |c: &Constraint| dimensions.iter().all(|&at| c.coefficients()[at].is_zero());
        self.known_constraints().is_some_and(|(first, second)| first.iter().chain(second).all(mentions_none))
    }

    /// Projects the given dimensions away and drops them; the others move up, in order.
    /// Panics if a dimension does not exist.
    pub fn remove_dimensions(&self, dimensions: &[usize]) -> Self {
        dimensions.iter().for_each(|&dimension| self.assert_dimension(dimension));
        let kept: Vec<usize> =
            (0..self.dimensions()).filter(|dimension| !dimensions.contains(dimension)).collect();
        if kept.len() == self.dimensions() {
            return self.clone();
        }
        if self.is_known_empty() {
            return Self::empty(kept.len());
        }
        // In one dimension, `of_generators` makes an interval of any generators without a conversion.
        if let ([kept], Some(Some(dual))) = (&kept[..], self.known_dual()) {
            let project = |generator: &Generator| Generator {
                kind: generator.kind,
                row: smallvec![generator.row[0].clone(), generator.row[kept + 1].clone()],
            };
            let projected: GeneratorRows = dual.generators.iter().map(project).filter(is_nonzero).collect();
            return Self::of_generators(1, None, projected);
        }
        let drop_columns = |row: &[Integer]| -> Row {
            core::iter::once(0)
                .chain(kept.iter().map(|dimension| dimension + 1))
                .map(|index| row[index].clone())
                .collect()
        };
        let narrow_constraint = |c: &Constraint| Constraint::of_row(drop_columns(c.row()), c.relation());
        if self.is_known_free_in(dimensions) {
            if let Some(Some(dual)) = self.known_dual() {
                // Only the unit lines of the removed dimensions must be dropped. What is left is minimal and
                // in order.
                let narrow = |g: &Generator| Generator { kind: g.kind, row: drop_columns(&g.row) };
                let mut generators: GeneratorRows = dual.generators.iter().map(narrow).collect();
                generators.retain(|generator| is_nonzero(generator));
                let constraints = dual.constraints.iter().map(narrow_constraint).collect();
                let lines = dual.lines - (self.dimensions() - kept.len());
                let dual = Dual { constraints, generators, lines, ..**dual };
                return Self::of_dual(kept.len(), Some(Arc::new(dual)));
            }
            return Self::from_fitted(kept.len(), self.some_constraints().map(narrow_constraint).collect());
        }
        if let Some(eliminated) = self.free_by_elimination(dimensions) {
            return eliminated.remove_dimensions(dimensions);
        }
        let Some(generators) = self.some_generators() else {
            return Self::empty(kept.len());
        };
        let project = |generator: &Generator| {
            let mut row = drop_columns(&generator.row);
            row::normalise(&mut row);
            Generator { kind: generator.kind, row }
        };
        Self::of_generators(kept.len(), None, generators.map(project).filter(is_nonzero).collect())
    }
}
