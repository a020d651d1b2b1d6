//! What the script sends: the texts of descriptions with what fills their holes, as far as it is known when
//! the script is written.

use coreach_adapters::description::{Encoding, Request, Spelling, Transport};
use coreach_adapters::encoding::percent_encoded;
use coreach_adapters::signature::Signatures;
use coreach_adapters::template::Template;
use coreach_adapters::{binary, json_lines};
use coreach_model::semantics::Event;

use super::frames;
use super::python::{bytes, text};
use super::words::{Filling, HoleText, PLAIN, Words};
use super::writer::{NoScript, Writer, no_script, no_value};

/// What belongs to the launch of a server, as it is called in holes.
pub const LAUNCHED: [&str; 2] = ["port", "tmp"];

/// What belongs to a launch, where this does.
fn of_launch(name: &str, launched: &[&str]) -> Option<Filling> {
    launched.contains(&name).then(|| Filling::Run(format!("it.{name}")))
}

/// What was captured.
fn captured(name: &str) -> Filling {
    Filling::Run(format!("it.captured({})", text(name)))
}

/// What fills a hole that is no parameter's.
pub fn known(signatures: &Signatures, name: &str) -> Option<Filling> {
    let captured = || signatures.captures(name).then(|| captured(name));
    signatures.constant(name).map(Filling::Known).or_else(captured)
}

impl Writer<'_> {
    /// A word as an expression: what belongs to the launch is known to the script only.
    pub(super) fn word(
        &self,
        word: &Template,
        launched: &[&str],
        has_constants: bool,
    ) -> Result<String, NoScript> {
        let value = |name: &str| {
            let constant = || self.signatures.constant(name).filter(|_| has_constants);
            of_launch(name, launched).or_else(|| constant().map(Filling::Known))
        };
        Words::of(word, value, PLAIN).map(|words| words.text()).map_err(no_value)
    }

    /// What fills a hole before the first stimulus.
    pub(super) fn before(&self, name: &str, launched: &[&str]) -> Option<Filling> {
        of_launch(name, launched).or_else(|| known(&self.signatures, name))
    }

    /// What fills a hole of a stimulus.
    fn hole(&self, event: &Event, spelling: &Spelling, name: &str) -> Option<Filling> {
        let action = self.signatures.action(&event.action)?;
        if action.parameters.iter().any(|datum| datum.name() == name) {
            return self.signatures.hole(event, spelling, name).map(Filling::Known);
        }
        known(&self.signatures, name)
    }

    /// The words of a request. The values of some headers are asked for when the script runs.
    pub(super) fn request(
        &self,
        request: &Request,
        value: impl Fn(&str) -> Option<Filling>,
    ) -> Result<String, NoScript> {
        const IN_PATH: HoleText = HoleText { here: |text| percent_encoded(&text), there: "quoted" };
        let plain = |template: &Template| Words::of(template, &value, PLAIN).map_err(no_value);
        let path = Words::of(&request.path, &value, IN_PATH).map_err(no_value)?;
        let body = request.body.as_ref().map_or(Ok(Words::default()), plain)?;
        let body = match request.is_latin1 {
            false => body.bytes(),
            true => format!("({}).encode(\"latin-1\")", body.text()),
        };
        let mut headers = Vec::new();
        for (name, template) in &request.headers {
            let is_secret = self.redact.iter().any(|one| one.eq_ignore_ascii_case(name));
            let value = if is_secret { format!("secret({})", text(name)) } else { plain(template)?.text() };
            headers.push(format!("({}, {value})", text(name)));
        }
        let method = text(&request.method);
        Ok(format!("{method}, {}, [{}], {}", path.text(), headers.join(", "), body))
    }

    pub(super) fn stimulus(&self, way: &Transport, event: &Event) -> Result<String, NoScript> {
        let none = |what| NoScript(format!("`stimuli` has no {what} for `{}`", event.action));
        match (way, way.encoding()) {
            (_, Some(Encoding::Json)) => Ok(bytes(json_lines::input(event, &self.signatures).as_bytes())),
            (_, Some(Encoding::Lines(lines))) => {
                let template = lines.stimuli.iter().find(|(action, _)| *action == event.action);
                let (_, template) = template.ok_or_else(|| none("line"))?;
                let value = |name: &str| self.hole(event, &lines.spelling, name);
                let mut words = Words::of(template, value, PLAIN).map_err(no_value)?;
                words.push(&lines.line_ending);
                Ok(words.bytes())
            }
            (_, Some(Encoding::Binary(binary))) => {
                let fields = binary.stimuli.iter().find(|(action, _)| *action == event.action);
                let (_, fields) = fields.ok_or_else(|| none("frame"))?;
                let values = frames::values(fields, |name| self.hole(event, &binary.spelling, name));
                let values = values.map_err(no_value)?;
                if values.iter().all(|(_, value)| matches!(value, Filling::Known(_))) {
                    let sent = binary::input(binary, event, &self.signatures);
                    return Ok(bytes(&sent.map_err(no_script)?));
                }
                Ok(frames::written(fields, &values))
            }
            (Transport::Http(http), None) => {
                let request = http.stimuli.iter().find(|(action, _)| *action == event.action);
                let (_, request) = request.ok_or_else(|| none("request"))?;
                let request = self.request(request, |name| self.hole(event, &http.spelling, name))?;
                Ok(format!("{}, base, {request}", text(&event.action)))
            }
            // A model, of which there is no script.
            (_, None) => Ok(String::new()),
        }
    }
}
