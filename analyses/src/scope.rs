//! Guards as the domains see them: a formula of linear constraints, for one valuation of the finite places.
//!
//! Within one cell of the partition every Boolean and enumeration place has a value, so the finite part of a
//! guard is evaluated away. A conjunction and disjunction over linear constraints remains. Two things have no
//! such form: a non-linear operation, and a read from an array of many cells. Each of them gets a number of
//! its own, about which something is known ([`crate::auxiliary`]), as long as there is room. Without room,
//! the atom that contains it is read as true. Both are over-approximations, and noted as an
//! [`ImprecisionReason`] with the term. An `if-then-else` below a comparison or an assignment is a case
//! split with at most [`CASE_LIMIT`] cases.
//!
//! `mod` and `div` by a number are linear where the remainder is known. For a domain that knows congruences
//! they are a case split over the remainders. Another domain would not tell these cases apart, so there the
//! quotient is a number of its own.
//!
//! Terms share their subterms, and without sharing they can be exponentially long. So every subterm is
//! compiled once in a scope, and a condition has at most as many constraints as its frame allows
//! ([`Frame::condition_limit`]). A longer condition is read as true, and this is noted.
//!
//! If an atom is read as true, its negation is read as true as well. Terms push negation to the atoms, so no
//! imprecision can be negated.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use coreach_model::term::Term;
use coreach_model::term::node::{Comparison, Node, Operator, StringOperation};
use coreach_model::{Type, Value};
use coreach_polyhedra::{Constraint, LinearExpression, Rational, Relation};

use crate::auxiliary::Auxiliaries;
use crate::condition::Formula;
use crate::frame::{Frame, FrameSlot, digit};
use crate::linear::{constant_value, integer, rational};
use crate::places::{Arrays, size};
use crate::summaries::{merge_conjuncts, merge_disjuncts};

/// The most cases that one term or one transition is split into, and the most steps of an elimination.
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
    /// The value of a string. Only its length is described.
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
            ImprecisionReason::NonLinear => {
                "it is not linear (except for the bounds of the factors of a product)"
            }
            ImprecisionReason::IntegerDivision => "`div` and `mod` are not linear (except for bounds)",
            ImprecisionReason::Array => "no domain describes arrays",
            ImprecisionReason::Summary => "one cell stands for all cells of its array (`analysis: cells`)",
            ImprecisionReason::Elements => "one element stands for all elements of a long list",
            ImprecisionReason::String => "the domains describe only the length of strings",
            ImprecisionReason::Unpartitioned => "the partition is at its limit (`analysis: partition_limit`)",
            ImprecisionReason::Cases => "it has too many cases",
            ImprecisionReason::Constraints => "it has too many constraints (`analysis: condition_limit`)",
            ImprecisionReason::Parameters => "it relates too many parameters",
        })
    }
}

/// A term that is beyond the domains, and why.
pub type Beyond = (Term, ImprecisionReason);

/// The cases of a value, each with the condition under which the value is this one.
pub type Split<T> = Vec<(Formula, T)>;

/// The terms that a scope has compiled.
#[derive(Default)]
pub struct Cache {
    conditions: HashMap<Term, Formula>,
    linear: HashMap<Term, Result<Split<LinearExpression>, Beyond>>,
    finite: HashMap<Term, Result<Split<Value>, Beyond>>,
    pub(crate) ids: HashMap<Term, Result<Split<Term>, Beyond>>,
}

impl Cache {
    /// Remembers that a comparison holds, or that it does not.
    pub fn decide(&mut self, comparison: &Term, holds: bool) {
        self.conditions.insert(comparison.clone(), truth(holds));
        self.conditions.insert(comparison.not(), truth(!holds));
    }

    pub fn holds(&self, comparison: &Term) -> bool {
        self.conditions.get(comparison) == Some(&Formula::Yes)
    }
}

