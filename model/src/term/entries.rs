//! Sets and maps with a bound: their values, and their lowering to terms over a length and sorted entries
//! ([`crate::forms`]).
//!
//! **Problem.** Keys that are strings, ids or any numbers have no field each. **Method.** The entries ascend
//! by key. To insert an entry, the entries with smaller keys keep their places, the new one follows, and the
//! others move by one. So an operation with one key is linear in the bound. An operation with another set
//! takes its keys in turn if it is a set of a known size. Otherwise an intersection or a difference numbers
//! the entries that stay.
//!
//! **Cost.** The bound for a key, its square for two sets.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::term::definedness::in_type;
use crate::term::lists::{Parts, blank_after_end, choose_placed, list_of, rank_conditions, where_it_holds};
use crate::term::node::Comparison;
use crate::term::operation::StandardOperation;
use crate::term::total::fits_field;
use crate::term::{Term, keyed};
use crate::types::{RecordForm, RecordType, Type};
use crate::value::Value;

/// Computes the value of an operation on a set or a map with a bound, if it has one.
pub(super) fn on_values(
    operation: StandardOperation,
    ty: &Arc<RecordType>,
    fields: &[Value],
    rest: &[Value],
) -> Option<Value> {
    let mut own = own_entries(ty, fields);
    let other = || match rest {
        [Value::Record(ty, fields)] => own_entries(ty, fields),
        _ => BTreeMap::new(),
    };
    match operation {
        StandardOperation::ValueAt => own.remove(&rest[0])?,
        StandardOperation::Size => Some(fields[0].clone()),
        StandardOperation::Keys => {
            let set = Arc::new(ty.set_of_keys()?);
            set.value_at_keys(own.into_keys().map(|key| (key, None)).collect())
        }
        StandardOperation::Subset | StandardOperation::ProperSubset => {
            let other = other();
            let is_proper = operation == StandardOperation::ProperSubset;
            let is_less = !is_proper || own.len() < other.len();
            Some(Value::Bool(is_less && own.keys().all(|key| other.contains_key(key))))
        }
        _ => {
            let other = other();
            match operation {
                StandardOperation::Union => own.extend(other),
                StandardOperation::Intersection => own.retain(|key, _| other.contains_key(key)),
                _ => own.retain(|key, _| !other.contains_key(key)),
            }
            ty.value_at_keys(own)
        }
    }
}

/// Adds a key to a set, or a key and its value to a map. `None` if there is no such set or map.
pub(super) fn with_key(
    ty: &Arc<RecordType>,
    fields: &[Value],
    key: &Value,
    value: Option<&Value>,
) -> Option<Value> {
    let mut all = own_entries(ty, fields);
    all.insert(key.clone(), value.cloned());
    ty.value_at_keys(all).filter(|new| new.is_in(&Type::Record(ty.clone())))
}

fn own_entries(ty: &RecordType, fields: &[Value]) -> BTreeMap<Value, Option<Value>> {
    ty.entries(fields).into_iter().map(|(key, value)| (key, value.cloned())).collect()
}

/// A set or a map by its parts.
struct Table {
    parts: Parts,
    width: usize,
    most: usize,
}

/// Takes a set or a map apart, if it has a bound.
fn as_table(whole: &Term) -> Option<Table> {
    let Type::Record(ty) = whole.sort() else { return None };
    let (width, most) = (ty.width()?, ty.most()?);
    let RecordForm::Entries(..) = ty.form else { return None };
    let mut parts = Parts::of(whole);
    // A term that is not taken apart must be evaluated even if no part of it is needed.
    if !whole.is_total() && parts.condition.is_true() {
        parts.condition = keyed::has_value(whole);
    }
    Some(Table { parts, width, most })
}

impl Table {
    fn key(&self, at: usize) -> &Term {
        &self.parts.slots[at * self.width]
    }

    fn is_there(&self, at: usize, key: &Term) -> Term {
        Term::and([self.parts.is_longer(at), Term::equal(self.key(at), key)])
    }

    fn has(&self, key: &Term) -> Term {
        Term::or((0..self.most).map(|at| self.is_there(at, key)))
    }

