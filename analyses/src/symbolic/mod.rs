//! Symbolic execution: what paths through an IOSTS ask of the data, one path at a time.
//!
//! **Problem.** The facts of [`crate::reachability`] hold of *all* states at a location and forget how one
//! came there. Who wants an example (a run to Accept, a path to each transition, the next stimulus that leads
//! on) needs single paths, with the values that go along them.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil, *Symbolic execution techniques for test purpose definition*
//! (2006), Definitions 8 and 9: a symbolic state is ⟨location, path condition, valuation⟩, where the
//! valuation gives each datum a term over symbols. **Where we differ**: internal actions are followed like
//! others; the initial condition counts; a transition asks for more than its guard, namely that every
//! operation has a value and each assigned value lies in its type ([`enabling_condition`]); parameters are
//! renamed by the depth of their step and not by a count of the whole search, so that two orders of the same
//! work make the same terms, and equal states of one depth are equal.
//!
//! **Cost** of a step: two substitutions, memoised over the term's shared parts. Nothing here asks a solver:
//! who searches decides which conditions are worth a question.
//!
//! Above single paths stands the [`tree`] of them, cut where a state is included in another one
//! ([`inclusion`]), with [`quiescence`] as an output where that is wanted; [`paths`] tells which ends of
//! paths a tester should see.
//!
//! [`enabling_condition`]: coreach_model::obligation::enabling_condition

pub mod bounds;
mod candidates;
pub mod differences;
pub mod eliminate;
pub mod existence;
mod expanded;
pub mod followed;
pub mod gathered;
pub mod inclusion;
mod merging;
mod multiples;
pub mod paths;
mod projection;
pub mod quiescence;
pub mod search;
mod state;
pub mod sum;
#[cfg(test)]
mod tests;
pub mod tree;

pub use inclusion::Inclusion;
pub use paths::{Accepting, all_paths, k_inclusion};
pub use quiescence::Quiescence;
pub use state::{Holds, SymbolicState, SymbolicStep, System, symbol};
pub use tree::{Growth, Move, Node, NodeEnd, NodeId, Refuted, Tree, TreeLimits};
