//! The sizes of sets and maps that have a flag for each of many keys.
//!
//! **Problem.** `len(s)` stands for a sum of flags. Of many keys, the partition has no room for the flags, so
//! nothing is known of the sum. That a set never has more than three keys is then not proved.
//!
//! **Method.** The size is a number of its own ([`crate::places::size`]). What is assigned is looked at as it
//! was written. A key that is added makes the size one greater, or leaves it as it is. Which of the two it is
//! follows from the guard, where the guard asks whether the key is there.
//!
//! **Sound**: of a key of which the guard says nothing, both are possible.

use std::collections::HashMap;

use coreach_model::Value;
use coreach_model::term::node::Node;
use coreach_model::term::operation::{DerivedOperation, StandardOperation};
use coreach_model::term::{Term, TermShape};
use coreach_model::types::RecordForm;
use coreach_polyhedra::{LinearExpression, Rational};

use crate::condition::Condition;
use crate::frame::Slot;
use crate::places::size;
use crate::predicates::positive;
use crate::scope::{CASE_LIMIT, Cases, Scope};

/// Which questions for a key a guard answers: each conjunct that is one, and its answer.
pub fn decided_keys(guard: &Term) -> HashMap<Term, bool> {
    let mut decided = HashMap::new();
    for conjunct in guard.unfolded_conjuncts() {
        let (asked, answer) = positive(&conjunct);
        if let TermShape::Operation(DerivedOperation::Standard(StandardOperation::HasKey), _) = asked.shape()
        {
            decided.insert(asked, answer);
        }
    }
    decided
}

impl Scope<'_> {
    /// The cases of a term that is the size of a large set or map, as it was written.
    pub(crate) fn size_of(&mut self, term: &Term) -> Option<Cases<LinearExpression>> {
        let TermShape::Operation(DerivedOperation::Standard(StandardOperation::Size), arguments) =
            term.shape()
        else {
            return None;
        };
        self.sizes(arguments.first()?)
    }

    /// The cases of the size of a set or a map; `None` where nothing is known of it.
    fn sizes(&mut self, collection: &Term) -> Option<Cases<LinearExpression>> {
        use StandardOperation::{Difference, Union, ValueChanged};
        let place = size(collection)?;
        if collection.written_datum().is_some() || matches!(collection.written(), Some(Node::Field(..))) {
            let Some(Slot::Numeric(dimension)) = self.frame.slot(&place.term) else { return None };
            return Some(vec![(Condition::Yes, LinearExpression::variable(dimension))]);
        }
        if place.term.as_literal().is_some() {
            return self.linear(&place.term).ok();
        }
        if let Some(Node::IfThenElse(c, a, b)) = collection.written() {
            let mut cases = Vec::new();
            for (on, branch) in [(c.clone(), a), (c.not(), b)] {
                let on = self.condition(&on);
                let own = self.sizes(branch)?;
                cases.extend(own.into_iter().map(|(own, size)| (Condition::and([on.clone(), own]), size)));
            }
            return Some(cases);
        }
        let TermShape::Operation(operation, arguments) = collection.shape() else { return None };
        match (operation, &arguments[..]) {
            (DerivedOperation::Standard(Union), [whole, added]) => self.with_keys(whole, &keys_of(added)?, 1),
            (DerivedOperation::Standard(Difference), [whole, removed]) => {
                self.with_keys(whole, &keys_of(removed)?, -1)
            }
            (DerivedOperation::Standard(ValueChanged), [whole, key, _]) => {
                self.with_keys(whole, std::slice::from_ref(key), 1)
            }
            (DerivedOperation::SetOf(_), [_]) => {
                Some(vec![(Condition::Yes, LinearExpression::constant(Rational::ONE))])
            }
            _ => None,
        }
    }

    /// The cases of the size where these keys are added, or removed, one after the other.
    fn with_keys(&mut self, whole: &Term, keys: &[Term], step: i64) -> Option<Cases<LinearExpression>> {
        let mut cases = self.sizes(whole)?;
        for key in keys {
            let asked = Term::standard(StandardOperation::HasKey, [key.clone(), whole.clone()]);
            // Of several keys, one may be another.
            let is_there = self.keys.get(&asked).copied().filter(|_| keys.len() == 1);
            let changes = [0, step].into_iter().filter(|change| match is_there {
                None => true,
                Some(is_there) => (*change != 0) == (is_there == (step < 0)),
            });
            let changes: Vec<LinearExpression> =
                changes.map(|change| LinearExpression::constant(Rational::from(change))).collect();
            let each = cases
                .iter()
                .flat_map(|(on, size)| changes.iter().map(move |change| (on.clone(), size.plus(change))));
            cases = each.collect();
            if cases.len() > CASE_LIMIT {
                return None;
            }
        }
        Some(cases)
    }
}

/// The keys of a set that lists them.
fn keys_of(set: &Term) -> Option<Vec<Term>> {
    if let TermShape::Operation(DerivedOperation::SetOf(_), keys) = set.shape() {
        return Some(keys.clone());
    }
    let Value::Record(record, flags) = set.as_literal()? else { return None };
    let RecordForm::Keyed(key) = &record.form else { return None };
    let keys = Value::enumerate(key, record.fields.len())?.into_iter().zip(flags.iter());
    Some(keys.filter(|(_, flag)| **flag == Value::Bool(true)).map(|(key, _)| Term::literal(key)).collect())
}
