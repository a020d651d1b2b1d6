//! How terms keep records canonical ([`crate::forms`]).
//!
//! **Problem.** A record that is made of fields that are not canonical has no value, and solvers must be told
//! that the values of data are canonical ([`canonical()`]). The operations on lists keep their results
//! canonical. But to ask a solver about each slot of each list that they make would be a question that comes
//! again and again.
//!
//! **Method.** Most results of operations are seen to be canonical by their shape. After the end of `q +
//! [e]`, a slot is a slot of `q` after its own end, or a case of `e` that asks for another length. A length
//! is a sum of lengths of lists and a number. So after the end of the whole, each of these lists has ended
//! too, and a case that asks for a greater length does not apply (`Behind`). For a term of another shape,
//! such as a term that was changed at random, the question is asked (`canonical_condition`).
//!
//! **Cost.** The shape of a slot is looked at once along its cases, so a list costs the square of its bound.

use std::sync::Arc;

use crate::term::Term;
use crate::term::evaluate::sign;
use crate::term::node::{Comparison, Node, Operator};
use crate::types::{RecordForm, RecordType, Type};
use crate::value::Value;

impl RecordType {
    /// Makes the term of the alternative or the list that has this first field and these parts.
    pub fn made_of(self: &Arc<Self>, first: Value, parts: impl IntoIterator<Item = Term>) -> Term {
        let fields = self.filled(first, parts, &Term::literal);
        Term::record(self, fields)
    }
}

/// The condition that all records in the value of this term are canonical. The term is a datum, or is read
/// from one.
pub fn canonical(term: &Term, ty: &Type) -> Term {
    let Type::Record(record) = ty else { return Term::yes() };
    let fields: Vec<Term> = (0..record.fields.len()).map(|at| Term::field(term, at)).collect();
    let inner = fields.iter().zip(&record.fields).map(|(field, (_, of))| canonical(field, of));
    let own = (1..fields.len()).map(|at| counts_or_simplest(record, &fields, at));
    let keys = if matches!(record.form, RecordForm::Entries(..)) { record.most() } else { None };
    let ascends = |place: usize| {
        let (at, next) =
            (1 + (place - 1) * record.width().unwrap_or(1), 1 + place * record.width().unwrap_or(1));
        let ascends = Term::compare(Comparison::Less, &fields[at], &fields[next]);
        Term::implies(&count_condition(record, &fields[0], next), &ascends)
    };
    Term::and(inner.chain(own).chain((1..keys.unwrap_or(0)).map(ascends)))
}

/// The condition that a record of these fields is canonical. Only operations make entries, and they keep them
/// in order.
pub(crate) fn canonical_condition(ty: &RecordType, fields: &[Term]) -> Term {
    let open = (1..fields.len()).filter(|at| !is_blank(ty, fields, *at));
    Term::and(open.map(|at| counts_or_simplest(ty, fields, at)))
}

/// Does the shape of these fields show that a record of them is canonical?
pub(crate) fn is_always_canonical(ty: &RecordType, fields: &[Term]) -> bool {
    (1..fields.len()).all(|at| is_blank(ty, fields, at))
}

fn counts_or_simplest(ty: &RecordType, fields: &[Term], at: usize) -> Term {
    let counts = count_condition(ty, &fields[0], at);
    let simplest = Term::literal(Value::any(&ty.fields[at].1));
    if counts.is_true() { counts } else { Term::or([counts, Term::equal(&fields[at], &simplest)]) }
}

/// The condition that the field counts in a record with this first field.
pub(crate) fn count_condition(ty: &RecordType, first: &Term, at: usize) -> Term {
    match &ty.form {
        _ if at == 0 => Term::yes(),
        RecordForm::Plain | RecordForm::Keyed(_) => Term::yes(),
        RecordForm::Option | RecordForm::Variant(_) => {
            let numbers = 0..ty.alternatives().len();
            Term::or(
                numbers
                    .map(|number| ty.tag(number))
                    .filter(|tag| ty.counts(tag, at))
                    .map(|tag| Term::equal(first, &Term::literal(tag))),
            )
        }
        RecordForm::List | RecordForm::Entries(..) => {
            Term::compare(Comparison::AtLeast, first, &Term::int(at.div_ceil(ty.width().unwrap_or(1))))
        }
    }
}

