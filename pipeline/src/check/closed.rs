//! Checks the closed machine against the product.
//!
//! For each location of the product this check lists what it can do visibly, and where it gets by internal
//! steps alone. The lists are made backwards, while the stage follows steps forwards. A location has its own
//! visible transitions, and for each internal step the ways of the location behind it, with the step in
//! front. Ways of one action, target and effect are joined, under the disjunction of their guards. If
//! internal steps have a cycle, ways that pass no location twice are enough: the others cannot hold, or the
//! stage would have stopped. A location with more than [`MOST_WAYS`] ways, or in a cycle of more than
//! [`LONGEST_CYCLE`] locations, is only counted.

use std::collections::{HashMap, HashSet};

use coreach_analyses::solver::{Answer, Solver};
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, LocationId, Number, Numbered, Term, TransitionId};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::GUARD_CANNOT_HOLD;
use super::obligation::{Checking, Findings, check_definedness, compose_effects, same_values, within_types};
use crate::artifact::{Closed, Product, Rest};
use crate::limits::{Limits, Quantity};

/// The most ways of one location that are compared.
const MOST_WAYS: usize = 400;

/// The most locations of a cycle of internal steps that are looked at.
const LONGEST_CYCLE: usize = 8;

/// Checks the result of `close` against the product. The rules have the numbers of the list in [`super`].
pub fn check_closed(closed: &Closed, product: &Product, solver: &mut dyn Solver) -> Findings {
    const SAME: &str = "closed 4";
    let mut checking = Checking::new(solver);
    let (iosts, product_iosts) = (&closed.iosts, &product.iosts);
    if !checking.well_formed(iosts, &[closed.given.len(), closed.accepting.len(), closed.rests.len()], SAME) {
        return checking.found;
    }
    let distinct: HashSet<&LocationId> = closed.given.iter().collect();
    let exists = |location: &LocationId| product_iosts.locations.has(*location);
    let is_whole = distinct.len() == closed.given.len() && closed.given.iter().all(exists);
    if !checking.holds(is_whole, SAME, || "a location of the product appears twice, or is missing".to_owned())
    {
        return checking.found;
    }
    for action in iosts.actions.iter().filter(|action| !action.is_visible()) {
        checking.broken("closed 1", &action.name);
    }
    let product_actions: Numbered<ActionId, ActionId> =
        product_iosts.action_ids().filter(|action| product_iosts.action(*action).is_visible()).collect();
    let actions = product_actions.map(|action| product_iosts.action(*action).clone());
    let is_same = iosts.variables == product_iosts.variables
        && iosts.constants == product_iosts.constants
        && iosts.actions == actions
        && closed.given[iosts.initial] == product_iosts.initial;
    checking.holds(is_same, SAME, || "the data, the actions or the initial location".to_owned());
    // Below, the numbers of actions are those of `product_actions`.
    if iosts.actions != actions {
        return checking.found;
    }
    checking.same_initial_condition(product_iosts, iosts, SAME);
    for (location, of_product) in closed.given.numbered() {
        let is_accepting = closed.accepting[location] == product.accepting[*of_product];
        let has_name = iosts.locations[location] == product_iosts.locations[*of_product];
        checking.holds(is_accepting && has_name, "closed 6", || iosts.locations[location].label.clone());
    }
    check_definedness(&mut checking, iosts, &|_| Term::yes(), "closed: a guard without a value");
    for t in &iosts.transitions {
        let (guard, values) = (std::slice::from_ref(&t.guard), [within_types(&t.assignments)]);
        checking.implies(guard, &values, "closed: a value outside its type", || iosts.describe(t));
        if checking.ask(guard) == Answer::Unsat {
            checking.broken(GUARD_CANNOT_HOLD, iosts.describe(t));
        }
    }
    let is_reached = iosts.reachable_from(iosts.initial);
    checking.holds(is_reached.iter().all(|reached| *reached), "closed 3", || iosts.name.clone());
    check_ways(&mut checking, closed, product_iosts, &product_actions);
    checking.found
}

