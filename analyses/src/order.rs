//! Weak topological orders: in which order a fixpoint visits locations, and where it widens.
//!
//! The source is F. Bourdoncle, "Efficient chaotic iteration strategies with widenings" (FMPA 1993,
//! <https://doi.org/10.1007/BFb0039704>). A weak topological order arranges the nodes in nested components,
//! each with a head, such that every edge that goes backwards goes to the head of a component that contains
//! its source. Widening at heads is then enough to make an iteration end, and stabilising inner components
//! first (the recursive strategy) keeps the outer ones from seeing half-done results.
//!
//! The order is built from strongly connected components: first those of the graph in topological order, each
//! headed by the node where the search entered it, then those of each component without its head, and so on.
//! Where we differ: the search and the nesting run on explicit stacks. The result is not a tree but a list of
//! nodes with the positions where components close. So a chain of 10^5 locations does not exhaust the stack.
//!
//! It ends, since every nested graph has one node less. Cost: edges times the depth of nesting.

use coreach_model::budget;

/// A weak topological order of the nodes that the entries reach.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WeakOrder {
    pub nodes: Vec<u32>,
    /// For each position, the positions of the heads whose components end after it, the innermost first.
    pub closes: Vec<Vec<u32>>,
    /// For each position: is it a head?
    pub is_head: Vec<bool>,
}

enum OrderWork {
    /// A subgraph still to be ordered, its nodes in the order of their discovery.
    Graph(Vec<u32>),
    Node(u32),
    Component(Vec<u32>),
    Close(u32),
}

/// Builds a weak topological order of the nodes that the entries reach.
pub fn weak_order(successors: &[Vec<u32>], entries: &[u32]) -> WeakOrder {
    let mut order = WeakOrder::default();
    let mut search = OrderSearch::new(successors);
    let reached = search.reachable(entries);
    let mut open_work = vec![OrderWork::Graph(reached)];
    while let Some(item) = open_work.pop() {
        budget::ask();
        match item {
            OrderWork::Graph(nodes) => {
                // Tarjan's algorithm finds components in reverse topological order. They are pushed in this
                // order, so the first one to be visited is on top.
                for component in search.components(&nodes) {
                    let has_loop = |node: u32| successors[node as usize].contains(&node);
                    open_work.push(match component[..] {
                        [node] if !has_loop(node) => OrderWork::Node(node),
                        _ => OrderWork::Component(component),
                    });
                }
            }
            OrderWork::Node(node) => order.push(node, /* is_head */ false),
            OrderWork::Component(component) => {
                let position = order.nodes.len() as u32;
                order.push(component[0], /* is_head */ true);
                // The component is closed after its other nodes, which are on top.
                open_work.push(OrderWork::Close(position));
                if component.len() > 1 {
                    open_work.push(OrderWork::Graph(component[1..].to_vec()));
                }
            }
            OrderWork::Close(head) => {
                if let Some(closes) = order.closes.last_mut() {
                    closes.push(head);
                }
            }
        }
    }
    order
}

impl WeakOrder {
    fn push(&mut self, node: u32, is_head: bool) {
        self.nodes.push(node);
        self.closes.push(Vec::new());
        self.is_head.push(is_head);
    }
}

/// The state of the depth-first searches, kept between them so that each costs what it visits.
struct OrderSearch<'a> {
    successors: &'a [Vec<u32>],
    /// The subgraph that a node belongs to at present.
    region: Vec<u32>,
    regions: u32,
    /// The time at which the present search found the node. 0: not yet.
    found_at: Vec<u32>,
    /// The earliest time of a node to which the node leads, as far as is known.
    low: Vec<u32>,
    on_stack: Vec<bool>,
}

impl<'a> OrderSearch<'a> {
    fn new(successors: &'a [Vec<u32>]) -> Self {
        let nodes = successors.len();
        OrderSearch {
            successors,
            region: vec![0; nodes],
            regions: 0,
            found_at: vec![0; nodes],
            low: vec![0; nodes],
            on_stack: vec![false; nodes],
        }
    }

