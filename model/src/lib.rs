//! The model of an IOSTS: what one *is*.
//!
//! This crate holds the nouns of coreach: types, values, hash-consed terms, actions, locations, transitions.
//! Its reader makes them from the user's YAML and answers a mistake with a diagnostic drawn on that YAML. Its
//! concrete semantics (thesis 4.4-4.16) is the oracle of every test. Values are written and read as JSON
//! here, for wires and for documents.
//!
//! There is no solver here, no abstraction, and no stage of the pipeline, on purpose. A check that needs a
//! solver lives in `coreach-analyses`.
//!
//! A text becomes a model, or findings with their places in it. The semantics says which states a trace leads
//! to:
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! use coreach_model::reader::{from_bytes, read_specification};
//! use coreach_model::semantics::{Event, State, after, initial_states};
//! use coreach_model::{Diagnostic, Value};
//!
//! # fn main() -> Result<(), Vec<Diagnostic>> {
//! let text = "\
//! iosts: sum
//! variables: { vSum: int }
//! initial: { location: Idle, condition: vSum == 0 }
//! inputs: { Add: { n: int } }
//! outputs: { Total: { n: int } }
//! transitions:
//!   - { from: Idle, to: Idle, on: Add, assign: { vSum: vSum + n } }
//!   - { from: Idle, to: Idle, on: Total, when: n == vSum }
//! ";
//! let read = |text: &str| {
//!     let file = from_bytes("sum.yaml".to_owned(), text.as_bytes().to_vec()).map_err(|found| vec![found])?;
//!     read_specification(file)
//! };
//! let (sum, _warnings) = read(text)?;
//!
//! let start: BTreeSet<State> = initial_states(&sum.iosts, &Default::default(), 10).unwrap().into_iter().collect();
//! let then = |total| {
//!     let trace = [Event::new("Add", [Value::int(2)]), Event::new("Add", [Value::int(3)]), Event::new("Total", [total])];
//!     after(&sum.iosts, start.clone(), &trace)
//! };
//! assert_eq!(then(Value::int(5)).len(), 1);
//! assert!(then(Value::int(6)).is_empty());
//!
//! let found = read(&text.replace("vSum + n", "vSun + n")).unwrap_err();
//! assert_eq!((found[0].code, found[0].labels[0].0.text()), ("unknown-name", "vSun"));
//! # Ok(())
//! # }
//! ```

#![allow(missing_docs, reason = "a comment that repeats a name says nothing")]

pub mod budget;
pub mod codec;
pub mod compose;
pub mod data;
pub mod diagnostic;
pub mod excerpt;
pub mod file;
pub mod forms;
pub mod hash;
pub mod ids;
pub mod iosts;
pub mod journal;
pub mod json;
pub mod limits;
pub mod lock;
pub mod number;
pub mod numbered;
pub mod obligation;
mod quoted;
pub mod random;
pub mod reader;
pub mod regular;
pub mod semantics;
pub mod term;
pub mod timed;
pub mod types;
pub mod valuation;
pub mod value;
pub mod verdict;
pub mod visible;
mod words;
pub mod writer;

pub use data::Datum;
pub use diagnostic::{Diagnostic, Origin, Severity, SourceFile};
pub use iosts::{
    Action, ActionId, ActionKind, Aim, Iosts, Location, LocationId, TestPurpose, Transition, TransitionId,
};
pub use numbered::{Number, Numbered};
pub use term::{Term, node::Node};
pub use types::Type;
pub use value::Value;
pub use verdict::{Verdict, Violated};
