//! Trees of random finite systems against the concrete semantics: every path, every assignment of values to its symbols, every set of states.
//!
//! Of the tree's own code nothing is used but the tree: steps are taken by [`fire`], initial states are tried one by one, a
//! state is quiescent where no value of any parameter lets an output or an internal step be taken.

use std::collections::BTreeSet;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::inclusion::{data_of, inclusion, tidy};
use coreach_analyses::symbolic::{
    End, Growth, Inclusion, Move, NodeId, Quiescence, Refuted, System, Tree, TreeLimits,
};
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::semantics::{State, fire, is_initial};
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::value::tuples;
use coreach_model::{Datum, Term, TransitionId, Value};
use coreach_tests::generator::{Shape, generate};
use coreach_tests::source::read;

/// More combinations of values than this are not tried.
const MOST: usize = 4000;

pub type States = BTreeSet<State>;

fn all_of(data: &[Datum]) -> Option<Vec<Valuation>> {
    let lists: Vec<Vec<Value>> =
        data.iter().map(|datum| Value::enumerate(datum.ty(), MOST)).collect::<Option<_>>()?;
    let count = lists.iter().try_fold(1usize, |count, list| count.checked_mul(list.len()))?;
    let all = || tuples(&lists).into_iter().map(|tuple| data.iter().cloned().zip(tuple).collect());
    (count <= MOST).then(|| all().collect())
}

pub fn initial(iosts: &Iosts) -> Option<States> {
    let states =
        all_of(&data_of(iosts))?.into_iter().map(|valuation| State { location: iosts.initial, valuation });
    Some(states.filter(|state| is_initial(iosts, state)).collect())
}

/// All successors through a transition.
fn through(iosts: &Iosts, number: TransitionId, states: &States) -> States {
    let transition = &iosts.transitions[number];
    let values = all_of(&iosts.action(transition.action).parameters).unwrap();
    let parameters = &iosts.action(transition.action).parameters;
    let mut found = States::new();
    for state in states {
        for valuation in &values {
            let values: Vec<Value> = parameters.iter().map(|datum| valuation[datum].clone()).collect();
            found.extend(fire(iosts, transition, state, &values));
        }
    }
    found
}

fn is_quiescent(iosts: &Iosts, state: &State) -> bool {
    let of_system = |number: &TransitionId| {
        iosts.action(iosts.transitions[*number].action).kind != ActionKind::Input
            && iosts.transitions[*number].source == state.location
    };
    let here = States::from([state.clone()]);
    !iosts.transitions.numbers().filter(of_system).any(|number| !through(iosts, number, &here).is_empty())
}

/// What each node stands for, by taking its path's steps in all ways.
fn meant(iosts: &Iosts, tree: &Tree) -> Option<Vec<States>> {
    let mut all: Vec<States> = Vec::new();
    for node in tree.nodes.iter() {
        let before = node.parent.map(|parent| all[parent.0 as usize].clone());
        all.push(match (&node.by, before) {
            (Move::Take(step), Some(before)) => through(iosts, step.transition, &before),
            (Move::Quiet, Some(before)) => {
                before.into_iter().filter(|state| is_quiescent(iosts, state)).collect()
            }
            _ => initial(iosts)?,
        });
    }
    Some(all)
}

/// With these values of its symbols, is the node's path a run, and to which state?
fn run(iosts: &Iosts, tree: &Tree, node: NodeId, values: &Valuation) -> Option<State> {
    let valuation = data_of(iosts).into_iter().map(|datum| (datum.clone(), values[&datum].clone())).collect();
    let mut state = State { location: iosts.initial, valuation };
    if !is_initial(iosts, &state) {
        return None;
    }
    for node in tree.path(node).into_iter().skip(1) {
        match &tree.nodes[node].by {
            Move::Take(step) => {
                let values: Vec<Value> =
                    step.parameters.iter().map(|symbol| values[symbol].clone()).collect();
                state = fire(iosts, &iosts.transitions[step.transition], &state, &values)?;
            }
            Move::Quiet if is_quiescent(iosts, &state) => {}
            _ => return None,
        }
    }
    Some(state)
}

