//! Checks of the model's graph that need no solver: livelocks, unreachable locations, and unused
//! declarations.
//!
//! A syntactic livelock (thesis 6.1) is a cycle of internal transitions. Every strongly connected component
//! of the internal transitions holds one or none. A shortest cycle of each is shown, found by breadth-first
//! search from its first location. Cost: linear in the graph per component with a cycle.

use std::collections::{BTreeSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use crate::diagnostic::{Diagnostic, Origin};
use crate::iosts::{ActionKind, Iosts, LocationId, TransitionId};
use crate::limits::MANY_SHOWN;
use crate::numbered::{Number, Numbered};
use crate::reader::collect::{Collector, listed};
use crate::reader::declarations::{Actions, ReadLocations};

/// The help text for a livelock in a model that is no composition.
pub const SEE_OR_MERGE: &str = "add an input or an output to the cycle, or merge the locations";

/// Reports cycles of internal transitions: an error if the graph reaches one, otherwise a warning. `place`
/// returns the place of a transition in the collector's file, and `help` says what to do.
pub fn check_livelocks(
    collector: &mut Collector,
    iosts: &Iosts,
    place: &dyn Fn(TransitionId) -> Option<Origin>,
    help: &str,
) {
    let reached = iosts.reachable_from(iosts.initial);
    let is_internal = |n: &TransitionId| iosts.action_of(*n).kind == ActionKind::Internal;
    let mut internal: Internal = iosts.outgoing();
    internal.iter_mut().for_each(|numbers| numbers.retain(is_internal));
    // The locations of the cycles that are shown: one cycle is enough for all of them.
    let mut done: BTreeSet<LocationId> = BTreeSet::new();
    let mut shown = 0;
    for start in find_locations_on_cycles(iosts, &internal) {
        if done.contains(&start) || shown == MANY_SHOWN {
            continue;
        }
        let Some(cycle) = find_shortest_cycle(iosts, &internal, start) else { continue };
        shown += 1;
        done.extend(cycle.iter().map(|number| iosts.transitions[*number].source));
        let cycle_of = "a cycle of internal actions";
        let mut diagnostic = match reached[start] {
            true => {
                Diagnostic::error("livelock", format!("{cycle_of}: the system could stay silent for ever"))
            }
            false => Diagnostic::warning("livelock", format!("{cycle_of}, in a part that no path reaches")),
        };
        for (step, number) in cycle.iter().enumerate().take(8) {
            let label = format!("step {} of the cycle", step + 1);
            diagnostic = diagnostic.at(place(*number), label);
        }
        for number in cycle.iter().take(MANY_SHOWN) {
            diagnostic = diagnostic.note(iosts.describe(&iosts.transitions[*number]));
        }
        if cycle.len() > MANY_SHOWN {
            diagnostic = diagnostic.note(format!("... and {} more steps", cycle.len() - MANY_SHOWN));
        }
        collector.push(diagnostic.help(help));
    }
}

/// For each location, the internal transitions that leave it.
type Internal = Numbered<LocationId, Vec<TransitionId>>;

/// Finds the locations on cycles of internal transitions. They have a loop, or their strongly connected
/// component has other locations.
fn find_locations_on_cycles(iosts: &Iosts, internal: &Internal) -> Vec<LocationId> {
    let ends = internal.iter().flatten().map(|number| &iosts.transitions[*number]);
    let graph = DiGraph::<(), ()>::from_edges(ends.map(|t| (t.source.0, t.target.0)));
    let mut on_cycles = Vec::new();
    // This function has a stack of its own: a chain may be as long as the file.
    for component in kosaraju_scc(&graph) {
        let is_cycle = component.len() > 1 || graph.contains_edge(component[0], component[0]);
        on_cycles.extend(component.iter().filter(|_| is_cycle).map(|node| LocationId::of(node.index())));
    }
    on_cycles.sort_unstable();
    on_cycles
}

/// Finds the transitions of a shortest internal cycle through the location. `None` if none does.
fn find_shortest_cycle(iosts: &Iosts, internal: &Internal, start: LocationId) -> Option<Vec<TransitionId>> {
    let mut came_by: Numbered<LocationId, Option<TransitionId>> =
        Numbered::filled(None, iosts.locations.len());
    let mut unvisited = VecDeque::from([start]);
    while let Some(location) = unvisited.pop_front() {
        for &number in &internal[location] {
            let target = iosts.transitions[number].target;
            if target == start {
                // The path back to the start, which is then turned round.
                let mut cycle = vec![number];
                let mut member = location;
                while member != start {
                    let previous = came_by[member]?;
                    cycle.push(previous);
                    member = iosts.transitions[previous].source;
                }
                cycle.reverse();
                return Some(cycle);
            }
            if came_by[target].is_none() {
                came_by[target] = Some(number);
                unvisited.push_back(target);
            }
        }
    }
    None
}

/// Reports locations with a misspelt name. Without `locations:` a misspelt name is a location of its own, and
/// the location that was meant is not entered any more.
///
/// A suspect is named once in the whole file, nothing leaves it (which alone is legal), and its name is
/// similar to that of a location which a transition leaves. Numbered names (`Wait1`, `Wait2`; `WaitA`,
/// `WaitB`) are similar on purpose. If no path leads to that other location, both ends of the mistake are
/// seen, and it is an error. If one does, it is a warning, and for one letter only. A user who means two
/// locations lists them under `locations:`.
///
/// Returns the locations that no path reaches for this reason.
fn check_misspelt(
    collector: &mut Collector,
    iosts: &Iosts,
    locations: &ReadLocations,
    reached: &Numbered<LocationId, bool>,
) -> Numbered<LocationId, bool> {
    let mut explained = Numbered::filled(false, reached.len());
    if locations.declared {
        return explained;
    }
    let mut mention_count = Numbered::filled(0usize, reached.len());
    let mut has_outgoing = Numbered::filled(false, reached.len());
    mention_count[iosts.initial] += 1;
    for transition in &iosts.transitions {
        mention_count[transition.source] += 1;
        mention_count[transition.target] += 1;
        has_outgoing[transition.source] = true;
    }
    for id in iosts.location_ids().filter(|id| mention_count[*id] == 1 && !has_outgoing[*id]) {
        let name = iosts.location(id).name.as_str();
        let others = iosts.locations.iter().zip(&has_outgoing).filter(|(_, has_outgoing)| **has_outgoing);
        let others =
            others.map(|(other, _)| other.name.as_str()).filter(|other| !differ_by_count(name, other));
        let Some(similar) = collector.nearest(name, others) else { continue };
        let Some(meant) = locations.find(similar) else { continue };
        let is_reached = reached[meant];
        if is_reached && !is_one_letter_off(name, similar) {
            continue;
        }
        let (message, label) = match id == iosts.initial {
            true => (format!("no transition leaves the initial location `{name}`"), "initial"),
            false => (format!("the location `{name}` is entered, but no transition leaves it"), "entered"),
        };
        let diagnostic = match is_reached {
            true => Diagnostic::warning("misspelt-location", message),
            false => Diagnostic::error("misspelt-location", message),
        };
        let label = format!("{label} here, and named nowhere else");
        let mut diagnostic = diagnostic.at(locations.origins[id].clone(), label);
        if !is_reached {
            diagnostic = diagnostic.at(locations.origins[meant].clone(), "no path leads to this one");
            // Locations after the meant one are not reached for the same reason.
            for (is_explained, is_after) in explained.iter_mut().zip(iosts.reachable_from(meant)) {
                *is_explained |= is_after;
            }
        }
        collector.push(diagnostic.help(format!(
            "did you mean `{similar}`? If both are meant, list all locations under `locations:`"
        )));
    }
    explained
}

/// Do the names differ only by a number, or by their last letter?
fn differ_by_count(a: &str, b: &str) -> bool {
    let without_digits = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "");
    let without_last = |name: &str| name.char_indices().last().map(|(start, _)| name[..start].to_owned());
    without_digits(a) == without_digits(b) || without_last(a) == without_last(b)
}

