//! The table of types: each type that a document speaks of, once, by number.
//!
//! A type names only types before it, so a table is read in one pass and no type can contain itself.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use coreach_model::number::{self, DOCUMENT_DIGITS};
use coreach_model::reader::lexer::is_name;
use coreach_model::types::{ArrayType, EnumType, RecordType};
use coreach_model::{Datum, Type};
use dashu::integer::IBig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The place of a type in the table of types.
pub type TypeNumber = usize;

/// The most parts of one type, those of its parts included: types are compared part by part.
const MOST_PARTS: usize = 1_000;

/// The deepest nesting of types.
const DEEPEST: usize = 64;

/// A type of the table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TypeNode {
    /// Truth values.
    Bool,
    /// Integers.
    Int,
    /// Integers from 0 on.
    Nat,
    /// Exact rational numbers.
    Real,
    /// Sequences of Unicode scalar values.
    String,
    /// Integers between two others, both included; decimal digits as text.
    Range {
        /// The least.
        low: String,
        /// The greatest.
        high: String,
    },
    /// An enumeration.
    Enum {
        /// Its name.
        name: String,
        /// Its literals, in order.
        literals: Vec<String>,
    },
    /// A total map.
    Array {
        /// The type of its indices.
        index: TypeNumber,
        /// The type of its elements.
        element: TypeNumber,
    },
    /// A record.
    Record {
        /// Its name.
        name: String,
        /// Its fields, in order.
        fields: Vec<DatumEntry>,
    },
}

/// A datum, or a field of a record: a name and a type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatumEntry {
    /// Its name.
    pub name: String,
    /// The number of its type.
    #[serde(rename = "type")]
    pub ty: TypeNumber,
}

/// The table while it is filled.
#[derive(Clone, Default, Debug)]
pub struct TypeTable {
    nodes: Vec<TypeNode>,
    types: Vec<Type>,
    numbers: HashMap<Type, TypeNumber>,
}

impl TypeTable {
    /// The number of a type; its parts come before it.
    pub fn number(&mut self, ty: &Type) -> TypeNumber {
        if let Some(known) = self.numbers.get(ty) {
            return *known;
        }
        let node = match ty {
            Type::Bool => TypeNode::Bool,
            Type::Int => TypeNode::Int,
            Type::Nat => TypeNode::Nat,
            Type::Real => TypeNode::Real,
            Type::String => TypeNode::String,
            Type::Range(low, high) => TypeNode::Range { low: low.to_string(), high: high.to_string() },
            Type::Enum(of) => TypeNode::Enum { name: of.name.clone(), literals: of.literals.clone() },
            Type::Array(of) => {
                TypeNode::Array { index: self.number(&of.index), element: self.number(&of.element) }
            }
            Type::Record(of) => {
                let field =
                    |(name, ty): &(String, Type)| DatumEntry { name: name.clone(), ty: self.number(ty) };
                TypeNode::Record { name: of.name.clone(), fields: of.fields.iter().map(field).collect() }
            }
        };
        self.nodes.push(node);
        self.types.push(ty.clone());
        self.numbers.insert(ty.clone(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The entry of a datum.
    pub fn datum(&mut self, datum: &Datum) -> DatumEntry {
        DatumEntry { name: datum.name().to_owned(), ty: self.number(datum.ty()) }
    }

    /// The types by their numbers.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The same, as they are written.
    pub fn nodes(&self) -> &[TypeNode] {
        &self.nodes
    }
}

/// The types that a table has.
///
/// # Errors
/// What is wrong with which type.
pub fn read_types(nodes: &[TypeNode]) -> Result<Vec<Type>, String> {
    let mut read = Types::default();
    for (number, node) in nodes.iter().enumerate() {
        let (ty, size) = read.one(node).map_err(|why| format!("the type {number}: {why}"))?;
        if size.parts > MOST_PARTS || size.depth > DEEPEST {
            return Err(format!(
                "the type {number} has more than {MOST_PARTS} parts, or is nested too deeply"
            ));
        }
        read.types.push(ty);
        read.sizes.push(size);
    }
    Ok(read.types)
}

#[derive(Clone, Copy)]
struct Size {
    parts: usize,
    depth: usize,
}

#[derive(Default)]
struct Types {
    types: Vec<Type>,
    sizes: Vec<Size>,
    names: BTreeSet<String>,
}

impl Types {
    fn one(&mut self, node: &TypeNode) -> Result<(Type, Size), String> {
        let mut size = Size { parts: 1, depth: 1 };
        let ty = match node {
            TypeNode::Bool => Type::Bool,
            TypeNode::Int => Type::Int,
            TypeNode::Nat => Type::Nat,
            TypeNode::Real => Type::Real,
            TypeNode::String => Type::String,
            TypeNode::Range { low, high } => {
                let bound = |text: &str| -> Result<IBig, String> {
                    number::integer(text, DOCUMENT_DIGITS).map_err(|_| format!("`{text}` is no integer"))
                };
                let (low, high) = (bound(low)?, bound(high)?);
                if low > high {
                    return Err("it has no values".to_owned());
                }
                Type::Range(low, high)
            }
            TypeNode::Enum { name, literals } => {
                self.declare(name)?;
                distinct(literals.iter())?;
                size.parts += literals.len();
                Type::Enum(Arc::new(EnumType { name: name.clone(), literals: literals.clone() }))
            }
            TypeNode::Array { index, element } => {
                let (index, element) = (self.part(*index, &mut size)?, self.part(*element, &mut size)?);
                Type::Array(Arc::new(ArrayType { index, element }))
            }
            TypeNode::Record { name, fields } => {
                self.declare(name)?;
                distinct(fields.iter().map(|field| &field.name))?;
                let mut parts = Vec::new();
                for field in fields {
                    parts.push((field.name.clone(), self.part(field.ty, &mut size)?));
                }
                Type::Record(Arc::new(RecordType { name: name.clone(), fields: parts }))
            }
        };
        Ok((ty, size))
    }

    fn part(&self, number: TypeNumber, size: &mut Size) -> Result<Type, String> {
        let (ty, of) =
            self.types.get(number).zip(self.sizes.get(number)).ok_or("it names a type behind it")?;
        size.parts = size.parts.saturating_add(of.parts);
        size.depth = size.depth.max(of.depth + 1);
        Ok(ty.clone())
    }

    /// Two types of one name would be told apart by nobody who reads a message.
    fn declare(&mut self, name: &str) -> Result<(), String> {
        if !is_name(name) {
            return Err(format!("`{name}` is no name"));
        }
        if self.names.insert(name.to_owned()) { Ok(()) } else { Err(format!("`{name}` is declared twice")) }
    }
}

fn distinct<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> Result<(), String> {
    if names.len() == 0 {
        return Err("it is empty".to_owned());
    }
    let mut seen = BTreeSet::new();
    for name in names {
        if !is_name(name) || !seen.insert(name) {
            return Err(format!("`{name}` is no name, or stands there twice"));
        }
    }
    Ok(())
}
