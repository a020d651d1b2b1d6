//! Checks the test case against the test graph. The rules have the numbers of the list in `check/mod.rs`.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::solver::{Answer, Solver};
use coreach_model::iosts::LocationId;
use coreach_model::{ActionId, Term};

use super::obligation::{Checking, Findings, check_definedness, check_overlaps};
use crate::artifact::{CaseGraph, TestGraph, Verdict};

/// The guards of the transitions of each location and action.
type GuardsOf = BTreeMap<(LocationId, ActionId), Vec<Term>>;

/// Checks the result of `input_complete` against the test graph.
pub fn check_test_case(case: &CaseGraph, graph: &TestGraph, solver: &mut dyn Solver) -> Findings {
    const SAME: &str = "test case 5";
    let mut checking = Checking::new(solver);
    let (iosts, graph_iosts) = (&case.iosts, &graph.iosts);
    let lengths = [case.verdicts.len(), case.reach.len(), case.coreach.len(), case.must_answer.len()];
    if !checking.well_formed(iosts, &lengths, SAME) {
        return checking.found;
    }
    checking.same_data(graph_iosts, iosts, SAME);
    let is_same = iosts.locations.len() <= graph_iosts.locations.len() + 1
        && iosts.locations.starts_with(&graph_iosts.locations)
        && iosts.transitions.len() >= graph_iosts.transitions.len()
        && iosts.initial == graph_iosts.initial
        && case.reach.starts_with(&graph.reach)
        && case.coreach.starts_with(&graph.coreach)
        && case.must_answer.starts_with(&graph.must_answer);
    if !checking.holds(is_same, SAME, || "what the test graph says".to_owned()) {
        return checking.found;
    }
    checking.same_initial_condition(graph_iosts, iosts, SAME);
    for (old, new) in graph_iosts.transitions.iter().zip(&iosts.transitions) {
        checking.holds(old == new, SAME, || iosts.describe(new));
    }
    // Fail is the location after those of the graph, if there is one.
    let fail = Some(graph_iosts.locations.next_number()).filter(|fail| iosts.locations.has(*fail));
    if let Some(fail) = fail {
        let has_facts =
            case.reach[fail].is_true() && case.coreach[fail].is_false() && case.must_answer[fail].is_false();
        checking.holds(has_facts, SAME, || "the facts at Fail".to_owned());
    }
    check_verdicts(&mut checking, case, graph, fail);
    let reach = |location: LocationId| case.reach[location].clone();
    check_overlaps(&mut checking, iosts, &reach, "test case 2");
    check_definedness(&mut checking, iosts, &reach, "test case: a guard without a value");
    let (_, added) = iosts.transitions.split_at(graph_iosts.transitions.len());
    let mut fail_guards = GuardsOf::new();
    for t in added {
        let is_fail =
            Some(t.target) == fail && t.assignments.is_empty() && iosts.action(t.action).is_observed();
        checking.holds(is_fail, "test case 4", || iosts.describe(t));
        checking.holds(case.verdicts[t.source].is_none(), "test case 1", || iosts.describe(t));
        fail_guards.entry((t.source, t.action)).or_default().push(t.guard.clone());
    }
    match graph.pass {
        Some(_) => check_outputs(&mut checking, case, graph, fail_guards),
        None => {
            checking.holds(added.is_empty(), "test case 4", || "there is nothing to run".to_owned());
        }
    }
    checking.found
}

/// Checks rule 6: each location has its verdict. `fail` is the location Fail, if there is one.
fn check_verdicts(
    checking: &mut Checking<'_>,
    case: &CaseGraph,
    graph: &TestGraph,
    fail: Option<LocationId>,
) {
    for location in case.iosts.location_ids() {
        let wanted = match Some(location) {
            at if at == graph.pass => Some(Verdict::Pass),
            at if at == graph.inconclusive => Some(Verdict::Inconclusive),
            at if at == fail => Some(Verdict::Fail),
            _ => None,
        };
        let is_wanted = case.verdicts[location] == wanted;
        checking.holds(is_wanted, "test case 6", || case.iosts.location(location).label.clone());
    }
    checking.holds(case.others_fail.is_none() || case.others_fail == fail, "test case 6", || {
        "the location of all other outputs".to_owned()
    });
}

/// Checks rules 3 and 7. `fail_guards` has the guards of transitions to Fail. An output with such transitions
/// must fail exactly where the graph forbids the output. The graph must never forbid another output.
fn check_outputs(
    checking: &mut Checking<'_>,
    case: &CaseGraph,
    graph: &TestGraph,
    mut fail_guards: GuardsOf,
) {
    let iosts = &case.iosts;
    // Selection splits guards and drops no part. So all guards of an output together are what is allowed.
    let mut allowed_guards = GuardsOf::new();
    for t in &graph.iosts.transitions {
        allowed_guards.entry((t.source, t.action)).or_default().push(t.guard.clone());
    }
    let mut keys: BTreeSet<(LocationId, ActionId)> =
        allowed_guards.keys().chain(fail_guards.keys()).copied().collect();
    // With `others_fail`, outputs without a transition lead to Fail, so there is nothing to check.
    if case.others_fail.is_none() {
        for source in graph.iosts.location_ids() {
            keys.extend(iosts.action_ids().map(|action| (source, action)));
        }
    }
    for (source, action) in keys {
        if graph.is_verdict(source) || !iosts.action(action).is_observed() {
            continue;
        }
        let place = || format!("{} at {}", iosts.action(action).name, iosts.location(source).label);
        let forbidden = Term::or(allowed_guards.remove(&(source, action)).unwrap_or_default()).not();
        let reach = case.reach[source].clone();
        match fail_guards.remove(&(source, action)) {
            Some(guards) => {
                checking.equivalent(&[reach], &forbidden, &Term::or(guards), "test case 7", place);
            }
            // The graph never allows the output, and `others_fail` makes it fail.
            None if case.others_fail.is_some() && forbidden.is_true() => {}
            None => {
                if checking.ask(&[reach, forbidden]) == Answer::Sat {
                    checking.broken("test case 3", place());
                }
            }
        }
    }
}
