//! Eliminates existentially bound data from conditions.
//!
//! **Problem.** "No output is possible here" and "some run comes here with these data" are quantified: over
//! the values that an output may carry, or over the symbols of a path. Terms have no quantifiers, solvers are
//! slow with them, and people cannot read them. **Method.** The bound data are eliminated from a conjunction
//! one by one. The first of these steps that applies is taken, again and again:
//!
//! - A bound datum that nothing mentions is dropped: no type is empty.
//! - Terms that cancel out in sums are dropped.
//! - An equation `s == e` gives s its value, also if it must be solved for s first (`x + s == y` is `s == y -
//!   x`).
//! - A number with ends on one side only is dropped, with any factors.
//! - Bounds: s occurs only in comparisons that can be solved for it with coefficient 1 (for reals, with any
//!   but 0). Then some value lies between all lower and all upper ends exactly if each lower end is at most
//!   each upper end (Fourier and Motzkin). Over the integers this is exact if one of each two ends has
//!   coefficient 1. For an integer between reals it is exact if one of each two ends is an integer, or they
//!   are 1 apart.
//! - An integer between other ends, to which the parts leave few values, is one of these: `0 <= u <= 2` and
//!   `u <= n <= u + 0.5` leave it three.
//! - Cases: a disequality of a number makes two cases, and so does an equality of conditions or an `if`. A
//!   disjunction makes a case for each part, and a datum of few values a case for each value.
//! - An equation with a multiple of an integer, and an integer within `mod`, are treated in `multiples.rs`.
//!
//! The result is *equivalent*, never approximate. If no step applies, or there are too many cases, there is
//! no result. The caller then asks a solver that knows quantifiers, or goes on without a result.
//!
//! **Ends**: steps are limited. Each leaves one bound datum, disjunction, `if` or disequality less, but a
//! remainder adds two data. **Cost**: for each case a few passes over its parts.

use crate::scope::CASE_LIMIT;
use coreach_model::obligation::{defined, in_type};
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::term::{Substitution, substitute_all};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use super::multiples::{last_multiple, reduce_remainder, replace_multiple, split_by_remainder};
use super::sum::Sum;

/// A bound datum of more values than this is not split into cases.
const MOST_VALUES: usize = 8;

/// A conjunction with the bound data that are still to be eliminated.
pub(super) struct Prenex {
    pub(super) bound: Vec<Datum>,
    pub(super) parts: Vec<Term>,
}

/// Eliminates the bound data from a conjunction. The result holds exactly if the bound data have values in
/// their types for which all parts hold. `None`: no such condition was found. The parts are read as total
/// ([`coreach_model::obligation`]). The result always has a value if its data have one.
pub fn eliminate_data(bound: &[Datum], parts: &[Term]) -> Option<Term> {
    eliminate_in_cases(bound, parts, CASE_LIMIT)
}

/// Eliminates the bound data with at most so many cases. `None` if they are not enough.
pub(super) fn eliminate_in_cases(bound: &[Datum], parts: &[Term], most_cases: usize) -> Option<Term> {
    let mut open_cases = vec![Prenex { bound: bound.to_vec(), parts: parts.to_vec() }];
    let mut done: Vec<Term> = Vec::new();
    let (mut steps, mut case_count) = (1, 1);
    while let Some(mut case) = open_cases.pop() {
        case.parts = case.parts.iter().map(cancel_sums).flat_map(|part| part.lowered().conjuncts()).collect();
        if case.parts.iter().any(Term::is_false) {
            continue;
        }
        case.bound.retain(|datum| case.parts.iter().any(|part| part.mentions(datum)));
        if case.bound.is_empty() {
            // Each part has its own definedness: a part without a value makes only its own case false.
            done.push(Term::and(case.parts.into_iter().flat_map(|part| [defined(&part), part])));
            continue;
        }
        let cases = eliminate_by_equation(&case)
            .or_else(|| eliminate_one_sided(&case))
            .or_else(|| eliminate_by_bounds(&case))
            .or_else(|| split_part(&case))
            .or_else(|| replace_multiple(&case))
            .or_else(|| split_by_values(&case))
            .or_else(|| split_by_remainder(&case))?;
        steps += cases.len();
        case_count += cases.len().saturating_sub(1);
        if case_count > most_cases || steps > CASE_LIMIT {
            return None;
        }
        // They are taken from the end, so the first case is the first of the result.
        open_cases.extend(cases.into_iter().rev());
    }
    Some(Term::or(done))
}

