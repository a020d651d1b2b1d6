//! The delayed form: an IOSTS that says what a timed model says, with time as data.
//!
//! **Problem.** Stages, analyses, symbolic execution and judges know nothing of time, and all of them know
//! data.
//!
//! **Method.** Each visible action gets one more parameter, the first: the *delay*, which is the time since
//! the visible event before it (for the first event, since the beginning). Clocks become variables that hold
//! the value that they showed at the last visible event. At the next event a clock shows that value plus the
//! delay. Guards and assigned values read this sum. After the event the variable holds the sum, or 0 if the
//! clock is reset. A guard also asks that the delay is not negative. This is Definition 2 of the publication
//! of 2024, where a delay is a fresh symbol of a symbolic step that all transitions of a state share: here it
//! is the parameter.
//!
//! **Internal actions** carry no parameter, so they happen at the time of the event before them. This loses
//! nothing for a transition that reads no clock and resets none: taken later instead, it leads to the same
//! state. Other internal transitions take time that nobody sees. Readers that expect internal steps without
//! parameters have no such form of them, and [`delayed`] names these transitions. In [`delayed_with_unseen`]
//! each of them has a delay of its own: the time since the step before it, which nobody knows.
//!
//! **Why it is the same.** A run of one form is a run of the other with the same events at the same instants.
//! The tests compare this with a semantics that has clocks that run.
//!
//! **Cost**: one substitution for each transition.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::data::Datum;
use crate::iosts::{Action, ActionId, ActionKind, Iosts, TestPurpose, Transition, TransitionId};
use crate::term::node::Comparison;
use crate::term::{Substitution, Term, substitute};
use crate::timed::{Clocks, Timed, TimedPurpose};
use crate::types::Type;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delayed {
    /// The IOSTS. Its variables are the model's, then the clocks; its transitions are the model's, under the
    /// same numbers.
    pub iosts: Iosts,
    /// The first parameter of each visible action, and of an internal one that takes time: the time since the
    /// step before it that had one, in the model's unit.
    pub delay: Datum,
    /// The clocks: what they showed at the last visible event.
    pub clocks: Vec<Datum>,
    /// The inputs that the tester sees and does not send.
    pub uncontrollable: BTreeSet<ActionId>,
}

/// Makes the delayed form.
///
/// # Errors
/// Returns the internal transitions that take time which nobody sees, if there are any.
pub fn delayed(timed: &Timed) -> Result<Delayed, Vec<TransitionId>> {
    let unseen_delays = unseen_delays(timed);
    if unseen_delays.is_empty() { Ok(delayed_with_unseen(timed)) } else { Err(unseen_delays) }
}

/// Finds the internal transitions that take time which nobody sees: they mention or reset a clock.
pub fn unseen_delays(timed: &Timed) -> Vec<TransitionId> {
    let graph = &timed.graph;
    let mentions_clock = |term: &Term| timed.clocks().iter().any(|clock| term.mentions(clock));
    let takes_time = |(number, transition): &(TransitionId, &Transition)| {
        graph.action(transition.action).kind == ActionKind::Internal
            && (!timed.resets(*number).is_empty() || transition.terms().any(mentions_clock))
    };
    graph.transitions.numbered().filter(takes_time).map(|(number, _)| number).collect()
}

/// Makes the delayed form in which internal actions that take time have a parameter too. It is the delay
/// since the step before, whether that was seen or not.
pub fn delayed_with_unseen(timed: &Timed) -> Delayed {
    let mut graph = timed.graph.clone();
    let delay = Datum::new(free_name(&graph, timed.clocks()), Type::Real);
    // For an internal action, the new one that has the delay as a parameter.
    let mut with_delay_parameter: BTreeMap<ActionId, ActionId> = BTreeMap::new();
    for number in unseen_delays(timed) {
        let old_action = graph.transitions[number].action;
        // Only this transition gets the new action: another transition of the same action may take no time.
        graph.transitions[number].action = *with_delay_parameter.entry(old_action).or_insert_with(|| {
            let name = format!("{} after {delay}", graph.action(old_action).name);
            graph.actions.push(Action { name, kind: ActionKind::Internal, parameters: vec![delay.clone()] })
        });
    }
    let iosts = with_delay(&graph, &timed.clocks, timed.clocks(), &delay);
    Delayed { iosts, delay, clocks: timed.clocks().to_vec(), uncontrollable: timed.uncontrollable.clone() }
}

