//! Stage 3 removes the internal actions: the visible action behind them does what they did.
//!
//! **Problem.** A tester sees inputs and outputs only. Every sequence of internal steps that ends in a
//! visible one becomes one visible transition.
//!
//! **Source.** Thesis, appendix A.1: Definition A.2 (collapse), A.4 (syntactic livelock), A.7 (closure);
//! Theorems A.3 and A.4: traces and accepting traces are kept.
//!
//! **Where we differ.** The definition keeps visible transitions whose origin is no location of the closure.
//! We walk from the initial location, so they do not arise. A collapsed or visible transition whose guard
//! cannot hold is dropped, and so is a sequence, since there can be exponentially many of them.
//!
//! A prefix is no symbolic state: its guard stays as it was written. An assignment of a variable to itself
//! is left out.
//!
//! Sequences that come to one location with one effect are continued as one, under the disjunction of their
//! guards. For that, locations are visited in an order that internal steps follow, each once per effect. A
//! row of n diamonds that change nothing has 2^n sequences and 4n such steps. Within a cycle of internal
//! steps there is no such order, so every path is followed for itself.
//!
//! **Ends.** A sequence that meets a location again is a livelock and stops the stage with the cycle. The
//! others are simple paths, limited in number ([`Quantity::Sequences`]) and size ([`Quantity::Nodes`]).
//!
//! **Cost**: one query per internal step from a location and effect; the memo of the solver answers copies.
//!
//! ```text
//! l -tau{x := 0}-> m -a(p)[p > x]{y := x + p}-> n     becomes     l -a(p)[p > 0]{x := 0, y := 0 + p}-> n
//! ```

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::budget;
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{LocationId, Number, Numbered, Term, TransitionId};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use crate::artifact::{Closed, Product, Rest};
use crate::limits::{Limits, Quantity};
use crate::stage::Stage;
use crate::stages::sets::compose_effects;
use crate::stop::{ShownTransition, Stop, check_limit, check_writable};

/// Replaces internal sequences by visible transitions. Each location also gets its *rests* ([`Rest`]), the
/// places where a run may be after internal steps alone.
///
/// Over-approximation: a guard of which the solver does not know whether it can hold is kept.
/// Errors: [`Stop::Livelock`] for a reachable cycle of internal actions; [`Stop::TooMany`] of
/// [`Quantity::Sequences`] or [`Quantity::Nodes`].
pub fn close(product: Product, limits: &Limits, solver: &mut dyn Solver) -> Result<Closed, Stop> {
    budget::doing("following internal sequences");
    let Product { iosts, accepting, .. } = product;
    let internal = InternalSteps::of(&iosts);
    let mut reached = Numbered::filled(false, iosts.locations.len());
    reached[iosts.initial] = true;
    let mut to_visit = vec![iosts.initial];
    let mut outgoing: Numbered<LocationId, Vec<Transition>> =
        Numbered::filled(Vec::new(), iosts.locations.len());
    let mut rests: Numbered<LocationId, Vec<Rest>> = Numbered::filled(Vec::new(), iosts.locations.len());
    while let Some(location) = to_visit.pop() {
        (outgoing[location], rests[location]) = visible_from(&internal, location, limits, solver)?;
        for transition in &outgoing[location] {
            if !std::mem::replace(&mut reached[transition.target], true) {
                to_visit.push(transition.target);
            }
        }
    }
    number_outputs(&mut rests, &outgoing);
    let closed = Iosts { transitions: outgoing.into_iter().flatten().collect(), ..iosts };
    let closed = without_internal_actions(closed);
    // Unreached locations have no transitions, so the numbers of transitions stay.
    let (closed, kept) = closed.without_unreachable_locations();
    let accepting = kept.map(|old| accepting[*old]);
    let rests = kept.map(|old| std::mem::take(&mut rests[*old]));
    Ok(Closed { iosts: closed, given: kept, accepting, rests })
}

/// Numbers the outputs of the rests, which are positions in the list of their own location before. A number
/// is this position plus the number of transitions of the earlier locations.
fn number_outputs(
    rests: &mut Numbered<LocationId, Vec<Rest>>,
    outgoing: &Numbered<LocationId, Vec<Transition>>,
) {
    let mut earlier_transitions = 0;
    for (rests_of_location, transitions) in rests.iter_mut().zip(outgoing) {
        for output in rests_of_location.iter_mut().flat_map(|rest| &mut rest.outputs) {
            *output = TransitionId::of(earlier_transitions + output.place());
        }
        earlier_transitions += transitions.len();
    }
}

