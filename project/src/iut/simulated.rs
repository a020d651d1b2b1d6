//! `simulated`: a model that stands for the implementation, with values of the constants that no run gives
//! it.
//!
//! A run gives an implementation the constants of its test case. What a configuration fixed with
//! `instantiate` is no constant of the test case any more, but still one of the model's file: it needs a
//! value here, and that is said before the first run.

use std::sync::Arc;

use coreach_adapters::description::{Completion, SimulatedModel, Transport};
use coreach_model::diagnostic::{Diagnostic, Origin, SourceFile};
use coreach_model::iosts::Iosts;
use coreach_model::reader::collect::listed;
use coreach_model::reader::yaml::{Entry, Node};
use coreach_model::reader::{AnySpecification, Reading, read_any_specification, shape};
use coreach_model::timed::delayed::{Delayed, delayed};

use super::words::IutReader;
use crate::configuration::{Instantiation, Reference, instantiation, read_instantiate, reference};
use crate::instantiate;
use crate::project::initialized;

pub struct SimulatedSection {
    pub model: Reference,
    pub given: Given,
}

/// What the section says beside the model's file.
pub struct Given {
    instantiate: Vec<Instantiation>,
    /// Where it says what becomes of an input that the state does not take.
    completion: Option<(Completion, Origin)>,
}

const KEYS: [&str; 3] = ["model", "instantiate", "completion"];

fn read_given(reader: &mut IutReader<'_>, entries: &[Entry]) -> Given {
    const CHOICES: [(&str, Completion); 2] =
        [("angelic", Completion::Angelic), ("demonic", Completion::Demonic)];
    let instantiate = read_instantiate(reader.collector, entries);
    let completion = reader.choice(entries, "completion", &CHOICES);
    let node = shape::get(entries, "completion");
    let completion = completion.zip(node.map(|node| reader.collector.origin(&node.head())));
    Given { instantiate, completion }
}

/// Reads the section but for the model's file, which a store has in itself and need not be there any more.
pub fn instantiated(reader: &mut IutReader<'_>, root: &[Entry]) -> Given {
    let entries = shape::section(reader.collector, root, "simulated", &KEYS);
    read_given(reader, entries)
}

pub fn simulated(reader: &mut IutReader<'_>, root: &[Entry], node: &Node) -> Option<SimulatedSection> {
    let entries = shape::section(reader.collector, root, "simulated", &KEYS);
    let given = read_given(reader, entries);
    let Some(model) = shape::get(entries, "model") else {
        let like = "simulated: { model: specification.yaml }";
        shape::missing_key(reader.collector, node, "model", "`simulated`", like);
        return None;
    };
    let model = reference(reader.collector, model, "model", reader.folder)?;
    Some(SimulatedSection { model, given })
}

pub struct Stands {
    model: Iosts,
    /// Where it has time: its delayed form.
    timed: Option<Delayed>,
}

impl Stands {
    /// The way to it, with the values that its constants are given.
    ///
    /// # Errors
    /// A value that is none, of a constant that there is not; a constant that neither this file nor a run
    /// gives a value; a timed model that is to be completed.
    pub fn fixed(
        self,
        given: Given,
        iosts: Option<&Iosts>,
        named: Option<Origin>,
    ) -> Result<Transport, Vec<Diagnostic>> {
        let iosts = fixed(self.model, &given.instantiate, iosts, named)?;
        Ok(match self.timed {
            None => {
                let completion = given.completion.map_or(Completion::default(), |(chosen, _)| chosen);
                Transport::Simulated(Box::new(SimulatedModel { iosts, completion }))
            }
            Some(_) if let Some((Completion::Demonic, origin)) = given.completion => {
                let message = "a timed model ignores the inputs that its state does not take".to_owned();
                return Err(vec![
                    Diagnostic::error("timed-completion", message)
                        .at(origin, "only of untimed models")
                        .help("leave it out"),
                ]);
            }
            Some(form) => Transport::SimulatedTimed(Box::new(Delayed { iosts, ..form })),
        })
    }
}

/// Reads a model that stands for an implementation.
///
/// # Errors
/// It cannot be read, its initial state is not determined, or it is timed and has internal transitions that
/// take time.
pub fn standing(file: Arc<SourceFile>) -> Reading<Stands> {
    let place = Origin { file: file.clone(), span: 0..file.text.lines().next().map_or(0, str::len) };
    let (stands, found) = match read_any_specification(file)? {
        (AnySpecification::Untimed(read), found) => (Stands { model: read.iosts, timed: None }, found),
        (AnySpecification::Timed(read), mut found) => match delayed(&read.timed) {
            Ok(form) => (Stands { model: form.iosts.clone(), timed: Some(form) }, found),
            Err(numbers) => {
                let called: Vec<String> = numbers.iter().map(|number| read.timed.called(*number)).collect();
                let message = format!(
                    "internal transitions take no time, and these mention a clock or reset one: {}",
                    called.join(", ")
                );
                found.push(Diagnostic::error("internal-time", message).at(place, "in this model"));
                return Err(found);
            }
        },
    };
    let found = initialized(&stands.model, found)?;
    Ok((stands, found))
}

/// The model with these values, for runs of a test case where that is known. `named` is where the model is
/// named.
///
/// # Errors
/// A value that is none, of a constant that there is not; a constant that neither this file nor a run gives a
/// value.
fn fixed(
    mut model: Iosts,
    instantiate: &[Instantiation],
    test: Option<&Iosts>,
    named: Option<Origin>,
) -> Result<Iosts, Vec<Diagnostic>> {
    let values = instantiation(instantiate, &model.constants)?;
    instantiate::fix_all(&mut model, values);
    let is_given =
        |name: &str| test.is_none_or(|test| test.constants.iter().any(|constant| constant.name() == name));
    let missing: Vec<&str> =
        model.constants.iter().map(|constant| constant.name()).filter(|name| !is_given(name)).collect();
    let [first, ..] = missing.as_slice() else { return Ok(model) };
    let message = format!("the test case has no value for {} of `{}`", listed(missing.clone()), model.name);
    let diagnostic = Diagnostic::error("no-constant", message).help(format!(
        "what the configuration fixes, the model needs too: `instantiate: {{ {first}: ... }}` beside `model`"
    ));
    Err(vec![match named {
        Some(named) => diagnostic.at(named, "this model has such constants"),
        None => diagnostic,
    }])
}
