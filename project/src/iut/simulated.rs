//! Reads `simulated`: a model that stands for the implementation, and values for some of its constants.
//!
//! A run gives an implementation the constants of its test case. A constant that a configuration fixes with
//! `instantiate` is no constant of the test case any more, but it is still one of the model. So it needs a
//! value here, and a missing value is reported before the first run.

use std::sync::Arc;

use coreach_adapters::description::{Completion, SimulatedModel, Transport};
use coreach_model::diagnostic::{Diagnostic, Origin, SourceFile};
use coreach_model::iosts::Iosts;
use coreach_model::reader::collect::listed;
use coreach_model::reader::yaml::{Entry, Yaml};
use coreach_model::reader::{AnySpecification, Reading, read_any_specification, shape};
use coreach_model::term::literals;
use coreach_model::timed::delayed::{Delayed, delayed};

use super::words::IutReader;
use crate::configuration::{
    Instantiation, Reference, evaluate_instantiate, read_instantiate, read_reference,
};
use crate::instantiate;
use crate::project::check_start;

pub struct SimulatedSection {
    pub model: Reference,
    pub settings: SimulatedSettings,
}

/// The settings of the section, without the model's file.
pub struct SimulatedSettings {
    instantiate: Vec<Instantiation>,
    /// What happens to an input that the state does not take, with its place.
    completion: Option<(Completion, Origin)>,
}

const KEYS: [&str; 3] = ["model", "instantiate", "completion"];

fn read_settings_of(reader: &mut IutReader<'_>, entries: &[Entry]) -> SimulatedSettings {
    const CHOICES: [(&str, Completion); 2] =
        [("angelic", Completion::Angelic), ("demonic", Completion::Demonic)];
    let instantiate = read_instantiate(reader.collector, entries);
    let completion = reader.read_choice(entries, "completion", &CHOICES);
    let node = shape::get(entries, "completion");
    let completion = completion.zip(node.map(|node| reader.collector.origin(&node.head())));
    SimulatedSettings { instantiate, completion }
}

/// Reads the settings without the model's file. A store has the model's text, so the file may be gone.
pub fn read_settings(reader: &mut IutReader<'_>, root: &[Entry]) -> SimulatedSettings {
    let entries = shape::section(reader.collector, root, "simulated", &KEYS);
    read_settings_of(reader, entries)
}

pub fn read_simulated(reader: &mut IutReader<'_>, root: &[Entry], node: &Yaml) -> Option<SimulatedSection> {
    let entries = shape::section(reader.collector, root, "simulated", &KEYS);
    let settings = read_settings_of(reader, entries);
    let Some(model) = shape::get(entries, "model") else {
        let like = "simulated: { model: specification.yaml }";
        shape::missing_key(reader.collector, node, "model", "`simulated`", like);
        return None;
    };
    let model = read_reference(reader.collector, model, "model", reader.folder)?;
    Some(SimulatedSection { model, settings })
}

/// A model that stands for an implementation.
pub struct StandIn {
    model: Iosts,
    /// The delayed form of a timed model.
    timed: Option<Delayed>,
}

impl StandIn {
    /// Makes the transport to the model, with values of its constants. `named` is the place that names it.
    ///
    /// # Errors
    /// `fix_constants` reports a mistake, or a timed model is to be completed.
    pub fn into_transport(
        self,
        settings: SimulatedSettings,
        iosts: Option<&Iosts>,
        named: Option<Origin>,
    ) -> Result<Transport, Vec<Diagnostic>> {
        let iosts = fix_constants(self.model, &settings.instantiate, iosts, named)?;
        Ok(match self.timed {
            None => {
                let completion = settings.completion.map_or(Completion::default(), |(chosen, _)| chosen);
                Transport::Simulated(Box::new(SimulatedModel { iosts, completion }))
            }
            Some(_) if let Some((Completion::Demonic, origin)) = settings.completion => {
                let message = "a timed model ignores the inputs that its state does not take".to_owned();
                return Err(vec![
                    Diagnostic::error("timed-completion", message)
                        .at(origin, "only of untimed models")
                        .help("leave `completion` out"),
                ]);
            }
            Some(form) => Transport::SimulatedTimed(Box::new(Delayed { iosts, ..form })),
        })
    }
}

/// Reads a model that stands for an implementation.
///
/// # Errors
/// It cannot be read, its initial state is not determined, or it is timed and internal transitions take time.
pub fn read_stand_in(file: Arc<SourceFile>) -> Reading<StandIn> {
    let place = Origin { file: file.clone(), span: 0..file.text.lines().next().map_or(0, str::len) };
    let (stand_in, findings) = match read_any_specification(file)? {
        (AnySpecification::Untimed(read), findings) => (StandIn { model: read.iosts, timed: None }, findings),
        (AnySpecification::Timed(read), mut findings) => match delayed(&read.timed) {
            Ok(form) => (StandIn { model: form.iosts.clone(), timed: Some(form) }, findings),
            Err(numbers) => {
                let names: Vec<String> = numbers.iter().map(|number| read.timed.called(*number)).collect();
                let message = format!(
                    "internal transitions take no time, and these mention a clock or reset one: {}",
                    names.join(", ")
                );
                findings.push(Diagnostic::error("internal-time", message).at(place, "in this model"));
                return Err(findings);
            }
        },
    };
    let findings = check_start(&stand_in.model, findings)?;
    Ok((stand_in, findings))
}

/// Gives constants of the model their values. `named` is the place that names it.
///
/// # Errors
/// A constant or its value is wrong, or neither this file nor a run gives a constant its value.
fn fix_constants(
    mut model: Iosts,
    instantiate: &[Instantiation],
    test: Option<&Iosts>,
    named: Option<Origin>,
) -> Result<Iosts, Vec<Diagnostic>> {
    let values = evaluate_instantiate(instantiate, &model.constants)?;
    instantiate::fix_constants(&mut model, &literals(&values));
    let is_given =
        |name: &str| test.is_none_or(|test| test.constants.iter().any(|constant| constant.name() == name));
    let missing: Vec<&str> =
        model.constants.iter().map(|constant| constant.name()).filter(|name| !is_given(name)).collect();
    let [first, ..] = missing.as_slice() else { return Ok(model) };
    let message = format!("the test case has no value for {} of `{}`", listed(missing.clone()), model.name);
    let diagnostic = Diagnostic::error("no-constant", message).help(format!(
        "the configuration fixes this constant: write `instantiate: {{ {first}: ... }}` next to `model`, too"
    ));
    Err(vec![match named {
        Some(named) => diagnostic.at(named, "this model has such constants"),
        None => diagnostic,
    }])
}
