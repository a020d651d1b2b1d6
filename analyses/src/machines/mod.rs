//! Finite machines: what tells their states apart, and suites that find every fault up to a number of states.
//!
//! A [`Mealy`] machine answers each input with one output; states, inputs and outputs are numbers here. What
//! they stand for is known to who makes the machine: of a specification it is `project/src/cover/machine.rs`.
//! [`identify`] has the sequences by which states are known, [`methods`] the suites, [`tour`] one walk over
//! all transitions.
//!
//! Source of the field: the thesis, section 3.1 (from p. 22); Lee and Yannakakis, *Principles and methods of
//! testing finite state machines* (1996).

pub mod identify;
pub mod mealy;
pub mod methods;
pub mod tour;

pub use mealy::{Mealy, Word};
pub use methods::{Method, NoSuite, suite};
