//! What meeting something is worth: the less, the more often it was met.
//!
//! **Problem.** A list that is worked off says nothing about which of two goals that are open is better, and
//! nothing at all once it is done.
//!
//! **Method.** Each item, a goal or a class, has a weight. That is its worth until it is met, or was planned
//! [`TRIES`] times; then it is a hundredth, and the less, the more often. So what is new goes before what is
//! old; where nothing is new, what was seldom met comes again with other values; and what no run can meet is
//! given up by itself.

use std::collections::HashSet;

use coreach_model::hash::FastMap;

use super::goals::{Class, SoughtGoal};
use super::positions::MetGoals;

/// What a weight of one is worth.
const ONE: u64 = 3600;

/// So many times less is worth what was met once.
const OLD: u64 = 100;

/// So many plans for an item that was never met may come to nothing; then it is as old as any other.
const TRIES: u32 = 8;

/// What has been met, and how often.
#[derive(Clone, Debug)]
pub struct Worth {
    /// The numbers of the classes that were looked at; the goals have the numbers before.
    classes: FastMap<Class, usize>,
    /// For each item.
    items: Vec<Item>,
    /// How many items are goals.
    goals: usize,
}

/// What was met for the first time: the most of it that tells something about the constants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum New {
    /// Nothing, or another count.
    Nothing,
    /// A comparison had a new sign.
    Sign,
    /// A goal.
    Goal,
}

#[derive(Clone, Debug)]
struct Item {
    /// What it is to meet it first.
    new: New,
    weight: u64,
    met: u32,
    tries: u32,
}

impl Item {
    fn new(new: New, weight: u64) -> Self {
        Item { new, weight, met: 0, tries: 0 }
    }
}

impl Worth {
    /// Makes the worth of all items before anything was met.
    pub fn new(sought: &SoughtGoal) -> Self {
        let items = sought.goals.iter().map(|goal| Item::new(New::Goal, goal.weight()));
        let items: Vec<Item> = items.collect();
        Worth { classes: FastMap::default(), goals: items.len(), items }
    }

    /// The number of a class.
    pub fn number(&mut self, class: &Class) -> usize {
        if let Some(known) = self.classes.get(class) {
            return *known;
        }
        self.classes.insert(class.clone(), self.items.len());
        let new = if matches!(class, Class::Sign(..)) { New::Sign } else { New::Nothing };
        self.items.push(Item::new(new, class.weight()));
        self.items.len() - 1
    }

    /// What it is worth to meet an item.
    pub fn of(&self, item: usize) -> u64 {
        let Item { weight, met, tries, .. } = &self.items[item];
        match u64::from(met + tries / TRIES) {
            0 => weight * ONE,
            times => (weight * ONE / (OLD * times * times)).max(1),
        }
    }

    /// Was it never met, and may it be?
    pub fn is_fresh(&self, item: usize) -> bool {
        let Item { met, tries, .. } = &self.items[item];
        *met == 0 && *tries < TRIES
    }

    /// Notes what an event has met; what of it, at the most, was met for the first time?
    pub fn note(&mut self, met: &MetGoals) -> New {
        let mut new = New::Nothing;
        let classes: Vec<usize> = met.classes.iter().map(|class| self.number(class)).collect();
        for item in met.goals.iter().copied().chain(classes) {
            let item = &mut self.items[item];
            if item.met == 0 {
                new = new.max(item.new);
            }
            item.met += 1;
        }
        new
    }

    /// What it is worth that an item can be met with some constants: a count is met with any.
    pub fn of_constants(&self, item: usize) -> u64 {
        if self.items[item].new == New::Nothing { 0 } else { self.of(item) }
    }

    /// Is a goal open?
    pub fn has_open(&self) -> bool {
        (0..self.goals).any(|goal| self.is_fresh(goal))
    }

    /// Is a goal among these items?
    pub fn has_goal(&self, items: &HashSet<usize>) -> bool {
        items.iter().any(|item| *item < self.goals)
    }

    /// Notes that there is a plan for an item.
    pub fn plans(&mut self, item: usize) {
        self.items[item].tries += 1;
    }

    /// Which goals were met.
    pub fn covered(&self) -> impl Iterator<Item = bool> {
        self.items[..self.goals].iter().map(|item| item.met > 0)
    }

    /// How often each goal that was met at all was met, at least.
    pub fn round(&self) -> usize {
        let met = self.items[..self.goals].iter().map(|item| item.met as usize).filter(|met| *met > 0);
        met.min().unwrap_or_default().max(1)
    }
}
