//! Parallel composition (thesis, Definitions 5.1 and 5.2, p. 100): a tester and an implementation, side by
//! side.
//!
//! What one sends the other receives; both take a common action at once, each its internal actions alone.
//! Theorem 5.2: the traces of the composition are the traces that both have.
//!
//! Where we differ: the thesis' Example 5.1 calls `EnterNumber` an input of the composition, against its own
//! definition (S? = {}); here every common action is an output. The constants must be disjoint by definition,
//! although a test case and its implementation share them in practice: compose their instances, or rename.

use std::collections::BTreeSet;

use crate::data::Datum;
use crate::iosts::{Action, ActionId, ActionKind, Iosts, Location, LocationId, Transition, TransitionOrigin};
use crate::numbered::Numbered;
use crate::term::{Substitution, Term, substitute};

/// Why two IOSTSs cannot be composed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Incompatible {
    /// A datum of both (Definition 5.1, 1).
    SharedDatum(String),
    /// An action that the one sends or receives without the other doing the opposite (2a), or with another
    /// signature (2c).
    Unmatched(String),
    /// An internal action of both (2b).
    SharedInternal(String),
}

/// The composition of two compatible IOSTSs; its common actions are outputs with the left one's parameters.
///
/// # Errors
/// [`Incompatible`], the first reason in the order of the definition.
pub fn parallel(left: &Iosts, right: &Iosts) -> Result<Iosts, Incompatible> {
    check_compatible(left, right)?;
    let width = right.locations.len() as u32;
    let pair = |l1: LocationId, l2: LocationId| LocationId(l1.0 * width + l2.0);
    let mut locations = Vec::new();
    for l1 in &left.locations {
        for l2 in &right.locations {
            let label = format!("<{},{}>", l1.label, l2.label);
            locations.push(Location { name: format!("{}__{}", l1.name, l2.name), label, description: None });
        }
    }
    let mut actions: Numbered<ActionId, Action> = Numbered::new();
    for action in &left.actions {
        let kind = if action.is_visible() { ActionKind::Output } else { ActionKind::Internal };
        actions.push(Action { kind, ..action.clone() });
    }
    actions.extend(right.actions.iter().filter(|action| !action.is_visible()).cloned());
    let number = |name: &str| {
        let Some(number) = actions.first_number(|action| action.name == name) else {
            panic!("{name} is an action of neither side, although the two are compatible")
        };
        number
    };

    let mut transitions = Vec::new();
    for t1 in &left.transitions {
        let action = left.action(t1.action);
        if !action.is_visible() {
            for l2 in right.location_ids() {
                let (source, target) = (pair(t1.source, l2), pair(t1.target, l2));
                transitions.push(Transition { source, target, action: number(&action.name), ..t1.clone() });
            }
            continue;
        }
        for t2 in right.transitions.iter().filter(|t2| right.action(t2.action).name == action.name) {
            let renaming = renaming(action, right.action(t2.action));
            let guard = Term::and([t1.guard.clone(), substitute(&t2.guard, &renaming)]);
            let mut assignments = t1.assignments.clone();
            let values = t2.assignments.iter().map(|(v, value)| (v.clone(), substitute(value, &renaming)));
            assignments.extend(values);
            transitions.push(Transition {
                source: pair(t1.source, t2.source),
                action: number(&action.name),
                guard,
                assignments,
                target: pair(t1.target, t2.target),
                origin: TransitionOrigin::default(),
            });
        }
    }
    for t2 in right.transitions.iter().filter(|t2| !right.action(t2.action).is_visible()) {
        for l1 in left.location_ids() {
            let (source, target) = (pair(l1, t2.source), pair(l1, t2.target));
            let action = number(&right.action(t2.action).name);
            transitions.push(Transition { source, target, action, ..t2.clone() });
        }
    }
    Ok(Iosts {
        name: format!("{}__{}", left.name, right.name),
        constants: left.constants.iter().chain(&right.constants).cloned().collect(),
        variables: left.variables.iter().chain(&right.variables).cloned().collect(),
        initial_condition: Term::and([left.initial_condition.clone(), right.initial_condition.clone()]),
        locations: locations.into(),
        initial: pair(left.initial, right.initial),
        actions,
        transitions: transitions.into(),
        origin: None,
    })
}

fn renaming(left: &Action, right: &Action) -> Substitution {
    right.parameters.iter().cloned().zip(left.parameters.iter().map(Term::datum)).collect()
}

fn data(iosts: &Iosts) -> BTreeSet<&str> {
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    iosts.variables.iter().chain(&iosts.constants).chain(parameters).map(Datum::name).collect()
}

fn check_compatible(left: &Iosts, right: &Iosts) -> Result<(), Incompatible> {
    // Parameters of one action may bear one name on both sides: they are one value. Anything else is shared.
    let parameters =
        |iosts: &Iosts| iosts.actions.iter().flat_map(|a| a.parameters.clone()).collect::<BTreeSet<_>>();
    let common: BTreeSet<Datum> = parameters(left).intersection(&parameters(right)).cloned().collect();
    let shared = data(left)
        .intersection(&data(right))
        .find(|name| !common.iter().any(|p| p.name() == **name))
        .copied();
    if let Some(name) = shared {
        return Err(Incompatible::SharedDatum(name.to_owned()));
    }
    let opposite = |kind| match kind {
        ActionKind::Input => ActionKind::Output,
        ActionKind::Output | ActionKind::Quiescence => ActionKind::Input,
        ActionKind::Internal => ActionKind::Internal,
    };
    for (one, other) in [(left, right), (right, left)] {
        for action in &one.actions {
            let found = other.find_action(&action.name).map(|id| other.action(id));
            let types =
                |action: &Action| action.parameters.iter().map(|p| p.ty().clone()).collect::<Vec<_>>();
            match found {
                Some(_) if !action.is_visible() => {
                    return Err(Incompatible::SharedInternal(action.name.clone()));
                }
                Some(partner) if partner.kind == opposite(action.kind) && types(partner) == types(action) => {
                }
                None if !action.is_visible() => {}
                _ => return Err(Incompatible::Unmatched(action.name.clone())),
            }
        }
    }
    Ok(())
}
