//! The part of the C interface of the Parma Polyhedra Library (Bagnara, Hill & Zaffanella, SCP 2008,
//! <https://doi.org/10.1016/j.scico.2007.08.001>) that `coreach-ppl` calls, and of GMP that it needs with it.
//! Written by hand from the header `ppl_c.h` of 1.2.
//!
//! The build asks for the library (`PPL_PREFIX`, or the system's) and says in two lines what to install where
//! there is none.
//!
//! The library is for comparison only, in tests and benchmarks: it is under the GPL 3 or later, and so is
//! what is linked with it.

mod gmp;
mod ppl;

pub use gmp::*;
pub use ppl::*;
