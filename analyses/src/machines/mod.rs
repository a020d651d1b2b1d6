//! Finite machines: words that tell states apart, and suites that find every fault up to a number of states.
//!
//! A [`Mealy`] machine answers each input with one output. States, inputs and outputs are numbers here. Only
//! the code that makes the machine knows their meaning: `project/src/cover/machine.rs` makes the machine of a
//! specification. [`identify`] has the sequences that identify states, [`methods`] has the suites, and
//! [`tour`] has one walk over all transitions.
//!
//! Source of the field: the thesis, section 3.1 (from p. 22); Lee and Yannakakis, *Principles and methods of
//! testing finite state machines* (1996).

pub mod identify;
pub mod mealy;
pub mod methods;
pub mod tour;

pub use mealy::{Mealy, Word};
pub use methods::{Method, NoSuite, suite};
