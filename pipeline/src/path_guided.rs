//! What a path of a timed model is made into, for who makes it, checks it and writes it.

use coreach_artifact::document::Origins;
use coreach_model::iosts::Iosts;
use coreach_model::{LocationId, Numbered, Term, TransitionId, Verdict};

use crate::lateness::Timing;
use crate::timed::rules::{self, Rule, RuleCounts};

/// Where a transition of the test case comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MadeBy {
    pub rule: Rule,
    /// The model's transition, where it is about one.
    pub through: Option<TransitionId>,
}

#[derive(Clone, Debug)]
pub struct PathGuided {
    /// The graph; its directions are the implementation's. What the tester sees and does not send stands
    /// among the outputs, as in every timed test case ([`crate::lateness`]); `timing` names it.
    pub iosts: Iosts,
    pub verdicts: Numbered<LocationId, Option<Verdict>>,
    /// Of which location of the model each was made.
    pub origins: Numbered<LocationId, Origins>,
    /// What it says of time; silence is a fact after TM.
    pub timing: Timing,
    pub made_by: Numbered<TransitionId, MadeBy>,
    /// For each context of the path, in order: its rules' counts.
    pub counts: Vec<RuleCounts>,
    /// For each location, what is known there of registers and constants: it holds in every state in which a
    /// run can be. Symbols in it that are neither stand for some value.
    pub known: Numbered<LocationId, Vec<Term>>,
    /// The steps of the path, from 0, that cannot be seen before silence is a fact: no run gets past them. A
    /// greater TM may do.
    pub unseen: Vec<usize>,
    /// What could not be said exactly, one sentence each; no verdict is wrong by it.
    pub imprecisions: Vec<String>,
}

impl PathGuided {
    pub fn by_rules(&self) -> usize {
        rules::sum(self.counts.iter().map(|counts| &counts.made))
    }

    pub fn made(&self, rule: Rule) -> usize {
        self.counts.iter().filter_map(|counts| counts.made.get(&rule)).sum()
    }
}
