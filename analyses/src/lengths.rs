//! Strings as the domains see them: by their lengths.
//!
//! The length of a string that is a place is a dimension, as an integer of type `nat` would be. A condition
//! on strings is read as what it says of lengths: equal strings are of equal length, and what begins with
//! another, ends with it or contains it is at least as long; a regular expression has a shortest word, and
//! may have a longest. That is an over-approximation, and noted as one. What a guard says of a string that
//! is assigned is known as well (`predicates.rs`).

use coreach_model::term::node::{Comparison, Node, StringOperation};
use coreach_model::term::strings;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Term, Value};
use coreach_polyhedra::{LinearExpression, Rational};

use crate::condition::Condition;
use crate::predicates::{decided, positive};
use crate::scope::{Beyond, Cases, ImprecisionReason, Scope, known_part};

impl Scope<'_> {
    pub(crate) fn on_strings(&mut self, term: &Term, expected: bool) -> Condition {
        self.note_imprecision((term.clone(), ImprecisionReason::String));
        match term.node() {
            Node::OnStrings(StringOperation::Matches, arguments) => match strings::expression(arguments) {
                Some(expression) if expected && self.linear(&arguments[0].length()).is_ok() => {
                    let (length, (least, most)) = (arguments[0].length(), expression.lengths());
                    let at_least = Term::compare(Comparison::AtLeast, &length, &Term::int(least));
                    let most = most.map(|most| Term::compare(Comparison::AtMost, &length, &Term::int(most)));
                    self.condition(&Term::and(most.into_iter().chain([at_least])))
                }
                _ => Condition::Yes,
            },
            Node::OnStrings(_, arguments) if expected => {
                self.lengths(Comparison::AtLeast, &arguments[0], &arguments[1])
            }
            _ => Condition::Yes,
        }
    }

    pub(crate) fn compared_strings(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Condition {
        self.note_imprecision((Term::compare(comparison, a, b), ImprecisionReason::String));
        match comparison {
            Comparison::Equal if self.excludes(a, b) || self.excludes(b, a) => Condition::No,
            Comparison::Equal => self.lengths(Comparison::Equal, a, b),
            _ => Condition::Yes,
        }
    }

    fn lengths(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Condition {
        let (a, b) = (a.length(), b.length());
        match self.linear(&a).and_then(|_| self.linear(&b)) {
            Ok(_) => self.condition(&Term::compare(comparison, &a, &b)),
            Err(_) => Condition::Yes,
        }
    }

    pub(crate) fn number_of_strings(&mut self, term: &Term) -> Result<Cases<LinearExpression>, Beyond> {
        let beyond = || Err((term.clone(), ImprecisionReason::String));
        let Node::OnStrings(StringOperation::Length, arguments) = term.node() else { return beyond() };
        match arguments[0].node() {
            Node::OnStrings(StringOperation::Concatenate, parts) => {
                self.linear(&Term::add(&parts[0].length(), &parts[1].length()))
            }
            Node::OnStrings(StringOperation::At, _) => {
                Ok(vec![(Condition::Yes, LinearExpression::constant(Rational::ONE))])
            }
            Node::OnStrings(StringOperation::Slice, parts) => {
                self.linear(&Term::subtract(&parts[2], &parts[1]))
            }
            Node::IfThenElse(c, a, b) => self.linear(&Term::if_then_else(c, &a.length(), &b.length())),
            _ => match known_part(self.frame.arrays, &arguments[0]) {
                Some(part) => self.linear(&part.length()),
                None => beyond(),
            },
        }
    }

    /// Takes the answers that a guard gives to questions about strings as known.
    pub(crate) fn assume_strings(&mut self, guard: &Term) {
        if !self.frame.predicates.is_empty() {
            self.finite.extend(decided(guard).map(|conjunct| {
                let (question, answer) = positive(&conjunct);
                (question, Value::Bool(answer))
            }));
        }
    }

    /// Does a known answer exclude that a string is this one?
    fn excludes(&self, string: &Term, literal: &Term) -> bool {
        let Some(datum) = string.written_datum().filter(|_| literal.as_literal().is_some()) else {
            return false;
        };
        let values = Substitution::from([(datum.clone(), literal.clone())]);
        self.frame.predicates.iter().filter(|place| place.term.mentions(datum)).any(|place| {
            let there = substitute(&place.term, &values);
            matches!((self.finite.get(&place.term), there.as_literal()), (Some(a), Some(b)) if a != b)
        })
    }
}
