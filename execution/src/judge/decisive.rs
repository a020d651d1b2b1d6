//! The part of a condition that decides about its value, and the values in it.
//!
//! **Problem.** `!movable()` does not hold since `movable()` is true: this says nothing.
//!
//! **Method.** The condition is opened from the outside. A call becomes the body of its function. A
//! quantifier becomes the first instance that decides, and a conjunction that fails its parts that fail. This
//! ends where the parts say something by their values, or where the text becomes long.
//!
//! **Terminates**, since functions are not recursive, and each step is one level deeper.

use std::collections::BTreeMap;

use coreach_model::Term;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::Node;
use coreach_model::term::operation::{
    DerivedOperation, QuantifiedOperation, Quantifier, QuantifierDomain, StandardOperation,
};
use coreach_model::term::{Substitution, TermShape, substitute};
use coreach_model::types::RecordForm;
use coreach_model::{Datum, Type, Value};

/// A longer value is cut.
pub(super) const LONGEST_VALUE: usize = 60;

/// A larger part of a guard is not taken apart, since its text repeats shared terms.
pub(super) const LARGEST_PART: u64 = 5000;

/// Finds the part that decides about a condition. `None`: the condition says it itself.
pub(super) fn find_decisive(condition: &Term, values: &Valuation) -> Option<Term> {
    let (mut term, mut decisive) = (condition.clone(), None);
    while let Some((next, says_more)) = open_condition(&term, values) {
        if next.written_size() > LARGEST_PART {
            break;
        }
        term = next;
        // A long part may be opened further.
        if says_more && term.to_string().chars().count() <= 3 * LONGEST_VALUE {
            decisive = Some(term.clone());
        }
    }
    decisive
}

/// Opens a condition by one level. The second value says whether the result says more than the condition.
fn open_condition(term: &Term, values: &Valuation) -> Option<(Term, bool)> {
    let is = |part: &Term, wanted: bool| (holds(part, values) == Ok(true)) == wanted;
    let is_true = is(term, true);
    let deciding = |parts: &[Term]| {
        let deciding: Vec<Term> = parts.iter().filter(|part| is(part, is_true)).cloned().collect();
        (deciding.len() < parts.len()).then_some(deciding)
    };
    match term.shape() {
        TermShape::Node(Node::Not(inner)) => Some((inner.clone(), false)),
        TermShape::Node(Node::And(parts)) if !is_true => Some((Term::and(deciding(parts)?), true)),
        TermShape::Node(Node::Or(parts)) if is_true => Some((Term::or(deciding(parts)?), true)),
        TermShape::Node(Node::Or(parts)) => {
            let opened = |part: &Term| match part.written() {
                Some(Node::And(parts)) => deciding(parts).map(Term::and),
                _ => None,
            };
            let opened_parts = parts.iter().map(|part| opened(part).unwrap_or_else(|| part.clone()));
            parts.iter().any(|part| opened(part).is_some()).then(|| (Term::or(opened_parts), true))
        }
        TermShape::Operation(DerivedOperation::Call(_), _) => Some((term.unfolded()?, true)),
        TermShape::Operation(DerivedOperation::Quantified(quantified), arguments) => {
            match (quantified.quantifier, is_true) {
                (Quantifier::All, false) | (Quantifier::Some, true) => {}
                _ => return None,
            }
            let instances = list_instances(quantified, arguments, values)?;
            Some((instances.into_iter().find(|instance| is(instance, is_true))?, true))
        }
        _ => None,
    }
}

/// Lists the body of a quantifier for each value of its bound name.
pub(super) fn list_instances(
    quantified: &QuantifiedOperation,
    arguments: &[Term],
    values: &Valuation,
) -> Option<Vec<Term>> {
    // The last arguments are the values that the body reads.
    let values_read = &arguments[arguments.len() - quantified.read.len()..];
    let mut known: Substitution = quantified.read.iter().cloned().zip(values_read.iter().cloned()).collect();
    let bound = list_bound_values(&quantified.domain, arguments, values)?.into_iter();
    let instances = bound.map(|value| {
        known.insert(quantified.bound.clone(), value);
        substitute(&quantified.body, &known)
    });
    Some(instances.collect())
}

