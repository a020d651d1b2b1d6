//! Takes one purpose through the pipeline, and measures the stages.

use std::time::{Duration, Instant};

use coreach_analyses::DomainKind;
use coreach_analyses::solver::z3::{QueryLimits, Z3Solver};
use coreach_analyses::solver::{Solver, Statistics};
use coreach_analyses::symbolic::search::SearchBound;
use coreach_execution::TestCase;
use coreach_execution::planner::prospect::{WinningProspect, find_prospect};
use coreach_execution::planner::{Example, find_example};
use coreach_model::budget::{Budget, Limit, Passed};
use coreach_model::iosts::TestPurpose;
use coreach_model::{Diagnostic, journal};
use coreach_pipeline::artifact::Verdict;
use coreach_pipeline::export::{View, json};
use coreach_pipeline::online::{OnlineTest, prepare_online};
use coreach_pipeline::stop::Stop;
use coreach_pipeline::{Generation, Stage, StageOptions, generate_for, generate_timed};
use serde::Serialize;

use crate::budget;
use crate::project::Project;
use crate::unreachable::{explain, explain_by_search, explain_online};

/// A function that shows progress. Several threads may call it at once.
pub type Says<'a> = &'a (dyn Fn(String) + Sync);

pub const SILENT: Says<'static> = &|_| {};

/// The size of a stage's result, and how long it took.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measured {
    pub stage: &'static str,
    pub locations: usize,
    pub transitions: usize,
    pub inconclusive: usize,
    pub fail: usize,
    /// The time of the stage on the wall clock.
    pub seconds: f64,
}

pub struct MadeTest {
    pub generation: Generation,
    pub stages: Vec<Measured>,
    pub statistics: Statistics,
    pub unreachable: Option<Diagnostic>,
    /// The time of all stages together on the wall clock.
    pub seconds: f64,
    /// The processor time of all stages together. It does not depend on other work.
    pub processor_seconds: f64,
}

/// Makes the test case of a purpose with a domain and a new solver, measures the stages, and explains an
/// unreachable purpose. With `check`, each result is checked after its stage.
pub fn make(
    project: &Project,
    purpose: &TestPurpose,
    domain: DomainKind,
    check: bool,
    says: Says<'_>,
) -> Result<MadeTest, Stop> {
    let mut options = StageOptions { check, ..project.options.clone() };
    options.analysis.domain = domain;
    let start = Instant::now();
    budget::within("read", budget::time(project.time), |budget| {
        let mut solver = Z3Solver::default();
        // The starts of the stages, and the end of the last one.
        let mut starts: Vec<Instant> = Vec::new();
        let mut watch = |stage: Stage| {
            starts.push(Instant::now());
            budget.enter(stage.name());
            says(format!("{} with {domain}: {}", purpose.iosts.name, stage.name()));
        };
        let (iosts, purpose_of_stages) = (&project.specification.iosts, purpose.clone());
        let generation = match &project.timing {
            Some(timing) => {
                generate_timed(iosts, timing, purpose_of_stages, &options, &mut solver, &mut watch)
            }
            None => {
                let conformance = project.conformance;
                generate_for(conformance, iosts, purpose_of_stages, &options, &mut solver, &mut watch)
            }
        };
        starts.push(Instant::now());
        let generation = generation?;
        let times = Stage::ALL.into_iter().zip(starts.windows(2));
        let stages: Vec<Measured> = times
            .map(|(stage, time)| measure(&View::of(&generation, stage), stage, time[1] - time[0]))
            .collect();
        for Measured { stage, locations, transitions, seconds, .. } in &stages {
            let name = &purpose.iosts.name;
            let size = format!("{locations} locations, {transitions} transitions");
            journal::note(|| format!("{name} with {domain}: {stage}: {size}, {seconds:.3} s"));
        }
        let unreachable =
            (!generation.test_graph.is_purpose_reachable()).then(|| explain(&generation, purpose, domain));
        Ok(MadeTest {
            stages,
            statistics: solver.statistics(),
            unreachable,
            seconds: start.elapsed().as_secs_f64(),
            processor_seconds: budget.used().processor.as_secs_f64(),
            generation,
        })
    })?
}

