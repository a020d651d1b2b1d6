//! A specification as a finite machine, and the suites of [`coreach_analyses::machines`] as goals.
//!
//! **Problem.** Methods with a guarantee (W, Wp, HSI, H) are for machines that answer an input with an
//! output. A specification has locations, data, several outputs in a row, or none.
//!
//! **Method.** A state of the machine is a state of the specification (location and values) in which it is
//! quiescent. An input is a class of events: an action, and a condition on its parameters. The answer is all
//! that the specification sends until it is quiescent again; by ioco that it is quiescent then is a part of
//! the answer. States are explored by the concrete semantics. Where the parameters of an input do not flow
//! into data, one event stands for all that a transition takes, and its guard is kept as a condition; else
//! each value is an event of its own. All conditions that any state has for an action cut its events into
//! classes: in a class all states treat all events alike. So inputs stay symbolic where they can (Petrenko
//! and Simão, *Checking experiments for finite state machines with symbolic inputs*, 2015): the purpose asks
//! for the class, and the tester draws a value of it.
//!
//! A sequence of a suite is a route: its steps are taken, the classes are asked for, each answer is the only
//! one. So what the test case made of it calls Fail is what the method calls wrong.
//!
//! **Not every specification** is such a machine: it must have no constants without a value, one answer to
//! each event (or none), come to rest behind it, and have no more states and classes than the limits here
//! say. Inputs that come while it is still answering are not looked at.
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
use coreach_pipeline::late_states::{canonical, state_text, values};
use serde::Serialize;

use super::evidence::{Evidence, Route, says};
use super::goals::{Criterion, Goal};
use super::search::MetGoal;

pub const MOST_STATES: usize = 1000;

/// An action has no more classes of events.
pub const MOST_CLASSES: usize = 64;

#[derive(Clone, Debug, Serialize)]
pub struct MachineSummary {
    pub explored: usize,
    /// States of the machine that is reduced: equal ones are one.
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
    /// What it promises, of a suite that was asked for.
    pub guarantee: Option<String>,
}

type Steps = Vec<(TransitionId, Vec<Value>)>;

/// An input transition, conditions on its events, and events.
type TakenInput = (TransitionId, Vec<Term>, Vec<Vec<Value>>);

/// Events that all states treat alike.
struct InputClass {
    action: ActionId,
    condition: Term,
    values: Vec<Value>,
}

pub struct FiniteMachine<'a> {
    iosts: &'a Iosts,
    explored: Mealy,
    reduced: Mealy,
    classes: Vec<InputClass>,
    states: Vec<State>,
    initial: State,
    /// What happens before the first input.
    begin: Steps,
    /// For each state and class the input and the answer.
    steps: Vec<Vec<Steps>>,
}

pub fn machine<'a>(iosts: &'a Iosts, solver: &mut dyn Solver) -> Result<FiniteMachine<'a>, String> {
    budget::doing("exploring a finite machine");
    if let Some(constant) = iosts.constants.first() {
        return Err(format!("the constant `{constant}` has no value: fix it under `instantiate:`"));
    }
    let found =
        initial::states(iosts, &Valuation::new(), 1, solver).map_err(|none| none.text().to_owned())?;
    let initial = found.into_iter().next().map(canonical).ok_or("there is no initial state")?;
    let mut explorer = Explorer { iosts, outgoing: iosts.outgoing(), rests: HashMap::new(), solver };
    let (first, begin) = explorer.run_to_rest(&initial)?;
    let mut states = vec![first.clone()];
    let mut numbers = HashMap::from([(first, 0)]);
    let mut conditions: BTreeMap<ActionId, Vec<Term>> = BTreeMap::new();
    let mut at = 0;
    while at < states.len() {
        budget::ask();
        for (number, condition, events) in explorer.inputs(&states[at])? {
            let known = conditions.entry(iosts.transitions[number].action).or_default();
            known.extend(condition.into_iter().filter(|new| !known.contains(new)).collect::<Vec<_>>());
            for values in events {
                let Some(to) = fire(iosts, &iosts.transitions[number], &states[at], &values) else {
                    continue;
                };
                let (target, _) = explorer.run_to_rest(&canonical(to))?;
                if !numbers.contains_key(&target) {
                    numbers.insert(target.clone(), states.len());
                    states.push(target);
                }
            }
        }
        if states.len() > MOST_STATES {
            return Err(format!("it has more than {MOST_STATES} states"));
        }
        at += 1;
    }
    let mut classes = Vec::new();
    for (action, conditions) in conditions {
        classes.extend(explorer.classes(action, &conditions)?);
    }
    let mut answers: HashMap<Vec<Event>, usize> = HashMap::new();
    let mut explored = Mealy { inputs: classes.len(), next: Vec::new() };
    let mut steps = Vec::new();
    for state in &states {
        let (mut row, mut own) = (Vec::new(), Vec::new());
        for class in &classes {
            let taken = explorer.taken(state, class)?;
            row.push(taken.as_ref().map(|(target, steps)| {
                let next = answers.len();
                (*answers.entry(events(iosts, &steps[1..])).or_insert(next), numbers[target])
            }));
            own.push(taken.map(|(_, steps)| steps).unwrap_or_default());
        }
        explored.next.push(row);
        steps.push(own);
    }
    let reduced = explored.minimal();
    Ok(FiniteMachine { iosts, explored, reduced, classes, states, initial, begin, steps })
}

