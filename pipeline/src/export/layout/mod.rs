//! Finds places for the nodes and the arrows of a graph on paper.
//!
//! **Problem.** A graph shall be readable: time flows downwards, arrows are short and cross little. It shall
//! be the same on every machine. A graph of thousands of locations shall be laid out in less time than it
//! took to be made.
//!
//! **Method.** That of Sugiyama, Tagawa and Toda (<https://doi.org/10.1109/TSMC.1981.4308636>), in the order
//! of Gansner and others (<https://doi.org/10.1109/32.221135>): `ranks`, then `order`, then `place`. In
//! `order`, points with neighbours at the left go left within each rank, while crossings become fewer.
//!
//! **Where it differs.** An arrow over more than [`MOST_RANKS`] ranks has no route ([`LayoutRoute::Far`]),
//! since nobody follows an arrow over many pages. So the number of points is linear in the size of the graph.
//! Coordinates are found by sweeps that solve each rank exactly (`place`), not by the four alignments of
//! Brandes and Köpf. No crate does this within a budget; `docs/dev/decisions.md` says which were tried.
//!
//! **Ends**: each step is a fixed number of sweeps. **Cost**: `O(n log n)` in the number of points.

mod order;
mod place;
mod ranks;

use std::collections::BTreeMap;

use coreach_model::budget;

/// An arrow that goes down or up by more ranks of nodes than this has no route.
pub const MOST_RANKS: usize = 24;

/// The distance between two spots of one rank.
const BESIDE: f64 = 18.0;
/// The distance between two ranks.
const BETWEEN: f64 = 16.0;
const MARGIN: f64 = 12.0;

/// The size of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NodeSize {
    pub width: f64,
    pub height: f64,
    /// The width that is kept free at the node's right, for the things drawn next to it.
    pub width_beside: f64,
    /// The height of the things drawn next to it, which stand around the node's middle.
    pub height_beside: f64,
}

/// An arrow between two nodes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayoutLink {
    pub source: usize,
    pub target: usize,
    /// The label's width; 0 without a label.
    pub width: f64,
    pub height: f64,
}

/// A point, measured from the upper left corner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayoutPoint {
    pub x: f64,
    pub y: f64,
}

/// How an arrow is drawn.
#[derive(Clone, PartialEq, Debug)]
pub enum LayoutRoute {
    /// The arrow goes through these points, from the border of its source to that of its target; its label's
    /// middle is at one of them.
    Through {
        /// The points; two at least.
        points: Vec<LayoutPoint>,
        /// The number of the point that is the label's middle.
        label: usize,
    },
    /// The arrow leads back to its own node.
    Loop,
    /// The arrow is too long to be followed.
    Far,
}

/// The places of all nodes and arrows.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    pub nodes: Vec<LayoutPoint>,
    pub routes: Vec<LayoutRoute>,
    pub width: f64,
    pub height: f64,
}

/// A node, or a point on the way of an arrow.
#[derive(Clone, Copy, Debug)]
struct Spot {
    rank: usize,
    left: f64,
    right: f64,
    height: f64,
    is_node: bool,
    /// Is it a hub, or a point that its arrows share?
    is_trunk: bool,
}

/// The graph with a point for each rank that an arrow crosses: each pair of spots leads to the next rank.
struct Layered {
    spots: Vec<Spot>,
    /// For each spot, the spots of the rank above that lead to it.
    above: Vec<Vec<usize>>,
    /// For each spot, the spots of the rank below to which it leads.
    below: Vec<Vec<usize>>,
    /// The spots of each rank, from left to right.
    layers: Vec<Vec<usize>>,
    /// The points that the arrows to and from a hub share, by the hub and the rank.
    trunks: BTreeMap<(usize, usize), usize>,
}

/// Lays a graph out. Node 0 is at its top.
pub fn lay_out(nodes: &[NodeSize], links: &[LayoutLink]) -> Layout {
    let ranked = ranks::rank_nodes(nodes, links);
    let mut layered = Layered::new(nodes, &ranked);
    let chains: Vec<Option<Vec<usize>>> =
        links.iter().zip(&ranked.turned).map(|(link, turned)| layered.add_chain(link, *turned)).collect();
    // The trunk goes into the middle of the spots below its hub, so half of a row lies on either side.
    for trunk in layered.trunks.values() {
        let previous = layered.above[*trunk][0];
        let mut below = std::mem::take(&mut layered.below[previous]);
        below.retain(|spot| spot != trunk);
        // Spots that lead to the same node stand side by side, so the trunk must not come between them.
        let mut middle = below.len() / 2;
        while middle > 0
            && middle < below.len()
            && layered.below[below[middle - 1]] == layered.below[below[middle]]
        {
            middle += 1;
        }
        below.insert(middle, *trunk);
        layered.below[previous] = below;
    }
    order::order_layers(&mut layered);
    let x_of_spots = place::place_across(&layered);
    let y_of_ranks = place::place_down(&layered);
    let point_of = |spot: usize| LayoutPoint { x: x_of_spots[spot], y: y_of_ranks[layered.spots[spot].rank] };
    let routes = links.iter().zip(&chains).map(|(link, chain)| match chain {
        _ if link.source == link.target => LayoutRoute::Loop,
        None => LayoutRoute::Far,
        Some(chain) => {
            let inner: Vec<LayoutPoint> = chain.iter().map(|spot| point_of(*spot)).collect();
            // Only the label's point has a height.
            let label = chain.iter().position(|spot| layered.spots[*spot].height > 0.0);
            make_route(nodes, link, point_of(link.source), point_of(link.target), inner, label)
        }
    });
    let mut layout = Layout {
        routes: routes.collect(),
        nodes: (0..nodes.len()).map(point_of).collect(),
        width: 0.0,
        height: 0.0,
    };
    let right = layered.spots.iter().zip(&x_of_spots).map(|(spot, x)| x + spot.right);
    let bottom = layered.spots.iter().map(|spot| y_of_ranks[spot.rank] + spot.height / 2.0);
    layout.width = right.fold(0.0, f64::max) + MARGIN;
    layout.height = bottom.fold(0.0, f64::max) + MARGIN;
    layout
}

