//! Guards as the domains see them: a formula of linear constraints, for one valuation of the finite places.
//!
//! Within one cell of the partition every Boolean and enumeration place has a value, so the finite part of a
//! guard is evaluated away, and what stays is conjunction and disjunction over linear constraints. Two things
//! have no such form: a non-linear operation, and a read from an array of many cells. They are numbers of
//! their own of which something is known ([`crate::auxiliary`]), as long as there is room. An atom that
//! contains one for which there is none is read as true. Both are over-approximations, and noted as a
//! [`ImprecisionReason`] with the term it is about. An `if-then-else` below a comparison or an assignment is
//! a case split, limited by [`CASE_LIMIT`].
//!
//! `mod` and `div` by a number are linear where the remainder is known. For a domain that knows congruences
//! they are a case split over the remainders; for one that does not, no case would be told apart from
//! another, and the quotient is a number of its own.
//!
//! Terms share their subterms, and what sharing hides can be exponentially long. So every subterm is compiled
//! once in a scope, and a condition has at most as many constraints as its frame allows
//! ([`Frame::condition_limit`]): what would be longer is read as true, and noted.
//!
//! The negation of an atom read as true is read as true as well: terms push negation to the atoms, so no
//! imprecision can be negated.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use coreach_model::term::Term;
use coreach_model::term::node::{Comparison, Node, Operator, StringOperation};
use coreach_model::{Type, Value};
use coreach_polyhedra::{LinearExpression, Rational, Relation};

use crate::auxiliary::Auxiliaries;
use crate::condition::Condition;
use crate::frame::{Frame, Slot, digit};
use crate::linear::{constant_value, integer, positive_constraint, rational};
use crate::places::{Arrays, size};
use crate::summaries::{generalized, of_some_cell};

/// The most cases that one term or one transition is split into.
pub const CASE_LIMIT: usize = 64;

/// Why a term is beyond the domains.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ImprecisionReason {
    /// A product of two variables, or a quotient by one.
    NonLinear,
    IntegerDivision,
    Array,
    /// A cell that is read where one cell stands for all.
    Summary,
    /// An element that is read where one element stands for all of a list.
    Elements,
    /// What a string is, beyond its length.
    String,
    /// A finite place or parameter that the partition has no room for.
    Unpartitioned,
    Cases,
    /// More constraints than a condition may have.
    Constraints,
    /// Parameters that could not be projected away exactly within the limits of the polyhedra.
    Parameters,
}

impl fmt::Display for ImprecisionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ImprecisionReason::NonLinear => "it is not linear (but for the bounds of its factors)",
            ImprecisionReason::IntegerDivision => "`div` and `mod` are not linear (but for bounds)",
            ImprecisionReason::Array => "no domain describes arrays",
            ImprecisionReason::Summary => "one cell stands for all of its array (`analysis: cells`)",
            ImprecisionReason::Elements => "one element stands for all of a list with many slots",
            ImprecisionReason::String => "of strings the domains describe the length only",
            ImprecisionReason::Unpartitioned => "the partition is at its limit (`analysis: partition_limit`)",
            ImprecisionReason::Cases => "it has too many cases",
            ImprecisionReason::Constraints => "it has too many constraints (`analysis: condition_limit`)",
            ImprecisionReason::Parameters => "it relates too many parameters",
        })
    }
}

pub type Beyond = (Term, ImprecisionReason);

/// The cases of a value: under which condition it is which.
pub type Cases<T> = Vec<(Condition, T)>;

#[derive(Default)]
pub struct Memory {
    conditions: HashMap<Term, Condition>,
    linear: HashMap<Term, Result<Cases<LinearExpression>, Beyond>>,
    finite: HashMap<Term, Result<Cases<Value>, Beyond>>,
    pub(crate) ids: HashMap<Term, Result<Cases<Term>, Beyond>>,
}

impl Memory {
    pub fn decide(&mut self, comparison: &Term, holds: bool) {
        let truth = |holds| if holds { Condition::Yes } else { Condition::No };
        self.conditions.insert(comparison.clone(), truth(holds));
        self.conditions.insert(comparison.not(), truth(!holds));
    }

