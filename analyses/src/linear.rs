//! Between the numbers of the model and those of the linear algebra, and what constraints without variables
//! say.
//!
//! How a constraint is written as a term stands in `readable.rs`.

use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};
use dashu::integer::IBig;
use dashu::rational::RBig;

/// An integer of the model as one of the linear algebra.
pub fn integer(value: &IBig) -> Integer {
    match i128::try_from(value) {
        Ok(small) => Integer::from(small),
        Err(_) => of_text(&value.to_string()),
    }
}

#[expect(clippy::expect_used, reason = "the text of an integer is an integer")]
fn of_text(text: &str) -> Integer {
    text.parse().expect("the text of an integer is an integer")
}

/// The way back.
#[expect(clippy::expect_used, reason = "the text of an integer is an integer")]
pub fn big(value: &Integer) -> IBig {
    match value.to_i64() {
        Some(small) => IBig::from(small),
        None => value.to_string().parse().expect("the text of an integer is an integer"),
    }
}

/// A rational of the model as one of the linear algebra.
pub fn rational(value: &RBig) -> Rational {
    let denominator = integer(&IBig::from(value.denominator().clone()));
    // A denominator is never 0.
    Rational::new(integer(value.numerator()), denominator).unwrap_or(Rational::ZERO)
}

/// The constraint that the expression is at least, more than, or equal to 0.
pub fn positive_constraint(expression: &LinearExpression, relation: Relation) -> Constraint {
    Constraint::from_expression(expression, relation)
}

/// Whether a constraint without variables holds; `None` for one with variables.
pub fn constant_truth(constraint: &Constraint) -> Option<bool> {
    let constant = constraint.coefficients().iter().all(Integer::is_zero);
    constant.then(|| constraint.relation().admits(constraint.constant().signum()))
}

/// The constant value of an expression over this number of dimensions; `None` where it has variables.
pub fn constant_value(expression: &LinearExpression, dimensions: usize) -> Option<Rational> {
    let constant = (0..dimensions).all(|dimension| expression.coefficient(dimension).is_zero());
    constant.then(|| expression.constant_term())
}
