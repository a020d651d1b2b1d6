//! All tests of this crate in one program: a program for each file would be linked by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

mod adapters;
mod connections;
mod crossing;
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
