//! Late states: states in which the test goes on although Accept is out of reach.
//!
//! **Problem.** A coarse domain keeps guards that are too weak. Then a test case can be in a state from which
//! no run leads to Pass, and goes on: it is *late*. A count of Inconclusive hides this, since a test case
//! that never notices that the purpose is lost has no transition to Inconclusive.
//!
//! **Method.** The states of the test graph are enumerated, breadth first, from those that satisfy the
//! initial condition, and then marked backward from Pass. A reachable state without a verdict that is not
//! marked is late. This is exact if it ends within [`MOST_STATES`] and every parameter has few values. Finite
//! types are enumerated, and for other types the solver lists the values. Otherwise some walks are made, and
//! the exact reference is asked about the last state of each walk that has no verdict ([`leads_on`]), if
//! there is an engine for it. The last state is enough, since a walk that is late stays late.
//!
//! **Runs** are walks, in which each successor is as likely as the others. They are drawn with a fixed seed.
//! The number of those that come to a late state says how often *such* walks are late. No implementation has
//! to behave like them.
//!
//! **Direction.** A state that is called late is late: this is proved by enumeration or by the exact
//! reference. A sample may miss some. **Ends** at its limits. **Cost**: a few queries per state and
//! transition if types are infinite.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use coreach_analyses::exact::leads_on;
use coreach_analyses::solver::horn::HornEngine;
use coreach_analyses::solver::{Solver, Witness};
use coreach_model::iosts::Iosts;
use coreach_model::limits::MOST_STATES;
use coreach_model::obligation::enabling_condition;
use coreach_model::random::Random;
use coreach_model::semantics::{State, determined_value, fire, is_initial};
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::term::{have_values, literals, substitute};
use coreach_model::value::tuples;
use coreach_model::{Datum, Term, TransitionId, Value, budget};
use serde::Serialize;

use crate::artifact::TestGraph;

/// The most values of a message's parameters, or of the initial data, of finite types.
const MOST_VALUES: usize = 512;

/// The most such values that the solver lists.
const MOST_LISTED: usize = 8;

/// The number of walks over enumerated states, and the most steps of one.
const WALKS: (usize, usize) = (1000, 100);

/// The number of walks of a sample, and the most steps of one.
const SAMPLED: (usize, usize) = (12, 60);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LateMethod {
    Enumeration,
    /// Some walks were made, and the exact reference was asked about their last states.
    Sample,
}

/// How many states and runs of a test graph are late.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LateStates {
    pub method: LateMethod,
    pub late: usize,
    /// The number of states that were looked at: all reachable ones without a verdict, or in a sample those
    /// with an answer.
    pub states: usize,
    pub late_runs: usize,
    /// The number of walks, or in a sample of walks with an answer.
    pub runs: usize,
    /// The first late state and its data, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// Finds the late states of a test graph. `None` if that is not known.
pub fn late_states(
    graph: &TestGraph,
    solver: &mut dyn Solver,
    engine: Option<&mut dyn HornEngine>,
) -> Option<LateStates> {
    budget::doing("looking for late states");
    match (enumerate_states(graph, solver), engine) {
        (Some(enumerated), _) => Some(count_late(graph, &enumerated)),
        (None, Some(engine)) => sample_walks(graph, solver, engine),
        (None, None) => None,
    }
}

/// Counts the late states among all states, and how many walks come to one.
fn count_late(graph: &TestGraph, enumerated: &Enumerated) -> LateStates {
    let Enumerated { states, successors, initial } = enumerated;
    let leads_on = states_leading_on(successors, |state| Some(states[state].location) == graph.pass);
    let is_open = |state: &usize| !graph.is_verdict(states[*state].location);
    let is_late = |state: &usize| !leads_on[*state] && is_open(state);
    let late_numbers: Vec<usize> = (0..states.len()).filter(is_late).collect();
    let (runs, steps) = WALKS;
    let mut random = Random::new(1);
    let mut late_runs = 0;
    for _ in 0..runs {
        let mut state = random.below(*initial);
        for _ in 0..steps {
            match random.pick(&successors[state]) {
                Some(next) if !is_late(&state) => state = *next,
                _ => break,
            }
        }
        late_runs += usize::from(is_late(&state));
    }
    LateStates {
        method: LateMethod::Enumeration,
        late: late_numbers.len(),
        states: (0..states.len()).filter(is_open).count(),
        late_runs,
        runs,
        example: late_numbers.first().map(|number| state_text(&graph.iosts, &states[*number])),
    }
}

