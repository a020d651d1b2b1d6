//! The table of types has each type that a document mentions once, by number.
//!
//! A type names only types before it, so a table is read in one pass and no type can contain itself.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use coreach_model::limits::{DEEPEST, MOST_PARTS};
use coreach_model::number::{self, DOCUMENT_DIGITS};
use coreach_model::reader::lexer::is_name;
use coreach_model::types::{Alternative, ArrayType, EnumType, RecordForm, RecordType};
use coreach_model::{Datum, Type};
use dashu_int::IBig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The place of a type in the table of types.
pub type TypeNumber = usize;

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
    /// Texts of which only equality is known.
    Id {
        /// Its name; `id` where it has none of its own.
        name: String,
    },
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
    /// A record of which an alternative's fields count.
    Variant {
        /// Its name.
        name: String,
        /// What its values may be, in order.
        alternatives: Vec<AlternativeEntry>,
    },
    /// A value or none.
    Option {
        /// The type of the value.
        some: TypeNumber,
    },
    /// Lists up to a length.
    List {
        /// The length.
        most: usize,
        /// The type of the elements.
        element: TypeNumber,
    },
    /// Sets of keys.
    Set {
        /// The type of the keys.
        key: TypeNumber,
        /// The most keys, where the type of the keys gives no bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most: Option<usize>,
    },
    /// Maps of keys to values.
    Map {
        /// The type of the keys.
        key: TypeNumber,
        /// The type of the values.
        value: TypeNumber,
        /// The most keys, where the type of the keys gives no bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most: Option<usize>,
    },
}

/// An alternative of a variant: its name and its fields.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlternativeEntry {
    /// Its name.
    pub name: String,
    /// Its fields, in order.
    pub fields: Vec<DatumEntry>,
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

/// The table while it is being filled.
#[derive(Clone, Default, Debug)]
pub struct TypeTable {
    nodes: Vec<TypeNode>,
    types: Vec<Type>,
    numbers: HashMap<Type, TypeNumber>,
}