fn events(iosts: &Iosts, steps: &[(TransitionId, Vec<Value>)]) -> Vec<Event> {
    let action = |number: &TransitionId| iosts.action(iosts.transitions[*number].action);
    let seen = steps.iter().filter(|(number, _)| action(number).is_visible());
    seen.map(|(number, values)| Event::new(action(number).name.clone(), values.clone())).collect()
}

/// Steps of the specification, as they are met.
struct Explorer<'a, 's> {
    iosts: &'a Iosts,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    rests: HashMap<State, (State, Steps)>,
    solver: &'s mut dyn Solver,
}

impl Explorer<'_, '_> {
    fn kind(&self, number: TransitionId) -> ActionKind {
        self.iosts.action(self.iosts.transitions[number].action).kind
    }

    fn undecided(&self, number: TransitionId) -> String {
        format!(
            "the solver does not know when `{}` is taken",
            self.iosts.describe(&self.iosts.transitions[number])
        )
    }

    /// Where the specification is quiescent, and what it has sent until then.
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
            let (mut next, mut quiet) = (Vec::new(), None);
            for &number in &self.outgoing[state.location] {
                let transition = &iosts.transitions[number];
                match self.kind(number) {
                    ActionKind::Input => {}
                    ActionKind::Quiescence => {
                        quiet = fire(iosts, transition, &state, &[]).map(|_| number).or(quiet)
                    }
                    ActionKind::Output | ActionKind::Internal => {
                        let parameters = &iosts.action(transition.action).parameters;
                        let (all, is_all) = values(&enabled(transition, &state), parameters, 2, self.solver);
                        if !is_all && all.len() < 2 {
                            return Err(self.undecided(number));
                        }
                        next.extend(all.into_iter().map(|values| (number, values)));
                    }
                }
            }
            let Some((number, values)) = next.pop() else {
                steps.extend(quiet.map(|number| (number, Vec::new())));
                self.rests.insert(from.clone(), (state.clone(), steps.clone()));
                return Ok((state, steps));
            };
            if !next.is_empty() {
                return Err(format!("it has several answers, or steps, in {}", state_text(iosts, &state)));
            }
            let to = fire(iosts, &iosts.transitions[number], &state, &values);
            state = canonical(to.ok_or_else(|| self.undecided(number))?);
            steps.push((number, values));
        }
    }

    /// The input transitions that can be taken in a state, with conditions on their events and events: each,
    /// where what they carry flows into data, else one for all.
    fn inputs(&mut self, state: &State) -> Result<Vec<TakenInput>, String> {
        let iosts = self.iosts;
        let mut found = Vec::new();
        for &number in &self.outgoing[state.location] {
            if self.kind(number) != ActionKind::Input {
                continue;
            }
            let transition = &iosts.transitions[number];
            let action = iosts.action(transition.action);
            let condition = enabled(transition, state);
            let known = literals(&state.valuation);
            let flows = transition.assignments.values().any(|value| {
                let value = substitute(value, &known);
                action.parameters.iter().any(|parameter| value.mentions(parameter))
            });
            let most = if flows { MOST_CLASSES } else { 1 };
            let (mut all, is_all) = values(&condition, &action.parameters, most, self.solver);
            if all.is_empty() && !is_all {
                return Err(self.undecided(number));
            }
            if flows && (!is_all || all.len() > MOST_CLASSES) {
                let from = state_text(iosts, state);
                let name = &action.name;
                return Err(format!(
                    "what `{name}` carries flows into data, and in {from} it has more than {MOST_CLASSES} values"
                ));
            }
            all.truncate(most);
            let conditions = match (flows, all.is_empty()) {
                (_, true) => continue,
                (false, _) => vec![condition],
                (true, _) => {
                    let is = |values: &Vec<Value>| {
                        Term::and(
                            action.parameters.iter().zip(values).map(|(datum, value)| says(datum, value)),
                        )
                    };
                    all.iter().map(is).collect()
                }
            };
            found.push((number, conditions, all));
        }
        Ok(found)
    }

    /// The events of an action, cut by the conditions; without those that none of them allows.
    fn classes(&mut self, action: ActionId, conditions: &[Term]) -> Result<Vec<InputClass>, String> {
        let name = &self.iosts.action(action).name;
        let mut cells: Vec<(Vec<Term>, bool)> = vec![(Vec::new(), false)];
        for condition in conditions {
            let mut finer = Vec::new();
            for (cell, is_taken) in cells {
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
                    // What holds in all of it need not be said.
                    (inside, _) => finer.push((cell, is_taken || inside.is_some())),
                }
            }
            if finer.len() > MOST_CLASSES + 1 {
                return Err(format!("`{name}` has more than {MOST_CLASSES} classes of events"));
            }
            cells = finer;
        }
        let mut found = Vec::new();
        for (cell, _) in cells.into_iter().filter(|(_, is_taken)| *is_taken) {
            let condition = Term::and(cell);
            let parameters = &self.iosts.action(action).parameters;
            let (mut all, _) = values(&condition, parameters, 1, self.solver);
            if all.is_empty() {
                return Err(format!("no event of `{name}` was found with {condition}"));
            }
            found.push(InputClass { action, condition, values: all.swap_remove(0) });
        }
        Ok(found)
    }

    /// Where an event leads, with the answer to it.
    fn taken(&mut self, state: &State, class: &InputClass) -> Result<Option<(State, Steps)>, String> {
        let mut found: Option<(State, Steps)> = None;
        for number in self.outgoing[state.location].clone() {
            let transition = &self.iosts.transitions[number];
            let Some(to) = Some(transition)
                .filter(|one| one.action == class.action)
                .and_then(|transition| fire(self.iosts, transition, state, &class.values))
            else {
                continue;
            };
            let to = canonical(to);
            let (target, rest) = self.run_to_rest(&to)?;
            let is_other = |(known, steps): &(State, Steps)| {
                *known != target || events(self.iosts, &steps[1..]) != events(self.iosts, &rest)
            };
            if found.as_ref().is_some_and(is_other) {
                let name = &self.iosts.action(class.action).name;
                return Err(format!(
                    "`{name}` is answered in several ways in {}",
                    state_text(self.iosts, state)
                ));
            }
            found.get_or_insert((target, [vec![(number, class.values.clone())], rest].concat()));
        }
        Ok(found)
    }
}

