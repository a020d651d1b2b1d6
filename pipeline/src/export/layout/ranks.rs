//! Decides which node lies below which.
//!
//! A depth-first search from each node not seen finds the arrows that close a cycle; when they are turned
//! around, no cycle is left. (A smallest set of arrows to be turned is hard to find, and not what a reader
//! wants: an arrow that goes back to the beginning of a loop should be drawn upwards.) Each node then lies as
//! high as all that lead to it allow: the longest path to it counts its ranks.
//!
//! A node to which only turned arrows lead would lie at the very top. It is lowered as far as its own arrows
//! allow.
//!
//! **Rows.** The neighbours of a hub would make its rank as wide as all of them together. So those to which
//! nothing else leads stand in rows below each other: such a node may lie as far down as one likes.

use coreach_model::budget;

use super::{BESIDE, LayoutLink, NodeSize};

/// How wide a row of a hub is.
const MOST_WIDE: f64 = 1_100.0;

pub(super) struct Ranked {
    /// The rank of each node, counted from the top.
    pub(super) rank: Vec<usize>,
    /// For each arrow, whether it leads upwards.
    pub(super) turned: Vec<bool>,
    /// For each node, whether its neighbours below stand in rows.
    pub(super) is_hub: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq)]
enum RankSeen {
    Not,
    OnPath,
    Done,
}

/// Ranks the nodes, and says which arrows are turned around and which nodes are hubs.
pub(super) fn rank_nodes(nodes: &[NodeSize], links: &[LayoutLink]) -> Ranked {
    let count = nodes.len();
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, link) in links.iter().enumerate() {
        if link.source != link.target {
            outgoing[link.source].push(number);
        }
    }
    let mut turned = vec![false; links.len()];
    let finished = find_cycles(count, links, &outgoing, &mut turned);
    let (steps, is_hub) = arrange_rows(nodes, links, &turned);
    // Backwards, a node comes after all that lie above it. Turned arrows lead to it from below.
    let mut rank = vec![0; count];
    for &node in finished.iter().rev() {
        budget::ask();
        for &number in outgoing[node].iter().filter(|number| !turned[**number]) {
            let target = links[number].target;
            rank[target] = rank[target].max(rank[node] + steps[target]);
        }
    }
    lower_nodes(links, &mut turned, &mut rank, &finished);
    Ranked { rank, turned, is_hub }
}

/// Finds how many ranks each node lies below those that lead to it, and which nodes are hubs.
fn arrange_rows(nodes: &[NodeSize], links: &[LayoutLink], turned: &[bool]) -> (Vec<usize>, Vec<bool>) {
    let (mut steps, mut is_hub) = (vec![1; nodes.len()], vec![false; nodes.len()]);
    // The labels of a node's arrows lie in one rank. Each node has at most one list that it is in.
    let mut needed_width = vec![0.0; nodes.len()];
    let mut above: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut only_below: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (link, turned) in links.iter().zip(turned).filter(|(link, _)| link.source != link.target) {
        let (upper, lower) = if *turned { (link.target, link.source) } else { (link.source, link.target) };
        needed_width[lower] += link.width + BESIDE;
        match above[lower] {
            _ if *turned => {}
            None => {
                above[lower] = Some(upper);
                only_below[upper].push(lower);
            }
            // Two nodes lead to it, so it stands in no row.
            Some(upper_so_far) if upper_so_far != upper => {
                only_below[upper_so_far].retain(|node| *node != lower)
            }
            Some(_) => {}
        }
    }
    for (hub, row_nodes) in only_below.iter().enumerate() {
        budget::ask();
        let own_width = |node: &usize| nodes[*node].width + nodes[*node].width_beside + BESIDE;
        let width_of = |node: &usize| f64::max(needed_width[*node], own_width(node));
        let total: f64 = row_nodes.iter().map(width_of).sum();
        // Few neighbours, or narrow ones, fit into one rank.
        if row_nodes.len() < 6 || total <= MOST_WIDE {
            continue;
        }
        is_hub[hub] = true;
        // There are few enough rows for each arrow to have a route.
        let row_width = f64::max(MOST_WIDE, total / 16.0);
        let (mut row, mut filled) = (1, 0.0);
        for node in row_nodes {
            if filled + width_of(node) / 2.0 > row_width {
                (row, filled) = (row + 1, 0.0);
            }
            filled += width_of(node);
            steps[*node] = row;
        }
    }
    (steps, is_hub)
}

/// Marks arrows that close a cycle. Gives the nodes in the order in which they are left.
fn find_cycles(
    count: usize,
    links: &[LayoutLink],
    outgoing: &[Vec<usize>],
    turned: &mut [bool],
) -> Vec<usize> {
    let mut seen = vec![RankSeen::Not; count];
    let mut finished = Vec::with_capacity(count);
    for root in 0..count {
        if seen[root] != RankSeen::Not {
            continue;
        }
        // The stack is explicit, for a chain of nodes is as deep as it is long.
        let mut path = vec![(root, 0)];
        seen[root] = RankSeen::OnPath;
        while let Some((node, next)) = path.last_mut() {
            budget::ask();
            let Some(&number) = outgoing[*node].get(*next) else {
                seen[*node] = RankSeen::Done;
                finished.push(*node);
                path.pop();
                continue;
            };
            *next += 1;
            let target = links[number].target;
            match seen[target] {
                RankSeen::Not => {
                    seen[target] = RankSeen::OnPath;
                    path.push((target, 0));
                }
                RankSeen::OnPath => turned[number] = true,
                RankSeen::Done => {}
            }
        }
    }
    finished
}

/// Lowers the nodes that have nothing above them, and turns the arrows that lead up now.
fn lower_nodes(links: &[LayoutLink], turned: &mut [bool], rank: &mut [usize], finished: &[usize]) {
    let mut has_above = vec![false; rank.len()];
    let mut lowest: Vec<Option<usize>> = vec![None; rank.len()];
    for (link, turned) in links.iter().zip(turned.iter()) {
        if link.source == link.target || *turned {
            continue;
        }
        has_above[link.target] = true;
        // A node stays above all that it leads to.
        let above_target = rank[link.target].saturating_sub(1);
        let allowed = &mut lowest[link.source];
        *allowed = Some(allowed.unwrap_or(above_target).min(above_target));
    }
    // Node 0 stays at the top.
    for &node in finished {
        if node != 0 && !has_above[node] {
            rank[node] = lowest[node].unwrap_or(rank[node]);
        }
    }
    for (link, turned) in links.iter().zip(turned.iter_mut()) {
        *turned = rank[link.source] > rank[link.target];
    }
}
