//! A term as text in the expression language of the model format, with no more parentheses than it needs:
//! what is printed can be read back.

use std::fmt;

use crate::term::Term;
use crate::term::node::{Comparison, Node, Operator, StringOperation};
use crate::types::{RecordForm, RecordType, Type};
use crate::value::Value;

/// A larger expression is not printed in full: text repeats what terms share, and can be larger than any
/// disk. The stages stop before they make such an expression ([`Term::written_size`]); messages that show one
/// are cut.
pub const MAX_PRINTED: u64 = 4_000_000;

/// So much of a larger expression is printed.
const MOST_OF_TOO_LARGE: usize = 400;

/// The most cells of an array that are listed.
pub const MOST_LISTED: usize = 1_000;

/// Text that ends at the limit.
struct Limited {
    text: String,
}

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() > MOST_OF_TOO_LARGE {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

impl Term {
    /// The term as it stands among others that are joined by `&&`.
    pub fn to_conjunct(&self) -> String {
        if binding(self) < Binding::Comparison { format!("({self})") } else { self.to_string() }
    }
}

/// How tightly an expression binds; a higher number binds tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Conditional,
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Unary,
    Atom,
}

fn binding(term: &Term) -> Binding {
    match term.node() {
        Node::IfThenElse(..) => Binding::Conditional,
        Node::Or(_) => Binding::Or,
        Node::And(_) => Binding::And,
        Node::Compare(..) => Binding::Comparison,
        Node::Arithmetic(Operator::Add | Operator::Subtract, ..) => Binding::Sum,
        Node::Arithmetic(..) => Binding::Product,
        Node::OnStrings(StringOperation::Concatenate, _) => Binding::Sum,
        Node::Literal(value) => literal_binding(value),
        Node::Not(_) | Node::Negate(_) => Binding::Unary,
        Node::ToReal(inner) => binding(inner),
        Node::Data(_)
        | Node::Select(..)
        | Node::Store(..)
        | Node::Field(..)
        | Node::Record(..)
        | Node::OnStrings(..) => Binding::Atom,
    }
}

fn literal_binding(value: &Value) -> Binding {
    match value {
        Value::Real(value) if value.denominator() != &dashu::integer::UBig::ONE => Binding::Product,
        _ if crate::term::evaluate::sign(value) < 0 => Binding::Unary,
        _ => Binding::Atom,
    }
}

/// Says the text of which type it is? A list of elements does not: its type is that of what stands beside it.
fn says_type(term: &Term) -> bool {
    match term.node() {
        Node::Literal(Value::Array(_)) => false,
        Node::Literal(Value::Record(ty, _)) | Node::Record(ty, _) => ty.is_declared(),
        Node::Store(array, ..) => says_type(array),
        Node::IfThenElse(_, a, b) => says_type(a) || says_type(b),
        _ => true,
    }
}

/// A term where nothing beside it says of which type it is.
fn alone(f: &mut dyn fmt::Write, term: &Term, at_least: Binding) -> fmt::Result {
    if says_type(term) {
        return write(f, term, at_least);
    }
    f.write_str("(")?;
    write(f, term, Binding::Conditional)?;
    write!(f, ": {})", term.sort())
}

/// A value as a literal.
fn literal(f: &mut dyn fmt::Write, value: &Value) -> fmt::Result {
    match value {
        // A real's literal keeps its sort when read back: `2` beside an integer would be an integer.
        Value::Real(value) if value.denominator() == &dashu::integer::UBig::ONE => {
            write!(f, "{}.0", value.numerator())
        }
        Value::Real(value) => write!(f, "{}.0 / {}.0", value.numerator(), value.denominator()),
        Value::Array(array) => {
            let few = |count: &usize| *count <= MOST_LISTED && *count <= 4 * array.cells.len();
            let count = array.ty.index.cardinality().filter(few);
            f.write_str("[")?;
            if let Some(indices) = count.and_then(|count| Value::enumerate(&array.ty.index, count)) {
                for (at, index) in indices.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { ", " })?;
                    literal(f, array.get(index))?;
                }
                return f.write_str("]");
            }
            literal(f, &array.default)?;
            f.write_str(" for all]")?;
            for (index, cell) in &array.cells {
                f.write_str("[")?;
                literal(f, index)?;
                f.write_str(" := ")?;
                literal(f, cell)?;
                f.write_str("]")?;
            }
            Ok(())
        }
        Value::Record(ty, values) if ty.form == RecordForm::Plain => {
            fields(f, ty, values, |f, value| literal(f, value))
        }
        Value::Record(ty, values) => ty.write(f, values, &mut literal),
        Value::Id(name, _) => write!(f, "({value}: {name})"),
        value => write!(f, "{value}"),
    }
}

