//! What can be *known* about an IOSTS, and nothing that changes one.
//!
//! Satisfiability of terms ([`solver`]), and over-approximations of the reachable and the coreachable states.
//! An analysis returns facts keyed by location; what to do about a fact is decided in `coreach-pipeline`.
//!
//! ```
//! use coreach_analyses::solver::must_hold;
//! use coreach_analyses::solver::z3::Z3Solver;
//! use coreach_analyses::{Options, analyse, inductive};
//! use coreach_model::SourceFile;
//! use coreach_model::reader::read_specification;
//!
//! let text = "
//! iosts: counter
//! variables: { x: int }
//! initial: { location: count, condition: x == 0 }
//! inputs: { Step: {} }
//! transitions:
//!   - { from: count, on: Step, when: x < 10, assign: { x: x + 1 }, to: count }
//!   - { from: count, on: Step, when: x == 10, to: done }
//! ";
//! let source = SourceFile { name: "counter.yaml".to_owned(), text: text.to_owned() };
//! let (specification, _) = read_specification(source.into()).unwrap();
//! let iosts = specification.iosts;
//! let accepting: Vec<bool> = iosts.locations.iter().map(|location| location.name == "done").collect();
//!
//! let facts = analyse(&iosts, &accepting, &Options::default());
//! let count = iosts.initial.0 as usize;
//! assert_eq!(facts.reach[count].to_string(), "x >= 0 && x <= 10");
//!
//! // The facts are proved without the analysis.
//! let mut solver = Z3Solver::default();
//! for obligation in inductive::chain(&iosts, &accepting, &facts.chain, &facts.coreach) {
//!     assert!(must_hold(&mut solver, &obligation.premises, &obligation.conclusion));
//! }
//! ```
//!
//! The abstract interpretation, from the question to the numbers: [`reachability`] (the facts and the knobs)
//! asks the engine in [`fixpoint`], which visits locations in the [`order`] of Bourdoncle; an abstract value
//! is a [`partition`] of the finite data with an element of one of the [`domains`] in each cell, over the
//! places of a [`frame`]; [`transfer`] takes it along a transition, compiled in [`effect`] and [`scope`];
//! what is not linear there has numbers of its own ([`auxiliary`]). [`facts`] writes it down, case by case or
//! in `clauses`. What makes facts inductive is defined in [`inductive`], and read by the engine and by who
//! checks it. What is true, where over-approximations are not enough to compare with, is answered by
//! [`exact`]. [`machines`] knows what is finite: which sequences tell states apart, and which suites find
//! every fault.

#![allow(missing_docs, reason = "a comment that repeats a name says nothing")]

mod acceleration;
pub mod auxiliary;
pub mod check;
mod clauses;
pub mod condition;
mod cubes;
mod determined;
pub mod domains;
pub mod effect;
pub mod exact;
pub mod excerpt;
pub mod facts;
pub mod fixpoint;
pub mod frame;
pub mod grid;
pub mod hull;
mod identities;
pub mod inductive;
mod lengths;
pub mod linear;
mod lists;
pub mod live;
pub mod machines;
mod nonlinear;
mod options;
pub mod order;
pub mod partition;
pub mod places;
mod predicates;
pub mod reachability;
mod readable;
mod regions;
pub mod scope;
pub mod sizes;
pub mod solver;
pub mod summaries;
pub mod symbolic;
mod thresholds;
pub mod timed;
pub mod transfer;

pub use domains::DomainKind;
pub use reachability::{Analyst, Facts, Imprecision, Options, Thresholds, analyse, reach};
