//! The goal of a plan. It is a module below the planners.

use coreach_analyses::symbolic::search::SearchGoal;
use coreach_model::iosts::ActionKind;
use coreach_model::{TransitionId, Verdict, Violated};

use crate::test_case::TestCase;

/// The goal of a test case: Pass; in that of a property, a violation that the specification allows. A
/// violation that it forbids may come anywhere: a plan for it would stay where it could come first.
pub fn search_goal(test: &TestCase) -> SearchGoal {
    let lost = |verdict: &Option<Verdict>| matches!(verdict, Some(Verdict::Fail | Verdict::Inconclusive));
    let mut closed = test.verdicts.map(lost);
    let mut locations = test.verdicts.map(|verdict| *verdict == Some(Verdict::Pass));
    for (at, _) in test.violates.numbered().filter(|(_, how)| **how == Some(Violated::Allowed)) {
        (closed[at], locations[at]) = (false, true);
    }
    let is_inconclusive =
        |at: &TransitionId| test.verdict(test.iosts.transitions[*at].target) == Some(Verdict::Inconclusive);
    let risks = test.iosts.transitions.map(|transition| match test.iosts.action(transition.action).kind {
        ActionKind::Output => {
            test.observations[transition.source].iter().filter(|at| is_inconclusive(at)).count()
        }
        _ => 0,
    });
    SearchGoal { locations, closed, risks }
}
