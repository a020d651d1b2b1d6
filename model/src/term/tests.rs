//! The laws that the constructors keep.

use super::node::{Comparison, Operator};
use super::*;
use crate::term::evaluate::{Undefined, Valuation, evaluate};

fn int(name: &str) -> Term {
    Term::datum(&Datum::new(name, Type::Int))
}

#[test]
fn equal_terms_are_one_allocation() {
    let build = || Term::add(&int("x"), &Term::int(1));
    assert!(Arc::ptr_eq(&build().0, &build().0));
}

#[test]
fn printing_uses_no_more_parentheses_than_needed() {
    let (x, y) = (int("x"), int("y"));
    let cases = [
        (Term::subtract(&x, &Term::add(&y, &x)), "x - (y + x)"),
        (Term::multiply(&Term::add(&x, &y), &x), "(x + y) * x"),
        (Term::compare(Comparison::Greater, &x, &Term::int(0)).not(), "x <= 0"),
        (
            Term::or([
                Term::and([Term::equal(&x, &y), Term::equal(&x, &Term::int(1))]),
                Term::equal(&y, &Term::int(-1)),
            ]),
            "x == y && x == 1 || y == -1",
        ),
        (Term::add(&Term::subtract(&x, &Term::int(2)), &Term::int(1)), "x - 1"),
    ];
    for (term, expected) in cases {
        assert_eq!(term.to_string(), expected);
    }
}

#[test]
fn substitution_is_simultaneous() {
    let (x, y) = (Datum::new("x", Type::Int), Datum::new("y", Type::Int));
    let swap = Substitution::from([(x.clone(), Term::datum(&y)), (y.clone(), Term::datum(&x))]);
    let term = Term::subtract(&Term::datum(&x), &Term::datum(&y));
    assert_eq!(substitute(&term, &swap).to_string(), "y - x");
}

#[test]
fn evaluation_stops_early_and_reports_what_is_undefined() {
    let x = Datum::new("x", Type::Int);
    let quotient = Term::arithmetic(Operator::IntegerDivide, &Term::int(10), &Term::datum(&x));
    let large = Term::compare(Comparison::Greater, &quotient, &Term::int(1));
    let guarded = Term::and([Term::equal(&Term::datum(&x), &Term::int(0)).not(), large.clone()]);
    let zero = Valuation::from([(x, Value::int(0))]);
    assert_eq!(evaluate(&guarded, &zero), Ok(Value::Bool(false)));
    assert_eq!(evaluate(&large, &zero), Err(Undefined::DivisionByZero(quotient)));
}
