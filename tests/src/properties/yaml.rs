//! What was read, written as YAML and read again, is the same.

use coreach_model::iosts::{Iosts, TransitionOrigin};
use coreach_model::writer::{write_purpose_yaml, write_yaml};

use super::{Report, Settings, YAML};
use crate::source::{Input, declared, read_text};

/// Writes and reads.
pub fn yaml(pair: &Input, settings: &Settings, report: &mut Report) {
    if settings.wants(YAML) {
        report.note(YAML, round(pair));
    }
}

fn round(pair: &Input) -> Result<(), String> {
    let specification = write_yaml(&pair.specification, &declared(&pair.specification));
    let Input { specification, purpose } = read_text(specification, write_purpose_yaml(&pair.purpose))?;
    let halves = [(&pair.specification, &specification), (&pair.purpose.iosts, &purpose.iosts)];
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
