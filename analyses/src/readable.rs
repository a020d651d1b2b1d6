//! Writes constraints as a person reads them: which constraints, in which order, and as which comparisons. It
//! also writes disjunctions of cases, with the shared conjuncts once.
//!
//! `c·x + k ≥ 0` becomes a comparison with positive integer coefficients on both sides and the constant on
//! the right. Between integers, `a >= b + 1` is written `a > b`. The shorter side of an equality is on the
//! left. Example: `x0 - x1 >= 0` over ⟨vPaid, cPrice⟩ is `vPaid >= cPrice`.

use std::cmp::Ordering;
use std::collections::HashSet;

use coreach_model::Value;
use coreach_model::term::Term;
use coreach_model::term::node::{Comparison, Operator};
use coreach_polyhedra::{Constraint, Integer, Relation};
use dashu_base::RemEuclid;
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::frame::{Frame, extent};
use crate::grid::{Congruence, Grid};
use crate::linear::big;
use crate::partition::{ElementId, Elements};
use crate::places::Place;

/// Writes the disjunction of cases, each a conjunction. Conjuncts that all cases share are written once.
pub fn write_disjunction(cases: &[Vec<Term>]) -> Term {
    let Some(first) = cases.first() else { return Term::no() };
    let shared: Vec<Term> =
        first.iter().filter(|term| cases.iter().all(|case| case.contains(term))).cloned().collect();
    let is_shared: HashSet<Term> = shared.iter().cloned().collect();
    let own_parts =
        |case: &Vec<Term>| Term::and(case.iter().filter(|term| !is_shared.contains(*term)).cloned());
    let disjunction = Term::or(cases.iter().map(own_parts).collect::<Vec<_>>());
    Term::and(shared.into_iter().chain([disjunction]))
}

/// Writes constraints as conjuncts in an order for reading. Those that follow from the types are left out.
pub fn write_constraints<'a>(frame: &Frame, constraints: impl Iterator<Item = &'a Constraint>) -> Vec<Term> {
    let mut kept = independent_constraints(frame, constraints.collect());
    kept.retain(|constraint| !is_implied_by_types(frame, constraint));
    sort_for_reading(&mut kept);
    kept.into_iter().map(|constraint| to_term(constraint, &frame.numeric)).collect()
}

/// Leaves out the equalities that follow from those before them. A single domain has no such equalities, but
/// a product of two may say the same in two ways.
pub fn independent_constraints<'a>(frame: &Frame, constraints: Vec<&'a Constraint>) -> Vec<&'a Constraint> {
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

/// Lists the congruences of an element that follow neither from its equalities nor from the types. A
/// congruence that mentions a real number is left out, because no term can express it.
pub fn written_congruences(frame: &Frame, store: &Elements, element: ElementId) -> Vec<Congruence> {
    let congruences = store.congruences(element);
    if congruences.is_empty() {
        return Vec::new();
    }
    let equalities: Vec<Constraint> = store.constraints(element).cloned().collect();
    let types = Grid::all(frame.dimensions()).with_integers(&frame.integer).with(&equalities, &[]);
    let is_whole = |congruence: &&Congruence| {
        let mut entries = congruence.coefficients().iter().zip(&frame.integer);
        entries.all(|(entry, integer)| *integer || entry.is_zero())
    };
    congruences.iter().filter(is_whole).filter(|congruence| !types.implies(congruence)).cloned().collect()
}

/// Writes a congruence between integers as `… mod m == r`, with small coefficients.
pub fn congruence_to_term(congruence: &Congruence, places: &[Place]) -> Term {
    let modulus = big(congruence.modulus());
    let half = modulus.clone() / IBig::from(2);
    let nearest_to_zero = |value: IBig| {
        let remainder = IBig::from(value.rem_euclid(modulus.clone()));
        if remainder > half { remainder - modulus.clone() } else { remainder }
    };
    let mut coefficients: Vec<IBig> =
        congruence.coefficients().iter().map(|c| nearest_to_zero(big(c))).collect();
    let mut remainder = -big(congruence.constant());
    // The first coefficient becomes positive, so no sum has only negative terms.
    if coefficients.iter().find(|c| **c != IBig::ZERO).is_some_and(|c| *c < IBig::ZERO) {
        coefficients.iter_mut().for_each(|c| *c = -c.clone());
        remainder = -remainder;
    }
    let terms = places.iter().zip(&coefficients);
    let [negative, positive] = [Ordering::Less, Ordering::Greater].map(|order| {
        let with_sign = terms.clone().filter(|(_, c)| (*c).cmp(&IBig::ZERO) == order);
        let size = |c: &IBig| if *c < IBig::ZERO { -c.clone() } else { c.clone() };
        add_all(with_sign.map(|(place, c)| Term::multiply(&Term::int(size(c)), &place.term)).collect())
    });
    let sum = match (positive, negative) {
        (Some(positive), Some(negative)) => Term::subtract(&positive, &negative),
        (Some(positive), None) => positive,
        (None, _) => Term::int(0),
    };
    let remainder = IBig::from(remainder.rem_euclid(modulus.clone()));
    let class = Term::arithmetic(Operator::Modulo, &sum, &Term::int(modulus));
    Term::compare(Comparison::Equal, &class, &Term::int(remainder))
}

