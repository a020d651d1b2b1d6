//! Lowers operations on lists to terms over a length and slots ([`crate::forms`]).
//!
//! An operation makes the length and each slot of its result anew. At an index, or of a length, that is not
//! known now, a slot is a case for each that it may be. Where an operation has no value, such as an element
//! after the end, the length of a list is made -1, which is none. So a condition of records says so, and
//! there is no new kind of term. `q[i]` is therefore the element of a list of one.

use std::sync::Arc;

use crate::term::canonical;
use crate::term::node::{Comparison, Node, Operator, StringOperation};
use crate::term::total::fits_field;
use crate::term::{Term, keyed};
use crate::types::{RecordType, Type};
use crate::value::Value;

/// A list as its parts, or a set or a map with a bound, with the condition that it is one.
pub(super) struct Parts {
    pub(super) ty: Arc<RecordType>,
    pub(super) length: Term,
    pub(super) slots: Vec<Term>,
    pub(super) condition: Term,
}

impl Parts {
    /// Of a list that is made here, the parts that it is made of; so what is made of it is no larger than it
    /// must be. They may have no value, and be no elements, only where all of them have places in a whole.
    pub(super) fn of(list: &Term, is_placed: bool) -> Self {
        let Type::Record(ty) = list.sort() else { unreachable!("{list} is not a list") };
        let most = ty.most().unwrap_or(0);
        let is_element = |(slot, (_, of)): (&Term, &(String, Type))| slot.is_total() && fits_field(slot, of);
        if let Node::Record(ty, fields) = list.node()
            && canonical::is_always_canonical(ty, fields)
            && (is_placed || fields.iter().zip(&ty.fields).skip(1).all(is_element))
        {
            let (condition, length) = canonical::length_where(&fields[0]);
            let is_known = canonical::is_not_negative(length);
            let low = if is_known { Term::yes() } else { at_most(&Term::int(0), length) };
            let is_known = is_placed || fits_field(length, &ty.fields[0].1);
            let high = if is_known { Term::yes() } else { at_most(length, &Term::int(most)) };
            let condition = Term::and(condition.cloned().into_iter().chain([low, high]));
            return Parts { ty: ty.clone(), length: length.clone(), slots: fields[1..].to_vec(), condition };
        }
        let slots = (1..ty.fields.len()).map(|at| Term::field(list, at)).collect();
        Parts { ty: ty.clone(), length: Term::field(list, 0), slots, condition: Term::yes() }
    }

    /// The slot of this number, from 0; the simplest element where there are not so many.
    fn slot(&self, at: usize) -> Term {
        self.slots.get(at).cloned().unwrap_or_else(|| Term::literal(Value::any(&self.ty.fields[1].1)))
    }

    /// Has the list an element of this number?
    pub(super) fn is_longer(&self, at: usize) -> Term {
        Term::compare(Comparison::Greater, &self.length, &Term::int(at))
    }

    /// Is there an element at the index?
    fn is_there(&self, index: &Term) -> Term {
        let behind = Term::compare(Comparison::Less, index, &self.length);
        Term::and([self.condition.clone(), at_most(&Term::int(0), index), behind])
    }

    /// A list of the same type, where the condition holds; else there is no list.
    fn like(&self, condition: &Term, length: &Term, slot: impl FnMut(usize) -> Term) -> Term {
        list_of(&self.ty, condition, length, slot)
    }
}

pub(super) fn list_of(
    ty: &Arc<RecordType>,
    condition: &Term,
    length: &Term,
    slot: impl FnMut(usize) -> Term,
) -> Term {
    let length = Term::if_then_else(condition, length, &Term::int(-1));
    Term::record(ty, std::iter::once(length).chain((0..ty.fields.len() - 1).map(slot)))
}

fn at_most(a: &Term, b: &Term) -> Term {
    Term::compare(Comparison::AtMost, a, b)
}

fn is_number(term: &Term, number: usize) -> Term {
    Term::equal(term, &Term::int(number))
}

/// Is the length this number? What is added to it is taken to the other side.
fn is_length(length: &Term, number: usize) -> Term {
    match length.node() {
        Node::Arithmetic(Operator::Add, a, b) if b.as_literal().is_some() => {
            Term::equal(a, &Term::subtract(&Term::int(number), b))
        }
        _ => is_number(length, number),
    }
}

