//! Multiples and remainders of integers, taken away.
//!
//! **Problem.** `x == 2 * p` gives p no value, and `(x + p) mod 7` is no sum: a model that adds `2 * p`, or
//! counts round, keeps each p of its path, and from one step to the next there is one more to ask with.
//!
//! **Source.** Cooper, *Theorem proving in arithmetic without multiplication* (1972): comparisons are
//! multiplied until the bound integer has one count in all of them, and what it cannot be is said by
//! divisibility. **Where we differ**: only where an equation gives the multiple its value, so that there is
//! one case and not as many as the count is large.
//!
//! **Method.** Where `k * s == e`, each other comparison that counts s is multiplied by k, so that e can be
//! put in the place of `k * s`, and `e mod k == 0` says that there is an s. An atom `e mod k` is a datum v
//! from 0 to k - 1 with `e == k * q + v` for some q; both are bound then. What a remainder forgets goes: of
//! `(x + 4 * p) mod 2` it is `x mod 2`.
//!
//! **Exact.** `mod` is Euclid's, so v and q are unique. **Ends** by the limit of steps: a multiple may bring
//! a remainder, and that a multiple.

use coreach_model::obligation::in_type;
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use super::eliminate::{Case, counted};
use super::sum::Sum;

/// An equation that gives a multiple of a bound integer its value, where all else that mentions it counts it.
pub(super) fn by_multiple(case: &Case) -> Option<Vec<Case>> {
    case.bound.iter().filter(|datum| datum.ty().is_integer()).find_map(|datum| {
        let (at, times, value) = case.parts.iter().enumerate().find_map(|(at, part)| {
            let (comparison, times, value) = counted(part, datum)?;
            (comparison == Comparison::Equal).then_some((at, times, value))
        })?;
        let own = in_type(&Term::datum(datum), datum.ty()).lowered().conjuncts();
        let others = case.parts.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, part)| part);
        let mut parts = vec![Term::equal(&modulo(&value, &times), &Term::int(0))];
        for part in own.iter().chain(others) {
            let is_about = part.mentions(datum);
            parts.push(if is_about { multiplied(part, datum, &times, &value)? } else { part.clone() });
        }
        let bound = case.bound.iter().filter(|other| *other != datum).cloned().collect();
        Some(vec![Case { bound, parts }])
    })
}

/// The comparison, so many times, with the value in the place of so many times the datum.
fn multiplied(part: &Term, datum: &Datum, times: &RBig, value: &Term) -> Option<Term> {
    let Node::Compare(comparison, a, b) = part.node() else { return None };
    if *a.sort() != Type::Int {
        return None;
    }
    let put = |sum: Sum| {
        let mut sum = sum;
        let own = sum.take(datum, &Type::Int)?;
        let mut all = sum.times(times);
        all.add(value, &own);
        (!sum.mentions(datum)).then_some(all)
    };
    match (remainder(a), b.as_literal()) {
        (Some((inner, of)), Some(_)) => {
            let inner = put(Sum::of(inner))?.term(&RBig::ONE, &Type::Int);
            let number = Sum::of(b).times(times).term(&RBig::ONE, &Type::Int);
            Some(Term::compare(*comparison, &modulo(&inner, &(of * times)), &number))
        }
        _ => Some(put(Sum::of_difference(a, b))?.compared(*comparison, &Type::Int)),
    }
}

/// A bound integer within `mod`: what is left is a datum, and how often the divisor was in it another one.
pub(super) fn by_remainder(case: &Case) -> Option<Vec<Case>> {
    let sum = |part: &Term| match part.node() {
        Node::Compare(comparison, a, b) if *a.sort() == Type::Int => {
            Some((*comparison, Sum::of_difference(a, b)))
        }
        _ => None,
    };
    let is_about =
        |atom: &&Term| remainder(atom).is_some() && case.bound.iter().any(|datum| atom.mentions(datum));
    let atom = case.parts.iter().find_map(|part| sum(part)?.1.atoms().find(is_about).cloned())?;
    let (inner, of) = remainder(&atom)?;
    let fresh = |what: &str, ty: Type| {
        let name = |number: usize| format!("{what}#{number}");
        let is_free = |number: &usize| case.bound.iter().all(|datum| datum.name() != name(*number));
        let number = (0..=case.bound.len()).find(is_free).unwrap_or(case.bound.len());
        Datum::new(name(number), ty)
    };
    let most = (&of - RBig::ONE).numerator().clone();
    let left = fresh("remainder", Type::Range(0.into(), most));
    let often = fresh("quotient", Type::Int);
    let mut whole = Sum::of(inner);
    whole.add(&Term::datum(&often), &-of);
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
    let bound = case.bound.iter().cloned().chain([left, often]).collect();
    Some(vec![Case { bound, parts }])
}

/// That a multiple lies between two whole numbers, each with whether it is excluded: the last one that is not
/// above the upper end is not below the lower one.
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

/// A remainder compared with a number, without what it forgets; none where it says all that it has.
pub(super) fn with_small_remainders(comparison: Comparison, a: &Term, b: &Term) -> Option<Term> {
    let ((inner, of), Some(Value::Int(number))) = (remainder(a)?, b.as_literal()) else { return None };
    let sum = Sum::of(inner);
    let small = sum.remaining(&of);
    let common = small.common(&of);
    if common > RBig::ONE && matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
        // All but the number is a multiple of what is common: the number, less its own remainder, as well.
        let (multiple, rest) = small.apart();
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

/// What a remainder by a number above 0 is of, and the number.
fn remainder(term: &Term) -> Option<(&Term, RBig)> {
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
