//! Reads Z3's models as values.
//!
//! A number of any size is read from its text. An algebraic number that is not rational has no value here. An
//! array over a small index type is evaluated cell by cell. Another one is decomposed: it is a constant array
//! with stores, or the graph of a function. A cell that no constraint mentions may lie outside the element
//! type. It gets the type's simplest value.

use std::collections::BTreeMap;
use std::sync::Arc;

use coreach_model::types::ArrayType;
use coreach_model::value::ArrayValue;
use coreach_model::{Type, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;
use z3::ast::{Array, Ast, Dynamic};
use z3::{DeclKind, Model};

use coreach_model::ids;

use super::strings;
use super::translate::{field, literal};

/// Data with strings are read only from a translation in which no numbers stand for them.
const HAS_NUMBERS: bool = false;

/// Reads the value of a type that the model gives to a term. `None`: it is not a value of ours.
pub(super) fn read_value(model: &Model, ast: &Dynamic, ty: &Type) -> Option<Value> {
    let ast = model.eval(ast, /* model_completion */ true)?;
    let value = match ty {
        Type::Bool => Value::Bool(ast.as_bool()?.as_bool()?),
        Type::Int | Type::Nat | Type::Range(..) => Value::Int(read_integer(&ast)?),
        Type::Id(name) => Value::id(name, &ids::text_of_number(&read_integer(&ast)?)),
        Type::Enum(enumeration) => {
            let position = usize::try_from(&read_integer(&ast)?).unwrap_or(0);
            // The position may lie beyond the literals if nothing constrains it.
            Value::Enum(enumeration.clone(), if position < enumeration.literals.len() { position } else { 0 })
        }
        Type::Real => Value::Real(read_rational(&ast)?),
        Type::String => Value::string(&strings::decode(&ast.as_string()?.as_string()?)?),
        Type::Array(array) => read_array(model, &ast.as_array()?, array)?,
        Type::Record(record) => {
            let fields = record.fields.iter().enumerate();
            let values: Option<Vec<Value>> = fields
                .map(|(at, (_, ty))| read_value(model, &field(record, &ast, at, HAS_NUMBERS), ty))
                .collect();
            Value::Record(record.clone(), values?.into())
        }
    };
    // A part that no constraint mentions may have a value outside its type.
    Some(if value.is_in(ty) { value } else { Value::any(ty) })
}

fn read_array(model: &Model, ast: &Array, ty: &Arc<ArrayType>) -> Option<Value> {
    // Arrays over an index type of at most this many values are evaluated cell by cell.
    let (default, cells) = match Value::enumerate(&ty.index, 256) {
        Some(indices) => {
            let mut cells = BTreeMap::new();
            for index in indices {
                let cell = read_value(model, &ast.select(&literal(&index, HAS_NUMBERS)), &ty.element)?;
                cells.insert(index, cell);
            }
            (Value::any(&ty.element), cells)
        }
        None => read_graph(model, ast, ty)?,
    };
    Some(Value::Array(Arc::new(ArrayValue { ty: ty.clone(), default, cells }.canonical())))
}

/// Reads the default and the exceptions of an array over a large index type. `None` if a part cannot be read.
fn read_graph(model: &Model, ast: &Array, ty: &ArrayType) -> Option<(Value, BTreeMap<Value, Value>)> {
    let mut cells: BTreeMap<Value, Value> = BTreeMap::new();
    // A cell at an index outside the type is skipped: it says nothing of a value of that type.
    let mut add = |index: Dynamic, cell: Dynamic| -> Option<()> {
        let index = read_value(model, &index, &ty.index.sort())?;
        if index.is_in(&ty.index) {
            let cell = read_value(model, &cell, &ty.element)?;
            // Stores come from the outside in, so the first one at an index counts.
            cells.entry(index).or_insert(cell);
        }
        Some(())
    };
    let mut inner = ast.clone();
    loop {
        if let Some(function) = inner.as_array_func_decl() {
            let function = model.get_func_interp(&function)?;
            for entry in function.get_entries() {
                add(entry.get_args().into_iter().next()?, entry.get_value())?;
            }
            return Some((read_value(model, &function.get_else()?, &ty.element)?, cells));
        }
        if inner.is_const_array() {
            return Some((read_value(model, &inner.nth_child(0)?, &ty.element)?, cells));
        }
        if !inner.is_app() || inner.decl().kind() != DeclKind::Store {
            return None;
        }
        add(inner.nth_child(1)?, inner.nth_child(2)?)?;
        inner = inner.nth_child(0)?.as_array()?;
    }
}

fn read_integer(ast: &Dynamic) -> Option<IBig> {
    let ast = ast.as_int()?;
    match ast.as_i64() {
        Some(small) => Some(small.into()),
        None => {
            let value = read_numeral(&ast.to_string())?;
            value.is_int().then(|| value.numerator().clone())
        }
    }
}

fn read_rational(ast: &Dynamic) -> Option<RBig> {
    let ast = ast.as_real()?;
    match ast.as_rational() {
        Some((numerator, denominator)) => Some(RBig::from_parts_signed(numerator.into(), denominator.into())),
        None => read_numeral(&ast.to_string()),
    }
}

/// Reads a numeral of SMT-LIB: `12`, `12.0`, `(- 12.0)`, `(/ 1.0 3.0)`, `(- (/ 1.0 3.0))`. `None` for other
/// text.
fn read_numeral(text: &str) -> Option<RBig> {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        let digits = text.strip_suffix(".0").unwrap_or(text);
        return Some(RBig::from(digits.parse::<IBig>().ok()?));
    };
    if let Some(rest) = inner.strip_prefix("- ") {
        return Some(-read_numeral(rest)?);
    }
    let rest = inner.strip_prefix("/ ")?;
    // The numerator may be negated. The denominator has only digits.
    let (numerator, denominator) = rest.rsplit_once(' ')?;
    let denominator = read_numeral(denominator)?;
    (denominator != RBig::ZERO).then(|| Some(read_numeral(numerator)? / denominator))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_of_any_size() {
        let third = RBig::from_parts_signed(1.into(), 3.into());
        assert_eq!(read_numeral("(- (/ 1.0 3.0))"), Some(-third.clone()));
        assert_eq!(read_numeral("(/ (- 1.0) 3.0)"), Some(-third));
        assert_eq!(read_numeral("(root-obj (+ (^ x 2) (- 2)) 2)"), None);
        let big = "123456789012345678901234567890";
        assert_eq!(read_numeral(big).map(|value| value.to_string()).as_deref(), Some(big));
    }
}
