//! How terms keep records canonical ([`crate::forms`]).
//!
//! **Problem.** A record with fields that are not canonical has no value, and a solver must know that the
//! values of data are canonical ([`canonical()`]). The operations on lists keep their results canonical. A
//! solver should not be asked this for each slot of each list.
//!
//! **Method.** The shape of most results shows that they are canonical. After the end of `q + [e]`, a slot is
//! a slot of `q` after its own end, or a case of `e` that asks for another length. A length is a sum of
//! lengths of lists and a number. So after the end of the whole, each of these lists has ended too, and a
//! case that asks for a greater length does not apply (`Behind`). Only terms of other shapes, such as
//! mutants, get a condition (`canonical_condition`).
//!
//! **Cost.** A slot is read once along its cases, so a list costs the square of its bound.

use std::sync::Arc;

use crate::term::Term;
use crate::term::evaluate::sign;
use crate::term::node::{Comparison, Node, Operator};
use crate::types::{RecordForm, RecordType, Type};
use crate::value::Value;

impl RecordType {
    /// Makes the term of the alternative or the list that has this first field and these parts.
    pub fn made_of(self: &Arc<Self>, first: Value, parts: impl IntoIterator<Item = Term>) -> Term {
        let fields = self.fill_fields(first, parts, &Term::literal);
        Term::record(self, fields)
    }
}

/// The condition that all records in the value of this term are canonical. The term is a datum, or is read
/// from one.
pub fn canonical(term: &Term, ty: &Type) -> Term {
    let Type::Record(record) = ty else { return Term::yes() };
    let fields: Vec<Term> = (0..record.fields.len()).map(|at| Term::field(term, at)).collect();
    let inner = fields.iter().zip(&record.fields).map(|(field, (_, ty))| canonical(field, ty));
    let own = (1..fields.len()).map(|position| counts_or_simplest(record, &fields, position));
    // The keys of entries ascend, as far as they count. The first one follows the length.
    let width = record.width().filter(|_| matches!(record.form, RecordForm::Entries(..)));
    let keys: Vec<usize> = width.map_or_else(Vec::new, |width| (1..fields.len()).step_by(width).collect());
    let ascend = keys.windows(2).map(|pair| {
        let ascends = Term::compare(Comparison::Less, &fields[pair[0]], &fields[pair[1]]);
        Term::implies(&count_condition(record, &fields[0], pair[1]), &ascends)
    });
    Term::and(inner.chain(own).chain(ascend))
}

/// The condition that a record of these fields is canonical. Only operations make entries, and they keep them
/// in order.
pub(crate) fn canonical_condition(ty: &RecordType, fields: &[Term]) -> Term {
    let uncertain = (1..fields.len()).filter(|position| !is_surely_canonical_at(ty, fields, *position));
    Term::and(uncertain.map(|position| counts_or_simplest(ty, fields, position)))
}

/// Does the shape of these fields show that a record of them is canonical?
pub(crate) fn is_always_canonical(ty: &RecordType, fields: &[Term]) -> bool {
    (1..fields.len()).all(|position| is_surely_canonical_at(ty, fields, position))
}

/// The condition that the field counts, or holds the simplest value.
fn counts_or_simplest(ty: &RecordType, fields: &[Term], position: usize) -> Term {
    let counts = count_condition(ty, &fields[0], position);
    let simplest = Term::literal(Value::any(&ty.fields[position].1));
    if counts.is_true() { counts } else { Term::or([counts, Term::equal(&fields[position], &simplest)]) }
}

/// The condition that the field counts in a record with this first field.
pub(crate) fn count_condition(ty: &RecordType, first: &Term, position: usize) -> Term {
    match &ty.form {
        _ if position == 0 => Term::yes(),
        RecordForm::Plain | RecordForm::Keyed(_) => Term::yes(),
        RecordForm::Option | RecordForm::Variant(_) => {
            let tags = (0..ty.alternatives().len()).map(|number| ty.tag(number));
            let counting = tags.filter(|tag| ty.counts(tag, position));
            Term::or(counting.map(|tag| Term::equal(first, &Term::literal(tag))))
        }
        RecordForm::List | RecordForm::Entries(..) => {
            let least_length = position.div_ceil(ty.width().unwrap_or(1));
            Term::compare(Comparison::AtLeast, first, &Term::int(least_length))
        }
    }
}

/// Does the shape of the fields show that this one counts, or that it holds the simplest value?
fn is_surely_canonical_at(ty: &RecordType, fields: &[Term], position: usize) -> bool {
    let simplest = Value::any(&ty.fields[position].1);
    let all_count = matches!(ty.form, RecordForm::Plain | RecordForm::Keyed(_));
    if all_count || fields[position].written_literal() == Some(&simplest) {
        return true;
    }
    // A known length or alternative says whether the field counts.
    if let Some(first) = fields[0].written_literal() {
        return ty.counts(first, position);
    }
    // The field does not count if the length is less than the number of its entry, counted from 1.
    let behind = ty.width().and_then(|width| Behind::of(&fields[0], position.div_ceil(width)));
    behind.is_some_and(|behind| behind.leaves_blank(&fields[position], &simplest))
}

/// The knowledge that a list ends before an entry.
struct Behind<'a> {
    length: &'a Term,
    /// The length is at most this.
    most: i64,
    /// If the length is a sum of lengths of lists and a number: these lengths ...
    lengths: Vec<&'a Term>,
    /// ... which are together at most this.
    most_together: i64,
}

