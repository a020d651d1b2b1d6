//! How much a run could meet that begins in a state.
//!
//! **Problem.** Where the specification leaves constants open, they decide what a run can meet, and how soon:
//! a file of a million chunks is never done. Constants by lot are a waste of whole runs.
//!
//! **Method.** Some constants are drawn ([`DRAWN`]), from each beginning all positions are looked at that one
//! search looks at, and what they meet of goals and signs counts what it is worth, the more, the nearer it
//! is. Counts are left out: the more a constant lets count, the more of them are new. The best is taken; the
//! first of equals.
//!
//! **Ends** as a search does. **Costs** as many searches as constants are drawn, once for each run.

use coreach_analyses::solver::Solver;
use coreach_model::random::Random;
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;

use super::positions::Positions;
use super::search::search;
use super::{MOST_CREDIT, Walk};
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

    /// What a search from this state sees.
    fn outlook(&mut self, state: &State, random: &mut Random, solver: &mut dyn Solver) -> u64 {
        let Walk { sought, worth, tried, values, .. } = self;
        let from = Positions::at(sought, [state]);
        search(sought, worth, tried, from.iter(), false, MOST_CREDIT, &mut Choice { values, random, solver })
            .outlook
    }
}
