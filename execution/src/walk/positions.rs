//! Follows the possible positions of a walk, and the goals that it has surely met.
//!
//! **Problem.** Several ways through the specification may explain the same events. Internal steps are not
//! visible, and several transitions may take the same event. A goal counts only if each of these ways meets
//! it, as in [`crate::coverage`].
//!
//! **Method.** A position is a state with the trail that led to it. Each position has a set of goals that
//! every way to it has met and that are not counted yet. A step adds the goals that it meets. Where two ways
//! meet, the goals of both are kept. After an event, the goals that all positions share are counted and
//! removed from the sets. A position that cannot take the event is dropped.
//!
//! **Ends** since internal steps end, and the set at a position only shrinks. **Costs** the positions times
//! the transitions of their locations. Beyond [`MOST`] positions the trails are forgotten. This may lose
//! goals and never invents one.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::iosts::ActionKind;
use coreach_model::semantics::{Event, State, fire};

use super::goals::{Class, Trail, WalkModel};

/// The most positions whose trails are kept.
const MOST: usize = 256;

/// A state with the trail that led there.
pub type Position = (State, Trail);

/// All possible positions, each with its goals that are not counted yet.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    all: BTreeMap<Position, BTreeSet<usize>>,
}

/// The goals that an event has surely met, and the classes that it may have met.
#[derive(Default)]
pub struct MetGoals {
    pub goals: BTreeSet<usize>,
    /// The classes of the event's own steps.
    pub classes: BTreeSet<Class>,
}

impl Positions {
    /// Makes the positions of these states, with empty trails, and those that internal steps add.
    pub fn at<'a>(model: &WalkModel, states: impl IntoIterator<Item = &'a State>) -> Self {
        let begin = |state: &State| ((state.clone(), Trail::default()), BTreeSet::new());
        Positions { all: states.into_iter().map(begin).collect() }.close_under_internal(model)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Position> {
        self.all.keys()
    }

    /// Tells whether a position has this state.
    pub fn has(&self, state: &State) -> bool {
        self.iter().any(|(possible, _)| possible == state)
    }

    /// Tells whether the positions have the same states, whatever the trails.
    pub fn has_states_of(&self, other: &Positions) -> bool {
        let states: BTreeSet<&State> = self.iter().map(|(state, _)| state).collect();
        states == other.iter().map(|(state, _)| state).collect()
    }

    /// Tells whether no position is possible.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Follows an event. No position is left if none can take the event.
    pub fn follow(&mut self, model: &WalkModel, event: &Event) -> MetGoals {
        let mut met = MetGoals::default();
        let Some(action) = model.iosts.find_action(&event.action) else {
            self.all.clear();
            return met;
        };
        let mut next = Positions::default();
        for ((state, trail), goals) in &self.all {
            for &number in &model.outgoing[state.location] {
                let transition = &model.iosts.transitions[number];
                if transition.action != action {
                    continue;
                }
                let Some(to) = fire(&model.iosts, transition, state, &event.values) else { continue };
                let signs = model.signs(number, state, &event.values, &to);
                met.classes.extend(model.classes(number, state, &event.values, &signs));
                met.classes.extend(model.marked_uses(state, trail, number));
                let goals = goals.iter().copied().chain(model.goals_met(trail, number)).collect();
                let marks = model.marks(number, state, &to, &signs);
                let longer_trail = model.extend_trail(trail, number, state, &to, &marks);
                next.arrive((to, longer_trail), goals);
            }
        }
        *self = next.close_under_internal(model);
        // The goals that all positions share have surely been met.
        let mut sets = self.all.values();
        let first = sets.next().cloned().unwrap_or_default();
        met.goals = sets.fold(first, |shared, goals| shared.intersection(goals).copied().collect());
        for goals in self.all.values_mut() {
            goals.retain(|goal| !met.goals.contains(goal));
        }
        if self.all.len() > MOST {
            let states: BTreeSet<State> = self.iter().map(|(state, _)| state.clone()).collect();
            *self = Positions::at(model, &states);
        }
        met
    }

    /// Adds a way to a position. Returns whether the position is new or has lost a goal, so that the steps
    /// behind it must be followed again.
    fn arrive(&mut self, position: Position, goals: BTreeSet<usize>) -> bool {
        match self.all.get_mut(&position) {
            None => {
                self.all.insert(position, goals);
                true
            }
            Some(known) => {
                let before = known.len();
                known.retain(|goal| goals.contains(goal));
                known.len() < before
            }
        }
    }

    /// Adds all positions to which internal steps lead.
    fn close_under_internal(mut self, model: &WalkModel) -> Self {
        let mut open: Vec<Position> = self.all.keys().cloned().collect();
        while let Some(position) = open.pop() {
            let (state, trail) = &position;
            for &number in &model.outgoing[state.location] {
                if model.kind(number) != ActionKind::Internal {
                    continue;
                }
                let transition = &model.iosts.transitions[number];
                let Some(to) = fire(&model.iosts, transition, state, &[]) else { continue };
                let mut goals = self.all.get(&position).cloned().unwrap_or_default();
                goals.extend(model.goals_met(trail, number));
                let marks = model.marks(number, state, &to, &model.signs(number, state, &[], &to));
                let longer_trail = model.extend_trail(trail, number, state, &to, &marks);
                let next = (to, longer_trail);
                if self.arrive(next.clone(), goals) {
                    open.push(next);
                }
            }
        }
        self
    }
}