/// Eliminates one bound number by its ends. Returns the data that are still bound, and the parts without the
/// number. `None`: no step applies.
pub(super) fn eliminate_number(bound: &[Datum], parts: &[Term]) -> Option<(Vec<Datum>, Vec<Term>)> {
    let case = Prenex { bound: bound.to_vec(), parts: parts.to_vec() };
    // Each of these steps has one case as its result.
    let case = eliminate_one_sided(&case)
        .or_else(|| eliminate_by_bounds(&case))
        .or_else(|| replace_multiple(&case))?
        .pop()?;
    Some((case.bound, case.parts))
}

impl Prenex {
    /// The other bound data.
    pub(super) fn bound_without(&self, datum: &Datum) -> Vec<Datum> {
        self.bound.iter().filter(|other| *other != datum).cloned().collect()
    }

    /// The parts with the conditions of the datum's type: those that mention the datum, and the others.
    fn parts_about(&self, datum: &Datum) -> (Vec<Term>, Vec<Term>) {
        let of_type = in_type(&Term::datum(datum), datum.ty()).lowered().conjuncts();
        of_type.into_iter().chain(self.parts.iter().cloned()).partition(|part| part.mentions(datum))
    }
}

/// Does [`in_type`] decide completely whether a value lies in the type? It says nothing of arrays, because
/// stores keep their cells within the type.
pub(super) fn is_decided_by_in_type(ty: &Type) -> bool {
    match ty {
        Type::Array(_) => false,
        Type::Record(record) => record.fields.iter().all(|(_, field)| is_decided_by_in_type(field)),
        _ => true,
    }
}

/// Replaces a bound datum by a value, and adds further parts.
fn replace_bound(
    case: &Prenex,
    datum: &Datum,
    value: &Term,
    added: impl IntoIterator<Item = Term>,
) -> Prenex {
    let values = Substitution::from([(datum.clone(), value.clone())]);
    let mut parts: Vec<Term> = added.into_iter().collect();
    parts.extend(substitute_all(&case.parts, &values));
    Prenex { bound: case.bound_without(datum), parts }
}

/// Eliminates a bound datum by an equation that gives its value. `None` if there is none.
fn eliminate_by_equation(case: &Prenex) -> Option<Vec<Prenex>> {
    case.bound.iter().filter(|datum| is_decided_by_in_type(datum.ty())).find_map(|datum| {
        let solve =
            |part: &Term| match solve_for(part, datum).or_else(|| solve_reals_for_whole_value(part, datum)) {
                Some((Comparison::Equal, value)) => Some(value),
                _ => None,
            };
        let value = case.parts.iter().find_map(solve)?;
        let is_allowed = [defined(&value), in_type(&value, datum.ty())];
        Some(vec![replace_bound(case, datum, &value, is_allowed)])
    })
}

/// Eliminates a bound number that has ends on one side only, or none, and perhaps values that it must not
/// have. Some value lies far enough away, with any factors. `None` if no bound number is such.
fn eliminate_one_sided(case: &Prenex) -> Option<Vec<Prenex>> {
    case.bound.iter().find_map(|datum| {
        if !datum.ty().is_number() {
            return None;
        }
        let (about, others) = case.parts_about(datum);
        let mut has_low_ends = None;
        for part in &about {
            let Node::Compare(comparison, a, b) = part.node() else { return None };
            if !a.sort().is_number() {
                return None;
            }
            // `a - b ⋈ 0`, in which the datum may have a positive or a negative factor.
            let is_added = Sum::of_difference(a, b).has_positive_factor(datum)?;
            let is_low = match comparison {
                Comparison::NotEqual => continue,
                Comparison::Equal => return None,
                Comparison::Greater | Comparison::AtLeast => is_added,
                Comparison::Less | Comparison::AtMost => !is_added,
            };
            if *has_low_ends.get_or_insert(is_low) != is_low {
                return None;
            }
        }
        Some(vec![Prenex { bound: case.bound_without(datum), parts: others }])
    })
}