/// Counts the late states among the last states of some walks. `None` if nothing is known of any.
fn sample_walks(
    graph: &TestGraph,
    solver: &mut dyn Solver,
    engine: &mut dyn HornEngine,
) -> Option<LateStates> {
    let accepting: Vec<bool> = graph.iosts.location_ids().map(|id| Some(id) == graph.pass).collect();
    let outgoing = graph.iosts.outgoing();
    let (starts, _) = initial_states(graph, solver);
    let (runs, steps) = SAMPLED;
    let mut random = Random::new(1);
    // The last states of walks, and whether they lead to Pass, if it is known.
    let mut last_states: BTreeMap<State, Option<bool>> = BTreeMap::new();
    let (mut known_runs, mut late_runs, mut example) = (0, 0, None);
    for _ in 0..runs {
        let mut state = random.pick(&starts)?.clone();
        let mut passed = false;
        for _ in 0..steps {
            let (next, _) = find_successors(graph, &outgoing[state.location], &state, solver);
            match random.pick(&next) {
                Some(next) if graph.is_verdict(next.location) => {
                    passed = Some(next.location) == graph.pass;
                    break;
                }
                Some(next) => state = next.clone(),
                None => break,
            }
        }
        // The question is asked once for each state. A walk that passed needs no question.
        let leads = match last_states.get(&state) {
            _ if passed => Some(true),
            Some(leads) => *leads,
            None => leads_on(&graph.iosts, &accepting, &state, engine, solver),
        };
        known_runs += usize::from(leads.is_some());
        if leads == Some(false) {
            late_runs += 1;
            example.get_or_insert_with(|| state_text(&graph.iosts, &state));
        }
        last_states.insert(state, leads);
    }
    let states = last_states.values().filter(|leads| leads.is_some()).count();
    (known_runs > 0).then(|| LateStates {
        method: LateMethod::Sample,
        late: last_states.values().filter(|leads| **leads == Some(false)).count(),
        states,
        late_runs,
        runs: known_runs,
        example,
    })
}

pub fn state_text(iosts: &Iosts, state: &State) -> String {
    let data: Vec<String> =
        state.valuation.iter().map(|(datum, value)| format!("{} == {value}", datum.name())).collect();
    let label = &iosts.location(state.location).label;
    if data.is_empty() { label.clone() } else { format!("{label} with {}", data.join(", ")) }
}

/// All reachable states of a test graph.
struct Enumerated {
    states: Vec<State>,
    /// For each state, one successor for each transition and values.
    successors: Vec<Vec<usize>>,
    /// The first so many states are initial.
    initial: usize,
}

/// Enumerates all states. `None` if there are too many, or no initial one.
fn enumerate_states(graph: &TestGraph, solver: &mut dyn Solver) -> Option<Enumerated> {
    let (mut states, mut is_complete) = initial_states(graph, solver);
    let initial = states.len();
    let mut numbers: HashMap<State, usize> = states.iter().cloned().zip(0..).collect();
    let outgoing = graph.iosts.outgoing();
    let mut successors = Vec::new();
    // The successors of the first states are known. A state gets its number when it is met.
    while successors.len() < states.len() && is_complete {
        budget::ask();
        let state = states[successors.len()].clone();
        let (next, all_found) = find_successors(graph, &outgoing[state.location], &state, solver);
        let numbered = next.into_iter().map(|next| {
            *numbers.entry(next).or_insert_with_key(|next| {
                states.push(next.clone());
                states.len() - 1
            })
        });
        successors.push(numbered.collect());
        is_complete = all_found && states.len() <= MOST_STATES;
    }
    (is_complete && initial > 0).then_some(Enumerated { states, successors, initial })
}

/// Lists states that satisfy the initial condition, and whether these are all.
fn initial_states(graph: &TestGraph, solver: &mut dyn Solver) -> (Vec<State>, bool) {
    let iosts = &graph.iosts;
    let condition = &iosts.initial_condition;
    // An initialized system writes a variable before it reads it. So a variable that the condition does not
    // mention may have any value, and one value stands for all.
    let is_open = |datum: &&Datum| !iosts.constants.contains(datum) && !condition.mentions(datum);
    let (unmentioned, mentioned): (Vec<&Datum>, Vec<&Datum>) =
        iosts.constants.iter().chain(&iosts.variables).partition(is_open);
    let mentioned: Vec<Datum> = mentioned.into_iter().cloned().collect();
    let (starts, is_all) = list_values(condition, &mentioned, MOST_LISTED, solver);
    let mut states: Vec<State> = Vec::new();
    for start in starts {
        let mut valuation: Valuation = mentioned.iter().cloned().zip(start).collect();
        valuation.extend(unmentioned.iter().map(|datum| ((*datum).clone(), Value::any(datum.ty()))));
        let state = canonical_state(State { location: iosts.initial, valuation });
        if is_initial(iosts, &state) && !states.contains(&state) {
            states.push(state);
        }
    }
    (states, is_all)
}

