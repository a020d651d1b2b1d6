//! A route as a test purpose that the pipeline takes.
//!
//! A purpose sees events and what it observes, not the specification's location. So it is a chain: a location
//! for each visible step of the route, the step's guard as the guard there (the specification's own, what the
//! goal asks for, and that no other transition takes the event where that is possible), `Accept` behind the
//! last. Whatever else is seen leads to `Reject`: behind it the specification would be somewhere else, and
//! the next guard would be about another place. What completion adds does the same for other values. Internal
//! steps stay where they are, so the chain does not say which of them are taken. For ioco silence is a step
//! as well; before another one it stays where the specification is quiescent, for it changes nothing there,
//! and leads to `Reject` where it is not.
//!
//! Steps that are only watched ([`super::observe`]) come behind all that the purpose is for. There `Accept`
//! takes the place of `Reject` for whatever the system sends, and for its silence where the route waits.
//! Where nothing of them can follow an event, that event leads to `Accept` as well.
//!
//! What cannot be written in the model format (a literal of an array or a record), or is read back as
//! something else, is no purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::existence::eliminate_bound;
use coreach_analyses::symbolic::{SymbolicState, System};
use coreach_model::diagnostic::SourceFile;
use coreach_model::iosts::{
    Action, ActionKind, Aim, Iosts, Location, QUIESCENCE, TestPurpose, Transition, TransitionOrigin,
};
use coreach_model::reader::{Specification, read_purpose};
use coreach_model::term::{Substitution, substitute};
use coreach_model::writer::write_purpose_yaml;
use coreach_model::{ActionId, Datum, LocationId, Number, Numbered, Term};

use super::evidence::{Explanations, Route};

#[derive(Clone, Debug)]
pub struct Written {
    pub purpose: TestPurpose,
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
    let goes_on = goes_on(system, route, &asked, solver);
    let searched = system.iosts;
    let mut steps: Vec<PurposeStep> = Vec::new();
    for (place, (number, (asked, goes_on))) in
        route.path.iter().zip(asked.into_iter().zip(goes_on)).enumerate()
    {
        let transition = &searched.transitions[*number];
        let action = match searched.action(transition.action).kind {
            ActionKind::Internal => continue,
            ActionKind::Quiescence if model.find_action(QUIESCENCE).is_some() => return None,
            ActionKind::Quiescence => None,
            ActionKind::Input | ActionKind::Output => Some(transition.action),
        };
        // Before it, silence is nothing else where the specification is quiescent.
        let is_quiet = |other: &&Transition| {
            other.source == transition.source && searched.action(other.action).kind == ActionKind::Quiescence
        };
        let quiet = searched.transitions.iter().find(is_quiet).map(|other| other.guard.clone());
        let promised = route.promised().len();
        let guard = Term::and([transition.guard.clone(), asked]);
        let on = Term::and([guard.clone(), goes_on]);
        // Behind the last step that is promised nothing more is needed. A stimulus is not chosen for that
        // where another value of it goes on.
        let ends = if place + 1 != promised || on == guard {
            Term::no()
        } else if searched.action(transition.action).kind == ActionKind::Input {
            let parameters = &searched.action(transition.action).parameters;
            let some = Term::and([system.enabled(*number).clone(), on.clone()]);
            let some = eliminate_bound(parameters, &some, solver);
            some.map_or_else(Term::no, |some| Term::and([guard, some.not()]))
        } else {
            Term::and([guard, on.not()])
        };
        steps.push(PurposeStep { action, guard: on, ends, quiet, is_watched: place >= promised });
    }
    let is_suspended = searched.actions.iter().any(|action| action.kind == ActionKind::Quiescence);
    let made = chain(name, model, &steps, is_suspended && model.find_action(QUIESCENCE).is_none());
    let text = write_purpose_yaml(&made);
    let file = SourceFile { name: format!("{name}.yaml"), text: text.clone() };
    let (read, _) = read_purpose(Arc::new(file), specification).ok()?;
    // What is read has its own origins, and may list its locations in another order.
    (write_purpose_yaml(&read) == text).then_some(Written { purpose: read, text })
}

struct PurposeStep {
    /// Its action; `None` is quiescence.
    action: Option<ActionId>,
    guard: Term,
    /// When nothing more is needed behind it.
    ends: Term,
    /// When the specification is quiescent in the location that it leaves, where it ever is.
    quiet: Option<Term>,
    /// Will another answer do?
    is_watched: bool,
}

