//! Eliminates multiples and remainders of integers.
//!
//! **Problem.** `x == 2 * p` gives p no value, and `(x + p) mod 7` is no sum. So a model that adds `2 * p`,
//! or counts modulo a number, would keep each p of its path, and have one more symbol after each step.
//!
//! **Source.** Cooper, *Theorem proving in arithmetic without multiplication* (1972): comparisons are
//! multiplied until the bound integer has the same factor in all of them, and divisibility excludes its
//! impossible values. **Where we differ**: this is only done if an equation gives the multiple its value. So
//! there is one case, and not as many as the factor is large.
//!
//! **Method.** If `k * s == e`, each other comparison that mentions s is multiplied by k, so that e can
//! replace `k * s`. `e mod k == 0` says that there is an s. A term `e mod k` becomes a datum v from 0 to k -
//! 1 with `e == k * q + v` for some q, and both are bound then. Terms that do not change a remainder are
//! dropped: `(x + 4 * p) mod 2` becomes `x mod 2`.
//!
//! **Exact.** `mod` is Euclid's, so v and q are unique. **Ends** by the limit of steps: a multiple may
//! introduce a remainder, which may introduce a multiple.

use coreach_model::obligation::in_type;
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use super::eliminate::{Case, solve_for_multiple};
use super::sum::Sum;

/// Eliminates a bound integer by an equation that gives the value of a multiple of it, if all other parts
/// that mention it are linear in it.
pub(super) fn split_by_multiple(case: &Case) -> Option<Vec<Case>> {
    case.bound.iter().filter(|datum| datum.ty().is_integer()).find_map(|datum| {
        let (at, times, value) = case.parts.iter().enumerate().find_map(|(at, part)| {
            let (comparison, times, value) = solve_for_multiple(part, datum)?;
            (comparison == Comparison::Equal).then_some((at, times, value))
        })?;
        let own = in_type(&Term::datum(datum), datum.ty()).lowered().conjuncts();
        let others = case.parts.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, part)| part);
        let mut parts = vec![Term::equal(&modulo(&value, &times), &Term::int(0))];
        for part in own.iter().chain(others) {
            let is_about = part.mentions(datum);
            parts.push(if is_about {
                multiply_comparison(part, datum, &times, &value)?
            } else {
                part.clone()
            });
        }
        let bound = case.bound.iter().filter(|other| *other != datum).cloned().collect();
        Some(vec![Case { bound, parts }])
    })
}

/// Multiplies a comparison by `times`, and replaces `times * datum` by the value.
fn multiply_comparison(part: &Term, datum: &Datum, times: &RBig, value: &Term) -> Option<Term> {
    let Node::Compare(comparison, a, b) = part.node() else { return None };
    if *a.sort() != Type::Int {
        return None;
    }
    let multiply = |mut sum: Sum| {
        let own = sum.take(datum, &Type::Int)?;
        let mut all = sum.times(times);
        all.add(value, &own);
        (!sum.mentions(datum)).then_some(all)
    };
    match (split_remainder(a), b.as_literal()) {
        (Some((inner, of)), Some(_)) => {
            let inner = multiply(Sum::of(inner))?.term(&RBig::ONE, &Type::Int);
            let number = Sum::of(b).times(times).term(&RBig::ONE, &Type::Int);
            Some(Term::compare(*comparison, &modulo(&inner, &(of * times)), &number))
        }
        _ => Some(multiply(Sum::of_difference(a, b))?.compared(*comparison, &Type::Int)),
    }
}

