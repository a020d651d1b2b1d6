//! The polyhedron of one block, and its laziness.
//!
//! A polyhedron remembers how it was made: from constraints or from generators, perhaps on top of a
//! polyhedron both of whose descriptions were known. It converts only when an operation asks for the other
//! description. So a chain of meets, or of joins, costs one conversion, which starts from what was known. The
//! result of a conversion is kept, and shared by clones.

mod eliminate;
mod lattice;
mod query;
mod tighten;
mod transfer;

use core::fmt;
use std::sync::{Arc, OnceLock};

use smallvec::smallvec;

use crate::budget::{Exceeded, RowBudget};
use crate::dual::{self, Constraints, Dual, Generator, GeneratorRows, Kind};
use crate::integer::Integer;
use crate::interval;
use crate::linear::{Constraint, Relation};
use crate::product;
use crate::rational::Rational;
use crate::row;

/// A convex polyhedron over the rationals, bounded by closed and strict constraints. Cheap to clone: clones
/// share their descriptions. All operations leave their arguments as they are. Operations on two polyhedra
/// need equal numbers of dimensions and panic otherwise, as they do when a dimension's number is out of
/// range: both are mistakes of the calling program.
#[derive(Clone)]
#[must_use]
pub struct Dense {
    shared: Arc<SharedParts>,
}

struct SharedParts {
    dimensions: usize,
    source: Recipe,
    /// `None` inside when the polyhedron is empty.
    dual: OnceLock<Option<Arc<Dual>>>,
    /// The factors found in `dual`, computed when first needed; `None` inside when there is only one.
    factors: OnceLock<Option<Vec<Factor>>>,
}

/// One factor of a polyhedron that is a product: its dimensions, as positions in ascending order,
/// and what it is in them.
pub(crate) type Factor = (Arc<[usize]>, Dense);

pub(crate) enum Recipe {
    /// Constraints on top of a known polyhedron, or of the universe.
    Constraints { base: Option<Arc<Dual>>, added: Box<Constraints> },
    /// Generators on top of a known polyhedron, or of nothing; there is a point among them.
    Generators { base: Option<Arc<Dual>>, added: Box<GeneratorRows> },
    /// By both descriptions, a non-empty one.
    Known,
}

/// The generators of a polyhedron: it is the set of all sums of a convex combination of points and closure
/// points in which some point takes part, a combination of rays with factors >= 0, and any combination of
/// lines. Empty exactly when there are no points. All vectors have one entry for each dimension. The system
/// is minimal; directions are integer without common divisor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Generators {
    /// Directions in which the polyhedron is unbounded both ways.
    pub lines: Vec<Vec<Integer>>,
    /// Directions in which the polyhedron is unbounded.
    pub rays: Vec<Vec<Integer>>,
    /// Points of the polyhedron: its corners, and one in the middle of each smallest face whose corners are
    /// all missing.
    pub points: Vec<Vec<Rational>>,
    /// Corners of the closure that the polyhedron lacks.
    pub closure_points: Vec<Vec<Rational>>,
}

impl Dense {
    /// All points of the space.
    pub fn universe(dimensions: usize) -> Self {
        Self::of_source(dimensions, Recipe::Constraints { base: None, added: Box::default() })
    }

    /// No points.
    pub fn empty(dimensions: usize) -> Self {
        Self::of_dual(dimensions, None)
    }

    /// The points that satisfy all constraints. Constraints may have fewer coefficients than there
    /// are dimensions; the missing ones are 0.
    /// Panics if a constraint mentions a dimension that does not exist.
    pub fn from_constraints(dimensions: usize, constraints: impl IntoIterator<Item = Constraint>) -> Self {
        Self::from_fitted(
            dimensions,
            constraints.into_iter().map(|constraint| constraint.fitted(dimensions)).collect(),
        )
    }

    /// [`Dense::from_constraints`] for constraints that have one coefficient for each dimension.
    pub(crate) fn from_fitted(dimensions: usize, mut added: Constraints) -> Self {
        if added.iter().any(|constraint| constraint.trivial() == Some(false)) {
            return Self::empty(dimensions);
        }
        added.retain(|constraint| constraint.trivial().is_none());
        if dimensions == 1 && !added.is_empty() {
            return Self::of_dual(1, interval::from_constraints(None, &added));
        }
        Self::of_source(dimensions, Recipe::Constraints { base: None, added: Box::new(added) })
    }

    /// The number of dimensions of the space.
    pub fn dimensions(&self) -> usize {
        self.shared.dimensions
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        match (&self.shared.source, self.shared.dual.get()) {
            (_, Some(dual)) => dual.is_none(),
            (Recipe::Generators { .. } | Recipe::Known, None) => false,
            (Recipe::Constraints { added, .. }, None) if added.is_empty() => false,
            (Recipe::Constraints { .. }, None) => self.dual().is_none(),
        }
    }

    /// Whether every point of the space is in.
    pub fn is_universe(&self) -> bool {
        if let (Recipe::Constraints { base, added }, None) = (&self.shared.source, self.shared.dual.get()) {
            // Constraints are kept only if they have variables, so each cuts something off.
            return added.is_empty() && base.as_ref().is_none_or(|base| base.constraints.is_empty());
        }
        self.dual().is_some_and(|dual| dual.constraints.is_empty())
    }

