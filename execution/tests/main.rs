//! All tests of this crate in one program: a program for each file would be linked by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

mod adapters;
mod connections;
mod crossing;
mod expected;
mod judge;
mod misbehaving;
mod mutants;
mod nasty;
mod offline;
mod plan;
mod shrink;
mod simulated;
mod store;
mod tester;
mod timed;
mod uncertain;
mod unseen;

/// The arguments with which this program becomes a keeper of processes.
const KEEPER: [&str; 3] = ["keep_processes", "--exact", "--ignored"];

#[test]
#[ignore = "no test: this program as a keeper of processes"]
fn keep_processes() {
    coreach_adapters::keeper::serve_standard_input().unwrap();
}
