//! Where the specification is never silent: a tester that hears nothing there has seen what the specification does not have.
//!
//! **Problem.** Silence after a trace is no behaviour of the specification where none of the states that are possible after it
//! is quiescent: each can send something. A test case is closed and deterministic, so its graph does not show it: an internal step that
//! leads away from an output has become part of what follows it, and what one member of a set can send is no answer of another.
//!
//! **Source.** Quiescence: Tretmans, "Test generation with inputs, outputs and repetitive quiescence" (1996); thesis, 3.3 and
//! Definition 3.9, for automata. Here it is a fact beside the graph and not an action in it: ioc does not ask for it (Definition 6.2),
//! and who does not want it is not concerned.
//!
//! **Method.** A location of [`crate::artifact::Visible`] *must answer* where each of its members is
//! a location of the closed machine that no internal step leaves, so that a run which is there is in this very state, and
//!
//! - where it is ordinary, some output leaves it. Whether one is possible depends on the data: who reads the flag asks whether one of the
//!   location's own transitions by an output, other than into Fail, can be taken with the data of the moment;
//! - where it has several members or postponed effects, each member can send something whatever the data are: one of its
//!   outputs is possible in every state. That of the transitions one is possible would not do, for it may be another member's.
//!
//! An output is possible in every state where its guard is valid with values put in for its parameters: where the guard says
//! `p == t`, with t over the data, t is the value. Other parameters get none, and a guard that mentions such a one counts as one that
//! may not hold.
//!
//! **Direction.** Under-approximation: what is flagged must answer. A state with an internal step is not flagged though all that the step
//! leads to might send something; nor is what is not proved.
//!
//! **Ends** after one look at each member. **Cost**: for locations that are sets, one query for each member whose outputs have guards.

use coreach_analyses::solver::{Solver, must_hold};
use coreach_model::budget;
use coreach_model::iosts::{Action, ActionKind, Transition};
use coreach_model::obligation::{defined, in_type};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, LocationId, Numbered, Term};

use crate::artifact::{Closed, Member};
use crate::stages::sets::pending;

/// For each location, whether it must answer.
pub(super) fn must_answer(
    closed: &Closed,
    members: &Numbered<LocationId, Vec<Member>>,
    solver: &mut dyn Solver,
) -> Numbered<LocationId, bool> {
    let iosts = &closed.iosts;
    let is_output = |transition: &Transition| iosts.action(transition.action).kind == ActionKind::Output;
    let mut outputs = iosts.locations.map(|_| Vec::new());
    for transition in iosts.transitions.iter().filter(|transition| is_output(transition)) {
        outputs[transition.source].push(transition);
    }
    let mut found = Numbered::new();
    for members in members {
        budget::ask();
        let may = members
            .iter()
            .all(|member| closed.stable[member.location] && !outputs[member.location].is_empty());
        let is_ordinary = matches!(members.as_slice(), [member] if member.steps.is_empty());
        let mut always = |member: &Member| {
            let pending = pending(member);
            let possible = outputs[member.location]
                .iter()
                .map(|transition| always_possible(transition, iosts.action(transition.action), &pending));
            must_hold(solver, &[], &Term::or(possible.collect::<Vec<_>>()))
        };
        found.push(may && (is_ordinary || members.iter().all(&mut always)));
    }
    found
}

/// A condition on the state alone under which the transition can be taken with some values of its parameters.
fn always_possible(transition: &Transition, action: &Action, pending: &Substitution) -> Term {
    let mut parts = transition.guard.conjuncts();
    let mut conditions = Vec::new();
    let is_parameter = |datum: &Datum| action.parameters.contains(datum);
    while let Some((at, parameter, value)) = equation(&parts, &is_parameter) {
        parts.remove(at);
        conditions.extend([defined(&value), in_type(&value, parameter.ty())]);
        let put = Substitution::from([(parameter, value)]);
        parts = parts.iter().map(|part| substitute(part, &put)).collect();
    }
    if parts.iter().any(|part| part.data().iter().any(is_parameter)) {
        return Term::no();
    }
    for part in parts {
        conditions.extend([defined(&part), part]);
    }
    let condition = substitute(&Term::and(conditions), pending);
    // Values of postponed effects are there wherever this is read, but nobody who reads it alone could know.
    Term::and([defined(&condition), condition])
}

/// The first part that gives a parameter its value from the data alone.
fn equation(parts: &[Term], is_parameter: &impl Fn(&Datum) -> bool) -> Option<(usize, Datum, Term)> {
    parts.iter().enumerate().find_map(|(at, part)| {
        let Node::Compare(Comparison::Equal, one, other) = part.node() else { return None };
        [(one, other), (other, one)].into_iter().find_map(|(parameter, value)| {
            let parameter = parameter.as_datum().filter(|datum| is_parameter(datum))?;
            let is_known = !value.data().iter().any(is_parameter);
            is_known.then(|| (at, parameter.clone(), value.clone()))
        })
    })
}
