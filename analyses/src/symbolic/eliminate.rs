//! Conditions without the data that they are asked to do without.
//!
//! **Problem.** "No output is possible here" and "some run comes here with these data" quantify: over the values that an output may carry, over
//! the symbols of a path. Terms have no quantifiers, solvers are slow with them, and people cannot read them.
//!
//! **Method.** An existential quantifier is taken away from a conjunction, in this order, as long as something applies:
//!
//! - a bound datum that nothing mentions goes: no type is empty;
//! - an equation `s == e` gives it its value, also where it has to be solved for s (`x + s == y` is `s == y - x`);
//! - bounds: where s occurs in comparisons only that can be solved for it with coefficient 1, some value lies between all lower and
//!   all upper ends exactly where each lower end is at most each upper end (Fourier and Motzkin; with coefficient 1 it is exact over the
//!   integers, too);
//! - a disequality of a number is two cases, a disjunction as many as it has parts, and a datum of few values as many as these.
//!
//! The result is *equivalent*, never approximate; where nothing applies or cases become many there is none, and who asks puts
//! the question to a solver that knows quantifiers, or does without.
//!
//! **Ends**: each step has one bound datum, or one disjunction or disequality, less; cases are limited.
//! **Cost**: for each case a few passes over its parts.

use std::collections::BTreeMap;

use coreach_model::obligation::{defined, in_type};
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::term::{Substitution, substitute_all};
use coreach_model::{Datum, Term, Type, Value};
use dashu::integer::IBig;

/// More cases than this are not worth it.
const MOST_CASES: usize = 64;

/// A bound datum of more values than this is not taken apart.
const MOST_VALUES: usize = 8;

/// A conjunction that waits for its bound data to be taken away.
struct Case {
    bound: Vec<Datum>,
    parts: Vec<Term>,
}

/// A condition that holds exactly where the bound data have values in their types for which all parts hold.
///
/// The parts are read as total ([`coreach_model::obligation`]); the result has a value wherever its data have one.
pub fn without(bound: &[Datum], parts: &[Term]) -> Option<Term> {
    let mut open = vec![Case { bound: bound.to_vec(), parts: parts.to_vec() }];
    let mut done: Vec<Term> = Vec::new();
    let mut count = 1;
    while let Some(mut case) = open.pop() {
        case.parts = case.parts.iter().flat_map(Term::conjuncts).collect();
        if case.parts.iter().any(Term::is_false) {
            continue;
        }
        case.bound.retain(|datum| case.parts.iter().any(|part| part.mentions(datum)));
        if case.bound.is_empty() {
            done.push(Term::and(case.parts));
            continue;
        }
        let cases = by_equation(&case)
            .or_else(|| by_bounds(&case))
            .or_else(|| by_disjunction(&case))
            .or_else(|| by_values(&case))?;
        count += cases.len();
        if count > MOST_CASES {
            return None;
        }
        // The first case is to be the first of the result.
        open.extend(cases.into_iter().rev());
    }
    let all = Term::or(done);
    Some(Term::and([defined(&all), all]))
}

/// Does [`in_type`] say all about a value's membership? Of arrays it says nothing: their cells are kept within their type by stores.
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
        let value = case.parts.iter().find_map(|part| match solved(part, datum) {
            Some((Comparison::Equal, value)) => Some(value),
            _ => None,
        })?;
        let belongs = [defined(&value), in_type(&value, datum.ty())];
        Some(vec![put(case, datum, &value, belongs)])
    })
}

/// A bound datum that has nothing but ends.
fn by_bounds(case: &Case) -> Option<Vec<Case>> {
    case.bound.iter().find_map(|datum| {
        if !datum.ty().is_number() {
            return None;
        }
        let own = in_type(&Term::datum(datum), datum.ty()).conjuncts();
        let (about, mut others): (Vec<Term>, Vec<Term>) =
            own.into_iter().chain(case.parts.iter().cloned()).partition(|part| part.mentions(datum));
        // An end, and whether it is excluded.
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for part in &about {
            match solved(part, datum)? {
                (Comparison::AtLeast, end) => low.push((end, false)),
                (Comparison::Greater, end) => low.push((end, true)),
                (Comparison::AtMost, end) => high.push((end, false)),
                (Comparison::Less, end) => high.push((end, true)),
                (Comparison::Equal | Comparison::NotEqual, _) => return None,
            }
        }
        for (least, is_above) in &low {
            for (most, is_below) in &high {
                others.push(room(least, *is_above, most, *is_below));
            }
        }
        let bound = case.bound.iter().filter(|other| *other != datum).cloned().collect();
        Some(vec![Case { bound, parts: others }])
    })
}

