//! Assignments, and more and fewer dimensions.
//!
//! The library assigns one dimension at a time. Several in parallel are made so: every right side gets a new
//! dimension and is computed from the old ones, then the new dimensions take the place of the targets. The
//! pre-image goes the other way: the targets become new dimensions, those are set equal to the right sides,
//! and are projected away.

use coreach_ppl_sys as sys;
use dashu_int::IBig;

use crate::constraint::{PplConstraint, PplConstraints, PplExpression, PplRelation};
use crate::error::{PplError, check};
use crate::library::PplLibrary;
use crate::number::Coefficient;
use crate::polyhedron::{OwnedPolyhedron, PplPolyhedron, coefficient};

/// A parallel assignment in the library's form, for polyhedra with a certain number of dimensions.
#[derive(Debug)]
pub struct Assignment {
    targets: Vec<usize>,
    values: Vec<(PplExpression, Coefficient)>,
    dimensions: usize,
    /// The new dimensions are equal to the right sides: for the pre-image of more than one.
    equations: Option<PplConstraints>,
    /// The last field, so that it is given up last: numbers do not hold it themselves.
    _library: PplLibrary,
}

/// `(coefficients·x + constant) / denominator`.
type Quotient = (Vec<IBig>, IBig, IBig);

impl Assignment {
    /// Right sides are coefficients by dimension, a constant and a denominator.
    ///
    /// # Errors
    /// What the library says; a dimension that there is not, or a target twice; a denominator that is 0.
    pub fn of(
        library: &PplLibrary,
        assignments: &[(usize, Quotient)],
        dimensions: usize,
    ) -> Result<Self, PplError> {
        let targets: Vec<usize> = assignments.iter().map(|(target, _)| *target).collect();
        distinct(&targets, dimensions)?;
        let mut values = Vec::new();
        let mut equations = Vec::new();
        for (at, (_, (coefficients, constant, denominator))) in assignments.iter().enumerate() {
            let value = PplExpression::of(library, coefficients, constant, denominator)?;
            if value.dimensions() > dimensions {
                return Err(PplError::argument("a right side over more dimensions"));
            }
            values.push((value, coefficient(denominator)?));
            let mut row = coefficients.clone();
            row.resize(dimensions + assignments.len(), IBig::ZERO);
            row[dimensions + at] = -denominator;
            let constant = constant.clone();
            equations.push(PplConstraint { coefficients: row, constant, relation: PplRelation::Equal });
        }
        let is_parallel = assignments.len() > 1;
        let equations = is_parallel.then(|| PplConstraints::of(library, &equations)).transpose()?;
        Ok(Assignment { targets, values, dimensions, equations, _library: library.clone() })
    }
}

fn distinct(dimensions: &[usize], of: usize) -> Result<(), PplError> {
    let mut seen = vec![false; of];
    for &dimension in dimensions {
        match seen.get_mut(dimension) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return Err(PplError::argument(format!("dimension {dimension} is given twice"))),
            None => return Err(PplError::argument(format!("there is no dimension {dimension}"))),
        }
    }
    Ok(())
}

impl PplPolyhedron {
    /// The image of a parallel assignment: all right sides are evaluated at the old vector.
    ///
    /// # Errors
    /// What the library says; an assignment for another number of dimensions.
    pub fn assign(&self, assignment: &mut Assignment) -> Result<Self, PplError> {
        let Some(mut new) = self.copy_for(assignment)? else { return Ok(self.clone()) };
        let dimensions = self.dimensions();
        if let [(value, denominator)] = &mut assignment.values[..] {
            image(&mut new, assignment.targets[0], value, denominator)?;
            return Ok(new.shared());
        }
        embed(&mut new, assignment.targets.len())?;
        for (at, (value, denominator)) in assignment.values.iter_mut().enumerate() {
            image(&mut new, dimensions + at, value, denominator)?;
        }
        let mut none = 0;
        // SAFETY: here and below: the library is this thread's; the polyhedron lives and is ours alone.
        check(unsafe { sys::ppl_not_a_dimension(&mut none) })?;
        let mut places: Vec<usize> = (0..dimensions).collect();
        for &target in &assignment.targets {
            places[target] = none;
        }
        places.extend(&assignment.targets);
        // SAFETY: as above; there is a place for each dimension, and the places are distinct and fill 0, 1,
        // ...
        check(unsafe {
            sys::ppl_Polyhedron_map_space_dimensions(new.as_mut_ptr(), places.as_mut_ptr(), places.len())
        })?;
        new.dimensions = dimensions;
        Ok(new.shared())
    }

