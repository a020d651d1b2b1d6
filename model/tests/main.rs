//! All tests of this crate in one program: a program for each file would be linked by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

mod collections;
mod compose;
mod constructors;
mod definedness;
mod ids;
mod json;
mod language;
mod maps;
mod regular;
mod timed;
#[path = "../../tests/src/timed_semantics.rs"]
mod timed_semantics;
