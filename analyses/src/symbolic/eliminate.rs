//! Conditions without the data that they are asked to do without.
//!
//! **Problem.** "No output is possible here" and "some run comes here with these data" quantify: over the
//! values that an output may carry, over the symbols of a path. Terms have no quantifiers, solvers are slow
//! with them, and people cannot read them.
//!
//! **Method.** An existential quantifier is taken away from a conjunction, in this order, as long as
//! something applies:
//!
//! - a bound datum that nothing mentions goes: no type is empty;
//! - what cancels out in sums goes;
//! - an equation `s == e` gives it its value, also where it has to be solved for s (`x + s == y` is
//!   `s == y - x`);
//! - a number with ends on one side only goes, whatever it is multiplied with;
//! - bounds: where s occurs in comparisons only that can be solved for it with coefficient 1 (of reals, with
//!   any but 0), some value lies between all lower and all upper ends exactly where each lower end is at most
//!   each upper end (Fourier and Motzkin; over the integers it is exact where one of each two ends has
//!   coefficient 1; an integer between reals, where one of each two ends is whole, or they are 1 apart);
//! - an integer between other ends, where the parts leave it few values, is one of these: `0 <= u <= 2`
//!   beside `u <= n <= u + 0.5` leaves it three;
//! - a disequality of a number is two cases, an equality of conditions and an `if` as well, a disjunction as
//!   many as it has parts, and a datum of few values as many as these;
//! - an equation with a multiple of an integer, and an integer within `mod` (`multiples.rs`).
//!
//! The result is *equivalent*, never approximate; where nothing applies or cases become many there is none,
//! and who asks puts the question to a solver that knows quantifiers, or does without.
//!
//! **Ends**: steps are limited. Each has one bound datum, or one disjunction, `if` or disequality, less; but
//! a remainder brings two data. **Cost**: for each case a few passes over its parts.

use coreach_model::obligation::{defined, in_type};
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::term::{Substitution, substitute_all};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use super::multiples::{by_multiple, by_remainder, last_multiple, with_small_remainders};
use super::sum::Sum;

/// More steps than this are not worth it, nor cases.
const MOST_STEPS: usize = 64;

/// A bound datum of more values than this is not taken apart.
const MOST_VALUES: usize = 8;

/// A conjunction that waits for its bound data to be taken away.
pub(super) struct Case {
    pub(super) bound: Vec<Datum>,
    pub(super) parts: Vec<Term>,
}

/// A condition that holds exactly where the bound data have values in their types for which all parts hold.
///
/// The parts are read as total ([`coreach_model::obligation`]); the result has a value wherever its data have
/// one.
pub fn without(bound: &[Datum], parts: &[Term]) -> Option<Term> {
    without_cases(bound, parts, MOST_STEPS)
}

pub(super) fn without_cases(bound: &[Datum], parts: &[Term], most_cases: usize) -> Option<Term> {
    let mut open = vec![Case { bound: bound.to_vec(), parts: parts.to_vec() }];
    let mut done: Vec<Term> = Vec::new();
    let (mut steps, mut count) = (1, 1);
    while let Some(mut case) = open.pop() {
        case.parts = case.parts.iter().map(cancelled).flat_map(|part| part.lowered().conjuncts()).collect();
        if case.parts.iter().any(Term::is_false) {
            continue;
        }
        case.bound.retain(|datum| case.parts.iter().any(|part| part.mentions(datum)));
        if case.bound.is_empty() {
            // Each part answers for itself: a part that has no value makes its own case false, and no other.
            done.push(Term::and(case.parts.into_iter().flat_map(|part| [defined(&part), part])));
            continue;
        }
        let cases = by_equation(&case)
            .or_else(|| by_direction(&case))
            .or_else(|| by_bounds(&case))
            .or_else(|| by_disjunction(&case))
            .or_else(|| by_multiple(&case))
            .or_else(|| by_values(&case))
            .or_else(|| by_remainder(&case))?;
        steps += cases.len();
        count += cases.len().saturating_sub(1);
        if count > most_cases || steps > MOST_STEPS {
            return None;
        }
        // The first case is to be the first of the result.
        open.extend(cases.into_iter().rev());
    }
    Some(Term::or(done))
}

