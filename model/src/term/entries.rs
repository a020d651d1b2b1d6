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
use crate::term::lists::{Parts, blank_after_end, choose_placed, list_of, rank_conditions, restrict};
use crate::term::node::Comparison;
use crate::term::operation::StandardOperation;
use crate::term::total::fits_field;
use crate::term::{Term, keyed};
use crate::types::{RecordForm, RecordType, Type};
use crate::value::Value;

/// Computes the value of an operation on a set or a map with a bound. `operands` are its arguments after the
/// first one. `None` if the operation has no value.
pub(super) fn on_values(
    operation: StandardOperation,
    ty: &Arc<RecordType>,
    fields: &[Value],
    operands: &[Value],
) -> Option<Value> {
    use StandardOperation as On;
    let mut entries = own_entries(ty, fields);
    let second = match operands {
        [Value::Record(ty, fields)] => own_entries(ty, fields),
        // A key, or nothing.
        _ => BTreeMap::new(),
    };
    match operation {
        On::ValueAt => return entries.remove(&operands[0])?,
        On::Size => return Some(fields[0].clone()),
        On::Keys => {
            let set = Arc::new(ty.set_of_keys()?);
            return set.make_keyed(entries.into_keys().map(|key| (key, None)).collect());
        }
        On::Subset | On::ProperSubset => {
            let may_be_equal = operation == On::Subset;
            let is_subset = entries.keys().all(|key| second.contains_key(key));
            return Some(Value::Bool(is_subset && (may_be_equal || entries.len() < second.len())));
        }
        On::Union => entries.extend(second),
        On::Intersection => entries.retain(|key, _| second.contains_key(key)),
        On::Difference => entries.retain(|key, _| !second.contains_key(key)),
        _ => unreachable!("{operation:?} of a set or a map"),
    }
    ty.make_keyed(entries)
}

/// Adds a key to a set, or a key and its value to a map. `None` if the result is not in the type.
pub(super) fn with_key(
    ty: &Arc<RecordType>,
    fields: &[Value],
    key: &Value,
    value: Option<&Value>,
) -> Option<Value> {
    let mut entries = own_entries(ty, fields);
    entries.insert(key.clone(), value.cloned());
    ty.make_keyed(entries).filter(|new| new.is_in(&Type::Record(ty.clone())))
}

fn own_entries(ty: &RecordType, fields: &[Value]) -> BTreeMap<Value, Option<Value>> {
    ty.entries(fields).into_iter().map(|(key, value)| (key, value.cloned())).collect()
}

/// A set or a map with a bound, by its parts. Its entries are numbered from 0.
struct EntryTable {
    parts: Parts,
    /// How many slots an entry has: its key, and in a map its value.
    width: usize,
    /// The most entries.
    most: usize,
}

/// Takes a set or a map apart, if it has a bound.
fn as_table(term: &Term) -> Option<EntryTable> {
    let Type::Record(ty) = term.sort() else { return None };
    let (width, most) = (ty.width()?, ty.most()?);
    let RecordForm::Entries(..) = ty.form else { return None };
    let mut parts = Parts::of(term);
    // A term that is not taken apart must be evaluated even if no part of it is needed.
    if !term.is_total() && parts.condition.is_true() {
        parts.condition = keyed::has_value(term);
    }
    Some(EntryTable { parts, width, most })
}

impl EntryTable {
    fn key(&self, entry: usize) -> &Term {
        &self.parts.slots[entry * self.width]
    }

    /// The condition that the entry exists and has this key.
    fn has_key_at(&self, entry: usize, key: &Term) -> Term {
        Term::and([self.parts.is_longer(entry), Term::equal(self.key(entry), key)])
    }

    fn has_key(&self, key: &Term) -> Term {
        Term::or((0..self.most).map(|entry| self.has_key_at(entry, key)))
    }

    /// Replaces the length and all slots. `new_slot` makes the slot of this number from the old table.
    fn with_slots(mut self, length: Term, new_slot: impl Fn(&EntryTable, usize) -> Term) -> Self {
        self.parts.slots = (0..self.parts.slots.len()).map(|slot| new_slot(&self, slot)).collect();
        self.parts.length = length;
        self
    }

