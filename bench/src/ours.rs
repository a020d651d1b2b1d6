//! `coreach-polyhedra`: with exact operations, and with the limits of the domain.

use coreach_polyhedra::{Bounds, Constraint, Polyhedron, OperationLimits};
use coreach_tests::sequence::SequenceStep;

use crate::library::{Library, LibraryAnswer, LibraryRange};

/// The exact operations.
#[derive(Clone, Copy, Debug)]
pub struct Ours;

/// Joins and meets within the default limits, as the domain of `coreach-analyses` performs them.
#[derive(Clone, Copy, Debug)]
pub struct OverLimit;

impl Library for Ours {
    type Element = Polyhedron;
    type Prepared = (SequenceStep, usize);

    fn new(_: bool) -> Result<Self, String> {
        Ok(Ours)
    }

    fn prepare(&self, step: &SequenceStep, dimensions: usize) -> Result<(SequenceStep, usize), String> {
        Ok((step.clone(), dimensions))
    }

    fn perform(
        &self,
        step: &mut (SequenceStep, usize),
        made: &[Polyhedron],
    ) -> Result<LibraryAnswer<Polyhedron>, String> {
        Ok(perform(&step.0, step.1, made))
    }

    fn list(&self, element: &Polyhedron) -> Result<usize, String> {
        Ok(element.constraints().len())
    }

    fn export(&self, element: &Polyhedron) -> Result<Vec<Constraint>, String> {
        Ok(element.constraints())
    }
}

fn perform(step: &SequenceStep, dimensions: usize, made: &[Polyhedron]) -> LibraryAnswer<Polyhedron> {
    LibraryAnswer::Made(match step {
        SequenceStep::Constraints(c) => Polyhedron::universe(dimensions).meet_constraints(c),
        SequenceStep::Meet(a, b) => made[*a].meet(&made[*b]),
        SequenceStep::MeetConstraints(a, c) => made[*a].meet_constraints(c),
        SequenceStep::Join(a, b) => made[*a].join(&made[*b]),
        SequenceStep::Widen(a, b, c) => made[*a].widen_with_thresholds(&made[*b], c),
        SequenceStep::Assign(a, m) => made[*a].assign(m),
        SequenceStep::Substitute(a, m) => made[*a].substitute(m),
        SequenceStep::Forget(a, d) => made[*a].forget(d),
        SequenceStep::Add(a, count) => made[*a].add_dimensions(*count),
        SequenceStep::Remove(a, d) => made[*a].remove_dimensions(d),
        SequenceStep::IsLeq(a, b) => return LibraryAnswer::Truth(made[*a].is_leq(&made[*b])),
        SequenceStep::IsEmpty(a) => return LibraryAnswer::Truth(made[*a].is_empty()),
        SequenceStep::Bounds(a, e) => return LibraryAnswer::Range(range(made[*a].bounds(e))),
        SequenceStep::List(a) => return LibraryAnswer::Listed(made[*a].constraints().len()),
    })
}

fn range(bounds: Bounds) -> LibraryRange {
    if bounds.empty {
        return LibraryRange::Empty;
    }
    LibraryRange::Between(bounds.lower.map(|(value, _)| value), bounds.upper.map(|(value, _)| value))
}

impl Library for OverLimit {
    type Element = Polyhedron;
    type Prepared = (SequenceStep, usize);

    fn new(_: bool) -> Result<Self, String> {
        Ok(OverLimit)
    }

    fn prepare(&self, step: &SequenceStep, dimensions: usize) -> Result<(SequenceStep, usize), String> {
        Ok((step.clone(), dimensions))
    }

    fn perform(
        &self,
        step: &mut (SequenceStep, usize),
        made: &[Polyhedron],
    ) -> Result<LibraryAnswer<Polyhedron>, String> {
        let limits = OperationLimits::default();
        let converted = |p: &Polyhedron| LibraryAnswer::Made(p.convert_limited(&limits).into_polyhedron());
        Ok(match &step.0 {
            SequenceStep::Join(a, b) => {
                LibraryAnswer::Made(made[*a].join_limited(&made[*b], &limits).into_polyhedron())
            }
            SequenceStep::Meet(a, b) => {
                LibraryAnswer::Made(made[*a].meet_limited(&made[*b], &limits).into_polyhedron())
            }
            SequenceStep::Constraints(c) => converted(&Polyhedron::universe(step.1).meet_constraints(c)),
            SequenceStep::MeetConstraints(a, c) => converted(&made[*a].meet_constraints(c)),
            step_of_ours => perform(step_of_ours, step.1, made),
        })
    }

    fn list(&self, element: &Polyhedron) -> Result<usize, String> {
        Ok(element.constraints().len())
    }

    fn export(&self, element: &Polyhedron) -> Result<Vec<Constraint>, String> {
        Ok(element.constraints())
    }
}
