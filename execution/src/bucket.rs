//! The identity of a failure. Two failures with the same bucket are one, however long their runs were and
//! whatever the values in them.
//!
//! **Problem.** A verdict is the same for every fault. A run that is shrunk by its verdict may end at another
//! fault, and a report of a thousand failed runs may say one thing a thousand times.
//!
//! **Method.** A *bucket* describes the failure in terms of the user's specification: where, at what, against
//! what. The *place* is the names of the specification's locations of which a test case's location was made,
//! so that several purposes meet one fault. The *action* is that of the deciding event. *Violated* are parts
//! of guards: for each transition that the action has there, the conjuncts that did not hold. Of these sets
//! only those are kept that contain no other set. A purpose's condition splits a transition of the
//! specification, and adds nothing to the bucket: of each set only the conjuncts are kept that a test case
//! says are the specification's. No set at all means that the action is not allowed there. Without an event,
//! the word of the cause is the identity: `alien`, `silence`, `lost`. Values, texts of an implementation and
//! times are no part of a bucket.
//!
//! **It is approximate.** Two faults of one output at one place that violate the same conjuncts are one
//! bucket. One fault that shows at two places is two buckets. If several locations are possible, also by
//! internal steps, all are the place. **Costs** one evaluation of each conjunct of the guards there.

use std::fmt;

use coreach_model::limits::LONGEST_TEXT;
use serde::{Deserialize, Serialize};

use crate::campaign::key::Key;
use crate::judge::excerpts::cut_text;
use crate::outcome::{Outcome, OutcomeKind, cause_and_detail};

/// The word of a cause if an event of the model decided.
const EVENT: &str = "event";

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Bucket {
    pub verdict: OutcomeKind,
    pub place: String,
    /// The cause, as a word of [`crate::outcome`].
    pub cause: String,
    /// The action of the deciding event; `None` if no event decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The smallest sets of conjuncts that did not hold, sorted. Empty if the place has no such transition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violated: Vec<Vec<String>>,
}

impl Bucket {
    /// Makes the bucket of a run that ended so, at this place, by an event of this action. `violated` has a
    /// set for each transition that was not taken.
    pub fn new(outcome: &Outcome, place: String, action: Option<&str>, violated: Vec<Vec<String>>) -> Self {
        Bucket {
            verdict: outcome.kind(),
            place,
            cause: cause_and_detail(outcome).0.to_owned(),
            action: action.map(str::to_owned),
            violated: keep_smallest(violated),
        }
    }

    /// Is it a Fail or a run error?
    pub fn is_failure(&self) -> bool {
        matches!(self.verdict, OutcomeKind::FAIL | OutcomeKind::RunError)
    }

    /// Makes a short name. Only equal buckets have the same name, as far as 48 bits can tell.
    pub fn id(&self) -> String {
        // JSON keeps the borders of the parts: without them two buckets could be one text.
        let text = serde_json::to_string(self).unwrap_or_default();
        Key::of(&text).short()
    }

    /// Says what failed, without verdict and place: `Return against pValue == vCount`, or the cause in words.
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
        if self.violated.is_empty() {
            return format!("{action}, which is not allowed there");
        }
        let conjunction = |set: &Vec<String>| {
            // Parentheses keep a disjunction together among other texts.
            let as_operand = |text: &String| match set.len() > 1 && text.contains(" || ") {
                true => format!("({text})"),
                false => text.clone(),
            };
            set.iter().map(as_operand).collect::<Vec<_>>().join(" and ")
        };
        let sets: Vec<String> = self.violated.iter().map(conjunction).collect();
        format!("{action} against {}", sets.join(", or "))
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = format!("{} in {}: {}", self.verdict, self.place, self.against());
        f.write_str(&cut_text(&title, LONGEST_TEXT))
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
    let contains = |set: &[String], subset: &[String]| subset.iter().all(|part| set.contains(part));
    let is_smallest = |set: &&Vec<String>| !sets.iter().any(|other| other != *set && contains(set, other));
    sets.iter().filter(is_smallest).cloned().collect()
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
