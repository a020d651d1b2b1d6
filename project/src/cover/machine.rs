//! Explores a specification as a finite machine, and makes goals of suites ([`coreach_analyses::machines`]).
//!
//! **Problem.** Methods with a guarantee (W, Wp, HSI, H) are for machines that answer an input with an
//! output. A specification has locations, data, several outputs in a row, or none.
//!
//! **Method.** A state of the machine is a state of the specification (location and values) in which it is
//! quiescent. An input is a class of events: an action, and a condition on its parameters. The answer is the
//! list of outputs until the specification is quiescent again. For ioco the quiescence itself is a part of
//! the answer. The concrete semantics explores the states. If the parameters of an input do not flow into
//! data, one event stands for all events that a transition takes, and its guard is kept as a condition.
//! Otherwise each value is an event of its own. The conditions of all states cut the events of an action into
//! classes, which each state treats alike. So inputs stay symbolic where possible (Petrenko and Simão,
//! *Checking experiments for finite state machines with symbolic inputs*, 2015).
//!
//! A sequence of a suite becomes a route that asks for the classes of its inputs. Each answer on it is the
//! only one. So its test case says Fail for exactly those systems that the method calls wrong.
//!
//! **Not every specification** is such a machine: it must have no constants without a value, have at most one
//! answer to each event, come to rest after it, and have no more states and classes than the limits here.
//! Inputs that come while it is still answering are ignored.
//!
//! **Ends** by [`MOST_STATES`] and [`MOST_CLASSES`]. **Cost**: a question or more for each state and
//! transition, and for each two conditions of an action.

use std::collections::{BTreeMap, HashMap, HashSet};

use coreach_analyses::machines::{Mealy, Method, NoSuite, Word, suite};
use coreach_analyses::solver::{Answer, Solver};
use coreach_execution::initial;
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::obligation::enabling_condition;
use coreach_model::semantics::{Event, State, fire};
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::{literals, substitute};
use coreach_model::{ActionId, Datum, LocationId, Numbered, Term, TransitionId, Value, budget};
use coreach_pipeline::late_states::{canonical_state, list_values, state_text};
use serde::Serialize;

use super::evidence::{Route, RunEvidence, has_value};
use super::goals::{Criterion, Goal};
use super::search::MetGoal;
use crate::checked::plural;

pub const MOST_STATES: usize = 1000;

/// The most classes of events of one action.
pub const MOST_CLASSES: usize = 64;

#[derive(Clone, Debug, Serialize)]
pub struct MachineSummary {
    pub explored: usize,
    /// The number of states after equal states were merged.
    pub states: usize,
    pub inputs: Vec<String>,
    pub is_complete: bool,
    pub suites: Vec<SuiteSummary>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SuiteSummary {
    pub criterion: String,
    pub tests: Option<usize>,
    pub inputs: Option<usize>,
    pub why: Option<String>,
    /// The guarantee of a suite that was asked for.
    pub guarantee: Option<String>,
}

/// Transitions with the values of their parameters, in the order in which they are taken.
type Steps = Vec<(TransitionId, Vec<Value>)>;

/// An input transition that a state can take.
struct PossibleInput {
    transition: TransitionId,
    /// Conditions that tell its events from others.
    conditions: Vec<Term>,
    /// The values of the events that are followed.
    events: Vec<Vec<Value>>,
}

/// A class of events of one action. Each state treats all of them alike.
struct InputClass {
    action: ActionId,
    condition: Term,
    values: Vec<Value>,
}

pub struct FiniteMachine<'a> {
    iosts: &'a Iosts,
    /// The machine of `states` and `classes`, with their numbers. State 0 is the initial one.
    explored: Mealy,
    /// The same machine after equal states were merged.
    reduced: Mealy,
    classes: Vec<InputClass>,
    states: Vec<State>,
    initial: State,
    /// The steps before the first input.
    begin: Steps,
    /// For each state and class, the input and the steps of the answer.
    steps: Vec<Vec<Steps>>,
}