/// One bound number less, where its ends tell all about it: what is bound still, and the parts without it.
pub(super) fn one_case(bound: &[Datum], parts: &[Term]) -> Option<(Vec<Datum>, Vec<Term>)> {
    let case = Case { bound: bound.to_vec(), parts: parts.to_vec() };
    let case = by_direction(&case).or_else(|| by_bounds(&case)).or_else(|| by_multiple(&case))?.pop()?;
    Some((case.bound, case.parts))
}

/// Does [`in_type`] say all about a value's membership? Of arrays it says nothing: their cells are kept
/// within their type by stores.
pub(super) fn is_told(ty: &Type) -> bool {
    match ty {
        Type::Array(_) => false,
        Type::Record(record) => record.fields.iter().all(|(_, field)| is_told(field)),
        _ => true,
    }
}

fn put(case: &Case, datum: &Datum, value: &Term, more: impl IntoIterator<Item = Term>) -> Case {
    let there = Substitution::from([(datum.clone(), value.clone())]);
    let mut parts: Vec<Term> = more.into_iter().collect();
    parts.extend(substitute_all(&case.parts, &there));
    Case { bound: case.bound.iter().filter(|other| *other != datum).cloned().collect(), parts }
}

/// A part that gives a bound datum its value.
fn by_equation(case: &Case) -> Option<Vec<Case>> {
    case.bound.iter().filter(|datum| is_told(datum.ty())).find_map(|datum| {
        let given = |part: &Term| match solved(part, datum).or_else(|| whole_among_reals(part, datum)) {
            Some((Comparison::Equal, value)) => Some(value),
            _ => None,
        };
        let value = case.parts.iter().find_map(given)?;
        let belongs = [defined(&value), in_type(&value, datum.ty())];
        Some(vec![put(case, datum, &value, belongs)])
    })
}

/// A bound number that has ends on one side only, or none, beside values that it must not have: some value
/// lies far enough away, however often it is counted.
fn by_direction(case: &Case) -> Option<Vec<Case>> {
    case.bound.iter().find_map(|datum| {
        if !datum.ty().is_number() {
            return None;
        }
        let own = in_type(&Term::datum(datum), datum.ty()).lowered().conjuncts();
        let (about, others): (Vec<Term>, Vec<Term>) =
            own.into_iter().chain(case.parts.iter().cloned()).partition(|part| part.mentions(datum));
        let mut side = None;
        for part in &about {
            let Node::Compare(comparison, a, b) = part.node() else { return None };
            if !a.sort().is_number() {
                return None;
            }
            let is_added = Sum::of_difference(a, b).adds(datum)?;
            let is_low = match comparison {
                Comparison::NotEqual => continue,
                Comparison::Equal => return None,
                Comparison::Greater | Comparison::AtLeast => is_added,
                Comparison::Less | Comparison::AtMost => !is_added,
            };
            if *side.get_or_insert(is_low) != is_low {
                return None;
            }
        }
        let bound = case.bound.iter().filter(|other| *other != datum).cloned().collect();
        Some(vec![Case { bound, parts: others }])
    })
}

