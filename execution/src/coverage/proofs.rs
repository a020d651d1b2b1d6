//! What no run can show.
//!
//! **Problem.** An item that was never met is a gap in the tests only if something could meet it. `x >= 0` of
//! a counter that is never negative does not fail, and an output whose guard says `n == vSum` has no value
//! but one: to ask tests for the other sides would be to ask for faults.
//!
//! **Method.** An over-approximation of the states that are reached (`reach`, in any domain), and for each
//! item one question to the solver: can it be met in such a state, by an event that the specification allows?
//! Only a definite *no* counts. Questions say:
//!
//! - a location: that its fact can hold; a transition: that its guard can, too;
//! - a condition: that the guard holds, or fails, and does not if the condition were the other way round;
//!   of one by which it fails, that another transition of the action takes the event. An event that none
//!   takes is forbidden (an output) or not specified (an input, and then the tester does not send it). A
//!   faulty implementation may show such a condition all the same; it is no gap, whoever shows it;
//! - a class: that the guard holds, and that it does or does not hold for the neighbours.
//!
//! **Sound**: facts and terms are read as total by the solver, which only adds states; that a neighbour is
//! refused takes its definedness into account. **Costs** a question for each item, and the analysis.

use coreach_analyses::reachability::{Options, reach};
use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::obligation::{defined, enabling_condition, in_type};
use coreach_model::term::node::Node;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, LocationId, Number, Numbered, Term, TransitionId, budget};

use crate::coverage::classes::{Class, edges};
use crate::coverage::items::{Item, Items};

/// Which items of a specification no run can show, one entry for each.
pub fn unreachable(iosts: &Iosts, items: &Items, options: &Options, solver: &mut dyn Solver) -> Vec<bool> {
    among(iosts, items, &facts(iosts, options), solver)
}

pub fn facts(iosts: &Iosts, options: &Options) -> Numbered<LocationId, Term> {
    let mut explicit = iosts.clone();
    for transition in &mut explicit.transitions {
        transition.guard = enabling_condition(transition);
    }
    let (facts, _) = reach(&explicit, options);
    facts.into_iter().collect()
}

/// The same with given facts; `true` for each location asks what the guards alone say.
pub fn among(
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
    !may_hold(solver, &question(iosts, items, facts, item))
}

fn question(iosts: &Iosts, items: &Items, facts: &Numbered<LocationId, Term>, item: &Item) -> Vec<Term> {
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

/// Where an item is met: at the location itself, or where its transition begins.
pub fn location_of(iosts: &Iosts, item: &Item) -> LocationId {
    match item {
        Item::Location(location) => *location,
        Item::Transition(number)
        | Item::Condition { transition: number, .. }
        | Item::Class { transition: number, .. } => iosts.transitions[*number].source,
    }
}

/// What must hold there of the data, and of the parameters of the event, beyond that the event is taken. Read
/// as total it is implied by the item's being met.
pub fn required_terms(iosts: &Iosts, items: &Items, item: &Item) -> Vec<Term> {
    match item {
        Item::Location(_) | Item::Transition(_) => Vec::new(),
        Item::Condition { transition, condition, holds } => {
            let guard = &iosts.transitions[*transition].guard;
            let condition = &items.conditions(*transition)[*condition];
            let otherwise = may_be(guard, !holds, [condition, &condition.not()]);
            // A conjunct is not asked for twice.
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
            falls_into(class, datum, &transition.guard)
        }
    }
}

/// That the guard may come to this if a condition, with its negation, were the other way round; what has no
/// value may be what it likes.
fn may_be(guard: &Term, wanted: bool, condition: [&Term; 2]) -> Term {
    let each = |parts: &[Term]| parts.iter().map(|part| may_be(part, wanted, condition)).collect::<Vec<_>>();
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

/// That another transition takes the event; an internal action needs none, its guard is looked at wherever
/// its source is.
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

/// That the parameter's value is of this class, where the guard holds.
fn falls_into(class: &Class, datum: &Datum, guard: &Term) -> Vec<Term> {
    let value = Term::datum(datum);
    // The guard holds for a neighbour: in its type, defined, and true.
    let allowed = |step: i32| {
        let beside = Term::add(&value, &Term::int(step));
        let there = Substitution::from([(datum.clone(), beside.clone())]);
        let whole = Term::and([defined(guard), guard.clone()]);
        Term::and([in_type(&beside, datum.ty()), substitute(&whole, &there)])
    };
    let equal = || Term::or(edges(guard, datum).iter().map(|(a, b)| Term::equal(a, b)));
    match class {
        Class::Low => vec![allowed(-1).not(), allowed(1)],
        Class::High => vec![allowed(-1), allowed(1).not()],
        Class::Only => vec![allowed(-1).not(), allowed(1).not()],
        Class::Inside if datum.ty().is_integer() => vec![allowed(-1), allowed(1)],
        Class::Inside => Vec::new(),
        Class::Edge => vec![equal()],
        Class::Is(literal) => vec![Term::equal(&value, &Term::literal(literal.clone()))],
    }
}
