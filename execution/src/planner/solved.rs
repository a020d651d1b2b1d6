//! Solves a game whose positions are listed, from both sides.
//!
//! **Problem.** A purpose may be *forced*: the tester comes to Pass whatever the specification allows as an
//! answer, unless the system fails. It may be *fair*: Pass comes if each answer that stays possible comes
//! some day. It may be *possible*: Pass comes if the system cooperates. Which is it, and how certainly?
//!
//! **Method.** A *choice* of the tester is a stimulus or a wait. An output may come before a stimulus is
//! taken, so it is a result of that choice, too. Forced positions are an attractor, by the least number of
//! events. Fair positions are the greatest set in which each position has choices that never leave it and a
//! way to Pass by these (almost sure reachability). Possible positions can reach Pass.
//!
//! Each level is solved twice. *Surely*: an answer that is not listed loses, and so does a position that was
//! not listed. *At best*: a position with missing events is won. If both agree, the level is exact.
//!
//! **Ends**, since each pass adds a position or is the last one. **Costs** at most a pass for each position.

use crate::planner::listed::{GameEvent, GameOptions, GamePosition, PositionWorth};

coreach_model::words! {
    /// The levels of winning, the best first, with their names in documents.
    pub enum WinningLevel {
        /// The run ends with Pass or Fail, whatever answers come.
        Forced = "forced",
        /// The run ends with Pass or Fail, if an answer that stays possible comes some day.
        Fair = "fair",
        /// The run ends with Pass if the system cooperates.
        Possible = "possible",
        /// No run passes.
        Unreachable = "unreachable",
    }
}

/// The side from which unknown positions are seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bias {
    /// Unknown positions are lost.
    Surely,
    /// Unknown positions are won.
    AtBest,
}

/// A choice of the tester in a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct GameChoice {
    /// The place of the stimulus in the list; `None` is waiting.
    pub(super) stimulus: Option<usize>,
    /// The positions to which it may lead.
    pub(super) to: Vec<usize>,
    /// Is one of these positions certainly reached?
    pub(super) is_sure: bool,
}

/// Lists the choices of the tester in a position.
pub(super) fn list_choices(position: &GamePosition) -> Vec<GameChoice> {
    let Some(options) = &position.options else { return Vec::new() };
    let heard: Vec<usize> = options.answers.iter().map(|answer| answer.to).collect();
    // A tester that sends does not hear silence.
    let first = options.answers.iter().filter(|answer| answer.event.is_some()).map(|answer| answer.to);
    let first: Vec<usize> = first.collect();
    let send = |(place, stimulus): (usize, &GameEvent)| GameChoice {
        stimulus: Some(place),
        to: [stimulus.to].into_iter().chain(first.iter().copied()).collect(),
        is_sure: true,
    };
    let mut all: Vec<GameChoice> = options.stimuli.iter().enumerate().map(send).collect();
    if !heard.is_empty() && !options.is_silent {
        all.push(GameChoice { stimulus: None, to: heard, is_sure: options.is_owed });
    }
    all
}

/// A game solved from one side. For each level and position it has the least number of events to Pass; `None`
/// if the position is not of that level.
pub(super) struct SolvedGame {
    pub(super) forced: Vec<Option<usize>>,
    pub(super) fair: Vec<Option<usize>>,
    pub(super) possible: Vec<Option<usize>>,
}

impl SolvedGame {
    /// Solves the game. Fair positions are a greatest fixed point: some choice never leaves them.
    pub(super) fn new(all: &[GamePosition], side: Bias) -> Self {
        let choices: Vec<Vec<GameChoice>> = all.iter().map(list_choices).collect();
        let won = |position: &GamePosition| {
            let is_whole = |options: &GameOptions| options.has_all_stimuli && options.has_all_answers;
            position.worth == PositionWorth::Won
                || side == Bias::AtBest
                    && position.worth == PositionWorth::Open
                    && !position.options.as_ref().is_some_and(is_whole)
        };
        let won: Vec<bool> = all.iter().map(won).collect();
        // An answer that is not listed may come after every choice.
        let knows = |at: usize| all[at].options.as_ref().is_some_and(|options| options.has_all_answers);
        let forced = spread_from_won(&won, |at, known| {
            let mut sure = choices[at].iter().filter(|one| one.is_sure && knows(at));
            sure.any(|one| one.to.iter().all(|to| known[*to].is_some()))
        });
        let mut within: Vec<bool> = vec![true; all.len()];
        let fair = loop {
            let fair = spread_from_won(&won, |at, known| {
                let stays = choices[at].iter().filter(|one| knows(at) && one.to.iter().all(|to| within[*to]));
                stays.into_iter().any(|one| one.to.iter().any(|to| known[*to].is_some()))
            });
            let left: Vec<bool> = fair.iter().map(Option::is_some).collect();
            if left == within {
                break fair;
            }
            within = left;
        };
        let possible = spread_from_won(&won, |at, known| {
            choices[at].iter().any(|one| one.to.iter().any(|to| known[*to].is_some()))
        });
        SolvedGame { forced, fair, possible }
    }

    /// The best level of a position.
    pub(super) fn level(&self, at: usize) -> WinningLevel {
        let has = |known: &[Option<usize>]| known[at].is_some();
        match () {
            () if has(&self.forced) => WinningLevel::Forced,
            () if has(&self.fair) => WinningLevel::Fair,
            () if has(&self.possible) => WinningLevel::Possible,
            () => WinningLevel::Unreachable,
        }
    }

    /// For each position the number of events to Pass, if it is of this level or better.
    pub(super) fn events_left(&self, level: WinningLevel) -> &[Option<usize>] {
        match level {
            WinningLevel::Forced => &self.forced,
            WinningLevel::Fair => &self.fair,
            WinningLevel::Possible | WinningLevel::Unreachable => &self.possible,
        }
    }
}

/// Spreads from the won positions. Returns for each position the pass in which `leads` held.
fn spread_from_won(won: &[bool], leads: impl Fn(usize, &[Option<usize>]) -> bool) -> Vec<Option<usize>> {
    let mut known: Vec<Option<usize>> = won.iter().map(|is_won| is_won.then_some(0)).collect();
    for pass in 1.. {
        let found: Vec<usize> =
            (0..known.len()).filter(|at| known[*at].is_none() && leads(*at, &known)).collect();
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|at| known[at] = Some(pass));
    }
    known
}
