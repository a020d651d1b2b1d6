//! Elements: sets of vectors in one of the library's forms.
//!
//! No operation changes an element, so copies share. (The library keeps what it has computed about a value in
//! the value; that no answer depends on it is its promise.)

use std::collections::BTreeSet;
use std::fmt;
use std::ptr::NonNull;
use std::rc::Rc;

use coreach_apron_sys as sys;
use dashu_ratio::RBig;

use crate::error::{Error, ErrorKind};
use crate::linear::{Affine, ApronConstraint, Interval, RawConstraints, read_interval};
use crate::manager::{ApronLibrary, Manager, check_dimensions};
use crate::number::GmpRational;
use crate::prepared::{PreparedAssignments, PreparedConstraints, PreparedExpression, distinct};

/// A set of vectors. It belongs to its manager's thread.
#[derive(Clone)]
pub struct Element(Rc<Owned>);

struct Owned {
    raw: NonNull<sys::ap_abstract0_t>,
    manager: Manager,
    integers: usize,
    reals: usize,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: this is the only owner of a value that the library made, and its manager lives.
        unsafe { sys::ap_abstract0_free(self.manager.as_ptr(), self.raw.as_ptr()) }
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Element")
            .field("library", &self.library())
            .field("constraints", &self.constraints())
            .finish()
    }
}

impl Manager {
    /// All vectors of `integers` integers and then `reals` reals.
    pub fn top(&self, integers: usize, reals: usize) -> Result<Element, Error> {
        check_dimensions(integers, reals)?;
        // SAFETY: the manager lives; its dimensions are few enough.
        self.make(|manager| unsafe { sys::ap_abstract0_top(manager, integers, reals) })
    }

    pub fn bottom(&self, integers: usize, reals: usize) -> Result<Element, Error> {
        check_dimensions(integers, reals)?;
        // SAFETY: as above.
        self.make(|manager| unsafe { sys::ap_abstract0_bottom(manager, integers, reals) })
    }

    /// Calls a function of the library that makes a value. A 0 after the manager lets its arguments stay.
    pub(crate) fn make(
        &self,
        function: impl FnOnce(*mut sys::ap_manager_t) -> *mut sys::ap_abstract0_t,
    ) -> Result<Element, Error> {
        let (raw, outcome) = self.call(function);
        // Wrapped before the outcome is looked at: a call that fails still gives something to be freed.
        let element = NonNull::new(raw).map(|raw| Element::wrap(self, raw));
        outcome?;
        element.ok_or_else(|| Error::new(ErrorKind::OutOfSpace, "the library gave no value"))
    }
}

impl Element {
    fn wrap(manager: &Manager, raw: NonNull<sys::ap_abstract0_t>) -> Self {
        // SAFETY: the value lives, and its manager does. This cannot fail: it reads two fields.
        let size = unsafe { sys::ap_abstract0_dimension(manager.as_ptr(), raw.as_ptr()) };
        Element(Rc::new(Owned { raw, manager: manager.clone(), integers: size.intdim, reals: size.realdim }))
    }

    pub(crate) fn raw(&self) -> *mut sys::ap_abstract0_t {
        self.0.raw.as_ptr()
    }

    fn library(&self) -> ApronLibrary {
        self.0.manager.library()
    }

    pub fn manager(&self) -> &Manager {
        &self.0.manager
    }

    /// How many dimensions are integers; they come first.
    pub fn integers(&self) -> usize {
        self.0.integers
    }

    pub fn dimensions(&self) -> usize {
        self.0.integers + self.0.reals
    }

    /// Can the library work on both? Not all of its functions ask.
    pub(crate) fn require_fit(&self, other: &Self) -> Result<(), Error> {
        if self.library() != other.library() {
            return Err(Error::argument(format!(
                "{:?} and {:?} do not mix",
                self.library(),
                other.library()
            )));
        }
        if (self.0.integers, self.0.reals) != (other.0.integers, other.0.reals) {
            return Err(Error::argument("elements of different dimensions"));
        }
        Ok(())
    }

    /// Asks the library by calling `question`. Returns the answer, or the exception.
    fn ask(&self, question: impl FnOnce(*mut sys::ap_manager_t) -> sys::ap_bool) -> Result<bool, Error> {
        let (answer, outcome) = self.0.manager.call(question);
        outcome.map(|()| answer != 0)
    }

