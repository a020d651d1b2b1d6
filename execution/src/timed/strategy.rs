//! Plans by a strategy: which stimulus, with which values, and when.
//!
//! The strategy orders the moves of the state as in an untimed run ([`crate::strategy`]); the first stimulus
//! that has a window from now on is planned. If a wait is first and something could be sent as well, the wait
//! lasts for a random part of the time of silence; then moves are ordered anew. `plan` looks ahead in the
//! delayed form, where delays are values like others: it says which stimulus leads to Pass, with which values
//! and when. If its instant has passed meanwhile, another one of the window is drawn.

use std::collections::BTreeMap;
use std::time::Instant;

use coreach_analyses::solver::Solver;
use coreach_model::random::Random;
use dashu_ratio::RBig;

use crate::lazy::Lazy;
use crate::run::{Cause, Outcome, Run, RunStep};
use crate::session::TestSession;
use crate::strategy::{Move, Strategy, order_moves};
use crate::timed::driver::{self, Director, Scene, TimedPlan};
use crate::timed::exact_seconds;
use crate::timed::windows::{WindowRequest, choose_timed_event};
use crate::values::{MIX, Values};

struct TimedPlanner<'b> {
    strategy: Strategy<'b>,
    weights: BTreeMap<String, usize>,
    values: Values,
    solver: Lazy,
    random: Random,
}

/// Runs a timed test case once, by a strategy.
pub(crate) fn run_by_strategy(session: &mut TestSession<'_>, seed: u64, strategy: Strategy<'_>) -> Run {
    let mut values = Values::new(MIX);
    match session.settings.samples(seed, Instant::now() + session.settings.time) {
        Ok(samples) => values.with_samples(samples),
        Err(failure) => {
            let begun = session.begin(seed);
            return session.end(begun, Vec::new(), Outcome::RunError(failure));
        }
    }
    values.begin(&session.judge.constants());
    let weights = session.settings.weights.clone();
    let mut planner =
        TimedPlanner { strategy, weights, values, solver: Lazy::default(), random: Random::new(seed) };
    let run = driver::run_timed(session, seed, &mut planner);
    Run { mix: planner.values.end(), ..run }
}

impl Director for TimedPlanner<'_> {
    /// Tries the moves in order, and sends the first stimulus that has a window. A wait with moves after it
    /// lasts for a random part of the time of silence, unless the strategy has planned the wait.
    fn plan(&mut self, scene: Scene<'_>) -> TimedPlan {
        let Scene { judge, now, tolerance, takes_stimuli, .. } = scene;
        let Some(moves) = order_moves(
            &mut self.strategy,
            judge.offers().moves,
            judge,
            &self.weights,
            &mut self.random,
            &mut self.solver,
        ) else {
            return TimedPlan::Over(Cause::Ended);
        };
        let Some((test, states)) = judge.scene() else { return TimedPlan::Over(Cause::NothingToDo) };
        let (Some(state), Some(timed)) = (states.first(), &test.timed) else {
            return TimedPlan::Over(Cause::NothingToDo);
        };
        let is_wait_planned = self.strategy.waits();
        for (position, step) in moves.iter().enumerate() {
            match *step {
                Move::Send(number) if takes_stimuli => {
                    let planned = self.strategy.planned(number);
                    let request =
                        WindowRequest { test, state, number, now: &now, margin: &tolerance, planned };
                    let (values, random) = (&mut self.values, &mut self.random);
                    if let Some(event) = choose_timed_event(request, values, random, &mut self.solver) {
                        return TimedPlan::Send(event);
                    }
                }
                Move::Send(_) => {}
                Move::Wait if is_wait_planned => return TimedPlan::Wait(None),
                Move::Wait if position + 1 < moves.len() => {
                    let part = RBig::from_parts(self.random.below(1000).into(), 1000u32.into());
                    return TimedPlan::Wait(Some(now + exact_seconds(timed.silence_after) * part));
                }
                Move::Wait => {}
            }
        }
        // Nothing can be sent now. If something may still come, wait for the time of silence.
        let may_go_on = !takes_stimuli || moves.contains(&Move::Wait) || judge.offers().may_observe;
        if may_go_on { TimedPlan::Wait(None) } else { TimedPlan::Over(Cause::NothingToDo) }
    }

    fn note_step(&mut self, step: &RunStep) {
        if let Some(event) = step.what.event() {
            // Delays are measured, so they are no values to use again.
            self.values.remember_values(event.values.get(1..).unwrap_or_default());
        }
        if let Some(number) = step.transition {
            self.strategy.took(number);
        }
    }

    fn solver(&mut self) -> &mut dyn Solver {
        &mut self.solver
    }
}