/// What is chosen where the index is each of these numbers, the last where it is none.
fn by_index(index: &Term, count: usize, chosen: impl Fn(usize) -> Term) -> Term {
    let last = chosen(count - 1);
    (0..count - 1).rfold(last, |rest, at| Term::if_then_else(&is_number(index, at), &chosen(at), &rest))
}

pub(super) fn element(list: &Term, index: &Term) -> Term {
    let list = Parts::of(list, false);
    let chosen = by_index(index, list.slots.len(), |at| list.slot(at));
    where_it_holds(&list.is_there(index), &chosen, &list.ty.fields[1].1)
}

/// The term, of this type, which has a value only where the condition holds: the element of a list of one.
pub(super) fn where_it_holds(condition: &Term, term: &Term, ty: &Type) -> Term {
    if condition.is_true() {
        return term.clone();
    }
    let one = Arc::new(RecordType::list(1, ty));
    Term::field(&list_of(&one, condition, &Term::int(1), |_| term.clone()), 1)
}

/// The condition and the term of what [`where_it_holds`] made.
pub(super) fn as_where_it_holds(term: &Term) -> Option<(&Term, &Term)> {
    let Node::Field(list, 1) = term.node() else { return None };
    let (Node::Record(_, fields), Some((_, 1, _))) = (list.node(), list.sort().as_list()) else {
        return None;
    };
    match canonical::length_where(&fields[0]) {
        (Some(condition), length) if is_number(length, 1).is_true() => Some((condition, &fields[1])),
        _ => None,
    }
}

pub(super) fn changed(list: &Term, index: &Term, new: &Term) -> Term {
    let list = Parts::of(list, false);
    list.like(&list.is_there(index), &list.length, |at| {
        let is_here = Term::and([list.is_longer(at), is_number(index, at)]);
        Term::if_then_else(&is_here, new, &list.slot(at))
    })
}

/// From an index on, to the end or before another one.
pub(super) fn part(list: &Term, from: &Term, to: Option<&Term>) -> Term {
    let list = Parts::of(list, false);
    let most = list.slots.len();
    let end = to.unwrap_or(&list.length);
    let count = Term::subtract(end, from);
    let known = match from.as_literal() {
        Some(Value::Int(from)) => usize::try_from(from).ok(),
        _ => None,
    };
    if let (Some(from), None) = (known, to) {
        return list.like(&list.condition, &count, |at| list.slot(at.saturating_add(from)));
    }
    let is_there = [at_most(&Term::int(0), from), at_most(from, end), at_most(end, &list.length)];
    let is_there = Term::and([list.condition.clone()].into_iter().chain(is_there));
    list.like(&is_there, &count, |at| {
        let inside = Term::compare(Comparison::Greater, &count, &Term::int(at));
        let chosen = by_index(from, most + 1 - at, |from| list.slot(at + from));
        Term::if_then_else(&inside, &chosen, &list.slot(most))
    })
}

pub(super) fn joined(left: &Term, right: &Term) -> Term {
    let (a, b) = (Parts::of(left, true), Parts::of(right, true));
    let most_of_b = match b.length.as_literal() {
        Some(Value::Int(count)) => usize::try_from(count).unwrap_or(0),
        _ => b.slots.len(),
    };
    let both = Term::and([a.condition.clone(), b.condition.clone()]);
    let length = Term::add(&a.length, &b.length);
    // Of other lengths nobody sees what is behind the end.
    let is_sum = canonical::is_sum(&length);
    a.like(&both, &length, |at| {
        let behind = (0..most_of_b.min(at + 1)).map(|of_b| (at - of_b, b.slot(of_b)));
        let chosen = behind.fold(a.slot(at), |rest, (count, element)| {
            Term::if_then_else(&is_length(&a.length, count), &element, &rest)
        });
        if is_sum { chosen } else { inside(&a.ty, &length, at, &chosen) }
    })
}