/// Sorts constraints into an order for reading.
pub fn sort_for_reading(constraints: &mut [&Constraint]) {
    constraints.sort_by_key(|constraint| reading_order(constraint));
}

/// Does every vector within the types satisfy the constraint? The answer is exact, because a linear form has
/// its extremes at the ends of the types.
pub fn is_implied_by_types(frame: &Frame, constraint: &Constraint) -> bool {
    // The least (for -1) or the greatest value of the linear form. `None`: it is infinite.
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
    let (least, most) = (extreme(-1), extreme(1));
    match constraint.relation() {
        Relation::AtLeast => least.is_some_and(|least| !least.is_negative()),
        Relation::Greater => least.is_some_and(|least| least.is_positive()),
        Relation::Equal => {
            least.is_some_and(|least| least.is_zero()) && most.is_some_and(|most| most.is_zero())
        }
    }
}

/// The key of the reading order: equalities first, then bounds of one place, then relations. Among these the
/// order is by place, with a lower bound before an upper one.
fn reading_order(constraint: &Constraint) -> (bool, Vec<usize>, bool) {
    let coefficients = constraint.coefficients();
    let used: Vec<usize> = (0..coefficients.len()).filter(|place| !coefficients[*place].is_zero()).collect();
    let is_upper_bound = used.first().is_some_and(|place| coefficients[*place].is_negative());
    let length_and_places = std::iter::once(used.len().min(2)).chain(used).collect();
    (constraint.relation() != Relation::Equal, length_and_places, is_upper_bound)
}

/// Writes a constraint as a term. `places` are those of the dimensions.
pub fn to_term(constraint: &Constraint, places: &[Place]) -> Term {
    let terms = || places.iter().zip(constraint.coefficients());
    let real = terms().any(|(place, c)| !c.is_zero() && !place.ty.is_integer());
    let terms_with_sign = |sign: i32| -> Vec<Term> {
        let chosen = terms().filter(|(_, c)| c.signum() == sign);
        chosen.map(|(place, c)| multiple(&c.abs(), &place.term, real)).collect()
    };
    let number = |value: IBig| literal(value, real);
    // The term is `left REL right + offset`, and both sides have positive coefficients.
    let (mut left, mut right) = (terms_with_sign(1), terms_with_sign(-1));
    let mut offset = -big(constraint.constant());
    let mut comparison = match constraint.relation() {
        Relation::Equal => Comparison::Equal,
        Relation::AtLeast => Comparison::AtLeast,
        Relation::Greater => Comparison::Greater,
    };
    // The sides are exchanged if the left one is empty or the longer side of an equality, or if this makes
    // the offset positive.
    let is_swapped = match (left.is_empty(), right.is_empty(), comparison) {
        (true, ..) => true,
        (false, true, _) => false,
        (false, false, Comparison::Equal) => right.len() < left.len(),
        (false, false, _) => offset < IBig::ZERO,
    };
    if is_swapped {
        std::mem::swap(&mut left, &mut right);
        offset = -offset;
        comparison = match comparison {
            Comparison::AtLeast => Comparison::AtMost,
            Comparison::Greater => Comparison::Less,
            equality => equality,
        };
    }
    // `a >= b + 1` is `a > b`. There is no `a <= b - 1` here, because the offset is positive.
    if !real && !right.is_empty() && comparison == Comparison::AtLeast && offset == IBig::ONE {
        (comparison, offset) = (Comparison::Greater, IBig::ZERO);
    }
    let Some(left) = add_all(left) else {
        // The constraint has no variables.
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

fn multiple(coefficient: &Integer, place: &Term, real: bool) -> Term {
    let place = if real { place.to_real() } else { place.clone() };
    Term::multiply(&literal(big(coefficient), real), &place)
}

fn add_all(terms: Vec<Term>) -> Option<Term> {
    terms.into_iter().reduce(|sum, term| Term::add(&sum, &term))
}
