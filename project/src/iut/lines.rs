//! How events are written on a stream: JSON messages, or lines by templates and patterns.

use coreach_execution::adapter::description::{Encoding, Lines};
use coreach_execution::adapter::lines::pattern;
use coreach_execution::adapter::template::Template;
use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::ActionKind;
use coreach_model::reader::collect::listed;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, Kind, Node, Scalar};

use super::settle::{self, Speech};
use super::words::{Holes, Places, Reader};

/// The keys that belong to an encoding.
pub const KEYS: [&str; 7] =
    ["encoding", "line_ending", "reset", "stimuli", "observations", "values", "unmatched"];

const STIMULI: &str = "stimuli: { Incr: \"INCRBY k {n}\" }";
const OBSERVATIONS: &str = "observations: { Value: '^:(?P<n>-?\\d+)$' }";

impl Speech {
    /// Of a stream that is written so.
    pub fn of(encoding: Option<&Encoding>) -> Self {
        if matches!(encoding, Some(Encoding::Json)) { Speech::Json } else { Speech::Lines }
    }
}

/// The encoding of a section.
pub fn encoding(reader: &mut Reader<'_>, entries: &[Entry], node: &Node, of: &str) -> Option<Encoding> {
    let before = reader.collector.errors();
    let is_lines = reader.choice(entries, "encoding", &[("json", false), ("lines", true)]);
    if reader.collector.errors() > before {
        return None;
    }
    if !is_lines.unwrap_or(false) {
        let foreign: Vec<&Entry> =
            entries.iter().filter(|entry| KEYS[1..].contains(&entry.key.text.as_str())).collect();
        if let Some(first) = foreign.first() {
            let names = listed(foreign.iter().map(|entry| entry.key.text.as_str()));
            let message = format!("with JSON lines there is no {names}: the protocol says it all");
            let diagnostic = Diagnostic::error("wrong-encoding", message)
                .at(reader.collector.origin(&first.key.span), "belongs to `encoding: lines`")
                .help("add `encoding: lines`, or leave them out");
            reader.collector.push(diagnostic);
            return None;
        }
        return Some(Encoding::Json);
    }
    let line_ending = line_ending(reader, entries);
    let reset = settle::reset(reader, entries, Speech::Lines);
    let stimuli = stimuli(reader, entries);
    reader.check_complete(entries, node, "stimuli", of, ActionKind::Input, STIMULI);
    let observations = observations(reader, entries);
    reader.check_complete(entries, node, "observations", of, ActionKind::Output, OBSERVATIONS);
    let spelling = reader.spelling(entries);
    let unmatched = reader.unmatched(entries);
    let lines = Lines { line_ending, reset, stimuli, observations, spelling, unmatched };
    (reader.collector.errors() == before).then_some(Encoding::Lines(lines))
}

fn line_ending(reader: &mut Reader<'_>, entries: &[Entry]) -> String {
    let default = || "\n".to_owned();
    let Some(node) = shape::get(entries, "line_ending") else { return default() };
    match node.as_scalar() {
        // A key without a value says nothing: the text of nothing, written `null`, ends no line.
        Some(scalar) if !node.is_nothing() && (1..=8).contains(&scalar.text.len()) => scalar.text.clone(),
        _ => {
            let diagnostic =
                Diagnostic::error("wrong-value", "`line_ending` must be one to eight bytes of text")
                    .at(reader.collector.origin(&node.head()), "not such a text")
                    .help("for example `line_ending: \"\\r\\n\"`, in double quotes");
            reader.collector.push(diagnostic);
            default()
        }
    }
}

fn stimuli(reader: &mut Reader<'_>, entries: &[Entry]) -> Vec<(String, Template)> {
    let mut stimuli = Vec::new();
    for (entry, action) in reader.actions(entries, "stimuli", STIMULI, ActionKind::Input) {
        let what = format!("the line of `{}`", entry.key.text);
        let Some(scalar) = shape::scalar(reader.collector, &entry.value, &what, STIMULI) else { continue };
        let holes = action.as_ref().map(Holes::of);
        let Some(template) = reader.template_of(scalar, holes.as_ref()) else { continue };
        if let Some(action) = &action {
            reader.check_sent(action, &template.holes().collect::<Vec<_>>(), &scalar.span);
        }
        stimuli.push((entry.key.text.clone(), template));
    }
    stimuli
}

fn observations(reader: &mut Reader<'_>, entries: &[Entry]) -> Vec<(String, Vec<Regex>)> {
    let mut observations = Vec::new();
    for (entry, action) in reader.actions(entries, "observations", OBSERVATIONS, ActionKind::Output) {
        let what = format!("the pattern of `{}`", entry.key.text);
        let scalars: Vec<&Scalar> = match &entry.value.kind {
            Kind::Sequence(items) if !items.is_empty() => items
                .iter()
                .filter_map(|item| shape::scalar(reader.collector, item, &what, OBSERVATIONS))
                .collect(),
            Kind::Scalar(_) => {
                shape::scalar(reader.collector, &entry.value, &what, OBSERVATIONS).into_iter().collect()
            }
            _ => {
                let expected = "a regular expression, or a list with one for each line";
                shape::wrong_kind(reader.collector, &entry.value, &what, expected, OBSERVATIONS);
                continue;
            }
        };
        let before = reader.collector.errors();
        let mut patterns = Vec::new();
        let mut groups: Places = Vec::new();
        for scalar in scalars {
            let Some((regex, names)) = regular(reader, scalar) else { continue };
            for (name, place) in names {
                if groups.iter().any(|(other, _)| *other == name) {
                    let message = format!("`{name}` is found in two lines");
                    reader.collector.error("duplicate-key", message, &place, "the second time");
                } else {
                    groups.push((name, place));
                }
            }
            patterns.push(regex);
        }
        if reader.collector.errors() > before {
            continue;
        }
        if let Some(action) = &action {
            reader.check_parameters(action, &groups, &entry.key);
        }
        observations.push((entry.key.text.clone(), patterns));
    }
    observations
}

/// A regular expression of a whole line.
pub type Regex = coreach_execution::adapter::lines::Regex;

/// A regular expression, and its groups with their places.
pub fn regular(reader: &mut Reader<'_>, scalar: &Scalar) -> Option<(Regex, Places)> {
    match pattern(&scalar.text) {
        Ok(regex) => {
            let place = |name: &str| {
                let written = format!("<{name}>");
                let at = scalar.text.find(&written);
                at.map_or(scalar.span.clone(), |at| scalar.place(&(at + 1..at + 1 + name.len())))
            };
            let names = regex.capture_names().flatten().map(|name| (name.to_owned(), place(name))).collect();
            Some((regex, names))
        }
        Err(error) => {
            // The message draws the expression itself; its last line says what is wrong.
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            let why = last.strip_prefix("error: ").unwrap_or(last);
            let diagnostic =
                Diagnostic::error("bad-pattern", format!("this is no regular expression: {why}"))
                    .at(reader.collector.origin(&scalar.span), "cannot be read")
                    .help("for example `'^:(?P<n>-?\\d+)$'`; a named group is a parameter's value");
            reader.collector.push(diagnostic);
            None
        }
    }
}
