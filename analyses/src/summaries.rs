//! Arrays of many cells: one cell that stands for each of them.
//!
//! **Problem.** An array's cells as numbers of their own are too many for a domain, and what is worth
//! knowing of them is, as a rule, what they have in common: each is at most the limit, each is less than
//! the next number.
//!
//! **Source.** Summarized dimensions (Gopan, DiMaio, Dor, Reps, Sagiv, TACAS 2004,
//! <https://doi.org/10.1007/978-3-540-24730-2_38>): a state of numbers x and an array a is seen as the set of
//! all `(x, a[k])`, and an abstract value P means the states *all* of whose `(x, a[k])` are in P.
//!
//! **Method.** Each number, flag or literal of two in the cells of an array is one dimension. Terms mention
//! it as the cell at the *index variable*, written `#`, of which there is one for each index type with more
//! than a few and at most so many values ([`Arrays`]); all arrays with these indices share it, so that
//! `a[k] <= b[k]` for all k is a fact too. Within one transition `#` is an unknown number like a parameter.
//! A transition that assigns `a[i]` has two cases, by whether `#` is `i` ([`crate::effect`]), which come
//! together again: in the one the cell is what is assigned, in the other what it was. A read `a[i]` is the
//! cell itself where `#` is `i`, and else an *instance*: a number of which is known what the fact says of
//! `a[#]`. That makes two facts of one, which holds since the fact is about all cells. What is said of all
//! cells, or of some cell, comes here written out for each, and is put together again ([`generalized`],
//! [`of_some_cell`]).
//!
//! **Where we differ**: facts are written with the index variable replaced by each of its values in turn
//! ([`for_all`]), since terms have no quantifiers, and are checked as they are. Tried: the index variable
//! as a dimension of its own that never changes (Monniaux and Gonnord, SAS 2016,
//! <https://doi.org/10.1007/978-3-662-53413-7_18>). It proves `a[k] <= k` for all k, and of none of the
//! programs in `examples/numerical` more; a hull over index and counter has a slope of its own for each
//! pair of bounds, so that facts became many and guards unreadable.
//!
//! **Sound** only where an element contains *all* tuples of a state: values that come in by different cases
//! are joined before they are read from, and regions of a location differ in numbers of the state, never in
//! cells.
//!
//! **Cost**: a dimension for each number in a cell; for each read another, and a projection.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use coreach_model::term::node::{Node, StringOperation};
use coreach_model::term::operation::{DerivedOperation, StandardOperation};
use coreach_model::term::{Substitution, Term, TermShape, replace, substitute};
use coreach_model::{Datum, Type, Value};
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational};

use crate::domains::Domain;
use crate::frame::Frame;
use crate::places::{Arrays, element, index_variable};