/// A bound datum that has nothing but ends.
fn by_bounds(case: &Case) -> Option<Vec<Case>> {
    case.bound.iter().find_map(|datum| {
        if !datum.ty().is_number() {
            return None;
        }
        let own = in_type(&Term::datum(datum), datum.ty()).lowered().conjuncts();
        let (about, mut others): (Vec<Term>, Vec<Term>) =
            own.into_iter().chain(case.parts.iter().cloned()).partition(|part| part.mentions(datum));
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for part in &about {
            let (comparison, times, at) = match solved(part, datum) {
                Some((comparison, at)) => (comparison, RBig::ONE, at),
                None => counted(part, datum).or_else(|| among_reals(part, datum))?,
            };
            match comparison {
                Comparison::AtLeast => low.push(BoundEnd { at, times, is_excluded: false }),
                Comparison::Greater => low.push(BoundEnd { at, times, is_excluded: true }),
                Comparison::AtMost => high.push(BoundEnd { at, times, is_excluded: false }),
                Comparison::Less => high.push(BoundEnd { at, times, is_excluded: true }),
                Comparison::Equal | Comparison::NotEqual => return None,
            }
        }
        if datum.ty().is_integer() {
            low.iter_mut().for_each(|end| end.round(true));
            high.iter_mut().for_each(|end| end.round(false));
        }
        let pairs = low.iter().flat_map(|least| high.iter().map(move |most| (least, most)));
        let rooms: Option<Vec<Term>> = match datum.ty().is_integer() {
            true => pairs.map(|(least, most)| room_of_integers(least, most, &case.bound)).collect(),
            false => Some(pairs.map(|(least, most)| room(least, most)).collect()),
        };
        match rooms {
            Some(rooms) => others.extend(rooms),
            None => others.push(one_of_few(datum, &about, (&low, &high), &others)?),
        }
        let bound = case.bound.iter().filter(|other| *other != datum).cloned().collect();
        Some(vec![Case { bound, parts: others }])
    })
}

/// An end of what a number may be, so many times.
struct BoundEnd {
    at: Term,
    times: RBig,
    is_excluded: bool,
}

/// That a real lies between two ends.
fn room(low: &BoundEnd, high: &BoundEnd) -> Term {
    let comparison = if low.is_excluded || high.is_excluded { Comparison::Less } else { Comparison::AtMost };
    Term::compare(comparison, &low.at, &high.at)
}

/// Returns when an integer lies between two ends, or nothing where that is not found. An end that is a whole
/// number is the candidate, and is compared with the other end. Two others need a distance of 1, or count the
/// same multiple without bound data: then the last multiple below the upper end decides.
fn room_of_integers(low: &BoundEnd, high: &BoundEnd, bound: &[Datum]) -> Option<Term> {
    if low.is_whole() && high.is_whole() {
        return Some(match (low.is_excluded, high.is_excluded) {
            (true, true) => Term::compare(Comparison::Less, &Term::add(&low.at, &Term::int(1)), &high.at),
            _ => room(low, high),
        });
    }
    if !low.is_whole() && !high.is_whole() {
        let between = Sum::of_difference(&high.over(), &low.over());
        let least_is_met = !(low.is_excluded && high.is_excluded);
        return match between.constant() {
            Some(distance) if *distance > RBig::ONE || (least_is_met && *distance == RBig::ONE) => {
                Some(Term::yes())
            }
            _ => last_multiple((&low.at, low.is_excluded), (&high.at, high.is_excluded), &low.times)
                .filter(|_| low.times == high.times)
                .filter(|room| !bound.iter().any(|datum| room.mentions(datum))),
        };
    }
    let one = Term::int(1);
    // The whole end is a value of its own, so the comparison with the other end is the other's.
    let (least, most, is_strict) = match low.is_whole() {
        true => (
            if low.is_excluded { Term::add(&low.at, &one) } else { low.at.clone() },
            high.at.clone(),
            high.is_excluded,
        ),
        false => (
            low.at.clone(),
            if high.is_excluded { Term::subtract(&high.at, &one) } else { high.at.clone() },
            low.is_excluded,
        ),
    };
    let is_real = *least.sort() == Type::Real || *most.sort() == Type::Real;
    let scaled = |end: Term, times: &RBig| match (times == &RBig::ONE, is_real) {
        (true, true) => end.to_real(),
        (true, false) => end,
        (false, true) => Term::multiply(&Term::literal(Value::Real(times.clone())), &end.to_real()),
        (false, false) => Term::multiply(&Term::int(times.numerator().clone()), &end),
    };
    let comparison = if is_strict { Comparison::Less } else { Comparison::AtMost };
    Some(Term::compare(comparison, &scaled(least, &high.times), &scaled(most, &low.times)))
}

