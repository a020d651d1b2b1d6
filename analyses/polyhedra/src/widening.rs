//! Widening: joins that stop growing.
//!
//! **Problem.** A fixpoint iteration over polyhedra may climb for ever. Widening replaces the join so that
//! every chain `p, p widen q1, (p widen q1) widen q2, ..` becomes stationary.
//!
//! **Algorithm**: the standard widening of P. Cousot and N. Halbwachs (1978,
//! <https://doi.org/10.1145/512760.512770>) in the form of Halbwachs' thesis (1979). The result has
//!
//! * the constraints of `self` that `other` satisfies, and
//! * those constraints of `other` that `self` could have had in place of one of its own: they are saturated
//!   by exactly the same generators of `self`.
//!
//! Because of the second part the result does not depend on how `self` is written. Each equality of `self`
//! counts as two inequalities.
//!
//! **Where we differ.** The second part is decided without generators, on the canonical constraints. A
//! constraint vanishes at all generators of `self` exactly if it is 0 modulo the equalities of `self`. It
//! vanishes at those of one facet and no others exactly if it is a multiple of that facet modulo the
//! equalities. So no blocks are merged, and blocks that both have pass through. The result is the same as
//! with generators (`tests/decomposition.rs` has that form, and compares).
//!
//! **Strictness.** The above is done on the closures. A constraint kept is strict if it is strict in `other`,
//! and was so in `self` (for the second part: if the constraint replaced was strict). A strict constraint of
//! `self` that is no facet is kept if `other` satisfies it and all the facets it is the sum of.
//!
//! **Why it ends.** On closures it is the standard widening, so the closures become stationary: the
//! dimension, and then the number of facets, can change only finitely often. From then on the facets are the
//! same, and the strict constraints of each element are among those of the one before.

use std::collections::BTreeMap;

use crate::bits::BitSet;
use crate::dense::Dense;
use crate::dual::{self, Dual};
use crate::integer::Integer;
use crate::linear::{Constraint, Relation};
use crate::polyhedron::{Block, Polyhedron};
use crate::row::{self, Row};
use crate::{lattice, product};

impl Polyhedron {
    /// The standard widening (Halbwachs 1979).
    ///
    /// **Precondition:** `self` is included in `other`; the caller ensures it, usually by
    /// `self.widen(&self.join(&other))`. Without it the result still contains `other`, but not
    /// necessarily `self`.
    pub fn widen(&self, other: &Self) -> Self {
        self.assert_same_space(other);
        if self.is_same_object(other) {
            return other.clone();
        }
        // An empty `self` widens to `other`. By the precondition, `self` is empty if `other` is.
        let (Some(old), Some(new)) = (self.duals_unless_empty(), other.duals_unless_empty()) else {
            return other.clone();
        };
        let dimensions = self.dimensions();
        let (mut old, mut new) = (old.into_owned(), new.into_owned());
        // Blocks that both have pass through.
        let mut settled = Vec::new();
        lattice::split_off_same(dimensions, &mut settled, &mut old, &mut new);
        widen_twins(dimensions, &mut old, &mut new, &mut settled);
        if old.is_empty() {
            return Self::of_blocks(dimensions, settled);
        }
        // The other blocks are widened together.
        let kept = Self::from_constraints(dimensions, widening_constraints(dimensions, &old, &new));
        match kept.raw() {
            Some(blocks) => {
                settled.extend(blocks.iter().cloned());
                Self::of_blocks(dimensions, settled)
            }
            // No point satisfies the kept constraints.
            None => kept,
        }
    }

    /// The widening, intersected with those thresholds that `other` (and so `self`) satisfies. Still ends:
    /// there are finitely many thresholds. Precondition as for [`Polyhedron::widen`].
    /// Panics if a threshold mentions a dimension that does not exist.
    pub fn widen_with_thresholds(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        let kept = keep_strongest(other.which_implied(thresholds).cloned().collect());
        let widened = self.widen(other);
        if kept.is_empty() { widened } else { widened.meet_constraints(&kept) }
    }
}

/// Drops the half-spaces that contain another one of the same direction, as thresholds often do. Equalities
/// stay.
fn keep_strongest(mut constraints: Vec<Constraint>) -> Vec<Constraint> {
    // Among constraints of one direction, the smallest constant comes first, and its strict half-space.
    let is_equality = |constraint: &Constraint| constraint.relation() == Relation::Equal;
    let is_closed = |constraint: &Constraint| constraint.relation() == Relation::AtLeast;
    constraints.sort_by(|a, b| {
        let strength = |constraint: &Constraint| (is_equality(constraint), is_closed(constraint));
        a.coefficients()
            .cmp(b.coefficients())
            .then_with(|| a.constant().cmp(b.constant()))
            .then_with(|| strength(a).cmp(&strength(b)))
    });
    constraints.dedup_by(|next, first| {
        !is_equality(next) && !is_equality(first) && next.coefficients() == first.coefficients()
    });
    constraints
}

