//! Where a walk is, and which goals it has surely met.
//!
//! **Problem.** What was seen may have come about in several ways: internal steps show nothing, and one event
//! may go through one of several transitions. A goal counts only where each of these ways meets it, as in
//! [`crate::coverage`].
//!
//! **Method.** A position is a state with the trail that led to it; with it stand the goals that every way to
//! it has met and that are not counted yet. A step adds what it meets; where ways come together, what both
//! have met is kept. After an event, what all positions have in common has surely been met: it is counted,
//! and taken out. Positions from which what came is impossible are dropped.
//!
//! **Ends**: internal steps do, and what is kept at a position only shrinks. **Costs** the positions times
//! the transitions of their locations. Beyond [`MOST`] positions trails are forgotten, which loses goals and
//! never invents one.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::iosts::ActionKind;
use coreach_model::semantics::{Event, State, fire};

use super::goals::{Class, SoughtGoal, Trail};

/// The most positions whose trails are kept.
const MOST: usize = 256;

/// A state with the trail that led there.
pub type Position = (State, Trail);

/// All that are possible.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    all: BTreeMap<Position, BTreeSet<usize>>,
}

/// What an event has surely met, and the classes that it may have met.
#[derive(Default)]
pub struct MetGoals {
    /// The goals, by their numbers.
    pub goals: BTreeSet<usize>,
    /// The classes of the event's own steps.
    pub classes: BTreeSet<Class>,
}

impl Positions {
    /// Makes the positions of these states, where no goal was met on the way.
    pub fn at<'a>(sought: &SoughtGoal, states: impl IntoIterator<Item = &'a State>) -> Self {
        let begin = |state: &State| ((state.clone(), Trail::default()), BTreeSet::new());
        Positions { all: states.into_iter().map(begin).collect() }.close_under_internal(sought)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Position> {
        self.all.keys()
    }

    /// Is this state possible?
    pub fn has(&self, state: &State) -> bool {
        self.iter().any(|(here, _)| here == state)
    }

    /// Is none possible?
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Follows an event; it is nowhere afterwards if no position takes it.
    pub fn follow(&mut self, sought: &SoughtGoal, event: &Event) -> MetGoals {
        let mut met = MetGoals::default();
        let Some(action) = sought.iosts.find_action(&event.action) else {
            self.all.clear();
            return met;
        };
        let mut next = Positions::default();
        for ((state, trail), goals) in &self.all {
            for &number in &sought.outgoing[state.location] {
                let transition = &sought.iosts.transitions[number];
                if transition.action != action {
                    continue;
                }
                let Some(to) = fire(&sought.iosts, transition, state, &event.values) else { continue };
                let signs = sought.signs(number, state, &event.values, &to);
                met.classes.extend(sought.classes(number, state, &event.values, &signs));
                let goals = goals.iter().copied().chain(sought.goals_met(trail, number)).collect();
                let behind = sought.after(trail, number, state, &to);
                next.arrive((to, behind), goals);
            }
        }
        *self = next.close_under_internal(sought);
        let mut common = self.all.values();
        let first = common.next().cloned().unwrap_or_default();
        met.goals = common.fold(first, |common, more| common.intersection(more).copied().collect());
        for goals in self.all.values_mut() {
            goals.retain(|goal| !met.goals.contains(goal));
        }
        if self.all.len() > MOST {
            let states: BTreeSet<State> = self.iter().map(|(state, _)| state.clone()).collect();
            *self = Positions::at(sought, &states);
        }
        met
    }

    /// Is there more to do behind this position than was known?
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

    /// Adds all positions that internal steps lead to.
    fn close_under_internal(mut self, sought: &SoughtGoal) -> Self {
        let mut work: Vec<Position> = self.all.keys().cloned().collect();
        while let Some(position) = work.pop() {
            let (state, trail) = &position;
            for &number in &sought.outgoing[state.location] {
                if sought.kind(number) != ActionKind::Internal {
                    continue;
                }
                let transition = &sought.iosts.transitions[number];
                let Some(to) = fire(&sought.iosts, transition, state, &[]) else { continue };
                let mut goals = self.all.get(&position).cloned().unwrap_or_default();
                goals.extend(sought.goals_met(trail, number));
                let behind = sought.after(trail, number, state, &to);
                let next = (to, behind);
                if self.arrive(next.clone(), goals) {
                    work.push(next);
                }
            }
        }
        self
    }
}
