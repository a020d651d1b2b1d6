#![doc = include_str!("../README.md")]

mod bits;
mod conversion;
mod dual;
mod faces;
mod integer;
mod lattice;
mod limits;
mod linear;
mod minimise;
mod polyhedron;
mod query;
mod rational;
mod row;
mod tighten;
mod transfer;
mod widening;

pub use integer::{Integer, ParseIntegerError};
pub use limits::{Limits, Outcome};
pub use linear::{Constraint, LinearExpression, Relation};
pub use polyhedron::{Generators, Polyhedron};
pub use query::Bounds;
pub use rational::Rational;
