//! Lowers operations on sets and maps to terms over a field for each key ([`crate::forms`]).
//!
//! An operation works on each field by itself. At a key that is not known now, a field becomes a case that
//! asks whether the key is this field's. All operands are evaluated. If one has no value, or a key is not in
//! the type, one field of the result has no value. An operation on such a result sees the condition and the
//! fields in it.

use std::sync::Arc;

use crate::term::Term;
use crate::term::lists::{as_restricted, count_conditions, restrict};
use crate::term::node::{Comparison, Node};
use crate::term::operation::StandardOperation;
use crate::term::total::fits_field;
use crate::types::{RecordType, Type};
use crate::value::Value;

/// A set or a map by its fields, which have values if the condition holds.
struct KeyFields {
    ty: Arc<RecordType>,
    fields: Vec<Term>,
    condition: Term,
}

impl KeyFields {
    /// Takes a set or a map apart. If the term makes it, these are the fields that it is made of.
    fn of(table: &Term) -> Self {
        let Type::Record(ty) = table.sort() else { unreachable!("{table} has no keys") };
        if let Node::Record(_, fields) = table.node() {
            let (mut fields, mut conditions) = (fields.clone(), Vec::new());
            // If `into_term` made this record, its condition stands in the first field.
            if let Some((condition, first)) = as_restricted(&fields[0]) {
                conditions.push(condition.clone());
                fields[0] = first.clone();
            }
            conditions.extend(fields.iter().map(has_value));
            return KeyFields { ty: ty.clone(), fields, condition: Term::and(conditions) };
        }
        let fields = (0..ty.fields.len()).map(|number| Term::field(table, number)).collect();
        KeyFields { ty: ty.clone(), fields, condition: has_value(table) }
    }

    /// Makes the set or the map. The first field has a value only if the condition holds.
    fn into_term(mut self) -> Term {
        self.fields[0] = restrict(&self.condition, &self.fields[0], &self.ty.fields[0].1);
        Term::record(&self.ty, self.fields)
    }

    /// The condition that the key of this number is in the set or the map.
    fn has_number(&self, number: usize) -> Term {
        match self.ty.map_value_type() {
            Some(_) => Term::field(&self.fields[number], 0),
            None => self.fields[number].clone(),
        }
    }
}

/// Makes `{A, B}`.
pub(super) fn lower_set(ty: &Arc<RecordType>, keys: &[Term]) -> Term {
    let is_in =
        |key: &Value| Term::or(keys.iter().map(|term| Term::equal(term, &Term::literal(key.clone()))));
    let fields = ty.keys().iter().map(is_in).collect();
    let condition = Term::and(keys.iter().map(|term| key_condition(term, ty)));
    KeyFields { ty: ty.clone(), fields, condition }.into_term()
}

/// Makes `[A: 1, B: 2]`, keys and values in turn.
pub(super) fn lower_map(ty: &Arc<RecordType>, entries: &[Term]) -> Term {
    let empty = Term::literal(Value::any(&Type::Record(ty.clone())));
    entries.chunks_exact(2).fold(empty, |map, entry| with_value(&map, &entry[0], &entry[1]))
}

/// Makes `k in s`. A key outside the key type is in no set.
pub(super) fn has_key(table: &Term, key: &Term) -> Term {
    has_key_in(&KeyFields::of(table), key)
}

/// Makes `k in s` of the parts of `s`.
fn has_key_in(parts: &KeyFields, key: &Term) -> Term {
    let is_present = |(number, known): (usize, Value)| {
        Term::and([Term::equal(key, &Term::literal(known)), parts.has_number(number)])
    };
    let is_some_key = Term::or(parts.ty.keys().into_iter().enumerate().map(is_present));
    restrict(&Term::and([parts.condition.clone(), has_value(key)]), &is_some_key, &Type::Bool)
}

/// Makes `m[k]`.
pub(super) fn value_at(map: &Term, key: &Term) -> Term {
    let parts = KeyFields::of(map);
    let (keys, value_type) = (parts.ty.keys(), parts.ty.map_value_type().cloned().unwrap_or(Type::Bool));
    let content = |number: usize| Term::field(&parts.fields[number], 1);
    // The last key needs no condition, since the condition of the whole says that one of the keys is given.
    let last = keys.len() - 1;
    let chosen = keys[..last].iter().enumerate().rfold(content(last), |otherwise, (number, known)| {
        Term::if_then_else(&Term::equal(key, &Term::literal(known.clone())), &content(number), &otherwise)
    });
    restrict(&has_key_in(&parts, key), &chosen, &value_type)
}

