//! Makes a test case of a path of a timed model.
//!
//! **Problem.** A tester wants to see one way through a timed model: these stimuli, these outputs, in time.
//! It sends only what keeps the rest of the path possible. For everything that it sees, it decides whether it
//! is the path's next event, another event that the model allows, or none of these.
//!
//! **Source.** Bannour, Lapitre, Le Gall, Nguyen, *Path-guided timed test cases* (2024), Definitions 5 and 6,
//! the ten rules. The work is done on the delayed form ([`coreach_model::timed::delayed`]): an event's delay
//! is its first parameter, and clocks are variables. So the result is a test case like others. `delta`,
//! silence, is one of its actions, with the delay as its parameter.
//!
//! **Where we differ**, besides the corrections in [`rules`]:
//!
//! - Conditions do not repeat what the path has established ([`coreach_analyses::timed`]), and use registers
//!   that have the names of the model's variables. So neither the work for each step nor its result grows
//!   with the path. Equal contexts are treated once.
//! - The model's constants are constants of the test case. Unknown (F_ini) are the first values of variables
//!   that the initial condition leaves open.
//! - If one event may take two transitions beside the path, they lead to one verdict, and the first takes it.
//!
//! [`path_guided`] does everything; [`resolve`] finds the path by names; [`stop`] says why there is no test
//! case; [`witness`] shows a trace that two transitions share; `assemble` makes the IOSTS.

mod assemble;
pub mod names;
pub mod rules;
pub mod stop;
pub mod witness;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::System;
use coreach_analyses::timed::{PathContext, Registers, future, needed_variables};
use coreach_model::iosts::ActionKind;
use coreach_model::term::Substitution;
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::{Delayed, delayed_with_unseen};
use coreach_model::{ActionId, Datum, LocationId, Term, TransitionId, Value, budget};
use dashu_ratio::RBig;

pub use crate::path_guided::{MadeBy, PathGuided};
pub use assemble::context_name;
pub use names::resolve;
pub use rules::{Ends, LeadsTo, Rule, RuleCounts};
pub use stop::PathStop;

/// After how long silence is a fact (TM).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SilenceAfter {
    Time(RBig),
    /// A constant of the test case, greater than 0.
    Constant,
}

/// The options for a path-guided test case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimedOptions {
    /// After how long silence is a fact.
    pub silence_after: SilenceAfter,
    /// Use the rules on silence as they were published? They call some silences a failure that the model
    /// allows, so this is for comparisons only.
    pub published: bool,
    /// Check the result ([`crate::check::check_path_guided`])?
    pub check: bool,
}

/// The result for a context, with the path's step there.
struct Treated {
    made: Vec<rules::MadeByRules>,
    counts: RuleCounts,
    /// May the condition of the step, as published, be false for some values of what was observed?
    may_miss: bool,
    next: Option<Rc<PathContext>>,
    assignments: Substitution,
}

/// The properties on which the result for a context depends.
#[derive(PartialEq, Eq, Hash)]
struct ContextCase {
    context: Rc<PathContext>,
    step: TransitionId,
    /// The condition behind the step under which the rest of the path can be taken.
    ahead: Term,
    /// The variables that the rest of the path needs.
    needed: BTreeSet<Datum>,
    is_last: bool,
    has_history: bool,
}

/// Makes the test case of a path, which begins in the initial location.
/// Panics if the check finds a violation, which is a bug of ours.
pub fn path_guided(
    timed: &Timed,
    path: &[TransitionId],
    options: &TimedOptions,
    solver: &mut dyn Solver,
) -> Result<PathGuided, PathStop> {
    budget::doing("making a path-guided test case");
    let delayed = prepare_path(timed, path, options)?;
    let system = System::new(&delayed.iosts);
    // For each step, the variables that are needed from there on, and the condition for the rest of the path.
    let read: Vec<Vec<TransitionId>> =
        path.iter().map(|step| transitions_asked(&system, &delayed, *step)).collect();
    let needed = needed_variables(&system, path, &read);
    let ahead = future(&system, path, solver);
    let mut assemble = assemble::Assemble::new(&delayed, &options.silence_after);
    let mut registers = Registers::without_names_of(&delayed.iosts);
    registers.reserve(assemble.constants());
    let mut treated: HashMap<ContextCase, Rc<Treated>> = HashMap::new();
    let mut context = Rc::new(PathContext::initial(&system, &needed[0], &mut registers, solver));
    let mut has_history = false;
    for (position, step) in path.iter().enumerate() {
        budget::ask();
        let case = ContextCase {
            context: context.clone(),
            step: *step,
            ahead: ahead.conditions[position + 1].clone(),
            needed: needed[position + 1].clone(),
            is_last: position + 1 == path.len(),
            has_history,
        };
        let treatment = match treated.get(&case) {
            // Along a periodic path the contexts repeat.
            Some(treated_before) => treated_before.clone(),
            None => {
                let place = rules::RuleContext {
                    system: &system,
                    delayed: &delayed,
                    context: &context,
                    step: *step,
                    ahead: &case.ahead,
                    is_last: case.is_last,
                    silence_after: assemble.silence_after(),
                    published: options.published,
                };
                let treatment = match treat_context(&place, &case, &mut registers, solver) {
                    Ok(treatment) => Rc::new(treatment),
                    Err(stopped) => {
                        return Err(explain_stop(timed, &delayed, path, position, stopped, solver));
                    }
                };
                treated.insert(case, treatment.clone());
                treatment
            }
        };
        assemble.add_context(&context, &treatment.made, &treatment.assignments, treatment.counts.clone());
        has_history |= treatment.may_miss;
        if let Some(next) = &treatment.next {
            context = next.clone();
        }
    }
    // A condition that is too weak matters only where the tester decides by it.
    let sent_in_vain =
        ahead.weaker.iter().filter(|position| delayed.is_controllable(action_of(&system, path[**position])));
    let imprecisions = sent_in_vain.map(|position| {
        format!(
            "step {} ({}): the condition for the rest of the path cannot be expressed without a quantifier; the tester may send the stimulus in vain",
            position + 1,
            timed.called(path[*position])
        )
    });
    let made = assemble.finish(imprecisions.collect());
    if options.check {
        let findings = crate::check::check_path_guided(&made, solver);
        assert!(findings.violations.is_empty(), "a bug of ours: {:?}", findings.violations);
    }
    Ok(made)
}

