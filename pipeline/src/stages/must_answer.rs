//! Finds where the specification is never silent: a tester that hears nothing there has seen what the
//! specification does not have.
//!
//! **Problem.** After a trace several states may be possible. If none of them is quiescent, silence is no
//! behaviour of the specification: each state can send something, or take an internal step to a state that
//! can. The graph of a test case does not show this. An internal step that leads away from an output has
//! become part of what follows it, and an output of one member of a set is no answer of another member.
//!
//! **Source.** Quiescence: Tretmans, "Test generation with inputs, outputs and repetitive quiescence" (1996);
//! thesis, 3.3 and Definition 3.9, for automata. Here it is a fact beside the graph, since ioc does not ask
//! for it (Definition 6.2).
//!
//! **Method.** A run that is at a location of [`crate::artifact::Visible`] *rests* where one of its members
//! is, or where internal steps lead from there, and no internal step goes on ([`Rest`]). Without livelocks a
//! run rests somewhere. The location *must answer* with data with which, for each place to rest, the run is
//! not there, or
//!
//! - some output is possible there, whatever values its parameters need: where its guard says `p == t`, with
//!   t over the data, t is the value. A guard with another parameter counts as one that may not hold;
//! - or every output that the location can send with these data is sent from this place alone. The reader of
//!   the condition, who knows the data of the moment, decides whether the location can send something: it can
//!   if one of its own transitions by an output, other than into Fail, can be taken. So a location of one
//!   member that no internal step leaves must answer wherever it can.
//!
//! **Direction.** Under-approximation: where the condition holds it must answer. The condition contains
//! nothing that is not proved, nothing that would depend on data that are not kept ([`Basis::live`]), and
//! nothing that is too long to be written. **Ends** after one look at each place to rest. **Cost**: for
//! locations that are sets or have internal steps, two queries each.

use coreach_analyses::solver::{Solver, may_hold, must_hold};
use coreach_model::budget;
use coreach_model::iosts::{Action, Iosts, Transition};
use coreach_model::obligation::{defined, in_type};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, LocationId, Numbered, Term, TransitionId};

use crate::artifact::{Basis, Closed, Member, Rest};
use crate::limits::{Limits, Quantity};
use crate::simplify::without_repetition;
use crate::stages::sets::pending_effect;

/// This sign marks, in a condition, the data that are not kept. No name of a model has it.
const NOT_KEPT: char = '@';

/// Makes the condition under which each location must answer. It is `false` where that is not known, or
/// cannot be written.
pub(super) fn must_answer_conditions(
    closed: &Closed,
    members: &Numbered<LocationId, Vec<Member>>,
    known: Option<&Basis>,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Numbered<LocationId, Term> {
    members.map(|members| {
        budget::ask();
        let numbered = members.iter().enumerate();
        let shown: Vec<Substitution> =
            numbered.map(|(number, member)| shown_values(closed, member, known, number)).collect();
        let rests: Vec<(&Rest, &Substitution)> = members
            .iter()
            .zip(&shown)
            .flat_map(|(member, shown)| closed.rests[member.location].iter().map(move |rest| (rest, shown)))
            .collect();
        let condition = answer_condition(&closed.iosts, &rests);
        if condition.is_false() {
            return condition;
        }
        if condition.is_true() || must_hold(solver, &[], &condition) {
            return Term::yes();
        }
        let is_kept = condition.data().iter().all(|datum| !datum.name().contains(NOT_KEPT));
        let is_short = condition.written_size() <= limits.of(Quantity::Nodes);
        let is_useful = is_kept && is_short && may_hold(solver, &condition.conjuncts());
        if is_useful { without_repetition(&condition, solver) } else { Term::no() }
    })
}

/// Gives the values of the closed machine's variables for a member. Others have any value.
fn shown_values(closed: &Closed, member: &Member, known: Option<&Basis>, number: usize) -> Substitution {
    let mut shown = pending_effect(member);
    if let Some(known) = known {
        let live = &known.live[member.location];
        for variable in closed.iosts.variables.iter().filter(|variable| !live.contains(*variable)) {
            let any = Datum::new(format!("{}{NOT_KEPT}{number}", variable.name()), variable.ty().clone());
            shown.insert(variable.clone(), Term::datum(&any));
        }
    }
    shown
}

/// Makes the condition under which a run must answer. At each of these places, it is not there, or goes on by
/// itself, or an output is always possible, or no other place sends.
fn answer_condition(iosts: &Iosts, rests: &[(&Rest, &Substitution)]) -> Term {
    let is_at = |rest: &Rest, shown: &Substitution| substitute(&rest.guard, shown);
    // Nothing is ever sent from here, so nothing must be.
    if rests.iter().all(|(rest, _)| rest.outputs.is_empty()) {
        return Term::no();
    }
    let conditions = rests.iter().enumerate().map(|(index, (rest, shown))| {
        // True where no other place sends anything. With too many places this is not asked, so each of them
        // has to answer whatever the data are.
        let sends_alone = if rest.outputs.is_empty() || rests.len() > 64 {
            Term::no()
        } else {
            let others = rests.iter().enumerate().filter(|(other, _)| *other != index);
            let sending = others.filter(|(_, (rest, _))| !rest.outputs.is_empty());
            Term::and(sending.map(|(_, (rest, shown))| is_at(rest, shown).not()))
        };
        if sends_alone.is_true() {
            return Term::yes();
        }
        let possible = rest.outputs.iter().map(|number: &TransitionId| {
            let transition = &iosts.transitions[*number];
            always_possible(transition, iosts.action(transition.action), shown)
        });
        let goes_on = substitute(&rest.stays, shown).not();
        Term::or([is_at(rest, shown).not(), goes_on, sends_alone].into_iter().chain(possible))
    });
    let condition = Term::and(conditions);
    Term::and([defined(&condition), condition])
}

/// Gives the condition on the state under which the transition can be taken with some values of its
/// parameters.
fn always_possible(transition: &Transition, action: &Action, pending: &Substitution) -> Term {
    let mut parts = transition.guard.conjuncts();
    let mut conditions = Vec::new();
    let is_parameter = |datum: &Datum| action.parameters.contains(datum);
    // Each equation gives a parameter its value. The value may stand in the other parts, so it is put in.
    while let Some((index, parameter, value)) = find_equation(&parts, &is_parameter) {
        parts.remove(index);
        conditions.extend([defined(&value), in_type(&value, parameter.ty())]);
        let value_of_parameter = Substitution::from([(parameter, value)]);
        parts = parts.iter().map(|part| substitute(part, &value_of_parameter)).collect();
    }
    if parts.iter().any(|part| part.data().iter().any(is_parameter)) {
        return Term::no();
    }
    for part in parts {
        conditions.extend([defined(&part), part]);
    }
    let condition = substitute(&Term::and(conditions), pending);
    // The values of postponed effects exist wherever the condition is read, but its text does not show that.
    Term::and([defined(&condition), condition])
}

/// Finds the first part that gives a parameter its value from the data alone. `is_parameter` decides which
/// data are parameters. `None` if no part does.
fn find_equation(parts: &[Term], is_parameter: &impl Fn(&Datum) -> bool) -> Option<(usize, Datum, Term)> {
    parts.iter().enumerate().find_map(|(index, part)| {
        let Node::Compare(Comparison::Equal, left, right) = part.node() else { return None };
        [(left, right), (right, left)].into_iter().find_map(|(parameter, value)| {
            let parameter = parameter.as_datum().filter(|datum| is_parameter(datum))?;
            let is_known = !value.data().iter().any(is_parameter);
            is_known.then(|| (index, parameter.clone(), value.clone()))
        })
    })
}
