//! Soundness: on simulated time no conforming system fails; precision: wrong ones are found.
//!
//! `COREACH_TIMED_RUNS=FROM..TO` checks these seeds instead of a few.

use coreach_tests::effort::cases;
use coreach_tests::timed_runs::{Counts, Effort, check};

#[test]
fn systems_that_conform_never_fail_and_mutants_are_found() {
    let said = std::env::var("COREACH_TIMED_RUNS").ok();
    let range = said.as_deref().and_then(|said| {
        let (from, to) = said.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    let is_long = range.is_some();
    let mut counts = Counts::new();
    let began = std::time::Instant::now();
    for seed in range.unwrap_or(0..cases(30, 60)) {
        let effort = Effort { conforming: 12, wrong: 12, mutants: 4 };
        if let Err(told) = check(seed, effort, &mut counts) {
            panic!("{told}");
        }
    }
    println!("{counts:?} in {:?}", began.elapsed());
    let often = |what: &str| counts.get(what).copied().unwrap_or(0);
    if !is_long {
        assert!(often("test cases") >= 8 && often("Pass") >= 50, "{counts:?}");
        assert!(often("mutants found") >= 5, "{counts:?}");
        assert!(often("Fail by silence") >= 2 && often("Fail by an event") >= 2, "{counts:?}");
    }
}
