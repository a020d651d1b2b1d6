//! The sizes of sets and maps that have a flag for each of many keys.
//!
//! **Problem.** `len(s)` stands for a sum of flags. If there are many keys, the partition has no room for the
//! flags, so nothing is known of the sum. Then "the set never has more than three keys" cannot be proved.
//! **Method.** The size is a number of its own ([`crate::places::size`]). Assigned values are read as they
//! were written. An added key makes the size one greater, or leaves it as it is. The guard decides between
//! the two, if it asks whether the set has the key. **Sound**: without the guard, both are possible.

use std::collections::HashMap;

use coreach_model::Value;
use coreach_model::term::node::Node;
use coreach_model::term::operation::{DerivedOperation, StandardOperation};
use coreach_model::term::{Term, TermShape};
use coreach_model::types::RecordForm;
use coreach_polyhedra::{LinearExpression, Rational};

use crate::condition::Formula;
use crate::frame::FrameSlot;
use crate::places::size;
use crate::predicates::split_negation;
use crate::scope::{CASE_LIMIT, CompileScope, Split};

/// Collects the conjuncts of a guard that ask whether a key is in a set or a map, each with the answer.
pub fn decided_keys(guard: &Term) -> HashMap<Term, bool> {
    let mut decided = HashMap::new();
    for conjunct in guard.unfolded_conjuncts() {
        let (asked, answer) = split_negation(&conjunct);
        if let TermShape::Operation(DerivedOperation::Standard(StandardOperation::HasKey), _) = asked.shape()
        {
            decided.insert(asked, answer);
        }
    }
    decided
}

impl CompileScope<'_> {
    /// The cases of a term that is the size of a large set or map. `None` for another term.
    pub(crate) fn size_of(&mut self, term: &Term) -> Option<Split<LinearExpression>> {
        let TermShape::Operation(DerivedOperation::Standard(StandardOperation::Size), arguments) =
            term.shape()
        else {
            return None;
        };
        self.collection_size(arguments.first()?)
    }

    /// The cases of the size of a set or a map. `None`: nothing is known of it.
    fn collection_size(&mut self, collection: &Term) -> Option<Split<LinearExpression>> {
        use StandardOperation::{Difference, Union, ValueChanged};
        let place = size(collection)?;
        if collection.written_datum().is_some() || matches!(collection.written(), Some(Node::Field(..))) {
            let Some(FrameSlot::Numeric(dimension)) = self.frame.slot(&place.term) else { return None };
            return Some(vec![(Formula::Yes, LinearExpression::variable(dimension))]);
        }
        // The size of a literal is a literal.
        if place.term.as_literal().is_some() {
            return self.linear(&place.term).ok();
        }
        if let Some(Node::IfThenElse(c, a, b)) = collection.written() {
            let mut cases = Vec::new();
            for (on, branch) in [(c.clone(), a), (c.not(), b)] {
                let on = self.condition(&on);
                let sizes = self.collection_size(branch)?;
                cases.extend(sizes.into_iter().map(|(own, size)| (Formula::and([on.clone(), own]), size)));
            }
            return Some(cases);
        }
        let TermShape::Operation(operation, arguments) = collection.shape() else { return None };
        match (operation, &arguments[..]) {
            (DerivedOperation::Standard(Union), [whole, added]) => {
                self.size_after_step(whole, &listed_keys(added)?, 1)
            }
            (DerivedOperation::Standard(Difference), [whole, removed]) => {
                self.size_after_step(whole, &listed_keys(removed)?, -1)
            }
            (DerivedOperation::Standard(ValueChanged), [whole, key, _]) => {
                self.size_after_step(whole, std::slice::from_ref(key), 1)
            }
            (DerivedOperation::SetOf(_), [_]) => {
                Some(vec![(Formula::Yes, LinearExpression::constant(Rational::ONE))])
            }
            _ => None,
        }
    }

    /// The cases of the size after these keys are added (`step` is 1) or removed (`step` is -1).
    fn size_after_step(&mut self, whole: &Term, keys: &[Term], step: i64) -> Option<Split<LinearExpression>> {
        let mut cases = self.collection_size(whole)?;
        for key in keys {
            let asked = Term::standard(StandardOperation::HasKey, [key.clone(), whole.clone()]);
            // Two of several keys may be equal, so the guard decides only for a single key.
            let has_key = self.keys.get(&asked).copied().filter(|_| keys.len() == 1);
            let is_removed = step < 0;
            let changes: &[i64] = match has_key {
                None => &[0, step],
                Some(has_key) if has_key == is_removed => &[step],
                // The added key is there already, or the removed one is not.
                Some(_) => &[0],
            };
            let mut changed_cases = Vec::new();
            for (on, size) in &cases {
                let changed_by =
                    |change: &i64| size.plus(&LinearExpression::constant(Rational::from(*change)));
                changed_cases.extend(changes.iter().map(|change| (on.clone(), changed_by(change))));
            }
            cases = changed_cases;
            if cases.len() > CASE_LIMIT {
                return None;
            }
        }
        Some(cases)
    }
}

/// The keys of a set that lists them. `None`: it does not.
fn listed_keys(set: &Term) -> Option<Vec<Term>> {
    if let TermShape::Operation(DerivedOperation::SetOf(_), keys) = set.shape() {
        return Some(keys.clone());
    }
    let Value::Record(record, flags) = set.as_literal()? else { return None };
    let RecordForm::Keyed(key) = &record.form else { return None };
    let keys = Value::enumerate(key, record.fields.len())?.into_iter().zip(flags.iter());
    Some(keys.filter(|(_, flag)| **flag == Value::Bool(true)).map(|(key, _)| Term::literal(key)).collect())
}
