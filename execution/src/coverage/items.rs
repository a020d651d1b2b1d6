//! The items of a model, which are counted, and how models that are followed side by side meet in one system.
//!
//! **Conditions.** A guard is made of conditions (comparisons, truth values) by `&&`, `||` and `!`. When an
//! event of the transition's action comes (or is sent) in a state at its source, the guard is evaluated
//! there. A condition *decides* if the guard would have the other value if the condition alone were the other
//! way round. Then it has shown that the guard *holds* by it, or *fails* by it. That is modified
//! condition/decision coverage (Chilenski, Miller, *Applicability of modified condition/decision coverage to
//! software testing*, 1994), where a condition that occurs twice in a guard is one. For a conjunction of n
//! conditions it needs n + 1 situations, in each of which one decides. (A condition that is not evaluated may
//! have no value, like the second of `x != 0 && 10 div x > 1`: then it may be true or false.) A guard of an
//! internal action is evaluated whenever a state at its source is reached.

use coreach_analyses::order::weak_order;
use coreach_model::iosts::{Action, ActionKind, Iosts, TransitionOrigin};
use coreach_model::semantics::State;
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::term::node::Node;
use coreach_model::{ActionId, LocationId, Number, Numbered, Term, TransitionId, Value};

use crate::coverage::classes::{BoundClass, class_of};

/// A part of a model that a run may meet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    Location(LocationId),
    Transition(TransitionId),
    /// A condition of a transition's guard that decides.
    Condition {
        transition: TransitionId,
        /// The condition's place in the guard.
        condition: usize,
        /// Does the guard hold by it? Otherwise it fails by it.
        holds: bool,
    },
    /// A class of a parameter's values, at a transition that is taken.
    Class {
        transition: TransitionId,
        /// The parameter's place in the action.
        parameter: usize,
        class: BoundClass,
    },
}

impl Item {
    /// The transition that it is, or that it belongs to. A location has none.
    pub fn transition(&self) -> Option<TransitionId> {
        match self {
            Item::Location(_) => None,
            Item::Transition(transition)
            | Item::Condition { transition, .. }
            | Item::Class { transition, .. } => Some(*transition),
        }
    }
}

#[derive(Clone, Debug)]
struct ItemPlace {
    own: usize,
    /// The number of the first condition. Each has two: for holding, then for failing.
    first_condition: usize,
    /// For each parameter: the number of its first class, and its classes.
    classes: Vec<(usize, Vec<BoundClass>)>,
}

/// The items of a model, numbered: locations, then each transition, its conditions and classes.
#[derive(Clone, Debug)]
pub struct Items {
    all: Vec<Item>,
    guards: Numbered<TransitionId, Term>,
    conditions: Numbered<TransitionId, Vec<Term>>,
    places: Numbered<TransitionId, ItemPlace>,
}

impl Items {
    /// Lists the items of a model in its author's form.
    pub fn of(iosts: &Iosts) -> Self {
        let mut all: Vec<Item> = iosts.location_ids().map(Item::Location).collect();
        let guards = iosts.transitions.map(|transition| transition.guard.clone());
        let conditions = guards.map(guard_conditions);
        let mut places = Numbered::new();
        for (number, transition) in iosts.transitions.numbered() {
            let own = all.len();
            all.push(Item::Transition(number));
            let first_condition = all.len();
            for condition in 0..conditions[number].len() {
                let item = |holds| Item::Condition { transition: number, condition, holds };
                all.extend([true, false].map(item));
            }
            let mut classes = Vec::new();
            for (parameter, datum) in iosts.action(transition.action).parameters.iter().enumerate() {
                let list = BoundClass::of_type(datum.ty());
                let first = all.len();
                let item =
                    |class: &BoundClass| Item::Class { transition: number, parameter, class: class.clone() };
                all.extend(list.iter().map(item));
                classes.push((first, list));
            }
            places.push(ItemPlace { own, first_condition, classes });
        }
        Items { all, guards, conditions, places }
    }

    pub fn all(&self) -> &[Item] {
        &self.all
    }

    pub fn conditions(&self, transition: TransitionId) -> &[Term] {
        &self.conditions[transition]
    }