/// Explores the states, cuts the inputs into classes, and reduces the machine. The error says what fails.
pub fn explore_machine<'a>(iosts: &'a Iosts, solver: &mut dyn Solver) -> Result<FiniteMachine<'a>, String> {
    budget::doing("exploring a finite machine");
    if let Some(constant) = iosts.constants.first() {
        return Err(format!("the constant `{constant}` has no value: fix it under `instantiate:`"));
    }
    let initial_states =
        initial::states(iosts, &Valuation::new(), 1, solver).map_err(|none| none.text().to_owned())?;
    let initial =
        initial_states.into_iter().next().map(canonical_state).ok_or("there is no initial state")?;
    let mut explorer = Explorer { iosts, outgoing: iosts.outgoing(), rests: HashMap::new(), solver };
    let (first, begin) = explorer.run_to_rest(&initial)?;
    let mut states = vec![first.clone()];
    let mut numbers = HashMap::from([(first, 0)]);
    let mut conditions: BTreeMap<ActionId, Vec<Term>> = BTreeMap::new();
    // States that are found go to the end of the list, and are explored later.
    let mut number = 0;
    while number < states.len() {
        budget::ask();
        for input in explorer.list_inputs(&states[number])? {
            let transition = &iosts.transitions[input.transition];
            let known = conditions.entry(transition.action).or_default();
            known.extend(input.conditions.into_iter().filter(|new| !known.contains(new)).collect::<Vec<_>>());
            for values in input.events {
                let Some(to) = fire(iosts, transition, &states[number], &values) else {
                    continue;
                };
                let (target, _) = explorer.run_to_rest(&canonical_state(to))?;
                if !numbers.contains_key(&target) {
                    numbers.insert(target.clone(), states.len());
                    states.push(target);
                }
            }
        }
        if states.len() > MOST_STATES {
            return Err(format!("it has more than {MOST_STATES} states"));
        }
        number += 1;
    }
    let mut classes = Vec::new();
    for (action, conditions) in conditions {
        classes.extend(explorer.cut_into_classes(action, &conditions)?);
    }
    // The table of the machine: for each state and class, the number of the answer and the next state.
    let mut answers: HashMap<Vec<Event>, usize> = HashMap::new();
    let mut explored = Mealy { inputs: classes.len(), next: Vec::new() };
    let mut steps = Vec::new();
    for state in &states {
        let (mut row, mut steps_of_row) = (Vec::new(), Vec::new());
        for class in &classes {
            let reaction = explorer.react(state, class)?;
            row.push(reaction.as_ref().map(|(target, steps)| {
                let new = answers.len();
                // The first step is the input itself. Its target was explored: either the same event was
                // followed above, or its values do not flow into data.
                (*answers.entry(visible_events(iosts, &steps[1..])).or_insert(new), numbers[target])
            }));
            steps_of_row.push(reaction.map(|(_, steps)| steps).unwrap_or_default());
        }
        explored.next.push(row);
        steps.push(steps_of_row);
    }
    let reduced = explored.minimal();
    Ok(FiniteMachine { iosts, explored, reduced, classes, states, initial, begin, steps })
}

fn visible_events(iosts: &Iosts, steps: &[(TransitionId, Vec<Value>)]) -> Vec<Event> {
    let seen = steps.iter().filter(|(number, _)| iosts.action_of(*number).is_visible());
    seen.map(|(number, values)| Event::new(iosts.action_of(*number).name.clone(), values.clone())).collect()
}

/// Takes steps of the specification, and remembers where it comes to rest.
struct Explorer<'a, 's> {
    iosts: &'a Iosts,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    rests: HashMap<State, (State, Steps)>,
    solver: &'s mut dyn Solver,
}

impl Explorer<'_, '_> {
    fn undecided_text(&self, number: TransitionId) -> String {
        let described = self.iosts.describe(&self.iosts.transitions[number]);
        format!("the solver does not know when `{described}` is taken")
    }

