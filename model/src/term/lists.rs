//! Lowers operations on lists to terms over a length and slots ([`crate::forms`]). Field 0 of a list is its
//! length, and slot n is field n + 1.
//!
//! An operation makes the length and each slot of its result anew. If it does not know an index or a length,
//! a slot is a conditional over the possible ones. Where the operation has no value, its list gets the length
//! -1. No list has this length, so the record has no value. For this reason `q[i]` is the element of a list
//! of one, and no new kind of term is needed.

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

    /// Takes a list apart. `is_placed` says that all parts get places in the result (`of_placed`).
    fn take_apart(list: &Term, is_placed: bool) -> Self {
        let Type::Record(ty) = list.sort() else { unreachable!("{list} is not a list") };
        let most = ty.most().unwrap_or(0);
        let is_element = |(slot, (_, ty)): (&Term, &(String, Type))| slot.is_total() && fits_field(slot, ty);
        if let Node::Record(ty, fields) = list.node()
            && canonical::is_always_canonical(ty, fields)
            && (is_placed || fields.iter().zip(&ty.fields).skip(1).all(is_element))
        {
            // The term makes a list only if the length is possible. Bounds that certainly hold are not asked.
            let (condition, length) = canonical::length_where(&fields[0]);
            let low = (!canonical::is_not_negative(length)).then(|| at_most(&Term::int(0), length));
            let has_bound = is_placed || fits_field(length, &ty.fields[0].1);
            let high = (!has_bound).then(|| at_most(length, &Term::int(most)));
            let condition = Term::and(condition.cloned().into_iter().chain(low).chain(high));
            return Parts { ty: ty.clone(), length: length.clone(), slots: fields[1..].to_vec(), condition };
        }
        let slots = (1..ty.fields.len()).map(|field| Term::field(list, field)).collect();
        Parts { ty: ty.clone(), length: Term::field(list, 0), slots, condition: Term::yes() }
    }

    /// The slot of this number, from 0. It is the simplest element if there are not so many slots.
    fn slot(&self, number: usize) -> Term {
        self.slots.get(number).cloned().unwrap_or_else(|| Term::literal(Value::any(self.ty.element_type())))
    }

    /// The condition that the list has an element of this number.
    pub(super) fn is_longer(&self, number: usize) -> Term {
        Term::compare(Comparison::Greater, &self.length, &Term::int(number))
    }

    /// The condition that there is an element at the index.
    fn has_index(&self, index: &Term) -> Term {
        let is_before_end = Term::compare(Comparison::Less, index, &self.length);
        Term::and([self.condition.clone(), at_most(&Term::int(0), index), is_before_end])
    }

    /// Makes a list of the same type, with slots by `slot`. If the condition does not hold, it has no value.
    fn like(&self, condition: &Term, length: &Term, slot: impl FnMut(usize) -> Term) -> Term {
        list_of(&self.ty, condition, length, slot)
    }
}

/// Makes the list of this length, whose slots `slot` makes. If the condition does not hold, it has no value.
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
/// side, where `canonical` finds it.
fn is_length(length: &Term, number: usize) -> Term {
    match length.node() {
        Node::Arithmetic(Operator::Add, a, b) if b.as_literal().is_some() => {
            Term::equal(a, &Term::subtract(&Term::int(number), b))
        }
        _ => is_number(length, number),
    }
}

/// Makes what is `chosen` by the index, a number below `count`. Any other index chooses the last one.
fn choose_by_index(index: &Term, count: usize, chosen: impl Fn(usize) -> Term) -> Term {
    let last = chosen(count - 1);
    (0..count - 1).rfold(last, |otherwise, number| {
        Term::if_then_else(&is_number(index, number), &chosen(number), &otherwise)
    })
}

/// Makes `q[i]`.
pub(super) fn element_at(list: &Term, index: &Term) -> Term {
    let list = Parts::of(list);
    let chosen = choose_by_index(index, list.slots.len(), |number| list.slot(number));
    restrict(&list.has_index(index), &chosen, list.ty.element_type())
}

/// Makes a term of this type that has a value only if the condition holds: the element of a list of one.
pub(super) fn restrict(condition: &Term, term: &Term, ty: &Type) -> Term {
    if condition.is_true() {
        return term.clone();
    }
    let list_of_one = Arc::new(RecordType::list(1, ty));
    Term::field(&list_of(&list_of_one, condition, &Term::int(1), |_| term.clone()), 1)
}

