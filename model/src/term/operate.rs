//! The values of operations, computed on lists, sets and maps themselves, not on the longer terms.
//!
//! A list is its length and its slots, and a set or a map has a field for each key ([`crate::forms`]). A
//! result keeps that form: slots after the end hold the simplest value.
//!
//! **Cost**: a pass over the fields of the collection.

use std::sync::Arc;

use crate::term::node::{Operator, StringOperation};
use crate::term::operation::StandardOperation;
use crate::term::{entries, evaluate, strings};
use crate::types::{RecordForm, RecordType, Type};
use crate::value::Value;

/// The elements of a list, or the keys of a set or a map, in order.
pub(super) fn elements(collection: &Value) -> Vec<Value> {
    let Value::Record(ty, fields) = collection else { unreachable!("{collection} has no elements") };
    if !matches!(ty.form, RecordForm::List) {
        return ty.entries(fields).into_iter().map(|(key, _)| key).collect();
    }
    let length = as_index(&fields[0]).unwrap_or(0);
    fields[1..=length].to_vec()
}

/// Makes the list of these elements. `None` if there are too many, or one is not in the element type.
pub(super) fn list_of(ty: &Arc<RecordType>, elements: Vec<Value>) -> Option<Value> {
    let fits = elements.len() < ty.fields.len() && elements.iter().all(|one| one.is_in(ty.element_type()));
    fits.then(|| ty.value_of(Value::int(elements.len()), elements))
}

/// Makes `some(x)`, or `none`. `None` if the value is not in the type.
pub(super) fn option_of(ty: &Type, value: Option<Value>) -> Option<Value> {
    let option = Arc::new(RecordType::option(ty));
    let is_in = value.as_ref().is_none_or(|value| value.is_in(ty));
    is_in.then(|| option.value_of(Value::Bool(value.is_some()), value))
}

/// Computes the sum, the least or the greatest of the elements, or joins strings.
fn combine_elements(
    operation: StandardOperation,
    ty: &Type,
    elements: Vec<Value>,
    rest: &[Value],
) -> Option<Value> {
    let mut elements = elements.into_iter();
    match operation {
        StandardOperation::LeastElement => elements.min(),
        StandardOperation::GreatestElement => elements.max(),
        StandardOperation::Sum => elements.try_fold(Value::any(&ty.sort()), |sum, one| {
            evaluate::arithmetic_on_values(Operator::Add, &sum, &one)
        }),
        _ => {
            let on = |a: &Value, b: &Value| {
                strings::on_values(StringOperation::Concatenate, &[a.clone(), b.clone()])
            };
            let Some(first) = elements.next() else { return Some(Value::string("")) };
            elements.try_fold(first, |all, one| on(&on(&all, &rest[0])?, &one))
        }
    }
}

fn as_index(value: &Value) -> Option<usize> {
    match value {
        Value::Int(value) => usize::try_from(value).ok(),
        _ => None,
    }
}

/// Makes the set of these keys, or the map of these keys and values in turn. `None` if a key or a value is
/// not in its type.
pub(super) fn set_or_map_of(ty: &Arc<RecordType>, values: &[Value], is_map: bool) -> Option<Value> {
    let mut found = Value::any(&Type::Record(ty.clone()));
    for entry in values.chunks(if is_map { 2 } else { 1 }) {
        found = with_key(found, &entry[0], entry.get(1))?;
    }
    Some(found)
}

/// Adds a key to a set, or a key and its value to a map.
fn with_key(whole: Value, key: &Value, value: Option<&Value>) -> Option<Value> {
    let Value::Record(ty, fields) = whole else { unreachable!("{whole} has no keys") };
    if let RecordForm::Entries(..) = ty.form {
        return entries::with_key(&ty, &fields, key, value);
    }
    let at = ty.position_of_key(key)?;
    let new = match (value, &ty.fields[at].1) {
        (Some(value), Type::Record(option)) if value.is_in(option.content_type()) => {
            option.value_of(Value::Bool(true), [value.clone()])
        }
        (None, Type::Bool) => Value::Bool(true),
        _ => return None,
    };
    let fields = with_field(&fields, at, new);
    Some(Value::Record(ty, fields))
}

/// Replaces the field at this position.
fn with_field(fields: &[Value], at: usize, new: Value) -> Arc<[Value]> {
    let mut fields = fields.to_vec();
    fields[at] = new;
    fields.into()
}

/// Does the field of a set or a map say that its key is there?
fn is_there(field: &Value) -> bool {
    match field {
        Value::Bool(value) => *value,
        Value::Record(_, parts) => parts[0] == Value::Bool(true),
        _ => false,
    }
}

