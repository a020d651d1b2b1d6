//! Orders the spots within each rank from left to right, with the fewest crossings that some sweeps find.
//!
//! Each sweep walks the ranks downwards or upwards and sorts each by the means of its neighbours' places in
//! the rank before (barycentres). The best order that was found is kept; crossings are counted with a Fenwick
//! tree, in `O(e log n)`. Exact answers are NP-hard for two ranks already.

use coreach_model::budget;

use super::Layered;

/// Orders the spots of all ranks, and keeps the best order of all sweeps.
pub(super) fn order_layers(layered: &mut Layered) {
    let mut place = vec![0; layered.spots.len()];
    begin_order(layered);
    set_places(layered, &mut place);
    let mut best = layered.layers.clone();
    let mut fewest = count_crossings(layered, &place);
    // There are as many sweeps downwards as upwards. More hardly ever find anything.
    for sweep in 0..16 {
        if fewest == 0 {
            break;
        }
        let count = layered.layers.len();
        for step in 1..count {
            let rank = if sweep % 2 == 0 { step } else { count - 1 - step };
            sort_rank(layered, &mut place, rank, sweep % 2 == 0);
        }
        let found = count_crossings(layered, &place);
        if found < fewest {
            fewest = found;
            best.clone_from(&layered.layers);
        }
    }
    layered.layers = best;
}

/// Makes a first order: that in which a depth-first search meets the spots.
fn begin_order(layered: &mut Layered) {
    let count = layered.spots.len();
    let mut seen = vec![false; count];
    let mut layers = vec![Vec::new(); layered.layers.len()];
    for root in 0..count {
        let mut work = vec![root];
        while let Some(spot) = work.pop() {
            if std::mem::replace(&mut seen[spot], true) {
                continue;
            }
            budget::ask();
            layers[layered.spots[spot].rank].push(spot);
            work.extend(layered.below[spot].iter().rev());
        }
    }
    layered.layers = layers;
}

fn set_places(layered: &Layered, place: &mut [usize]) {
    for layer in &layered.layers {
        for (at, spot) in layer.iter().enumerate() {
            place[*spot] = at;
        }
    }
}

fn sort_rank(layered: &mut Layered, place: &mut [usize], rank: usize, from_above: bool) {
    let neighbours = if from_above { &layered.above } else { &layered.below };
    let key = |spot: usize| {
        let of = &neighbours[spot];
        match of.is_empty() {
            // A spot without neighbours stays where it is.
            true => place[spot] as f64,
            false => of.iter().map(|other| place[*other]).sum::<usize>() as f64 / of.len() as f64,
        }
    };
    budget::ask();
    let mut keyed: Vec<(f64, usize)> = layered.layers[rank].iter().map(|spot| (key(*spot), *spot)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, (_, spot)) in keyed.iter().enumerate() {
        place[*spot] = at;
        layered.layers[rank][at] = *spot;
    }
}

/// Counts the pairs of arrows that cross, between all ranks together.
fn count_crossings(layered: &Layered, place: &[usize]) -> usize {
    let mut sum = 0;
    for (rank, layer) in layered.layers.iter().enumerate().skip(1) {
        budget::ask();
        let mut tree = vec![0usize; layered.layers[rank - 1].len() + 1];
        let mut all = 0;
        for spot in layer {
            let mut ends: Vec<usize> = layered.above[*spot].iter().map(|above| place[*above]).collect();
            ends.sort_unstable();
            // This counts the arrows before it that end further right.
            for end in &ends {
                sum += all - up_to(&tree, *end);
            }
            for end in &ends {
                add_at(&mut tree, *end);
                all += 1;
            }
        }
    }
    sum
}

fn add_at(tree: &mut [usize], at: usize) {
    let mut at = at + 1;
    while at < tree.len() {
        tree[at] += 1;
        at += at & at.wrapping_neg();
    }
}

/// Counts the ends at this place or left of it.
fn up_to(tree: &[usize], at: usize) -> usize {
    let (mut at, mut sum) = (at + 1, 0);
    while at > 0 {
        sum += tree[at];
        at -= at & at.wrapping_neg();
    }
    sum
}