/// Checks that the ways of each location are those of the product: none is added, and none is lost.
/// `product_actions` has the product's number of each action.
fn check_ways(
    checking: &mut Checking<'_>,
    closed: &Closed,
    product_iosts: &Iosts,
    product_actions: &Numbered<ActionId, ActionId>,
) {
    let iosts = &closed.iosts;
    let ways = ClosedWays::of(product_iosts);
    let (outgoing, product_outgoing) = (iosts.outgoing(), product_iosts.outgoing());
    for (source, product_source) in iosts.location_ids().zip(&closed.given) {
        // There are too many ways to compare them.
        let Some(product_ways) = ways.of_location(*product_source) else {
            checking.found.unchecked += 1;
            continue;
        };
        let visible_ways = outgoing[source].iter().map(|number| {
            let t = &iosts.transitions[*number];
            let key = (Some(product_actions[t.action]), closed.given[t.target]);
            ClosedWay { key, effect: t.assignments.clone(), guard: t.guard.clone() }
        });
        let rests = closed.rests[source].iter().map(|rest| {
            let key = (None, rest.at);
            ClosedWay { key, effect: rest.effect.clone(), guard: rest.guard.clone() }
        });
        let closed_ways: Vec<ClosedWay> = visible_ways.chain(rests).collect();
        for rest in &closed.rests[source] {
            check_rest(checking, closed, product_iosts, &product_outgoing[rest.at], rest, source);
        }
        // A way of the closed machine must be one of the product, or it was added. The other direction finds
        // what was lost.
        for (checked, known, is_added) in
            [(&closed_ways, product_ways, true), (product_ways, &closed_ways, false)]
        {
            for way in checked {
                let (action, target) = way.key;
                let rule = match (action, is_added) {
                    (Some(_), true) => "closed 5: added",
                    (Some(_), false) => "closed 5: lost",
                    (None, true) => "closed 7: added",
                    (None, false) => "closed 7: lost",
                };
                let matching = known.iter().filter(|candidate| candidate.key == way.key);
                let conclusions: Vec<Term> = matching
                    .map(|candidate| {
                        let equal = same_values(&way.effect, &candidate.effect);
                        Term::and([candidate.guard.clone(), equal])
                    })
                    .collect();
                checking.implies(std::slice::from_ref(&way.guard), &conclusions, rule, || {
                    let source = &iosts.location(source).label;
                    let action = action.map_or("", |action| product_iosts.action(action).name.as_str());
                    format!("{source} -{action}-> {}", product_iosts.location(target).label)
                });
            }
        }
    }
}

/// Checks what a [`Rest`] of `closed_source` says: when no internal step goes on from there, and which
/// outputs are possible there. `outgoing` has the product's transitions from there.
///
/// A condition of the product at the rest is put over the data before the internal steps by the rest's
/// effect. All targets are compared in the product's numbers.
fn check_rest(
    checking: &mut Checking<'_>,
    closed: &Closed,
    product_iosts: &Iosts,
    outgoing: &[TransitionId],
    rest: &Rest,
    closed_source: LocationId,
) {
    const RULE: &str = "closed 7";
    let (iosts, context) = (&closed.iosts, std::slice::from_ref(&rest.guard));
    let place =
        || format!("{} in {}", iosts.location(closed_source).label, product_iosts.location(rest.at).label);
    let transitions_of = |kind: ActionKind| {
        let transitions = outgoing.iter().map(|number| &product_iosts.transitions[*number]);
        transitions.filter(move |t| product_iosts.action(t.action).kind == kind)
    };
    let internal = transitions_of(ActionKind::Internal).map(|t| substitute(&t.guard, &rest.effect));
    checking.equivalent(context, &rest.stays, &Term::or(internal).not(), RULE, place);
    let mut listed = Vec::new();
    for number in &rest.outputs {
        let Some(t) = iosts.transitions.has(*number).then(|| &iosts.transitions[*number]) else {
            checking.broken(RULE, place());
            return;
        };
        listed.push((iosts.action(t.action), closed.given[t.target], t.guard.clone()));
        checking.holds(t.source == closed_source, RULE, place);
    }
    let possible = transitions_of(ActionKind::Output).map(|t| {
        let guard = substitute(&t.guard, &rest.effect);
        (product_iosts.action(t.action), t.target, Term::and([rest.guard.clone(), guard]))
    });
    let possible: Vec<_> = possible.collect();
    // Each guard implies those of the other list that have its action and target.
    for (checked, known) in [(&possible, &listed), (&listed, &possible)] {
        for (action, target, guard) in checked {
            let matching = known.iter().filter(|(a, t, _)| a == action && t == target);
            let guards: Vec<Term> = matching.map(|(.., guard)| guard.clone()).collect();
            checking.implies(std::slice::from_ref(guard), &guards, RULE, place);
        }
    }
}

/// One way to do something visible, in the numbers of the product. Without an action it is a way to a
/// location by internal steps alone.
#[derive(Clone)]
struct ClosedWay {
    /// The action, and the location behind the way. Ways are compared with those of the same key.
    key: (Option<ActionId>, LocationId),
    effect: Substitution,
    guard: Term,
}

