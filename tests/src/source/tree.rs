//! Expressions as they are written, with the types of their data.

use std::collections::BTreeMap;
use std::fmt;

use coreach_model::term::node::{Comparison, Operator};
use coreach_model::{Datum, Type, Value};

/// An expression. Nothing here simplifies.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tree {
    /// A truth value, an integer, or a literal of an enumeration.
    Literal(Value),
    /// A datum.
    Datum(Datum),
    /// `!a`
    Not(Box<Tree>),
    /// `-a`
    Negate(Box<Tree>),
    /// `a && b && ...`
    And(Vec<Tree>),
    /// `a || b || ...`
    Or(Vec<Tree>),
    /// `a => b => ...`
    Implies(Vec<Tree>),
    /// `a < b <= ...`
    Chain(Box<Tree>, Vec<(Comparison, Tree)>),
    /// `a + b`
    Arithmetic(Operator, Box<Tree>, Box<Tree>),
    /// `if c then a else b`
    If(Box<Tree>, Box<Tree>, Box<Tree>),
    /// `a[i]`
    Select(Box<Tree>, Box<Tree>),
    /// `a[i := e]`
    Store(Box<Tree>, Box<Tree>, Box<Tree>),
    /// A function, by its name.
    Call(&'static str, Vec<Tree>),
    /// `s[i..j]`
    Slice(Box<Tree>, Box<Tree>, Box<Tree>),
    /// `r.field`, by its position.
    Field(Box<Tree>, usize),
    /// What is written shortly, of its type, and its parts.
    Short(Form, Type, Vec<Tree>),
}