    /// Inserts an entry if the condition holds.
    fn with_entry(self, is_given: &Term, new: &[Term]) -> Self {
        let key = &new[0];
        let is_less = |entry: usize| {
            Term::and([self.parts.is_longer(entry), Term::compare(Comparison::Less, self.key(entry), key)])
        };
        let precedes: Vec<Term> = (0..self.most).map(is_less).collect();
        let keeps_length = Term::or([is_given.not(), self.has_key(key)]);
        let old_length = &self.parts.length;
        let length = Term::if_then_else(&keeps_length, old_length, &Term::add(old_length, &Term::int(1)));
        self.with_slots(length, |table, slot| {
            let (entry, column) = (slot / table.width, slot % table.width);
            let old = &table.parts.slots[slot];
            // Smaller keys stay, the new entry follows the last of them, and the others move by one.
            let moved = match slot.checked_sub(table.width) {
                Some(previous) => Term::if_then_else(&keeps_length, old, &table.parts.slots[previous]),
                None => old.clone(),
            };
            let follows = if entry == 0 { Term::yes() } else { precedes[entry - 1].clone() };
            let is_new = Term::and([is_given.clone(), follows]);
            let new_or_moved = Term::if_then_else(&is_new, &new[column], &moved);
            Term::if_then_else(&precedes[entry], old, &new_or_moved)
        })
    }

    /// Removes the entry of a key, if it is there.
    fn without_key(self, key: &Term) -> Self {
        let is_removed: Vec<Term> = (0..self.most).map(|entry| self.has_key_at(entry, key)).collect();
        // The removed entry, and all entries after it, take the slots of the next one.
        let moves: Vec<Term> =
            (1..=self.most).map(|end| Term::or(is_removed[..end].iter().cloned())).collect();
        let has_key = moves.last().cloned().unwrap_or_else(Term::no);
        let old_length = &self.parts.length;
        let length = Term::if_then_else(&has_key, &Term::subtract(old_length, &Term::int(1)), old_length);
        self.with_slots(length, |table, slot| {
            let blank = || Term::literal(Value::any(&table.parts.ty.fields[slot + 1].1));
            let next = table.parts.slots.get(slot + table.width).cloned().unwrap_or_else(blank);
            Term::if_then_else(&moves[slot / table.width], &next, &table.parts.slots[slot])
        })
    }

    /// Keeps the entries for whose key the condition holds.
    fn keep_where(self, condition: impl Fn(&Term) -> Term) -> Self {
        let is_kept = |entry: usize| Term::and([self.parts.is_longer(entry), condition(self.key(entry))]);
        let kept: Vec<Term> = (0..self.most).map(is_kept).collect();
        let ranks = rank_conditions(&kept);
        self.with_slots(ranks[kept.len()].clone(), |table, slot| {
            let (place, column) = (slot / table.width, slot % table.width);
            let part = |entry: usize| &table.parts.slots[entry * table.width + column];
            // An entry never moves to a later place.
            let candidates = (place..table.most).map(|entry| (&kept[entry], &ranks[entry], part(entry)));
            choose_placed(place, candidates).unwrap_or_else(|| table.parts.slots[slot].clone())
        })
    }

    /// The number of entries, if it is a literal.
    fn known_size(&self) -> Option<usize> {
        match self.parts.length.as_literal() {
            Some(Value::Int(size)) => usize::try_from(size).ok(),
            _ => None,
        }
    }

    /// Makes the set or the map. It has a value only if its own condition and the further one hold.
    fn into_term(self, further: &Term) -> Term {
        let condition = Term::and([self.parts.condition.clone(), further.clone()]);
        let Parts { ty, length, slots, .. } = &self.parts;
        list_of(ty, &condition, length, |slot| blank_after_end(ty, length, slot, &slots[slot]))
    }
}

/// Lowers `{a, b}`, or `[a: 1, b: 2]` with keys and values in turn. `None` if the type has no bound.
pub(super) fn set_or_map_of(ty: &Arc<RecordType>, parts: &[Term]) -> Option<Term> {
    let empty = Value::any(&Type::Record(ty.clone()));
    let mut table = as_table(&Term::literal(empty))?;
    for entry in parts.chunks_exact(table.width) {
        table = table.with_entry(&Term::yes(), entry);
    }
    Some(table.into_term(&fit_condition(ty, parts)))
}

