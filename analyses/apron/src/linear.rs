//! Linear expressions, constraints and intervals, and their counterparts in C.

use coreach_apron_sys as sys;
use dashu_ratio::RBig;

use crate::error::Error;
use crate::number::{self, GmpRational};

/// `c·x + k`: the coefficients of the first dimensions, those beyond being 0, and the constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Affine {
    pub coefficients: Vec<RBig>,
    pub constant: RBig,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ApronRelation {
    Equal,
    AtLeast,
    /// It is more than 0. All but [`crate::ApronLibrary::PolkaStrict`] take it for [`ApronRelation::AtLeast`]
    /// over reals.
    Greater,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApronConstraint {
    pub expression: Affine,
    pub relation: ApronRelation,
}

/// The numbers from one to another; `None` is unbounded. `low` may be greater than `high`: there are none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interval {
    pub low: Option<RBig>,
    pub high: Option<RBig>,
}

impl Affine {
    pub fn of(coefficients: &[i64], constant: i64) -> Self {
        Affine {
            coefficients: coefficients.iter().map(|c| RBig::from(*c)).collect(),
            constant: constant.into(),
        }
    }
}

impl ApronConstraint {
    pub fn new(expression: Affine, relation: ApronRelation) -> Self {
        ApronConstraint { expression, relation }
    }
}

/// An expression of the library that frees itself.
#[derive(Debug)]
pub(crate) struct RawExpression(*mut sys::ap_linexpr0_t);

impl Drop for RawExpression {
    fn drop(&mut self) {
        // SAFETY: this is the only owner; null where it was given away.
        unsafe {
            if !self.0.is_null() {
                sys::ap_linexpr0_free(self.0);
            }
        }
    }
}

impl RawExpression {
    /// Makes the expression over so many dimensions. Errors: it has more coefficients.
    pub(crate) fn of(expression: &Affine, dimensions: usize) -> Result<Self, Error> {
        let size = expression.coefficients.len();
        if size > dimensions || u32::try_from(dimensions).is_err() {
            return Err(Error::argument(format!(
                "an expression over {size} dimensions, where there are {dimensions}"
            )));
        }
        // One coefficient for every dimension, though the headers allow fewer: parallel assignment and
        // substitution of boxes add dimensions to the expression, count them from its end, and lose the
        // equation of a shorter one. SAFETY: a dense expression has a coefficient for each dimension below
        // its size, and a constant; `set` gets pointers to these.
        unsafe {
            let raw = RawExpression(sys::ap_linexpr0_alloc(sys::AP_LINEXPR_DENSE, dimensions));
            for (dimension, coefficient) in expression.coefficients.iter().enumerate() {
                if !coefficient.is_zero() {
                    set(sys::ap_linexpr0_coeffref(raw.0, dimension as sys::ap_dim_t), coefficient);
                }
            }
            set(&raw mut (*raw.0).cst, &expression.constant);
            Ok(raw)
        }
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::ap_linexpr0_t {
        self.0
    }

    fn into_raw(mut self) -> *mut sys::ap_linexpr0_t {
        std::mem::replace(&mut self.0, std::ptr::null_mut())
    }
}

/// # Safety
/// The pointer is to a coefficient that lives.
unsafe fn set(coefficient: *mut sys::ap_coeff_t, value: &RBig) {
    // SAFETY: by the precondition. The library copies the number.
    unsafe {
        match number::small(value) {
            Some((numerator, denominator)) => {
                sys::ap_coeff_set_scalar_frac(coefficient, numerator, denominator);
            }
            None => sys::ap_coeff_set_scalar_mpq(coefficient, GmpRational::of(value).as_ptr()),
        }
    }
}

/// Constraints of the library that free themselves.
#[derive(Debug)]
pub(crate) struct RawConstraints(pub(crate) sys::ap_lincons0_array_t);

impl Drop for RawConstraints {
    fn drop(&mut self) {
        // SAFETY: the array was made by the library, and this is its only owner. Its entries are whole or
        // null.
        unsafe { sys::ap_lincons0_array_clear(&mut self.0) }
    }
}

impl RawConstraints {
    pub(crate) fn of(constraints: &[ApronConstraint], dimensions: usize) -> Result<Self, Error> {
        // SAFETY: any size will do.
        let array = RawConstraints(unsafe { sys::ap_lincons0_array_make(constraints.len()) });
        for (at, constraint) in constraints.iter().enumerate() {
            let expression = RawExpression::of(&constraint.expression, dimensions)?;
            // SAFETY: `at` is below the array's size. The array owns the expression from here on.
            unsafe {
                let entry = array.0.p.add(at);
                (*entry).constyp = match constraint.relation {
                    ApronRelation::Equal => sys::AP_CONS_EQ,
                    ApronRelation::AtLeast => sys::AP_CONS_SUPEQ,
                    ApronRelation::Greater => sys::AP_CONS_SUP,
                };
                (*entry).linexpr0 = expression.into_raw();
            }
        }
        Ok(array)
    }

