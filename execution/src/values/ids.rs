//! Draws ids that find faults: known ones, and new ones.
//!
//! A system treats an id by whether it has handed it out. So half of the drawn ids are known: a guard
//! compares with them, or a parameter or a constant had them in this run. The others are new: `id1`, or the
//! first of `id2`, `id3` and so on that is not known.

use std::collections::{BTreeSet, HashSet};

use coreach_model::random::Random;
use coreach_model::{Term, Type, Value};

use crate::values::source::Pick;

/// Draws an id of this type when these are known. The source says whether it is one of them.
pub fn draw_id(ty: &Type, known: &[Value], source: Pick, random: &mut Random) -> (Value, Pick) {
    let is_known = matches!(source, Pick::Seen) || random.below(2) == 0;
    if let Some(value) = random.pick(known).filter(|_| is_known) {
        return (value.clone(), Pick::Seen);
    }
    (new_id(ty, known).unwrap_or_else(|| Value::any(ty)), Pick::Uniform)
}

/// Lists the ids that the condition compares with, and those that were seen, sorted and each once.
pub fn known_ids(ty: &Type, condition: &Term, seen: &[Value]) -> Vec<Value> {
    let mut known: BTreeSet<&Value> = seen.iter().collect();
    let (mut visited, mut unvisited) = (HashSet::new(), vec![condition]);
    while let Some(term) = unvisited.pop() {
        if visited.insert(term) {
            known.extend(term.as_literal());
            unvisited.extend(term.children());
        }
    }
    known.into_iter().filter(|value| value.is_in(ty)).cloned().collect()
}

fn new_id(ty: &Type, known: &[Value]) -> Option<Value> {
    let Type::Id(name) = ty else { return None };
    let mut ids = (1..=known.len() + 1).map(|number| Value::id(name, &format!("id{number}")));
    ids.find(|id| !known.contains(id))
}

/// Draws any id.
pub fn any(ty: &Type, random: &mut Random) -> Value {
    match ty {
        Type::Id(name) => Value::id(name, &format!("id{}", random.below(10))),
        ty => Value::any(ty),
    }
}
