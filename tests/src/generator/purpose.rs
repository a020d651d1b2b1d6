//! A random purpose: a way to `Accept` along a walk through the specification, and things that disturb it.

use coreach_model::iosts::{Iosts, Location, TestPurpose, Transition, TransitionOrigin};
use coreach_model::term::{Substitution, Term};
use coreach_model::{ActionId, Datum, LocationId};

use super::random::Random;
use super::terms::{self, Scope};
use super::{Accepting, Shape, data};

/// Makes a purpose of the specification.
pub fn purpose(
    random: &mut Random,
    shape: &Shape,
    specification: &Iosts,
    accepting: Accepting,
) -> TestPurpose {
    let types: Vec<_> = specification.variables.iter().map(|variable| variable.ty().clone()).collect();
    let types: Vec<_> = types.into_iter().filter(|ty| !matches!(ty, coreach_model::Type::Array(_))).collect();
    let own = |random: &mut Random, prefix, percent| {
        let count = usize::from(!types.is_empty() && random.chance(percent));
        data::data(random, prefix, count, &types)
    };
    let constants = own(random, "d", shape.purpose_constant);
    let variables = own(random, "w", shape.purpose_variable);
    let observable = specification.variables.iter().chain(&specification.constants);
    let observes: Vec<Datum> = observable.filter(|_| random.chance(45)).cloned().collect();
    let theta: Vec<Term> =
        variables.iter().map(|variable| data::determined(random, variable, &constants)).collect();

    let count = random.between(shape.purpose_locations) as u32;
    let mut locations: Vec<Location> =
        (0..count).map(|number| Location::named(format!("B{number}"))).collect();
    let accept = LocationId(count);
    locations.push(Location::named("Accept"));
    let reject = random.chance(70).then(|| {
        locations.push(Location::named("Reject"));
        LocationId(count + 1)
    });
    let mut iosts = Iosts {
        name: "purpose".to_owned(),
        constants: constants.into_iter().chain(observes.iter().cloned()).collect(),
        variables,
        initial_condition: Term::and(theta),
        locations,
        initial: if accepting == Accepting::AtOnce { accept } else { LocationId(0) },
        actions: specification.actions.clone(),
        transitions: Vec::new(),
        origin: None,
    };
    let walk = walk(random, specification, count as usize);
    for (step, action) in walk.iter().enumerate() {
        let (source, target) = (LocationId(step as u32), LocationId(step as u32 + 1));
        // The walk ends in front of `Accept` where nothing shall lead there.
        let target = if target == accept && accepting == Accepting::Never { source } else { target };
        let mut one = transition(random, shape, &iosts, source, *action, target);
        // The way on is wider than the rest.
        if random.chance(50) {
            one.guard = Term::yes();
        }
        iosts.transitions.push(one);
    }
    for _ in 0..random.between(shape.purpose_transitions) {
        let source = LocationId(random.below(count as usize) as u32);
        let action = ActionId(random.below(iosts.actions.len()) as u32);
        let target = match (reject, random.below(10)) {
            (Some(reject), 0..4) => reject,
            (_, 4) if iosts.action(action).is_visible() && accepting != Accepting::Never => accept,
            (_, 5..8) => source,
            _ => LocationId(random.below(count as usize) as u32),
        };
        let mut one = transition(random, shape, &iosts, source, action, target);
        let others = iosts.transitions.iter().filter(|t| t.source == source && t.action == action);
        if random.chance(92) {
            // Mostly what the others leave; else an overlap, which often nothing resolves.
            let taken = Term::or(others.map(|t| t.guard.clone()));
            one.guard = Term::and([taken.not(), one.guard]);
        }
        if !one.guard.is_false() {
            iosts.transitions.push(one);
        }
    }
    TestPurpose { iosts, of: specification.name.clone(), observes, accept, reject }
}

/// Visible actions in the order in which a path of the specification takes them; anything where the path ends.
fn walk(random: &mut Random, specification: &Iosts, length: usize) -> Vec<ActionId> {
    let outgoing = specification.outgoing();
    let visible: Vec<ActionId> =
        specification.action_ids().filter(|id| specification.action(*id).is_visible()).collect();
    let mut found = Vec::new();
    let mut at = specification.initial;
    let mut skips = 0;
    while found.len() < length {
        match random.pick(&outgoing[at.0 as usize]) {
            Some(number) => {
                let step = &specification.transitions[*number];
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
    iosts: &Iosts,
    source: LocationId,
    action: ActionId,
    target: LocationId,
) -> Transition {
    let mut mentioned = iosts.variables.clone();
    mentioned.extend(iosts.variables.iter().cloned());
    mentioned.extend(iosts.constants.iter().cloned());
    mentioned.extend(iosts.action(action).parameters.iter().cloned());
    let scope = Scope { data: mentioned };
    let guard = terms::guard(random, &scope, shape);
    let guard = if guard.is_false() { Term::yes() } else { guard };
    let mut assignments = Substitution::new();
    for variable in &iosts.variables {
        if random.chance(50) {
            let value = terms::value(random, &scope, shape, variable);
            if value.as_datum() != Some(variable) {
                assignments.insert(variable.clone(), value);
            }
        }
    }
    Transition { source, action, guard, assignments, target, origin: TransitionOrigin::default() }
}
