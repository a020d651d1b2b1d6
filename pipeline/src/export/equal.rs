//! Compares the graph that was read with the one that was written.
//!
//! Terms are shared, so two equal ones are one, and comparing costs no more than the graph has edges. A term
//! may still be read in another of its forms: constructors put their arguments into a normal form, and a term
//! that a stage substituted has the order of the substitution. If the forms differ a solver is asked whether
//! the meanings do; it must know that they do not.

use coreach_analyses::solver::{Solver, must_hold};
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::term::node::Comparison;
use coreach_model::{ActionKind, Term};

/// Finds the first difference in meaning, if there is one. Internal actions that no transition takes may be
/// missing: a test case's reader leaves them out.
pub fn find_difference(written: &Iosts, read: &Iosts, solver: &mut dyn Solver) -> Option<String> {
    let difference = |what: &str| Some(format!("{what} of `{}`", written.name));
    if written.name != read.name {
        return difference("the name");
    }
    if written.constants != read.constants || written.variables != read.variables {
        return difference("the data");
    }
    let visible = |iosts: &Iosts| -> Vec<_> {
        iosts.actions.iter().filter(|action| action.kind != ActionKind::Internal).cloned().collect()
    };
    if visible(written) != visible(read) {
        return difference("the actions");
    }
    if written.locations != read.locations || written.initial != read.initial {
        return difference("the locations");
    }
    if !mean_same(&written.initial_condition, &read.initial_condition, &[], solver) {
        return difference("the initial condition");
    }
    if written.transitions.len() != read.transitions.len() {
        return difference("the number of transitions");
    }
    let mut pairs = written.transitions.iter().zip(&read.transitions);
    let differs = pairs.find(|(t1, t2)| !is_same_transition(written, t1, read, t2, solver));
    differs.map(|(t1, _)| format!("the transition {}", written.describe(t1)))
}

/// Do the transitions lead alike? Assigned values are compared where the guard holds.
fn is_same_transition(
    written: &Iosts,
    t1: &Transition,
    read: &Iosts,
    t2: &Transition,
    solver: &mut dyn Solver,
) -> bool {
    let mut values = t1.assignments.values().zip(t2.assignments.values());
    t1.source == t2.source
        && t1.target == t2.target
        && written.action(t1.action).name == read.action(t2.action).name
        && mean_same(&t1.guard, &t2.guard, &[], solver)
        && t1.assignments.keys().eq(t2.assignments.keys())
        && values.all(|(value, read_value)| mean_same(value, read_value, &t1.guard.conjuncts(), solver))
}

/// Do the terms mean the same wherever the premises hold?
fn mean_same(left: &Term, right: &Term, premises: &[Term], solver: &mut dyn Solver) -> bool {
    left == right
        || (left.sort() == right.sort()
            && must_hold(solver, premises, &Term::compare(Comparison::Equal, left, right)))
}
