//! Tests of the eliminations that paths need, against a solver that knows quantifiers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use coreach_model::term::node::{Comparison, Operator};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use crate::solver::z3::Z3Solver;
use crate::solver::{Answer, Solver};
use crate::symbolic::eliminate::eliminate_data;

fn datum(name: &str, ty: Type) -> Term {
    Term::datum(&Datum::new(name, ty))
}

fn compare(comparison: Comparison, a: &Term, b: &Term) -> Term {
    Term::compare(comparison, a, b)
}

/// Eliminates data, and checks that the result holds exactly if there are values.
fn eliminate_exactly(bound: &[Term], parts: &[Term]) -> Term {
    let bound: Vec<Datum> = bound.iter().map(|term| term.as_datum().unwrap().clone()).collect();
    let condition = eliminate_data(&bound, parts).unwrap();
    let mut solver = Z3Solver::default();
    assert_eq!(
        solver.check_none(std::slice::from_ref(&condition), &bound, parts),
        Answer::Unsat,
        "{condition} {parts:?}"
    );
    let mut lost = parts.to_vec();
    lost.push(condition.not());
    assert_eq!(solver.check(&lost), Answer::Unsat, "{condition} {parts:?}");
    condition
}

/// Precise: sums of reals are added up, with any factors.
#[test]
fn sums_of_reals() {
    let [was, now, x] = ["was", "now", "x"].map(|name| datum(name, Type::Real));
    let zero = Term::literal(Value::Real(RBig::ZERO));
    let parts = [
        compare(Comparison::AtLeast, &was, &zero),
        compare(Comparison::AtLeast, &now, &zero),
        compare(Comparison::Less, &Term::add(&was, &now), &x),
        Term::equal(&datum("w", Type::Real), &Term::add(&was, &now)),
    ];
    let condition = eliminate_exactly(&[was.clone(), now.clone()], &parts);
    assert!(condition.data().iter().all(|datum| ["w", "x"].contains(&datum.name())), "{condition}");
    let half = Term::literal(Value::Real(RBig::from_parts(1.into(), 2u8.into())));
    let parts = [
        compare(Comparison::Less, &Term::multiply(&half, &now), &x),
        compare(Comparison::Greater, &Term::add(&now, &now), &was),
        compare(Comparison::AtMost, &Term::subtract(&x, &now), &was),
    ];
    eliminate_exactly(&[now], &parts);
}

/// Precise: an integer with ends on one side only, among integers and among reals.
#[test]
fn ends_on_one_side() {
    let [a, b] = ["a", "b"].map(|name| datum(name, Type::Int));
    let x = datum("x", Type::Real);
    let twice = Term::multiply(&Term::int(2), &a);
    let parts = [compare(Comparison::Greater, &twice, &b), compare(Comparison::NotEqual, &a, &b)];
    assert!(eliminate_exactly(std::slice::from_ref(&a), &parts).is_true());
    // The solver does not decide these with a quantifier. There is an integer beyond every real. And there is
    // an integer below `b` and above `x` if `b - 1` is above `x`.
    let parts = [parts[0].clone(), compare(Comparison::Greater, &a.to_real(), &x)];
    assert!(eliminate_data(&[a.as_datum().unwrap().clone()], &parts).unwrap().is_true());
    let parts = [compare(Comparison::Less, &a, &b), compare(Comparison::Greater, &a.to_real(), &x)];
    let between = eliminate_data(&[a.as_datum().unwrap().clone()], &parts).unwrap();
    assert_eq!(
        between,
        compare(Comparison::Less, &x, &Term::subtract(&b, &Term::int(1)).to_real()),
        "{between}"
    );
}

/// Precise: an integer between an end and an end of a multiple. Between the ends of two multiples there may
/// be no value, so there is no result.
#[test]
fn multiples_of_integers() {
    let [a, b, c] = ["a", "b", "c"].map(|name| datum(name, Type::Int));
    for comparison in [Comparison::Less, Comparison::AtMost] {
        for own in [Comparison::Greater, Comparison::AtLeast] {
            let parts = [compare(own, &Term::multiply(&Term::int(3), &a), &b), compare(comparison, &a, &c)];
            eliminate_exactly(std::slice::from_ref(&a), &parts);
            let parts = [compare(own, &a, &b), compare(comparison, &Term::multiply(&Term::int(3), &a), &c)];
            eliminate_exactly(std::slice::from_ref(&a), &parts);
        }
    }
    let parts = [
        compare(Comparison::AtLeast, &Term::multiply(&Term::int(2), &a), &b),
        compare(Comparison::AtMost, &Term::multiply(&Term::int(3), &a), &c),
    ];
    assert_eq!(eliminate_data(&[a.as_datum().unwrap().clone()], &parts), None);
}

/// Precise: terms that cancel out are no obstacle, also within cases. A quotient stays an atom.
#[test]
fn what_cancels_out() {
    let [a, b, c] = ["a", "b", "c"].map(|name| datum(name, Type::Int));
    let around = Term::subtract(&Term::add(&a, &b), &a);
    let parts = [
        Term::or([compare(Comparison::Less, &around, &c), compare(Comparison::Greater, &a, &c)]),
        compare(Comparison::AtLeast, &a, &c),
    ];
    eliminate_exactly(std::slice::from_ref(&a), &parts);
    let quotient = Term::arithmetic(Operator::IntegerDivide, &a, &Term::int(2));
    let parts = [compare(Comparison::Less, &quotient, &b)];
    assert_eq!(eliminate_data(&[a.as_datum().unwrap().clone()], &parts), None);
}
