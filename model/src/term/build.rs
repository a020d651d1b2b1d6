//! The constructors of terms, and the little that they simplify.
//!
//! Each asserts its arguments' sorts. A violation is a bug, since the reader has checked the user's text.
//! Simplification is local and never looks below the arguments' roots, so building is constant time per node
//! (negation walks the Boolean structure once).
//!
//! No rule here changes where a term has a value ([`super::total`] says why). A rule that leaves an argument
//! out first asks whether that argument is total. A rule that keeps all arguments, or leaves out only parts
//! that would not be reached, need not ask.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::data::Datum;
use crate::term::canonical;
use crate::term::evaluate::{arithmetic_on_values, sign};
use crate::term::node::{Comparison, Node, Operator};
use crate::term::total::{always_in, fits_field, fits_index};
use crate::term::{Term, TermShape};
use crate::types::{RecordType, Type};
use crate::value::Value;

impl Term {
    pub fn literal(value: Value) -> Term {
        let sort = value.sort();
        Term::make(Node::Literal(value), sort)
    }

    pub fn yes() -> Term {
        Term::literal(Value::Bool(true))
    }

    pub fn no() -> Term {
        Term::literal(Value::Bool(false))
    }

    pub fn int(value: impl Into<IBig>) -> Term {
        Term::literal(Value::Int(value.into()))
    }

    pub fn datum(datum: &Datum) -> Term {
        Term::make(Node::Data(datum.clone()), datum.ty().sort())
    }

    /// The negation; moves inwards to the data.
    #[must_use]
    pub fn not(&self) -> Term {
        assert_eq!(*self.sort(), Type::Bool, "negation of {self}");
        negate_condition(self, &mut HashMap::new())
    }

    /// The conjunction: flat, in order, without doubles. It is `false` if a part and its negation meet after
    /// total parts only.
    pub fn and(parts: impl IntoIterator<Item = Term>) -> Term {
        junction(parts, Junction::And, 0)
    }

    /// The disjunction: flat, in order, without doubles. It is `true` if a part and its negation meet after
    /// total parts only.
    pub fn or(parts: impl IntoIterator<Item = Term>) -> Term {
        junction(parts, Junction::Or, 0)
    }

    /// Makes `a => b`.
    pub fn implies(a: &Term, b: &Term) -> Term {
        Term::or([a.not(), b.clone()])
    }

    /// The disjunction of these parts. The first are negated premises: its text is `a => b`.
    pub fn or_with_premises(parts: impl IntoIterator<Item = Term>, premises: usize) -> Term {
        junction(parts, Junction::Or, premises)
    }

    /// The disjunction of these parts, one for each of its own. An implication stays one.
    #[must_use]
    pub fn with_disjuncts(&self, parts: impl IntoIterator<Item = Term>) -> Term {
        Term::or_with_premises(parts, self.premises())
    }

    /// A comparison. Both sides are of one sort (an `int` beside a `real` is lifted).
    pub fn compare(comparison: Comparison, a: &Term, b: &Term) -> Term {
        let (a, b) = lift_either(a, b);
        assert_eq!(a.sort(), b.sort(), "comparison of {a} with {b}");
        if let Some((a, b)) = unlift_both(&a, &b) {
            return Term::compare(comparison, a, b);
        }
        // Ids have an order as keys, although no user can ask for it.
        let ordered = matches!(comparison, Comparison::Equal | Comparison::NotEqual)
            || a.sort().is_ordered()
            || a.sort().is_id();
        assert!(ordered, "order between {a} and {b}");
        if a == b && a.is_total() {
            return Term::literal(Value::Bool(comparison.holds(Ordering::Equal)));
        }
        if let (Some(x), Some(y)) = (a.written_literal(), b.written_literal()) {
            return Term::literal(Value::Bool(comparison.holds(x.cmp(y))));
        }
        // A comparison of a conditional with a literal compares the branches, so that
        // `(if c then ON else OFF) == ON` is `c`.
        for (choice, literal, is_flipped) in [(&a, &b, false), (&b, &a, true)] {
            if let Some(Node::IfThenElse(c, x, y)) = choice.written()
                && literal.written_literal().is_some()
                && (x.written_literal().is_some() || y.written_literal().is_some())
            {
                let compare_branch = |branch: &Term| match is_flipped {
                    false => Term::compare(comparison, branch, literal),
                    true => Term::compare(comparison, literal, branch),
                };
                return Term::if_then_else(c, &compare_branch(x), &compare_branch(y));
            }
        }
        if *a.sort() == Type::Bool {
            // `b == true` and `b != false` are `b`, the other two its negation.
            for (literal, condition) in [(&a, &b), (&b, &a)] {
                if let Some(Value::Bool(value)) = literal.written_literal() {
                    let is_same = (comparison == Comparison::Equal) == *value;
                    return if is_same { condition.clone() } else { condition.not() };
                }
            }
        }
        Term::make(Node::Compare(comparison, a, b), Type::Bool)
    }

