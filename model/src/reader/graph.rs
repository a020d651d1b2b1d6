//! Checks of the model's graph that need no solver: livelocks, unreachable locations, and unused
//! declarations.
//!
//! A syntactic livelock (thesis 6.1) is a cycle of internal transitions. Every strongly connected component
//! of the internal transitions holds one or none. A shortest cycle of each is shown, found by breadth-first
//! search from its first location. Cost: linear in the graph per component with a cycle.

use std::collections::{BTreeSet, VecDeque};

use crate::diagnostic::{Diagnostic, Origin, distance};
use crate::iosts::{ActionKind, Iosts, LocationId, TransitionId};
use crate::numbered::Numbered;
use crate::reader::collect::{Collector, listed};
use crate::reader::declarations::{Actions, ReadLocations};

/// The most livelocks that are shown. A model with more of them has one cause.
const MAX_SHOWN: usize = 10;
/// The help text for a livelock in a model that is no composition.
pub const SEE_OR_MERGE: &str = "let an input or an output happen on the way, or merge the locations";
/// The most steps of a livelock that are noted.
const MAX_STEPS: usize = 50;

/// Reports cycles of internal transitions: an error if the graph reaches one, otherwise a warning. `place`
/// returns the place of a transition in the collector's file, and `help` says what to do.
pub fn check_livelocks(
    collector: &mut Collector,
    iosts: &Iosts,
    place: &dyn Fn(TransitionId) -> Option<Origin>,
    help: &str,
) {
    let reached = iosts.reachable_from(iosts.initial);
    let internal: Internal = iosts
        .outgoing()
        .into_iter()
        .map(|numbers| {
            let is_internal =
                |n: &TransitionId| iosts.action(iosts.transitions[*n].action).kind == ActionKind::Internal;
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
        let is_reached = reached[start];
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
            diagnostic = diagnostic.at(place(*number), label);
        }
        for number in cycle.iter().take(MAX_STEPS) {
            diagnostic = diagnostic.note(iosts.describe(&iosts.transitions[*number]));
        }
        if cycle.len() > MAX_STEPS {
            diagnostic = diagnostic.note(format!("... and {} more steps", cycle.len() - MAX_STEPS));
        }
        collector.push(diagnostic.help(help));
    }
}

/// For each location, the internal transitions that leave it.
type Internal = Numbered<LocationId, Vec<TransitionId>>;

/// The locations on cycles of internal transitions. They have a loop, or their strongly connected component
/// has other locations. Components by path (Gabow, IPL 2000,
/// <https://doi.org/10.1016/S0020-0190(00)00051-X>). The stack is explicit, since a chain may be as long as
/// the file.
fn on_cycles(iosts: &Iosts, internal: &Internal) -> Vec<LocationId> {
    const DONE: usize = usize::MAX;
    let count = iosts.locations.len();
    let mut number = Numbered::filled(None, count);
    let mut found = Numbered::filled(false, count);
    // Locations whose component is not complete, and among them the first location of each component, as far
    // as it is known.
    let (mut open, mut roots): (Vec<LocationId>, Vec<LocationId>) = (Vec::new(), Vec::new());
    // The path. Each location has the position of its next transition.
    let mut path: Vec<(LocationId, usize)> = Vec::new();
    for start in iosts.location_ids() {
        if number[start].is_none() {
            path.push((start, 0));
        }
        while let Some((at, next)) = path.pop() {
            if next == 0 {
                number[at] = Some(open.len());
                open.push(at);
                roots.push(at);
            }
            if let Some(&transition) = internal[at].get(next) {
                path.push((at, next + 1));
                let target = iosts.transitions[transition].target;
                found[at] |= target == at;
                match number[target] {
                    None => path.push((target, 0)),
                    Some(DONE) => {}
                    Some(known) => {
                        while roots.last().is_some_and(|root| number[*root] > Some(known)) {
                            roots.pop();
                        }
                    }
                }
            } else if roots.last() == Some(&at) {
                roots.pop();
                let component = open.split_off(number[at].unwrap_or(0));
                for &member in &component {
                    number[member] = Some(DONE);
                    found[member] |= component.len() > 1;
                }
            }
        }
    }
    iosts.location_ids().filter(|id| found[*id]).collect()
}

