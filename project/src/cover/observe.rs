//! Extends a route by steps that a purpose watches after its goal.
//!
//! **Problem.** A goal often ends with a stimulus. A purpose that accepts there says Pass before the system
//! has answered. But a wrong target or a wrong assignment shows only in later events. Gaston et al. (2006,
//! Definition 13) ask that a purpose accepts at an output.
//!
//! **Method.** After its goal a route goes on in one of two ways. It takes the *outputs* that follow, or it
//! *distinguishes* faults, with stimuli too. For ioco it also watches all later outputs until the
//! specification may be quiescent: a system that sends too much shows it there. The faults to distinguish are
//! those of the last step: another location as its target, and another value of a variable that it assigns.
//! From the state where the evidence ends, states of the specification are looked at breadth first. A wrong
//! target is shown by an output, or by quiescence, that is impossible from there. A wrong value is shown by
//! an output whose guard depends on it, or that follows such a guard. Dependence is by data flow, since the
//! values of one run prove little. A way that shows all wrong targets is worth `WORTH` events, and so is one
//! that shows all wrong values. A way that shows half of them is worth half. The best way that is found is
//! taken, or none if no way shows a fault.
//!
//! **Nothing is promised** by those steps. Another answer that the specification allows is accepted, since
//! the goal was met before ([`super::purpose`]). An event after which no watched step can follow is accepted
//! too ([`Route::may_go_on`]). A step is promised nevertheless if no other answer can replace it, and if it
//! is possible whatever the data are. So the goals on such steps are covered, too.
//!
//! **Ends** by `MOST_STATES` and `MOST_EVENTS`. **Cost**: for each state, a question for each transition with
//! parameters, once for all goals that end there.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;

use coreach_analyses::solver::{Answer, Solver, Witness};
use coreach_analyses::symbolic::{SymbolicState, System};
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::semantics::{Event, State, fire, internal_closure, step};
use coreach_model::term::{literals, substitute};
use coreach_model::{Datum, Term, TransitionId, Value, budget};

use super::evidence::{Explanations, Route, RunEvidence, run_along};
use super::search::MetGoal;

/// The most states that are looked at for one way.
const MOST_STATES: usize = 150;

const MOST_EVENTS: usize = 6;

/// The number of events that it is worth to show all wrong targets, or all wrong values.
const WORTH: usize = 12;

coreach_model::words! {
    /// What purposes watch after their goals.
    #[derive(Default)]
    pub enum Observe {
        /// Nothing: purposes end at the goal.
        None = "none",
        Outputs = "outputs",
        /// Steps that distinguish the goal's last step from wrong steps.
        #[default]
        Distinguish = "distinguish",
    }
}

impl fmt::Display for Observe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Observe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let other = || format!("`{text}` is not one of {}", Observe::ALL.map(Observe::name).join(", "));
        Observe::named(text).ok_or_else(other)
    }
}

/// Extends routes after their goals, and remembers what it found.
pub struct Observer<'a> {
    system: &'a System<'a>,
    observe: Observe,
    known_steps: HashMap<State, Vec<Onward>>,
    /// The states after an event.
    after: HashMap<(State, Event), BTreeSet<State>>,
    /// Ways by the state where they begin and the variables that were assigned last.
    ways: HashMap<(State, Vec<Datum>), Vec<TransitionId>>,
}

/// A possible step: a transition with values.
#[derive(Clone)]
struct Onward {
    transition: TransitionId,
    /// An internal step has no event.
    event: Option<Event>,
    to: State,
}

/// A place on a way, with the faults that are not shown yet.
struct WatchPlace {
    way: Vec<TransitionId>,
    events: usize,
    state: State,
    /// For each wrong target, the possible states of a system that went there.
    wrong_targets: Vec<BTreeSet<State>>,
    wrong_values: Vec<WrongValue>,
}

/// A variable with a wrong value.
struct WrongValue {
    /// The data that may be wrong because of it.
    data: BTreeSet<Datum>,
    /// Has a guard depended on such data?
    decided: bool,
}

/// May a way send stimuli?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stimuli {
    Sent,
    None,
}

