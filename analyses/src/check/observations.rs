//! Observations of a test case: at each location without a verdict, exactly one transition takes each.
//!
//! Every generated test case satisfies this (thesis, Definition 6.4), but a document may have been edited
//! since. If no guard holds for an output, or two do, the test case does not say what verdict the output
//! gets.
//!
//! The guard of a transition to Fail is mostly the negation of all others, term by term. This is seen without
//! the solver. If the solver does not know, nothing is reported. A run of the test case checks each
//! observation once more.

use std::collections::BTreeMap;

use coreach_model::obligation::defined;
use coreach_model::reader::collect::LIMIT;
use coreach_model::{ActionId, Diagnostic, Iosts, LocationId, Numbered, Term, Verdict};

use super::warn_of_more;
use crate::solver::{Answer, Solver};

/// Gives errors `observation-not-taken` and `observation-taken-twice`. `reach` contains the states in which a
/// run may be at each location.
pub fn check(
    iosts: &Iosts,
    verdicts: &Numbered<LocationId, Option<Verdict>>,
    reach: &Numbered<LocationId, Term>,
    solver: &mut dyn Solver,
) -> Vec<Diagnostic> {
    let mut guards: BTreeMap<(LocationId, ActionId), Vec<Term>> = BTreeMap::new();
    for transition in &iosts.transitions {
        if verdicts[transition.source].is_none() && iosts.action(transition.action).is_observed() {
            guards.entry((transition.source, transition.action)).or_default().push(transition.guard.clone());
        }
    }
    let mut errors = Vec::new();
    for ((location, action), guards) in guards {
        if errors.len() >= LIMIT {
            errors.push(warn_of_more());
            break;
        }
        let place = format!("`{}` at `{}`", iosts.action(action).name, iosts.location(location).name);
        // The guard that is the negation of all others. With it, every observation is taken.
        let is_negation = |number: &usize| {
            let others = guards[..*number].iter().chain(&guards[number + 1..]);
            guards[*number] == Term::or(others.cloned()).not()
        };
        let negation = (0..guards.len()).find(is_negation);
        let holds: Vec<Term> =
            guards.iter().map(|guard| Term::and([defined(guard), guard.clone()])).collect();
        if negation.is_none() {
            let asked = [reach[location].clone(), Term::or(holds.iter().cloned()).not()];
            if solver.check(&asked) == Answer::Sat {
                let message = format!("no transition takes every {place}");
                errors.push(Diagnostic::error("observation-not-taken", message));
            }
        }
        // The negation excludes all others, so only pairs of these are asked.
        let others: Vec<usize> = (0..holds.len()).filter(|number| negation != Some(*number)).collect();
        let pairs = others
            .iter()
            .enumerate()
            .flat_map(|(count, first)| others[count + 1..].iter().map(move |second| (*first, *second)));
        for (first, second) in pairs {
            let asked = [reach[location].clone(), holds[first].clone(), holds[second].clone()];
            if solver.check(&asked) == Answer::Sat {
                let message = format!("two transitions take the same {place}");
                errors.push(Diagnostic::error("observation-taken-twice", message));
                break;
            }
        }
    }
    errors
}
