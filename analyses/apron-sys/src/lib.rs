//! The part of the C interface of APRON (Jeannet & Miné, CAV 2009,
//! <https://doi.org/10.1007/978-3-642-02658-4_52>) that `coreach-apron` calls, and of GMP and libm that it
//! needs with it. Written by hand from the headers of 0.9.10; those of 0.9.15 declare the same.
//!
//! With the feature `link` the build asks for the library (`APRON_PREFIX`, or the system's) and says in two
//! lines what to install where there is none. Without it this crate is empty.
//!
//! Only level 0: dimensions are numbers. Many functions of the headers are `static inline`, so no library
//! exports them; in their place the structures are declared, and who calls writes the fields.

#[cfg(feature = "link")]
mod apron;
#[cfg(feature = "link")]
mod gmp;
#[cfg(feature = "link")]
mod rounding;

#[cfg(feature = "link")]
pub use apron::*;
#[cfg(feature = "link")]
pub use gmp::*;
#[cfg(feature = "link")]
pub use rounding::*;
