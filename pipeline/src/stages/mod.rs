//! The six stages, one function in one file each, in the order of [`crate::generate`].

pub mod close;
pub mod complete;
mod construction;
pub mod determinize;
pub mod input_complete;
mod kept;
pub mod lookahead;
mod must_answer;
mod postponed;
pub mod product;
pub mod select;
pub(crate) mod sets;
mod subsets;
