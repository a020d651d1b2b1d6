//! Translates terms into Z3's syntax trees.
//!
//! `nat` and ranges are integers with bounds. An enumeration is the integers `0 .. n-1`, which Z3 handles
//! faster than a datatype and which need no declaration in the thread's context. A record is a datatype, made
//! once per thread. Euclidean `div` and `mod` are those of SMT-LIB. Every distinct subterm is translated once
//! ([`Translator::translate`]), and for every conjunct the facts of its types are computed once
//! ([`Translator::prepare`]).
//!
//! **Strings as numbers.** Z3 seldom decides an order of strings, and keys of maps are in this order. But if
//! strings are only compared, only their order counts. So a second translator writes numbers from 0 for them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use coreach_model::term::node::{Comparison, Node, Operator, StringOperation};
use coreach_model::term::strings::expression;
use coreach_model::types::RecordType;
use coreach_model::{Datum, Term, Type, Value};
use dashu_int::IBig;
use z3::ast::{Array, Ast, Bool, Dynamic, Int, Real};
use z3::{DatatypeAccessor, DatatypeBuilder, DatatypeSort, Sort, Symbol};

use super::strings::{self, integer, require};
use crate::solver::typing::{self, TypeFacts, cells_of_literal, spelled_out};
use coreach_model::ids;

#[derive(Debug)]
pub(super) struct PreparedTerm {
    pub assertion: Bool,
    /// The constraints of its types, as numbers of [`Translator::constraint`].
    pub constraints: Vec<usize>,
    pub data: Vec<Datum>,
    /// Is the conjunct outside linear arithmetic?
    pub nonlinear: bool,
    /// Does the translation have strings?
    pub strings: bool,
    /// Are strings computed, and not only compared? Then numbers cannot stand for them.
    pub computed: bool,
    pub has_numbers: bool,
    /// Is the translation not faithful? If so, the answer must be unknown.
    pub beyond: bool,
}

#[derive(Default)]
pub(super) struct Translator {
    translated: HashMap<Term, Dynamic>,
    prepared: HashMap<Term, Rc<PreparedTerm>>,
    constants: HashMap<Datum, Dynamic>,
    constraints: Vec<Bool>,
    /// The results of [`Translator::number_constraint`].
    numbers: HashMap<(Term, Option<Type>), Option<usize>>,
    /// Do numbers stand for strings?
    has_numbers: bool,
}

impl Translator {
    pub fn with_numbers() -> Self {
        Translator { has_numbers: true, ..Translator::default() }
    }

    pub fn size(&self) -> usize {
        self.translated.len() + self.numbers.len()
    }

    /// Translates a conjunct and the constraints of its types.
    pub fn prepare(&mut self, conjunct: &Term) -> Rc<PreparedTerm> {
        if let Some(known) = self.prepared.get(conjunct) {
            return known.clone();
        }
        let facts = typing::collect_facts(conjunct);
        let mut constraints = Vec::new();
        for (place, ty) in &facts.places {
            constraints.extend(self.number_constraint(place, Some(ty)));
        }
        for side in &facts.side {
            constraints.extend(self.number_constraint(side, None));
        }
        let assertion = boolean(&self.translate(conjunct));
        let TypeFacts { data, nonlinear, computed, beyond, .. } = facts;
        let has_numbers = self.has_numbers;
        if has_numbers {
            // The numbers of strings are not negative, which is no fact of their types.
            constraints.extend(data.iter().filter_map(|datum| self.membership(datum)));
        }
        let strings = facts.strings && !has_numbers;
        let prepared =
            PreparedTerm { assertion, constraints, data, nonlinear, strings, computed, has_numbers, beyond };
        let prepared = Rc::new(prepared);
        self.prepared.insert(conjunct.clone(), prepared.clone());
        prepared
    }

    pub fn constraint(&self, number: usize) -> &Bool {
        &self.constraints[number]
    }