/// Finds the transitions of a shortest internal cycle through the location.
fn shortest_cycle(iosts: &Iosts, internal: &Internal, start: LocationId) -> Option<Vec<TransitionId>> {
    let mut came_by: Numbered<LocationId, Option<TransitionId>> =
        Numbered::filled(None, iosts.locations.len());
    let mut work = VecDeque::from([start]);
    while let Some(at) = work.pop_front() {
        for &number in &internal[at] {
            let target = iosts.transitions[number].target;
            if target == start {
                let mut cycle = vec![number];
                let mut back = at;
                while back != start {
                    let by = came_by[back]?;
                    cycle.push(by);
                    back = iosts.transitions[by].source;
                }
                cycle.reverse();
                return Some(cycle);
            }
            if came_by[target].is_none() {
                came_by[target] = Some(number);
                work.push_back(target);
            }
        }
    }
    None
}

/// Reports locations with a misspelt name. Without `locations:` a misspelt name is a location of its own, and
/// the location that was meant is not entered any more.
///
/// A suspect is named once in the whole file, nothing leaves it (which alone is legal), and its name is
/// nearly that of a location that is left. Numbered names (`Wait1`, `Wait2`; `WaitA`, `WaitB`) are near on
/// purpose. If no path leads to that other location, both ends of the mistake are seen, and it is an error.
/// If one does, it is a warning, and for one letter only. A user who means two locations lists them under
/// `locations:`.
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
    let mut named = Numbered::filled(0usize, reached.len());
    let mut is_left = Numbered::filled(false, reached.len());
    named[iosts.initial] += 1;
    for transition in &iosts.transitions {
        named[transition.source] += 1;
        named[transition.target] += 1;
        is_left[transition.source] = true;
    }
    for id in iosts.location_ids().filter(|id| named[*id] == 1 && !is_left[*id]) {
        let name = iosts.location(id).name.as_str();
        let others = iosts.locations.iter().zip(&is_left).filter(|(_, is_left)| **is_left);
        let others =
            others.map(|(other, _)| other.name.as_str()).filter(|other| !differ_by_count(name, other));
        let Some(near) = collector.nearest(name, others) else { continue };
        let Some(meant) = locations.find(near) else { continue };
        let is_reached = reached[meant];
        if is_reached && !is_one_letter_off(name, near) {
            continue;
        }
        let what = if id == iosts.initial { "initial" } else { "entered" };
        let message = match id == iosts.initial {
            true => format!("nothing leaves the initial location `{name}`"),
            false => format!("the location `{name}` is entered, but nothing leaves it"),
        };
        let mut diagnostic = match is_reached {
            true => Diagnostic::warning("misspelt-location", message),
            false => Diagnostic::error("misspelt-location", message),
        };
        diagnostic =
            diagnostic.at(locations.origins[id].clone(), format!("{what} here, and named nowhere else"));
        if !is_reached {
            diagnostic = diagnostic.at(locations.origins[meant].clone(), "no path leads to this one");
            for (known, behind) in explained.iter_mut().zip(iosts.reachable_from(meant)) {
                *known |= behind;
            }
        }
        collector.push(diagnostic.help(format!(
            "did you mean `{near}`? If both are meant, list all locations under `locations:`"
        )));
    }
    explained
}

/// Do the names differ only by a number, or by their last letter?
fn differ_by_count(one: &str, other: &str) -> bool {
    let without_digits = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "");
    let without_last = |name: &str| name.char_indices().last().map(|(at, _)| name[..at].to_owned());
    without_digits(one) == without_digits(other) || without_last(one) == without_last(other)
}

/// Do the names differ by one letter or a swap of two? Short names are all near, and do not count.
fn is_one_letter_off(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    one.len().min(other.len()) >= 4 && distance(&one, &other, 1).is_some()
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
    for at in iosts.location_ids() {
        if explained[at] {
            continue;
        }
        let name = &iosts.location(at).name;
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
    let unused: Vec<_> = iosts.action_ids().filter(|id| !used.contains(id)).collect();
    if unused.is_empty() {
        return;
    }
    let names = listed(unused.iter().map(|id| iosts.action(*id).name.as_str()));
    let message = match unused.len() {
        1 => format!("the action {names} is declared, but no transition takes it"),
        _ => format!("the actions {names} are declared, but no transition takes them"),
    };
    let warning = Diagnostic::warning("unused-action", message);
    collector.push(
        unused.iter().fold(warning, |warning, id| warning.at(actions.origins[*id].clone(), "never taken")),
    );
}
