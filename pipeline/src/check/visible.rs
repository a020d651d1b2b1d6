//! The visible machine against the closed one: a simulation in both directions.
//!
//! A location of the visible machine says of which members it is made: locations of the closed machine, each with the
//! effects that give its data from those that are shown. So a state of the visible machine stands for a set of states of
//! the closed one, and the initial state for the initial one. What is to be shown of a step by one event: every step of
//! a state in the set leads to a state in the set behind (nothing lost), and every state in the set behind is where such a
//! step leads (nothing added). By induction over traces the set is then the closed machine's `after`.
//!
//! Both are asked where the members' data have values within their types, behind each of their postponed effects. That is
//! an invariant: it holds at the beginning, where nothing is postponed, and is asked behind each step.
//!
//! What is compared are the members' data; a variable that every member's postponed effects hide is none of them. Its
//! value matters all the same: were there none within its type, the step could not be taken. So of each transition all
//! values are asked for, and not only those of memory variables.

use std::collections::{BTreeSet, HashSet};

use coreach_analyses::solver::Solver;
use coreach_model::iosts::{LocationId, Transition};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, Numbered, Term};

use super::must_answer;
use super::obligation::{
    ByAction, Checking, Findings, after, by_action, overlaps, same_values, undefined, within_types,
};
use crate::artifact::{Closed, Member, Visible};

const FIRST: ActionId = ActionId(0);
const LAST: ActionId = ActionId(u32::MAX);

/// Checks the result of `determinize` against the closed machine.
pub fn visible(visible: &Visible, closed: &Closed, solver: &mut dyn Solver) -> Findings {
    const SAME: &str = "visible 2";
    let mut checking = Checking::new(solver);
    let (iosts, before) = (&visible.iosts, &closed.iosts);
    if !checking.well_formed(
        iosts,
        &[visible.members.len(), visible.accepting.len(), visible.must_answer.len()],
        SAME,
    ) {
        return checking.found;
    }
    let variables: HashSet<&Datum> = before.variables.iter().collect();
    let known = |member: &Member| {
        before.locations.has(member.location)
            && member.steps.iter().flat_map(Substitution::keys).all(|variable| variables.contains(variable))
    };
    let all_known = visible.members.iter().all(|members| !members.is_empty() && members.iter().all(known));
    let is_same = all_known
        && iosts.constants == before.constants
        && iosts.actions == before.actions
        && iosts.variables.starts_with(&before.variables);
    if !is_same {
        checking.broken(SAME, "the data, the actions or the members");
        return checking.found;
    }
    let start = &visible.members[iosts.initial];
    let starts = matches!(start.as_slice(), [one] if one.location == before.initial && one.steps.is_empty());
    checking.holds(starts, SAME, || "the initial location".to_owned());
    let (one, other) = (&before.initial_condition, &iosts.initial_condition);
    checking.equivalent(&[], one, other, SAME, || "the initial condition".to_owned());
    for (at, members) in visible.members.numbered() {
        let accepts = members.iter().any(|member| closed.accepting[member.location]);
        checking.holds(visible.accepting[at] == accepts, "visible 5", || iosts.locations[at].label.clone());
    }
    must_answer::visible(visible, closed, &mut checking);
    overlaps(&mut checking, iosts, &|_| Term::yes(), "visible 1");
    undefined(&mut checking, iosts, &|_| Term::yes(), "visible: a guard without a value");

    let here: Numbered<LocationId, Vec<Place>> =
        visible.members.map(|members| members.iter().map(Place::of).collect());
    let has_types = here.map(|places| Term::and(places.iter().map(|place| place.has_types.clone())));
    for t in &iosts.transitions {
        let premises = [has_types[t.source].clone(), t.guard.clone()];
        let behind = substitute(&has_types[t.target], &t.assignments);
        let place = || iosts.describe(t);
        checking.implies(&premises, &[within_types(&t.assignments)], "visible 6", place);
        let after: Vec<Term> = premises.into_iter().chain([within_types(&t.assignments)]).collect();
        checking.implies(&after, &[behind], "visible 7", place);
    }
    let (ours, theirs) = (by_action(iosts), by_action(before));
    for source in iosts.location_ids() {
        let members = &here[source];
        let mut context = vec![has_types[source].clone()];
        context.retain(|condition| !condition.is_true());
        let of = |all: &ByAction, at| {
            all.range((at, FIRST)..=(at, LAST)).map(|((_, action), _)| *action).collect()
        };
        let mut actions: BTreeSet<ActionId> = of(&ours, source);
        actions.extend(members.iter().flat_map(|member| of(&theirs, member.location)));
        for action in actions {
            let mut steps: Vec<Step> = Vec::new();
            for member in members {
                for number in theirs.get(&(member.location, action)).into_iter().flatten() {
                    steps.push(Step::of(&before.transitions[*number], &member.pending));
                }
            }
            let made = ours.get(&(source, action)).map_or(&[][..], Vec::as_slice);
            let made: Vec<&Transition> = made.iter().map(|number| &iosts.transitions[*number]).collect();
            let behind = |t: &Transition, member: &Place| Step {
                guard: t.guard.clone(),
                effect: shown(&t.assignments, &member.pending, &variables),
                target: member.location,
            };
            let ends: Vec<Step> =
                made.iter().flat_map(|t| here[t.target].iter().map(|member| behind(t, member))).collect();
            for (these, those, rule) in
                [(&steps, &ends, "visible 3: lost"), (&ends, &steps, "visible 4: added")]
            {
                for step in these {
                    let same = those.iter().filter(|other| other.target == step.target);
                    let conclusions: Vec<Term> = same
                        .map(|other| {
                            let equal = same_values(&step.effect, &other.effect);
                            Term::and([other.guard.clone(), equal])
                        })
                        .collect();
                    let mut premises = context.clone();
                    premises.push(step.guard.clone());
                    checking.implies(&premises, &conclusions, rule, || {
                        let (source, action) = (&iosts.location(source).label, &iosts.action(action).name);
                        format!("{source} -{action}-> {}", before.location(step.target).label)
                    });
                }
            }
        }
    }
    checking.found
}

/// A member, its postponed effects as one.
struct Place {
    location: LocationId,
    pending: Substitution,
    /// Behind each of the effects the data have values within their types.
    has_types: Term,
}

impl Place {
    fn of(member: &Member) -> Self {
        let mut pending = Substitution::new();
        let mut parts = Vec::new();
        for step in &member.steps {
            parts.push(substitute(&within_types(step), &pending));
            pending = after(&pending, step);
        }
        Place { location: member.location, pending, has_types: Term::and(parts) }
    }
}

/// A way to a state of the closed machine, over the data of the visible one before the step.
struct Step {
    guard: Term,
    /// For each variable of the closed machine its value behind the step.
    effect: Substitution,
    target: LocationId,
}

impl Step {
    fn of(transition: &Transition, pending: &Substitution) -> Self {
        let guard = substitute(&transition.guard, pending);
        Step { guard, effect: after(pending, &transition.assignments), target: transition.target }
    }
}

/// What a member's data are behind a step that changes what is shown.
fn shown(assignments: &Substitution, pending: &Substitution, variables: &HashSet<&Datum>) -> Substitution {
    let mut behind = assignments.clone();
    behind.retain(|variable, _| variables.contains(variable));
    behind.extend(pending.iter().map(|(variable, value)| (variable.clone(), substitute(value, assignments))));
    behind
}
