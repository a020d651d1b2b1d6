//! What an IOSTS *is*.
//!
//! This crate holds the nouns of coreach: types, values, hash-consed terms, actions, locations, transitions; the
//! reader that makes them from the user's YAML and answers a mistake with a diagnostic drawn on that YAML; and the
//! concrete semantics (thesis 4.4-4.16), which every test uses as its oracle.
//!
//! What is absent on purpose: no solver, no abstraction, no stage of the pipeline. A check that needs a solver lives
//! in `coreach-analyses`.

pub mod budget;
pub mod data;
pub mod diagnostic;
pub mod file;
pub mod iosts;
pub mod number;
pub mod obligation;
pub mod parallel;
pub mod reader;
pub mod semantics;
pub mod term;
pub mod types;
pub mod value;
pub mod verdict;
pub mod visible;
pub mod writer;

pub use data::Datum;
pub use diagnostic::{Diagnostic, Origin, Severity, SourceFile};
pub use iosts::{Action, ActionId, ActionKind, Iosts, Location, LocationId, TestPurpose, Transition};
pub use term::{Term, node::Node};
pub use types::Type;
pub use value::Value;
pub use verdict::Verdict;
