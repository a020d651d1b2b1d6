//! The reachable states and steps of an instance (Definitions 4.4-4.10, 4.15, 4.18).

use std::collections::HashMap;
use std::hash::Hash;

use coreach_model::iosts::{Iosts, LocationId, Transition};
use coreach_model::term::Term;
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::{Datum, Value};

use super::alphabet::Alphabet;
use super::{EventId, TooLarge};

/// States as numbers.
#[derive(Clone, Default, Debug)]
pub struct Graph {
    /// The initial states.
    pub initial: Vec<u32>,
    /// For each state, its visible steps, without doubles.
    pub visible: Vec<Vec<(EventId, u32)>>,
    /// For each state, its internal steps, without doubles.
    pub internal: Vec<Vec<u32>>,
}

/// The reachable part of a labelled transition system.
#[derive(Clone, Debug)]
pub struct System<S> {
    /// The states, by number.
    pub states: Vec<S>,
    /// The steps.
    pub graph: Graph,
}

/// ⟨l, ϑ⟩
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// l
    pub location: LocationId,
    /// ϑ on the variables, in their order.
    pub variables: Vec<Value>,
}

/// A step's label: an event, or nothing for an internal step.
pub type Label = Option<EventId>;

/// Everything that can be reached from these states.
///
/// # Errors
/// More than `limit` states.
pub fn explore<S: Clone + Eq + Hash>(
    initial: Vec<S>,
    limit: usize,
    mut steps: impl FnMut(&S) -> Vec<(Label, S)>,
) -> Result<System<S>, TooLarge> {
    let mut system = System { states: Vec::new(), graph: Graph::default() };
    let mut index: HashMap<S, u32> = HashMap::new();
    let mut number = |state: S, states: &mut Vec<S>| {
        *index.entry(state).or_insert_with_key(|state| {
            states.push(state.clone());
            states.len() as u32 - 1
        })
    };
    for state in initial {
        let at = number(state, &mut system.states);
        if !system.graph.initial.contains(&at) {
            system.graph.initial.push(at);
        }
    }
    let mut next = 0;
    while next < system.states.len() {
        let (mut visible, mut internal) = (Vec::new(), Vec::new());
        for (label, target) in steps(&system.states[next].clone()) {
            let target = number(target, &mut system.states);
            match label {
                Some(event) => visible.push((event, target)),
                None => internal.push(target),
            }
        }
        if system.states.len() > limit {
            return Err(TooLarge);
        }
        visible.sort_unstable();
        visible.dedup();
        internal.sort_unstable();
        internal.dedup();
        system.graph.visible.push(visible);
        system.graph.internal.push(internal);
        next += 1;
    }
    Ok(system)
}

/// A symbolic system made ready for [`explore`].
pub struct Concrete<'a> {
    iosts: &'a Iosts,
    constants: &'a Valuation,
    alphabet: &'a Alphabet,
    outgoing: Vec<Vec<usize>>,
}

impl<'a> Concrete<'a> {
    /// The instance with these constants.
    pub fn new(iosts: &'a Iosts, constants: &'a Valuation, alphabet: &'a Alphabet) -> Self {
        Concrete { iosts, constants, alphabet, outgoing: iosts.outgoing() }
    }

    /// ϑ: the state's variables and the constants.
    pub fn valuation(&self, state: &State) -> Valuation {
        let mut valuation = self.constants.clone();
        valuation.extend(self.iosts.variables.iter().cloned().zip(state.variables.iter().cloned()));
        valuation
    }

    /// All steps of a state.
    pub fn steps(&self, state: &State) -> Vec<(Label, State)> {
        let mut found = Vec::new();
        let mut valuation = self.valuation(state);
        for &number in &self.outgoing[state.location.0 as usize] {
            let transition = &self.iosts.transitions[number];
            for label in labels(self.iosts, transition, self.alphabet) {
                bind(self.iosts, transition, self.alphabet, label, &mut valuation);
                if let Some(after) = fire(transition, &valuation) {
                    let mut variables = state.variables.clone();
                    for (place, variable) in variables.iter_mut().zip(&self.iosts.variables) {
                        if let Some(value) = after.get(variable) {
                            *place = value.clone();
                        }
                    }
                    found.push((label, State { location: transition.target, variables }));
                }
            }
            for parameter in &self.iosts.action(transition.action).parameters {
                valuation.remove(parameter);
            }
        }
        found
    }

    /// S0.
    pub fn initial(&self) -> Vec<State> {
        let valuations = solutions(&self.iosts.variables, &self.iosts.initial_condition, self.constants);
        let state = |variables| State { location: self.iosts.initial, variables };
        valuations.into_iter().map(state).collect()
    }

    /// The reachable part.
    ///
    /// # Errors
    /// As [`explore`].
    pub fn explore(&self, limit: usize) -> Result<System<State>, TooLarge> {
        explore(self.initial(), limit, |state| self.steps(state))
    }
}

