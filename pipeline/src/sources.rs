//! What a test case was made of: the names and hashes of its specification and its purpose, and what is the
//! specification's in its guards.
//!
//! **Problem.** A test case is kept for years, and says nothing of the files that it came from. Whoever asks
//! what its runs have covered of the specification must know that the file that lies there today is still the
//! same model.
//!
//! **Method.** The SHA-256 of the model in the model format, as [`coreach_model::writer`] spells it,
//! constants fixed as they were. So comments, the order of keys and the layout do not matter, nor do the
//! words about locations, which are for people.
//!
//! A guard of a test case is one of the specification and one of the purpose. Who tells what failed names
//! the specification's part alone, so its conjuncts are kept as they are written.

use std::collections::BTreeSet;
use std::fmt::Write;

use coreach_artifact::document::{self, Source};
use coreach_model::Term;
use coreach_model::iosts::{ActionKind, Iosts, TestPurpose};
use coreach_model::writer::{write_purpose_yaml, write_yaml};
use sha2::{Digest, Sha256};

use crate::named_types::named_types;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sources {
    pub models: document::Sources,
    /// The conjuncts of the specification's guards of what is observed, and of what is internal.
    pub conjuncts: BTreeSet<Term>,
}

impl Sources {
    pub fn of(specification: &Iosts, purpose: &TestPurpose) -> Self {
        let mut purpose = purpose.clone();
        purpose.iosts = plain(&purpose.iosts);
        Sources {
            models: document::Sources {
                specification: of_specification(specification),
                purpose: source(&purpose.iosts.name, &write_purpose_yaml(&purpose)),
            },
            conjuncts: conjuncts(specification),
        }
    }
}

pub fn of_specification(specification: &Iosts) -> Source {
    let plain = plain(specification);
    source(&plain.name, &write_yaml(&plain, &named_types(&plain)))
}

fn source(name: &str, text: &str) -> Source {
    let mut sha256 = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(sha256, "{byte:02x}");
    }
    Source { name: name.to_owned(), sha256 }
}

fn conjuncts(specification: &Iosts) -> BTreeSet<Term> {
    let is_input = |action| specification.action(action).kind == ActionKind::Input;
    let observed = specification.transitions.iter().filter(|transition| !is_input(transition.action));
    let parts = observed.flat_map(|transition| transition.guard.conjuncts());
    parts.filter(|part| !part.is_true()).collect()
}

/// Without the words for people.
fn plain(iosts: &Iosts) -> Iosts {
    let mut plain = iosts.clone();
    for location in &mut plain.locations {
        location.label = location.name.clone();
        location.description = None;
    }
    plain
}
