//! From the texts or JSON of a wire to an event, with the types of the specification, for all encodings.

use coreach_model::codec::{self, Misread};
use coreach_model::data::Datum;
use coreach_model::diagnostic::nearest;
use coreach_model::excerpt::{describe_look_alike, shortened};
use coreach_model::iosts::{Action, ActionKind, Iosts};
use coreach_model::json::{self, Tree};
use coreach_model::reader::collect::{inventory, listed};
use coreach_model::semantics::Event;
use coreach_model::{Type, Value};
use serde_json::{Map, Value as Json};

use crate::adapter::{Failure, Received, Session};
use crate::captures::Captures;
use crate::description::{Capture, Spelling, Spelt};
use crate::launched::Launched;

/// The signatures of a run's actions, its constants, and what it has captured.
#[derive(Clone, Default, Debug)]
pub struct Signatures {
    actions: Vec<Action>,
    constants: Vec<(Datum, Value)>,
    captures: Captures,
    launched: Launched,
    /// The number of bytes that the last stimulus has announced. The next stimulus begins with them.
    announced: Option<usize>,
}

impl Signatures {
    pub fn of(session: &Session<'_>) -> Self {
        let (actions, constants) = (visible_actions(session.iosts), session.constants.to_vec());
        Signatures { actions, constants, ..Signatures::default() }
    }

    pub fn capturing(self, captures: &[Capture]) -> Self {
        Signatures { captures: Captures::of(captures), ..self }
    }

    pub fn launched(self, launched: Launched) -> Self {
        Signatures { launched, ..self }
    }

    /// Captures a value, if its name is that of a capture. Returns whether it is.
    pub fn capture(&mut self, name: &str, value: &str) -> bool {
        self.captures.take(name, value);
        self.captures.knows(name)
    }

    pub fn announced(&self) -> Option<usize> {
        self.announced
    }

    pub fn announce(&mut self, bytes: Option<usize>) {
        self.announced = bytes;
    }

    pub fn captures(&self, name: &str) -> bool {
        self.captures.knows(name)
    }

    /// Returns the parameters of an action, if there is one of this name.
    pub fn parameters(&self, action: &str) -> &[Datum] {
        self.action(action).map_or(&[], |action| &action.parameters)
    }

