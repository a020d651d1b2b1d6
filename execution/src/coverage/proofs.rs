//! Finds the items that no run can show.
//!
//! **Problem.** An item that was never met is a gap in the tests only if something could meet it. `x >= 0`
//! for a counter that is never negative does not fail, and an output with the guard `n == vSum` has one
//! value.
//!
//! **Method.** The reached states are over-approximated (`reach`, in any domain). For each item the solver is
//! asked: can it be met in such a state, by an event that the specification allows? Only a definite *no*
//! counts. The questions are:
//!
//! - for a location, whether its fact can hold; for a transition, whether its guard can, too;
//! - for a condition, whether the guard can hold, or fail, and would not if the condition were the other way
//!   round. If the guard fails by it, another transition of the action must take the event, since an event
//!   that no transition takes is forbidden or not specified;
//! - for a class, whether the guard can hold, and does or does not hold for the neighbours.
//!
//! **Sound**: the solver reads facts and terms as total, which only adds states. Whether a neighbour is
//! refused takes definedness into account. **Costs** a question for each item, and the analysis.

use coreach_analyses::reachability::{Analysis, reach};
use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::obligation::{defined, enabling_condition, in_type};
use coreach_model::term::node::Node;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, LocationId, Number, Numbered, Term, TransitionId, budget};

use crate::coverage::classes::{BoundClass, comparison_sides};
use crate::coverage::items::{Item, Items};

/// Finds which items of a specification no run can show, with one entry for each item.
pub fn unreachable_items(
    iosts: &Iosts,
    items: &Items,
    options: &Analysis,
    solver: &mut dyn Solver,
) -> Vec<bool> {
    unreachable_by_facts(iosts, items, &reachable_facts(iosts, options), solver)
}

/// Computes for each location a fact that holds in all reached states.
pub fn reachable_facts(iosts: &Iosts, options: &Analysis) -> Numbered<LocationId, Term> {
    let mut explicit = iosts.clone();
    for transition in &mut explicit.transitions {
        transition.guard = enabling_condition(transition);
    }
    let (facts, _) = reach(&explicit, options);
    facts.into_iter().collect()
}

/// Finds the items that no run can show, by these facts. If all are `true`, the guards decide.
pub fn unreachable_by_facts(
    iosts: &Iosts,
    items: &Items,
    facts: &Numbered<LocationId, Term>,
    solver: &mut dyn Solver,
) -> Vec<bool> {
    items.all().iter().map(|item| is_out_of_reach(iosts, items, facts, item, solver)).collect()
}

/// Can no state that the facts allow show the item?
pub fn is_out_of_reach(
    iosts: &Iosts,
    items: &Items,
    facts: &Numbered<LocationId, Term>,
    item: &Item,
    solver: &mut dyn Solver,
) -> bool {
    budget::ask();
    !may_hold(solver, &reach_question(iosts, items, facts, item))
}

/// Makes the question whether a state within the facts shows the item, as parts of a formula.
fn reach_question(
    iosts: &Iosts,
    items: &Items,
    facts: &Numbered<LocationId, Term>,
    item: &Item,
) -> Vec<Term> {
    let mut parts = vec![facts[location_of(iosts, item)].clone()];
    match item {
        Item::Transition(number) | Item::Class { transition: number, .. } => {
            parts.push(enabling_condition(&iosts.transitions[*number]));
        }
        Item::Location(_) | Item::Condition { .. } => {}
    }
    parts.extend(required_terms(iosts, items, item));
    if let Item::Condition { transition, holds: false, .. } = item {
        parts.extend(taken_by_another(iosts, *transition));
    }
    parts
}

/// Returns the location where an item is met: the location itself, or the source of its transition.
pub fn location_of(iosts: &Iosts, item: &Item) -> LocationId {
    match item {
        Item::Location(location) => *location,
        Item::Transition(number)
        | Item::Condition { transition: number, .. }
        | Item::Class { transition: number, .. } => iosts.transitions[*number].source,
    }
}

