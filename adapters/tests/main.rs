//! All tests of this crate in one program: a program for each file would be linked by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

mod bytes;
mod connections;
mod http_answers;
mod wire;

use std::path::Path;

use coreach_model::Iosts;
use coreach_model::reader::{from_bytes, read_specification};

/// The specification of `examples/coffee_machine`.
fn coffee_machine() -> Iosts {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/coffee_machine/specification.yaml");
    let file = from_bytes("specification.yaml".to_owned(), std::fs::read(path).unwrap()).unwrap();
    read_specification(file).unwrap().0.iosts
}