/// The condition that the keys, and in a map the value after each key, have values in their types.
fn fit_condition(ty: &RecordType, parts: &[Term]) -> Term {
    let fits = |(number, part): (usize, &Term)| {
        // Keys and values alternate. The first key and the first value follow the length.
        let ty = &ty.fields[1 + number % ty.width().unwrap_or(1)].1;
        let is_in = if fits_field(part, ty) { Term::yes() } else { in_type(part, ty) };
        Term::and([keyed::has_value(part), is_in])
    };
    Term::and(parts.iter().enumerate().map(fits))
}

/// Lowers an operation on a set or a map with a bound. `None` if it is on another type.
pub(super) fn lower_on_table(operation: StandardOperation, arguments: &[Term]) -> Option<Term> {
    use StandardOperation as On;
    if operation == On::HasKey {
        let (key, table) = (&arguments[0], as_table(&arguments[1])?);
        let condition = Term::and([keyed::has_value(key), table.parts.condition.clone()]);
        return Some(restrict(&condition, &table.has_key(key), &Type::Bool));
    }
    let table = as_table(&arguments[0])?;
    let condition = table.parts.condition.clone();
    let second_table = || as_table(&arguments[1]);
    Some(match operation {
        On::ValueAt => {
            let (key, value_type) = (&arguments[1], table.parts.ty.map_value_type()?.clone());
            let value = |entry: usize| table.parts.slots[entry * table.width + 1].clone();
            // The last entry needs no condition, since the condition of the whole says that the key is there.
            let last = table.most - 1;
            let chosen = (0..last).rfold(value(last), |otherwise, entry| {
                Term::if_then_else(&Term::equal(table.key(entry), key), &value(entry), &otherwise)
            });
            restrict(&Term::and([condition, table.has_key(key)]), &chosen, &value_type)
        }
        On::ValueChanged => {
            let entry = &arguments[1..];
            let fit = fit_condition(&table.parts.ty, entry);
            table.with_entry(&Term::yes(), entry).into_term(&fit)
        }
        On::Size => restrict(&condition, &table.parts.length, &Type::Int),
        On::Keys => {
            let set = Arc::new(table.parts.ty.set_of_keys()?);
            let length = &table.parts.length;
            list_of(&set, &condition, length, |slot| blank_after_end(&set, length, slot, table.key(slot)))
        }
        On::Union => {
            let added = second_table()?;
            let count = added.known_size().unwrap_or(added.most);
            let union = (0..count).fold(table, |union, entry| {
                union.with_entry(&added.parts.is_longer(entry), std::slice::from_ref(added.key(entry)))
            });
            union.into_term(&added.parts.condition)
        }
        On::Intersection => {
            let kept = second_table()?;
            table.keep_where(|key| kept.has_key(key)).into_term(&kept.parts.condition)
        }
        On::Difference => {
            let removed = second_table()?;
            let difference = match removed.known_size() {
                Some(size) => (0..size).fold(table, |kept, entry| kept.without_key(removed.key(entry))),
                None => table.keep_where(|key| removed.has_key(key).not()),
            };
            difference.into_term(&removed.parts.condition)
        }
        On::Subset | On::ProperSubset => {
            let larger = second_table()?;
            let is_in_larger =
                |entry| Term::implies(&table.parts.is_longer(entry), &larger.has_key(table.key(entry)));
            let mut parts: Vec<Term> = (0..table.most).map(is_in_larger).collect();
            if operation == On::ProperSubset {
                parts.push(Term::compare(Comparison::Less, &table.parts.length, &larger.parts.length));
            }
            let condition = Term::and([condition, larger.parts.condition.clone()]);
            restrict(&condition, &Term::and(parts), &Type::Bool)
        }
        _ => return None,
    })
}

/// The possible keys, each with the condition that it is there. `None` if there is no bound.
pub(super) fn keys_with_conditions(term: &Term) -> Option<Vec<(Term, Term)>> {
    let table = as_table(term)?;
    let key = |entry: usize| {
        // If the term is no set, its length has no value, and so this condition has none.
        let exists = Term::compare(Comparison::Greater, &Term::field(term, 0), &Term::int(entry));
        (exists, table.key(entry).clone())
    };
    Some((0..table.most).map(key).collect())
}