    /// The number of the constraint that the datum lies in its type. `None`: its sort already says so.
    pub fn membership(&mut self, datum: &Datum) -> Option<usize> {
        self.number_constraint(&Term::datum(datum), Some(datum.ty()))
    }

    /// Returns the number of a constraint: the membership in a type or, without a type, the term itself.
    /// `None` if the type excludes nothing.
    fn number_constraint(&mut self, term: &Term, ty: Option<&Type>) -> Option<usize> {
        let key = (term.clone(), ty.cloned());
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let translated = self.translate(term);
        let mut parts = Vec::new();
        match ty {
            Some(ty) => collect_membership(&translated, ty, self.has_numbers, &mut parts),
            None => parts.push(boolean(&translated)),
        }
        let number = (!parts.is_empty()).then(|| {
            self.constraints.push(if parts.len() == 1 { parts.swap_remove(0) } else { Bool::and(&parts) });
            self.constraints.len() - 1
        });
        self.numbers.insert(key, number);
        number
    }

    pub fn constant(&mut self, datum: &Datum) -> Dynamic {
        if let Some(known) = self.constants.get(datum) {
            return known.clone();
        }
        // Constants are numbered, because two data may have the same name and the same sort of Z3.
        let symbol = Symbol::Int(self.constants.len() as u32);
        let constant = Dynamic::new_const(symbol, &sort(datum.ty(), self.has_numbers));
        self.constants.insert(datum.clone(), constant.clone());
        constant
    }

    /// Translates a term, each distinct subterm once.
    pub fn translate(&mut self, term: &Term) -> Dynamic {
        if let Some(known) = self.translated.get(term) {
            return known.clone();
        }
        let result = match term.node() {
            Node::Literal(value) => literal(value, self.has_numbers),
            Node::Data(datum) => self.constant(datum),
            Node::Not(a) => boolean(&self.translate(a)).not().into(),
            Node::And(parts) => Bool::and(&self.booleans(parts)).into(),
            Node::Or(parts) => Bool::or(&self.booleans(parts)).into(),
            Node::Compare(comparison, a, b) => self.compare(*comparison, a, b).into(),
            Node::IfThenElse(c, a, b) => {
                let (c, a, b) = (self.translate(c), self.translate(a), self.translate(b));
                boolean(&c).ite(&a, &b)
            }
            Node::Arithmetic(operator, a, b) => self.arithmetic(*operator, a, b),
            Node::Negate(a) if *a.sort() == Type::Real => real(&self.translate(a)).unary_minus().into(),
            Node::Negate(a) => integer(&self.translate(a)).unary_minus().into(),
            Node::ToReal(a) => integer(&self.translate(a)).to_real().into(),
            Node::Select(a, i) => {
                let (a, i) = (self.translate(a), self.translate(i));
                array(&a).select(&i)
            }
            Node::Store(a, i, e) => {
                let (a, i, e) = (self.translate(a), self.translate(i), self.translate(e));
                array(&a).store(&i, &e).into()
            }
            Node::Record(record, fields) => {
                let fields: Vec<Dynamic> = fields.iter().map(|field| self.translate(field)).collect();
                construct_record(record, &fields, self.has_numbers)
            }
            Node::OnStrings(StringOperation::Matches, arguments) => {
                let expression = require(expression(arguments), "a term's expression was read");
                strings::match_expression(&self.translate(&arguments[0]), &expression)
            }
            Node::OnStrings(operation, arguments) => {
                let arguments: Vec<Dynamic> = arguments.iter().map(|part| self.translate(part)).collect();
                strings::apply_operation(*operation, &arguments)
            }
            Node::Field(a, position) => {
                let Type::Record(record) = a.sort() else { unreachable!("{a} is not a record") };
                field(record, &self.translate(a), *position, self.has_numbers)
            }
        };
        self.translated.insert(term.clone(), result.clone());
        result
    }