/// For each step, when something that is accepted can follow it, where that is in doubt: behind what is
/// promised, and not said by the path.
fn goes_on(system: &System<'_>, route: &Route, asked: &[Term], solver: &mut dyn Solver) -> Vec<Term> {
    let may_go_on = route.may_go_on(system, solver);
    let mut found = vec![Term::yes(); route.path.len()];
    if may_go_on.iter().all(Term::is_true) {
        return found;
    }
    let is_one = Explanations::of(system, route, solver).is_one(route);
    let mut state = SymbolicState::initial(system.iosts);
    let begin = route.promised().len();
    for (place, number) in route.path.iter().enumerate() {
        let Some((_, next)) = system.successor(&state, *number) else { break };
        state = next;
        let Some(behind) = (place + 1).checked_sub(begin).and_then(|at| may_go_on.get(at)) else { continue };
        let on = substitute(behind, &system.iosts.transitions[*number].assignments);
        // Of another path only the step's own guard is known.
        let stops = if is_one {
            let stops = substitute(behind, &state.standing(&state.known)).not();
            [state.condition.as_slice(), &[stops]].concat()
        } else {
            vec![system.enabled(*number).clone(), asked[place].clone(), on.not()]
        };
        if solver.check(&stops) != Answer::Unsat {
            found[place] = on;
        }
    }
    found
}

/// `is_quiet`: does it speak of quiescence?
fn chain(name: &str, model: &Iosts, steps: &[PurposeStep], is_quiet: bool) -> TestPurpose {
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
    let quiescence = model.actions.next_number();
    for (place, PurposeStep { action, guard, ends, quiet, is_watched }) in steps.iter().enumerate() {
        let source = find(&names[place]);
        let next = &names[place + 1];
        let is_input = action.is_some_and(|action| model.action(action).kind == ActionKind::Input);
        // With all answers accepted, whatever the guard says.
        let is_any = *is_watched && !is_input && next == "Accept";
        let otherwise = |action: Option<ActionId>| {
            let is_answer = action.is_none_or(|action| model.action(action).kind == ActionKind::Output);
            if *is_watched && is_answer { "Accept" } else { "Reject" }
        };
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
        let guard = if is_any { Term::yes() } else { guard.clone() };
        add(action.unwrap_or(quiescence), guard.clone(), find(next));
        if !ends.is_false() {
            add(action.unwrap_or(quiescence), ends.clone(), find("Accept"));
        }
        // Other values of an event that is promised: what completion adds leads to `Reject`.
        if otherwise(*action) == "Accept" && !guard.is_true() {
            add(action.unwrap_or(quiescence), guard.not(), find("Accept"));
        }
        let visible = model.action_ids().filter(|other| model.action(*other).is_visible());
        for other in visible.filter(|other| Some(*other) != *action) {
            add(other, Term::yes(), find(otherwise(Some(other))));
        }
        match quiet {
            _ if !is_quiet || action.is_none() => {}
            Some(quiet) if is_input || !is_watched => {
                add(quiescence, quiet.clone(), source);
                if *is_watched {
                    add(quiescence, quiet.not(), find("Accept"));
                }
            }
            _ => add(quiescence, Term::yes(), find(otherwise(None))),
        }
    }
    let accept = find("Accept");
    let reject = locations.first_number(|known| known.name == "Reject");
    let guards = transitions.iter().map(|transition: &Transition| &transition.guard);
    let mentioned: BTreeSet<Datum> = guards.flat_map(Term::data).collect();
    let mut actions = model.actions.clone();
    if is_quiet {
        let kind = ActionKind::Quiescence;
        actions.push(Action { name: QUIESCENCE.to_owned(), kind, parameters: Vec::new() });
    }
    let all = model.variables.iter().chain(&model.constants);
    let observes: Vec<Datum> = all.filter(|datum| mentioned.contains(datum)).cloned().collect();
    let iosts = Iosts {
        name: name.to_owned(),
        constants: observes.clone(),
        variables: Vec::new(),
        initial_condition: Term::yes(),
        locations,
        initial,
        actions,
        transitions,
        origin: None,
    };
    TestPurpose {
        aim: Aim::Accept,
        iosts,
        of: model.name.clone(),
        observes,
        functions: BTreeSet::new(),
        accept,
        reject,
        idle: Substitution::new(),
        with: BTreeMap::new(),
    }
}

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
