//! Translates foreign expressions to terms, and collects all mistakes.
//!
//! A part with a mistake has no term, and the expressions around it do not report it again. An operation that
//! would have another meaning in the model format is refused: a division of integers, which other languages
//! cut off, or a remainder by a value that may be 0.

use std::collections::BTreeMap;
use std::ops::Range;

use coreach_model::diagnostic::nearest;
use coreach_model::number;
use coreach_model::reader::collect::inventory;
use coreach_model::reader::parser::MAX_DIGITS;
use coreach_model::term::node::{Comparison, Operator};
use coreach_model::{Term, Type, Value};
use dashu_int::IBig;

use super::{Dialect, ForeignExpression, ForeignKind, ForeignMistake, Operation};

/// The terms that names stand for. `None`, if its declaration or all its assignments failed.
pub type ForeignScope = BTreeMap<String, Option<Term>>;

#[derive(Debug)]
pub struct ForeignTyping<'a> {
    pub scope: &'a ForeignScope,
    pub dialect: Dialect,
    pub mistakes: Vec<ForeignMistake>,
    /// Are names without a term reported? Otherwise, a mistake was reported for them before.
    pub reports_broken: bool,
}

impl<'a> ForeignTyping<'a> {
    pub fn new(scope: &'a ForeignScope, dialect: Dialect) -> Self {
        ForeignTyping { scope, dialect, mistakes: Vec::new(), reports_broken: false }
    }

    /// Translates an expression that must be of this type. `whose` names it in messages.
    pub fn of_type(&mut self, tree: &ForeignExpression, wanted: &Type, whose: &str) -> Option<Term> {
        let term = self.translate(tree)?;
        let (sort, wanted) = (term.sort().clone(), wanted.sort());
        if sort == wanted {
            return Some(term);
        }
        if (sort, &wanted) == (Type::Int, &Type::Real) {
            return Some(term.to_real());
        }
        let message = format!("{whose} must be of type {wanted}, but this is {}", term.sort());
        let mut mistake =
            ForeignMistake::new("type-mismatch", &tree.span, message, format!("this is {}", term.sort()));
        if wanted == Type::Bool && term.sort().is_number() {
            mistake = mistake.help("write a comparison: `x != 0`");
        }
        self.mistakes.push(mistake);
        None
    }

    /// Translates an expression of any type.
    fn translate(&mut self, tree: &ForeignExpression) -> Option<Term> {
        match &tree.kind {
            ForeignKind::Name(name) => self.translate_name(name, &tree.span),
            ForeignKind::Truth(value) => Some(Term::literal(Value::Bool(*value))),
            ForeignKind::Number(digits) => self.translate_number(digits, &tree.span),
            ForeignKind::Not(inner) => Some(self.of_type(inner, &Type::Bool, "the operand of `!`")?.not()),
            ForeignKind::Negate(inner) => Some(self.translate_operand(inner, "-")?.negate()),
            ForeignKind::And(parts) => Some(Term::and(self.translate_conditions(parts)?)),
            ForeignKind::Or(parts) => Some(Term::or(self.translate_conditions(parts)?)),
            ForeignKind::Implies(a, b) => {
                let (a, b) = (self.translate_condition(a), self.translate_condition(b));
                Some(Term::implies(&a?, &b?))
            }
            ForeignKind::Compare(first, others) => self.translate_comparison(first, others),
            ForeignKind::Arithmetic(operation, a, b) => {
                self.translate_arithmetic(*operation, a, b, &tree.span)
            }
            ForeignKind::Choice(condition, a, b) => {
                let condition = self.translate_condition(condition);
                let (then, otherwise) = (self.translate(a), self.translate(b));
                let (then, otherwise) = (then?, otherwise?);
                if !have_common_type(&then, &otherwise) {
                    let message = format!("the branches are {} and {}", then.sort(), otherwise.sort());
                    let (code, label) = ("type-mismatch", "they differ in type");
                    self.mistakes.push(ForeignMistake::new(code, &tree.span, message, label));
                    return None;
                }
                Some(Term::if_then_else(&condition?, &then, &otherwise))
            }
        }
    }

    /// Finds the term of a name. `None`: the name or its declaration is a mistake, which has been reported.
    fn translate_name(&mut self, name: &str, span: &Range<usize>) -> Option<Term> {
        if let Some(known) = self.scope.get(name) {
            if known.is_none() && self.reports_broken {
                let what = format!("the assignment of `{name}`, which is left out");
                self.mistakes.push(ForeignMistake::untranslatable(span, what));
            }
            return known.clone();
        }
        let known = || self.scope.keys().map(String::as_str);
        let help = match nearest(name, known().take(1_000)) {
            Some(similar) if name.len() > 1 => format!("did you mean `{similar}`?"),
            _ => inventory("names that can be used here", known()),
        };
        let mistake =
            ForeignMistake::new("unknown-name", span, format!("unknown name `{name}`"), "not declared");
        self.mistakes.push(mistake.help(help));
        None
    }

    fn translate_number(&mut self, digits: &str, span: &Range<usize>) -> Option<Term> {
        // Leading zeros mean nothing, but in old JavaScript they mean octal digits. So they are refused.
        let is_octal = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        let value = match number::number(digits, MAX_DIGITS) {
            Ok(value) if !is_octal => value,
            _ => {
                let message =
                    format!("write a number without leading zeros, with at most {MAX_DIGITS} digits");
                self.mistakes.push(ForeignMistake::new("number", span, message, "not a number of this form"));
                return None;
            }
        };
        Some(match digits.contains('.') {
            true => Term::literal(Value::Real(value)),
            false => Term::int(number::integer(digits, MAX_DIGITS).ok()?),
        })
    }

