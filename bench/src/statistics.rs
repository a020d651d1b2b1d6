//! Medians, and how sure one can be of their ratio.

use coreach_tests::generator::random::Random;

/// How many times the sequences are drawn anew for an interval.
const DRAWS: usize = 2000;

/// The value that this part of the values does not exceed; 0 of none.
pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(0.0)
}

/// The middle; of two middle values, their mean.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
    match (sorted.get(low), sorted.get(high)) {
        (Some(low), Some(high)) => (low + high) / 2.0,
        _ => 0.0,
    }
}

/// A ratio and the interval that contains it with 95 %.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ratio {
    /// The ratio of the medians.
    pub ratio: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The ratio of the medians of two measures of the same things, with the percentile bootstrap interval (Efron
/// 1979, <https://doi.org/10.1214/aos/1176344552>): the things are drawn anew with replacement, both measures
/// of one together.
pub fn ratio_of_medians(above: &[f64], below: &[f64], seed: u64) -> Option<Ratio> {
    let count = above.len();
    if count == 0 || below.len() != count {
        return None;
    }
    let mut random = Random::new(seed);
    let mut draws = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let drawn: Vec<usize> = (0..count).map(|_| random.below(count)).collect();
        let of = |values: &[f64]| median(&drawn.iter().map(|&at| values[at]).collect::<Vec<_>>());
        draws.push(of(above) / of(below));
    }
    Some(Ratio {
        ratio: median(above) / median(below),
        low: quantile(&draws, 0.025),
        high: quantile(&draws, 0.975),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(quantile(&[5.0, 1.0, 2.0, 3.0, 4.0], 0.9), 5.0);
    }

    /// Where everything takes three times as long, every draw says so.
    #[test]
    fn a_constant_factor_is_certain() {
        let below: Vec<f64> = (1..40).map(f64::from).collect();
        let above: Vec<f64> = below.iter().map(|value| 3.0 * value).collect();
        let ratio = ratio_of_medians(&above, &below, 1).unwrap();
        assert!((ratio.low - 3.0).abs() < 1e-9 && (ratio.high - 3.0).abs() < 1e-9);
    }
}
