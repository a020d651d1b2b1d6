//! The expanded nodes of a search: is a new node within one of them?
//!
//! **Problem.** A node has nothing new if its element lies within one that was expanded at its location and
//! in its cell. To compare it with each of them takes n²/2 comparisons in a search of n nodes. For a counter
//! that is stepped in vain this took more time than everything else.
//!
//! **Method.** If an element fixes a dimension, all elements within it fix the dimension at the same value.
//! So elements are stored by the dimensions that they fix, and for each such set by the constraints that fix
//! them. Equal constraints have equal numbers ([`Elements::fixed`]), which stand for the values. A new
//! element is compared only with those that have its values. There are few sets of dimensions, since they
//! depend on the transitions and not on the length of a path. In a search from the state of a run, everything
//! is fixed but the values of inputs: then the comparison is a look into a table.
//!
//! **Exact**, if a single constraint of an element fixes each fixed dimension ([`Elements::fixed`]). If not,
//! an element may be expanded in vain, but none is left out that is not within another.

use std::collections::{BTreeMap, HashMap};

use coreach_model::LocationId;

use crate::partition::{ElementId, Elements};

/// The elements that fix the same dimensions, by the numbers of the constraints that fix these.
type ByConstraints = HashMap<Vec<u32>, Vec<ElementId>>;

#[derive(Default)]
pub(super) struct Expanded(HashMap<(LocationId, u32), BTreeMap<Vec<usize>, ByConstraints>>);

impl Expanded {
    /// Adds an element, unless it is within one that was added at this location and cell. Returns whether it
    /// was added.
    pub(super) fn add(&mut self, store: &Elements, place: (LocationId, u32), element: ElementId) -> bool {
        let (dimensions, constraints) = store.fixed(element);
        let by_dimensions = self.0.entry(place).or_default();
        for (fixed_dimensions, by_constraints) in &*by_dimensions {
            let constraint_of = |dimension| Some(constraints[dimensions.binary_search(dimension).ok()?]);
            // An element that fixes more dimensions than this one does not contain it.
            let wanted: Option<Vec<u32>> = fixed_dimensions.iter().map(constraint_of).collect();
            let mut known = wanted.and_then(|wanted| by_constraints.get(&wanted)).into_iter().flatten();
            if known.any(|known| store.is_within(element, *known)) {
                return false;
            }
        }
        by_dimensions.entry(dimensions).or_default().entry(constraints).or_default().push(element);
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use coreach_polyhedra::{Constraint, Relation};

    use super::*;
    use crate::domains::DomainKind;

    /// Coefficients, a constant, and the relation to 0.
    type LinearForm = (&'static [i64], i64, Relation);

    fn element(store: &mut Elements, constraints: &[LinearForm]) -> ElementId {
        let constraints: Vec<Constraint> = constraints
            .iter()
            .map(|(coefficients, constant, relation)| Constraint::of(coefficients, *constant, *relation))
            .collect();
        let element = store.domain.top(2).meet_constraints(&constraints, &[true, true]);
        store.add(element).unwrap()
    }

    #[test]
    fn what_is_within_an_element_is_not_added_whatever_that_one_fixes() {
        use Relation::{AtLeast, Equal};
        let mut store = Elements::new(DomainKind::Polyhedra.implementation(), &[true, true]);
        let mut expanded = Expanded::default();
        let place = (LocationId(0), 0);
        let cases: [(&[LinearForm], bool); 8] = [
            (&[(&[1, 0], -3, Equal), (&[0, 1], -4, Equal)], true),
            // The same point by other constraints.
            (&[(&[1, 1], -7, Equal), (&[1, -1], 1, Equal)], false),
            (&[(&[1, 0], -3, Equal), (&[0, 1], -5, Equal)], true),
            // A line, a point on it, a point next to it, a part of it.
            (&[(&[1, 0], -2, Equal)], true),
            (&[(&[1, 0], -2, Equal), (&[0, 1], -5, Equal)], false),
            (&[(&[1, 0], -1, Equal), (&[0, 1], -5, Equal)], true),
            (&[(&[1, 0], -2, Equal), (&[0, 1], -5, AtLeast)], false),
            // A half plane.
            (&[(&[1, 0], -2, AtLeast)], true),
        ];
        for (constraints, is_new) in cases {
            let element = element(&mut store, constraints);
            assert_eq!(expanded.add(&store, place, element), is_new, "{constraints:?}");
        }
        // A point of the half plane is not added. At another place it is, because nothing was added there
        // yet.
        let far = element(&mut store, &[(&[1, 0], -30, Equal), (&[0, 1], 4, Equal)]);
        assert!(!expanded.add(&store, place, far));
        assert!(expanded.add(&store, (LocationId(0), 1), far));
    }
}
