//! Finds where a mutant differs from its specification, as edits of the user's file, if it does.
//!
//! Two models are **equal** if each transition of one is covered by one of the other: with the same ends and
//! action, a guard that holds wherever its own does, and the same values. Only the solver's word counts.

use std::collections::BTreeSet;
use std::fmt;

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

/// `specification.yaml:7: when: v < 3 -> when: v < 4`
impl fmt::Display for TextEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.as_ref().map(|(file, line)| format!("{file}:{line}: ")).unwrap_or_default();
        let [old, new] = [&self.old, &self.new].map(|text| if text.is_empty() { "nothing" } else { text });
        write!(f, "{place}{old} -> {new}")
    }
}

/// Lists the differences in the order of the specification.
pub fn list_edits(specification: &Iosts, mutant: &Iosts) -> Vec<TextEdit> {
    let mut edits = Vec::new();
    if specification.initial_condition != mutant.initial_condition {
        let text = |iosts: &Iosts| format!("condition: {}", iosts.initial_condition);
        let place = specification.origin.as_ref().map(file_and_line);
        edits.push(TextEdit { place, old: text(specification), new: text(mutant) });
    }
    let (old, new) = (&specification.transitions, &mutant.transitions);
    // Transitions are compared in order. If the mutant has fewer, the first that differs was removed. If not,
    // two at one place are one transition, changed or not. What is left over was added.
    let is_shorter = new.len() < old.len();
    let mut unmatched = new.iter().peekable();
    for transition in old {
        let counterpart = unmatched.next_if(|next| !is_shorter || *next == transition);
        if counterpart == Some(transition) {
            continue;
        }
        let place = transition.origin.whole.as_ref().map(file_and_line);
        let old_entries = entries_of(specification, transition);
        let new_entries = counterpart.map(|new| entries_of(mutant, new)).unwrap_or_default();
        let differ = |entries: &[String], others: &[String]| {
            let apart = entries.iter().filter(|entry| !others.contains(entry)).cloned();
            apart.collect::<Vec<String>>().join(", ")
        };
        let (old, new) = (differ(&old_entries, &new_entries), differ(&new_entries, &old_entries));
        edits.push(TextEdit { place, old, new });
    }
    let added = unmatched.map(|new| format!("{{ {} }}", entries_of(mutant, new).join(", ")));
    edits.extend(added.map(|new| TextEdit { place: None, old: String::new(), new }));
    edits
}

fn file_and_line(at: &Origin) -> (String, usize) {
    (at.file.name.clone(), at.line_and_column().0)
}

/// Lists the entries of a transition in its file, key by key.
fn entries_of(iosts: &Iosts, transition: &Transition) -> Vec<String> {
    let mut entries = vec![
        format!("from: {}", iosts.location(transition.source).name),
        format!("to: {}", iosts.location(transition.target).name),
        format!("on: {}", iosts.action(transition.action).name),
    ];
    if !transition.guard.is_true() {
        entries.push(format!("when: {}", transition.guard));
    }
    if !transition.assignments.is_empty() {
        let all = transition.assignments.iter().map(|(datum, value)| format!("{datum}: {value}"));
        entries.push(format!("assign: {{ {} }}", all.collect::<Vec<String>>().join(", ")));
    }
    entries
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
        let value = |step: &Transition| {
            step.assignments.get(variable).cloned().unwrap_or_else(|| Term::datum(variable))
        };
        let (a, b) = (value(one), value(other));
        a == b || must_hold(solver, &guard, &Term::equal(&a, &b))
    };
    variables.into_iter().all(&mut same) && must_hold(solver, &guard, &other.guard)
}