    /// The constraints over that many dimensions. Congruences and disequalities are left out: no element of
    /// ours is given any, and fewer constraints are the coarser answer.
    pub(crate) fn read(&self, dimensions: usize) -> Result<Vec<ApronConstraint>, Error> {
        let mut found = Vec::with_capacity(self.0.size);
        for at in 0..self.0.size {
            // SAFETY: `at` is below the array's size, and the library wrote the entry.
            let (relation, expression) = unsafe {
                let entry = &*self.0.p.add(at);
                (entry.constyp, entry.linexpr0)
            };
            let relation = match relation {
                sys::AP_CONS_EQ => ApronRelation::Equal,
                sys::AP_CONS_SUPEQ => ApronRelation::AtLeast,
                sys::AP_CONS_SUP => ApronRelation::Greater,
                _ => continue,
            };
            // SAFETY: a constraint that is compared has an expression.
            let expression = unsafe { read_expression(expression, dimensions)? };
            found.push(ApronConstraint { expression, relation });
        }
        Ok(found)
    }
}

/// # Safety
/// The pointer is to an expression that lives.
unsafe fn read_expression(raw: *mut sys::ap_linexpr0_t, dimensions: usize) -> Result<Affine, Error> {
    let mut coefficients = Vec::with_capacity(dimensions);
    for dimension in 0..dimensions {
        // SAFETY: by the precondition. The library gives null, or a coefficient, new in a sparse expression.
        coefficients.push(unsafe {
            match sys::ap_linexpr0_coeffref(raw, dimension as sys::ap_dim_t) {
                none if none.is_null() => RBig::ZERO,
                coefficient => read_coefficient(coefficient)?,
            }
        });
    }
    // SAFETY: by the precondition.
    let constant = unsafe { read_coefficient(&raw const (*raw).cst)? };
    Ok(Affine { coefficients, constant })
}

/// # Safety
/// The pointer is to a coefficient that lives.
unsafe fn read_coefficient(coefficient: *const sys::ap_coeff_t) -> Result<RBig, Error> {
    // SAFETY: by the precondition; a coefficient of that discriminant holds a scalar.
    let value = unsafe {
        match (*coefficient).discr {
            sys::AP_COEFF_SCALAR => number::read_scalar((*coefficient).val.cast()),
            _ => None,
        }
    };
    value.ok_or_else(|| Error::argument("the library gave a constraint that is not linear"))
}

/// # Safety
/// The pointer is to an interval that lives.
pub(crate) unsafe fn read_interval(interval: *const sys::ap_interval_t) -> Interval {
    // SAFETY: by the precondition; an interval holds two scalars.
    unsafe {
        Interval { low: number::read_scalar((*interval).inf), high: number::read_scalar((*interval).sup) }
    }
}