    /// The minimal constraints in canonical order: equal polyhedra give identical lists. Equalities come
    /// first, in reduced echelon form; then the facets, reduced modulo the equalities and sorted; then the
    /// strict constraints that leave out faces smaller than a facet, each the sum of the facets through that
    /// face. The universe has none; the empty polyhedron has the single constraint `-1 >= 0`.
    pub fn constraints(&self) -> Vec<Constraint> {
        self.dual().map_or_else(
            || vec![Constraint::contradiction(self.dimensions())],
            |dual| dual.constraints.to_vec(),
        )
    }

    /// The minimal generators, in an order that depends on the set of points alone.
    pub fn generators(&self) -> Generators {
        let mut result = Generators::default();
        let Some(dual) = self.dual() else {
            return result;
        };
        for Generator { kind, row } in &dual.generators {
            let point =
                || row[1..].iter().map(|entry| Rational::of_nonzero(entry.clone(), row[0].clone())).collect();
            match kind {
                Kind::Line => result.lines.push(row[1..].to_vec()),
                Kind::Ray => result.rays.push(row[1..].to_vec()),
                Kind::Point => result.points.push(point()),
                Kind::ClosurePoint => result.closure_points.push(point()),
            }
        }
        result
    }

    pub(crate) fn of_source(dimensions: usize, source: Recipe) -> Self {
        Self {
            shared: Arc::new(SharedParts {
                dimensions,
                source,
                dual: OnceLock::new(),
                factors: OnceLock::new(),
            }),
        }
    }

    /// The polyhedron with these descriptions. `None`: the empty one.
    pub(crate) fn of_dual(dimensions: usize, dual: Option<Arc<Dual>>) -> Self {
        let source = if dual.is_some() {
            Recipe::Known
        } else {
            let added: Constraints = smallvec![Constraint::contradiction(dimensions)];
            Recipe::Constraints { base: None, added: Box::new(added) }
        };
        Self {
            shared: Arc::new(SharedParts {
                dimensions,
                source,
                dual: OnceLock::from(dual),
                factors: OnceLock::new(),
            }),
        }
    }

    /// The polyhedron of `base` (or nothing) with more generators. Among all of them is a point.
    pub(crate) fn of_generators(dimensions: usize, base: Option<Arc<Dual>>, added: GeneratorRows) -> Self {
        debug_assert!(base.is_some() || added.iter().any(|generator| generator.kind == Kind::Point));
        if dimensions == 1 {
            return Self::of_dual(1, interval::from_generators(base.as_ref(), &added));
        }
        Self::of_source(dimensions, Recipe::Generators { base, added: Box::new(added) })
    }

    /// Both descriptions, converting if that was not done before; nothing for the empty polyhedron.
    pub(crate) fn dual(&self) -> Option<&Arc<Dual>> {
        self.shared
            .dual
            .get_or_init(|| {
                self.convert(&RowBudget::unlimited())
                    .unwrap_or_else(|Exceeded| unreachable!("no machine holds so many rows"))
            })
            .as_ref()
    }

    /// [`Dense::dual`] within a budget.
    pub(crate) fn dual_within(&self, budget: &RowBudget) -> Result<Option<&Arc<Dual>>, Exceeded> {
        if self.shared.dual.get().is_none() {
            let dual = self.convert(budget)?;
            return Ok(self.shared.dual.get_or_init(|| dual).as_ref());
        }
        Ok(self.dual())
    }

    /// Computes both descriptions. `Ok(None)`: the polyhedron is empty.
    fn convert(&self, budget: &RowBudget) -> Result<Option<Arc<Dual>>, Exceeded> {
        let dimensions = self.dimensions();
        match &self.shared.source {
            Recipe::Known => unreachable!("both descriptions were there from the beginning"),
            Recipe::Constraints { base: Some(base), added } if added.is_empty() => Ok(Some(Arc::clone(base))),
            Recipe::Constraints { base, added } if dimensions == 1 => {
                Ok(interval::from_constraints(base.as_ref(), added))
            }
            Recipe::Generators { base, added } if dimensions == 1 => {
                Ok(interval::from_generators(base.as_ref(), added))
            }
            Recipe::Constraints { base, added } => {
                dual::from_constraints(dimensions, base.as_ref(), added, budget)
            }
            Recipe::Generators { base, added } => {
                dual::from_generators(dimensions, base.as_ref(), added, budget).map(Some)
            }
        }
    }

    /// The finest product that the polyhedron is, if it is known by both descriptions, not empty, and
    /// a product of more than itself alone. Dimensions in no factor may take any value.
    pub(crate) fn factors(&self) -> Option<&[Factor]> {
        let dual = self.known_dual()??;
        let factors = self.shared.factors.get_or_init(|| {
            let factors = product::factors(self.dimensions(), dual)?;
            let wrap = |(positions, dual): (Vec<usize>, Dual)| {
                (Arc::from(positions.as_slice()), Self::of_dual(positions.len(), Some(Arc::new(dual))))
            };
            Some(factors.into_iter().map(wrap).collect())
        });
        factors.as_deref()
    }

