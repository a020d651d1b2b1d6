//! Of which locations of the specification and of the purpose a test case's location was made.
//!
//! **Problem.** A location of a test case is a set of pairs, with a name and a label that are cut where they
//! are long. Who speaks of the specification's location `Pay`, in the file of an implementation or in what
//! failed, must find it there whatever the purpose is, and whatever it is called in pictures.
//!
//! **Method.** The stages' provenance is followed back, from the test graph to the pairs of the product. A
//! run that is in a location may since have gone on by internal steps: the locations behind them
//! ([`crate::artifact::Rest`]) are among its own. So the set is never too small; it is too large where the
//! data of the moment exclude one.
//!
//! **Ends** after one look at each member of each location, and at the places where it may rest.

use coreach_artifact::document::Origins;
use coreach_model::{Iosts, LocationId, Numbered};

use crate::artifact::{Closed, CompletePurpose, GraphOrigin, Product, TestCase, TestGraph, Visible};

/// The machines of which a product was made, with its pairs.
pub struct Pairs<'a> {
    pub specification: &'a Iosts,
    pub purpose: &'a CompletePurpose,
    pub product: &'a Product,
}

impl Pairs<'_> {
    pub fn origins(&self, of: impl IntoIterator<Item = LocationId>) -> Origins {
        let purpose = &self.purpose.purpose.iosts;
        let mut found = Origins::default();
        for (first, second) in of.into_iter().map(|at| self.product.pairs[at]) {
            found.specification.insert(self.specification.location(first).name.clone());
            found.purpose.insert(purpose.location(second).name.clone());
        }
        found
    }
}

/// Of each location of a test case.
pub fn origins(
    pairs: &Pairs<'_>,
    closed: &Closed,
    visible: &Visible,
    graph: &TestGraph,
    case: &TestCase,
) -> Numbered<LocationId, Origins> {
    let members = |at| match graph.origins.find(at) {
        Some(GraphOrigin::Given(given)) if case.verdicts[at].is_none() => visible.members[*given].as_slice(),
        _ => &[],
    };
    let rests = |at| members(at).iter().flat_map(|member| &closed.rests[member.location]);
    case.iosts.location_ids().map(|at| pairs.origins(rests(at).map(|rest| rest.at))).collect()
}
