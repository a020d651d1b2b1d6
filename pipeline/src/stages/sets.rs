//! Common parts of the subset constructions: names of sets of locations, and how long runs stay among sets.

use std::collections::HashSet;

use coreach_model::iosts::{Location, Transition};
use coreach_model::term::{Substitution, substitute_all};
use coreach_model::{LocationId, Number, Numbered, TransitionId};
use petgraph::algo::toposort;
use petgraph::graph::DiGraph;

use crate::artifact::{Closed, Member};
use crate::names::{UsedNames, joined_label, joined_name};

/// Composes two effects: first `earlier`, then `step`. A variable that keeps its value is left out.
pub(super) fn compose_effects(earlier: &Substitution, step: &Substitution) -> Substitution {
    let values = substitute_all(step.values(), earlier);
    let mut both = earlier.clone();
    both.extend(step.keys().cloned().zip(values));
    both.retain(|variable, value| value.as_datum() != Some(variable));
    both
}

/// The assignments of a member that the data do not show, as one effect.
pub(crate) fn pending_effect(member: &Member) -> Substitution {
    member.steps.iter().fold(Substitution::new(), |earlier, step| compose_effects(&earlier, step))
}

/// Is the set one member that hides nothing? Then it is a location as it was.
pub(super) fn is_ordinary(members: &[Member]) -> bool {
    members.len() == 1 && members[0].steps.is_empty()
}

/// Makes one location for each set. A set of one location keeps its name, since later stages look it up by
/// that. If two sets consist of the same one location, because one of them is an end, the second gets a new
/// name.
pub(super) fn name_sets(
    closed: &Closed,
    sets: &Numbered<LocationId, Vec<Member>>,
) -> Numbered<LocationId, Location> {
    let iosts = &closed.iosts;
    let ordinary = sets.iter().filter(|members| is_ordinary(members));
    let kept = ordinary.map(|members| iosts.location(members[0].location).name.as_str());
    let mut names = UsedNames::of(kept);
    let mut named = HashSet::new();
    sets.map(|members| {
        let parts: Vec<&Location> = members.iter().map(|member| iosts.location(member.location)).collect();
        if let [location] = parts.as_slice() {
            return match named.insert(members[0].location) {
                true => (*location).clone(),
                false => Location { name: names.unique(&location.name), ..(*location).clone() },
            };
        }
        let name = names.unique(&joined_name(parts.iter().map(|part| part.name.as_str())));
        let label = joined_label(parts.iter().map(|part| part.label.as_str()));
        Location { label, name, description: None }
    })
}

/// Lists the sets that are no ordinary locations, each before those that follow it. `None` if they have a
/// cycle.
fn order_of_sets(
    sets: &Numbered<LocationId, Vec<Member>>,
    transitions: &Numbered<TransitionId, Transition>,
) -> Option<Vec<LocationId>> {
    let is_set = |number: LocationId| !is_ordinary(&sets[number]);
    let among = transitions.iter().filter(|t| is_set(t.source) && is_set(t.target));
    let mut graph: DiGraph<(), ()> = DiGraph::from_edges(among.map(|t| (t.source.0, t.target.0)));
    // Edges alone add no nodes behind the last number that they mention.
    while graph.node_count() < sets.len() {
        graph.add_node(());
    }
    let order = toposort(&graph, None).ok()?;
    let numbers = order.into_iter().map(|node| LocationId::of(node.index()));
    Some(numbers.filter(|&number| is_set(number)).collect())
}

/// Finds the most events in a row that stay among sets that are no ordinary locations. `None` if they may
/// stay for ever.
pub(super) fn longest_stay(
    sets: &Numbered<LocationId, Vec<Member>>,
    transitions: &Numbered<TransitionId, Transition>,
) -> Option<usize> {
    let order = order_of_sets(sets, transitions)?;
    let mut longest = sets.map(|_| 0);
    let mut targets = sets.map(|_| Vec::new());
    for transition in transitions {
        targets[transition.source].push(transition.target);
    }
    for &number in &order {
        for &target in &targets[number] {
            longest[target] = longest[target].max(longest[number] + 1);
        }
    }
    Some(order.into_iter().map(|number| longest[number]).max().unwrap_or(0))
}