    /// Runs from a state until the specification is quiescent. Returns that state, and the steps.
    fn run_to_rest(&mut self, from: &State) -> Result<(State, Steps), String> {
        if let Some(known) = self.rests.get(from) {
            return Ok(known.clone());
        }
        let iosts = self.iosts;
        let (mut state, mut steps, mut seen) = (from.clone(), Steps::new(), HashSet::new());
        loop {
            budget::ask();
            if !seen.insert(state.clone()) || seen.len() > MOST_STATES {
                return Err(format!("it does not come to rest in {}", state_text(iosts, &state)));
            }
            let (mut possible, mut quiescence) = (Vec::new(), None);
            for &number in &self.outgoing[state.location] {
                let transition = &iosts.transitions[number];
                match iosts.action_of(number).kind {
                    ActionKind::Input => {}
                    ActionKind::Quiescence => {
                        quiescence = fire(iosts, transition, &state, &[]).map(|_| number).or(quiescence)
                    }
                    ActionKind::Output | ActionKind::Internal => {
                        let parameters = &iosts.action(transition.action).parameters;
                        // Two values show already that there are several answers.
                        let (tuples, are_all) =
                            list_values(&enabled_in(transition, &state), parameters, 2, self.solver);
                        if !are_all && tuples.len() < 2 {
                            return Err(self.undecided_text(number));
                        }
                        possible.extend(tuples.into_iter().map(|values| (number, values)));
                    }
                }
            }
            let Some((number, values)) = possible.pop() else {
                steps.extend(quiescence.map(|number| (number, Vec::new())));
                self.rests.insert(from.clone(), (state.clone(), steps.clone()));
                return Ok((state, steps));
            };
            if !possible.is_empty() {
                return Err(format!("it has several answers, or steps, in {}", state_text(iosts, &state)));
            }
            let after = fire(iosts, &iosts.transitions[number], &state, &values);
            state = canonical_state(after.ok_or_else(|| self.undecided_text(number))?);
            steps.push((number, values));
        }
    }

    /// Lists the input transitions that can be taken in a state. If parameters flow into data, each event is
    /// followed, and has a condition of its own. Otherwise one event stands for all.
    fn list_inputs(&mut self, state: &State) -> Result<Vec<PossibleInput>, String> {
        let iosts = self.iosts;
        let mut inputs = Vec::new();
        for &number in &self.outgoing[state.location] {
            if iosts.action_of(number).kind != ActionKind::Input {
                continue;
            }
            let transition = &iosts.transitions[number];
            let action = iosts.action(transition.action);
            let condition = enabled_in(transition, state);
            let data = literals(&state.valuation);
            let flows_into_data = transition.assignments.values().any(|value| {
                let value = substitute(value, &data);
                action.parameters.iter().any(|parameter| value.mentions(parameter))
            });
            let limit = if flows_into_data { MOST_CLASSES } else { 1 };
            // There may be more values than the limit, if the types of the parameters list them.
            let (mut tuples, are_all) = list_values(&condition, &action.parameters, limit, self.solver);
            if tuples.is_empty() && !are_all {
                return Err(self.undecided_text(number));
            }
            if flows_into_data && (!are_all || tuples.len() > MOST_CLASSES) {
                let place = state_text(iosts, state);
                let name = &action.name;
                return Err(format!(
                    "values of `{name}` flow into data, and {place} can get more than {MOST_CLASSES} of them"
                ));
            }
            if tuples.is_empty() {
                continue;
            }
            tuples.truncate(limit);
            let has_values = |values: &Vec<Value>| {
                let pairs = action.parameters.iter().zip(values);
                Term::and(pairs.map(|(datum, value)| has_value(datum, value)))
            };
            let conditions = match flows_into_data {
                true => tuples.iter().map(has_values).collect(),
                false => vec![condition],
            };
            inputs.push(PossibleInput { transition: number, conditions, events: tuples });
        }
        Ok(inputs)
    }