/// The condition and the term from which [`restrict`] made this term. `None` for other terms.
pub(super) fn as_restricted(term: &Term) -> Option<(&Term, &Term)> {
    let Node::Field(list, 1) = term.node() else { return None };
    let (Node::Record(_, fields), Some((_, 1, _))) = (list.node(), list.sort().as_list()) else {
        return None;
    };
    match canonical::length_where(&fields[0]) {
        (Some(condition), length) if is_number(length, 1).is_true() => Some((condition, &fields[1])),
        _ => None,
    }
}

/// Makes `q[i := e]`.
pub(super) fn with_element(list: &Term, index: &Term, new: &Term) -> Term {
    let list = Parts::of(list);
    list.like(&list.has_index(index), &list.length, |slot| {
        // The first condition keeps slots after the end blank.
        let is_changed = Term::and([list.is_longer(slot), is_number(index, slot)]);
        Term::if_then_else(&is_changed, new, &list.slot(slot))
    })
}

/// Makes `q[i..]`, or `q[i..j]`. It has a value if `0 <= i <= j`, and `j` is at most the length.
pub(super) fn slice_of_list(list: &Term, from: &Term, to: Option<&Term>) -> Term {
    let list = Parts::of(list);
    let most = list.slots.len();
    let end = to.unwrap_or(&list.length);
    let count = Term::subtract(end, from);
    // A known start only moves the slots. After the end it makes the length negative, which no list has.
    let known_start = match from.as_literal() {
        Some(Value::Int(from)) => usize::try_from(from).ok(),
        _ => None,
    };
    if let (Some(start), None) = (known_start, to) {
        return list.like(&list.condition, &count, |slot| list.slot(slot.saturating_add(start)));
    }
    let is_in_list = [at_most(&Term::int(0), from), at_most(from, end), at_most(end, &list.length)];
    let has_value = Term::and([list.condition.clone()].into_iter().chain(is_in_list));
    // This slot does not exist, so it is the simplest element.
    let missing = list.slot(most);
    list.like(&has_value, &count, |slot| {
        let is_in_slice = Term::compare(Comparison::Greater, &count, &Term::int(slot));
        // For every later start, the last choice is taken: slot `most`, which is missing.
        let chosen = choose_by_index(from, most + 1 - slot, |start| list.slot(slot + start));
        Term::if_then_else(&is_in_slice, &chosen, &missing)
    })
}

/// Makes `q + r`.
pub(super) fn join_lists(first: &Term, second: &Term) -> Term {
    let (a, b) = (Parts::of_placed(first), Parts::of_placed(second));
    let most_of_b = match b.length.as_literal() {
        Some(Value::Int(count)) => usize::try_from(count).unwrap_or(0),
        _ => b.slots.len(),
    };
    let both = Term::and([a.condition.clone(), b.condition.clone()]);
    let length = Term::add(&a.length, &b.length);
    // If the length is no sum, the blank slots after the end would not be seen to be blank.
    let is_sum = canonical::is_sum(&length);
    a.like(&both, &length, |slot| {
        // Slot n of `b` gets this place if the length of `a` is `slot - n`. Otherwise the slot of `a` stays.
        let chosen = (0..most_of_b.min(slot + 1)).fold(a.slot(slot), |otherwise, slot_of_b| {
            let is_its_place = is_length(&a.length, slot - slot_of_b);
            Term::if_then_else(&is_its_place, &b.slot(slot_of_b), &otherwise)
        });
        if is_sum { chosen } else { blank_after_end(&a.ty, &length, slot, &chosen) }
    })
}

/// Makes `insert(q, i, e)`.
pub(super) fn insert_element(list: &Term, index: &Term, new: &Term) -> Term {
    let list = Parts::of(list);
    // An index at the end is allowed: it appends.
    let is_in_list = [at_most(&Term::int(0), index), at_most(index, &list.length)];
    let has_value = Term::and([list.condition.clone()].into_iter().chain(is_in_list));
    let length = Term::add(&list.length, &Term::int(1));
    list.like(&has_value, &length, |slot| {
        let moved = list.slot(slot.saturating_sub(1));
        let new_or_moved = Term::if_then_else(&is_number(index, slot), new, &moved);
        let is_before_index = Term::compare(Comparison::Greater, index, &Term::int(slot));
        let chosen = Term::if_then_else(&is_before_index, &list.slot(slot), &new_or_moved);
        blank_after_end(&list.ty, &length, slot, &chosen)
    })
}

