//! Symbolic execution: the conditions of paths through an IOSTS on the data, one path at a time.
//!
//! **Problem.** The facts of [`crate::reachability`] hold in *all* states at a location, and do not tell how
//! a run gets there. An example (a run to Accept, a path to each transition, the next stimulus that leads on)
//! needs single paths, with their values.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil, *Symbolic execution techniques for test purpose definition*
//! (2006), Definitions 8 and 9: a symbolic state is ⟨location, path condition, valuation⟩, where the
//! valuation gives each datum a term over symbols. **Where we differ**: internal actions are followed like
//! other actions. The initial condition counts. A transition has more conditions than its guard: every
//! operation has a value, and each assigned value lies in its type ([`enabling_condition`]). Parameters are
//! renamed by the depth of their step and not by a count of the whole search. So the order of the search does
//! not change the terms, and equal states of one depth are equal.
//!
//! **Cost** of a step: two substitutions, memoised over the term's shared parts. A step asks no solver: the
//! search decides which conditions are worth a question.
//!
//! A [`tree`] has many paths. It is cut where a state is included in another one ([`inclusion`]), and may
//! have [`quiescence`] as an output. [`paths`] chooses the ends of paths that a tester should see.
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
pub use tree::{Growth, NodeEnd, NodeId, PathTree, Refuted, TreeLimits, TreeMove, TreeNode};
