//! APRON's boxes, octagons and polyhedra (`coreach-apron`) as domains of ours: for users who trust them more,
//! and for comparison.
//!
//! They do what APRON does. Three things are done here, since the library cannot know them:
//!
//! - *Integers.* Each meet says which dimensions are integers. But an element of APRON would have to know
//!   this when it is made, with its integers first. So all dimensions are reals there, and constraints are
//!   rounded here. First the given constraints are rounded, then those of the result, as long as they become
//!   stronger, for a few rounds.
//! - *Thresholds.* Boxes are widened within bounds on one dimension, polyhedra within any constraint. For
//!   octagons, the entries of the matrix stop at numbers: a meet after the widening would close the
//!   matrix, and a sequence of widenings of closed octagons need not end (Miné,
//!   <https://doi.org/10.1007/s10990-006-8609-1>, section 6).
//! - *Writing.* Constraints must be canonical. The constraints of boxes are. An octagon gives those of its
//!   closed matrix, without those that follow from the bounds alone. The constraints of a polyhedron are put
//!   in the form of `coreach-polyhedra`.
//!
//! The result of an operation that fails is "any vector", which is sound, and is counted as coarsened.
//! Polyhedra are APRON's strict ones: guards over reals need `x > 0`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;

use coreach_apron::{Affine, ApronLibrary, Element, Error, ErrorKind, Manager};
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Polyhedron, Rational, Relation};
use dashu_ratio::RBig;

use crate::domains::{Assignments, Domain, split_assignments};
use crate::linear::{big, big_rational, rational};

pub trait ApronKind: Clone + 'static {
    const LIBRARY: ApronLibrary;
}

#[derive(Clone, Debug)]
pub struct ApronBox;
#[derive(Clone, Debug)]
pub struct ApronOctagon;
#[derive(Clone, Debug)]
pub struct ApronPolka;

impl ApronKind for ApronBox {
    const LIBRARY: ApronLibrary = ApronLibrary::Box;
}

impl ApronKind for ApronOctagon {
    const LIBRARY: ApronLibrary = ApronLibrary::Octagon;
}

impl ApronKind for ApronPolka {
    const LIBRARY: ApronLibrary = ApronLibrary::PolkaStrict;
}

/// An element of one of APRON's libraries.
#[derive(Clone)]
pub struct Apron<K> {
    /// `None`: an operation failed, so it is any vector.
    element: Option<Element>,
    dimensions: usize,
    kind: PhantomData<K>,
}

impl<K> fmt::Debug for Apron<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.element, f)
    }
}

thread_local! {
    /// The managers of this thread. Making one costs more than most operations.
    static MANAGERS: RefCell<Vec<Manager>> = const { RefCell::new(Vec::new()) };
}

/// This thread's manager of a library, which is made when it is first asked for.
fn find_manager(library: ApronLibrary) -> Result<Manager, Error> {
    MANAGERS.with_borrow_mut(|managers| {
        if let Some(known) = managers.iter().find(|manager| manager.library() == library) {
            return Ok(known.clone());
        }
        let new = Manager::new(library)?;
        managers.push(new.clone());
        Ok(new)
    })
}

/// Returns the result of an operation, or `None` if it failed for want of memory, time or a library. An
/// argument that does not fit is our fault.
fn keep_success<T>(result: Result<T, Error>) -> Option<T> {
    debug_assert!(
        !matches!(&result, Err(error) if error.kind == ErrorKind::InvalidArgument),
        "{:?}",
        result.err()
    );
    result.ok()
}

fn to_apron_expression(expression: &LinearExpression, dimensions: usize) -> Affine {
    Affine {
        coefficients: (0..dimensions).map(|at| big_rational(&expression.coefficient(at))).collect(),
        constant: big_rational(&expression.constant_term()),
    }
}

fn to_apron_assignments(known: &[(usize, LinearExpression)], dimensions: usize) -> Vec<(usize, Affine)> {
    known.iter().map(|(dimension, value)| (*dimension, to_apron_expression(value, dimensions))).collect()
}