/// That a number lies between two ends.
fn room(low: &Term, is_above: bool, high: &Term, is_below: bool) -> Term {
    if *low.sort() == Type::Real {
        let comparison = if is_above || is_below { Comparison::Less } else { Comparison::AtMost };
        return Term::compare(comparison, low, high);
    }
    match (is_above, is_below) {
        (false, false) => Term::compare(Comparison::AtMost, low, high),
        (true, true) => Term::compare(Comparison::Less, &Term::add(low, &Term::int(1)), high),
        _ => Term::compare(Comparison::Less, low, high),
    }
}

/// A disjunction or a disequality that mentions bound data, in cases.
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

/// A bound datum of few values, a case for each.
fn by_values(case: &Case) -> Option<Vec<Case>> {
    case.bound.iter().find_map(|datum| {
        // Records and arrays are compared field by field and cell by cell: they would have to be taken apart first.
        if matches!(datum.ty(), Type::Array(_) | Type::Record(_)) {
            return None;
        }
        datum.ty().cardinality().filter(|count| *count <= MOST_VALUES)?;
        let values = Value::enumerate(datum.ty(), MOST_VALUES)?;
        Some(values.into_iter().map(|value| put(case, datum, &Term::literal(value), [])).collect())
    })
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

/// The same where the datum occurs several times, all in sums: what it occurs in is added up. As above, one of it must be left.
fn gathered(comparison: Comparison, a: &Term, b: &Term, datum: &Datum) -> Option<(Comparison, Term)> {
    if *a.sort() != Type::Int {
        return None;
    }
    let mut sum = Sum::default();
    sum.add(a, &IBig::ONE);
    sum.add(b, &IBig::NEG_ONE);
    let own = sum.terms.remove(&Term::datum(datum))?;
    if sum.terms.keys().any(|term| term.mentions(datum)) {
        return None;
    }
    // own * datum + rest ⋈ 0
    match own {
        own if own == IBig::ONE => Some((comparison, sum.term(&IBig::NEG_ONE))),
        own if own == IBig::NEG_ONE => Some((mirrored(comparison), sum.term(&IBig::ONE))),
        _ => None,
    }
}

/// A sum of integers: what it is made of, how often, and a number.
#[derive(Default)]
struct Sum {
    terms: BTreeMap<Term, IBig>,
    number: IBig,
}

impl Sum {
    fn add(&mut self, term: &Term, times: &IBig) {
        match term.node() {
            Node::Literal(Value::Int(value)) => self.number += value * times,
            Node::Negate(a) => self.add(a, &-times),
            Node::Arithmetic(Operator::Add, a, b) => {
                self.add(a, times);
                self.add(b, times);
            }
            Node::Arithmetic(Operator::Subtract, a, b) => {
                self.add(a, times);
                self.add(b, &-times);
            }
            _ => {
                let count = self.terms.entry(term.clone()).or_default();
                *count += times;
                if *count == IBig::ZERO {
                    self.terms.remove(term);
                }
            }
        }
    }

    /// So many times the sum, as a term.
    fn term(&self, times: &IBig) -> Term {
        let mut sum = Term::int(&self.number * times);
        for (term, count) in &self.terms {
            let count = count * times;
            sum = match count {
                count if count == IBig::ONE => Term::add(&sum, term),
                count if count == IBig::NEG_ONE => Term::subtract(&sum, term),
                count => Term::add(&sum, &Term::multiply(&Term::int(count), term)),
            };
        }
        sum
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

/// The comparison with its sides exchanged.
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