/// Lists the terms that the bound name of a quantifier stands for.
fn list_bound_values(domain: &QuantifierDomain, arguments: &[Term], values: &Valuation) -> Option<Vec<Term>> {
    let list = match domain {
        QuantifierDomain::Values(_, values) => {
            return Some(values.iter().map(|value| Term::literal(value.clone())).collect());
        }
        QuantifierDomain::Elements => &arguments[0],
    };
    let Value::Record(ty, fields) = evaluate(list, values).ok()? else { return None };
    if let RecordForm::Keyed(_) | RecordForm::Entries(..) = ty.form {
        return Some(ty.entries(&fields).into_iter().map(|(key, _)| Term::literal(key)).collect());
    }
    list.sort().as_list()?;
    let element = |index| Term::standard(StandardOperation::Element, [list.clone(), Term::int(index)]);
    Some((0..ty.counting(&fields).count()).map(element).collect())
}

/// The values of a condition by their texts: those of [`collect_values`], and the two sides of a comparison.
pub(super) fn condition_values(condition: &Term, values: &Valuation) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect_values(condition, values, &mut found);
    // Of numbers, truth values and records, the data in them are enough.
    let sides = match condition.written() {
        Some(Node::Compare(_, a, b))
            if !a.sort().is_number() && *a.sort() != Type::Bool && condition.as_question().is_none() =>
        {
            vec![a, b]
        }
        _ => Vec::new(),
    };
    let is_enough = |side: &&Term| matches!(side.written(), Some(Node::Literal(_) | Node::Record(..)));
    for side in sides.into_iter().filter(|side| !is_enough(side)) {
        let Ok(value) = evaluate(side, values) else { continue };
        let (name, value) = (side.to_string(), format!("{value:#}"));
        if [&name, &value].iter().all(|text| text.chars().count() <= LONGEST_VALUE) {
            found.insert(name, value);
        }
    }
    found
}

/// Collects the values of the data, calls and elements in a term, by their texts. Of a large term, only the
/// data are collected.
pub(super) fn collect_values(term: &Term, values: &Valuation, found: &mut BTreeMap<String, String>) {
    let value = || evaluate(term, values).ok().map(|value| (term.to_string(), format!("{value:#}")));
    if term.written_size() > LARGEST_PART {
        let text = |datum: &Datum| Some((datum.to_string(), format!("{:#}", values.get(datum)?)));
        found.extend(term.data().iter().filter_map(text));
        return;
    }
    let parts = match term.shape() {
        TermShape::Node(Node::Data(_)) => {
            found.extend(value());
            return;
        }
        // The last arguments are the data that the function reads.
        TermShape::Operation(DerivedOperation::Call(_), arguments) => {
            found.extend(value());
            arguments.iter().collect()
        }
        // The field that tells the alternative has no name that a user knows.
        TermShape::Node(_) if term.as_question().is_some() => {
            term.as_question().into_iter().map(|(subject, ..)| subject).collect()
        }
        TermShape::Node(Node::Field(..) | Node::Select(..))
        | TermShape::Operation(DerivedOperation::Standard(_), _)
            if is_path(term) && value().is_some() =>
        {
            found.extend(value());
            list_indices(term)
        }
        _ => term.parts(),
    };
    parts.into_iter().for_each(|part| collect_values(part, values, found));
}

/// The indices in a path. The values of its wholes are not needed.
fn list_indices(path: &Term) -> Vec<&Term> {
    let (mut whole, mut indices) = (path, Vec::new());
    while let [first, others @ ..] = whole.parts().as_slice() {
        indices.extend(others);
        whole = *first;
    }
    indices
}

/// Is it a datum, or a field or an element of one?
pub(super) fn is_path(term: &Term) -> bool {
    match term.shape() {
        TermShape::Node(Node::Data(_)) => true,
        TermShape::Node(Node::Field(whole, _) | Node::Select(whole, _)) => is_path(whole),
        TermShape::Operation(
            DerivedOperation::Standard(StandardOperation::Element | StandardOperation::ValueAt),
            whole,
        ) => is_path(&whole[0]),
        _ => false,
    }
}