/// Converts a constraint for APRON. Octagons see `3x >= 1` only as `x >= 1/3`, and `2x - 2y >= 1` only as
/// `x - y >= 1/2`.
fn to_apron_constraint(constraint: &Constraint) -> coreach_apron::ApronConstraint {
    let scale = octagonal_shape(constraint).map_or(Integer::ONE, |(_, scale)| scale);
    let number = |value: &Integer| match scale.is_one() {
        true => RBig::from(big(value)),
        false => RBig::from(big(value)) / RBig::from(big(&scale)),
    };
    let expression = Affine {
        coefficients: constraint.coefficients().iter().map(number).collect(),
        constant: number(constraint.constant()),
    };
    let relation = match constraint.relation() {
        Relation::Equal => coreach_apron::ApronRelation::Equal,
        Relation::AtLeast => coreach_apron::ApronRelation::AtLeast,
        Relation::Greater => coreach_apron::ApronRelation::Greater,
    };
    coreach_apron::ApronConstraint::new(expression, relation)
}

fn from_apron_constraint(constraint: &coreach_apron::ApronConstraint) -> Constraint {
    let coefficients: Vec<Rational> = constraint.expression.coefficients.iter().map(rational).collect();
    let expression =
        LinearExpression::from_rationals(&coefficients, &rational(&constraint.expression.constant));
    let relation = match constraint.relation {
        coreach_apron::ApronRelation::Equal => Relation::Equal,
        coreach_apron::ApronRelation::AtLeast => Relation::AtLeast,
        coreach_apron::ApronRelation::Greater => Relation::Greater,
    };
    Constraint::from_expression(&expression, relation)
}

/// Reads an octagonal constraint: how many dimensions it mentions (one or two), and the magnitude of their
/// coefficients. `None`: it is not octagonal.
fn octagonal_shape(constraint: &Constraint) -> Option<(usize, Integer)> {
    let mut used = constraint.coefficients().iter().filter(|c| !c.is_zero()).map(Integer::abs);
    let first = used.next()?;
    match (used.next(), used.next()) {
        (None, _) => Some((1, first)),
        (Some(second), None) if first == second => Some((2, first)),
        _ => None,
    }
}

fn raw_constraints(element: &Element) -> Result<Vec<Constraint>, Error> {
    Ok(element.constraints()?.iter().map(from_apron_constraint).collect())
}

/// Meets an element with constraints, and rounds while this makes constraints over integers stronger.
fn meet_and_round(element: &Element, constraints: &[Constraint], integer: &[bool]) -> Result<Element, Error> {
    let round = |constraint: &Constraint| {
        to_apron_constraint(constraint.rounded_to_integers(integer).as_ref().unwrap_or(constraint))
    };
    let given: Vec<_> = constraints.iter().map(round).collect();
    let mut element = if given.is_empty() { element.clone() } else { element.meet_constraints(&given)? };
    // After four rounds the element is taken as it is: cutting can go on for very long.
    for _ in 0..4 {
        if !integer.contains(&true) || element.is_bottom()? {
            break;
        }
        let stronger: Vec<_> = raw_constraints(&element)?
            .iter()
            .filter_map(|constraint| constraint.rounded_to_integers(integer))
            .map(|constraint| to_apron_constraint(&constraint))
            .collect();
        if stronger.is_empty() {
            break;
        }
        element = element.meet_constraints(&stronger)?;
    }
    Ok(element)
}

/// Widens an element within the thresholds that its library can use.
fn widen_within(old: &Element, new: &Element, thresholds: &[Constraint]) -> Result<Element, Error> {
    if old.is_bottom()? {
        return Ok(new.clone());
    }
    let library = old.manager().library();
    if library == ApronLibrary::Octagon {
        // An entry of the matrix bounds ±x ± y or ±2x.
        let matrix_entry = |constraint: &Constraint| {
            let (used, scale) = octagonal_shape(constraint)?;
            let bound = RBig::from(big(constraint.constant())) / RBig::from(big(&scale));
            Some(if used == 1 { bound * RBig::from(2) } else { bound })
        };
        let both_signs = |value: RBig| [-value.clone(), value];
        let numbers: BTreeSet<RBig> =
            thresholds.iter().filter_map(matrix_entry).flat_map(both_signs).collect();
        return old.widen_octagon(new, &numbers);
    }
    let is_usable =
        |constraint: &&Constraint| library != ApronLibrary::Box || constraint.terms().count() == 1;
    let within: Vec<_> = thresholds.iter().filter(is_usable).map(to_apron_constraint).collect();
    if within.is_empty() { old.widen(new) } else { old.widen_within(new, &within) }
}