/// That an integer of which these parts speak has one of the values that its ends leave it, by what the other
/// parts say of these.
fn one_of_few(
    datum: &Datum,
    about: &[Term],
    (low, high): (&[BoundEnd], &[BoundEnd]),
    others: &[Term],
) -> Option<Term> {
    // Of each other comparison, what is not below 0.
    let known: Vec<Sum> = others
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
    // How small so many times the end can be: what is left of it without one of those.
    let least = |end: &BoundEnd, sign: &RBig| -> Option<RBig> {
        let whole = Sum::of(&end.at).times(&(sign / &end.times));
        let without = |not_negative: &Sum| {
            let mut rest = whole.clone();
            rest.subtract(not_negative);
            rest.constant().cloned()
        };
        whole.constant().cloned().into_iter().chain(known.iter().filter_map(without)).max()
    };
    let lowest = low.iter().filter_map(|end| least(end, &RBig::ONE)).max()?.ceil();
    let highest = -high.iter().filter_map(|end| least(end, &RBig::NEG_ONE)).max()?.ceil();
    // An integer between ends that tell nothing without its value is not tried beyond so many values.
    if &highest - &lowest >= 64.into() {
        return None;
    }
    let mut cases = Vec::new();
    let mut value = lowest;
    while value <= highest {
        let there = Substitution::from([(datum.clone(), Term::int(value.clone()))]);
        cases.push(Term::and(substitute_all(about, &there)));
        value += 1;
    }
    Some(Term::or(cases))
}

impl BoundEnd {
    /// Is it the number's own end, and a whole number?
    fn is_whole(&self) -> bool {
        self.times == RBig::ONE && *self.at.sort() == Type::Int
    }

    /// An integer's end that is a number, as a whole one that belongs to what it ends.
    fn round(&mut self, is_low: bool) {
        let Some(number) = Sum::of(&self.at).constant().map(|number| number / &self.times) else { return };
        let sign = if is_low { RBig::ONE } else { RBig::NEG_ONE };
        let least = (&sign * &number).ceil();
        let is_left_out = self.is_excluded && number.is_int();
        let least = RBig::from(if is_left_out { least + 1 } else { least });
        let at = Term::int((sign * least).numerator().clone());
        *self = BoundEnd { at, times: RBig::ONE, is_excluded: false };
    }

    /// The end of the number itself, as a real.
    fn over(&self) -> Term {
        let times = Term::literal(Value::Real(RBig::ONE / &self.times));
        Term::multiply(&times, &self.at.to_real())
    }
}

/// A disjunction, a disequality, an equality of conditions or an `if` that mentions bound data, in cases.
fn by_disjunction(case: &Case) -> Option<Vec<Case>> {
    let (at, cases) = case.parts.iter().enumerate().find_map(|(at, part)| {
        if !case.bound.iter().any(|datum| part.mentions(datum)) {
            return None;
        }
        match part.node() {
            Node::Or(parts) => Some((at, parts.clone())),
            Node::Compare(Comparison::NotEqual, a, b) if a.sort().is_number() => {
                let sides = [Comparison::Less, Comparison::Greater];
                Some((at, sides.map(|side| Term::compare(side, a, b)).to_vec()))
            }
            // `(k == 3) == known`: both, or neither.
            Node::Compare(comparison, a, b) if *a.sort() == Type::Bool => {
                let b = if *comparison == Comparison::Equal { b.clone() } else { b.not() };
                Some((at, vec![Term::and([a.clone(), b.clone()]), Term::and([a.not(), b.not()])]))
            }
            Node::Compare(comparison, a, b) => Some((at, chosen_within(*comparison, a, b)?)),
            Node::IfThenElse(c, a, b) => {
                Some((at, vec![Term::and([c.clone(), a.clone()]), Term::and([c.not(), b.clone()])]))
            }
            _ => None,
        }
    })?;
    let chosen = |part: Term| {
        let mut parts = case.parts.clone();
        parts[at] = part;
        Case { bound: case.bound.clone(), parts }
    };
    Some(cases.into_iter().map(chosen).collect())
}

