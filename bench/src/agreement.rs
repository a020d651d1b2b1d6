//! Do the libraries give the same answers?
//!
//! Every question's answer is compared, and every element's minimal constraints, in the canonical form of
//! `coreach-polyhedra`. Ours stands on one side, each other library on the other.
//!
//! Widenings are defined by constraints, and which constraints describe a polyhedron with equalities is a
//! choice that libraries make differently. So of a widening it is only asked that it contains its second
//! argument; where it differs it is counted, and the other library goes on from ours, so that what follows
//! can be compared.

use coreach_polyhedra::{Constraint, Polyhedron, Relation};
use coreach_tests::sequence::{Sequence, SequenceStep};

use crate::library::{Library, LibraryAnswer, LibraryKind, dimensions, is_strict};
use crate::ours::Ours;
use crate::with_library;

/// What the comparison of one sequence found.
#[derive(Clone, Default, Debug)]
pub struct LibraryComparison {
    /// Steps compared.
    pub steps: usize,
    /// Widenings that differ, and are both sound.
    pub widenings: usize,
    /// The differences: the number of the step, and what each library says.
    pub differences: Vec<(usize, String)>,
}

/// Compares a library with ours on a sequence.
///
/// # Errors
/// What the library says, or a sequence whose numbers are not there.
pub fn compare(kind: LibraryKind, sequence: &Sequence) -> Result<LibraryComparison, String> {
    let all = dimensions(sequence).ok_or("a step names what is not there")?;
    let mut follower = follower(kind, is_strict(sequence))?;
    let mut found = LibraryComparison::default();
    let mut mine = Vec::new();
    for (at, (step, dimensions)) in sequence.steps.iter().zip(all).enumerate() {
        let answer = Ours.perform(&mut (step.clone(), dimensions), &mine)?;
        found.steps += 1;
        match follower.follow(step, dimensions, &answer, &mine)? {
            Agreement::Same => {}
            Agreement::Widened => found.widenings += 1,
            Agreement::Different(text) => found.differences.push((at, text)),
        }
        if let LibraryAnswer::Made(new) = answer {
            mine.push(new);
        }
    }
    Ok(found)
}

/// What one step showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Agreement {
    /// Both give the same.
    Same,
    /// Widenings that differ, and are both sound.
    Widened,
    /// What each says.
    Different(String),
}

/// A library that performs the steps that ours has performed.
pub trait Follow {
    /// Performs a step and compares; `answer` is ours, `mine` are our polyhedra before the step.
    fn follow(
        &mut self,
        step: &SequenceStep,
        dimensions: usize,
        answer: &LibraryAnswer<Polyhedron>,
        mine: &[Polyhedron],
    ) -> Result<Agreement, String>;
}

/// A library that follows, for sequences with strict inequalities or without.
pub fn follower(kind: LibraryKind, strict: bool) -> Result<Box<dyn Follow>, String> {
    with_library!(kind, L => Ok(Box::new(LibraryFollower::<L> { library: L::new(strict)?, made: Vec::new() })))
}

struct LibraryFollower<L: Library> {
    library: L,
    made: Vec<L::Element>,
}

impl<L: Library> Follow for LibraryFollower<L> {
    fn follow(
        &mut self,
        step: &SequenceStep,
        dimensions: usize,
        answer: &LibraryAnswer<Polyhedron>,
        mine: &[Polyhedron],
    ) -> Result<Agreement, String> {
        let library = &self.library;
        let other = library.perform(&mut library.prepare(step, dimensions)?, &self.made)?;
        Ok(match (answer, other) {
            (LibraryAnswer::Made(one), LibraryAnswer::Made(two)) => {
                let listed = library.export(&two)?;
                if is_same(one, &listed) {
                    self.made.push(two);
                    return Ok(Agreement::Same);
                }
                self.made.push(library.import(one.dimensions(), &one.constraints())?);
                let sound = |b: usize| mine.get(b).is_some_and(|b| contains(&listed, b));
                match step {
                    SequenceStep::Widen(_, b, _) if sound(*b) => Agreement::Widened,
                    _ => Agreement::Different(format!("ours {:?}, theirs {listed:?}", one.constraints())),
                }
            }
            (LibraryAnswer::Truth(one), LibraryAnswer::Truth(two)) if *one == two => Agreement::Same,
            (LibraryAnswer::Range(one), LibraryAnswer::Range(two)) if *one == two => Agreement::Same,
            // Which constraints are listed was compared when the element was made.
            (LibraryAnswer::Listed(_), LibraryAnswer::Listed(_)) => Agreement::Same,
            (one, two) => Agreement::Different(format!("ours {}, theirs {}", text(one), text(&two))),
        })
    }
}

fn text<E>(answer: &LibraryAnswer<E>) -> String {
    match answer {
        LibraryAnswer::Made(_) => "an element".to_owned(),
        LibraryAnswer::Truth(truth) => truth.to_string(),
        LibraryAnswer::Range(range) => format!("{range:?}"),
        LibraryAnswer::Listed(count) => format!("{count} constraints"),
    }
}

/// Do the constraints describe the polyhedron? Minimal constraints of a closed polyhedron without equalities
/// are unique, so mostly a comparison of sorted lists decides.
pub fn is_same(ours: &Polyhedron, theirs: &[Constraint]) -> bool {
    let own = ours.constraints();
    let is_plain = |c: &Constraint| c.relation() == Relation::AtLeast;
    if own.len() == theirs.len() && own.iter().all(is_plain) {
        let mut sorted = theirs.to_vec();
        sorted.sort();
        // Without equalities and strict constraints, ours are sorted.
        if own == sorted {
            return true;
        }
    }
    Polyhedron::from_constraints(ours.dimensions(), theirs.iter().cloned()).constraints() == own
}

fn contains(outer: &[Constraint], inner: &Polyhedron) -> bool {
    outer.iter().all(|constraint| inner.implies(constraint))
}
