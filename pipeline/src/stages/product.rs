//! Stage 2 marks the behaviours of the specification that the purpose accepts.
//!
//! **Problem.** Follow specification and purpose side by side. They synchronise on every action, internal
//! ones included; the purpose reads the specification's data in the state *before* the step.
//!
//! **Source.** Thesis, Definitions 5.3 and 5.4 (p. 113-114). Theorem 5.5: Traces(S × TP) = Traces(S), since
//! the purpose is complete.
//!
//! **Where we differ.** The definition substitutes the second machine's parameters by the first's and so can
//! capture a datum of the same name. Here a transition uses its action's own parameters, and the reader
//! rejects a purpose whose data bear a parameter's name. "Constants" that the purpose shares with the
//! specification's variables are the specification's variables. A purpose that is a tree of paths goes with
//! single transitions of the specification, where others go with all of an action
//! ([`TestPurpose::goes_with`]).
//!
//! The definition has all |L1|·|L2| pairs. Here only those exist that the graph reaches, whatever the guards
//! say. The others have no trace.
//!
//! **Ends** after one look at each reached pair and pair of transitions with a common action. **Cost**: it
//! grows with the reached part.

use std::collections::{BTreeMap, HashMap, HashSet};

use coreach_analyses::solver::Solver;
use coreach_model::budget;
use coreach_model::iosts::{Iosts, Location, TestPurpose, Transition};
use coreach_model::{ActionId, LocationId, Number, Numbered, Term, TransitionId};

use crate::artifact::{CompletePurpose, Product};
use crate::domains::{Memo, explicit_condition, explicit_guard};
use crate::limits::{Limits, Quantity};
use crate::names::{UsedNames, joined_label, joined_name};
use crate::stage::Stage;
use crate::stop::{Stop, check_limit};

/// Makes the product of the specification with the completed purpose.
pub fn make_product(
    specification: &Iosts,
    purpose: CompletePurpose,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Product, Stop> {
    let CompletePurpose { purpose, others_stay, .. } = purpose;
    let (left, right) = (specification, &purpose.iosts);
    let (steps, pairs) = reached_steps(left, &purpose, others_stay, limits)?;

    let mut names = UsedNames::default();
    let mut locations = Numbered::new();
    for &(l1, l2) in pairs.keys() {
        let (l1, l2) = (left.location(l1), right.location(l2));
        locations.push(Location {
            name: names.unique(&joined_name([l1.name.as_str(), l2.name.as_str()])),
            label: joined_label([l1.label.as_str(), l2.label.as_str()]),
            description: None,
        });
    }
    let accepting = pairs.keys().map(|(_, l2)| *l2 == purpose.accept).collect();

    let mut memo = Memo::new();
    let mut transitions = Numbered::new();
    let made_of = steps.iter().map(|step| (step.first, step.second)).collect();
    for ProductStep { first, at, second } in steps {
        budget::ask();
        let t1 = &left.transitions[first];
        let guard = explicit_guard(t1, solver, &mut memo);
        let mut assignments = t1.assignments.clone();
        let (guard, l2) = match second.map(|second| &right.transitions[second]) {
            None => (guard, at),
            Some(t2) => {
                assignments.extend(t2.assignments.iter().map(|(v, value)| (v.clone(), value.clone())));
                (Term::and([guard, t2.guard.clone()]), t2.target)
            }
        };
        transitions.push(Transition {
            source: pairs[&(t1.source, at)],
            action: t1.action,
            guard,
            assignments,
            target: pairs[&(t1.target, l2)],
            origin: t1.origin.clone(),
        });
    }

    let variables: Vec<_> = left.variables.iter().chain(&right.variables).cloned().collect();
    // A constant of the purpose may be a variable of the specification, or a constant of both.
    let mut known: HashSet<_> = variables.iter().cloned().collect();
    let constants = left.constants.iter().chain(&right.constants);
    let constants = constants.filter(|constant| known.insert((*constant).clone())).cloned().collect();
    let iosts = Iosts {
        name: joined_name([left.name.as_str(), right.name.as_str()]),
        constants,
        variables,
        // The initial condition of the purpose was made explicit when the purpose was completed.
        initial_condition: Term::and([
            explicit_condition(&left.initial_condition, solver),
            right.initial_condition.clone(),
        ]),
        locations,
        initial: pairs[&(left.initial, right.initial)],
        actions: left.actions.clone(),
        transitions,
        origin: left.origin.clone(),
    };
    Ok(Product { iosts, pairs: pairs.into_keys().collect(), made_of, accepting })
}

/// A transition of the specification, taken together with the purpose.
struct ProductStep {
    first: TransitionId,
    /// The purpose's location before the step.
    at: LocationId,
    /// The purpose's transition. `None`: it stays.
    second: Option<TransitionId>,
}

/// The pairs that the graph reaches, numbered in ascending order.
type PairTable = BTreeMap<(LocationId, LocationId), LocationId>;

/// Finds the steps between the pairs that the graph reaches, in the order of the specification's transitions.
fn reached_steps(
    left: &Iosts,
    purpose: &TestPurpose,
    others_stay: bool,
    limits: &Limits,
) -> Result<(Vec<ProductStep>, PairTable), Stop> {
    let right = &purpose.iosts;
    let outgoing = left.outgoing();
    let mut followers: HashMap<(LocationId, ActionId), Vec<Option<TransitionId>>> = HashMap::new();
    for (id, t2) in right.transitions.numbered() {
        followers.entry((t2.source, t2.action)).or_default().push(Some(id));
    }
    let if_not_written: &[Option<TransitionId>] = if others_stay { &[None] } else { &[] };
    let start = (left.initial, right.initial);
    // The pairs get their numbers when all of them are known.
    let unnumbered = LocationId(0);
    let mut pairs = PairTable::from([(start, unnumbered)]);
    let mut waiting = vec![start];
    let mut steps = Vec::new();
    while let Some((l1, l2)) = waiting.pop() {
        budget::ask();
        for &first in &outgoing[l1] {
            let t1 = &left.transitions[first];
            for &second in followers.get(&(l2, t1.action)).map_or(if_not_written, Vec::as_slice) {
                if second.is_some_and(|second| !purpose.goes_with(second, first)) {
                    continue;
                }
                let target = (t1.target, second.map_or(l2, |second| right.transitions[second].target));
                if pairs.insert(target, unnumbered).is_none() {
                    waiting.push(target);
                }
                steps.push(ProductStep { first, at: l2, second });
            }
        }
        check_limit(Stage::Product, Quantity::Pairs, pairs.len(), limits)?;
        check_limit(Stage::Product, Quantity::PairTransitions, steps.len(), limits)?;
    }
    for (number, pair) in pairs.values_mut().enumerate() {
        *pair = LocationId::of(number);
    }
    steps.sort_unstable_by_key(|step| (step.first, step.at, step.second));
    Ok((steps, pairs))
}