/// Eliminates the first bound number that only has lower and upper ends: for each pair, a value must fit in
/// between. `None` if there is no such number. A `?` in the loop goes on with the next number.
fn eliminate_by_bounds(case: &Prenex) -> Option<Vec<Prenex>> {
    case.bound.iter().find_map(|datum| {
        if !datum.ty().is_number() {
            return None;
        }
        let (about, mut others) = case.parts_about(datum);
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for part in &about {
            let add_factor = |(comparison, at): (Comparison, Term)| (comparison, RBig::ONE, at);
            let solved = solve_for(part, datum).map(add_factor).or_else(|| solve_for_multiple(part, datum));
            let (comparison, times, at) = solved.or_else(|| solve_reals(part, datum).map(add_factor))?;
            match comparison {
                Comparison::AtLeast => low.push(BoundEnd { at, times, is_excluded: false }),
                Comparison::Greater => low.push(BoundEnd { at, times, is_excluded: true }),
                Comparison::AtMost => high.push(BoundEnd { at, times, is_excluded: false }),
                Comparison::Less => high.push(BoundEnd { at, times, is_excluded: true }),
                Comparison::Equal | Comparison::NotEqual => return None,
            }
        }
        if datum.ty().is_integer() {
            low.iter_mut().for_each(|end| end.round(RBig::ONE));
            high.iter_mut().for_each(|end| end.round(RBig::NEG_ONE));
        }
        let pairs = low.iter().flat_map(|low| high.iter().map(move |high| (low, high)));
        let conditions: Option<Vec<Term>> = match datum.ty().is_integer() {
            true => pairs.map(|(low, high)| integer_fits(low, high, &case.bound)).collect(),
            false => Some(pairs.map(|(low, high)| real_fits(low, high)).collect()),
        };
        match conditions {
            Some(conditions) => others.extend(conditions),
            None => others.push(try_few_values(datum, &about, (&low, &high), &others)?),
        }
        Some(vec![Prenex { bound: case.bound_without(datum), parts: others }])
    })
}

/// A lower or an upper end of a number `n`, as in `times * n >= at`. `times` is above 0.
struct BoundEnd {
    at: Term,
    times: RBig,
    is_excluded: bool,
}

/// The condition that a real lies between two ends.
fn real_fits(low: &BoundEnd, high: &BoundEnd) -> Term {
    let comparison = if low.is_excluded || high.is_excluded { Comparison::Less } else { Comparison::AtMost };
    Term::compare(comparison, &low.at, &high.at)
}

/// The condition that an integer lies between two ends. `None`: it was not found. If no end is an integer,
/// the ends must be 1 apart. Or both bound the same multiple, without bound data: then the last multiple
/// below the upper end decides.
fn integer_fits(low: &BoundEnd, high: &BoundEnd, bound: &[Datum]) -> Option<Term> {
    if low.is_whole() && high.is_whole() {
        // Between two excluded integers there is one only if they are 2 apart.
        return Some(match (low.is_excluded, high.is_excluded) {
            (true, true) => Term::compare(Comparison::Less, &Term::add(&low.at, &Term::int(1)), &high.at),
            _ => real_fits(low, high),
        });
    }
    if !low.is_whole() && !high.is_whole() {
        let difference = Sum::of_difference(&high.divide(), &low.divide());
        let has_included_end = !(low.is_excluded && high.is_excluded);
        return match difference.constant() {
            Some(distance) if *distance > RBig::ONE || (has_included_end && *distance == RBig::ONE) => {
                Some(Term::yes())
            }
            _ if low.times != high.times => None,
            _ => last_multiple((&low.at, low.is_excluded), (&high.at, high.is_excluded), &low.times)
                .filter(|condition| !bound.iter().any(|datum| condition.mentions(datum))),
        };
    }
    Some(one_end_fits(low, high))
}

/// The condition that an integer lies between two ends, one of which is an integer. This one, or its
/// neighbour if it is excluded, is the candidate, and is compared with the other end.
fn one_end_fits(low: &BoundEnd, high: &BoundEnd) -> Term {
    let one = Term::int(1);
    let (mut least, mut most) = (low.at.clone(), high.at.clone());
    if low.is_whole() && low.is_excluded {
        least = Term::add(&least, &one);
    }
    if high.is_whole() && high.is_excluded {
        most = Term::subtract(&most, &one);
    }
    let is_strict = if low.is_whole() { high.is_excluded } else { low.is_excluded };
    // `least / low.times` and `most / high.times` are compared, without a quotient.
    let is_real = *least.sort() == Type::Real || *most.sort() == Type::Real;
    let scaled = |end: Term, times: &RBig| match (times == &RBig::ONE, is_real) {
        (true, true) => end.to_real(),
        (true, false) => end,
        (false, true) => Term::multiply(&Term::literal(Value::Real(times.clone())), &end.to_real()),
        (false, false) => Term::multiply(&Term::int(times.numerator().clone()), &end),
    };
    let comparison = if is_strict { Comparison::Less } else { Comparison::AtMost };
    Term::compare(comparison, &scaled(least, &high.times), &scaled(most, &low.times))
}

