//! The shapes of a term, and the sorts of their results.

use std::fmt;
use std::sync::Arc;

use crate::data::Datum;
use crate::term::Term;
pub use crate::term::strings::StringOperation;
use crate::types::RecordType;
use crate::value::Value;

/// The root of a term. The constructors of [`Term`] keep nodes in a light normal form: negation applies only
/// to Boolean data, reads and fields, and conjunctions and disjunctions are flat, without doubles and without
/// units.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Literal(Value),
    Data(Datum),
    /// The negation of a Boolean datum, read or field.
    Not(Term),
    /// A conjunction of two or more; evaluated from the left, stopping at the first false.
    And(Vec<Term>),
    /// A disjunction of two or more; evaluated from the left, stopping at the first true.
    Or(Vec<Term>),
    /// A comparison of two terms of one sort. An order compares only numbers and strings.
    Compare(Comparison, Term, Term),
    /// `if c then a else b`; only the branch taken is evaluated.
    IfThenElse(Term, Term, Term),
    Arithmetic(Operator, Term, Term),
    Negate(Term),
    /// An integer in the place of a real.
    ToReal(Term),
    Select(Term, Term),
    Store(Term, Term, Term),
    OnStrings(StringOperation, Vec<Term>),
    /// `r.field`, by the field's position in the record type.
    Field(Term, usize),
    /// The record of these fields, in the order of its type. It is undefined if a field is outside of its
    /// type.
    Record(Arc<RecordType>, Vec<Term>),
}

/// The six comparisons. All are kept, so that a guard prints as its author wrote it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    /// The comparison that holds exactly where this one does not.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::AtLeast,
            Comparison::AtLeast => Comparison::Less,
            Comparison::Greater => Comparison::AtMost,
            Comparison::AtMost => Comparison::Greater,
        }
    }

    /// Does it hold of two values that compare like this?
    pub fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Equal => ordering.is_eq(),
            Comparison::NotEqual => ordering.is_ne(),
            Comparison::Less => ordering.is_lt(),
            Comparison::AtMost => ordering.is_le(),
            Comparison::Greater => ordering.is_gt(),
            Comparison::AtLeast => ordering.is_ge(),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::Greater => ">",
            Comparison::AtLeast => ">=",
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    /// `/` on reals; undefined where the divisor is 0.
    Divide,
    /// `div` on integers, Euclidean (the remainder is never negative); undefined where the divisor is 0.
    IntegerDivide,
    /// `mod` on integers, Euclidean; undefined where the divisor is 0.
    Modulo,
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::IntegerDivide => "div",
            Operator::Modulo => "mod",
        })
    }
}
