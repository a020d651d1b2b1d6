//! Linear expressions and constraints: values of ours, and their counterparts in the library, converted once.

use std::fmt;
use std::ptr::null_mut;

use coreach_ppl_sys as sys;
use dashu_int::IBig;

use crate::error::{PplError, check};
use crate::library::PplLibrary;
use crate::number::Coefficient;

/// How an expression is compared with 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PplRelation {
    /// It is 0.
    Equal,
    /// It is at least 0.
    AtLeast,
    /// It is more than 0; only for polyhedra that need not be closed.
    Greater,
}

/// `c·x + k` compared with 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PplConstraint {
    /// By dimension; those beyond are 0.
    pub coefficients: Vec<IBig>,
    /// The constant.
    pub constant: IBig,
    /// How it is compared.
    pub relation: PplRelation,
}

impl PplConstraint {
    /// Of small numbers.
    pub fn of(coefficients: &[i64], constant: i64, relation: PplRelation) -> Self {
        let coefficients = coefficients.iter().map(|c| IBig::from(*c)).collect();
        PplConstraint { coefficients, constant: constant.into(), relation }
    }
}

/// `(c·x + k) / d` in the library's form.
pub struct PplExpression {
    raw: *mut sys::ppl_Linear_Expression,
    dimensions: usize,
    pub(crate) denominator: IBig,
    _library: PplLibrary,
}

impl Drop for PplExpression {
    fn drop(&mut self) {
        // SAFETY: this is its only owner, and the library is this thread's.
        unsafe { sys::ppl_delete_Linear_Expression(self.raw) };
    }
}

impl fmt::Debug for PplExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expression over {} dimensions", self.dimensions)
    }
}

impl PplExpression {
    /// Coefficients by dimension, those beyond being 0; the constant; the denominator, which is not 0.
    ///
    /// # Errors
    /// What the library says; a denominator that is 0.
    pub fn of(
        library: &PplLibrary,
        coefficients: &[IBig],
        constant: &IBig,
        denominator: &IBig,
    ) -> Result<Self, PplError> {
        if denominator.is_zero() {
            return Err(PplError::argument("a denominator that is 0"));
        }
        let mut raw = null_mut();
        let dimensions = coefficients.len();
        // SAFETY: here and below: the library is this thread's. It writes the pointer, or fails.
        check(unsafe { sys::ppl_new_Linear_Expression_with_dimension(&mut raw, dimensions) })?;
        let denominator = denominator.clone();
        let own = PplExpression { raw, dimensions, denominator, _library: library.clone() };
        let mut number = Coefficient::new()?;
        for (at, value) in coefficients.iter().enumerate().filter(|(_, value)| !value.is_zero()) {
            let value = number.set(value)?;
            // SAFETY: as above; expression and number live, and the dimension is one of the expression's.
            check(unsafe { sys::ppl_Linear_Expression_add_to_coefficient(raw, at, value) })?;
        }
        let value = number.set(constant)?;
        // SAFETY: as above.
        check(unsafe { sys::ppl_Linear_Expression_add_to_inhomogeneous(raw, value) })?;
        Ok(own)
    }

    pub(crate) fn as_ptr(&self) -> *const sys::ppl_Linear_Expression {
        self.raw
    }

    /// One more than the last dimension that it was given a coefficient for.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }
}

/// Constraints in the library's form.
pub struct PplConstraints {
    raw: *mut sys::ppl_Constraint_System,
    dimensions: usize,
    is_strict: bool,
    _library: PplLibrary,
}

impl Drop for PplConstraints {
    fn drop(&mut self) {
        // SAFETY: this is their only owner, and the library is this thread's.
        unsafe { sys::ppl_delete_Constraint_System(self.raw) };
    }
}

impl fmt::Debug for PplConstraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constraints over {} dimensions", self.dimensions)
    }
}

/// A constraint of the library that frees itself.
struct RawConstraint(*mut sys::ppl_Constraint);

impl Drop for RawConstraint {
    fn drop(&mut self) {
        // SAFETY: this is its only owner.
        unsafe { sys::ppl_delete_Constraint(self.0) };
    }
}

impl PplConstraints {
    /// Converts constraints.
    pub fn of(library: &PplLibrary, constraints: &[PplConstraint]) -> Result<Self, PplError> {
        let mut raw = null_mut();
        // SAFETY: here and below: the library is this thread's. It writes the pointer, or fails.
        check(unsafe { sys::ppl_new_Constraint_System(&mut raw) })?;
        let mut own = PplConstraints { raw, dimensions: 0, is_strict: false, _library: library.clone() };
        for constraint in constraints {
            own.add(library, constraint)?;
        }
        Ok(own)
    }

