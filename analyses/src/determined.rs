//! Replaces parameters in assigned values by the terms with which the guard equates them.
//!
//! **Problem.** `p == v + 2` with `v := p` counts in steps of two, as `v := v + 2` does. But the search for
//! strides and loops in the assigned values sees a parameter that may be anything. **Method.** If the guard
//! says `p == e` and `e` mentions no parameter, `e` replaces `p` in the assigned values. The guard stays as
//! it is, so the transition is the same. **Cost**: a pass over the guards.

use std::borrow::Cow;

use coreach_model::iosts::{Iosts, Transition};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, Term, substitute};

/// The model with terms for the parameters that guards determine, in the assigned values.
pub(crate) fn replace_determined_parameters(iosts: &Iosts) -> Cow<'_, Iosts> {
    let mut replaced = Cow::Borrowed(iosts);
    for (number, transition) in iosts.transitions.numbered() {
        let known = determined_parameters(iosts, transition);
        if known.is_empty() {
            continue;
        }
        for value in replaced.to_mut().transitions[number].assignments.values_mut() {
            *value = substitute(value, &known);
        }
    }
    replaced
}

/// The parameters that some assigned value mentions, with the terms that the guard equates with them.
fn determined_parameters(iosts: &Iosts, transition: &Transition) -> Substitution {
    let parameters = &iosts.action(transition.action).parameters;
    let is_assigned = |datum| transition.assignments.values().any(|value| value.mentions(datum));
    let conjuncts = transition.guard.lowered().conjuncts();
    let term_for = |datum| {
        conjuncts.iter().find_map(|conjunct| {
            let Node::Compare(Comparison::Equal, left, right) = conjunct.node() else { return None };
            let sides = [(left, right), (right, left)].into_iter();
            let may_replace = |value: &Term| {
                // With a longer term, the assigned value would be harder to read than with the parameter.
                value.written_size() <= 64 && !parameters.iter().any(|parameter| value.mentions(parameter))
            };
            let mut values = sides.filter(|(side, _)| side.as_datum() == Some(datum)).map(|(_, value)| value);
            values.find(|value| may_replace(value)).cloned()
        })
    };
    let assigned = parameters.iter().filter(|datum| is_assigned(datum));
    assigned.filter_map(|datum| Some((datum.clone(), term_for(datum)?))).collect()
}