impl TypeTable {
    /// Gives the number of a type, and adds the type after its parts if it is new.
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
            Type::Id(name) => TypeNode::Id { name: name.to_string() },
            Type::Range(low, high) => TypeNode::Range { low: low.to_string(), high: high.to_string() },
            Type::Enum(ty) => TypeNode::Enum { name: ty.name.clone(), literals: ty.literals.clone() },
            Type::Array(ty) => {
                TypeNode::Array { index: self.number(&ty.index), element: self.number(&ty.element) }
            }
            Type::Record(ty) => self.record(ty),
        };
        self.nodes.push(node);
        self.types.push(ty.clone());
        self.numbers.insert(ty.clone(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// Makes the node of a record by its form.
    fn record(&mut self, record: &RecordType) -> TypeNode {
        let name = record.name.clone();
        match &record.form {
            RecordForm::List => {
                TypeNode::List { most: record.fields.len() - 1, element: self.number(record.element_type()) }
            }
            RecordForm::Keyed(key) | RecordForm::Entries(key, _) => {
                let (key, most) = (self.number(key), record.most());
                match record.map_value_type() {
                    None => TypeNode::Set { key, most },
                    Some(value) => TypeNode::Map { key, value: self.number(value), most },
                }
            }
            RecordForm::Option => TypeNode::Option { some: self.number(record.content_type()) },
            RecordForm::Plain => TypeNode::Record {
                name,
                fields: record.fields.iter().map(|(name, ty)| self.entry(name, ty)).collect(),
            },
            RecordForm::Variant(alternatives) => {
                let entry = |alternative: &Alternative| {
                    let field = |place| {
                        let (_, ty) = &record.fields[alternative.first + place];
                        self.entry(record.field_of(alternative, place), ty)
                    };
                    let fields = (0..alternative.count).map(field).collect();
                    AlternativeEntry { name: alternative.name.clone(), fields }
                };
                TypeNode::Variant { name, alternatives: alternatives.iter().map(entry).collect() }
            }
        }
    }

    fn entry(&mut self, name: &str, ty: &Type) -> DatumEntry {
        DatumEntry { name: name.to_owned(), ty: self.number(ty) }
    }

    /// Makes the entry of a datum.
    pub fn datum(&mut self, datum: &Datum) -> DatumEntry {
        self.entry(datum.name(), datum.ty())
    }

    /// The types by their numbers.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The nodes of the types by their numbers.
    pub fn nodes(&self) -> &[TypeNode] {
        &self.nodes
    }
}

/// Reads the types of a table.
pub fn read_types(nodes: &[TypeNode]) -> Result<Vec<Type>, String> {
    let mut reader = ReadTypes::default();
    for (number, node) in nodes.iter().enumerate() {
        let (ty, size) = reader.read_type(node).map_err(|why| format!("the type {number}: {why}"))?;
        if size.parts > MOST_PARTS || size.depth > DEEPEST {
            return Err(format!(
                "the type {number} has more than {MOST_PARTS} parts, or is nested too deeply"
            ));
        }
        reader.types.push(ty);
        reader.sizes.push(size);
    }
    Ok(reader.types)
}

/// The size of a type: its parts with theirs, itself included, and its nesting, from 1 on.
#[derive(Clone, Copy)]
struct TypeSize {
    parts: usize,
    depth: usize,
}

/// The types that were read so far.
#[derive(Default)]
struct ReadTypes {
    types: Vec<Type>,
    sizes: Vec<TypeSize>,
    names: BTreeSet<String>,
}

impl ReadTypes {
    /// Reads one row of the table. `Err` says in words what is wrong with it.
    fn read_type(&mut self, node: &TypeNode) -> Result<(Type, TypeSize), String> {
        let mut size = TypeSize { parts: 1, depth: 1 };
        let ty = match node {
            TypeNode::Bool => Type::Bool,
            TypeNode::Int => Type::Int,
            TypeNode::Nat => Type::Nat,
            TypeNode::Real => Type::Real,
            TypeNode::String => Type::String,
            TypeNode::Id { name } => {
                self.declare(name)?;
                Type::Id(name.as_str().into())
            }
            TypeNode::Range { low, high } => {
                let bound = |text: &str| -> Result<IBig, String> {
                    number::integer(text, DOCUMENT_DIGITS).map_err(|_| format!("`{text}` is not an integer"))
                };
                let (low, high) = (bound(low)?, bound(high)?);
                if low > high {
                    return Err("it has no values".to_owned());
                }
                Type::Range(low, high)
            }
            TypeNode::Enum { name, literals } => {
                self.declare(name)?;
                check_names(literals.iter())?;
                size.parts += literals.len();
                Type::Enum(Arc::new(EnumType { name: name.clone(), literals: literals.clone() }))
            }
            TypeNode::Array { index, element } => {
                let (index, element) =
                    (self.use_part(*index, &mut size)?, self.use_part(*element, &mut size)?);
                Type::Array(Arc::new(ArrayType { index, element }))
            }
            TypeNode::Record { name, fields } => {
                self.declare(name)?;
                let fields = self.fields(fields, &mut size)?;
                Type::Record(Arc::new(RecordType { name: name.clone(), fields, form: RecordForm::Plain }))
            }
            TypeNode::Variant { name, alternatives } => {
                self.declare(name)?;
                check_names(alternatives.iter().map(|alternative| &alternative.name))?;
                let mut named_fields = Vec::new();
                for alternative in alternatives {
                    // `fields` refuses an empty list, which an alternative may have.
                    let fields = match alternative.fields.is_empty() {
                        true => Vec::new(),
                        false => self.fields(&alternative.fields, &mut size)?,
                    };
                    named_fields.push((alternative.name.clone(), fields));
                }
                let variant = RecordType::variant(name, &named_fields);
                // `alternative'field` may be one name of two fields: of `a` and `b'c`, and of `a'b` and `c`.
                check_names(variant.fields.iter().map(|(name, _)| name))?;
                Type::Record(Arc::new(variant))
            }
            TypeNode::Option { some } => {
                Type::Record(Arc::new(RecordType::option(&self.use_part(*some, &mut size)?)))
            }
            TypeNode::List { most, element } => {
                let element = self.use_part(*element, &mut size)?;
                // The record of a list has a slot for each element.
                size.parts = size.parts.saturating_mul(*most);
                if *most == 0 || size.parts > MOST_PARTS {
                    return Err(format!("a list of at most {most} elements"));
                }
                Type::Record(Arc::new(RecordType::list(*most, &element)))
            }
            TypeNode::Set { key, most } => self.read_set_or_map(*key, None, *most, &mut size)?,
            TypeNode::Map { key, value, most } => {
                self.read_set_or_map(*key, Some(*value), *most, &mut size)?
            }
        };
        Ok((ty, size))
    }

    /// Reads a set, or a map if there is a type of values. `most` is its bound, if it has one.
    fn read_set_or_map(
        &self,
        key: TypeNumber,
        value: Option<TypeNumber>,
        most: Option<usize>,
        size: &mut TypeSize,
    ) -> Result<Type, String> {
        let key = self.use_part(key, size)?;
        let value = value.map(|value| self.use_part(value, size)).transpose()?;
        if let Some(most) = most {
            size.parts = size.parts.saturating_mul(most);
            if !(1..=MOST_PARTS).contains(&size.parts) || !(key.is_ordered() || key.is_id()) {
                return Err(format!("{key} cannot be the type of keys, or {most} cannot be a bound"));
            }
            return Ok(Type::Record(Arc::new(RecordType::entries_of(most, &key, value.as_ref()))));
        }
        // As in a model: only these keys have a field each.
        let is_simple = matches!(key, Type::Bool | Type::Enum(_) | Type::Range(..));
        let record = RecordType::keyed(&key, value.as_ref()).filter(|_| is_simple);
        let record = record.ok_or_else(|| format!("{key} cannot be the type of keys"))?;
        size.parts = size.parts.saturating_mul(record.fields.len());
        Ok(Type::Record(Arc::new(record)))
    }

    /// Reads fields. There must be at least one, and their names must be distinct.
    fn fields(&self, fields: &[DatumEntry], size: &mut TypeSize) -> Result<Vec<(String, Type)>, String> {
        check_names(fields.iter().map(|field| &field.name))?;
        fields.iter().map(|field| Ok((field.name.clone(), self.use_part(field.ty, size)?))).collect()
    }

    /// Gives a type that another one uses, and adds it to the size of the other one.
    fn use_part(&self, number: TypeNumber, size: &mut TypeSize) -> Result<Type, String> {
        let part = self.types.get(number).zip(self.sizes.get(number));
        let (part, part_size) = part.ok_or("it names a later type")?;
        size.parts = size.parts.saturating_add(part_size.parts);
        size.depth = size.depth.max(part_size.depth + 1);
        Ok(part.clone())
    }

    /// Notes the name of a type. Two types of one name could not be told apart in a message.
    fn declare(&mut self, name: &str) -> Result<(), String> {
        if !is_name(name) {
            return Err(format!("`{name}` is not a name"));
        }
        if self.names.insert(name.to_owned()) { Ok(()) } else { Err(format!("`{name}` is declared twice")) }
    }
}

/// Checks that there are names, and that they are distinct.
fn check_names<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> Result<(), String> {
    if names.len() == 0 {
        return Err("it is empty".to_owned());
    }
    let mut seen = BTreeSet::new();
    for name in names {
        if !is_name(name) || !seen.insert(name) {
            return Err(format!("`{name}` is not a name, or appears twice"));
        }
    }
    Ok(())
}
