//! Types of the model in TTCN-3: their declarations, the functions that they need, values, and whether a
//! value lies in a type.
//!
//! All integers are plain ones: a subtype would end a test with a dynamic error where ours gives a verdict.
//! So whether a value lies in its type is asked for (`in_...`). An array is a default and a list of cells,
//! the same map in many spellings, so it is compared by a function (`same_...`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use coreach_model::types::{RecordForm, RecordType};
use coreach_model::{Type, Value};

use super::super::{Scope, Words};

/// The types that are spoken of.
#[derive(Default)]
pub struct TtcnTypes {
    names: BTreeMap<Type, String>,
    /// Their declarations and functions.
    pub lines: String,
    /// Those for which there are more functions: a choice between two, a list.
    chosen: BTreeSet<String>,
    listed: BTreeSet<String>,
    /// Values that have no literal of their own, by their texts.
    constants: BTreeMap<String, String>,
}

impl TtcnTypes {
    /// The type's name; it is declared where it is new.
    pub fn of(&mut self, ty: &Type, words: &mut Words) -> String {
        match ty {
            Type::Bool => return "boolean".to_owned(),
            Type::Int | Type::Nat | Type::Range(..) => return "integer".to_owned(),
            // Refused before.
            Type::Real => return "float".to_owned(),
            Type::String | Type::Id(_) => return "universal charstring".to_owned(),
            Type::Enum(_) | Type::Record(_) | Type::Array(_) => {}
        }
        if let Some(known) = self.names.get(ty) {
            return known.clone();
        }
        let name = match ty {
            Type::Enum(of) => words.of(Scope::Type, &of.name),
            Type::Record(of) => words.of(Scope::Type, &of.name),
            _ => words.of(Scope::Type, &format!("array {}", self.names.len())),
        };
        match ty {
            Type::Enum(of) => {
                let literals: Vec<String> =
                    of.literals.iter().map(|literal| words.of(Scope::Literal, literal)).collect();
                let _ = writeln!(self.lines, "  type enumerated {name} {{ {} }}", literals.join(", "));
            }
            Type::Record(of) => {
                let mut fields = Vec::new();
                for (field, inner) in &of.fields {
                    fields.push(format!("{} {}", self.of(inner, words), words.of(Scope::Field, field)));
                }
                let _ = writeln!(self.lines, "  type record {name} {{ {} }}", fields.join(", "));
            }
            Type::Array(of) => {
                let (index, element) = (self.of(&of.index, words), self.of(&of.element, words));
                let _ = writeln!(
                    self.lines,
                    "  type record Cell_{name} {{ {index} index_, {element} element_ }}"
                );
                let _ = writeln!(self.lines, "  type record of Cell_{name} Cells_{name};");
                let _ = writeln!(
                    self.lines,
                    "  type record {name} {{ {element} default_, Cells_{name} cells_ }}"
                );
            }
            _ => {}
        }
        self.names.insert(ty.clone(), name.clone());
        self.functions(ty, &name, words);
        name
    }

