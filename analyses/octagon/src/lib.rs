#![doc = include_str!("../README.md")]

mod block;
mod bound;
mod close;
mod edge;
mod lattice;
mod linear;
mod matrix;
mod meet;
mod octagon;
mod partition;
mod reduce;
mod transfer;
mod widening;

pub use coreach_polyhedra::{Bounds, Constraint, Integer, LinearExpression, Rational, Relation};
pub use octagon::Octagon;
