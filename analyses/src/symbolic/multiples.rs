//! Eliminates multiples and remainders of integers.
//!
//! **Problem.** `x == 2 * p` gives p no value, and `(x + p) mod 7` is no sum. So a model that adds `2 * p`,
//! or counts modulo a number, would keep each p of its path, and have one more symbol after each step.
//! **Source.** Cooper, *Theorem proving in arithmetic without multiplication* (1972): comparisons are
//! multiplied until the bound integer has the same factor in all of them, and divisibility excludes its
//! impossible values. **Where we differ**: this is only done if an equation gives the multiple its value. So
//! there is one case, and not as many as the factor is large.
//!
//! **Method.** If `k * s == e`, each other comparison that mentions s is multiplied by k, so that e can
//! replace `k * s`. `e mod k == 0` says that there is an s. A term `e mod k` becomes a datum v from 0 to k -
//! 1 with `e == k * q + v` for some q, and both are bound then. Terms that do not change a remainder are
//! dropped: `(x + 4 * p) mod 2` becomes `x mod 2`. **Exact.** `mod` is Euclid's, so v and q are unique.
//! **Ends** by the limit of steps: a multiple may introduce a remainder, which may introduce a multiple.

use coreach_model::obligation::in_type;
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use super::eliminate::{Prenex, solve_for_multiple};
use super::sum::Sum;

/// Eliminates a bound integer by an equation that gives the value of a multiple of it, if all other parts
/// that mention it are linear in it.
pub(super) fn replace_multiple(case: &Prenex) -> Option<Vec<Prenex>> {
    case.bound.iter().filter(|datum| datum.ty().is_integer()).find_map(|datum| {
        let (place, times, value) = case.parts.iter().enumerate().find_map(|(place, part)| {
            let (comparison, times, value) = solve_for_multiple(part, datum)?;
            (comparison == Comparison::Equal).then_some((place, times, value))
        })?;
        let of_type = in_type(&Term::datum(datum), datum.ty()).lowered().conjuncts();
        let others = case.parts[..place].iter().chain(&case.parts[place + 1..]);
        let mut parts = vec![Term::equal(&modulo(&value, &times), &Term::int(0))];
        for part in of_type.iter().chain(others) {
            parts.push(match part.mentions(datum) {
                true => multiply_comparison(part, datum, &times, &value)?,
                false => part.clone(),
            });
        }
        Some(vec![Prenex { bound: case.bound_without(datum), parts }])
    })
}

/// Multiplies a comparison by `times`, and replaces `times * datum` by the value. `None` for other terms.
fn multiply_comparison(part: &Term, datum: &Datum, times: &RBig, value: &Term) -> Option<Term> {
    let Node::Compare(comparison, a, b) = part.node() else { return None };
    if *a.sort() != Type::Int {
        return None;
    }
    let multiply = |mut sum: Sum| {
        let factor = sum.take(datum, &Type::Int)?;
        let mut multiplied = sum.times(times);
        multiplied.add(value, &factor);
        (!sum.mentions(datum)).then_some(multiplied)
    };
    match (split_remainder(a), b.as_literal()) {
        // A remainder compared with a number: all three of them are multiplied.
        (Some((inner, modulus)), Some(_)) => {
            let inner = multiply(Sum::of(inner))?.term(&RBig::ONE, &Type::Int);
            let number = Sum::of(b).times(times).term(&RBig::ONE, &Type::Int);
            Some(Term::compare(*comparison, &modulo(&inner, &(modulus * times)), &number))
        }
        _ => Some(multiply(Sum::of_difference(a, b))?.compared(*comparison, &Type::Int)),
    }
}

