//! Arguments and answers that stay in the library's form.
//!
//! To convert an argument can cost as much as a small operation. Who repeats an operation, or measures it,
//! converts once. Arguments are borrowed mutably: the C functions take them so, even where they only read.

use coreach_apron_sys as sys;

use crate::error::Error;
use crate::linear::{Affine, ApronConstraint, RawConstraints, RawExpression};

/// Constraints in the library's form.
#[derive(Debug)]
pub struct PreparedConstraints {
    pub(crate) raw: RawConstraints,
    pub(crate) dimensions: usize,
}

/// A parallel assignment in the library's form.
#[derive(Debug)]
pub struct PreparedAssignments {
    pub(crate) targets: Vec<sys::ap_dim_t>,
    pub(crate) expressions: Vec<RawExpression>,
    pub(crate) dimensions: usize,
}

/// An expression in the library's form.
#[derive(Debug)]
pub struct PreparedExpression {
    pub(crate) raw: RawExpression,
    pub(crate) dimensions: usize,
}

impl PreparedConstraints {
    pub fn of(constraints: &[ApronConstraint], dimensions: usize) -> Result<Self, Error> {
        Ok(Self { raw: RawConstraints::of(constraints, dimensions)?, dimensions })
    }

    pub fn count(&self) -> usize {
        self.raw.0.size
    }

    pub fn read(&self) -> Result<Vec<ApronConstraint>, Error> {
        self.raw.read(self.dimensions)
    }
}

impl PreparedAssignments {
    pub fn of(assignments: &[(usize, Affine)], dimensions: usize) -> Result<Self, Error> {
        let targets: Vec<usize> = assignments.iter().map(|(target, _)| *target).collect();
        let targets = distinct(&targets, dimensions)?;
        let expressions = assignments.iter().map(|(_, value)| RawExpression::of(value, dimensions));
        Ok(Self { targets, expressions: expressions.collect::<Result<_, _>>()?, dimensions })
    }
}

impl PreparedExpression {
    pub fn of(expression: &Affine, dimensions: usize) -> Result<Self, Error> {
        Ok(Self { raw: RawExpression::of(expression, dimensions)?, dimensions })
    }
}

/// The dimensions as the library takes them, if they are there and distinct.
pub(crate) fn distinct(dimensions: &[usize], of: usize) -> Result<Vec<sys::ap_dim_t>, Error> {
    let mut seen = vec![false; of];
    for &dimension in dimensions {
        match seen.get_mut(dimension) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return Err(Error::argument(format!("dimension {dimension} is given twice"))),
            None => return Err(Error::argument(format!("there is no dimension {dimension}"))),
        }
    }
    // The manager makes no element of so many dimensions that this would cut something off.
    Ok(dimensions.iter().map(|dimension| *dimension as sys::ap_dim_t).collect())
}
