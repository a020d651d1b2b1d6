//! Replays a run that an engine claims: finds the transitions and parameters between its states, and takes
//! each step in the concrete semantics.

use coreach_model::obligation::enabling_condition;
use coreach_model::semantics::{State, fire, is_initial};
use coreach_model::term::{literals, substitute};
use coreach_model::{Iosts, Number, Term, TransitionId, Value};

use super::script::Taken;
use crate::solver::{Solver, Witness};

/// A run from an initial state to an accepting location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AcceptingRun {
    pub initial: State,
    /// The transition of each step, and the state after it.
    pub steps: Vec<(TransitionId, State)>,
    /// The values of the parameters of each step.
    pub values: Vec<Vec<Value>>,
}

/// Replays a run through these states. `None`: there is no such run.
pub(super) fn replay(
    iosts: &Iosts,
    accepting: &[bool],
    through: Option<TransitionId>,
    states: &[(Taken, State)],
    solver: &mut dyn Solver,
) -> Option<AcceptingRun> {
    let (_, initial) = states.first()?;
    let in_types = initial.valuation.iter().all(|(datum, value)| value.is_in(datum.ty()));
    if !in_types || !is_initial(iosts, initial) {
        return None;
    }
    let mut run = AcceptingRun { initial: initial.clone(), steps: Vec::new(), values: Vec::new() };
    for pair in states.windows(2) {
        let [(from, state), (to, next)] = pair else { return None };
        // Only the transition in question leads to the other side.
        let wanted = if from == to { None } else { through };
        let (taken, values) = find_step(iosts, state, next, wanted, solver)?;
        run.steps.push((taken, next.clone()));
        run.values.push(values);
    }
    let last = run.steps.last().map_or(initial.location, |(_, state)| state.location);
    let is_taken = through.is_none_or(|through| run.steps.iter().any(|(taken, _)| *taken == through));
    (accepting[last.place()] && is_taken).then_some(run)
}

/// Finds a transition from one state to the other, and the values of its parameters. If one is `wanted`, no
/// other counts. `None` if none was found.
fn find_step(
    iosts: &Iosts,
    state: &State,
    next: &State,
    wanted: Option<TransitionId>,
    solver: &mut dyn Solver,
) -> Option<(TransitionId, Vec<Value>)> {
    let known = literals(&state.valuation);
    for (number, transition) in iosts.transitions.numbered() {
        if (transition.source, transition.target) != (state.location, next.location)
            || wanted.is_some_and(|wanted| wanted != number)
        {
            continue;
        }
        let effects = iosts.variables.iter().map(|variable| {
            let value = next.valuation.get(variable).map(|value| Term::literal(value.clone()));
            value.map_or_else(Term::no, |value| Term::equal(&Iosts::effect(transition, variable), &value))
        });
        let condition = Term::and([enabling_condition(transition)].into_iter().chain(effects));
        let Witness::Found(values) = solver.witness(&substitute(&condition, &known).lowered().conjuncts())
        else {
            continue;
        };
        let parameters = &iosts.action(transition.action).parameters;
        // A parameter that the condition does not mention may have any value.
        let value_of = |p| values.get(p).cloned().unwrap_or_else(|| Value::any(p.ty()));
        let values: Vec<Value> = parameters.iter().map(value_of).collect();
        if fire(iosts, transition, state, &values).as_ref() == Some(next) {
            return Some((number, values));
        }
    }
    None
}
