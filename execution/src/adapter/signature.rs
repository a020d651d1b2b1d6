//! From what stands on a wire to an event, with the types of the specification: shared by all encodings.

use coreach_model::Value;
use coreach_model::data::Datum;
use coreach_model::iosts::{Action, ActionKind, Iosts};
use coreach_model::semantics::Event;
use coreach_model::types::Type;
use serde_json::{Map, Value as Json};

use crate::adapter::description::Spelling;
use crate::adapter::{Failure, Received, Session};
use crate::codec::{self, shortened};

/// Numbers with more digits are not read: reading them takes longer than a run may.
pub const MOST_DIGITS: usize = 4096;

/// The signatures of a run's actions, and its constants.
#[derive(Clone, Default, Debug)]
pub struct Signatures {
    actions: Vec<Action>,
    constants: Vec<(Datum, Value)>,
}

impl Signatures {
    /// Those of a session.
    pub fn of(session: &Session<'_>) -> Self {
        Signatures { actions: actions(session.iosts), constants: session.constants.to_vec() }
    }

    /// The action of this name.
    pub fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.name == name)
    }

    /// The constant of this name, as text.
    pub fn constant(&self, name: &str) -> Option<String> {
        let found = self.constants.iter().find(|(datum, _)| datum.name() == name);
        found.map(|(_, value)| codec::to_text(value))
    }

    /// What fills a hole in the text of a stimulus: a parameter, as it is spelt, or a constant.
    pub fn hole(&self, event: &Event, spelling: &Spelling, name: &str) -> Option<String> {
        let parameters = &self.action(&event.action)?.parameters;
        match parameters.iter().position(|datum| datum.name() == name) {
            Some(at) => {
                let usual = codec::to_text(event.values.get(at)?);
                Some(spelling.written(name, &usual).to_owned())
            }
            None => self.constant(name),
        }
    }

    /// The names and values of a stimulus.
    pub fn named(&self, event: &Event) -> Map<String, Json> {
        let names = self.action(&event.action).into_iter().flat_map(|action| &action.parameters);
        names
            .zip(&event.values)
            .map(|(datum, value)| (datum.name().to_owned(), codec::to_json(value)))
            .collect()
    }

    /// The output that a message means. `values` are those that the message gives.
    pub fn output(&self, name: &str, values: &Map<String, Json>) -> Result<Received, Failure> {
        let action = match self.action(name) {
            Some(action) if action.kind == ActionKind::Output => action,
            Some(action) => {
                let kind = if action.kind == ActionKind::Input { "an input" } else { "an internal action" };
                return Ok(Received::Alien(format!("`{name}` as an output, but it is {kind}")));
            }
            None => return Ok(Received::Alien(format!("the output `{}`, which is none", shortened(name)))),
        };
        let is_parameter = |name: &str| action.parameters.iter().any(|datum| datum.name() == name);
        if let Some(foreign) = values.keys().find(|name| !is_parameter(name)) {
            let text =
                format!("`{name}` with a value for `{}`, which is no parameter of it", shortened(foreign));
            return Ok(Received::Alien(text));
        }
        let mut found = Vec::with_capacity(action.parameters.len());
        for datum in &action.parameters {
            let Some(json) = values.get(datum.name()) else {
                return Ok(Received::Alien(format!("`{name}` without a value for `{datum}`")));
            };
            match json {
                Json::String(text) if is_numeric(datum.ty()) && text.len() > MOST_DIGITS => {
                    let message = format!("`{datum}` of `{name}` has {} digits", text.len());
                    return Err(Failure::Garbage(message));
                }
                _ => match codec::from_json(json, datum.ty()) {
                    Ok(value) => found.push(value),
                    Err(why) => {
                        return Ok(Received::Alien(format!("`{name}` with a wrong `{datum}`: {why}")));
                    }
                },
            }
        }
        Ok(Received::Output(Event::new(name, found)))
    }

    /// The output that pieces of text mean, parameter by parameter.
    pub fn output_of_text(
        &self,
        name: &str,
        texts: &[(String, String)],
        spelling: &Spelling,
    ) -> Result<Received, Failure> {
        let Some(action) = self.action(name) else { return self.output(name, &Map::new()) };
        let mut values = Map::new();
        for (parameter, text) in texts {
            let ty = action.parameters.iter().find(|datum| datum.name() == parameter).map(Datum::ty);
            let json = match spelling.read(parameter, text) {
                None => Json::String(text.clone()),
                Some(usual) => ty.map_or(Json::Null, |ty| json_of_text(usual, ty)),
            };
            values.insert(parameter.clone(), json);
        }
        self.output(name, &values)
    }
}

/// The visible actions of a model.
fn actions(iosts: &Iosts) -> Vec<Action> {
    iosts.actions.iter().filter(|action| action.is_visible()).cloned().collect()
}

fn is_numeric(ty: &Type) -> bool {
    ty.is_number()
}

/// Plain text in the form in which the codec reads it.
fn json_of_text(text: &str, ty: &Type) -> Json {
    if !matches!(ty, Type::Bool | Type::Record(_) | Type::Array(_)) {
        return Json::String(text.trim().to_owned());
    }
    match codec::from_text(text, ty) {
        Ok(value) => codec::to_json(&value),
        Err(_) => Json::String(text.to_owned()),
    }
}