    pub fn holds(&self, comparison: &Term) -> bool {
        self.conditions.get(comparison) == Some(&Condition::Yes)
    }
}

/// For comparisons of records and of arrays of few cells, what they say of what has no parts. It holds
/// whatever the `finite` are.
pub type Fields = HashMap<Term, Term>;

/// What is known where a term is compiled: the dimensions, and the values of finite places and parameters.
pub struct Scope<'a> {
    pub frame: &'a Frame,
    /// Dimensions of the parameters, behind those of the frame.
    pub parameters: &'a HashMap<Term, usize>,
    pub finite: HashMap<Term, Value>,
    /// All dimensions but those of auxiliary numbers, the parameters' included.
    pub dimensions: usize,
    /// What was read as true or as unknown, in order, each once.
    pub imprecisions: Vec<Beyond>,
    /// What was compiled, so that what is shared is compiled once. It holds for these `finite` only.
    pub memory: Memory,
    /// What comparisons of records come to.
    pub fields: Fields,
    /// The numbers behind `dimensions`, for what is not linear.
    pub auxiliaries: Auxiliaries,
    /// Which keys the guard says to be in a set or a map, or not.
    pub keys: &'a HashMap<Term, bool>,
}

impl Scope<'_> {
    pub fn note_imprecision(&mut self, (term, reason): Beyond) {
        if !self.imprecisions.iter().any(|(known, why)| (known, why) == (&term, &reason)) {
            self.imprecisions.push((term, reason));
        }
    }

    /// May an operation in the term be about a large list?
    fn has_large_lists(&self, term: &Term) -> bool {
        term.has_operations() && self.frame.summaries.iter().any(|summary| summary.list.is_some())
    }

    /// The root of a term: as it was written, where a large list may be read below.
    fn root<'t>(&self, term: &'t Term) -> &'t Node {
        term.written().filter(|_| self.has_large_lists(term)).unwrap_or_else(|| term.node())
    }

    /// The known part of a term, as it was written where a large list may be read below.
    fn part(&self, term: &Term) -> Option<Term> {
        let written = if self.has_large_lists(term) { written_part(term) } else { None };
        written.or_else(|| known_part(self.frame.arrays, term))
    }

    /// Compiles a condition, once if it is composite. One too large becomes "yes", noted as an imprecision.
    pub fn condition(&mut self, term: &Term) -> Condition {
        if let Some(body) = self.unfolded(term) {
            return self.condition(&body);
        }
        if let Some(found) = self.on_elements(term, true) {
            return found;
        }
        if !matches!(self.root(term), Node::And(_) | Node::Or(_) | Node::IfThenElse(..) | Node::Compare(..)) {
            return self.uncached_condition(term);
        }
        if let Some(known) = self.memory.conditions.get(term) {
            return known.clone();
        }
        let mut found = self.uncached_condition(term);
        if found.size() > self.frame.condition_limit {
            self.note_imprecision((term.clone(), ImprecisionReason::Constraints));
            found = Condition::Yes;
        }
        self.memory.conditions.insert(term.clone(), found.clone());
        found
    }

    /// The body of a function, where a large list may be read there.
    fn unfolded(&self, term: &Term) -> Option<Term> {
        term.unfolded().filter(|_| self.has_large_lists(term))
    }

    fn uncached_condition(&mut self, term: &Term) -> Condition {
        match self.root(term) {
            Node::Literal(Value::Bool(true)) => Condition::Yes,
            Node::Literal(_) => Condition::No,
            Node::And(parts) => {
                let parts = match &self.frame.summaries[..] {
                    [] => Cow::Borrowed(parts),
                    _ => Cow::Owned(generalized(self.frame.arrays, parts)),
                };
                // In most cells a flag decides, and the numbers need not be looked at.
                let is_flag = |part: &&Term| match part.node() {
                    Node::Not(inner) => inner.as_datum().is_some(),
                    _ => part.as_datum().is_some(),
                };
                if parts.iter().filter(is_flag).any(|flag| self.condition(flag) == Condition::No) {
                    return Condition::No;
                }
                let (mut all, mut size) = (Vec::new(), 0);
                for part in parts.iter() {
                    let found = self.condition(part);
                    size += found.size();
                    if found == Condition::No {
                        return Condition::No;
                    }
                    if size > self.frame.condition_limit {
                        // Of a conjunction the parts that fit are better than nothing.
                        size -= found.size();
                        self.note_imprecision((part.clone(), ImprecisionReason::Constraints));
                        continue;
                    }
                    all.push(found);
                }
                Condition::and(all)
            }
            Node::Or(parts) => {
                let parts = match &self.frame.summaries[..] {
                    [] => Cow::Borrowed(parts),
                    _ => Cow::Owned(of_some_cell(self.frame.arrays, parts, self.auxiliaries.next_name())),
                };
                Condition::or(parts.iter().map(|part| self.condition(part)).collect::<Vec<_>>())
            }
            Node::IfThenElse(c, a, b) => {
                let split = [(c.clone(), a), (c.not(), b)];
                Condition::or(
                    split.map(|(c, value)| Condition::and([self.condition(&c), self.condition(value)])),
                )
            }
            Node::Compare(comparison, a, b) if self.is_large_list(a.sort()) => {
                self.compared_lists(*comparison, a, b)
            }
            Node::Compare(_, a, _) if has_parts(self.frame.arrays, a.sort()) => {
                let arrays = self.frame.arrays;
                let root = if self.has_large_lists(term) { term } else { term.lowered() };
                let fields = self.fields.entry(root.clone());
                let fields = fields.or_insert_with(|| by_fields(arrays, root)).clone();
                self.condition(&fields)
            }
            Node::Compare(comparison, a, b) => self.comparison(*comparison, a, b),
            Node::Not(inner) => match (self.on_elements(inner, false), self.unfolded(inner)) {
                (Some(found), _) => found,
                (_, Some(body)) => self.condition(&body.not()),
                // What the operation stands for may be anything.
                _ if inner.written().is_none() => self.condition(&inner.lowered().not()),
                _ => self.flag(inner, false),
            },
            _ => self.flag(term, true),
        }
    }

    /// A Boolean datum, field or read, expected to have a value.
    fn flag(&mut self, term: &Term, expected: bool) -> Condition {
        let digit = match self.of_list(term) {
            Some(Ok(digit)) => Some(digit),
            Some(Err(_)) => return Condition::Yes,
            None => None,
        };
        if let Some(part) = self.part(term).filter(|_| digit.is_none()) {
            return self.condition(&if expected { part } else { part.not() });
        }
        if let Some(digit) = digit.or_else(|| self.of_summary(term)) {
            let expected = LinearExpression::constant(Rational::from(i64::from(expected)));
            return compare(Comparison::Equal, &digit, &expected, false);
        }
        match self.finite.get(term) {
            Some(Value::Bool(value)) if *value == expected => Condition::Yes,
            Some(_) => Condition::No,
            None if matches!(term.node(), Node::OnStrings(..)) => self.on_strings(term, expected),
            None => self.beyond(term),
        }
    }

    fn beyond(&mut self, term: &Term) -> Condition {
        let reason =
            if mentions_array(term) { ImprecisionReason::Array } else { ImprecisionReason::Unpartitioned };
        self.note_imprecision((term.clone(), reason));
        Condition::Yes
    }

    fn comparison(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Condition {
        match a.sort() {
            Type::Int | Type::Real => match (self.linear(a), self.linear(b)) {
                (Ok(a_cases), Ok(b_cases)) if a_cases.len() * b_cases.len() <= CASE_LIMIT => {
                    let real = *a.sort() == Type::Real;
                    let mut cases = Vec::new();
                    for (on_a, a) in &a_cases {
                        for (on_b, b) in &b_cases {
                            let atom = compare(comparison, a, b, real);
                            cases.push(Condition::and([on_a.clone(), on_b.clone(), atom]));
                        }
                    }
                    Condition::or(cases)
                }
                (Err((_, reason)), _) | (_, Err((_, reason))) => {
                    self.lost_comparison(comparison, a, b, reason)
                }
                _ => self.lost_comparison(comparison, a, b, ImprecisionReason::Cases),
            },
            Type::Bool | Type::Enum(_) => match (self.finite_cases(a), self.finite_cases(b)) {
                (Ok(a_cases), Ok(b_cases)) if a_cases.len() * b_cases.len() <= CASE_LIMIT => {
                    let mut cases = Vec::new();
                    for (on_a, a) in &a_cases {
                        for (on_b, b) in &b_cases {
                            if comparison.holds(a.cmp(b)) {
                                cases.push(Condition::and([on_a.clone(), on_b.clone()]));
                            }
                        }
                    }
                    Condition::or(cases)
                }
                (Err((_, reason)), _) | (_, Err((_, reason))) => {
                    self.lost_comparison(comparison, a, b, reason)
                }
                _ => self.lost_comparison(comparison, a, b, ImprecisionReason::Cases),
            },
            Type::String => self.compared_strings(comparison, a, b),
            Type::Id(_) => self.compared_ids(comparison, a, b),
            Type::Array(array) => {
                let variable = self.frame.arrays.index_variable(array);
                match variable.filter(|_| comparison == Comparison::Equal) {
                    Some(variable) => {
                        let cell = |array| Term::select(array, &Term::datum(&variable));
                        self.condition(&Term::equal(&cell(a), &cell(b)))
                    }
                    None => self.lost_comparison(comparison, a, b, ImprecisionReason::Array),
                }
            }
            _ => self.lost_comparison(comparison, a, b, ImprecisionReason::Array),
        }
    }

    fn lost_comparison(
        &mut self,
        comparison: Comparison,
        a: &Term,
        b: &Term,
        reason: ImprecisionReason,
    ) -> Condition {
        self.note_imprecision((Term::compare(comparison, a, b), reason));
        Condition::Yes
    }

    /// The cases of a Boolean or enumeration term.
    /// Errors: the subterm that has no value here.
    pub fn finite_cases(&mut self, term: &Term) -> Result<Cases<Value>, Beyond> {
        if let Some(known) = self.memory.finite.get(term) {
            return known.clone();
        }
        let found = self.uncached_finite_cases(term);
        self.memory.finite.insert(term.clone(), found.clone());
        found
    }

    fn uncached_finite_cases(&mut self, term: &Term) -> Result<Cases<Value>, Beyond> {
        if let Some(value) = self.finite.get(term) {
            return Ok(vec![(Condition::Yes, value.clone())]);
        }
        let digit = self.of_list(term).transpose()?;
        if let Some(part) = self.part(term).filter(|_| digit.is_none()) {
            return self.finite_cases(&part);
        }
        if let Some(digit) = digit.or_else(|| self.of_summary(term)) {
            let values = Value::enumerate(term.sort(), CASE_LIMIT).unwrap_or_default();
            let is = |(at, value): (usize, Value)| {
                let at = LinearExpression::constant(Rational::from(at as i64));
                (compare(Comparison::Equal, &digit, &at, false), value)
            };
            let cases: Cases<Value> = values.into_iter().enumerate().map(is).collect();
            return if cases.is_empty() { Err((term.clone(), ImprecisionReason::Cases)) } else { Ok(cases) };
        }
        match self.root(term) {
            Node::Literal(value) => Ok(vec![(Condition::Yes, value.clone())]),
            Node::IfThenElse(c, a, b) => {
                let mut cases = self.guarded(c, |scope| scope.finite_cases(a))?;
                cases.extend(self.guarded(&c.not(), |scope| scope.finite_cases(b))?);
                limited(term, cases)
            }
            Node::Data(_) | Node::Field(..) | Node::Select(..) | Node::Store(..) | Node::Record(..) => {
                let reason = if mentions_array(term) {
                    ImprecisionReason::Array
                } else {
                    ImprecisionReason::Unpartitioned
                };
                Err((term.clone(), reason))
            }
            _ => {
                let split = [(term.clone(), true), (term.not(), false)];
                let cases = split.map(|(term, value)| (self.condition(&term), Value::Bool(value)));
                Ok(cases.into_iter().filter(|(on, _)| *on != Condition::No).collect())
            }
        }
    }

    /// The cases of a number that is one of these values.
    /// Errors: the subterm that is not linear.
    pub fn cases_among(&mut self, term: &Term, values: &[Value]) -> Result<Cases<Value>, Beyond> {
        let mut cases = Vec::new();
        for (on, expression) in self.linear(term)? {
            for value in values {
                let Value::Int(number) = value else { continue };
                let number = LinearExpression::constant(Rational::from(integer(number)));
                let on =
                    Condition::and([on.clone(), compare(Comparison::Equal, &expression, &number, false)]);
                if on != Condition::No {
                    cases.push((on, value.clone()));
                }
            }
        }
        limited(term, cases)
    }

    /// The cases of a numeric term as linear expressions.
    /// Errors: the subterm that is not linear.
    pub fn linear(&mut self, term: &Term) -> Result<Cases<LinearExpression>, Beyond> {
        if let Some(known) = self.memory.linear.get(term) {
            return known.clone();
        }
        let mut found = self.uncached_linear(term);
        if let Ok(cases) = &found
            && cases.iter().map(|(on, _)| on.size()).sum::<usize>() > self.frame.condition_limit
        {
            found = Err((term.clone(), ImprecisionReason::Constraints));
        }
        self.memory.linear.insert(term.clone(), found.clone());
        found
    }

    fn uncached_linear(&mut self, term: &Term) -> Result<Cases<LinearExpression>, Beyond> {
        let one = |expression| Ok(vec![(Condition::Yes, expression)]);
        if let Some(Value::Int(length)) = self.finite.get(term) {
            return one(LinearExpression::constant(Rational::from(integer(length))));
        }
        if let Some(Slot::Numeric(dimension)) = self.frame.slot(term) {
            return one(LinearExpression::variable(dimension));
        }
        if let Some(cases) = self.size_of(term) {
            return limited(term, cases);
        }
        if let Some(number) = self.of_list(term).transpose()? {
            return one(number);
        }
        if let Some(body) = self.unfolded(term) {
            return self.linear(&body);
        }
        if let Some(cases) = self.number_of_elements(term) {
            return cases;
        }
        if let Some(part) = self.part(term) {
            return self.linear(&part);
        }
        if !term.sort().is_number() {
            return self.digit(term);
        }
        match self.root(term) {
            Node::Literal(Value::Int(value)) => {
                one(LinearExpression::constant(Rational::from(integer(value))))
            }
            Node::Literal(Value::Real(value)) => one(LinearExpression::constant(rational(value))),
            Node::Data(_) | Node::Field(..) | Node::Select(..) | Node::OnStrings(..) => {
                match self.of_summary(term) {
                    Some(number) => one(number),
                    None if matches!(term.node(), Node::OnStrings(..)) => self.number_of_strings(term),
                    None => self.cell(term),
                }
            }
            Node::Negate(a) => Ok(map(self.linear(a)?, |a| a.times(&Rational::from(-1)))),
            Node::ToReal(a) => self.linear(a),
            Node::IfThenElse(c, a, b) => {
                let mut cases = self.guarded(c, |scope| scope.linear(a))?;
                cases.extend(self.guarded(&c.not(), |scope| scope.linear(b))?);
                limited(term, cases)
            }
            Node::Arithmetic(operator, a, b) => {
                if matches!(operator, Operator::IntegerDivide | Operator::Modulo) {
                    return self.by_remainder(term, *operator, a, b);
                }
                let (a_cases, b_cases) = (self.linear(a)?, self.linear(b)?);
                let is_whole = *term.sort() == Type::Int;
                let mut cases = Vec::new();
                for (on_a, a) in &a_cases {
                    for (on_b, b) in &b_cases {
                        let on = Condition::and([on_a.clone(), on_b.clone()]);
                        let result = match self.arithmetic(*operator, a, b) {
                            None if *operator == Operator::Multiply => self.product(term, a, b, is_whole),
                            result => result,
                        };
                        cases.push((on, result.ok_or_else(|| (term.clone(), ImprecisionReason::NonLinear))?));
                        if cases.len() > CASE_LIMIT {
                            return Err((term.clone(), ImprecisionReason::Cases));
                        }
                    }
                }
                Ok(cases)
            }
            _ => Err((term.clone(), ImprecisionReason::Array)),
        }
    }

    /// The cases of the digit of a flag or a literal, as far as a summary has it as a number.
    fn digit(&mut self, term: &Term) -> Result<Cases<LinearExpression>, Beyond> {
        if let Node::IfThenElse(c, a, b) = self.root(term) {
            let mut cases = self.guarded(c, |scope| scope.linear(a))?;
            cases.extend(self.guarded(&c.not(), |scope| scope.linear(b))?);
            return limited(term, cases);
        }
        if let Some(number) = self.of_summary(term) {
            return Ok(vec![(Condition::Yes, number)]);
        }
        let number =
            |value: &Value| LinearExpression::constant(Rational::from(digit(value).map_or(0, i64::from)));
        Ok(self.finite_cases(term)?.iter().map(|(on, value)| (on.clone(), number(value))).collect())
    }

    /// What an operation comes to on these cases of its sides, where it is linear.
    pub(crate) fn arithmetic(
        &self,
        operator: Operator,
        a: &LinearExpression,
        b: &LinearExpression,
    ) -> Option<LinearExpression> {
        let constant = |expression| constant_value(expression, self.next_dimension());
        match operator {
            Operator::Add => Some(a.plus(b)),
            Operator::Subtract => Some(a.minus(b)),
            Operator::Multiply => match (constant(a), constant(b)) {
                (Some(factor), _) => Some(b.times(&factor)),
                (_, Some(factor)) => Some(a.times(&factor)),
                _ => None,
            },
            Operator::Divide => Some(a.times(&constant(b)?.reciprocal()?)),
            Operator::IntegerDivide | Operator::Modulo => None,
        }
    }

    /// The cases of one branch under the branch's condition; none where the branch is closed.
    pub(crate) fn guarded<T>(
        &mut self,
        on: &Term,
        cases: impl FnOnce(&mut Self) -> Result<Cases<T>, Beyond>,
    ) -> Result<Cases<T>, Beyond> {
        let on = self.condition(on);
        if on == Condition::No {
            return Ok(Vec::new());
        }
        Ok(cases(self)?
            .into_iter()
            .map(|(inner, value)| (Condition::and([on.clone(), inner]), value))
            .collect())
    }
}

