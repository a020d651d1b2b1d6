//! A random specification.

use std::collections::BTreeMap;

use coreach_model::{ActionId, ActionKind, Datum, LocationId, Number, Numbered, TransitionId, Type, Value};

use super::random::Random;
use super::terms::{self, Scope};
use super::{Shape, data};
use crate::brute::value::{IDS, STRINGS};
use crate::source::tree::Sort;
use crate::source::{Model, Step, Tree};

/// Makes a specification: every location lies on some path from the first; internal steps lead forward only.
pub fn specification(random: &mut Random, shape: &Shape) -> Model {
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
    let mut item = random.chance(shape.records).then(|| data::record_type(random));
    if shape.collections > 0 && random.chance(shape.collections) {
        item = Some(data::collection_type(random, shape));
    }
    if let Some(item) = &item {
        variables.push(Datum::new("item", item.clone()));
    }
    let mut actions: Numbered<ActionId, _> = data::actions(random, shape, &types).into();
    // What brings a record or an array as a whole.
    let whole =
        item.into_iter().chain(variables.iter().find(|v| v.name() == "store").map(|v| v.ty().clone()));
    for (number, ty) in whole.enumerate() {
        let visible: Vec<ActionId> = actions.numbers().filter(|at| actions[*at].is_visible()).collect();
        if random.chance(60)
            && let Some(at) = random.pick(&visible)
        {
            let name = format!("whole{number}");
            actions[*at].parameters = vec![Datum::new(name, ty)];
        }
    }
    let mut theta: Vec<Tree> =
        variables.iter().map(|variable| data::determined(random, variable, &constants)).collect();
    if random.chance(30) {
        theta.insert(0, terms::atom(random, &Scope { data: constants.clone() }, shape));
    }
    terms::disturb_initial(random, shape, &constants, &mut theta);
    let count = random.between(shape.locations);
    let mut model = Model {
        name: "machine".to_owned(),
        constants,
        variables,
        condition: Tree::and(theta),
        locations: (0..count).map(|number| format!("L{number}")).collect(),
        initial: LocationId(0),
        actions,
        transitions: Numbered::new(),
    };
    let constants = model.constants.clone();
    model.condition = Tree::and(constants.iter().filter_map(few).chain([model.condition.clone()]));
    for target in (1..count).map(LocationId::of) {
        let source = LocationId::of(random.below(target.place()));
        grow(random, shape, &mut model, source, target);
    }
    for _ in 0..random.between(shape.extra_transitions) {
        let source = LocationId::of(random.below(count));
        let target = LocationId::of(random.below(count));
        grow(random, shape, &mut model, source, target);
    }
    for at in model.transitions.numbers() {
        let parameters = model.action(model.transitions[at].action).parameters.clone();
        let guard = model.transitions[at].guard.clone();
        model.transitions[at].guard = Tree::and(parameters.iter().filter_map(few).chain([guard]));
    }
    model
}

/// That a string or an id is one of those that brute force looks at.
fn few(datum: &Datum) -> Option<Tree> {
    if datum.ty().has_ids() {
        return Some(few_ids(&Tree::datum(datum), datum.ty()));
    }
    let is = |text| Tree::equal(&Tree::datum(datum), &Tree::literal(Value::string(text)));
    (*datum.ty() == Type::String).then(|| Tree::or(STRINGS.map(is)))
}

/// The same of the ids in a record.
fn few_ids(tree: &Tree, ty: &Type) -> Tree {
    match ty {
        Type::Id(name) => Tree::or(IDS.map(|text| Tree::equal(tree, &Tree::literal(Value::id(name, text))))),
        Type::Record(of) => {
            let fields = of.fields.iter().enumerate();
            Tree::and(fields.map(|(at, (_, ty))| few_ids(&Tree::field(tree, at), ty)).collect::<Vec<_>>())
        }
        _ => Tree::yes(),
    }
}

/// Adds a transition, and perhaps a companion of the same action.
fn grow(random: &mut Random, shape: &Shape, model: &mut Model, source: LocationId, target: LocationId) {
    let internals: Vec<ActionId> = of_kind(model, |kind| kind == ActionKind::Internal);
    let forward = source < target;
    let action = match random.pick(&internals) {
        Some(internal) if forward && random.chance(shape.internal_steps) => *internal,
        _ => visible(random, model),
    };
    let mut first = transition(random, shape, model, source, action, target);
    if random.chance(shape.exclusive) {
        let others = model.transitions.iter().filter(|t| t.source == source && t.action == action);
        let rest = Tree::and([Tree::or(others.map(|t| t.guard.clone())).not(), first.guard.clone()]);
        // Something must lead to every location.
        if !rest.is_false() {
            first.guard = rest;
        }
    }
    model.transitions.push(first.clone());
    if !random.chance(shape.companions) {
        return;
    }
    // An internal companion must lead forward too.
    let low = if model.action(action).is_visible() { 0 } else { source.place() + 1 };
    let other = LocationId::of(random.between((low, model.locations.len() - 1)));
    let mut second = transition(random, shape, model, source, action, other);
    match random.below(8) {
        // What the first does not take.
        0..4 => {
            second.guard = first.guard.not();
            if !second.guard.is_false() {
                model.transitions.push(second);
            }
        }
        // Wider or narrower than the first: they overlap.
        4 => {
            second.guard = Tree::or([first.guard.clone(), second.guard]);
            model.transitions.push(second);
        }
        // Anything.
        5 => {
            model.transitions.push(second);
        }
        _ => choice(random, shape, model, &first),
    }
}

