//! Checks the suspended specification against the one that the user wrote.
//!
//! The solver is asked in full whether quiescence excludes every output and internal step. A quantifier would
//! be needed to say that quiescence is there wherever none of these is possible. So the solver is asked for a
//! few states without quiescence and internal steps, and whether an output is possible there.

use coreach_analyses::solver::{Answer, Solver, Witness};
use coreach_model::Term;
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::obligation::{defined, enabling_condition};
use coreach_model::term::{have_values, literals, substitute};

use super::obligation::{Checking, Findings};
use crate::suspend::Suspended;

/// Checks the result of `suspend` against the specification. The rules are listed in [`super`].
pub fn check_suspended(suspended: &Suspended, specification: &Iosts, solver: &mut dyn Solver) -> Findings {
    const SAME: &str = "suspended 1";
    let mut checking = Checking::new(solver);
    let iosts = &suspended.iosts;
    if !checking.well_formed(iosts, &[], SAME) {
        return checking.found;
    }
    let delta = suspended.quiescence;
    let actions = iosts.actions.numbered().filter(|(id, _)| *id != delta).map(|(_, action)| action);
    let is_same = iosts.constants == specification.constants
        && iosts.variables == specification.variables
        && iosts.locations == specification.locations
        && iosts.initial == specification.initial
        && iosts.initial_condition == specification.initial_condition
        && iosts.actions.has(delta)
        && iosts.action(delta).kind == ActionKind::Quiescence
        && actions.eq(specification.actions.iter())
        && suspended.given == specification.transitions.len()
        && iosts.transitions.len() >= suspended.given;
    if !checking.holds(is_same, SAME, || "what was given".to_owned()) {
        return checking.found;
    }
    for (old, new) in specification.transitions.iter().zip(&iosts.transitions) {
        let same_action = specification.action(old.action).name == iosts.action(new.action).name;
        let is_same = same_action && Transition { action: old.action, ..new.clone() } == *old;
        checking.holds(is_same, SAME, || iosts.describe(new));
    }
    let mut quiet_guards = iosts.locations.map(|_| Vec::new());
    for transition in iosts.transitions.iter().skip(suspended.given) {
        let is_loop = transition.action == delta
            && transition.source == transition.target
            && transition.assignments.is_empty()
            && quiet_guards[transition.source].is_empty();
        checking.holds(is_loop, "suspended 2", || iosts.describe(transition));
        let place = || iosts.describe(transition);
        checking.implies(&[], &[defined(&transition.guard)], "suspended: a guard without a value", place);
        quiet_guards[transition.source].push(transition.guard.clone());
    }
    for (location, guards) in quiet_guards.numbered() {
        let quiet = Term::or(guards.clone());
        let leaving = iosts.transitions.iter().take(suspended.given).filter(|t| t.source == location);
        let (mut internal, mut outputs) = (Vec::new(), Vec::new());
        for transition in leaving {
            match iosts.action(transition.action).kind {
                ActionKind::Internal => internal.push(enabling_condition(transition)),
                ActionKind::Output => outputs.push(enabling_condition(transition)),
                ActionKind::Input | ActionKind::Quiescence => continue,
            }
            let formula = [quiet.clone(), enabling_condition(transition)];
            if checking.ask(&formula) == Answer::Sat {
                checking.broken("suspended 3", iosts.describe(transition));
            }
        }
        let mut not_quiet = vec![quiet.not()];
        not_quiet.extend(internal.iter().map(Term::not));
        // Four states of each location are looked at.
        for _ in 0..4 {
            if not_quiet.iter().any(Term::is_false) {
                break;
            }
            let Witness::Found(state) = checking.solver.witness(&not_quiet) else { break };
            let known = literals(&state);
            let some_output = Term::or(outputs.iter().map(|condition| substitute(condition, &known)));
            if checking.ask(&[some_output]) == Answer::Unsat {
                checking.broken("suspended 4", iosts.location(location).label.clone());
                break;
            }
            not_quiet.push(have_values(&state).not());
        }
    }
    checking.found
}
