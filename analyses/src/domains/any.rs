//! A domain that is chosen when coreach runs.
//!
//! The analyses are written over [`AnyElement`]. So they are compiled once, and not once for each domain. An
//! operation costs one indirect call and one allocation more than in the domain itself.

use std::any::Any;
use std::ops::Deref;

use coreach_polyhedra::Constraint;

use crate::domains::{Assignments, Domain};
use crate::grid::Congruence;

/// A domain before there is an element: its traits, and how to make the first element.
#[derive(Clone, Copy, Debug)]
pub struct AnyDomain {
    /// [`Domain::SEES_DATA`]
    pub sees_data: bool,
    /// [`Domain::RELATES`]
    pub relates: bool,
    /// [`Domain::KNOWS_CONGRUENCES`]
    pub knows_congruences: bool,
    top: fn(usize) -> AnyElement,
}

impl AnyDomain {
    pub fn new<D: Domain>() -> Self {
        AnyDomain {
            sees_data: D::SEES_DATA,
            relates: D::RELATES,
            knows_congruences: D::KNOWS_CONGRUENCES,
            top: |dimensions| AnyElement(Box::new(D::top(dimensions))),
        }
    }

    /// All vectors of this many dimensions.
    pub fn top(&self, dimensions: usize) -> AnyElement {
        (self.top)(dimensions)
    }
}

/// An element of some domain. An operation on two elements panics if their domains differ.
#[derive(Debug)]
pub struct AnyElement(Box<dyn Operations>);

impl Clone for AnyElement {
    fn clone(&self) -> Self {
        self.0.copy()
    }
}

impl Deref for AnyElement {
    type Target = dyn Operations;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl AnyElement {
    /// [`Domain::meet_congruences`]
    pub fn meet_congruences(self, congruences: &[Congruence], integer: &[bool]) -> AnyElement {
        self.0.meet_boxed(congruences, integer)
    }

    /// Panics if the element is of another domain. No analysis mixes domains.
    #[allow(clippy::expect_used, reason = "no analysis mixes domains")]
    fn in_domain<D: Domain>(&self) -> &D {
        self.0.as_any().downcast_ref().expect("an element of the same domain")
    }
}

/// The operations of [`Domain`] on an element whose domain is not part of the type.
pub trait Operations: std::fmt::Debug {
    fn as_any(&self) -> &dyn Any;
    fn copy(&self) -> AnyElement;
    fn bottom(&self, dimensions: usize) -> AnyElement;
    fn is_bottom(&self) -> bool;
    fn is_leq(&self, other: &AnyElement) -> bool;
    fn join(&self, other: &AnyElement) -> AnyElement;
    fn meet(&self, other: &AnyElement, integer: &[bool]) -> AnyElement;
    fn widen(&self, other: &AnyElement, thresholds: &[Constraint]) -> AnyElement;
    fn narrow(&self, other: &AnyElement, integer: &[bool]) -> AnyElement;
    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> AnyElement;
    fn meet_boxed(self: Box<Self>, congruences: &[Congruence], integer: &[bool]) -> AnyElement;
    fn assign(&self, assignments: &Assignments) -> AnyElement;
    fn substitute(&self, assignments: &Assignments) -> AnyElement;
    fn forget(&self, dimensions: &[usize]) -> AnyElement;
    fn add_dimensions(&self, count: usize) -> AnyElement;
    fn remove_last_dimensions(&self, count: usize) -> AnyElement;
    fn constraints(&self) -> Vec<Constraint>;
    fn congruences(&self) -> Vec<Congruence>;
    fn coarsened(&self) -> bool;
}

impl<D: Domain> Operations for D {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn copy(&self) -> AnyElement {
        AnyElement(Box::new(self.clone()))
    }

    fn bottom(&self, dimensions: usize) -> AnyElement {
        AnyElement(Box::new(D::bottom(dimensions)))
    }

    fn is_bottom(&self) -> bool {
        Domain::is_bottom(self)
    }

    fn is_leq(&self, other: &AnyElement) -> bool {
        Domain::is_leq(self, other.in_domain())
    }

    fn join(&self, other: &AnyElement) -> AnyElement {
        AnyElement(Box::new(Domain::join(self, other.in_domain())))
    }

    fn meet(&self, other: &AnyElement, integer: &[bool]) -> AnyElement {
        AnyElement(Box::new(Domain::meet(self, other.in_domain(), integer)))
    }

    fn widen(&self, other: &AnyElement, thresholds: &[Constraint]) -> AnyElement {
        AnyElement(Box::new(Domain::widen(self, other.in_domain(), thresholds)))
    }

    fn narrow(&self, other: &AnyElement, integer: &[bool]) -> AnyElement {
        AnyElement(Box::new(Domain::narrow(self, other.in_domain(), integer)))
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> AnyElement {
        AnyElement(Box::new(Domain::meet_constraints(self, constraints, integer)))
    }

    fn meet_boxed(self: Box<Self>, congruences: &[Congruence], integer: &[bool]) -> AnyElement {
        AnyElement(Box::new(Domain::meet_congruences(*self, congruences, integer)))
    }

    fn assign(&self, assignments: &Assignments) -> AnyElement {
        AnyElement(Box::new(Domain::assign(self, assignments)))
    }

    fn substitute(&self, assignments: &Assignments) -> AnyElement {
        AnyElement(Box::new(Domain::substitute(self, assignments)))
    }

    fn forget(&self, dimensions: &[usize]) -> AnyElement {
        AnyElement(Box::new(Domain::forget(self, dimensions)))
    }

    fn add_dimensions(&self, count: usize) -> AnyElement {
        AnyElement(Box::new(Domain::add_dimensions(self, count)))
    }

    fn remove_last_dimensions(&self, count: usize) -> AnyElement {
        AnyElement(Box::new(Domain::remove_last_dimensions(self, count)))
    }

    fn constraints(&self) -> Vec<Constraint> {
        Domain::constraints(self)
    }

    fn congruences(&self) -> Vec<Congruence> {
        Domain::congruences(self)
    }

    fn coarsened(&self) -> bool {
        Domain::coarsened(self)
    }
}
