//! A random purpose: a way to `Accept` along a walk through the specification, and things that disturb it.

use std::collections::BTreeMap;

use coreach_model::{ActionId, Datum, LocationId, Number, Numbered};

use super::random::Random;
use super::terms::{self, Scope};
use super::{Accepting, Shape, data};
use crate::source::{Model, Purpose, Step, Tree};

/// Makes a purpose of the specification.
pub fn purpose(random: &mut Random, shape: &Shape, specification: &Model, accepting: Accepting) -> Purpose {
    let types: Vec<_> = specification.variables.iter().map(|variable| variable.ty().clone()).collect();
    let own = |random: &mut Random, prefix, percent| {
        let count = usize::from(!types.is_empty() && random.chance(percent));
        data::data(random, prefix, count, &types)
    };
    let constants = own(random, "d", shape.purpose_constant);
    let variables = own(random, "w", shape.purpose_variable);
    let observable = specification.variables.iter().chain(&specification.constants);
    let observes: Vec<Datum> = observable.filter(|_| random.chance(45)).cloned().collect();
    let mut theta: Vec<Tree> =
        variables.iter().map(|variable| data::determined(random, variable, &constants)).collect();
    terms::disturb_initial(random, shape, &constants, &mut theta);

    let count = random.between(shape.purpose_locations);
    let mut locations: Numbered<LocationId, String> = (0..count).map(|number| format!("B{number}")).collect();
    let accept = locations.push("Accept".to_owned());
    let reject = random.chance(70).then(|| locations.push("Reject".to_owned()));
    let mut model = Model {
        name: "purpose".to_owned(),
        constants: constants.into_iter().chain(observes.iter().cloned()).collect(),
        variables,
        condition: Tree::and(theta),
        locations,
        initial: if accepting == Accepting::AtOnce { accept } else { LocationId(0) },
        actions: specification.actions.clone(),
        transitions: Numbered::new(),
    };
    let walk = walk(random, specification, count);
    for (step, action) in walk.iter().enumerate() {
        let (source, target) = (LocationId::of(step), LocationId::of(step + 1));
        // The walk ends in front of `Accept` where nothing shall lead there.
        let target = if target == accept && accepting == Accepting::Never { source } else { target };
        let mut one = transition(random, shape, &model, source, *action, target);
        // The way on is wider than the rest.
        if random.chance(50) {
            one.guard = Tree::yes();
        }
        model.transitions.push(one);
    }
    for _ in 0..random.between(shape.purpose_transitions) {
        let source = LocationId::of(random.below(count));
        let action = random.number_in(&model.actions);
        let target = match (reject, random.below(10)) {
            (Some(reject), 0..4) => reject,
            (_, 4) if model.action(action).is_visible() && accepting != Accepting::Never => accept,
            (_, 5..8) => source,
            _ => LocationId::of(random.below(count)),
        };
        let mut one = transition(random, shape, &model, source, action, target);
        let others = model.transitions.iter().filter(|t| t.source == source && t.action == action);
        if random.chance(92) {
            // Mostly what the others leave; else an overlap, which often nothing resolves.
            let taken = Tree::or(others.map(|t| t.guard.clone()));
            one.guard = Tree::and([taken.not(), one.guard]);
        }
        if !one.guard.is_false() {
            model.transitions.push(one);
        }
    }
    Purpose { model, observes, accept, reject }
}

/// Visible actions in the order in which a path of the specification takes them; anything where the path
/// ends.
fn walk(random: &mut Random, specification: &Model, length: usize) -> Vec<ActionId> {
    let visible = specification.actions_of(|kind| kind != coreach_model::ActionKind::Internal);
    let mut found = Vec::new();
    let mut at = specification.initial;
    let mut skips = 0;
    while found.len() < length {
        let outgoing: Vec<&Step> = specification.transitions.iter().filter(|t| t.source == at).collect();
        match random.pick(&outgoing) {
            Some(step) => {
                at = step.target;
                skips += 1;
                // A purpose need not mention every event.
                let mention = !random.chance(30) || skips > 4;
                if specification.action(step.action).is_visible() && mention {
                    found.push(step.action);
                    skips = 0;
                }
            }
            None => {
                found.push(random.pick(&visible).copied().unwrap_or(ActionId(0)));
                at = specification.initial;
            }
        }
    }
    found
}

fn transition(
    random: &mut Random,
    shape: &Shape,
    model: &Model,
    source: LocationId,
    action: ActionId,
    target: LocationId,
) -> Step {
    let mut mentioned = model.variables.clone();
    mentioned.extend(model.variables.iter().cloned());
    mentioned.extend(model.constants.iter().cloned());
    mentioned.extend(model.action(action).parameters.iter().cloned());
    let scope = Scope { data: mentioned };
    let guard = terms::guard(random, &scope, shape);
    let guard = if guard.is_false() { Tree::yes() } else { guard };
    let mut assignments = BTreeMap::new();
    for variable in &model.variables {
        if random.chance(50) {
            let value = terms::value(random, &scope, shape, variable);
            if value.as_datum() != Some(variable) {
                assignments.insert(variable.clone(), value);
            }
        }
    }
    Step { source, action, guard, assignments, target }
}
