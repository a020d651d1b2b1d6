//! Reads Z3's answers to Horn clauses as states and terms of the model.
//!
//! Nothing is decided here: the caller checks what was read. An answer that cannot be read is no answer.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::node::{Comparison, Operator};
use coreach_model::value::ArrayValue;
use coreach_model::{LocationId, Term, Type, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;

use super::expression::{SExpression, read_expression};
use super::script::{Problem, Taken};
use crate::solver::smtlib::symbol;
use coreach_model::ids;

/// Reads the states of a run from a proof, in order. Only derivations with a state count. `None` if it cannot
/// be read.
pub(super) fn read_states(proof: &str, problem: &Problem<'_>) -> Option<Vec<(Taken, State)>> {
    let proof = read_expression(proof)?;
    // `(mp derivation ...)`
    let ("mp", steps) = proof.applied()? else { return None };
    let mut states = Vec::new();
    let mut step = Some(steps.first()?);
    while let Some(current) = step {
        // A derivation is a head, its premises, and its conclusion.
        let (conclusion, premises) = current.list()?.get(1..)?.split_last()?;
        // The last steps conclude the question itself, which has no state.
        if let Some((side, location, arguments)) = read_atom(conclusion, problem) {
            let mut valuation = Valuation::new();
            for (datum, argument) in problem.data.iter().zip(arguments) {
                valuation.insert(datum.clone(), read_value(argument, datum.ty())?);
            }
            if valuation.len() != problem.data.len() {
                return None;
            }
            states.push((side, State { location, valuation }));
        }
        step = premises.iter().find(|premise| is_derivation(premise));
    }
    // A proof begins with its conclusion, which is the last step.
    states.reverse();
    Some(states)
}

/// Is it `((_ hyper-res ...) ...)`?
fn is_derivation(expression: &SExpression) -> bool {
    let head = expression.list().and_then(<[SExpression]>::first).and_then(SExpression::applied);
    head.is_some_and(|(_, rest)| rest.first().is_some_and(|name| name.is("hyper-res")))
}

/// Reads a predicate with its arguments. `None` for other expressions.
fn read_atom<'e>(
    expression: &'e SExpression,
    problem: &Problem<'_>,
) -> Option<(Taken, LocationId, &'e [SExpression])> {
    let (name, arguments) = match expression {
        SExpression::Word(word) => (&**word, &[][..]),
        SExpression::List(_) => expression.applied()?,
    };
    let (side, location) = problem.find_predicate(name)?;
    Some((side, location, arguments))
}

/// Reads the definition of each predicate, as a term over the model's data. `None` if one cannot be read.
pub(super) fn read_definitions(
    text: &str,
    problem: &Problem<'_>,
) -> Option<BTreeMap<(Taken, LocationId), Term>> {
    let whole = read_expression(text)?;
    let parts = if let Some(("and", parts)) = whole.applied() { parts.to_vec() } else { vec![whole] };
    let literals = list_literals(problem);
    let mut facts = BTreeMap::new();
    for part in &parts {
        // `(forall (names) (! (= (predicate names) fact) annotations))`
        let (bound, body) = match part.applied() {
            Some(("forall", [bound, body])) => (bound.list()?, body),
            _ => (&[][..], part),
        };
        let body = if let Some(("!", rest)) = body.applied() { rest.first()? } else { body };
        let Some(("=", [left, right])) = body.applied() else { continue };
        let Some((side, location, arguments)) = read_atom(left, problem) else { continue };
        if arguments.len() != problem.data.len() {
            return None;
        }
        let mut names: HashMap<&str, Term> = HashMap::new();
        for (argument, datum) in arguments.iter().zip(&problem.data) {
            names.insert(argument.word()?, Term::datum(datum));
        }
        // Each argument must be a bound name of its own.
        if names.len() != arguments.len() || bound.len() != arguments.len() {
            return None;
        }
        let mut reader = ReadTerms { names, literals: &literals, known: HashMap::new() };
        let fact = reader.read_term(right)?;
        facts.insert((side, location), (*fact.sort() == Type::Bool).then_some(fact)?);
    }
    Some(facts)
}