#[derive(Default, Debug)]
struct Seen {
    nodes: usize,
    runs: usize,
    no_runs: usize,
    refuted: usize,
    quiet: usize,
    uncertain: usize,
    included: usize,
    not_included: usize,
    complete: usize,
    cut: usize,
}

fn shape() -> Shape {
    Shape {
        lively: 0,
        lookahead: 0,
        internal_steps: 30,
        companions: 50,
        arrays: 10,
        variables: (1, 2),
        range: (2, 3),
        ..Shape::default()
    }
}

fn system_of(seed: u64) -> Option<Iosts> {
    let iosts = read(&generate(seed, &shape())).ok()?.specification;
    all_of(&data_of(&iosts))?;
    iosts.actions.iter().all(|action| all_of(&action.parameters).is_some()).then_some(iosts)
}

/// A node's condition and values, for all values of its symbols.
fn compare_node(iosts: &Iosts, tree: &Tree, node: NodeId, seen: &mut Seen) {
    let mut symbols = data_of(iosts);
    for node in tree.path(node) {
        if let Move::Take(step) = &tree.nodes[node].by {
            symbols.extend(step.parameters.iter().cloned());
        }
    }
    let Some(all) = all_of(&symbols) else { return };
    let state = &tree.nodes[node].state;
    let condition = Term::and(state.condition.iter().cloned());
    for values in all {
        let expected = run(iosts, tree, node, &values);
        assert_eq!(holds(&condition, &values), Ok(expected.is_some()), "{condition} under {values:?}");
        let Some(expected) = expected else {
            seen.no_runs += 1;
            continue;
        };
        seen.runs += 1;
        assert_eq!(state.location, expected.location);
        for (datum, value) in &expected.valuation {
            assert_eq!(evaluate(&state.value(datum), &values).as_ref(), Ok(value), "{datum}");
        }
    }
}

fn compare_tree(seed: u64, quiescence: Quiescence, seen: &mut Seen) {
    let Some(iosts) = system_of(seed) else { return };
    let system = System::new(&iosts);
    let limits = TreeLimits { depth: 3, nodes: 400, quiescence, is_restricted: false };
    let tree = Growth::new(&system, limits).finish(&mut Z3Solver::default());
    let Some(meant) = meant(&iosts, &tree) else { return };
    for (number, node) in tree.nodes.numbered() {
        let states = &meant[number.0 as usize];
        seen.nodes += 1;
        seen.uncertain += usize::from(!node.is_certain);
        seen.quiet += usize::from(node.by == Move::Quiet);
        // What is in the tree can happen; what cannot is not.
        if node.is_certain {
            assert!(!states.is_empty(), "seed {seed}: {:?}", node.by);
        }
        if node.end == End::Unsatisfiable {
            assert!(states.is_empty(), "seed {seed}");
        }
        for refuted in &node.refuted {
            seen.refuted += 1;
            let after = match refuted {
                Refuted::Transition(transition) => through(&iosts, *transition, states),
                Refuted::Quiet => {
                    states.iter().filter(|state| is_quiescent(&iosts, state)).cloned().collect()
                }
            };
            assert!(after.is_empty(), "seed {seed}: {refuted:?}");
        }
        if node.end == End::Expanded {
            let quiet = usize::from(quiescence != Quiescence::Unseen);
            let steps = system.outgoing[node.state.location].len() + quiet;
            assert_eq!(tree.children(number).count() + node.refuted.len(), steps, "seed {seed}");
        }
        let is_exact = tree
            .path(number)
            .into_iter()
            .all(|node| tree.nodes[node].by != Move::Quiet || tree.nodes[node].is_certain);
        if is_exact && node.end != End::Unsatisfiable {
            compare_node(&iosts, &tree, number, seen);
        }
    }
}