/// The ways of each location. `None` if there is too much to compare ([`MOST_WAYS`], [`LONGEST_CYCLE`]).
struct ClosedWays(Numbered<LocationId, Option<Vec<ClosedWay>>>);

impl ClosedWays {
    /// Finds the ways of each location, component by component of the internal steps.
    fn of(iosts: &Iosts) -> Self {
        let outgoing = iosts.outgoing();
        let is_internal = |t: &Transition| !iosts.action(t.action).is_visible();
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let nodes = iosts.locations.map(|_| graph.add_node(()));
        for t in iosts.transitions.iter().filter(|t| is_internal(t)) {
            graph.add_edge(nodes[t.source], nodes[t.target], ());
        }
        let mut ways = ClosedWays(iosts.locations.map(|_| None));
        // Kosaraju's algorithm gives the components behind first.
        for component in kosaraju_scc(&graph) {
            if component.len() > LONGEST_CYCLE {
                continue;
            }
            let inside: Vec<LocationId> = component.iter().map(|node| LocationId::of(node.index())).collect();
            let transitions_from =
                |location: LocationId| outgoing[location].iter().map(|number| &iosts.transitions[*number]);
            let is_inner = |t: &Transition| is_internal(t) && inside.contains(&t.target);
            let without_inner_steps = |&location: &LocationId| {
                // Without any step, the run stays where it is.
                let stay =
                    ClosedWay { key: (None, location), effect: Substitution::new(), guard: Term::yes() };
                let mut found = vec![stay];
                for t in transitions_from(location).filter(|t| !is_inner(t)) {
                    if is_internal(t) {
                        found.extend(ways.of_location(t.target)?.iter().map(|way| prepend_step(t, way)));
                    } else {
                        let key = (Some(t.action), t.target);
                        let (effect, guard) = (t.assignments.clone(), t.guard.clone());
                        found.push(ClosedWay { key, effect, guard });
                    }
                }
                join_ways(found)
            };
            let shortest: Vec<Option<Vec<ClosedWay>>> = inside.iter().map(without_inner_steps).collect();
            for (&location, found) in inside.iter().zip(&shortest) {
                ways.0[location] = found.clone();
            }
            // Each round puts one inner step in front of the ways of the round before. So the results are
            // stored only after the round.
            for _ in 1..inside.len() {
                let with_inner_step = |(&location, found): (&LocationId, &Option<Vec<ClosedWay>>)| {
                    let mut found = found.clone()?;
                    for t in transitions_from(location).filter(|t| is_inner(t)) {
                        found.extend(ways.of_location(t.target)?.iter().map(|way| prepend_step(t, way)));
                    }
                    join_ways(found)
                };
                let longer: Vec<_> = inside.iter().zip(&shortest).map(with_inner_step).collect();
                for (&location, found) in inside.iter().zip(longer) {
                    ways.0[location] = found;
                }
            }
        }
        ways
    }

    fn of_location(&self, location: LocationId) -> Option<&Vec<ClosedWay>> {
        self.0[location].as_ref()
    }
}

/// Puts an internal step in front of a way.
fn prepend_step(step: &Transition, way: &ClosedWay) -> ClosedWay {
    let mut effect = compose_effects(&step.assignments, &way.effect);
    // The variable keeps its value. Without `x := x`, effects that are equal have one form.
    effect.retain(|variable, value| value.as_datum() != Some(variable));
    let guard = Term::and([step.guard.clone(), substitute(&way.guard, &step.assignments)]);
    ClosedWay { key: way.key, effect, guard }
}

/// Joins ways that differ in their guards alone. The result is `None` if the joined ways are too many, or one
/// of them is too long.
fn join_ways(ways: Vec<ClosedWay>) -> Option<Vec<ClosedWay>> {
    let mut index: HashMap<_, usize> = HashMap::new();
    let mut groups: Vec<(ClosedWay, Vec<Term>)> = Vec::new();
    for way in ways {
        let group = *index.entry((way.key, way.effect.clone())).or_insert(groups.len());
        let guard = way.guard.clone();
        match groups.get_mut(group) {
            Some((_, guards)) => guards.push(guard),
            None => groups.push((way, vec![guard])),
        }
    }
    let joined = groups.into_iter().map(|(way, guards)| ClosedWay { guard: Term::or(guards), ..way });
    let joined: Vec<ClosedWay> = joined.filter(|way| !way.guard.is_false()).collect();
    let limit = Limits::default().of(Quantity::Nodes);
    let is_short =
        |way: &ClosedWay| way.effect.values().chain([&way.guard]).all(|t| t.written_size() <= limit);
    (joined.len() <= MOST_WAYS && joined.iter().all(is_short)).then_some(joined)
}
