//! Reads the languages of guards and actions: JavaScript in GraphWalker's models, XLIA's, and drawn edges.
//!
//! One grammar covers all three, and a [`Dialect`] decides the differences. An expression without a
//! counterpart (calls, strings, bits) is a [`ForeignMistake`], which is underlined.
//!
//! ```text
//! expression = implication [ "?" expression ":" expression ]                            (JavaScript)
//! implication = or { "=>" or }             or = and { "||" and }             and = comparison { "&&" comparison }
//! comparison = sum { ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum }       a chain but in JavaScript, where it means something else
//! sum = product { ( "+" | "-" ) product }                                  product = unary { ( "*" | "/" | "%" | "div" | "mod" ) unary }
//! unary = ( "!" | "-" | "+" ) unary | primary                              primary = number | truth | name | "(" expression ")"
//! statement = [ "var" | "let" | "const" ] name { ( "=" | ":=" ) name } ( "=" | ":=" | "+=" | "-=" | "*=" )
//! expression
//!           | name ( "++" | "--" ) | ( "++" | "--" ) name
//! ```
//!
//! `x = y = 3` assigns to both, from right to left. In an assigned value, `=` between other expressions is no
//! comparison, since a reader who knows JavaScript sees an assignment there.
//!
//! Words may replace signs (`and`, `or`, `not`), but not in JavaScript. JavaScript also has `===` and `!==`.
//!
//! [`lexer`] makes tokens, [`parser`] trees, [`typing`] terms, and [`mod@infer`] finds undeclared types.

pub mod infer;
pub mod lexer;
pub mod parser;
pub mod typing;

use std::ops::Range;

use coreach_model::diagnostic::{Diagnostic, nearest};
use coreach_model::reader::collect::Collector;
use coreach_model::term::node::Comparison;

use crate::piece::Piece;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// GraphWalker's: JavaScript.
    JavaScript,
    Xlia,
    /// The language at drawn edges: the signs of JavaScript and of the model format.
    Drawn,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignExpression {
    pub kind: ForeignKind,
    pub span: Range<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ForeignKind {
    Name(String),
    Truth(bool),
    /// Digits, perhaps with a point.
    Number(String),
    Not(Box<ForeignExpression>),
    Negate(Box<ForeignExpression>),
    And(Vec<ForeignExpression>),
    Or(Vec<ForeignExpression>),
    Implies(Box<ForeignExpression>, Box<ForeignExpression>),
    Compare(Box<ForeignExpression>, Vec<(Comparison, ForeignExpression)>),
    Arithmetic(Operation, Box<ForeignExpression>, Box<ForeignExpression>),
    Choice(Box<ForeignExpression>, Box<ForeignExpression>, Box<ForeignExpression>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// `%`: the remainder of a division that is cut off towards 0.
    Remainder,
    /// `div`, as in the model format.
    IntegerDivide,
    /// `mod`, as in the model format.
    Modulo,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignAssignment {
    pub target: String,
    pub target_span: Range<usize>,
    pub value: ForeignExpression,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignMistake {
    pub code: &'static str,
    pub span: Range<usize>,
    pub message: String,
    pub label: String,
    pub help: Option<String>,
}

/// The code of a mistake that is not the author's: the model format cannot express something.
pub const UNTRANSLATABLE: &str = "untranslatable";

impl ForeignMistake {
    pub fn new(
        code: &'static str,
        span: &Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        ForeignMistake { code, span: span.clone(), message: message.into(), label: label.into(), help: None }
    }

    /// Makes the mistake for something that the model format cannot express.
    pub fn untranslatable(span: &Range<usize>, what: impl Into<String>) -> Self {
        let message = format!("the model format cannot express {}", what.into());
        ForeignMistake::new(UNTRANSLATABLE, span, message, "not translated")
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the known name that this one may be meant to be, if there is one.
    pub fn help_meant<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(name, known) {
            Some(meant) => self.help(format!("did you mean `{meant}`?")),
            None => self,
        }
    }

    pub fn on(self, collector: &Collector, piece: &Piece) -> Diagnostic {
        let origin = collector.origin(&piece.locate(&self.span));
        let diagnostic = Diagnostic::error(self.code, self.message).at(origin, self.label);
        Diagnostic { help: self.help, ..diagnostic }
    }
}