/// A second way by the same action into a location of its own, which a later event, the next or the one after
/// it, tells apart from the first.
fn choice(random: &mut Random, shape: &Shape, model: &mut Model, first: &Step) {
    let fresh = |model: &mut Model| {
        let number = model.locations.len();
        model.locations.push(format!("L{number}"))
    };
    if !model.action(first.action).is_visible() {
        return;
    }
    // The first way is led to a location of its own as well: what follows there is known.
    let (here, there) = (fresh(model), fresh(model));
    let at = TransitionId::of(model.transitions.len() - 1);
    model.transitions[at].target = here;
    let mut second = transition(random, shape, model, first.source, first.action, there);
    if random.chance(60) {
        second.guard = first.guard.clone();
    }
    // One side keeps a parameter that only a later guard asks for: it has to be remembered over the common
    // events, also over one of the same action.
    let kept = parameter_to_keep(random, model, first.action);
    if let Some((variable, parameter)) = &kept {
        model.transitions[at].assignments.insert(variable.clone(), Tree::datum(parameter));
    }
    model.transitions.push(second);
    let (mut one, mut other) = (here, there);
    for _ in 0..random.below(3) {
        // A common event, with effects and guards of each side's own.
        let action = if random.chance(50) { first.action } else { visible(random, model) };
        let (next_one, next_other) = (fresh(model), fresh(model));
        let steps = [
            transition(random, shape, model, one, action, next_one),
            transition(random, shape, model, other, action, next_other),
        ];
        model.transitions.extend(steps);
        (one, other) = (next_one, next_other);
    }
    let (a, b) = (visible(random, model), visible(random, model));
    let back = LocationId::of(random.below(3.min(model.locations.len())));
    let mut left = transition(random, shape, model, one, a, first.target);
    if let Some((variable, _)) = &kept
        && !matches!(variable.ty(), Type::Array(_) | Type::Record(_))
        && let Some(value) = Value::enumerate(variable.ty(), 64).and_then(|all| random.pick(&all).cloned())
        && random.chance(80)
    {
        left.guard = Tree::equal(&Tree::datum(variable), &Tree::literal(value));
    }
    let mut right = transition(random, shape, model, other, b, back);
    if a == b {
        right.guard = left.guard.not();
    }
    model.transitions.push(left);
    if !right.guard.is_false() {
        model.transitions.push(right);
    }
}

/// A variable and a parameter of the action that it can be assigned.
fn parameter_to_keep(random: &mut Random, model: &Model, action: ActionId) -> Option<(Datum, Datum)> {
    let parameters = model.action(action).parameters.clone();
    let parameter = random.pick(&parameters)?.clone();
    let fitting: Vec<Datum> = model
        .variables
        .iter()
        .filter(|variable| Sort::of(variable.ty()) == Sort::of(parameter.ty()))
        .cloned()
        .collect();
    Some((random.pick(&fitting)?.clone(), parameter))
}

fn of_kind(model: &Model, wanted: impl Fn(ActionKind) -> bool) -> Vec<ActionId> {
    model.actions_of(wanted)
}

/// A visible action: what there is already is used again.
fn visible(random: &mut Random, model: &Model) -> ActionId {
    let all = of_kind(model, |kind| kind != ActionKind::Internal);
    random.pick(&all).copied().unwrap_or(ActionId(0))
}

fn transition(
    random: &mut Random,
    shape: &Shape,
    model: &Model,
    source: LocationId,
    action: ActionId,
    target: LocationId,
) -> Step {
    let the_action = model.action(action);
    // Variables count twice, so that what was assigned is asked for.
    let mut mentioned = model.variables.clone();
    mentioned.extend(model.variables.iter().cloned());
    mentioned.extend(model.constants.iter().cloned());
    mentioned.extend(the_action.parameters.iter().cloned());
    mentioned.extend(the_action.parameters.iter().cloned());
    let scope = Scope { data: mentioned };
    let mut guard = terms::guard(random, &scope, shape);
    if the_action.kind == ActionKind::Output {
        for parameter in the_action.parameters.clone() {
            if random.chance(60) {
                guard = Tree::and([guard, terms::said(random, &scope, shape, &parameter)]);
            }
        }
    }
    let mut assignments = BTreeMap::new();
    for variable in &model.variables {
        if random.chance(35) {
            let value = terms::value(random, &scope, shape, variable);
            if value.as_datum() != Some(variable) {
                assignments.insert(variable.clone(), value);
            }
        }
    }
    // A guard that says `false` says nothing.
    let guard = if guard.is_false() { Tree::yes() } else { guard };
    Step { source, action, guard, assignments, target }
}