/// Tries the values of an integer: the condition that one of them fulfils `about`, the parts that mention it.
/// The ends are terms. `others` must bound them by constants: with `b >= 0` in `others`, an end `b + 3` is at
/// least 3. `None` if they do not, or if more than 64 values are left.
fn try_few_values(
    datum: &Datum,
    about: &[Term],
    (low, high): (&[BoundEnd], &[BoundEnd]),
    others: &[Term],
) -> Option<Term> {
    // For each other comparison: the sum that is not negative.
    let not_negative: Vec<Sum> = others
        .iter()
        .filter_map(|part| match part.node() {
            Node::Compare(comparison, a, b) if a.sort().is_number() => match comparison {
                Comparison::AtLeast | Comparison::Greater => Some(Sum::of_difference(a, b)),
                Comparison::AtMost | Comparison::Less => Some(Sum::of_difference(b, a)),
                Comparison::Equal | Comparison::NotEqual => None,
            },
            _ => None,
        })
        .collect();
    // A constant not above the end (sign 1) or its negation (sign -1): what is left without such a sum.
    let find_lower_bound = |end: &BoundEnd, sign: &RBig| -> Option<RBig> {
        let signed = Sum::of(&end.at).times(&(sign / &end.times));
        let subtract = |not_negative: &Sum| {
            let mut remainder = signed.clone();
            remainder.subtract(not_negative);
            remainder.constant().cloned()
        };
        signed.constant().cloned().into_iter().chain(not_negative.iter().filter_map(subtract)).max()
    };
    // The greatest value of an upper end is minus the least value of its negation.
    let lowest = low.iter().filter_map(|end| find_lower_bound(end, &RBig::ONE)).max()?.ceil();
    let highest = -high.iter().filter_map(|end| find_lower_bound(end, &RBig::NEG_ONE)).max()?.ceil();
    // More than 64 values are not tried.
    if &highest - &lowest >= 64.into() {
        return None;
    }
    let mut cases = Vec::new();
    let mut value = lowest;
    while value <= highest {
        let values = Substitution::from([(datum.clone(), Term::int(value.clone()))]);
        cases.push(Term::and(substitute_all(about, &values)));
        value += 1;
    }
    Some(Term::or(cases))
}

impl BoundEnd {
    /// Is it an integer, and the bound of the number itself?
    fn is_whole(&self) -> bool {
        self.times == RBig::ONE && *self.at.sort() == Type::Int
    }

    /// Rounds a constant bound of an integer inwards. `sign` is 1 for a lower bound and -1 for an upper one.
    fn round(&mut self, sign: RBig) {
        let Some(number) = Sum::of(&self.at).constant().map(|number| number / &self.times) else { return };
        let least = (&sign * &number).ceil();
        // Rounding alone excludes a fraction, but not an integer.
        let is_left_out = self.is_excluded && number.is_int();
        let least = RBig::from(if is_left_out { least + 1 } else { least });
        let at = Term::int((sign * least).numerator().clone());
        *self = BoundEnd { at, times: RBig::ONE, is_excluded: false };
    }

    /// Divides the bound of a multiple by its factor. Returns the bound of the number itself, as a real.
    fn divide(&self) -> Term {
        let times = Term::literal(Value::Real(RBig::ONE / &self.times));
        Term::multiply(&times, &self.at.to_real())
    }
}

