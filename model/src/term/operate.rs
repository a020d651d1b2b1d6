//! The values of operations, computed on lists, sets and maps themselves, not on the longer terms.
//!
//! Field 0 of a list is its length, and its elements follow. A set or a map has a field for each key
//! ([`crate::forms`]). Results keep this form: slots after the end hold the simplest value.
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
    let are_elements = elements.iter().all(|element| element.is_in(ty.element_type()));
    let fits = elements.len() < ty.fields.len() && are_elements;
    fits.then(|| ty.value_of(Value::int(elements.len()), elements))
}

/// Makes `some(x)`, or `none`. `None` if the value is not in the type.
pub(super) fn option_of(ty: &Type, value: Option<Value>) -> Option<Value> {
    let option = Arc::new(RecordType::option(ty));
    let is_in = value.as_ref().is_none_or(|value| value.is_in(ty));
    is_in.then(|| option.value_of(Value::Bool(value.is_some()), value))
}

/// Joins strings, with the separator between them.
fn join_strings(elements: &[Value], separator: &Value) -> Option<Value> {
    let join =
        |a: &Value, b: &Value| strings::on_values(StringOperation::Concatenate, &[a.clone(), b.clone()]);
    let Some((first, others)) = elements.split_first() else { return Some(Value::string("")) };
    others.iter().try_fold(first.clone(), |joined, element| join(&join(&joined, separator)?, element))
}

/// The number, if it is an integer that can be a position.
fn as_index(value: &Value) -> Option<usize> {
    if let Value::Int(value) = value { usize::try_from(value).ok() } else { None }
}

/// Makes the set of these keys, or the map of these keys and values in turn. `None` if a key or a value is
/// not in its type.
pub(super) fn set_or_map_of(ty: &Arc<RecordType>, values: &[Value]) -> Option<Value> {
    let empty = Value::any(&Type::Record(ty.clone()));
    let mut entries = values.chunks(if ty.map_value_type().is_some() { 2 } else { 1 });
    entries.try_fold(empty, |table, entry| with_key(table, &entry[0], entry.get(1)))
}

/// Adds a key to a set, or a key and its value to a map. `None` if the result is not in the type.
fn with_key(table: Value, key: &Value, value: Option<&Value>) -> Option<Value> {
    let Value::Record(ty, fields) = table else { unreachable!("{table} has no keys") };
    if let RecordForm::Entries(..) = ty.form {
        return entries::with_key(&ty, &fields, key, value);
    }
    let position = ty.position_of_key(key)?;
    let new = match (value, &ty.fields[position].1) {
        (Some(value), Type::Record(option)) if value.is_in(option.content_type()) => {
            option.value_of(Value::Bool(true), [value.clone()])
        }
        (None, Type::Bool) => Value::Bool(true),
        _ => return None,
    };
    let fields = with_field(&fields, position, new);
    Some(Value::Record(ty, fields))
}

/// Replaces the field at this position.
fn with_field(fields: &[Value], position: usize, new: Value) -> Arc<[Value]> {
    let mut fields = fields.to_vec();
    fields[position] = new;
    fields.into()
}

/// Does the field of a set or a map say that it has the field's key?
fn has_key_of(field: &Value) -> bool {
    match field {
        Value::Bool(value) => *value,
        Value::Record(_, parts) => parts[0] == Value::Bool(true),
        _ => false,
    }
}

/// Computes the value of an operation on its arguments. `operands` are those after the first one. `None` if
/// it has no value.
pub(super) fn on_values(
    operation: StandardOperation,
    first: Value,
    mut operands: Vec<Value>,
) -> Option<Value> {
    match operation {
        StandardOperation::Minimum => Some(first.min(operands.swap_remove(0))),
        StandardOperation::Maximum => Some(first.max(operands.swap_remove(0))),
        StandardOperation::HasKey => {
            let Value::Record(ty, fields) = &operands[0] else { unreachable!("{} has no keys", operands[0]) };
            if let RecordForm::Entries(..) = ty.form {
                return Some(Value::Bool(ty.entries(fields).iter().any(|(key, _)| *key == first)));
            }
            let position = ty.position_of_key(&first);
            Some(Value::Bool(position.is_some_and(|position| has_key_of(&fields[position]))))
        }
        StandardOperation::ValueChanged => with_key(first, &operands[0], operands.get(1)),
        _ => {
            let Value::Record(ty, fields) = first else { unreachable!("{first} is no collection") };
            on_collection(operation, ty, fields, operands)
        }
    }
}

