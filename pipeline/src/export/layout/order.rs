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
        let crossings = count_crossings(layered, &place);
        if crossings < fewest {
            fewest = crossings;
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
        let mut waiting = vec![root];
        while let Some(spot) = waiting.pop() {
            if std::mem::replace(&mut seen[spot], true) {
                continue;
            }
            budget::ask();
            layers[layered.spots[spot].rank].push(spot);
            waiting.extend(layered.below[spot].iter().rev());
        }
    }
    layered.layers = layers;
}

fn set_places(layered: &Layered, place: &mut [usize]) {
    for layer in &layered.layers {
        for (index, spot) in layer.iter().enumerate() {
            place[*spot] = index;
        }
    }
}

/// Sorts a rank by the mean place of each spot's neighbours on one side.
fn sort_rank(layered: &mut Layered, place: &mut [usize], rank: usize, from_above: bool) {
    let neighbours = if from_above { &layered.above } else { &layered.below };
    let key = |spot: usize| {
        let adjacent = &neighbours[spot];
        match adjacent.is_empty() {
            // A spot without neighbours stays where it is.
            true => place[spot] as f64,
            false => {
                adjacent.iter().map(|neighbour| place[*neighbour]).sum::<usize>() as f64
                    / adjacent.len() as f64
            }
        }
    };
    budget::ask();
    let mut keyed: Vec<(f64, usize)> = layered.layers[rank].iter().map(|spot| (key(*spot), *spot)).collect();
    keyed.sort_by(|(mean, _), (other_mean, _)| mean.total_cmp(other_mean));
    for (index, (_, spot)) in keyed.iter().enumerate() {
        place[*spot] = index;
        layered.layers[rank][index] = *spot;
    }
}

/// Counts the pairs of arrows that cross, between all ranks together.
fn count_crossings(layered: &Layered, place: &[usize]) -> usize {
    let mut sum = 0;
    for (rank, layer) in layered.layers.iter().enumerate().skip(1) {
        budget::ask();
        let mut tree = vec![0usize; layered.layers[rank - 1].len() + 1];
        let mut arrows_so_far = 0;
        for spot in layer {
            let mut ends: Vec<usize> = layered.above[*spot].iter().map(|upper| place[*upper]).collect();
            ends.sort_unstable();
            // An arrow crosses those of the spots before it that end further right. Arrows of one spot do not
            // cross, so they are added afterwards.
            for end in &ends {
                sum += arrows_so_far - up_to(&tree, *end);
            }
            for end in &ends {
                add_at(&mut tree, *end);
                arrows_so_far += 1;
            }
        }
    }
    sum
}

/// Adds an end at this place to the Fenwick tree. In the tree, places are counted from 1.
fn add_at(tree: &mut [usize], place: usize) {
    let mut index = place + 1;
    while index < tree.len() {
        tree[index] += 1;
        index += index & index.wrapping_neg();
    }
}

/// Counts the ends at this place or left of it.
fn up_to(tree: &[usize], place: usize) -> usize {
    let (mut index, mut sum) = (place + 1, 0);
    while index > 0 {
        sum += tree[index];
        index -= index & index.wrapping_neg();
    }
    sum
}
