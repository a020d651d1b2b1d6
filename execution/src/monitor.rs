//! The specification as a judge: which of its states are possible after what was seen.
//!
//! **Problem.** A test case sees what its purpose looks at. To say of an implementation that nothing is wrong
//! with it, as far as one looked, or which transitions of the specification a run has gone through, the
//! specification itself must follow.
//!
//! **Method.** The states that are possible after a trace, by definition (`M after σ`, Definition 4.16, p.
//! 89): all successors of all of them, and all that internal steps lead to. An output that no state allows is
//! a violation of ioc (Definition 6.2): Fail, and the states stay as they were. An input that no state takes
//! ends what the specification says, which is Inconclusive, for the cause `unspecified`. The number of states
//! is limited; beyond it the monitor gives up rather than guess, for the cause `states`. It never says Pass:
//! no purpose is asked for.
//!
//! **Ends**: a step is finite where the specification has no livelock, which its reader refuses. **Costs**
//! the number of states times the location's transitions.

use std::collections::BTreeSet;

use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::semantics::{Event, State, fire, internal_closure};
use coreach_model::{Datum, Numbered, TransitionId, Value, Verdict};

use crate::judge::contract::{Choice, Follower, Judge, Judged, Move, Offer, Offers, Why};
use crate::judge::guards::{texts, violated};
use crate::run::{Cause, Occurrence, ShownState};
use crate::values::boundaries::boundaries;

/// The most states that are followed.
pub const MOST: usize = 2048;

const UNSPECIFIED: Judged = Judged::Ends(Verdict::Inconclusive, Cause::Unspecified);

/// A specification that follows a trace.
#[derive(Clone, Debug)]
pub struct Monitor<'a> {
    specification: &'a Iosts,
    initial: BTreeSet<State>,
    states: BTreeSet<State>,
    /// How often each transition may have been taken.
    taken: Numbered<TransitionId, usize>,
    /// An output came that may not happen.
    violated: bool,
}

impl<'a> Monitor<'a> {
    /// At the beginning.
    pub fn new(specification: &'a Iosts, initial: BTreeSet<State>) -> Self {
        let initial = internal_closure(specification, initial);
        let taken = specification.transitions.map(|_| 0);
        Monitor { specification, states: initial.clone(), initial, taken, violated: false }
    }

    /// The states that are possible now.
    pub fn states(&self) -> &BTreeSet<State> {
        &self.states
    }

    /// For each transition of the specification, how often the trace may have gone through it; internal steps
    /// count as taken where one was possible.
    pub fn taken(&self) -> &Numbered<TransitionId, usize> {
        &self.taken
    }

    /// Follows an event, where the specification allows it.
    fn follow(&mut self, event: &Event) -> Judged {
        let Some(action) = self.specification.find_action(&event.action) else { return self.violation() };
        let mut next = BTreeSet::new();
        let mut through = BTreeSet::new();
        for (number, transition) in self.specification.transitions.numbered() {
            let internal = self.specification.action(transition.action).kind == ActionKind::Internal;
            for state in &self.states {
                if internal {
                    if fire(self.specification, transition, state, &[]).is_some() {
                        through.insert(number);
                    }
                } else if transition.action == action
                    && let Some(to) = fire(self.specification, transition, state, &event.values)
                {
                    next.insert(to);
                    through.insert(number);
                }
            }
        }
        if next.is_empty() {
            return match self.specification.action(action).kind {
                ActionKind::Output => self.violation(),
                _ => UNSPECIFIED,
            };
        }
        let next = internal_closure(self.specification, next);
        if next.len() > MOST {
            return Judged::Ends(Verdict::Inconclusive, Cause::States(MOST));
        }
        self.states = next;
        for number in through {
            self.taken[number] += 1;
        }
        Judged::Followed(None)
    }

    fn violation(&mut self) -> Judged {
        self.violated = true;
        Judged::Followed(None)
    }
}

impl Follower for Monitor<'_> {
    fn is_where(&self, other: &Self) -> bool {
        self.states == other.states && self.violated == other.violated
    }
}