/// Comparisons of records and of arrays of few cells, with the same written for their parts. It does not
/// depend on the values in `finite`.
pub type Fields = HashMap<Term, Term>;

/// The scope of a term that is compiled: the dimensions, and the values of finite places and parameters.
pub struct CompileScope<'a> {
    pub frame: &'a Frame,
    /// The dimensions of the parameters, after those of the frame.
    pub parameters: &'a HashMap<Term, usize>,
    pub finite: HashMap<Term, Value>,
    /// All dimensions but those of auxiliary numbers, the parameters' included.
    pub dimensions: usize,
    /// What was read as true or as unknown, in order, each once.
    pub imprecisions: Vec<Beyond>,
    /// Terms that were compiled, so that a shared term is compiled once. It holds for these `finite` only.
    pub memory: Cache,
    /// Comparisons of records that were split into fields.
    pub fields: Fields,
    /// The numbers after `dimensions`, for terms that are not linear.
    pub auxiliaries: Auxiliaries,
    /// The keys that the guard decides: are they in their set or map?
    pub keys: &'a HashMap<Term, bool>,
}

impl<'a> CompileScope<'a> {
    /// A scope without values of finite places and without room for auxiliary numbers.
    pub fn new(
        frame: &'a Frame,
        parameters: &'a HashMap<Term, usize>,
        keys: &'a HashMap<Term, bool>,
    ) -> Self {
        CompileScope {
            frame,
            parameters,
            finite: HashMap::new(),
            dimensions: frame.dimensions(),
            imprecisions: Vec::new(),
            memory: Cache::default(),
            fields: Fields::new(),
            auxiliaries: Auxiliaries::default(),
            keys,
        }
    }

    pub fn note_imprecision(&mut self, (term, reason): Beyond) {
        if !self.imprecisions.iter().any(|(known, why)| (known, why) == (&term, &reason)) {
            self.imprecisions.push((term, reason));
        }
    }

    /// May an operation in the term be about a large list?
    fn has_large_lists(&self, term: &Term) -> bool {
        term.has_operations() && self.frame.summaries.iter().any(|summary| summary.list.is_some())
    }