/// The labels with which a transition can be taken.
pub fn labels(iosts: &Iosts, transition: &Transition, alphabet: &Alphabet) -> Vec<Label> {
    let action = iosts.action(transition.action);
    if !action.is_visible() {
        return vec![None];
    }
    alphabet.of_action.get(&action.name).into_iter().flatten().map(|event| Some(*event)).collect()
}

/// Gives the parameters of the transition's action the event's values.
pub fn bind(
    iosts: &Iosts,
    transition: &Transition,
    alphabet: &Alphabet,
    label: Label,
    valuation: &mut Valuation,
) {
    let Some(event) = label else { return };
    let values = alphabet.letters[event as usize].values.iter().cloned();
    valuation.extend(iosts.action(transition.action).parameters.iter().cloned().zip(values));
}

/// What the transition assigns, where it can be taken (Definition 4.7, and domains belong to the guard).
pub fn fire(transition: &Transition, valuation: &Valuation) -> Option<Valuation> {
    if evaluate(&transition.guard, valuation) != Ok(Value::Bool(true)) {
        return None;
    }
    let mut assigned = Valuation::new();
    for (variable, term) in &transition.assignments {
        let value = evaluate(term, valuation).ok()?;
        if !value.is_in(variable.ty()) {
            return None;
        }
        assigned.insert(variable.clone(), value);
    }
    Some(assigned)
}

/// All values of the variables that satisfy the condition together with what is known.
///
/// Variables that the condition does not mention, which an initialized system writes before it reads them, stand at
/// their first value in one solution and at their last in another: neither may make a difference.
pub fn solutions(variables: &[Datum], condition: &Term, known: &Valuation) -> Vec<Vec<Value>> {
    let mentioned = condition.data();
    let free = |datum: &Datum| !mentioned.contains(datum);
    let mut found = Vec::new();
    let extremes: &[bool] = if variables.iter().any(free) { &[false, true] } else { &[false] };
    for &last in extremes {
        let mut choices = Vec::new();
        for variable in variables {
            let mut values =
                Value::enumerate(variable.ty(), 4096).unwrap_or_else(|| vec![Value::any(variable.ty())]);
            if free(variable) {
                values = if last { values.pop().into_iter().collect() } else { values.drain(..1).collect() };
            }
            choices.push(values);
        }
        let mut valuation = known.clone();
        search(variables, &choices, &condition.conjuncts(), &mut valuation, &mut found);
    }
    found
}

/// Gives the variables values one after the other, and turns back where a conjunct that has all its data fails.
fn search(
    variables: &[Datum],
    choices: &[Vec<Value>],
    conjuncts: &[Term],
    valuation: &mut Valuation,
    found: &mut Vec<Vec<Value>>,
) {
    let depth = variables.iter().take_while(|variable| valuation.contains_key(*variable)).count();
    let (ready, open): (Vec<&Term>, Vec<&Term>) =
        conjuncts.iter().partition(|term| term.data().iter().all(|datum| valuation.contains_key(datum)));
    if ready.into_iter().any(|term| evaluate(term, valuation) != Ok(Value::Bool(true))) {
        return;
    }
    if depth == variables.len() {
        if open.is_empty() {
            found.push(variables.iter().filter_map(|variable| valuation.get(variable).cloned()).collect());
        }
        return;
    }
    for value in &choices[depth] {
        valuation.insert(variables[depth].clone(), value.clone());
        search(variables, choices, conjuncts, valuation, found);
    }
    valuation.remove(&variables[depth]);
}

/// All valuations of data of finite types.
///
/// # Errors
/// More than `limit`, or infinitely many.
pub fn valuations(data: &[Datum], limit: usize) -> Result<Vec<Valuation>, TooLarge> {
    let mut found = vec![Valuation::new()];
    for datum in data {
        let values = Value::enumerate(datum.ty(), limit).ok_or(TooLarge)?;
        if found.len() * values.len() > limit {
            return Err(TooLarge);
        }
        let longer = found.iter().flat_map(|valuation| {
            values.iter().map(move |value| {
                let mut longer = valuation.clone();
                longer.insert(datum.clone(), value.clone());
                longer
            })
        });
        found = longer.collect();
    }
    Ok(found)
}

/// The states from which one of the marked states can be reached, these included.
pub fn coreachable(graph: &Graph, marked: &[bool]) -> Vec<bool> {
    let mut into = vec![Vec::new(); marked.len()];
    for source in 0..marked.len() {
        let visible = graph.visible[source].iter().map(|(_, target)| *target);
        for target in visible.chain(graph.internal[source].iter().copied()) {
            into[target as usize].push(source);
        }
    }
    let mut alive = marked.to_vec();
    let mut work: Vec<usize> = (0..marked.len()).filter(|state| marked[*state]).collect();
    while let Some(state) = work.pop() {
        for &source in &into[state] {
            if !std::mem::replace(&mut alive[source], true) {
                work.push(source);
            }
        }
    }
    alive
}
