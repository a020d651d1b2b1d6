//! Trees of random finite systems against the concrete semantics: every path, every assignment of values to
//! its symbols, every set of states.
//!
//! Of the tree's own code nothing is used but the tree: steps are taken by [`fire`], initial states are tried
//! one by one, a state is quiescent where no value of any parameter lets an output or an internal step be
//! taken.

use std::collections::BTreeSet;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::inclusion::{compare_states, data_of, tidy};
use coreach_analyses::symbolic::{
    Growth, Inclusion, NodeEnd, NodeId, PathTree, Quiescence, Refuted, System, TreeLimits, TreeMove,
};
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::semantics::{State, fire, is_initial};
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::value::tuples;
use coreach_model::{Datum, Term, TransitionId, Value};

use super::ensure;

/// More combinations of values than this are not tried.
const MOST: usize = 4000;

/// A set of states.
pub type States = BTreeSet<State>;

fn all_of(data: &[Datum]) -> Option<Vec<Valuation>> {
    let lists: Vec<Vec<Value>> =
        data.iter().map(|datum| Value::enumerate(datum.ty(), MOST)).collect::<Option<_>>()?;
    let count = lists.iter().try_fold(1usize, |count, list| count.checked_mul(list.len()))?;
    let all = || tuples(&lists).into_iter().map(|tuple| data.iter().cloned().zip(tuple).collect());
    (count <= MOST).then(|| all().collect())
}

/// The initial states; `None` where there are too many values to try.
pub fn initial(iosts: &Iosts) -> Option<States> {
    let states =
        all_of(&data_of(iosts))?.into_iter().map(|valuation| State { location: iosts.initial, valuation });
    Some(states.filter(|state| is_initial(iosts, state)).collect())
}

