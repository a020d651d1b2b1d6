//! Checks of the model's graph that need no solver: livelocks, unreachable locations, what is declared and not used.
//!
//! A syntactic livelock (thesis 6.1) is a cycle of internal transitions. Every strongly connected component of the
//! internal transitions holds one or none; we show a shortest cycle of each, found by breadth-first search from its
//! first location. Cost: linear in the graph per component with a cycle.

use std::collections::{BTreeSet, VecDeque};

use crate::diagnostic::Diagnostic;
use crate::iosts::{ActionKind, Iosts, LocationId};
use crate::reader::collect::Collector;
use crate::reader::declarations::{Actions, Locations};
use crate::reader::transitions::Places;

/// So many livelocks are shown; a model with more of them has one cause.
const MAX_SHOWN: usize = 10;

/// Reports cycles of internal transitions: an error where the graph reaches one, a warning where not.
pub(super) fn check_livelocks(collector: &mut Collector, iosts: &Iosts, places: &[Places]) {
    let reached = reachable(iosts);
    let internal: Vec<Vec<usize>> = iosts
        .outgoing()
        .into_iter()
        .map(|numbers| {
            let is_internal =
                |n: &usize| iosts.action(iosts.transitions[*n].action).kind == ActionKind::Internal;
            numbers.into_iter().filter(is_internal).collect()
        })
        .collect();
    let mut done: BTreeSet<LocationId> = BTreeSet::new();
    let mut shown = 0;
    for start in on_cycles(iosts, &internal) {
        if done.contains(&start) || shown == MAX_SHOWN {
            continue;
        }
        let Some(cycle) = shortest_cycle(iosts, &internal, start) else { continue };
        shown += 1;
        done.extend(cycle.iter().map(|number| iosts.transitions[*number].source));
        let is_reached = reached[start.0 as usize];
        let mut diagnostic = if is_reached {
            Diagnostic::error(
                "livelock",
                "a cycle of internal actions: the system could stay silent for ever",
            )
        } else {
            Diagnostic::warning("livelock", "a cycle of internal actions, in a part that no path reaches")
        };
        for (step, number) in cycle.iter().enumerate().take(8) {
            let label = format!("step {} of the cycle", step + 1);
            diagnostic = diagnostic.at(collector.origin(&places[*number].on), label);
        }
        for number in &cycle {
            diagnostic = diagnostic.note(iosts.describe(&iosts.transitions[*number]));
        }
        collector
            .push(diagnostic.help("let an input or an output happen on the way, or merge the locations"));
    }
}

/// The locations that lie on a cycle of internal transitions: what is left when locations without an internal
/// successor or predecessor are taken away again and again, minus those that only lie between cycles (which
/// [`shortest_cycle`] finds to have none).
fn on_cycles(iosts: &Iosts, internal: &[Vec<usize>]) -> Vec<LocationId> {
    let count = iosts.locations.len();
    let mut left = vec![true; count];
    for forward in [true, false] {
        let mut degree = vec![0usize; count];
        let mut neighbours = vec![Vec::new(); count];
        for number in internal.iter().flatten() {
            let transition = &iosts.transitions[*number];
            let (a, b) = (transition.source.0 as usize, transition.target.0 as usize);
            let (a, b) = if forward { (a, b) } else { (b, a) };
            if left[a] && left[b] {
                degree[a] += 1;
                neighbours[b].push(a);
            }
        }
        let mut work: Vec<usize> = (0..count).filter(|at| left[*at] && degree[*at] == 0).collect();
        while let Some(at) = work.pop() {
            left[at] = false;
            for &before in &neighbours[at] {
                degree[before] -= 1;
                if degree[before] == 0 {
                    work.push(before);
                }
            }
        }
    }
    iosts.location_ids().filter(|id| left[id.0 as usize]).collect()
}

/// The numbers of the transitions of a shortest internal cycle through the location.
fn shortest_cycle(iosts: &Iosts, internal: &[Vec<usize>], start: LocationId) -> Option<Vec<usize>> {
    let mut came_by: Vec<Option<usize>> = vec![None; iosts.locations.len()];
    let mut work = VecDeque::from([start]);
    while let Some(at) = work.pop_front() {
        for &number in &internal[at.0 as usize] {
            let target = iosts.transitions[number].target;
            if target == start {
                let mut cycle = vec![number];
                let mut back = at;
                while back != start {
                    let by = came_by[back.0 as usize]?;
                    cycle.push(by);
                    back = iosts.transitions[by].source;
                }
                cycle.reverse();
                return Some(cycle);
            }
            if came_by[target.0 as usize].is_none() {
                came_by[target.0 as usize] = Some(number);
                work.push_back(target);
            }
        }
    }
    None
}

fn reachable(iosts: &Iosts) -> Vec<bool> {
    let outgoing = iosts.outgoing();
    let mut reached = vec![false; iosts.locations.len()];
    let mut work = vec![iosts.initial];
    reached[iosts.initial.0 as usize] = true;
    while let Some(at) = work.pop() {
        for &number in &outgoing[at.0 as usize] {
            let target = iosts.transitions[number].target.0 as usize;
            if !std::mem::replace(&mut reached[target], true) {
                work.push(LocationId(target as u32));
            }
        }
    }
    reached
}

/// Warns of locations that no path reaches, locations that are listed and not used, actions that no transition takes.
pub(super) fn check_unused(
    collector: &mut Collector,
    iosts: &Iosts,
    locations: &Locations,
    actions: Option<&Actions>,
) {
    let reached = reachable(iosts);
    for id in iosts.location_ids() {
        let at = id.0 as usize;
        let name = &iosts.location(id).name;
        let diagnostic = if !locations.used[at] {
            Diagnostic::warning("unused-location", format!("the location `{name}` is listed, but never used"))
                .at(locations.origins[at].clone(), "no transition names it")
        } else if !reached[at] {
            Diagnostic::warning("unreachable-location", format!("no path leads to the location `{name}`"))
                .at(locations.origins[at].clone(), "not reachable from the initial location")
        } else {
            continue;
        };
        collector.push(diagnostic);
    }
    let Some(actions) = actions else { return };
    let used: BTreeSet<_> = iosts.transitions.iter().map(|transition| transition.action).collect();
    for id in iosts.action_ids().filter(|id| !used.contains(id)) {
        let message =
            format!("the action `{}` is declared, but no transition takes it", iosts.action(id).name);
        let origin = actions.origins[id.0 as usize].clone();
        collector.push(Diagnostic::warning("unused-action", message).at(origin, "never taken"));
    }
}
