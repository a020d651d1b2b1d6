//! Products of double descriptions, and their factors.
//!
//! **Problem.** Blocks of dimensions that share no constraint are kept apart ([`crate::polyhedron`]). If an
//! operation relates them they must become one, and once the relation is gone they should be separated again.
//! Neither needs a conversion.
//!
//! **Product.** Constraints, lines and rays of a product are those of its factors, padded with 0. Its corners
//! are all combinations of their corners. So the size of the result is the product of their sizes, which is
//! the price of a lack of structure. Echelon forms and reduced rows stay such, since the factors have no
//! column in common but the first.
//!
//! **Factors.** Two dimensions belong together if a chain of minimal constraints links them. The minimal
//! constraints of a product are those of its factors (a facet of a product is a facet of one factor times the
//! others, and reduced echelon forms are unique), so this finds the finest product. Corners of a factor are
//! the projections of corners. Lines and rays already lie within one factor.
//!
//! **Strictness.** A face left out of a factor is left out times all the others, so strict constraints are
//! padded like the rest. The points are computed anew ([`crate::faces`]).

use smallvec::SmallVec;

use crate::bits::BitSet;
use crate::budget::{Exceeded, RowBudget};
use crate::dual::{self, Dual, Generator, Kind};
use crate::integer::Integer;
use crate::linear::{Constraint, Relation};
use crate::minimise::{Facet, Minimal};
use crate::partition::UnionFind;
use crate::row::{self, Row};

/// The row with its columns moved to `positions` in a space of `width` coordinates.
pub(crate) fn spread(row: &[Integer], positions: &[usize], width: usize) -> Row {
    let mut result = row::zero(width);
    result[0] = row[0].clone();
    for (entry, &position) in row[1..].iter().zip(positions) {
        result[position + 1] = entry.clone();
    }
    result
}

/// The columns of the row at `positions`, after the first. Missing coefficients are 0.
pub(crate) fn gather(row: &[Integer], positions: &[usize]) -> Row {
    let mut result = Row::with_capacity(positions.len() + 1);
    result.push(row[0].clone());
    result.extend(positions.iter().map(|&position| row.get(position + 1).cloned().unwrap_or(Integer::ZERO)));
    result
}

/// The number of lines, rays and corners of a product, in a space of the factors' dimensions only.
pub(crate) fn size<'a>(factors: impl Iterator<Item = &'a Dual>) -> usize {
    let (mut corners, mut directions) = (1_usize, 0_usize);
    for dual in factors {
        let own_corners = dual.closure_generators().iter().filter(|g| g.row[0].is_positive()).count();
        corners = corners.saturating_mul(own_corners);
        directions += dual.lines + dual.extremes - own_corners;
    }
    corners.saturating_add(directions)
}

/// The product of polyhedra in a space in which each has its own positions; dimensions at no
/// position may take any value.
pub(crate) fn product(
    dimensions: usize,
    parts: &[(&[usize], &Dual)],
    budget: &RowBudget,
) -> Result<Dual, Exceeded> {
    let width = dimensions + 1;
    // Each dimension of no factor is a line.
    let free_count = dimensions - parts.iter().map(|(positions, _)| positions.len()).sum::<usize>();
    let size = size(parts.iter().map(|(_, dual)| *dual)).saturating_add(free_count);
    budget.hold(size, width)?;
    budget.spend(size)?;
    let mut minimal =
        Minimal { lines: Vec::new(), rays: Vec::new(), equalities: Vec::new(), facets: Vec::new() };
    let mut strict: Vec<Row> = Vec::new();
    let mut corners = vec![row::unit(width, 0)];
    let mut is_free = vec![true; dimensions];
    for (positions, dual) in parts {
        positions.iter().for_each(|&position| is_free[position] = false);
        for (index, constraint) in dual.constraints.iter().enumerate() {
            let row = spread(constraint.row(), positions, width);
            if constraint.relation() == Relation::Greater {
                strict.push(row.clone());
            }
            if index < dual.equalities {
                minimal.equalities.push(row);
            } else if index < dual.equalities + dual.facets {
                minimal.facets.push(Facet { row, rays: BitSet::default() });
            }
        }
        let mut own_corners = Vec::new();
        for (index, generator) in dual.closure_generators().iter().enumerate() {
            if generator.row[0].is_positive() {
                own_corners.push(&generator.row);
            } else {
                let row = spread(&generator.row, positions, width);
                if index < dual.lines { minimal.lines.push(row) } else { minimal.rays.push(row) }
            }
        }
        // Each corner of the parts so far is combined with each corner of this one.
        let mut combined = Vec::with_capacity(corners.len() * own_corners.len());
        for corner in &corners {
            combined.extend(own_corners.iter().map(|own| combine(corner, own, positions)));
        }
        corners = combined;
    }
    minimal.rays.append(&mut corners);
    let free = (0..dimensions).filter(|&dimension| is_free[dimension]);
    minimal.lines.extend(free.map(|dimension| row::unit(width, dimension + 1)));
    minimal.lines.sort_by_key(|row| row::pivot(row));
    minimal.equalities.sort_by_key(|row| row::pivot(row));
    let has_infinite_facet = parts.iter().all(|(_, dual)| dual.has_infinite_facet);
    finish(minimal, has_infinite_facet, &strict, budget)
}

