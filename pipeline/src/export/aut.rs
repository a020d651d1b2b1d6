//! A stage's result in Aldebaran's format, which CADP and mCRL2 read: a labelled transition system.
//!
//! `des (initial, transitions, states)`, then `(from, "label", to)`. Directions are the implementation's at
//! every stage: `?Coin` is an input, `!Return` an output, `i` internal, whatever it is called. States are
//! numbered as locations are.
//!
//! **Data.** The format has none. Where a guard says for each parameter which value it is, and nothing is
//! assigned, the values are offers behind the action, `?PUT !1 !TRUE`: so `coreach import` gives the same
//! system back. Any other condition, and what is assigned, stands in the label,
//! `?Coin [n > 0] / vPaid := vPaid + n`, which other tools take for one more name: the system is the graph
//! then, and not what it does. What is asked of the first values is not written.

use std::fmt::Write;

use coreach_model::iosts::{ActionKind, Transition};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::visible::visible;
use coreach_model::{Datum, Term, Value};

use super::View;

pub fn aut(view: &View<'_>) -> String {
    let iosts = view.iosts;
    let mut out =
        format!("des ({}, {}, {})\n", iosts.initial.0, iosts.transitions.len(), iosts.locations.len());
    for transition in &*iosts.transitions {
        let label = label(view, transition);
        let _ = writeln!(out, "({}, \"{label}\", {})", transition.source.0, transition.target.0);
    }
    out
}

fn label(view: &View<'_>, transition: &Transition) -> String {
    let action = view.iosts.action(transition.action);
    let mut label = match action.kind {
        ActionKind::Internal => "i".to_owned(),
        ActionKind::Input => format!("?{}", action.name),
        ActionKind::Output | ActionKind::Quiescence => format!("!{}", action.name),
    };
    let offers = offers(&action.parameters, &transition.guard).filter(|_| transition.assignments.is_empty());
    if let Some(offers) = offers {
        for offer in offers {
            let _ = write!(label, " !{offer}");
        }
        return label;
    }
    if !transition.guard.is_true() {
        let _ = write!(label, " [{}]", transition.guard);
    }
    let assigned: Vec<String> =
        transition.assignments.iter().map(|(variable, value)| format!("{variable} := {value}")).collect();
    if !assigned.is_empty() {
        let _ = write!(label, " / {}", assigned.join("; "));
    }
    visible(&label).into_owned()
}

/// The value of each parameter, where the guard says it and says nothing else.
fn offers(parameters: &[Datum], guard: &Term) -> Option<Vec<String>> {
    let conjuncts = guard.conjuncts();
    if guard.is_true() {
        return parameters.is_empty().then(Vec::new);
    }
    if conjuncts.len() != parameters.len() {
        return None;
    }
    parameters.iter().map(|parameter| conjuncts.iter().find_map(|part| value(part, parameter))).collect()
}

/// The value that the condition gives the parameter, as an offer.
fn value(part: &Term, parameter: &Datum) -> Option<String> {
    let is_it = |term: &Term| matches!(term.node(), Node::Data(datum) if datum == parameter);
    match part.node() {
        Node::Data(datum) if datum == parameter => Some("TRUE".to_owned()),
        Node::Not(inner) if is_it(inner) => Some("FALSE".to_owned()),
        Node::Compare(Comparison::Equal, a, b) => {
            let literal = if is_it(a) { b.as_literal() } else { a.as_literal().filter(|_| is_it(b)) };
            match literal? {
                Value::Int(value) => Some(value.to_string()),
                // Whoever reads them takes these words for truth values.
                Value::Enum(enumeration, at) => enumeration
                    .literals
                    .get(*at)
                    .filter(|word| !matches!(word.as_str(), "TRUE" | "FALSE"))
                    .cloned(),
                _ => None,
            }
        }
        _ => None,
    }
}
