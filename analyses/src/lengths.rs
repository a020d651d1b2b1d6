//! Strings as the domains see them: by their lengths.
//!
//! The length of a string that is a place is a dimension, like an integer of type `nat`. Of a condition on
//! strings only the consequence for lengths is kept. Equal strings have equal lengths. A string that begins
//! with another, ends with it or contains it is at least as long. A regular expression has a shortest word,
//! and may have a longest. This is an over-approximation, and noted as one. In addition, conditions of guards
//! on strings that are assigned are kept (`predicates.rs`).

use coreach_model::term::node::{Comparison, Node, StringOperation};
use coreach_model::term::strings;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Term, Value};
use coreach_polyhedra::{LinearExpression, Rational};

use crate::condition::Formula;
use crate::predicates::{split_negation, string_conjuncts};
use crate::scope::{Beyond, CompileScope, ImprecisionReason, Split, simplify_read};

impl CompileScope<'_> {
    /// Compiles what a condition on strings, or (if not `expected`) its negation, says of their lengths.
    pub(crate) fn on_strings(&mut self, term: &Term, expected: bool) -> Formula {
        self.note_imprecision((term.clone(), ImprecisionReason::String));
        match term.node() {
            Node::OnStrings(StringOperation::Matches, arguments) => match strings::expression(arguments) {
                Some(expression) if expected && self.linear(&arguments[0].length()).is_ok() => {
                    let (length, (least, most)) = (arguments[0].length(), expression.lengths());
                    let at_least = Term::compare(Comparison::AtLeast, &length, &Term::int(least));
                    let most = most.map(|most| Term::compare(Comparison::AtMost, &length, &Term::int(most)));
                    self.condition(&Term::and(most.into_iter().chain([at_least])))
                }
                _ => Formula::Yes,
            },
            // It begins with, ends with or contains the other one.
            Node::OnStrings(_, arguments) if expected => {
                self.compare_lengths(Comparison::AtLeast, &arguments[0], &arguments[1])
            }
            _ => Formula::Yes,
        }
    }

    /// Compiles what a comparison of strings says of their lengths. An excluded equality is "no".
    pub(crate) fn compared_strings(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Formula {
        self.note_imprecision((Term::compare(comparison, a, b), ImprecisionReason::String));
        match comparison {
            Comparison::Equal if self.excludes(a, b) || self.excludes(b, a) => Formula::No,
            Comparison::Equal => self.compare_lengths(Comparison::Equal, a, b),
            _ => Formula::Yes,
        }
    }

    /// Compares the lengths of two strings. "Yes" if one of them is not linear.
    fn compare_lengths(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Formula {
        let (a, b) = (a.length(), b.length());
        match self.linear(&a).and_then(|_| self.linear(&b)) {
            Ok(_) => self.condition(&Term::compare(comparison, &a, &b)),
            Err(_) => Formula::Yes,
        }
    }

    /// The cases of the length of a string that an operation makes.
    pub(crate) fn number_of_strings(&mut self, term: &Term) -> Result<Split<LinearExpression>, Beyond> {
        let beyond = || Err((term.clone(), ImprecisionReason::String));
        let Node::OnStrings(StringOperation::Length, arguments) = term.node() else { return beyond() };
        match arguments[0].node() {
            Node::OnStrings(StringOperation::Concatenate, parts) => {
                self.linear(&Term::add(&parts[0].length(), &parts[1].length()))
            }
            Node::OnStrings(StringOperation::At, _) => {
                Ok(vec![(Formula::Yes, LinearExpression::constant(Rational::ONE))])
            }
            Node::OnStrings(StringOperation::Slice, parts) => {
                self.linear(&Term::subtract(&parts[2], &parts[1]))
            }
            Node::IfThenElse(c, a, b) => self.linear(&Term::if_then_else(c, &a.length(), &b.length())),
            _ => match simplify_read(self.frame.arrays, &arguments[0]) {
                Some(part) => self.linear(&part.length()),
                None => beyond(),
            },
        }
    }

    /// Takes the conditions on strings that a guard decides as known.
    pub(crate) fn assume_strings(&mut self, guard: &Term) {
        if !self.frame.predicates.is_empty() {
            self.finite.extend(string_conjuncts(guard).map(|conjunct| {
                let (question, answer) = split_negation(&conjunct);
                (question, Value::Bool(answer))
            }));
        }
    }

    /// Does a known condition exclude that a string is this literal?
    fn excludes(&self, string: &Term, literal: &Term) -> bool {
        let Some(datum) = string.written_datum().filter(|_| literal.as_literal().is_some()) else {
            return false;
        };
        let values = Substitution::from([(datum.clone(), literal.clone())]);
        self.frame.predicates.iter().filter(|place| place.term.mentions(datum)).any(|place| {
            let with_literal = substitute(&place.term, &values);
            matches!((self.finite.get(&place.term), with_literal.as_literal()), (Some(a), Some(b)) if a != b)
        })
    }
}
