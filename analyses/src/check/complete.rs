//! Completeness: is there, in every state, a transition for every action (of a purpose: thesis, Definition
//! 4.22(4), p. 96) or for every input (Definition 4.21, p. 95)?
//!
//! Both ask, for each location and action, whether the disjunction of the transitions' conditions is valid.
//! For inputs that is sufficient, not necessary: Definition 4.21 would also let internal steps come first,
//! and both are over all states, reachable or not. One query per location and action.

use coreach_model::obligation::enabling_condition;
use coreach_model::{ActionId, ActionKind, Iosts, LocationId, Term};

use super::Search;
use crate::solver::{Solver, Witness};

/// The first location and action, internal ones included, without a transition in some state.
pub fn find_incomplete(iosts: &Iosts, solver: &mut dyn Solver) -> Search<(LocationId, ActionId)> {
    find(iosts, solver, |_| true)
}

/// The first location and input without a transition in some state.
pub fn find_input_incomplete(iosts: &Iosts, solver: &mut dyn Solver) -> Search<(LocationId, ActionId)> {
    find(iosts, solver, |kind| kind == ActionKind::Input)
}

fn find(
    iosts: &Iosts,
    solver: &mut dyn Solver,
    asked: impl Fn(ActionKind) -> bool,
) -> Search<(LocationId, ActionId)> {
    let conditions = iosts.transitions.map(enabling_condition);
    let outgoing = iosts.outgoing();
    let mut undecided = None;
    for location in iosts.location_ids() {
        for action in iosts.action_ids().filter(|id| asked(iosts.action(*id).kind)) {
            let leaving = outgoing[location].iter();
            let leaving = leaving.filter(|number| iosts.transitions[**number].action == action);
            let none = Term::or(leaving.map(|number| conditions[*number].clone())).not();
            match solver.witness(&[none]) {
                Witness::Found(state) => return Search::Found((location, action), state),
                Witness::None => {}
                Witness::Unknown => {
                    undecided.get_or_insert((location, action));
                }
            }
        }
    }
    undecided.map_or(Search::Nothing, Search::Undecided)
}

#[cfg(test)]
mod tests {
    use super::super::builder::{Build, INPUT, STEP, int};
    use super::*;
    use crate::solver::z3::Z3Solver;
    use coreach_model::term::node::Comparison::{AtLeast, Less};

    #[test]
    fn a_gap_between_guards_and_a_missing_action_are_found() {
        let less = |bound: i32| Term::compare(Less, &int("p"), &Term::int(bound));
        let rest = Term::compare(AtLeast, &int("p"), &Term::int(5));
        let build = |guard: Term| {
            Build::new(&["l0"]).on(INPUT, "l0", "l0", guard, []).on(INPUT, "l0", "l0", rest.clone(), [])
        };
        let mut solver = Z3Solver::default();
        assert_eq!(find_input_incomplete(&build(less(5)).done(), &mut solver), Search::Nothing);
        let gap = find_input_incomplete(&build(less(4)).done(), &mut solver);
        assert!(matches!(gap, Search::Found((LocationId(0), INPUT), state) if state.len() == 1));
        let missing = find_incomplete(&build(less(5)).done(), &mut solver);
        assert!(matches!(missing, Search::Found((LocationId(0), STEP), _)));
        let whole = build(less(5)).step("l0", "l0", Term::yes(), []).done();
        assert_eq!(find_incomplete(&whole, &mut solver), Search::Nothing);
    }
}
