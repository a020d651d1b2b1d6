//! The test case of a path of a timed model, for the code that makes it, checks it and writes it.

use coreach_artifact::document::Origins;
use coreach_model::iosts::Iosts;
use coreach_model::{LocationId, Numbered, Term, TransitionId, Verdict};

use crate::lateness::LatenessTiming;
use crate::timed::rules::{self, Rule, RuleCounts};

/// The origin of a transition of the test case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MadeBy {
    pub rule: Rule,
    /// The model's transition, if the rule is about one.
    pub through: Option<TransitionId>,
}

#[derive(Clone, Debug)]
pub struct PathGuided {
    /// The graph. Its directions are the implementation's. Inputs that the tester sees and does not send are
    /// among the outputs, as in every timed test case ([`crate::lateness`]), and `timing` names them.
    pub iosts: Iosts,
    pub verdicts: Numbered<LocationId, Option<Verdict>>,
    /// The location of the model that each location was made of.
    pub origins: Numbered<LocationId, Origins>,
    /// Its times. Silence is a fact after TM.
    pub timing: LatenessTiming,
    pub made_by: Numbered<TransitionId, MadeBy>,
    /// The rules' counts for each context of the path, in order.
    pub counts: Vec<RuleCounts>,
    /// For each location, the facts about registers and constants there: they hold in every state in which a
    /// run can be. Symbols in them that are neither stand for some value.
    pub known: Numbered<LocationId, Vec<Term>>,
    /// The steps of the path, from 0, that cannot be seen before silence is a fact: no run gets past them,
    /// but it may with a greater TM.
    pub unseen: Vec<usize>,
    /// What could not be said exactly, one sentence each. No verdict is wrong because of it.
    pub imprecisions: Vec<String>,
}

impl PathGuided {
    /// Counts the transitions that the rules made.
    pub fn by_rules(&self) -> usize {
        rules::sum_counts(self.counts.iter().map(|counts| &counts.made))
    }

    /// Counts the transitions that a rule made.
    pub fn made_by_rule(&self, rule: Rule) -> usize {
        self.counts.iter().filter_map(|counts| counts.made.get(&rule)).sum()
    }
}