    /// The points that a parallel assignment takes into this polyhedron.
    ///
    /// # Errors
    /// What the library says; an assignment for another number of dimensions.
    pub fn substitute(&self, assignment: &mut Assignment) -> Result<Self, PplError> {
        let Some(mut new) = self.copy_for(assignment)? else { return Ok(self.clone()) };
        let dimensions = self.dimensions();
        let Some(equations) = &assignment.equations else {
            for (&target, (value, denominator)) in assignment.targets.iter().zip(&mut assignment.values) {
                // SAFETY: see `assign`; the expression has no more dimensions than the polyhedron.
                check(unsafe {
                    let below: *const _ = denominator.as_mut_ptr();
                    sys::ppl_Polyhedron_affine_preimage(new.as_mut_ptr(), target, value.as_ptr(), below)
                })?;
            }
            return Ok(new.shared());
        };
        embed(&mut new, assignment.targets.len())?;
        let mut places: Vec<usize> = (0..new.dimensions).collect();
        for (at, &target) in assignment.targets.iter().enumerate() {
            places.swap(target, dimensions + at);
        }
        // SAFETY: see `assign`; the places are a permutation, and the equations are over these dimensions.
        unsafe {
            let (first, count) = (places.as_mut_ptr(), places.len());
            check(sys::ppl_Polyhedron_map_space_dimensions(new.as_mut_ptr(), first, count))?;
            check(sys::ppl_Polyhedron_add_constraints(new.as_mut_ptr(), equations.as_ptr()))?;
            check(sys::ppl_Polyhedron_remove_higher_space_dimensions(new.as_mut_ptr(), dimensions))?;
        }
        new.dimensions = dimensions;
        Ok(new.shared())
    }

    /// Nothing where nothing is assigned.
    fn copy_for(&self, assignment: &Assignment) -> Result<Option<OwnedPolyhedron>, PplError> {
        if assignment.dimensions != self.dimensions() {
            let (made, own) = (assignment.dimensions, self.dimensions());
            return Err(PplError::argument(format!("made for {made} dimensions, not for {own}")));
        }
        if assignment.targets.is_empty() { Ok(None) } else { self.copy().map(Some) }
    }

    /// The dimensions may have any value.
    ///
    /// # Errors
    /// What the library says; a dimension that there is not, or twice.
    pub fn forget(&self, dimensions: &[usize]) -> Result<Self, PplError> {
        distinct(dimensions, self.dimensions())?;
        let mut dimensions = dimensions.to_vec();
        let mut new = self.copy()?;
        // SAFETY: see `assign`; the array has the size that is said.
        check(unsafe {
            let (first, count) = (dimensions.as_mut_ptr(), dimensions.len());
            sys::ppl_Polyhedron_unconstrain_space_dimensions(new.as_mut_ptr(), first, count)
        })?;
        Ok(new.shared())
    }

    /// New dimensions at the end, of any value.
    pub fn add_dimensions(&self, count: usize) -> Result<Self, PplError> {
        let mut new = self.copy()?;
        embed(&mut new, count)?;
        Ok(new.shared())
    }

    /// The dimensions are projected away, and those after them move down.
    ///
    /// # Errors
    /// What the library says; a dimension that there is not, or twice.
    pub fn remove_dimensions(&self, dimensions: &[usize]) -> Result<Self, PplError> {
        distinct(dimensions, self.dimensions())?;
        let mut dimensions = dimensions.to_vec();
        let mut new = self.copy()?;
        // SAFETY: see `forget`.
        check(unsafe {
            let (first, count) = (dimensions.as_mut_ptr(), dimensions.len());
            sys::ppl_Polyhedron_remove_space_dimensions(new.as_mut_ptr(), first, count)
        })?;
        new.dimensions -= dimensions.len();
        Ok(new.shared())
    }
}

/// The image under one assignment.
fn image(
    new: &mut OwnedPolyhedron,
    target: usize,
    value: &PplExpression,
    denominator: &mut Coefficient,
) -> Result<(), PplError> {
    // SAFETY: see `assign`; the expression has no more dimensions than the polyhedron, and its denominator is
    // not 0.
    check(unsafe {
        let below: *const _ = denominator.as_mut_ptr();
        sys::ppl_Polyhedron_affine_image(new.as_mut_ptr(), target, value.as_ptr(), below)
    })?;
    Ok(())
}

fn embed(new: &mut OwnedPolyhedron, count: usize) -> Result<(), PplError> {
    // SAFETY: see `assign`.
    check(unsafe { sys::ppl_Polyhedron_add_space_dimensions_and_embed(new.as_mut_ptr(), count) })?;
    new.dimensions += count;
    Ok(())
}
