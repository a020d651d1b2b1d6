//! Domains belong to the guard: the conditions that a transition carries without saying them.
//!
//! A transition is enabled only where every partial operation that its guard or its assignments reach is
//! defined, and every assigned value lies in its variable's type. [`enabling_condition`] writes that down as
//! a term, so that no later stage has to know: afterwards every operation may be read as total. The order of
//! evaluation is that of [`crate::term::evaluate`]: from the left, stopping early, the branch not taken not
//! reached.
//!
//! The condition is taken from the term, not from the text. The constructors of terms leave out nothing that
//! may have no value (the law in [`crate::term`]), so a term asks for the same as the user's words.

use std::collections::HashMap;

use crate::iosts::Transition;
use crate::term::Term;
use crate::term::definedness::definedness;
pub use crate::term::definedness::{defined, in_type};

/// The condition under which the transition can be taken: its guard, the definedness of all its operations,
/// and every assigned value within its variable's type.
pub fn enabling_condition(transition: &Transition) -> Term {
    let mut memo = HashMap::new();
    // The order is that of evaluation: the guard's own operations first, then the guard, then the
    // assignments.
    let mut parts = vec![definedness(&transition.guard, &mut memo), transition.guard.clone()];
    for (variable, value) in &transition.assignments {
        parts.push(definedness(value, &mut memo));
        parts.push(in_type(value, variable.ty()));
    }
    Term::and(parts)
}

/// Returns the parts of [`enabling_condition`] besides the guard itself, without those that are always true.
/// Each has the name of the assigned variable, or `None` if it is about the guard's operations.
pub fn obligations(transition: &Transition) -> Vec<(Option<String>, Term)> {
    let mut memo = HashMap::new();
    let mut obligations = vec![(None, definedness(&transition.guard, &mut memo))];
    for (variable, value) in &transition.assignments {
        let name = Some(variable.name().to_owned());
        obligations.push((name, Term::and([definedness(value, &mut memo), in_type(value, variable.ty())])));
    }
    obligations.retain(|(_, condition)| !condition.is_true());
    obligations
}
