//! Finds for each mutant of the specification a run on which the mutant differs.
//!
//! **Problem.** Runs can meet a criterion of coverage without showing a fault: the right events have other
//! values, or nothing is watched after the goal. A mutant is a goal that only a run meets which shows it.
//!
//! **Method.** The mutants are those of `coreach mutate` ([`mutants`]). Each is joined with the specification
//! in one system ([`super::beside`]). The tree of its paths is searched, breadth first, for a path where they
//! differ. Its stimuli with their values are the goal's route, and the specification's answer at its end is
//! watched. The concrete semantics judges a route ([`shows`]). The mutant *must* differ on it, if three
//! things hold. Up to some answer, the mutant can only do the route's next event, or an event that every
//! possible state of the specification refuses. At that answer it can do only refused events. It sends
//! nothing while a stimulus is under way. If only the last one does not hold, or if the mutant may also do
//! right, it *may* differ. Such a route counts if there is no better one, and if the specification itself,
//! run as a system, cannot differ on it. The suite takes the routes that show the most mutants. A tree that
//! ends without a difference is a proof that the mutant conforms.
//!
//! **Source.** DeMillo, Lipton, Sayward (1978) for mutants. Aichernig, Lorber, Ničković, *Time for Mutants*
//! (2013), among others, for searching the product with a mutant.
//!
//! **Cost**: a tree for each mutant that no earlier route shows, and for each pair of a route and a mutant
//! one walk along the route with a few questions at each answer.

use std::collections::BTreeSet;

use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::{Growth, NodeId, PathTree, System, TreeLimits};
use coreach_execution::initial;
use coreach_execution::mutation::{Mutant, list_edits, mutants};
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::limits::MOST_STATES;
use coreach_model::semantics::{Event, State, fire, internal_closure, step};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Term, TransitionId, budget};
use coreach_pipeline::Conformance;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::suspend::suspend;

use super::beside::{JoinedSystem, join_with_mutant};
use super::evidence::{Route, RunEvidence, run_along};
use super::goals::Fault;
use super::machine::enabled_in;
use super::observe::{Observer, states_after};
use super::search::{Doubt, MetGoal, Sought, path_transitions};