    pub fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.name == name)
    }

    pub fn constants(&self) -> &[(Datum, Value)] {
        &self.constants
    }

    pub fn constant(&self, name: &str) -> Option<String> {
        let found = self.constants.iter().find(|(datum, _)| datum.name() == name);
        found.map(|(_, value)| codec::to_text(value))
    }

    /// Fills a hole of a text that is sent before the first stimulus: by what belongs to the launch, a
    /// constant, or a captured value.
    pub fn before(&self, name: &str) -> Option<String> {
        self.launched.hole(name).or_else(|| self.constant_or_capture(name))
    }

    /// Fills a hole that is no parameter's: by a constant, or a captured value.
    pub fn constant_or_capture(&self, name: &str) -> Option<String> {
        self.constant(name).or_else(|| self.captures.get(name).map(str::to_owned))
    }

    /// Says why a hole stays empty, in words that follow its name.
    pub fn lacking(&self, name: &str) -> String {
        match self.captures.knows(name) {
            true => self.captures.lacking(name),
            false => "for which there is no value".to_owned(),
        }
    }

    /// Notes why an answer that should have had the value of a capture has none.
    pub fn miss_capture(&mut self, name: &str, why: String) {
        self.captures.miss(name, why);
    }

    /// Returns the text for a hole in a stimulus: a parameter as it is spelt, a constant, or a captured
    /// value. `None` if there is none, or if `values` leaves the value out.
    pub fn hole(&self, event: &Event, spelling: &Spelling, name: &str) -> Option<String> {
        let parameters = &self.action(&event.action)?.parameters;
        let Some(at) = parameters.iter().position(|datum| datum.name() == name) else {
            return self.constant_or_capture(name);
        };
        let model_text = codec::to_text(event.values.get(at)?);
        match spelling.of(name) {
            None => Some(model_text),
            Some(spelt) => spelt.wire_texts(&model_text).into_iter().next(),
        }
    }

    /// Returns a pattern for the texts that a hole of a stimulus, or of what is sent before it, can have.
    pub fn value_pattern(&self, action: &str, name: &str) -> String {
        let constants = self.constants.iter().map(|(datum, _)| datum);
        let mut data = self.parameters(action).iter().chain(constants);
        match data.find(|datum| datum.name() == name).map(Datum::ty) {
            Some(Type::Int | Type::Nat | Type::Range(..)) => r"-?\d+".to_owned(),
            Some(Type::Real) => r"-?[\d./]+".to_owned(),
            Some(Type::Bool) => "(true|false)".to_owned(),
            Some(Type::Enum(named)) => format!("({})", named.literals.join("|")),
            _ => ".*".to_owned(),
        }
    }

    /// Returns the values of an event by the names of their parameters.
    pub fn named(&self, event: &Event) -> Map<String, Json> {
        let values = self.parameters(&event.action).iter().zip(&event.values);
        values.map(|(datum, value)| (datum.name().to_owned(), codec::to_wire_json(value))).collect()
    }

    /// Makes the output that a message means. `given` is what the message has for parameters and captures.
    ///
    /// # Errors
    /// [`Failure::Garbage`]: a number that is too long to be read.
    pub fn capturing_output(
        &mut self,
        name: &str,
        given: &[(&str, Wire<'_>)],
        spelling: &Spelling,
    ) -> Result<Received, Failure> {
        let (captured, given): (Vec<_>, Vec<_>) =
            given.iter().partition(|(name, _)| self.captures.knows(name));
        let has_pointers = false;
        let received = self.output(name, &given, spelling, has_pointers)?;
        if matches!(received, Received::Output(_)) {
            for (name, wire) in captured {
                match wire {
                    Wire::Text(text) => self.captures.take(name, text),
                    Wire::Json(tree) => self.captures.take(name, &tree.to_string()),
                }
            }
        }
        Ok(received)
    }

    /// Makes the output that a message means, or an alien one. `given` is what the message has for each
    /// parameter. `has_pointers`: the IUT file says where in the message each value is.
    ///
    /// # Errors
    /// [`Failure::Garbage`]: a number that is too long to be read.
    pub fn output(
        &self,
        name: &str,
        given: &[(&str, Wire<'_>)],
        spelling: &Spelling,
        has_pointers: bool,
    ) -> Result<Received, Failure> {
        let action = match self.find_output(name, given) {
            Ok(action) => action,
            Err(text) => return Ok(Received::Alien(text)),
        };
        let mut values = Vec::with_capacity(action.parameters.len());
        for datum in &action.parameters {
            let Some((_, wire)) = given.iter().find(|(name, _)| *name == datum.name()) else {
                let Some(none) = codec::absent(datum.ty()) else {
                    return Ok(Received::Alien(format!("`{name}` without a value for `{datum}`")));
                };
                values.push(none);
                continue;
            };
            match wire.value(datum, spelling) {
                Ok(value) => values.push(value),
                Err(Misread::TooLong(digits)) => return Err(report_too_long(digits)),
                Err(Misread::Wrong(why)) => {
                    // A number may be wrong for another reason, and fit another number by chance.
                    let is_swapped = |other: &&Datum| {
                        let its = given.iter().find(|(name, _)| *name == other.name());
                        !(datum.ty().is_number() && other.ty().is_number())
                            && wire.value(other, spelling).is_ok()
                            && its.is_some_and(|(_, its)| its.value(datum, spelling).is_ok())
                    };
                    let help = match spelling.of(datum.name()) {
                        _ if let Some(other) = action.parameters.iter().find(is_swapped) => format!(
                            "\nhelp: each has a value that fits the other: are `{datum}` and `{other}` {SWAPPED}"
                        ),
                        Some(Spelt::Texts(pairs)) => wire.spelling_help(datum, pairs),
                        _ => wire.value_help(datum, has_pointers),
                    };
                    return Ok(Received::Alien(format!("`{name}` with a wrong `{datum}`: {why}{help}")));
                }
            }
        }
        Ok(Received::Output(Event::new(name, values)))
    }

    /// Finds the output of this name that has all these parameters, or says why there is none.
    fn find_output(&self, name: &str, given: &[(&str, Wire<'_>)]) -> Result<&Action, String> {
        let Some(action) = self.action(name) else {
            let outputs = self.actions.iter().filter(|action| action.kind == ActionKind::Output);
            let shown = shortened(name);
            let help = match nearest(name, outputs.map(|action| action.name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "if it is no event, send `{{\"log\": \"{shown}\"}}` in its place\nhelp: if the system is right, write {} \
                     under `outputs`, and add a transition on it",
                    declare_output(name, given)
                ),
            };
            return Err(format!("the output `{shown}`, which the specification does not have\nhelp: {help}"));
        };
        if action.kind != ActionKind::Output {
            let kind = if action.kind == ActionKind::Input { "an input" } else { "an internal action" };
            let help = "declare what the system sends under `outputs`";
            return Err(format!("`{name}` as an output, but it is {kind}\nhelp: {help}"));
        }
        let is_parameter = |name: &str| action.parameters.iter().any(|datum| datum.name() == name);
        let Some((foreign, wire)) = given.iter().find(|(name, _)| !is_parameter(name)) else {
            return Ok(action);
        };
        let is_given = |name: &&str| given.iter().any(|(given, _)| given == name);
        let lacking = || action.parameters.iter().map(Datum::name).filter(|name| !is_given(name));
        let shown = shortened(foreign);
        let help = match lacking().next() {
            None => {
                let ty = wire.likely_type();
                format!("leave it out, or declare `{shown}: {ty}` as a parameter of `{name}`")
            }
            Some(_) => suggest(foreign, "parameters", lacking),
        };
        Err(format!(
            "`{name}` with a value for `{shown}`, which is not a parameter of `{name}`\nhelp: {help}"
        ))
    }
}

/// How the help ends for two values in each other's place.
pub const SWAPPED: &str = "swapped?";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wire<'a> {
    Text(&'a str),
    Json(&'a Tree),
}

/// Writes the declaration of an output that came with these values, with the types that they suggest.
fn declare_output(name: &str, given: &[(&str, Wire<'_>)]) -> String {
    let parameters: Vec<String> =
        given.iter().map(|(name, wire)| format!("{}: {}", shortened(name), wire.likely_type())).collect();
    match parameters.as_slice() {
        [] => format!("`{}: {{}}`", shortened(name)),
        _ => format!("`{}: {{ {} }}`", shortened(name), parameters.join(", ")),
    }
}

/// Suggests one of the names that `known` lists for one that is not known, or lists all.
fn suggest<'a, I: IntoIterator<Item = &'a str>>(name: &str, what: &str, known: impl Fn() -> I) -> String {
    match nearest(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => inventory(what, known()),
    }
}

/// Returns the texts for true and false of which a system has sent one.
fn truth_texts(text: &str) -> [String; 2] {
    let pairs = [
        ["true", "false"],
        ["yes", "no"],
        ["on", "off"],
        ["1", "0"],
        ["y", "n"],
        ["t", "f"],
        ["ok", "failed"],
    ];
    let like = |word: &str| match text.chars().nth(1) {
        Some(second) if second.is_uppercase() => word.to_uppercase(),
        _ if text.starts_with(char::is_uppercase) => word[..1].to_uppercase() + &word[1..],
        _ => word.to_owned(),
    };
    let pair = pairs.into_iter().map(|pair| pair.map(like)).find(|pair| pair.iter().any(|word| word == text));
    pair.unwrap_or_else(|| [shortened(text).escape_debug().to_string(), "...".to_owned()])
}

impl Wire<'_> {
    /// Returns the type that a value of this form probably has.
    fn likely_type(&self) -> &'static str {
        let text = match self {
            Wire::Json(Tree::Bool(_)) => return "bool",
            Wire::Json(Tree::Number(text)) => text.as_str(),
            Wire::Text(text) => *text,
            Wire::Json(Tree::Text(_)) => return "string",
            Wire::Json(_) => return "...",
        };
        match (text.parse::<i128>(), text.parse::<f64>()) {
            (Ok(_), _) => "int",
            (_, Ok(_)) => "real",
            _ => "string",
        }
    }

    /// Explains a value that has none of these texts of the IUT file.
    fn spelling_help(&self, datum: &Datum, pairs: &[(String, String)]) -> String {
        let texts = || pairs.iter().map(|(text, _)| text.as_str());
        let text = match self {
            Wire::Text(text) => text,
            Wire::Json(Tree::Text(text)) => text.as_str(),
            Wire::Json(_) => return format!("\nhelp: {}", inventory("texts", texts())),
        };
        let near = nearest(text, texts()).or(texts().next());
        let literal = pairs.iter().find(|(text, _)| Some(text.as_str()) == near).map(|(_, literal)| literal);
        let literal = literal.map_or("...", String::as_str);
        let (known, text) = (inventory("texts", texts()), shortened(text));
        format!(
            "\nhelp: {known}. If the system is right, add `{text}: {literal}` to the texts of `{datum}` under `values`"
        )
    }

    /// Explains what the user may have meant by a wrong value. `has_pointers`: the IUT file says where it is.
    fn value_help(&self, datum: &Datum, has_pointers: bool) -> String {
        if let Some(help) = self.number_help(datum, has_pointers).filter(|_| datum.ty().is_number()) {
            return help;
        }
        if let Wire::Json(Tree::List(_)) = self
            && codec::to_wire_json(&Value::any(datum.ty())).is_array()
        {
            return format!(
                "\nhelp: if the system is right, give `{datum}` another type in the model: a list for repeated elements, a greater bound, or a wider type of elements"
            );
        }
        if let Wire::Json(Tree::Null) = self {
            let ty = datum.ty();
            let missing =
                format!("\nhelp: if the value may be missing, declare `{datum}: option[{ty}]` in the model");
            let empty = "\nhelp: where it is empty, let the system send `[]`, not `null`".to_owned();
            return if codec::to_wire_json(&Value::any(ty)).is_array() { empty } else { missing };
        }
        if let (Wire::Text(text), Type::Bool) = (self, datum.ty()) {
            let [yes, no] = truth_texts(text);
            return format!(
                "\nhelp: `values: {{ {datum}: {{ \"{yes}\": true, \"{no}\": false }} }}` in the IUT file gives these texts their values"
            );
        }
        let Type::Enum(named) = datum.ty() else { return String::new() };
        let literals = || named.literals.iter().map(String::as_str);
        match *self {
            Wire::Text(text) => {
                let near = nearest(text, literals()).or(literals().next()).unwrap_or_default();
                let help = inventory("values", literals());
                let text = shortened(text);
                format!(
                    "\nhelp: {help}. `values: {{ {datum}: {{ {text}: {near} }} }}` in the IUT file gives a text its value"
                )
            }
            Wire::Json(Tree::Text(text)) => format!("\nhelp: {}", suggest(text, "values", literals)),
            Wire::Json(_) => {
                let literals: Vec<String> = literals().map(|literal| format!("\"{literal}\"")).collect();
                let names = listed(literals.iter().map(String::as_str));
                format!(
                    "\nhelp: in JSON, each value of `{}` is a text: {names}. Send one of these",
                    named.name
                )
            }
        }
    }

    /// Explains what the user may have meant by a wrong value for a number.
    fn number_help(&self, datum: &Datum, has_pointers: bool) -> Option<String> {
        let is_integer = datum.ty().is_integer();
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let text = match self {
            Wire::Text(text) => Some(*text),
            Wire::Json(Tree::Text(text)) => Some(text.as_str()),
            Wire::Json(_) => None,
        };
        if let Some((whole, decimals)) = text.and_then(|text| text.split_once(','))
            && is_digits(whole.trim_start_matches('-'))
            // Else the comma may separate thousands.
            && decimals.len() != 3
            && is_digits(decimals)
        {
            let number = format!("{whole}.{decimals}");
            let number = number.trim_end_matches('0').trim_end_matches('.');
            return Some(format!(
                "\nhelp: it has a comma as its decimal sign: let the system send `{number}`"
            ));
        }
        match self {
            Wire::Text(text) if is_integer && text.len() > 1 && text.starts_with(['0', '+', ' ']) => {
                Some(format!(
                    "\nhelp: a number has no leading zeros, `+` or spaces: keep them out of the group, `[+ 0]*(?P<{datum}>\\d+)`"
                ))
            }
            Wire::Json(Tree::Text(text)) if is_integer => {
                let decimal = text.strip_prefix('-').unwrap_or(text).split_once('.');
                if decimal.is_some_and(|(whole, decimals)| is_digits(whole) && is_digits(decimals)) {
                    return Some(format!(
                        "\nhelp: if the system is right, make `{datum}` a `real` in the model"
                    ));
                }
                let read = match has_pointers && text.parse::<i128>().is_ok() {
                    true => {
                        format!("write `{datum}: {{ pointer: ..., match: '(-?\\d+)' }}` in the IUT file, or ")
                    }
                    false => String::new(),
                };
                Some(format!(
                    "\nhelp: if the system is right, {read}make `{datum}` a `string` in the model, or an `id` if it is only a name"
                ))
            }
            Wire::Text(text) if let Some(looks) = text.chars().find_map(describe_look_alike) => {
                Some(format!("\nhelp: {looks}: let the system send that"))
            }
            Wire::Text(text) if has_pointers && text.contains(|sign: char| sign.is_ascii_digit()) => Some(
                "\nhelp: to take only the number in it, add `match: '[^0-9-]*(-?\\d+).*'` to its place"
                    .to_owned(),
            ),
            Wire::Json(Tree::Object(members)) if has_pointers && !members.is_empty() => Some(format!(
                "\nhelp: it is an object: go on with `/{}` in the pointer",
                shortened(&members[0].0)
            )),
            _ => None,
        }
    }

    /// Reads it as a value. If `values` has texts for the parameter, only these are values.
    fn value(&self, datum: &Datum, spelling: &Spelling) -> Result<Value, Misread> {
        let Some(spelt) = spelling.of(datum.name()) else {
            return match self {
                Wire::Text(text) => codec::from_text(text, datum.ty()),
                Wire::Json(tree) => codec::from_tree(tree, datum.ty(), json::WIRE.digits),
            };
        };
        // A number or a truth value of JSON is looked up by its signs.
        let written = match self {
            Wire::Text(text) => Some(*text),
            Wire::Json(Tree::Text(text) | Tree::Number(text)) => Some(text.as_str()),
            Wire::Json(Tree::Bool(value)) => Some(if *value { "true" } else { "false" }),
            Wire::Json(_) => None,
        };
        let model_text = written.and_then(|written| spelt.model_text(written)).ok_or_else(|| {
            let there = match self {
                Wire::Text(text) => format!("{text:?}"),
                Wire::Json(tree) => tree.to_string(),
            };
            let wanted = match spelt {
                Spelt::Texts(_) => "a text of `values`".to_owned(),
                Spelt::Encoded(encoding) => format!("what is written as `{}`", encoding.name()),
            };
            Misread::Wrong(format!("expected {wanted}, not {}", shortened(&there)))
        })?;
        codec::from_text(&model_text, datum.ty())
    }
}

pub fn report_too_long(digits: usize) -> Failure {
    Failure::Garbage(Misread::TooLong(digits).to_string())
}

fn visible_actions(iosts: &Iosts) -> Vec<Action> {
    iosts.actions.iter().filter(|action| action.is_visible()).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::truth_texts;

    #[test]
    fn a_text_for_a_truth_value_has_its_counterpart() {
        for (text, pair) in [
            ("True", ["True", "False"]),
            ("OFF", ["ON", "OFF"]),
            ("no", ["yes", "no"]),
            ("0", ["1", "0"]),
            ("perhaps", ["perhaps", "..."]),
        ] {
            assert_eq!(truth_texts(text), pair, "{text}");
        }
    }
}
