//! A datum: a named, typed thing that a term can mention (thesis 4.2: D = V ∪ C ∪ P).
//!
//! Whether it is a variable, a constant or a parameter is a fact about the *model* that declares it, not
//! about the datum: the `vPaid` that a purpose observes as a constant is the `vPaid` that the specification
//! assigns, and their product needs no renaming for it.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::types::Type;

/// A named, typed datum. Cheap to clone; two data are one when name and type are equal.
#[derive(Clone)]
pub struct Datum(Arc<Inner>);

#[derive(PartialEq, Eq)]
struct Inner {
    name: String,
    ty: Type,
}

impl Datum {
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Datum(Arc::new(Inner { name: name.into(), ty }))
    }

    /// Its name, an identifier.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub fn ty(&self) -> &Type {
        &self.0.ty
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for Datum {}

impl PartialOrd for Datum {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Datum {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        // Two of one name are mostly of one type, which is seen faster than an order.
        self.name().cmp(other.name()).then_with(|| match self.ty() == other.ty() {
            true => Ordering::Equal,
            false => self.ty().cmp(other.ty()),
        })
    }
}

impl Hash for Datum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.name, self.0.ty)
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}
