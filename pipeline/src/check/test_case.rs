//! Checks the test case against the test graph.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::solver::{Answer, Solver};
use coreach_model::iosts::LocationId;
use coreach_model::{ActionId, Term};

use super::obligation::{Checking, Findings, check_definedness, check_overlaps};
use crate::artifact::{TestCase, TestGraph, Verdict};

/// Checks the result of `input_complete` against the test graph.
pub fn check_test_case(case: &TestCase, graph: &TestGraph, solver: &mut dyn Solver) -> Findings {
    const SAME: &str = "test case 5";
    let mut checking = Checking::new(solver);
    let (iosts, graph_iosts) = (&case.iosts, &graph.iosts);
    let lengths = [case.verdicts.len(), case.reach.len(), case.coreach.len(), case.must_answer.len()];
    if !checking.well_formed(iosts, &lengths, SAME) {
        return checking.found;
    }
    checking.same_data(graph_iosts, iosts, SAME);
    let fail = Some(graph_iosts.locations.next_number()).filter(|fail| iosts.locations.has(*fail));
    let is_same = iosts.locations.len() <= graph_iosts.locations.len() + 1
        && iosts.locations.starts_with(&graph_iosts.locations)
        && iosts.transitions.len() >= graph_iosts.transitions.len()
        && iosts.initial == graph_iosts.initial
        && case.reach.starts_with(&graph.reach)
        && case.coreach.starts_with(&graph.coreach)
        && case.must_answer.starts_with(&graph.must_answer);
    if !is_same {
        checking.broken(SAME, "what the test graph says");
        return checking.found;
    }
    checking.same_initial_condition(graph_iosts, iosts, SAME);
    for (old, new) in graph_iosts.transitions.iter().zip(&iosts.transitions) {
        checking.holds(old == new, SAME, || iosts.describe(new));
    }
    for location in iosts.location_ids() {
        let wanted = match Some(location) {
            at if at == graph.pass => Some(Verdict::Pass),
            at if at == graph.inconclusive => Some(Verdict::Inconclusive),
            at if at == fail => Some(Verdict::Fail),
            _ => None,
        };
        let is_wanted = case.verdicts[location] == wanted;
        checking.holds(is_wanted, "test case 6", || iosts.location(location).label.clone());
    }
    if let Some(fail) = fail {
        let has_facts =
            case.reach[fail].is_true() && case.coreach[fail].is_false() && case.must_answer[fail].is_false();
        checking.holds(has_facts, SAME, || "the facts at Fail".to_owned());
    }
    checking.holds(case.others_fail.is_none() || case.others_fail == fail, "test case 6", || {
        "the location of all other outputs".to_owned()
    });
    let reach = |location: LocationId| case.reach[location].clone();
    check_overlaps(&mut checking, iosts, &reach, "test case 2");
    check_definedness(&mut checking, iosts, &reach, "test case: a guard without a value");
    let is_output = |action: ActionId| iosts.action(action).is_observed();
    let (_, added) = iosts.transitions.split_at(graph_iosts.transitions.len());
    let mut fail_guards: BTreeMap<(LocationId, ActionId), Vec<Term>> = BTreeMap::new();
    for t in added {
        let is_fail = Some(t.target) == fail && t.assignments.is_empty() && is_output(t.action);
        let leaves_verdict = case.verdicts[t.source].is_some();
        checking.holds(is_fail, "test case 4", || iosts.describe(t));
        checking.holds(!leaves_verdict, "test case 1", || iosts.describe(t));
        fail_guards.entry((t.source, t.action)).or_default().push(t.guard.clone());
    }
    let mut allowed_guards: BTreeMap<(LocationId, ActionId), Vec<Term>> = BTreeMap::new();
    for t in &graph_iosts.transitions {
        allowed_guards.entry((t.source, t.action)).or_default().push(t.guard.clone());
    }
    if graph.pass.is_none() {
        checking.holds(added.is_empty(), "test case 4", || "there is nothing to run".to_owned());
        return checking.found;
    }
    // The allowed outputs are taken from the transitions themselves: selection splits a guard and drops none
    // of it.
    let mut keys: BTreeSet<(LocationId, ActionId)> =
        allowed_guards.keys().chain(fail_guards.keys()).copied().collect();
    if case.others_fail.is_none() {
        for source in graph_iosts.location_ids() {
            keys.extend(iosts.action_ids().map(|action| (source, action)));
        }
    }
    for (source, action) in keys {
        if !graph.is_verdict(source) && is_output(action) {
            let place = || format!("{} at {}", iosts.action(action).name, iosts.location(source).label);
            let key = (source, action);
            let forbidden = Term::or(allowed_guards.remove(&key).unwrap_or_default()).not();
            let context = [reach(source)];
            match fail_guards.remove(&key) {
                Some(guards) => {
                    let guard = Term::or(guards);
                    checking.equivalent(&context, &forbidden, &guard, "test case 7", place);
                }
                None if case.others_fail.is_some() && forbidden.is_true() => {}
                None => {
                    if checking.ask(&[reach(source), forbidden]) == Answer::Sat {
                        checking.broken("test case 3", place());
                    }
                }
            }
        }
    }
    checking.found
}
