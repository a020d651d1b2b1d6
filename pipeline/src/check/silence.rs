//! Checks the specification with silence against the delayed form without it.
//!
//! A quantifier would be needed to say how long a state may be silent. So the solver is asked for a few
//! states and delays of each location, some at which silence is allowed and some at which it is not. For each
//! state it is asked again, with all data known, whether something may come later, or ever.

use coreach_analyses::solver::{Answer, Solver, Witness};
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::obligation::{defined, enabling_condition};
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::node::Comparison;
use coreach_model::term::{have_values, literals, substitute};
use coreach_model::{Datum, Term};

use super::obligation::{Checking, Findings};
use crate::lateness::{LatenessTiming, WithSilence};

/// Checks the result of `with_silence` against the delayed form. The rules are listed in [`super`].
pub fn check_silence(
    timed: &WithSilence,
    form: &Iosts,
    timing: &LatenessTiming,
    solver: &mut dyn Solver,
) -> Findings {
    const SAME: &str = "silence 1";
    let mut checking = Checking::new(solver);
    let iosts = &timed.iosts;
    if !checking.well_formed(iosts, &[], SAME) {
        return checking.found;
    }
    let delta = timed.silence;
    let is_same = iosts.constants == form.constants
        && iosts.variables == form.variables
        && iosts.locations == form.locations
        && iosts.initial == form.initial
        && iosts.initial_condition == form.initial_condition
        && iosts.actions.len() == form.actions.len() + 1
        && iosts.action(delta).kind == ActionKind::Quiescence
        && iosts.action(delta).parameters == [timing.delay.clone()]
        && timed.given == form.transitions.len()
        && iosts.transitions.len() >= timed.given;
    if !checking.holds(is_same, SAME, || "what was given".to_owned()) {
        return checking.found;
    }
    for (number, action) in form.actions.numbered() {
        let new = iosts.action(timed.new_numbers[number]);
        let is_environment = timing.uncontrollable.contains(&action.name);
        let kind = if is_environment { ActionKind::Output } else { action.kind };
        let is_same = new.name == action.name && new.kind == kind && new.parameters == action.parameters;
        checking.holds(is_same, SAME, || action.name.clone());
    }
    for (old, new) in form.transitions.iter().zip(&iosts.transitions) {
        let is_same = Transition { action: timed.new_numbers[old.action], ..old.clone() } == *new;
        checking.holds(is_same, SAME, || iosts.describe(new));
    }
    let delay = Term::datum(&timing.delay);
    let mut silence_guards = iosts.locations.map(|_| Vec::new());
    for transition in iosts.transitions.iter().skip(timed.given) {
        let advances = |clock: &Datum| {
            transition.assignments.get(clock) == Some(&Term::add(&Term::datum(clock), &delay))
        };
        let is_loop = transition.action == delta
            && transition.source == transition.target
            && transition.assignments.len() == timing.clocks.len()
            && timing.clocks.iter().all(advances)
            && silence_guards[transition.source].is_empty();
        checking.holds(is_loop, "silence 2", || iosts.describe(transition));
        let place = || iosts.describe(transition);
        checking.implies(&[], &[defined(&transition.guard)], "silence: a guard without a value", place);
        silence_guards[transition.source].push(transition.guard.clone());
    }
    let zero = Term::int(0).to_real();
    let not_negative = Term::compare(Comparison::AtLeast, &delay, &zero);
    for (location, guards) in silence_guards.numbered() {
        let allowed = Term::or(guards.clone());
        for (rule, is_allowed) in [("silence 3", true), ("silence 4", false)] {
            let side = if is_allowed { allowed.clone() } else { allowed.not() };
            let mut question = vec![side, not_negative.clone()];
            // Four states of each kind are looked at at each location.
            for _ in 0..4 {
                if question.iter().any(Term::is_false) {
                    break;
                }
                let Witness::Found(mut witness) = checking.solver.witness(&question) else { break };
                // A datum that the question does not mention may have any value.
                let data = iosts.variables.iter().chain(&iosts.constants).chain([&timing.delay]);
                for datum in data {
                    witness.complete(datum);
                }
                let leaving = iosts.transitions.iter().take(timed.given).filter(|t| t.source == location);
                let is_right = match ask_what_comes(&mut checking, iosts, timing, leaving, &witness) {
                    // Silence is allowed if something may come later, or if nothing need ever come.
                    (Answer::Sat, _) | (Answer::Unsat, Answer::Unsat) => is_allowed,
                    (Answer::Unsat, Answer::Sat) => !is_allowed,
                    (Answer::Unknown, _) | (_, Answer::Unknown) => true,
                };
                if !is_right {
                    checking.broken(rule, iosts.location(location).label.clone());
                    break;
                }
                question.push(have_values(&witness).not());
            }
        }
    }
    checking.found
}

/// Asks, in a state after a silence: can an event come later, and is there one that need come ever?
fn ask_what_comes<'a>(
    checking: &mut Checking<'_>,
    iosts: &Iosts,
    timing: &LatenessTiming,
    leaving: impl Iterator<Item = &'a Transition>,
    state: &Valuation,
) -> (Answer, Answer) {
    let mut values = literals(state);
    // The delay of an event stays open, and is compared with the length of the silence.
    values.remove(&timing.delay);
    let silence = Term::literal(state[&timing.delay].clone());
    let after = Term::compare(Comparison::Greater, &Term::datum(&timing.delay), &silence);
    let (mut later, mut ever) = (Answer::Unsat, Answer::Unsat);
    for transition in leaving {
        let condition = substitute(&enabling_condition(transition), &values);
        let action = iosts.action(transition.action);
        match action.kind {
            ActionKind::Input | ActionKind::Quiescence => {}
            ActionKind::Internal => ever = combine_answers(ever, checking.ask(&[condition])),
            ActionKind::Output => {
                // What the tester cannot count on need not come, but may come later.
                if !timing.uncontrollable.contains(&action.name) {
                    ever = combine_answers(ever, checking.ask(std::slice::from_ref(&condition)));
                }
                later = combine_answers(later, checking.ask(&[condition, after.clone()]));
            }
        }
    }
    (later, ever)
}

/// Combines the answers to two questions into the answer whether one of them can hold.
fn combine_answers(first: Answer, second: Answer) -> Answer {
    match (first, second) {
        (Answer::Sat, _) | (_, Answer::Sat) => Answer::Sat,
        (Answer::Unknown, _) | (_, Answer::Unknown) => Answer::Unknown,
        (Answer::Unsat, Answer::Unsat) => Answer::Unsat,
    }
}