/// Splits a part that mentions bound data into cases: a disjunction, a disequality, an equality of conditions
/// or an `if`.
fn split_part(case: &Prenex) -> Option<Vec<Prenex>> {
    let (place, choices) = case.parts.iter().enumerate().find_map(|(place, part)| {
        if !case.bound.iter().any(|datum| part.mentions(datum)) {
            return None;
        }
        match part.node() {
            Node::Or(parts) => Some((place, parts.clone())),
            Node::Compare(Comparison::NotEqual, a, b) if a.sort().is_number() => {
                let sides = [Comparison::Less, Comparison::Greater];
                Some((place, sides.map(|side| Term::compare(side, a, b)).to_vec()))
            }
            // `(k == 3) == known`: both, or neither.
            Node::Compare(comparison, a, b) if *a.sort() == Type::Bool => {
                let b = if *comparison == Comparison::Equal { b.clone() } else { b.not() };
                Some((place, vec![Term::and([a.clone(), b.clone()]), Term::and([a.not(), b.not()])]))
            }
            Node::Compare(comparison, a, b) => Some((place, split_choice(*comparison, a, b)?)),
            Node::IfThenElse(c, a, b) => {
                Some((place, vec![Term::and([c.clone(), a.clone()]), Term::and([c.not(), b.clone()])]))
            }
            _ => None,
        }
    })?;
    let choose = |choice: Term| {
        let mut parts = case.parts.clone();
        parts[place] = choice;
        Prenex { bound: case.bound.clone(), parts }
    };
    Some(choices.into_iter().map(choose).collect())
}

/// Splits a comparison with an `if` on one of its sides, or in a sum there, into its cases. `None`: no `if`.
fn split_choice(comparison: Comparison, a: &Term, b: &Term) -> Option<Vec<Term>> {
    let both_cases = |c: &Term, then: Term, otherwise: Term| {
        vec![Term::and([c.clone(), then]), Term::and([c.not(), otherwise])]
    };
    if !a.sort().is_number() {
        // No number, so this is `==` or `!=`, and the sides may be exchanged.
        return [(a, b), (b, a)].into_iter().find_map(|(side, other)| {
            let Node::IfThenElse(c, x, y) = side.node() else { return None };
            let compare = |value| Term::compare(comparison, value, other);
            Some(both_cases(c, compare(x), compare(y)))
        });
    }
    let sum = Sum::of_difference(a, b);
    let choice = sum.atoms().find(|atom| matches!(atom.node(), Node::IfThenElse(..)))?.clone();
    let Node::IfThenElse(c, x, y) = choice.node() else { return None };
    let compare = |value| sum.replaced(&choice, value).compared(comparison, a.sort());
    Some(both_cases(c, compare(x), compare(y)))
}

/// Splits the first bound datum of few values into a case for each value. `None` if no datum has few values.
fn split_by_values(case: &Prenex) -> Option<Vec<Prenex>> {
    case.bound.iter().find_map(|datum| {
        // Records and arrays are left out, because their comparisons would have to be taken apart first.
        if matches!(datum.ty(), Type::Array(_) | Type::Record(_)) {
            return None;
        }
        datum.ty().cardinality().filter(|count| *count <= MOST_VALUES)?;
        let values = Value::enumerate(datum.ty(), MOST_VALUES)?;
        Some(values.into_iter().map(|value| replace_bound(case, datum, &Term::literal(value), [])).collect())
    })
}

/// Solves an equation for a datum. The resulting term does not mention the datum. The term need not have a
/// value or lie in the datum's type. A caller that replaces the datum must add both conditions.
pub fn solve_equation(part: &Term, datum: &Datum) -> Option<Term> {
    match solve_for(part, datum) {
        Some((Comparison::Equal, value)) if is_decided_by_in_type(datum.ty()) => Some(value),
        _ => None,
    }
}

/// Solves a comparison for a datum: `datum ⋈ value`, which does not mention it. `None` for other terms.
pub fn solve_for(part: &Term, datum: &Datum) -> Option<(Comparison, Term)> {
    let Node::Compare(comparison, a, b) = part.node() else { return None };
    let isolated = match (a.mentions(datum), b.mentions(datum)) {
        (true, false) => isolate(*comparison, a, b, datum),
        (false, true) => isolate(mirror(*comparison), b, a, datum),
        (true, true) | (false, false) => None,
    };
    isolated.or_else(|| solve_sum(*comparison, a, b, datum))
}

/// Solves a comparison for a datum that occurs several times, always in sums. The sums are added up. For
/// integers the datum must then have the factor 1 or -1, and for reals any factor but 0. `None` otherwise.
fn solve_sum(comparison: Comparison, a: &Term, b: &Term, datum: &Datum) -> Option<(Comparison, Term)> {
    if !a.sort().is_number() {
        return None;
    }
    let mut sum = Sum::of_difference(a, b);
    let factor = sum.take(datum, a.sort())?;
    if sum.mentions(datum) || (*a.sort() == Type::Int && factor != RBig::ONE && factor != RBig::NEG_ONE) {
        return None;
    }
    // The comparison is now `factor * datum + sum ⋈ 0`.
    let comparison = if factor > RBig::ZERO { comparison } else { mirror(comparison) };
    Some((comparison, sum.term(&(RBig::NEG_ONE / factor), a.sort())))
}