    /// Whether both are one object, or have the same known description.
    pub(crate) fn is_known_equal(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.shared, &other.shared) {
            return true;
        }
        match (self.known_dual(), other.known_dual()) {
            (Some(Some(a)), Some(Some(b))) => Arc::ptr_eq(a, b) || a.constraints == b.constraints,
            _ => false,
        }
    }

    /// Both descriptions if they are known; `Some(None)` if the polyhedron is known to be empty.
    pub(crate) fn known_dual(&self) -> Option<Option<&Arc<Dual>>> {
        self.shared.dual.get().map(Option::as_ref)
    }

    pub(crate) fn source(&self) -> &Recipe {
        &self.shared.source
    }

    /// Some constraints of the polyhedron, not necessarily minimal, if they are known without conversion.
    pub(crate) fn known_constraints(&self) -> Option<(&[Constraint], &[Constraint])> {
        if let Some(Some(dual)) = self.known_dual() {
            return Some((&dual.constraints, &[]));
        }
        match &self.shared.source {
            Recipe::Constraints { base, added } => {
                Some((base.as_ref().map_or(&[], |base| &base.constraints), added))
            }
            Recipe::Generators { .. } | Recipe::Known => None,
        }
    }

    /// Some constraints whose solutions are the polyhedron.
    pub(crate) fn some_constraints(&self) -> impl Iterator<Item = &Constraint> {
        let (first, second) = self.known_constraints().unwrap_or_else(|| {
            // Made from generators, hence not empty.
            (self.dual().map_or(&[], |dual| &dual.constraints), &[])
        });
        first.iter().chain(second)
    }

    /// Some generators of the polyhedron, converting only if there is no other way; nothing for
    /// the empty polyhedron.
    pub(crate) fn some_generators(&self) -> Option<impl Iterator<Item = &Generator>> {
        let (first, second): (&[Generator], &[Generator]) = match (self.known_dual(), &self.shared.source) {
            (None, Recipe::Generators { base, added }) => {
                (base.as_ref().map_or(&[], |base| &base.generators), added)
            }
            _ => (&self.dual()?.generators, &[]),
        };
        Some(first.iter().chain(second))
    }

    /// A double description and the constraints on top of it, for meets. Without a description these are on
    /// top of the whole space. Constraints that are not converted yet are given as they are. Otherwise the
    /// description is made, if it is not known.
    pub(crate) fn constraint_parts(&self) -> (Option<Arc<Dual>>, Constraints) {
        match (self.known_dual(), &self.shared.source) {
            (None, Recipe::Constraints { base, added }) => (base.clone(), (**added).clone()),
            _ => match self.dual() {
                Some(dual) => (Some(Arc::clone(dual)), Constraints::new()),
                // It is empty.
                None => (None, smallvec![Constraint::contradiction(self.dimensions())]),
            },
        }
    }

    /// A double description and the generators on top of it, for joins. `None`: the polyhedron is empty.
    pub(crate) fn generator_parts(&self) -> Option<(Option<Arc<Dual>>, GeneratorRows)> {
        match (self.known_dual(), &self.shared.source) {
            (None, Recipe::Generators { base, added }) => Some((base.clone(), (**added).clone())),
            _ => self.dual().map(|dual| (Some(Arc::clone(dual)), GeneratorRows::new())),
        }
    }

    pub(crate) fn assert_same_space(&self, other: &Self) {
        assert_eq!(self.dimensions(), other.dimensions(), "operations on two polyhedra need the same space");
    }

    pub(crate) fn assert_dimension(&self, dimension: usize) {
        assert!(
            dimension < self.dimensions(),
            "dimension {dimension} of a polyhedron with {}",
            self.dimensions()
        );
    }
}

/// Shows constraints as they are known, so that printing never converts.
impl fmt::Debug for Dense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dense[{}]", self.dimensions())?;
        if matches!(self.known_dual(), Some(None)) {
            return f.write_str(" empty");
        }
        match (self.known_constraints(), &self.shared.source) {
            (Some((first, second)), _) => f.debug_set().entries(first.iter().chain(second)).finish(),
            (None, Recipe::Generators { base, added }) => {
                f.debug_list().entries(base.iter().flat_map(|base| &base.generators).chain(&**added)).finish()
            }
            (None, Recipe::Constraints { .. } | Recipe::Known) => Ok(()),
        }
    }
}

/// Is a generator compatible with a constraint? A polyhedron satisfies the constraint if all its generators
/// are, and if a [`Relation::Greater`] holds at every *point*.
pub(crate) fn admits(row: &[Integer], relation: Relation, generator: &Generator) -> bool {
    let sign = row::dot(row, &generator.row).signum();
    match (relation, generator.kind) {
        (Relation::Equal, _) | (_, Kind::Line) => sign == 0,
        (Relation::Greater, Kind::Point) => sign > 0,
        (Relation::AtLeast, _) | (Relation::Greater, Kind::Ray | Kind::ClosurePoint) => sign >= 0,
    }
}
