//! All tests of this crate in one program: a program for each file would be linked by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

mod additions;
mod arrows;
mod buckets;
mod choices;
mod coverage;
mod diagnostics;
mod documents;
mod domain_operations;
mod evaluator;
mod explode;
mod faults;
mod fixpoints;
mod hostile;
mod imported;
mod imports;
mod offline;
mod oracle;
mod packaging;
mod page;
mod path;
mod programs;
mod proofs;
mod rounds;
mod schemas;
mod scripts;
mod sets;
mod sharing;
mod silence;
mod smtlib;
mod symbolic;
mod tampering;
mod thesis;
mod timed;
mod timed_runs;
mod written;
