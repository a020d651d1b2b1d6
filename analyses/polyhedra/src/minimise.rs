//! From a finished conversion to minimal, canonical rows on both sides.
//!
//! The rays of a [`Cone`] are minimal already; its half-spaces are not. One that every ray saturates is an
//! equality. Of the others, those whose set of saturating rays is largest (no other half-space's set contains
//! it properly) are the facets, and facets with the same set are one facet. Lines and equalities are brought
//! to echelon form, rays and facets reduced modulo them: then the rows are unique up to order.
//!
//! All decisions use the numbers and bits of the conversion. Only the rows that remain become integers.

use smallvec::SmallVec;

use crate::adjacency::Columns;
use crate::bits::BitSet;
use crate::conversion::{Cone, ConeGenerators};
use crate::integer::Integer;
use crate::number::CheckedNumber;
use crate::row::{self, Row};

/// A facet and the rays on it, as indices into [`Minimal::rays`], if they are needed.
pub(crate) struct Facet {
    pub(crate) row: Row,
    pub(crate) rays: BitSet,
}

/// Both minimal descriptions of a cone.
pub(crate) struct Minimal {
    pub(crate) lines: Vec<Row>,
    pub(crate) rays: Vec<Row>,
    pub(crate) equalities: Vec<Row>,
    pub(crate) facets: Vec<Facet>,
}

/// Minimises a cone that comes from a non-empty polyhedron (see [`row::echelon`] for why). The facets'
/// rays are found if `with_incidence`.
pub(crate) fn minimise(cone: &Cone, with_incidence: bool) -> Minimal {
    match cone {
        Cone::Words(words) => minimise_numbers(words, with_incidence),
        Cone::Big(big) => minimise_numbers(big, with_incidence),
    }
}

/// Minimises a cone. Equalities are the half-spaces with all rays on their border, and facets are those with
/// the largest sets of rays there.
fn minimise_numbers<N: CheckedNumber>(cone: &ConeGenerators<N>, with_incidence: bool) -> Minimal {
    let width = cone.width;
    let count = cone.halfspaces.len() / width;
    let ray_count = cone.rays.len() / width;
    let columns = Columns::of_rows(&cone.saturated, cone.words, count);
    let integers = |row: &[N]| -> Row { row.iter().map(CheckedNumber::to_integer).collect() };
    let halfspace = |index: usize| integers(&cone.halfspaces[index * width..][..width]);

    let mut candidates: SmallVec<[(usize, &[u64]); 16]> = SmallVec::new();
    let mut equalities = Vec::new();
    for index in 0..count {
        let on = columns.of(index);
        if on.iter().map(|word| word.count_ones() as usize).sum::<usize>() == ray_count {
            equalities.push(halfspace(index));
        } else {
            candidates.push((index, on));
        }
    }
    let equalities = row::echelon(equalities);
    let mark_maximal = match columns.words {
        1 => mark_maximal::<1>(&candidates),
        2 => mark_maximal::<2>(&candidates),
        _ => mark_maximal::<0>(&candidates),
    };
    let mut facets = Vec::with_capacity(candidates.len());
    for (&(index, set), _) in candidates.iter().zip(mark_maximal).filter(|(_, is_facet)| *is_facet) {
        let mut row = halfspace(index);
        row::reduce(&mut row, &equalities);
        let rays = if with_incidence { BitSet::of_words(set) } else { BitSet::default() };
        facets.push(Facet { row, rays });
    }
    let lines = row::echelon(cone.lines.chunks_exact(width).map(integers).collect());
    let rays = cone.rays.chunks_exact(width).map(|ray| {
        let mut ray = integers(ray);
        row::reduce(&mut ray, &lines);
        ray
    });
    let rays = rays.collect();
    Minimal { lines, rays, equalities, facets }
}

/// Marks the sets that no other one contains. Of equal sets only the first is marked. The sets have `W`
/// words, so that the compiler knows the number, or any number of words if `W` is 0.
fn mark_maximal<const W: usize>(candidates: &[(usize, &[u64])]) -> SmallVec<[bool; 32]> {
    let cut = |set: &'_ [u64]| -> usize { if W == 0 { set.len() } else { W } };
    let is_subset = |smaller: &[u64], larger: &[u64]| {
        let words = cut(smaller);
        smaller[..words].iter().zip(&larger[..words]).all(|(a, b)| a & !b == 0)
    };
    let is_maximal = |(position, (_, set)): (usize, &(usize, &[u64]))| {
        candidates.iter().enumerate().all(|(other, (_, larger))| {
            !is_subset(set, larger) || other == position || (position < other && is_subset(larger, set))
        })
    };
    candidates.iter().enumerate().map(is_maximal).collect()
}

pub(crate) fn is_constant(row: &[Integer]) -> bool {
    row[1..].iter().all(Integer::is_zero)
}