fn fields<T>(
    f: &mut dyn fmt::Write,
    ty: &RecordType,
    values: &[T],
    one: impl Fn(&mut dyn fmt::Write, &T) -> fmt::Result,
) -> fmt::Result {
    if ty.is_declared() {
        write!(f, "{} ", ty.name)?;
    }
    for (at, ((name, _), value)) in ty.fields.iter().zip(values).enumerate() {
        write!(f, "{}{name}: ", if at == 0 { "{" } else { ", " })?;
        one(f, value)?;
    }
    f.write_str("}")
}

fn write(f: &mut dyn fmt::Write, term: &Term, at_least: Binding) -> fmt::Result {
    // What is shared is written again and again.
    crate::budget::ask();
    if binding(term) < at_least {
        f.write_str("(")?;
        write(f, term, Binding::Conditional)?;
        return f.write_str(")");
    }
    match term.node() {
        Node::Literal(value) => literal(f, value),
        Node::Data(datum) => write!(f, "{datum}"),
        Node::Not(a) => {
            f.write_str("!")?;
            write(f, a, Binding::Atom)
        }
        Node::Negate(a) => {
            f.write_str("-")?;
            write(f, a, Binding::Atom)
        }
        Node::ToReal(a) => write(f, a, at_least),
        Node::And(parts) => separated(f, parts, " && ", Binding::Comparison),
        Node::Or(parts) => separated(f, parts, " || ", Binding::And),
        Node::Compare(comparison, a, b) => compare(f, *comparison, a, b),
        Node::IfThenElse(c, a, b) => {
            f.write_str("if ")?;
            write(f, c, Binding::Or)?;
            f.write_str(" then ")?;
            write(f, a, Binding::Or)?;
            f.write_str(" else ")?;
            write(f, b, Binding::Conditional)
        }
        Node::Arithmetic(operator, a, b) => {
            // All associate to the left.
            let (left, right) = match operator {
                Operator::Add | Operator::Subtract => (Binding::Sum, Binding::Product),
                _ => (Binding::Product, Binding::Unary),
            };
            write(f, a, left)?;
            write!(f, " {operator} ")?;
            write(f, b, right)
        }
        Node::Select(a, i) => {
            alone(f, a, Binding::Atom)?;
            f.write_str("[")?;
            alone(f, i, Binding::Conditional)?;
            f.write_str("]")
        }
        Node::OnStrings(operation, arguments) => on_strings(f, *operation, arguments),
        Node::Store(a, i, e) => {
            write(f, a, Binding::Atom)?;
            f.write_str("[")?;
            alone(f, i, Binding::Conditional)?;
            f.write_str(" := ")?;
            write(f, e, Binding::Conditional)?;
            f.write_str("]")
        }
        Node::Record(ty, parts) => fields(f, ty, parts, |f, part| write(f, part, Binding::Conditional)),
        Node::Field(a, position) => {
            alone(f, a, Binding::Atom)?;
            let Type::Record(record) = a.sort() else { unreachable!("{position} of a record") };
            write!(f, ".{}", record.fields[*position].0)
        }
    }
}

fn on_strings(f: &mut dyn fmt::Write, operation: StringOperation, arguments: &[Term]) -> fmt::Result {
    match (operation.function(), arguments) {
        (Some(name), _) => {
            write!(f, "{name}(")?;
            separated(f, arguments, ", ", Binding::Conditional)?;
            f.write_str(")")
        }
        (None, [s, rest @ ..]) if operation != StringOperation::Concatenate => {
            write(f, s, Binding::Atom)?;
            f.write_str("[")?;
            separated(f, rest, "..", Binding::Conditional)?;
            f.write_str("]")
        }
        (None, [s, t]) => {
            write(f, s, Binding::Sum)?;
            f.write_str(" + ")?;
            write(f, t, Binding::Product)
        }
        (None, _) => unreachable!("{operation:?} of {arguments:?}"),
    }
}

fn separated(f: &mut dyn fmt::Write, parts: &[Term], separator: &str, at_least: Binding) -> fmt::Result {
    for (position, part) in parts.iter().enumerate() {
        if position > 0 {
            f.write_str(separator)?;
        }
        write(f, part, at_least)?;
    }
    Ok(())
}

fn compare(f: &mut dyn fmt::Write, comparison: Comparison, a: &Term, b: &Term) -> fmt::Result {
    match says_type(b) {
        true => write(f, a, Binding::Sum)?,
        false => alone(f, a, Binding::Sum)?,
    }
    write!(f, " {comparison} ")?;
    write(f, b, Binding::Sum)
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.written_size() <= MAX_PRINTED {
            return write(f, self, Binding::Conditional);
        }
        let mut limited = Limited { text: String::new() };
        // An error says that the limit is met; strings have no other.
        let _ = write(&mut limited, self, Binding::Conditional);
        write!(f, "{} ... (an expression of more than {MAX_PRINTED} parts)", limited.text)
    }
}
