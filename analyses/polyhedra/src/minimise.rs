//! From a finished conversion to minimal, canonical rows on both sides.
//!
//! The rays of a [`Cone`] are minimal already; its half-spaces are not. One that every ray
//! saturates is an equality. Of the others, those whose set of saturating rays is largest (no other
//! half-space's set contains it properly) are the facets, and facets with the same set are one
//! facet. Lines and equalities are brought to echelon form, rays and facets reduced modulo them:
//! then the rows are unique up to order.

use crate::bits::Bits;
use crate::conversion::{Cone, Converted};
use crate::integer::Integer;
use crate::row::{self, Row};

/// A facet and the rays on it, as indices into [`Minimal::rays`].
pub(crate) struct Facet {
    pub(crate) row: Row,
    pub(crate) rays: Bits,
}

/// Both minimal descriptions of a cone.
pub(crate) struct Minimal {
    pub(crate) lines: Vec<Row>,
    pub(crate) rays: Vec<Row>,
    pub(crate) equalities: Vec<Row>,
    pub(crate) facets: Vec<Facet>,
}

/// Minimises a cone that comes from a non-empty polyhedron (see [`row::echelon`] for why).
pub(crate) fn minimise(cone: Cone) -> Minimal {
    let Converted { lines, rays, halfspaces } = cone.into_converted();
    let (equalities, candidates): (Vec<_>, Vec<_>) =
        halfspaces.into_iter().partition(|(_, on)| on.count() == rays.len());
    let equalities = equalities.into_iter().map(|(row, _)| row).collect();
    let equalities = row::echelon(equalities);
    let is_facet = |index: usize| {
        let set = &candidates[index].1;
        candidates.iter().enumerate().all(|(other, (_, larger))| {
            other == index || !set.is_subset(larger) || (index < other && larger.is_subset(set))
        })
    };
    let facets: Vec<bool> = (0..candidates.len()).map(is_facet).collect();
    let facets = candidates
        .into_iter()
        .zip(facets)
        .filter(|(_, is_facet)| *is_facet)
        .map(|((mut row, rays), _)| {
            row::reduce(&mut row, &equalities);
            Facet { row, rays }
        })
        .collect();
    let lines = row::echelon(lines);
    let rays = rays
        .into_iter()
        .map(|mut ray| {
            row::reduce(&mut ray, &lines);
            ray
        })
        .collect();
    Minimal { lines, rays, equalities, facets }
}

/// Whether a constraint row has no variables.
pub(crate) fn is_constant(row: &[Integer]) -> bool {
    row[1..].iter().all(Integer::is_zero)
}