    pub fn equal(a: &Term, b: &Term) -> Term {
        Term::compare(Comparison::Equal, a, b)
    }

    /// `if c then a else b`. A conditional with Boolean literals becomes a conjunction or a disjunction.
    pub fn if_then_else(c: &Term, a: &Term, b: &Term) -> Term {
        let (a, b) = lift_either(a, b);
        assert_eq!((c.sort(), a.sort()), (&Type::Bool, b.sort()), "if {c} then {a} else {b}");
        if a == b && c.is_total() || c.is_true() {
            return a;
        }
        if let Some((a, b)) = unlift_both(&a, &b) {
            return Term::if_then_else(c, a, b).to_real();
        }
        if c.is_false() {
            return b;
        }
        if *a.sort() == Type::Bool {
            match (a.written_literal(), b.written_literal()) {
                (Some(Value::Bool(true)), _) => return Term::or([c.clone(), b]),
                (Some(Value::Bool(false)), _) => return Term::and([c.not(), b]),
                (_, Some(Value::Bool(true))) => return Term::or([c.not(), a]),
                (_, Some(Value::Bool(false))) => return Term::and([c.clone(), a]),
                _ => {}
            }
        }
        let sort = a.sort().clone();
        Term::make(Node::IfThenElse(c.clone(), a, b), sort)
    }

    /// A binary operation. `int` beside `real` is lifted; `/` is of reals, `div` and `mod` of integers.
    pub fn arithmetic(operator: Operator, a: &Term, b: &Term) -> Term {
        let (a, b) = match operator {
            Operator::Divide => (a.to_real(), b.to_real()),
            _ => lift_either(a, b),
        };
        assert!(a.sort() == b.sort() && a.sort().is_number(), "{a} {operator} {b}");
        if let (true, Some((a, b))) = (operator != Operator::Divide, unlift_both(&a, &b)) {
            return Term::arithmetic(operator, a, b).to_real();
        }
        let sort = a.sort().clone();
        if let (Some(x), Some(y)) = (a.written_literal(), b.written_literal())
            && let Some(value) = arithmetic_on_values(operator, x, y)
        {
            return Term::literal(value);
        }
        match operator {
            Operator::Add if is_number(&a, 0) => return b,
            Operator::Add | Operator::Subtract if is_number(&b, 0) => return a,
            Operator::Multiply if is_number(&a, 1) => return b,
            Operator::Multiply | Operator::Divide if is_number(&b, 1) => return a,
            // `(x + 1) + 1` is `x + 2`: an effect repeated around a loop stays small.
            Operator::Add | Operator::Subtract => {
                if let Some(folded) = fold_constant(operator, &a, &b) {
                    return folded;
                }
            }
            _ => {}
        }
        Term::make(Node::Arithmetic(operator, a, b), sort)
    }

    pub fn add(a: &Term, b: &Term) -> Term {
        Term::arithmetic(Operator::Add, a, b)
    }

    pub fn subtract(a: &Term, b: &Term) -> Term {
        Term::arithmetic(Operator::Subtract, a, b)
    }

    pub fn multiply(a: &Term, b: &Term) -> Term {
        Term::arithmetic(Operator::Multiply, a, b)
    }

