//! Tours: each transition of a machine, or of a graph, in one sequence as short as it can be.
//!
//! **Source.** Naito and Tsunoyama (1981); the thesis, Example 3.1. On a graph each of whose states is left
//! as often as it is entered, a closed walk takes each transition once (Euler); else some are taken again.
//! Which ones is the problem of the Chinese postman: a flow of least cost from the states that are entered
//! too often to those that are left too often. **Method**: flow along cheapest paths, where taking flow back
//! gives its cost back (Busacker and Gowen 1960), along as many as one search has found; then the walk
//! (Hierholzer 1873).
//!
//! **Says nothing** of where transitions lead: it finds wrong outputs, and wrong targets only as they show
//! later on it.
//!
//! **Where not all is needed** the flow is still the least that makes the needed transitions a closed walk
//! or several; only the one through the first state is given, for to join several is a harder problem.
//!
//! **Ends**: each path makes two states more even. **Cost**: for each search the transitions times the length
//! of the longest cheapest path.

use super::mealy::{Mealy, Word};

/// The tour, which ends where it begins; none where some state cannot come back to the first one.
pub fn tour(machine: &Mealy) -> Option<Word> {
    let states = machine.next.len();
    let of = |from| machine.leaving(from).map(move |(input, _, to)| (from, input, to));
    let all: Vec<(usize, usize, usize)> = (0..states).flat_map(of).collect();
    let edges: Vec<(usize, usize)> = all.iter().map(|(from, _, to)| (*from, *to)).collect();
    let found = closed(states, &edges, &vec![true; edges.len()], 0)?;
    let mut taken = vec![false; edges.len()];
    found.iter().for_each(|edge| taken[*edge] = true);
    taken.iter().all(|taken| *taken).then(|| found.iter().map(|edge| all[*edge].1).collect())
}

/// A closed walk from the first state through the edges that are needed and can be joined with it, by the
/// numbers of the edges; none where it cannot come back from one.
pub fn closed(
    states: usize,
    edges: &[(usize, usize)],
    is_needed: &[bool],
    first: usize,
) -> Option<Vec<usize>> {
    let times = repeated(states, edges, is_needed)?;
    let mut left: Vec<Vec<usize>> = vec![Vec::new(); states];
    for (number, times) in times.iter().enumerate().rev() {
        left[edges[number].0].extend(std::iter::repeat_n(number, *times));
    }
    // Backwards: what cannot go on has come to its end.
    let (mut stack, mut found) = (vec![(first, None)], Vec::new());
    while let Some(&(at, by)) = stack.last() {
        match left[at].pop() {
            Some(number) => stack.push((edges[number].1, Some(number))),
            None => {
                found.extend(by);
                stack.pop();
            }
        }
    }
    found.reverse();
    Some(found)
}

fn repeated(states: usize, edges: &[(usize, usize)], is_needed: &[bool]) -> Option<Vec<usize>> {
    let needed: Vec<usize> = is_needed.iter().map(|is_needed| usize::from(*is_needed)).collect();
    let mut times = needed.clone();
    // Entered more often than left.
    let mut surplus = vec![0i64; states];
    for ((from, to), _) in edges.iter().zip(is_needed).filter(|(_, is_needed)| **is_needed) {
        surplus[*from] -= 1;
        surplus[*to] += 1;
    }
    while surplus.iter().any(|surplus| *surplus > 0) {
        let reached = cheapest(edges, &needed, &times, &surplus);
        let lacking = (0..states).filter(|state| surplus[*state] < 0);
        let mut lacking: Vec<(i64, usize)> =
            lacking.filter_map(|state| Some((reached[state]?.0, state))).collect();
        lacking.sort_unstable();
        let least = lacking.first()?.0;
        // Paths that are as short stay cheapest when flow has gone along another one of them.
        for (_, end) in lacking.into_iter().filter(|(cost, _)| *cost == least) {
            let (mut path, mut at) = (Vec::new(), end);
            while let Some((_, Some((number, is_forward)))) = reached[at] {
                path.push((number, is_forward));
                at = if is_forward { edges[number].0 } else { edges[number].1 };
            }
            let may_go =
                |(number, is_forward): &(usize, bool)| *is_forward || times[*number] > needed[*number];
            if surplus[at] > 0 && path.iter().all(may_go) {
                for (number, is_forward) in path {
                    if is_forward {
                        times[number] += 1;
                    } else {
                        times[number] -= 1;
                    }
                }
                surplus[at] -= 1;
                surplus[end] += 1;
            }
        }
    }
    Some(times)
}

/// The cost from the states that are entered too often, and the last edge on the path, forward or back.
type CheapestPath = (i64, Option<(usize, bool)>);

/// For each state how it is reached at the least cost (Bellman and Ford).
fn cheapest(
    edges: &[(usize, usize)],
    needed: &[usize],
    times: &[usize],
    surplus: &[i64],
) -> Vec<Option<CheapestPath>> {
    let begin = |surplus: &i64| (*surplus > 0).then_some((0, None));
    let mut found: Vec<Option<CheapestPath>> = surplus.iter().map(begin).collect();
    let mut changes = true;
    while std::mem::take(&mut changes) {
        for (number, (from, to)) in edges.iter().enumerate() {
            let back = (times[number] > needed[number]).then_some((*to, *from, -1, false));
            for (a, b, price, is_forward) in [Some((*from, *to, 1, true)), back].into_iter().flatten() {
                if let Some(cost) = found[a].map(|(cost, _)| cost + price)
                    && found[b].is_none_or(|(known, _)| cost < known)
                {
                    found[b] = Some((cost, Some((number, is_forward))));
                    changes = true;
                }
            }
        }
    }
    found
}
