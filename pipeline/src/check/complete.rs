//! Checks the completed purpose against the one that the user wrote.

use std::collections::BTreeSet;

use coreach_analyses::solver::{Answer, Solver};
use coreach_model::iosts::{Aim, TestPurpose, Transition};
use coreach_model::obligation::enabling_condition;
use coreach_model::term::Substitution;
use coreach_model::{Number, Term, TransitionId};

use super::obligation::{Checking, Findings, by_action, truth};
use crate::artifact::CompletePurpose;

/// Checks the result of `complete` against the given purpose. The rules have the numbers of the list in
/// [`super`].
pub fn check_complete_purpose(
    given: &TestPurpose,
    complete: &CompletePurpose,
    solver: &mut dyn Solver,
) -> Findings {
    const SAME: &str = "complete purpose 1";
    let mut checking = Checking::new(solver);
    let (old, new) = (&given.iosts, &complete.purpose.iosts);
    // A property has no Reject: an event that it leaves open changes nothing.
    let rejects = given.aim == Aim::Accept;
    let accept = given.accept;
    if !checking.well_formed(new, &[], SAME) {
        return checking.found;
    }
    checking.same_data(old, new, SAME);
    let added_locations = usize::from(rejects && given.reject.is_none());
    let fresh = old.locations.next_number();
    let reject = rejects.then(|| given.reject.unwrap_or(fresh));
    let is_same = [complete.purpose.accept, new.initial] == [accept, old.initial]
        && [complete.reject, complete.purpose.reject] == [reject, reject]
        && new.locations.len() == old.locations.len() + added_locations
        && new.locations.starts_with(&old.locations)
        && complete.given == old.transitions.len()
        && new.transitions.len() >= complete.given;
    if !checking.holds(is_same, SAME, || "what was given".to_owned()) {
        return checking.found;
    }
    let (before, after) = (truth(&old.initial_condition), truth(&new.initial_condition));
    checking.equivalent(&[], &before, &after, SAME, || "the initial condition".to_owned());
    // The given transitions are there.
    for (t1, t2) in old.transitions.iter().zip(&new.transitions) {
        let place = || new.describe(t2);
        let fixed = (t1.source, t1.action, t1.target, &t1.assignments);
        checking.holds(fixed == (t2.source, t2.action, t2.target, &t2.assignments), SAME, place);
        let mut wanted = vec![enabling_condition(t1)];
        if !rejects && t1.target != accept {
            // An event that violates the property does nothing else.
            let violates = |t: &&Transition| (t.source, t.action, t.target) == (t1.source, t1.action, accept);
            let violating = old.transitions.iter().filter(violates);
            wanted.push(Term::or(violating.map(enabling_condition)).not());
        }
        checking.equivalent(&[], &Term::and(wanted), &truth(&t2.guard), SAME, place);
    }
    // The additions are right, and none is missing.
    let mut numbers_by_action = by_action(new);
    if !complete.others_stay {
        for source in new.location_ids() {
            for action in new.action_ids() {
                numbers_by_action.entry((source, action)).or_default();
            }
        }
    }
    let mut internal_ways = BTreeSet::new();
    for ((source, action), numbers) in numbers_by_action {
        let (given_numbers, added_numbers): (Vec<TransitionId>, Vec<TransitionId>) =
            numbers.into_iter().partition(|number| number.place() < complete.given);
        let residual =
            Term::or(given_numbers.iter().map(|number| new.transitions[*number].guard.clone())).not();
        // What the guards leave out leads to Reject if one of them leads elsewhere. Otherwise it stays.
        let leads_elsewhere =
            given_numbers.iter().any(|number| Some(new.transitions[*number].target) != reject);
        let target = reject.filter(|_| leads_elsewhere && source != accept).unwrap_or(source);
        let place = || format!("{} takes not every {}", new.location(source).label, new.action(action).name);
        match added_numbers.as_slice() {
            [] if checking.ask(std::slice::from_ref(&residual)) == Answer::Sat => {
                checking.broken("complete purpose 2", place());
            }
            [] => {}
            [single] => {
                let t = &new.transitions[*single];
                let place = || new.describe(t);
                checking.equivalent(&[], &residual, &truth(&t.guard), "complete purpose 2", place);
                let is_visible = new.action(action).is_visible();
                let idle = if is_visible { given.idle.clone() } else { Substitution::new() };
                let is_idle = t.target == target && t.assignments == idle;
                checking.holds(is_idle, "complete purpose 3", place);
            }
            _ => checking.broken("complete purpose 2", place()),
        }
        if !new.action(action).is_visible() && source != accept {
            internal_ways.extend(given_numbers.iter().chain(&added_numbers).copied());
        }
    }
    for (number, transition) in new.transitions.numbered() {
        let leaves = transition.source == accept && transition.target != accept;
        checking.holds(!leaves, "complete purpose 4", || new.describe(transition));
        let enters = internal_ways.contains(&number) && transition.target == accept;
        checking.holds(!enters, "complete purpose 5", || new.describe(transition));
    }
    checking.found
}