/// Replaces a remainder of a bound integer by two bound data: the remainder and the quotient.
pub(super) fn split_by_remainder(case: &Case) -> Option<Vec<Case>> {
    let sum = |part: &Term| match part.node() {
        Node::Compare(comparison, a, b) if *a.sort() == Type::Int => {
            Some((*comparison, Sum::of_difference(a, b)))
        }
        _ => None,
    };
    let is_about =
        |atom: &&Term| split_remainder(atom).is_some() && case.bound.iter().any(|datum| atom.mentions(datum));
    let atom = case.parts.iter().find_map(|part| sum(part)?.1.atoms().find(is_about).cloned())?;
    let (inner, of) = split_remainder(&atom)?;
    let fresh = |what: &str, ty: Type| {
        let name = |number: usize| format!("{what}#{number}");
        let is_free = |number: &usize| case.bound.iter().all(|datum| datum.name() != name(*number));
        let number = (0..=case.bound.len()).find(is_free).unwrap_or(case.bound.len());
        Datum::new(name(number), ty)
    };
    let most = (&of - RBig::ONE).numerator().clone();
    let left = fresh("remainder", Type::Range(0.into(), most));
    let quotient = fresh("quotient", Type::Int);
    let mut whole = Sum::of(inner);
    whole.add(&Term::datum(&quotient), &-of);
    whole.add(&Term::datum(&left), &RBig::NEG_ONE);
    let mut parts = vec![whole.compared(Comparison::Equal, &Type::Int)];
    for part in &case.parts {
        parts.push(match sum(part) {
            Some((comparison, sum)) if sum.atoms().any(|other| *other == atom) => {
                sum.replaced(&atom, &Term::datum(&left)).compared(comparison, &Type::Int)
            }
            _ => part.clone(),
        });
    }
    let bound = case.bound.iter().cloned().chain([left, quotient]).collect();
    Some(vec![Case { bound, parts }])
}

/// The condition that a multiple of `times` lies between two integers, each with whether it is excluded: the
/// last multiple that is not above the upper end is not below the lower one.
pub(super) fn last_multiple(low: (&Term, bool), high: (&Term, bool), times: &RBig) -> Option<Term> {
    if *low.0.sort() != Type::Int || *high.0.sort() != Type::Int || !times.is_int() {
        return None;
    }
    let one = Term::int(1);
    let least = if low.1 { Term::add(low.0, &one) } else { low.0.clone() };
    let most = if high.1 { Term::subtract(high.0, &one) } else { high.0.clone() };
    let last = Term::subtract(&most, &modulo(&most, times));
    Some(Term::compare(Comparison::AtLeast, &last, &least))
}

/// Reduces a remainder that is compared with a number: drops terms that do not change it. `None`: there is
/// nothing to reduce.
pub(super) fn reduce_remainder(comparison: Comparison, a: &Term, b: &Term) -> Option<Term> {
    let ((inner, of), Some(Value::Int(number))) = (split_remainder(a)?, b.as_literal()) else { return None };
    let sum = Sum::of(inner);
    let small = sum.reduced_modulo(&of);
    let common = small.common_divisor(&of);
    if common > RBig::ONE && matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
        // All terms but the number are multiples of the common divisor. Subtract the number's own remainder,
        // and divide.
        let (multiple, rest) = small.split_number();
        let own = &rest - (&rest / &common).floor() * &common;
        let mut less = multiple.times(&(RBig::ONE / &common));
        less.add(&Term::int(((rest - &own) / &common).numerator().clone()), &RBig::ONE);
        let left = (RBig::from(number.clone()) - own) / &common;
        if !left.is_int() {
            return Some(if comparison == Comparison::Equal { Term::no() } else { Term::yes() });
        }
        let less = modulo(&less.term(&RBig::ONE, &Type::Int), &(of / common));
        return Some(Term::compare(comparison, &less, &Term::int(left.numerator().clone())));
    }
    let before = sum.term(&RBig::ONE, &Type::Int);
    let after = small.term(&RBig::ONE, &Type::Int);
    (before != after).then(|| Term::compare(comparison, &modulo(&after, &of), b))
}

/// Splits a remainder by a positive number into its dividend and the number.
fn split_remainder(term: &Term) -> Option<(&Term, RBig)> {
    let Node::Arithmetic(Operator::Modulo, inner, of) = term.node() else { return None };
    match of.as_literal() {
        Some(Value::Int(of)) if *of > 0.into() => Some((inner, RBig::from(of.clone()))),
        _ => None,
    }
}

fn modulo(term: &Term, of: &RBig) -> Term {
    match *of == RBig::ONE {
        true => Term::int(0),
        false => Term::arithmetic(Operator::Modulo, term, &Term::int(of.numerator().clone())),
    }
}
