//! Checks that the specification is never silent where the visible machine says so.
//!
//! The closed machine says where a run rests that was in a location, and which outputs each place has. With
//! one place the condition only says whether there are any outputs. Otherwise the solver is asked for data
//! that refute the condition. It holds with these data, and the run rests at a place where no output is
//! possible with the values that its guard gives to the parameters. (If the guard gives a parameter no value,
//! the output counts as impossible.) Another place has an output that could come, since otherwise nobody
//! reads the condition.

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
    // `check_closed` reports this.
    if closed.rests.len() != closed.iosts.locations.len() {
        return;
    }
    for (location, members) in visible.members.numbered() {
        let label = || visible.iosts.locations[location].label.clone();
        let condition = &visible.must_answer[location];
        let data = visible.iosts.variables.iter().chain(&visible.iosts.constants);
        let is_readable = condition.data().is_subset(&data.cloned().collect());
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
            let is_right = if only.outputs.is_empty() { condition.is_false() } else { condition.is_true() };
            checking.holds(is_right, RULE, label);
            continue;
        }
        if condition.is_false() {
            continue;
        }
        checking.implies(&[], &[defined(condition)], RULE, label);
        let guards = |rest: &Rest, data: &Substitution| -> Vec<Term> {
            let guard = |number: &TransitionId| &closed.iosts.transitions[*number].guard;
            rest.outputs.iter().map(|number| substitute(guard(number), data)).collect()
        };
        // Is there a run that rests silently at one place, while another place has an output?
        for (number, (rest, data)) in places.iter().enumerate() {
            let outputs = rest.outputs.iter().map(|number| &closed.iosts.transitions[*number]);
            let certain = outputs.map(|t| truth(&substitute(&guard_with_own_values(closed, t), data)));
            let mut silent =
                vec![condition.clone(), substitute(&rest.guard, data), substitute(&rest.stays, data)];
            silent.push(Term::or(certain).not());
            // A run is at the place only if its steps have assigned values.
            silent.extend(data.values().map(defined));
            let other_places = places.iter().enumerate().filter(|(other_number, _)| *other_number != number);
            let other_guards = other_places.flat_map(|(_, (rest, data))| guards(rest, data));
            silent.push(Term::or(other_guards.map(|guard| truth(&guard))));
            // It is no fault if the condition is missing where it could be proved: the stage's solver need
            // not have known. Questions that this solver cannot answer are counted.
            let answer = checking.ask(&silent);
            checking.holds(answer != Answer::Sat, RULE, label);
        }
    }
}

/// Expresses a member's data by those of the visible machine. Data that nothing in front of Accept reads are
/// unknown. They get names of their own with `number`, the member's place in its location.
fn data_of(member: &Member, visible: &Visible, number: usize) -> Substitution {
    let mut data =
        member.steps.iter().fold(Substitution::new(), |earlier, step| compose_effects(&earlier, step));
    if let Some(known) = &visible.known {
        let live = &known.live[member.location];
        for variable in visible.iosts.variables.iter().filter(|variable| !live.contains(*variable)) {
            let unknown = Datum::new(format!("{}@{number}", variable.name()), variable.ty().clone());
            data.insert(variable.clone(), Term::datum(&unknown));
        }
    }
    data
}

/// Puts in for each parameter the value that the guard itself gives it. The result is `false` if a parameter
/// is left open.
fn guard_with_own_values(closed: &Closed, transition: &Transition) -> Term {
    let parameters = &closed.iosts.action(transition.action).parameters;
    let mut guard = transition.guard.clone();
    let mentions_parameter = |term: &Term| term.data().iter().any(|datum| parameters.contains(datum));
    // The value of a parameter may depend on other parameters, so as many rounds are needed as there are
    // parameters.
    for _ in parameters {
        for parameter in parameters {
            let value = guard.conjuncts().into_iter().find_map(|part| {
                let Node::Compare(Comparison::Equal, left, right) = part.node() else { return None };
                let mut sides = [(left, right), (right, left)].into_iter();
                let (_, value) = sides.find(|(side, _)| side.as_datum() == Some(parameter))?;
                (!mentions_parameter(value)).then(|| value.clone())
            });
            if let Some(value) = value {
                let has_value = Term::and([defined(&value), in_type(&value, parameter.ty())]);
                let with_value = substitute(&guard, &Substitution::from([(parameter.clone(), value)]));
                guard = Term::and([has_value, with_value]);
            }
        }
    }
    if mentions_parameter(&guard) { Term::no() } else { guard }
}
