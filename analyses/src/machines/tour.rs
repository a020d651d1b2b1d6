//! Tours: shortest sequences that take each transition of a machine, or of a graph.
//!
//! **Source.** Naito and Tsunoyama (1981), and the thesis, Example 3.1. If each state of a graph is left as
//! often as it is entered, a closed walk takes each transition once (Euler). If not, some transitions are
//! taken again. To choose them is the problem of the Chinese postman: a flow of least cost from the states
//! that are entered too often to those that are left too often. **Method**: flow is sent along cheapest
//! paths, and taking flow back refunds its cost (Busacker and Gowen 1960). One search finds several paths.
//! Then comes the walk (Hierholzer 1873).
//!
//! **Limits.** A tour finds wrong outputs. It finds a wrong target only if a later output of the tour shows
//! it. **If only some transitions are needed**, the flow is still the least that makes them a closed walk or
//! several. Only the walk through the first state is returned: to join several is a harder problem. **Ends**:
//! each path makes two states more balanced. **Cost**: for each search the number of transitions times the
//! length of the longest cheapest path.

use super::mealy::{Mealy, Word};

/// Finds a tour, which ends where it begins. `None`: some state cannot come back to the first one.
pub fn find_tour(machine: &Mealy) -> Option<Word> {
    let states = machine.next.len();
    let leaving = |from| machine.leaving(from).map(move |(input, _, to)| (input, (from, to)));
    let (inputs, edges): (Vec<usize>, Vec<(usize, usize)>) = (0..states).flat_map(leaving).unzip();
    let walk = find_closed_walk(states, &edges, &vec![true; edges.len()], 0)?;
    let mut is_taken = vec![false; edges.len()];
    walk.iter().for_each(|edge| is_taken[*edge] = true);
    is_taken.iter().all(|is_taken| *is_taken).then(|| walk.iter().map(|edge| inputs[*edge]).collect())
}

/// Finds a closed walk from the first state, as the numbers of its edges. It takes the needed edges that it
/// reaches. `None`: no walk comes back from some needed edge.
pub fn find_closed_walk(
    states: usize,
    edges: &[(usize, usize)],
    is_needed: &[bool],
    first: usize,
) -> Option<Vec<usize>> {
    let times = count_repetitions(states, edges, is_needed)?;
    // The edges that still have to be taken from each state, each as often as it is taken. `pop` takes the
    // last, so the reversed edges are taken in their order.
    let mut open_edges: Vec<Vec<usize>> = vec![Vec::new(); states];
    for (number, ((from, _), times)) in edges.iter().zip(&times).enumerate().rev() {
        open_edges[*from].extend(std::iter::repeat_n(number, *times));
    }
    // The walk is found backwards: an edge is appended when its end has no open edges.
    let (mut stack, mut walk) = (vec![(first, None)], Vec::new());
    while let Some(&(state, edge)) = stack.last() {
        match open_edges[state].pop() {
            Some(next) => stack.push((edges[next].1, Some(next))),
            None => {
                walk.extend(edge);
                stack.pop();
            }
        }
    }
    walk.reverse();
    Some(walk)
}

/// Finds how often each edge is taken, such that each state is left as often as it is entered. `None`: no
/// path leads from a state that is entered too often to one that is left too often.
fn count_repetitions(states: usize, edges: &[(usize, usize)], is_needed: &[bool]) -> Option<Vec<usize>> {
    let needed: Vec<usize> = is_needed.iter().map(|is_needed| usize::from(*is_needed)).collect();
    let mut times = needed.clone();
    // For each state: how much more often it is entered than left.
    let mut surplus = vec![0i64; states];
    for ((from, to), _) in edges.iter().zip(is_needed).filter(|(_, is_needed)| **is_needed) {
        surplus[*from] -= 1;
        surplus[*to] += 1;
    }
    while surplus.iter().any(|surplus| *surplus > 0) {
        let reached = find_cheapest_paths(edges, &needed, &times, &surplus);
        let lacking = (0..states).filter(|state| surplus[*state] < 0);
        let mut lacking: Vec<(i64, usize)> =
            lacking.filter_map(|state| Some((reached[state]?.0, state))).collect();
        lacking.sort_unstable();
        let least = lacking.first()?.0;
        // Other paths of the same cost stay cheapest after flow has gone along one of them.
        for (_, end) in lacking.into_iter().filter(|(cost, _)| *cost == least) {
            // Follow the path back to where it begins.
            let (mut path, mut begin) = (Vec::new(), end);
            while let Some((_, Some((number, is_forward)))) = reached[begin] {
                path.push((number, is_forward));
                let (from, to) = edges[number];
                begin = if is_forward { from } else { to };
            }
            // A path before this one may have used it up.
            let is_possible =
                |(number, is_forward): &(usize, bool)| *is_forward || times[*number] > needed[*number];
            if surplus[begin] > 0 && path.iter().all(is_possible) {
                for (number, is_forward) in path {
                    if is_forward {
                        times[number] += 1;
                    } else {
                        times[number] -= 1;
                    }
                }
                surplus[begin] -= 1;
                surplus[end] += 1;
            }
        }
    }
    Some(times)
}

/// The cost from the states that are entered too often, and the last edge on the path, forward or back.
type CheapestPath = (i64, Option<(usize, bool)>);

/// Finds how each state is reached at the least cost (Bellman and Ford).
fn find_cheapest_paths(
    edges: &[(usize, usize)],
    needed: &[usize],
    times: &[usize],
    surplus: &[i64],
) -> Vec<Option<CheapestPath>> {
    let begin = |surplus: &i64| (*surplus > 0).then_some((0, None));
    let mut paths: Vec<Option<CheapestPath>> = surplus.iter().map(begin).collect();
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for (number, (from, to)) in edges.iter().enumerate() {
            // An edge that is taken more often than needed can be taken back, which refunds its cost.
            let back = (times[number] > needed[number]).then_some((*to, *from, -1, false));
            for (a, b, price, is_forward) in [Some((*from, *to, 1, true)), back].into_iter().flatten() {
                if let Some(cost) = paths[a].map(|(cost, _)| cost + price)
                    && paths[b].is_none_or(|(known, _)| cost < known)
                {
                    paths[b] = Some((cost, Some((number, is_forward))));
                    is_changed = true;
                }
            }
        }
    }
    paths
}
