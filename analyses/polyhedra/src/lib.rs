#![doc = include_str!("../README.md")]

pub mod account;
mod adjacency;
mod bits;
mod bounded;
mod budget;
mod conversion;
mod dense;
mod dual;
mod faces;
mod integer;
mod interval;
mod lattice;
mod limits;
mod linear;
mod minimise;
mod number;
mod partition;
mod polyhedron;
mod product;
mod query;
mod rational;
mod row;
mod simplex;
mod tally;
mod transfer;
mod transfer_one;
mod widening;

// Not part of the interface: what decomposition is compared with, in tests and benchmarks.
#[doc(hidden)]
pub use dense::Dense;
pub use dense::Generators;
pub use integer::Integer;
pub use limits::{Approx, OperationLimits};
pub use linear::{Constraint, LinearExpression, Relation};
pub use polyhedron::Polyhedron;
pub use query::Bounds;
pub use rational::Rational;
