//! Checks the product against the specification and the completed purpose.

use std::collections::{BTreeMap, HashMap, HashSet};

use coreach_analyses::solver::Solver;
use coreach_model::iosts::{Iosts, LocationId};
use coreach_model::obligation::enabling_condition;
use coreach_model::{Datum, Term, TransitionId};

use super::obligation::{Checking, Findings, by_action, same_values, truth};
use crate::artifact::{CompletePurpose, Product};

/// A location of the product, and the numbers of the two transitions that are taken there together.
type Synchronised = (LocationId, (TransitionId, Option<TransitionId>));

/// Checks the result of `product` against what it was made from. The rules have the numbers of the list in
/// [`super`].
pub fn check_product(
    product: &Product,
    specification: &Iosts,
    complete: &CompletePurpose,
    solver: &mut dyn Solver,
) -> Findings {
    let mut checking = Checking::new(solver);
    let (iosts, left, right) = (&product.iosts, specification, &complete.purpose.iosts);
    let lengths = [product.pairs.len(), product.accepting.len()];
    if !checking.well_formed(iosts, &lengths, "product 1") {
        return checking.found;
    }
    let is_pair = |(l1, l2): &(LocationId, LocationId)| left.locations.has(*l1) && right.locations.has(*l2);
    let location_of: HashMap<_, _> = product.pairs.iter().copied().zip(iosts.location_ids()).collect();
    let is_whole = location_of.len() == product.pairs.len() && product.pairs.iter().all(is_pair);
    if !checking.holds(is_whole, "product 1", || "a pair appears twice, or is missing".to_owned()) {
        return checking.found;
    }
    let start = location_of.get(&(left.initial, right.initial));
    checking.holds(start == Some(&iosts.initial), "product 1", || "the initial location".to_owned());
    let reached = iosts.reachable_from(iosts.initial);
    checking.holds(reached.iter().all(|r| *r), "product 1", || "a pair that is not reached".to_owned());
    for (pair, (_, l2)) in product.pairs.numbered() {
        let is_accepting = *l2 == complete.purpose.accept;
        checking.holds(product.accepting[pair] == is_accepting, "product 5", || {
            iosts.locations[pair].label.clone()
        });
    }
    check_data(&mut checking, iosts, left, right);
    let both = Term::and([truth(&left.initial_condition), truth(&right.initial_condition)]);
    let place = || "the initial condition".to_owned();
    checking.equivalent(&[], &both, &truth(&iosts.initial_condition), "product 4", place);
    check_transitions(&mut checking, product, left, complete, &location_of);
    checking.found
}

/// Checks that each synchronised pair of transitions has one transition of the product, and no other one is
/// there. `location_of` has the product's location of each pair of locations.
fn check_transitions(
    checking: &mut Checking<'_>,
    product: &Product,
    left: &Iosts,
    complete: &CompletePurpose,
    location_of: &HashMap<(LocationId, LocationId), LocationId>,
) {
    let (iosts, right) = (&product.iosts, &complete.purpose.iosts);
    // Maps every synchronised pair of transitions to those of the product that say they were made of it.
    let mut made: BTreeMap<Synchronised, Vec<TransitionId>> = BTreeMap::new();
    let is_whole = product.made_of.len() == iosts.transitions.len();
    if !checking.holds(is_whole, "product 2", || "transitions and what they were made of".to_owned()) {
        return;
    }
    for ((id, transition), of_pair) in iosts.transitions.numbered().zip(&product.made_of) {
        made.entry((transition.source, *of_pair)).or_default().push(id);
    }
    let followers = by_action(right);
    let outgoing = left.outgoing();
    let mut enabling: HashMap<TransitionId, Term> = HashMap::new();
    for (source, &(l1, l2)) in iosts.location_ids().zip(&product.pairs) {
        for &first in &outgoing[l1] {
            let t1 = &left.transitions[first];
            let seconds: Vec<Option<TransitionId>> = match followers.get(&(l2, t1.action)) {
                Some(numbers) => {
                    let goes_along = |second: &&TransitionId| complete.purpose.goes_with(**second, first);
                    numbers.iter().filter(goes_along).copied().map(Some).collect()
                }
                None if complete.others_stay => vec![None],
                None => Vec::new(),
            };
            checking.holds(!seconds.is_empty(), "product 2", || left.describe(t1));
            let enabled = enabling.entry(first).or_insert_with(|| enabling_condition(t1)).clone();
            for second in seconds {
                let t2 = second.map(|second| &right.transitions[second]);
                let place = || format!("{} at {}", left.describe(t1), iosts.location(source).label);
                let made_of_both = made.remove(&(source, (first, second))).unwrap_or_default();
                let &[single] = made_of_both.as_slice() else {
                    checking.broken("product 2", place());
                    continue;
                };
                let joint = &iosts.transitions[single];
                let target = (t1.target, t2.map_or(l2, |t2| t2.target));
                let is_right = location_of.get(&target) == Some(&joint.target) && joint.action == t1.action;
                checking.holds(is_right, "product 2", place);
                let guard = Term::and([enabled.clone(), t2.map_or(Term::yes(), |t2| truth(&t2.guard))]);
                checking.equivalent(&[], &guard, &truth(&joint.guard), "product 2", place);
                let mut effect = t1.assignments.clone();
                effect.extend(t2.iter().flat_map(|t2| t2.assignments.clone()));
                let same = same_values(&effect, &joint.assignments);
                checking.implies(&[guard], &[same], "product 2", place);
            }
        }
    }
    // The others say that they were made of a pair that does not exist.
    for extra in made.into_values().flatten() {
        checking.broken("product 2", iosts.describe(&iosts.transitions[extra]));
    }
}

/// Checks that every datum of either side is owned once, and is a variable if it is a variable of one side.
fn check_data(checking: &mut Checking<'_>, iosts: &Iosts, left: &Iosts, right: &Iosts) {
    let set_of = |data: &[Datum]| data.iter().cloned().collect::<HashSet<_>>();
    let variables: HashSet<Datum> = left.variables.iter().chain(&right.variables).cloned().collect();
    let shared: HashSet<Datum> = left.constants.iter().chain(&right.constants).cloned().collect();
    let constants: HashSet<Datum> = shared.difference(&variables).cloned().collect();
    let names: Vec<&str> = iosts.variables.iter().chain(&iosts.constants).map(Datum::name).collect();
    let is_once = names.iter().collect::<HashSet<_>>().len() == names.len();
    let is_same = set_of(&iosts.variables) == variables && set_of(&iosts.constants) == constants;
    checking.holds(is_once && is_same, "product 3", || "the data".to_owned());
    checking.holds(iosts.actions == left.actions, "product 3", || "the actions".to_owned());
}
