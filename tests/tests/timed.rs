//! Soundness: timed test cases of the main pipeline never blame a system that conforms, and blame at once
//! what does not; of a safety property, what violates it besides.
//!
//! `COREACH_TIMED=FROM..TO` checks these seeds instead of a few.

use coreach_model::iosts::Aim;
use coreach_tests::effort::cases;
use coreach_tests::timed::{Counts, Effort, check};

/// Soundness and exactness.
#[test]
fn timed_test_cases_fail_exactly_what_the_semantics_forbids() {
    let (counts, is_long) = checked(Aim::Accept, 0..cases(40, 80));
    if !is_long {
        assert!(often(&counts, "test cases") >= 10, "{counts:?}");
        let fails = often(&counts, "Fail") >= 15 && often(&counts, "Fail by silence") >= 5;
        assert!(fails && often(&counts, "Pass") >= 5, "{counts:?}");
    }
}

/// Soundness and exactness, of the verdicts and of what is proved.
#[test]
fn timed_properties_are_violated_exactly_where_a_clock_that_runs_says_so() {
    let (counts, is_long) = checked(Aim::Violate, 0..14);
    if !is_long {
        assert!(often(&counts, "test cases") >= 5, "{counts:?}");
        assert!(often(&counts, "Violate") >= 20 && often(&counts, "ViolateFail") >= 10, "{counts:?}");
        let verified = often(&counts, "proved") >= 1 && often(&counts, "violated by the model") >= 3;
        assert!(verified, "{counts:?}");
    }
}

fn often(counts: &Counts, what: &str) -> usize {
    counts.get(what).copied().unwrap_or(0)
}

/// What came up, and whether that was asked for.
fn checked(aim: Aim, seeds: std::ops::Range<u64>) -> (Counts, bool) {
    let said = std::env::var("COREACH_TIMED").ok();
    let range = said.as_deref().and_then(|said| {
        let (from, to) = said.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    let is_long = range.is_some();
    let mut counts = Counts::new();
    for seed in range.unwrap_or(seeds) {
        if let Err(told) = check(seed, aim, Effort { traces: 40, events: 7 }, &mut counts) {
            panic!("{told}");
        }
    }
    println!("{counts:?}");
    (counts, is_long)
}
