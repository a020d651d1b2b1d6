//! The numerical domains: what can be said about a vector of numbers.
//!
//! A domain is one file here and one line in the list below. Elements over-approximate sets of vectors: every
//! operation returns an element that contains all points of the exact result.
//!
//! Domains compose: [`both::Both`] of two. In the list are those that somebody has asked for by name;
//! [`crate::reachability::analyse_in`] takes any.

#[cfg(feature = "apron")]
pub mod apron;
pub mod both;
pub mod congruence;
pub mod interval;
pub mod location;
pub mod octagon;
pub mod polyhedra;
pub mod suited;

use std::fmt;
use std::str::FromStr;

use coreach_polyhedra::{Constraint, LinearExpression};

use crate::grid::{Congruence, Grid};

/// Assignments to dimensions, in parallel; `None` is a value that is not known.
pub type Assignments = [(usize, Option<LinearExpression>)];

/// A lattice of sets of vectors, and the operations that follow a transition.
///
/// `is_leq` is a partial order up to equality of [`Domain::constraints`] and [`Domain::congruences`], which
/// are canonical: two elements that are below each other give identical lists.
pub trait Domain: Clone + fmt::Debug + 'static {
    /// Whether the domain sees data at all. One that does not is given a frame without places.
    const SEES_DATA: bool = true;

    /// Whether the domain relates numbers with each other, so that an element costs more than in proportion
    /// to them.
    const RELATES: bool = true;

    /// Whether it is worth while to give the domain congruences: one that does not know them ignores them.
    const KNOWS_CONGRUENCES: bool = false;

    /// All vectors of this many dimensions.
    fn top(dimensions: usize) -> Self;

    fn bottom(dimensions: usize) -> Self;

    /// Is there no vector? `false` is not certain, `true` is.
    fn is_bottom(&self) -> bool;

    /// Is every vector of this one in the other?
    fn is_leq(&self, other: &Self) -> bool;

    fn join(&self, other: &Self) -> Self;

    /// What is in both; `integer` marks the dimensions that are integers.
    fn meet(&self, other: &Self, integer: &[bool]) -> Self;

    /// An upper bound of both such that a sequence `x := widen(x, y)` with growing `y` becomes stable.
    ///
    /// Precondition: `self.is_leq(other)`. The fixpoint engine ensures it by joining before it widens.
    /// Thresholds that both satisfy may be kept; a finite number of them delays stability, and does not
    /// prevent it.
    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self;

    /// An element between `other` and `self`, where `other.is_leq(self)`. No domain here forces a descending
    /// sequence to end: the engine bounds its steps.
    fn narrow(&self, other: &Self, integer: &[bool]) -> Self {
        self.meet(other, integer)
    }

    /// The vectors that satisfy the constraints, of which those beyond the domain's expression may be
    /// ignored.
    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self;

    /// The vectors that satisfy the congruences, as far as the domain knows such. With none it is the same,
    /// written down for these types: the marked dimensions are whole, and congruences mention no others.
    fn meet_congruences(self, _congruences: &[Congruence], _integer: &[bool]) -> Self {
        self
    }

    /// The image of a parallel assignment, all right sides being evaluated at the old vector.
    fn assign(&self, assignments: &Assignments) -> Self;

    /// The vectors that a parallel assignment takes into this element; for an unknown value: may take.
    fn substitute(&self, assignments: &Assignments) -> Self;

    /// The given dimensions may have any value.
    fn forget(&self, dimensions: &[usize]) -> Self;

    /// New dimensions at the end, of any value.
    fn add_dimensions(&self, count: usize) -> Self;

    /// The last dimensions are projected away.
    fn remove_last_dimensions(&self, count: usize) -> Self;

    /// The constraints whose conjunction the element is, canonical. Of bottom it is not asked.
    fn constraints(&self) -> Vec<Constraint>;

    /// The congruences of the element, canonical, and none where the domain does not know them. Of bottom it
    /// is not asked.
    fn congruences(&self) -> Vec<Congruence> {
        Vec::new()
    }

    /// How many operations were answered more coarsely than the domain could, to stay within limits.
    fn coarsened(&self) -> bool {
        false
    }
}

pub trait WithDomain {
    type Output;
    fn run<D: Domain>(self) -> Self::Output;
}

macro_rules! domains {
    ($($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $variant:ident = $name:literal, $ty:ty;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum DomainKind {
            $($(#[doc = $doc])* $(#[cfg($cfg)])? $variant,)*
        }

        impl DomainKind {
            /// All of them, from the coarsest.
            pub const ALL: &'static [DomainKind] = &[$($(#[cfg($cfg)])? DomainKind::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $($(#[cfg($cfg)])? DomainKind::$variant => $name,)* }
            }

            pub fn with<F: WithDomain>(self, function: F) -> F::Output {
                match self { $($(#[cfg($cfg)])? DomainKind::$variant => function.run::<$ty>(),)* }
            }
        }
    };
}

// The one list of domains.
domains! {
    /// The control structure alone.
    Location = "location", location::Control;
    Interval = "interval", interval::Interval;
    /// Octagons: bounds of numbers, and of sums and differences of two.
    Octagon = "octagon", octagon::Octagon;
    /// Convex polyhedra: linear relations between numbers.
    Polyhedra = "polyhedra", polyhedra::Polyhedra;
    /// Congruences: parities, and the classes of linear forms.
    Congruence = "congruence", Grid;
    IntervalCongruence = "interval+congruence", both::Both<interval::Interval, Grid>;
    OctagonCongruence = "octagon+congruence", both::Both<octagon::Octagon, Grid>;
    PolyhedraCongruence = "polyhedra+congruence", both::Both<polyhedra::Polyhedra, Grid>;
    #[cfg(feature = "apron")]
    ApronBox = "apron:box", apron::Apron<apron::Box>;
    #[cfg(feature = "apron")]
    ApronOctagon = "apron:octagon", apron::Apron<apron::Octagon>;
    #[cfg(feature = "apron")]
    ApronPolka = "apron:polka", apron::Apron<apron::Polka>;
}

/// All names that a configuration may use, whether or not this build has the domain.
pub const NAMES: [&str; 11] = [
    "location",
    "interval",
    "octagon",
    "polyhedra",
    "congruence",
    "interval+congruence",
    "octagon+congruence",
    "polyhedra+congruence",
    "apron:box",
    "apron:octagon",
    "apron:polka",
];

impl fmt::Display for DomainKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DomainKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if let Some(found) = DomainKind::ALL.iter().find(|kind| kind.name() == name) {
            return Ok(*found);
        }
        let names: Vec<&str> = DomainKind::ALL.iter().map(|kind| kind.name()).collect();
        let why = match NAMES.contains(&name) {
            true => format!("the domain `{name}` is not in this build"),
            false => format!("no domain is called `{name}`"),
        };
        Err(format!("{why}; there are {}", names.join(", ")))
    }
}

#[cfg(test)]
mod laws;
