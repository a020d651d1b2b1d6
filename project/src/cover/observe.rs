//! What a purpose watches behind its goal.
//!
//! **Problem.** A goal often ends with a stimulus. A purpose that accepts there says Pass before the system
//! has answered, and a wrong target or a wrong assignment shows only in what follows. Gaston et al. (2006,
//! Definition 13) ask that a purpose accepts at an output.
//!
//! **Method.** Behind its goal a route goes on: by *outputs*, as many as follow; or so that it
//! *distinguishes*, with stimuli too. By ioco what follows behind these is watched as well, up to where the
//! specification may be quiescent: a system that goes on where it must not, or otherwise, shows there. What
//! is to be distinguished are the faults of the last step: other locations as its target, and each
//! variable that it assigns with another value. From the state where the evidence ends, states of the
//! specification are looked at breadth first. A wrong target is shown by an output, or by quiescence, that is
//! impossible from there, where a system ignores the stimuli that it does not take; a wrong value by an
//! output whose guard depends on it, or that follows a guard which does (by data flow: the values of this one
//! run say little). Each share shown is worth `WORTH` events.
//!
//! **Nothing is promised** of those steps: an answer that the specification allows, and that is not the one
//! looked for, is accepted, since the goal was met before ([`super::purpose`]). So is an event behind which
//! nothing of what is watched can follow ([`Route::may_go_on`]). Steps that no other answer can replace, and
//! that are possible whatever the data are, are taken out of that, so that what lies on them is covered, too.
//!
//! **Where we differ** from distinguishing sequences of automata: a sequence need not exist, for data decide
//! what can follow; so the best of what is found is taken, and nothing where nothing shows.
//!
//! **Ends** by `MOST_STATES` and `MOST_EVENTS`. **Cost**: for each state, a question for each transition
//! with parameters, once for all goals that end there.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;

use coreach_analyses::solver::{Answer, Solver, Witness};
use coreach_analyses::symbolic::{SymbolicState, System};
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::semantics::{Event, State, fire, internal_closure, step};
use coreach_model::term::{literals, substitute};
use coreach_model::{Datum, Term, TransitionId, Value, budget};

use super::evidence::{Evidence, Explanations, Route, run_along};
use super::search::MetGoal;

/// So many states are looked at for a way on.
const MOST_STATES: usize = 150;

const MOST_EVENTS: usize = 6;

/// To show all wrong targets, or all wrong values, is worth so many events.
const WORTH: usize = 12;

coreach_model::words! {
    /// What purposes watch behind their goals.
    #[derive(Default)]
    pub enum Observe {
        /// Nothing: they end at the goal.
        None = "none",
        Outputs = "outputs",
        /// What distinguishes the goal's step from wrong ones.
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
        let other = || format!("`{text}` is none of {}", Observe::ALL.map(Observe::name).join(", "));
        Observe::named(text).ok_or_else(other)
    }
}

/// Goes on behind goals.
pub struct Observer<'a> {
    system: &'a System<'a>,
    observe: Observe,
    leaving: HashMap<State, Vec<Onward>>,
    behind: HashMap<(State, Event), BTreeSet<State>>,
    /// Ways on by the state where they begin and the variables that were assigned last.
    ways: HashMap<(State, Vec<Datum>), Vec<TransitionId>>,
}

/// A transition with values with which it can be taken.
#[derive(Clone)]
struct Onward {
    transition: TransitionId,
    /// None of internal steps.
    event: Option<Event>,
    to: State,
}

/// A place on the way, with what is not shown yet.
struct WatchPlace {
    way: Vec<TransitionId>,
    events: usize,
    state: State,
    /// For each wrong target the states of who went there.
    wrong: Vec<BTreeSet<State>>,
    values: Vec<WrongValue>,
}

/// A variable with a wrong value: the data that may be wrong for it, and whether a guard has depended on one.
#[derive(Clone)]
struct WrongValue {
    data: BTreeSet<Datum>,
    decided: bool,
}

impl<'a> Observer<'a> {
    pub fn new(system: &'a System<'a>, observe: Observe) -> Self {
        Observer { system, observe, leaving: HashMap::new(), behind: HashMap::new(), ways: HashMap::new() }
    }