    /// Calls `report` with the conditions of a transition's guard that decide.
    fn report_decisive(
        &self,
        transition: TransitionId,
        valuation: &Valuation,
        report: &mut dyn FnMut(usize),
    ) {
        let guard = &self.guards[transition];
        let Ok(outcome) = holds(guard, valuation) else { return };
        let first = self.places[transition].first_condition + usize::from(!outcome);
        for (place, condition) in self.conditions[transition].iter().enumerate() {
            let decides = holds(condition, valuation).is_ok()
                && guard_if_flipped(guard, [condition, &condition.not()], valuation) != Some(outcome);
            if decides {
                report(first + 2 * place);
            }
        }
    }
}

/// Lists the conditions of a guard, each once, in their order.
fn guard_conditions(guard: &Term) -> Vec<Term> {
    let (mut conditions, mut unvisited) = (Vec::new(), vec![guard.clone()]);
    while let Some(term) = unvisited.pop() {
        match term.written() {
            Some(Node::And(parts) | Node::Or(parts)) => unvisited.extend(parts.iter().rev().cloned()),
            _ if term.as_literal().is_some() => {}
            _ if conditions.contains(&term) || conditions.contains(&term.not()) => {}
            _ => conditions.push(term),
        }
    }
    conditions
}

/// Returns the guard's value if a condition, given with its negation, were flipped. `None`: it has none.
fn guard_if_flipped(guard: &Term, condition: [&Term; 2], valuation: &Valuation) -> Option<bool> {
    let combine = |parts: &[Term], decisive: bool| {
        let mut are_known = true;
        for part in parts {
            match guard_if_flipped(part, condition, valuation) {
                Some(value) if value == decisive => return Some(decisive),
                value => are_known &= value.is_some(),
            }
        }
        are_known.then_some(!decisive)
    };
    match guard.written() {
        Some(Node::And(parts)) => combine(parts, false),
        Some(Node::Or(parts)) => combine(parts, true),
        _ => holds(guard, valuation).ok().map(|value| value != condition.contains(&guard)),
    }
}

/// A model in a followed system: which of its locations and transitions each of the system's is.
#[derive(Clone, Debug)]
pub struct FollowedModel {
    pub iosts: Iosts,
    pub items: Items,
    /// For each location of the system: the model's location, if the author wrote one.
    pub locations: Numbered<LocationId, Option<LocationId>>,
    /// For each transition of the system: the model's transition, if the author wrote one.
    pub transitions: Numbered<TransitionId, Option<TransitionId>>,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
}

impl FollowedModel {
    /// Returns a model, with its locations and transitions in the system.
    pub fn new(
        iosts: &Iosts,
        locations: Numbered<LocationId, Option<LocationId>>,
        transitions: Numbered<TransitionId, Option<TransitionId>>,
    ) -> Self {
        let (items, outgoing) = (Items::of(iosts), iosts.outgoing());
        FollowedModel { iosts: iosts.clone(), items, locations, transitions, outgoing }
    }
}

/// Models that are followed side by side, as one system.
#[derive(Clone, Debug)]
pub struct Walked {
    pub iosts: Iosts,
    /// The models. Their items are numbered one after the other.
    pub parts: Vec<FollowedModel>,
    /// For each location, the transitions that leave it.
    pub outgoing: Numbered<LocationId, Vec<TransitionId>>,
    /// For each location: its place in an order in which internal steps lead forward.
    pub(super) ranks: Numbered<LocationId, usize>,
}

impl Walked {
    /// Returns a system made of these models. It has no cycle of internal actions, so its locations can be
    /// ranked: the reader refuses a specification with one, and a product's internal steps are its steps.
    pub fn new(mut iosts: Iosts, parts: Vec<FollowedModel>) -> Self {
        let (outgoing, ranks) = (iosts.outgoing(), rank_locations(&iosts));
        // Origins are not used here, and would keep texts in memory.
        for transition in &mut iosts.transitions {
            transition.origin = TransitionOrigin::default();
        }
        Walked { iosts, parts, outgoing, ranks }
    }