    fn booleans(&mut self, parts: &[Term]) -> Vec<Bool> {
        parts.iter().map(|part| boolean(&self.translate(part))).collect()
    }

    fn compare(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Bool {
        if matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            let equal = match spelled_out(a, b) {
                Some(conjunction) => boolean(&self.translate(&conjunction)),
                None => Ast::eq(&self.translate(a), self.translate(b)),
            };
            return if comparison == Comparison::Equal { equal } else { equal.not() };
        }
        let (x, y) = (self.translate(a), self.translate(b));
        let is_string = *a.sort() == Type::String;
        if is_string && !self.has_numbers {
            return boolean(&strings::compare_strings(comparison, &x, &y));
        }
        if is_string || *a.sort() == Type::Real {
            let (x, y) = (real(&x), real(&y));
            match comparison {
                Comparison::Less => x.lt(&y),
                Comparison::AtMost => x.le(&y),
                Comparison::Greater => x.gt(&y),
                // Equalities were translated above.
                _ => x.ge(&y),
            }
        } else {
            let (x, y) = (integer(&x), integer(&y));
            match comparison {
                Comparison::Less => x.lt(&y),
                Comparison::AtMost => x.le(&y),
                Comparison::Greater => x.gt(&y),
                _ => x.ge(&y),
            }
        }
    }

    fn arithmetic(&mut self, operator: Operator, a: &Term, b: &Term) -> Dynamic {
        let (x, y) = (self.translate(a), self.translate(b));
        if *a.sort() == Type::Real {
            let (x, y) = (real(&x), real(&y));
            let result = match operator {
                Operator::Add => Real::add(&[x, y]),
                Operator::Subtract => Real::sub(&[x, y]),
                Operator::Multiply => Real::mul(&[x, y]),
                _ => x.div(&y),
            };
            return result.into();
        }
        let (x, y) = (integer(&x), integer(&y));
        let result = match operator {
            Operator::Add => Int::add(&[x, y]),
            Operator::Subtract => Int::sub(&[x, y]),
            Operator::Multiply => Int::mul(&[x, y]),
            Operator::Modulo => x.modulo(&y),
            _ => x.div(&y),
        };
        result.into()
    }
}

/// Translates a value. Here and below, `has_numbers` says that numbers stand for strings.
pub(super) fn literal(value: &Value, has_numbers: bool) -> Dynamic {
    let literal = |value: &Value| literal(value, has_numbers);
    match value {
        Value::Bool(value) => Bool::from_bool(*value).into(),
        Value::Int(value) => integer_literal(value).into(),
        Value::Real(value) => {
            let (numerator, denominator) = (value.numerator().to_string(), value.denominator().to_string());
            require(Real::from_rational_str(&numerator, &denominator), "digits make a numeral").into()
        }
        Value::String(text) if has_numbers => literal(&Value::Real(strings::number_in_order(text))),
        Value::String(text) => strings::literal(text),
        Value::Id(_, text) => integer_literal(&ids::number_of_text(text)).into(),
        Value::Enum(_, position) => Int::from_u64(*position as u64).into(),
        Value::Array(value) => {
            let (default, cells) = cells_of_literal(value);
            let empty = Array::const_array(&sort(&value.ty.index, has_numbers), &literal(&default));
            let all = cells.iter();
            all.fold(empty, |array, (index, cell)| array.store(&literal(index), &literal(cell))).into()
        }
        Value::Record(record, fields) => {
            construct_record(record, &fields.iter().map(literal).collect::<Vec<Dynamic>>(), has_numbers)
        }
    }
}

fn integer_literal(value: &IBig) -> Int {
    match i64::try_from(value) {
        Ok(small) => Int::from_i64(small),
        Err(_) => require(value.to_string().parse().ok(), "digits make a numeral"),
    }
}

