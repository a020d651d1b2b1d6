//! Writes a stage's result in Aldebaran's format, which CADP and mCRL2 read: a labelled transition system.
//!
//! `des (initial, transitions, states)`, then `(from, "label", to)`. Directions are the implementation's at
//! every stage: `?Coin` is an input, `!Return` an output, `i` internal, whatever it is called. States are
//! numbered as locations are.
//!
//! **Data.** The format has none. If a guard says for each parameter which value it has, and nothing is
//! assigned, the values are offers behind the action, `?PUT !1 !TRUE`: so `coreach import` gives the same
//! system back. Any other condition, and the assignments, are written in the label, for instance
//! `?Coin [n > 0] / vPaid := vPaid + n`. Other tools take such a label for one more name: then the system is
//! the graph, and not its behaviour. The condition on the first values is not written.

use std::fmt::Write;

use coreach_model::iosts::{ActionKind, Transition};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::visible::visible;
use coreach_model::{Datum, Term, Value};

use super::View;

/// Writes a head with the numbers, and a line for each transition.
pub fn to_aut(view: &View<'_>) -> String {
    let iosts = view.iosts;
    let mut out =
        format!("des ({}, {}, {})\n", iosts.initial.0, iosts.transitions.len(), iosts.locations.len());
    for transition in &*iosts.transitions {
        let label = transition_label(view, transition);
        let _ = writeln!(out, "({}, \"{label}\", {})", transition.source.0, transition.target.0);
    }
    out
}

/// Writes the label of a transition: its action, and its offers or its condition and assignments.
fn transition_label(view: &View<'_>, transition: &Transition) -> String {
    let action = view.iosts.action(transition.action);
    let mut label = match action.kind {
        ActionKind::Internal => "i".to_owned(),
        ActionKind::Input => format!("?{}", action.name),
        ActionKind::Output | ActionKind::Quiescence => format!("!{}", action.name),
    };
    let offers =
        find_offers(&action.parameters, &transition.guard).filter(|_| transition.assignments.is_empty());
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

/// Finds the value of each parameter, if the guard says it and says nothing else.
fn find_offers(parameters: &[Datum], guard: &Term) -> Option<Vec<String>> {
    let conjuncts = guard.conjuncts();
    if guard.is_true() {
        return parameters.is_empty().then(Vec::new);
    }
    if conjuncts.len() != parameters.len() {
        return None;
    }
    let find_offer = |parameter| conjuncts.iter().find_map(|part| offered_value(part, parameter));
    parameters.iter().map(find_offer).collect()
}

/// Finds the value that the condition gives the parameter, as an offer. `None` if it gives none, or one that
/// cannot be an offer.
fn offered_value(part: &Term, parameter: &Datum) -> Option<String> {
    let is_parameter = |term: &Term| matches!(term.node(), Node::Data(datum) if datum == parameter);
    match part.node() {
        Node::Data(datum) if datum == parameter => Some("TRUE".to_owned()),
        Node::Not(inner) if is_parameter(inner) => Some("FALSE".to_owned()),
        Node::Compare(Comparison::Equal, a, b) => {
            let literal =
                if is_parameter(a) { b.as_literal() } else { a.as_literal().filter(|_| is_parameter(b)) };
            match literal? {
                Value::Int(value) => Some(value.to_string()),
                // Tools that read the format take these words for truth values.
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
