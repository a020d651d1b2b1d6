//! The game of a purpose that is judged on line, where several states may be possible at once.
//!
//! **Method.** Positions are listed from the present one ([`super::listed`]) and solved ([`super::solved`]).
//! If Pass is forced, the choice with the fewest events in the worst case is taken. Otherwise a fair choice
//! is taken, if there is one. Otherwise the choice with the best chance is taken: each answer is equally
//! likely, and a position that was not listed is worth little.
//!
//! After a wait in vain the tester does not wait for this answer there again, and the game is solved again.
//!
//! **Ends** after a number of positions of each listing, or its work; the list begins anew when it is long.

use coreach_analyses::solver::Solver;
use coreach_model::budget::{self, Budget, Limit};
use coreach_model::iosts::ActionKind;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State};

use crate::planner::game::{PASSES, WORK};
use crate::planner::listed::{GameEvent, GamePosition, ListedGame, PositionWorth, PossibleStates};
use crate::planner::solved::{Bias, GameChoice, SolvedGame, WinningLevel, list_choices};
use crate::test_case::TestCase;
use crate::walk::search::Planned;

/// The most positions that are listed before a move.
const MOST_LOOKED: usize = 600;

/// The most positions of the list.
const MOST_KEPT: usize = 6000;

/// The chance of a position that was not listed.
const UNKNOWN: f64 = 0.1;

/// The factor of a chance for each event.
const KEPT: f64 = 0.999;

/// A game that is played in sets of states.
pub(super) struct GameTogether {
    game: ListedGame,
    solved: Option<SolvedGame>,
    at: Option<usize>,
    chosen: Option<Planned>,
}

impl GameTogether {
    pub(super) fn new(test: &TestCase) -> Self {
        GameTogether { game: ListedGame::new(test), solved: None, at: None, chosen: None }
    }

    /// Chooses a move when these states are possible. Returns whether there is one.
    pub(super) fn play(
        &mut self,
        test: &TestCase,
        states: &[&State],
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> bool {
        if self.game.all().len() > MOST_KEPT {
            *self = GameTogether::new(test);
        }
        let states: PossibleStates = states.iter().map(|state| (*state).clone()).collect();
        let position = self.game.position(&states, PositionWorth::Open);
        let is_forced = |solved: &SolvedGame| solved.forced.get(position).is_some_and(Option::is_some);
        if !self.solved.as_ref().is_some_and(is_forced) {
            let is_certain = false;
            let budget = Budget::new("plan", Some(Limit::Work(WORK)), is_certain);
            // Positions that were listed within the limits count.
            let _ = budget::within(&budget, || {
                let is_enough = |positions: &[_]| is_forced(&SolvedGame::new(positions, Bias::Surely));
                self.game.explore(test, position, MOST_LOOKED, solver, is_enough);
            });
            self.solved = Some(SolvedGame::new(self.game.all(), Bias::Surely));
        }
        self.at = Some(position);
        self.chosen = self.choose(position, random);
        self.chosen.is_some()
    }

    /// Chooses the move with the fewest events at worst (forced) or at best (fair), or the best chance.
    /// `None` if Pass cannot be reached, or the game is not solved.
    fn choose(&self, number: usize, random: &mut Random) -> Option<Planned> {
        let solved = self.solved.as_ref()?;
        let level = solved.level(number);
        if level == WinningLevel::Unreachable {
            return None;
        }
        let position = &self.game.all()[number];
        let choices = list_choices(position);
        let events_left = solved.events_left(level);
        let chances = if level == WinningLevel::Possible { self.chances(solved) } else { Vec::new() };
        // The least cost is best. A choice that may leave the level has none.
        let cost = |choice: &GameChoice| -> Option<f64> {
            if level == WinningLevel::Possible {
                return Some(-mean_chance(choice, &chances));
            }
            let events: Vec<usize> = choice.to.iter().map(|to| events_left[*to]).collect::<Option<_>>()?;
            let events = match level {
                WinningLevel::Forced if !choice.is_sure => None,
                WinningLevel::Forced => events.into_iter().max(),
                _ => events.into_iter().min(),
            };
            events.map(|events| events as f64)
        };
        let best = choices.iter().filter_map(cost).fold(f64::INFINITY, f64::min);
        let is_best = |choice: &&GameChoice| cost(choice).is_some_and(|cost| cost <= best + 1e-9);
        let best_choices: Vec<&GameChoice> = choices.iter().filter(is_best).collect();
        let chosen = random.pick(&best_choices)?;
        let options = position.options.as_ref()?;
        let state = position.states.first()?.clone();
        // A wait is planned for the answer that is nearest to Pass.
        let distance = |answer: &&GameEvent| events_left[answer.to].unwrap_or(usize::MAX);
        let (next, kind) = match chosen.stimulus {
            Some(place) => (&options.stimuli[place], ActionKind::Input),
            None => {
                let answer = options.answers.iter().min_by_key(distance)?;
                (answer, if answer.event.is_some() { ActionKind::Output } else { ActionKind::Quiescence })
            }
        };
        let event = next.event.clone().unwrap_or_else(|| Event::new(String::new(), []));
        Some(Planned { state, transition: next.transition, event, kind })
    }

    /// Computes for each position the chance of Pass.
    fn chances(&self, solved: &SolvedGame) -> Vec<f64> {
        let positions = self.game.all();
        let choices: Vec<Vec<GameChoice>> = positions.iter().map(list_choices).collect();
        let initial_chance = |(number, position): (usize, &_)| match position {
            _ if solved.forced[number].is_some() => 1.0,
            GamePosition { worth: PositionWorth::Open, options: None, .. } => UNKNOWN,
            _ => 0.0,
        };
        let mut chances: Vec<f64> = positions.iter().enumerate().map(initial_chance).collect();
        for _ in 0..PASSES {
            let mut greatest_change: f64 = 0.0;
            for number in (0..positions.len()).rev().filter(|number| solved.forced[*number].is_none()) {
                if !choices[number].is_empty() {
                    let chances_there =
                        choices[number].iter().map(|choice| KEPT * mean_chance(choice, &chances));
                    let best = chances_there.fold(0.0, f64::max);
                    greatest_change = greatest_change.max((best - chances[number]).abs());
                    chances[number] = best;
                }
            }
            if greatest_change < 1e-6 {
                break;
            }
        }
        chances
    }

    /// Returns the planned step, if there is one.
    pub(super) fn chosen(&self) -> Option<&Planned> {
        self.chosen.as_ref()
    }

    /// Drops a wait that was in vain. Returns whether this changes the choice.
    pub(super) fn waited_in_vain(&mut self) -> bool {
        self.chosen = None;
        self.solved = None;
        self.at.is_some_and(|at| self.game.expect_nothing(at))
    }

    /// Can the tester wait without losing a forced Pass?
    pub(super) fn may_idle(&self) -> bool {
        let Some((position, solved)) = self.at.zip(self.solved.as_ref()) else { return true };
        let forced = |to: &usize| solved.forced[*to].is_some();
        let waits = |choice: &GameChoice| choice.stimulus.is_none() && choice.to.iter().all(forced);
        !forced(&position) || list_choices(&self.game.all()[position]).iter().any(waits)
    }
}

/// Computes the mean chance of the positions that a choice leads to.
fn mean_chance(choice: &GameChoice, chances: &[f64]) -> f64 {
    choice.to.iter().map(|to| chances[*to]).sum::<f64>() / choice.to.len().max(1) as f64
}
