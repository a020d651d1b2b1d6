//! Which variables can still matter: those that something reads before they are assigned anew.
//!
//! **Problem.** Two runs that are at one location with different data behave alike from there on where the data differ in
//! variables only that nobody reads any more.
//!
//! **Method.** Live variables, the classical backward analysis (Aho, Sethi, Ullman, *Compilers*, 10.6), on locations: a variable is
//! live at l where a transition that leaves l reads it in its guard, or in what it assigns to a variable that is live
//! behind it. Guards count whether or not they can hold, so this is an over-approximation.
//!
//! **Ends**: sets of variables only grow. **Cost**: each transition once for each variable that becomes live behind it.

use std::collections::BTreeSet;

use coreach_model::iosts::Transition;
use coreach_model::{Datum, Iosts, LocationId, Numbered};

/// For each location its live variables. Where a run `ends`, nothing is read any more.
///
/// # Panics
/// Where `ends` has not one entry for each location.
pub fn live(iosts: &Iosts, ends: &[bool]) -> Numbered<LocationId, BTreeSet<Datum>> {
    assert_eq!(ends.len(), iosts.locations.len(), "one entry for each location");
    let goes_on = |transition: &&Transition| !ends[transition.source.0 as usize];
    let mut entering = iosts.locations.map(|_| Vec::new());
    let mut found = iosts.locations.map(|_| BTreeSet::new());
    for transition in iosts.transitions.iter().filter(goes_on) {
        entering[transition.target].push(transition);
        let read = transition.guard.data();
        found[transition.source].extend(read.into_iter().filter(|datum| iosts.variables.contains(datum)));
    }
    let mut work: Vec<LocationId> = iosts.location_ids().collect();
    while let Some(target) = work.pop() {
        for transition in &entering[target] {
            let read: BTreeSet<Datum> = found[target]
                .iter()
                .flat_map(|variable| Iosts::effect(transition, variable).data())
                .filter(|datum| iosts.variables.contains(datum))
                .collect();
            let before = found[transition.source].len();
            found[transition.source].extend(read);
            if found[transition.source].len() > before {
                work.push(transition.source);
            }
        }
    }
    found
}