/// Computes the value of an operation on its arguments, if it has one.
pub(super) fn on_values(operation: StandardOperation, first: Value, mut rest: Vec<Value>) -> Option<Value> {
    match operation {
        StandardOperation::Minimum => Some(first.min(rest.swap_remove(0))),
        StandardOperation::Maximum => Some(first.max(rest.swap_remove(0))),
        StandardOperation::HasKey => {
            let Value::Record(ty, fields) = &rest[0] else { unreachable!("{} has no keys", rest[0]) };
            if let RecordForm::Entries(..) = ty.form {
                return Some(Value::Bool(ty.entries(fields).iter().any(|(key, _)| *key == first)));
            }
            let at = ty.position_of_key(&first);
            Some(Value::Bool(at.is_some_and(|at| is_there(&fields[at]))))
        }
        StandardOperation::ValueChanged => with_key(first, &rest[0], rest.get(1)),
        _ => {
            let Value::Record(ty, fields) = first else { unreachable!("{first} is no collection") };
            on_collection(operation, ty, fields, rest)
        }
    }
}

/// Computes an operation on a list, set or map, given as the fields of its record. `None`: it has no value.
fn on_collection(
    operation: StandardOperation,
    ty: Arc<RecordType>,
    fields: Arc<[Value]>,
    mut rest: Vec<Value>,
) -> Option<Value> {
    if let RecordForm::Entries(..) = ty.form {
        return entries::on_values(operation, &ty, &fields, &rest);
    }
    let length = as_index(&fields[0]).unwrap_or(0);
    match operation {
        StandardOperation::ElementInserted => {
            let at = as_index(&rest[0]).filter(|at| *at <= length)?;
            let mut all = fields[1..=length].to_vec();
            all.insert(at, rest.swap_remove(1));
            list_of(&ty, all)
        }
        StandardOperation::ElementRemoved => {
            let at = as_index(&rest[0]).filter(|at| *at < length)?;
            let mut all = fields[1..=length].to_vec();
            all.remove(at);
            list_of(&ty, all)
        }
        StandardOperation::Sorted => {
            let mut all = fields[1..=length].to_vec();
            all.sort();
            list_of(&ty, all)
        }
        StandardOperation::Sum
        | StandardOperation::LeastElement
        | StandardOperation::GreatestElement
        | StandardOperation::JoinedBy => {
            combine_elements(operation, ty.element_type(), fields[1..=length].to_vec(), &rest)
        }
        StandardOperation::Element => {
            let at = as_index(&rest[0]).filter(|at| *at < length)?;
            Some(fields[at + 1].clone())
        }
        StandardOperation::ElementChanged => {
            let at = as_index(&rest[0]).filter(|at| *at < length)?;
            let new = rest.swap_remove(1);
            if !new.is_in(ty.element_type()) {
                return None;
            }
            let fields = with_field(&fields, at + 1, new);
            Some(Value::Record(ty, fields))
        }
        StandardOperation::Part => {
            let from = as_index(&rest[0])?;
            let to = rest.get(1).map_or(Some(length), as_index)?;
            if from > to || to > length {
                return None;
            }
            let parts = fields[from + 1..to + 1].iter().cloned();
            Some(ty.value_of(Value::int(to - from), parts))
        }
        StandardOperation::Joined => {
            let mut all = fields[1..=length].to_vec();
            all.extend(elements(&rest[0]));
            list_of(&ty, all)
        }
        StandardOperation::ValueAt => {
            let at = ty.position_of_key(&rest[0])?;
            match &fields[at] {
                Value::Record(_, parts) if parts[0] == Value::Bool(true) => Some(parts[1].clone()),
                _ => None,
            }
        }
        StandardOperation::Size => Some(Value::int(fields.iter().filter(|field| is_there(field)).count())),
        StandardOperation::Keys => {
            let RecordForm::Keyed(key) = &ty.form else { return None };
            let set = Arc::new(RecordType::keyed(key, None)?);
            Some(Value::Record(set, fields.iter().map(|field| Value::Bool(is_there(field))).collect()))
        }
        _ => {
            let Value::Record(_, other) = &rest[0] else { unreachable!("{} is no set", rest[0]) };
            let both =
                || fields.iter().zip(other.iter()).map(|(one, other)| (is_there(one), is_there(other)));
            match operation {
                StandardOperation::Subset | StandardOperation::ProperSubset => {
                    let is_subset = both().all(|(one, other)| !one || other);
                    let is_equal = operation == StandardOperation::ProperSubset && fields == *other;
                    Some(Value::Bool(is_subset && !is_equal))
                }
                StandardOperation::Union | StandardOperation::Intersection => {
                    let is_union = operation == StandardOperation::Union;
                    let part = |(one, other)| Value::Bool(if is_union { one || other } else { one && other });
                    Some(Value::Record(ty, both().map(part).collect()))
                }
                StandardOperation::Difference => {
                    let one = |(at, (field, other)): (usize, (&Value, &Value))| match is_there(other) {
                        true => Value::any(&ty.fields[at].1),
                        false => field.clone(),
                    };
                    let fields = fields.iter().zip(other.iter()).enumerate().map(one).collect();
                    Some(Value::Record(ty.clone(), fields))
                }
                _ => unreachable!("{operation:?} of collections"),
            }
        }
    }
}