/// Makes the route of an arrow from border to border. `label` is the number of an inner point.
fn make_route(
    nodes: &[NodeSize],
    link: &LayoutLink,
    from: LayoutPoint,
    to: LayoutPoint,
    inner: Vec<LayoutPoint>,
    label: Option<usize>,
) -> LayoutRoute {
    let is_down = from.y < to.y;
    // The arrow meets the border a little towards its next point, but not near a corner.
    let border_point = |node: usize, middle_of_node: LayoutPoint, next: LayoutPoint, below: bool| {
        let (half, reach) = (nodes[node].height / 2.0, nodes[node].width / 2.0 - 8.0);
        let x = middle_of_node.x + ((next.x - middle_of_node.x) * 0.4).clamp(-reach.max(0.0), reach.max(0.0));
        LayoutPoint { x, y: if below { middle_of_node.y + half } else { middle_of_node.y - half } }
    };
    let next_to_source = inner.first().copied().unwrap_or(to);
    let next_to_target = inner.last().copied().unwrap_or(from);
    let middle = inner.len() / 2;
    let mut points = vec![border_point(link.source, from, next_to_source, is_down)];
    points.extend(inner);
    points.push(border_point(link.target, to, next_to_target, !is_down));
    // The point on the source's border is in front of the inner ones.
    LayoutRoute::Through { points, label: label.unwrap_or(middle) + 1 }
}

impl Layered {
    /// Puts the nodes on the even ranks. The odd ones between them are for points of arrows.
    fn new(nodes: &[NodeSize], ranked: &ranks::Ranked) -> Self {
        let spot = |((size, rank), is_hub): ((&NodeSize, &usize), &bool)| Spot {
            rank: 2 * rank,
            left: size.width / 2.0,
            right: size.width / 2.0 + size.width_beside,
            height: size.height.max(size.height_beside),
            is_node: true,
            is_trunk: *is_hub,
        };
        let spots: Vec<Spot> = nodes.iter().zip(&ranked.rank).zip(&ranked.is_hub).map(spot).collect();
        let ranks = spots.iter().map(|spot| spot.rank + 1).max().unwrap_or(0);
        let mut layers = vec![Vec::new(); ranks];
        for (number, spot) in spots.iter().enumerate() {
            layers[spot.rank].push(number);
        }
        let none = vec![Vec::new(); spots.len()];
        Layered { above: none.clone(), below: none, spots, layers, trunks: BTreeMap::new() }
    }

    /// Adds the points on the way of an arrow, downwards or (`is_turned`) upwards. Returns them from its
    /// source to its target. `None` if it has no route.
    fn add_chain(&mut self, link: &LayoutLink, is_turned: bool) -> Option<Vec<usize>> {
        if link.source == link.target {
            return Some(Vec::new());
        }
        let (upper, lower) = if is_turned { (link.target, link.source) } else { (link.source, link.target) };
        let (first, last) = (self.spots[upper].rank, self.spots[lower].rank);
        if last - first > 2 * MOST_RANKS {
            return None;
        }
        // The label stands on an odd rank, which has no nodes: in the middle, or behind what a hub's arrows
        // share.
        let is_hub = self.spots[upper].is_trunk;
        let rank_of_label = if is_hub { last - 1 } else { ((first + last) / 2 - 1) | 1 };
        let mut chain = Vec::new();
        let mut previous = upper;
        for rank in first + 1..last {
            budget::ask();
            let is_trunk = is_hub && rank < rank_of_label;
            if let Some(&shared) = self.trunks.get(&(upper, rank)).filter(|_| is_trunk) {
                chain.push(shared);
                previous = shared;
                continue;
            }
            let (width, height) = if rank == rank_of_label { (link.width, link.height) } else { (0.0, 0.0) };
            let number = self.spots.len();
            let (left, right) = (width / 2.0, width / 2.0);
            self.spots.push(Spot { rank, left, right, height, is_node: false, is_trunk });
            self.above.push(vec![previous]);
            self.below.push(Vec::new());
            self.below[previous].push(number);
            self.layers[rank].push(number);
            if is_trunk {
                self.trunks.insert((upper, rank), number);
            }
            chain.push(number);
            previous = number;
        }
        self.below[previous].push(lower);
        self.above[lower].push(previous);
        if is_turned {
            chain.reverse();
        }
        Some(chain)
    }
}

#[cfg(test)]
mod tests;