fn measure(view: &View<'_>, stage: Stage, time: Duration) -> Measured {
    Measured {
        stage: stage.artifact(),
        locations: view.iosts.locations.len(),
        transitions: view.iosts.transitions.len(),
        inconclusive: view.count_into(Verdict::Inconclusive),
        fail: view.count_into(Verdict::Fail),
        seconds: time.as_secs_f64(),
    }
}

/// The search for a run to Pass has a budget of the given time divided by this number.
const SEARCH: u32 = 4;

/// The limits of one question of a search. The search is short, so they are small.
const QUESTION: QueryLimits = QueryLimits { rlimit: 300_000, milliseconds: 2000 };

/// Looks for a shortest run to Pass, with a share of `time`. If the search has looked at all paths and no run
/// passes, the purpose becomes unreachable in `made`. `None` for a property, which has no Pass, and if
/// something other than the time ended the search.
pub fn search_run(
    made: &mut MadeTest,
    purpose: &TestPurpose,
    domain: DomainKind,
    time: Duration,
) -> Option<Example> {
    let case = &made.generation.test_case;
    if !case.verdicts.contains(&Some(Verdict::Pass)) {
        return None;
    }
    let share = time / SEARCH;
    let search = |_: &Budget| {
        let test = TestCase::new(case.iosts.clone(), case.verdicts.clone());
        find_example(&test, &mut Z3Solver::new(QUESTION))
    };
    let found = match budget::within("example", share, search) {
        Ok(found) => found,
        Err(Stop::Budget(Passed { limit: Limit::Time(_) | Limit::Waiting(_), .. })) => {
            Example::NotFound(SearchBound::Time(share))
        }
        Err(_) => return None,
    };
    if found == Example::None {
        made.unreachable = Some(explain_by_search(purpose, domain));
    }
    Some(found)
}

/// Finds out what can be won in a test as it is run. The result is `None` for an unreachable purpose, and for
/// a test that is too large. The work gets a share of `time`. A known run to Pass makes Pass possible.
pub fn look_ahead(
    view: &View<'_>,
    unreachable: Option<&Diagnostic>,
    example: Option<&Example>,
    time: Duration,
) -> Option<WinningProspect> {
    if unreachable.is_some() || view.iosts.transitions.len() > 20_000 || view.found.reachable == Some(false) {
        return None;
    }
    let found = budget::within("prospect", time / SEARCH, |_| {
        let test = TestCase::from_document(&json::to_document(view)).ok()?;
        find_prospect(&test, &mut Z3Solver::new(QUESTION))
    });
    let mut found = found.ok().flatten()?;
    if let Some(Example::Run(constants, _)) = example {
        found.add_known_run(constants);
    }
    Some(found)
}

/// The test of a purpose that is judged online.
pub struct MadeOnline {
    pub test: OnlineTest,
    pub unreachable: Option<Diagnostic>,
    pub statistics: Statistics,
    /// The time of all stages together on the wall clock.
    pub seconds: f64,
}

/// Makes the test of a purpose that is judged online, as [`make`] makes a test case.
pub fn make_online(
    project: &Project,
    purpose: &TestPurpose,
    domain: DomainKind,
    check: bool,
    says: Says<'_>,
) -> Result<MadeOnline, Stop> {
    let mut options = StageOptions { check, ..project.options.clone() };
    options.analysis.domain = domain;
    let start = Instant::now();
    budget::within("read", budget::time(project.time), |budget| {
        let mut solver = Z3Solver::default();
        let mut watch = |stage: Stage| {
            budget.enter(stage.name());
            says(format!("{} with {domain}: {}", purpose.iosts.name, stage.name()));
        };
        let iosts = &project.specification.iosts;
        let test = prepare_online(project.conformance, iosts, purpose, &options, &mut solver, &mut watch)?;
        let unreachable = (!test.reachable).then(|| explain_online(&test, purpose, domain));
        Ok(MadeOnline {
            unreachable,
            statistics: solver.statistics(),
            seconds: start.elapsed().as_secs_f64(),
            test,
        })
    })?
}

impl MadeTest {
    pub fn measured(&self, stage: Stage) -> &Measured {
        &self.stages[stage as usize]
    }
}
