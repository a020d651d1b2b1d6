//! The test cases of all examples, in all forms. Making them is what costs, so it is done once.

use std::collections::BTreeSet;

use coreach_pipeline::export::NotWritten;

use crate::made::{configurations, of_configuration};
use crate::python::{Counts, Folder, same_verdicts};
use crate::rust::holds_its_document;
use crate::ttcn3::{compiled, has_compiler};

#[test]
fn every_example_is_a_program_or_says_why_not() {
    let folder = Folder::new("examples");
    let mut counts = Counts::new();
    let (mut refused, mut modules) = (BTreeSet::new(), 0);
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
            same_verdicts(&folder, &case, 4, 8, "same-beginning", &mut counts);
        }
        if why_not(&case.ttcn3) && has_compiler() {
            compiled(&folder, &case);
            modules += 1;
        }
    }
    println!("{counts:?}, {modules} modules of TTCN-3");
    for verdict in [Some("Pass"), Some("Inconclusive"), Some("Fail"), None] {
        assert!(counts.get(&verdict).copied().unwrap_or(0) > 30, "{counts:?}");
    }
    assert!(counts.values().sum::<usize>() > 3000, "{counts:?}");
    assert_eq!(refused.into_iter().collect::<Vec<_>>(), ["a test that is judged", "a timed test case looks"]);
    assert!(modules == 0 || modules > 15, "{modules}");
}