/// The effect so far of internal steps from one location, on one path or on several paths alike.
struct Prefix {
    location: LocationId,
    guard: Term,
    effect: Substitution,
    /// The first path, backwards.
    path: InternalPath,
    /// The steps since the last component was entered. Elsewhere no location can be met again.
    within: Vec<TransitionId>,
}

/// A path of steps, which shares its beginning with other paths.
type InternalPath = Option<Rc<PathEnd>>;

struct PathEnd {
    step: TransitionId,
    before: InternalPath,
}

impl Drop for PathEnd {
    /// Takes a long path apart step by step: the compiler's way would need a stack as deep.
    fn drop(&mut self) {
        let mut steps_before = self.before.take();
        while let Some(last) = steps_before {
            match Rc::try_unwrap(last) {
                Ok(mut last) => steps_before = last.before.take(),
                // Another path shares these steps, and drops them later.
                Err(_) => break,
            }
        }
    }
}

/// Lists the steps of a path from its first to its last.
fn steps_of_path(path: &InternalPath) -> Vec<TransitionId> {
    let mut numbers = Vec::new();
    let mut remaining_path = path;
    while let Some(last) = remaining_path {
        numbers.push(last.step);
        remaining_path = &last.before;
    }
    numbers.reverse();
    numbers
}

/// The machine, with an order in which to visit its locations.
struct InternalSteps<'a> {
    iosts: &'a Iosts,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    /// For each location the place of its strongly connected component in the order of internal steps.
    component: Numbered<LocationId, usize>,
}

impl<'a> InternalSteps<'a> {
    /// Orders the locations by the components of their internal steps.
    fn of(iosts: &'a Iosts) -> Self {
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let nodes = iosts.locations.map(|_| graph.add_node(()));
        for transition in iosts.transitions.iter().filter(|t| !iosts.action(t.action).is_visible()) {
            graph.add_edge(nodes[transition.source], nodes[transition.target], ());
        }
        // Kosaraju's algorithm needs no stack of calls; it gives the last component first.
        let components = kosaraju_scc(&graph);
        let mut component = Numbered::filled(0, iosts.locations.len());
        for (place, members) in components.iter().rev().enumerate() {
            for member in members {
                component[LocationId::of(member.index())] = place;
            }
        }
        InternalSteps { iosts, outgoing: iosts.outgoing(), component }
    }
}

