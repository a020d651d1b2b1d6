//! Mistakes that random traces of a specification show: an input that some possible states take and others
//! refuse, and an output that must come with a value outside of its type.
//!
//! **Problem.** After a trace several states may be possible. An input that one of them takes may be sent,
//! and by ioc only what follows there is allowed (Definition 6.2). An implementation that is in another one
//! may ignore it and fail, the specification itself included. That is rarely what the author meant.
//!
//! **Method.** Random traces are followed, with all states that are possible after each event. The solver is
//! asked for values of an input that one state takes and another one refuses; its answer is evaluated.
//! **Incomplete**: finding nothing is no proof. **Ends** after some traces of some events each.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::check::guards::find_narrow_type;
use coreach_analyses::solver::{Answer, Solver};
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::limits::FEW_SHOWN;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, after, internal_closure, step};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{ActionId, Datum, Diagnostic, LocationId, Term};

use crate::initial;
use crate::lazy::Lazy;
use crate::values::{MIX, Values, at_state};

/// The number of traces that are looked at, and of events in each.
const MOST_LOOKED: usize = 12;
/// The most states to compare, and data to draw values for.
const MOST_STATES: usize = 16;
const MOST_DATA: usize = 100;

/// Warns of inputs that a location refuses while another possible state takes them, and of states in which
/// only an output with a value outside of its type is left.
pub fn find_refused_inputs(iosts: &Iosts) -> Vec<Diagnostic> {
    let mut warnings = BTreeMap::new();
    for seed in 0..MOST_LOOKED as u64 {
        look_along(iosts, seed, &mut warnings);
    }
    warnings.into_values().take(FEW_SHOWN).collect()
}