/// All successors through a transition.
fn through(iosts: &Iosts, number: TransitionId, states: &States) -> States {
    let transition = &iosts.transitions[number];
    let values = all_of(&iosts.action(transition.action).parameters).unwrap_or_default();
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
fn meant(iosts: &Iosts, tree: &PathTree) -> Option<Vec<States>> {
    let mut all: Vec<States> = Vec::new();
    for node in tree.nodes.iter() {
        let before = node.parent.map(|parent| {
            let merged = tree.nodes.numbered().filter(|(_, node)| node.end == NodeEnd::Merged(parent));
            let all_of_them = merged.flat_map(|(number, _)| all[number.0 as usize].iter().cloned());
            all[parent.0 as usize].iter().cloned().chain(all_of_them).collect::<States>()
        });
        all.push(match (&node.by, before) {
            (TreeMove::Take(step), Some(before)) => through(iosts, step.transition, &before),
            (TreeMove::Quiet, Some(before)) => {
                before.into_iter().filter(|state| is_quiescent(iosts, state)).collect()
            }
            _ => initial(iosts)?,
        });
    }
    Some(all)
}

/// With these values of its symbols, is the node's path a run, and to which state?
fn run(iosts: &Iosts, tree: &PathTree, node: NodeId, values: &Valuation) -> Option<State> {
    let valuation = data_of(iosts).into_iter().map(|datum| (datum.clone(), values[&datum].clone())).collect();
    let mut state = State { location: iosts.initial, valuation };
    if !is_initial(iosts, &state) {
        return None;
    }
    for node in tree.path(node).into_iter().skip(1) {
        match &tree.nodes[node].by {
            TreeMove::Take(step) => {
                let values: Vec<Value> =
                    step.parameters.iter().map(|symbol| values[symbol].clone()).collect();
                state = fire(iosts, &iosts.transitions[step.transition], &state, &values)?;
            }
            TreeMove::Quiet if is_quiescent(iosts, &state) => {}
            _ => return None,
        }
    }
    Some(state)
}

/// What was looked at, to see that it was looked at.
#[derive(Default, Debug)]
pub struct Seen {
    /// Nodes of trees.
    pub nodes: usize,
    /// Values with which a path is a run.
    pub runs: usize,
    /// Values with which it is none.
    pub no_runs: usize,
    /// Branches that are not there.
    pub refuted: usize,
    /// Nodes behind quiescence.
    pub quiet: usize,
    /// Nodes that are not certain, and inclusions that are not known.
    pub uncertain: usize,
    /// Pairs of states of which one is included in the other.
    pub included: usize,
    /// Pairs of which it is not.
    pub not_included: usize,
    /// Restrictions that fit their limits.
    pub complete: usize,
    /// Nodes that were cut.
    pub cut: usize,
}

/// Are there few enough values of everything?
pub fn is_small(iosts: &Iosts) -> bool {
    all_of(&data_of(iosts)).is_some()
        && iosts.actions.iter().all(|action| all_of(&action.parameters).is_some())
}

/// A node's condition and values, for all values of its symbols.
fn compare_node(iosts: &Iosts, tree: &PathTree, node: NodeId, seen: &mut Seen) -> Result<(), String> {
    let mut symbols = data_of(iosts);
    for node in tree.path(node) {
        if let TreeMove::Take(step) = &tree.nodes[node].by {
            symbols.extend(step.parameters.iter().cloned());
        }
    }
    let Some(all) = all_of(&symbols) else { return Ok(()) };
    let state = &tree.nodes[node].state;
    let condition = Term::and(state.condition.iter().cloned());
    for values in all {
        let expected = run(iosts, tree, node, &values);
        ensure!(
            holds(&condition, &values) == Ok(expected.is_some()),
            "{condition} under {values:?} is no matter of being a run"
        );
        let Some(expected) = expected else {
            seen.no_runs += 1;
            continue;
        };
        seen.runs += 1;
        ensure!(
            state.location == expected.location,
            "a path to {:?} is in {:?}",
            expected.location,
            state.location
        );
        for (datum, value) in &expected.valuation {
            let stands = evaluate(&state.value(datum), &values);
            ensure!(stands.as_ref() == Ok(value), "{datum} stands at {stands:?} and is {value}");
        }
    }
    Ok(())
}

/// Holds a tree without restriction against brute force.
///
/// # Errors
/// What differs.
pub fn compare_tree(iosts: &Iosts, quiescence: Quiescence, seen: &mut Seen) -> Result<(), String> {
    let system = System::new(iosts);
    let limits = TreeLimits { depth: 3, nodes: 400, quiescence, is_restricted: false, is_merged: false };
    let tree = Growth::new(&system, limits).finish(&mut Z3Solver::default());
    let Some(meant) = meant(iosts, &tree) else { return Ok(()) };
    for (number, node) in tree.nodes.numbered() {
        let states = &meant[number.0 as usize];
        seen.nodes += 1;
        seen.uncertain += usize::from(!node.is_certain);
        seen.quiet += usize::from(node.by == TreeMove::Quiet);
        // What is in the tree can happen; what cannot is not.
        if node.is_certain {
            ensure!(!states.is_empty(), "a certain node stands for nothing: {:?}", node.by);
        }
        if node.end == NodeEnd::Unsatisfiable {
            ensure!(states.is_empty(), "the initial condition holds somewhere");
        }
        for refuted in &node.refuted {
            seen.refuted += 1;
            let after = match refuted {
                Refuted::Transition(transition) => through(iosts, *transition, states),
                Refuted::Quiet => states.iter().filter(|state| is_quiescent(iosts, state)).cloned().collect(),
            };
            ensure!(after.is_empty(), "refuted, and possible: {refuted:?}");
        }
        if node.end == NodeEnd::Expanded {
            let quiet = usize::from(quiescence != Quiescence::Unseen);
            let steps = system.outgoing[node.state.location].len() + quiet;
            ensure!(
                tree.children(number).count() + node.refuted.len() == steps,
                "{number:?} is expanded in part"
            );
        }
        let is_exact = tree
            .path(number)
            .into_iter()
            .all(|node| tree.nodes[node].by != TreeMove::Quiet || tree.nodes[node].is_certain);
        if is_exact && node.end != NodeEnd::Unsatisfiable {
            compare_node(iosts, &tree, number, seen)?;
        }
    }
    Ok(())
}

/// A step of a trace: a transition with the values of its action's parameters; none of quiescence.
type Taken = Option<(TransitionId, Vec<Value>)>;

/// The traces that a tree shows from a node, of which one has led here.
fn traces(
    iosts: &Iosts,
    tree: &PathTree,
    node: NodeId,
    state: &State,
    so_far: &[Taken],
    all: &mut BTreeSet<Vec<Taken>>,
) {
    all.insert(so_far.to_vec());
    let on = match tree.nodes[node].end {
        NodeEnd::Merged(other) => other,
        _ => node,
    };
    for child in tree.children(on) {
        let mut go = |next: &State, by: Taken| {
            let longer = [so_far, &[by]].concat();
            traces(iosts, tree, child, next, &longer, all);
        };
        match &tree.nodes[child].by {
            TreeMove::Take(step) => {
                let transition = &iosts.transitions[step.transition];
                let parameters = &iosts.action(transition.action).parameters;
                for valuation in all_of(parameters).unwrap_or_default() {
                    let values: Vec<Value> =
                        parameters.iter().map(|datum| valuation[datum].clone()).collect();
                    if let Some(next) = fire(iosts, transition, state, &values) {
                        go(&next, Some((step.transition, values)));
                    }
                }
            }
            TreeMove::Quiet if is_quiescent(iosts, state) => go(state, None),
            TreeMove::Quiet | TreeMove::Start => {}
        }
    }
}

/// Holds a tree whose states are merged against one whose states are not, and against brute force.
///
/// # Errors
/// What differs.
pub fn compare_merging(iosts: &Iosts, seen: &mut Seen) -> Result<(), String> {
    let system = System::new(iosts);
    let mut solver = Z3Solver::default();
    let limits = TreeLimits { depth: 4, nodes: 300, quiescence: Quiescence::Loop, ..TreeLimits::default() };
    let plain = Growth::new(&system, limits).finish(&mut solver);
    let tree = Growth::new(&system, TreeLimits { is_merged: true, ..limits }).finish(&mut solver);
    let has_room = |tree: &PathTree| tree.nodes.iter().all(|node| node.end != NodeEnd::Nodes);
    let (Some(meant), Some(begin)) = (meant(iosts, &tree), initial(iosts)) else { return Ok(()) };
    if !has_room(&plain) || !has_room(&tree) || begin.len() > 40 {
        return Ok(());
    }
    let (mut of_plain, mut of_merged) = (BTreeSet::new(), BTreeSet::new());
    for state in &begin {
        traces(iosts, &plain, NodeId(0), state, &[], &mut of_plain);
        traces(iosts, &tree, NodeId(0), state, &[], &mut of_merged);
    }
    seen.runs += of_plain.len();
    ensure!(
        of_plain == of_merged,
        "{} traces, and {} when states are merged",
        of_plain.len(),
        of_merged.len()
    );
    seen.nodes += plain.nodes.len();
    seen.cut += plain.nodes.len() - tree.nodes.len();
    let data = data_of(iosts);
    for (number, node) in tree.nodes.numbered() {
        let Some(merged) = &node.merged else { continue };
        let others = tree.nodes.numbered().filter(|(_, other)| other.end == NodeEnd::Merged(number));
        let numbers = others.map(|(other, _)| other).chain([number]);
        let expected: States = numbers.flat_map(|number| meant[number.0 as usize].clone()).collect();
        for valuation in all_of(&data).unwrap_or_default() {
            let mut question = merged.condition.clone();
            let equal = |(datum, value): (&Datum, &Value)| {
                Term::equal(&merged.value(datum), &Term::literal(value.clone()))
            };
            question.extend(valuation.iter().map(equal));
            let is_there = match solver.check(&question) {
                Answer::Sat => true,
                Answer::Unsat => false,
                Answer::Unknown => continue,
            };
            let state = State { location: node.state.location, valuation };
            let is_meant = expected.contains(&state);
            // Where it is not certain that something can happen, it may be there and stand for nothing.
            ensure!(is_there == is_meant || (is_there && !node.is_certain), "{number:?}: {state:?}");
            seen.included += usize::from(is_meant);
            seen.not_included += usize::from(!is_meant);
        }
    }
    Ok(())
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

/// Holds a restriction by inclusion, and inclusions, against brute force.
///
/// # Errors
/// What differs.
pub fn compare_restriction(iosts: &Iosts, seen: &mut Seen) -> Result<(), String> {
    let system = System::new(iosts);
    let limits = TreeLimits {
        depth: 6,
        nodes: 150,
        quiescence: Quiescence::Unseen,
        is_restricted: true,
        is_merged: false,
    };
    let mut solver = Z3Solver::default();
    let tree = Growth::new(&system, limits).finish(&mut solver);
    let Some(meant) = meant(iosts, &tree) else { return Ok(()) };
    for (number, node) in tree.nodes.numbered() {
        let NodeEnd::Included(other) = node.end else { continue };
        seen.cut += 1;
        // Well-founded: who covers was expanded before.
        ensure!(
            other < number && tree.nodes[other].end == NodeEnd::Expanded,
            "{number:?} is cut for {other:?}, which was not expanded before"
        );
        let (cut, kept) = (&meant[number.0 as usize], &meant[other.0 as usize]);
        ensure!(cut.is_subset(kept), "{number:?} is cut for {other:?}, and stands for more");
    }
    let data = data_of(iosts);
    let states: Vec<_> =
        tree.nodes.iter().map(|node| tidy(&data, &node.state, node.is_certain)).take(25).collect();
    for (left, one) in states.iter().enumerate() {
        for (right, other) in states.iter().enumerate() {
            let is_subset = tree.nodes[NodeId(left as u32)].state.location
                == tree.nodes[NodeId(right as u32)].state.location
                && meant[left].is_subset(&meant[right]);
            let answer = match () {
                () if one.location != other.location => Inclusion::No,
                () if one == other => Inclusion::Yes,
                () => compare_states(&data, one, other, &mut solver).0,
            };
            match answer {
                Inclusion::Yes => {
                    seen.included += 1;
                    ensure!(is_subset, "{left} is not in {right}, and is said to be");
                }
                // An uncertain state may stand for nothing, which is included everywhere.
                Inclusion::No
                    if tree.nodes[NodeId(left as u32)].state.location
                        == tree.nodes[NodeId(right as u32)].state.location =>
                {
                    seen.not_included += 1;
                    ensure!(!is_subset, "{left} is in {right}, and is said not to be");
                }
                Inclusion::No => {}
                Inclusion::Unknown => seen.uncertain += 1,
            }
            if one.shape() == other.shape() {
                ensure!(is_subset, "{left} and {right} have one shape, and differ");
            }
        }
    }
    if tree.is_complete() {
        seen.complete += 1;
        let Some(all) = reachable(iosts) else { return Ok(()) };
        let shown: States = meant.into_iter().flatten().collect();
        ensure!(shown == all, "a restriction that is complete does not show every state");
    }
    Ok(())
}