    /// Replaces the length and all slots. `slot` makes the slot of a place from the old table.
    fn with_slots(mut self, length: Term, slot: impl Fn(&Table, usize) -> Term) -> Self {
        self.parts.slots = (0..self.parts.slots.len()).map(|at| slot(&self, at)).collect();
        self.parts.length = length;
        self
    }

    /// Inserts an entry if the condition holds.
    fn with_entry(self, is_given: &Term, new: &[Term]) -> Self {
        let key = &new[0];
        let is_less = |table: &Table, at: usize| {
            Term::and([table.parts.is_longer(at), Term::compare(Comparison::Less, table.key(at), key)])
        };
        let before: Vec<Term> = (0..self.most).map(|at| is_less(&self, at)).collect();
        let keeps_length = Term::or([is_given.not(), self.has(key)]);
        let length = &self.parts.length;
        let length = Term::if_then_else(&keeps_length, length, &Term::add(length, &Term::int(1)));
        self.with_slots(length, |table, at| {
            let (place, column) = (at / table.width, at % table.width);
            let old = &table.parts.slots[at];
            let moved = match at.checked_sub(table.width) {
                Some(at) => Term::if_then_else(&keeps_length, old, &table.parts.slots[at]),
                None => old.clone(),
            };
            let is_here = place.checked_sub(1).map_or_else(Term::yes, |place| before[place].clone());
            let is_here = Term::and([is_given.clone(), is_here]);
            let chosen = Term::if_then_else(&is_here, &new[column], &moved);
            Term::if_then_else(&before[place], old, &chosen)
        })
    }

    /// Removes the entry of a key, if it is there.
    fn without_key(self, key: &Term) -> Self {
        let found: Vec<Term> = (0..self.most).map(|at| self.is_there(at, key)).collect();
        let is_behind: Vec<Term> =
            (1..=self.most).map(|end| Term::or(found[..end].iter().cloned())).collect();
        let is_found = is_behind.last().cloned().unwrap_or_else(Term::no);
        let length = &self.parts.length;
        let length = Term::if_then_else(&is_found, &Term::subtract(length, &Term::int(1)), length);
        self.with_slots(length, |table, at| {
            let nothing = || Term::literal(Value::any(&table.parts.ty.fields[at + 1].1));
            let next = table.parts.slots.get(at + table.width).cloned().unwrap_or_else(nothing);
            Term::if_then_else(&is_behind[at / table.width], &next, &table.parts.slots[at])
        })
    }

    /// Keeps the entries for whose key the condition holds.
    fn keep_where(self, condition: impl Fn(&Term) -> Term) -> Self {
        let stays = |at: usize| Term::and([self.parts.is_longer(at), condition(self.key(at))]);
        let stay: Vec<Term> = (0..self.most).map(stays).collect();
        let ranks = rank_conditions(&stay);
        self.with_slots(ranks[stay.len()].clone(), |table, at| {
            let (place, column) = (at / table.width, at % table.width);
            let slot = |from: usize| &table.parts.slots[from * table.width + column];
            let candidates = (place..table.most).map(|from| (&stay[from], &ranks[from], slot(from)));
            choose_placed(place, candidates).unwrap_or_else(|| table.parts.slots[at].clone())
        })
    }

    fn known_size(&self) -> Option<usize> {
        match self.parts.length.as_literal() {
            Some(Value::Int(size)) => usize::try_from(size).ok(),
            _ => None,
        }
    }

    fn term(self, besides: &Term) -> Term {
        let condition = Term::and([self.parts.condition.clone(), besides.clone()]);
        let Parts { ty, length, slots, .. } = &self.parts;
        list_of(ty, &condition, length, |at| blank_after_end(ty, length, at, &slots[at]))
    }
}

/// Lowers `{a, b}`, or `[a: 1, b: 2]` with keys and values in turn. `None` if the type has no bound.
pub(super) fn set_or_map_of(ty: &Arc<RecordType>, parts: &[Term]) -> Option<Term> {
    let mut table = as_table(&Term::literal(Value::any(&Type::Record(ty.clone()))))?;
    for entry in parts.chunks_exact(table.width) {
        table = table.with_entry(&Term::yes(), entry);
    }
    let fit = fit_condition(ty, parts);
    Some(table.term(&fit))
}