/// Solves a comparison of integers for a multiple of a datum: `times * datum ⋈ value`, with `times` above 0.
pub(super) fn solve_for_multiple(part: &Term, datum: &Datum) -> Option<(Comparison, RBig, Term)> {
    let Node::Compare(comparison, a, b) = part.node() else { return None };
    if *a.sort() != Type::Int {
        return None;
    }
    let mut sum = Sum::of_difference(a, b);
    let factor = sum.take(datum, a.sort())?;
    if sum.mentions(datum) {
        return None;
    }
    Some(match factor > RBig::ZERO {
        true => (*comparison, factor, sum.term(&RBig::NEG_ONE, a.sort())),
        false => (mirror(*comparison), -factor, sum.term(&RBig::ONE, a.sort())),
    })
}

/// Solves a comparison of reals for a datum in it, which may be an integer: `datum ⋈ value`. The value has
/// the sort `Int` if it is certainly an integer, or else `Real`.
fn solve_reals(part: &Term, datum: &Datum) -> Option<(Comparison, Term)> {
    let Node::Compare(comparison, a, b) = part.node() else { return None };
    if *a.sort() != Type::Real {
        return None;
    }
    let mut sum = Sum::of_difference(a, b);
    let factor = sum.take_lifted(datum)?;
    let comparison = if factor > RBig::ZERO { *comparison } else { mirror(*comparison) };
    let share = RBig::NEG_ONE / factor;
    let sort = if sum.is_whole(&share) { Type::Int } else { Type::Real };
    Some((comparison, sum.term(&share, &sort)))
}

/// Solves a comparison of reals for a datum that is an integer. `None` also if the value may be a fraction,
/// which could not replace the datum.
fn solve_reals_for_whole_value(part: &Term, datum: &Datum) -> Option<(Comparison, Term)> {
    if !datum.ty().is_integer() {
        return None;
    }
    let (comparison, value) = solve_reals(part, datum)?;
    (*value.sort() == Type::Int).then_some((comparison, value))
}

/// Adds up the sums of a conjunct if something in them cancels out, also within a remainder.
pub fn cancel_sums(part: &Term) -> Term {
    match part.node() {
        Node::Compare(comparison, a, b) if a.sort().is_number() => {
            let sum = Sum::of_difference(a, b);
            match sum.has_cancelled() {
                true => sum.compared(*comparison, a.sort()),
                false => reduce_remainder(*comparison, a, b).unwrap_or_else(|| part.clone()),
            }
        }
        Node::Or(parts) => Term::or(parts.iter().map(cancel_sums).collect::<Vec<_>>()),
        Node::And(parts) => Term::and(parts.iter().map(cancel_sums).collect::<Vec<_>>()),
        _ => part.clone(),
    }
}

/// Solves `side ⋈ other` for a datum that only the side mentions, by moving terms to the other side. `None`
/// if a term cannot be moved.
fn isolate(comparison: Comparison, side: &Term, other: &Term, datum: &Datum) -> Option<(Comparison, Term)> {
    match side.node() {
        Node::Data(_) => Some((comparison, other.clone())),
        Node::Negate(a) => isolate(mirror(comparison), a, &other.negate(), datum),
        Node::Arithmetic(operator, a, b) => match (operator, a.mentions(datum), b.mentions(datum)) {
            (Operator::Add, true, false) => isolate(comparison, a, &Term::subtract(other, b), datum),
            (Operator::Add, false, true) => isolate(comparison, b, &Term::subtract(other, a), datum),
            (Operator::Subtract, true, false) => isolate(comparison, a, &Term::add(other, b), datum),
            (Operator::Subtract, false, true) => {
                isolate(mirror(comparison), b, &Term::subtract(a, other), datum)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The comparison with its sides exchanged.
pub fn mirror(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Equal | Comparison::NotEqual => comparison,
        Comparison::Less => Comparison::Greater,
        Comparison::AtMost => Comparison::AtLeast,
        Comparison::Greater => Comparison::Less,
        Comparison::AtLeast => Comparison::AtMost,
    }
}
