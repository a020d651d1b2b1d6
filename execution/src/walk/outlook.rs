//! Chooses the constants with which the next run of a walk begins.
//!
//! **Problem.** Open constants decide which goals a run can meet, and how soon. A file of a million chunks
//! never ends. Constants that are only drawn waste whole runs.
//!
//! **Method.** [`DRAWN`] vectors of constants are drawn. One search from each initial state adds up the worth
//! of the goals and signs in sight, divided by their distance. Counts are left out, since a larger constant
//! always allows more new counts. The best initial state is taken, and the first of equals.
//!
//! **Ends** as a search does. **Costs** one search for each vector, once for each run, with half of the
//! credit for far steps.

use std::collections::BTreeSet;

use coreach_analyses::solver::Solver;
use coreach_model::random::Random;
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;

use super::Walk;
use super::positions::Positions;
use super::search::{Far, search};
use crate::constants::initial_state;
use crate::judge::Choice;
use crate::test_case::TestCase;

/// The number of initial states among which a run chooses.
const DRAWN: u64 = 8;

impl Walk {
    /// Chooses the initial state of the next run: `first`, or one with other constants.
    pub fn choose_start(
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
        let mut starts = vec![first.clone()];
        starts.extend((1..DRAWN).filter_map(|_| initial_state(test, given, random.bits(), solver).ok()));
        self.find_best_start(starts, &mut random, solver).unwrap_or(first)
    }

    /// Finds the state with the best outlook, and the first of equals. `None` without states.
    pub(super) fn find_best_start(
        &mut self,
        starts: Vec<State>,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<State> {
        let most_far = self.credit / starts.len().max(1);
        let mut best: Option<(u64, State)> = None;
        for state in starts {
            if best.as_ref().is_some_and(|(_, known)| *known == state) {
                continue;
            }
            let outlook = self.measure_outlook(&state, most_far, random, solver);
            if best.as_ref().is_none_or(|(most, _)| outlook > *most) {
                best = Some((outlook, state));
            }
        }
        best.map(|(_, state)| state)
    }

    /// Returns the worth of the goals and signs that a search sees from this state. Far steps are on credit.
    fn measure_outlook(
        &mut self,
        state: &State,
        most: usize,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> u64 {
        let Walk { model, worth, tried, values, .. } = self;
        let from = Positions::at(model, [state]);
        let far = Far { most, guide: None, is_aimed: false, muted: &BTreeSet::new() };
        let (is_silent, sources) = (false, &mut Choice { values, random, solver });
        let found = search(model, worth, tried, from.iter(), is_silent, far, sources);
        // Half of the credit is left for the plans.
        self.credit -= (found.far / 2).min(self.credit);
        found.outlook
    }
}
