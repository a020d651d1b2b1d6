//! The sources of a test case: the names and hashes of its specification and its purpose, and the parts of
//! its guards that come from the specification.
//!
//! **Problem.** A test case does not contain the files that it came from. To report which parts of the
//! specification its runs have covered, one must know that today's file is still the same model.
//!
//! **Method.** The hash is the SHA-256 of the model in the model format ([`coreach_model::writer`]), with
//! constants fixed as they were. So comments, layout, the order of keys, labels and descriptions do not
//! count. A guard of a test case is a conjunction of a guard of the specification and one of the purpose. A
//! report of a failure names the specification's part alone, so its conjuncts are kept as they are written.

use std::collections::BTreeSet;
use std::fmt::Write;

use coreach_artifact::document::{self, Source};
use coreach_model::Term;
use coreach_model::iosts::{ActionKind, Iosts, TestPurpose};
use coreach_model::writer::{write_purpose_yaml, write_yaml};
use sha2::{Digest, Sha256};

use crate::named_types::named_types;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelSources {
    pub models: document::Sources,
    /// The conjuncts of the specification's guards at observations and at internal actions.
    pub conjuncts: BTreeSet<Term>,
}

impl ModelSources {
    /// Hashes the two models, and lists the conjuncts that a report of a failure may name.
    pub fn of(specification: &Iosts, purpose: &TestPurpose) -> Self {
        let plain = TestPurpose { iosts: without_descriptions(&purpose.iosts), ..purpose.clone() };
        ModelSources {
            models: document::Sources {
                specification: source_of_specification(specification),
                purpose: hash_source(&plain.iosts.name, &write_purpose_yaml(&plain)),
            },
            conjuncts: specification_conjuncts(specification),
        }
    }
}

pub fn source_of_specification(specification: &Iosts) -> Source {
    let plain = without_descriptions(specification);
    hash_source(&plain.name, &write_yaml(&plain, &named_types(&plain)))
}

fn hash_source(name: &str, text: &str) -> Source {
    let mut sha256 = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(sha256, "{byte:02x}");
    }
    Source { name: name.to_owned(), sha256 }
}

fn specification_conjuncts(specification: &Iosts) -> BTreeSet<Term> {
    let is_input = |action| specification.action(action).kind == ActionKind::Input;
    let observed = specification.transitions.iter().filter(|transition| !is_input(transition.action));
    let parts = observed.flat_map(|transition| transition.guard.conjuncts());
    parts.filter(|part| !part.is_true()).collect()
}

/// Drops labels and descriptions, which are for people.
fn without_descriptions(iosts: &Iosts) -> Iosts {
    let mut plain = iosts.clone();
    for location in &mut plain.locations {
        location.label = location.name.clone();
        location.description = None;
    }
    plain
}
