//! Which variables can still matter: those that something reads before they are assigned anew.
//!
//! **Problem.** Two runs that are at one location with different data behave alike from there on where the
//! data differ in variables only that nobody reads any more.
//!
//! **Method.** Live variables, the classical backward analysis (Aho, Sethi, Ullman, *Compilers*, 10.6), on
//! locations: a variable is live at l where a transition that leaves l reads it in its guard, or in what it
//! assigns to a variable that is live behind it. Guards count whether or not they can hold, so this is an
//! over-approximation.
//!
//! **Ends**: sets of variables only grow. **Cost**: each transition once for each variable that becomes live
//! behind it.

use std::collections::BTreeSet;

use coreach_model::iosts::Transition;
use coreach_model::{Datum, Iosts, LocationId, Numbered};

/// For each location its live variables. Where a run `ends`, nothing is read any more.
/// Panics where `ends` has not one entry for each location.
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

#[cfg(test)]
mod tests {
    use coreach_model::term::node::Comparison;
    use coreach_model::{Term, Type};

    use super::*;
    use crate::check::builder::{Build, INPUT, int};

    #[test]
    fn a_variable_is_live_until_it_is_read_or_assigned() {
        let positive = |name: &str| Term::compare(Comparison::Greater, &int(name), &Term::int(0));
        // y is read at b, x is what y was made of, and behind b nothing is read: z never is.
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
        // Where a run ends at c, what is behind c does not count.
        assert_eq!(names(&[false, false, true]), ["x", "y", ""]);
    }
}
