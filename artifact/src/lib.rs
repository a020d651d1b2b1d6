//! The results as data that crates share: graphs over a table of terms, with verdicts, facts and origins.
//!
//! The stages write a document ([`document`]), and the code that runs, draws, counts or explains reads it
//! ([`read`]). This crate knows models, but not how a graph was made or what it is used for. So there is one
//! place where a guard crosses from making to running, and it crosses as a term, not as text.

pub mod document;
pub mod error;
pub mod format;
pub mod layout;
pub mod operations;
pub mod read;
mod reading;
pub mod terms;
pub mod types;
pub mod write;

pub use document::Document;
pub use error::DocumentError;
pub use read::Graph;
