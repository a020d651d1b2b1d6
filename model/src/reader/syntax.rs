//! The untyped syntax tree of an expression.

use std::ops::Range;

use crate::term::node::{Comparison, Operator};
use crate::term::operation::Quantifier;

/// A piece of an expression, with its place in the expression's text.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    pub kind: ExpressionKind,
    /// Its place, in bytes.
    pub span: Range<usize>,
    /// The length of the longest path below it. It is limited, and so is recursion over the tree.
    pub height: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExpressionKind {
    /// A datum or a literal of an enumeration.
    Name(String),
    Integer(String),
    /// Digits, a point, digits.
    Decimal(String),
    Text(String),
    Truth(bool),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    And(Vec<Expression>),
    Or(Vec<Expression>),
    /// `a => b => ...`, to the right.
    Implies(Vec<Expression>),
    /// `a < b <= ...`: the conjunction of the neighbours' comparisons.
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    /// `a + b`
    Arithmetic(Operator, Box<Expression>, Box<Expression>),
    IfThenElse(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `a[i]`
    Select(Box<Expression>, Box<Expression>),
    /// `a[i..j]`, `a[i..]`
    Slice(Box<Expression>, Box<Expression>, Option<Box<Expression>>),
    Store(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `r.field`, with the field's place.
    Field(Box<Expression>, String, Range<usize>),
    Call(Box<Call>),
    /// `all i in 0..3: e`
    Quantified(Box<Quantified>),
    /// `match r: Ok(v) -> v | Missing -> 0`
    Match(Box<Match>),
    /// `r is Ok`, with the place of the alternative.
    Is(Box<Expression>, String, Range<usize>),
    /// `{ a: 1, b: 2 }`, `Pair { a: 1, b: 2 }`, `p with { a: 1 }`
    Fields(Box<RecordFields>),
    Listed(Vec<Expression>),
    /// `{A, B}`
    Set(Vec<Expression>),
    /// `[A: 1, B: 2]`
    Entries(Vec<(Expression, Expression)>),
    /// `k in s`
    Member(Box<Expression>, Box<Expression>),
    /// `[0 for all]`
    Filled(Box<Expression>),
    /// `(e: T)`, with the place of the type.
    Ascribed(Box<Expression>, Range<usize>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct RecordFields {
    /// The record type's name if it is written, with its place.
    pub name: Option<(String, Range<usize>)>,
    /// The record from which it has its other fields.
    pub base: Option<Expression>,
    /// The fields' names with their places, and their values.
    pub fields: Vec<(String, Range<usize>, Expression)>,
}

/// An expression for each alternative of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Match {
    pub subject: Expression,
    pub cases: Vec<MatchCase>,
}

/// The case for one alternative, or for all others.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchCase {
    /// The alternative, or `_`, with its place.
    pub alternative: (String, Range<usize>),
    /// The names of its fields, with their places.
    pub names: Vec<(String, Range<usize>)>,
    pub body: Expression,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The function's name, with its place.
    pub name: (String, Range<usize>),
    pub arguments: Vec<Expression>,
}

/// An expression about each of finitely many values.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantified {
    pub quantifier: Quantifier,
    /// The name of a value, with its place.
    pub name: (String, Range<usize>),
    pub of: QuantifiedValues,
    pub body: Expression,
    /// In a comprehension, the expression of an element.
    pub element: Option<Expression>,
}

/// The values of a quantified expression.
#[derive(Clone, PartialEq, Debug)]
pub enum QuantifiedValues {
    /// `lo..hi`, both included.
    Between(Expression, Expression),
    /// All values of a type, the elements of a list, or the keys of a set or a map, by this name with its
    /// place.
    Type(String, Range<usize>),
    /// The elements of a list, or the keys of a set or a map.
    Elements(Expression),
}

impl Expression {
    /// Does the name stand somewhere in it?
    pub fn mentions(&self, name: &str) -> bool {
        match &self.kind {
            ExpressionKind::Name(own) => own == name,
            // The name may be that of the collection.
            ExpressionKind::Quantified(quantified) if matches!(&quantified.of, QuantifiedValues::Type(own, _) if own == name) => {
                true
            }
            kind => kind.parts().into_iter().any(|part| part.mentions(name)),
        }
    }

    /// The quantifiers in it that could end before their last comparison: their places, and these ends.
    pub fn earlier_ends(&self) -> Vec<(Range<usize>, usize)> {
        let mut ends: Vec<_> = self.kind.parts().into_iter().flat_map(Expression::earlier_ends).collect();
        let ExpressionKind::Quantified(quantified) = &self.kind else { return ends };
        let body = &quantified.body;
        for part in std::iter::once(body).chain(body.kind.parts()) {
            if let ExpressionKind::Compare(first, others) = &part.kind {
                let last_but_one = others.iter().rev().nth(1).map_or(&**first, |(_, operand)| operand);
                ends.push((self.span.clone(), last_but_one.span.end));
            }
        }
        ends
    }

    /// The names of data and literals in it.
    pub fn names(&self) -> Vec<&str> {
        match &self.kind {
            ExpressionKind::Name(name) => vec![name],
            kind => kind.parts().into_iter().flat_map(Expression::names).collect(),
        }
    }
}

impl ExpressionKind {
    /// The direct parts, left to right.
    pub fn parts(&self) -> Vec<&Expression> {
        match self {
            ExpressionKind::Name(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::Decimal(_)
            | ExpressionKind::Text(_)
            | ExpressionKind::Truth(_) => Vec::new(),
            ExpressionKind::Not(a)
            | ExpressionKind::Negate(a)
            | ExpressionKind::Field(a, ..)
            | ExpressionKind::Is(a, ..) => vec![a],
            ExpressionKind::And(parts)
            | ExpressionKind::Or(parts)
            | ExpressionKind::Implies(parts)
            | ExpressionKind::Listed(parts)
            | ExpressionKind::Set(parts) => parts.iter().collect(),
            ExpressionKind::Entries(entries) => {
                entries.iter().flat_map(|(key, value)| [key, value]).collect()
            }
            ExpressionKind::Filled(a) | ExpressionKind::Ascribed(a, _) => vec![a],
            ExpressionKind::Fields(of) => {
                of.base.iter().chain(of.fields.iter().map(|(_, _, value)| value)).collect()
            }
            ExpressionKind::Call(call) => call.arguments.iter().collect(),
            ExpressionKind::Compare(first, others) => {
                std::iter::once(&**first).chain(others.iter().map(|(_, part)| part)).collect()
            }
            ExpressionKind::Arithmetic(_, a, b)
            | ExpressionKind::Select(a, b)
            | ExpressionKind::Member(a, b) => vec![a, b],
            ExpressionKind::IfThenElse(a, b, c) | ExpressionKind::Store(a, b, c) => vec![a, b, c],
            ExpressionKind::Slice(a, b, c) => [&**a, b].into_iter().chain(c.as_deref()).collect(),
            ExpressionKind::Match(of) => {
                std::iter::once(&of.subject).chain(of.cases.iter().map(|case| &case.body)).collect()
            }
            ExpressionKind::Quantified(all) => match &all.of {
                QuantifiedValues::Between(low, high) => vec![low, high],
                QuantifiedValues::Type(..) => Vec::new(),
                QuantifiedValues::Elements(list) => vec![list],
            }
            .into_iter()
            .chain([&all.body])
            .chain(&all.element)
            .collect(),
        }
    }
}

/// Do these parts of a chain of `&&` or `||` stand without brackets around them? Brackets belong to the place
/// of the chain, not to that of its first part.
pub fn is_unbracketed(chain: &Expression, parts: &[Expression]) -> bool {
    parts.first().is_some_and(|first| first.span.start == chain.span.start)
}

/// Is it a `find`? It shows its type, but takes a narrower range if that is expected.
pub fn is_found(tree: &Expression) -> bool {
    matches!(&tree.kind, ExpressionKind::Quantified(of) if of.quantifier == Quantifier::Find)
}

/// Does the expression show its type? A list of elements does not, and fields do not: their type comes from
/// the operand next to them.
pub fn says_type(tree: &Expression) -> bool {
    match &tree.kind {
        ExpressionKind::Fields(of) => of.name.is_some() || of.base.as_ref().is_some_and(says_type),
        ExpressionKind::Listed(_)
        | ExpressionKind::Filled(_)
        | ExpressionKind::Set(_)
        | ExpressionKind::Entries(_) => false,
        ExpressionKind::Store(array, ..) => says_type(array),
        ExpressionKind::IfThenElse(_, a, b) => says_type(a) || says_type(b),
        ExpressionKind::Match(of) => of.cases.iter().any(|case| says_type(&case.body)),
        // The type of an option's value comes from its surroundings.
        ExpressionKind::Name(name) => name != "none",
        ExpressionKind::Call(call) => call.name.0 != "some",
        ExpressionKind::Quantified(of) => of.element.is_none(),
        ExpressionKind::Slice(list, ..) => says_type(list),
        ExpressionKind::Arithmetic(Operator::Add | Operator::Subtract | Operator::Multiply, a, b) => {
            says_type(a) || says_type(b)
        }
        _ => true,
    }
}
