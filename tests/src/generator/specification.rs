//! A random specification.

use coreach_model::iosts::{ActionKind, Iosts, Location, Transition, TransitionOrigin};
use coreach_model::term::{Substitution, Term};
use coreach_model::{ActionId, Datum, LocationId, Value};

use super::random::Random;
use super::terms::{self, Scope};
use super::{Shape, data};

/// Makes a specification: every location lies on some path from the first; internal steps lead forward only.
pub fn specification(random: &mut Random, shape: &Shape) -> Iosts {
    let types = data::types(random, shape);
    let constants = {
        let count = random.between(shape.constants);
        data::data(random, "c", count, &types)
    };
    let mut variables = {
        let count = random.between(shape.variables);
        data::data(random, "v", count, &types)
    };
    if random.chance(shape.arrays) {
        variables.push(Datum::new("store", data::array_type()));
    }
    let actions = data::actions(random, shape, &types);
    let mut theta: Vec<Term> =
        variables.iter().map(|variable| data::determined(random, variable, &constants)).collect();
    if random.chance(30) {
        theta.insert(0, terms::atom(random, &Scope { data: constants.clone() }, shape));
    }
    let count = random.between(shape.locations) as u32;
    let mut iosts = Iosts {
        name: "machine".to_owned(),
        constants,
        variables,
        initial_condition: Term::and(theta),
        locations: (0..count).map(|number| Location::named(format!("L{number}"))).collect(),
        initial: LocationId(0),
        actions,
        transitions: Vec::new(),
        origin: None,
    };
    for target in 1..count {
        let source = LocationId(random.below(target as usize) as u32);
        grow(random, shape, &mut iosts, source, LocationId(target));
    }
    for _ in 0..random.between(shape.extra_transitions) {
        let source = LocationId(random.below(count as usize) as u32);
        let target = LocationId(random.below(count as usize) as u32);
        grow(random, shape, &mut iosts, source, target);
    }
    iosts
}

/// Adds a transition, and perhaps a companion of the same action.
fn grow(random: &mut Random, shape: &Shape, iosts: &mut Iosts, source: LocationId, target: LocationId) {
    let internals: Vec<ActionId> = of_kind(iosts, |kind| kind == ActionKind::Internal);
    let forward = source < target;
    let action = match random.pick(&internals) {
        Some(internal) if forward && random.chance(shape.internal_steps) => *internal,
        _ => visible(random, iosts),
    };
    let mut first = transition(random, shape, iosts, source, action, target);
    if random.chance(shape.exclusive) {
        let others = iosts.transitions.iter().filter(|t| t.source == source && t.action == action);
        let rest = Term::and([Term::or(others.map(|t| t.guard.clone())).not(), first.guard.clone()]);
        // Something must lead to every location.
        if !rest.is_false() {
            first.guard = rest;
        }
    }
    iosts.transitions.push(first.clone());
    if !random.chance(shape.companions) {
        return;
    }
    // An internal companion must lead forward too.
    let low = if iosts.action(action).is_visible() { 0 } else { source.0 as usize + 1 };
    let other = LocationId(random.between((low, iosts.locations.len() - 1)) as u32);
    let mut second = transition(random, shape, iosts, source, action, other);
    match random.below(8) {
        // What the first does not take.
        0..4 => {
            second.guard = first.guard.not();
            if !second.guard.is_false() {
                iosts.transitions.push(second);
            }
        }
        // Wider or narrower than the first: they overlap.
        4 => {
            second.guard = Term::or([first.guard.clone(), second.guard]);
            iosts.transitions.push(second);
        }
        // Anything.
        5 => iosts.transitions.push(second),
        _ => choice(random, shape, iosts, &first),
    }
}

