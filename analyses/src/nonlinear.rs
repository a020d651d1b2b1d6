//! What is not linear, as the domains see it: products, `div` and `mod`, cells that are no places.
//!
//! Each is a case split where that is exact, or else a number of its own ([`crate::auxiliary`]), and noted.

use coreach_model::term::Term;
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::{Type, Value};
use coreach_polyhedra::{Integer, LinearExpression, Rational};

use crate::condition::Condition;
use crate::frame::{ArraySummary, Slot, type_constraints};
use crate::grid::Congruence;
use crate::linear::integer;
use crate::scope::{Beyond, CASE_LIMIT, Cases, ImprecisionReason, Scope, compare, limited};
use crate::summaries::at_index_variable;

impl Scope<'_> {
    pub(crate) fn product(
        &mut self,
        term: &Term,
        a: &LinearExpression,
        b: &LinearExpression,
        is_whole: bool,
    ) -> Option<LinearExpression> {
        let next = self.next_dimension();
        let number = self.auxiliaries.product(a, b, next, is_whole)?;
        self.note_imprecision((term.clone(), ImprecisionReason::NonLinear));
        Some(number)
    }

    pub(crate) fn cell(&mut self, term: &Term) -> Result<Cases<LinearExpression>, Beyond> {
        let beyond = || (term.clone(), ImprecisionReason::Array);
        let Node::Select(array, _) = term.node() else { return Err(beyond()) };
        let Type::Array(ty) = array.sort() else { return Err(beyond()) };
        let (next, element) = (self.next_dimension(), ty.element.clone());
        let known = |number: &LinearExpression| type_constraints(&element, number);
        let number = self.auxiliaries.read(term, next, element.is_integer(), known).ok_or_else(beyond)?;
        self.note_imprecision(beyond());
        Ok(vec![(Condition::Yes, number)])
    }

    /// The number, or the digit, of an element of a large list, as it was written. `None` for another term.
    /// Errors: there is no room for the number.
    pub(crate) fn of_list(&mut self, term: &Term) -> Option<Result<LinearExpression, Beyond>> {
        let (_, variable, _) = at_index_variable(self.frame.arrays, term)?;
        let is_list = |summary: &&ArraySummary| summary.index == variable;
        let list = self.frame.summaries.iter().find(is_list)?.list.clone()?;
        self.note_imprecision((list, ImprecisionReason::Elements));
        Some(self.of_summary(term).ok_or_else(|| (term.clone(), ImprecisionReason::Elements)))
    }

    /// The number, or the digit, that stands in the cell for all; at another index than the index variable an
    /// instance of it.
    pub(crate) fn of_summary(&mut self, term: &Term) -> Option<LinearExpression> {
        let dimension = match self.frame.slot(term) {
            Some(Slot::Numeric(dimension)) => Some(dimension),
            _ => self.parameters.get(term).copied(),
        };
        if let Some(dimension) = dimension {
            return Some(LinearExpression::variable(dimension));
        }
        if let Some(known) = self.auxiliaries.known_read(term) {
            return Some(known);
        }
        let (cell, variable, at) = at_index_variable(self.frame.arrays, term)?;
        let Some(Slot::Numeric(leaf)) = self.frame.slot(&cell) else { return None };
        if self.memory.holds(&Term::equal(&Term::datum(&variable), &at)) {
            return Some(LinearExpression::variable(leaf));
        }
        let summary = self.frame.summaries.iter().position(|summary| summary.index == variable)?;
        let (next, is_whole) = (self.next_dimension(), self.frame.integer[leaf]);
        let ty = self.frame.numeric[leaf].ty.clone();
        let number = self.auxiliaries.read(term, next, is_whole, |number| type_constraints(&ty, number))?;
        self.auxiliaries.instantiate(summary, &at, leaf, next);
        // Whichever cell it is: once for all.
        if self.frame.summaries[summary].list.is_none() {
            self.note_imprecision((cell, ImprecisionReason::Summary));
        }
        Some(number)
    }

    pub(crate) fn next_dimension(&self) -> usize {
        self.dimensions + self.auxiliaries.integer.len()
    }

    /// `a mod m` and `a div m`, a case for each remainder: where `a == r (mod m)` they are `r` and `(a - r) /
    /// m`. Where there are too many, or congruences are unknown, the quotient is a number of its own.
    pub(crate) fn by_remainder(
        &mut self,
        term: &Term,
        operator: Operator,
        a: &Term,
        b: &Term,
    ) -> Result<Cases<LinearExpression>, Beyond> {
        let beyond = || (term.clone(), ImprecisionReason::IntegerDivision);
        let literal =
            if let Node::Literal(Value::Int(value)) = b.node() { Some(integer(value)) } else { None };
        let few = |known: &Integer| {
            known
                .abs()
                .to_i64()
                .filter(|count| self.frame.congruences && (1..=CASE_LIMIT as i64).contains(count))
        };
        let known = literal.and_then(|known| few(&known).map(|count| (known, count)));
        let Some((known, count)) = known else { return self.by_quotient(term, operator, a, b) };
        let divisor = Rational::from(known.clone());
        let share = divisor.reciprocal().ok_or_else(beyond)?;
        let mut cases = Vec::new();
        for (on, a) in self.linear(a)? {
            for remainder in 0..count {
                let value = LinearExpression::constant(Rational::from(remainder));
                let above = a.minus(&value);
                let class =
                    Condition::congruence(Congruence::of(&above, self.next_dimension(), &known.abs()));
                let value = if operator == Operator::Modulo { value } else { above.times(&share) };
                let on = Condition::and([on.clone(), class]);
                cases.extend((on != Condition::No).then_some((on, value)));
            }
        }
        limited(term, cases)
    }

    /// The same where that is no case split: the quotient is a number of its own, whatever it is where the
    /// divisor is 0; elsewhere the rest is less than the divisor.
    fn by_quotient(
        &mut self,
        term: &Term,
        operator: Operator,
        a: &Term,
        b: &Term,
    ) -> Result<Cases<LinearExpression>, Beyond> {
        let beyond = || (term.clone(), ImprecisionReason::IntegerDivision);
        let (a_cases, b_cases) = (self.linear(a)?, self.linear(b)?);
        let mut cases = Vec::new();
        for (on_a, a) in &a_cases {
            for (on_b, b) in &b_cases {
                let next = self.next_dimension();
                let quotient = self.auxiliaries.quotient(a, b, next).ok_or_else(beyond)?;
                let product = match self.arithmetic(Operator::Multiply, &quotient, b) {
                    None => self.auxiliaries.product(&quotient, b, self.next_dimension(), true),
                    linear => linear,
                };
                let rest = a.minus(&product.ok_or_else(beyond)?);
                let zero = LinearExpression::constant(Rational::ZERO);
                let sides = [b.clone(), zero.minus(b)].map(|size| {
                    let within = [compare(Comparison::AtMost, &zero, &rest, false)];
                    Condition::and(within.into_iter().chain([compare(Comparison::Less, &rest, &size, false)]))
                });
                let is_zero = compare(Comparison::Equal, b, &zero, false);
                let divided = Condition::or(sides.into_iter().chain([is_zero]));
                let value = if operator == Operator::Modulo { rest } else { quotient };
                cases.push((Condition::and([on_a.clone(), on_b.clone(), divided]), value));
            }
        }
        self.note_imprecision(beyond());
        limited(term, cases)
    }
}