/// When a transition is taken in a state: a condition on its parameters.
fn enabled(transition: &Transition, state: &State) -> Term {
    substitute(&enabling_condition(transition), &literals(&state.valuation))
}

impl FiniteMachine<'_> {
    /// The sequences of a suite as goals, each with the route that meets it.
    pub fn goals(&self, method: Method, extra: usize) -> Result<Vec<(Goal, MetGoal)>, String> {
        let words = suite(&self.reduced, method, extra).map_err(|none| self.why(none))?;
        Ok(words.iter().map(|word| self.goal(word)).collect())
    }

    /// What is told, with the sizes of all suites beside each other.
    pub fn summary(&self, asked: &[Criterion]) -> MachineSummary {
        let of = |criterion: &Criterion| match criterion {
            Criterion::Machine(method, extra) => Some((*method, *extra)),
            _ => None,
        };
        let mut extras: Vec<usize> = asked.iter().filter_map(of).map(|(_, extra)| extra).collect();
        extras.sort_unstable();
        extras.dedup();
        let mut suites = Vec::new();
        for (place, extra) in extras.into_iter().enumerate() {
            // What has no guarantee is the same for any number of states.
            for method in Method::ALL.into_iter().filter(|method| method.is_complete() || place == 0) {
                let extra = if method.is_complete() { extra } else { 0 };
                let criterion = Criterion::Machine(method, extra);
                let made = suite(&self.reduced, method, extra).map_err(|none| self.why(none));
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
            inputs: self.classes.iter().map(|class| self.named(class)).collect(),
            is_complete: self.explored.is_complete(),
            suites,
        }
    }

    fn guarantee(&self, method: Method, extra: usize) -> String {
        if !method.is_complete() {
            return "none: a system that answers it as specified may be wrong".to_owned();
        }
        let states = self.reduced.next.len() + extra;
        let mut text = format!(
            "a system passes all tests only if it conforms, where it is deterministic, has at most {states} state{}, and begins anew with each test",
            if states == 1 { "" } else { "s" }
        );
        if !self.explored.is_complete() {
            text += "; conforming is about inputs that the specification takes";
        }
        if self.classes.iter().any(|class| values_are_open(self.iosts, class)) {
            text += "; it treats the events of a class alike";
        }
        let is_suspended = self.iosts.actions.iter().any(|action| action.kind == ActionKind::Quiescence);
        if !is_suspended {
            text += "; it answers where the specification does, and only there (with `conformance: ioco` that is tested, too)";
        }
        text
    }

    fn why(&self, none: NoSuite) -> String {
        let state = |number: usize| {
            let word = self.reduced.access_words()[number].clone().unwrap_or_default();
            self.explored
                .after(0, &word)
                .map(|at| state_text(self.iosts, &self.states[at]))
                .unwrap_or_default()
        };
        match none {
            NoSuite::NoUnique(number) => format!("{none}: {}", state(number)),
            NoSuite::NoDistinguishing | NoSuite::NoTour | NoSuite::TooMany => none.to_string(),
        }
    }

    fn named(&self, class: &InputClass) -> String {
        let name = &self.iosts.action(class.action).name;
        if class.condition.is_true() { name.clone() } else { format!("{name} [{}]", class.condition) }
    }

    fn goal(&self, word: &Word) -> (Goal, MetGoal) {
        let (mut state, mut steps, mut asked) = (0, self.begin.clone(), BTreeMap::new());
        for &input in word {
            let class = &self.classes[input];
            if !class.condition.is_true() {
                asked.insert(steps.len(), class.condition.clone());
            }
            steps.extend(self.steps[state][input].iter().cloned());
            state = self.explored.next[state][input].map_or(state, |(_, target)| target);
        }
        let route = Route {
            path: steps.iter().map(|(number, _)| *number).collect(),
            asked,
            is_alone: false,
            watched: 0,
        };
        let trace = events(self.iosts, &steps);
        let evidence = Evidence { initial: self.initial.clone(), trace, end: self.states[state].clone() };
        let names: Vec<String> = word.iter().map(|input| self.named(&self.classes[*input])).collect();
        (Goal::Sequence(names.join(", ")), MetGoal { route, evidence, must: true })
    }
}

fn values_are_open(iosts: &Iosts, class: &InputClass) -> bool {
    let parameters = &iosts.action(class.action).parameters;
    let is = |(datum, value): (&Datum, &Value)| says(datum, value);
    let one = Term::and(parameters.iter().zip(&class.values).map(is));
    !parameters.is_empty() && one != class.condition
}
