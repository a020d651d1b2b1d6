//! APRON without its sharp edges: values that free themselves, errors as errors, exact numbers.
//!
//! ```
//! # #[cfg(feature = "link")]
//! # fn main() -> Result<(), coreach_apron::Error> {
//! use coreach_apron::{Affine, ApronConstraint, ApronLibrary, ApronRelation, Manager};
//!
//! let manager = Manager::new(ApronLibrary::Polka)?;
//! // x0 >= 1 and x1 >= x0 + 1
//! let constraints = [
//!     ApronConstraint::new(Affine::of(&[1, 0], -1), ApronRelation::AtLeast),
//!     ApronConstraint::new(Affine::of(&[-1, 1], -1), ApronRelation::AtLeast),
//! ];
//! let wedge = manager.top(0, 2)?.meet_constraints(&constraints)?;
//! assert_eq!(wedge.bound(&Affine::of(&[0, 1], 0))?.low, Some(2.into()));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "link"))]
//! # fn main() {}
//! ```
//!
//! It is for comparison, and for those who trust APRON more than us; nothing needs it. With the feature
//! `link` it is built against the library; without, the crate is empty.
//!
//! What the library asks of who calls it, and who sees to it here:
//!
//! - a manager belongs to one thread, and so do its values: neither can be sent (`Manager`);
//! - exceptions lie in a field of the manager, and no call takes them back: `manager.rs` reads and clears it
//!   around every call, and tells the library not to end the process;
//! - making a manager of boxes or octagons turns the thread's floating-point rounding upward: it is set back,
//!   since with rationals nothing depends on it;
//! - dimensions, distinctness and managers that fit are checked here, not there: not every function of the
//!   library does.

#[cfg(feature = "link")]
mod apply;
#[cfg(feature = "link")]
mod element;
#[cfg(feature = "link")]
mod error;
#[cfg(feature = "link")]
mod linear;
#[cfg(feature = "link")]
mod manager;
#[cfg(feature = "link")]
mod number;
#[cfg(feature = "link")]
mod prepared;

#[cfg(feature = "link")]
pub use element::Element;
#[cfg(feature = "link")]
pub use error::{Error, ErrorKind};
#[cfg(feature = "link")]
pub use linear::{Affine, ApronConstraint, ApronRelation, Interval};
#[cfg(feature = "link")]
pub use manager::{ApronLibrary, Manager};
#[cfg(feature = "link")]
pub use prepared::{PreparedAssignments, PreparedConstraints, PreparedExpression};
