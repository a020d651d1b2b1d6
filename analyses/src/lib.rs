//! What can be *known* about an IOSTS, and nothing that changes one.
//!
//! Satisfiability of terms ([`solver`]), and over-approximations of the reachable and the coreachable states. An
//! analysis returns facts keyed by location; what to do about a fact is decided in `coreach-pipeline`.
//!
//! The abstract interpretation, from the question to the numbers: [`reachability`] (the facts and the knobs) asks the
//! engine in [`fixpoint`], which visits locations in the [`order`] of Bourdoncle; an abstract value is a [`partition`]
//! of the finite data with an element of one of the [`domains`] in each cell, over the places of a [`frame`];
//! [`transfer`] takes it along a transition, compiled in [`effect`] and [`condition`]; [`facts`] writes it down,
//! case by case or in `clauses`.

pub mod check;
mod clauses;
pub mod condition;
mod cubes;
pub mod domains;
pub mod effect;
pub mod excerpt;
pub mod facts;
pub mod fixpoint;
pub mod frame;
mod hash;
pub mod hull;
pub mod inductive;
pub mod linear;
pub mod order;
pub mod partition;
pub mod reachability;
mod readable;
pub mod solver;
mod thresholds;
pub mod transfer;
pub mod transformers;

pub use domains::DomainKind;
pub use reachability::{Analyst, Facts, Loss, Options, Thresholds, analyse, reach};