/// Widens blocks with the same dimensions on both sides alone, and moves them to `settled`.
fn widen_twins(dimensions: usize, old: &mut Vec<Block>, new: &mut Vec<Block>, settled: &mut Vec<Block>) {
    let owners = lattice::block_owners(dimensions, new);
    let mut is_done = vec![false; new.len()];
    old.retain(|block| {
        let twin = owners[block.dimensions[0]].filter(|&at| new[at].dimensions == block.dimensions);
        if let Some(at) = twin {
            is_done[at] = true;
            settled.extend(widen_block(block, &new[at]));
        }
        twin.is_none()
    });
    let mut done = is_done.into_iter();
    new.retain(|_| !done.next().unwrap_or(false));
}

/// Widens a block. Returns `None` if no constraint is left.
fn widen_block(old: &Block, new: &Block) -> Option<Block> {
    let positions: Vec<usize> = (0..old.dimensions.len()).collect();
    let alone = |block: &Block| [Block::of(&positions, block.body.clone())];
    let kept = widening_constraints(positions.len(), &alone(old), &alone(new));
    let has_kept_constraints = |body: &Dense| {
        body.known_constraints().is_some_and(|(first, added)| added.is_empty() && first == kept)
    };
    // If one of the two bodies has exactly the kept constraints, it is taken as it is, converted or not.
    let body = match [&old.body, &new.body].into_iter().find(|body| has_kept_constraints(body)) {
        Some(body) => body.clone(),
        None => Dense::from_fitted(positions.len(), kept.into()),
    };
    (!body.is_universe()).then(|| Block { dimensions: old.dimensions.clone(), body })
}

/// Facts about `self` that the second part of the algorithm needs.
#[derive(Default)]
struct OldSide {
    /// In echelon form.
    equalities: Vec<Row>,
    /// For each facet, whether it is strict.
    facets: BTreeMap<Row, bool>,
}

impl OldSide {
    /// Finds a constraint in whose place a row could have been, and returns whether it is strict.
    fn find_replaced(&self, row: &[Integer]) -> Option<bool> {
        let mut reduced = Row::from(row);
        row::reduce(&mut reduced, &self.equalities);
        // A row of zeros vanishes at all generators, so it could have been in the place of an equality.
        if reduced.iter().all(Integer::is_zero) {
            return Some(false);
        }
        let of_facet = self.facets.get(&reduced).copied();
        // Without the precondition the other side of a facet's border may turn up.
        row::negate(&mut reduced);
        of_facet.or_else(|| self.facets.get(&reduced).copied())
    }
}

/// The constraints of the widening of products of non-empty blocks, the descriptions being known.
fn widening_constraints(dimensions: usize, old: &[Block], new: &[Block]) -> Vec<Constraint> {
    let owners = lattice::block_owners(dimensions, new);
    let implied = |constraint: &Constraint| lattice::satisfies(new, &owners, constraint);
    let (mut result, mut old_side) = (Vec::new(), OldSide::default());
    // The first part of the algorithm.
    for block in old {
        let Some(Some(dual)) = block.body.known_dual() else { continue };
        for constraint in dual.closure_constraints() {
            let constraint = block.outward(constraint, dimensions);
            let closed = constraint.with_relation(Relation::AtLeast);
            match constraint.relation() {
                // The halves are `e >= 0` and the negation of `e > 0`.
                Relation::Equal => {
                    let opposite = constraint.with_relation(Relation::Greater).negated();
                    result.extend(core::iter::once(closed).chain(opposite).filter(|half| implied(half)));
                    old_side.equalities.push(Row::from(constraint.row()));
                    continue;
                }
                _ if implied(&constraint) => result.push(constraint.clone()),
                Relation::Greater => result.extend(Some(closed).filter(|closed| implied(closed))),
                Relation::AtLeast => {}
            }
            old_side.facets.insert(Row::from(constraint.row()), constraint.relation() == Relation::Greater);
        }
        for extra in &dual.constraints[dual.equalities + dual.facets..] {
            let outward = |constraint| block.outward(constraint, dimensions);
            if implied(&outward(extra)) && facets_through(dual, extra).all(|facet| implied(&outward(facet))) {
                result.push(outward(extra));
            }
        }
    }
    // The second part.
    for block in new {
        let Some(Some(dual)) = block.body.known_dual() else { continue };
        for constraint in dual.closure_constraints() {
            let constraint = block.outward(constraint, dimensions);
            let Some(was_strict) = old_side.find_replaced(constraint.row()) else { continue };
            result.push(match constraint.relation() {
                Relation::Greater if !was_strict => constraint.with_relation(Relation::AtLeast),
                _ => constraint,
            });
        }
    }
    // Most constraints of the second part are also in the first.
    result.sort_unstable();
    result.dedup();
    debug_assert!(result.iter().all(|constraint| product::support(constraint.row()).next().is_some()));
    result
}

/// The facets of which a strict constraint that is no facet is the sum.
fn facets_through<'a>(dual: &'a Dual, extra: &Constraint) -> impl Iterator<Item = &'a Constraint> {
    let rows: Vec<Row> = dual.closure_generators().iter().map(|generator| generator.row.clone()).collect();
    let face: BitSet = dual::saturating_rays(extra.row(), &rows);
    dual.closure_constraints()[dual.equalities..]
        .iter()
        .filter(move |facet| face.is_subset(&dual::saturating_rays(facet.row(), &rows)))
}