/// The bounds of a box as constraints. Two equal bounds are one equality.
fn constraints_of_box(element: &Element) -> Result<Vec<Constraint>, Error> {
    let mut constraints = Vec::new();
    for (dimension, interval) in element.bounds()?.iter().enumerate() {
        let variable = LinearExpression::variable(dimension);
        let [low, high] = [&interval.low, &interval.high]
            .map(|end| end.as_ref().map(|value| LinearExpression::constant(rational(value))));
        match (low, high) {
            (Some(low), Some(_)) if interval.low == interval.high => {
                constraints.push(Constraint::from_expression(&variable.minus(&low), Relation::Equal));
            }
            (low, high) => {
                let low = low.map(|low| variable.minus(&low));
                let high = high.map(|high| high.minus(&variable));
                let sides = low.into_iter().chain(high);
                constraints.extend(sides.map(|side| Constraint::from_expression(&side, Relation::AtLeast)));
            }
        }
    }
    Ok(constraints)
}

/// The canonical constraints of an octagon: the closed matrix, without the sums of two bounds. An equality is
/// written instead of its two halves.
fn constraints_of_octagon(element: &Element) -> Result<Vec<Constraint>, Error> {
    // The library has closed the matrix, because the caller has asked `is_bottom`.
    let bounds = element.bounds()?;
    // The least value of a dimension times a sign.
    let least_value = |dimension: usize, sign: i32| {
        let interval = &bounds[dimension];
        if sign > 0 { interval.low.clone() } else { interval.high.clone().map(|value| -value) }
    };
    // The constants of the inequalities, by their coefficients.
    let mut constants: BTreeMap<Vec<Integer>, Integer> = BTreeMap::new();
    for constraint in raw_constraints(element)? {
        let Some((used, scale)) = octagonal_shape(&constraint) else { continue };
        if used == 2 {
            let constant = RBig::from(big(constraint.constant())) / RBig::from(big(&scale));
            let least_sum = constraint
                .terms()
                .try_fold(constant, |sum, (dimension, c)| Some(sum + least_value(dimension, c.signum())?));
            // It follows from the bounds of its two dimensions.
            if least_sum.is_some_and(|sum| sum >= RBig::ZERO) {
                continue;
            }
        }
        let mirrored: Vec<Integer> = constraint.coefficients().iter().map(|c| -c).collect();
        if constraint.relation() == Relation::Equal {
            constants.insert(mirrored, -constraint.constant());
        }
        constants.insert(constraint.coefficients().to_vec(), constraint.constant().clone());
    }
    let mut constraints = Vec::new();
    for (coefficients, constant) in &constants {
        let mirrored: Vec<Integer> = coefficients.iter().map(|c| -c).collect();
        let is_equality = constants.get(&mirrored).is_some_and(|other| *other == -constant);
        if !is_equality {
            constraints.push(Constraint::new(coefficients.clone(), constant.clone(), Relation::AtLeast));
        // Of the two halves, one is written.
        } else if *coefficients > mirrored {
            constraints.push(Constraint::new(coefficients.clone(), constant.clone(), Relation::Equal));
        }
    }
    Ok(constraints)
}

impl<K: ApronKind> Apron<K> {
    fn of(element: Result<Element, Error>, dimensions: usize) -> Self {
        Apron { element: keep_success(element), dimensions, kind: PhantomData }
    }