impl Judge for Monitor<'_> {
    fn iosts(&self) -> &Iosts {
        self.specification
    }

    fn constants(&self) -> Vec<(Datum, Value)> {
        let state = self.initial.first();
        let value = |datum: &Datum| Some((datum.clone(), state?.valuation.get(datum)?.clone()));
        self.specification.constants.iter().filter_map(value).collect()
    }

    fn begin(&mut self) {
        self.states = self.initial.clone();
        self.taken.fill(0);
        self.violated = false;
    }

    fn offers(&self) -> Offers {
        let mut moves = Vec::new();
        for (number, transition) in self.specification.transitions.numbered() {
            let is_input = self.specification.action(transition.action).kind == ActionKind::Input;
            if is_input && self.states.iter().any(|state| state.location == transition.source) {
                moves.push(Offer { step: Move::Send(number), through: vec![number] });
            }
        }
        moves.push(Offer { step: Move::Wait, through: Vec::new() });
        Offers { moves, may_observe: true }
    }

    fn stimulus(&mut self, number: TransitionId, choice: &mut Choice<'_>) -> Option<Event> {
        let transition = &self.specification.transitions[number];
        let action = self.specification.action(transition.action);
        let from = self.states.iter().filter(|state| state.location == transition.source);
        let mut found = from.filter_map(|state| {
            let Choice { values, random, solver } = &mut *choice;
            values.choose(&transition.guard, &action.parameters, &state.valuation, random, *solver)
        });
        let event = Event::new(action.name.clone(), found.next()?);
        drop(found);
        self.can_send(&event).then_some(event)
    }

    fn can_send(&mut self, stimulus: &Event) -> bool {
        let specification = self.specification;
        specification.transitions.iter().any(|transition| {
            let action = specification.action(transition.action);
            action.kind == ActionKind::Input
                && action.name == stimulus.action
                && self
                    .states
                    .iter()
                    .any(|at| fire(specification, transition, at, &stimulus.values).is_some())
        })
    }

    fn take(&mut self, what: &Occurrence) -> Judged {
        match what {
            Occurrence::Stimulus(event) | Occurrence::Observation(event) => self.follow(event),
            Occurrence::Silence(time) => Judged::silence(*time),
            Occurrence::Delay(_) => Judged::Followed(None),
        }
    }

    fn verdict(&self) -> Option<Verdict> {
        self.violated.then_some(Verdict::Fail)
    }

    fn shown(&self) -> ShownState {
        let places: BTreeSet<&str> =
            self.states.iter().map(|s| self.specification.location(s.location).label.as_str()).collect();
        let data = self.specification.constants.iter().chain(&self.specification.variables);
        // Only what is the same in all of them.
        let value = |datum: &Datum| {
            let value = self.states.first()?.valuation.get(datum)?;
            let known = self.states.iter().all(|state| state.valuation.get(datum) == Some(value));
            known.then(|| (datum.clone(), value.clone()))
        };
        let place = places.into_iter().collect::<Vec<_>>().join(" or ");
        ShownState { place, data: data.filter_map(value).collect() }
    }

    fn specification_locations(&self) -> BTreeSet<&str> {
        self.states.iter().map(|state| self.specification.location(state.location).name.as_str()).collect()
    }

    fn place(&self) -> &str {
        let mut places = self.states.iter().map(|state| state.location);
        let first = places.next().filter(|first| places.all(|other| other == *first));
        first.map_or("", |location| &self.specification.location(location).name)
    }

    fn describe(&self, number: TransitionId) -> String {
        let transition = &self.specification.transitions[number];
        format!("send {} when {}", self.specification.action(transition.action).name, transition.guard)
    }

    fn boundaries(&self, stimulus: &Event) -> Vec<Vec<Value>> {
        let mut found = vec![Vec::new(); stimulus.values.len()];
        for state in &self.states {
            let here = self.specification.transitions.iter().filter(|one| one.source == state.location);
            for (all, more) in found.iter_mut().zip(boundaries(self.specification, here, state, stimulus)) {
                all.extend(more);
            }
        }
        found
    }

    fn why(&self, observed: Option<&Event>, verdict: Option<Verdict>) -> Why {
        let Some(event) = observed.filter(|_| verdict == Some(Verdict::Fail)) else { return Why::default() };
        let sets = self.states.iter().flat_map(|state| {
            let here = self.specification.transitions.iter().filter(|one| one.source == state.location);
            violated(self.specification, here, state, event).into_iter().map(|set| texts(&set))
        });
        Why { violated: sets.collect(), ..Why::default() }
    }
}
