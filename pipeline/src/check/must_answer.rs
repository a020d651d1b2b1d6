//! Is it true that the specification is never silent where the visible machine says so?
//!
//! The closed machine says where no internal step was, and which outputs each member has. In an ordinary location the flag
//! is that and nothing else. In a set, each member must be able to send something in every state: the solver is asked for one in which
//! no output of the member can be taken with the values that the guard itself gives to the parameters. Where the guard gives a parameter
//! none, the output counts as one that cannot be taken.

use coreach_analyses::solver::Answer;
use coreach_model::iosts::{ActionKind, Transition};
use coreach_model::obligation::{defined, in_type};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{LocationId, Numbered, Term};

use super::obligation::{Checking, after};
use crate::artifact::{Closed, Member, Visible};

const RULE: &str = "visible 8";

/// Checks the flag of each location.
pub(super) fn visible(visible: &Visible, closed: &Closed, checking: &mut Checking<'_>) {
    let before = &closed.iosts;
    if closed.stable.len() != before.locations.len() {
        return;
    }
    let mut outputs: Numbered<LocationId, Vec<&Transition>> = before.locations.map(|_| Vec::new());
    for t in before.transitions.iter().filter(|t| before.action(t.action).kind == ActionKind::Output) {
        outputs[t.source].push(t);
    }
    for (at, members) in visible.members.numbered() {
        let label = || visible.iosts.locations[at].label.clone();
        let is_said = visible.must_answer[at];
        let has_outputs =
            |member: &Member| closed.stable[member.location] && !outputs[member.location].is_empty();
        if !members.iter().all(has_outputs) {
            checking.holds(!is_said, RULE, label);
            continue;
        }
        if matches!(members.as_slice(), [member] if member.steps.is_empty()) {
            checking.holds(is_said, RULE, label);
            continue;
        }
        let mut answers = members.iter().map(|member| {
            let pending = member.steps.iter().fold(Substitution::new(), |done, step| after(&done, step));
            let none: Vec<Term> = outputs[member.location]
                .iter()
                .map(|t| substitute(&by_its_own_values(closed, t), &pending))
                .map(|possible| Term::and([defined(&possible), possible]).not())
                .collect();
            checking.ask(&none)
        });
        let can_be_silent = answers.find(|answer| *answer != Answer::Unsat);
        // That it is not said where it could be proved is no fault: the stage's solver need not have known. What this one does not know
        // is counted.
        if can_be_silent == Some(Answer::Sat) {
            checking.holds(!is_said, RULE, label);
        }
    }
}

/// The guard with what it says itself put in for the parameters; `false` where it leaves one open.
fn by_its_own_values(closed: &Closed, transition: &Transition) -> Term {
    let parameters = &closed.iosts.action(transition.action).parameters;
    let mut guard = transition.guard.clone();
    // Each parameter may be given by those before it, in whatever order they stand: as many rounds as there are.
    for _ in parameters {
        for parameter in parameters {
            let value = guard.conjuncts().into_iter().find_map(|part| match part.node() {
                Node::Compare(Comparison::Equal, one, other) => {
                    let sides = [(one, other), (other, one)];
                    let own = sides.into_iter().find(|(side, _)| side.as_datum() == Some(parameter))?;
                    (!own.1.data().iter().any(|datum| parameters.contains(datum))).then(|| own.1.clone())
                }
                _ => None,
            });
            if let Some(value) = value {
                let has_value = Term::and([defined(&value), in_type(&value, parameter.ty())]);
                let put = substitute(&guard, &Substitution::from([(parameter.clone(), value)]));
                guard = Term::and([has_value, put]);
            }
        }
    }
    let is_open = guard.data().iter().any(|datum| parameters.contains(datum));
    if is_open { Term::no() } else { guard }
}