impl Delayed {
    /// Makes the delayed form of a purpose of this specification.
    pub fn purpose(&self, purpose: &TimedPurpose) -> TestPurpose {
        let graph = &purpose.graph;
        let running: Vec<Datum> = purpose.clocks().iter().chain(&self.clocks).cloned().collect();
        let iosts = with_delay(&graph.iosts, &purpose.clocks, &running, &self.delay);
        TestPurpose { iosts, idle: advance(purpose.clocks(), &self.delay), ..graph.clone() }
    }

    /// Is it an input that the tester sends?
    pub fn is_controllable(&self, action: ActionId) -> bool {
        self.iosts.action(action).kind == ActionKind::Input && !self.uncontrollable.contains(&action)
    }
}

/// Each clock plus the delay.
fn advance(clocks: &[Datum], delay: &Datum) -> Substitution {
    let sum = |clock: &Datum| Term::add(&Term::datum(clock), &Term::datum(delay));
    clocks.iter().map(|clock| (clock.clone(), sum(clock))).collect()
}

/// Chooses `delay`, or the first of `delay_2`, `delay_3`, ... that is not a name in the model.
fn free_name(graph: &Iosts, clocks: &[Datum]) -> String {
    let parameters = graph.actions.iter().flat_map(|action| &action.parameters);
    let data = graph.variables.iter().chain(&graph.constants).chain(clocks).chain(parameters);
    let mut used: HashSet<&str> = HashSet::new();
    for datum in data {
        used.insert(datum.name());
        if let Type::Enum(enumeration) = datum.ty() {
            used.extend(enumeration.literals.iter().map(String::as_str));
        }
    }
    used.extend(graph.actions.iter().map(|action| action.name.as_str()));
    used.extend(graph.locations.iter().map(|location| location.name.as_str()));
    let (mut name, mut number) = ("delay".to_owned(), 1);
    while used.contains(name.as_str()) {
        number += 1;
        name = format!("delay_{number}");
    }
    name
}

/// Turns the graph's own clocks into variables and adds the delay to its visible actions. `running` are all
/// clocks that its guards may read.
fn with_delay(graph: &Iosts, own: &Clocks, running: &[Datum], delay: &Datum) -> Iosts {
    let zero = Term::int(0).to_real();
    let shown_now = advance(running, delay);
    let mut iosts = graph.clone();
    for action in iosts.actions.iter_mut().filter(|action| action.is_visible()) {
        action.parameters.insert(0, delay.clone());
    }
    iosts.variables.extend(own.clocks.iter().cloned());
    let at_zero = own.clocks.iter().map(|clock| Term::equal(&Term::datum(clock), &zero));
    iosts.initial_condition = Term::and(std::iter::once(graph.initial_condition.clone()).chain(at_zero));
    for (transition, resets) in iosts.transitions.iter_mut().zip(&own.resets) {
        // An internal action without this parameter takes no time.
        if iosts.actions[transition.action].parameters.first() != Some(delay) {
            continue;
        }
        let not_negative = Term::compare(Comparison::AtLeast, &Term::datum(delay), &zero);
        transition.guard = Term::and([not_negative, substitute(&transition.guard, &shown_now)]);
        for value in transition.assignments.values_mut() {
            *value = substitute(value, &shown_now);
        }
        for clock in &own.clocks {
            let value = if resets.contains(clock) { zero.clone() } else { shown_now[clock].clone() };
            transition.assignments.insert(clock.clone(), value);
        }
    }
    iosts
}
