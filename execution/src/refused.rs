//! Inputs that a specification takes in some of the states that are possible, and refuses in others.
//!
//! **Problem.** After a trace several states may be possible. An input that one of them takes may be sent,
//! and by ioc only what follows there is allowed (Definition 6.2). An implementation that is in another one
//! has no word on what to do; if it ignores the input, it may fail, the specification itself included. That
//! is right by the theory, and rarely what the author meant.
//!
//! **Method.** A walk over sets of possible states ([`Monitor`](crate::monitor::Monitor) follows one),
//! breadth first, with values that are chosen as a tester chooses them; in each set of several, each input of
//! one state is held against each other state, with what internal steps reach from there: values with which
//! the guard of the one holds and all guards of the other do not. What is found is evaluated: both states are
//! possible after the trace that is told, and one of them takes what the other refuses.
//!
//! **Incomplete**: nothing found is no proof, for the walk is bounded, and models of many data are not
//! walked. **Ends** after [`WORK`] steps.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use coreach_analyses::solver::Solver;
use coreach_model::excerpt::shortened;
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, fire};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{ActionId, Datum, Diagnostic, LocationId, Numbered, Term, TransitionId, Value};

use crate::initial;
use crate::values::{MIX, Values, at_state};

/// The most successors that are computed for one choice of the constants.
pub const WORK: usize = 5_000;

/// What a choice of values costs, in successors.
const CHOICE: usize = 10;

/// The most data of a state with a message: values for more are not drawn by the thousand.
const MOST_DATA: usize = 100;

/// The most warnings: the cause of many is one.
const MOST_TOLD: usize = 5;

/// The most states of a set that is looked at.
const MOST_STATES: usize = 64;

/// The most sets of states in the same locations: they differ in data only.
const MOST_ALIKE: usize = 6;

/// How many values are tried for each transition.
const TRIES: usize = 2;

/// How many choices of the constants are tried.
const CONSTANTS: u64 = 2;

/// A warning for each location that refuses an input which another possible state takes; none says that none
/// was found.
pub fn refused(iosts: &Iosts, solver: &mut dyn Solver) -> Vec<Diagnostic> {
    let mut told = BTreeMap::new();
    let data: Vec<Datum> = iosts.constants.iter().chain(&iosts.variables).cloned().collect();
    let widest = iosts.actions.iter().map(|action| action.parameters.len()).max().unwrap_or(0);
    if data.len() + widest > MOST_DATA {
        return Vec::new();
    }
    for seed in 0..if iosts.constants.is_empty() { 1 } else { CONSTANTS } {
        let mut random = Random::new(seed);
        let known = Valuation::new();
        let condition = &iosts.initial_condition;
        let chosen = Values::new(MIX).choose(None, condition, &data, &known, &mut random, solver);
        let Some(chosen) = chosen else { break };
        let constants = data.iter().cloned().zip(chosen).take(iosts.constants.len()).collect();
        let Ok(initial) = initial::states(iosts, &constants, MOST_STATES, solver) else { continue };
        if initial.len() == 1 && is_plainly_deterministic(iosts) {
            break;
        }
        let outgoing = iosts.outgoing();
        let values = Values::new(MIX);
        Walk { iosts, outgoing, random, values, solver, left: WORK, sets: Vec::new(), told: &mut told }
            .walk(initial.into_iter().collect());
    }
    told.into_values().collect()
}

/// No trace leads to two states, for there is one transition at most of each action in each location, and no
/// internal one.
fn is_plainly_deterministic(iosts: &Iosts) -> bool {
    let mut seen = BTreeSet::new();
    iosts.transitions.iter().all(|transition| {
        iosts.action(transition.action).kind != ActionKind::Internal
            && seen.insert((transition.source, transition.action))
    })
}