    pub fn alone(iosts: &Iosts) -> Self {
        let part = FollowedModel::new(
            iosts,
            iosts.location_ids().map(Some).collect(),
            iosts.transitions.numbers().map(Some).collect(),
        );
        Walked::new(iosts.clone(), vec![part])
    }

    pub fn count(&self) -> usize {
        self.parts.iter().map(|part| part.items.all.len()).sum()
    }

    /// Lists the models, each with the number of its first item.
    fn offsets(&self) -> impl Iterator<Item = (usize, &FollowedModel)> {
        self.parts.iter().scan(0, |next, part| {
            let first = *next;
            *next += part.items.all.len();
            Some((first, part))
        })
    }

    /// Calls `report` with the items of an arrival: the state's locations, and guards of internal steps.
    pub(super) fn meet_arrival(&self, state: &State, report: &mut dyn FnMut(usize)) {
        for (first, part) in self.offsets() {
            let Some(location) = part.locations[state.location] else { continue };
            // The locations are the first items, in their order.
            report(first + location.place());
            for &number in &part.outgoing[location] {
                let action = part.iosts.transitions[number].action;
                if part.iosts.action(action).kind == ActionKind::Internal {
                    part.items.report_decisive(number, &state.valuation, &mut |item| report(first + item));
                }
            }
        }
    }

    /// Calls `report` with the items that an event meets in a state, taken or not: the guards of its action.
    pub(super) fn meet_event(
        &self,
        at: LocationId,
        action: ActionId,
        valuation: &Valuation,
        report: &mut dyn FnMut(usize),
    ) {
        let came = self.iosts.action(action);
        // Quiescence has another name in a purpose.
        let is_same = |own: &Action| match came.kind {
            ActionKind::Quiescence => own.kind == ActionKind::Quiescence,
            _ => own.name == came.name,
        };
        for (first, part) in self.offsets() {
            let Some(location) = part.locations[at] else { continue };
            for &number in &part.outgoing[location] {
                if is_same(part.iosts.action_of(number)) {
                    part.items.report_decisive(number, valuation, &mut |item| report(first + item));
                }
            }
        }
    }

    /// Calls `report` with the items that a step meets: transitions, and classes of its parameters.
    pub(super) fn meet_step(
        &self,
        number: TransitionId,
        valuation: &Valuation,
        report: &mut dyn FnMut(usize),
    ) {
        for (first, part) in self.offsets() {
            let Some(number) = part.transitions[number] else { continue };
            let (transition, place) = (&part.iosts.transitions[number], &part.items.places[number]);
            report(first + place.own);
            let parameters = &part.iosts.action(transition.action).parameters;
            for (parameter, (start, classes)) in parameters.iter().zip(&place.classes) {
                let class =
                    if classes.is_empty() { None } else { class_of(transition, parameter, valuation) };
                if let Some(at) = class.and_then(|class| classes.iter().position(|known| *known == class)) {
                    report(first + start + at);
                }
            }
        }
    }

    /// Returns a state's valuation with the values of an action's parameters; `None` if the numbers differ.
    pub(super) fn with_values(&self, state: &State, action: ActionId, values: &[Value]) -> Option<Valuation> {
        let parameters = &self.iosts.action(action).parameters;
        (parameters.len() == values.len()).then(|| {
            let mut valuation = state.valuation.clone();
            valuation.extend(parameters.iter().cloned().zip(values.iter().cloned()));
            valuation
        })
    }
}

/// Ranks the locations so that internal steps lead forward.
fn rank_locations(iosts: &Iosts) -> Numbered<LocationId, usize> {
    let mut successors = vec![Vec::new(); iosts.locations.len()];
    for transition in &iosts.transitions {
        if iosts.action(transition.action).kind == ActionKind::Internal {
            successors[transition.source.place()].push(transition.target.0);
        }
    }
    let all: Vec<u32> = iosts.location_ids().map(|location| location.0).collect();
    let mut ranks = iosts.locations.map(|_| 0);
    for (rank, location) in weak_order(&successors, &all).nodes.into_iter().enumerate() {
        ranks[LocationId(location)] = rank;
    }
    ranks
}
