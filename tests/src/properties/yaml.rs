//! A pair written as YAML and read again is the same pair.

use std::sync::Arc;

use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::iosts::{Iosts, TransitionOrigin};
use coreach_model::reader::{Specification, read_purpose, read_specification};

use super::{Report, Settings, YAML};
use crate::generator::Pair;
use crate::text;

/// Writes and reads.
pub fn yaml(pair: &Pair, settings: &Settings, report: &mut Report) {
    if settings.wants(YAML) {
        report.note(YAML, round(pair));
    }
}

fn round(pair: &Pair) -> Result<(), String> {
    let file = |name: &str, text| Arc::new(SourceFile { name: name.to_owned(), text });
    let said = |found: Vec<Diagnostic>| format!("refused: {found:?}");
    let (specification, _): (Specification, _) =
        read_specification(file("specification.yaml", text::specification(pair))).map_err(said)?;
    let (purpose, _) =
        read_purpose(file("purpose.yaml", text::purpose(pair)), &specification).map_err(said)?;
    let halves = [(&pair.specification, &specification.iosts), (&pair.purpose.iosts, &purpose.iosts)];
    for (written, read) in halves {
        let (written, read) = (without_origins(written), without_origins(read));
        if written != read {
            return Err(format!("written: {written:?}\nread: {read:?}"));
        }
    }
    let same = purpose.observes == pair.purpose.observes
        && purpose.accept == pair.purpose.accept
        && purpose.reject == pair.purpose.reject;
    if same { Ok(()) } else { Err("the purpose's special locations or observed data differ".to_owned()) }
}

fn without_origins(iosts: &Iosts) -> Iosts {
    let mut bare = Iosts { origin: None, ..iosts.clone() };
    for transition in &mut bare.transitions {
        transition.origin = TransitionOrigin::default();
    }
    bare
}