fn has_parts(arrays: Arrays, sort: &Type) -> bool {
    match sort {
        Type::Record(_) => true,
        Type::Array(array) => arrays.few_cells(array).is_some(),
        _ => false,
    }
}

/// A comparison as one junction of comparisons of what has no parts.
fn by_fields(arrays: Arrays, whole: &Term) -> Term {
    let mut found = Vec::new();
    let mut work = vec![whole.clone()];
    while let Some(term) = work.pop() {
        let root = term.written().unwrap_or_else(|| term.node());
        let Node::Compare(comparison, a, b) = root else {
            found.push(term);
            continue;
        };
        match a.sort() {
            // What is known of a large list is its length.
            Type::Record(record) if arrays.is_large_list(record) && term != *whole => found.push(term),
            Type::Record(record) => {
                let field = |at| Term::compare(*comparison, &Term::field(a, at), &Term::field(b, at));
                work.extend((0..record.fields.len()).rev().map(field));
                if let (Comparison::Equal, Some(a), Some(b)) = (comparison, size(a), size(b)) {
                    found.push(Term::equal(&a.term, &b.term));
                }
            }
            Type::Array(array) if arrays.few_cells(array).is_some() => {
                let cell = |index: Value| {
                    let index = Term::literal(index);
                    Term::compare(*comparison, &Term::select(a, &index), &Term::select(b, &index))
                };
                work.extend(arrays.few_cells(array).unwrap_or_default().into_iter().rev().map(cell));
            }
            _ => found.push(term),
        }
    }
    match whole.node() {
        Node::Compare(Comparison::Equal, ..) => Term::and(found),
        _ => Term::or(found),
    }
}

