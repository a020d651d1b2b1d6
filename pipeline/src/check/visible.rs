//! Checks the visible machine against the closed one by a simulation in both directions.
//!
//! A location of the visible machine says of which members it is made: locations of the closed machine, each
//! with the effects that give its data from those that are shown. So a state of the visible machine stands
//! for a set of states of the closed one, and the initial state for the initial one. Two things must be shown
//! of a step by one event. Every step of a state in the set leads to a state in the set behind (nothing is
//! lost). Every state in the set behind is the target of such a step (nothing is added). By induction over
//! traces the set is then the closed machine's `after`.
//!
//! Both are asked for data of the members that have values within their types, behind each of their postponed
//! effects. This invariant is checked behind each step. The members' data are compared. A variable that every
//! member's postponed effects hide is none of them. But without a value within its type the step could not be
//! taken, so all values of each transition are checked.
//!
//! If the machine was made by means of facts, the facts are checked against the closed machine: reach and
//! coreach by their proof or by runs, live variables by the definition. Then the simulation needs to hold
//! only where each member's data are in the reach of its location, and for live variables. From an *end*
//! nothing is followed. The step into an end is checked to justify that: no member's step into it leads to a
//! state of coreach, or it accepts. So traces are the same up to ends, and accepted traces are the same.

use std::collections::{BTreeSet, HashSet};

use coreach_analyses::solver::Solver;
use coreach_model::iosts::{LocationId, Transition};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, Numbered, Term};

use super::obligation::{
    ByAction, Checking, Findings, by_action, check_definedness, check_overlaps, compose_effects, same_values,
    value_of, within_types,
};
use super::{facts, must_answer};
use crate::artifact::{Closed, Member, Visible};

const END_MUST_NOT_LEAD_ON: &str = "visible 9";

/// Checks the result of `determinize` against the closed machine. The rules are listed in [`super`].
pub fn check_visible(visible: &Visible, closed: &Closed, solver: &mut dyn Solver) -> Findings {
    const SAME: &str = "visible 2";
    let mut checking = Checking::new(solver);
    let (iosts, closed_iosts) = (&visible.iosts, &closed.iosts);
    if !checking.well_formed(
        iosts,
        &[visible.members.len(), visible.accepting.len(), visible.must_answer.len(), visible.ends.len()],
        SAME,
    ) {
        return checking.found;
    }
    let variables: HashSet<&Datum> = closed_iosts.variables.iter().collect();
    let is_known = |member: &Member| {
        closed_iosts.locations.has(member.location)
            && member.steps.iter().flat_map(Substitution::keys).all(|variable| variables.contains(variable))
    };
    let are_known = visible.members.iter().all(|members| !members.is_empty() && members.iter().all(is_known));
    let is_same = are_known
        && iosts.constants == closed_iosts.constants
        && iosts.actions == closed_iosts.actions
        && iosts.variables.starts_with(&closed_iosts.variables);
    if !checking.holds(is_same, SAME, || "the data, the actions or the members".to_owned()) {
        return checking.found;
    }
    let start = &visible.members[iosts.initial];
    let begins =
        matches!(start.as_slice(), [only] if only.location == closed_iosts.initial && only.steps.is_empty());
    checking.holds(begins, SAME, || "the initial location".to_owned());
    checking.same_initial_condition(closed_iosts, iosts, SAME);
    for (at, members) in visible.members.numbered() {
        let accepts = members.iter().any(|member| closed.accepting[member.location]);
        checking.holds(visible.accepting[at] == accepts, "visible 5", || iosts.locations[at].label.clone());
    }
    if !check_known(visible, closed, &mut checking) {
        return checking.found;
    }
    must_answer::check_must_answer(visible, closed, &mut checking);
    check_overlaps(&mut checking, iosts, &|_| Term::yes(), "visible 1");
    check_definedness(&mut checking, iosts, &|_| Term::yes(), "visible: a guard without a value");

    let places: Numbered<LocationId, Vec<RunPlace>> =
        visible.members.map(|members| members.iter().map(RunPlace::of).collect());
    let has_types = places.map(|here| Term::and(here.iter().map(|place| place.has_types.clone())));
    let context = find_contexts(visible, &places, &has_types);
    for t in &iosts.transitions {
        checking.holds(!visible.ends[t.source], END_MUST_NOT_LEAD_ON, || iosts.describe(t));
        let mut premises = context[t.source].clone();
        premises.push(t.guard.clone());
        let behind = substitute(&has_types[t.target], &t.assignments);
        let place = || iosts.describe(t);
        let values_in_types = within_types(&t.assignments);
        checking.implies(&premises, std::slice::from_ref(&values_in_types), "visible 6", place);
        premises.push(values_in_types);
        checking.implies(&premises, &[behind], "visible 7", place);
    }
    check_simulation(&mut checking, visible, closed, &places, &context);
    checking.found
}

