//! Checks the closed machine against the product.
//!
//! For each location of the product this check lists what it can do visibly, and where it gets by internal
//! steps alone. The lists are made backwards: a location has its own visible transitions, and for each
//! internal step the ways of the location behind it, with the step in front. So the locations behind come
//! first, and nothing is followed from the front, as the stage does. Ways of one action, target and effect
//! are one, under the disjunction of their guards. If internal steps have a cycle, ways that pass no location
//! twice are enough: the others cannot hold, or the stage would have stopped. A location with more than
//! [`MOST_WAYS`] ways, or in a cycle of more than [`LONGEST_CYCLE`] locations, is only counted.

use std::collections::HashMap;

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

/// Checks the result of `close` against the product that it was made from.
pub fn check_closed(closed: &Closed, product: &Product, solver: &mut dyn Solver) -> Findings {
    const SAME: &str = "closed 4";
    let mut checking = Checking::new(solver);
    let (iosts, before) = (&closed.iosts, &product.iosts);
    if !checking.well_formed(iosts, &[closed.given.len(), closed.accepting.len(), closed.rests.len()], SAME) {
        return checking.found;
    }
    let index: HashMap<_, _> = closed.given.iter().copied().zip(iosts.location_ids()).collect();
    let known = |location: &LocationId| before.locations.has(*location);
    if index.len() != closed.given.len() || !closed.given.iter().all(known) {
        checking.broken(SAME, "a location of the product is there twice, or none");
        return checking.found;
    }
    for action in iosts.actions.iter().filter(|action| !action.is_visible()) {
        checking.broken("closed 1", &action.name);
    }
    let visible: Numbered<ActionId, ActionId> =
        before.action_ids().filter(|action| before.action(*action).is_visible()).collect();
    let actions = visible.map(|action| before.action(*action).clone());
    let is_same = iosts.variables == before.variables
        && iosts.constants == before.constants
        && iosts.actions == actions
        && closed.given[iosts.initial] == before.initial;
    checking.holds(is_same, SAME, || "the data, the actions or the initial location".to_owned());
    if iosts.actions != actions {
        return checking.found;
    }
    let (one, other) = (&before.initial_condition, &iosts.initial_condition);
    checking.equivalent(&[], one, other, SAME, || "the initial condition".to_owned());
    for (at, given) in closed.given.numbered() {
        let is_accepting = closed.accepting[at] == product.accepting[*given];
        let has_name = iosts.locations[at] == before.locations[*given];
        checking.holds(is_accepting && has_name, "closed 6", || iosts.locations[at].label.clone());
    }
    check_definedness(&mut checking, iosts, &|_| Term::yes(), "closed: a guard without a value");
    for t in &iosts.transitions {
        let (guard, values) = (std::slice::from_ref(&t.guard), [within_types(&t.assignments)]);
        checking.implies(guard, &values, "closed: a value outside its type", || iosts.describe(t));
    }
    for transition in &iosts.transitions {
        if checking.ask(std::slice::from_ref(&transition.guard)) == Answer::Unsat {
            checking.broken(GUARD_CANNOT_HOLD, iosts.describe(transition));
        }
    }
    let reached = iosts.reachable_from(iosts.initial).iter().all(|reached| *reached);
    checking.holds(reached, "closed 3", || iosts.name.clone());

    let ways = ClosedWays::of(before);
    let outgoing = iosts.outgoing();
    let before_outgoing = before.outgoing();
    for (source, given) in iosts.location_ids().zip(&closed.given) {
        let Some(ways) = ways.of_location(*given) else {
            checking.found.unchecked += 1;
            continue;
        };
        let seen = outgoing[source].iter().map(|number| {
            let t = &iosts.transitions[*number];
            let key = (Some(visible[t.action]), closed.given[t.target]);
            ClosedWay { key, effect: t.assignments.clone(), guard: t.guard.clone() }
        });
        let rests = closed.rests[source].iter().map(|rest| {
            let key = (None, rest.at);
            ClosedWay { key, effect: rest.effect.clone(), guard: rest.guard.clone() }
        });
        let made: Vec<ClosedWay> = seen.chain(rests).collect();
        for rest in &closed.rests[source] {
            check_rest(&mut checking, closed, before, &before_outgoing[rest.at], rest, source);
        }
        for (these, those, is_added) in [(&made, ways, true), (ways, &made, false)] {
            for way in these {
                let rule = match (way.key.0, is_added) {
                    (Some(_), true) => "closed 5: added",
                    (Some(_), false) => "closed 5: lost",
                    (None, true) => "closed 7: added",
                    (None, false) => "closed 7: lost",
                };
                let same = |other: &&ClosedWay| other.key == way.key;
                let conclusions: Vec<Term> = those
                    .iter()
                    .filter(same)
                    .map(|other| {
                        let equal = same_values(&way.effect, &other.effect);
                        Term::and([other.guard.clone(), equal])
                    })
                    .collect();
                let (action, target) = way.key;
                checking.implies(std::slice::from_ref(&way.guard), &conclusions, rule, || {
                    let source = &iosts.location(source).label;
                    let action = action.map_or("", |action| before.action(action).name.as_str());
                    format!("{source} -{action}-> {}", before.location(target).label)
                });
            }
        }
    }
    checking.found
}

