//! Domains belong to the guard: the conditions that a transition carries without saying them.
//!
//! A transition is enabled only where every partial operation that its guard or its assignments reach is
//! defined, and every assigned value lies in its variable's type. [`enabling_condition`] writes that down as
//! a term, so that no later stage has to know: afterwards every operation may be read as total. The order of
//! evaluation is that of
//! [`crate::term::evaluate`]: from the left, stopping early, the branch not taken not reached.
//!
//! It is taken from the term, not from the text: the constructors of terms leave out nothing that may have no
//! value ([`crate::term`] states the law), so a term asks for what the user's words ask for.

use std::collections::HashMap;

use crate::iosts::Transition;
use crate::term::Term;
use crate::term::definedness::definedness;
pub use crate::term::definedness::{defined, in_type};

/// The condition under which the transition can be taken: its guard, the definedness of all its operations,
/// and every assigned value within its variable's type.
pub fn enabling_condition(transition: &Transition) -> Term {
    let mut memo = HashMap::new();
    // The guard's own operations first, then the guard, then what the assignments need: the order of
    // evaluation.
    let mut parts = vec![definedness(&transition.guard, &mut memo), transition.guard.clone()];
    for (variable, value) in &transition.assignments {
        parts.push(definedness(value, &mut memo));
        parts.push(in_type(value, variable.ty()));
    }
    Term::and(parts)
}

/// Just the obligations of [`enabling_condition`] that the guard does not state, each with what it is about:
/// the assigned variable's name, or `None` for the guard.
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