/// Checks that the steps of each location are those of its members: none is lost, and none is added. Nothing
/// is followed from an end. Both kinds of step lead to a location of the closed machine: `member_steps` are
/// what the members can do, and `claimed_steps` what the visible transitions say that they do.
fn check_simulation(
    checking: &mut Checking<'_>,
    visible: &Visible,
    closed: &Closed,
    places: &Numbered<LocationId, Vec<RunPlace>>,
    context: &Numbered<LocationId, Vec<Term>>,
) {
    let (iosts, closed_iosts) = (&visible.iosts, &closed.iosts);
    let variables: HashSet<&Datum> = closed_iosts.variables.iter().collect();
    let (visible_steps, closed_steps) = (by_action(iosts), by_action(closed_iosts));
    for (source, members) in places.numbered().filter(|(source, _)| !visible.ends[*source]) {
        let actions_at = |transitions: &ByAction, location| -> BTreeSet<ActionId> {
            let range = (location, ActionId(0))..=(location, ActionId(u32::MAX));
            transitions.range(range).map(|((_, action), _)| *action).collect()
        };
        let mut actions = actions_at(&visible_steps, source);
        actions.extend(members.iter().flat_map(|member| actions_at(&closed_steps, member.location)));
        for action in actions {
            let mut member_steps: Vec<VisibleStep> = Vec::new();
            for member in members {
                for number in closed_steps.get(&(member.location, action)).into_iter().flatten() {
                    member_steps.push(VisibleStep::of(&closed_iosts.transitions[*number], &member.pending));
                }
            }
            let numbers = visible_steps.get(&(source, action)).into_iter().flatten();
            let made: Vec<&Transition> = numbers.map(|number| &iosts.transitions[*number]).collect();
            for t in made.iter().filter(|t| visible.ends[t.target]) {
                check_step_into_end(visible, closed, t, &member_steps, &context[source], checking);
            }
            let step_to = |member: &RunPlace, t: &Transition| VisibleStep {
                guard: t.guard.clone(),
                effect: visible_part(&t.assignments, &member.pending, &variables),
                target: member.location,
                ends: visible.ends[t.target],
            };
            let claimed_steps: Vec<VisibleStep> =
                made.iter().flat_map(|t| places[t.target].iter().map(|member| step_to(member, t))).collect();
            // Each step of one list must be one of the other list, to the same location with the same data.
            for (checked, candidates, rule) in [
                (&member_steps, &claimed_steps, "visible 3: lost"),
                (&claimed_steps, &member_steps, "visible 4: added"),
            ] {
                for step in checked {
                    let matching = candidates.iter().filter(|candidate| candidate.target == step.target);
                    // One candidate must be the same step: it is possible, and gives the same values to the
                    // data that matter behind both.
                    let conclusions: Vec<Term> = matching
                        .map(|candidate| {
                            let effect = relevant_effect(visible, step, candidate);
                            let candidate_effect = relevant_effect(visible, candidate, step);
                            Term::and([candidate.guard.clone(), same_values(&effect, &candidate_effect)])
                        })
                        .collect();
                    let mut premises = context[source].clone();
                    premises.push(step.guard.clone());
                    checking.implies(&premises, &conclusions, rule, || {
                        let (source, action) = (&iosts.location(source).label, &iosts.action(action).name);
                        format!("{source} -{action}-> {}", closed_iosts.location(step.target).label)
                    });
                }
            }
        }
    }
}

/// Checks the shapes and the truth of the facts. Without facts there must be no ends. The result is false if
/// nothing more can be checked.
fn check_known(visible: &Visible, closed: &Closed, checking: &mut Checking<'_>) -> bool {
    const LIVE: &str = "visible 10: live";
    let closed_iosts = &closed.iosts;
    let Some(known) = &visible.known else {
        checking.holds(!visible.ends.contains(&true), END_MUST_NOT_LEAD_ON, || {
            "an end, though nothing is known".to_owned()
        });
        return true;
    };
    let count = closed_iosts.locations.len();
    let fits = known.reach.len() == count
        && known.coreach.len() == count
        && known.live.len() == count
        && known.chain.iter().all(|refinement| refinement.facts.len() == count);
    if !checking.holds(fits, "visible 10", || "facts of another length".to_owned()) {
        return false;
    }
    facts::refute_known_facts(known, closed, checking);
    let variables: HashSet<&Datum> = closed_iosts.variables.iter().collect();
    for t in closed_iosts.transitions.iter().filter(|t| !closed.accepting[t.source]) {
        let live = &known.live[t.source];
        let reads =
            |term: Term| term.data().into_iter().all(|d| live.contains(&d) || !variables.contains(&d));
        let values_behind = known.live[t.target].iter().map(|variable| value_of(&t.assignments, variable));
        let reads_live_data = std::iter::once(t.guard.clone()).chain(values_behind).all(reads);
        checking.holds(reads_live_data, LIVE, || closed_iosts.describe(t));
    }
    for (at, members) in visible.members.numbered().filter(|(at, _)| visible.ends[*at]) {
        let hides_nothing = members.iter().all(|member| member.steps.is_empty());
        checking.holds(hides_nothing, END_MUST_NOT_LEAD_ON, || visible.iosts.locations[at].label.clone());
    }
    let start = visible.iosts.initial;
    if visible.ends[start] && !visible.accepting[start] {
        let leads_on = known.coreach[closed_iosts.initial].clone();
        checking.implies(
            std::slice::from_ref(&closed_iosts.initial_condition),
            &[leads_on.not()],
            END_MUST_NOT_LEAD_ON,
            || "the initial location".to_owned(),
        );
    }
    true
}

