//! The reachable states and steps of an instance (Definitions 4.4-4.10, 4.15, 4.18).

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use super::alphabet::Alphabet;
use super::expression::Expression;
use super::machine::{Constants, Datum, Machine, Step, assigned};
use super::value::{Number, Type, Value};
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
    pub location: u32,
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

/// An instance made ready for [`explore`].
pub struct Concrete<'a> {
    machine: &'a Machine,
    constants: &'a Constants,
    alphabet: &'a Alphabet,
}

impl<'a> Concrete<'a> {
    /// The instance with these constants.
    pub fn new(machine: &'a Machine, constants: &'a Constants, alphabet: &'a Alphabet) -> Self {
        Concrete { machine, constants, alphabet }
    }

    /// ϑ: the constants and the state's variables, with room for parameters.
    pub fn places(&self, state: &State) -> Vec<Value> {
        self.machine.places(self.constants, &state.variables)
    }

    /// All steps of a state.
    pub fn steps(&self, state: &State) -> Vec<(Label, State)> {
        let mut found = Vec::new();
        let mut places = self.places(state);
        for step in self.machine.steps.iter().filter(|step| step.source == state.location) {
            for label in labels(self.machine, step, self.alphabet) {
                bind(self.machine, self.alphabet, label, &mut places);
                if let Some(changes) = step.fire(self.machine, &places) {
                    let variables = assigned(&state.variables, changes);
                    found.push((label, State { location: step.target, variables }));
                }
            }
        }
        found
    }

    /// S0.
    pub fn initial(&self) -> Vec<State> {
        let state = |variables| State { location: self.machine.initial, variables };
        solutions(self.machine, self.constants).into_iter().map(state).collect()
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
pub fn labels(machine: &Machine, step: &Step, alphabet: &Alphabet) -> Vec<Label> {
    let action = &machine.actions[step.action];
    if action.direction == super::machine::Direction::Internal {
        return vec![None];
    }
    alphabet.of_action.get(&action.name).into_iter().flatten().map(|event| Some(*event)).collect()
}

/// Gives the parameters the event's values.
pub fn bind(machine: &Machine, alphabet: &Alphabet, label: Label, places: &mut [Value]) {
    let Some(event) = label else { return };
    let first = machine.first_parameter();
    for (place, value) in places[first..].iter_mut().zip(&alphabet.letters[event as usize].values) {
        *place = value.clone();
    }
}

/// All values of the variables that satisfy the initial condition with these constants.
///
/// Variables that the condition does not mention, which an initialized system writes before it reads them,
/// stand at their first value in one solution and at their last in another: neither may make a difference.
pub fn solutions(machine: &Machine, constants: &Constants) -> Vec<Vec<Value>> {
    let first = machine.constants.len();
    let mut mentioned = BTreeSet::new();
    machine.condition.mentions(&mut mentioned);
    let free = |at: usize| !mentioned.contains(&(first + at));
    let conjuncts: Vec<(&Expression, usize)> = machine
        .condition
        .conjuncts()
        .into_iter()
        .map(|part| {
            let mut mentioned = BTreeSet::new();
            part.mentions(&mut mentioned);
            (part, mentioned.last().map_or(0, |last| (last + 1).saturating_sub(first)))
        })
        .collect();
    let mut found = Vec::new();
    let extremes: &[bool] = if (0..machine.variables.len()).any(free) { &[false, true] } else { &[false] };
    for &last in extremes {
        let mut choices = Vec::new();
        for (at, variable) in machine.variables.iter().enumerate() {
            let mut values = variable.ty.values(4096).unwrap_or_else(|| vec![any(&variable.ty)]);
            if free(at) {
                values = if last { values.pop().into_iter().collect() } else { values.drain(..1).collect() };
            }
            choices.push(values);
        }
        let nothing: Vec<Value> = choices.iter().map(|values| values[0].clone()).collect();
        let mut places = machine.places(constants, &nothing);
        search(machine, &choices, &conjuncts, 0, &mut places, &mut found);
    }
    found
}

/// Some value of a type that has too many.
fn any(ty: &Type) -> Value {
    match ty {
        Type::Range(low, _) => Value::integer(*low),
        Type::Int | Type::Nat | Type::Real => Value::Number(Number::integer(0)),
        other => panic!("{other:?} has too many values for the oracle"),
    }
}

/// Gives the variables values one after the other, and turns back where a conjunct that has all its data
/// fails: a conjunction holds only where each part has a value and is true.
fn search(
    machine: &Machine,
    choices: &[Vec<Value>],
    conjuncts: &[(&Expression, usize)],
    depth: usize,
    places: &mut Vec<Value>,
    found: &mut Vec<Vec<Value>>,
) {
    let mut ready = conjuncts.iter().filter(|(_, needs)| *needs == depth);
    if ready.any(|(part, _)| part.truth(places) != Ok(true)) {
        return;
    }
    let first = machine.constants.len();
    if depth == choices.len() {
        found.push(places[first..first + depth].to_vec());
        return;
    }
    for value in &choices[depth] {
        places[first + depth] = value.clone();
        search(machine, choices, conjuncts, depth + 1, places, found);
    }
}

/// All valuations of data of finite types.
///
/// # Errors
/// More than `limit`, or infinitely many.
pub fn valuations(data: &[Datum], limit: usize) -> Result<Vec<Constants>, TooLarge> {
    let lists: Option<Vec<_>> = data.iter().map(|datum| datum.ty.values(limit)).collect();
    let tuples = super::value::tuples(lists.ok_or(TooLarge)?, limit).ok_or(TooLarge)?;
    let named = |tuple: Vec<Value>| data.iter().map(|datum| datum.name.clone()).zip(tuple).collect();
    Ok(tuples.into_iter().map(named).collect())
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