    /// Cuts the events of an action into classes by the conditions. Drops those that none allows.
    fn cut_into_classes(&mut self, action: ActionId, conditions: &[Term]) -> Result<Vec<InputClass>, String> {
        let name = &self.iosts.action(action).name;
        // The parts of the events so far, each with its conditions, and whether a condition of `conditions`
        // holds in it. One cell may have none: its events are taken nowhere.
        let mut cells: Vec<(Vec<Term>, bool)> = vec![(Vec::new(), false)];
        for condition in conditions {
            let mut finer = Vec::new();
            for (cell, is_taken) in cells {
                // The part of the cell on one side of the condition, if it has events.
                let mut part = |side: Term| {
                    let whole = [cell.as_slice(), &[side]].concat();
                    match self.solver.check(&whole) {
                        Answer::Sat => Ok(Some(whole)),
                        Answer::Unsat => Ok(None),
                        Answer::Unknown => Err(format!("the solver does not know the classes of `{name}`")),
                    }
                };
                match (part(condition.clone())?, part(condition.not())?) {
                    (Some(inside), Some(outside)) => finer.extend([(inside, true), (outside, is_taken)]),
                    // A condition that holds in the whole cell, or nowhere in it, does not cut it.
                    (inside, _) => finer.push((cell, is_taken || inside.is_some())),
                }
            }
            if finer.len() > MOST_CLASSES + 1 {
                return Err(format!("`{name}` has more than {MOST_CLASSES} classes of events"));
            }
            cells = finer;
        }
        let mut classes = Vec::new();
        for (cell, _) in cells.into_iter().filter(|(_, is_taken)| *is_taken) {
            let condition = Term::and(cell);
            let parameters = &self.iosts.action(action).parameters;
            let (mut tuples, _) = list_values(&condition, parameters, 1, self.solver);
            if tuples.is_empty() {
                return Err(format!("no event of `{name}` was found with {condition}"));
            }
            classes.push(InputClass { action, condition, values: tuples.swap_remove(0) });
        }
        Ok(classes)
    }

    /// Takes an event of a class, if possible. Returns the state of rest after it, and the steps until then.
    fn react(&mut self, state: &State, class: &InputClass) -> Result<Option<(State, Steps)>, String> {
        let mut reaction: Option<(State, Steps)> = None;
        for number in self.outgoing[state.location].clone() {
            let transition = &self.iosts.transitions[number];
            if transition.action != class.action {
                continue;
            }
            let Some(to) = fire(self.iosts, transition, state, &class.values) else { continue };
            let (target, answer_steps) = self.run_to_rest(&canonical_state(to))?;
            // The first of the steps is the input itself.
            let is_other = |(known, steps): &(State, Steps)| {
                *known != target
                    || visible_events(self.iosts, &steps[1..]) != visible_events(self.iosts, &answer_steps)
            };
            if reaction.as_ref().is_some_and(is_other) {
                let name = &self.iosts.action(class.action).name;
                let place = state_text(self.iosts, state);
                return Err(format!("`{name}` is answered in several ways in {place}"));
            }
            reaction.get_or_insert((target, [vec![(number, class.values.clone())], answer_steps].concat()));
        }
        Ok(reaction)
    }
}

/// Makes the condition on the parameters under which a transition is enabled in a state.
pub(super) fn enabled_in(transition: &Transition, state: &State) -> Term {
    substitute(&enabling_condition(transition), &literals(&state.valuation))
}