#[test]
fn nodes_are_the_runs_of_brute_force() {
    let mut seen = Seen::default();
    (0..200).for_each(|seed| compare_tree(seed, Quiescence::Unseen, &mut seen));
    println!("{seen:?}");
    assert!(seen.nodes > 1000 && seen.runs > 3000 && seen.no_runs > 3000 && seen.refuted > 300, "{seen:?}");
    assert!(seen.uncertain * 20 < seen.nodes, "{seen:?}");
}

#[test]
fn quiescence_is_that_of_brute_force() {
    let mut seen = Seen::default();
    (0..100).for_each(|seed| compare_tree(seed, Quiescence::Loop, &mut seen));
    println!("{seen:?}");
    assert!(seen.quiet > 300 && seen.runs > 1000 && seen.uncertain * 5 < seen.nodes, "{seen:?}");
}

/// Everything that can be reached, without a bound.
fn reachable(iosts: &Iosts) -> Option<States> {
    let mut all = initial(iosts)?;
    let mut open = all.clone();
    while !open.is_empty() {
        let mut next = States::new();
        for number in iosts.transitions.numbers() {
            next.extend(through(iosts, number, &open));
        }
        open = next.difference(&all).cloned().collect();
        all.extend(open.iter().cloned());
        if all.len() > MOST {
            return None;
        }
    }
    Some(all)
}

fn compare_restriction(seed: u64, seen: &mut Seen) {
    let Some(iosts) = system_of(seed) else { return };
    let system = System::new(&iosts);
    let limits = TreeLimits { depth: 6, nodes: 150, quiescence: Quiescence::Unseen, is_restricted: true };
    let mut solver = Z3Solver::default();
    let tree = Growth::new(&system, limits).finish(&mut solver);
    let Some(meant) = meant(&iosts, &tree) else { return };
    for (number, node) in tree.nodes.numbered() {
        let End::Included(other) = node.end else { continue };
        seen.cut += 1;
        // Well-founded: who covers was expanded before.
        assert!(other < number && tree.nodes[other].end == End::Expanded, "seed {seed}");
        assert!(meant[number.0 as usize].is_subset(&meant[other.0 as usize]), "seed {seed}: {number:?}");
    }
    let data = data_of(&iosts);
    let states: Vec<_> =
        tree.nodes.iter().map(|node| tidy(&data, &node.state, node.is_certain)).take(25).collect();
    for (left, one) in states.iter().enumerate() {
        for (right, other) in states.iter().enumerate() {
            let is_subset = tree.nodes[NodeId(left as u32)].state.location
                == tree.nodes[NodeId(right as u32)].state.location
                && meant[left].is_subset(&meant[right]);
            match inclusion(&data, one, other, &mut solver) {
                Inclusion::Yes => {
                    seen.included += 1;
                    assert!(is_subset, "seed {seed}: {left} in {right}");
                }
                // An uncertain state may stand for nothing, which is included everywhere.
                Inclusion::No
                    if tree.nodes[NodeId(left as u32)].state.location
                        == tree.nodes[NodeId(right as u32)].state.location =>
                {
                    seen.not_included += 1;
                    assert!(!is_subset, "seed {seed}: {left} not in {right}");
                }
                Inclusion::No => {}
                Inclusion::Unknown => seen.uncertain += 1,
            }
            if one.shape() == other.shape() {
                assert!(is_subset, "seed {seed}: {left} and {right} of one shape");
            }
        }
    }
    if tree.is_complete() {
        seen.complete += 1;
        let Some(all) = reachable(&iosts) else { return };
        let shown: States = meant.into_iter().flatten().collect();
        assert_eq!(shown, all, "seed {seed}: a restriction that is complete shows every state");
    }
}

#[test]
fn inclusions_are_those_of_the_sets_and_restrictions_lose_nothing() {
    let mut seen = Seen::default();
    (0..60).for_each(|seed| compare_restriction(seed, &mut seen));
    println!("{seen:?}");
    assert!(
        seen.cut > 50 && seen.included > 300 && seen.not_included > 200 && seen.complete > 30,
        "{seen:?}"
    );
    assert!(seen.uncertain * 5 < seen.included + seen.not_included, "{seen:?}");
}
