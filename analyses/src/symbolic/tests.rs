//! Quantifiers taken away, and asked with, against enumeration.

use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::{Comparison, Operator};
use coreach_model::value::tuples;
use coreach_model::{Datum, Term, Type, Value};

use super::eliminate::without;
use crate::solver::random::{Random, array, range};
use crate::solver::z3::Z3Solver;
use crate::solver::{Answer, Solver};

fn bound() -> [Datum; 3] {
    // Larger than what is taken apart value by value, so that ends and equations have to be found.
    ["p", "q", "r"].map(|name| Datum::new(name, range(-5, 5)))
}

fn free() -> [Datum; 2] {
    ["x", "y"].map(|name| Datum::new(name, range(-2, 2)))
}

fn comparison(random: &mut Random) -> Comparison {
    use Comparison::{AtLeast, AtMost, Equal, Greater, Less, NotEqual};
    [Equal, NotEqual, Less, AtMost, Greater, AtLeast][random.below(6) as usize]
}

/// A sum of a few data, mostly different ones, sometimes with an operation that is not unit-linear.
fn sum(random: &mut Random, odd: u64) -> Term {
    let data: Vec<Datum> = bound().into_iter().chain(free()).collect();
    let mut term = Term::int(random.below(5) as i64 - 2);
    let first = random.below(5);
    for number in 0..=random.below(2) {
        let datum = Term::datum(&data[((first + number) % 5) as usize]);
        term = match random.below(4 + odd) {
            0 => Term::add(&datum, &term),
            1 => Term::add(&term, &datum),
            2 => Term::subtract(&term, &datum),
            3 => Term::subtract(&datum, &term),
            4 => Term::add(&term, &Term::multiply(&datum, &Term::int(2))),
            _ => Term::add(&Term::arithmetic(Operator::Modulo, &datum, &Term::int(3)), &term),
        };
    }
    term
}

fn part(random: &mut Random, odd: u64) -> Term {
    let mut atom = || Term::compare(comparison(random), &sum(random, odd), &sum(random, odd));
    let (a, b) = (atom(), atom());
    match random.below(4) {
        0 => Term::or([a, b]),
        _ => a,
    }
}

/// Whether values of the bound data make all parts hold, by trying all.
fn exists(parts: &[Term], valuation: &Valuation) -> bool {
    let lists = bound().map(|datum| Value::enumerate(datum.ty(), 100).unwrap());
    tuples(&lists).into_iter().any(|tuple| {
        let mut all = valuation.clone();
        all.extend(bound().into_iter().zip(tuple));
        parts.iter().all(|part| holds(part, &all) == Ok(true))
    })
}

fn valuations() -> Vec<Valuation> {
    let lists = free().map(|datum| Value::enumerate(datum.ty(), 100).unwrap());
    tuples(&lists).into_iter().map(|tuple| free().into_iter().zip(tuple).collect()).collect()
}

#[test]
fn a_quantifier_taken_away_was_not_needed() {
    let mut random = Random::new(11);
    let (mut taken, mut both) = (0, [0, 0]);
    for round in 0..400 {
        let parts: Vec<Term> = (0..=random.below(4)).map(|_| part(&mut random, round % 2)).collect();
        let Some(condition) = without(&bound(), &parts) else { continue };
        taken += 1;
        assert!(bound().iter().all(|datum| !condition.mentions(datum)), "{condition} of {parts:?}");
        for valuation in valuations() {
            let expected = exists(&parts, &valuation);
            both[usize::from(expected)] += 1;
            let found = evaluate(&condition, &valuation);
            assert_eq!(found, Ok(Value::Bool(expected)), "{condition} of {parts:?} in {valuation:?}");
        }
    }
    assert!(taken > 80 && both[0] > 300 && both[1] > 500, "one-sided test: {taken} {both:?}");
}

#[test]
fn questions_with_quantifiers_are_answered_as_by_enumeration() {
    let mut random = Random::new(17);
    let mut solver = Z3Solver::default();
    let mut answers = [0, 0, 0];
    for round in 0..120 {
        let parts: Vec<Term> = (0..=random.below(3)).map(|_| part(&mut random, round % 3)).collect();
        let x = Term::datum(&free()[0]);
        let formula = [Term::compare(comparison(&mut random), &x, &Term::int(random.below(3) as i64 - 1))];
        let is_lacking =
            |valuation: &Valuation| holds(&formula[0], valuation) == Ok(true) && !exists(&parts, valuation);
        let expected = if valuations().iter().any(is_lacking) { Answer::Sat } else { Answer::Unsat };
        let answer = solver.check_none(&formula, &bound(), &parts);
        answers[answer as usize] += 1;
        assert!(answer == expected || answer == Answer::Unknown, "{answer:?}: {formula:?} {parts:?}");
    }
    assert!(answers[0] > 20 && answers[1] > 20 && answers[2] < 20, "one-sided test: {answers:?}");
}

#[test]
fn arrays_under_a_quantifier_are_unknown() {
    let p = Datum::new("p", array(range(0, 1), Type::Int));
    let cell = Term::select(&Term::datum(&p), &Term::int(0));
    let part = Term::compare(Comparison::Less, &cell, &Term::multiply(&cell, &Term::int(2)));
    assert_eq!(without(std::slice::from_ref(&p), std::slice::from_ref(&part)), None);
    assert_eq!(Z3Solver::default().check_none(&[], &[p], &[part]), Answer::Unknown);
}