    #[must_use]
    pub fn negate(&self) -> Term {
        assert!(self.sort().is_number(), "negative of {self}");
        match self.written() {
            Some(Node::Literal(Value::Int(value))) => Term::int(-value.clone()),
            Some(Node::Literal(Value::Real(value))) => Term::literal(Value::Real(-value.clone())),
            Some(Node::Negate(inner)) => inner.clone(),
            Some(Node::ToReal(inner)) => inner.negate().to_real(),
            _ => Term::make(Node::Negate(self.clone()), self.sort().clone()),
        }
    }

    #[must_use]
    pub fn to_real(&self) -> Term {
        match self.written() {
            _ if *self.sort() == Type::Real => self.clone(),
            Some(Node::Literal(Value::Int(value))) => Term::literal(Value::Real(RBig::from(value.clone()))),
            _ => {
                assert_eq!(*self.sort(), Type::Int, "{self} as a real");
                Term::make(Node::ToReal(self.clone()), Type::Real)
            }
        }
    }

    /// Makes `a[i]`; read through a store at the same or at a different literal index.
    pub fn select(array: &Term, index: &Term) -> Term {
        let Type::Array(ty) = array.sort().clone() else { panic!("{array} is not an array") };
        let index = if ty.index == Type::Real { index.to_real() } else { index.clone() };
        assert_eq!(*index.sort(), ty.index.sort(), "index {index} of {array}");
        match array.written() {
            // The other conditions of the store are dropped, so they must hold anyway. The element stays, and
            // may be partial.
            Some(Node::Store(inner, stored_at, element))
                if *stored_at == index
                    && inner.is_total()
                    && index.is_total()
                    && fits_index(array, &index)
                    && always_in(element, &ty.element) =>
            {
                return element.clone();
            }
            // The two literals differ, since the rule above handles equal ones. The array below stays, and
            // may be partial.
            Some(Node::Store(inner, stored_at, element))
                if *stored_at != index
                    && stored_at.written_literal().is_some()
                    && index.written_literal().is_some()
                    && fits_index(array, stored_at)
                    && element.is_total()
                    && always_in(element, &ty.element) =>
            {
                return Term::select(inner, &index);
            }
            Some(Node::Literal(Value::Array(value))) => {
                if let Some(index) = index.written_literal().filter(|index| index.is_in(&ty.index)) {
                    return Term::literal(value.get(index).clone());
                }
            }
            _ => {}
        }
        Term::make(Node::Select(array.clone(), index), ty.element.sort())
    }

    /// Makes `a[i := e]`. A store at the same index below is dropped if nothing depends on it.
    pub fn store(array: &Term, index: &Term, element: &Term) -> Term {
        let Type::Array(ty) = array.sort().clone() else { panic!("{array} is not an array") };
        let index = if ty.index == Type::Real { index.to_real() } else { index.clone() };
        let element = if ty.element == Type::Real { element.to_real() } else { element.clone() };
        assert_eq!(
            (index.sort(), element.sort()),
            (&ty.index.sort(), &ty.element.sort()),
            "store into {array}"
        );
        if let (Some(Value::Array(value)), Some(known_index), Some(known_element)) =
            (array.written_literal(), index.written_literal(), element.written_literal())
            && known_index.is_in(&ty.index)
            && known_element.is_in(&ty.element)
        {
            let changed = value.set(known_index.clone(), known_element.clone());
            return Term::literal(Value::Array(Arc::new(changed)));
        }
        let base = match array.written() {
            // The index stays: it is evaluated before the element, as it was in the store below.
            Some(Node::Store(inner, stored_at, old))
                if *stored_at == index && old.is_total() && always_in(old, &ty.element) =>
            {
                inner.clone()
            }
            _ => array.clone(),
        };
        Term::make(Node::Store(base, index, element), Type::Array(ty))
    }