impl<'a> Observer<'a> {
    pub fn new(system: &'a System<'a>, observe: Observe) -> Self {
        Observer { system, observe, known_steps: HashMap::new(), after: HashMap::new(), ways: HashMap::new() }
    }

    /// Extends the route by watched steps, and finds a run along it. The route stays as it was if there are
    /// no such steps, or if no run shows the goals (`shows`).
    pub fn watch_on(
        &mut self,
        found: &MetGoal,
        shows: &dyn Fn(&RunEvidence) -> bool,
        solver: &mut dyn Solver,
    ) -> MetGoal {
        let iosts = self.system.iosts;
        let Some(last) = found.route.path.last() else { return found.clone() };
        let assigned = iosts.transitions[*last].assignments.keys().cloned().collect();
        let mut way = self.find_way(&found.evidence.end, assigned, solver);
        while !way.is_empty() {
            let mut route = found.route.clone();
            route.path.extend(&way);
            route.watched = way.len();
            let evidence = run_along(self.system, &route, &[], solver);
            if let Some(evidence) = evidence.filter(|evidence| shows(&route.promised_by(iosts, evidence))) {
                route.watched -= self.count_certain(&route, solver);
                return MetGoal { route, evidence, is_certain: found.is_certain };
            }
            // With other values, the last answer may be impossible, so it is cut off.
            way.pop();
            while way.last().is_some_and(|last| !self.is_answer(*last)) {
                way.pop();
            }
        }
        found.clone()
    }

    /// Finds the steps from a state to the first answer, if any: an output or quiescence.
    pub fn find_answer(&mut self, from: &State, solver: &mut dyn Solver) -> Option<Vec<TransitionId>> {
        let mut to_visit = VecDeque::from([(from.clone(), Vec::new())]);
        let mut seen = BTreeSet::from([from.clone()]);
        while let Some((state, way)) = to_visit.pop_front() {
            for onward in self.steps_from(&state, solver) {
                let way = [way.as_slice(), &[onward.transition]].concat();
                if self.is_answer(onward.transition) {
                    return Some(way);
                }
                if onward.event.is_none() && seen.insert(onward.to.clone()) {
                    to_visit.push_back((onward.to, way));
                }
            }
        }
        None
    }

    fn kind(&self, number: TransitionId) -> ActionKind {
        self.system.iosts.action(self.system.iosts.transitions[number].action).kind
    }

    fn is_answer(&self, number: TransitionId) -> bool {
        matches!(self.kind(number), ActionKind::Output | ActionKind::Quiescence)
    }

    /// Counts how many steps from the first watched one are certain: nothing can replace them, and they are
    /// possible with all data.
    fn count_certain(&self, route: &Route, solver: &mut dyn Solver) -> usize {
        // If the trace may have another path, other answers may be possible.
        if !Explanations::of(self.system, route, solver).is_only_path(route) {
            return 0;
        }
        let mut state = SymbolicState::initial(self.system.iosts);
        let begin = route.path.len() - route.watched;
        let may_go_on = route.may_go_on(self.system, solver);
        let mut certain = 0;
        for (position, number) in route.path.iter().enumerate() {
            if position >= begin {
                let stops = substitute(&may_go_on[position - begin], &state.data_terms()).not();
                if solver.check(&[state.condition.as_slice(), &[stops]].concat()) != Answer::Unsat {
                    return certain;
                }
                let action = |number: TransitionId| self.system.iosts.transitions[number].action;
                let outgoing = &self.system.outgoing[state.location];
                // Another answer, or another meaning of this event.
                let mut others = outgoing.iter().filter(|other| {
                    let replaces =
                        self.kind(**other) != ActionKind::Input || action(**other) == action(*number);
                    *other != number && replaces
                });
                let is_possible = |other: &TransitionId| {
                    let next = self.system.successor(&state, *other);
                    next.is_some_and(|(_, next)| solver.check(&next.condition) != Answer::Unsat)
                };
                if others.any(is_possible) {
                    return certain;
                }
                // The promised steps end with a visible event.
                if self.kind(*number) != ActionKind::Internal {
                    certain = position + 1 - begin;
                }
            }
            match self.system.successor(&state, *number) {
                Some((_, next)) => state = next,
                None => return certain,
            }
        }
        certain
    }

