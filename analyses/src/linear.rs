//! Between terms and linear algebra: numbers, constraints, and back to something a test engineer reads.
//!
//! The way back: `c·x + k ≥ 0` becomes a comparison with positive coefficients on both sides and the constant on the
//! right, over integers only; between integers, `a >= b + 1` is written `a > b`. An equality puts a lone place with
//! coefficient one on the left. Example: `x0 - x1 >= 0` over ⟨vPaid, cPrice⟩ is `vPaid >= cPrice`.

use coreach_model::Value;
use coreach_model::term::Term;
use coreach_model::term::node::Comparison;
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};
use dashu::integer::IBig;
use dashu::rational::RBig;

use crate::frame::Place;

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

/// The constraint as a term over the places, dimension by dimension.
pub fn to_term(constraint: &Constraint, places: &[Place]) -> Term {
    let used = |(place, c): &(&Place, &Integer)| !c.is_zero() && !place.ty.is_integer();
    let real = places.iter().zip(constraint.coefficients()).any(|pair| used(&pair));
    let sum = |sign: i32| -> Vec<Term> {
        let terms = places.iter().zip(constraint.coefficients());
        terms
            .filter(|(_, c)| c.signum() == sign)
            .map(|(place, c)| scaled(&c.abs(), &place.term, real))
            .collect()
    };
    let (positive, negative) = (sum(1), sum(-1));
    let constant = big(constraint.constant());
    let number = |value: IBig| literal(value, real);
    // `left REL right + offset`, the sides having positive coefficients; `REL` is read with left and right in place.
    let (mut left, mut right, mut offset) = (positive, negative, -constant);
    let mut comparison = match constraint.relation() {
        Relation::Equal => Comparison::Equal,
        Relation::AtLeast => Comparison::AtLeast,
        Relation::Greater => Comparison::Greater,
    };
    let equality = comparison == Comparison::Equal;
    let swap = left.is_empty()
        || (!right.is_empty() && if equality { right.len() < left.len() } else { offset < IBig::ZERO });
    if swap {
        std::mem::swap(&mut left, &mut right);
        offset = -offset;
        comparison = match comparison {
            Comparison::AtLeast => Comparison::AtMost,
            Comparison::Greater => Comparison::Less,
            other => other,
        };
    }
    if !real && !right.is_empty() {
        // `a >= b + 1` is `a > b`; `a <= b - 1` does not arise, the offset being positive.
        if comparison == Comparison::AtLeast && offset == IBig::ONE {
            comparison = Comparison::Greater;
            offset = IBig::ZERO;
        }
    }
    let Some(left) = add_all(left) else {
        // No variables at all.
        return Term::compare(comparison, &number(IBig::ZERO), &number(offset));
    };
    let right = match add_all(right) {
        None => number(offset),
        Some(sum) if offset < IBig::ZERO => Term::subtract(&sum, &number(-offset)),
        Some(sum) => Term::add(&sum, &number(offset)),
    };
    Term::compare(comparison, &left, &right)
}

fn literal(value: IBig, real: bool) -> Term {
    if real { Term::literal(Value::Real(RBig::from(value))) } else { Term::int(value) }
}

fn scaled(coefficient: &Integer, place: &Term, real: bool) -> Term {
    let place = if real { place.to_real() } else { place.clone() };
    Term::multiply(&literal(big(coefficient), real), &place)
}

fn add_all(terms: Vec<Term>) -> Option<Term> {
    terms.into_iter().reduce(|sum, term| Term::add(&sum, &term))
}