/// Makes `remove_at(q, i)`.
pub(super) fn remove_element(list: &Term, index: &Term) -> Term {
    let list = Parts::of(list);
    let length = Term::subtract(&list.length, &Term::int(1));
    list.like(&list.has_index(index), &length, |slot| {
        let is_before_index = Term::compare(Comparison::Greater, index, &Term::int(slot));
        let chosen = Term::if_then_else(&is_before_index, &list.slot(slot), &list.slot(slot + 1));
        blank_after_end(&list.ty, &length, slot, &chosen)
    })
}

/// The slot of this number, from 0: `chosen` if a list of this length has it, otherwise blank.
pub(super) fn blank_after_end(ty: &Arc<RecordType>, length: &Term, slot: usize, chosen: &Term) -> Term {
    let blank = Term::literal(Value::any(&ty.fields[slot + 1].1));
    // In a map, a key and its value are one entry.
    let entry = slot / ty.width().unwrap_or(1);
    Term::if_then_else(&Term::compare(Comparison::Greater, length, &Term::int(entry)), chosen, &blank)
}

/// For each condition, and for the end, how many of the conditions before it hold.
pub(super) fn rank_conditions(conditions: &[Term]) -> Vec<Term> {
    let numbers: Vec<Term> = conditions.iter().map(as_number).collect();
    (0..=numbers.len()).map(|end| balanced_sum(&numbers[..end])).collect()
}

/// 1 if the condition holds, otherwise 0.
fn as_number(condition: &Term) -> Term {
    Term::if_then_else(condition, &Term::int(1), &Term::int(0))
}

/// How many of the conditions hold.
pub(super) fn count_conditions(conditions: impl IntoIterator<Item = Term>) -> Term {
    balanced_sum(&conditions.into_iter().map(|condition| as_number(&condition)).collect::<Vec<Term>>())
}

/// Chooses the candidate at this place. Each candidate has the condition that it is taken, its place, and its
/// term. The caller knows that there is one at this place. `None` if there is no candidate.
pub(super) fn choose_placed<'a>(
    place: usize,
    candidates: impl DoubleEndedIterator<Item = (&'a Term, &'a Term, &'a Term)>,
) -> Option<Term> {
    candidates.rev().fold(None, |otherwise, (is_taken, rank, term)| match otherwise {
        // The last candidate needs no condition: it is the one if no other is.
        None => Some(term.clone()),
        Some(otherwise) => {
            let is_placed = Term::and([is_taken.clone(), is_number(rank, place)]);
            Some(Term::if_then_else(&is_placed, term, &otherwise))
        }
    })
}

/// Makes the list of the elements that are taken, in order. Each has the condition that it is taken.
pub(super) fn collect_taken(ty: &Arc<RecordType>, candidates: &[(Term, Term)]) -> Term {
    let (taken, elements): (Vec<Term>, Vec<Term>) = candidates.iter().cloned().unzip();
    // All taken elements are evaluated, although a slot may need no more than one.
    let has_value_if_taken =
        |(is_taken, element): &(Term, Term)| Term::implies(is_taken, &keyed::has_value(element));
    let condition = Term::and(candidates.iter().map(has_value_if_taken));
    let ranks = rank_conditions(&taken);
    let length = ranks[taken.len()].clone();
    list_of(ty, &condition, &length, |slot| {
        // Earlier elements cannot get this slot: too few are before them.
        let placed = (slot..taken.len()).map(|number| (&taken[number], &ranks[number], &elements[number]));
        let blank = || Term::literal(Value::any(&ty.fields[slot + 1].1));
        choose_placed(slot, placed).map_or_else(blank, |chosen| blank_after_end(ty, &length, slot, &chosen))
    })
}

