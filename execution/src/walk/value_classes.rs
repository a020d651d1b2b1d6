//! Sorts single values into classes: parts of a range, sizes, lengths and counts.

use coreach_model::{Type, Value};
use dashu_base::BitTest;
use dashu_int::IBig;

/// The number of parts of a wide range.
const PARTS: i8 = 8;

/// Each length of a list up to this one is a class.
const SHORT: usize = 8;

/// A counter without a limit has classes until its distance has doubled so often.
pub const DOUBLINGS: usize = 5;

/// Finds the part of its type in which a value lies: one of [`PARTS`] of a wide range, or the size of a
/// string or of a number without a range. `None` if all values can be tried.
pub fn find_part(ty: &Type, value: &Value) -> Option<i8> {
    let of_size = |length: usize| Some(i8::try_from(usize::BITS - length.leading_zeros()).unwrap_or(i8::MAX));
    match (ty, value) {
        (Type::Range(low, high), Value::Int(value)) => {
            let width = high - low + IBig::ONE;
            let part = (value - low) * IBig::from(PARTS) / &width;
            (width > IBig::from(2 * PARTS)).then(|| i8::try_from(part).unwrap_or_default())
        }
        (_, Value::Int(value)) => {
            // A class for each number of bytes, up to 64 bits.
            let size = value.bit_len().min(64).div_ceil(8);
            let size = i8::try_from(size).unwrap_or_default();
            Some(if *value < IBig::ZERO { -size } else { size })
        }
        (_, Value::String(text)) => of_size(text.len()),
        // An array has the part of its largest cell.
        (Type::Array(ty), Value::Array(array)) => {
            let cells = array.cells.values().chain([&array.default]);
            cells.filter_map(|cell| find_part(&ty.element, cell)).max_by_key(|part| part.unsigned_abs())
        }
        _ => None,
    }
}

/// Finds the class of a list's length, or of the number of entries of a set or a map. Each length up to
/// [`SHORT`] is a class, so are the two greatest, and others by doublings. `None` for other values.
pub fn find_length(ty: &Type, value: &Value) -> Option<Value> {
    let (Type::Record(ty), Value::Record(_, fields)) = (ty, value) else { return None };
    let Value::Int(length) = fields.first()? else { return None };
    let (most, length) = (ty.most()?, usize::try_from(length).ok()?);
    let is_own_class = length <= SHORT || length + 1 >= most;
    Some(Value::int(if is_own_class { length } else { SHORT + length.ilog2() as usize }))
}

/// Finds the class of a count: the value itself, or a power of two for a number above 63 without a range. So
/// a number that grows for good has few classes, even if a guard limits it.
pub fn find_count(ty: &Type, value: &Value) -> Value {
    match (ty, value) {
        (Type::Range(..), _) => value.clone(),
        (_, Value::Int(number)) if number.bit_len() > 6 => Value::Int(IBig::ONE << number.bit_len()),
        _ => value.clone(),
    }
}

/// Counts how often a counter's distance from its first value has doubled, up to [`DOUBLINGS`].
pub fn find_magnitude(value: &Value, first: &Value) -> usize {
    let (Value::Int(value), Value::Int(first)) = (value, first) else { return 0 };
    (value - first).bit_len().min(DOUBLINGS)
}

/// Compares two numbers: one below, equal, or one above. `None` if they are further apart or no numbers.
pub fn compare_near(value: &Value, other: &Value) -> Option<i8> {
    match (value, other) {
        (Value::Int(value), Value::Int(other)) => {
            let distance = value - other;
            [-1i8, 0, 1].into_iter().find(|near| distance == IBig::from(*near))
        }
        (Value::Real(value), Value::Real(other)) => (value == other).then_some(0),
        _ => None,
    }
}