/// `insert(q, i, e)`
pub(super) fn inserted(list: &Term, index: &Term, new: &Term) -> Term {
    let list = Parts::of(list, false);
    let is_there =
        Term::and([list.condition.clone(), at_most(&Term::int(0), index), at_most(index, &list.length)]);
    let length = Term::add(&list.length, &Term::int(1));
    list.like(&is_there, &length, |at| {
        let before = if at == 0 { list.slot(0) } else { list.slot(at - 1) };
        let here = Term::if_then_else(&is_number(index, at), new, &before);
        let is_in_front = Term::compare(Comparison::Greater, index, &Term::int(at));
        let chosen = Term::if_then_else(&is_in_front, &list.slot(at), &here);
        inside(&list.ty, &length, at, &chosen)
    })
}

/// `remove_at(q, i)`
pub(super) fn removed(list: &Term, index: &Term) -> Term {
    let list = Parts::of(list, false);
    let length = Term::subtract(&list.length, &Term::int(1));
    list.like(&list.is_there(index), &length, |at| {
        let is_in_front = Term::compare(Comparison::Greater, index, &Term::int(at));
        let chosen = Term::if_then_else(&is_in_front, &list.slot(at), &list.slot(at + 1));
        inside(&list.ty, &length, at, &chosen)
    })
}

/// The slot of this number, from 0, where a list of this length has it.
pub(super) fn inside(ty: &Arc<RecordType>, length: &Term, at: usize, chosen: &Term) -> Term {
    let nothing = Term::literal(Value::any(&ty.fields[at + 1].1));
    let place = at / ty.width().unwrap_or(1);
    Term::if_then_else(&Term::compare(Comparison::Greater, length, &Term::int(place)), chosen, &nothing)
}

/// How many of the conditions before each of them hold.
pub(super) fn ranks(conditions: &[Term]) -> Vec<Term> {
    let ones: Vec<Term> = conditions.iter().map(as_number).collect();
    (0..=ones.len()).map(|end| balanced_sum(&ones[..end])).collect()
}

fn as_number(condition: &Term) -> Term {
    Term::if_then_else(condition, &Term::int(1), &Term::int(0))
}

/// Of candidates, each with the condition that it is taken and with its place, the one at this place. The
/// caller knows that there is one.
pub(super) fn placed<'a>(
    place: usize,
    candidates: impl DoubleEndedIterator<Item = (&'a Term, &'a Term, &'a Term)>,
) -> Option<Term> {
    candidates.rev().fold(None, |rest, (is_taken, rank, one)| {
        Some(match rest {
            None => one.clone(),
            Some(rest) => {
                Term::if_then_else(&Term::and([is_taken.clone(), is_number(rank, place)]), one, &rest)
            }
        })
    })
}

/// The list of what is taken of these, in order: each with the condition that it is.
pub(super) fn collected(ty: &Arc<RecordType>, from: &[(Term, Term)]) -> Term {
    let (taken, elements): (Vec<Term>, Vec<Term>) = from.iter().cloned().unzip();
    // All that is taken is evaluated, although a slot may need no more than one.
    let have_values =
        from.iter().map(|(is_taken, element)| Term::implies(is_taken, &keyed::has_value(element)));
    let condition = Term::and(have_values);
    let ranks = ranks(&taken);
    let length = ranks[taken.len()].clone();
    list_of(ty, &condition, &length, |at| {
        let candidates = (at..taken.len()).map(|from| (&taken[from], &ranks[from], &elements[from]));
        placed(at, candidates).map_or_else(
            || Term::literal(Value::any(&ty.fields[at + 1].1)),
            |chosen| inside(ty, &length, at, &chosen),
        )
    })
}

