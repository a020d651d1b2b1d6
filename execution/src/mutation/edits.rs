//! Finds where a mutant differs from its specification, as edits of the user's file, if it does.
//!
//! Two models are **equal** if each transition of one is covered by one of the other: with the same ends and
//! action, a guard that holds wherever its own does, and the same values. Only the solver's word counts.

use std::collections::BTreeSet;

use coreach_analyses::solver::{Solver, must_hold};
use coreach_model::diagnostic::Origin;
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::{Datum, Term};

/// A text of the specification, and the text that replaces it in the mutant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextEdit {
    /// The file and the line, if the old text is in one.
    pub place: Option<(String, usize)>,
    /// Empty if a text was added.
    pub old: String,
    /// Empty if a text was removed.
    pub new: String,
}

/// Lists the differences in the order of the specification.
pub fn list_edits(specification: &Iosts, mutant: &Iosts) -> Vec<TextEdit> {
    let mut found = Vec::new();
    if specification.initial_condition != mutant.initial_condition {
        let text = |iosts: &Iosts| format!("condition: {}", iosts.initial_condition);
        let place = specification.origin.as_ref().map(file_and_line);
        found.push(TextEdit { place, old: text(specification), new: text(mutant) });
    }
    let (old, new) = (&specification.transitions, &mutant.transitions);
    let mut others = new.iter().peekable();
    for one in old {
        let has_other = others.peek().is_some_and(|other| old.len() <= new.len() || *other == one);
        let other = if has_other { others.next() } else { None };
        if other == Some(one) {
            continue;
        }
        let place = one.origin.whole.as_ref().map(file_and_line);
        let of_one = entries_of(specification, one);
        let of_other = other.map(|other| entries_of(mutant, other)).unwrap_or_default();
        let differ = |parts: &[String], others: &[String]| {
            let apart = parts.iter().filter(|part| !others.contains(part)).cloned();
            apart.collect::<Vec<String>>().join(", ")
        };
        found.push(TextEdit { place, old: differ(&of_one, &of_other), new: differ(&of_other, &of_one) });
    }
    let added = others.map(|one| format!("{{ {} }}", entries_of(mutant, one).join(", ")));
    found.extend(added.map(|new| TextEdit { place: None, old: String::new(), new }));
    found
}

fn file_and_line(at: &Origin) -> (String, usize) {
    (at.file.name.clone(), at.line_and_column().0)
}

/// The entries of a transition in its file, key by key.
fn entries_of(iosts: &Iosts, one: &Transition) -> Vec<String> {
    let mut found = vec![
        format!("from: {}", iosts.location(one.source).name),
        format!("to: {}", iosts.location(one.target).name),
        format!("on: {}", iosts.action(one.action).name),
    ];
    if !one.guard.is_true() {
        found.push(format!("when: {}", one.guard));
    }
    if !one.assignments.is_empty() {
        let all = one.assignments.iter().map(|(datum, value)| format!("{datum}: {value}"));
        found.push(format!("assign: {{ {} }}", all.collect::<Vec<String>>().join(", ")));
    }
    found
}

/// Are the models certainly the same, though they may be written differently?
pub fn is_equal(specification: &Iosts, mutant: &Iosts, solver: &mut dyn Solver) -> bool {
    let (a, b) = (&specification.initial_condition, &mutant.initial_condition);
    if a != b && !(must_hold(solver, &a.conjuncts(), b) && must_hold(solver, &b.conjuncts(), a)) {
        return false;
    }
    let mut covers = |all: &Iosts, others: &Iosts| {
        all.transitions.iter().all(|one| {
            others.transitions.iter().any(|other| other == one)
                || must_hold(solver, &one.guard.conjuncts(), &Term::no())
                || others.transitions.iter().any(|other| is_covered(one, other, solver))
        })
    };
    specification.actions == mutant.actions && covers(mutant, specification) && covers(specification, mutant)
}

/// Does the other transition do the same wherever this one can be taken?
fn is_covered(one: &Transition, other: &Transition, solver: &mut dyn Solver) -> bool {
    if (one.source, one.action, one.target) != (other.source, other.action, other.target) {
        return false;
    }
    let guard = one.guard.conjuncts();
    let variables: BTreeSet<&Datum> = one.assignments.keys().chain(other.assignments.keys()).collect();
    let mut same = |variable: &Datum| {
        let value =
            |of: &Transition| of.assignments.get(variable).cloned().unwrap_or_else(|| Term::datum(variable));
        let (a, b) = (value(one), value(other));
        a == b || must_hold(solver, &guard, &Term::equal(&a, &b))
    };
    variables.into_iter().all(&mut same) && must_hold(solver, &guard, &other.guard)
}