    /// Makes `r.field`, by position.
    pub fn field(record: &Term, position: usize) -> Term {
        let Type::Record(ty) = record.sort().clone() else { panic!("{record} is not a record") };
        match record.written() {
            Some(Node::Literal(Value::Record(_, values))) => return Term::literal(values[position].clone()),
            Some(Node::IfThenElse(..)) => return field_of_cases(record, position, &mut HashMap::new()),
            // The other conditions of the record are dropped, so they must hold anyway. The field stays,
            // partial or not.
            Some(Node::Record(ty, fields)) => {
                let is_satisfied = |other: usize| {
                    fits_field(&fields[other], &ty.fields[other].1)
                        && (other == position || fields[other].is_total())
                };
                if (0..fields.len()).all(is_satisfied) && canonical::is_always_canonical(ty, fields) {
                    return fields[position].clone();
                }
            }
            _ => {}
        }
        Term::make(Node::Field(record.clone(), position), ty.fields[position].1.sort())
    }

    /// The record of these fields, in the order of its type.
    pub fn record(ty: &Arc<RecordType>, fields: impl IntoIterator<Item = Term>) -> Term {
        let lift = |(field, (_, ty)): (Term, &(String, Type))| match ty {
            Type::Real => field.to_real(),
            _ => field,
        };
        let fields: Vec<Term> = fields.into_iter().zip(&ty.fields).map(lift).collect();
        let has_sort = |(field, (_, ty)): (&Term, &(String, Type))| *field.sort() == ty.sort();
        let are_sorted = fields.iter().zip(&ty.fields).all(has_sort);
        assert!(fields.len() == ty.fields.len() && are_sorted, "{}", ty.name);
        let known_value = |(field, (_, ty)): (&Term, &(String, Type))| {
            field.written_literal().filter(|value| value.is_in(ty)).cloned()
        };
        let values = fields.iter().zip(&ty.fields).map(known_value).collect::<Option<Vec<Value>>>();
        if let Some(values) = values.filter(|values| ty.is_canonical(values)) {
            return Term::literal(Value::Record(ty.clone(), values.into()));
        }
        Term::make(Node::Record(ty.clone(), fields), Type::Record(ty.clone()))
    }
}

/// Builds [`Term::not`], each shared part once.
fn negate_condition(term: &Term, memo: &mut HashMap<Term, Term>) -> Term {
    match term.written() {
        Some(Node::Literal(Value::Bool(value))) => return Term::literal(Value::Bool(!value)),
        Some(Node::Not(inner)) => return inner.clone(),
        Some(Node::Compare(comparison, a, b)) => return Term::compare(comparison.negated(), a, b),
        Some(Node::And(_) | Node::Or(_) | Node::IfThenElse(..)) => {}
        _ => return Term::make(Node::Not(term.clone()), Type::Bool),
    }
    if let Some(known) = memo.get(term) {
        return known.clone();
    }
    let mut negate = |part: &Term| negate_condition(part, memo);
    let result = match term.written() {
        Some(Node::And(parts)) => Term::or(parts.iter().map(negate).collect::<Vec<_>>()),
        Some(Node::Or(parts)) => Term::and(parts.iter().map(negate).collect::<Vec<_>>()),
        Some(Node::IfThenElse(c, a, b)) => Term::if_then_else(c, &negate(a), &negate(b)),
        other => unreachable!("{other:?} was answered above"),
    };
    memo.insert(term.clone(), result.clone());
    result
}

