//! Soundness: timed test cases of the main pipeline never blame a system that conforms, and blame at once
//! what does not.
//!
//! `COREACH_TIMED=FROM..TO` checks these seeds instead of a few.

use coreach_tests::timed::{Counts, Effort, check};

#[test]
fn timed_test_cases_fail_exactly_what_the_semantics_forbids() {
    let said = std::env::var("COREACH_TIMED").ok();
    let range = said.as_deref().and_then(|said| {
        let (from, to) = said.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    let is_long = range.is_some();
    let mut counts = Counts::new();
    for seed in range.unwrap_or(0..80) {
        if let Err(told) = check(seed, Effort { traces: 40, events: 7 }, &mut counts) {
            panic!("{told}");
        }
    }
    println!("{counts:?}");
    let often = |what: &str| counts.get(what).copied().unwrap_or(0);
    if !is_long {
        assert!(often("test cases") >= 20, "{counts:?}");
        assert!(often("Fail") >= 30 && often("Fail by silence") >= 10 && often("Pass") >= 10, "{counts:?}");
    }
}