/// Makes at most this number of mutants, and suspends them for ioco.
pub fn list_faults(
    specification: &Iosts,
    most: usize,
    conformance: Conformance,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Vec<Fault> {
    let fault = |mutant: Mutant| {
        let mut change = format!("{}: {}", mutant.operator.name(), mutant.change);
        // The change of a transition says only where it is.
        if mutant.transition.is_some() {
            change.extend(list_edits(specification, &mutant.iosts).iter().map(|edit| format!(" ({edit})")));
        }
        let iosts = match conformance {
            Conformance::Ioc => Some(mutant.iosts),
            Conformance::Ioco => suspend(&mutant.iosts, limits, solver).ok().map(|suspended| suspended.iosts),
        };
        Fault { change, iosts }
    };
    // Always the mutants of seed 1, so that a suite can be made again.
    mutants(specification, most, 1).into_iter().map(fault).collect()
}

/// Searches for a route on which the mutant must differ from the specification, or else may differ.
pub fn search(system: &System<'_>, fault: &Fault, limits: TreeLimits, solver: &mut dyn Solver) -> Sought {
    budget::doing("looking for runs that show mutants");
    let joined = fault.iosts.as_ref().and_then(|mutant| join_with_mutant(system.iosts, mutant));
    // Nothing was searched.
    let Some(joined) = joined else { return Sought::Unknown(Doubt::Bound(0, 0)) };
    let joint_system = System::new(&joined.iosts);
    let mut growth = Growth::new(&joint_system, TreeLimits { is_restricted: true, ..limits });
    let itself = Fault { change: String::new(), iosts: Some(system.iosts.clone()) };
    let (mut tries, mut possible_run) = (0, None);
    while let Some(number) = growth.step(solver) {
        let tree = growth.tree();
        let differing = |child: &NodeId| tree.nodes[*child].state.location == joined.differs;
        for child in tree.children(number).filter(differing) {
            tries += 1;
            let Some(run) = try_run(system, &joint_system, &joined, tree, child, solver) else {
                continue;
            };
            match shows(system.iosts, fault, &run.evidence, solver) {
                Shows::Must => return Sought::Met(run),
                // A difference that the specification, run as a system, may also show is no fault.
                Shows::May if possible_run.is_none() => {
                    let own_difference = shows(system.iosts, &itself, &run.evidence, solver);
                    possible_run =
                        (own_difference == Shows::Nothing).then_some(MetGoal { is_certain: false, ..run });
                }
                Shows::Awaited if possible_run.is_none() => {
                    possible_run = Some(MetGoal { is_certain: false, ..run })
                }
                _ => {}
            }
        }
        // About 12 runs are tried on which a mutant may differ.
        if tries > 12 {
            break;
        }
    }
    let tree = growth.tree();
    match possible_run {
        Some(run) => Sought::Met(run),
        None if tries > 0 => Sought::Unknown(Doubt::Ambiguous),
        None if tree.is_complete() => Sought::Never(tree.nodes.len()),
        None => Sought::Unknown(Doubt::Bound(tree.nodes.len(), tree.longest_path())),
    }
}

/// Makes a run of the specification that is to show the mutant. The path to `node` leads to *differs*, and
/// its last event is the mutant's wrong answer. The run takes the specification's own steps before it, with
/// the same values. Then it watches for the specification's own answer. `None` if there is no such run. The
/// caller finds out whether the mutant really `must` differ.
fn try_run(
    system: &System<'_>,
    joint_system: &System<'_>,
    joined: &JoinedSystem,
    tree: &PathTree,
    node: NodeId,
    solver: &mut dyn Solver,
) -> Option<MetGoal> {
    let iosts = system.iosts;
    let joint_route = Route { is_alone: false, ..Route::new(path_transitions(tree, node)) };
    let joint_run = run_along(joint_system, &joint_route, &[], solver)?;
    // The specification's part of the run: its steps, its data, and the events without the wrong answer.
    let trace = &joint_run.trace[..joint_run.trace.len() - 1];
    let own = joint_route.path.iter().filter_map(|number| joined.own_transitions[*number]);
    let path: Vec<TransitionId> = own.collect();
    let is_own = |datum: &Datum| iosts.variables.contains(datum) || iosts.constants.contains(datum);
    let data = joint_run.initial.valuation.iter().filter(|(datum, _)| is_own(datum));
    let valuation = data.map(|(datum, value)| (datum.clone(), value.clone())).collect();
    let initial = State { location: iosts.initial, valuation };
    let end = follow_path(iosts, initial.clone(), &path, trace)?;
    let run = RunEvidence { initial, trace: trace.to_vec(), end: end.clone() };
    let with_constants = true;
    let mut route = Route { is_alone: false, ..Route::new(path) }.with_values_of(iosts, &run, with_constants);
    // The answer is only watched, since other allowed ones may come.
    let answer = Observer::new(system, Default::default()).find_answer(&end, solver)?;
    route.watched = answer.len();
    route.path.extend(answer);
    let evidence = run_along(system, &route, &[], solver)?;
    Some(MetGoal { route, evidence, is_certain: true })
}

/// Takes the path in the concrete semantics, with these visible events. Returns the state at its end, if any.
fn follow_path(iosts: &Iosts, begin: State, path: &[TransitionId], trace: &[Event]) -> Option<State> {
    let mut events = trace.iter();
    path.iter().try_fold(begin, |state, number| {
        let transition = &iosts.transitions[*number];
        let is_seen = iosts.action(transition.action).is_visible();
        let values = if is_seen { events.next()?.values.as_slice() } else { &[] };
        fire(iosts, transition, &state, values)
    })
}

/// What a run shows about a mutant that gets its stimuli.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shows {
    Nothing,
    /// The mutant may do a refused event, or do right.
    May,
    /// The mutant can only do refused events, unless an event of it crosses a stimulus.
    Awaited,
    /// The mutant can only do refused events.
    Must,
}

/// The replies that a mutant may give when the run waits for an answer.
struct Replies {
    /// An event that the specification refuses in every possible state.
    has_refused: bool,
    /// Another allowed answer, or none.
    has_other: bool,
    /// The run's next event.
    has_next: bool,
}