/// `sorted(q)`: the place of an element is the number of elements that are less, or equal and before it.
pub(super) fn sort_list(list: &Term) -> Term {
    let list = Parts::of(list);
    let exists: Vec<Term> = (0..list.slots.len()).map(|slot| list.is_longer(slot)).collect();
    let precedes = |a: usize, b: usize| {
        // Equal elements keep their order.
        let is_before = match a < b {
            true => at_most(&list.slots[a], &list.slots[b]),
            false => at_most(&list.slots[b], &list.slots[a]).not(),
        };
        Term::and([exists[a].clone(), is_before])
    };
    let rank = |slot: usize| {
        let others = (0..list.slots.len()).filter(|other| *other != slot);
        count_conditions(others.map(|other| precedes(other, slot)))
    };
    let ranks: Vec<Term> = (0..list.slots.len()).map(rank).collect();
    list.like(&list.condition, &list.length, |place| {
        let candidates = (0..ranks.len()).map(|slot| (&exists[slot], &ranks[slot], &list.slots[slot]));
        let chosen = choose_placed(place, candidates).unwrap_or_else(|| list.slot(place));
        blank_after_end(&list.ty, &list.length, place, &chosen)
    })
}

/// Makes `sum(q)`.
pub(super) fn sum_list(list: &Term) -> Term {
    let list = Parts::of(list);
    let ty = list.ty.element_type().sort();
    let zero = Term::literal(Value::any(&ty));
    let summand = |(number, slot): (usize, &Term)| Term::if_then_else(&list.is_longer(number), slot, &zero);
    let summands = list.slots.iter().enumerate().map(summand).collect::<Vec<Term>>();
    restrict(&list.condition, &combine_balanced(&summands, &Term::add), &ty)
}

/// Makes `min(q)`, or `max(q)` with the comparison `>`.
pub(super) fn extreme_element(list: &Term, better: Comparison) -> Term {
    let list = Parts::of(list);
    let ty = list.ty.element_type().sort();
    let numbered: Vec<(usize, Term)> = list.slots.iter().cloned().enumerate().collect();
    // Each part is the best of some slots, with the first of their numbers. If that slot does not exist, no
    // later one does.
    let choose_better = |(first_a, a): &(usize, Term), (first_b, b): &(usize, Term)| {
        let is_better = Term::and([list.is_longer(*first_b), Term::compare(better, b, a)]);
        (*first_a, Term::if_then_else(&is_better, b, a))
    };
    let (_, chosen) = combine_balanced(&numbered, &choose_better);
    restrict(&Term::and([list.condition.clone(), list.is_longer(0)]), &chosen, &ty)
}

/// Makes `join(q, s)`.
pub(super) fn join_strings(list: &Term, separator: &Term) -> Term {
    let list = Parts::of(list);
    let join = |a: &Term, b: &Term| Term::on_strings(StringOperation::Concatenate, &[a.clone(), b.clone()]);
    let empty = Term::literal(Value::string(""));
    let part = |(number, slot): (usize, &Term)| {
        let with_separator = if number == 0 { slot.clone() } else { join(separator, slot) };
        Term::if_then_else(&list.is_longer(number), &with_separator, &empty)
    };
    let parts: Vec<Term> = list.slots.iter().enumerate().map(part).collect();
    // The separator is evaluated even if no element needs it.
    let condition = Term::and([list.condition.clone(), keyed::has_value(separator)]);
    restrict(&condition, &combine_balanced(&parts, &join), &Type::String)
}

/// The condition that the element of this number exists, and equals `element`.
fn is_at(list: &Term, number: usize, element: &Term) -> Term {
    let is_longer = Term::compare(Comparison::Greater, &Term::field(list, 0), &Term::int(number));
    Term::and([is_longer, Term::equal(&Term::field(list, number + 1), element)])
}

fn most_of(list: &Term) -> usize {
    list.sort().as_list().map_or(0, |(_, most, _)| most)
}

pub(super) fn contains_element(list: &Term, element: &Term) -> Term {
    Term::or((0..most_of(list)).map(|number| is_at(list, number, element)))
}

pub(super) fn index_of(list: &Term, element: &Term) -> Term {
    (0..most_of(list)).rfold(Term::int(-1), |otherwise, number| {
        Term::if_then_else(&is_at(list, number, element), &Term::int(number), &otherwise)
    })
}

/// The sum as a balanced tree, whose height is the logarithm of its length.
pub(super) fn balanced_sum(terms: &[Term]) -> Term {
    if terms.is_empty() { Term::int(0) } else { combine_balanced(terms, &Term::add) }
}

/// Combines one or more parts in a balanced tree.
fn combine_balanced<T: Clone>(parts: &[T], combine: &dyn Fn(&T, &T) -> T) -> T {
    if let [part] = parts {
        return part.clone();
    }
    let (first, second) = parts.split_at(parts.len() / 2);
    combine(&combine_balanced(first, combine), &combine_balanced(second, combine))
}