/// A comparison with an `if` on one of its sides, or added there, as the comparisons that it may be.
fn chosen_within(comparison: Comparison, a: &Term, b: &Term) -> Option<Vec<Term>> {
    let both = |c: &Term, compared: &dyn Fn(bool) -> Term| {
        vec![Term::and([c.clone(), compared(true)]), Term::and([c.not(), compared(false)])]
    };
    if !a.sort().is_number() {
        return [(a, b), (b, a)].into_iter().find_map(|(side, other)| {
            let Node::IfThenElse(c, x, y) = side.node() else { return None };
            Some(both(c, &|is_first| Term::compare(comparison, if is_first { x } else { y }, other)))
        });
    }
    let sum = Sum::of_difference(a, b);
    let choice = sum.atoms().find(|atom| matches!(atom.node(), Node::IfThenElse(..)))?.clone();
    let Node::IfThenElse(c, x, y) = choice.node() else { return None };
    let compared =
        |is_first| sum.replaced(&choice, if is_first { x } else { y }).compared(comparison, a.sort());
    Some(both(c, &compared))
}

/// A bound datum of few values, a case for each.
fn by_values(case: &Case) -> Option<Vec<Case>> {
    case.bound.iter().find_map(|datum| {
        // Records and arrays are compared field by field and cell by cell: they would have to be taken apart
        // first.
        if matches!(datum.ty(), Type::Array(_) | Type::Record(_)) {
            return None;
        }
        datum.ty().cardinality().filter(|count| *count <= MOST_VALUES)?;
        let values = Value::enumerate(datum.ty(), MOST_VALUES)?;
        Some(values.into_iter().map(|value| put(case, datum, &Term::literal(value), [])).collect())
    })
}

/// The value that the equation gives to the datum, where it is one that can be solved for it; the value does
/// not mention the datum. It need not have a value or lie in the datum's type: who puts it in the datum's
/// place asks for that beside it.
pub fn given_by(part: &Term, datum: &Datum) -> Option<Term> {
    match solved(part, datum) {
        Some((Comparison::Equal, value)) if is_told(datum.ty()) => Some(value),
        _ => None,
    }
}

/// The comparison, solved for a datum: `datum ⋈ value`, and the value does not mention the datum.
pub fn solved(part: &Term, datum: &Datum) -> Option<(Comparison, Term)> {
    let Node::Compare(comparison, a, b) = part.node() else { return None };
    let found = match (a.mentions(datum), b.mentions(datum)) {
        (true, false) => isolated(*comparison, a, b, datum),
        (false, true) => isolated(mirrored(*comparison), b, a, datum),
        _ => None,
    };
    found.or_else(|| gathered(*comparison, a, b, datum))
}

/// The same where the datum occurs several times, all in sums: what it occurs in is added up. Of integers one
/// of it must be left; of reals, any multiple.
fn gathered(comparison: Comparison, a: &Term, b: &Term, datum: &Datum) -> Option<(Comparison, Term)> {
    if !a.sort().is_number() {
        return None;
    }
    let mut sum = Sum::of_difference(a, b);
    let own = sum.take(datum, a.sort())?;
    if sum.mentions(datum) || (*a.sort() == Type::Int && own != RBig::ONE && own != RBig::NEG_ONE) {
        return None;
    }
    // own * datum + rest ⋈ 0
    let comparison = if own > RBig::ZERO { comparison } else { mirrored(comparison) };
    Some((comparison, sum.term(&(RBig::NEG_ONE / own), a.sort())))
}

