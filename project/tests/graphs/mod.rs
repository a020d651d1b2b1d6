//! Plain graphs as specifications, and what the shortest tour of each has at least.
//!
//! **Question.** How much longer than the shortest tour is one walk that takes every transition? Used by
//! `covering` (an example) and by the tests of this crate.
//!
//! **Graphs** without data in which every location can come back to the first one: by lot; menus, trees with
//! a way back to each parent and some to the root; rings with chords; grids with one-way streets; and such in
//! which few locations have most transitions, as in graphs of the web and of programs.
//!
//! **The bound**: who leaves a location less often than he must enter it must leave it again. Each transition
//! once, and from each surplus a way to a lack: the cheapest matching of both (Hungarian method) by the
//! distances. No closed walk is shorter. It is computed by other means than the product's tour.

use std::collections::VecDeque;
use std::fmt::Write as _;

use coreach_model::random::Random;

/// The sorts of graphs.
pub const SORTS: [&str; 5] = ["by lot", "menus", "rings", "grids", "hubs"];

/// A graph: where each edge begins and ends.
pub struct Graph {
    pub locations: usize,
    pub edges: Vec<(usize, usize)>,
}

impl Graph {
    /// A graph of this sort with so many locations.
    pub fn drawn(sort: &str, locations: usize, seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x6772_6170_6873);
        let mut edges = Vec::new();
        let ring = |edges: &mut Vec<(usize, usize)>| {
            edges.extend((0..locations).map(|at| (at, (at + 1) % locations)));
        };
        match sort {
            "by lot" => {
                ring(&mut edges);
                edges.extend((0..2 * locations).map(|_| (random.below(locations), random.below(locations))));
            }
            "menus" => {
                for at in 1..locations {
                    let parent = at.saturating_sub(8) + random.below(at.min(8));
                    edges.extend([(parent, at), (at, parent)]);
                    if random.chance(30) {
                        edges.push((at, 0));
                    }
                }
            }
            "rings" => {
                ring(&mut edges);
                for at in (0..locations).filter(|_| random.chance(50)).collect::<Vec<_>>() {
                    edges.push((at, (at + 2 + random.below(12)) % locations));
                }
            }
            "grids" => {
                let wide = (1..).find(|wide| wide * wide >= locations).unwrap_or(1);
                ring(&mut edges);
                for at in 0..locations {
                    let down = at + wide;
                    if down < locations {
                        edges.push(if (at % wide).is_multiple_of(2) { (at, down) } else { (down, at) });
                    }
                }
            }
            _ => {
                ring(&mut edges);
                for at in 1..locations {
                    for _ in 0..2 {
                        // Who has many gets more.
                        let to = edges[random.below(edges.len())].1;
                        edges.push(if random.chance(50) { (at, to) } else { (to, at) });
                    }
                }
            }
        }
        Graph { locations, edges }
    }

    /// As a specification: one stimulus for each edge that leaves a location; with a datum that nobody reads,
    /// if that is wanted.
    pub fn written(&self, has_datum: bool) -> String {
        let mut leaving = vec![0; self.locations];
        let mut lines = String::new();
        for (from, to) in &self.edges {
            let _ = writeln!(lines, "  - {{ from: L{from}, to: L{to}, on: I{} }}", leaving[*from]);
            leaving[*from] += 1;
        }
        let inputs = (0..leaving.iter().copied().max().unwrap_or(0)).map(|number| format!("I{number}: {{}}"));
        let inputs: Vec<String> = inputs.collect();
        let (variables, condition) = match has_datum {
            true => ("variables: { v: bool }\n", ", condition: v"),
            false => ("", ""),
        };
        format!(
            "iosts: graph\n{variables}initial: {{ location: L0{condition} }}\ninputs: {{ {} }}\noutputs: {{ O: {{}} }}\ntransitions:\n{lines}",
            inputs.join(", ")
        )
    }

    /// What no closed walk through all edges is shorter than.
    pub fn bound(&self) -> usize {
        let mut surplus = vec![0i64; self.locations];
        for (from, to) in &self.edges {
            surplus[*from] -= 1;
            surplus[*to] += 1;
        }
        let so_often = |sign: i64| {
            let times = |at: usize| std::iter::repeat_n(at, (sign * surplus[at]).max(0) as usize);
            (0..self.locations).flat_map(times).collect::<Vec<usize>>()
        };
        let (over, under) = (so_often(1), so_often(-1));
        let mut rows: Vec<Vec<i64>> = Vec::new();
        for at in &over {
            let far = self.distances(*at);
            rows.push(under.iter().map(|to| far[*to]).collect());
        }
        self.edges.len() + matching(&rows) as usize
    }

    fn distances(&self, from: usize) -> Vec<i64> {
        let mut next = vec![Vec::new(); self.locations];
        self.edges.iter().for_each(|(from, to)| next[*from].push(*to));
        let mut found = vec![i64::from(u32::MAX); self.locations];
        found[from] = 0;
        let mut open = VecDeque::from([from]);
        while let Some(at) = open.pop_front() {
            for &to in &next[at] {
                if found[to] > found[at] + 1 {
                    found[to] = found[at] + 1;
                    open.push_back(to);
                }
            }
        }
        found
    }
}

/// The least cost of a matching of all rows with all columns, which are as many: Kuhn's Hungarian method,
/// row after row, with potentials.
fn matching(rows: &[Vec<i64>]) -> i64 {
    let count = rows.len();
    // Places from 1; 0 is the row that is being matched.
    let (mut of_row, mut of_column) = (vec![0i64; count + 1], vec![0i64; count + 1]);
    let mut matched = vec![0usize; count + 1];
    for row in 1..=count {
        matched[0] = row;
        let mut column = 0;
        let (mut least, mut before) = (vec![i64::MAX; count + 1], vec![0usize; count + 1]);
        let mut is_done = vec![false; count + 1];
        while matched[column] != 0 {
            is_done[column] = true;
            let at = matched[column];
            let (mut delta, mut best) = (i64::MAX, 0);
            for other in (1..=count).filter(|other| !is_done[*other]) {
                let cost = rows[at - 1][other - 1] - of_row[at] - of_column[other];
                if cost < least[other] {
                    (least[other], before[other]) = (cost, column);
                }
                if least[other] < delta {
                    (delta, best) = (least[other], other);
                }
            }
            for other in 0..=count {
                if is_done[other] {
                    of_row[matched[other]] += delta;
                    of_column[other] -= delta;
                } else if least[other] < i64::MAX {
                    least[other] -= delta;
                }
            }
            column = best;
        }
        while column != 0 {
            matched[column] = matched[before[column]];
            column = before[column];
        }
    }
    (1..=count).map(|column| rows[matched[column] - 1][column - 1]).sum()
}