/// Draws the constants of a trace, and lists the states in which it may begin. `None` if no values are found,
/// or if there are too many data for a hint.
fn begin_trace(
    iosts: &Iosts,
    values: &mut Values,
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Option<BTreeSet<State>> {
    let data: Vec<Datum> = iosts.constants.iter().chain(&iosts.variables).cloned().collect();
    let most_parameters = iosts.actions.iter().map(|action| action.parameters.len()).max();
    if data.len() + most_parameters.unwrap_or_default() > MOST_DATA {
        return None;
    }
    let initial_values = values.choose(&iosts.initial_condition, &data, &Valuation::new(), random, solver)?;
    let constants = data.iter().cloned().zip(initial_values).take(iosts.constants.len()).collect();
    let states = initial::states(iosts, &constants, 1 << 10, solver).ok()?;
    Some(internal_closure(iosts, states.into_iter().collect()))
}

/// Follows one random trace, which ends early if values are not found. Adds to `warnings` the inputs that
/// some possible states refuse, and an output that must come with a value outside of its type.
fn look_along(iosts: &Iosts, seed: u64, warnings: &mut BTreeMap<(LocationId, ActionId), Diagnostic>) {
    let (mut random, mut values, mut solver) = (Random::new(seed), Values::new(MIX), Lazy::default());
    let Some(mut states) = begin_trace(iosts, &mut values, &mut random, &mut solver) else { return };
    let nothing = Valuation::new();
    let mut choose = |condition: &Term, transition: &Transition, state: &Valuation, random: &mut Random| {
        let action = iosts.action(transition.action);
        let chosen = values.choose(condition, &action.parameters, state, random, &mut solver)?;
        Some(Event::new(action.name.clone(), chosen))
    };
    let mut trace: Vec<String> = Vec::new();
    while trace.len() < MOST_LOOKED && states.len() <= MOST_STATES && warnings.len() < FEW_SHOWN {
        if states.len() > 1 {
            warn_of_refusals(iosts, &states, &trace.join(", "), warnings, &mut |condition, transition| {
                choose(condition, transition, &nothing, &mut random)
            });
        }
        // Goes on with a random event.
        let possible: Vec<&State> = states.iter().collect();
        let Some(&state) = random.pick(&possible) else { return };
        let from_here = iosts.transitions.iter().filter(|transition| transition.source == state.location);
        let visible: Vec<&Transition> = from_here.filter(|t| iosts.action(t.action).is_visible()).collect();
        let Some(&transition) = random.pick(&visible) else { return };
        if let Some(event) = choose(&transition.guard, transition, &state.valuation, &mut random) {
            trace.push(event.to_string());
            states = after(iosts, states.clone(), &[event]);
        } else if let Some((action, warning)) = find_narrow_output(iosts, state, &states, &trace.join(", ")) {
            // The shortest message has the shortest trace.
            let shortest = warnings.entry((state.location, action)).or_insert_with(|| warning.clone());
            if warning.message.len() < shortest.message.len() {
                *shortest = warning;
            }
            return;
        } else if random.below(8) == 0 {
            // This draw found no values. Another one may, so the trace goes on seven of eight times.
            return;
        }
    }
}

/// Warns of each input that a possible state takes, and another one refuses even after internal steps.
/// `choose` finds an event of a transition with values that satisfy a condition.
fn warn_of_refusals(
    iosts: &Iosts,
    states: &BTreeSet<State>,
    trace: &str,
    warnings: &mut BTreeMap<(LocationId, ActionId), Diagnostic>,
    choose: &mut dyn FnMut(&Term, &Transition) -> Option<Event>,
) {
    let is_input = |t: &&Transition| iosts.action(t.action).kind == ActionKind::Input;
    // For each state, the inputs of its location, with their guards in this state.
    let mut inputs: BTreeMap<&State, Vec<(&Transition, Term)>> = BTreeMap::new();
    for state in states {
        let from_here = iosts.transitions.iter().filter(|t| t.source == state.location);
        let guard = |t: &Transition| at_state(&t.guard, &iosts.action(t.action).parameters, &state.valuation);
        inputs.insert(state, from_here.filter(is_input).map(|t| (t, guard(t))).collect());
    }
    for refuser in inputs.keys() {
        // The internal steps of a possible state lead to possible states.
        let refusing = internal_closure(iosts, BTreeSet::from([(*refuser).clone()]));
        for (taker, taken) in inputs.iter().filter(|(state, _)| *state != refuser) {
            for (transition, guard) in taken {
                if warnings.contains_key(&(refuser.location, transition.action)) {
                    continue;
                }
                let in_refusing = refusing.iter().filter_map(|state| inputs.get(state)).flatten();
                let of_action = in_refusing.filter(|(t, _)| t.action == transition.action);
                let refusals = of_action.map(|(_, guard)| guard.not());
                let condition = Term::and(refusals.chain([guard.clone()]));
                if !condition.is_false()
                    && let Some(event) = choose(&condition, transition)
                    && !step(iosts, taker, &event).is_empty()
                    && refusing.iter().all(|state| step(iosts, state, &event).is_empty())
                {
                    let warning = make_warning(iosts, transition, (taker, refuser), &event, trace);
                    warnings.insert((refuser.location, transition.action), warning);
                }
            }
        }
    }
}

/// Finds an output that a state demands with a value outside of a parameter's type, while nothing else can
/// happen there. No state but this one is possible.
fn find_narrow_output(
    iosts: &Iosts,
    state: &State,
    possible: &BTreeSet<State>,
    trace: &str,
) -> Option<(ActionId, Diagnostic)> {
    let steps = iosts.transitions.iter().filter(|transition| transition.source == state.location);
    let is_silent = steps.clone().any(|step| iosts.action(step.action).kind != ActionKind::Output);
    if possible.len() > 1 || is_silent {
        return None;
    }
    let guards = steps
        .map(|step| (step, at_state(&step.guard, &iosts.action(step.action).parameters, &state.valuation)));
    let open: Vec<(&Transition, Term)> = guards.filter(|(_, guard)| !guard.is_false()).collect();
    let mut solver = Lazy::default();
    if open.iter().any(|(_, guard)| solver.check(std::slice::from_ref(guard)) != Answer::Unsat) {
        return None;
    }
    open.iter().find_map(|(step, guard)| {
        let (parameter, value, wide) = find_narrow_type(guard, &mut solver)?;
        let (action, place) = (&iosts.action(step.action).name, &iosts.location(step.source).name);
        let trace = if trace.is_empty() { "the empty trace" } else { trace };
        let message = format!(
            "after {trace}, `{place}` has no possible transition: `{action}` would need `{parameter} = {value}`, which \
             its type `{}` does not have",
            parameter.ty()
        );
        let origin = step.origin.guard_or_whole().cloned();
        let warning = Diagnostic::warning("output-outside-type", message).at(origin, "not possible there");
        let help = format!("write the type `{wide}` for `{parameter}` of `{action}`, or correct the guard");
        Some((step.action, warning.help(help)))
    })
}

/// Makes the warning that a state refuses an input which another one takes.
fn make_warning(
    iosts: &Iosts,
    transition: &Transition,
    (taker, refuser): (&State, &State),
    event: &Event,
    trace: &str,
) -> Diagnostic {
    // `Idle with x = 1`: the location, and the data that differ.
    let shown = |state: &State, other: &State| {
        let differ =
            state.valuation.iter().filter(|(datum, value)| other.valuation.get(datum) != Some(*value));
        let data: Vec<String> = differ.map(|(datum, value)| format!("{datum} = {value}")).collect();
        let with = if data.is_empty() { "" } else { " with " };
        format!("`{}{with}{}`", iosts.location(state.location).name, data.join(", "))
    };
    let (taken, refused) = (shown(taker, refuser), shown(refuser, taker));
    let trace = if trace.is_empty() { "the empty trace" } else { trace };
    let message =
        format!("{refused} refuses the input {event}, which {taken} takes: both are possible after {trace}");
    let place = &iosts.location(refuser.location).name;
    Diagnostic::warning("input-refused-by-some", message)
        .at(transition.origin.whole.clone(), "taken here")
        .note("by ioc the input may be sent, and only what follows where it is taken is allowed then")
        .note("a system that ignores it in the other state may fail, even the specification itself")
        .help(format!("say what `{}` does in `{place}`", event.action))
}
