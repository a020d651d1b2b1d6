//! The way over a plain graph: all its transitions, as short as that can be.
//!
//! **Problem.** Who goes to what is near is led past single transitions, and pays the way back to each of
//! them in the end: up to 1.3 times the shortest tour where locations have few transitions.
//!
//! **Method.** A specification without data is a graph. Of the part of it that can be left and come back to,
//! the transitions that were never met are taken along the walk of a postman
//! ([`coreach_analyses::machines::tour`]). It is one plan: where the implementation answers otherwise, the
//! rest is planned anew.
//!
//! **Ends** as the tour, and counts as a plan for the first new transition on it. **Costs** a tour for each
//! plan.

use std::collections::VecDeque;

use coreach_analyses::machines::tour::find_closed_walk;
use coreach_model::iosts::ActionKind;
use coreach_model::semantics::{Event, State};
use coreach_model::{Number, TransitionId};

use super::candidates::candidates;
use super::goals::{SoughtGoal, Trail};
use super::search::Planned;
use super::worth::Worth;
use crate::judge::Choice;

/// A tour from here; empty where there are data, or nothing new on it.
pub fn tour(
    sought: &SoughtGoal,
    worth: &mut Worth,
    state: &State,
    sources: &mut Choice<'_>,
) -> VecDeque<Planned> {
    let iosts = &sought.iosts;
    if !state.valuation.is_empty() {
        return VecDeque::new();
    }
    let ends = |number: TransitionId| {
        let transition = &iosts.transitions[number];
        (transition.source.place(), transition.target.place())
    };
    let all: Vec<TransitionId> = iosts.transitions.numbers().collect();
    let here = state.location.place();
    let ahead = find_reached(iosts.locations.len(), here, all.iter().map(|one| ends(*one)));
    let behind =
        find_reached(iosts.locations.len(), here, all.iter().map(|one| ends(*one)).map(|(a, b)| (b, a)));
    let stays = |at: usize| ahead[at] && behind[at];
    let within: Vec<TransitionId> =
        all.into_iter().filter(|one| stays(ends(*one).0) && stays(ends(*one).1)).collect();
    let edges: Vec<(usize, usize)> = within.iter().map(|one| ends(*one)).collect();
    let goal = |one: &TransitionId| sought.goals_met(&Trail::default(), *one).into_iter().next();
    let is_new = |one: &TransitionId| goal(one).is_some_and(|goal| worth.is_fresh(goal));
    let is_needed: Vec<bool> = within.iter().map(is_new).collect();
    let Some(way) = find_closed_walk(iosts.locations.len(), &edges, &is_needed, here) else {
        return VecDeque::new();
    };
    // Behind the last transition that is new it need not come back.
    let length = way.iter().rposition(|edge| is_needed[*edge]).map_or(0, |last| last + 1);
    // What the implementation never does is given up like any other goal.
    if let Some(first) = way.iter().find(|edge| is_needed[**edge]) {
        goal(&within[*first]).into_iter().for_each(|goal| worth.plans(goal));
    }
    let mut at = state.clone();
    let mut found = VecDeque::new();
    for edge in &way[..length] {
        let number = within[*edge];
        let Some(step) = candidates(sought, number, &at, 0, sources).into_iter().next() else { break };
        let action = iosts.action(iosts.transitions[number].action);
        if action.kind != ActionKind::Internal {
            let event = Event::new(action.name.clone(), step.values);
            found.push_back(Planned { state: at, transition: number, event, kind: action.kind });
        }
        at = step.to;
    }
    found
}

/// Where edges lead from here.
fn find_reached(locations: usize, here: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<bool> {
    let mut next = vec![Vec::new(); locations];
    edges.for_each(|(from, to)| next[from].push(to));
    let mut found = vec![false; locations];
    let mut open = vec![here];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut found[at], true) {
            open.extend(&next[at]);
        }
    }
    found
}
