//! Stage 6: whatever the implementation sends is answered.
//!
//! **Problem.** The test graph says what the specification allows. A test case must also recognise what it
//! forbids: that is Fail.
//!
//! **Source.** Thesis, Algorithm 7.3 (p. 202); Theorem 7.2: the result is deterministic, and input-complete
//! outside its verdicts.
//!
//! **Where we differ.** The text takes its transitions and alphabet from the purpose. They are the test
//! graph's. The guard of Fail is the negation of what the specification allows at the location, *before*
//! selection split it into going on and Inconclusive. This is the same condition where the graph can be, and
//! easier to read.
//!
//! **Direction.** A guard of which the solver does not know whether it can hold is kept. Fail is never given
//! wrongly because `allowed` contains everything that the specification allows in a reachable state.
//!
//! **Every other output.** An output that the specification does not allow at a location at all leads to Fail
//! whatever its parameters. If there are more than [`Limits::written_out`] pairs of this kind, `others_fail`
//! stands for all of them. If an output is allowed under a guard, its complement is always written.
//!
//! **Ends** after one look at each location and output. **Cost**: a query for each pair that is allowed
//! something.

use std::collections::BTreeMap;

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::budget;
use coreach_model::iosts::Location;
use coreach_model::{ActionId, LocationId, Term};

use crate::artifact::{Allowed, CaseGraph, TestGraph, Verdict, added_transition};
use crate::limits::Limits;
use crate::names::UsedNames;

/// Adds the transitions into Fail. A test graph whose purpose is unreachable gets none.
pub fn input_complete(graph: TestGraph, limits: &Limits, solver: &mut dyn Solver) -> CaseGraph {
    let TestGraph { iosts, pass, inconclusive, reach, coreach, allowed, must_answer, .. } = graph;
    let mut verdicts = iosts.locations.map(|_| None);
    for (location, verdict) in [(pass, Verdict::Pass), (inconclusive, Verdict::Inconclusive)] {
        if let Some(location) = location {
            verdicts[location] = Some(verdict);
        }
    }
    let (others_fail, violated) = (None, Vec::new());
    let mut case = CaseGraph { iosts, verdicts, reach, coreach, must_answer, others_fail, violated };
    if pass.is_none() {
        return case;
    }
    let iosts = &case.iosts;
    let mut allowed_guards: BTreeMap<(LocationId, ActionId), Vec<Term>> = BTreeMap::new();
    for Allowed { location, action, guard } in allowed {
        allowed_guards.entry((location, action)).or_default().push(guard);
    }
    let fail = iosts.locations.next_number();
    let open_locations: Vec<LocationId> =
        iosts.location_ids().filter(|location| case.verdicts[*location].is_none()).collect();
    let outputs: Vec<ActionId> =
        iosts.action_ids().filter(|action| iosts.action(*action).is_observed()).collect();
    // Outputs without a guard always lead to Fail. For too many of them, `others_fail` says it once.
    let missing_pairs =
        open_locations.len().saturating_mul(outputs.len()).saturating_sub(allowed_guards.len());
    let others_fail = (missing_pairs > limits.written_out).then_some(fail);
    if others_fail.is_none() {
        for source in open_locations {
            for &action in &outputs {
                allowed_guards.entry((source, action)).or_default();
            }
        }
    }
    let mut added = Vec::new();
    for ((source, action), guards) in allowed_guards {
        budget::ask();
        let guard = Term::or(guards).not();
        if guard.is_false() || !(guard.is_true() || may_hold(solver, &guard.conjuncts())) {
            continue;
        }
        added.push(added_transition(source, action, guard, fail));
    }
    if !added.is_empty() || others_fail.is_some() {
        let mut names = UsedNames::of(iosts.locations.iter().map(|location| location.name.as_str()));
        case.add_verdict(Location::named(names.unique(Verdict::Fail.name())), Verdict::Fail);
        case.iosts.transitions.extend(added);
        case.others_fail = others_fail;
    }
    case
}