/// The comparison of integers, solved for a multiple of a datum: `times * datum ⋈ value`, with `times` above
/// 0.
pub(super) fn counted(part: &Term, datum: &Datum) -> Option<(Comparison, RBig, Term)> {
    let Node::Compare(comparison, a, b) = part.node() else { return None };
    if *a.sort() != Type::Int {
        return None;
    }
    let mut sum = Sum::of_difference(a, b);
    let own = sum.take(datum, a.sort())?;
    if sum.mentions(datum) {
        return None;
    }
    Some(match own > RBig::ZERO {
        true => (*comparison, own, sum.term(&RBig::NEG_ONE, a.sort())),
        false => (mirrored(*comparison), -own, sum.term(&RBig::ONE, a.sort())),
    })
}

/// The comparison of reals, solved for an integer among them: `datum ⋈ value`. The value is a whole number
/// where all in it is; a real, where not.
fn among_reals(part: &Term, datum: &Datum) -> Option<(Comparison, RBig, Term)> {
    let Node::Compare(comparison, a, b) = part.node() else { return None };
    if *a.sort() != Type::Real {
        return None;
    }
    let mut sum = Sum::of_difference(a, b);
    let own = sum.take_lifted(datum)?;
    let comparison = if own > RBig::ZERO { *comparison } else { mirrored(*comparison) };
    let times = RBig::NEG_ONE / own;
    let sort = if sum.is_whole(&times) { Type::Int } else { Type::Real };
    Some((comparison, RBig::ONE, sum.term(&times, &sort)))
}

/// The same, where the value is a whole number.
fn whole_among_reals(part: &Term, datum: &Datum) -> Option<(Comparison, Term)> {
    if !datum.ty().is_integer() {
        return None;
    }
    let (comparison, _, value) = among_reals(part, datum)?;
    (*value.sort() == Type::Int).then_some((comparison, value))
}

/// The conjunct with its sums added up, where something in them cancels out, also by what a remainder
/// forgets.
pub fn cancelled(part: &Term) -> Term {
    match part.node() {
        Node::Compare(comparison, a, b) if a.sort().is_number() => {
            let sum = Sum::of_difference(a, b);
            match sum.has_cancelled() {
                true => sum.compared(*comparison, a.sort()),
                false => with_small_remainders(*comparison, a, b).unwrap_or_else(|| part.clone()),
            }
        }
        Node::Or(parts) => Term::or(parts.iter().map(cancelled).collect::<Vec<_>>()),
        Node::And(parts) => Term::and(parts.iter().map(cancelled).collect::<Vec<_>>()),
        _ => part.clone(),
    }
}

/// `side ⋈ other`, where the side mentions the datum.
fn isolated(comparison: Comparison, side: &Term, other: &Term, datum: &Datum) -> Option<(Comparison, Term)> {
    match side.node() {
        Node::Data(_) => Some((comparison, other.clone())),
        Node::Negate(a) => isolated(mirrored(comparison), a, &other.negate(), datum),
        Node::Arithmetic(operator, a, b) => match (operator, a.mentions(datum), b.mentions(datum)) {
            (Operator::Add, true, false) => isolated(comparison, a, &Term::subtract(other, b), datum),
            (Operator::Add, false, true) => isolated(comparison, b, &Term::subtract(other, a), datum),
            (Operator::Subtract, true, false) => isolated(comparison, a, &Term::add(other, b), datum),
            (Operator::Subtract, false, true) => {
                isolated(mirrored(comparison), b, &Term::subtract(a, other), datum)
            }
            _ => None,
        },
        _ => None,
    }
}

fn mirrored(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Equal => Comparison::Equal,
        Comparison::NotEqual => Comparison::NotEqual,
        Comparison::Less => Comparison::Greater,
        Comparison::AtMost => Comparison::AtLeast,
        Comparison::Greater => Comparison::Less,
        Comparison::AtLeast => Comparison::AtMost,
    }
}
