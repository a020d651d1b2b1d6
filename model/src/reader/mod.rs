//! Reading what a user writes: models and purposes in YAML, with expressions in strings.
//!
//! The layers, from below: [`yaml`] makes a tree that remembers places. [`lexer`], [`parser`] and [`typing`]
//! make terms of expressions. [`types`], [`declarations`] and [`transitions`] read the sections of a model.
//! `specification` and `purpose` put them together, and check all that needs no solver. Every layer collects
//! its findings and goes on, so that one run reports as many separate mistakes as possible. What reads a part
//! returns `None` after a mistake, which it has reported.

mod any_order;
pub mod collect;
mod compose;
pub mod declarations;
mod elsewhere;
mod expansion;
mod forms;
mod functions;
mod graph;
mod ids;
mod imports;
pub mod lexer;
pub mod limits;
mod lists;
mod literals;
mod maps;
mod on;
pub mod parser;
mod paths;
mod property;
mod purpose;
pub mod scope;
pub mod shape;
mod specification;
mod spelled;
mod strings;
mod surroundings;
pub mod syntax;
mod transition_body;
pub mod transitions;
pub mod types;
pub mod typing;
mod variants;
pub mod yaml;

pub use compose::parts;
pub use graph::{SEE_OR_MERGE, check_livelocks};
pub use limits::ReaderLimits;
pub use purpose::{read_aimed, read_purpose, read_timed_aimed};
pub use specification::{
    AnySpecification, Specification, TimedSpecification, read_any_specification, read_specification,
    read_timed_specification,
};
pub use yaml::{from_bytes, load};

use crate::diagnostic::Diagnostic;

/// The result with its warnings, or the findings with at least one error among them.
pub type Reading<T> = Result<(T, Vec<Diagnostic>), Vec<Diagnostic>>;

#[cfg(test)]
mod tests;
