//! Values the items that a walk can meet, by how often each was met.
//!
//! **Problem.** A list of open goals does not tell which of two open goals is better. Once all are met, it
//! tells nothing.
//!
//! **Method.** An item is a goal or a class, and each has a weight. Its worth is its weight until it was met
//! once, or was planned [`TRIES`] times. From then on it is a hundredth, and falls with each meeting. So new
//! items go before old ones. If nothing is new, the items that were met least come again, with other values.
//! An item that no run can meet is given up after its tries.

use std::collections::HashSet;

use coreach_model::hash::FastMap;

use super::goals::{Class, SIDE, WalkModel};
use super::positions::MetGoals;

/// What a weight of one is worth.
const ONE: u64 = 3600;

/// After so many plans in vain, an item that was never met counts as met once.
const TRIES: u32 = 8;

/// The items of a walk, and how often each was met.
#[derive(Clone, Debug)]
pub struct Worth {
    /// The numbers of the classes that were seen so far. They follow the numbers of the goals.
    classes: FastMap<Class, usize>,
    items: Vec<WorthItem>,
    /// The number of goals, which are the first items.
    goals: usize,
    /// The numbers of the classes of alternatives.
    alternatives: Vec<usize>,
}

/// The kinds of items, ordered by how much a first meeting tells about the chosen constants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Novelty {
    /// Nothing new, or a new class that is no sign.
    Nothing,
    /// A new sign of a comparison.
    Sign,
    /// A new goal.
    Goal,
}

#[derive(Clone, Debug)]
struct WorthItem {
    /// What its first meeting counts as.
    novelty: Novelty,
    weight: u64,
    /// How often it was met.
    met: u32,
    /// How often it was planned.
    tries: u32,
}

impl WorthItem {
    fn new(novelty: Novelty, weight: u64) -> Self {
        WorthItem { novelty, weight, met: 0, tries: 0 }
    }
}

impl Worth {
    /// Lists the goals as items that were never met.
    pub fn new(model: &WalkModel) -> Self {
        let items = model.goals.iter().map(|goal| WorthItem::new(Novelty::Goal, goal.weight()));
        let items: Vec<WorthItem> = items.collect();
        Worth { classes: FastMap::default(), goals: items.len(), items, alternatives: Vec::new() }
    }

    /// Returns the number of a class, and lists the class if it is new.
    pub fn class_number(&mut self, class: &Class) -> usize {
        if let Some(known) = self.classes.get(class) {
            return *known;
        }
        self.classes.insert(class.clone(), self.items.len());
        let novelty = if matches!(class, Class::Sign(..)) { Novelty::Sign } else { Novelty::Nothing };
        if matches!(class, Class::Alternative(..)) {
            self.alternatives.push(self.items.len());
        }
        self.items.push(WorthItem::new(novelty, class.weight()));
        self.items.len() - 1
    }

    /// Returns the worth of meeting an item now.
    pub fn worth_of(&self, item: usize) -> u64 {
        let WorthItem { weight, met, tries, .. } = &self.items[item];
        match u64::from(met + tries / TRIES) {
            0 => weight * ONE,
            // An item that was met is worth a hundredth at most.
            times => (weight * ONE / (100 * times * times)).max(1),
        }
    }

    /// Tells whether an item is new: it was never met, is not given up, and is worth a way of its own.
    pub fn is_fresh(&self, item: usize) -> bool {
        let WorthItem { met, tries, weight, .. } = &self.items[item];
        *met == 0 && *tries < TRIES && *weight > SIDE
    }

    /// Counts the items that an event has met, and returns the highest novelty among them.
    pub fn note_met(&mut self, met: &MetGoals) -> Novelty {
        let mut novelty = Novelty::Nothing;
        let classes: Vec<usize> = met.classes.iter().map(|class| self.class_number(class)).collect();
        for item in met.goals.iter().copied().chain(classes) {
            let item = &mut self.items[item];
            if item.met == 0 {
                novelty = novelty.max(item.novelty);
            }
            item.met += 1;
        }
        novelty
    }

    /// Returns the worth of an item for the choice of constants. Counts, which any constants meet, have none.
    pub fn worth_for_constants(&self, item: usize) -> u64 {
        if self.items[item].novelty == Novelty::Nothing { 0 } else { self.worth_of(item) }
    }

    /// Tells whether a goal is open.
    pub fn has_open_goal(&self) -> bool {
        (0..self.goals).any(|goal| self.is_fresh(goal))
    }

    /// Tells whether an alternative was seen to be possible, and never sent.
    pub fn has_open_alternative(&self) -> bool {
        self.alternatives.iter().any(|item| self.is_fresh(*item))
    }

    /// Tells whether a goal is among these items.
    pub fn has_goal(&self, items: &HashSet<usize>) -> bool {
        items.iter().any(|item| *item < self.goals)
    }

    pub fn count_plan(&mut self, item: usize) {
        self.items[item].tries += 1;
    }

    /// For each goal, whether it was met.
    pub fn covered(&self) -> impl Iterator<Item = bool> {
        self.items[..self.goals].iter().map(|item| item.met > 0)
    }

    /// Returns the least number of meetings among the goals that were met, and at least 1.
    pub fn round(&self) -> usize {
        let met = self.items[..self.goals].iter().map(|item| item.met as usize).filter(|met| *met > 0);
        met.min().unwrap_or_default().max(1)
    }
}
