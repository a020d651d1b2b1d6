//! Writes a route as a test purpose that the pipeline takes.
//!
//! A purpose sees events and the data that it observes, not the specification's location. So it is a chain
//! with a location for each visible step of the route, and `Accept` after the last one. The guard of a step
//! joins the specification's own guard, the route's condition, and the condition that no other transition
//! takes the event, where that is possible. Any other event leads to `Reject`: after it the specification
//! would be in another location, and the next guard would be wrong. Completion sends other values of the
//! event to `Reject`. Internal steps leave the purpose in its location, so the chain does not say which of
//! them are taken. For ioco silence is a step as well. Silence before another step changes nothing where the
//! specification is quiescent, so the purpose stays. Where it is not quiescent, silence leads to `Reject`.
//!
//! Watched steps ([`super::observe`]) come after all promised steps. There any other output leads to `Accept`
//! instead of `Reject`, and so does silence if the route waits. So does an event with no watched step after
//! it.
//!
//! A route has no purpose if the model format cannot express it (a literal of an array or a record), or if it
//! is read back otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::existence::eliminate_bound;
use coreach_analyses::symbolic::{SymbolicState, System};
use coreach_model::diagnostic::SourceFile;
use coreach_model::iosts::{Action, ActionKind, Aim, Iosts, Location, QUIESCENCE, TestPurpose, Transition};
use coreach_model::reader::{Specification, read_purpose};
use coreach_model::term::{Substitution, substitute};
use coreach_model::writer::write_purpose_yaml;
use coreach_model::{ActionId, Datum, LocationId, Number, Numbered, Term};
use coreach_pipeline::artifact::added_transition;

use super::evidence::{Explanations, Route};

#[derive(Clone, Debug)]
pub struct WrittenPurpose {
    pub purpose: TestPurpose,
    pub text: String,
}

/// Writes the purpose of this name for a route that ends with a visible step, if possible.
pub fn write_purpose(
    name: &str,
    specification: &Specification,
    system: &System<'_>,
    route: &Route,
    solver: &mut dyn Solver,
) -> Option<WrittenPurpose> {
    let model = &specification.iosts;
    let asked = route.guards(system, solver);
    let goes_on = next_conditions(system, route, &asked, solver);
    let (searched, promised) = (system.iosts, route.promised().len());
    let mut steps: Vec<PurposeStep> = Vec::new();
    let conditions = asked.into_iter().zip(goes_on);
    for (position, (number, (asked, goes_on))) in route.path.iter().zip(conditions).enumerate() {
        let transition = &searched.transitions[*number];
        let kind = searched.action(transition.action).kind;
        let action = match kind {
            ActionKind::Internal => continue,
            ActionKind::Quiescence if model.find_action(QUIESCENCE).is_some() => return None,
            ActionKind::Quiescence => None,
            ActionKind::Input | ActionKind::Output => Some(transition.action),
        };
        // The condition under which the specification is quiescent before the step.
        let is_quiet = |other: &&Transition| {
            other.source == transition.source && searched.action(other.action).kind == ActionKind::Quiescence
        };
        let quiet = searched.transitions.iter().find(is_quiet).map(|other| other.guard.clone());
        let is_watched = position >= promised;
        // A watched answer that this transition cannot take has another explanation. It must not go on here,
        // also if only a value that is assigned excludes it.
        let enabled = system.enabled(*number);
        let may_be_another = is_watched
            && kind == ActionKind::Output
            && solver.check(&[transition.guard.clone(), enabled.not()]) != Answer::Unsat;
        let own = if may_be_another { enabled } else { &transition.guard };
        let guard = Term::and([own.clone(), asked]);
        let guard_to_next = Term::and([guard.clone(), goes_on]);
        // After the last promised step the purpose may end, if no watched step can follow. A stimulus ends it
        // only if no other value of the stimulus goes on.
        let ends = if position + 1 != promised || guard_to_next == guard {
            Term::no()
        } else if kind == ActionKind::Input {
            let parameters = &searched.action(transition.action).parameters;
            let value_goes_on = Term::and([enabled.clone(), guard_to_next.clone()]);
            let some_value_goes_on = eliminate_bound(parameters, &value_goes_on, solver);
            some_value_goes_on.map_or_else(Term::no, |goes_on| Term::and([guard, goes_on.not()]))
        } else {
            Term::and([guard, guard_to_next.not()])
        };
        steps.push(PurposeStep { action, guard: guard_to_next, ends, quiet, is_watched });
    }
    let is_suspended = searched.actions.iter().any(|action| action.kind == ActionKind::Quiescence);
    let has_quiescence = is_suspended && model.find_action(QUIESCENCE).is_none();
    let text = write_purpose_yaml(&make_chain(name, model, &steps, has_quiescence));
    let file = SourceFile { name: format!("{name}.yaml"), text: text.clone() };
    let (read, _) = read_purpose(Arc::new(file), specification).ok()?;
    // The texts are compared, since the read purpose has other origins and another order of locations.
    (write_purpose_yaml(&read) == text).then_some(WrittenPurpose { purpose: read, text })
}

struct PurposeStep {
    /// The action. `None` is quiescence.
    action: Option<ActionId>,
    guard: Term,
    /// The condition under which the purpose ends with this step.
    ends: Term,
    /// The condition under which the specification is quiescent before the step. `None`, if it never is.
    quiet: Option<Term>,
    /// Is another answer accepted as well?
    is_watched: bool,
}

