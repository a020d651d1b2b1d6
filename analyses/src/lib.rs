//! Analyses that find out facts about an IOSTS. They do not change it.
//!
//! They decide the satisfiability of terms ([`solver`]), and over-approximate the reachable and the
//! coreachable states. An analysis returns facts by location. `coreach-pipeline` decides what to do with it.
//!
//! ```
//! use coreach_analyses::solver::must_hold;
//! use coreach_analyses::solver::z3::Z3Solver;
//! use coreach_analyses::{Analysis, analyse, inductive};
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
//! let facts = analyse(&iosts, &accepting, &Analysis::default());
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
//! The modules of the abstract interpretation, from the question to the numbers:
//!
//! - [`reachability`] has the facts and the options. It asks the engine in [`fixpoint`], which visits
//!   locations in the [`order`] of Bourdoncle.
//! - An abstract value is a [`partition`] of the finite data, with an element of one of the [`domains`] in
//!   each cell. The places of a [`frame`] are its data.
//! - [`transfer`] takes a value along a transition, compiled in [`effect`] and [`scope`]. Terms that are not
//!   linear get numbers of their own ([`auxiliary`]).
//! - [`facts`] writes a value as a term, case by case or in `clauses`.
//!
//! [`inductive`] defines when facts are inductive, for the engine and for those who check its facts.
//! [`exact`] answers which transitions really lie on a run to Accept. [`machines`] analyses finite machines:
//! which sequences tell states apart, and which suites find every fault.

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
pub use reachability::{Analysis, Analyst, Facts, Imprecision, Thresholds, analyse, reach};
