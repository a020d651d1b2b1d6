//! What failed: by this, two failures are one, however long their runs were and whatever the values in them.
//!
//! **Problem.** A verdict is the same for every fault. Who shrinks a run by its verdict may end at another
//! fault; who reports a thousand runs that failed says one thing a thousand times, or the first five and
//! nothing of the sixth.
//!
//! **Method.** A *bucket* is what the user's specification says of the failure: where, at what, against what.
//! The *place* is the names of the specification's locations of which a test case's location was made, so
//! that several purposes, and several passes through one place, meet one fault. The *action* is that of the
//! event which decided. *Violated* are the parts of guards: of each transition that the action has there, the
//! conjuncts that did not hold; of these sets only those are kept that contain no other. So a purpose's
//! condition, which splits a transition of the specification into one that leads on and one that does not,
//! adds nothing: of each set what a test case says to be the specification's is kept, and where it says
//! nothing, one of the two halves has failed for the specification's reason alone, if both can be reached. No
//! set at all: the action is not allowed there. What is no event has the word of its cause for identity:
//! `alien`, `silence`, `lost`. Values, texts of an implementation and times are no part of it, or each run
//! would have its own.
//!
//! **Where it is approximate.** Two faults of one output at one place that violate the same conjuncts are one
//! bucket: no more can be seen from outside without asking for values. One fault that shows at two places is
//! two. Where several of the specification's locations are possible, those behind internal steps among them,
//! all of them are the place.
//!
//! **Costs** one evaluation of each conjunct of the action's guards there.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::campaign::key::Key;
use crate::judge::contract::LONGEST_TEXT;
use crate::judge::excerpts::cut;
use crate::outcome::{Outcome, OutcomeKind, cause};

/// What the word of a cause is that an event of the model decided.
const EVENT: &str = "event";

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Bucket {
    pub verdict: OutcomeKind,
    pub place: String,
    /// Why, as a word of [`crate::outcome`].
    pub cause: String,
    /// The action of the event that decided; nothing where no event did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The smallest sets of conjuncts that did not hold; in order. None where no transition of the place has
    /// this action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violated: Vec<Vec<String>>,
}

impl Bucket {
    /// Of a run that ended so, at this place, by an event of this action; `violated` has a set for each
    /// transition that was not taken.
    pub fn new(outcome: &Outcome, place: String, action: Option<&str>, violated: Vec<Vec<String>>) -> Self {
        Bucket {
            verdict: outcome.kind(),
            place,
            cause: cause(outcome).0.to_owned(),
            action: action.map(str::to_owned),
            violated: keep_smallest(violated),
        }
    }

    /// Is it one that nobody wants: a Fail, or a run error?
    pub fn is_failure(&self) -> bool {
        matches!(self.verdict, OutcomeKind::FAIL | OutcomeKind::RunError)
    }

    /// A short name of it, the same for equal ones only, as far as 48 bits can tell.
    pub fn id(&self) -> String {
        // JSON keeps the borders of the parts: without them two buckets could be one text.
        let text = serde_json::to_string(self).unwrap_or_default();
        Key::of(&text).short()
    }

    /// Against what, in words: `where pValue == vCount does not hold`.
    pub fn against(&self) -> String {
        if self.cause != EVENT {
            return match self.cause.as_str() {
                "alien" => "what is no event of the specification".to_owned(),
                "silence" if self.verdict == OutcomeKind::FAIL => "silence, where it must answer".to_owned(),
                other => other.to_owned(),
            };
        }
        let action = self.action.as_deref().unwrap_or("nothing");
        if self.verdict != OutcomeKind::FAIL {
            return action.to_owned();
        }
        // A text among others is read as a whole.
        let one_of = |set: &[String], text: &String| match set.len() > 1 && text.contains(" || ") {
            true => format!("({text})"),
            false => text.clone(),
        };
        let together =
            |set: &Vec<String>| set.iter().map(|text| one_of(set, text)).collect::<Vec<_>>().join(" and ");
        let sets: Vec<String> = self.violated.iter().map(together).collect();
        match sets.as_slice() {
            [] => format!("{action}, which is not allowed there"),
            sets => format!("{action} against {}", sets.join(", or ")),
        }
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = format!("{} in {}: {}", self.verdict, self.place, self.against());
        f.write_str(&cut(&title, LONGEST_TEXT))
    }
}

/// Drops the sets that contain another one, and sorts the rest.
fn keep_smallest(mut sets: Vec<Vec<String>>) -> Vec<Vec<String>> {
    for set in &mut sets {
        set.sort();
        set.dedup();
    }
    sets.sort();
    sets.dedup();
    let contains = |one: &[String], other: &[String]| other.iter().all(|part| one.contains(part));
    let is_least = |set: &&Vec<String>| !sets.iter().any(|other| other != *set && contains(set, other));
    sets.iter().filter(is_least).cloned().collect()
}

#[cfg(test)]
mod tests {
    use coreach_model::Verdict;

    use super::*;
    use crate::run::Cause;

    fn sets(of: &[&[&str]]) -> Vec<Vec<String>> {
        of.iter().map(|set| set.iter().map(|part| (*part).to_owned()).collect()).collect()
    }

    #[test]
    fn a_disjunction_among_others_stands_in_brackets() {
        let bucket = |set: &[&str]| {
            let set = set.iter().map(|text| (*text).to_owned()).collect();
            let outcome = Outcome::Verdict(Verdict::Fail, Cause::Event);
            Bucket::new(&outcome, "At".to_owned(), Some("Out"), vec![set]).against()
        };
        assert_eq!(bucket(&["a == 1 || b", "c"]), "Out against (a == 1 || b) and c");
        assert_eq!(bucket(&["a == 1 || b"]), "Out against a == 1 || b");
    }

    #[test]
    fn a_purposes_half_of_a_guard_is_no_part_of_the_bucket() {
        let fail = Outcome::Verdict(Verdict::Fail, Cause::Event);
        let bucket = |of: &[&[&str]]| Bucket::new(&fail, "A".to_owned(), Some("Value"), sets(of));
        let wanted = sets(&[&["p == v"]]);
        assert_eq!(bucket(&[&["p == v", "v > 60"], &["p == v"]]).violated, wanted);
        assert_eq!(bucket(&[&["p == v"], &["v <= 60", "p == v", "p == v"]]).violated, wanted);
        // Neither contains the other.
        assert_eq!(bucket(&[&["b", "a"], &["c"]]).violated, sets(&[&["a", "b"], &["c"]]));
        assert_eq!(bucket(&[]).to_string(), "Fail in A: Value, which is not allowed there");
        assert_eq!(bucket(&[&["p == v"]]).to_string(), "Fail in A: Value against p == v");
        assert_ne!(bucket(&[&["a", "b"]]).id(), bucket(&[&["a"], &["b"]]).id());
    }
}