    fn translate_condition(&mut self, tree: &ForeignExpression) -> Option<Term> {
        self.of_type(tree, &Type::Bool, "this operand")
    }

    /// Translates all parts, so that all mistakes are reported. `None` if there was one.
    fn translate_conditions(&mut self, parts: &[ForeignExpression]) -> Option<Vec<Term>> {
        // All parts are translated before one fails, so that all mistakes are reported.
        let terms: Vec<Option<Term>> = parts.iter().map(|part| self.translate_condition(part)).collect();
        terms.into_iter().collect()
    }

    fn translate_operand(&mut self, tree: &ForeignExpression, sign: &str) -> Option<Term> {
        let term = self.translate(tree)?;
        if term.sort().is_number() {
            return Some(term);
        }
        let message = format!("`{sign}` computes with numbers, but this is {}", term.sort());
        let label = format!("this is {}", term.sort());
        self.mistakes.push(ForeignMistake::new("type-mismatch", &tree.span, message, label));
        None
    }

    /// Translates a chain of comparisons.
    fn translate_comparison(
        &mut self,
        first: &ForeignExpression,
        others: &[(Comparison, ForeignExpression)],
    ) -> Option<Term> {
        let mut parts = Vec::new();
        let (mut left_term, mut left) = (self.translate(first), first);
        // All parts are translated before one fails, so that all mistakes are reported.
        for (comparison, right) in others {
            let right_term = self.translate(right);
            let operands = left_term.as_ref().zip(right_term.as_ref());
            parts.push(operands.and_then(|(a, b)| {
                let is_equation = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
                let is_comparable = is_equation || (a.sort().is_number() && b.sort().is_number());
                if have_common_type(a, b) && is_comparable {
                    return Some(Term::compare(*comparison, a, b));
                }
                let message = format!("`{comparison}` cannot compare {} with {}", a.sort(), b.sort());
                let whole = left.span.start..right.span.end;
                self.mistakes.push(ForeignMistake::new("type-mismatch", &whole, message, "compared here"));
                None
            }));
            (left_term, left) = (right_term, right);
        }
        parts.into_iter().collect::<Option<Vec<Term>>>().map(Term::and)
    }

    /// Translates an operation, or reports one that the model format does not have.
    fn translate_arithmetic(
        &mut self,
        operation: Operation,
        a: &ForeignExpression,
        b: &ForeignExpression,
        span: &Range<usize>,
    ) -> Option<Term> {
        let sign = match operation {
            Operation::Add => "+",
            Operation::Subtract => "-",
            Operation::Multiply => "*",
            Operation::Divide => "/",
            Operation::Remainder => "%",
            Operation::IntegerDivide => "div",
            Operation::Modulo => "mod",
        };
        let (left, right) = (self.translate_operand(a, sign), self.translate_operand(b, sign));
        let (left, right) = (left?, right?);
        let are_integers = *left.sort() == Type::Int && *right.sort() == Type::Int;
        let has_known_divisor = match right.as_literal() {
            Some(Value::Int(value)) => *value != IBig::ZERO,
            Some(Value::Real(value)) => *value.numerator() != IBig::ZERO,
            _ => false,
        };
        let term = match operation {
            Operation::Add => Term::add(&left, &right),
            Operation::Subtract => Term::subtract(&left, &right),
            Operation::Multiply => Term::multiply(&left, &right),
            Operation::Divide if are_integers && self.dialect == Dialect::Xlia => {
                let mistake = ForeignMistake::untranslatable(span, "a rounded division of integers");
                self.mistakes.push(mistake);
                return None;
            }
            Operation::Divide if has_known_divisor => Term::arithmetic(Operator::Divide, &left, &right),
            Operation::IntegerDivide if are_integers => {
                Term::arithmetic(Operator::IntegerDivide, &left, &right)
            }
            Operation::Modulo if are_integers => Term::arithmetic(Operator::Modulo, &left, &right),
            // The remainder has the sign of the dividend in JavaScript and C. Here it is not negative.
            Operation::Remainder if are_integers && has_known_divisor => {
                let modulo = |term: &Term| Term::arithmetic(Operator::Modulo, term, &right);
                let is_not_negative = Term::compare(Comparison::AtLeast, &left, &Term::int(0));
                Term::if_then_else(&is_not_negative, &modulo(&left), &modulo(&left.negate()).negate())
            }
            Operation::Divide | Operation::Remainder => {
                let what = format!("`{sign}` by anything except a number other than 0");
                self.mistakes.push(ForeignMistake::untranslatable(&b.span, what));
                return None;
            }
            Operation::IntegerDivide | Operation::Modulo => {
                let message = format!("`{sign}` needs integers");
                self.mistakes.push(ForeignMistake::new("type-mismatch", span, message, "not integers"));
                return None;
            }
        };
        // Literals are computed at once, and the reader would refuse such a result.
        if let Some(Value::Int(value)) = term.as_literal()
            && value.to_string().len() > MAX_DIGITS
        {
            let message = format!("this value has more than {MAX_DIGITS} digits");
            self.mistakes.push(ForeignMistake::new("number", span, message, "too long"));
            return None;
        }
        Some(term)
    }
}

/// Are both terms of the same type, or both numbers?
fn have_common_type(a: &Term, b: &Term) -> bool {
    a.sort() == b.sort() || a.sort().is_number() && b.sort().is_number()
}