    /// The route with what is watched behind it, and a run along that; as it was where there is nothing, or
    /// no run shows what it must.
    pub fn observed(
        &mut self,
        found: &MetGoal,
        shows: &dyn Fn(&Evidence) -> bool,
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
                route.watched -= self.certain(&route, solver);
                return MetGoal { route, evidence, must: found.must };
            }
            // For other values the last answer is another one.
            way.pop();
            while way.last().is_some_and(|last| !self.is_answer(*last)) {
                way.pop();
            }
        }
        found.clone()
    }

    /// The first answer from a state: internal steps, and what is sent behind them. By ioco it may be
    /// quiescence.
    pub fn answer(&mut self, from: &State, solver: &mut dyn Solver) -> Option<Vec<TransitionId>> {
        let mut open = VecDeque::from([(from.clone(), Vec::new())]);
        let mut seen = BTreeSet::from([from.clone()]);
        while let Some((state, way)) = open.pop_front() {
            for onward in self.steps_from(&state, solver) {
                let way = [way.as_slice(), &[onward.transition]].concat();
                if self.is_answer(onward.transition) {
                    return Some(way);
                }
                if onward.event.is_none() && seen.insert(onward.to.clone()) {
                    open.push_back((onward.to, way));
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

    /// How many of the steps that are watched no answer can replace, and are possible whatever the data are.
    fn certain(&self, route: &Route, solver: &mut dyn Solver) -> usize {
        // What is possible behind another explanation is answered there.
        if !Explanations::of(self.system, route, solver).is_one(route) {
            return 0;
        }
        let mut state = SymbolicState::initial(self.system.iosts);
        let begin = route.path.len() - route.watched;
        let may_go_on = route.may_go_on(self.system, solver);
        let mut certain = 0;
        for (place, number) in route.path.iter().enumerate() {
            if place >= begin {
                let stops = substitute(&may_go_on[place - begin], &state.standing(&state.known)).not();
                if solver.check(&[state.condition.as_slice(), &[stops]].concat()) != Answer::Unsat {
                    return certain;
                }
                let action = |number: TransitionId| self.system.iosts.transitions[number].action;
                let others = &self.system.outgoing[state.location];
                // Another answer, or another meaning of this event.
                let mut others = others.iter().filter(|other| {
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
                // What is promised ends with something that is seen.
                if self.kind(*number) != ActionKind::Internal {
                    certain = place + 1 - begin;
                }
            }
            match self.system.successor(&state, *number) {
                Some((_, next)) => state = next,
                None => return certain,
            }
        }
        certain
    }

    /// Finds the steps to watch from a state: those that tell most, then silence where it is an action.
    fn find_way(&mut self, from: &State, assigned: Vec<Datum>, solver: &mut dyn Solver) -> Vec<TransitionId> {
        if self.observe == Observe::None {
            return Vec::new();
        }
        let key = (from.clone(), assigned);
        if let Some(known) = self.ways.get(&key) {
            return known.clone();
        }
        let (mut way, mut end) = match self.observe {
            Observe::Distinguish => self.find_best_way(from, &key.1, true, solver),
            _ => (Vec::new(), from.clone()),
        };
        if way.is_empty() {
            (way, end) = self.find_best_way(from, &key.1, false, solver);
        }
        if self.system.iosts.actions.iter().any(|action| action.kind == ActionKind::Quiescence) {
            let (more, rest) = self.find_best_way(&end, &[], false, solver);
            way.extend(more);
            let quiet = self.answer(&rest, solver).unwrap_or_default();
            let is_quiet = |way: &[TransitionId]| {
                way.last().is_some_and(|last| self.kind(*last) == ActionKind::Quiescence)
            };
            if is_quiet(&quiet) && !is_quiet(&way) {
                way.extend(quiet);
            }
        }
        self.ways.insert(key, way.clone());
        way
    }

    /// The way that is worth the most, and where it ends. Without stimuli it is the one with the most
    /// outputs.
    fn find_best_way(
        &mut self,
        from: &State,
        assigned: &[Datum],
        sends: bool,
        solver: &mut dyn Solver,
    ) -> (Vec<TransitionId>, State) {
        let iosts = self.system.iosts;
        let others = iosts.locations.numbers().filter(|location| *location != from.location);
        // At most 64 wrong targets are looked at, spread over all locations.
        let others = others.step_by(iosts.locations.len().div_ceil(64).max(1));
        let wrong = |location| State { location, valuation: from.valuation.clone() };
        let wrong = others.map(|location| internal_closure(iosts, BTreeSet::from([wrong(location)])));
        let value = |datum: &Datum| WrongValue { data: BTreeSet::from([datum.clone()]), decided: false };
        let start = WatchPlace {
            way: Vec::new(),
            events: 0,
            state: from.clone(),
            wrong: wrong.collect(),
            values: assigned.iter().map(value).collect(),
        };
        let all = (start.wrong.len(), start.values.len());
        let worth = |place: &WatchPlace| {
            let share = |left: usize, all: usize| (WORTH * (all - left)).checked_div(all).unwrap_or(0);
            let shown = share(place.wrong.len(), all.0) + share(place.values.len(), all.1);
            if sends { shown.saturating_sub(place.events) } else { place.events }
        };
        let mut best = (0, Vec::new(), from.clone());
        let mut open = VecDeque::from([start]);
        let mut looked = 0;
        while let Some(place) = open.pop_front() {
            looked += 1;
            budget::ask();
            if looked > MOST_STATES {
                break;
            }
            for onward in self.steps_from(&place.state, solver) {
                let kind = self.kind(onward.transition);
                let is_repeated = !sends && place.way.contains(&onward.transition);
                let is_asked = sends || !matches!(kind, ActionKind::Input | ActionKind::Quiescence);
                // One more silence shows nothing.
                let is_twice = kind == ActionKind::Quiescence && place.way.last() == Some(&onward.transition);
                if !is_asked || is_repeated || is_twice {
                    continue;
                }
                let next = self.extend_way(&place, onward, kind);
                if self.is_answer(next.way[next.way.len() - 1]) && worth(&next) > best.0 {
                    best = (worth(&next), next.way.clone(), next.state.clone());
                }
                if next.events < MOST_EVENTS {
                    open.push_back(next);
                }
            }
        }
        (best.1, best.2)
    }

    /// Extends the way of a place by one step.
    fn extend_way(&mut self, place: &WatchPlace, onward: Onward, kind: ActionKind) -> WatchPlace {
        let iosts = self.system.iosts;
        let mut way = place.way.clone();
        way.push(onward.transition);
        let wrong = match &onward.event {
            None => place.wrong.clone(),
            Some(event) => {
                let is_input = kind == ActionKind::Input;
                let mut of_one = |state: &State| {
                    let key = (state.clone(), event.clone());
                    let one = || behind(iosts, &BTreeSet::from([state.clone()]), event, is_input);
                    self.behind.entry(key).or_insert_with(one).clone()
                };
                let behind = place.wrong.iter().map(|states| states.iter().flat_map(&mut of_one).collect());
                behind.filter(|states: &BTreeSet<State>| !states.is_empty()).collect()
            }
        };
        let transition = &iosts.transitions[onward.transition];
        let values = place.values.iter().filter_map(|value| value.behind(transition, kind)).collect();
        let events = place.events + usize::from(onward.event.is_some());
        WatchPlace { way, events, state: onward.to, wrong, values }
    }

    /// What leaves a state, each transition with some values.
    fn steps_from(&mut self, state: &State, solver: &mut dyn Solver) -> Vec<Onward> {
        if let Some(known) = self.leaving.get(state) {
            return known.clone();
        }
        let iosts = self.system.iosts;
        let standing = literals(&state.valuation);
        let mut found = Vec::new();
        for &number in &self.system.outgoing[state.location] {
            let transition = &iosts.transitions[number];
            let action = iosts.action(transition.action);
            let values: Vec<Value> = if action.parameters.is_empty() {
                Vec::new()
            } else {
                let condition = substitute(self.system.enabled(number), &standing);
                let Witness::Found(known) = solver.witness(&condition.conjuncts()) else { continue };
                let value =
                    |datum: &Datum| known.get(datum).cloned().unwrap_or_else(|| Value::any(datum.ty()));
                action.parameters.iter().map(value).collect()
            };
            let Some(to) = fire(iosts, transition, state, &values) else { continue };
            let event = action.is_visible().then(|| Event::new(action.name.clone(), values));
            found.push(Onward { transition: number, event, to });
        }
        self.leaving.insert(state.clone(), found.clone());
        found
    }
}

/// The states behind an event, internal steps included. Who ignores what it does not take, also not behind
/// internal steps, stays where it is.
pub fn behind(iosts: &Iosts, states: &BTreeSet<State>, event: &Event, ignores: bool) -> BTreeSet<State> {
    let takes = |state: &State| !step(iosts, state, event).is_empty();
    let after = |state: &State| {
        let is_ignored = ignores
            && !takes(state)
            && !internal_closure(iosts, BTreeSet::from([state.clone()])).iter().any(takes);
        if is_ignored { BTreeSet::from([state.clone()]) } else { step(iosts, state, event) }
    };
    internal_closure(iosts, states.iter().flat_map(after).collect())
}

impl WrongValue {
    /// Follows the value through a transition; `None` where the step has shown it.
    fn behind(&self, transition: &Transition, kind: ActionKind) -> Option<Self> {
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
