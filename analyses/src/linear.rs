//! Converts between the numbers of the model and those of the linear algebra, and evaluates constraints
//! without variables.
//!
//! `readable.rs` writes constraints as terms.

use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational};
use dashu_int::IBig;
use dashu_ratio::RBig;

pub fn integer(value: &IBig) -> Integer {
    Integer::from(value.clone())
}

pub fn big(value: &Integer) -> IBig {
    IBig::from(value)
}

pub fn rational(value: &RBig) -> Rational {
    let denominator = integer(&IBig::from(value.denominator().clone()));
    // A denominator is never 0.
    Rational::new(integer(value.numerator()), denominator).unwrap_or(Rational::ZERO)
}

pub fn big_rational(value: &Rational) -> RBig {
    RBig::from(big(value.numerator())) / RBig::from(big(value.denominator()))
}

/// Does a constraint without variables hold? `None`: it has variables.
pub fn constant_truth(constraint: &Constraint) -> Option<bool> {
    let constant = constraint.coefficients().iter().all(Integer::is_zero);
    constant.then(|| constraint.relation().admits(constraint.constant().signum()))
}

/// The constant value of an expression over this number of dimensions. `None`: it has variables.
pub fn constant_value(expression: &LinearExpression, dimensions: usize) -> Option<Rational> {
    let constant = (0..dimensions).all(|dimension| expression.coefficient(dimension).is_zero());
    constant.then(|| expression.constant_term())
}