impl FiniteMachine<'_> {
    pub fn goals(&self, method: Method, extra: usize) -> Result<Vec<(Goal, MetGoal)>, String> {
        let words = suite(&self.reduced, method, extra).map_err(|none| self.explain_no_suite(none))?;
        Ok(words.iter().map(|word| self.make_goal(word)).collect())
    }

    /// Summarizes the machine, with the sizes of the suites of all methods.
    pub fn summary(&self, asked: &[Criterion]) -> MachineSummary {
        let extra_states = |criterion: &Criterion| match criterion {
            Criterion::Machine(_, extra) => Some(*extra),
            _ => None,
        };
        let mut extras: Vec<usize> = asked.iter().filter_map(extra_states).collect();
        extras.sort_unstable();
        extras.dedup();
        let mut suites = Vec::new();
        for (place, extra) in extras.into_iter().enumerate() {
            // A suite without a guarantee does not depend on the number of extra states.
            for method in Method::ALL.into_iter().filter(|method| method.is_complete() || place == 0) {
                let extra = if method.is_complete() { extra } else { 0 };
                let criterion = Criterion::Machine(method, extra);
                let made = suite(&self.reduced, method, extra).map_err(|none| self.explain_no_suite(none));
                let is_asked = asked.contains(&criterion) && made.is_ok();
                suites.push(SuiteSummary {
                    criterion: criterion.to_string(),
                    tests: made.as_ref().ok().map(Vec::len),
                    inputs: made.as_ref().ok().map(|words| words.iter().map(Vec::len).sum()),
                    why: made.err(),
                    guarantee: is_asked.then(|| self.guarantee(method, extra)),
                });
            }
        }
        MachineSummary {
            explored: self.states.len(),
            states: self.reduced.next.len(),
            inputs: self.classes.iter().map(|class| self.class_text(class)).collect(),
            is_complete: self.explored.is_complete(),
            suites,
        }
    }

    /// The guarantee of a method's suite in words.
    fn guarantee(&self, method: Method, extra: usize) -> String {
        if !method.is_complete() {
            return "none: a system that passes all tests may still be wrong".to_owned();
        }
        let mut text = format!(
            "a system that passes all tests conforms, if it is deterministic, has at most {} and begins anew with each test",
            plural(self.reduced.next.len() + extra, "state")
        );
        if !self.explored.is_complete() {
            text += "; only inputs that the specification takes are tested";
        }
        if self.classes.iter().any(|class| values_are_open(self.iosts, class)) {
            text += "; the system must treat the events of a class alike";
        }
        let is_suspended = self.iosts.actions.iter().any(|action| action.kind == ActionKind::Quiescence);
        if !is_suspended {
            text += "; the system must answer exactly where the specification answers (`conformance: ioco` also tests this)";
        }
        text
    }

    /// Explains why a method has no suite, if possible with the state at which it fails.
    fn explain_no_suite(&self, none: NoSuite) -> String {
        let place_text = |number: usize| {
            let word = self.reduced.access_words()[number].clone().unwrap_or_default();
            let reached = self.explored.after(0, &word);
            reached.map(|state| state_text(self.iosts, &self.states[state])).unwrap_or_default()
        };
        match none {
            NoSuite::NoUnique(number) => format!("{none}: {}", place_text(number)),
            NoSuite::NoDistinguishing | NoSuite::NoTour | NoSuite::TooMany => none.to_string(),
        }
    }

    fn class_text(&self, class: &InputClass) -> String {
        let name = &self.iosts.action(class.action).name;
        if class.condition.is_true() { name.clone() } else { format!("{name} [{}]", class.condition) }
    }

    /// Makes a goal of a sequence of classes, with the route and the run that meet it.
    fn make_goal(&self, word: &Word) -> (Goal, MetGoal) {
        let (mut state, mut steps, mut asked) = (0, self.begin.clone(), BTreeMap::new());
        for &input in word {
            let class = &self.classes[input];
            if !class.condition.is_true() {
                asked.insert(steps.len(), class.condition.clone());
            }
            steps.extend(self.steps[state][input].iter().cloned());
            // An input that is not taken changes nothing.
            state = self.explored.next[state][input].map_or(state, |(_, target)| target);
        }
        let route = Route {
            path: steps.iter().map(|(number, _)| *number).collect(),
            asked,
            is_alone: false,
            watched: 0,
        };
        let trace = visible_events(self.iosts, &steps);
        let evidence = RunEvidence { initial: self.initial.clone(), trace, end: self.states[state].clone() };
        let names: Vec<String> = word.iter().map(|input| self.class_text(&self.classes[*input])).collect();
        (Goal::Sequence(names.join(", ")), MetGoal { route, evidence, is_certain: true })
    }
}

/// Can a class have more than one event?
fn values_are_open(iosts: &Iosts, class: &InputClass) -> bool {
    let parameters = &iosts.action(class.action).parameters;
    let equal = |(datum, value): (&Datum, &Value)| has_value(datum, value);
    let only_these = Term::and(parameters.iter().zip(&class.values).map(equal));
    !parameters.is_empty() && only_these != class.condition
}
