//! Places each rank, and each spot in its rank.
//!
//! Given the order, a spot wants to lie at the mean of its neighbours, and must keep its distance from those
//! beside it. For one rank that is isotonic regression, which pooling adjacent violators solves exactly in
//! one pass (Ayer and others 1955, <https://doi.org/10.1214/aoms/1177728423>): without its distances, each
//! spot's wish is a number, and spots whose wishes are not in order move together as one block to their
//! weighted mean. Some sweeps over the ranks, downwards and upwards, straighten the whole. A point of a long
//! arrow weighs more than a node, so that long arrows are straight.

use coreach_model::budget;

use super::{BESIDE, BETWEEN, Layered, MARGIN};

/// How many sweeps there are, half of them downwards and half upwards.
const SWEEPS: usize = 12;

/// Finds the x of each spot.
pub(super) fn place_across(layered: &Layered) -> Vec<f64> {
    let mut x = vec![0.0; layered.spots.len()];
    for layer in &layered.layers {
        let mut right_end = 0.0;
        for spot in layer {
            right_end += layered.spots[*spot].left;
            x[*spot] = right_end;
            right_end += layered.spots[*spot].right + BESIDE;
        }
    }
    let count = layered.layers.len();
    for sweep in 0..SWEEPS {
        // In the last two sweeps, the neighbours on both sides count.
        let is_last = sweep + 2 >= SWEEPS;
        for step in 0..count {
            let rank = if sweep % 2 == 0 { step } else { count - 1 - step };
            settle_rank(layered, &mut x, rank, sweep % 2 == 0, is_last);
        }
    }
    let left_end = layered.spots.iter().zip(&x).map(|(spot, x)| x - spot.left).fold(f64::INFINITY, f64::min);
    for x in &mut x {
        // The results are whole numbers, so that their text is short.
        *x = (*x - left_end + MARGIN).round();
    }
    x
}

/// A run of spots that lie as near to each other as they may.
struct RankBlock {
    sum: f64,
    weight: f64,
    count: usize,
}

impl RankBlock {
    fn mean(&self) -> f64 {
        self.sum / self.weight
    }
}

/// Places the spots of a rank as near to their wishes as the distances allow. The neighbours above count, or
/// those below, or both.
fn settle_rank(layered: &Layered, x: &mut [f64], rank: usize, from_above: bool, from_both: bool) {
    budget::ask();
    let layer = &layered.layers[rank];
    let mut blocks: Vec<RankBlock> = Vec::new();
    let mut distances = Vec::with_capacity(layer.len());
    let mut distance = 0.0;
    for (index, &spot) in layer.iter().enumerate() {
        if index > 0 {
            distance += layered.spots[layer[index - 1]].right + layered.spots[spot].left + BESIDE;
        }
        distances.push(distance);
        let (wish, weight) = spot_wish(layered, x, spot, from_above, from_both);
        let mut block = RankBlock { sum: (wish - distance) * weight, weight, count: 1 };
        while let Some(previous) = blocks.pop_if(|previous| previous.mean() > block.mean()) {
            block = RankBlock {
                sum: previous.sum + block.sum,
                weight: previous.weight + block.weight,
                count: previous.count + block.count,
            };
        }
        blocks.push(block);
    }
    let means = blocks.iter().flat_map(|block| std::iter::repeat_n(block.mean(), block.count));
    for ((spot, distance), mean) in layer.iter().zip(distances).zip(means) {
        x[*spot] = mean + distance;
    }
}

/// Gives the place where a spot wants to lie, and the weight of this wish.
fn spot_wish(layered: &Layered, x: &[f64], spot: usize, from_above: bool, from_both: bool) -> (f64, f64) {
    let (mut sum, mut weight) = (0.0, 0.0);
    let own = &layered.spots[spot];
    let mut add_wishes = |neighbours: &[usize]| {
        for neighbour in neighbours {
            let other_spot = &layered.spots[*neighbour];
            let weight_of_neighbour = if own.is_trunk && other_spot.is_trunk {
                100.0
            } else if !own.is_node && !other_spot.is_node {
                4.0
            } else {
                1.0
            };
            sum += x[*neighbour] * weight_of_neighbour;
            weight += weight_of_neighbour;
        }
    };
    if from_above || from_both {
        add_wishes(&layered.above[spot]);
    }
    if !from_above || from_both {
        add_wishes(&layered.below[spot]);
    }
    // A spot without neighbours stays, unless it is in the way.
    if weight == 0.0 { (x[spot], 0.1) } else { (sum / weight, weight) }
}

/// Finds the y of each rank's middle.
pub(super) fn place_down(layered: &Layered) -> Vec<f64> {
    let mut top = MARGIN;
    let mut places = Vec::with_capacity(layered.layers.len());
    for layer in &layered.layers {
        let height = layer.iter().map(|spot| layered.spots[*spot].height).fold(0.0, f64::max);
        places.push((top + height / 2.0).round());
        top += height + BETWEEN;
    }
    places
}