/// Gives the conditions that hold at each location wherever a run is there.
fn find_contexts(
    visible: &Visible,
    places_of_set: &Numbered<LocationId, Vec<RunPlace>>,
    has_types: &Numbered<LocationId, Term>,
) -> Numbered<LocationId, Vec<Term>> {
    let mut contexts = has_types.map(|types| vec![types.clone()]);
    if let Some(known) = &visible.known {
        for (at, places) in places_of_set.numbered().filter(|(at, _)| !visible.ends[*at]) {
            let reach = |(number, place): (usize, &RunPlace)| {
                let fact = &known.reach[place.location];
                let fact = without_stale_data(fact, visible, place.location, &number.to_string());
                substitute(&fact, &place.pending).conjuncts()
            };
            contexts[at].extend(places.iter().enumerate().flat_map(reach));
        }
    }
    for context in &mut contexts {
        context.retain(|condition| !condition.is_true());
    }
    contexts
}

/// Replaces the data in a fact that are not live by others, about whose values nothing is known: the shown
/// values may be stale.
fn without_stale_data(fact: &Term, visible: &Visible, location: LocationId, owner: &str) -> Term {
    let Some(known) = &visible.known else { return fact.clone() };
    let is_stale =
        |datum: &Datum| !known.live[location].contains(datum) && !visible.iosts.constants.contains(datum);
    let others = fact.data().into_iter().filter(is_stale).map(|datum| {
        let other = Datum::new(format!("{}@{owner}", datum.name()), datum.ty().clone());
        (datum, Term::datum(&other))
    });
    substitute(fact, &others.collect())
}

/// Checks that no step of a member into an end leads to a state from which Accept can be reached, unless the
/// end accepts.
fn check_step_into_end(
    visible: &Visible,
    closed: &Closed,
    t: &Transition,
    steps: &[VisibleStep],
    context: &[Term],
    checking: &mut Checking<'_>,
) {
    let (Some(known), false) = (&visible.known, visible.accepting[t.target]) else { return };
    for step in steps {
        // Data that are not live behind the step may have any values there, named `x@behind`.
        let coreach = without_stale_data(&known.coreach[step.target], visible, step.target, "behind");
        let leads_on = substitute(&coreach, &step.effect);
        let mut premises = context.to_vec();
        premises.extend([t.guard.clone(), step.guard.clone()]);
        checking.implies(&premises, &[leads_on.not()], END_MUST_NOT_LEAD_ON, || {
            format!("{} to {}", visible.iosts.describe(t), closed.iosts.location(step.target).label)
        });
    }
}

/// Gives the effect of a step on the data, as far as it matters behind it and behind the step with which it
/// is compared.
fn relevant_effect(visible: &Visible, step: &VisibleStep, compared: &VisibleStep) -> Substitution {
    let mut effect = step.effect.clone();
    if let Some(known) = &visible.known {
        let has_data = !step.ends && !compared.ends;
        effect.retain(|variable, _| has_data && known.live[step.target].contains(variable));
    }
    effect
}

/// A member, whose postponed effects are composed.
pub(super) struct RunPlace {
    location: LocationId,
    pub(super) pending: Substitution,
    /// The condition that the data have values within their types behind each of the effects.
    pub(super) has_types: Term,
}

impl RunPlace {
    /// Makes the place of a member from its postponed effects.
    pub(super) fn of(member: &Member) -> Self {
        let mut pending = Substitution::new();
        let mut parts = Vec::new();
        for step in &member.steps {
            parts.push(substitute(&within_types(step), &pending));
            pending = compose_effects(&pending, step);
        }
        RunPlace { location: member.location, pending, has_types: Term::and(parts) }
    }
}

/// A way to a state of the closed machine, expressed by the data of the visible one before the step.
struct VisibleStep {
    guard: Term,
    /// The value of each variable of the closed machine behind the step.
    effect: Substitution,
    target: LocationId,
    /// Does the step lead to an end, whose data say nothing?
    ends: bool,
}

impl VisibleStep {
    fn of(transition: &Transition, pending: &Substitution) -> Self {
        VisibleStep {
            guard: substitute(&transition.guard, pending),
            effect: compose_effects(pending, &transition.assignments),
            target: transition.target,
            ends: false,
        }
    }
}

/// Gives a member's data behind a step that changes the shown data.
fn visible_part(
    assignments: &Substitution,
    pending: &Substitution,
    variables: &HashSet<&Datum>,
) -> Substitution {
    let mut behind = assignments.clone();
    behind.retain(|variable, _| variables.contains(variable));
    behind.extend(pending.iter().map(|(variable, value)| (variable.clone(), substitute(value, assignments))));
    behind
}