/// Checks that a place to rest says when no internal step goes on from there, and that it names the outputs
/// that are possible there.
fn check_rest(
    checking: &mut Checking<'_>,
    closed: &Closed,
    before: &Iosts,
    leaving: &[TransitionId],
    rest: &Rest,
    source: LocationId,
) {
    const RULE: &str = "closed 7";
    let (iosts, context) = (&closed.iosts, std::slice::from_ref(&rest.guard));
    let place = || format!("{} in {}", iosts.location(source).label, before.location(rest.at).label);
    let of = |wanted: ActionKind| {
        let all = leaving.iter().map(|number| &before.transitions[*number]);
        all.filter(move |t| before.action(t.action).kind == wanted)
    };
    let internal = of(ActionKind::Internal).map(|t| substitute(&t.guard, &rest.effect));
    checking.equivalent(context, &rest.stays, &Term::or(internal).not(), RULE, place);
    let mut said = Vec::new();
    for number in &rest.outputs {
        let Some(t) = iosts.transitions.has(*number).then(|| &iosts.transitions[*number]) else {
            checking.broken(RULE, place());
            return;
        };
        said.push((iosts.action(t.action), closed.given[t.target], &t.guard));
        checking.holds(t.source == source, RULE, place);
    }
    let possible = of(ActionKind::Output).map(|t| {
        let guard = substitute(&t.guard, &rest.effect);
        (before.action(t.action), t.target, Term::and([rest.guard.clone(), guard]))
    });
    let possible: Vec<_> = possible.collect();
    for (action, target, guard) in &possible {
        let same = said.iter().filter(|one| one.0 == *action && one.1 == *target);
        let same: Vec<Term> = same.map(|(.., guard)| (*guard).clone()).collect();
        checking.implies(std::slice::from_ref(guard), &same, RULE, place);
    }
    for (action, target, guard) in said {
        let same = possible.iter().filter(|one| one.0 == action && one.1 == target);
        let same: Vec<Term> = same.map(|(.., guard)| guard.clone()).collect();
        checking.implies(std::slice::from_ref(guard), &same, RULE, place);
    }
}

/// One way to do something visible, or to get somewhere without (then there is no action), in the numbers of
/// the product.
#[derive(Clone)]
struct ClosedWay {
    key: (Option<ActionId>, LocationId),
    effect: Substitution,
    guard: Term,
}

/// The ways of each location; `None` if they are too many.
struct ClosedWays(Numbered<LocationId, Option<Vec<ClosedWay>>>);

impl ClosedWays {
    /// Finds the ways of each location, component by component of the internal steps. Within a component,
    /// paths grow step by step up to its size.
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
            let of = |at: LocationId| outgoing[at].iter().map(|number| &iosts.transitions[*number]);
            let leaving: Vec<Option<Vec<ClosedWay>>> = inside
                .iter()
                .map(|&at| {
                    let rest = ClosedWay { key: (None, at), effect: Substitution::new(), guard: Term::yes() };
                    let mut found = vec![rest];
                    for t in of(at).filter(|t| !inside.contains(&t.target) || !is_internal(t)) {
                        if is_internal(t) {
                            found.extend(ways.of_location(t.target)?.iter().map(|way| prepend_step(t, way)));
                        } else {
                            let key = (Some(t.action), t.target);
                            let (effect, guard) = (t.assignments.clone(), t.guard.clone());
                            found.push(ClosedWay { key, effect, guard });
                        }
                    }
                    join_ways(found)
                })
                .collect();
            for (&at, leaving) in inside.iter().zip(&leaving) {
                ways.0[at] = leaving.clone();
            }
            for _ in 1..inside.len() {
                let longer: Vec<Option<Vec<ClosedWay>>> = inside
                    .iter()
                    .zip(&leaving)
                    .map(|(&at, leaving)| {
                        let mut found = leaving.clone()?;
                        for t in of(at).filter(|t| inside.contains(&t.target) && is_internal(t)) {
                            found.extend(ways.of_location(t.target)?.iter().map(|way| prepend_step(t, way)));
                        }
                        join_ways(found)
                    })
                    .collect();
                for (&at, longer) in inside.iter().zip(longer) {
                    ways.0[at] = longer;
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
    effect.retain(|variable, value| value.as_datum() != Some(variable));
    let guard = Term::and([step.guard.clone(), substitute(&way.guard, &step.assignments)]);
    ClosedWay { key: way.key, effect, guard }
}

/// Joins ways that differ in their guards alone. The result is `None` if too many ways are left.
fn join_ways(ways: Vec<ClosedWay>) -> Option<Vec<ClosedWay>> {
    let mut place = HashMap::new();
    let mut found: Vec<(ClosedWay, Vec<Term>)> = Vec::new();
    for way in ways {
        let at = *place.entry((way.key, way.effect.clone())).or_insert(found.len());
        let guard = way.guard.clone();
        if at == found.len() {
            found.push((way, vec![guard]));
        } else {
            found[at].1.push(guard);
        }
    }
    let all = found.into_iter().map(|(way, guards)| ClosedWay { guard: Term::or(guards), ..way });
    let all: Vec<ClosedWay> = all.filter(|way| !way.guard.is_false()).collect();
    let most = Limits::default().of(Quantity::Nodes);
    let is_short =
        |way: &ClosedWay| way.effect.values().chain([&way.guard]).all(|t| t.written_size() <= most);
    (all.len() <= MOST_WAYS && all.iter().all(is_short)).then_some(all)
}
