//! Says before a run what the tester can win with a test case, or with a purpose that is judged on line.
//!
//! **Method.** The game is listed from the beginning of a run (`listed.rs`), and solved from both sides
//! (`solved.rs`). The tester chooses open constants first: some are drawn as for runs, and the best of these
//! are kept. If Pass is not forced, a way to Pass is followed, and the spoiler is the answer that leaves this
//! way for the worst position.
//!
//! Ioc says nothing about silence. It is assumed here that a system answers if the specification must.
//!
//! **Ends** after [`MOST_EXPANDED`] positions of each choice of constants, or its work.

use std::fmt;

use coreach_analyses::solver::Solver;
use coreach_model::budget::{self, Budget, Limit};
use coreach_model::semantics::{Event, State};
use coreach_model::{Datum, Value, Verdict};

use crate::constants::initial_state;
use crate::limits::MOST_EXPANDED;
use crate::planner::listed::{ListedGame, begin_states};
use crate::planner::solved::{Bias, SolvedGame, WinningLevel, list_choices};
use crate::test_case::TestCase;

/// The most work of one listing, in steps. A second has about a million.
const WORK: u64 = 500_000;

/// Constants are drawn so many times. All but the first have this part of the work.
const DRAWN_CONSTANTS: u64 = 4;

/// The best level that the tester can reach.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WinningProspect {
    /// The level that is certain; it may be better.
    pub level: WinningLevel,
    /// It is certainly no better than this level.
    pub at_best: WinningLevel,
    /// If Pass is forced: after at most so many events.
    pub within: Option<usize>,
    /// The number of positions that are known.
    pub positions: usize,
    /// The constants with which this holds.
    pub constants: Vec<(Datum, Value)>,
    /// The answer that keeps Pass from being forced.
    pub spoiler: Option<Spoiler>,
}

/// An answer after which less can be won.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spoiler {
    pub after: Vec<Event>,
    /// The answer; `None` is silence.
    pub answer: Option<Event>,
    /// The best level after the answer.
    pub leaves: WinningLevel,
}

/// Looks ahead in a test. `None` for a timed test, for one without Pass, or if no run can begin.
pub fn find_prospect(test: &TestCase, solver: &mut dyn Solver) -> Option<WinningProspect> {
    if test.timed.is_some() || !test.verdicts.contains(&Some(Verdict::Pass)) {
        return None;
    }
    let mut tried: Vec<State> = Vec::new();
    let mut best: Option<WinningProspect> = None;
    for seed in 1..=DRAWN_CONSTANTS {
        let Ok(state) = initial_state(test, &Default::default(), seed, solver) else { break };
        if tried.iter().any(|known| test.constants_in(known) == test.constants_in(&state)) {
            continue;
        }
        let work = if tried.is_empty() { WORK } else { WORK / DRAWN_CONSTANTS };
        let prospect = find_prospect_from(test, &state, work, solver);
        tried.push(state);
        let rank = |prospect: &WinningProspect| (prospect.level, prospect.within, prospect.at_best);
        if best.as_ref().is_none_or(|best| rank(&prospect) < rank(best)) {
            best = Some(prospect);
        }
        if best.as_ref().is_some_and(|best| best.level == WinningLevel::Forced) {
            break;
        }
    }
    best
}

/// Lists and solves the game from this state, with at most so much work.
fn find_prospect_from(
    test: &TestCase,
    initial: &State,
    work: u64,
    solver: &mut dyn Solver,
) -> WinningProspect {
    let mut game = ListedGame::new(test);
    let (states, begin_worth) = begin_states(test, initial.clone());
    let root = game.position(&states, begin_worth);
    let is_certain = false;
    let budget = Budget::new("prospect", Some(Limit::Work(work)), is_certain);
    // Exploring stops as soon as it is known that Pass is forced. What was listed before a limit counts.
    let _ = budget::within(&budget, || {
        let is_forced = |all: &[_]| SolvedGame::new(all, Bias::Surely).level(root) == WinningLevel::Forced;
        game.explore(test, root, MOST_EXPANDED, solver, is_forced);
    });
    let surely = SolvedGame::new(game.all(), Bias::Surely);
    let at_best = SolvedGame::new(game.all(), Bias::AtBest);
    WinningProspect {
        level: surely.level(root),
        at_best: at_best.level(root),
        within: surely.forced[root],
        positions: game.all().len(),
        constants: test.constants_in(initial),
        spoiler: find_spoiler(&game, &surely, &at_best, root),
    }
}

