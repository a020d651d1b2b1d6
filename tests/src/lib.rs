//! Tries to refute the pipeline.
//!
//! - [`generator`]: random pairs of a specification and a purpose, small and difficult.
//! - [`source`]: a pair as it is written: trees that nothing simplifies.
//! - [`browser`]: Chromium, driven, for the tests and the pictures of the page.
//! - [`brute`]: what a pair means, by enumeration, from its text and the definitions alone.
//! - [`properties`]: what must hold of every pair, each with its source in the thesis.
//! - [`symbolic`]: trees of paths and goals of coverage against brute force.
//! - [`families`]: small models that ask for much (`scripts/explode`).
//! - [`mutants`]: implementations that differ from the specification in one place; [`timed_mutants`]: those
//!   with time.
//! - [`shrink`]: a failing pair made small; [`text`]: a pair as the YAML that the program reads.
//! - [`analysed`]: the machines that the analyses of our models work on; [`recorded`]: what they do with
//!   polyhedra, as a [`sequence`] of operations.
//! - [`effort`]: how many cases a test takes.
//! - [`schema`]: the JSON Schemas in `docs/`, and documents held against them.
//! - [`yaml`]: the value of a YAML text.
//! - [`tally`]: what a soak has found, in parts and put together.
//!
//! `cargo run --release -p coreach-tests --bin soak -- --minutes 5` runs all of it; `tests/oracle.rs` a
//! slice.

pub mod analysed;
pub mod browser;
pub mod brute;
pub mod effort;
pub mod families;
pub mod generator;
pub mod mutants;
pub mod properties;
pub mod recorded;
pub mod schema;
pub mod sequence;
pub mod shrink;
pub mod source;
pub mod symbolic;
pub mod tally;
pub mod tampering;
pub mod text;
pub mod timed;
pub mod timed_mutants;
pub mod timed_property;
pub mod timed_runs;
pub mod timed_semantics;
pub mod walker;
pub mod yaml;