/// Lists the states after this one, one for each transition and values, and whether these are all.
fn find_successors(
    graph: &TestGraph,
    outgoing: &[TransitionId],
    state: &State,
    solver: &mut dyn Solver,
) -> (Vec<State>, bool) {
    let iosts = &graph.iosts;
    let known = literals(&state.valuation);
    let (mut successors, mut is_all) = (Vec::new(), true);
    for &number in outgoing {
        let transition = &iosts.transitions[number];
        let condition = substitute(&enabling_condition(transition), &known);
        let parameters = &iosts.action(transition.action).parameters;
        // The values of the parameters with which the transition can be taken.
        let (tuples, is_complete) = list_values(&condition, parameters, MOST_LISTED, solver);
        is_all &= is_complete;
        successors.extend(
            tuples.iter().filter_map(|values| fire(iosts, transition, state, values)).map(canonical_state),
        );
    }
    (successors, is_all)
}

/// The state with equal arrays in one form, so that equal states are met once.
pub fn canonical_state(mut state: State) -> State {
    /// Puts all arrays in the value in their one form.
    fn make_canonical(value: &mut Value) {
        match value {
            Value::Array(array) => *value = Value::Array(Arc::new((**array).clone().canonical())),
            Value::Record(_, fields) => Arc::make_mut(fields).iter_mut().for_each(make_canonical),
            Value::Bool(_)
            | Value::Int(_)
            | Value::Real(_)
            | Value::String(_)
            | Value::Id(..)
            | Value::Enum(..) => {}
        }
    }
    state.valuation.values_mut().for_each(make_canonical);
    state
}

/// Lists values of the data under which a condition holds, and whether these are all. If types and equations
/// do not list them, the solver finds at most `most`.
pub fn list_values(
    condition: &Term,
    data: &[Datum],
    most: usize,
    solver: &mut dyn Solver,
) -> (Vec<Vec<Value>>, bool) {
    if condition.is_false() {
        return (Vec::new(), true);
    }
    let (conjuncts, nothing) = (condition.conjuncts(), Valuation::new());
    let lists: Option<Vec<Vec<Value>>> = data
        .iter()
        .map(|datum| match determined_value(datum, &conjuncts, &nothing) {
            Some(value) => Some(vec![value]),
            None => Value::enumerate(datum.ty(), MOST_VALUES),
        })
        .collect();
    let count = |lists: &Vec<Vec<Value>>| lists.iter().fold(1usize, |n, list| n.saturating_mul(list.len()));
    if let Some(lists) = lists.filter(|lists| count(lists) <= MOST_VALUES) {
        let satisfies = |tuple: &Vec<Value>| {
            let valuation: Valuation = data.iter().cloned().zip(tuple.iter().cloned()).collect();
            data.iter().zip(tuple).all(|(datum, value)| value.is_in(datum.ty()))
                && holds(condition, &valuation) == Ok(true)
        };
        return (tuples(&lists).into_iter().filter(satisfies).collect(), true);
    }
    let (mut tuples_found, mut formula) = (Vec::new(), condition.conjuncts());
    // The equations make the solver give each datum a value.
    formula.extend(data.iter().map(|datum| Term::equal(&Term::datum(datum), &Term::datum(datum))));
    for _ in 0..most {
        let valuation = match solver.witness(&formula) {
            Witness::Found(valuation) => valuation,
            Witness::None => return (tuples_found, true),
            Witness::Unknown => return (tuples_found, false),
        };
        let value = |datum: &Datum| valuation.get(datum).cloned().unwrap_or_else(|| Value::any(datum.ty()));
        let tuple: Vec<Value> = data.iter().map(value).collect();
        formula.push(have_values(data.iter().zip(&tuple)).not());
        tuples_found.push(tuple);
    }
    (tuples_found, false)
}

/// For each state, whether a path leads from it to a state that `is_wanted` accepts.
fn states_leading_on(successors: &[Vec<usize>], is_wanted: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); successors.len()];
    for (state, next_states) in successors.iter().enumerate() {
        next_states.iter().for_each(|next| predecessors[*next].push(state));
    }
    let mut leads_on = vec![false; successors.len()];
    let mut waiting: Vec<usize> = (0..successors.len()).filter(|state| is_wanted(*state)).collect();
    while let Some(state) = waiting.pop() {
        if !std::mem::replace(&mut leads_on[state], true) {
            waiting.extend(&predecessors[state]);
        }
    }
    leads_on
}
