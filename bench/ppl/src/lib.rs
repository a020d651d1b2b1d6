//! The Parma Polyhedra Library without its sharp edges: values that free themselves, errors as errors, exact
//! numbers.
//!
//! ```
//! # //! # fn main() -> Result<(), coreach_ppl::PplError> {
//! use coreach_ppl::{PplConstraint, PplConstraints, PplExpression, PplLibrary, PplPolyhedron};
//! use coreach_ppl::{PplRelation, Topology};
//!
//! let library = PplLibrary::claim()?;
//! // x0 >= 1 and x1 >= x0 + 1
//! let constraints = [
//!     PplConstraint::of(&[1, 0], -1, PplRelation::AtLeast),
//!     PplConstraint::of(&[-1, 1], -1, PplRelation::AtLeast),
//! ];
//! let wedge = PplPolyhedron::universe(&library, Topology::Closed, 2)?;
//! let wedge = wedge.meet_constraints(&PplConstraints::of(&library, &constraints)?)?;
//! let bounds = wedge.bounds(&PplExpression::of(&library, &[0.into(), 1.into()], &0.into(), &1.into())?)?;
//! assert_eq!(bounds.lower.map(|bound| bound.value), Some(2.into()));
//! # Ok(())
//! # }
//! ```
//!
//! It is for comparison; nothing needs it. The library is under the GPL.
//!
//! What the library asks of who calls it, and who sees to it here:
//!
//! - it is one per process, and most builds of it are for one thread: `PplLibrary::claim` waits until no other
//!   thread has it, and nothing that belongs to it can be sent;
//! - it throws C++ exceptions, which its C interface turns into negative results: all are looked at
//!   (`error.rs`);
//! - to initialise it turns the thread's floating-point rounding upward: that is set back, since polyhedra
//!   compute with integers;
//! - it knows no parallel assignment: that is made of single ones on dimensions added for it (`transfer.rs`).

mod constraint;
mod error;
mod library;
mod number;
mod polyhedron;
mod transfer;

pub use constraint::{PplConstraint, PplConstraints, PplExpression, PplRelation};
pub use error::{PplError, PplErrorKind};
pub use library::PplLibrary;
pub use polyhedron::{PplBound, PplBounds, PplPolyhedron, Topology};
pub use transfer::Assignment;