/// `sorted(q)`: the place of an element is how many are less, or equal and in front of it.
pub(super) fn sorted(list: &Term) -> Term {
    let list = Parts::of(list, false);
    let there: Vec<Term> = (0..list.slots.len()).map(|at| list.is_longer(at)).collect();
    let is_before = |one: usize, other: usize| {
        let (first, second) = (one.min(other), one.max(other));
        let in_order = at_most(&list.slots[first], &list.slots[second]);
        let is_it = if one < other { in_order } else { in_order.not() };
        Term::and([there[one].clone(), is_it])
    };
    let rank = |at: usize| {
        let others = (0..list.slots.len()).filter(|other| *other != at);
        balanced_sum(&others.map(|other| as_number(&is_before(other, at))).collect::<Vec<Term>>())
    };
    let ranks: Vec<Term> = (0..list.slots.len()).map(rank).collect();
    list.like(&list.condition, &list.length, |at| {
        let candidates = (0..ranks.len()).map(|from| (&there[from], &ranks[from], &list.slots[from]));
        let chosen = placed(at, candidates).unwrap_or_else(|| list.slot(at));
        inside(&list.ty, &list.length, at, &chosen)
    })
}

/// `sum(q)`
pub(super) fn sum(list: &Term) -> Term {
    let list = Parts::of(list, false);
    let ty = list.ty.fields[1].1.sort();
    let zero = Term::literal(Value::any(&ty));
    let one = |at: usize| Term::if_then_else(&list.is_longer(at), &list.slots[at], &zero);
    let sum = list.slots.iter().enumerate().map(|(at, _)| one(at)).collect::<Vec<Term>>();
    where_it_holds(&list.condition, &balanced(&sum, &Term::add), &ty)
}

/// `min(q)`, or `max(q)` with the comparison `>`.
pub(super) fn extreme(list: &Term, better: Comparison) -> Term {
    let list = Parts::of(list, false);
    let ty = list.ty.fields[1].1.sort();
    let numbered: Vec<(usize, Term)> = list.slots.iter().cloned().enumerate().collect();
    // An element is there only where all in front of it are.
    let (_, chosen) = balanced(&numbered, &|(at, a): &(usize, Term), (from, b): &(usize, Term)| {
        let is_better = Term::and([list.is_longer(*from), Term::compare(better, b, a)]);
        (*at, Term::if_then_else(&is_better, b, a))
    });
    where_it_holds(&Term::and([list.condition.clone(), list.is_longer(0)]), &chosen, &ty)
}

/// `join(q, s)`
pub(super) fn joined_by(list: &Term, separator: &Term) -> Term {
    let list = Parts::of(list, false);
    let joined = |a: &Term, b: &Term| Term::on_strings(StringOperation::Concatenate, &[a.clone(), b.clone()]);
    let empty = Term::literal(Value::string(""));
    let one = |(at, slot): (usize, &Term)| match at {
        0 => Term::if_then_else(&list.is_longer(0), slot, &empty),
        _ => Term::if_then_else(&list.is_longer(at), &joined(separator, slot), &empty),
    };
    let parts: Vec<Term> = list.slots.iter().enumerate().map(one).collect();
    let has_value = if separator.is_total() { Term::yes() } else { Term::equal(separator, separator) };
    let condition = Term::and([list.condition.clone(), has_value]);
    where_it_holds(&condition, &balanced(&parts, &joined), &Type::String)
}

/// Is the element of this number there, and is it this one?
fn is_at(list: &Term, at: usize, element: &Term) -> Term {
    let is_longer = Term::compare(Comparison::Greater, &Term::field(list, 0), &Term::int(at));
    Term::and([is_longer, Term::equal(&Term::field(list, at + 1), element)])
}

fn most_of(list: &Term) -> usize {
    list.sort().as_list().map_or(0, |(_, most, _)| most)
}

pub(super) fn contains(list: &Term, element: &Term) -> Term {
    Term::or((0..most_of(list)).map(|at| is_at(list, at, element)))
}

pub(super) fn index_of(list: &Term, element: &Term) -> Term {
    (0..most_of(list))
        .rfold(Term::int(-1), |rest, at| Term::if_then_else(&is_at(list, at, element), &Term::int(at), &rest))
}

/// The sum, as high as the logarithm of its length.
pub(super) fn balanced_sum(terms: &[Term]) -> Term {
    if terms.is_empty() { Term::int(0) } else { balanced(terms, &Term::add) }
}

/// One of one or more, combined in a tree.
fn balanced<T: Clone>(parts: &[T], both: &dyn Fn(&T, &T) -> T) -> T {
    match parts {
        [one] => one.clone(),
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            both(&balanced(left, both), &balanced(right, both))
        }
    }
}
