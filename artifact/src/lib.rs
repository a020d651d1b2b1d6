//! What is made, as data that crates share: graphs over a table of terms, with verdicts, facts and origins.
//!
//! The stages write it ([`document`]), and whoever runs, draws, counts or explains reads it ([`read`]). It
//! knows models, and neither how a graph was made nor what is done with it; so there is one place where a
//! guard crosses from making to running, and it crosses as a term, not as text.

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