impl<'a> Behind<'a> {
    /// The knowledge that the list does not reach this entry, counted from 1. `None` for a huge number.
    fn of(length: &'a Term, entry: usize) -> Option<Self> {
        let (_, length) = length_where(length);
        let most = i64::try_from(entry).ok()? - 1;
        let mut lengths = Vec::new();
        let Some(number) = collect_summands(length, &mut lengths) else {
            return Some(Behind { length, most, lengths: Vec::new(), most_together: most });
        };
        Some(Behind { length, most, lengths, most_together: most.checked_sub(number)? })
    }

    /// Does the shape of the slot show that it holds the simplest value there?
    fn leaves_blank(mut self, slot: &Term, simplest: &Value) -> bool {
        let mut slot = slot;
        loop {
            // Lengths are not negative, so this cannot happen, and anything may be said about the slot.
            if self.most_together < 0 {
                return true;
            }
            let Node::IfThenElse(c, then, otherwise) = slot.node() else {
                return self.is_after_end(slot, simplest);
            };
            // A case that the knowledge excludes does not apply. Any other one must be blank too.
            if !c.conjuncts().iter().any(|part| self.excludes(part)) {
                let equated = |(place, length): (usize, &&Term)| Some((place, number_equated(c, length)?));
                let Some((place, number)) = self.lengths.iter().enumerate().find_map(equated) else {
                    return false;
                };
                // In this case the list has this length, so the others together are shorter by it.
                let length = self.lengths.remove(place);
                self.most_together -= number;
                let is_blank = self.most_together < 0 || self.is_after_end(then, simplest);
                self.most_together += number;
                self.lengths.push(length);
                if !is_blank {
                    return false;
                }
            }
            slot = otherwise;
        }
    }

    /// Is it a slot of one of the lists, after its end, or the simplest value itself?
    fn is_after_end(&self, slot: &Term, simplest: &Value) -> bool {
        if slot.as_literal() == Some(simplest) {
            return true;
        }
        let Node::Field(list, position) = slot.node() else { return false };
        let Type::Record(ty) = list.sort() else { return false };
        let is_its_length = |length: &&Term| matches!(length.node(), Node::Field(of, 0) if of == list);
        let entry = ty.width().and_then(|width| i64::try_from(position.div_ceil(width)).ok());
        entry.is_some_and(|entry| self.most_together < entry)
            && self.lengths.iter().any(is_its_length)
            && Value::any(&ty.fields[*position].1) == *simplest
    }

    /// Does the knowledge exclude the condition?
    fn excludes(&self, condition: &Term) -> bool {
        let cannot_exceed = |term: &Term, number: i64| {
            (*term == *self.length && number >= self.most)
                || (self.lengths.contains(&term) && number >= self.most_together)
        };
        let Node::Compare(comparison, length, bound) = condition.node() else { return false };
        let Some(bound) = as_small_integer(bound) else { return false };
        match comparison {
            Comparison::Greater => cannot_exceed(length, bound),
            // To be equal to the bound is to exceed the number before it.
            Comparison::Equal => cannot_exceed(length, bound - 1),
            _ => false,
        }
    }
}

/// The number to which the condition says that the term is equal. `None` if it says no such thing.
fn number_equated(condition: &Term, term: &Term) -> Option<i64> {
    match condition.node() {
        Node::Compare(Comparison::Equal, a, b) if a == term => as_small_integer(b),
        _ => None,
    }
}

/// Splits a sum of lengths of lists and a number. Adds the lengths to the list, and returns the number.
/// `None` if the term is no such sum.
fn collect_summands<'a>(term: &'a Term, lengths: &mut Vec<&'a Term>) -> Option<i64> {
    match term.node() {
        Node::Field(list, 0) if matches!(list.sort(), Type::Record(ty) if ty.width().is_some()) => {
            lengths.push(term);
            Some(0)
        }
        Node::Arithmetic(Operator::Add, a, b) => {
            collect_summands(a, lengths)?.checked_add(collect_summands(b, lengths)?)
        }
        Node::Arithmetic(Operator::Subtract, a, b) => {
            collect_summands(a, lengths)?.checked_sub(as_small_integer(b)?)
        }
        _ => as_small_integer(term),
    }
}

/// Splits a length into the condition that there is a list, if it has one, and the length under it.
pub(crate) fn length_where(length: &Term) -> (Option<&Term>, &Term) {
    match length.node() {
        Node::IfThenElse(condition, length, none) if none.as_literal().is_some_and(|none| sign(none) < 0) => {
            (Some(condition), length)
        }
        _ => (None, length),
    }
}

/// Is the term a sum of lengths and of a number?
pub(crate) fn is_sum(term: &Term) -> bool {
    collect_summands(term, &mut Vec::new()).is_some()
}

/// Is the term a sum of lengths and of a number that is not negative?
pub(crate) fn is_not_negative(term: &Term) -> bool {
    match term.node() {
        Node::IfThenElse(_, a, b) => is_not_negative(a) && is_not_negative(b),
        _ => collect_summands(term, &mut Vec::new()).is_some_and(|number| number >= 0),
    }
}

/// The literal as an integer of the machine, if it fits.
fn as_small_integer(term: &Term) -> Option<i64> {
    if let Some(Value::Int(value)) = term.as_literal() { i64::try_from(value).ok() } else { None }
}