fn action_of(system: &System<'_>, transition: TransitionId) -> ActionId {
    system.iosts.transitions[transition].action
}

/// Checks that this is a path from the initial location to an output, without internal actions, and that
/// silence has a time. Gives the delayed form.
fn prepare_path(timed: &Timed, path: &[TransitionId], options: &TimedOptions) -> Result<Delayed, PathStop> {
    let graph = timed.graph();
    if let SilenceAfter::Time(time) = &options.silence_after
        && *time <= RBig::ZERO
    {
        return Err(PathStop::SilenceAfter(Value::Real(time.clone())));
    }
    let Some(last) = path.last() else { return Err(PathStop::Empty) };
    let mut location = graph.initial;
    for (position, step) in path.iter().enumerate() {
        let transition = &graph.transitions[*step];
        if transition.source != location {
            return Err(PathStop::NoPath {
                step: position,
                transition: Box::new(stop::Named::of(timed, *step)),
                is_at: graph.location(location).label.clone(),
                leaves: graph.location(transition.source).label.clone(),
            });
        }
        location = transition.target;
    }
    let kind = |step: TransitionId| graph.action_of(step).kind;
    let sources: BTreeSet<LocationId> = path.iter().map(|step| graph.transitions[*step].source).collect();
    let is_internal = |number: &TransitionId| {
        kind(*number) == ActionKind::Internal && sources.contains(&graph.transitions[*number].source)
    };
    let internal = graph.transitions.numbers().filter(is_internal);
    let internal: Vec<stop::Named> = internal.map(|number| stop::Named::of(timed, number)).collect();
    if !internal.is_empty() {
        return Err(PathStop::Internal(internal));
    }
    if kind(*last) != ActionKind::Output {
        return Err(PathStop::NoOutput(stop::Named::of(timed, *last)));
    }
    // The model may have internal actions, but the path has nothing to do with them.
    Ok(delayed_with_unseen(timed))
}

/// Finds the transitions whose conditions are asked for where this step is taken: all that leave its
/// location, except those by stimuli other than the step's.
fn transitions_asked(system: &System<'_>, delayed: &Delayed, step: TransitionId) -> Vec<TransitionId> {
    let taken = &system.iosts.transitions[step];
    let outgoing = system.outgoing[taken.source].iter().copied();
    outgoing
        .filter(|number| {
            let action = action_of(system, *number);
            action == taken.action || !delayed.is_controllable(action)
        })
        .collect()
}

/// Applies the rules at a context, and finds the next one.
fn treat_context(
    place: &rules::RuleContext<'_>,
    case: &ContextCase,
    registers: &mut Registers,
    solver: &mut dyn Solver,
) -> Result<Treated, rules::RulesStopped> {
    let applied = rules::apply_rules(place, case.has_history, solver)?;
    let (next, assignments) = if case.is_last {
        (None, Substitution::new())
    } else {
        let after = case.context.after(place.system, case.step, &case.needed, registers, solver);
        (Some(Rc::new(after.context)), after.assignments)
    };
    Ok(Treated { made: applied.made, counts: applied.counts, may_miss: applied.may_miss, next, assignments })
}

/// Says in the user's terms why the rules stopped at the step with this position.
fn explain_stop(
    timed: &Timed,
    delayed: &Delayed,
    path: &[TransitionId],
    position: usize,
    stopped: rules::RulesStopped,
    solver: &mut dyn Solver,
) -> PathStop {
    match stopped {
        rules::RulesStopped::Unsatisfiable => {
            PathStop::Unsatisfiable { step: position, transition: stop::Named::of(timed, path[position]) }
        }
        rules::RulesStopped::Shared { other, is_certain } => {
            let trace = witness::shared_trace(delayed, path, position, other, solver);
            PathStop::NotDeterministic {
                step: position,
                choice: Box::new([stop::Named::of(timed, path[position]), stop::Named::of(timed, other)]),
                trace,
                is_certain,
            }
        }
        rules::RulesStopped::Quantifier { through } => {
            PathStop::Quantifier { step: position, transition: stop::Named::of(timed, through) }
        }
    }
}