/// Returns for each step the condition under which an accepted event can follow it. It is true before the end
/// of the promised steps, and where the path implies it.
fn next_conditions(system: &System<'_>, route: &Route, asked: &[Term], solver: &mut dyn Solver) -> Vec<Term> {
    let may_go_on = route.may_go_on(system, solver);
    let mut found = vec![Term::yes(); route.path.len()];
    if may_go_on.iter().all(Term::is_true) {
        return found;
    }
    let is_only_path = Explanations::of(system, route, solver).is_only_path(route);
    let mut state = SymbolicState::initial(system.iosts);
    // `may_go_on` has a member for each step after the promised ones.
    let promised_steps = route.promised().len();
    for (place, number) in route.path.iter().enumerate() {
        // Without a successor, no later condition is known.
        let Some((_, next)) = system.successor(&state, *number) else { break };
        state = next;
        let next_watched = (place + 1).checked_sub(promised_steps);
        let Some(after) = next_watched.and_then(|watched| may_go_on.get(watched)) else { continue };
        let goes_on = substitute(after, &system.iosts.transitions[*number].assignments);
        // The run may stop here. If other paths explain the run, only the step's own guard is known to hold.
        let may_stop = if is_only_path {
            let goes_on_here = substitute(after, &state.data_terms());
            [state.condition.as_slice(), &[goes_on_here.not()]].concat()
        } else {
            vec![system.enabled(*number).clone(), asked[place].clone(), goes_on.not()]
        };
        if solver.check(&may_stop) != Answer::Unsat {
            found[place] = goes_on;
        }
    }
    found
}

/// Makes the chain of the steps as a purpose. With `has_quiescence` it has transitions of quiescence.
fn make_chain(name: &str, model: &Iosts, steps: &[PurposeStep], has_quiescence: bool) -> TestPurpose {
    let mut locations: Numbered<LocationId, Location> = Numbered::new();
    let mut transitions = Numbered::new();
    let step_names = (0..steps.len()).map(|position| match position {
        0 => "Begin".to_owned(),
        position => format!("Step{position}"),
    });
    let names: Vec<String> = step_names.chain(["Accept".to_owned(), "Reject".to_owned()]).collect();
    // Locations get their numbers in the order of the text: source and target of each transition.
    let mut location_of = |name: &str| {
        locations
            .first_number(|known: &Location| known.name == name)
            .unwrap_or_else(|| locations.push(Location::named(name)))
    };
    let initial = location_of(&names[0]);
    // The action of quiescence, which is added to the others below.
    let quiescence = model.actions.next_number();
    for (position, PurposeStep { action, guard, ends, quiet, is_watched }) in steps.iter().enumerate() {
        let source = location_of(&names[position]);
        let next = &names[position + 1];
        let is_input = action.is_some_and(|action| model.action(action).kind == ActionKind::Input);
        // At the last watched step all answers are accepted, so its guard does not matter.
        let accepts_all = *is_watched && !is_input && next == "Accept";
        let target_otherwise = |action: Option<ActionId>| {
            let is_answer = action.is_none_or(|action| model.action(action).kind == ActionKind::Output);
            if *is_watched && is_answer { "Accept" } else { "Reject" }
        };
        let mut add = |action, guard, target| {
            transitions.push(added_transition(source, action, guard, target));
        };
        let guard = if accepts_all { Term::yes() } else { guard.clone() };
        add(action.unwrap_or(quiescence), guard.clone(), location_of(next));
        if !ends.is_false() {
            add(action.unwrap_or(quiescence), ends.clone(), location_of("Accept"));
        }
        // Completion sends other values to `Reject`. At a watched step they are accepted instead.
        if target_otherwise(*action) == "Accept" && !guard.is_true() {
            add(action.unwrap_or(quiescence), guard.not(), location_of("Accept"));
        }
        let visible = model.action_ids().filter(|other| model.action(*other).is_visible());
        for other in visible.filter(|other| Some(*other) != *action) {
            add(other, Term::yes(), location_of(target_otherwise(Some(other))));
        }
        // Where the specification is quiescent, silence before the step changes nothing. Only before a
        // watched answer it is another answer.
        match quiet {
            _ if !has_quiescence || action.is_none() => {}
            Some(quiet) if is_input || !is_watched => {
                add(quiescence, quiet.clone(), source);
                if *is_watched {
                    add(quiescence, quiet.not(), location_of("Accept"));
                }
            }
            _ => add(quiescence, Term::yes(), location_of(target_otherwise(None))),
        }
    }
    let accept = location_of("Accept");
    let reject = locations.first_number(|known| known.name == "Reject");
    let guards = transitions.iter().map(|transition: &Transition| &transition.guard);
    let mentioned: BTreeSet<Datum> = guards.flat_map(Term::data).collect();
    let mut actions = model.actions.clone();
    if has_quiescence {
        let kind = ActionKind::Quiescence;
        actions.push(Action { name: QUIESCENCE.to_owned(), kind, parameters: Vec::new() });
    }
    let data = model.variables.iter().chain(&model.constants);
    let observes: Vec<Datum> = data.filter(|datum| mentioned.contains(datum)).cloned().collect();
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

pub fn count_visible(iosts: &Iosts, route: &Route) -> usize {
    route.path.iter().filter(|number| iosts.action_of(**number).is_visible()).count()
}

pub fn name_purpose(place: usize) -> String {
    format!("cover_{:03}", place + 1)
}

/// Returns the numbers of a route's transitions, by which routes of one length are ordered.
pub fn order_key(route: &Route) -> Vec<usize> {
    route.path.iter().map(|number| number.place()).collect()
}
