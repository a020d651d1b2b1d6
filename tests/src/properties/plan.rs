//! Plans to Pass against the fewest events: every state of a test case is a question.
//!
//! The test case is listed state by state, and for each the least number of events to Pass is counted
//! backwards, whoever sends them: that is what a tester and a cooperative implementation need. From each
//! state the planner's search must find a run of the test case (the concrete semantics takes it), of at least
//! so many events, and may say that there is none only where there is none. How often it finds none where
//! there is one, and how often a longer one, is counted: that is its precision.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::{SearchLimits, SearchOutcome, Searcher};
use coreach_execution::planner::{fire_way, search_goal};
use coreach_model::random::Random;
use coreach_model::semantics::State as ModelState;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Iosts, LocationId};
use coreach_pipeline::artifact::{CaseGraph, Verdict};

use super::test_case::{explored, tester};
use super::{Known, PLAN, Report, Settings};
use crate::brute::artifact;
use crate::brute::explore::{Graph, State};
use crate::brute::machine::{Constants, Machine};

/// The most states of an instance from which a plan is made.
const MOST_STATES: usize = 40;

/// Checks plans in a test case.
pub fn plan(case: &CaseGraph, known: &Known, settings: &Settings, report: &mut Report) {
    if !settings.wants(PLAN) {
        return;
    }
    let machine = artifact::machine(&case.iosts);
    let test = coreach_execution::TestCase::new(case.iosts.clone(), case.verdicts.clone());
    let mut searcher = Searcher::new(test.iosts.clone(), search_goal(&test));
    let mut solver = Z3Solver::default();
    let mut random = Random::new(settings.seed);
    for instance in &known.instances {
        let Some(system) = explored(&machine, instance, known, settings, report) else { continue };
        let tester = tester(&system, &case.verdicts);
        let left = fewest(tester.graph, &tester.verdicts);
        let mut result = Ok(());
        let open = (0..system.states.len()).filter(|at| tester.verdicts[*at].is_none());
        for at in open.take(MOST_STATES) {
            let Some(state) = modelled(&case.iosts, &machine, &instance.constants, &system.states[at]) else {
                report.count("states that are not planned from", 1);
                continue;
            };
            let found = searcher.from_state(&state, &SearchLimits::default(), &mut solver);
            let said = match (&found, left[at]) {
                (SearchOutcome::Path(way), fewest) => {
                    let events = way.steps.len();
                    let planned = fire_way(&test, &state, way, &mut random);
                    report.count("plans", 1);
                    report
                        .count("plans that are longer than the shortest", usize::from(Some(events) > fewest));
                    match fewest {
                        _ if planned.is_none() => Err("is no run of the test case".to_owned()),
                        None => Err("leads to Pass, which cannot be reached".to_owned()),
                        Some(fewest) if events < fewest => {
                            Err(format!("has {events} events, the shortest {fewest}"))
                        }
                        Some(_) => Ok(()),
                    }
                }
                (SearchOutcome::None, Some(fewest)) => {
                    Err(format!("is none, where {fewest} events lead to Pass"))
                }
                (SearchOutcome::None, None) => {
                    report.count("states from which surely no plan is", 1);
                    Ok(())
                }
                (SearchOutcome::NotFound(_), Some(_)) => {
                    report.count("plans that were not found", 1);
                    Ok(())
                }
                (SearchOutcome::NotFound(_), None) => {
                    report.count("states from which no plan was found", 1);
                    Ok(())
                }
            };
            result = result.and(said.map_err(|why| {
                let place = &case.iosts.location(state.location).label;
                format!("the plan from {place} with {:?} {why}", state.valuation)
            }));
        }
        report.note(PLAN, result);
    }
}

/// For each state the least number of events to Pass.
fn fewest(graph: &Graph, verdicts: &[Option<Verdict>]) -> Vec<Option<usize>> {
    let mut left: Vec<Option<usize>> =
        verdicts.iter().map(|verdict| (*verdict == Some(Verdict::Pass)).then_some(0)).collect();
    for length in 1..=left.len() {
        let mut more = false;
        for at in 0..left.len() {
            if left[at].is_none() && verdicts[at].is_none() {
                let leads_on = |(_, to): &(_, u32)| left[*to as usize] == Some(length - 1);
                if graph.visible[at].iter().any(leads_on) {
                    left[at] = Some(length);
                    more = true;
                }
            }
        }
        if !more {
            break;
        }
    }
    left
}

/// The state in the product's own values.
fn modelled(iosts: &Iosts, machine: &Machine, constants: &Constants, state: &State) -> Option<ModelState> {
    let mut valuation = Valuation::new();
    for datum in &iosts.constants {
        valuation.insert(datum.clone(), artifact::modelled(constants.get(datum.name())?, datum.ty())?);
    }
    for datum in &iosts.variables {
        let at = machine.variables.iter().position(|known| *known.name == *datum.name())?;
        valuation.insert(datum.clone(), artifact::modelled(&state.variables[at], datum.ty())?);
    }
    Some(ModelState { location: LocationId(state.location), valuation })
}
