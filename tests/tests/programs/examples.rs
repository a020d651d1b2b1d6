//! The test cases of all examples, in all forms. Making them is what costs, so it is done once.

use std::collections::BTreeSet;

use coreach_pipeline::export::NotWritten;
use coreach_tests::effort::cases;

use super::made::{configurations, of_configuration, of_texts, root};
use super::python::{Counts, Folder, same_verdicts};
use super::rust::holds_its_document;

#[test]
fn every_example_is_a_program_or_says_why_not() {
    let folder = Folder::new("examples");
    let mut counts = Counts::new();
    let mut refused = BTreeSet::new();
    let mut why_not = |result: &Result<String, NotWritten>| match result {
        Ok(_) => true,
        Err(NotWritten::Unsuited(why)) => {
            refused.insert(why.why.split_whitespace().take(5).collect::<Vec<_>>().join(" "));
            assert!(why.instead.contains("rust"), "{why}");
            false
        }
        Err(other) => panic!("{other}"),
    };
    for case in configurations().iter().flat_map(|path| of_configuration(path)) {
        holds_its_document(&case);
        if why_not(&case.python) {
            same_verdicts(&folder, &case, cases(2, 3), 6, "same-beginning", &mut counts);
        }
    }
    println!("{counts:?}");
    for verdict in [Some("Pass"), Some("Inconclusive"), Some("Fail"), None] {
        assert!(counts.get(&verdict).copied().unwrap_or(0) > 30, "{counts:?}");
    }
    assert!(counts.values().sum::<usize>() > 1500, "{counts:?}");
    let reasons = ["a test with `judge: online`", "a timed test case compares"];
    assert_eq!(refused.into_iter().collect::<Vec<_>>(), reasons);
}

/// Tests of ioco have silence among their events.
#[test]
fn silence_of_ioco_is_judged_alike() {
    let folder = Folder::new("ioco");
    let mut counts = Counts::new();
    let mut quiet = 0;
    for (example, purpose) in [("coffee_machine", "deliver_coffee"), ("redis", "count_to")] {
        let named = |file: &str| root().join("examples").join(example).join(file).canonicalize().unwrap();
        let text = format!(
            "specification: {:?}\npurpose: {:?}\nconformance: ioco\n",
            named("specification.yaml"),
            named(&format!("{purpose}.yaml"))
        );
        for case in of_configuration(&folder.file("coreach.yaml", &text)) {
            quiet += usize::from(case.python.as_ref().unwrap().contains("\"quiescence\""));
            same_verdicts(&folder, &case, 6, 12, "same-beginning", &mut counts);
        }
    }
    println!("{counts:?}");
    assert_eq!(quiet, 2);
    assert!(counts.get(&Some("Fail")).copied().unwrap_or(0) > 30, "{counts:?}");
}

/// A large test case says once that all other outputs fail.
#[test]
fn what_is_said_once_of_all_other_outputs_is_judged_alike() {
    let mut specification = String::from("iosts: long\nlocations: [");
    let locations: Vec<String> = (0..=110).map(|at| format!("L{at}")).collect();
    specification += &format!(
        "{}]\ninitial: {{ location: L0 }}\ninputs: {{ Go: {{ p: int }} }}\noutputs:\n",
        locations.join(", ")
    );
    for number in 0..100 {
        specification += &format!("  O{number}: {{ q: nat }}\n");
    }
    specification += "  End: {}\ntransitions:\n  - { from: L110, to: L110, on: End }\n";
    for at in 0..110 {
        let on =
            if at % 2 == 0 { "Go, when: p > 3".to_owned() } else { format!("O{}, when: q < 9", at % 100) };
        specification += &format!("  - {{ from: L{at}, to: L{}, on: {on} }}\n", at + 1);
    }
    let purpose = "purpose: far\nof: long\nlocations: [W, Accept]\ninitial: { location: W }\ntransitions: [{ from: W, to: Accept, on: End }]\n";
    let case = of_texts("long", &specification, purpose);
    assert!(case.document.contains("\"others_fail\""));
    let folder = Folder::new("others");
    let mut counts = Counts::new();
    same_verdicts(&folder, &case, 4, 12, "same-beginning", &mut counts);
    println!("{counts:?}");
    assert!(counts.len() >= 3, "{counts:?}");
    holds_its_document(&case);
}