    /// The nodes reached, in the order of a depth-first search.
    fn reachable(&self, entries: &[u32]) -> Vec<u32> {
        let mut seen = vec![false; self.successors.len()];
        let mut reached = Vec::new();
        let mut open_nodes: Vec<u32> = entries.iter().rev().copied().collect();
        while let Some(node) = open_nodes.pop() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                reached.push(node);
                open_nodes.extend(self.successors[node as usize].iter().rev());
            }
        }
        reached
    }

    /// Finds the strongly connected components of the subgraph, each in order of discovery. The last
    /// component comes first.
    fn components(&mut self, nodes: &[u32]) -> Vec<Vec<u32>> {
        self.regions += 1;
        let region = self.regions;
        for &node in nodes {
            self.region[node as usize] = region;
            self.found_at[node as usize] = 0;
        }
        let mut components = Vec::new();
        let mut clock = 0;
        let mut stack: Vec<u32> = Vec::new();
        for &root in nodes {
            if self.found_at[root as usize] != 0 {
                continue;
            }
            // The nodes on the way from the root, each with the number of its next successor.
            let mut path: Vec<(u32, usize)> = vec![(root, 0)];
            while let Some((node_on_path, next)) = path.last_mut() {
                let (node, place) = (*node_on_path, *node_on_path as usize);
                if *next == 0 {
                    clock += 1;
                    self.found_at[place] = clock;
                    self.low[place] = clock;
                    self.on_stack[place] = true;
                    stack.push(node);
                }
                if let Some(&successor) = self.successors[place].get(*next) {
                    *next += 1;
                    let target = successor as usize;
                    if self.region[target] != region {
                        continue;
                    }
                    if self.found_at[target] == 0 {
                        path.push((successor, 0));
                    } else if self.on_stack[target] {
                        self.low[place] = self.low[place].min(self.found_at[target]);
                    }
                    continue;
                }
                // All successors are done.
                path.pop();
                if let Some((parent, _)) = path.last() {
                    self.low[*parent as usize] = self.low[*parent as usize].min(self.low[place]);
                }
                // It leads to no earlier node, so it is the first of its component.
                if self.low[place] == self.found_at[place] {
                    let start = stack.iter().rposition(|other| *other == node).unwrap_or(0);
                    let component = stack.split_off(start);
                    for node in &component {
                        self.on_stack[*node as usize] = false;
                    }
                    components.push(component);
                }
            }
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order with components in parentheses, as Bourdoncle writes it.
    fn written(successors: &[Vec<u32>]) -> String {
        let order = weak_order(successors, &[0]);
        let mut text = Vec::new();
        for (position, node) in order.nodes.iter().enumerate() {
            let open = if order.is_head[position] { "(" } else { "" };
            text.push(format!("{open}{node}{}", ")".repeat(order.closes[position].len())));
        }
        text.join(" ")
    }

    #[test]
    fn orders_as_in_the_paper() {
        // Bourdoncle's example, nodes from 0: 1 2 (3 4 (5 6) 7) 8.
        let edges = [vec![1], vec![2, 7], vec![3], vec![4, 6], vec![5], vec![4, 6], vec![2, 7], vec![]];
        assert_eq!(written(&edges), "0 1 (2 3 (4 5) 6) 7");
    }

    #[test]
    fn self_loops_are_components() {
        assert_eq!(written(&[vec![0, 1], vec![1], vec![0]]), "(0) (1)");
    }

    #[test]
    fn long_chains_and_deep_nests_need_no_stack() {
        let chain: Vec<Vec<u32>> = (1..=100_000).map(|next| vec![next % 100_000]).collect();
        let order = weak_order(&chain, &[0]);
        assert_eq!((order.nodes.len(), order.is_head.iter().filter(|head| **head).count()), (100_000, 1));
        let nest: Vec<Vec<u32>> =
            (0..2000u32).map(|n| [n.saturating_sub(1), (n + 1).min(1999)].to_vec()).collect();
        assert_eq!(weak_order(&nest, &[0]).nodes.len(), 2000);
    }

    #[test]
    fn edges_go_backwards_only_to_enclosing_heads() {
        // A small deterministic generator of graphs.
        let mut state = 12345u64;
        let mut next = |bound: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % bound
        };
        for _ in 0..300 {
            let nodes = 1 + next(12);
            let graph: Vec<Vec<u32>> =
                (0..nodes).map(|_| (0..next(4)).map(|_| next(nodes) as u32).collect()).collect();
            let order = weak_order(&graph, &[0]);
            let position = |node: u32| order.nodes.iter().position(|n| *n == node);
            for (at, node) in order.nodes.iter().enumerate() {
                for successor in &graph[*node as usize] {
                    let to = position(*successor).expect("successors of reached nodes are reached");
                    if to <= at {
                        let end = (at..order.nodes.len()).find(|p| order.closes[*p].contains(&(to as u32)));
                        assert!(order.is_head[to] && end.is_some(), "{graph:?}: {node} -> {successor}");
                    }
                }
            }
        }
    }
}