/// The literals of all enumerations, by the words that stand for them.
fn list_literals(problem: &Problem<'_>) -> HashMap<String, Value> {
    let mut literals = HashMap::new();
    let mut open_types: Vec<Type> = problem.data.iter().map(|datum| datum.ty().clone()).collect();
    while let Some(ty) = open_types.pop() {
        match ty {
            Type::Enum(enumeration) => {
                for (at, literal) in enumeration.literals.iter().enumerate() {
                    literals.insert(script_name(literal), Value::Enum(enumeration.clone(), at));
                }
            }
            Type::Array(array) => open_types.extend([array.index.clone(), array.element.clone()]),
            Type::Record(record) => open_types.extend(record.fields.iter().map(|(_, ty)| ty.clone())),
            Type::Bool | Type::Int | Type::Nat | Type::Range(..) | Type::Real => {}
            Type::String | Type::Id(_) => {}
        }
    }
    literals
}

/// A name as it is written in the script, without bars.
fn script_name(name: &str) -> String {
    symbol(name).trim_matches('|').to_owned()
}

struct ReadTerms<'a> {
    names: HashMap<&'a str, Term>,
    literals: &'a HashMap<String, Value>,
    /// Terms that were read, by the identity of their expressions: a shared one is read once.
    known: HashMap<*const SExpression, Option<Term>>,
}

