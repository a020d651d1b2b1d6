//! Which faces of a closed polyhedron an NNC polyhedron leaves out.
//!
//! **Problem.** A polyhedron with strict constraints ("not necessarily closed", NNC) is its closure without a
//! union of faces of the closure. By constraints, the faces left out are those on the border of a strict
//! constraint. By generators, they are the faces without a *point* (a corner that is not a point is a closure
//! point). Each description must be computed from the other.
//!
//! **Algorithm.** A face is the set of corners and rays on it. The largest faces left out and the smallest
//! faces kept determine each other:
//!
//! * the smallest faces kept are the smallest that lie within none of the faces left out ([`smallest_kept`]);
//!   each needs one point, in its middle;
//! * the largest faces left out are the largest that contain none of the points ([`largest_excluded`]); each
//!   needs one strict constraint. This is the facet's own, made strict, if the face is a facet. If not, it is
//!   the sum of the constraints of all facets through the face, which vanishes exactly there.
//!
//! Both are computed like minimal transversals (C. Berge). The given faces (points) are processed one by one.
//! Each face of the current antichain that violates the new condition is replaced by its minimal enlargements
//! (maximal reductions) that satisfy it.
//!
//! **Source, and where we differ.** The usual encoding of strictness is one more dimension (N. Halbwachs,
//! Y.-E. Proy and P. Raymond 1994). Its descriptions are not unique, and every conversion pays for it. A.
//! Becchi and E. Zaffanella (CAV 2018, <https://doi.org/10.1007/978-3-319-96145-3_13>) showed that the
//! closure (the "skeleton") and the rest can be kept apart. We do so too, but leave Chernikova's algorithm as
//! it is and compute the rest afterwards. So closed polyhedra, by far the most frequent, pay nothing.
//!
//! **Cost.** It ends, since there are finitely many given faces. The antichain may be exponential in their
//! number, hence the limit.

use crate::bits::BitSet;
use crate::budget::{Exceeded, RowBudget};

/// The face lattice of a closed polyhedron, by incidence.
pub(crate) struct Faces<'a> {
    /// For each facet of the polyhedron the generators on it. The face at infinity is not among them.
    pub(crate) facets: &'a [BitSet],
    /// The generators that are corners, not rays.
    pub(crate) vertices: &'a BitSet,
    pub(crate) generators: usize,
}

impl Faces<'_> {
    /// The smallest face containing the generators of `set`, which holds a corner.
    fn span(&self, set: &BitSet) -> BitSet {
        self.facets
            .iter()
            .filter(|facet| set.is_subset(facet))
            .fold(BitSet::all(self.generators), |face, facet| face.and(facet))
    }
}

/// Keeps the maximal sets, each once.
pub(crate) fn keep_maximal(sets: Vec<BitSet>) -> Vec<BitSet> {
    antichain(sets, |set, kept| set.is_subset(kept))
}

/// Keeps the minimal sets, each once.
fn keep_minimal(sets: Vec<BitSet>) -> Vec<BitSet> {
    antichain(sets, |set, kept| kept.is_subset(set))
}

/// Keeps each set that no other one covers, as `is_covered` says. Of equal sets the first is kept.
fn antichain(sets: Vec<BitSet>, is_covered: impl Fn(&BitSet, &BitSet) -> bool) -> Vec<BitSet> {
    let mut kept: Vec<BitSet> = Vec::new();
    for set in sets {
        if !kept.iter().any(|other| is_covered(&set, other)) {
            kept.retain(|other| !is_covered(other, &set));
            kept.push(set);
        }
    }
    kept
}

/// The smallest faces that lie within none of the `excluded` faces.
pub(crate) fn smallest_kept(
    faces: &Faces<'_>,
    excluded: &[BitSet],
    budget: &RowBudget,
) -> Result<Vec<BitSet>, Exceeded> {
    let mut family: Vec<BitSet> = (0..faces.generators)
        .filter(|&index| faces.vertices.contains(index))
        .map(|index| {
            let mut face = BitSet::default();
            face.insert(index);
            face
        })
        .collect();
    for excluded_face in excluded {
        let (within, mut next): (Vec<_>, Vec<_>) =
            family.into_iter().partition(|face| face.is_subset(excluded_face));
        for face in within {
            for index in (0..faces.generators).filter(|&index| !excluded_face.contains(index)) {
                let mut larger = face.clone();
                larger.insert(index);
                next.push(faces.span(&larger));
            }
            next = keep_minimal(next);
            budget.hold(next.len(), 0)?;
            budget.spend(next.len())?;
        }
        family = next;
    }
    Ok(family)
}

/// The largest faces that contain none of the points. `points` gives for each point the facets it lies on;
/// `open` are the corners that are not points.
pub(crate) fn largest_excluded(
    faces: &Faces<'_>,
    points: &[BitSet],
    open: &BitSet,
    budget: &RowBudget,
) -> Result<Vec<BitSet>, Exceeded> {
    let mut family = vec![BitSet::all(faces.generators)];
    // A point in a smaller face is also one in each larger face around it, so only the smallest matter.
    for point in keep_maximal(points.to_vec()) {
        // A face contains a point if the point lies on all facets around the face.
        let contains = |face: &BitSet| {
            faces
                .facets
                .iter()
                .enumerate()
                .all(|(index, facet)| !face.is_subset(facet) || point.contains(index))
        };
        let (with_point, mut next): (Vec<_>, Vec<_>) = family.into_iter().partition(contains);
        for face in with_point {
            for (index, facet) in faces.facets.iter().enumerate() {
                let smaller = face.and(facet);
                // Every corner of a face left out is open. Without such a corner, no face within this one is
                // left out.
                if !point.contains(index) && smaller.intersects(open) {
                    next.push(smaller);
                }
            }
            next = keep_maximal(next);
            budget.hold(next.len(), 0)?;
            budget.spend(next.len())?;
        }
        family = next;
    }
    // What is left contains no point; a face with a corner that is a point contains that point.
    Ok(family)
}
