//! Polyhedra. The library's operations change their first argument; here each works on a copy, so that no
//! operation changes a polyhedron, and copies share. (The library keeps what it has computed about a value in
//! the value; that no answer depends on it is its promise.)

use std::ffi::c_int;
use std::fmt;
use std::ptr::{null, null_mut};
use std::rc::Rc;

use coreach_ppl_sys as sys;
use dashu_base::Signed;
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::constraint::{PplConstraint, PplConstraints, PplExpression, each, read};
use crate::error::{PplError, check};
use crate::library::PplLibrary;
use crate::number::Coefficient;

/// Can a polyhedron leave out its boundary?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topology {
    /// No: `C_Polyhedron`.
    Closed,
    /// Yes: `NNC_Polyhedron`.
    NotNecessarilyClosed,
}

/// The end of a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PplBound {
    /// Where.
    pub value: RBig,
    /// Does some point attain it?
    pub is_attained: bool,
}

/// The range of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PplBounds {
    /// Is there no point? Then there are no bounds either.
    pub is_empty: bool,
    /// The greatest lower bound, if there is one.
    pub lower: Option<PplBound>,
    /// The least upper bound, if there is one.
    pub upper: Option<PplBound>,
}

/// A convex polyhedron. It belongs to the thread that has the library.
#[derive(Clone)]
pub struct PplPolyhedron(Rc<OwnedPolyhedron>);

/// A polyhedron that nobody shares yet.
pub(crate) struct OwnedPolyhedron {
    raw: *mut sys::ppl_Polyhedron,
    topology: Topology,
    pub(crate) dimensions: usize,
    library: PplLibrary,
}

impl Drop for OwnedPolyhedron {
    fn drop(&mut self) {
        // SAFETY: this is its only owner, and the library is this thread's.
        unsafe { sys::ppl_delete_Polyhedron(self.raw) };
    }
}

impl fmt::Debug for PplPolyhedron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Polyhedron").field("constraints", &self.constraints()).finish()
    }
}

impl OwnedPolyhedron {
    fn universe(
        library: &PplLibrary,
        topology: Topology,
        dimensions: usize,
        empty: bool,
    ) -> Result<Self, PplError> {
        let mut raw = null_mut();
        // SAFETY: here and below: the library is this thread's. It writes the pointer, or fails.
        check(unsafe {
            let new = match topology {
                Topology::Closed => sys::ppl_new_C_Polyhedron_from_space_dimension,
                Topology::NotNecessarilyClosed => sys::ppl_new_NNC_Polyhedron_from_space_dimension,
            };
            new(&mut raw, dimensions, c_int::from(empty))
        })?;
        Ok(OwnedPolyhedron { raw, topology, dimensions, library: library.clone() })
    }

    /// For functions that change it.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut sys::ppl_Polyhedron {
        self.raw
    }

    pub(crate) fn shared(self) -> PplPolyhedron {
        PplPolyhedron(Rc::new(self))
    }
}

impl PplPolyhedron {
    /// All points.
    pub fn universe(library: &PplLibrary, topology: Topology, dimensions: usize) -> Result<Self, PplError> {
        OwnedPolyhedron::universe(library, topology, dimensions, false).map(OwnedPolyhedron::shared)
    }

    /// No point.
    pub fn empty(library: &PplLibrary, topology: Topology, dimensions: usize) -> Result<Self, PplError> {
        OwnedPolyhedron::universe(library, topology, dimensions, true).map(OwnedPolyhedron::shared)
    }

    pub(crate) fn raw(&self) -> *const sys::ppl_Polyhedron {
        self.0.raw
    }