/// A second way by the same action into a location of its own, which a later event, the next or the one after it, tells
/// apart from the first.
fn choice(random: &mut Random, shape: &Shape, iosts: &mut Iosts, first: &Transition) {
    let fresh = |iosts: &mut Iosts| {
        let number = iosts.locations.len() as u32;
        iosts.locations.push(Location::named(format!("L{number}")));
        LocationId(number)
    };
    if !iosts.action(first.action).is_visible() {
        return;
    }
    // The first way is led to a location of its own as well: what follows there is known.
    let (here, there) = (fresh(iosts), fresh(iosts));
    let at = iosts.transitions.len() - 1;
    iosts.transitions[at].target = here;
    let mut second = transition(random, shape, iosts, first.source, first.action, there);
    if random.chance(60) {
        second.guard = first.guard.clone();
    }
    // One side keeps a parameter that only a later guard asks for: it has to be remembered over the common events,
    // also over one of the same action.
    let kept = parameter_to_keep(random, iosts, first.action);
    if let Some((variable, parameter)) = &kept {
        iosts.transitions[at].assignments.insert(variable.clone(), Term::datum(parameter));
    }
    iosts.transitions.push(second);
    let (mut one, mut other) = (here, there);
    for _ in 0..random.below(3) {
        // A common event, with effects and guards of each side's own.
        let action = if random.chance(50) { first.action } else { visible(random, iosts) };
        let (next_one, next_other) = (fresh(iosts), fresh(iosts));
        let steps = [
            transition(random, shape, iosts, one, action, next_one),
            transition(random, shape, iosts, other, action, next_other),
        ];
        iosts.transitions.extend(steps);
        (one, other) = (next_one, next_other);
    }
    let (a, b) = (visible(random, iosts), visible(random, iosts));
    let back = LocationId(random.below(3.min(iosts.locations.len())) as u32);
    let mut left = transition(random, shape, iosts, one, a, first.target);
    if let Some((variable, _)) = &kept
        && let Some(value) = Value::enumerate(variable.ty(), 64).and_then(|all| random.pick(&all).cloned())
        && random.chance(80)
    {
        left.guard = Term::equal(&Term::datum(variable), &Term::literal(value));
    }
    let mut right = transition(random, shape, iosts, other, b, back);
    if a == b {
        right.guard = left.guard.not();
    }
    iosts.transitions.push(left);
    if !right.guard.is_false() {
        iosts.transitions.push(right);
    }
}

/// A variable and a parameter of the action that it can be assigned.
fn parameter_to_keep(random: &mut Random, iosts: &Iosts, action: ActionId) -> Option<(Datum, Datum)> {
    let parameters = iosts.action(action).parameters.clone();
    let parameter = random.pick(&parameters)?.clone();
    let fitting: Vec<Datum> = iosts
        .variables
        .iter()
        .filter(|variable| variable.ty().sort() == parameter.ty().sort())
        .cloned()
        .collect();
    Some((random.pick(&fitting)?.clone(), parameter))
}

fn of_kind(iosts: &Iosts, wanted: impl Fn(ActionKind) -> bool) -> Vec<ActionId> {
    iosts.action_ids().filter(|id| wanted(iosts.action(*id).kind)).collect()
}

/// A visible action: what there is already is used again.
fn visible(random: &mut Random, iosts: &Iosts) -> ActionId {
    let all = of_kind(iosts, |kind| kind != ActionKind::Internal);
    random.pick(&all).copied().unwrap_or(ActionId(0))
}

fn transition(
    random: &mut Random,
    shape: &Shape,
    iosts: &Iosts,
    source: LocationId,
    action: ActionId,
    target: LocationId,
) -> Transition {
    let the_action = iosts.action(action);
    // Variables count twice, so that what was assigned is asked for.
    let mut mentioned = iosts.variables.clone();
    mentioned.extend(iosts.variables.iter().cloned());
    mentioned.extend(iosts.constants.iter().cloned());
    mentioned.extend(the_action.parameters.iter().cloned());
    mentioned.extend(the_action.parameters.iter().cloned());
    let scope = Scope { data: mentioned };
    let mut guard = terms::guard(random, &scope, shape);
    if the_action.kind == ActionKind::Output {
        for parameter in the_action.parameters.clone() {
            if random.chance(60) {
                guard = Term::and([guard, terms::said(random, &scope, shape, &parameter)]);
            }
        }
    }
    let mut assignments = Substitution::new();
    for variable in &iosts.variables {
        if random.chance(35) {
            let value = terms::value(random, &scope, shape, variable);
            if value.as_datum() != Some(variable) {
                assignments.insert(variable.clone(), value);
            }
        }
    }
    let origin = TransitionOrigin::default();
    // A guard that says `false` says nothing.
    let guard = if guard.is_false() { Term::yes() } else { guard };
    Transition { source, action, guard, assignments, target, origin }
}
