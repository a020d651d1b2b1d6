//! Lowers operations on lists to terms over a length and slots ([`crate::forms`]).
//!
//! An operation makes the length and each slot of its result anew. If an index or a length is not known now,
//! a slot is a conditional over the possible ones. If an operation has no value, as for an element after the
//! end, the length of its list is made -1, which is no length. So a condition of records says that there is
//! no value, and no new kind of term is needed. For this reason `q[i]` is the element of a list of one.

use std::sync::Arc;

use crate::term::canonical;
use crate::term::node::{Comparison, Node, Operator, StringOperation};
use crate::term::total::fits_field;
use crate::term::{Term, keyed};
use crate::types::{RecordType, Type};
use crate::value::Value;

/// The parts of a list, or of a set or a map with a bound, with the condition that it is one.
pub(super) struct Parts {
    pub(super) ty: Arc<RecordType>,
    pub(super) length: Term,
    pub(super) slots: Vec<Term>,
    pub(super) condition: Term,
}

impl Parts {
    /// Takes a list apart. If the term makes the list, these are the parts that it is made of, so that terms
    /// built from them stay small.
    pub(super) fn of(list: &Term) -> Self {
        Parts::take_apart(list, false)
    }

    /// Takes a list apart whose parts all get places in the result. So parts without a value, or outside of
    /// the element type, need no condition here: the result asks for them.
    fn of_placed(list: &Term) -> Self {
        Parts::take_apart(list, true)
    }

    fn take_apart(list: &Term, is_placed: bool) -> Self {
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

    /// The slot of this number, from 0. It is the simplest element if there are not so many slots.
    fn slot(&self, at: usize) -> Term {
        self.slots.get(at).cloned().unwrap_or_else(|| Term::literal(Value::any(self.ty.element_type())))
    }

    /// The condition that the list has an element of this number.
    pub(super) fn is_longer(&self, at: usize) -> Term {
        Term::compare(Comparison::Greater, &self.length, &Term::int(at))
    }

    /// The condition that there is an element at the index.
    fn is_there(&self, index: &Term) -> Term {
        let behind = Term::compare(Comparison::Less, index, &self.length);
        Term::and([self.condition.clone(), at_most(&Term::int(0), index), behind])
    }

    /// Makes a list of the same type. If the condition does not hold, it has no value.
    fn like(&self, condition: &Term, length: &Term, slot: impl FnMut(usize) -> Term) -> Term {
        list_of(&self.ty, condition, length, slot)
    }
}

/// Makes the list of this length and these slots. If the condition does not hold, it has no value.
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

/// The condition that the length is this number. A number that is added to the length moves to the other
/// side.
fn is_length(length: &Term, number: usize) -> Term {
    match length.node() {
        Node::Arithmetic(Operator::Add, a, b) if b.as_literal().is_some() => {
            Term::equal(a, &Term::subtract(&Term::int(number), b))
        }
        _ => is_number(length, number),
    }
}

/// Chooses by the index among the numbers below `count`. Any other index chooses the last one.
fn choose_by_index(index: &Term, count: usize, chosen: impl Fn(usize) -> Term) -> Term {
    let last = chosen(count - 1);
    (0..count - 1).rfold(last, |rest, at| Term::if_then_else(&is_number(index, at), &chosen(at), &rest))
}

pub(super) fn element_at(list: &Term, index: &Term) -> Term {
    let list = Parts::of(list);
    let chosen = choose_by_index(index, list.slots.len(), |at| list.slot(at));
    where_it_holds(&list.is_there(index), &chosen, list.ty.element_type())
}

/// Makes a term of this type that has a value only if the condition holds: the element of a list of one.
pub(super) fn where_it_holds(condition: &Term, term: &Term, ty: &Type) -> Term {
    if condition.is_true() {
        return term.clone();
    }
    let one = Arc::new(RecordType::list(1, ty));
    Term::field(&list_of(&one, condition, &Term::int(1), |_| term.clone()), 1)
}

/// The condition and the term from which [`where_it_holds`] made this term.
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

pub(super) fn with_element(list: &Term, index: &Term, new: &Term) -> Term {
    let list = Parts::of(list);
    list.like(&list.is_there(index), &list.length, |at| {
        let is_here = Term::and([list.is_longer(at), is_number(index, at)]);
        Term::if_then_else(&is_here, new, &list.slot(at))
    })
}

/// `q[i..]`, or `q[i..j]`
pub(super) fn slice_of_list(list: &Term, from: &Term, to: Option<&Term>) -> Term {
    let list = Parts::of(list);
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
        let chosen = choose_by_index(from, most + 1 - at, |from| list.slot(at + from));
        Term::if_then_else(&inside, &chosen, &list.slot(most))
    })
}