/// Do the names differ by one letter or a swap of two? Short names are all similar, and do not count.
fn is_one_letter_off(a: &str, b: &str) -> bool {
    let (letters_a, letters_b) = (a.chars().count(), b.chars().count());
    letters_a.min(letters_b) >= 4 && letters_a.abs_diff(letters_b) <= 1 && strsim::osa_distance(a, b) <= 1
}

/// Warns of locations that no path reaches, of listed locations that are not used, and of actions that no
/// transition takes.
pub(super) fn check_unused(
    collector: &mut Collector,
    iosts: &Iosts,
    locations: &ReadLocations,
    actions: Option<&Actions>,
) {
    let reached = iosts.reachable_from(iosts.initial);
    let explained = check_misspelt(collector, iosts, locations, &reached);
    for id in iosts.location_ids() {
        if explained[id] {
            continue;
        }
        let name = &iosts.location(id).name;
        let diagnostic = if !locations.used[id] {
            Diagnostic::warning("unused-location", format!("the location `{name}` is listed, but never used"))
                .at(locations.origins[id].clone(), "no transition names it")
        } else if !reached[id] {
            Diagnostic::warning("unreachable-location", format!("no path leads to the location `{name}`"))
                .at(locations.origins[id].clone(), "not reachable from the initial location")
        } else {
            continue;
        };
        collector.push(diagnostic);
    }
    let Some(actions) = actions else { return };
    let used: BTreeSet<_> = iosts.transitions.iter().map(|transition| transition.action).collect();
    let unused: Vec<_> = iosts.action_ids().filter(|id| !used.contains(id)).collect();
    if unused.is_empty() {
        return;
    }
    let names = listed(unused.iter().map(|id| iosts.action(*id).name.as_str()));
    let message = match unused.len() {
        1 => format!("the action {names} is declared, but no transition takes it"),
        _ => format!("the actions {names} are declared, but no transition takes them"),
    };
    let mut warning = Diagnostic::warning("unused-action", message);
    let is_end = |id: &LocationId| reached[*id] && !iosts.transitions.iter().any(|step| step.source == *id);
    let ends: Vec<&str> =
        iosts.location_ids().filter(is_end).map(|id| iosts.location(id).name.as_str()).collect();
    if !ends.is_empty() {
        warning = warning.note(format!("no transition leaves {}: is one missing there?", listed(ends)));
    }
    collector.push(
        unused.iter().fold(warning, |warning, id| warning.at(actions.origins[*id].clone(), "never taken")),
    );
}