    /// Finds the steps to watch from a state: the best way, and for ioco then the outputs up to silence.
    /// `assigned` are the variables that the last step before them assigns.
    fn find_way(&mut self, from: &State, assigned: Vec<Datum>, solver: &mut dyn Solver) -> Vec<TransitionId> {
        if self.observe == Observe::None {
            return Vec::new();
        }
        let key = (from.clone(), assigned);
        if let Some(known) = self.ways.get(&key) {
            return known.clone();
        }
        let (_, assigned) = &key;
        let (mut way, mut end) = match self.observe {
            Observe::Distinguish => self.find_best_way(from, assigned, Stimuli::Sent, solver),
            _ => (Vec::new(), from.clone()),
        };
        if way.is_empty() {
            (way, end) = self.find_best_way(from, assigned, Stimuli::None, solver);
        }
        if self.system.iosts.actions.iter().any(|action| action.kind == ActionKind::Quiescence) {
            let (more_outputs, quiet_state) = self.find_best_way(&end, &[], Stimuli::None, solver);
            way.extend(more_outputs);
            let answer = self.find_answer(&quiet_state, solver).unwrap_or_default();
            let is_quiet = |way: &[TransitionId]| {
                way.last().is_some_and(|last| self.kind(*last) == ActionKind::Quiescence)
            };
            if is_quiet(&answer) && !is_quiet(&way) {
                way.extend(answer);
            }
        }
        self.ways.insert(key, way.clone());
        way
    }

    /// Finds the way that is worth the most, and the state at its end. Without stimuli, the way with the most
    /// events is worth the most, whatever it shows.
    fn find_best_way(
        &mut self,
        from: &State,
        assigned: &[Datum],
        stimuli: Stimuli,
        solver: &mut dyn Solver,
    ) -> (Vec<TransitionId>, State) {
        let sends = stimuli == Stimuli::Sent;
        let iosts = self.system.iosts;
        let targets = iosts.locations.numbers().filter(|location| *location != from.location);
        // At most 64 wrong targets are looked at, spread over all locations.
        let targets = targets.step_by(iosts.locations.len().div_ceil(64).max(1));
        let state_at = |location| State { location, valuation: from.valuation.clone() };
        let wrong_targets =
            targets.map(|location| internal_closure(iosts, BTreeSet::from([state_at(location)])));
        let wrong_value =
            |datum: &Datum| WrongValue { data: BTreeSet::from([datum.clone()]), decided: false };
        let start = WatchPlace {
            way: Vec::new(),
            events: 0,
            state: from.clone(),
            wrong_targets: wrong_targets.collect(),
            wrong_values: assigned.iter().map(wrong_value).collect(),
        };
        let (all_targets, all_values) = (start.wrong_targets.len(), start.wrong_values.len());
        let worth = |place: &WatchPlace| {
            let share = |remaining: usize, total: usize| {
                (WORTH * (total - remaining)).checked_div(total).unwrap_or(0)
            };
            let shown =
                share(place.wrong_targets.len(), all_targets) + share(place.wrong_values.len(), all_values);
            if sends { shown.saturating_sub(place.events) } else { place.events }
        };
        let (mut best_worth, mut best_way, mut best_end) = (0, Vec::new(), from.clone());
        let mut places = VecDeque::from([start]);
        let mut places_seen = 0;
        while let Some(place) = places.pop_front() {
            places_seen += 1;
            budget::ask();
            if places_seen > MOST_STATES {
                break;
            }
            for onward in self.steps_from(&place.state, solver) {
                let kind = self.kind(onward.transition);
                let is_repeated = !sends && place.way.contains(&onward.transition);
                let is_asked = sends || !matches!(kind, ActionKind::Input | ActionKind::Quiescence);
                // A second silence in a row shows nothing.
                let is_repeated_silence =
                    kind == ActionKind::Quiescence && place.way.last() == Some(&onward.transition);
                if !is_asked || is_repeated || is_repeated_silence {
                    continue;
                }
                let next = self.extend_way(&place, onward, kind);
                if self.is_answer(next.way[next.way.len() - 1]) && worth(&next) > best_worth {
                    (best_worth, best_way, best_end) = (worth(&next), next.way.clone(), next.state.clone());
                }
                if next.events < MOST_EVENTS {
                    places.push_back(next);
                }
            }
        }
        (best_way, best_end)
    }