    /// Is there no vector? `false` is not certain where dimensions are integers.
    pub fn is_bottom(&self) -> Result<bool, Error> {
        // SAFETY: here and below: manager and value live, and belong together; other values are checked by
        // `require_fit`.
        self.ask(|manager| unsafe { sys::ap_abstract0_is_bottom(manager, self.raw()) })
    }

    pub fn is_top(&self) -> Result<bool, Error> {
        // SAFETY: see `is_bottom`.
        self.ask(|manager| unsafe { sys::ap_abstract0_is_top(manager, self.raw()) })
    }

    pub fn is_leq(&self, other: &Self) -> Result<bool, Error> {
        self.require_fit(other)?;
        // SAFETY: see `is_bottom`.
        self.ask(|manager| unsafe { sys::ap_abstract0_is_leq(manager, self.raw(), other.raw()) })
    }

    pub fn satisfies(&self, constraint: &ApronConstraint) -> Result<bool, Error> {
        let array = RawConstraints::of(std::slice::from_ref(constraint), self.dimensions())?;
        // SAFETY: see `is_bottom`; the array has one constraint, which the library reads.
        self.ask(|manager| unsafe { sys::ap_abstract0_sat_lincons(manager, self.raw(), array.0.p) })
    }

    /// How large the library's structure is, in a unit of its own.
    pub fn size(&self) -> usize {
        // SAFETY: see `is_bottom`.
        self.0.manager.call(|manager| unsafe { sys::ap_abstract0_size(manager, self.raw()) }).0
    }

    /// An interval that contains all values of the expression. Of bottom: one without numbers.
    pub fn bound(&self, expression: &Affine) -> Result<Interval, Error> {
        self.bound_prepared(&mut PreparedExpression::of(expression, self.dimensions())?)
    }

    pub fn bounds(&self) -> Result<Vec<Interval>, Error> {
        let size = self.dimensions();
        let (intervals, outcome) = self.0.manager.call(|manager| {
            // SAFETY: see `is_bottom`; the library gives a new array of as many intervals as there are
            // dimensions, which are read and freed.
            unsafe {
                let raw = sys::ap_abstract0_to_box(manager, self.raw());
                if raw.is_null() {
                    return Vec::new();
                }
                let intervals = (0..size).map(|at| read_interval(*raw.add(at))).collect();
                sys::ap_interval_array_free(raw, size);
                intervals
            }
        });
        outcome.map(|()| intervals)
    }

    pub fn constraints(&self) -> Result<Vec<ApronConstraint>, Error> {
        self.list_prepared()?.read()
    }

    pub fn meet(&self, other: &Self) -> Result<Self, Error> {
        self.require_fit(other)?;
        // SAFETY: see `is_bottom`.
        self.0.manager.make(|manager| unsafe { sys::ap_abstract0_meet(manager, 0, self.raw(), other.raw()) })
    }

    /// The least upper bound.
    pub fn join(&self, other: &Self) -> Result<Self, Error> {
        self.require_fit(other)?;
        // SAFETY: see `is_bottom`.
        self.0.manager.make(|manager| unsafe { sys::ap_abstract0_join(manager, 0, self.raw(), other.raw()) })
    }

    /// The vectors that satisfy the constraints; coarser where the library cannot say it.
    pub fn meet_constraints(&self, constraints: &[ApronConstraint]) -> Result<Self, Error> {
        self.meet_prepared(&mut PreparedConstraints::of(constraints, self.dimensions())?)
    }

    /// The widening. Precondition: this element is within the other.
    pub fn widen(&self, other: &Self) -> Result<Self, Error> {
        self.require_fit(other)?;
        // SAFETY: see `is_bottom`.
        self.0.manager.make(|manager| unsafe { sys::ap_abstract0_widening(manager, self.raw(), other.raw()) })
    }

    /// The widening within those constraints that the other element satisfies. Precondition as for
    /// [`Element::widen`].
    ///
    /// Not for octagons: the meet closes the result, and a sequence of widenings of closed octagons may not
    /// end. See [`Element::widen_octagon`].
    pub fn widen_within(&self, other: &Self, thresholds: &[ApronConstraint]) -> Result<Self, Error> {
        self.widen_prepared(other, &mut PreparedConstraints::of(thresholds, self.dimensions())?)
    }

    pub(crate) fn refuse_octagon(&self) -> Result<(), Error> {
        if self.library() == ApronLibrary::Octagon {
            return Err(Error::argument("octagons are widened with thresholds by widen_octagon"));
        }
        Ok(())
    }

