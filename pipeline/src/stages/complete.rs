//! Stage 1: a purpose that takes every action everywhere.
//!
//! **Problem.** The user draws only the events that matter. The product needs a purpose that follows *every*
//! behaviour of the specification, or behaviours would be lost: Traces(S × TP) = Traces(S) only if TP is
//! complete (Theorem 5.5).
//!
//! **Source.** Thesis, Algorithm 7.1 (p. 170).
//!
//! **Where we differ.** The published text negates the guards into Reject and those elsewhere separately,
//! which makes the completed purpose nondeterministic if a location has both. Its definition of the
//! transitions to look at skips unguarded ones. We follow the rule of the thesis' summary (p. xxi) and of the
//! proof of Observation 7.1: one residual, the negation of *all* guards of the action. It leads to Reject if
//! some transition of the action leads elsewhere, and is a self-loop otherwise. It is added if it can hold.
//! `Accept` is absorbing: its residuals are self-loops. A safety property rejects nothing, so all its
//! residuals are self-loops. It is violated if some way through it leads to `Violate`, and nothing comes
//! after that. So an event that violates it does nothing else, as its other guards say.
//!
//! An addition changes no data. In the delayed form of a timed purpose, the clocks advance by it
//! ([`TestPurpose::idle`](coreach_model::TestPurpose)).
//!
//! **Every other action.** An action without any transition at a location is a self-loop there. Beyond
//! [`Limits::written_out`] pairs of location and action these loops are not written: `others_stay` stands for
//! them all, and the product makes one if the specification has the action.
//!
//! **Ends** after one look at each pair of location and action with a transition. **Cost**: one query per
//! pair.
//!
//! ```text
//! Begin -Deliver[p == COFFEE]-> Accept    adds    Begin -Deliver[p != COFFEE]-> Reject
//! Begin -Return[paid < price]-> Reject    adds    Begin -Return[paid >= price]-> Begin
//! ```

use std::collections::BTreeMap;

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::budget;
use coreach_model::iosts::{Aim, Location, TestPurpose, Transition};
use coreach_model::{ActionId, LocationId, Term};

use crate::artifact::{CompletePurpose, added_transition};
use crate::domains::{Memo, explicit_condition, explicit_guard};
use crate::limits::Limits;

/// Completes the purpose.
///
/// Over-approximation: if the solver does not know whether a residual can hold, it is added. An addition that
/// cannot hold changes no behaviour.
pub fn complete(mut purpose: TestPurpose, limits: &Limits, solver: &mut dyn Solver) -> CompletePurpose {
    let mut memo = Memo::new();
    for transition in &mut purpose.iosts.transitions {
        transition.guard = explicit_guard(transition, solver, &mut memo);
    }
    if purpose.aim == Aim::Violate {
        exclude_violations(&mut purpose);
    }
    purpose.iosts.initial_condition = explicit_condition(&purpose.iosts.initial_condition, solver);
    if purpose.aim == Aim::Accept && purpose.reject.is_none() {
        // There is no `Reject`, so no location has the name.
        purpose.reject = Some(purpose.iosts.locations.push(Location::named("Reject")));
    }
    let reject = purpose.reject;
    let iosts = &purpose.iosts;
    let given = iosts.transitions.len();
    let mut by_source: BTreeMap<(LocationId, ActionId), Vec<&Transition>> = BTreeMap::new();
    for transition in &iosts.transitions {
        by_source.entry((transition.source, transition.action)).or_default().push(transition);
    }
    // Loops may stay unwritten only if they change no data.
    let others_stay = purpose.idle.is_empty()
        && iosts.locations.len().saturating_mul(iosts.actions.len()) > limits.written_out;
    if !others_stay {
        for source in iosts.location_ids() {
            for action in iosts.action_ids() {
                by_source.entry((source, action)).or_default();
            }
        }
    }
    let mut added = Vec::new();
    for ((source, action), transitions) in by_source {
        budget::ask();
        let Some(residual) = find_residual(&transitions, solver) else { continue };
        let is_rejected = leads_elsewhere(&transitions, reject) && source != purpose.accept;
        let target = reject.filter(|_| is_rejected).unwrap_or(source);
        let mut addition = added_transition(source, action, residual, target);
        if iosts.action(action).is_visible() {
            addition.assignments = purpose.idle.clone();
        }
        added.push(addition);
    }
    purpose.iosts.transitions.extend(added);
    CompletePurpose { purpose, reject, given, others_stay }
}

/// Makes the condition that the guards of one action leave out at a location, if it may hold.
fn find_residual(transitions: &[&Transition], solver: &mut dyn Solver) -> Option<Term> {
    let residual = Term::or(transitions.iter().map(|t| t.guard.clone())).not();
    let can_hold = !residual.is_false() && (residual.is_true() || may_hold(solver, &residual.conjuncts()));
    can_hold.then_some(residual)
}

/// Does a transition lead to a location other than `Reject`?
fn leads_elsewhere(transitions: &[&Transition], reject: Option<LocationId>) -> bool {
    transitions.iter().any(|t| Some(t.target) != reject)
}

/// Finds where completion will send the events to `Reject` that the guards of an action leave out, with their
/// condition. The author of a guard may have meant that such an event changes nothing.
pub fn rejected_residuals(
    purpose: &TestPurpose,
    solver: &mut dyn Solver,
) -> Vec<(LocationId, ActionId, Term)> {
    if purpose.aim == Aim::Violate {
        return Vec::new();
    }
    let mut memo = Memo::new();
    let mut by_source: BTreeMap<(LocationId, ActionId), Vec<Transition>> = BTreeMap::new();
    for transition in purpose.iosts.transitions.iter().filter(|t| t.source != purpose.accept) {
        let guard = explicit_guard(transition, solver, &mut memo);
        let explicit = Transition { guard, ..transition.clone() };
        by_source.entry((transition.source, transition.action)).or_default().push(explicit);
    }
    let mut found = Vec::new();
    for ((source, action), transitions) in by_source {
        budget::ask();
        let transitions: Vec<&Transition> = transitions.iter().collect();
        if leads_elsewhere(&transitions, purpose.reject)
            && let Some(residual) = find_residual(&transitions, solver)
        {
            found.push((source, action, residual));
        }
    }
    found
}

/// Restricts the guards of a property's other transitions to events that do not violate it.
fn exclude_violations(property: &mut TestPurpose) {
    let violate = property.accept;
    let mut violating: BTreeMap<(LocationId, ActionId), Vec<Term>> = BTreeMap::new();
    for t in property.iosts.transitions.iter().filter(|t| t.target == violate && t.source != violate) {
        violating.entry((t.source, t.action)).or_default().push(t.guard.clone());
    }
    for t in property.iosts.transitions.iter_mut().filter(|t| t.target != violate) {
        if let Some(guards) = violating.get(&(t.source, t.action)) {
            t.guard = Term::and([t.guard.clone(), Term::or(guards.clone()).not()]);
        }
    }
}