/// Collects the conditions under which a value of the type's sort lies in the type.
fn collect_membership(ast: &Dynamic, ty: &Type, has_numbers: bool, parts: &mut Vec<Bool>) {
    match ty {
        Type::Nat | Type::Id(_) => parts.push(integer(ast).ge(0)),
        Type::Range(low, high) => {
            parts.push(integer(ast).ge(integer_literal(low)));
            parts.push(integer(ast).le(integer_literal(high)));
        }
        Type::Enum(enumeration) => {
            parts.push(integer(ast).ge(0));
            parts.push(integer(ast).lt(enumeration.literals.len() as u64));
        }
        Type::Record(record) => {
            for (position, (_, ty)) in record.fields.iter().enumerate() {
                collect_membership(&field(record, ast, position, has_numbers), ty, has_numbers, parts);
            }
        }
        Type::String if has_numbers => parts.push(real(ast).ge(Real::from_rational(0, 1))),
        Type::Bool | Type::Int | Type::Real | Type::String | Type::Array(_) => {}
    }
}

fn sort(ty: &Type, has_numbers: bool) -> Sort {
    match ty {
        Type::Bool => Sort::bool(),
        Type::Int | Type::Nat | Type::Range(..) | Type::Enum(_) | Type::Id(_) => Sort::int(),
        Type::String if !has_numbers => Sort::string(),
        Type::Real | Type::String => Sort::real(),
        Type::Array(array) => {
            Sort::array(&sort(&array.index, has_numbers), &sort(&array.element, has_numbers))
        }
        Type::Record(record) => datatype(record, has_numbers).sort.clone(),
    }
}

fn construct_record(record: &Arc<RecordType>, fields: &[Dynamic], has_numbers: bool) -> Dynamic {
    let fields: Vec<&dyn Ast> = fields.iter().map(|value| value as &dyn Ast).collect();
    datatype(record, has_numbers).variants[0].constructor.apply(&fields)
}

pub(super) fn field(record: &Arc<RecordType>, ast: &Dynamic, position: usize, has_numbers: bool) -> Dynamic {
    datatype(record, has_numbers).variants[0].accessors[position].apply(&[ast])
}

/// The datatype of a record type. It is defined once per thread, because each thread has one context of Z3,
/// which refuses a second definition.
fn datatype(record: &Arc<RecordType>, has_numbers: bool) -> Rc<DatatypeSort> {
    type Datatypes = HashMap<(Arc<RecordType>, bool), Rc<DatatypeSort>>;
    thread_local!(static DATATYPES: RefCell<Datatypes> = RefCell::default());
    let has_numbers = has_numbers && record.fields.iter().any(|(_, ty)| ty.contains(&Type::String));
    let key = (record.clone(), has_numbers);
    if let Some(known) = DATATYPES.with_borrow(|all| all.get(&key).cloned()) {
        return known;
    }
    // This must be outside the borrow, because a field may be a record.
    let sorts: Vec<Sort> = record.fields.iter().map(|(_, ty)| sort(ty, has_numbers)).collect();
    DATATYPES.with_borrow_mut(|all| {
        let number = all.len();
        let names: Vec<String> = (0..sorts.len()).map(|at| format!("field!{number}!{at}")).collect();
        let fields =
            names.iter().zip(sorts).map(|(name, sort)| (name.as_str(), DatatypeAccessor::sort(sort)));
        let sort = DatatypeBuilder::new(format!("record!{number}"))
            .variant(&format!("make!{number}"), fields.collect())
            .finish();
        all.entry(key).or_insert(Rc::new(sort)).clone()
    })
}

fn boolean(ast: &Dynamic) -> Bool {
    require(ast.as_bool(), "terms are well-sorted")
}

fn real(ast: &Dynamic) -> Real {
    require(ast.as_real(), "terms are well-sorted")
}

fn array(ast: &Dynamic) -> Array {
    require(ast.as_array(), "terms are well-sorted")
}