pub(crate) fn limited<T>(term: &Term, cases: Cases<T>) -> Result<Cases<T>, Beyond> {
    if cases.len() > CASE_LIMIT { Err((term.clone(), ImprecisionReason::Cases)) } else { Ok(cases) }
}

fn map<T>(cases: Cases<T>, change: impl Fn(T) -> T) -> Cases<T> {
    cases.into_iter().map(|(on, value)| (on, change(value))).collect()
}

/// `a REL b` on two linear expressions; over integers strict comparisons become closed ones.
pub(crate) fn compare(
    comparison: Comparison,
    a: &LinearExpression,
    b: &LinearExpression,
    real: bool,
) -> Condition {
    let more = |a: &LinearExpression, b: &LinearExpression| {
        let difference = a.minus(b);
        if real {
            return Condition::constraint(positive_constraint(&difference, Relation::Greater));
        }
        let one = LinearExpression::constant(Rational::ONE);
        Condition::constraint(positive_constraint(&difference.minus(&one), Relation::AtLeast))
    };
    let at_least = |a: &LinearExpression, b: &LinearExpression| {
        Condition::constraint(positive_constraint(&a.minus(b), Relation::AtLeast))
    };
    match comparison {
        Comparison::Equal => Condition::constraint(positive_constraint(&a.minus(b), Relation::Equal)),
        Comparison::NotEqual => Condition::or([more(b, a), more(a, b)]),
        Comparison::Less => more(b, a),
        Comparison::AtMost => at_least(b, a),
        Comparison::Greater => more(a, b),
        Comparison::AtLeast => at_least(a, b),
    }
}

