//! Stage 2: the specification, with the behaviours that the purpose accepts marked.
//!
//! **Problem.** Follow specification and purpose side by side. They synchronise on every action, internal ones
//! included; the purpose reads the specification's data in the state *before* the step.
//!
//! **Source.** Thesis, Definitions 5.3 and 5.4 (p. 113-114). Theorem 5.5: Traces(S × TP) = Traces(S), since the purpose
//! is complete.
//!
//! **Where we differ.** The definition substitutes the second machine's parameters by the first's and so can capture
//! a datum of the same name. Here a transition uses its action's own parameters, and the reader rejects a purpose
//! whose data bear a parameter's name, so there is nothing to substitute. "Constants" that the purpose shares with the
//! specification's variables are the specification's variables: they are owned there.
//!
//! **Ends** after one look at each pair of transitions with a common action. **Cost**: |L1|·|L2| locations, all of
//! them kept at this stage, reachable or not.

use std::collections::HashSet;

use coreach_analyses::solver::Solver;
use coreach_model::iosts::{Iosts, Location, Transition};
use coreach_model::{LocationId, Term};

use crate::artifact::{CompletePurpose, Product};
use crate::domains::{Memo, explicit_condition, explicit_guard};
use crate::names::{Names, joined_label, joined_name};

/// The product of the specification with the completed purpose.
pub fn product(specification: &Iosts, purpose: CompletePurpose, solver: &mut dyn Solver) -> Product {
    let CompletePurpose { purpose, .. } = purpose;
    let (left, right) = (specification, &purpose.iosts);
    let width = right.locations.len() as u32;
    let pair = |l1: LocationId, l2: LocationId| LocationId(l1.0 * width + l2.0);

    let mut names = Names::default();
    let mut locations = Vec::with_capacity(left.locations.len() * right.locations.len());
    let mut accepting = Vec::with_capacity(locations.capacity());
    for l1 in &left.locations {
        for (at, l2) in right.locations.iter().enumerate() {
            locations.push(Location {
                name: names.unique(&joined_name([l1.name.as_str(), l2.name.as_str()])),
                label: joined_label([l1.label.as_str(), l2.label.as_str()]),
                description: None,
            });
            accepting.push(at == purpose.accept.0 as usize);
        }
    }

    let mut followers = vec![vec![Vec::new(); left.actions.len()]; right.locations.len()];
    for t2 in &right.transitions {
        followers[t2.source.0 as usize][t2.action.0 as usize].push(t2);
    }
    let mut memo = Memo::new();
    let mut transitions = Vec::new();
    for t1 in &left.transitions {
        let guard = explicit_guard(t1, solver, &mut memo);
        for source in right.location_ids() {
            for t2 in &followers[source.0 as usize][t1.action.0 as usize] {
                let mut assignments = t1.assignments.clone();
                assignments.extend(t2.assignments.iter().map(|(v, value)| (v.clone(), value.clone())));
                transitions.push(Transition {
                    source: pair(t1.source, source),
                    action: t1.action,
                    guard: Term::and([guard.clone(), t2.guard.clone()]),
                    assignments,
                    target: pair(t1.target, t2.target),
                    origin: t1.origin.clone(),
                });
            }
        }
    }

    let variables: Vec<_> = left.variables.iter().chain(&right.variables).cloned().collect();
    let mut known: HashSet<_> = variables.iter().cloned().collect();
    let constants = left
        .constants
        .iter()
        .chain(&right.constants)
        .filter(|c| known.insert((*c).clone()))
        .cloned()
        .collect();
    let iosts = Iosts {
        name: joined_name([left.name.as_str(), right.name.as_str()]),
        constants,
        variables,
        // The purpose's was made explicit when it was completed.
        initial_condition: Term::and([
            explicit_condition(&left.initial_condition, solver),
            right.initial_condition.clone(),
        ]),
        locations,
        initial: pair(left.initial, right.initial),
        actions: left.actions.clone(),
        transitions,
        origin: left.origin.clone(),
    };
    Product { iosts, accepting }
}