    /// The root of a term. If a large list may be read below, it is the root as it was written.
    fn root<'t>(&self, term: &'t Term) -> &'t Node {
        term.written().filter(|_| self.has_large_lists(term)).unwrap_or_else(|| term.node())
    }

    /// Simplifies a read of a record or array that is known. If a large list may be read below, the read is
    /// taken as it was written. `None`: there is nothing to simplify.
    fn known_part(&self, term: &Term) -> Option<Term> {
        let written = if self.has_large_lists(term) { simplify_written_read(term) } else { None };
        written.or_else(|| simplify_read(self.frame.arrays, term))
    }

    /// Compiles a condition; a composite one only once. If it is too large, it becomes "yes", with a note.
    pub fn condition(&mut self, term: &Term) -> Formula {
        if let Some(body) = self.unfolded(term) {
            return self.condition(&body);
        }
        if let Some(condition) = self.on_elements(term, true) {
            return condition;
        }
        // An atom costs less than a look-up.
        if !matches!(self.root(term), Node::And(_) | Node::Or(_) | Node::IfThenElse(..) | Node::Compare(..)) {
            return self.uncached_condition(term);
        }
        if let Some(known) = self.memory.conditions.get(term) {
            return known.clone();
        }
        let mut condition = self.uncached_condition(term);
        if condition.size() > self.frame.condition_limit {
            self.note_imprecision((term.clone(), ImprecisionReason::Constraints));
            condition = Formula::Yes;
        }
        self.memory.conditions.insert(term.clone(), condition.clone());
        condition
    }

    /// The body of a called function, if a large list may be read in it.
    fn unfolded(&self, term: &Term) -> Option<Term> {
        term.unfolded().filter(|_| self.has_large_lists(term))
    }

    /// Compiles a condition by its root.
    fn uncached_condition(&mut self, term: &Term) -> Formula {
        match self.root(term) {
            Node::Literal(Value::Bool(true)) => Formula::Yes,
            Node::Literal(_) => Formula::No,
            Node::And(parts) if self.frame.summaries.is_empty() => self.conjunction(parts),
            Node::And(parts) => self.conjunction(&merge_conjuncts(self.frame.arrays, parts)),
            Node::Or(parts) => {
                let parts = match &self.frame.summaries[..] {
                    [] => Cow::Borrowed(parts),
                    _ => Cow::Owned(merge_disjuncts(self.frame.arrays, parts, self.auxiliaries.next_name())),
                };
                Formula::or(parts.iter().map(|part| self.condition(part)).collect::<Vec<_>>())
            }
            Node::IfThenElse(c, a, b) => {
                let split = [(c.clone(), a), (c.not(), b)];
                Formula::or(split.map(|(c, value)| Formula::and([self.condition(&c), self.condition(value)])))
            }
            Node::Compare(comparison, a, b) if self.is_large_list(a.sort()) => {
                self.compared_lists(*comparison, a, b)
            }
            Node::Compare(_, a, _) if has_parts(self.frame.arrays, a.sort()) => {
                let arrays = self.frame.arrays;
                let root = if self.has_large_lists(term) { term } else { term.lowered() };
                let fields = self.fields.entry(root.clone());
                let fields = fields.or_insert_with(|| split_comparison(arrays, root)).clone();
                self.condition(&fields)
            }
            Node::Compare(comparison, a, b) => self.comparison(*comparison, a, b),
            Node::Not(inner) => match (self.on_elements(inner, false), self.unfolded(inner)) {
                (Some(condition), _) => condition,
                (_, Some(body)) => self.condition(&body.not()),
                // An operation may stand for any term, for example for a conjunction.
                _ if inner.written().is_none() => self.condition(&inner.lowered().not()),
                _ => self.compile_boolean(inner, false),
            },
            _ => self.compile_boolean(term, true),
        }
    }

    /// Compiles a conjunction. A part for which it has no room is read as true, and noted.
    fn conjunction(&mut self, parts: &[Term]) -> Formula {
        // Flags first: in most cells one of them decides, and the numbers need not be compiled.
        let is_flag = |part: &&Term| match part.node() {
            Node::Not(inner) => inner.as_datum().is_some(),
            _ => part.as_datum().is_some(),
        };
        if parts.iter().filter(is_flag).any(|flag| self.condition(flag) == Formula::No) {
            return Formula::No;
        }
        let (mut conjuncts, mut size) = (Vec::new(), 0);
        for part in parts {
            let conjunct = self.condition(part);
            if conjunct == Formula::No {
                return Formula::No;
            }
            if size + conjunct.size() > self.frame.condition_limit {
                self.note_imprecision((part.clone(), ImprecisionReason::Constraints));
                continue;
            }
            size += conjunct.size();
            conjuncts.push(conjunct);
        }
        Formula::and(conjuncts)
    }

    /// The condition that a Boolean datum, field or array cell has the value `expected`. It is "yes" if
    /// nothing is known of it.
    fn compile_boolean(&mut self, term: &Term, expected: bool) -> Formula {
        // A read that is an error was noted as lost already.
        let Ok(digit) = self.list_element(term).transpose() else { return Formula::Yes };
        if digit.is_none()
            && let Some(part) = self.known_part(term)
        {
            return self.condition(&if expected { part } else { part.not() });
        }
        if let Some(digit) = digit.or_else(|| self.summary_number(term)) {
            let expected = LinearExpression::constant(Rational::from(i64::from(expected)));
            return compare_integers(Comparison::Equal, &digit, &expected);
        }
        match self.finite.get(term) {
            Some(Value::Bool(value)) if *value == expected => Formula::Yes,
            Some(_) => Formula::No,
            None if matches!(term.node(), Node::OnStrings(..)) => self.on_strings(term, expected),
            None => self.give_up_on(term),
        }
    }

    /// Reads a term as true, and notes it.
    fn give_up_on(&mut self, term: &Term) -> Formula {
        self.note_imprecision((term.clone(), reason_without_slot(term)));
        Formula::Yes
    }

    /// Compiles a comparison: the disjunction of the cases of its sides in which it holds.
    fn comparison(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Formula {
        match a.sort() {
            Type::Int | Type::Real => {
                let compare = if *a.sort() == Type::Real { compare_reals } else { compare_integers };
                let compared =
                    compare_cases(self.linear(a), self.linear(b), |a, b| compare(comparison, a, b));
                compared.unwrap_or_else(|reason| self.lost_comparison(comparison, a, b, reason))
            }
            Type::Bool | Type::Enum(_) => {
                let compare = |a: &Value, b: &Value| truth(comparison.holds(a.cmp(b)));
                compare_cases(self.finite_cases(a), self.finite_cases(b), compare)
                    .unwrap_or_else(|reason| self.lost_comparison(comparison, a, b, reason))
            }
            Type::String => self.compared_strings(comparison, a, b),
            Type::Id(_) => self.compared_ids(comparison, a, b),
            Type::Array(array) => {
                // Equal arrays agree in the cell that stands for all. Of unequal ones nothing follows.
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

    /// Reads a comparison as true, and notes it.
    fn lost_comparison(
        &mut self,
        comparison: Comparison,
        a: &Term,
        b: &Term,
        reason: ImprecisionReason,
    ) -> Formula {
        self.note_imprecision((Term::compare(comparison, a, b), reason));
        Formula::Yes
    }

    /// The cases of a Boolean or enumeration term.
    /// Errors: the subterm that has no value here.
    pub fn finite_cases(&mut self, term: &Term) -> Result<Split<Value>, Beyond> {
        if let Some(known) = self.memory.finite.get(term) {
            return known.clone();
        }
        let cases = self.uncached_finite_cases(term);
        self.memory.finite.insert(term.clone(), cases.clone());
        cases
    }

    /// Compiles the cases of a Boolean or enumeration term by its root.
    fn uncached_finite_cases(&mut self, term: &Term) -> Result<Split<Value>, Beyond> {
        if let Some(value) = self.finite.get(term) {
            return Ok(vec![(Formula::Yes, value.clone())]);
        }
        let digit = self.list_element(term).transpose()?;
        if digit.is_none()
            && let Some(part) = self.known_part(term)
        {
            return self.finite_cases(&part);
        }
        if let Some(digit) = digit.or_else(|| self.summary_number(term)) {
            let values = Value::enumerate(term.sort(), CASE_LIMIT).unwrap_or_default();
            let case_of = |(position, value): (usize, Value)| {
                let position = LinearExpression::constant(Rational::from(position as i64));
                (compare_integers(Comparison::Equal, &digit, &position), value)
            };
            let cases: Split<Value> = values.into_iter().enumerate().map(case_of).collect();
            // The list is empty if the type has more values than the limit.
            return if cases.is_empty() { Err((term.clone(), ImprecisionReason::Cases)) } else { Ok(cases) };
        }
        match self.root(term) {
            Node::Literal(value) => Ok(vec![(Formula::Yes, value.clone())]),
            Node::IfThenElse(c, a, b) => self.branch_cases(term, [c, a, b], Self::finite_cases),
            Node::Data(_) | Node::Field(..) | Node::Select(..) | Node::Store(..) | Node::Record(..) => {
                Err((term.clone(), reason_without_slot(term)))
            }
            // A Boolean operation: the term or its negation holds.
            _ => {
                let split = [(term.clone(), true), (term.not(), false)];
                let cases = split.map(|(term, value)| (self.condition(&term), Value::Bool(value)));
                Ok(cases.into_iter().filter(|(on, _)| *on != Formula::No).collect())
            }
        }
    }

    /// The cases of a number that is one of these values.
    /// Errors: the subterm that is not linear.
    pub fn cases_among(&mut self, term: &Term, values: &[Value]) -> Result<Split<Value>, Beyond> {
        let mut cases = Vec::new();
        for (on, expression) in self.linear(term)? {
            for value in values {
                let Value::Int(number) = value else { continue };
                let number = LinearExpression::constant(Rational::from(integer(number)));
                let is_equal = compare_integers(Comparison::Equal, &expression, &number);
                let on = Formula::and([on.clone(), is_equal]);
                if on != Formula::No {
                    cases.push((on, value.clone()));
                }
            }
        }
        limit_cases(term, cases)
    }

    /// The cases of a numeric term as linear expressions.
    /// Errors: the subterm that is not linear.
    pub fn linear(&mut self, term: &Term) -> Result<Split<LinearExpression>, Beyond> {
        if let Some(known) = self.memory.linear.get(term) {
            return known.clone();
        }
        let mut result = self.uncached_linear(term);
        if let Ok(cases) = &result
            && cases.iter().map(|(on, _)| on.size()).sum::<usize>() > self.frame.condition_limit
        {
            result = Err((term.clone(), ImprecisionReason::Constraints));
        }
        self.memory.linear.insert(term.clone(), result.clone());
        result
    }

    /// Compiles the cases of a number. What is known of the term as a whole comes before its root.
    fn uncached_linear(&mut self, term: &Term) -> Result<Split<LinearExpression>, Beyond> {
        let one_case = |expression| Ok(vec![(Formula::Yes, expression)]);
        // The length of a short list is a digit of the cell.
        if let Some(Value::Int(length)) = self.finite.get(term) {
            return one_case(LinearExpression::constant(Rational::from(integer(length))));
        }
        if let Some(FrameSlot::Numeric(dimension)) = self.frame.slot(term) {
            return one_case(LinearExpression::variable(dimension));
        }
        if let Some(cases) = self.size_of(term) {
            return limit_cases(term, cases);
        }
        if let Some(number) = self.list_element(term).transpose()? {
            return one_case(number);
        }
        if let Some(body) = self.unfolded(term) {
            return self.linear(&body);
        }
        if let Some(cases) = self.number_of_elements(term) {
            return cases;
        }
        if let Some(part) = self.known_part(term) {
            return self.linear(&part);
        }
        if !term.sort().is_number() {
            return self.digit_cases(term);
        }
        match self.root(term) {
            Node::Literal(Value::Int(value)) => {
                one_case(LinearExpression::constant(Rational::from(integer(value))))
            }
            Node::Literal(Value::Real(value)) => one_case(LinearExpression::constant(rational(value))),
            Node::Data(_) | Node::Field(..) | Node::Select(..) | Node::OnStrings(..) => {
                match self.summary_number(term) {
                    Some(number) => one_case(number),
                    None if matches!(term.node(), Node::OnStrings(..)) => self.number_of_strings(term),
                    None => self.cell_cases(term),
                }
            }
            Node::Negate(a) => {
                let negated = |(on, value): (_, LinearExpression)| (on, value.times(&Rational::from(-1)));
                Ok(self.linear(a)?.into_iter().map(negated).collect())
            }
            Node::ToReal(a) => self.linear(a),
            Node::IfThenElse(c, a, b) => self.branch_cases(term, [c, a, b], Self::linear),
            Node::Arithmetic(operator @ (Operator::IntegerDivide | Operator::Modulo), a, b) => {
                self.division_cases(term, *operator, a, b)
            }
            Node::Arithmetic(operator, a, b) => self.arithmetic_cases(term, *operator, a, b),
            _ => Err((term.clone(), ImprecisionReason::Array)),
        }
    }

    /// The cases of a sum, a difference, a product or a quotient: each case of `a` with each case of `b`. A
    /// product of two numbers that are not constant gets an auxiliary number.
    fn arithmetic_cases(
        &mut self,
        term: &Term,
        operator: Operator,
        a: &Term,
        b: &Term,
    ) -> Result<Split<LinearExpression>, Beyond> {
        let (a_cases, b_cases) = (self.linear(a)?, self.linear(b)?);
        let mut cases = Vec::new();
        for (on_a, a) in &a_cases {
            for (on_b, b) in &b_cases {
                let result = match self.arithmetic(operator, a, b) {
                    None if operator == Operator::Multiply => self.product_number(term, a, b),
                    result => result,
                };
                let result = result.ok_or_else(|| (term.clone(), ImprecisionReason::NonLinear))?;
                cases.push((Formula::and([on_a.clone(), on_b.clone()]), result));
                if cases.len() > CASE_LIMIT {
                    return Err((term.clone(), ImprecisionReason::Cases));
                }
            }
        }
        Ok(cases)
    }

    /// The cases of a Boolean or enumeration term as its digit: the number that a summary has for its value.
    fn digit_cases(&mut self, term: &Term) -> Result<Split<LinearExpression>, Beyond> {
        if let Node::IfThenElse(c, a, b) = self.root(term) {
            return self.branch_cases(term, [c, a, b], Self::linear);
        }
        if let Some(number) = self.summary_number(term) {
            return Ok(vec![(Formula::Yes, number)]);
        }
        let number =
            |value: &Value| LinearExpression::constant(Rational::from(digit(value).map_or(0, i64::from)));
        Ok(self.finite_cases(term)?.iter().map(|(on, value)| (on.clone(), number(value))).collect())
    }

    /// Applies an operation to linear expressions. `None`: the result is not linear.
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

    /// The cases of `if c then a else b`: those of each branch, under its condition. A branch whose condition
    /// is "no" has none. `cases_of` makes the cases of a branch.
    pub(crate) fn branch_cases<T>(
        &mut self,
        term: &Term,
        [c, a, b]: [&Term; 3],
        cases_of: impl Fn(&mut Self, &Term) -> Result<Split<T>, Beyond>,
    ) -> Result<Split<T>, Beyond> {
        let mut cases = Vec::new();
        for (on, branch) in [(c.clone(), a), (c.not(), b)] {
            let on = self.condition(&on);
            if on != Formula::No {
                let of_branch = cases_of(self, branch)?.into_iter();
                cases.extend(of_branch.map(|(inner, value)| (Formula::and([on.clone(), inner]), value)));
            }
        }
        limit_cases(term, cases)
    }

    /// Returns the cases of an assigned value, if they split `count` cases of a transition into few enough.
    /// Otherwise notes that the value is lost.
    pub(crate) fn keep_split<T>(
        &mut self,
        value: &Term,
        count: usize,
        split: Result<Split<T>, Beyond>,
    ) -> Option<Split<T>> {
        let reason = match split {
            Ok(split) if split.len() * count <= CASE_LIMIT => return Some(split),
            Ok(_) => ImprecisionReason::Cases,
            Err((_, reason)) => reason,
        };
        self.note_imprecision((value.clone(), reason));
        None
    }
}

/// The disjunction of the combinations of cases, each with the condition that the comparison then needs.
/// Errors: why a side has no cases, or that there are too many.
fn compare_cases<T>(
    a_cases: Result<Split<T>, Beyond>,
    b_cases: Result<Split<T>, Beyond>,
    compare: impl Fn(&T, &T) -> Formula,
) -> Result<Formula, ImprecisionReason> {
    let (a_cases, b_cases) = (a_cases.map_err(|(_, reason)| reason)?, b_cases.map_err(|(_, reason)| reason)?);
    if a_cases.len() * b_cases.len() > CASE_LIMIT {
        return Err(ImprecisionReason::Cases);
    }
    let pairs = a_cases.iter().flat_map(|a_case| b_cases.iter().map(move |b_case| (a_case, b_case)));
    Ok(Formula::or(
        pairs.map(|((on_a, a), (on_b, b))| Formula::and([on_a.clone(), on_b.clone(), compare(a, b)])),
    ))
}

/// Why a place without a slot is unknown.
fn reason_without_slot(term: &Term) -> ImprecisionReason {
    if mentions_array(term) { ImprecisionReason::Array } else { ImprecisionReason::Unpartitioned }
}

fn truth(holds: bool) -> Formula {
    if holds { Formula::Yes } else { Formula::No }
}

/// Are values of this sort compared part by part?
fn has_parts(arrays: Arrays, sort: &Type) -> bool {
    match sort {
        Type::Record(_) => true,
        Type::Array(array) => arrays.few_cells(array).is_some(),
        _ => false,
    }
}

/// Splits a comparison of records or arrays into comparisons of their parts, down to what has no parts.
fn split_comparison(arrays: Arrays, whole: &Term) -> Term {
    let mut comparisons = Vec::new();
    let mut open_terms = vec![whole.clone()];
    while let Some(term) = open_terms.pop() {
        let root = term.written().unwrap_or_else(|| term.node());
        let Node::Compare(comparison, a, b) = root else {
            comparisons.push(term);
            continue;
        };
        match a.sort() {
            // Only the length of a large list is known.
            Type::Record(record) if arrays.is_large_list(record) && term != *whole => comparisons.push(term),
            Type::Record(record) => {
                let compare_field =
                    |field| Term::compare(*comparison, &Term::field(a, field), &Term::field(b, field));
                // `pop` takes the last, so the reversed parts are met in their order.
                open_terms.extend((0..record.fields.len()).rev().map(compare_field));
                // Sets and maps with equal fields have equal sizes.
                if let (Comparison::Equal, Some(a), Some(b)) = (comparison, size(a), size(b)) {
                    comparisons.push(Term::equal(&a.term, &b.term));
                }
            }
            Type::Array(array) if arrays.few_cells(array).is_some() => {
                let compare_cell = |index: Value| {
                    let index = Term::literal(index);
                    Term::compare(*comparison, &Term::select(a, &index), &Term::select(b, &index))
                };
                open_terms
                    .extend(arrays.few_cells(array).unwrap_or_default().into_iter().rev().map(compare_cell));
            }
            _ => comparisons.push(term),
        }
    }
    match whole.node() {
        Node::Compare(Comparison::Equal, ..) => Term::and(comparisons),
        _ => Term::or(comparisons),
    }
}

/// Returns the cases, or an error if there are too many.
pub(crate) fn limit_cases<T>(term: &Term, cases: Split<T>) -> Result<Split<T>, Beyond> {
    if cases.len() > CASE_LIMIT { Err((term.clone(), ImprecisionReason::Cases)) } else { Ok(cases) }
}

/// `a REL b` on two integers. Over integers, strict comparisons become closed ones.
pub(crate) fn compare_integers(
    comparison: Comparison,
    a: &LinearExpression,
    b: &LinearExpression,
) -> Formula {
    let one = LinearExpression::constant(Rational::ONE);
    let is_positive =
        |number: &LinearExpression| Constraint::from_expression(&number.minus(&one), Relation::AtLeast);
    compare(comparison, a, b, &is_positive)
}

fn compare_reals(comparison: Comparison, a: &LinearExpression, b: &LinearExpression) -> Formula {
    compare(comparison, a, b, &|number| Constraint::from_expression(number, Relation::Greater))
}

/// `a REL b`. `is_positive` makes the constraint that a number is above 0.
fn compare(
    comparison: Comparison,
    a: &LinearExpression,
    b: &LinearExpression,
    is_positive: &dyn Fn(&LinearExpression) -> Constraint,
) -> Formula {
    let greater = |a: &LinearExpression, b: &LinearExpression| Formula::constraint(is_positive(&a.minus(b)));
    let at_least = |a: &LinearExpression, b: &LinearExpression| {
        Formula::constraint(Constraint::from_expression(&a.minus(b), Relation::AtLeast))
    };
    match comparison {
        Comparison::Equal => Formula::constraint(Constraint::from_expression(&a.minus(b), Relation::Equal)),
        Comparison::NotEqual => Formula::or([greater(b, a), greater(a, b)]),
        Comparison::Less => greater(b, a),
        Comparison::AtMost => at_least(b, a),
        Comparison::Greater => greater(a, b),
        Comparison::AtLeast => at_least(a, b),
    }
}

/// Simplifies a read as it was written: the field of a record that is written with all its fields or that a
/// function returns, and the length of such a string. `None` for other terms.
fn simplify_written_read(term: &Term) -> Option<Term> {
    match term.written()? {
        Node::Field(record, at) => match record.written() {
            Some(Node::Record(_, fields)) => Some(fields[*at].clone()),
            Some(_) => simplify_written_read(record).map(|record| Term::field(&record, *at)),
            None => record.unfolded().map(|record| Term::field(&record, *at)),
        },
        Node::OnStrings(StringOperation::Length, sides) => {
            simplify_written_read(&sides[0]).map(|side| side.length())
        }
        _ => None,
    }
}

/// Simplifies a read: a field of a record that is made of fields, a cell of an array that is made by stores,
/// and a cell at an unknown index of an array of few cells. Other obligations ask that the unread parts have
/// values, so here they may be left out.
pub(crate) fn simplify_read(arrays: Arrays, term: &Term) -> Option<Term> {
    match term.node() {
        Node::Field(record, at) => match record.node() {
            Node::Record(_, fields) => Some(fields[*at].clone()),
            _ => simplify_read(arrays, record).map(|record| Term::field(&record, *at)),
        },
        Node::Select(array, index) => match array.node() {
            Node::Store(inner, at, element) => {
                let read_below = Term::select(inner, index);
                Some(Term::if_then_else(&Term::equal(index, at), element, &read_below))
            }
            Node::IfThenElse(c, a, b) => {
                Some(Term::if_then_else(c, &Term::select(a, index), &Term::select(b, index)))
            }
            Node::Literal(Value::Array(value)) if index.as_literal().is_none() => {
                let is_at = |at: &Value| Term::equal(index, &Term::literal(at.clone()));
                let default = Term::literal(value.default.clone());
                Some(value.cells.iter().rfold(default, |otherwise, (at, element)| {
                    Term::if_then_else(&is_at(at), &Term::literal(element.clone()), &otherwise)
                }))
            }
            _ => match simplify_read(arrays, array) {
                Some(array) => Some(Term::select(&array, index)),
                None => choose_cell(arrays, array, index),
            },
        },
        _ => None,
    }
}

/// Writes the cell at an index that is no literal as a choice among the few cells of its array. Another
/// obligation asks that the index is one of them.
fn choose_cell(arrays: Arrays, array: &Term, index: &Term) -> Option<Term> {
    let Type::Array(ty) = array.sort() else { return None };
    let cells = arrays.few_cells(ty).filter(|_| index.as_literal().is_none())?;
    // One of the cells is read, so the last needs no comparison.
    let (last, others) = cells.split_last()?;
    let cell = |at: &Value| Term::select(array, &Term::literal(at.clone()));
    let is_at = |at: &Value| Term::equal(index, &Term::literal(at.clone()));
    Some(
        others
            .iter()
            .rfold(cell(last), |otherwise, at| Term::if_then_else(&is_at(at), &cell(at), &otherwise)),
    )
}

/// Is it an array, a cell of one, or a field of these?
pub(crate) fn mentions_array(term: &Term) -> bool {
    match term.node() {
        Node::Select(..) | Node::Store(..) => true,
        Node::Field(inner, _) => mentions_array(inner),
        _ => matches!(term.sort(), Type::Array(_)),
    }
}
