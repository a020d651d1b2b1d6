//! Live variables: those that something reads before they are assigned anew. Only they still matter.
//!
//! **Problem.** Two runs at one location behave alike from there on if their data differ only in variables
//! that nothing reads any more. **Method.** The classical backward analysis of live variables (Aho, Sethi,
//! Ullman, *Compilers*, 10.6), on locations. A variable is live at l if a transition that leaves l reads it
//! in its guard, or in a value that it assigns to a variable that is live after it. Guards count even if they
//! cannot hold, so this is an over-approximation. **Ends**: sets of variables only grow. **Cost**: each
//! transition once for each variable that becomes live after it.

use std::collections::BTreeSet;

use coreach_model::iosts::Transition;
use coreach_model::{Datum, Iosts, LocationId, Numbered};

/// Finds the live variables of each location. At a location where runs end (`ends`), nothing is read any
/// more.
/// Panics if `ends` has not one entry for each location.
pub fn live(iosts: &Iosts, ends: &[bool]) -> Numbered<LocationId, BTreeSet<Datum>> {
    assert_eq!(ends.len(), iosts.locations.len(), "one entry for each location");
    let goes_on = |transition: &&Transition| !ends[transition.source.0 as usize];
    let mut entering = iosts.locations.map(|_| Vec::new());
    let mut live_at = iosts.locations.map(|_| BTreeSet::new());
    for transition in iosts.transitions.iter().filter(goes_on) {
        entering[transition.target].push(transition);
        let read = transition.guard.data();
        live_at[transition.source].extend(read.into_iter().filter(|datum| iosts.variables.contains(datum)));
    }
    let mut open_locations: Vec<LocationId> = iosts.location_ids().collect();
    while let Some(target) = open_locations.pop() {
        for transition in &entering[target] {
            let data = live_at[target].iter().flat_map(|live| Iosts::effect(transition, live).data());
            let read: BTreeSet<Datum> = data.filter(|datum| iosts.variables.contains(datum)).collect();
            let live_before = &mut live_at[transition.source];
            let count = live_before.len();
            live_before.extend(read);
            if live_before.len() > count {
                open_locations.push(transition.source);
            }
        }
    }
    live_at
}

#[cfg(test)]
mod tests {
    use coreach_model::term::node::Comparison;
    use coreach_model::{Term, Type};

    use super::*;
    use crate::check::builder::{Build, INPUT, int};

    #[test]
    fn a_variable_is_live_until_it_is_read_or_assigned() {
        let positive = |name: &str| Term::compare(Comparison::Greater, &int(name), &Term::int(0));
        // y is read at b. x is assigned to y before. z is never read.
        let variables = Build::new(&["a", "b", "c"])
            .variable("x", Type::Int)
            .variable("y", Type::Int)
            .variable("z", Type::Int);
        let build = variables
            .on(INPUT, "a", "b", Term::yes(), [("y", int("x")), ("z", int("z"))])
            .on(INPUT, "b", "c", positive("y"), [("x", Term::int(0))])
            .on(INPUT, "c", "a", Term::yes(), [("x", int("y"))]);
        let iosts = build.done();
        let names = |ends: &[bool]| -> Vec<String> {
            let of = |live: &BTreeSet<Datum>| live.iter().map(Datum::name).collect::<Vec<_>>().join(" ");
            live(&iosts, ends).iter().map(of).collect()
        };
        assert_eq!(names(&[false; 3]), ["x", "y", "y"]);
        // If runs end at c, reads after c do not count.
        assert_eq!(names(&[false, false, true]), ["x", "y", ""]);
    }
}
