//! Which node lies below which.
//!
//! A search in depth from node 0 finds the arrows that close a cycle; turned around, they leave no cycle. (A
//! smallest set of arrows to be turned is hard to find, and not what a reader wants: what goes back to the
//! beginning of a loop shall be drawn upwards.) Each node then lies as high as all that lead to it allow: the
//! longest path to it counts its ranks.
//!
//! A node to which only turned arrows lead would lie at the very top. It is let down as far as what it leads
//! to allows.

use coreach_model::budget;

use super::LayoutLink;

/// Ranks, and which arrows go up.
pub(super) struct Ranked {
    /// For each node, how far down it lies.
    pub(super) rank: Vec<usize>,
    /// For each arrow, whether it leads upwards.
    pub(super) turned: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq)]
enum RankSeen {
    Not,
    OnPath,
    Done,
}

pub(super) fn ranks(count: usize, links: &[LayoutLink]) -> Ranked {
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, link) in links.iter().enumerate() {
        if link.source != link.target {
            outgoing[link.source].push(number);
        }
    }
    let mut turned = vec![false; links.len()];
    let finished = search(count, links, &outgoing, &mut turned);
    // What is finished last has nothing above it.
    let mut rank = vec![0; count];
    for &node in finished.iter().rev() {
        for &number in outgoing[node].iter().filter(|number| !turned[**number]) {
            let target = links[number].target;
            rank[target] = rank[target].max(rank[node] + 1);
        }
        // Arrows that were turned lead here from below: who they come from lies lower.
        budget::ask();
    }
    settle(links, &mut turned, &mut rank, &finished);
    Ranked { rank, turned }
}

/// Marks arrows that close a cycle; the nodes in the order in which they are left.
fn search(count: usize, links: &[LayoutLink], outgoing: &[Vec<usize>], turned: &mut [bool]) -> Vec<usize> {
    let mut seen = vec![RankSeen::Not; count];
    let mut finished = Vec::with_capacity(count);
    for root in 0..count {
        if seen[root] != RankSeen::Not {
            continue;
        }
        // By hand, for a chain of nodes is as deep as it is long.
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

/// Lets down what has nothing above it, and turns what goes up now.
fn settle(links: &[LayoutLink], turned: &mut [bool], rank: &mut [usize], finished: &[usize]) {
    let mut has_above = vec![false; rank.len()];
    let mut lowest: Vec<Option<usize>> = vec![None; rank.len()];
    for (link, turned) in links.iter().zip(turned.iter()) {
        if link.source == link.target || *turned {
            continue;
        }
        has_above[link.target] = true;
        let most = rank[link.target].saturating_sub(1);
        let known = &mut lowest[link.source];
        *known = Some(known.map_or(most, |known: usize| known.min(most)));
    }
    for &node in finished {
        if node != 0 && !has_above[node] {
            rank[node] = lowest[node].unwrap_or(rank[node]);
        }
    }
    for (link, turned) in links.iter().zip(turned.iter_mut()) {
        *turned = rank[link.source] > rank[link.target];
    }
}
