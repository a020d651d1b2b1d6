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

use crate::planner::listed::{GameOptions, GamePosition, PositionWorth};

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
    let mut choices = Vec::new();
    for (place, stimulus) in options.stimuli.iter().enumerate() {
        // A tester that sends does not hear silence.
        let outputs = options.answers.iter().filter(|answer| answer.event.is_some());
        let to = [stimulus].into_iter().chain(outputs).map(|event| event.to).collect();
        choices.push(GameChoice { stimulus: Some(place), to, is_sure: true });
    }
    if !options.answers.is_empty() && !options.is_silent {
        let to = options.answers.iter().map(|answer| answer.to).collect();
        choices.push(GameChoice { stimulus: None, to, is_sure: options.is_owed });
    }
    choices
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
    pub(super) fn new(positions: &[GamePosition], side: Bias) -> Self {
        let choices: Vec<Vec<GameChoice>> = positions.iter().map(list_choices).collect();
        // At best, what is not listed wins.
        let is_won = |position: &GamePosition| {
            let is_whole = |options: &GameOptions| options.has_all_stimuli && options.has_all_answers;
            position.worth == PositionWorth::Won
                || side == Bias::AtBest
                    && position.worth == PositionWorth::Open
                    && !position.options.as_ref().is_some_and(is_whole)
        };
        let won: Vec<bool> = positions.iter().map(is_won).collect();
        // An answer that is not listed may come after every choice.
        let has_all_answers =
            |at: usize| positions[at].options.as_ref().is_some_and(|options| options.has_all_answers);
        let forced = spread_from_won(&won, |at, reached| {
            let forces = |choice: &GameChoice| choice.is_sure && choice.to.iter().all(|to| reached[*to]);
            has_all_answers(at) && choices[at].iter().any(forces)
        });
        let may_reach = |choice: &GameChoice, reached: &[bool]| choice.to.iter().any(|to| reached[*to]);
        // Each round keeps the positions with a choice that stays within those left, and may lead to Pass.
        let mut remaining: Vec<bool> = vec![true; positions.len()];
        let fair = loop {
            let fair = spread_from_won(&won, |at, reached| {
                let stays = |choice: &GameChoice| choice.to.iter().all(|to| remaining[*to]);
                let is_fair = |choice: &GameChoice| stays(choice) && may_reach(choice, reached);
                has_all_answers(at) && choices[at].iter().any(is_fair)
            });
            let still_fair: Vec<bool> = fair.iter().map(Option::is_some).collect();
            if still_fair == remaining {
                break fair;
            }
            remaining = still_fair;
        };
        let possible =
            spread_from_won(&won, |at, reached| choices[at].iter().any(|choice| may_reach(choice, reached)));
        SolvedGame { forced, fair, possible }
    }

    /// Returns the best level of a position.
    pub(super) fn level(&self, at: usize) -> WinningLevel {
        match (self.forced[at], self.fair[at], self.possible[at]) {
            (Some(_), ..) => WinningLevel::Forced,
            (_, Some(_), _) => WinningLevel::Fair,
            (.., Some(_)) => WinningLevel::Possible,
            (None, None, None) => WinningLevel::Unreachable,
        }
    }

    /// For each position the number of events to Pass, if it is of this level or better.
    pub(super) fn events_left(&self, level: WinningLevel) -> &[Option<usize>] {
        match level {
            WinningLevel::Forced => &self.forced,
            WinningLevel::Fair => &self.fair,
            // An unreachable position has no number. In this list all better positions have one.
            WinningLevel::Possible | WinningLevel::Unreachable => &self.possible,
        }
    }
}

/// Spreads from the won positions. Returns for each position the pass in which `leads` held: it is asked with
/// the positions that were reached in the passes before.
fn spread_from_won(won: &[bool], leads: impl Fn(usize, &[bool]) -> bool) -> Vec<Option<usize>> {
    let mut reached = won.to_vec();
    let mut passes: Vec<Option<usize>> = won.iter().map(|is_won| is_won.then_some(0)).collect();
    for pass in 1.. {
        let new: Vec<usize> = (0..won.len()).filter(|at| !reached[*at] && leads(*at, &reached)).collect();
        if new.is_empty() {
            break;
        }
        for at in new {
            (reached[at], passes[at]) = (true, Some(pass));
        }
    }
    passes
}
