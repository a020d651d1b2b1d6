//! Checks that the specification is never silent where the visible machine says so.
//!
//! The closed machine says where a run rests that was in a location, and which outputs each place has. With
//! one place the condition only says whether there are any outputs. Otherwise the solver is asked for data
//! with which the condition holds and the run rests at one of the places. No output may be possible there
//! with the values that its guard itself gives to the parameters (if the guard gives one of them none, the
//! output counts as one that cannot be taken). And another place must have an output that could come: if
//! nothing can come, nobody reads the condition.

use coreach_analyses::solver::Answer;
use coreach_model::iosts::Transition;
use coreach_model::obligation::{defined, in_type};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Term, TransitionId};

use super::obligation::{Checking, compose_effects, truth};
use crate::artifact::{Closed, Member, Rest, Visible};

const RULE: &str = "visible 8";

/// Checks the condition under which each location must answer.
pub(super) fn check_must_answer(visible: &Visible, closed: &Closed, checking: &mut Checking<'_>) {
    if closed.rests.len() != closed.iosts.locations.len() {
        return;
    }
    for (at, members) in visible.members.numbered() {
        let label = || visible.iosts.locations[at].label.clone();
        let said = &visible.must_answer[at];
        let data = visible.iosts.variables.iter().chain(&visible.iosts.constants);
        let is_readable = said.data().is_subset(&data.cloned().collect());
        checking.holds(is_readable, RULE, label);
        let places: Vec<(&Rest, Substitution)> = members
            .iter()
            .enumerate()
            .flat_map(|(number, member)| {
                let data = data_of(member, visible, number);
                closed.rests[member.location].iter().map(move |rest| (rest, data.clone()))
            })
            .collect();
        if let [(only, _)] = places.as_slice() {
            let is_right = if only.outputs.is_empty() { said.is_false() } else { said.is_true() };
            checking.holds(is_right, RULE, label);
            continue;
        }
        if said.is_false() {
            continue;
        }
        checking.implies(&[], &[defined(said)], RULE, label);
        let guards = |rest: &Rest, data: &Substitution| -> Vec<Term> {
            let of = |number: &TransitionId| &closed.iosts.transitions[*number];
            rest.outputs.iter().map(|number| substitute(&of(number).guard, data)).collect()
        };
        for (number, (rest, data)) in places.iter().enumerate() {
            let own = rest.outputs.iter().map(|number| &closed.iosts.transitions[*number]);
            let own = own.map(|t| truth(&substitute(&by_its_own_values(closed, t), data)));
            let mut silent = vec![said.clone(), substitute(&rest.guard, data), substitute(&rest.stays, data)];
            silent.push(Term::or(own).not());
            let elsewhere = places.iter().enumerate().filter(|(other, _)| *other != number);
            let elsewhere = elsewhere.flat_map(|(_, (rest, data))| guards(rest, data));
            silent.push(Term::or(elsewhere.map(|guard| truth(&guard))));
            // It is no fault if the condition is missing where it could be proved: the stage's solver need
            // not have known. Questions that this solver cannot answer are counted.
            let may_be = checking.ask(&silent);
            checking.holds(may_be != Answer::Sat, RULE, label);
        }
    }
}

/// Gives the closed machine's data for a member, as they are shown. Data that nothing in front of Accept
/// reads are unknown.
fn data_of(member: &Member, visible: &Visible, number: usize) -> Substitution {
    let mut data = member.steps.iter().fold(Substitution::new(), |done, step| compose_effects(&done, step));
    if let Some(known) = &visible.known {
        for variable in
            visible.iosts.variables.iter().filter(|one| !known.live[member.location].contains(*one))
        {
            let unknown = Datum::new(format!("{}@{number}", variable.name()), variable.ty().clone());
            data.insert(variable.clone(), Term::datum(&unknown));
        }
    }
    data
}

/// Puts in for each parameter the value that the guard itself gives it. The result is `false` if a parameter
/// is left open.
fn by_its_own_values(closed: &Closed, transition: &Transition) -> Term {
    let parameters = &closed.iosts.action(transition.action).parameters;
    let mut guard = transition.guard.clone();
    // The value of each parameter may depend on those before it, in whatever order they stand, so as many
    // rounds are needed as there are parameters.
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
