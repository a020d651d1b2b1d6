//! Constraints as a person reads them: which are worth saying, in which order, and as which comparison; and
//! cases, what they share being said once.
//!
//! `c·x + k ≥ 0` becomes a comparison with positive coefficients on both sides and the constant on the right,
//! over integers only; between integers, `a >= b + 1` is written `a > b`. An equality puts a lone place with
//! coefficient one on the left. Example: `x0 - x1 >= 0` over ⟨vPaid, cPrice⟩ is `vPaid >= cPrice`.

use std::collections::HashSet;

use coreach_model::Value;
use coreach_model::term::Term;
use coreach_model::term::node::{Comparison, Operator};
use coreach_polyhedra::{Constraint, Integer, Relation};
use dashu_base::RemEuclid;
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::domains::Domain;
use crate::frame::{Frame, extent};
use crate::grid::{Congruence, Grid};
use crate::linear::big;
use crate::partition::{ElementId, Elements};
use crate::places::Place;

/// One of the cases, each a conjunction; what all share is said once.
pub fn disjunction(cases: &[Vec<Term>]) -> Term {
    let Some(first) = cases.first() else { return Term::no() };
    let shared: Vec<Term> =
        first.iter().filter(|term| cases.iter().all(|case| case.contains(term))).cloned().collect();
    let known: HashSet<Term> = shared.iter().cloned().collect();
    let rest = cases.iter().map(|case| Term::and(case.iter().filter(|term| !known.contains(*term)).cloned()));
    let rest = Term::or(rest.collect::<Vec<_>>());
    Term::and(shared.into_iter().chain([rest]))
}

/// What constraints say beyond the types, in an order for reading: as conjuncts.
pub fn readable<'a>(frame: &Frame, constraints: impl Iterator<Item = &'a Constraint>) -> Vec<Term> {
    let mut kept = independent(frame, constraints.collect());
    kept.retain(|constraint| says_more(frame, constraint));
    readable_order(&mut kept);
    kept.into_iter().map(|constraint| to_term(constraint, &frame.numeric)).collect()
}

/// Without the equalities that follow from those before them. One domain has none of these; two at once may
/// say the same in two ways.
pub fn independent<'a>(frame: &Frame, constraints: Vec<&'a Constraint>) -> Vec<&'a Constraint> {
    if !frame.congruences {
        return constraints;
    }
    let mut known = Grid::all(frame.dimensions());
    let mut kept = constraints;
    kept.retain(|constraint| {
        let follows = known.implies_equality(constraint);
        known = known.with(std::slice::from_ref(constraint), &[]);
        !follows
    });
    kept
}

/// The congruences of an element that follow neither from its equalities nor from the types. Of a real that
/// equals a whole number one may speak in its place, and no term does: it is left out.
pub fn classes<D: Domain>(frame: &Frame, store: &Elements<D>, element: ElementId) -> Vec<Congruence> {
    let found = store.congruences(element);
    if found.is_empty() {
        return Vec::new();
    }
    let equalities: Vec<Constraint> = store.constraints(element).cloned().collect();
    let types = Grid::all(frame.dimensions()).with_integers(&frame.integer).with(&equalities, &[]);
    let is_whole = |congruence: &&Congruence| {
        let mut entries = congruence.coefficients().iter().zip(&frame.integer);
        entries.all(|(entry, integer)| *integer || entry.is_zero())
    };
    found.iter().filter(is_whole).filter(|congruence| !types.implies(congruence)).cloned().collect()
}

/// A congruence between integers as `… mod m == r`, the coefficients being small.
pub fn congruent(congruence: &Congruence, places: &[Place]) -> Term {
    let modulus = big(congruence.modulus());
    let half = modulus.clone() / IBig::from(2);
    let small = |value: IBig| {
        let least = value.rem_euclid(modulus.clone());
        let least = IBig::from(least);
        if least > half { least - modulus.clone() } else { least }
    };
    let mut coefficients: Vec<IBig> = congruence.coefficients().iter().map(|c| small(big(c))).collect();
    let mut remainder = -big(congruence.constant());
    if coefficients.iter().find(|c| **c != IBig::ZERO).is_some_and(|c| *c < IBig::ZERO) {
        coefficients.iter_mut().for_each(|c| *c = -c.clone());
        remainder = -remainder;
    }
    let terms = |sign: i32| {
        let used = places.iter().zip(&coefficients).filter(move |(_, c)| (**c > IBig::ZERO) == (sign > 0));
        let terms = used
            .filter(|(_, c)| **c != IBig::ZERO)
            .map(move |(place, c)| Term::multiply(&Term::int(c.clone() * IBig::from(sign)), &place.term));
        add_all(terms.collect())
    };
    let sum = match (terms(1), terms(-1)) {
        (Some(more), Some(less)) => Term::subtract(&more, &less),
        (Some(more), None) => more,
        _ => Term::int(0),
    };
    let remainder = IBig::from(remainder.rem_euclid(modulus.clone()));
    let class = Term::arithmetic(Operator::Modulo, &sum, &Term::int(modulus));
    Term::compare(Comparison::Equal, &class, &Term::int(remainder))
}

pub fn says_more(frame: &Frame, constraint: &Constraint) -> bool {
    !implied_by_types(frame, constraint)
}

pub fn readable_order(constraints: &mut [&Constraint]) {
    constraints.sort_by_key(|constraint| reading_order(constraint));
}

/// Does every vector within the types satisfy the constraint? Exact: a linear form has its extremes at the
/// ends.
fn implied_by_types(frame: &Frame, constraint: &Constraint) -> bool {
    let extreme = |sign: i32| -> Option<Integer> {
        let mut sum = constraint.constant().clone();
        for (place, coefficient) in frame.numeric.iter().zip(constraint.coefficients()) {
            if coefficient.is_zero() {
                continue;
            }
            let (low, high) = extent(&place.ty);
            let end = if coefficient.signum() == sign { high? } else { low? };
            sum = sum + coefficient * &end;
        }
        Some(sum)
    };
    let least = extreme(-1);
    match constraint.relation() {
        Relation::AtLeast => least.is_some_and(|least| !least.is_negative()),
        Relation::Greater => least.is_some_and(|least| least.is_positive()),
        Relation::Equal => {
            least.is_some_and(|least| least.is_zero() && extreme(1).is_some_and(|most| most.is_zero()))
        }
    }
}

/// Equalities first, then bounds of one place, then relations; by place; a lower bound before an upper one.
fn reading_order(constraint: &Constraint) -> (bool, Vec<usize>, bool) {
    let coefficients = constraint.coefficients();
    let used: Vec<usize> = (0..coefficients.len()).filter(|at| !coefficients[*at].is_zero()).collect();
    let falls = used.first().is_some_and(|at| coefficients[*at].is_negative());
    let length_first = std::iter::once(used.len().min(2)).chain(used).collect();
    (constraint.relation() != Relation::Equal, length_first, falls)
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
    // `left REL right + offset`, the sides having positive coefficients; `REL` is read with left and right in
    // place.
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
