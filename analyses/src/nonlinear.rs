//! Compiles terms that are not linear for the domains: products, `div`, `mod`, and cells that are no places.
//!
//! Such a term becomes a case split if that is exact. If not, it gets a number of its own
//! ([`crate::auxiliary`]), and this is noted.

use coreach_model::term::Term;
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::{Type, Value};
use coreach_polyhedra::{Integer, LinearExpression, Rational};

use crate::condition::Formula;
use crate::frame::{ArraySummary, FrameSlot, type_constraints};
use crate::grid::Congruence;
use crate::linear::integer;
use crate::scope::{
    Beyond, CASE_LIMIT, CompileScope, ImprecisionReason, Split, compare_integers, limit_cases,
};
use crate::summaries::{SummarizedRead, at_index_variable};

impl CompileScope<'_> {
    /// The number of a product of two factors that are not constant. `None` if there is no room for it.
    pub(crate) fn product_number(
        &mut self,
        term: &Term,
        a: &LinearExpression,
        b: &LinearExpression,
    ) -> Option<LinearExpression> {
        let (next, is_whole) = (self.next_dimension(), *term.sort() == Type::Int);
        let number = self.auxiliaries.number_of_product(a, b, next, is_whole)?;
        self.note_imprecision((term.clone(), ImprecisionReason::NonLinear));
        Some(number)
    }

    /// The number of a read of an array that has no places.
    pub(crate) fn cell_cases(&mut self, term: &Term) -> Result<Split<LinearExpression>, Beyond> {
        let beyond = || (term.clone(), ImprecisionReason::Array);
        let Node::Select(array, _) = term.node() else { return Err(beyond()) };
        let Type::Array(ty) = array.sort() else { return Err(beyond()) };
        let (next, element) = (self.next_dimension(), ty.element.clone());
        let in_type = |number: &LinearExpression| type_constraints(&element, number);
        let number =
            self.auxiliaries.number_of_read(term, next, element.is_integer(), in_type).ok_or_else(beyond)?;
        self.note_imprecision(beyond());
        Ok(vec![(Formula::Yes, number)])
    }

    /// The number, or the digit, of an element of a large list. `None` for another term.
    /// Errors: there is no room for the number.
    pub(crate) fn list_element(&mut self, term: &Term) -> Option<Result<LinearExpression, Beyond>> {
        let SummarizedRead { variable, .. } = at_index_variable(self.frame.arrays, term)?;
        let is_list = |summary: &&ArraySummary| summary.index == variable;
        let list = self.frame.summaries.iter().find(is_list)?.list.clone()?;
        self.note_imprecision((list, ImprecisionReason::Elements));
        Some(self.summary_number(term).ok_or_else(|| (term.clone(), ImprecisionReason::Elements)))
    }

    /// The number, or the digit, of the cell or element that stands for all. A read at another index than the
    /// index variable gets an auxiliary number, which is an instance of it.
    pub(crate) fn summary_number(&mut self, term: &Term) -> Option<LinearExpression> {
        let dimension = match self.frame.slot(term) {
            Some(FrameSlot::Numeric(dimension)) => Some(dimension),
            _ => self.parameters.get(term).copied(),
        };
        if let Some(dimension) = dimension {
            return Some(LinearExpression::variable(dimension));
        }
        if let Some(known) = self.auxiliaries.reads.get(term).cloned() {
            return Some(known);
        }
        let SummarizedRead { cell, variable, index } = at_index_variable(self.frame.arrays, term)?;
        let Some(FrameSlot::Numeric(leaf)) = self.frame.slot(&cell) else { return None };
        if self.memory.holds(&Term::equal(&Term::datum(&variable), &index)) {
            return Some(LinearExpression::variable(leaf));
        }
        let summary = self.frame.summaries.iter().position(|summary| summary.index == variable)?;
        let (next, is_whole) = (self.next_dimension(), self.frame.integer[leaf]);
        let ty = self.frame.numeric[leaf].ty.clone();
        let number =
            self.auxiliaries.number_of_read(term, next, is_whole, |number| type_constraints(&ty, number))?;
        self.auxiliaries.instantiate(summary, &index, leaf, next);
        // The term with the index variable is noted, so all reads of the array are one note.
        if self.frame.summaries[summary].list.is_none() {
            self.note_imprecision((cell, ImprecisionReason::Summary));
        }
        Some(number)
    }

    pub(crate) fn next_dimension(&self) -> usize {
        self.dimensions + self.auxiliaries.integer.len()
    }

    /// The cases of `a mod m` or `a div m`, one for each remainder: if `a == r (mod m)`, they are `r` and
    /// `(a - r) / m`. If there are too many remainders, or the domain has no congruences, the quotient is an
    /// auxiliary number.
    pub(crate) fn division_cases(
        &mut self,
        term: &Term,
        operator: Operator,
        a: &Term,
        b: &Term,
    ) -> Result<Split<LinearExpression>, Beyond> {
        let beyond = || (term.clone(), ImprecisionReason::IntegerDivision);
        let literal =
            if let Node::Literal(Value::Int(value)) = b.node() { Some(integer(value)) } else { None };
        let few_remainders = |divisor: Integer| {
            let count = divisor.abs().to_i64()?;
            let is_few = self.frame.congruences && (1..=CASE_LIMIT as i64).contains(&count);
            is_few.then_some((divisor, count))
        };
        let Some((divisor, count)) = literal.and_then(few_remainders) else {
            return self.quotient_cases(term, operator, a, b);
        };
        let reciprocal = Rational::from(divisor.clone()).reciprocal().ok_or_else(beyond)?;
        let mut cases = Vec::new();
        for (on, a) in self.linear(a)? {
            for remainder in 0..count {
                let remainder = LinearExpression::constant(Rational::from(remainder));
                let multiple = a.minus(&remainder);
                let class =
                    Formula::congruence(Congruence::of(&multiple, self.next_dimension(), &divisor.abs()));
                let value =
                    if operator == Operator::Modulo { remainder } else { multiple.times(&reciprocal) };
                let on = Formula::and([on.clone(), class]);
                cases.extend((on != Formula::No).then_some((on, value)));
            }
        }
        limit_cases(term, cases)
    }

    /// The cases of `a mod b` or `a div b` with the quotient as an auxiliary number. The remainder is less
    /// than the divisor's absolute value. If the divisor is 0, the quotient may be any.
    fn quotient_cases(
        &mut self,
        term: &Term,
        operator: Operator,
        a: &Term,
        b: &Term,
    ) -> Result<Split<LinearExpression>, Beyond> {
        let beyond = || (term.clone(), ImprecisionReason::IntegerDivision);
        let (a_cases, b_cases) = (self.linear(a)?, self.linear(b)?);
        let mut cases = Vec::new();
        for (on_a, a) in &a_cases {
            for (on_b, b) in &b_cases {
                let next = self.next_dimension();
                let quotient = self.auxiliaries.number_of_quotient(a, b, next).ok_or_else(beyond)?;
                // The quotient may have taken the next dimension.
                let (next, is_integer) = (self.next_dimension(), true);
                let product = match self.arithmetic(Operator::Multiply, &quotient, b) {
                    None => self.auxiliaries.number_of_product(&quotient, b, next, is_integer),
                    linear => linear,
                };
                let remainder = a.minus(&product.ok_or_else(beyond)?);
                let zero = LinearExpression::constant(Rational::ZERO);
                // `0 <= remainder < |b|`, by the sign of `b`
                let by_sign = [b.clone(), zero.minus(b)].map(|size| {
                    let low = compare_integers(Comparison::AtMost, &zero, &remainder);
                    Formula::and([low, compare_integers(Comparison::Less, &remainder, &size)])
                });
                let is_zero = compare_integers(Comparison::Equal, b, &zero);
                let is_division = Formula::or(by_sign.into_iter().chain([is_zero]));
                let value = if operator == Operator::Modulo { remainder } else { quotient };
                cases.push((Formula::and([on_a.clone(), on_b.clone(), is_division]), value));
            }
        }
        self.note_imprecision(beyond());
        limit_cases(term, cases)
    }
}
