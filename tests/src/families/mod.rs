//! Small models that ask for much: each family is a function from a size to a specification and a purpose, as
//! text.
//!
//! A family grows one thing that a stage or an analysis once paid for more than in proportion.
//! `scripts/explode` doubles the sizes and measures; `tests/explode.rs` runs a slice and counts.

pub mod analyses;
pub mod stages;

/// A specification and a purpose in the model format.
pub type Pair = (String, String);

/// One family.
#[derive(Clone, Copy)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What grows.
    pub grows: &'static str,
    /// Makes a member.
    pub make: fn(usize) -> Pair,
    /// The sizes to measure: the first, doubled up to the last.
    pub sizes: (usize, usize),
    /// What the configuration adds, a line each.
    pub configuration: &'static str,
}

/// A family without more configuration.
pub(crate) const fn family(
    name: &'static str,
    grows: &'static str,
    make: fn(usize) -> Pair,
    sizes: (usize, usize),
) -> Family {
    Family { name, grows, make, sizes, configuration: "" }
}

/// All families, in the order of the table.
pub fn all() -> Vec<Family> {
    [&stages::FAMILIES[..], &analyses::FAMILIES[..]].concat()
}

/// The configuration that makes the test case of a pair and writes what a user of test cases asks for.
pub fn configuration(family: &Family) -> String {
    format!(
        "specification: specification.yaml\npurpose: purpose.yaml\n{}output: {{ directory: out, formats: [json, dot] }}\n",
        family.configuration
    )
}
