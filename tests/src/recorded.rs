//! Polyhedra that write down what is done with them: sequences of operations to be replayed on other
//! libraries.
//!
//! [`coreach_analyses::reachability::analyse_in`] runs an analysis with it. Each element knows its
//! number in the sequence, which grows in a log of this thread between [`start`] and [`finish`].
//!
//! A sequence has no step for the tightening of integers, nor for a join that a limit made coarser: what they
//! change is written as a meet with the constraints that came in addition, or as a polyhedron made anew. The
//! results are those of [`Polyhedra`] itself; to write them down takes much longer than to compute them.

use std::cell::RefCell;

use coreach_analyses::domains::polyhedra::Polyhedra;
use coreach_analyses::domains::{Assignments, Domain};
use coreach_polyhedra::{Constraint, Polyhedron};

use crate::sequence::{Sequence, SequenceStep};

/// A polyhedron, and its number in the sequence.
#[derive(Clone, Debug)]
pub struct Recorded {
    inner: Polyhedra,
    dimensions: usize,
    number: usize,
}

#[derive(Default)]
struct Log {
    /// Of the first polyhedron that is made from nothing, and so of all in the sequence that are.
    dimensions: Option<usize>,
    steps: Vec<SequenceStep>,
    made: usize,
}

thread_local! {
    static LOG: RefCell<Log> = RefCell::default();
}

/// Begins a sequence. Elements of earlier ones may not be used any more.
pub fn start() {
    LOG.set(Log::default());
}

/// What was written since [`start`].
pub fn finish() -> Sequence {
    let log = LOG.take();
    Sequence { dimensions: log.dimensions.unwrap_or(0), steps: log.steps }
}

fn ask(step: SequenceStep) {
    LOG.with_borrow_mut(|log| log.steps.push(step));
}

/// Writes a step that makes a polyhedron; its number.
fn make(step: SequenceStep) -> usize {
    LOG.with_borrow_mut(|log| {
        log.steps.push(step);
        log.made += 1;
        log.made - 1
    })
}

/// Makes a polyhedron from nothing, by a way through the dimensions that the sequence begins with.
fn fresh(dimensions: usize, constraints: Vec<Constraint>) -> usize {
    let first = LOG.with_borrow_mut(|log| *log.dimensions.get_or_insert(dimensions));
    if dimensions == first {
        return make(SequenceStep::Constraints(constraints));
    }
    let all = make(SequenceStep::Constraints(Vec::new()));
    let fitted = if dimensions > first {
        make(SequenceStep::Add(all, dimensions - first))
    } else {
        make(SequenceStep::Remove(all, (dimensions..first).collect()))
    };
    if constraints.is_empty() { fitted } else { make(SequenceStep::MeetConstraints(fitted, constraints)) }
}

impl Recorded {
    fn plain(&self) -> Polyhedron {
        Polyhedron::from_constraints(self.dimensions, self.inner.constraints())
    }

    /// The result of a step that was written; `exact` is what a replay makes of it.
    fn settled(&self, inner: Polyhedra, number: usize, exact: &Polyhedron) -> Self {
        let dimensions = exact.dimensions();
        let constraints = inner.constraints();
        let more: Vec<Constraint> = constraints.iter().filter(|c| !exact.implies(c)).cloned().collect();
        let own = Polyhedron::from_constraints(dimensions, constraints.iter().cloned());
        let number = if !own.is_leq(exact) {
            fresh(dimensions, constraints)
        } else if more.is_empty() {
            number
        } else {
            make(SequenceStep::MeetConstraints(number, more))
        };
        Recorded { inner, dimensions, number }
    }

    fn like(&self, inner: Polyhedra, number: usize) -> Self {
        Recorded { inner, dimensions: self.dimensions, number }
    }
}

impl Domain for Recorded {
    fn top(dimensions: usize) -> Self {
        let number = fresh(dimensions, Vec::new());
        Recorded { inner: Polyhedra::top(dimensions), dimensions, number }
    }

    fn bottom(dimensions: usize) -> Self {
        let inner = Polyhedra::bottom(dimensions);
        let number = fresh(dimensions, inner.constraints());
        Recorded { inner, dimensions, number }
    }

    fn is_bottom(&self) -> bool {
        ask(SequenceStep::IsEmpty(self.number));
        self.inner.is_bottom()
    }

    fn is_leq(&self, other: &Self) -> bool {
        ask(SequenceStep::IsLeq(self.number, other.number));
        self.inner.is_leq(&other.inner)
    }

    fn join(&self, other: &Self) -> Self {
        let number = make(SequenceStep::Join(self.number, other.number));
        let inner = self.inner.join(&other.inner);
        if inner.coarsened() {
            let number = fresh(self.dimensions, inner.constraints());
            return self.like(inner, number);
        }
        self.like(inner, number)
    }

    fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        let number = make(SequenceStep::Meet(self.number, other.number));
        let exact = self.plain().meet(&other.plain());
        self.settled(self.inner.meet(&other.inner, integer), number, &exact)
    }

    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        let number = make(SequenceStep::Widen(self.number, other.number, thresholds.to_vec()));
        self.like(self.inner.widen(&other.inner, thresholds), number)
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        let number = make(SequenceStep::MeetConstraints(self.number, constraints.to_vec()));
        let exact = self.plain().meet_constraints(constraints);
        self.settled(self.inner.meet_constraints(constraints, integer), number, &exact)
    }

    fn assign(&self, assignments: &Assignments) -> Self {
        let known: Vec<_> = assignments.iter().filter_map(|(at, e)| Some((*at, e.clone()?))).collect();
        let mut number = self.number;
        if !known.is_empty() {
            number = make(SequenceStep::Assign(number, known));
        }
        let number = forgotten(number, assignments);
        self.like(self.inner.assign(assignments), number)
    }

    fn substitute(&self, assignments: &Assignments) -> Self {
        let known: Vec<_> = assignments.iter().filter_map(|(at, e)| Some((*at, e.clone()?))).collect();
        let mut number = forgotten(self.number, assignments);
        if !known.is_empty() {
            number = make(SequenceStep::Substitute(number, known));
        }
        self.like(self.inner.substitute(assignments), number)
    }

    fn forget(&self, dimensions: &[usize]) -> Self {
        let number = make(SequenceStep::Forget(self.number, dimensions.to_vec()));
        self.like(self.inner.forget(dimensions), number)
    }

    fn add_dimensions(&self, count: usize) -> Self {
        let number = make(SequenceStep::Add(self.number, count));
        let inner = self.inner.add_dimensions(count);
        Recorded { inner, dimensions: self.dimensions + count, number }
    }

    fn remove_last_dimensions(&self, count: usize) -> Self {
        let left = self.dimensions - count;
        let number = make(SequenceStep::Remove(self.number, (left..self.dimensions).collect()));
        Recorded { inner: self.inner.remove_last_dimensions(count), dimensions: left, number }
    }

    fn constraints(&self) -> Vec<Constraint> {
        ask(SequenceStep::List(self.number));
        self.inner.constraints()
    }

    fn coarsened(&self) -> bool {
        self.inner.coarsened()
    }
}

/// The dimensions whose new value is not known take any.
fn forgotten(number: usize, assignments: &Assignments) -> usize {
    let unknown: Vec<usize> = assignments.iter().filter(|(_, e)| e.is_none()).map(|(at, _)| *at).collect();
    if unknown.is_empty() { number } else { make(SequenceStep::Forget(number, unknown)) }
}
