//! How much of what is open a run could meet that begins in a state.
//!
//! **Problem.** Where the specification leaves constants open, they decide what a run can meet, and how soon:
//! a file of a million chunks is never done. Constants by lot are a waste of whole runs.
//!
//! **Method.** Some constants are drawn ([`DRAWN`]), from each beginning all positions are looked at that one
//! search looks at, and each open goal counts the more, the nearer it is. The best is taken; the first of
//! equals.
//!
//! **Ends** as a search does. **Costs** as many searches as constants are drawn, once for each run.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::solver::Solver;
use coreach_model::random::Random;
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;

use super::Walk;
use super::goals::{Class, Looks};
use super::positions::Positions;
use super::search::{Question, WalkTarget, search};
use crate::constants::initial_state;
use crate::judge::Choice;
use crate::test_case::TestCase;

/// So many constants are drawn for one run.
const DRAWN: u64 = 8;

impl Walk {
    /// The state in which the next run is to begin: this one, or one with other constants.
    pub fn prefers(
        &mut self,
        test: &TestCase,
        first: State,
        given: &Valuation,
        seed: u64,
        solver: &mut dyn Solver,
    ) -> State {
        if !self.varies {
            return first;
        }
        let mut random = Random::new(seed ^ 0x0062_6567_696e);
        let mut all = vec![first.clone()];
        all.extend((1..DRAWN).filter_map(|_| initial_state(test, given, random.bits(), solver).ok()));
        self.best(all, &mut random, solver).unwrap_or(first)
    }

    /// The state from which most is near; the first of equals.
    pub(super) fn best(
        &mut self,
        all: Vec<State>,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<State> {
        let mut best: Option<(u64, State)> = None;
        for state in all {
            if best.as_ref().is_some_and(|(_, known)| *known == state) {
                continue;
            }
            let outlook = self.outlook(&state, random, solver);
            if best.as_ref().is_none_or(|(most, _)| outlook > *most) {
                best = Some((outlook, state));
            }
        }
        best.map(|(_, state)| state)
    }

    /// The open goals within a search from this state, each by the steps that lead there.
    fn outlook(&mut self, state: &State, random: &mut Random, solver: &mut dyn Solver) -> u64 {
        /// What a goal counts for that is met at once; a class counts one part of it.
        const ONE: u64 = 1 << 20;
        const CLASS: u64 = 16;
        let Walk { sought, rounds, values, .. } = self;
        let from = Positions::at(sought, [state]);
        let mut goals: BTreeMap<usize, usize> = BTreeMap::new();
        let mut classes: BTreeSet<Class> = BTreeSet::new();
        let mut sum = 0;
        let mut open = |depth: usize, met: &[usize], found: &[Class]| {
            for phase in 0..sought.phases.len() {
                match rounds.open(sought, phase, met, found).0 {
                    Some(WalkTarget::WalkGoal(goal)) => {
                        goals.entry(goal).or_insert(depth);
                    }
                    Some(WalkTarget::Class(class)) if classes.insert(class.clone()) => {
                        sum += ONE / CLASS / depth as u64;
                    }
                    Some(WalkTarget::Class(_)) | None => {}
                }
            }
            (None, 0)
        };
        let question = Question { looks: Looks::ALL, is_silent: false, open: &mut open };
        let _ = search(sought, from.iter(), question, &mut Choice { values, random, solver });
        sum + goals.values().map(|depth| ONE / *depth as u64).sum::<u64>()
    }
}
