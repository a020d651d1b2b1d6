//! The operations of elements on arguments in the library's form ([`crate::prepared`]).

use std::ptr::null_mut;

use coreach_apron_sys as sys;

use crate::element::Element;
use crate::error::Error;
use crate::linear::{Interval, RawConstraints, RawExpression, read_interval};
use crate::prepared::{PreparedAssignments, PreparedConstraints, PreparedExpression};

type AssignFunction = unsafe extern "C" fn(
    *mut sys::ap_manager_t,
    sys::ap_bool,
    *mut sys::ap_abstract0_t,
    *mut sys::ap_dim_t,
    *mut *mut sys::ap_linexpr0_t,
    usize,
    *mut sys::ap_abstract0_t,
) -> *mut sys::ap_abstract0_t;

impl Element {
    /// [`Element::constraints`], left in the library's form.
    pub fn list_prepared(&self) -> Result<PreparedConstraints, Error> {
        let (raw, outcome) = self.manager().call(|manager| {
            // SAFETY: here and below: manager and value live, and belong together. The array is new.
            RawConstraints(unsafe { sys::ap_abstract0_to_lincons_array(manager, self.raw()) })
        });
        outcome.map(|()| PreparedConstraints { raw, dimensions: self.dimensions() })
    }

    /// [`Element::meet_constraints`].
    pub fn meet_prepared(&self, constraints: &mut PreparedConstraints) -> Result<Self, Error> {
        self.require_dimensions(constraints.dimensions)?;
        // SAFETY: see `list_prepared`; the array is borrowed mutably, so that it may be written to.
        self.manager().make(|manager| unsafe {
            sys::ap_abstract0_meet_lincons_array(manager, 0, self.raw(), &mut constraints.raw.0)
        })
    }

    /// [`Element::widen_within`].
    pub fn widen_prepared(&self, other: &Self, thresholds: &mut PreparedConstraints) -> Result<Self, Error> {
        self.require_fit(other)?;
        self.require_dimensions(thresholds.dimensions)?;
        self.refuse_octagon()?;
        // SAFETY: see `list_prepared`; the array is borrowed mutably, so that it may be reordered.
        self.manager().make(|manager| unsafe {
            let array = &mut thresholds.raw.0;
            sys::ap_abstract0_widening_threshold(manager, self.raw(), other.raw(), array)
        })
    }

    /// [`Element::bound`].
    pub fn bound_prepared(&self, expression: &mut PreparedExpression) -> Result<Interval, Error> {
        self.require_dimensions(expression.dimensions)?;
        let (interval, outcome) = self.manager().call(|manager| {
            // SAFETY: see `list_prepared`; the library reads the expression, and gives a new interval, which
            // is read and freed.
            unsafe {
                let raw = sys::ap_abstract0_bound_linexpr(manager, self.raw(), expression.raw.as_ptr());
                let interval = read_interval(raw);
                sys::ap_interval_free(raw);
                interval
            }
        });
        outcome.map(|()| interval)
    }

    /// [`Element::assign`].
    pub fn assign_prepared(&self, assignments: &mut PreparedAssignments) -> Result<Self, Error> {
        self.transform(assignments, sys::ap_abstract0_assign_linexpr_array)
    }

    /// [`Element::substitute`].
    pub fn substitute_prepared(&self, assignments: &mut PreparedAssignments) -> Result<Self, Error> {
        self.transform(assignments, sys::ap_abstract0_substitute_linexpr_array)
    }

    fn transform(&self, given: &mut PreparedAssignments, function: AssignFunction) -> Result<Self, Error> {
        self.require_dimensions(given.dimensions)?;
        if given.targets.is_empty() {
            return Ok(self.clone());
        }
        let mut pointers: Vec<_> = given.expressions.iter().map(RawExpression::as_ptr).collect();
        // SAFETY: see `list_prepared`; both arrays have the same size, and the expressions outlive the call.
        self.manager().make(|manager| unsafe {
            let (first, size) = (given.targets.as_mut_ptr(), given.targets.len());
            function(manager, 0, self.raw(), first, pointers.as_mut_ptr(), size, null_mut())
        })
    }

    fn require_dimensions(&self, dimensions: usize) -> Result<(), Error> {
        if self.dimensions() == dimensions {
            return Ok(());
        }
        Err(Error::argument(format!("made for {dimensions} dimensions, not for {}", self.dimensions())))
    }
}
