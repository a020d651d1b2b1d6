//! Verifies a property against its specification: it is proved, violated, or unknown.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::SearchLimits;
use coreach_model::iosts::TestPurpose;
use coreach_pipeline::Stage;
use coreach_pipeline::stop::Stop;
use coreach_pipeline::verify::{self, Verified};

use crate::budget;
use crate::making::Says;
use crate::project::Project;

/// The default number of nodes in the search for a violation.
pub const NODES: usize = 20_000;

/// Verifies a property of the project. The search for a violation looks at so many nodes, with a new solver.
pub fn verify(
    project: &Project,
    property: &TestPurpose,
    nodes: usize,
    says: Says<'_>,
) -> Result<Verified, Stop> {
    let limits = SearchLimits {
        nodes,
        // If polyhedra cannot decide, the solver looks at one of twenty nodes.
        exact_nodes: (nodes / 20).max(1),
        // About a second for a thousand nodes.
        work: (nodes as u64).saturating_mul(1000),
        ..SearchLimits::default()
    };
    let mut solver = Z3Solver::default();
    budget::within("read", budget::time(project.time), |budget| {
        let mut watch = |stage: Stage| {
            budget.enter(stage.name());
            says(format!("{}: {}", property.iosts.name, stage.name()));
        };
        let specification = &project.specification.iosts;
        verify::verify(specification, property, &project.options, &limits, &mut solver, &mut watch)
    })?
}