struct Walk<'a> {
    iosts: &'a Iosts,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    random: Random,
    values: Values,
    solver: &'a mut dyn Solver,
    left: usize,
    /// For each set that was reached the number of the one before it, and the event between them.
    sets: Vec<Option<(usize, Event)>>,
    told: &'a mut BTreeMap<(LocationId, ActionId), Diagnostic>,
}

impl Walk<'_> {
    fn walk(&mut self, initial: BTreeSet<State>) {
        let mut alike: BTreeMap<BTreeSet<LocationId>, usize> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut next = VecDeque::from([(initial, None)]);
        while let Some((states, from)) = next.pop_front() {
            let Some(states) = self.closed(states) else { continue };
            let count = alike.entry(states.iter().map(|state| state.location).collect()).or_default();
            if *count == MOST_ALIKE || !seen.insert(states.clone()) {
                continue;
            }
            *count += 1;
            self.sets.push(from);
            let here = self.sets.len() - 1;
            self.compare(&states, here);
            for event in self.events(&states) {
                next.push_back((self.after(&states, &event), Some((here, event))));
            }
            if self.left == 0 || self.told.len() >= MOST_TOLD {
                return;
            }
        }
    }

    /// With what internal steps reach; nothing where that is too much.
    fn closed(&mut self, states: BTreeSet<State>) -> Option<BTreeSet<State>> {
        let mut work: Vec<State> = states.iter().cloned().collect();
        let mut closed = states;
        while let Some(state) = work.pop() {
            for number in self.of(&state, ActionKind::Internal) {
                if let Some(to) = self.fire(number, &state, &[])
                    && closed.insert(to.clone())
                {
                    work.push(to);
                }
            }
            if closed.len() > MOST_STATES || self.left == 0 {
                return None;
            }
        }
        Some(closed)
    }

    /// The transitions of this kind in the state's location.
    fn of(&self, state: &State, kind: ActionKind) -> Vec<TransitionId> {
        let is_of =
            |number: &&TransitionId| self.iosts.action(self.iosts.transitions[**number].action).kind == kind;
        self.outgoing[state.location].iter().filter(is_of).copied().collect()
    }

    fn fire(&mut self, number: TransitionId, state: &State, values: &[Value]) -> Option<State> {
        self.left = self.left.saturating_sub(1);
        fire(self.iosts, &self.iosts.transitions[number], state, values)
    }

    fn after(&mut self, states: &BTreeSet<State>, event: &Event) -> BTreeSet<State> {
        let Some(action) = self.iosts.find_action(&event.action) else { return BTreeSet::new() };
        let mut to = BTreeSet::new();
        for state in states {
            for number in self.outgoing[state.location].clone() {
                if self.iosts.transitions[number].action == action {
                    to.extend(self.fire(number, state, &event.values));
                }
            }
        }
        to
    }

    /// Some events that may follow.
    fn events(&mut self, states: &BTreeSet<State>) -> BTreeSet<Event> {
        let mut events = BTreeSet::new();
        for state in states {
            let visible = [ActionKind::Input, ActionKind::Output].map(|kind| self.of(state, kind)).concat();
            for number in visible {
                let transition = &self.iosts.transitions[number];
                let action = self.iosts.action(transition.action);
                for _ in 0..if action.parameters.is_empty() { 1 } else { TRIES } {
                    let condition = at_state(&transition.guard, &action.parameters, &state.valuation);
                    let chosen = self.choose(number, &condition, &action.parameters);
                    events.extend(chosen.map(|values| Event::new(action.name.clone(), values)));
                }
            }
        }
        events
    }

    /// Values with which the condition holds, of the parameters of this transition.
    fn choose(&mut self, number: TransitionId, condition: &Term, parameters: &[Datum]) -> Option<Vec<Value>> {
        self.left = self.left.checked_sub(CHOICE)?;
        let nothing = Valuation::new();
        self.values.choose(Some(number), condition, parameters, &nothing, &mut self.random, self.solver)
    }

    /// Holds each input of each state against each other one.
    fn compare(&mut self, states: &BTreeSet<State>, here: usize) {
        for refuses in states {
            let Some(behind) = self.closed(BTreeSet::from([refuses.clone()])) else { return };
            for takes in states.iter().filter(|state| *state != refuses) {
                for number in self.of(takes, ActionKind::Input) {
                    let key = (refuses.location, self.iosts.transitions[number].action);
                    if self.told.contains_key(&key) {
                        continue;
                    }
                    if let Some(event) = self.difference(number, takes, &behind) {
                        let warning = self.warning(number, takes, refuses, &event, here);
                        self.told.insert(key, warning);
                        if self.told.len() >= MOST_TOLD {
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Values of an input that this transition takes, and none of these states.
    fn difference(&mut self, number: TransitionId, takes: &State, refuse: &BTreeSet<State>) -> Option<Event> {
        let transition = &self.iosts.transitions[number];
        let action = self.iosts.action(transition.action);
        let mut others = Vec::new();
        for state in refuse {
            for other in &self.outgoing[state.location] {
                if self.iosts.transitions[*other].action == transition.action {
                    others.push((*other, state));
                }
            }
        }
        let at = |number: TransitionId, state: &State| {
            at_state(&self.iosts.transitions[number].guard, &action.parameters, &state.valuation)
        };
        let refused = others.iter().map(|(other, state)| at(*other, state).not());
        let condition = Term::and(refused.chain([at(number, takes)]));
        if condition.is_false() {
            return None;
        }
        let values = self.choose(number, &condition, &action.parameters)?;
        self.fire(number, takes, &values)?;
        let is_refused = others.iter().all(|(other, state)| self.fire(*other, state, &values).is_none());
        is_refused.then(|| Event::new(action.name.clone(), values))
    }

    fn warning(
        &self,
        number: TransitionId,
        takes: &State,
        refuses: &State,
        event: &Event,
        here: usize,
    ) -> Diagnostic {
        let (taken, refused) = (self.shown(takes, refuses), self.shown(refuses, takes));
        let message = format!(
            "`{refused}` refuses the input {event}, which `{taken}` takes: both are possible after {}",
            self.trace(here)
        );
        let origin = self.iosts.transitions[number].origin.whole.clone();
        let mut warning = Diagnostic::warning("input-refused-by-some", message).at(origin, "taken here");
        let constants = self.iosts.constants.iter();
        let constants: Vec<String> = constants
            .filter_map(|datum| Some(format!("{datum} = {}", takes.valuation.get(datum)?)))
            .collect();
        if !constants.is_empty() {
            warning = warning.note(shortened(&format!("with {}", constants.join(", "))));
        }
        let place = &self.iosts.location(refuses.location).name;
        warning
            .note("by ioc the input may be sent, and only what follows where it is taken is allowed then")
            .note("who ignores it in the other state may fail, the specification itself included")
            .help(format!("say what `{}` does in `{place}`", event.action))
    }

    /// `Idle`, `Idle with x = 1`: the location, and the data that differ from those of the other state.
    fn shown(&self, state: &State, other: &State) -> String {
        let name = &self.iosts.location(state.location).name;
        let differ =
            state.valuation.iter().filter(|(datum, value)| other.valuation.get(*datum) != Some(*value));
        let data: Vec<String> = differ.map(|(datum, value)| format!("{datum} = {value}")).collect();
        match data.is_empty() {
            true => name.clone(),
            false => shortened(&format!("{name} with {}", data.join(", "))),
        }
    }

    fn trace(&self, here: usize) -> String {
        let mut events = Vec::new();
        let mut at = here;
        while let Some((before, event)) = &self.sets[at] {
            events.push(event.to_string());
            at = *before;
        }
        events.reverse();
        match events.is_empty() {
            true => "the empty trace".to_owned(),
            false => events.join(", "),
        }
    }
}
