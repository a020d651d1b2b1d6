//! The numerical domains: they describe sets of vectors of numbers.
//!
//! A domain is one file here and one line in the list below. Elements over-approximate sets of vectors: every
//! operation returns an element that contains all points of the exact result.
//!
//! Two domains compose to one: [`both::Both`]. The list has the domains that a configuration can name.
//! [`crate::reachability::analyse_in`] takes any domain.

pub mod any;
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

use self::any::AnyDomain;
use crate::grid::{Congruence, Grid};

/// Parallel assignments to dimensions. `None` is a value that is not known.
pub type Assignments = [(usize, Option<LinearExpression>)];

/// Splits assignments into those with a known right side, and the dimensions whose new value is unknown.
pub(crate) fn split_assignments(assignments: &Assignments) -> (Vec<(usize, LinearExpression)>, Vec<usize>) {
    let known = assignments.iter().filter_map(|(dimension, value)| Some((*dimension, value.clone()?)));
    let unknown = assignments.iter().filter(|(_, value)| value.is_none());
    (known.collect(), unknown.map(|(dimension, _)| *dimension).collect())
}

/// A lattice of sets of vectors, and the operations that follow a transition. `is_leq` is a partial order up
/// to equality of [`Domain::constraints`] and [`Domain::congruences`], which are canonical: two elements that
/// are below each other give identical lists.
pub trait Domain: Clone + fmt::Debug + 'static {
    /// Does the domain see data at all? If not, its frame has no places.
    const SEES_DATA: bool = true;

    /// Does the domain relate numbers with each other? If so, the cost of an element grows faster than the
    /// number of its dimensions.
    const RELATES: bool = true;

    /// Does the domain use congruences? If not, it ignores them.
    const KNOWS_CONGRUENCES: bool = false;

    /// All vectors of this many dimensions.
    fn top(dimensions: usize) -> Self;

    fn bottom(dimensions: usize) -> Self;

    /// Is the element empty? `true` is certain, `false` is not.
    fn is_bottom(&self) -> bool;

    /// Is every vector of this one in the other?
    fn is_leq(&self, other: &Self) -> bool;

    fn join(&self, other: &Self) -> Self;

    /// The vectors that are in both elements. `integer` marks the dimensions that are integers.
    fn meet(&self, other: &Self, integer: &[bool]) -> Self;

    /// An upper bound of both such that a sequence `x := widen(x, y)` with growing `y` becomes stable.
    /// Precondition: `self.is_leq(other)`. The fixpoint engine ensures it by joining before it widens.
    /// Thresholds that both elements satisfy may be kept. A finite number of them delays stability, but does
    /// not prevent it.
    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self;

    /// An element between `other` and `self`, where `other.is_leq(self)`. No domain here forces a descending
    /// sequence to end: the engine bounds its steps.
    fn narrow(&self, other: &Self, integer: &[bool]) -> Self {
        self.meet(other, integer)
    }

    /// The vectors of the element that satisfy the constraints. A constraint that the domain cannot express
    /// may be ignored.
    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self;

    /// The vectors of the element that satisfy the congruences, as far as the domain uses them. With an empty
    /// list the vectors stay the same, and the element is adapted to these types: the marked dimensions are
    /// integers, and congruences mention no others.
    fn meet_congruences(self, _congruences: &[Congruence], _integer: &[bool]) -> Self {
        self
    }

    /// The image of a parallel assignment. All right sides are evaluated at the old vector.
    fn assign(&self, assignments: &Assignments) -> Self;

    /// The vectors that a parallel assignment takes (or, with an unknown value, may take) into this element.
    fn substitute(&self, assignments: &Assignments) -> Self;

    /// The element in which the given dimensions may have any value.
    fn forget(&self, dimensions: &[usize]) -> Self;

    /// The element with new dimensions at the end, which may have any value.
    fn add_dimensions(&self, count: usize) -> Self;

    /// The element with the last dimensions projected away.
    fn remove_last_dimensions(&self, count: usize) -> Self;

    /// The canonical constraints of which the element is the conjunction. The element must not be bottom.
    fn constraints(&self) -> Vec<Constraint>;

    /// The canonical congruences of the element. A domain that does not use them has none. The element must
    /// not be bottom.
    fn congruences(&self) -> Vec<Congruence> {
        Vec::new()
    }

    /// Is the element coarser than the domain could express, to stay within limits?
    fn coarsened(&self) -> bool {
        false
    }
}

macro_rules! domains {
    ($($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $variant:ident = $name:literal, $ty:ty;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum DomainKind {
            $($(#[doc = $doc])* $(#[cfg($cfg)])? $variant,)*
        }

        impl DomainKind {
            /// All domains, the coarsest first.
            pub const ALL: &'static [DomainKind] = &[$($(#[cfg($cfg)])? DomainKind::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $($(#[cfg($cfg)])? DomainKind::$variant => $name,)* }
            }

            /// The domain as the analyses use it.
            pub fn implementation(self) -> AnyDomain {
                match self { $($(#[cfg($cfg)])? DomainKind::$variant => AnyDomain::new::<$ty>(),)* }
            }
        }
    };
}

// The one list of domains.
domains! {
    /// The control structure alone.
    Location = "location", location::Control;
    Interval = "interval", interval::Intervals;
    /// Octagons: bounds of numbers, and of sums and differences of two.
    Octagon = "octagon", octagon::Octagons;
    /// Convex polyhedra: linear relations between numbers.
    Polyhedra = "polyhedra", polyhedra::Polyhedra;
    /// Congruences: parities, and the classes of linear forms.
    Congruence = "congruence", Grid;
    IntervalCongruence = "interval+congruence", both::Both<interval::Intervals, Grid>;
    OctagonCongruence = "octagon+congruence", both::Both<octagon::Octagons, Grid>;
    PolyhedraCongruence = "polyhedra+congruence", both::Both<polyhedra::Polyhedra, Grid>;
    #[cfg(feature = "apron")]
    ApronBox = "apron:box", apron::Apron<apron::ApronBox>;
    #[cfg(feature = "apron")]
    ApronOctagon = "apron:octagon", apron::Apron<apron::ApronOctagon>;
    #[cfg(feature = "apron")]
    ApronPolka = "apron:polka", apron::Apron<apron::ApronPolka>;
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
            // The usual name of intervals.
            false if name == "box" => "no domain is called `box`: did you mean `interval`?".to_owned(),
            false => format!("no domain is called `{name}`"),
        };
        Err(format!("{why}; there are {}", names.join(", ")))
    }
}

#[cfg(test)]
mod laws;