/// What stands for something longer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Form {
    /// `[e for all]`
    Filled,
    /// `Item { level: e, ... }`
    Record,
    /// `r with { level: e }`, by the field's position.
    With(usize),
    /// `[e, ...]`
    Listed,
    /// `q + [e]`
    Longer,
    /// `q[1..]`
    Rest,
    /// `q[i]` of a list, `m[k]`.
    Element,
    /// `{k, ...}`
    Set,
    /// `k in s`, `s + t`, or another operation of sets, by its sign.
    Between(&'static str),
    /// A value of the alternative of this number.
    Alternative(usize),
    /// `r is GOOD`, by the number of the alternative.
    Is(usize),
    /// `match r: GOOD(q) -> e | _ -> f`, by the number of the alternative.
    Match(usize, Datum),
    /// `all q in 0..1: e`, or another quantifier.
    Quantified(&'static str, Datum),
    /// `min(a, b)`, or another function that needs no declaration.
    Standard(&'static str),
}

/// The kinds of values that an expression can have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Integers.
    Integer,
    /// Rationals.
    Real,
    /// A string, an enumeration, an array or a record.
    Other(Type),
}

impl Sort {
    /// The sort of a type's values.
    pub fn of(ty: &Type) -> Self {
        match ty {
            Type::Bool => Sort::Bool,
            Type::Int | Type::Nat | Type::Range(..) => Sort::Integer,
            Type::Real => Sort::Real,
            other => Sort::Other(other.clone()),
        }
    }
}

impl Tree {
    /// A literal.
    pub fn literal(value: Value) -> Self {
        Tree::Literal(value)
    }

    /// `true`
    pub fn yes() -> Self {
        Tree::Literal(Value::Bool(true))
    }

    /// `false`
    pub fn no() -> Self {
        Tree::Literal(Value::Bool(false))
    }

    /// An integer.
    pub fn int(value: i64) -> Self {
        Tree::Literal(Value::int(value))
    }

    /// A datum.
    pub fn datum(datum: &Datum) -> Self {
        Tree::Datum(datum.clone())
    }

    /// Is it the literal `true`?
    pub fn is_true(&self) -> bool {
        *self == Tree::yes()
    }

    /// Is it the literal `false`, or a conjunction with that as a part?
    pub fn is_false(&self) -> bool {
        match self {
            Tree::And(parts) => parts.iter().any(Tree::is_false),
            Tree::Not(inner) => {
                inner.is_true() || matches!(&**inner, Tree::Or(parts) if parts.iter().any(Tree::is_true))
            }
            other => *other == Tree::no(),
        }
    }

    /// The conjunction. Only parts that are the literal `true` are left out.
    pub fn and(parts: impl IntoIterator<Item = Tree>) -> Self {
        let mut parts: Vec<Tree> = parts.into_iter().filter(|part| !part.is_true()).collect();
        match parts.len() {
            0 => Tree::yes(),
            1 => parts.swap_remove(0),
            _ => Tree::And(parts),
        }
    }

    /// The disjunction. Only parts that are the literal `false` are left out.
    pub fn or(parts: impl IntoIterator<Item = Tree>) -> Self {
        let mut parts: Vec<Tree> = parts.into_iter().filter(|part| *part != Tree::no()).collect();
        match parts.len() {
            0 => Tree::no(),
            1 => parts.swap_remove(0),
            _ => Tree::Or(parts),
        }
    }

    /// The negation; of a literal, the other one.
    #[must_use]
    pub fn not(&self) -> Self {
        match self {
            Tree::Literal(Value::Bool(value)) => Tree::Literal(Value::Bool(!value)),
            other => Tree::Not(Box::new(other.clone())),
        }
    }

    /// `a < b`
    pub fn compare(comparison: Comparison, a: &Tree, b: &Tree) -> Self {
        Tree::Chain(Box::new(a.clone()), vec![(comparison, b.clone())])
    }

    /// `a == b`
    pub fn equal(a: &Tree, b: &Tree) -> Self {
        Tree::compare(Comparison::Equal, a, b)
    }

    /// `a + b`
    pub fn arithmetic(operator: Operator, a: &Tree, b: &Tree) -> Self {
        Tree::Arithmetic(operator, Box::new(a.clone()), Box::new(b.clone()))
    }

    /// `if c then a else b`
    pub fn if_then_else(c: &Tree, a: &Tree, b: &Tree) -> Self {
        Tree::If(Box::new(c.clone()), Box::new(a.clone()), Box::new(b.clone()))
    }

    /// `a[i]`
    pub fn select(array: &Tree, index: &Tree) -> Self {
        Tree::Select(Box::new(array.clone()), Box::new(index.clone()))
    }

    /// `a[i := e]`
    pub fn store(array: &Tree, index: &Tree, element: &Tree) -> Self {
        Tree::Store(Box::new(array.clone()), Box::new(index.clone()), Box::new(element.clone()))
    }

    /// `f(a, b)`
    pub fn call(name: &'static str, arguments: &[Tree]) -> Self {
        Tree::Call(name, arguments.to_vec())
    }

    /// `s[i..j]`
    pub fn slice(text: &Tree, from: &Tree, to: &Tree) -> Self {
        Tree::Slice(Box::new(text.clone()), Box::new(from.clone()), Box::new(to.clone()))
    }

    /// `r.field`
    pub fn field(record: &Tree, position: usize) -> Self {
        Tree::Field(Box::new(record.clone()), position)
    }

    /// The datum, where it is one.
    pub fn as_datum(&self) -> Option<&Datum> {
        match self {
            Tree::Datum(datum) => Some(datum),
            _ => None,
        }
    }

    /// The parts.
    pub fn children(&self) -> Vec<&Tree> {
        match self {
            Tree::Literal(_) | Tree::Datum(_) => Vec::new(),
            Tree::Not(a) | Tree::Negate(a) | Tree::Field(a, _) => vec![a],
            Tree::And(parts)
            | Tree::Or(parts)
            | Tree::Implies(parts)
            | Tree::Short(_, _, parts)
            | Tree::Call(_, parts) => parts.iter().collect(),
            Tree::Chain(first, rest) => {
                std::iter::once(&**first).chain(rest.iter().map(|(_, part)| part)).collect()
            }
            Tree::Arithmetic(_, a, b) | Tree::Select(a, b) => vec![a, b],
            Tree::If(a, b, c) | Tree::Store(a, b, c) | Tree::Slice(a, b, c) => vec![a, b, c],
        }
    }

    /// The tree with its parts changed.
    #[must_use]
    pub fn map(&self, mut change: impl FnMut(&Tree) -> Tree) -> Self {
        let mut one = |tree: &Tree| Box::new(change(tree));
        match self {
            Tree::Literal(_) | Tree::Datum(_) => self.clone(),
            Tree::Not(a) => Tree::Not(one(a)),
            Tree::Negate(a) => Tree::Negate(one(a)),
            Tree::Field(a, position) => Tree::Field(one(a), *position),
            Tree::And(parts) => Tree::And(parts.iter().map(change).collect()),
            Tree::Or(parts) => Tree::Or(parts.iter().map(change).collect()),
            Tree::Implies(parts) => Tree::Implies(parts.iter().map(change).collect()),
            Tree::Short(form, ty, parts) => {
                Tree::Short(form.clone(), ty.clone(), parts.iter().map(change).collect())
            }
            Tree::Call(name, parts) => Tree::Call(name, parts.iter().map(change).collect()),
            Tree::Slice(a, b, c) => Tree::Slice(one(a), one(b), one(c)),
            Tree::Chain(first, rest) => {
                let first = one(first);
                Tree::Chain(first, rest.iter().map(|(sign, part)| (*sign, change(part))).collect())
            }
            Tree::Arithmetic(operator, a, b) => Tree::Arithmetic(*operator, one(a), one(b)),
            Tree::Select(a, i) => Tree::Select(one(a), one(i)),
            Tree::If(c, a, b) => Tree::If(one(c), one(a), one(b)),
            Tree::Store(a, i, e) => Tree::Store(one(a), one(i), one(e)),
        }
    }

    /// The tree with data replaced.
    #[must_use]
    pub fn replaced(&self, with: &BTreeMap<Datum, Tree>) -> Self {
        match self {
            Tree::Datum(datum) => with.get(datum).cloned().unwrap_or_else(|| self.clone()),
            other => other.map(|part| part.replaced(with)),
        }
    }

    /// Is something in it written shortly?
    pub fn is_short(&self) -> bool {
        matches!(self, Tree::Short(..)) || self.children().into_iter().any(Tree::is_short)
    }

    /// Does it mention the datum?
    pub fn mentions(&self, datum: &Datum) -> bool {
        self.as_datum() == Some(datum) || self.children().into_iter().any(|part| part.mentions(datum))
    }

    /// What kind of values it has.
    pub fn sort(&self) -> Sort {
        match self {
            Tree::Literal(value) => Sort::of(&value.sort()),
            Tree::Short(_, ty, _) => Sort::of(ty),
            Tree::Datum(datum) => Sort::of(datum.ty()),
            Tree::Not(_) | Tree::And(_) | Tree::Or(_) | Tree::Implies(_) | Tree::Chain(..) => Sort::Bool,
            Tree::Negate(a) | Tree::Store(a, ..) => a.sort(),
            Tree::Call("starts_with" | "ends_with" | "contains" | "fresh", _) => Sort::Bool,
            Tree::Call("to_string", _) | Tree::Slice(..) => Sort::Other(Type::String),
            Tree::Call(..) => Sort::Integer,
            Tree::Arithmetic(Operator::Divide, ..) => Sort::Real,
            Tree::Arithmetic(_, a, b) | Tree::If(_, a, b) => match (a.sort(), b.sort()) {
                (Sort::Integer, Sort::Real) => Sort::Real,
                (sort, _) => sort,
            },
            Tree::Select(a, _) => match a.sort() {
                Sort::Other(Type::Array(array)) => Sort::of(&array.element),
                Sort::Other(Type::String) => Sort::Other(Type::String),
                other => panic!("{other:?} is no array"),
            },
            Tree::Field(a, position) => match a.sort() {
                Sort::Other(Type::Record(record)) => Sort::of(&record.fields[*position].1),
                other => panic!("{other:?} is no record"),
            },
        }
    }

    /// How many parts it has in all; a literal counts less than anything else.
    pub fn size(&self) -> usize {
        let own = if matches!(self, Tree::Literal(_)) { 1 } else { 2 };
        own + self.children().into_iter().map(Tree::size).sum::<usize>()
    }
}

/// A part of an expression: in brackets, unless it is a word, a number, a read or a field.
struct Part<'a>(&'a Tree);

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_negative = matches!(self.0, Tree::Literal(Value::Int(value)) if *value < 0.into());
        match self.0 {
            Tree::Literal(_) if is_negative => write!(f, "({})", self.0),
            Tree::Literal(_)
            | Tree::Datum(_)
            | Tree::Select(..)
            | Tree::Store(..)
            | Tree::Call(..)
            | Tree::Slice(..)
            | Tree::Field(..) => write!(f, "{}", self.0),
            other => write!(f, "({other})"),
        }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, parts: &[Tree], sign: &str) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        write!(f, "{}{}", if at == 0 { "" } else { sign }, Part(part))?;
    }
    Ok(())
}

