//! What the fuzz targets share: each target is one function from bytes, which panics where a promise is
//! broken.
//!
//! The promises: whatever the bytes are, reading ends with a model or with findings, never with a panic; a
//! finding can be drawn; its place is a piece of the text; what was accepted is written and read back to the
//! same; what an implementation sends is the event that it is, or none. The functions are here and not in the
//! targets so that a crash can be replayed by a plain program: `examples/replay.rs`.

mod configuration;
mod expression;
mod model;
mod pipeline;
mod wire;

pub use configuration::configuration;
pub use expression::expression;
pub use model::yaml_reader;
pub use pipeline::pipeline;
pub use wire::wire;

use coreach_model::diagnostic::Diagnostic;
use coreach_model::reader::{Specification, from_bytes, read_specification};
use coreach_project::render::{Style, render, to_json};

/// The specification that purposes and configurations are read against.
const COFFEE_MACHINE: &[u8] = include_bytes!("../../tests/diagnostics/good/coffee_machine.yaml");

/// Reads [`COFFEE_MACHINE`].
fn coffee_machine() -> Specification {
    let file = from_bytes("coffee_machine.yaml".to_owned(), COFFEE_MACHINE.to_vec());
    file.ok().and_then(|file| read_specification(file).ok()).expect("the coffee machine is well-formed").0
}

/// Findings are there, can be drawn, and speak of text that exists.
fn check_findings(found: &[Diagnostic], failed: bool) {
    assert!(!failed || found.iter().any(Diagnostic::is_error), "refused, and nothing says why");
    assert!(failed || !found.iter().any(Diagnostic::is_error), "accepted with an error");
    assert!(found.len() <= 101, "more findings than the limit: {}", found.len());
    for diagnostic in found {
        for (origin, _) in &diagnostic.labels {
            let place = origin.file.text.get(origin.span.clone());
            assert!(place.is_some(), "no text at {:?} of {}: {diagnostic:?}", origin.span, origin.file.name);
        }
    }
    // All of them cost too much; the drawing does not depend on how many there are.
    let first = &found[..found.len().min(5)];
    assert!(found.is_empty() || !render(first, Style::PLAIN).is_empty());
    let _ = to_json(first);
}