/// The field of a record that was written with all its fields, or of what a function returns, or the length
/// of such a string.
fn written_part(term: &Term) -> Option<Term> {
    match term.written()? {
        Node::Field(record, at) => match record.written() {
            Some(Node::Record(_, fields)) => Some(fields[*at].clone()),
            Some(_) => written_part(record).map(|record| Term::field(&record, *at)),
            None => record.unfolded().map(|record| Term::field(&record, *at)),
        },
        Node::OnStrings(StringOperation::Length, sides) => written_part(&sides[0]).map(|side| side.length()),
        _ => None,
    }
}

/// What a field is of a record that is made of fields, and a cell of an array that is made by stores; and a
/// cell at an unknown index as one of few. That the others have values is asked for elsewhere: here they may
/// be left out.
pub(crate) fn known_part(arrays: Arrays, term: &Term) -> Option<Term> {
    match term.node() {
        Node::Field(record, at) => match record.node() {
            Node::Record(_, fields) => Some(fields[*at].clone()),
            _ => known_part(arrays, record).map(|record| Term::field(&record, *at)),
        },
        Node::Select(array, index) => match array.node() {
            Node::Store(inner, at, element) => {
                let other = Term::select(inner, index);
                Some(Term::if_then_else(&Term::equal(index, at), element, &other))
            }
            Node::IfThenElse(c, a, b) => {
                Some(Term::if_then_else(c, &Term::select(a, index), &Term::select(b, index)))
            }
            Node::Literal(Value::Array(value)) if index.as_literal().is_none() => {
                let is_at = |at: &Value| Term::equal(index, &Term::literal(at.clone()));
                let default = Term::literal(value.default.clone());
                let cells = value.cells.iter().rev();
                Some(cells.fold(default, |rest, (at, element)| {
                    Term::if_then_else(&is_at(at), &Term::literal(element.clone()), &rest)
                }))
            }
            _ => match known_part(arrays, array) {
                Some(array) => Some(Term::select(&array, index)),
                None => one_of_few(arrays, array, index),
            },
        },
        _ => None,
    }
}

/// The cell at an index that is no literal, of an array of few cells. That the index is one of them is asked
/// for elsewhere.
fn one_of_few(arrays: Arrays, array: &Term, index: &Term) -> Option<Term> {
    let Type::Array(ty) = array.sort() else { return None };
    let cells = arrays.few_cells(ty).filter(|_| index.as_literal().is_none())?;
    let (last, others) = cells.split_last()?;
    let cell = |at: &Value| Term::select(array, &Term::literal(at.clone()));
    let is_at = |at: &Value| Term::equal(index, &Term::literal(at.clone()));
    Some(others.iter().rfold(cell(last), |rest, at| Term::if_then_else(&is_at(at), &cell(at), &rest)))
}

pub(crate) fn mentions_array(term: &Term) -> bool {
    match term.node() {
        Node::Select(..) | Node::Store(..) => true,
        Node::Field(inner, _) => mentions_array(inner),
        _ => matches!(term.sort(), Type::Array(_)),
    }
}
