//! Path-guided timed test cases: the publication of 2024, corrected.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod counts;
mod equivalence;
mod random;
mod refusals;
mod sptg;
mod support;
mod traces;
