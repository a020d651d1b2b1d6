//! A datum: a named, typed thing that a term can mention (thesis 4.2: D = V ∪ C ∪ P).
//!
//! Whether it is a variable, a constant or a parameter is a fact about the *model* that declares it, not
//! about the datum: a `vPaid` that a purpose observes as a constant is the `vPaid` that the specification
//! assigns, and their product needs no renaming for it.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use crate::lock::lock;
use crate::types::Type;

/// A named, typed datum. Cheap to clone; two data are one when name and type are equal. Then they are also
/// one allocation, so that valuations find a datum without a comparison of types.
#[derive(Clone)]
pub struct Datum(Arc<Inner>);

struct Inner {
    name: String,
    ty: Type,
}

/// The data that exist.
#[derive(Default)]
struct DatumTable {
    by_name: HashMap<String, Vec<Weak<Inner>>>,
    /// The number of names at which the names without data are taken out again.
    sweep_at: usize,
}

/// The number of entries at which a table of data or terms is first swept.
pub(crate) const FIRST_SWEEP: usize = 4096;

static TABLE: LazyLock<Mutex<DatumTable>> = LazyLock::new(Mutex::default);

impl Datum {
    /// Returns the datum of this name and type: the one that exists, or else a new one.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        let name = name.into();
        let mut table = lock(&TABLE);
        let is_in_use = |datum: &Weak<Inner>| datum.strong_count() > 0;
        if table.by_name.len() > table.sweep_at.max(FIRST_SWEEP) {
            table.by_name.retain(|_, namesakes| namesakes.iter().any(is_in_use));
            table.sweep_at = 2 * table.by_name.len();
        }
        let namesakes = table.by_name.entry(name.clone()).or_default();
        namesakes.retain(is_in_use);
        if let Some(same) = namesakes.iter().filter_map(Weak::upgrade).find(|datum| datum.ty == ty) {
            return Datum(same);
        }
        let inner = Arc::new(Inner { name, ty });
        namesakes.push(Arc::downgrade(&inner));
        Datum(inner)
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub fn ty(&self) -> &Type {
        &self.0.ty
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
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
        self.name().cmp(other.name()).then_with(|| self.ty().cmp(other.ty()))
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
