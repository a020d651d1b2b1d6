//! Linear expressions that are not octagonal.
//!
//! **Problem.** The greatest value of `sum w_i V_i` over an octagon is a linear program.
//!
//! **Method.** The value is bounded by a sum of bounds. Two nodes are bounded together if the bound of their
//! sum is lower than the sum of their own bounds. The pair with the greatest gain comes first (an infinite
//! gain is the greatest). What then remains is bounded node by node. The result is exact for one pair, and
//! for any expression over a box. Otherwise it may be coarser than the linear program, but is never wrong.
//!
//! A constraint `sum w_i V_i <= c` gives each node, and each pair, the bound `c` less the least value of the
//! rest.
//!
//! **Cost.** `O(n⁵)` for `n` variables in the constraint, with pairs up to [`MOST`] variables; without them
//! beyond.

use coreach_polyhedra::{Bounds, Integer, LinearExpression, Rational};

use crate::edge::{DbmEdge, WeightedSum};
use crate::octagon::Octagon;

/// For constraints with more variables than this, pairs are not considered.
const MOST: usize = 8;

/// A value and whether the bound is strict, or `None` if there is no bound.
type SumBound = Option<(Rational, bool)>;

/// By how much the bound of the sum of two nodes is lower than the sum of their own bounds.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Gain {
    Finite(Rational),
    Infinite,
}

/// The bounds of some nodes and of their sums.
struct SumTable {
    ends: Vec<SumBound>,
    /// Empty if there are too many nodes.
    sums: Vec<Vec<SumBound>>,
}

impl SumTable {
    fn of(octagon: &Octagon, nodes: &[usize]) -> Self {
        let places = octagon.places();
        // The bound of a node with its negation is twice its own. (The denominator is not 0.)
        let half = Rational::new(1.into(), 2.into()).unwrap_or(Rational::ONE);
        let end = |node: &usize| {
            let (double, strict) = octagon.value(&places, node ^ 1, *node)?;
            Some((&double * &half, strict))
        };
        let pairs = if nodes.len() <= MOST { nodes } else { &[] };
        let sums = |a: &usize| pairs.iter().map(|b| octagon.value(&places, b ^ 1, *a)).collect();
        Self { ends: nodes.iter().map(end).collect(), sums: pairs.iter().map(sums).collect() }
    }

    /// The gain of bounding two nodes together. `None`: there is none. A strict bound instead of a closed one
    /// of the same value is a gain of 0.
    fn gain(&self, a: usize, b: usize) -> Option<Gain> {
        let (sum, is_sum_strict) = self.sums.get(a)?.get(b)?.as_ref()?;
        let (Some((x, is_x_strict)), Some((y, is_y_strict))) = (&self.ends[a], &self.ends[b]) else {
            return Some(Gain::Infinite);
        };
        let gain = &(x + y) - sum;
        let is_stricter = *is_sum_strict && !is_x_strict && !is_y_strict;
        (gain.signum() > 0 || is_stricter).then_some(Gain::Finite(gain))
    }

    /// An upper bound of the weighted sum of the nodes. `None`: it has none.
    fn greatest(&self, mut weights: Vec<Integer>) -> SumBound {
        let (mut total, mut is_strict) = (Rational::ZERO, false);
        let mut add = |(value, strict): &(Rational, bool), weight: &Integer| {
            total = &total + &(value * &Rational::from(weight.clone()));
            is_strict |= strict;
        };
        while let Some((a, b)) = self.best_pair(&weights) {
            let weight = weights[a].clone().min(weights[b].clone());
            add(self.sums[a][b].as_ref()?, &weight);
            weights[a] = &weights[a] - &weight;
            weights[b] = &weights[b] - &weight;
        }
        for (end, weight) in self.ends.iter().zip(&weights) {
            if !weight.is_zero() {
                add(end.as_ref()?, weight);
            }
        }
        Some((total, is_strict))
    }

    /// Finds the pair of nodes with the greatest gain, among those whose weights are not used up. `None` if
    /// no pair has one.
    fn best_pair(&self, weights: &[Integer]) -> Option<(usize, usize)> {
        let mut best: Option<(Gain, usize, usize)> = None;
        for a in 0..self.sums.len() {
            for b in 0..a {
                if weights[a].is_zero() || weights[b].is_zero() {
                    continue;
                }
                let Some(gain) = self.gain(a, b) else { continue };
                if best.as_ref().is_none_or(|(before, ..)| gain > *before) {
                    best = Some((gain, a, b));
                }
            }
        }
        best.map(|(_, a, b)| (a, b))
    }
}

/// The bounds of single variables and of pairs that a constraint implies in this octagon.
pub(crate) fn implied_edges(octagon: &Octagon, sum: &WeightedSum) -> Vec<DbmEdge> {
    let negations: Vec<usize> = sum.terms.iter().map(|(node, _)| node ^ 1).collect();
    let table = SumTable::of(octagon, &negations);
    let weights: Vec<Integer> = sum.terms.iter().map(|(_, weight)| weight.clone()).collect();
    // The bound is the value less the least value of the rest, divided by the weight. The least value is read
    // from the negations: it is their greatest value, negated.
    let bound = |taken: &[usize], weight: &Integer| {
        let mut rest = weights.clone();
        for at in taken {
            rest[*at] = &rest[*at] - weight;
        }
        let (greatest, is_strict) = table.greatest(rest)?;
        let value = &Rational::from(sum.value.clone()) + &greatest;
        Some((value.checked_div(&Rational::from(weight.clone()))?, sum.strict || is_strict))
    };
    let mut edges = Vec::new();
    for (a, (node, weight)) in sum.terms.iter().enumerate() {
        if let Some((value, strict)) = bound(&[a], weight) {
            edges.push(DbmEdge::single(*node, &value, strict));
        }
        // With too many nodes, the table has no sums, and no pairs are considered.
        let others = if table.sums.is_empty() { &[][..] } else { &sum.terms[..a] };
        for (b, (other, other_weight)) in others.iter().enumerate() {
            if let Some((value, strict)) = bound(&[a, b], weight.min(other_weight)) {
                edges.push(DbmEdge::sum(*node, *other, value, strict));
            }
        }
    }
    edges
}

impl Octagon {
    /// A range of the expression that contains its values: the least if it is octagonal up to a factor, and
    /// otherwise a sum of octagonal ones. "Attained" then only means that the end is not excluded.
    /// Panics if the expression mentions a dimension that does not exist.
    pub fn bounds(&self, expression: &LinearExpression) -> Bounds {
        if self.is_empty() {
            return Bounds { lower: None, upper: None, empty: true };
        }
        let used: Vec<(usize, Rational)> = (0..self.dimensions)
            .map(|at| (at, expression.coefficient(at)))
            .filter(|(_, coefficient)| !coefficient.is_zero())
            .collect();
        let common = expression.denominator().clone();
        // The greatest value or, if `negated`, the least one: the greatest of the negation, negated.
        let end = |negated: bool| {
            let node = |(at, c): &(usize, Rational)| 2 * at + usize::from((c.signum() < 0) != negated);
            let nodes: Vec<usize> = used.iter().map(node).collect();
            let weight = |c: &Rational| (c.numerator() * &common.div_exact(c.denominator())).abs();
            let weights = used.iter().map(|(_, c)| weight(c)).collect();
            let (value, is_strict) = SumTable::of(self, &nodes).greatest(weights)?;
            let value = value.checked_div(&Rational::from(common.clone()))?;
            let value = if negated { -value } else { value };
            Some((&value + &expression.constant_term(), !is_strict))
        };
        Bounds { lower: end(true), upper: end(false), empty: false }
    }
}
