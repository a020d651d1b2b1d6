//! Compares `coreach-polyhedra` with the libraries that the field trusts: in speed, and answer by answer.
//!
//! - [`library`]: what a library must be able to do to take part; [`ours`], `polka`, `ppl` take part.
//! - [`shapes`]: the sequences of operations that are replayed; [`recorded`]: those written by the program.
//! - [`replay`]: one library performs one sequence; [`agreement`]: do the libraries give the same answers?
//! - [`probe`]: which sequences a library finishes at all, and in how much memory, in a process of its own.
//! - [`measure`]: the times of all libraries, alternating; [`statistics`]; [`table`].
//! - [`differential`]: random operations by the million, all answers compared.
//!
//! `scripts/bench domains` and `scripts/opponents` build it, with APRON and PPL: it is a workspace of its
//! own, since nothing that is given to users may be linked with PPL, and since nobody else has to have the
//! two libraries.

pub mod agreement;
pub mod differential;
pub mod library;
pub mod measure;
pub mod ours;
pub mod polka;
pub mod ppl;
pub mod probe;
pub mod recorded;
pub mod replay;
pub mod shapes;
pub mod statistics;
pub mod table;