    /// The number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.0.dimensions
    }

    /// The topology it was made with.
    pub fn topology(&self) -> Topology {
        self.0.topology
    }

    /// A copy to be changed.
    pub(crate) fn copy(&self) -> Result<OwnedPolyhedron, PplError> {
        let mut raw = null_mut();
        // SAFETY: the library is this thread's, and the polyhedron lives and has the topology.
        check(unsafe {
            match self.topology() {
                Topology::Closed => sys::ppl_new_C_Polyhedron_from_C_Polyhedron(&mut raw, self.raw()),
                Topology::NotNecessarilyClosed => {
                    sys::ppl_new_NNC_Polyhedron_from_NNC_Polyhedron(&mut raw, self.raw())
                }
            }
        })?;
        let (topology, dimensions) = (self.topology(), self.dimensions());
        Ok(OwnedPolyhedron { raw, topology, dimensions, library: self.0.library.clone() })
    }

    fn fits(&self, other: &Self) -> Result<(), PplError> {
        if (self.dimensions(), self.topology()) != (other.dimensions(), other.topology()) {
            return Err(PplError::argument("polyhedra of different dimensions or topologies"));
        }
        Ok(())
    }

    fn takes(&self, constraints: &PplConstraints) -> Result<(), PplError> {
        self.has(constraints.dimensions())?;
        if constraints.is_strict() && self.topology() == Topology::Closed {
            return Err(PplError::argument("a strict inequality, and a closed polyhedron"));
        }
        Ok(())
    }

    /// Has it at least so many dimensions?
    pub(crate) fn has(&self, dimensions: usize) -> Result<(), PplError> {
        if dimensions > self.dimensions() {
            let own = self.dimensions();
            return Err(PplError::argument(format!("{dimensions} dimensions, where there are {own}")));
        }
        Ok(())
    }

    /// Is there no point?
    pub fn is_empty(&self) -> Result<bool, PplError> {
        // SAFETY: here and below: the library is this thread's, and the polyhedra live.
        Ok(check(unsafe { sys::ppl_Polyhedron_is_empty(self.raw()) })? != 0)
    }

    /// Are these all points?
    pub fn is_universe(&self) -> Result<bool, PplError> {
        // SAFETY: see `is_empty`.
        Ok(check(unsafe { sys::ppl_Polyhedron_is_universe(self.raw()) })? != 0)
    }

    /// Is every point in the other?
    ///
    /// # Errors
    /// What the library says; polyhedra that do not fit.
    pub fn is_leq(&self, other: &Self) -> Result<bool, PplError> {
        self.fits(other)?;
        // SAFETY: see `is_empty`.
        Ok(check(unsafe { sys::ppl_Polyhedron_contains_Polyhedron(other.raw(), self.raw()) })? != 0)
    }

    /// The range of an expression.
    ///
    /// # Errors
    /// What the library says; an expression over more dimensions.
    pub fn bounds(&self, expression: &PplExpression) -> Result<PplBounds, PplError> {
        self.has(expression.dimensions())?;
        if self.is_empty()? {
            return Ok(PplBounds { is_empty: true, lower: None, upper: None });
        }
        let low = self.bound(expression, sys::ppl_Polyhedron_minimize)?;
        let high = self.bound(expression, sys::ppl_Polyhedron_maximize)?;
        // Dividing by a negative number turns the range around.
        let (lower, upper) = if expression.denominator.is_negative() { (high, low) } else { (low, high) };
        Ok(PplBounds { is_empty: false, lower, upper })
    }

    fn bound(
        &self,
        expression: &PplExpression,
        function: BoundFunction,
    ) -> Result<Option<PplBound>, PplError> {
        let (mut numerator, mut denominator) = (Coefficient::new()?, Coefficient::new()?);
        let mut attained = 0;
        // SAFETY: see `is_empty`; the expression lives, and the library writes numbers and flag where there
        // is a bound.
        let found = unsafe {
            let (above, below) = (numerator.as_mut_ptr(), denominator.as_mut_ptr());
            check(function(self.raw(), expression.as_ptr(), above, below, &mut attained))?
        };
        if found == 0 {
            return Ok(None);
        }
        let value = RBig::from(numerator.get()?)
            / (RBig::from(denominator.get()?) * RBig::from(expression.denominator.clone()));
        Ok(Some(PplBound { value, is_attained: attained != 0 }))
    }

    fn minimal(&self) -> Result<*const sys::ppl_Constraint_System, PplError> {
        let mut system = null();
        // SAFETY: see `is_empty`; the system is the polyhedron's, which nothing changes.
        check(unsafe { sys::ppl_Polyhedron_get_minimized_constraints(self.raw(), &mut system) })?;
        Ok(system)
    }

    /// Makes the library compute its minimal constraints, and counts them.
    pub fn count_constraints(&self) -> Result<usize, PplError> {
        let mut count = 0;
        // SAFETY: see `minimal`.
        unsafe {
            each(self.minimal()?, |_| {
                count += 1;
                Ok(())
            })?;
        }
        Ok(count)
    }

    /// The minimal constraints.
    pub fn constraints(&self) -> Result<Vec<PplConstraint>, PplError> {
        let mut all = Vec::new();
        let mut number = Coefficient::new()?;
        // SAFETY: see `minimal`.
        unsafe {
            each(self.minimal()?, |constraint| {
                all.push(read(constraint, self.dimensions(), &mut number)?);
                Ok(())
            })?;
        }
        Ok(all)
    }

    /// The points that satisfy the constraints.
    ///
    /// # Errors
    /// What the library says; constraints over more dimensions, or strict ones for a closed polyhedron.
    pub fn meet_constraints(&self, constraints: &PplConstraints) -> Result<Self, PplError> {
        self.takes(constraints)?;
        let mut new = self.copy()?;
        // SAFETY: see `is_empty`; the copy is ours alone.
        check(unsafe { sys::ppl_Polyhedron_add_constraints(new.as_mut_ptr(), constraints.as_ptr()) })?;
        Ok(new.shared())
    }

    /// [`PplPolyhedron::meet_constraints`] in place where nobody shares the polyhedron.
    pub fn into_meet(self, constraints: &PplConstraints) -> Result<Self, PplError> {
        self.takes(constraints)?;
        let mut new = match Rc::try_unwrap(self.0) {
            Ok(owned) => owned,
            Err(shared) => PplPolyhedron(shared).copy()?,
        };
        // SAFETY: see `meet_constraints`.
        check(unsafe { sys::ppl_Polyhedron_add_constraints(new.as_mut_ptr(), constraints.as_ptr()) })?;
        Ok(new.shared())
    }

    /// What is in both.
    ///
    /// # Errors
    /// What the library says; polyhedra that do not fit.
    pub fn meet(&self, other: &Self) -> Result<Self, PplError> {
        self.fits(other)?;
        let mut new = self.copy()?;
        // SAFETY: see `meet_constraints`.
        check(unsafe { sys::ppl_Polyhedron_intersection_assign(new.as_mut_ptr(), other.raw()) })?;
        Ok(new.shared())
    }

    /// The least polyhedron that contains both.
    ///
    /// # Errors
    /// What the library says; polyhedra that do not fit.
    pub fn join(&self, other: &Self) -> Result<Self, PplError> {
        self.fits(other)?;
        let mut new = self.copy()?;
        // SAFETY: see `meet_constraints`.
        check(unsafe { sys::ppl_Polyhedron_poly_hull_assign(new.as_mut_ptr(), other.raw()) })?;
        Ok(new.shared())
    }

    /// The standard widening. Precondition: this polyhedron is within the other.
    ///
    /// # Errors
    /// What the library says; polyhedra that do not fit.
    pub fn widen(&self, other: &Self) -> Result<Self, PplError> {
        self.fits(other)?;
        // The library widens the larger one by the smaller one.
        let mut new = other.copy()?;
        // SAFETY: see `meet_constraints`; there may be no tokens.
        check(unsafe {
            let (new, old) = (new.as_mut_ptr(), self.raw());
            sys::ppl_Polyhedron_H79_widening_assign_with_tokens(new, old, null_mut())
        })?;
        Ok(new.shared())
    }

    /// The widening within those constraints that the other polyhedron satisfies. Precondition as for
    /// [`PplPolyhedron::widen`].
    ///
    /// # Errors
    /// What the library says; polyhedra or constraints that do not fit.
    pub fn widen_within(&self, other: &Self, thresholds: &PplConstraints) -> Result<Self, PplError> {
        self.fits(other)?;
        self.takes(thresholds)?;
        let mut new = other.copy()?;
        // SAFETY: see `widen`.
        check(unsafe {
            let (new, old, within) = (new.as_mut_ptr(), self.raw(), thresholds.as_ptr());
            sys::ppl_Polyhedron_limited_H79_extrapolation_assign_with_tokens(new, old, within, null_mut())
        })?;
        Ok(new.shared())
    }
}

type BoundFunction = unsafe extern "C" fn(
    *const sys::ppl_Polyhedron,
    *const sys::ppl_Linear_Expression,
    *mut sys::ppl_Coefficient,
    *mut sys::ppl_Coefficient,
    *mut c_int,
) -> c_int;

/// A number as the library takes it.
pub(crate) fn coefficient(value: &IBig) -> Result<Coefficient, PplError> {
    let mut number = Coefficient::new()?;
    number.set(value)?;
    Ok(number)
}
