//! The goal of a plan. It is a module below the planners.

use coreach_analyses::symbolic::search::SearchGoal;
use coreach_model::iosts::ActionKind;
use coreach_model::{TransitionId, Verdict, Violated};

use crate::test_case::TestCase;

/// Makes the goal of a test case: Pass, or for a property a violation that the specification allows. A
/// violation that it forbids may come anywhere: a plan for it would stay where it could come first.
pub fn search_goal(test: &TestCase) -> SearchGoal {
    let is_lost = |verdict: &Option<Verdict>| matches!(verdict, Some(Verdict::Fail | Verdict::Inconclusive));
    let mut closed = test.verdicts.map(is_lost);
    let mut locations = test.verdicts.map(|verdict| *verdict == Some(Verdict::Pass));
    for (location, how) in test.violates.numbered() {
        if *how == Some(Violated::Allowed) {
            (closed[location], locations[location]) = (false, true);
        }
    }
    let is_inconclusive = |number: &&TransitionId| {
        test.verdict(test.iosts.transitions[**number].target) == Some(Verdict::Inconclusive)
    };
    // An output risks the inconclusive observations that may come in its place.
    let risks = test.iosts.transitions.map(|transition| match test.iosts.action(transition.action).kind {
        ActionKind::Output => test.observations[transition.source].iter().filter(is_inconclusive).count(),
        _ => 0,
    });
    SearchGoal { locations, closed, risks }
}
