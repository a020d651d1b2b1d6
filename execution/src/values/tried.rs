//! A guard that is prepared for trials: all that needs no state is found once.
//!
//! A parameter of a record type is split: each of its fields is a parameter by itself. A variant has a guard
//! for each alternative, so that an easy one does not hide the others. [`super::trial`] draws the values.

use coreach_analyses::hull::{Range, hull};
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::list_subterms;
use coreach_model::term::node::{Comparison, Node, StringOperation};
use coreach_model::value::tuples;
use coreach_model::{Datum, Term, Type, Value};

use super::strings::StringHints;
use crate::limits::{MOST_LISTED, MOST_SEEN};
use crate::values::records::SplitParameters;

/// A guard, prepared for trials in any state.
#[derive(Clone, Debug)]
pub struct TriedGuard {
    /// The parameters of record types, split into their fields.
    pub(super) split: SplitParameters,
    pub(super) guard: Term,
    /// The split parameters: fields stand in place of records.
    pub(super) parameters: Vec<Datum>,
    pub(super) indices: Vec<usize>,
    /// The parts of the guard without parameters, and the others with the indices of their parameters.
    pub(super) closed: Vec<Term>,
    pub(super) open: Vec<(Term, Vec<usize>)>,
    /// The data of the state that the open parts read.
    pub(super) reads: Vec<Datum>,
    /// The literals in the open parts, and the values in these literals.
    pub(super) literals: Vec<Value>,
    /// For each parameter, how its values are drawn.
    pub(super) hints: Vec<TrialHint>,
    /// The parameters that equations define, each by parameters that are drawn.
    pub(super) defined: Vec<(usize, Term)>,
    /// All vectors of values, if they are few.
    pub(super) all_vectors: Option<Vec<Vec<Value>>>,
}

#[derive(Clone, Debug)]
pub(super) enum TrialHint {
    /// A number in this range.
    Number(Range),
    /// A string, with the texts that the guard compares it with.
    Text(StringHints),
    Other,
}

impl TriedGuard {
    /// Prepares the guard of an action with these parameters, once for each choice of their alternatives.
    pub fn list(guard: &Term, parameters: &[Datum]) -> Vec<Self> {
        let splits = SplitParameters::list_alternatives(parameters).into_iter();
        splits.map(|split| TriedGuard::new(guard, split)).collect()
    }

    /// Prepares a guard whose parameters are split so.
    fn new(guard: &Term, split: SplitParameters) -> Self {
        let (guard, parameters) = (&split.split_guard(guard), &split.parameters[..]);
        let is_open = |term: &Term| parameters.iter().any(|parameter| term.mentions(parameter));
        let (open, closed): (Vec<Term>, Vec<Term>) = guard.conjuncts().into_iter().partition(is_open);
        let data = open.iter().flat_map(Term::data);
        let mut reads: Vec<Datum> = data.filter(|datum| !parameters.contains(datum)).collect();
        reads.sort();
        reads.dedup();
        let mut literals = Vec::new();
        let subterms = list_subterms(open.clone());
        // The text of a regular expression is no text to try.
        let patterns: Vec<&Term> = subterms.iter().filter_map(find_pattern).collect();
        for term in subterms.iter().filter(|term| term.parts().is_empty() && !patterns.contains(term)) {
            term.as_literal().into_iter().for_each(|value| collect_pool(value, &mut literals));
        }
        let hint = |datum: &Datum| match datum.ty() {
            Type::String => TrialHint::Text(StringHints::read(guard, datum)),
            ty if ty.is_number() => TrialHint::Number(find_range(&open, datum)),
            _ => TrialHint::Other,
        };
        let hints = parameters.iter().map(hint).collect();
        let lists: Option<Vec<Vec<Value>>> =
            parameters.iter().map(|parameter| Value::enumerate(parameter.ty(), MOST_LISTED)).collect();
        let mentioned = |part: &Term| {
            (0..parameters.len()).filter(|at| part.mentions(&parameters[*at])).collect::<Vec<usize>>()
        };
        TriedGuard {
            guard: guard.clone(),
            parameters: parameters.to_vec(),
            indices: (0..parameters.len()).collect(),
            closed,
            open: open.into_iter().map(|part| (part.clone(), mentioned(&part))).collect(),
            reads,
            literals,
            hints,
            defined: list_definitions(guard, parameters),
            all_vectors: lists.filter(|lists| are_few_tuples(lists, MOST_LISTED)).map(|lists| tuples(&lists)),
            split,
        }
    }