impl ReadTerms<'_> {
    /// Reads a term. `None`: it is not one over the known names, or its parts have other sorts.
    fn read_term(&mut self, expression: &SExpression) -> Option<Term> {
        let parts = match expression {
            SExpression::Word(word) => return self.read_word(word),
            SExpression::List(parts) => parts,
        };
        let identity = parts.as_ptr();
        if let Some(known) = self.known.get(&identity) {
            return known.clone();
        }
        let read = self.read_operation(parts);
        self.known.insert(identity, read.clone());
        read
    }

    /// Reads a name, a literal or a number.
    fn read_word(&self, word: &str) -> Option<Term> {
        match word {
            "true" => return Some(Term::yes()),
            "false" => return Some(Term::no()),
            _ => {}
        }
        if let Some(known) = self.names.get(word) {
            return Some(known.clone());
        }
        let literal = self.literals.get(word).cloned().or_else(|| read_number(word));
        literal.map(Term::literal)
    }

    /// Reads an operation as its root says.
    fn read_operation(&mut self, parts: &[SExpression]) -> Option<Term> {
        let (head, arguments) = parts.split_first()?;
        let Some(head) = head.word() else {
            // `((_ is red) x)`
            let ("_", [is, literal]) = head.applied()? else { return None };
            let (true, [argument]) = (is.is("is"), arguments) else { return None };
            let literal = Term::literal(self.literals.get(literal.word()?)?.clone());
            let argument = self.read_term(argument)?;
            return (argument.sort() == literal.sort()).then(|| Term::equal(&argument, &literal));
        };
        let terms = arguments.iter().map(|part| self.read_term(part)).collect::<Option<Vec<Term>>>()?;
        let have_sort = |ty: &Type| terms.iter().all(|term| term.sort() == ty);
        match (head, &terms[..]) {
            ("and", _) if have_sort(&Type::Bool) => Some(Term::and(terms)),
            ("or", _) if have_sort(&Type::Bool) => Some(Term::or(terms)),
            ("not", [a]) if have_sort(&Type::Bool) => Some(a.not()),
            ("=>", [a, b]) if have_sort(&Type::Bool) => Some(Term::implies(a, b)),
            ("ite", [c, a, b]) if *c.sort() == Type::Bool && a.sort() == b.sort() => {
                Some(Term::if_then_else(c, a, b))
            }
            ("=", [a, b]) if a.sort() == b.sort() => Some(Term::equal(a, b)),
            ("distinct", [a, b]) if a.sort() == b.sort() => Some(Term::equal(a, b).not()),
            ("to_real", [a]) if have_sort(&Type::Int) => Some(a.to_real()),
            ("-", [a]) if a.sort().is_number() => Some(a.negate()),
            ("select", [a, i]) => match a.sort() {
                Type::Array(array) if array.index.sort() == *i.sort() => Some(Term::select(a, i)),
                _ => None,
            },
            ("<" | "<=" | ">" | ">=", [a, b]) if a.sort() == b.sort() && a.sort().is_number() => {
                let comparison = match head {
                    "<" => Comparison::Less,
                    "<=" => Comparison::AtMost,
                    ">" => Comparison::Greater,
                    _ => Comparison::AtLeast,
                };
                Some(Term::compare(comparison, a, b))
            }
            (_, [first, arguments @ ..]) if !arguments.is_empty() => {
                let operator = match head {
                    "+" => Operator::Add,
                    "-" => Operator::Subtract,
                    "*" => Operator::Multiply,
                    "/" => Operator::Divide,
                    "div" => Operator::IntegerDivide,
                    "mod" => Operator::Modulo,
                    _ => return None,
                };
                let fits = match operator {
                    Operator::Divide => have_sort(&Type::Real),
                    Operator::IntegerDivide | Operator::Modulo => have_sort(&Type::Int),
                    _ => have_sort(&Type::Int) || have_sort(&Type::Real),
                };
                fits.then(|| {
                    arguments.iter().fold(first.clone(), |sum, term| Term::arithmetic(operator, &sum, term))
                })
            }
            // The selector of a field.
            (_, [record]) => match record.sort() {
                Type::Record(ty) => {
                    let is_selected = |(name, _): &(String, Type)| head == format!("{}.{name}", ty.name);
                    ty.fields.iter().position(is_selected).map(|field| Term::field(record, field))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// Reads a numeral: `12` or `12.0`.
fn read_number(word: &str) -> Option<Value> {
    match word.strip_suffix(".0") {
        Some(digits) => Some(Value::Real(RBig::from(digits.parse::<IBig>().ok()?))),
        None => Some(Value::Int(word.parse().ok()?)),
    }
}

/// Reads a value of a type. `None` for other values.
fn read_value(expression: &SExpression, ty: &Type) -> Option<Value> {
    let value = match ty {
        Type::Bool => Value::Bool(match expression.word()? {
            "true" => true,
            "false" => false,
            _ => return None,
        }),
        Type::Int | Type::Nat | Type::Range(..) | Type::Real => read_literal(expression)?,
        Type::Id(name) => match read_literal(expression)? {
            Value::Int(number) => Value::id(name, &ids::text_of_number(&number)),
            _ => return None,
        },
        // The engine is not asked about strings.
        Type::String => return None,
        Type::Enum(enumeration) => {
            let name = expression.word()?;
            let at = enumeration.literals.iter().position(|literal| script_name(literal) == name)?;
            Value::Enum(enumeration.clone(), at)
        }
        Type::Array(array) => {
            // Stores from the outside in, then the constant array.
            let (mut stores, mut array_expression) = (Vec::new(), expression);
            while let Some(("store", [inner, index, cell])) = array_expression.applied() {
                stores.push((read_value(index, &array.index.sort())?, read_value(cell, &array.element)?));
                array_expression = inner;
            }
            let [_, default] = array_expression.list()? else { return None };
            let default = read_value(default, &array.element)?;
            let whole = ArrayValue { ty: array.clone(), default, cells: BTreeMap::new() };
            stores.retain(|(index, _)| index.is_in(&array.index));
            let store = |array: ArrayValue, (index, cell)| array.set(index, cell);
            // The innermost store comes first.
            Value::Array(Arc::new(stores.into_iter().rev().fold(whole, store)))
        }
        Type::Record(record) => {
            let (name, fields) = expression.applied()?;
            if name != format!("make!{}", record.name) || fields.len() != record.fields.len() {
                return None;
            }
            let values = fields.iter().zip(&record.fields).map(|(field, (_, ty))| read_value(field, ty));
            Value::Record(record.clone(), values.collect::<Option<_>>()?)
        }
    };
    value.is_in(ty).then_some(value)
}

fn read_literal(expression: &SExpression) -> Option<Value> {
    let no_names = HashMap::new();
    let mut reader = ReadTerms { names: HashMap::new(), literals: &no_names, known: HashMap::new() };
    reader.read_term(expression)?.as_literal().cloned()
}