/// Lists the conditions on the data, and on the event's parameters, for the item to be met, in addition to
/// the event being taken. If read as total, they are implied when the item is met.
pub fn required_terms(iosts: &Iosts, items: &Items, item: &Item) -> Vec<Term> {
    match item {
        Item::Location(_) | Item::Transition(_) => Vec::new(),
        Item::Condition { transition, condition, holds } => {
            let guard = &iosts.transitions[*transition].guard;
            let condition = &items.conditions(*transition)[*condition];
            let otherwise = may_have_value(guard, !holds, [condition, &condition.not()]);
            // If the condition is a conjunct of the guard, one of the two terms implies the other.
            match (holds, guard.conjuncts().contains(condition)) {
                (true, true) => vec![guard.clone()],
                (false, true) => otherwise.conjuncts(),
                (true, false) => vec![guard.clone(), otherwise],
                (false, false) => vec![guard.not(), otherwise],
            }
        }
        Item::Class { transition, parameter, class } => {
            let transition = &iosts.transitions[*transition];
            let datum = &iosts.action(transition.action).parameters[*parameter];
            is_in_class(class, datum, &transition.guard)
        }
    }
}

/// Makes the condition that the guard may have the value `wanted` if a condition, given with its negation,
/// were the other way round. A part without a value may have any value.
fn may_have_value(guard: &Term, wanted: bool, condition: [&Term; 2]) -> Term {
    let each =
        |parts: &[Term]| parts.iter().map(|part| may_have_value(part, wanted, condition)).collect::<Vec<_>>();
    match guard.written() {
        Some(Node::And(parts)) if wanted => Term::and(each(parts)),
        Some(Node::Or(parts)) if !wanted => Term::and(each(parts)),
        Some(Node::And(parts) | Node::Or(parts)) => Term::or(each(parts)),
        _ if condition.contains(&guard) => {
            if wanted {
                guard.not()
            } else {
                guard.clone()
            }
        }
        _ => Term::or([if wanted { guard.clone() } else { guard.not() }, defined(guard).not()]),
    }
}

/// Makes the condition that another transition takes the event. `None` for an internal action: its guard is
/// evaluated wherever its source is reached.
fn taken_by_another(iosts: &Iosts, number: TransitionId) -> Option<Term> {
    let this = &iosts.transitions[number];
    if iosts.action(this.action).kind == ActionKind::Internal {
        return None;
    }
    let others = iosts.transitions.numbered().filter(|(other, transition)| {
        other.place() != number.place()
            && transition.source == this.source
            && transition.action == this.action
    });
    Some(Term::or(others.map(|(_, other)| other.guard.clone())))
}

/// Lists the conditions that the parameter's value is of this class, if the guard holds.
fn is_in_class(class: &BoundClass, datum: &Datum, guard: &Term) -> Vec<Term> {
    let value = Term::datum(datum);
    // The guard holds for a neighbour: it is in its type, and the guard is defined and true.
    let allowed = |step: i32| {
        let beside = Term::add(&value, &Term::int(step));
        let neighbour = Substitution::from([(datum.clone(), beside.clone())]);
        let whole = Term::and([defined(guard), guard.clone()]);
        Term::and([in_type(&beside, datum.ty()), substitute(&whole, &neighbour)])
    };
    match class {
        BoundClass::Low => vec![allowed(-1).not(), allowed(1)],
        BoundClass::High => vec![allowed(-1), allowed(1).not()],
        BoundClass::Only => vec![allowed(-1).not(), allowed(1).not()],
        BoundClass::Inside if datum.ty().is_integer() => vec![allowed(-1), allowed(1)],
        BoundClass::Inside => Vec::new(),
        BoundClass::Edge => {
            vec![Term::or(comparison_sides(guard, datum).iter().map(|(a, b)| Term::equal(a, b)))]
        }
        BoundClass::Is(literal) => vec![Term::equal(&value, &Term::literal(literal.clone()))],
    }
}
