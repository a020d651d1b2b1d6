//! A term as text in the expression language of the model format, with no more parentheses than it needs:
//! what is printed can be read back.

use std::fmt;

use crate::term::Term;
use crate::term::node::{Comparison, Node, Operator};
use crate::types::Type;
use crate::value::Value;

/// A larger expression is not printed in full: text repeats what terms share, and can be larger than any
/// disk. The stages stop before they make such an expression ([`Term::written_size`]); messages that show one
/// are cut.
pub const MAX_PRINTED: u64 = 4_000_000;

/// So much of a larger expression is printed.
const MOST_OF_TOO_LARGE: usize = 400;

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
        Node::Literal(value) => literal_binding(value),
        Node::Not(_) | Node::Negate(_) => Binding::Unary,
        Node::ToReal(inner) => binding(inner),
        Node::Data(_) | Node::Select(..) | Node::Store(..) | Node::Field(..) => Binding::Atom,
    }
}

fn literal_binding(value: &Value) -> Binding {
    match value {
        Value::Real(value) if value.denominator() != &dashu::integer::UBig::ONE => Binding::Product,
        _ if crate::term::evaluate::sign(value) < 0 => Binding::Unary,
        _ => Binding::Atom,
    }
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
        // A real's literal keeps its sort when read back: `2` beside an integer would be an integer.
        Node::Literal(Value::Real(value)) => {
            if value.denominator() == &dashu::integer::UBig::ONE {
                write!(f, "{}.0", value.numerator())
            } else {
                write!(f, "{}.0 / {}.0", value.numerator(), value.denominator())
            }
        }
        Node::Literal(value) => write!(f, "{value}"),
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
            write(f, a, Binding::Atom)?;
            f.write_str("[")?;
            write(f, i, Binding::Conditional)?;
            f.write_str("]")
        }
        Node::Store(a, i, e) => {
            write(f, a, Binding::Atom)?;
            f.write_str("[")?;
            write(f, i, Binding::Conditional)?;
            f.write_str(" := ")?;
            write(f, e, Binding::Conditional)?;
            f.write_str("]")
        }
        Node::Field(a, position) => {
            write(f, a, Binding::Atom)?;
            let Type::Record(record) = a.sort() else { unreachable!("{position} of a record") };
            write!(f, ".{}", record.fields[*position].0)
        }
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
    write(f, a, Binding::Sum)?;
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
