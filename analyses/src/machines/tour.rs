//! A transition tour: one word that takes every transition, as short as it can be.
//!
//! **Source.** Naito and Tsunoyama (1981); the thesis, Example 3.1. On a graph each of whose states is left
//! as often as it is entered, a closed walk takes each transition once (Euler); else some are taken again.
//! Which ones is the problem of the Chinese postman: a flow of least cost from the states that are entered
//! too often to those that are left too often. **Method**: one unit of flow after the other along a cheapest
//! path, where taking flow back gives its cost back (Busacker and Gowen 1960); then the walk (Hierholzer
//! 1873).
//!
//! **Says nothing** of where transitions lead: it finds wrong outputs, and wrong targets only as they show
//! later on it.
//!
//! **Ends**: each unit of flow makes one state even. **Cost**: for each unit the states times the
//! transitions.

use super::mealy::{Mealy, Word};

/// The tour, which ends where it begins; none where some state cannot come back to the first one.
pub fn tour(machine: &Mealy) -> Option<Word> {
    let states = machine.next.len();
    let edges: Vec<(usize, usize, usize)> = (0..states)
        .flat_map(|from| machine.leaving(from).map(move |(input, _, to)| (from, input, to)))
        .collect();
    let times = repeated(states, &edges)?;
    let mut left: Vec<Vec<(usize, usize)>> = vec![Vec::new(); states];
    for ((from, input, to), times) in edges.iter().zip(times).rev() {
        left[*from].extend(std::iter::repeat_n((*input, *to), times));
    }
    // Backwards: what cannot go on has come to its end.
    let (mut stack, mut word) = (vec![(0, None)], Word::new());
    while let Some(&(at, by)) = stack.last() {
        match left[at].pop() {
            Some((input, to)) => stack.push((to, Some(input))),
            None => {
                word.extend(by);
                stack.pop();
            }
        }
    }
    word.reverse();
    (left.iter().all(Vec::is_empty)).then_some(word)
}

/// How often each transition is taken.
fn repeated(states: usize, edges: &[(usize, usize, usize)]) -> Option<Vec<usize>> {
    let mut times = vec![1usize; edges.len()];
    // Entered more often than left.
    let mut surplus = vec![0i64; states];
    for (from, _, to) in edges {
        surplus[*from] -= 1;
        surplus[*to] += 1;
    }
    while surplus.iter().any(|surplus| *surplus > 0) {
        // Bellman and Ford, from all states that are entered too often.
        let mut cost: Vec<Option<i64>> = surplus.iter().map(|surplus| (*surplus > 0).then_some(0)).collect();
        let mut by: Vec<Option<(usize, bool)>> = vec![None; states];
        for _ in 0..states {
            for (number, (from, _, to)) in edges.iter().enumerate() {
                let forward = (*from, *to, 1, true);
                let back = (*to, *from, -1, false);
                for (a, b, price, is_forward) in
                    [Some(forward), (times[number] > 1).then_some(back)].into_iter().flatten()
                {
                    if let Some(through) = cost[a].map(|cost| cost + price)
                        && cost[b].is_none_or(|known| through < known)
                    {
                        cost[b] = Some(through);
                        by[b] = Some((number, is_forward));
                    }
                }
            }
        }
        let lacking = (0..states).filter(|state| surplus[*state] < 0);
        let mut at = lacking.filter(|state| cost[*state].is_some()).min_by_key(|state| cost[*state])?;
        surplus[at] += 1;
        while let Some((number, is_forward)) = by[at] {
            let (from, _, to) = edges[number];
            if is_forward {
                times[number] += 1;
                at = from;
            } else {
                times[number] -= 1;
                at = to;
            }
        }
        surplus[at] -= 1;
    }
    Some(times)
}
