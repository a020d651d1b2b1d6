//! Non-deterministic choice (thesis, Definition A.8; compare 4.20, p. 93): two transitions of one location
//! and action that can be enabled together.
//!
//! Definition 4.20 forgives two transitions with one target and one effect, and forbids internal actions;
//! this asks neither. It is over all states, reachable or not: information, not an error. One query per pair.

use coreach_model::obligation::enabling_condition;
use coreach_model::{Iosts, TransitionId};

use super::Search;
use crate::solver::{Solver, Witness};

/// The first choice, as two numbers of transitions, with the state and the parameters.
pub fn find_choice(iosts: &Iosts, solver: &mut dyn Solver) -> Search<(TransitionId, TransitionId)> {
    let conditions = iosts.transitions.map(enabling_condition);
    let mut undecided = None;
    for leaving in iosts.outgoing() {
        for (position, &one) in leaving.iter().enumerate() {
            for &two in &leaving[position + 1..] {
                if iosts.transitions[one].action != iosts.transitions[two].action {
                    continue;
                }
                match solver.witness(&[conditions[one].clone(), conditions[two].clone()]) {
                    Witness::Found(state) => return Search::Found((one, two), state),
                    Witness::None => {}
                    Witness::Unknown => {
                        undecided.get_or_insert((one, two));
                    }
                }
            }
        }
    }
    undecided.map_or(Search::Nothing, Search::Undecided)
}

#[cfg(test)]
mod tests {
    use super::super::builder::{Build, INPUT, int};
    use super::*;
    use crate::solver::z3::Z3Solver;
    use coreach_model::Term;
    use coreach_model::term::node::Comparison::{AtLeast, Less};

    #[test]
    fn overlapping_guards_are_a_choice() {
        let less = |bound: i32| Term::compare(Less, &int("p"), &Term::int(bound));
        let rest = Term::compare(AtLeast, &int("p"), &Term::int(5));
        let build = |guard: Term| {
            let start = Build::new(&["l0", "l1"]).on(INPUT, "l0", "l0", guard, []);
            // Another action and another location do not clash.
            start
                .on(INPUT, "l0", "l1", rest.clone(), [])
                .step("l0", "l1", Term::yes(), [])
                .on(INPUT, "l1", "l1", Term::yes(), [])
                .done()
        };
        let mut solver = Z3Solver::default();
        assert_eq!(find_choice(&build(less(5)), &mut solver), Search::Nothing);
        let Search::Found(pair, state) = find_choice(&build(less(6)), &mut solver) else { panic!() };
        assert_eq!((pair, state.len()), ((TransitionId(0), TransitionId(1)), 1));
    }
}