/// Builds the field of a record that conditions choose, each shared case once.
fn field_of_cases(record: &Term, position: usize, memo: &mut HashMap<Term, Term>) -> Term {
    let Some(Node::IfThenElse(c, a, b)) = record.written() else { return Term::field(record, position) };
    if let Some(known) = memo.get(record) {
        return known.clone();
    }
    let a = field_of_cases(a, position, memo);
    let b = field_of_cases(b, position, memo);
    let result = Term::if_then_else(c, &a, &b);
    memo.insert(record.clone(), result.clone());
    result
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Junction {
    And,
    Or,
}

/// Builds a conjunction or a disjunction, without the parts that are never reached. The first `premises` are
/// negated premises.
fn junction(parts: impl IntoIterator<Item = Term>, kind: Junction, premises: usize) -> Term {
    let is_conjunction = kind == Junction::And;
    let mut flat: Vec<Term> = Vec::new();
    let mut seen = HashSet::new();
    let mut flat_premises = 0;
    'parts: for (number, part) in parts.into_iter().enumerate() {
        assert_eq!(*part.sort(), Type::Bool, "{part} in a conjunction or disjunction");
        let inner = if is_conjunction { part.conjuncts() } else { part.disjuncts() };
        for term in inner {
            let decides_result = if is_conjunction { term.is_false() } else { term.is_true() };
            if decides_result {
                // The parts after this one are not reached. The parts before are evaluated, and stay up to
                // the last one that may have no value: it says where the whole has one.
                while flat.last().is_some_and(Term::is_total) {
                    flat.pop();
                }
                flat.push(term);
                break 'parts;
            }
            // A part that is there already is reached the second time only if it did not stop the first time.
            if seen.insert(term.clone()) {
                flat.push(term);
            }
        }
        if number < premises {
            flat_premises = flat.len();
        }
    }
    match flat.len() {
        0 => return Term::literal(Value::Bool(is_conjunction)),
        1 => return flat.swap_remove(0),
        _ => {}
    }
    // A part and its negation decide the result. We look for them only before the first partial part, since a
    // part that is left out after it could have had no value.
    let mut total_parts = HashSet::new();
    for term in flat.iter().take_while(|term| term.is_total()) {
        if is_negated_at_once(term) && total_parts.contains(&term.not()) {
            return Term::literal(Value::Bool(!is_conjunction));
        }
        total_parts.insert(term);
    }
    // Without a conclusion it is no implication.
    let premises = if flat_premises < flat.len() { flat_premises } else { 0 };
    let node = if is_conjunction { Node::And(flat) } else { Node::Or(flat) };
    Term::make_shape(TermShape::Node(node), Type::Bool, premises)
}

/// Is the negation of the term built in constant time?
fn is_negated_at_once(term: &Term) -> bool {
    match term.shape() {
        TermShape::Operation(..) => true,
        TermShape::Node(node) => matches!(
            node,
            Node::Compare(..)
                | Node::Not(_)
                | Node::Data(_)
                | Node::Select(..)
                | Node::Field(..)
                | Node::OnStrings(..)
        ),
    }
}

/// Undoes the lifting of two reals that are both lifted integers. An operation on them is done on the
/// integers, and its result is lifted. This is the same number in the form that the reader makes of the
/// printed text, since lifting is not printed. `None` for others.
fn unlift_both<'a>(a: &'a Term, b: &'a Term) -> Option<(&'a Term, &'a Term)> {
    match (a.written(), b.written()) {
        (Some(Node::ToReal(a)), Some(Node::ToReal(b))) => Some((a, b)),
        _ => None,
    }
}

/// Lifts the integer of the two to a real if the other one is a real.
fn lift_either(a: &Term, b: &Term) -> (Term, Term) {
    match (a.sort(), b.sort()) {
        (Type::Int, Type::Real) => (a.to_real(), b.clone()),
        (Type::Real, Type::Int) => (a.clone(), b.to_real()),
        _ => (a.clone(), b.clone()),
    }
}

fn is_number(term: &Term, number: i32) -> bool {
    match term.written_literal() {
        Some(Value::Int(value)) => *value == IBig::from(number),
        Some(Value::Real(value)) => *value == RBig::from(number),
        _ => false,
    }
}

/// Makes `(x ± c) ± d` as `x ± e`. `None` if the operation has another form.
fn fold_constant(outer: Operator, a: &Term, b: &Term) -> Option<Term> {
    let d = signed_literal(outer, b)?;
    let Some(Node::Arithmetic(inner @ (Operator::Add | Operator::Subtract), x, c)) = a.written() else {
        return None;
    };
    let sum = Term::add(&signed_literal(*inner, c)?, &d);
    let is_negative = sign(sum.written_literal()?) < 0;
    Some(if is_negative { Term::subtract(x, &sum.negate()) } else { Term::add(x, &sum) })
}

/// The literal, negated if it is subtracted. `None` if the term is no literal.
fn signed_literal(operator: Operator, literal: &Term) -> Option<Term> {
    literal.written_literal()?;
    Some(if operator == Operator::Subtract { literal.negate() } else { literal.clone() })
}