    /// The result of an operation on this element, of as many dimensions as it has.
    fn map(&self, operation: impl FnOnce(&Element) -> Result<Element, Error>) -> Self {
        match &self.element {
            Some(element) => Self::of(operation(element), self.dimensions),
            None => self.clone(),
        }
    }

    /// Returns the elements of both. `None` if one is any vector.
    fn elements<'a>(&'a self, other: &'a Self) -> Option<(&'a Element, &'a Element)> {
        self.element.as_ref().zip(other.element.as_ref())
    }

    fn unknown(&self) -> Self {
        Apron { element: None, ..self.clone() }
    }
}

impl<K: ApronKind> Domain for Apron<K> {
    fn top(dimensions: usize) -> Self {
        Self::of(find_manager(K::LIBRARY).and_then(|manager| manager.top(0, dimensions)), dimensions)
    }

    fn bottom(dimensions: usize) -> Self {
        Self::of(find_manager(K::LIBRARY).and_then(|manager| manager.bottom(0, dimensions)), dimensions)
    }

    fn is_bottom(&self) -> bool {
        self.element.as_ref().and_then(|element| keep_success(element.is_bottom())) == Some(true)
    }

    fn is_leq(&self, other: &Self) -> bool {
        match (&self.element, &other.element) {
            (_, None) => true,
            (None, Some(other)) => keep_success(other.is_top()) == Some(true),
            (Some(a), Some(b)) => keep_success(a.is_leq(b)) == Some(true),
        }
    }

    fn join(&self, other: &Self) -> Self {
        match self.elements(other) {
            Some((a, b)) => Self::of(a.join(b), self.dimensions),
            None => self.unknown(),
        }
    }

    fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        match self.elements(other) {
            Some((a, b)) => {
                Self::of(a.meet(b).and_then(|both| meet_and_round(&both, &[], integer)), self.dimensions)
            }
            // One of them is any vector, so the meet is the other one.
            None if self.element.is_none() => other.clone(),
            None => self.clone(),
        }
    }

    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        match self.elements(other) {
            Some((old, new)) => Self::of(widen_within(old, new, thresholds), self.dimensions),
            None => self.unknown(),
        }
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        if constraints.is_empty() {
            return self.clone();
        }
        self.map(|element| meet_and_round(element, constraints, integer))
    }

    fn assign(&self, assignments: &Assignments) -> Self {
        let (known, unknown) = split_assignments(assignments);
        let known = to_apron_assignments(&known, self.dimensions);
        self.map(|element| element.assign(&known)?.forget(&unknown))
    }

    fn substitute(&self, assignments: &Assignments) -> Self {
        let (known, unknown) = split_assignments(assignments);
        let known = to_apron_assignments(&known, self.dimensions);
        // The unknown values are chosen first, so that a right side which reads the old value still can.
        self.map(|element| element.forget(&unknown)?.substitute(&known))
    }

    fn forget(&self, dimensions: &[usize]) -> Self {
        self.map(|element| element.forget(dimensions))
    }

    fn add_dimensions(&self, count: usize) -> Self {
        let longer = self.map(|element| element.add_dimensions(0, count));
        Apron { dimensions: self.dimensions + count, ..longer }
    }

    fn remove_last_dimensions(&self, count: usize) -> Self {
        let last: Vec<usize> = (self.dimensions - count..self.dimensions).collect();
        let shorter = self.map(|element| element.remove_dimensions(&last));
        Apron { dimensions: self.dimensions - count, ..shorter }
    }

    fn constraints(&self) -> Vec<Constraint> {
        let Some(element) = self.element.as_ref().filter(|_| !self.is_bottom()) else { return Vec::new() };
        let constraints = match K::LIBRARY {
            ApronLibrary::Box => constraints_of_box(element),
            ApronLibrary::Octagon => constraints_of_octagon(element),
            ApronLibrary::Polka | ApronLibrary::PolkaStrict => raw_constraints(element).map(|constraints| {
                Polyhedron::universe(self.dimensions).meet_constraints(&constraints).constraints()
            }),
        };
        keep_success(constraints).unwrap_or_default()
    }

    fn coarsened(&self) -> bool {
        self.element.is_none()
    }
}
