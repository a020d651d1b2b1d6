//! Elimination as paths need it, held against a solver that knows quantifiers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use coreach_model::term::node::{Comparison, Operator};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use crate::solver::z3::Z3Solver;
use crate::solver::{Answer, Solver};
use crate::symbolic::eliminate::without;

fn datum(name: &str, ty: Type) -> Term {
    Term::datum(&Datum::new(name, ty))
}

fn compare(comparison: Comparison, a: &Term, b: &Term) -> Term {
    Term::compare(comparison, a, b)
}

/// The result is what a quantifier says: it implies that there are values, and where there are values it
/// holds.
fn exact(bound: &[Term], parts: &[Term]) -> Term {
    let bound: Vec<Datum> = bound.iter().map(|term| term.as_datum().unwrap().clone()).collect();
    let said = without(&bound, parts).unwrap();
    let mut solver = Z3Solver::default();
    assert_eq!(
        solver.check_none(std::slice::from_ref(&said), &bound, parts),
        Answer::Unsat,
        "{said} {parts:?}"
    );
    let mut lost = parts.to_vec();
    lost.push(said.not());
    assert_eq!(solver.check(&lost), Answer::Unsat, "{said} {parts:?}");
    said
}

/// precise: sums of reals are added up, whatever a datum is multiplied with.
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
    let said = exact(&[was.clone(), now.clone()], &parts);
    assert!(said.data().iter().all(|datum| ["w", "x"].contains(&datum.name())), "{said}");
    let half = Term::literal(Value::Real(RBig::from_parts(1.into(), 2u8.into())));
    let parts = [
        compare(Comparison::Less, &Term::multiply(&half, &now), &x),
        compare(Comparison::Greater, &Term::add(&now, &now), &was),
        compare(Comparison::AtMost, &Term::subtract(&x, &now), &was),
    ];
    exact(&[now], &parts);
}

/// precise: ends on one side, of an integer among integers and among reals.
#[test]
fn ends_on_one_side() {
    let [a, b] = ["a", "b"].map(|name| datum(name, Type::Int));
    let x = datum("x", Type::Real);
    let twice = Term::multiply(&Term::int(2), &a);
    let parts = [compare(Comparison::Greater, &twice, &b), compare(Comparison::NotEqual, &a, &b)];
    assert!(exact(std::slice::from_ref(&a), &parts).is_true());
    // Beyond what the solver decides with a quantifier; of either side alone, there is an integer beyond
    // every real, and below an integer there is one above a real where the next one below is above it.
    let parts = [parts[0].clone(), compare(Comparison::Greater, &a.to_real(), &x)];
    assert!(without(&[a.as_datum().unwrap().clone()], &parts).unwrap().is_true());
    let parts = [compare(Comparison::Less, &a, &b), compare(Comparison::Greater, &a.to_real(), &x)];
    let between = without(&[a.as_datum().unwrap().clone()], &parts).unwrap();
    assert_eq!(
        between,
        compare(Comparison::Less, &x, &Term::subtract(&b, &Term::int(1)).to_real()),
        "{between}"
    );
}

/// precise: over integers, between an end and an end of a multiple; never between two multiples, where no
/// value may lie.
#[test]
fn multiples_of_integers() {
    let [a, b, c] = ["a", "b", "c"].map(|name| datum(name, Type::Int));
    for comparison in [Comparison::Less, Comparison::AtMost] {
        for own in [Comparison::Greater, Comparison::AtLeast] {
            let parts = [compare(own, &Term::multiply(&Term::int(3), &a), &b), compare(comparison, &a, &c)];
            exact(std::slice::from_ref(&a), &parts);
            let parts = [compare(own, &a, &b), compare(comparison, &Term::multiply(&Term::int(3), &a), &c)];
            exact(std::slice::from_ref(&a), &parts);
        }
    }
    let parts = [
        compare(Comparison::AtLeast, &Term::multiply(&Term::int(2), &a), &b),
        compare(Comparison::AtMost, &Term::multiply(&Term::int(3), &a), &c),
    ];
    assert_eq!(without(&[a.as_datum().unwrap().clone()], &parts), None);
}

/// precise: what cancels out is no obstacle, also within cases; what divides stays an atom.
#[test]
fn what_cancels_out() {
    let [a, b, c] = ["a", "b", "c"].map(|name| datum(name, Type::Int));
    let around = Term::subtract(&Term::add(&a, &b), &a);
    let parts = [
        Term::or([compare(Comparison::Less, &around, &c), compare(Comparison::Greater, &a, &c)]),
        compare(Comparison::AtLeast, &a, &c),
    ];
    exact(std::slice::from_ref(&a), &parts);
    let quotient = Term::arithmetic(Operator::IntegerDivide, &a, &Term::int(2));
    let parts = [compare(Comparison::Less, &quotient, &b)];
    assert_eq!(without(&[a.as_datum().unwrap().clone()], &parts), None);
}
