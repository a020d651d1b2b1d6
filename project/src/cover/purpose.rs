//! A route as a test purpose that the pipeline takes.
//!
//! A purpose sees events and what it observes, not the specification's location. So it is a chain: a location for each visible step of
//! the route, the step's guard as the guard there (the specification's own, what the goal asks for, and that no other transition takes the event
//! where that is possible), `Accept` behind the last. Whatever else is seen leads to `Reject`: behind it the specification would be somewhere
//! else, and the next guard would be about another place. What completion adds does the same for other values. Internal steps stay where they
//! are, so the chain does not say which of them are taken.
//!
//! What cannot be written in the model format (a literal of an array or a record), or is read back as something else, is no purpose.

use std::collections::BTreeSet;
use std::sync::Arc;

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::System;
use coreach_model::diagnostic::SourceFile;
use coreach_model::iosts::{Aim, Iosts, Location, TestPurpose, Transition, TransitionOrigin};
use coreach_model::reader::{Specification, read_purpose};
use coreach_model::term::Substitution;
use coreach_model::writer::write_purpose_yaml;
use coreach_model::{ActionId, Datum, LocationId, Number, Numbered, Term};

use super::evidence::Route;

/// A purpose with its text.
#[derive(Clone, Debug)]
pub struct Written {
    /// The purpose.
    pub purpose: TestPurpose,
    /// As YAML.
    pub text: String,
}

/// The purpose of this name for a route that ends with a visible step; none where it cannot be written.
pub fn purpose(
    name: &str,
    specification: &Specification,
    system: &System<'_>,
    route: &Route,
    solver: &mut dyn Solver,
) -> Option<Written> {
    let model = &specification.iosts;
    let asked = route.guards(system, solver);
    let mut steps: Vec<(ActionId, Term)> = Vec::new();
    for (number, asked) in route.path.iter().zip(asked) {
        let transition = &model.transitions[*number];
        if model.action(transition.action).is_visible() {
            steps.push((transition.action, Term::and([transition.guard.clone(), asked])));
        }
    }
    let made = chain(name, model, &steps);
    let text = write_purpose_yaml(&made);
    let file = SourceFile { name: format!("{name}.yaml"), text: text.clone() };
    let (read, _) = read_purpose(Arc::new(file), specification).ok()?;
    // What is read has its own origins, and may list its locations in another order.
    (write_purpose_yaml(&read) == text).then_some(Written { purpose: read, text })
}

fn chain(name: &str, model: &Iosts, steps: &[(ActionId, Term)]) -> TestPurpose {
    let mut locations: Numbered<LocationId, Location> = Numbered::new();
    let mut transitions = Numbered::new();
    let steps_of = steps.iter().enumerate().map(|(place, _)| match place {
        0 => "Begin".to_owned(),
        place => format!("Step{place}"),
    });
    let names: Vec<String> = steps_of.chain(["Accept".to_owned(), "Reject".to_owned()]).collect();
    // As they appear in the text: source and target of each transition.
    let mut find = |name: &str| {
        locations
            .first_number(|known: &Location| known.name == name)
            .unwrap_or_else(|| locations.push(Location::named(name)))
    };
    let initial = find(&names[0]);
    for (place, (action, guard)) in steps.iter().enumerate() {
        let source = find(&names[place]);
        let mut add = |action, guard, target| {
            transitions.push(Transition {
                source,
                action,
                guard,
                assignments: Substitution::new(),
                target,
                origin: TransitionOrigin::default(),
            });
        };
        add(*action, guard.clone(), find(&names[place + 1]));
        for other in model.action_ids().filter(|other| other != action && model.action(*other).is_visible()) {
            add(other, Term::yes(), find("Reject"));
        }
    }
    let accept = find("Accept");
    let reject = locations.first_number(|known| known.name == "Reject");
    let mentioned: BTreeSet<Datum> = steps.iter().flat_map(|(_, guard)| guard.data()).collect();
    let all = model.variables.iter().chain(&model.constants);
    let observes: Vec<Datum> = all.filter(|datum| mentioned.contains(datum)).cloned().collect();
    let iosts = Iosts {
        name: name.to_owned(),
        constants: observes.clone(),
        variables: Vec::new(),
        initial_condition: Term::yes(),
        locations,
        initial,
        actions: model.actions.clone(),
        transitions,
        origin: None,
    };
    TestPurpose {
        aim: Aim::Accept,
        iosts,
        of: model.name.clone(),
        observes,
        accept,
        reject,
        idle: Substitution::new(),
    }
}

/// How many visible steps a route has.
pub fn length(iosts: &Iosts, route: &Route) -> usize {
    let is_seen = |number: &&_| iosts.action(iosts.transitions[**number].action).is_visible();
    route.path.iter().filter(is_seen).count()
}

/// The name of the purpose of this number, counted from 0.
pub fn name(place: usize) -> String {
    format!("cover_{:03}", place + 1)
}

/// For orders that do not depend on what was found first.
pub fn key(route: &Route) -> Vec<usize> {
    route.path.iter().map(|number| number.place()).collect()
}
