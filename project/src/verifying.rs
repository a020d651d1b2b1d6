//! A property held against its specification: proved, violated, or unknown.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::SearchLimits;
use coreach_model::iosts::TestPurpose;
use coreach_pipeline::Stage;
use coreach_pipeline::stop::Stop;
use coreach_pipeline::verify::{self, Verified};

use crate::budget;
use crate::making::Says;
use crate::project::Project;

/// How many nodes the search for a violation looks at, where nobody says otherwise.
pub const NODES: usize = 20_000;

/// The work of that search for each node: a second's for a thousand.
const WORK: u64 = 1000;

/// Of so many nodes one is looked at once more where polyhedra cannot tell, by the solver.
const EXACT: usize = 20;

/// Verifies a property of the project, looking at so many nodes for a violation. What has a memory is made
/// anew.
pub fn verify(
    project: &Project,
    property: &TestPurpose,
    nodes: usize,
    says: Says<'_>,
) -> Result<Verified, Stop> {
    let limits = SearchLimits {
        nodes,
        exact_nodes: (nodes / EXACT).max(1),
        work: (nodes as u64).saturating_mul(WORK),
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