    /// Returns the parameters of record types, split into their fields.
    pub fn split(&self) -> &SplitParameters {
        &self.split
    }

    /// Lists the strings among the guard's literals.
    pub fn texts(&self) -> impl Iterator<Item = &Value> {
        self.literals.iter().filter(|value| matches!(value, Value::String(_)))
    }

    /// Makes a pool: the guard's literals, the state's values that the guard reads, and `others`.
    pub fn pool<'v>(&self, state: &Valuation, others: impl Iterator<Item = &'v Value>) -> Vec<Value> {
        let mut pool = self.literals.clone();
        let read = self.reads.iter().filter_map(|datum| state.get(datum));
        read.for_each(|value| collect_pool(value, &mut pool));
        others.for_each(|value| collect_pool(value, &mut pool));
        pool
    }

    /// May the guard hold in this state, for some values of the parameters? Errs towards yes.
    pub fn may_hold(&self, state: &Valuation) -> bool {
        let is_false = |part: &Term| evaluate(part, state) == Ok(Value::Bool(false));
        !self.closed.iter().any(is_false) && !self.open.iter().any(|(part, _)| is_false(part))
    }
}

/// Do these lists have at most `most` combinations of their members?
pub(crate) fn are_few_tuples(lists: &[Vec<Value>], most: usize) -> bool {
    let count = lists.iter().map(Vec::len).try_fold(1, usize::checked_mul);
    count.is_some_and(|count| count <= most)
}

/// Lists the parameters that equations define, each by its number. Definitions read drawn parameters only, so
/// they can be computed in any order.
fn list_definitions(guard: &Term, parameters: &[Datum]) -> Vec<(usize, Term)> {
    let mut defined: Vec<(usize, Term)> = Vec::new();
    for (at, datum) in parameters.iter().enumerate() {
        let Some(term) = find_definition(datum, guard) else { continue };
        let is_drawn = |other: usize| other != at && !defined.iter().any(|(known, _)| *known == other);
        let mut read = (0..parameters.len()).filter(|other| term.mentions(&parameters[*other]));
        if read.all(is_drawn) && !defined.iter().any(|(_, term)| term.mentions(datum)) {
            defined.push((at, term));
        }
    }
    defined
}

fn find_pattern(term: &Term) -> Option<&Term> {
    match term.node() {
        Node::OnStrings(StringOperation::Matches, arguments) => arguments.get(1),
        _ => None,
    }
}

/// Finds the range of a number by the parts of a guard that mention nothing else.
fn find_range(open: &[Term], datum: &Datum) -> Range {
    let own: Vec<Term> =
        open.iter().filter(|part| part.data().len() == 1 && part.mentions(datum)).cloned().collect();
    let range = hull(&Term::and(own), std::slice::from_ref(datum)).range(0);
    range.unwrap_or(Range { low: None, high: None })
}

/// Adds the value and the values in it to a pool, each once.
fn collect_pool(value: &Value, found: &mut Vec<Value>) {
    if found.len() >= MOST_SEEN {
        return;
    }
    if !matches!(value, Value::Array(_)) && !found.contains(value) {
        found.push(value.clone());
    }
    match value {
        Value::Record(ty, fields) => {
            collect_pool(&fields[0], found);
            ty.counting(fields).for_each(|field| collect_pool(field, found));
        }
        Value::Array(array) => array.cells.iter().for_each(|(index, cell)| {
            collect_pool(index, found);
            collect_pool(cell, found);
        }),
        _ => {}
    }
}

/// Finds the other side of an equation for the datum.
pub(super) fn find_definition(datum: &Datum, condition: &Term) -> Option<Term> {
    condition.unfolded_conjuncts().iter().find_map(|conjunct| {
        let Some(Node::Compare(Comparison::Equal, left, right)) = conjunct.written() else { return None };
        let defines =
            |(side, other): &(&Term, &Term)| side.written_datum() == Some(datum) && !other.mentions(datum);
        [(left, right), (right, left)].into_iter().find(defines).map(|(_, other)| other.clone())
    })
}
