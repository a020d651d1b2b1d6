//! What of the goals is still open: ever, in this round, and worth another plan.

use std::collections::{BTreeMap, BTreeSet};

use super::goals::{Class, NumberedPhase, SoughtGoal};
use super::positions::MetGoals;
use super::search::WalkTarget;

/// So many plans for a goal may come to nothing; then it waits for the next round.
const TRIES: usize = 8;

/// The most searches that a phase sits out after one that found nothing.
const REST: usize = 16;

/// What has been met.
#[derive(Clone, Debug)]
pub struct Rounds {
    /// The number of this round, from 1.
    pub number: usize,
    /// The goals that were met in any of them.
    pub covered: Vec<bool>,
    met: Vec<bool>,
    tries: Vec<usize>,
    classes: BTreeSet<Class>,
    class_tries: BTreeMap<Class, usize>,
    /// For each phase: how many searches in a row found nothing, and how many it still sits out.
    rests: Vec<(u32, usize)>,
}

impl Rounds {
    /// The first one.
    pub fn new(sought: &SoughtGoal) -> Self {
        let goals = sought.goals.len();
        Rounds {
            number: 1,
            covered: vec![false; goals],
            met: vec![false; goals],
            tries: vec![0; goals],
            classes: BTreeSet::new(),
            class_tries: BTreeMap::new(),
            rests: vec![(0, 0); sought.phases.len()],
        }
    }

    /// All again, with new values.
    pub fn next(&mut self) {
        self.number += 1;
        self.met.fill(false);
        self.tries.fill(0);
        self.class_tries.clear();
        self.rests.fill((0, 0));
    }

    /// Notes what an event has met; was a goal met that this round had not met?
    pub fn note(&mut self, met: MetGoals) -> bool {
        let mut is_new = false;
        for goal in met.goals {
            is_new |= !self.met[goal];
            (self.met[goal], self.covered[goal]) = (true, true);
        }
        self.classes.extend(met.classes);
        is_new
    }

    /// Notes that there is a plan for this.
    pub fn plans(&mut self, target: &WalkTarget) {
        match target {
            WalkTarget::WalkGoal(goal) => self.tries[*goal] += 1,
            WalkTarget::Class(class) => *self.class_tries.entry(class.clone()).or_default() += 1,
        }
    }

    /// What of a step's goals, or of its classes, is open in a phase, and how much is new with it in this and
    /// the later ones.
    pub fn open(
        &self,
        sought: &SoughtGoal,
        phase: usize,
        goals: &[usize],
        classes: &[Class],
    ) -> (Option<WalkTarget>, usize) {
        /// So much more counts what is new in this phase than in a later one.
        const OWN: usize = 4;
        let (mut gain, mut own) = (0, None);
        for (number, later) in sought.phases.iter().enumerate().skip(phase) {
            let (target, count) = match later {
                NumberedPhase::Goals(list) => {
                    let is_new = |goal: &usize| list.binary_search(goal).is_ok() && self.is_open(*goal);
                    let mut new = goals.iter().copied().filter(is_new);
                    let first = new.next();
                    (first.map(WalkTarget::WalkGoal), usize::from(first.is_some()) + new.count())
                }
                _ => {
                    let is_new = |class: &&Class| later.seeks(class) && self.is_new(class);
                    let first = classes.iter().find(is_new);
                    (first.cloned().map(WalkTarget::Class), usize::from(first.is_some()))
                }
            };
            if number == phase {
                own = target;
            }
            gain += if number == phase { OWN * count } else { count };
        }
        (own, gain)
    }

    fn is_new(&self, class: &Class) -> bool {
        !self.classes.contains(class) && self.class_tries.get(class).is_none_or(|tries| *tries < TRIES)
    }

    fn is_open(&self, goal: usize) -> bool {
        !self.met[goal] && self.tries[goal] < TRIES
    }

    /// Is there anything that a search in this phase could find?
    pub fn has_open(&self, sought: &SoughtGoal, phase: usize) -> bool {
        match &sought.phases[phase] {
            NumberedPhase::Goals(own) => own.iter().any(|goal| self.is_open(*goal)),
            _ => true,
        }
    }

    /// Is a goal open that is listed?
    pub fn lists_open(&self, sought: &SoughtGoal) -> bool {
        (0..sought.phases.len()).any(|phase| sought.phases[phase].is_listed() && self.has_open(sought, phase))
    }

    /// Does a phase sit this search out?
    pub fn rests(&mut self, phase: usize) -> bool {
        let (_, left) = &mut self.rests[phase];
        let rests = *left > 0;
        *left = left.saturating_sub(1);
        rests
    }

    /// Notes what a search in a phase came to.
    pub fn searched(&mut self, phase: usize, found: bool) {
        let (failed, left) = &mut self.rests[phase];
        *failed = if found { 0 } else { *failed + 1 };
        *left = if found { 0 } else { 2usize.saturating_pow(*failed).min(REST) };
    }

    /// How many goals were met in any round.
    pub fn count(&self) -> usize {
        self.covered.iter().filter(|covered| **covered).count()
    }
}
