//! The check of a path-guided test case: see the list in [`super`].
//!
//! The check knows neither the rules nor contexts. It takes from the test case the facts that are known at a
//! location, and asks the solver about guards.

use coreach_analyses::solver::Solver;
use coreach_model::iosts::{ActionKind, Transition};
use coreach_model::term::node::Comparison;
use coreach_model::{ActionId, LocationId, Term, TransitionId, Verdict};

use super::obligation::{Checking, Findings};
use crate::path_guided::PathGuided;

/// Checks a path-guided test case: first the guards at each location, then the targets of the transitions.
pub fn check_path_guided(made: &PathGuided, solver: &mut dyn Solver) -> Findings {
    let mut checking = Checking::new(solver);
    let iosts = &made.iosts;
    let outgoing = iosts.outgoing();
    for (location, outgoing_numbers) in outgoing.numbered() {
        let name = || iosts.location(location).name.clone();
        if made.verdicts[location].is_some() {
            let rule = "path-guided (1): a transition leaves a verdict";
            checking.holds(outgoing_numbers.is_empty(), rule, name);
            continue;
        }
        for (id, action) in iosts.actions.numbered() {
            if !action.is_visible() {
                continue;
            }
            let leaving = outgoing_numbers.iter().map(|number| &iosts.transitions[*number]);
            let of_action: Vec<&Transition> = leaving.filter(|t| t.action == id).collect();
            let place = || format!("{}: {}", name(), action.name);
            let mut facts = made.known[location].clone();
            facts.push(positive_silence_condition(made));
            for (index, transition) in of_action.iter().enumerate() {
                for later in &of_action[index + 1..] {
                    let mut both = facts.clone();
                    both.extend([transition.guard.clone(), later.guard.clone()]);
                    let rule = "path-guided (2): two transitions can be taken together";
                    checking.implies(&both, &[], rule, place);
                }
            }
            if let Some(times) = possible_times(made, id) {
                let mut none = facts.clone();
                none.push(times);
                none.extend(of_action.iter().map(|transition| transition.guard.not()));
                let rule = "path-guided (3): an event that can be seen has no transition";
                checking.implies(&none, &[], rule, place);
            }
        }
    }
    for (number, transition) in iosts.transitions.numbered() {
        let target = made.verdicts[transition.target];
        let place = || iosts.describe(transition);
        let (rule, is_right) = match target {
            // Contexts are numbered along the path.
            None => (
                "path-guided (4): a transition leads elsewhere than to the next context",
                transition.target == LocationId(transition.source.0 + 1),
            ),
            Some(_) => ("path-guided (4): a verdict changes data", transition.assignments.is_empty()),
        };
        checking.holds(is_right, rule, place);
        let rule = "path-guided (5): the system fails because it does not send something";
        checking.holds(target != Some(Verdict::Fail) || is_of_system(made, number), rule, place);
    }
    let passing = iosts.transitions.iter().filter(|t| made.verdicts[t.target] == Some(Verdict::Pass)).count();
    // Without Pass the path must have steps that nobody sees.
    let is_right = passing == 1 || (passing == 0 && !made.unseen.is_empty());
    checking.holds(is_right, "path-guided (6): no transition leads to Pass", || iosts.name.clone());
    checking.found
}

/// Makes the condition that `silence_after` is positive. It may be a symbolic constant.
fn positive_silence_condition(made: &PathGuided) -> Term {
    Term::compare(Comparison::Greater, &made.timing.silence_after, &Term::int(0).to_real())
}

/// Makes the condition on the delay with which an event can be seen: silence from `silence_after` on, an
/// output at any time. `None` for what the tester sends, and for internal actions.
fn possible_times(made: &PathGuided, action: ActionId) -> Option<Term> {
    let delay = Term::datum(&made.timing.delay);
    let zero = Term::int(0).to_real();
    match made.iosts.action(action).kind {
        ActionKind::Output => Some(Term::compare(Comparison::AtLeast, &delay, &zero)),
        ActionKind::Quiescence => Some(Term::and([
            Term::compare(Comparison::AtLeast, &delay, &zero),
            Term::compare(Comparison::AtLeast, &delay, &made.timing.silence_after),
        ])),
        ActionKind::Input | ActionKind::Internal => None,
    }
}

/// Does the transition take an output of the system, or its silence?
fn is_of_system(made: &PathGuided, number: TransitionId) -> bool {
    let action = made.iosts.action_of(number);
    action.is_observed() && !made.timing.uncontrollable.contains(&action.name)
}
