//! The six stages, one function in one file each, in the order of [`crate::generate`].

pub mod close;
pub mod complete;
pub mod determinize;
pub mod input_complete;
pub mod lookahead;
mod must_answer;
pub mod product;
pub mod select;