    /// What is done with records and arrays.
    fn functions(&mut self, ty: &Type, name: &str, words: &mut Words) {
        let mut out = String::new();
        if let Type::Record(of) = ty {
            let all = |of_one: &mut dyn FnMut(&str, &Type) -> Option<String>, words: &mut Words| {
                let mut parts = Vec::new();
                for (field, inner) in &of.fields {
                    parts.extend(of_one(&words.of(Scope::Field, field), inner));
                }
                if parts.is_empty() { "true".to_owned() } else { parts.join(" and ") }
            };
            let inside = all(&mut |field, inner| self.inside(inner, &format!("a.{field}")), words);
            let inside =
                std::iter::once(inside).chain(self.canonical(of, words)).collect::<Vec<_>>().join(" and ");
            let same = all(
                &mut |field, inner| Some(self.same(inner, &format!("a.{field}"), &format!("b.{field}"))),
                words,
            );
            let _ = writeln!(out, "  function in_{name}({name} a) return boolean {{ return {inside}; }}");
            let _ = writeln!(
                out,
                "  function same_{name}({name} a, {name} b) return boolean {{ return {same}; }}"
            );
        }
        if let Type::Array(of) = ty {
            let (index, element) = (self.of(&of.index, words), self.of(&of.element, words));
            let (here, other) = ("a.cells_[i].index_", "a.cells_[i].element_");
            let found = self.same(&of.index, here, "at");
            let both = [self.inside(&of.index, here), self.inside(&of.element, other)];
            let both: Vec<String> = both.into_iter().flatten().collect();
            let cells = if both.is_empty() { "true".to_owned() } else { both.join(" and ") };
            let default = self.inside(&of.element, "a.default_").unwrap_or_else(|| "true".to_owned());
            let alike = self.same(&of.element, "x", "y");
            let defaults = self.same(&of.element, "a.default_", "b.default_");
            // So many indices are all: then the default is no cell's.
            let count = of.index.cardinality().map_or("-1".to_owned(), |count| count.to_string());
            let _ = write!(
                out,
                r"  function get_{name}({name} a, {index} at) return {element} {{
    for (var integer i := 0; i < lengthof(a.cells_); i := i + 1) {{ if ({found}) {{ return a.cells_[i].element_; }} }}
    return a.default_;
  }}
  function has_{name}({name} a, {index} at) return boolean {{
    for (var integer i := 0; i < lengthof(a.cells_); i := i + 1) {{ if ({found}) {{ return true; }} }}
    return false;
  }}
  function put_{name}({name} a, {index} at, {element} new_) return {name} {{
    var {name} b := a;
    for (var integer i := 0; i < lengthof(a.cells_); i := i + 1) {{ if ({found}) {{ b.cells_[i].element_ := new_; return b; }} }}
    b.cells_[lengthof(a.cells_)] := {{ index_ := at, element_ := new_ }};
    return b;
  }}
  function in_{name}({name} a) return boolean {{
    for (var integer i := 0; i < lengthof(a.cells_); i := i + 1) {{ if (not ({cells})) {{ return false; }} }}
    return {default};
  }}
  function differ_{name}({element} x, {element} y) return boolean {{ return not ({alike}); }}
  function same_{name}({name} a, {name} b) return boolean {{
    var integer known := lengthof(a.cells_);
    for (var integer i := 0; i < lengthof(a.cells_); i := i + 1) {{
      if (differ_{name}(a.cells_[i].element_, get_{name}(b, a.cells_[i].index_))) {{ return false; }}
    }}
    for (var integer i := 0; i < lengthof(b.cells_); i := i + 1) {{
      if (not has_{name}(a, b.cells_[i].index_)) {{ known := known + 1; }}
      if (differ_{name}(b.cells_[i].element_, get_{name}(a, b.cells_[i].index_))) {{ return false; }}
    }}
    return known == {count} or {defaults};
  }}
"
            );
        }
        self.lines.push_str(&out);
    }

    /// That the fields that do not count are the simplest.
    fn canonical(&mut self, of: &RecordType, words: &mut Words) -> Vec<String> {
        let first = format!("a.{}", words.of(Scope::Field, &of.fields[0].0));
        let mut parts = Vec::new();
        for (at, (field, ty)) in of.fields.iter().enumerate().skip(1) {
            let counts = match &of.form {
                RecordForm::Plain | RecordForm::Keyed(_) => continue,
                RecordForm::List => format!("{first} >= {at}"),
                RecordForm::Option => first.clone(),
                RecordForm::Variant(known) => {
                    let tags = (0..known.len()).map(|number| of.tag(number));
                    let tag = tags.filter(|tag| of.counts(tag, at)).map(|tag| self.literal(&tag, words));
                    tag.map(|tag| format!("{first} == {tag}")).collect()
                }
            };
            let simplest = self.value(&Value::any(ty), words);
            let same = self.same(ty, &format!("a.{}", words.of(Scope::Field, field)), &simplest);
            parts.push(format!("({counts} or {same})"));
        }
        parts
    }

    /// There is a function that chooses between two values of the type.
    pub fn chosen(&mut self, ty: &str) {
        if self.chosen.insert(ty.to_owned()) {
            let _ = writeln!(
                self.lines,
                "  function if_{ty}(boolean c, {ty} a, {ty} b) return {ty} {{ if (c) {{ return a; }} return b; }}"
            );
        }
    }

    /// The function that gives a field of a record.
    pub fn field(&mut self, record: &Type, field: &str, inner: &str) -> String {
        let of = self.name(record);
        let name = format!("field_{of}_{field}");
        if self.chosen.insert(name.clone()) {
            let _ = writeln!(self.lines, "  function {name}({of} a) return {inner} {{ return a.{field}; }}");
        }
        name
    }

    /// The function that makes a record of its fields.
    pub fn make(&mut self, record: &Type, words: &mut Words) -> String {
        let of = self.of(record, words);
        let name = format!("make_{of}");
        if let (Type::Record(ty), true) = (record, self.chosen.insert(name.clone())) {
            let (mut parameters, mut parts) = (Vec::new(), Vec::new());
            for (at, (field, inner)) in ty.fields.iter().enumerate() {
                parameters.push(format!("{} p{at}", self.of(inner, words)));
                parts.push(format!("{} := p{at}", words.of(Scope::Field, field)));
            }
            let (parameters, parts) = (parameters.join(", "), parts.join(", "));
            let _ = writeln!(
                self.lines,
                "  function {name}({parameters}) return {of} {{ var {of} r := {{ {parts} }}; return r; }}"
            );
        }
        name
    }

    /// There is a type of lists of the type.
    pub fn listed(&mut self, ty: &str) {
        if self.listed.insert(ty.to_owned()) {
            let _ = writeln!(self.lines, "  type record of {ty} ListOf_{ty};");
        }
    }

    /// That two values are one.
    pub fn same(&self, ty: &Type, a: &str, b: &str) -> String {
        match self.names.get(ty) {
            Some(name) if matches!(ty, Type::Record(_) | Type::Array(_)) => format!("same_{name}({a}, {b})"),
            _ => format!("({a} == {b})"),
        }
    }

    /// That a value lies in its type; nothing where each does.
    pub fn inside(&self, ty: &Type, a: &str) -> Option<String> {
        match ty {
            Type::Nat => Some(format!("({a} >= 0)")),
            Type::Range(low, high) => Some(format!(
                "({a} >= {}) and ({a} <= {})",
                integer(&low.to_string()),
                integer(&high.to_string())
            )),
            Type::Record(_) | Type::Array(_) => Some(format!("in_{}({a})", self.names.get(ty)?)),
            Type::Bool | Type::Int | Type::Real | Type::String | Type::Id(_) | Type::Enum(_) => None,
        }
    }

    /// The name of a declared type, which its functions bear.
    pub fn name(&self, ty: &Type) -> String {
        self.names.get(ty).cloned().unwrap_or_default()
    }

    /// A value as an expression.
    pub fn value(&mut self, value: &Value, words: &mut Words) -> String {
        let text = self.literal(value, words);
        if !matches!(value, Value::Record(..) | Value::Array(_)) {
            return text;
        }
        if let Some(known) = self.constants.get(&text) {
            return known.clone();
        }
        let name = format!("const_{}", self.constants.len());
        let ty = self.of(&value.sort(), words);
        let _ = writeln!(self.lines, "  const {ty} {name} := {text};");
        self.constants.insert(text, name.clone());
        name
    }

    /// A value where its type is known.
    pub fn literal(&mut self, value: &Value, words: &mut Words) -> String {
        self.of(&value.sort(), words);
        match value {
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => integer(&value.to_string()),
            // Refused before.
            Value::Real(_) | Value::String(_) | Value::Id(..) => String::new(),
            Value::Enum(of, at) => words.of(Scope::Literal, &of.literals[*at]),
            Value::Record(of, values) => {
                let mut fields = Vec::new();
                for ((field, _), value) in of.fields.iter().zip(values) {
                    fields.push(format!(
                        "{} := {}",
                        words.of(Scope::Field, field),
                        self.literal(value, words)
                    ));
                }
                format!("{{ {} }}", fields.join(", "))
            }
            Value::Array(array) => {
                let mut cells = Vec::new();
                for (index, value) in &array.cells {
                    let (index, value) = (self.literal(index, words), self.literal(value, words));
                    cells.push(format!("{{ index_ := {index}, element_ := {value} }}"));
                }
                let default = self.literal(&array.default, words);
                format!("{{ default_ := {default}, cells_ := {{ {} }} }}", cells.join(", "))
            }
        }
    }
}

/// A negative number is an operation.
fn integer(decimal: &str) -> String {
    if decimal.starts_with('-') { format!("({decimal})") } else { decimal.to_owned() }
}