fn alternative(value: &Tree, number: usize) -> String {
    match value.sort() {
        Sort::Other(Type::Record(of)) => of.alternatives()[number].name.clone(),
        other => panic!("{other:?} has no alternatives"),
    }
}

fn short(f: &mut fmt::Formatter<'_>, form: &Form, ty: &Type, parts: &[Tree]) -> fmt::Result {
    match (form, ty, parts) {
        (Form::Filled, _, [element]) => write!(f, "[{element} for all]"),
        (Form::Listed, ..) => {
            let parts: Vec<String> = parts.iter().map(Tree::to_string).collect();
            write!(f, "[{}]", parts.join(", "))
        }
        (Form::Longer, _, [list, element]) => write!(f, "{} + [{element}]", Part(list)),
        (Form::Rest, _, [list]) => write!(f, "{}[1..]", Part(list)),
        (Form::Element, _, [list, index]) => write!(f, "{}[{index}]", Part(list)),
        (Form::Set, ..) => {
            f.write_str("{")?;
            joined(f, parts, ", ")?;
            f.write_str("}")
        }
        (Form::Between(sign), _, [a, b]) => write!(f, "{} {sign} {}", Part(a), Part(b)),
        (Form::Alternative(number), Type::Record(of), _) => match parts {
            [] => f.write_str(&of.alternatives()[*number].name),
            _ => {
                write!(f, "{}(", of.alternatives()[*number].name)?;
                joined(f, parts, ", ")?;
                f.write_str(")")
            }
        },
        (Form::Is(number), _, [value]) => {
            write!(f, "{} is {}", Part(value), alternative(value, *number))
        }
        (Form::Match(number, datum), _, [value, body, rest]) => {
            let name = alternative(value, *number);
            write!(f, "match {}: {name}({datum}) -> {body} | _ -> {rest}", Part(value))
        }
        (Form::Record, Type::Record(of), _) => {
            let fields = of.fields.iter().zip(parts).map(|((name, _), part)| format!("{name}: {part}"));
            write!(f, "{} {{ {} }}", of.name, fields.collect::<Vec<_>>().join(", "))
        }
        (Form::With(at), Type::Record(of), [base, value]) => {
            write!(f, "{} with {{ {}: {value} }}", Part(base), of.fields[*at].0)
        }
        (Form::Quantified(word, datum), _, [body]) => match datum.ty() {
            Type::Range(low, high) => write!(f, "{word} {datum} in {low}..{high}: {body}"),
            ty => write!(f, "{word} {datum} in {ty}: {body}"),
        },
        (Form::Standard(name), _, _) => {
            let arguments: Vec<String> = parts.iter().map(Tree::to_string).collect();
            write!(f, "{name}({})", arguments.join(", "))
        }
        other => panic!("{other:?} is no expression"),
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Short(form, ty, parts) => short(f, form, ty, parts),
            Tree::Literal(Value::Id(name, text)) => write!(f, "({}: {name})", Value::string(text)),
            Tree::Literal(value) => write!(f, "{value}"),
            Tree::Datum(datum) => f.write_str(datum.name()),
            Tree::Not(a) => write!(f, "!{}", Part(a)),
            Tree::Negate(a) => write!(f, "-{}", Part(a)),
            Tree::And(parts) => joined(f, parts, " && "),
            Tree::Or(parts) => joined(f, parts, " || "),
            Tree::Implies(parts) => joined(f, parts, " => "),
            Tree::Chain(first, rest) => {
                write!(f, "{}", Part(first))?;
                rest.iter().try_for_each(|(comparison, part)| write!(f, " {comparison} {}", Part(part)))
            }
            Tree::Arithmetic(operator, a, b) => write!(f, "{} {operator} {}", Part(a), Part(b)),
            Tree::If(c, a, b) => write!(f, "if {c} then {a} else {b}"),
            Tree::Call(name, parts) => {
                write!(f, "{name}(")?;
                joined(f, parts, ", ")?;
                f.write_str(")")
            }
            Tree::Slice(a, i, j) => write!(f, "{}[{i}..{j}]", Part(a)),
            Tree::Select(a, i) => write!(f, "{}[{i}]", Part(a)),
            Tree::Store(a, i, e) => write!(f, "{}[{i} := {e}]", Part(a)),
            Tree::Field(a, position) => match a.sort() {
                Sort::Other(Type::Record(record)) => {
                    write!(f, "{}.{}", Part(a), record.spell_field(*position))
                }
                other => panic!("{other:?} is no record"),
            },
        }
    }
}