    /// Extends the way of a place by one step.
    fn extend_way(&mut self, place: &WatchPlace, onward: Onward, kind: ActionKind) -> WatchPlace {
        let iosts = self.system.iosts;
        let mut way = place.way.clone();
        way.push(onward.transition);
        let wrong_targets = match &onward.event {
            None => place.wrong_targets.clone(),
            Some(event) => {
                let is_input = kind == ActionKind::Input;
                let mut follow_event = |state: &State| {
                    let key = (state.clone(), event.clone());
                    let compute = || states_after(iosts, &BTreeSet::from([state.clone()]), event, is_input);
                    self.after.entry(key).or_insert_with(compute).clone()
                };
                let after = place
                    .wrong_targets
                    .iter()
                    .map(|states| states.iter().flat_map(&mut follow_event).collect());
                after.filter(|states: &BTreeSet<State>| !states.is_empty()).collect()
            }
        };
        let transition = &iosts.transitions[onward.transition];
        let wrong_values =
            place.wrong_values.iter().filter_map(|value| value.after(transition, kind)).collect();
        let events = place.events + usize::from(onward.event.is_some());
        WatchPlace { way, events, state: onward.to, wrong_targets, wrong_values }
    }

    /// Lists the possible steps from a state: each transition with one choice of values.
    fn steps_from(&mut self, state: &State, solver: &mut dyn Solver) -> Vec<Onward> {
        if let Some(known) = self.known_steps.get(state) {
            return known.clone();
        }
        let iosts = self.system.iosts;
        let data = literals(&state.valuation);
        let mut steps = Vec::new();
        for &number in &self.system.outgoing[state.location] {
            let transition = &iosts.transitions[number];
            let action = iosts.action(transition.action);
            let values: Vec<Value> = if action.parameters.is_empty() {
                Vec::new()
            } else {
                let condition = substitute(self.system.enabled(number), &data);
                let Witness::Found(witness) = solver.witness(&condition.conjuncts()) else { continue };
                let value =
                    |datum: &Datum| witness.get(datum).cloned().unwrap_or_else(|| Value::any(datum.ty()));
                action.parameters.iter().map(value).collect()
            };
            let Some(to) = fire(iosts, transition, state, &values) else { continue };
            let event = action.is_visible().then(|| Event::new(action.name.clone(), values));
            steps.push(Onward { transition: number, event, to });
        }
        self.known_steps.insert(state.clone(), steps.clone());
        steps
    }
}

/// Returns the states after an event and internal steps. With `ignores`, a state that cannot take it stays.
pub fn states_after(iosts: &Iosts, from: &BTreeSet<State>, event: &Event, ignores: bool) -> BTreeSet<State> {
    let takes = |state: &State| !step(iosts, state, event).is_empty();
    let after = |state: &State| {
        let is_ignored = ignores
            && !takes(state)
            && !internal_closure(iosts, BTreeSet::from([state.clone()])).iter().any(takes);
        if is_ignored { BTreeSet::from([state.clone()]) } else { step(iosts, state, event) }
    };
    internal_closure(iosts, from.iter().flat_map(after).collect())
}

impl WrongValue {
    /// Follows the value through a transition. `None`, if the step has shown it.
    fn after(&self, transition: &Transition, kind: ActionKind) -> Option<Self> {
        let depends = |term: &Term| term.data().iter().any(|datum| self.data.contains(datum));
        let decided = self.decided || depends(&transition.guard);
        if decided && kind == ActionKind::Output {
            return None;
        }
        let kept = self.data.iter().filter(|datum| !transition.assignments.contains_key(datum)).cloned();
        let new = transition.assignments.iter().filter(|(_, value)| depends(value));
        let data = kept.chain(new.map(|(datum, _)| datum.clone())).collect();
        Some(WrongValue { data, decided })
    }
}