/// Does the shape of the field show that it holds the simplest value if it does not count?
fn is_blank(ty: &RecordType, fields: &[Term], at: usize) -> bool {
    let simplest = Value::any(&ty.fields[at].1);
    if matches!(ty.form, RecordForm::Plain | RecordForm::Keyed(_))
        || fields[at].written_literal() == Some(&simplest)
    {
        return true;
    }
    if let Some(first) = fields[0].written_literal() {
        return ty.counts(first, at);
    }
    ty.width().is_some_and(|width| {
        Behind::of(&fields[0], at.div_ceil(width))
            .is_some_and(|behind| behind.leaves_blank(&fields[at], &simplest))
    })
}

/// The knowledge that a list ends before a slot.
struct Behind<'a> {
    length: &'a Term,
    /// The length is at most this.
    most: i64,
    /// If the length is a sum of lengths of lists and a number: these lengths ...
    lengths: Vec<&'a Term>,
    /// ... which are together at most this.
    rest: i64,
}

impl<'a> Behind<'a> {
    fn of(length: &'a Term, at: usize) -> Option<Self> {
        let (_, length) = length_where(length);
        let most = i64::try_from(at).ok()? - 1;
        let mut lengths = Vec::new();
        match collect_summands(length, &mut lengths) {
            Some(number) => Some(Behind { length, most, lengths, rest: most.checked_sub(number)? }),
            None => Some(Behind { length, most, lengths: Vec::new(), rest: most }),
        }
    }

    /// Does the shape of the slot show that it holds the simplest value there?
    fn leaves_blank(mut self, slot: &Term, simplest: &Value) -> bool {
        let mut slot = slot;
        loop {
            // Lengths are not negative.
            if self.rest < 0 {
                return true;
            }
            let Node::IfThenElse(c, then, rest) = slot.node() else { return self.is_behind(slot, simplest) };
            if !c.conjuncts().iter().any(|part| self.excludes(part)) {
                let Some(place) = self.lengths.iter().position(|known| is_number(c, known).is_some()) else {
                    return false;
                };
                // In this case the list has this length, so the others together are shorter by it.
                let length = self.lengths.remove(place);
                let number = is_number(c, length).unwrap_or(0);
                self.rest -= number;
                let is_blank = self.rest < 0 || self.is_behind(then, simplest);
                self.rest += number;
                self.lengths.push(length);
                if !is_blank {
                    return false;
                }
            }
            slot = rest;
        }
    }

    /// Is it a slot of one of the lists, after its end, or the simplest value itself?
    fn is_behind(&self, slot: &Term, simplest: &Value) -> bool {
        if slot.as_literal() == Some(simplest) {
            return true;
        }
        let Node::Field(list, at) = slot.node() else { return false };
        let Type::Record(ty) = list.sort() else { return false };
        let is_its = |length: &&Term| matches!(length.node(), Node::Field(of, 0) if of == list);
        ty.width().is_some_and(|width| i64::try_from(at.div_ceil(width)).is_ok_and(|at| self.rest < at))
            && self.lengths.iter().any(is_its)
            && Value::any(&ty.fields[*at].1) == *simplest
    }

    /// Does the knowledge exclude the condition?
    fn excludes(&self, condition: &Term) -> bool {
        let longer = |term: &Term, number: i64| {
            *term == *self.length && number >= self.most
                || self.lengths.contains(&term) && number >= self.rest
        };
        match condition.node() {
            Node::Compare(Comparison::Greater, a, b) => {
                as_small_integer(b).is_some_and(|number| longer(a, number))
            }
            Node::Compare(Comparison::Equal, a, b) => {
                as_small_integer(b).is_some_and(|number| longer(a, number - 1))
            }
            _ => false,
        }
    }
}

/// The number to which the condition says that the term is equal.
fn is_number(condition: &Term, term: &Term) -> Option<i64> {
    match condition.node() {
        Node::Compare(Comparison::Equal, a, b) if a == term => as_small_integer(b),
        _ => None,
    }
}

/// Splits a sum of lengths of lists and a number. Adds the lengths, and returns the number.
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

/// Splits a length into the condition that there is a list, if there is one, and the length under it.
pub(crate) fn length_where(length: &Term) -> (Option<&Term>, &Term) {
    match length.node() {
        Node::IfThenElse(on, length, none) if none.as_literal().is_some_and(|none| sign(none) < 0) => {
            (Some(on), length)
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
    match term.as_literal() {
        Some(Value::Int(value)) => i64::try_from(value).ok(),
        _ => None,
    }
}