/// Finds the visible transitions of a location and the collapsed sequences that begin there, in the order of
/// their paths. Finds also where a run may rest. In these rests an output is given by its position in the
/// list of transitions.
fn visible_from(
    internal: &InternalSteps<'_>,
    location: LocationId,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<(Vec<Transition>, Vec<Rest>), Stop> {
    // Each transition with its path, its last step, and the index of the rest that it leaves.
    let mut found: Vec<(InternalPath, TransitionId, Transition, usize)> = Vec::new();
    let mut rests: Vec<Rest> = Vec::new();
    let start =
        Prefix { location, guard: Term::yes(), effect: Substitution::new(), path: None, within: Vec::new() };
    let mut waiting = BTreeMap::from([(internal.component[location], vec![start])]);
    let mut sequences = 0;
    while let Some((component, entered)) = waiting.pop_first() {
        let mut stack = join_prefixes(entered);
        while let Some(prefix) = stack.pop() {
            budget::ask();
            let (mut longer, mut internal_guards) = (Vec::new(), Vec::new());
            for &number in &internal.outgoing[prefix.location] {
                let step = &internal.iosts.transitions[number];
                let collapsed = append_step(&prefix, location, step);
                if !collapsed.guard.is_true() && !may_hold(solver, &collapsed.guard.conjuncts()) {
                    continue;
                }
                check_writable(Stage::Close, &collapsed, limits)?;
                if internal.iosts.action(step.action).is_visible() {
                    found.push((prefix.path.clone(), number, collapsed, rests.len()));
                    continue;
                }
                internal_guards.push(substitute(&step.guard, &prefix.effect));
                sequences += 1;
                check_limit(Stage::Close, Quantity::Sequences, sequences, limits)?;
                let path = Some(Rc::new(PathEnd { step: number, before: prefix.path.clone() }));
                let next = Prefix {
                    location: step.target,
                    guard: collapsed.guard,
                    effect: collapsed.assignments,
                    path,
                    within: Vec::new(),
                };
                let target_component = internal.component[step.target];
                // Another component waits until all sequences have come to it, so that they can be joined.
                if target_component != component {
                    waiting.entry(target_component).or_default().push(next);
                    continue;
                }
                let mut within = prefix.within.clone();
                within.push(number);
                if let Some(cycle) = cycle_at_end(internal.iosts, &within) {
                    return Err(Stop::Livelock { cycle });
                }
                longer.push(Prefix { within, ..next });
            }
            // The first sequence is continued first.
            stack.extend(longer.into_iter().rev());
            let stays = Term::or(internal_guards).not();
            let Prefix { location: at, guard, effect, .. } = prefix;
            rests.push(Rest { at, guard, effect, stays, outputs: Vec::new() });
        }
    }
    // A path comes before those that continue it. Numbers ascend within a location.
    found.sort_by_cached_key(|(path, last_step, ..)| (steps_of_path(path), *last_step));
    for (position, (.., transition, rest)) in found.iter().enumerate() {
        if internal.iosts.action(transition.action).kind == ActionKind::Output {
            rests[*rest].outputs.push(TransitionId::of(position));
        }
    }
    Ok((found.into_iter().map(|(_, _, transition, _)| transition).collect(), rests))
}

/// Joins the prefixes that have one location and one effect, under the disjunction of their guards. The
/// result is a stack: the first prefix is to be continued first, so it comes last.
fn join_prefixes(prefixes: Vec<Prefix>) -> Vec<Prefix> {
    if prefixes.len() == 1 {
        return prefixes;
    }
    let mut index: HashMap<(LocationId, Substitution), usize> = HashMap::new();
    let mut groups: Vec<Vec<Prefix>> = Vec::new();
    for prefix in prefixes {
        let group = *index.entry((prefix.location, prefix.effect.clone())).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(prefix);
    }
    let mut joined = Vec::new();
    for mut group in groups {
        // The joined prefix keeps the first path.
        group.sort_by_cached_key(|prefix| steps_of_path(&prefix.path));
        let guard = join_guards(group.iter().map(|prefix| prefix.guard.clone()).collect());
        joined.extend(group.into_iter().next().map(|first_prefix| Prefix { guard, ..first_prefix }));
    }
    joined.reverse();
    joined
}

/// Makes the disjunction of the guards, and moves out the conjuncts with which all of them begin. A conjunct
/// that another one needs to have a value stands in front of it, so only the beginning may be moved out.
fn join_guards(guards: Vec<Term>) -> Term {
    let conjunctions: Vec<Vec<Term>> = guards.iter().map(Term::conjuncts).collect();
    let Some(mut common) = conjunctions.first().map(Vec::as_slice) else { return Term::no() };
    for conjuncts in &conjunctions {
        let equal = common.iter().zip(conjuncts).take_while(|(a, b)| a == b).count();
        common = &common[..equal];
    }
    let differing = conjunctions.iter().map(|parts| Term::and(parts[common.len()..].iter().cloned()));
    Term::and(common.iter().cloned().chain([Term::or(differing)]))
}

/// Appends a step to a prefix: makes the guard and the effect of both (Definition A.2, one step at a time).
fn append_step(prefix: &Prefix, source: LocationId, step: &Transition) -> Transition {
    if prefix.path.is_none() {
        return Transition { source, ..step.clone() };
    }
    let guard = Term::and([prefix.guard.clone(), substitute(&step.guard, &prefix.effect)]);
    let assignments = compose_effects(&prefix.effect, &step.assignments);
    Transition { source, guard, assignments, ..step.clone() }
}

/// If the path visited its last location before, gives the steps since the first of these visits.
fn cycle_at_end(iosts: &Iosts, path: &[TransitionId]) -> Option<Vec<ShownTransition>> {
    let end = iosts.transitions[*path.last()?].target;
    let start = path.iter().position(|&number| iosts.transitions[number].source == end)?;
    let cycle = path[start..].iter().map(|&number| &iosts.transitions[number]);
    Some(cycle.map(|transition| ShownTransition::transition(iosts, transition)).collect())
}

/// Removes the internal actions, which no transition uses any more, and renumbers the others.
fn without_internal_actions(mut iosts: Iosts) -> Iosts {
    let mut kept = Numbered::new();
    let renumbered = iosts.actions.map(|action| match action.kind {
        // Nobody looks up this number.
        ActionKind::Internal => kept.next_number(),
        ActionKind::Input | ActionKind::Output | ActionKind::Quiescence => kept.push(action.clone()),
    });
    iosts.actions = kept;
    for transition in &mut iosts.transitions {
        transition.action = renumbered[transition.action];
    }
    iosts
}
