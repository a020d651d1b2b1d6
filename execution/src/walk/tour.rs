//! Plans the shortest tour over the new transitions of a specification without data.
//!
//! **Problem.** A walk to the nearest goal passes by single transitions, and later pays the way back to each.
//! In graphs with few transitions for each location it needs up to 1.3 times the shortest tour.
//!
//! **Method.** A specification without data is a graph. The tour stays in the strongly connected component of
//! the present location. It takes each transition there that was never met, as the Chinese postman does
//! ([`coreach_analyses::machines::tour`]). The tour is one plan. If the implementation answers otherwise, the
//! walk plans again.
//!
//! **Ends** as the postman's algorithm does. **Costs** one tour for each plan.

use std::collections::VecDeque;

use coreach_analyses::machines::tour::find_closed_walk;
use coreach_model::iosts::ActionKind;
use coreach_model::semantics::{Event, State};
use coreach_model::{Number, TransitionId};

use super::candidates::candidates;
use super::goals::{Trail, WalkModel};
use super::search::Planned;
use super::worth::Worth;
use crate::judge::Choice;

/// Plans a tour from a state. The plan is empty if the state has data, or nothing new can be reached.
pub fn plan_tour(
    model: &WalkModel,
    worth: &mut Worth,
    state: &State,
    sources: &mut Choice<'_>,
) -> VecDeque<Planned> {
    let iosts = &model.iosts;
    if !state.valuation.is_empty() {
        return VecDeque::new();
    }
    let ends = |number: TransitionId| {
        let transition = &iosts.transitions[number];
        (transition.source.place(), transition.target.place())
    };
    let all: Vec<TransitionId> = iosts.transitions.numbers().collect();
    let (locations, start) = (iosts.locations.len(), state.location.place());
    // The component of the start: what it reaches, and what reaches it.
    let is_ahead = find_reached(locations, start, all.iter().map(|number| ends(*number)));
    let reversed = all.iter().map(|number| ends(*number)).map(|(from, to)| (to, from));
    let is_behind = find_reached(locations, start, reversed);
    let is_inside = |location: usize| is_ahead[location] && is_behind[location];
    let mut inside = all;
    inside.retain(|number| {
        let (source, target) = ends(*number);
        is_inside(source) && is_inside(target)
    });
    let edges: Vec<(usize, usize)> = inside.iter().map(|number| ends(*number)).collect();
    let goal = |number: &TransitionId| model.goals_met(&Trail::default(), *number).into_iter().next();
    let is_new = |number: &TransitionId| goal(number).is_some_and(|goal| worth.is_fresh(goal));
    let is_needed: Vec<bool> = inside.iter().map(is_new).collect();
    let Some(tour) = find_closed_walk(locations, &edges, &is_needed, start) else {
        return VecDeque::new();
    };
    // After the last new transition the walk need not come back.
    let length = tour.iter().rposition(|edge| is_needed[*edge]).map_or(0, |last| last + 1);
    // The tries of the first new transition count, since the implementation may never take it.
    if let Some(first) = tour.iter().find(|edge| is_needed[**edge]) {
        goal(&inside[*first]).into_iter().for_each(|goal| worth.count_plan(goal));
    }
    let mut state = state.clone();
    let mut route = VecDeque::new();
    for edge in &tour[..length] {
        let number = inside[*edge];
        let Some(step) = candidates(model, number, &state, 0, sources).into_iter().next() else { break };
        let action = iosts.action_of(number);
        if action.kind != ActionKind::Internal {
            let event = Event::new(action.name.clone(), step.values);
            route.push_back(Planned { state, transition: number, event, kind: action.kind });
        }
        state = step.to;
    }
    route
}

/// Tells for each location whether edges lead to it from the start.
fn find_reached(locations: usize, start: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<bool> {
    let mut next = vec![Vec::new(); locations];
    edges.for_each(|(from, to)| next[from].push(to));
    let mut is_reached = vec![false; locations];
    let mut open = vec![start];
    while let Some(location) = open.pop() {
        if !std::mem::replace(&mut is_reached[location], true) {
            open.extend(&next[location]);
        }
    }
    is_reached
}