/// Finds out whether the mutant differs from the specification when it gets the stimuli of this run.
pub fn shows(specification: &Iosts, fault: &Fault, run: &RunEvidence, solver: &mut dyn Solver) -> Shows {
    let Some(mutant) = &fault.iosts else { return Shows::Nothing };
    let constants = specification.constants.iter();
    let known: Valuation = constants
        .filter_map(|datum| Some((datum.clone(), run.initial.valuation.get(datum)?.clone())))
        .collect();
    let mut initial_states = |iosts: &Iosts| {
        let states = initial::states(iosts, &known, MOST_STATES, solver).ok()?;
        Some(internal_closure(iosts, states.into_iter().collect()))
    };
    let (Some(mut allowed), Some(mut actual)) = (initial_states(specification), initial_states(mutant))
    else {
        return Shows::Nothing;
    };
    // Could the mutant only do the run's events or refused ones so far? Could an output cross a stimulus?
    let (mut strongest, mut is_certain, mut may_cross) = (Shows::Nothing, true, false);
    for event in &run.trace {
        budget::ask();
        let action = specification.find_action(&event.action);
        let is_input = action.is_some_and(|at| specification.action(at).kind == ActionKind::Input);
        if is_input {
            // An output that it sends at the same time may come first.
            may_cross |= can_send(mutant, &actual, solver);
        } else {
            let replies = find_replies(specification, &allowed, mutant, &actual, event, solver);
            is_certain &= !replies.has_other;
            if replies.has_refused {
                strongest = strongest.max(match (is_certain && !replies.has_next, may_cross) {
                    (true, false) => Shows::Must,
                    (true, true) => Shows::Awaited,
                    (false, _) => Shows::May,
                });
            }
            if !replies.has_next {
                return strongest;
            }
        }
        // The mutant ignores a stimulus that it does not take. What is allowed ignores nothing.
        allowed = states_after(specification, &allowed, event, false);
        actual = states_after(mutant, &actual, event, is_input);
        if allowed.is_empty() || allowed.len().max(actual.len()) > MOST_STATES {
            return strongest;
        }
    }
    strongest
}

/// May the system send an output in one of these states? In doubt, it may.
fn can_send(iosts: &Iosts, states: &BTreeSet<State>, solver: &mut dyn Solver) -> bool {
    let is_output = |transition: &&Transition| iosts.action(transition.action).kind == ActionKind::Output;
    states.iter().any(|state| {
        let mut outgoing = iosts.transitions.iter().filter(|transition| transition.source == state.location);
        outgoing.any(|transition| {
            is_output(&transition)
                && solver.check(&enabled_in(transition, state).conjuncts()) != Answer::Unsat
        })
    })
}

/// Compares the mutant's possible answers with the allowed ones and with `event`. In doubt, it has others.
fn find_replies(
    specification: &Iosts,
    allowed: &BTreeSet<State>,
    mutant: &Iosts,
    actual: &BTreeSet<State>,
    event: &Event,
    solver: &mut dyn Solver,
) -> Replies {
    let has_next = actual.iter().any(|state| !step(mutant, state, event).is_empty());
    let mut replies = Replies { has_refused: false, has_other: false, has_next };
    for state in actual {
        let mut is_silent = true;
        for transition in mutant.transitions.iter().filter(|t| t.source == state.location) {
            let action = mutant.action(transition.action);
            if action.kind == ActionKind::Input {
                continue;
            }
            let enabled = enabled_in(transition, state).conjuncts();
            match solver.check(&enabled) {
                Answer::Unsat => continue,
                Answer::Sat => is_silent = false,
                Answer::Unknown => {}
            }
            if action.kind == ActionKind::Internal {
                continue;
            }
            // The conditions under which some allowed state sends the same output.
            let mut conditions = Vec::new();
            for allowed_state in allowed {
                let allowing =
                    specification.transitions.iter().filter(|t| t.source == allowed_state.location);
                let allowing = allowing.filter(|t| t.action == transition.action);
                conditions.extend(allowing.map(|t| enabled_in(t, allowed_state)));
            }
            let is_allowed = Term::or(conditions);
            let pairs = action.parameters.iter().zip(&event.values);
            let equal = pairs.map(|(parameter, value)| {
                Term::equal(&Term::datum(parameter), &Term::literal(value.clone()))
            });
            let differs = if action.name == event.action { Term::and(equal).not() } else { Term::yes() };
            let mut check_with = |asked: &[Term]| solver.check(&[enabled.as_slice(), asked].concat());
            replies.has_refused |= check_with(&[is_allowed.not()]) == Answer::Sat;
            replies.has_other |= check_with(&[is_allowed, differs]) != Answer::Unsat;
        }
        replies.has_other |= is_silent;
    }
    replies
}