/// Makes `m[k := v]`.
pub(super) fn with_value(map: &Term, key: &Term, value: &Term) -> Term {
    let mut parts = KeyFields::of(map);
    let Type::Record(option) = &parts.ty.fields[0].1 else { unreachable!("{map} is no map") };
    let new = option.made_of(Value::Bool(true), [value.clone()]);
    let condition = Term::and([parts.condition, key_condition(key, &parts.ty)]);
    let field = |(known, field): (Value, &Term)| {
        Term::if_then_else(&Term::equal(key, &Term::literal(known)), &new, field)
    };
    parts.fields = parts.ty.keys().into_iter().zip(&parts.fields).map(field).collect();
    KeyFields { condition, ..parts }.into_term()
}

/// Makes `s + t`, `s * t`, `s - t` and `m - s`.
pub(super) fn combine_sets(operation: StandardOperation, a: &Term, b: &Term) -> Term {
    let (a, b) = (KeyFields::of(a), KeyFields::of(b));
    // In a difference, `a` may be a map, whose fields are options.
    let absent = Term::literal(Value::any(&a.ty.fields[0].1));
    let field = |(in_a, in_b): (&Term, &Term)| match operation {
        StandardOperation::Union => Term::or([in_a.clone(), in_b.clone()]),
        StandardOperation::Intersection => Term::and([in_a.clone(), in_b.clone()]),
        _ => Term::if_then_else(in_b, &absent, in_a),
    };
    let fields = a.fields.iter().zip(&b.fields).map(field).collect();
    let condition = Term::and([a.condition, b.condition]);
    KeyFields { ty: a.ty, fields, condition }.into_term()
}

/// Makes `a <= b` or `a < b` of sets.
pub(super) fn subset(operation: StandardOperation, a: &Term, b: &Term) -> Term {
    let (small, large) = (KeyFields::of(a), KeyFields::of(b));
    let pairs = small.fields.iter().zip(&large.fields);
    let mut parts: Vec<Term> = pairs.map(|(in_small, in_large)| Term::implies(in_small, in_large)).collect();
    if operation == StandardOperation::ProperSubset {
        parts.push(Term::compare(Comparison::NotEqual, a, b));
    }
    let condition = Term::and([small.condition, large.condition]);
    restrict(&condition, &Term::and(parts), &Type::Bool)
}

/// Makes `len(s)`.
pub(super) fn count_keys(table: &Term) -> Term {
    let parts = KeyFields::of(table);
    let count = count_conditions((0..parts.fields.len()).map(|number| parts.has_number(number)));
    restrict(&parts.condition, &count, &Type::Int)
}

/// Makes `keys(m)`.
pub(super) fn key_set(map: &Term) -> Term {
    let parts = KeyFields::of(map);
    let set = map.sort().as_keyed().and_then(|(_, key)| RecordType::keyed(key, None));
    let Some(set) = set else { unreachable!("{map} has no keys") };
    let fields = (0..parts.fields.len()).map(|number| parts.has_number(number)).collect();
    KeyFields { ty: Arc::new(set), fields, condition: parts.condition }.into_term()
}

/// The possible keys, each with the condition that it is there.
pub(super) fn keys_with_conditions(table: &Term) -> Vec<(Term, Term)> {
    let parts = KeyFields::of(table);
    let with_condition = |(number, key): (usize, Value)| {
        (Term::and([parts.condition.clone(), parts.has_number(number)]), Term::literal(key))
    };
    parts.ty.keys().into_iter().enumerate().map(with_condition).collect()
}

/// The condition that the key has a value, and that it is one of the type's keys.
fn key_condition(key: &Term, ty: &RecordType) -> Term {
    let keys = ty.keys();
    // Only keys of a range can have a value outside of the key type.
    let bounds = match (keys.first(), keys.last()) {
        (Some(low @ Value::Int(a)), Some(high @ Value::Int(b)))
            if !fits_field(key, &Type::Range(a.clone(), b.clone())) =>
        {
            let at_most = |a: &Term, b: &Term| Term::compare(Comparison::AtMost, a, b);
            vec![at_most(&Term::literal(low.clone()), key), at_most(key, &Term::literal(high.clone()))]
        }
        _ => Vec::new(),
    };
    Term::and(bounds.into_iter().chain([has_value(key)]))
}

/// A condition that is true if the term has a value, and has no value if the term has none.
pub(super) fn has_value(term: &Term) -> Term {
    if term.is_total() { Term::yes() } else { Term::equal(term, term) }
}
