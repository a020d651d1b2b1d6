//! What can be *known* about an IOSTS, and nothing that changes one.
//!
//! Satisfiability of terms ([`solver`]), and over-approximations of the reachable and the coreachable states. An
//! analysis returns facts keyed by location; what to do about a fact is decided in `coreach-pipeline`.

pub mod solver;
