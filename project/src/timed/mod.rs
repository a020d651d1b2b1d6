//! Reads timed models for commands: a model with its delayed form, a path, values of its constants.

pub mod drive;
pub mod inputs;
pub mod trace;
pub mod verdict;

use std::path::Path;

use coreach_model::codec;
use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::TransitionId;
use coreach_model::reader::{load as load_file, read_timed_specification};
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::{Delayed, delayed_with_unseen};
use coreach_pipeline::timed::resolve;

pub struct TimedModel {
    pub timed: Timed,
    /// Its delayed form. Internal transitions that take time have a delay there.
    pub form: Delayed,
}

/// Loads a timed model, with warnings. It may have no clocks.
pub fn load(path: &Path) -> Result<(TimedModel, Vec<Diagnostic>), Vec<Diagnostic>> {
    let file = load_file(path).map_err(|found| vec![found])?;
    let (specification, warnings) = read_timed_specification(file)?;
    let timed = specification.timed;
    let form = delayed_with_unseen(&timed);
    Ok((TimedModel { timed, form }, warnings))
}

/// Reads a path: transitions by name or number, separated by commas or spaces, with repetitions.
///
/// # Errors
/// A transition does not exist, or does not begin at the end of the one before it.
pub fn path(timed: &Timed, text: &str) -> Result<Vec<TransitionId>, Vec<Diagnostic>> {
    let path = resolve(timed, text).map_err(|stop| vec![stop.to_diagnostic()])?;
    if path.is_empty() {
        let help = "name its transitions in their order: `--path 1,2,3`";
        return Err(vec![Diagnostic::error("empty-path", "the path has no transition").help(help)]);
    }
    let graph = timed.graph();
    let mut at = graph.initial;
    for number in &path {
        let transition = &graph.transitions[*number];
        if transition.source != at {
            let name = |location| &graph.location(location).name;
            let message = format!(
                "the path is broken: transition {} begins in {}, and the path is in {}",
                timed.called(*number),
                name(transition.source),
                name(at)
            );
            let leaving = graph.transitions.numbered().filter(|(_, other)| other.source == at);
            let names: Vec<String> = leaving.map(|(number, _)| timed.called(number)).collect();
            let found = Diagnostic::error("broken-path", message)
                .at(transition.origin.whole.clone(), "begins elsewhere");
            let help = match names.is_empty() {
                true => format!("no transition leaves {}", name(at)),
                false => format!("from {} lead {}", name(at), names.join(", ")),
            };
            return Err(vec![found.help(help)]);
        }
        at = transition.target;
    }
    Ok(path)
}

/// Reads the values of constants from pairs of a name and a text.
///
/// # Errors
/// A constant is unknown or named twice, or its text is no value of its type.
pub fn constants(timed: &Timed, pairs: &[(String, String)]) -> Result<Valuation, Vec<Diagnostic>> {
    let mut known = Valuation::new();
    let mut found = Vec::new();
    for (name, text) in pairs {
        let all = &timed.graph().constants;
        let Some(datum) = all.iter().find(|datum| datum.name() == name) else {
            let names: Vec<&str> = all.iter().map(coreach_model::Datum::name).collect();
            let message = format!("the model has no constant `{name}`");
            let help = match names.is_empty() {
                true => "it has none".to_owned(),
                false => format!("it has {}", names.join(", ")),
            };
            found.push(Diagnostic::error("unknown-constant", message).help(help));
            continue;
        };
        match codec::from_text(text, datum.ty()) {
            Err(why) => {
                found.push(Diagnostic::error("constant-value", format!("`{name}` has no such value: {why}")));
            }
            Ok(value) => {
                if known.insert(datum.clone(), value).is_some() {
                    let message = format!("`{name}` is given twice");
                    found.push(Diagnostic::error("duplicate-constant", message));
                }
            }
        }
    }
    if found.is_empty() { Ok(known) } else { Err(found) }
}
