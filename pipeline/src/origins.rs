//! Origins: the locations of the specification and of the purpose that a test case's location was made of.
//!
//! **Problem.** A location of a test case is a set of pairs, with a name and a label that are cut if they are
//! long. A report or an implementation's file that speaks of the specification's location `Pay` must find it
//! there, whatever the purpose is, and whatever name pictures show.
//!
//! **Method.** The stages' provenance is followed back, from the test graph to the pairs of the product. A
//! run in a location may since have taken internal steps, so the locations after them
//! ([`crate::artifact::Rest`]) count as well. So the set is never too small. It is too large if the present
//! data exclude a location.
//!
//! **Ends** after one look at each member of each location, and at the places where a run may rest.

use coreach_artifact::document::Origins;
use coreach_model::{Iosts, LocationId, Numbered};

use crate::artifact::{CaseGraph, Closed, CompletePurpose, GraphOrigin, Product, TestGraph, Visible};

/// The machines that a product was made of, with its pairs.
pub struct Pairs<'a> {
    pub specification: &'a Iosts,
    pub purpose: &'a CompletePurpose,
    pub product: &'a Product,
}

impl Pairs<'_> {
    /// Gives the names of the locations of which these locations of the product were made.
    pub fn origins(&self, locations: impl IntoIterator<Item = LocationId>) -> Origins {
        let purpose = &self.purpose.purpose.iosts;
        let mut found = Origins::default();
        for (l1, l2) in locations.into_iter().map(|at| self.product.pairs[at]) {
            found.specification.insert(self.specification.location(l1).name.clone());
            found.purpose.insert(purpose.location(l2).name.clone());
        }
        found
    }
}

/// Follows each location of a test case back to the pairs of the product. Verdicts have no origins.
pub fn origins_of_test_case(
    pairs: &Pairs<'_>,
    closed: &Closed,
    visible: &Visible,
    graph: &TestGraph,
    case: &CaseGraph,
) -> Numbered<LocationId, Origins> {
    let members = |at| match graph.origins.find(at) {
        Some(GraphOrigin::Given(given)) if case.verdicts[at].is_none() => visible.members[*given].as_slice(),
        _ => &[],
    };
    let rests = |at| members(at).iter().flat_map(|member| &closed.rests[member.location]);
    case.iosts.location_ids().map(|at| pairs.origins(rests(at).map(|rest| rest.at))).collect()
}
