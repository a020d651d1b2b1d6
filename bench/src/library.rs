//! What a library of polyhedra must be able to do to be compared.
//!
//! Arguments are converted to the library's form before anything is measured ([`Library::prepare`]), and
//! answers are left in it as far as possible: a list of constraints is made and counted, not read. So what is
//! measured is the library, not the way there and back.

use coreach_polyhedra::{Constraint, Rational, Relation};
use coreach_tests::sequence::{Sequence, SequenceStep};

/// The libraries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LibraryKind {
    /// `coreach-polyhedra`, its exact operations.
    Ours,
    /// `coreach-polyhedra`, its joins limited as the domain of `coreach-analyses` limits them.
    Limited,
    /// APRON's polka.
    Polka,
    /// The Parma Polyhedra Library.
    Ppl,
}

impl LibraryKind {
    /// All of this build.
    pub const ALL: &'static [LibraryKind] =
        &[LibraryKind::Ours, LibraryKind::Limited, LibraryKind::Polka, LibraryKind::Ppl];

    /// The name in tables and arguments.
    pub fn name(self) -> &'static str {
        match self {
            LibraryKind::Ours => "ours",
            LibraryKind::Limited => "limited",
            LibraryKind::Polka => "polka",
            LibraryKind::Ppl => "ppl",
        }
    }

    /// The library of this name.
    pub fn named(name: &str) -> Option<LibraryKind> {
        LibraryKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// The range of an expression. Not every library says whether a bound is attained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LibraryRange {
    /// There is no point.
    Empty,
    /// The bounds, where there are.
    Between(Option<Rational>, Option<Rational>),
}

/// What a step came to.
#[derive(Clone, Debug)]
pub enum LibraryAnswer<E> {
    /// A new element, with the next number.
    Made(E),
    /// The answer to a question.
    Truth(bool),
    /// The range of an expression.
    Range(LibraryRange),
    /// So many constraints were listed.
    Listed(usize),
}

/// A library of polyhedra.
pub trait Library: Sized {
    /// Its polyhedra.
    type Element: Clone;
    /// A step whose arguments are in the library's form.
    type Prepared;

    /// The library, for sequences with strict inequalities or without.
    fn new(strict: bool) -> Result<Self, String>;

    /// Converts the arguments of a step; `dimensions` are those of its polyhedra, or of what it makes from
    /// nothing.
    fn prepare(&self, step: &SequenceStep, dimensions: usize) -> Result<Self::Prepared, String>;

    /// Performs a step; `made` are the elements with numbers.
    fn perform(
        &self,
        step: &mut Self::Prepared,
        made: &[Self::Element],
    ) -> Result<LibraryAnswer<Self::Element>, String>;

    /// Makes the library compute and list the minimal constraints, and says how many there are.
    fn list(&self, element: &Self::Element) -> Result<usize, String>;

    /// The minimal constraints.
    fn export(&self, element: &Self::Element) -> Result<Vec<Constraint>, String>;

    /// The element of these constraints.
    fn import(&self, dimensions: usize, constraints: &[Constraint]) -> Result<Self::Element, String> {
        let mut step = self.prepare(&SequenceStep::Constraints(constraints.to_vec()), dimensions)?;
        match self.perform(&mut step, &[])? {
            LibraryAnswer::Made(element) => Ok(element),
            _ => Err("constraints made no element".to_owned()),
        }
    }
}

/// Performs `$work` with `$library` standing for the type of the library.
#[macro_export]
macro_rules! with_library {
    ($kind:expr, $library:ident => $work:expr) => {
        match $kind {
            $crate::library::LibraryKind::Ours => {
                type $library = $crate::ours::Ours;
                $work
            }
            $crate::library::LibraryKind::Limited => {
                type $library = $crate::ours::OverLimit;
                $work
            }
            $crate::library::LibraryKind::Polka => {
                type $library = $crate::polka::PolkaLibrary;
                $work
            }
            $crate::library::LibraryKind::Ppl => {
                type $library = $crate::ppl::Ppl;
                $work
            }
        }
    };
}

/// The dimensions of each step's polyhedra, or of what it makes from nothing. Nothing where a number is not
/// there.
pub fn dimensions(sequence: &Sequence) -> Option<Vec<usize>> {
    let mut made: Vec<usize> = Vec::new();
    let mut all = Vec::with_capacity(sequence.steps.len());
    for step in &sequence.steps {
        let at = |a: &usize| made.get(*a).copied();
        let (own, new) = match step {
            SequenceStep::Constraints(_) => (sequence.dimensions, Some(sequence.dimensions)),
            SequenceStep::Meet(a, b) | SequenceStep::Join(a, b) | SequenceStep::Widen(a, b, _) => {
                at(b)?;
                (at(a)?, at(a))
            }
            SequenceStep::MeetConstraints(a, _)
            | SequenceStep::Assign(a, _)
            | SequenceStep::Substitute(a, _)
            | SequenceStep::Forget(a, _) => (at(a)?, at(a)),
            SequenceStep::Add(a, count) => (at(a)?, Some(at(a)? + count)),
            SequenceStep::Remove(a, gone) => (at(a)?, Some(at(a)?.checked_sub(gone.len())?)),
            SequenceStep::IsLeq(a, b) => {
                at(b)?;
                (at(a)?, None)
            }
            SequenceStep::IsEmpty(a) | SequenceStep::Bounds(a, _) | SequenceStep::List(a) => (at(a)?, None),
        };
        all.push(own);
        made.extend(new);
    }
    Some(all)
}

/// Does any constraint of the sequence exclude its boundary?
pub fn is_strict(sequence: &Sequence) -> bool {
    let strict = |c: &Vec<Constraint>| c.iter().any(|c| c.relation() == Relation::Greater);
    sequence.steps.iter().any(|step| match step {
        SequenceStep::Constraints(c) | SequenceStep::MeetConstraints(_, c) | SequenceStep::Widen(_, _, c) => {
            strict(c)
        }
        _ => false,
    })
}