pub(super) fn join_lists(left: &Term, right: &Term) -> Term {
    let (a, b) = (Parts::of_placed(left), Parts::of_placed(right));
    let most_of_b = match b.length.as_literal() {
        Some(Value::Int(count)) => usize::try_from(count).unwrap_or(0),
        _ => b.slots.len(),
    };
    let both = Term::and([a.condition.clone(), b.condition.clone()]);
    let length = Term::add(&a.length, &b.length);
    // If the length is no sum, the blank slots after the end would not be seen to be blank.
    let is_sum = canonical::is_sum(&length);
    a.like(&both, &length, |at| {
        let behind = (0..most_of_b.min(at + 1)).map(|of_b| (at - of_b, b.slot(of_b)));
        let chosen = behind.fold(a.slot(at), |rest, (count, element)| {
            Term::if_then_else(&is_length(&a.length, count), &element, &rest)
        });
        if is_sum { chosen } else { blank_after_end(&a.ty, &length, at, &chosen) }
    })
}

/// `insert(q, i, e)`
pub(super) fn insert_element(list: &Term, index: &Term, new: &Term) -> Term {
    let list = Parts::of(list);
    let is_there =
        Term::and([list.condition.clone(), at_most(&Term::int(0), index), at_most(index, &list.length)]);
    let length = Term::add(&list.length, &Term::int(1));
    list.like(&is_there, &length, |at| {
        let before = if at == 0 { list.slot(0) } else { list.slot(at - 1) };
        let here = Term::if_then_else(&is_number(index, at), new, &before);
        let is_in_front = Term::compare(Comparison::Greater, index, &Term::int(at));
        let chosen = Term::if_then_else(&is_in_front, &list.slot(at), &here);
        blank_after_end(&list.ty, &length, at, &chosen)
    })
}

/// `remove_at(q, i)`
pub(super) fn remove_element(list: &Term, index: &Term) -> Term {
    let list = Parts::of(list);
    let length = Term::subtract(&list.length, &Term::int(1));
    list.like(&list.is_there(index), &length, |at| {
        let is_in_front = Term::compare(Comparison::Greater, index, &Term::int(at));
        let chosen = Term::if_then_else(&is_in_front, &list.slot(at), &list.slot(at + 1));
        blank_after_end(&list.ty, &length, at, &chosen)
    })
}

/// The slot of this number, from 0: `chosen` if a list of this length has it, otherwise blank.
pub(super) fn blank_after_end(ty: &Arc<RecordType>, length: &Term, at: usize, chosen: &Term) -> Term {
    let nothing = Term::literal(Value::any(&ty.fields[at + 1].1));
    let place = at / ty.width().unwrap_or(1);
    Term::if_then_else(&Term::compare(Comparison::Greater, length, &Term::int(place)), chosen, &nothing)
}

/// For each condition, and for the end, how many of the conditions before it hold.
pub(super) fn rank_conditions(conditions: &[Term]) -> Vec<Term> {
    let ones: Vec<Term> = conditions.iter().map(as_number).collect();
    (0..=ones.len()).map(|end| balanced_sum(&ones[..end])).collect()
}

fn as_number(condition: &Term) -> Term {
    Term::if_then_else(condition, &Term::int(1), &Term::int(0))
}

/// Chooses the candidate at this place. Each candidate has the condition that it is taken, its place, and its
/// term. The caller knows that there is one at this place.
pub(super) fn choose_placed<'a>(
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

/// Makes the list of the elements that are taken, in order. Each has the condition that it is taken.
pub(super) fn collect_taken(ty: &Arc<RecordType>, from: &[(Term, Term)]) -> Term {
    let (taken, elements): (Vec<Term>, Vec<Term>) = from.iter().cloned().unzip();
    // All taken elements are evaluated, although a slot may need no more than one.
    let have_values =
        from.iter().map(|(is_taken, element)| Term::implies(is_taken, &keyed::has_value(element)));
    let condition = Term::and(have_values);
    let ranks = rank_conditions(&taken);
    let length = ranks[taken.len()].clone();
    list_of(ty, &condition, &length, |at| {
        let candidates = (at..taken.len()).map(|from| (&taken[from], &ranks[from], &elements[from]));
        choose_placed(at, candidates).map_or_else(
            || Term::literal(Value::any(&ty.fields[at + 1].1)),
            |chosen| blank_after_end(ty, &length, at, &chosen),
        )
    })
}