    /// The widening of octagons whose bounds stop at the next of these numbers before they go to ∞. A bound
    /// is on `±x ± y`, or on `±2x`: twice the bound on `±x`. Precondition as for [`Element::widen`].
    pub fn widen_octagon(&self, other: &Self, thresholds: &BTreeSet<RBig>) -> Result<Self, Error> {
        self.require_fit(other)?;
        if self.library() != ApronLibrary::Octagon {
            return Err(Error::argument("not an octagon"));
        }
        /// Scalars of the library that free themselves.
        struct Scalars(Vec<*mut sys::ap_scalar_t>);
        impl Drop for Scalars {
            fn drop(&mut self) {
                // SAFETY: each was made by the library, and this is its only owner.
                self.0.iter().for_each(|scalar| unsafe { sys::ap_scalar_free(*scalar) });
            }
        }
        // SAFETY: the library copies the number.
        let scalar = |value: &RBig| unsafe { sys::ap_scalar_alloc_set_mpq(GmpRational::of(value).as_ptr()) };
        let mut scalars = Scalars(thresholds.iter().map(scalar).collect());
        // SAFETY: see `is_bottom`; the scalars ascend, as the set does, and there are as many as is said.
        self.0.manager.make(|manager| unsafe {
            let (first, count) = (scalars.0.as_mut_ptr(), scalars.0.len());
            sys::ap_abstract0_oct_widening_thresholds(manager, self.raw(), other.raw(), first, count)
        })
    }

    /// The image of a parallel assignment: all right sides are evaluated at the old vector.
    pub fn assign(&self, assignments: &[(usize, Affine)]) -> Result<Self, Error> {
        self.assign_prepared(&mut PreparedAssignments::of(assignments, self.dimensions())?)
    }

    /// The vectors that a parallel assignment takes into this element.
    pub fn substitute(&self, assignments: &[(usize, Affine)]) -> Result<Self, Error> {
        self.substitute_prepared(&mut PreparedAssignments::of(assignments, self.dimensions())?)
    }

    pub fn forget(&self, dimensions: &[usize]) -> Result<Self, Error> {
        if dimensions.is_empty() {
            return Ok(self.clone());
        }
        let mut dimensions = distinct(dimensions, self.dimensions())?;
        // SAFETY: see `is_bottom`; the array has the size that is said.
        self.0.manager.make(|manager| unsafe {
            let (first, size) = (dimensions.as_mut_ptr(), dimensions.len());
            sys::ap_abstract0_forget_array(manager, 0, self.raw(), first, size, 0)
        })
    }

    /// New dimensions of any value: after the integers, and after the reals.
    pub fn add_dimensions(&self, integers: usize, reals: usize) -> Result<Self, Error> {
        if integers == 0 && reals == 0 {
            return Ok(self.clone());
        }
        check_dimensions(self.dimensions().saturating_add(integers), reals)?;
        // The numbers are those of the old dimensions before which the new ones come.
        let mut places = vec![self.0.integers as sys::ap_dim_t; integers];
        places.resize(integers + reals, self.dimensions() as sys::ap_dim_t);
        let mut change = sys::ap_dimchange_t { dim: places.as_mut_ptr(), intdim: integers, realdim: reals };
        // SAFETY: see `is_bottom`; the places ascend, and are no greater than the number of dimensions.
        self.0.manager.make(|manager| unsafe {
            sys::ap_abstract0_add_dimensions(manager, 0, self.raw(), &mut change, 0)
        })
    }

    /// The dimensions are projected away, and those after them move down.
    pub fn remove_dimensions(&self, dimensions: &[usize]) -> Result<Self, Error> {
        if dimensions.is_empty() {
            return Ok(self.clone());
        }
        let mut places = distinct(dimensions, self.dimensions())?;
        places.sort_unstable();
        let integers = places.iter().filter(|at| (**at as usize) < self.0.integers).count();
        let reals = places.len() - integers;
        let mut change = sys::ap_dimchange_t { dim: places.as_mut_ptr(), intdim: integers, realdim: reals };
        // SAFETY: see `is_bottom`; the places ascend, are distinct and are dimensions, the integer ones
        // first.
        self.0.manager.make(|manager| unsafe {
            sys::ap_abstract0_remove_dimensions(manager, 0, self.raw(), &mut change)
        })
    }
}