/// Replaces a remainder of a bound integer by two bound data: the remainder and the quotient. `None` if there
/// is none.
pub(super) fn split_by_remainder(case: &Prenex) -> Option<Vec<Prenex>> {
    let difference = |part: &Term| match part.node() {
        Node::Compare(comparison, a, b) if *a.sort() == Type::Int => {
            Some((*comparison, Sum::of_difference(a, b)))
        }
        _ => None,
    };
    let is_bound_remainder =
        |atom: &&Term| split_remainder(atom).is_some() && case.bound.iter().any(|datum| atom.mentions(datum));
    let find_atom = |part: &Term| {
        let (_, sum) = difference(part)?;
        sum.atoms().find(is_bound_remainder).cloned()
    };
    let atom = case.parts.iter().find_map(find_atom)?;
    let (inner, modulus) = split_remainder(&atom)?;
    let fresh_datum = |word: &str, ty: Type| {
        let name = |number: usize| format!("{word}#{number}");
        let is_free = |number: &usize| case.bound.iter().all(|datum| datum.name() != name(*number));
        let number = (0..=case.bound.len()).find(is_free).unwrap_or(case.bound.len());
        Datum::new(name(number), ty)
    };
    let most = (&modulus - RBig::ONE).numerator().clone();
    let remainder = fresh_datum("remainder", Type::Range(0.into(), most));
    let quotient = fresh_datum("quotient", Type::Int);
    // `inner - modulus * quotient - remainder == 0`
    let mut equation = Sum::of(inner);
    equation.add(&Term::datum(&quotient), &-modulus);
    equation.add(&Term::datum(&remainder), &RBig::NEG_ONE);
    let mut parts = vec![equation.compared(Comparison::Equal, &Type::Int)];
    for part in &case.parts {
        parts.push(match difference(part) {
            Some((comparison, sum)) if sum.atoms().any(|other| *other == atom) => {
                sum.replaced(&atom, &Term::datum(&remainder)).compared(comparison, &Type::Int)
            }
            _ => part.clone(),
        });
    }
    let bound = case.bound.iter().cloned().chain([remainder, quotient]).collect();
    Some(vec![Prenex { bound, parts }])
}

/// The condition that a multiple of `times` lies between two integers, each with whether it is excluded: the
/// last multiple that is not above the upper end is not below the lower one. `None`: an end is no integer.
pub(super) fn last_multiple(low: (&Term, bool), high: (&Term, bool), times: &RBig) -> Option<Term> {
    let ((low, is_low_excluded), (high, is_high_excluded)) = (low, high);
    if *low.sort() != Type::Int || *high.sort() != Type::Int || !times.is_int() {
        return None;
    }
    let one = Term::int(1);
    let least = if is_low_excluded { Term::add(low, &one) } else { low.clone() };
    let most = if is_high_excluded { Term::subtract(high, &one) } else { high.clone() };
    let last = Term::subtract(&most, &modulo(&most, times));
    Some(Term::compare(Comparison::AtLeast, &last, &least))
}

/// Reduces a remainder that is compared with a number: drops terms that do not change it. `None`: there is
/// nothing to reduce.
pub(super) fn reduce_remainder(comparison: Comparison, a: &Term, b: &Term) -> Option<Term> {
    let ((inner, modulus), Some(Value::Int(number))) = (split_remainder(a)?, b.as_literal()) else {
        return None;
    };
    let sum = Sum::of(inner);
    let reduced = sum.reduced_modulo(&modulus);
    let common = reduced.common_divisor(&modulus);
    if common > RBig::ONE && matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
        // All terms but the constant are multiples of the common divisor, so divide by it: `(4 * x + 3) mod 6
        // == 1` is `(4 * x + 2) mod 6 == 0`, and that is `(2 * x + 1) mod 3 == 0`.
        let (multiple, constant) = reduced.split_number();
        let own_remainder = &constant - (&constant / &common).floor() * &common;
        let mut divided = multiple.times(&(RBig::ONE / &common));
        divided.add(&Term::int(((constant - &own_remainder) / &common).numerator().clone()), &RBig::ONE);
        let number = (RBig::from(number.clone()) - own_remainder) / &common;
        if !number.is_int() {
            return Some(if comparison == Comparison::Equal { Term::no() } else { Term::yes() });
        }
        let remainder = modulo(&divided.term(&RBig::ONE, &Type::Int), &(modulus / common));
        return Some(Term::compare(comparison, &remainder, &Term::int(number.numerator().clone())));
    }
    let [dividend, reduced] = [sum, reduced].map(|sum| sum.term(&RBig::ONE, &Type::Int));
    (dividend != reduced).then(|| Term::compare(comparison, &modulo(&reduced, &modulus), b))
}

/// Splits a remainder by a positive number into its dividend and the number. `None` for other terms.
fn split_remainder(term: &Term) -> Option<(&Term, RBig)> {
    let Node::Arithmetic(Operator::Modulo, inner, modulus) = term.node() else { return None };
    match modulus.as_literal() {
        Some(Value::Int(modulus)) if *modulus > 0.into() => Some((inner, RBig::from(modulus.clone()))),
        _ => None,
    }
}

fn modulo(term: &Term, modulus: &RBig) -> Term {
    match *modulus == RBig::ONE {
        true => Term::int(0),
        false => Term::arithmetic(Operator::Modulo, term, &Term::int(modulus.numerator().clone())),
    }
}