/// The condition that the keys, and in a map the value after each key, have values in their types.
fn fit_condition(ty: &RecordType, parts: &[Term]) -> Term {
    let one = |(at, part): (usize, &Term)| {
        let of = &ty.fields[1 + at % ty.width().unwrap_or(1)].1;
        let is_in = if fits_field(part, of) { Term::yes() } else { in_type(part, of) };
        Term::and([keyed::has_value(part), is_in])
    };
    Term::and(parts.iter().enumerate().map(one))
}

/// Lowers an operation on a set or a map with a bound. `None` if it is on another type.
pub(super) fn lower_on_table(operation: StandardOperation, arguments: &[Term]) -> Option<Term> {
    if operation == StandardOperation::HasKey {
        let (key, table) = (&arguments[0], as_table(&arguments[1])?);
        let condition = Term::and([keyed::has_value(key), table.parts.condition.clone()]);
        return Some(where_it_holds(&condition, &table.has(key), &Type::Bool));
    }
    let table = as_table(&arguments[0])?;
    let condition = table.parts.condition.clone();
    let other = || as_table(&arguments[1]);
    Some(match operation {
        StandardOperation::ValueAt => {
            let (key, value) = (&arguments[1], table.parts.ty.map_value_type()?.clone());
            let slot = |at: usize| table.parts.slots[at * table.width + 1].clone();
            let chosen = (0..table.most - 1).rfold(slot(table.most - 1), |rest, at| {
                Term::if_then_else(&Term::equal(table.key(at), key), &slot(at), &rest)
            });
            where_it_holds(&Term::and([condition, table.has(key)]), &chosen, &value)
        }
        StandardOperation::ValueChanged => {
            let entry = &arguments[1..];
            let fit = fit_condition(&table.parts.ty, entry);
            table.with_entry(&Term::yes(), entry).term(&fit)
        }
        StandardOperation::Size => where_it_holds(&condition, &table.parts.length, &Type::Int),
        StandardOperation::Keys => {
            let set = Arc::new(table.parts.ty.set_of_keys()?);
            let (length, keys) = (&table.parts.length, (0..table.most).map(|at| table.key(at)));
            let keys: Vec<&Term> = keys.collect();
            list_of(&set, &condition, length, |at| blank_after_end(&set, length, at, keys[at]))
        }
        StandardOperation::Union => {
            let other = other()?;
            let count = other.known_size().unwrap_or(other.most);
            let both = (0..count).fold(table, |all, at| {
                all.with_entry(&other.parts.is_longer(at), std::slice::from_ref(other.key(at)))
            });
            both.term(&other.parts.condition)
        }
        StandardOperation::Intersection => {
            let other = other()?;
            table.keep_where(|key| other.has(key)).term(&other.parts.condition)
        }
        StandardOperation::Difference => {
            let other = other()?;
            let rest = match other.known_size() {
                Some(size) => (0..size).fold(table, |rest, at| rest.without_key(other.key(at))),
                None => table.keep_where(|key| other.has(key).not()),
            };
            rest.term(&other.parts.condition)
        }
        StandardOperation::Subset | StandardOperation::ProperSubset => {
            let other = other()?;
            let has = |at: usize| Term::implies(&table.parts.is_longer(at), &other.has(table.key(at)));
            let mut parts: Vec<Term> = (0..table.most).map(has).collect();
            if operation == StandardOperation::ProperSubset {
                parts.push(Term::compare(Comparison::Less, &table.parts.length, &other.parts.length));
            }
            let condition = Term::and([condition, other.parts.condition.clone()]);
            where_it_holds(&condition, &Term::and(parts), &Type::Bool)
        }
        _ => return None,
    })
}

/// The possible keys, each with the condition that it is there. `None` if there is no bound.
pub(super) fn keys_with_conditions(whole: &Term) -> Option<Vec<(Term, Term)>> {
    let table = as_table(whole)?;
    let key = |at: usize| {
        // If the term is no set, its length has no value, and so this condition has none.
        let is_there = Term::compare(Comparison::Greater, &Term::field(whole, 0), &Term::int(at));
        (is_there, table.key(at).clone())
    };
    Some((0..table.most).map(key).collect())
}