/// Computes an operation on a list, set or map, given as the fields of its record. `None`: it has no value.
fn on_collection(
    operation: StandardOperation,
    ty: Arc<RecordType>,
    fields: Arc<[Value]>,
    mut operands: Vec<Value>,
) -> Option<Value> {
    use StandardOperation as On;
    if let RecordForm::Entries(..) = ty.form {
        return entries::on_values(operation, &ty, &fields, &operands);
    }
    // Collections that are no list have no length, so they have no elements here.
    let length = as_index(&fields[0]).unwrap_or(0);
    let elements = &fields[1..=length];
    let index = operands.first().and_then(as_index);
    let index_of_element = index.filter(|index| *index < length);
    match operation {
        On::ElementInserted => {
            let mut elements = elements.to_vec();
            elements.insert(index.filter(|index| *index <= length)?, operands.swap_remove(1));
            list_of(&ty, elements)
        }
        On::ElementRemoved => {
            let mut elements = elements.to_vec();
            elements.remove(index_of_element?);
            list_of(&ty, elements)
        }
        On::Sorted => {
            let mut elements = elements.to_vec();
            elements.sort();
            list_of(&ty, elements)
        }
        On::LeastElement => elements.iter().min().cloned(),
        On::GreatestElement => elements.iter().max().cloned(),
        On::Sum => elements.iter().try_fold(Value::any(&ty.element_type().sort()), |sum, element| {
            evaluate::arithmetic_on_values(Operator::Add, &sum, element)
        }),
        On::JoinedBy => join_strings(elements, &operands[0]),
        On::Element => Some(elements[index_of_element?].clone()),
        On::ElementChanged => {
            let position = index_of_element? + 1;
            let new = Some(operands.swap_remove(1)).filter(|new| new.is_in(ty.element_type()))?;
            let fields = with_field(&fields, position, new);
            Some(Value::Record(ty, fields))
        }
        On::Part => {
            let end = operands.get(1).map_or(Some(length), as_index)?;
            let slice = elements.get(index?..end)?;
            Some(ty.value_of(Value::int(slice.len()), slice.iter().cloned()))
        }
        On::Joined => list_of(&ty, [elements, &self::elements(&operands[0])].concat()),
        On::ValueAt => match &fields[ty.position_of_key(&operands[0])?] {
            Value::Record(_, parts) if parts[0] == Value::Bool(true) => Some(parts[1].clone()),
            _ => None,
        },
        On::Size => Some(Value::int(fields.iter().filter(|field| has_key_of(field)).count())),
        On::Keys => {
            let set = Arc::new(ty.set_of_keys()?);
            Some(Value::Record(set, fields.iter().map(|field| Value::Bool(has_key_of(field))).collect()))
        }
        _ => on_sets(operation, ty, &fields, &operands[0]),
    }
}

/// Computes an operation on a set and another one. In a difference the first one may be a map.
fn on_sets(
    operation: StandardOperation,
    ty: Arc<RecordType>,
    fields: &[Value],
    second: &Value,
) -> Option<Value> {
    use StandardOperation as On;
    let Value::Record(_, second_fields) = second else { unreachable!("{second} is no set") };
    let is_subset = || fields.iter().zip(&**second_fields).all(|(a, b)| !has_key_of(a) || has_key_of(b));
    let combine = |field: &dyn Fn(&Value, &Value) -> Value| {
        let fields = fields.iter().zip(&**second_fields).map(|(a, b)| field(a, b)).collect();
        Value::Record(ty.clone(), fields)
    };
    Some(match operation {
        On::Subset => Value::Bool(is_subset()),
        On::ProperSubset => Value::Bool(is_subset() && *fields != **second_fields),
        On::Union => combine(&|a, b| Value::Bool(has_key_of(a) || has_key_of(b))),
        On::Intersection => combine(&|a, b| Value::Bool(has_key_of(a) && has_key_of(b))),
        // All fields of a set or a map have one type.
        On::Difference => {
            combine(&|a, b| if has_key_of(b) { Value::any(&ty.fields[0].1) } else { a.clone() })
        }
        _ => unreachable!("{operation:?} of collections"),
    })
}