/// A read of a cell, or of an element of a list, that has no places, with the index variable in place of its
/// index, and that index.
pub fn at_index_variable(arrays: Arrays, term: &Term) -> Option<(Term, Datum, Term)> {
    let node = match term.shape() {
        TermShape::Node(node) => node,
        TermShape::Operation(operation, arguments) => {
            let (list, index) = (arguments.first()?, arguments.get(1)?);
            let is_element = *operation == DerivedOperation::Standard(StandardOperation::Element);
            let Type::Record(record) = list.sort() else { return None };
            let is_large = is_element && arrays.is_large_list(record);
            return is_large.then(|| (element(list), index_variable(list), index.clone()));
        }
    };
    match node {
        Node::Select(array, index) => {
            let Type::Array(ty) = array.sort() else { return None };
            if let Some(variable) = arrays.index_variable(ty) {
                return Some((Term::select(array, &Term::datum(&variable)), variable, index.clone()));
            }
            let (array, variable, at) = at_index_variable(arrays, array)?;
            Some((Term::select(&array, index), variable, at))
        }
        Node::Field(record, field) => {
            let (record, variable, at) = at_index_variable(arrays, record)?;
            Some((Term::field(&record, *field), variable, at))
        }
        Node::OnStrings(StringOperation::Length, sides) => {
            let (string, variable, at) = at_index_variable(arrays, sides.first()?)?;
            Some((string.length(), variable, at))
        }
        _ => None,
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellInstance {
    pub summary: usize,
    pub index: Term,
    /// The dimensions that are read, and of each the number that it is at this index.
    pub numbers: Vec<(usize, usize)>,
}

/// What a fact about all cells says of those that are read: constraints over its own dimensions and those of
/// the case.
pub fn instantiated<D: Domain>(frame: &Frame, fact: &D, instances: &[CellInstance]) -> Vec<Constraint> {
    let mut found = Vec::new();
    for CellInstance { summary, numbers, .. } in instances {
        let leaves = &frame.summaries[*summary].leaves;
        let number =
            |at: usize| numbers.iter().find(|(leaf, _)| *leaf == at).map_or(at, |(_, number)| *number);
        let others: Vec<usize> = leaves.iter().copied().filter(|leaf| number(*leaf) == *leaf).collect();
        let known = if others.is_empty() { fact.clone() } else { fact.forget(&others) };
        if known.is_bottom() {
            continue;
        }
        for constraint in known.constraints() {
            let used: Vec<(usize, &Integer)> = constraint
                .coefficients()
                .iter()
                .enumerate()
                .filter(|(_, factor)| !factor.is_zero())
                .collect();
            if used.iter().all(|(at, _)| number(*at) == *at) {
                continue;
            }
            let constant = LinearExpression::constant(Rational::from(constraint.constant().clone()));
            let there = used.into_iter().fold(constant, |sum, (at, factor)| {
                sum.plus(&LinearExpression::variable(number(at)).times(&Rational::from(factor.clone())))
            });
            found.push(Constraint::from_expression(&there, constraint.relation()));
        }
    }
    found
}

/// A fact for each value of the index variables: what mentions too many of them is left out.
pub fn for_all(frame: &Frame, fact: &Term) -> Term {
    if frame.summaries.is_empty() {
        return fact.clone();
    }
    let mut found = Vec::new();
    for part in fact.lowered().conjuncts() {
        let mentioned = part.data();
        let mut instances = vec![part.clone()];
        for summary in frame.summaries.iter().filter(|summary| mentioned.contains(&summary.index)) {
            // The most conjuncts that one about all cells may become.
            let values = Value::enumerate(summary.index.ty(), 256 / instances.len().max(1));
            let values = values.unwrap_or_default();
            let at = |part: &Term, value: &Value| {
                let index = Term::literal(value.clone());
                substitute(part, &Substitution::from([(summary.index.clone(), index)]))
            };
            instances = instances.iter().flat_map(|part| values.iter().map(move |v| at(part, v))).collect();
        }
        found.extend(instances);
    }
    Term::and(found)
}

/// The conjuncts, those that say the same of one cell each, and together of all cells, being one that says
/// it of the cell at the index variable. So `all i in Slot: a[i] == 0` is seen, which is written out before
/// it comes here.
pub fn generalized(arrays: Arrays, conjuncts: &[Term]) -> Vec<Term> {
    let is_whole =
        |variable: &Datum, values: &BTreeSet<Value>| variable.ty().cardinality() == Some(values.len());
    merged(arrays, conjuncts, is_whole, |general, _| general.clone())
}

/// The disjuncts, those that say the same of one cell each being one that says it of the cell at an index of
/// which nothing is known, `number` being another for each list. So `some i in Slot: a[i] == 0` reads one
/// cell and not all.
pub fn of_some_cell(arrays: Arrays, disjuncts: &[Term], number: usize) -> Vec<Term> {
    let are_several = |_: &Datum, values: &BTreeSet<Value>| values.len() > 1;
    merged(arrays, disjuncts, are_several, |general, variable| {
        let some = Datum::new(format!("#{number}"), variable.ty().clone());
        substitute(general, &Substitution::from([(variable.clone(), Term::datum(&some))]))
    })
}

/// The parts, where those that say the same of one cell each are told once, if their indices suffice.
fn merged(
    arrays: Arrays,
    parts: &[Term],
    suffice: impl Fn(&Datum, &BTreeSet<Value>) -> bool,
    told: impl Fn(&Term, &Datum) -> Term,
) -> Vec<Term> {
    let mut said: BTreeMap<(Term, Datum), BTreeSet<Value>> = BTreeMap::new();
    let mut generals = Vec::new();
    for part in parts {
        let general = general(arrays, part);
        if let Some((key, value)) = &general {
            said.entry(key.clone()).or_default().insert(value.clone());
        }
        generals.push(general.map(|(key, _)| key));
    }
    said.retain(|(_, variable), values| suffice(variable, values));
    let is_single = |key: &Option<(Term, Datum)>| key.as_ref().is_none_or(|key| !said.contains_key(key));
    let single = parts.iter().zip(&generals).filter(|(_, key)| is_single(key)).map(|(part, _)| part.clone());
    said.keys().map(|(general, variable)| told(general, variable)).chain(single).collect()
}

/// What a term says of cells at one index, said of the cell at the index variable; and that index.
fn general(arrays: Arrays, term: &Term) -> Option<((Term, Datum), Value)> {
    let mut read = BTreeSet::new();
    reads(arrays, term, &mut read);
    let (.., variable, value) = read.first().cloned()?;
    let is_same = read.iter().all(|(.., other, at)| (other, at) == (&variable, &value));
    let images = read.into_iter().map(|(cell, image, ..)| (cell, image)).collect();
    is_same.then(|| ((replace(term, images), variable), value))
}

/// The cells at known indices in a term, each with what it is at the index variable.
fn reads(arrays: Arrays, term: &Term, found: &mut BTreeSet<(Term, Term, Datum, Value)>) {
    let (mut seen, mut work) = (HashSet::new(), vec![term]);
    while let Some(term) = work.pop() {
        if !seen.insert(term.clone()) {
            continue;
        }
        if let Node::Select(_, index) = term.node()
            && let Some(value) = index.as_literal()
            && let Some((image, variable, _)) = at_index_variable(arrays, term)
        {
            found.insert((term.clone(), image, variable, value.clone()));
        }
        work.extend(term.children());
    }
}