    fn add(&mut self, library: &PplLibrary, constraint: &PplConstraint) -> Result<(), PplError> {
        let PplConstraint { coefficients, constant, relation } = constraint;
        let expression = PplExpression::of(library, coefficients, constant, &IBig::ONE)?;
        let relation = match relation {
            PplRelation::Equal => sys::PPL_CONSTRAINT_TYPE_EQUAL,
            PplRelation::AtLeast => sys::PPL_CONSTRAINT_TYPE_GREATER_OR_EQUAL,
            PplRelation::Greater => sys::PPL_CONSTRAINT_TYPE_GREATER_THAN,
        };
        self.dimensions = self.dimensions.max(expression.dimensions());
        self.is_strict |= constraint.relation == PplRelation::Greater;
        let mut raw = null_mut();
        // SAFETY: as above; expression and system live, and the system gets a copy of the constraint.
        unsafe {
            check(sys::ppl_new_Constraint(&mut raw, expression.as_ptr(), relation))?;
            let raw = RawConstraint(raw);
            check(sys::ppl_Constraint_System_insert_Constraint(self.raw, raw.0))?;
        }
        Ok(())
    }

    pub(crate) fn as_ptr(&self) -> *const sys::ppl_Constraint_System {
        self.raw
    }

    /// One more than the last dimension that any was given a coefficient for.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Is any of them strict?
    pub fn is_strict(&self) -> bool {
        self.is_strict
    }
}

/// A place among constraints that frees itself.
struct PplPlace(*mut sys::ppl_Constraint_System_const_iterator);

impl Drop for PplPlace {
    fn drop(&mut self) {
        // SAFETY: this is its only owner.
        unsafe { sys::ppl_delete_Constraint_System_const_iterator(self.0) };
    }
}

impl PplPlace {
    fn new() -> Result<Self, PplError> {
        let mut raw = null_mut();
        // SAFETY: the library writes the pointer, or fails.
        check(unsafe { sys::ppl_new_Constraint_System_const_iterator(&mut raw) })?;
        Ok(PplPlace(raw))
    }
}

/// Calls the function with each constraint of a system.
///
/// # Safety
/// The system lives, does not change, and the library is this thread's.
pub(crate) unsafe fn each(
    system: *const sys::ppl_Constraint_System,
    mut function: impl FnMut(*const sys::ppl_Constraint) -> Result<(), PplError>,
) -> Result<(), PplError> {
    let (at, end) = (PplPlace::new()?, PplPlace::new()?);
    // SAFETY: by the precondition; a place that is not the end has a constraint, which lives as long as the
    // system.
    unsafe {
        check(sys::ppl_Constraint_System_begin(system, at.0))?;
        check(sys::ppl_Constraint_System_end(system, end.0))?;
        while check(sys::ppl_Constraint_System_const_iterator_equal_test(at.0, end.0))? == 0 {
            let mut raw = core::ptr::null();
            check(sys::ppl_Constraint_System_const_iterator_dereference(at.0, &mut raw))?;
            function(raw)?;
            check(sys::ppl_Constraint_System_const_iterator_increment(at.0))?;
        }
    }
    Ok(())
}

/// A constraint as a value of ours, over that many dimensions.
///
/// # Safety
/// The constraint lives, and the library is this thread's.
pub(crate) unsafe fn read(
    raw: *const sys::ppl_Constraint,
    dimensions: usize,
    number: &mut Coefficient,
) -> Result<PplConstraint, PplError> {
    let mut own = 0;
    // SAFETY: by the precondition; only dimensions that the constraint has are asked for.
    unsafe {
        let relation = match check(sys::ppl_Constraint_type(raw))? {
            sys::PPL_CONSTRAINT_TYPE_EQUAL => PplRelation::Equal,
            sys::PPL_CONSTRAINT_TYPE_GREATER_OR_EQUAL => PplRelation::AtLeast,
            sys::PPL_CONSTRAINT_TYPE_GREATER_THAN => PplRelation::Greater,
            other => return Err(PplError::argument(format!("a constraint of type {other}"))),
        };
        check(sys::ppl_Constraint_space_dimension(raw, &mut own))?;
        let mut coefficients = vec![IBig::ZERO; dimensions];
        for (at, coefficient) in coefficients.iter_mut().enumerate().take(own) {
            check(sys::ppl_Constraint_coefficient(raw, at, number.as_mut_ptr()))?;
            *coefficient = number.get()?;
        }
        check(sys::ppl_Constraint_inhomogeneous_term(raw, number.as_mut_ptr()))?;
        Ok(PplConstraint { coefficients, constant: number.get()?, relation })
    }
}
