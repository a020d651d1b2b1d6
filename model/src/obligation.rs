//! Domains belong to the guard: the conditions that a transition carries without saying them.
//!
//! A transition is enabled only where every partial operation that its guard or its assignments reach is defined, and
//! every assigned value lies in its variable's type. [`enabling_condition`] writes that down as a term, so that no
//! later stage has to know: afterwards every operation may be read as total. The order of evaluation is that of
//! [`crate::term::evaluate`]: from the left, stopping early, the branch not taken not reached.
//!
//! Cost: one pass over the terms; nothing is added for `int`, `real`, `bool`, enumerations and linear arithmetic.

use std::collections::HashMap;

use crate::iosts::Transition;
use crate::term::Term;
use crate::term::node::{Comparison, Node, Operator};
use crate::types::Type;

/// The condition under which the transition can be taken: its guard, the definedness of all its operations, and
/// every assigned value within its variable's type.
pub fn enabling_condition(transition: &Transition) -> Term {
    let mut memo = HashMap::new();
    // The guard's own operations first, then the guard, then what the assignments need: the order of evaluation.
    let mut parts = vec![definedness(&transition.guard, &mut memo), transition.guard.clone()];
    for (variable, value) in &transition.assignments {
        parts.push(definedness(value, &mut memo));
        parts.push(in_type(value, variable.ty()));
    }
    Term::and(parts)
}

/// Just the obligations of [`enabling_condition`] that the guard does not state, each with what it is about: the
/// assigned variable's name, or `None` for the guard.
pub fn obligations(transition: &Transition) -> Vec<(Option<String>, Term)> {
    let mut memo = HashMap::new();
    let mut found = vec![(None, definedness(&transition.guard, &mut memo))];
    for (variable, value) in &transition.assignments {
        let name = Some(variable.name().to_owned());
        found.push((name, Term::and([definedness(value, &mut memo), in_type(value, variable.ty())])));
    }
    found.retain(|(_, condition)| !condition.is_true());
    found
}

/// The condition that a term has a value.
pub fn defined(term: &Term) -> Term {
    definedness(term, &mut HashMap::new())
}

/// The condition that the value of a well-sorted term lies in the type: `true` where the sort says so already.
///
/// An array's cells are kept within the element type by the obligation of every store.
pub fn in_type(term: &Term, ty: &Type) -> Term {
    match ty {
        Type::Nat => Term::compare(Comparison::AtLeast, term, &Term::int(0)),
        Type::Range(low, high) => Term::and([
            Term::compare(Comparison::AtLeast, term, &Term::int(low.clone())),
            Term::compare(Comparison::AtMost, term, &Term::int(high.clone())),
        ]),
        Type::Record(record) if term.as_literal().is_none() && term.as_datum().is_none() => Term::and(
            record.fields.iter().enumerate().map(|(at, (_, field))| in_type(&Term::field(term, at), field)),
        ),
        _ => Term::yes(),
    }
}

fn definedness(term: &Term, memo: &mut HashMap<Term, Term>) -> Term {
    if matches!(term.node(), Node::Literal(_) | Node::Data(_)) {
        return Term::yes();
    }
    if let Some(known) = memo.get(term) {
        return known.clone();
    }
    let result = match term.node() {
        Node::And(parts) => reached_in_turn(parts, false, memo),
        Node::Or(parts) => reached_in_turn(parts, true, memo),
        Node::IfThenElse(c, a, b) => {
            let (on_c, on_a, on_b) = (definedness(c, memo), definedness(a, memo), definedness(b, memo));
            Term::and([on_c, Term::if_then_else(c, &on_a, &on_b)])
        }
        _ => {
            let mut parts: Vec<Term> =
                term.children().into_iter().map(|child| definedness(child, memo)).collect();
            parts.push(own_condition(term));
            Term::and(parts)
        }
    };
    memo.insert(term.clone(), result.clone());
    result
}

/// Each part must be defined where the parts before it leave the result open.
fn reached_in_turn(parts: &[Term], stops_at: bool, memo: &mut HashMap<Term, Term>) -> Term {
    let mut conditions = Vec::new();
    let mut stopped: Vec<Term> = Vec::new();
    for part in parts {
        let condition = definedness(part, memo);
        // Most parts are always defined: a long guard must not cost its square.
        if !condition.is_true() {
            conditions.push(Term::or(stopped.iter().cloned().chain([condition])));
        }
        stopped.push(if stops_at { part.clone() } else { part.not() });
    }
    Term::and(conditions)
}

/// What the operation at the root asks of its arguments.
fn own_condition(term: &Term) -> Term {
    match term.node() {
        Node::Arithmetic(Operator::IntegerDivide | Operator::Modulo, _, b) => {
            Term::compare(Comparison::NotEqual, b, &Term::int(0))
        }
        Node::Arithmetic(Operator::Divide, _, b) => {
            Term::compare(Comparison::NotEqual, b, &Term::int(0).to_real())
        }
        Node::Select(a, i) => match a.sort() {
            Type::Array(array) => in_type(i, &array.index),
            _ => Term::yes(),
        },
        Node::Store(_, i, e) => match term.sort() {
            Type::Array(array) => Term::and([in_type(i, &array.index), in_type(e, &array.element)]),
            _ => Term::yes(),
        },
        _ => Term::yes(),
    }
}
