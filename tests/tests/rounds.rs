//! An analyst that remembers says what an analysis that starts anew says: on every machine of ours, in any
//! order of questions, and about a part of a machine after the whole, which is how selection asks.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::path::Path;

use coreach_analyses::domains::DomainKind;
use coreach_analyses::reachability::{Analysis, Analyst, analyse, reach};
use coreach_tests::analysed::{Machine, machines};

#[test]
fn what_is_remembered_changes_no_fact() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let folders = ["coffee_machine", "counter"].map(|folder| machines(&examples.join(folder)).unwrap());
    let mut compared = 0;
    for Machine { name, iosts, accepting } in folders.concat() {
        for domain in [DomainKind::Interval, DomainKind::Octagon, DomainKind::Polyhedra] {
            let options = Analysis { domain, ..Analysis::default() };
            let mut analyst = Analyst::new(&options);
            let fresh = analyse(&iosts, &accepting, &options);
            // Every second transition is gone, as after a round of selection; and the other half.
            for kept in [2, 3] {
                let mut part = iosts.clone();
                let mut number = 0;
                part.transitions.retain(|_| {
                    number += 1;
                    number % kept != 0
                });
                let facts = analyst.analyse(&iosts, &accepting);
                assert_eq!(
                    (&facts.reach, &facts.coreach),
                    (&fresh.reach, &fresh.coreach),
                    "{name}, {domain}"
                );
                assert_eq!(analyst.reach(&part), reach(&part, &options).0, "part of {name}, {domain}");
                compared += 1;
            }
        }
    }
    assert!(compared > 12, "{compared} machines");
}