/// Combines `corner` with the coordinates of `own` at `positions`, over the least common denominator. The
/// result has no common divisor if neither argument has one.
fn combine(corner: &[Integer], own: &[Integer], positions: &[usize]) -> Row {
    if own[0] == corner[0] {
        let mut result = Row::from(corner);
        for (entry, &position) in own[1..].iter().zip(positions) {
            result[position + 1] = entry.clone();
        }
        return result;
    }
    let height = corner[0].lcm(&own[0]);
    let (own_factor, factor) = (height.div_exact(&own[0]), height.div_exact(&corner[0]));
    let mut result: Row = corner.iter().map(|entry| entry * &factor).collect();
    for (entry, &position) in own[1..].iter().zip(positions) {
        result[position + 1] = entry * &own_factor;
    }
    result
}

/// Puts both descriptions in canonical order. The set is not empty, and is given by the closed set and the
/// strict constraints. The facets' rays need not be known.
pub(crate) fn finish(
    mut minimal: Minimal,
    has_infinite_facet: bool,
    strict: &[Row],
    budget: &RowBudget,
) -> Result<Dual, Exceeded> {
    if !strict.is_empty() {
        budget.spend(minimal.facets.len().saturating_mul(minimal.rays.len()))?;
        for facet in &mut minimal.facets {
            facet.rays = dual::saturating_rays(&facet.row, &minimal.rays);
        }
    }
    let dual = dual::cut_off(minimal, has_infinite_facet, strict.iter().map(Row::as_slice), budget)?;
    Ok(dual.unwrap_or_else(|| unreachable!("products and factors of non-empty sets are not empty")))
}

/// The finest product that a polyhedron is, as positions and factors, or `None` if that is itself.
pub(crate) fn factors(dimensions: usize, whole: &Dual) -> Option<Vec<(Vec<usize>, Dual)>> {
    if is_connected(dimensions, &whole.constraints) {
        return None;
    }
    let mut partition = UnionFind::new(dimensions);
    for constraint in &whole.constraints {
        partition.relate(support(constraint.row()));
    }
    let groups = partition.groups();
    if groups.len() == 1 && groups.members(0).len() == dimensions {
        return None;
    }
    Some(groups.iter().map(|positions| (positions.to_vec(), factor(whole, positions))).collect())
}

/// Do constraints link all dimensions? This is a quick test for up to 64 dimensions. For more, the answer is
/// no, and the caller's partition decides.
fn is_connected(dimensions: usize, constraints: &[Constraint]) -> bool {
    if dimensions > 64 {
        return false;
    }
    let sets: SmallVec<[u64; 32]> =
        constraints.iter().map(|c| support(c.row()).fold(0, |set, at| set | 1 << at)).collect();
    let mut linked = 1_u64;
    loop {
        let touching = sets.iter().filter(|set| **set & linked != 0);
        let grown = touching.fold(linked, |so_far, set| so_far | set);
        if grown == linked {
            // `linked` holds the first dimension from the start. If it is the only one, a constraint must be
            // there as well.
            return linked.count_ones() as usize == dimensions && !sets.is_empty();
        }
        linked = grown;
    }
}

/// The dimensions with a coefficient other than 0.
pub(crate) fn support(row: &[Integer]) -> impl Iterator<Item = usize> {
    row[1..].iter().enumerate().filter(|(_, entry)| !entry.is_zero()).map(|(index, _)| index)
}

/// Makes the factor at these positions. A direction belongs to one factor, a corner to every one.
fn factor(whole: &Dual, positions: &[usize]) -> Dual {
    let mut is_mine = vec![false; whole.generators.first().map_or(0, |generator| generator.row.len())];
    positions.iter().for_each(|&position| is_mine[position] = true);
    let concerns = |row: &[Integer]| support(row).any(|dimension| is_mine[dimension]);
    let rows_of = |constraints: &[Constraint]| -> Vec<Row> {
        constraints.iter().filter(|c| concerns(c.row())).map(|c| gather(c.row(), positions)).collect()
    };
    let (equalities, facets) = whole.closure_constraints().split_at(whole.equalities);
    let facets = rows_of(facets).into_iter().map(|row| Facet { row, rays: BitSet::default() }).collect();
    let strict: Vec<Constraint> =
        whole.constraints.iter().filter(|c| c.relation() == Relation::Greater).cloned().collect();
    let (mut lines, mut rays, mut corners) = (Vec::new(), Vec::new(), Vec::new());
    for Generator { kind, row } in whole.closure_generators() {
        match kind {
            Kind::Line if concerns(row) => lines.push(gather(row, positions)),
            Kind::Ray if concerns(row) => rays.push(gather(row, positions)),
            Kind::Line | Kind::Ray => {}
            Kind::Point | Kind::ClosurePoint => {
                let mut corner = gather(row, positions);
                row::normalise(&mut corner);
                corners.push(corner);
            }
        }
    }
    corners.sort();
    corners.dedup();
    let equalities = rows_of(equalities);
    // The face at infinity is a facet when the directions span all that the equalities leave.
    let directions = lines.iter().chain(&rays).cloned().collect();
    let has_infinite_facet =
        whole.has_infinite_facet || row::echelon(directions).len() + equalities.len() == positions.len();
    rays.append(&mut corners);
    let minimal = Minimal { lines, rays, equalities, facets };
    // The factor has no more rows than the whole, so it exceeds no limit that the whole did not exceed.
    finish(minimal, has_infinite_facet, &rows_of(&strict), &RowBudget::unlimited())
        .unwrap_or_else(|Exceeded| unreachable!("the budget is not limited"))
}
