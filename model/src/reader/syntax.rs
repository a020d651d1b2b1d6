//! The untyped syntax tree of an expression.

use std::ops::Range;

use crate::term::node::{Comparison, Operator};

/// A piece of an expression, with its place in the expression's text.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    /// The length of the longest path below it; limited, so that recursion over the tree is.
    pub height: u32,
}

/// What an expression is at its root.
#[derive(Clone, PartialEq, Debug)]
pub enum ExpressionKind {
    /// A datum or a literal of an enumeration.
    Name(String),
    /// Digits.
    Integer(String),
    /// Digits, a point, digits.
    Decimal(String),
    /// `true` or `false`
    Truth(bool),
    /// `!a`
    Not(Box<Expression>),
    /// `-a`
    Negate(Box<Expression>),
    /// `a && b && ...`
    And(Vec<Expression>),
    /// `a || b || ...`
    Or(Vec<Expression>),
    /// `a => b => ...`, to the right.
    Implies(Vec<Expression>),
    /// `a < b <= ...`: the conjunction of the neighbours' comparisons.
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    /// `a + b`
    Arithmetic(Operator, Box<Expression>, Box<Expression>),
    /// `if c then a else b`
    IfThenElse(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `a[i]`
    Select(Box<Expression>, Box<Expression>),
    /// `a[i := e]`
    Store(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `r.field`, with the field's place.
    Field(Box<Expression>, String, Range<usize>),
}