/// `sort_list(q)`: its place is the number of elements that are less, or equal and before it.
pub(super) fn sort_list(list: &Term) -> Term {
    let list = Parts::of(list);
    let exists: Vec<Term> = (0..list.slots.len()).map(|at| list.is_longer(at)).collect();
    let is_before = |one: usize, other: usize| {
        let (first, second) = (one.min(other), one.max(other));
        let in_order = at_most(&list.slots[first], &list.slots[second]);
        let is_it = if one < other { in_order } else { in_order.not() };
        Term::and([exists[one].clone(), is_it])
    };
    let rank = |at: usize| {
        let others = (0..list.slots.len()).filter(|other| *other != at);
        balanced_sum(&others.map(|other| as_number(&is_before(other, at))).collect::<Vec<Term>>())
    };
    let ranks: Vec<Term> = (0..list.slots.len()).map(rank).collect();
    list.like(&list.condition, &list.length, |at| {
        let candidates = (0..ranks.len()).map(|from| (&exists[from], &ranks[from], &list.slots[from]));
        let chosen = choose_placed(at, candidates).unwrap_or_else(|| list.slot(at));
        blank_after_end(&list.ty, &list.length, at, &chosen)
    })
}

/// `sum_list(q)`
pub(super) fn sum_list(list: &Term) -> Term {
    let list = Parts::of(list);
    let ty = list.ty.element_type().sort();
    let zero = Term::literal(Value::any(&ty));
    let one = |at: usize| Term::if_then_else(&list.is_longer(at), &list.slots[at], &zero);
    let sum = list.slots.iter().enumerate().map(|(at, _)| one(at)).collect::<Vec<Term>>();
    where_it_holds(&list.condition, &combine_balanced(&sum, &Term::add), &ty)
}

/// `min(q)`, or `max(q)` with the comparison `>`.
pub(super) fn extreme_element(list: &Term, better: Comparison) -> Term {
    let list = Parts::of(list);
    let ty = list.ty.element_type().sort();
    let numbered: Vec<(usize, Term)> = list.slots.iter().cloned().enumerate().collect();
    // An element exists only if all elements before it exist.
    let (_, chosen) = combine_balanced(&numbered, &|(at, a): &(usize, Term), (from, b): &(usize, Term)| {
        let is_better = Term::and([list.is_longer(*from), Term::compare(better, b, a)]);
        (*at, Term::if_then_else(&is_better, b, a))
    });
    where_it_holds(&Term::and([list.condition.clone(), list.is_longer(0)]), &chosen, &ty)
}

/// `join(q, s)`
pub(super) fn join_strings(list: &Term, separator: &Term) -> Term {
    let list = Parts::of(list);
    let joined = |a: &Term, b: &Term| Term::on_strings(StringOperation::Concatenate, &[a.clone(), b.clone()]);
    let empty = Term::literal(Value::string(""));
    let one = |(at, slot): (usize, &Term)| match at {
        0 => Term::if_then_else(&list.is_longer(0), slot, &empty),
        _ => Term::if_then_else(&list.is_longer(at), &joined(separator, slot), &empty),
    };
    let parts: Vec<Term> = list.slots.iter().enumerate().map(one).collect();
    let has_value = if separator.is_total() { Term::yes() } else { Term::equal(separator, separator) };
    let condition = Term::and([list.condition.clone(), has_value]);
    where_it_holds(&condition, &combine_balanced(&parts, &joined), &Type::String)
}

/// The condition that the element of this number is there, and is this one.
fn is_at(list: &Term, at: usize, element: &Term) -> Term {
    let is_longer = Term::compare(Comparison::Greater, &Term::field(list, 0), &Term::int(at));
    Term::and([is_longer, Term::equal(&Term::field(list, at + 1), element)])
}

fn most_of(list: &Term) -> usize {
    list.sort().as_list().map_or(0, |(_, most, _)| most)
}

pub(super) fn contains_element(list: &Term, element: &Term) -> Term {
    Term::or((0..most_of(list)).map(|at| is_at(list, at, element)))
}

pub(super) fn index_of(list: &Term, element: &Term) -> Term {
    (0..most_of(list))
        .rfold(Term::int(-1), |rest, at| Term::if_then_else(&is_at(list, at, element), &Term::int(at), &rest))
}

/// The sum as a balanced tree, whose height is the logarithm of its length.
pub(super) fn balanced_sum(terms: &[Term]) -> Term {
    if terms.is_empty() { Term::int(0) } else { combine_balanced(terms, &Term::add) }
}

/// Combines one or more parts in a balanced tree.
fn combine_balanced<T: Clone>(parts: &[T], both: &dyn Fn(&T, &T) -> T) -> T {
    match parts {
        [one] => one.clone(),
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            both(&combine_balanced(left, both), &combine_balanced(right, both))
        }
    }
}