/// Finds the first of the worst answers that leave a way to Pass. `None` if there is none.
fn find_spoiler(
    game: &ListedGame,
    surely: &SolvedGame,
    at_best: &SolvedGame,
    root: usize,
) -> Option<Spoiler> {
    let level = surely.level(root);
    if level == WinningLevel::Forced {
        return None;
    }
    let events_left = surely.events_left(level);
    // A position without a way to Pass is the farthest.
    let distance = |position: &usize| (events_left[*position].is_none(), events_left[*position]);
    let (mut position, mut after) = (root, Vec::new());
    let mut worst: Option<Spoiler> = None;
    // Follows a shortest way to Pass by choices that keep the level.
    while events_left[position].is_some_and(|left| left > 0) {
        let options = game.all()[position].options.as_ref()?;
        let mut choices = list_choices(&game.all()[position]);
        if level == WinningLevel::Fair {
            choices.retain(|choice| choice.to.iter().all(|to| events_left[*to].is_some()));
        }
        let steps = choices.iter().flat_map(|choice| choice.to.iter().map(move |to| (choice, *to)));
        let (chosen, next) = steps.min_by_key(|(_, to)| distance(to))?;
        let sent = chosen.stimulus.map(|place| &options.stimuli[place]);
        let answers = options.answers.iter().filter(|answer| sent.is_none() || answer.event.is_some());
        for answer in answers.clone() {
            let leaves = at_best.level(answer.to);
            if leaves > worst.as_ref().map_or(WinningLevel::Forced, |worst| worst.leaves) {
                worst = Some(Spoiler { after: after.clone(), answer: answer.event.clone(), leaves });
            }
        }
        if worst.is_none() && sent.is_none() && !options.is_owed {
            worst = Some(Spoiler { after: after.clone(), answer: None, leaves: WinningLevel::Fair });
        }
        let taken = sent.into_iter().chain(answers).find(|event| event.to == next)?;
        after.extend(taken.event.clone());
        position = next;
    }
    worst
}

impl WinningProspect {
    /// Is it certain that no more can be won?
    pub fn is_exact(&self) -> bool {
        self.level == self.at_best
    }

    /// Takes into account that a run to Pass is known, with these constants.
    pub fn add_known_run(&mut self, constants: &[(Datum, Value)]) {
        if self.level == WinningLevel::Unreachable {
            self.level = WinningLevel::Possible;
            // With other constants, nothing is excluded.
            if self.constants != constants {
                (self.at_best, self.constants) = (WinningLevel::Forced, constants.to_vec());
            }
            self.at_best = self.at_best.min(WinningLevel::Possible);
        }
    }

    /// Returns the name of the level. It is open if no run to Pass was found and none is excluded.
    pub fn level_name(&self) -> &'static str {
        match self.level {
            WinningLevel::Unreachable if !self.is_exact() => "open",
            level => level.name(),
        }
    }
}

impl fmt::Display for WinningProspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.level, self.within) {
            (WinningLevel::Forced, Some(1)) => write!(f, "forced, within 1 event")?,
            (WinningLevel::Forced, Some(within)) => write!(f, "forced, within {within} events")?,
            (WinningLevel::Forced, None) => write!(f, "forced")?,
            (WinningLevel::Fair, _) => {
                write!(f, "fair: Pass comes if an answer that stays possible comes some day")?;
            }
            (WinningLevel::Possible, _) => write!(f, "possible: Pass comes if the system cooperates")?,
            (WinningLevel::Unreachable, _) => write!(f, "{}", self.level_name())?,
        }
        if self.level == WinningLevel::Unreachable && !self.is_exact() {
            write!(f, ": no run to Pass was found in {} positions", self.positions)?;
        } else if !self.is_exact() {
            write!(f, ", not {} within {} positions", self.at_best.name(), self.positions)?;
        }
        if !self.constants.is_empty() {
            let given: Vec<String> =
                self.constants.iter().map(|(datum, value)| format!("{datum} = {value}")).collect();
            write!(f, ", with {}", given.join(", "))?;
        }
        self.spoiler.as_ref().map_or(Ok(()), |spoiler| write!(f, "; {spoiler}"))
    }
}

impl fmt::Display for Spoiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.after.is_empty() {
            let after: Vec<String> = self.after.iter().map(ToString::to_string).collect();
            write!(f, "after {}: ", after.join(", "))?;
        }
        match &self.answer {
            Some(answer) => write!(f, "{answer} ")?,
            None => write!(f, "silence ")?,
        }
        write!(
            f,
            "{}",
            match self.leaves {
                WinningLevel::Forced | WinningLevel::Fair => "may come again and again",
                WinningLevel::Possible => "makes Pass only possible",
                WinningLevel::Unreachable => "loses the purpose",
            }
        )
    }
}
