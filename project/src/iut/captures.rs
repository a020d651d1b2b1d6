//! Reads `captures`: values that are taken out of answers, and sent later.

use coreach_adapters::description::{AnswerPlace, Capture, Extract};
use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::{Action, ActionKind};
use coreach_model::reader::collect::inventory;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, Scalar, Yaml};

use super::patterns::{Regex, read_regex};
use super::request::{check_pointer, is_header};
use super::words::{DeclaredCapture, IutReader, ParameterPlaces, read_optional};

/// An example for an HTTP server.
const OF_ANSWERS: &str = "captures: { token: { pointer: /token } }";

/// The keys that say where a value is in an answer.
pub const PLACE: [&str; 5] = ["header", "cookie", "pointer", "body", "match"];

/// An example for lines and frames.
const OF_PARTS: &str = "captures: { token: { default: none } }";

pub fn read_answer_captures(reader: &mut IutReader<'_>, entries: &[Entry]) -> Vec<Capture> {
    let mut captures = Vec::new();
    reader.has_answers = true;
    for entry in read_declared(reader, entries, OF_ANSWERS) {
        let name = format!("the capture `{}`", entry.key.text);
        let Some(keys) = shape::mapping(reader.collector, &entry.value, &name, OF_ANSWERS) else {
            continue;
        };
        let known: Vec<&str> = PLACE.into_iter().chain(["from", "default"]).collect();
        shape::check_keys(reader.collector, keys, &known, "a capture");
        let place = read_answer_place(reader, entry, keys, &name, OF_ANSWERS);
        let from = read_actions(reader, keys, "from", ActionKind::Output);
        let default = read_default(reader, keys);
        if let Some(place) = place {
            captures.push(Capture { name: entry.key.text.clone(), place, from, default });
        }
    }
    captures
}

/// Reads a place in an answer from the keys of [`PLACE`].
pub fn read_answer_place(
    reader: &mut IutReader<'_>,
    entry: &Entry,
    keys: &[Entry],
    what: &str,
    like: &str,
) -> Option<AnswerPlace> {
    let is_source = |key: &&Entry| key.key.text != "match" && PLACE.contains(&key.key.text.as_str());
    let sources: Vec<&Entry> = keys.iter().filter(is_source).collect();
    let source = match sources.as_slice() {
        [] => {
            let message = format!("{what} does not say where to find it in an answer");
            let help = format!("write `header`, `cookie`, `pointer` or `body`, for example `{like}`");
            reader.collector.mistake("missing-key", message, &entry.key.span, "from which place?", help);
            None
        }
        [single] => read_source(reader, single),
        [_, second, ..] => {
            let message = format!("{what} can have only one place");
            reader.collector.error("two-keys", message, &second.key.span, "the second one");
            None
        }
    };
    let pattern = read_optional(shape::get(keys, "match"), |node| read_match(reader, node))?;
    if source == Some(Extract::Body) && pattern.is_none() {
        let like = "match: '(?s).*value=\"(\\w+)\".*'";
        shape::missing_key(reader.collector, &entry.value, "match", what, like);
    }
    Some(AnswerPlace { source: source?, pattern })
}

/// Reads `captures` of lines and frames: groups of patterns, or fields, have the names of the captures.
pub fn read_part_captures(reader: &mut IutReader<'_>, entries: &[Entry]) -> Vec<Capture> {
    let mut captures = Vec::new();
    for entry in read_declared(reader, entries, OF_PARTS) {
        let what = format!("the capture `{}`", entry.key.text);
        let Some(keys) = shape::mapping(reader.collector, &entry.value, &what, OF_PARTS) else { continue };
        shape::check_keys(reader.collector, keys, &["default"], "a capture");
        let (name, default) = (entry.key.text.clone(), read_default(reader, keys));
        captures.push(Capture { name, place: AnswerPlace::all_of(Extract::Part), from: Vec::new(), default });
    }
    captures
}

/// Declares the captures and returns their entries, without those whose names already mean something else.
fn read_declared<'e>(reader: &mut IutReader<'_>, entries: &'e [Entry], like: &str) -> Vec<&'e Entry> {
    let mut declared = Vec::new();
    for entry in reader.read_entries(entries, "captures", "capture", like) {
        let name = entry.key.text.as_str();
        let is_name = name.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            let message = format!("`{}` cannot name a capture", name.escape_debug());
            reader.collector.error("not-a-name", message, &entry.key.span, "not a name");
            continue;
        }
        if let Some(other) = find_other_meaning(reader, name) {
            let diagnostic = Diagnostic::error("two-meanings", format!("`{name}` is {other} already"))
                .at(reader.collector.origin(&entry.key.span), "a second meaning in templates")
                .help("choose another name for the capture");
            reader.collector.push(diagnostic);
            continue;
        }
        let place = entry.key.span.clone();
        reader.captures.push(DeclaredCapture { name: name.to_owned(), place, is_found: false });
        declared.push(entry);
    }
    declared
}

/// Finds what a name means already, so that no capture can have it. `None` if it is free.
fn find_other_meaning(reader: &IutReader<'_>, name: &str) -> Option<String> {
    if name == "port" {
        return Some("the port that is chosen for a server".to_owned());
    }
    if name == "tmp" {
        return Some("the folder for a launched system's files".to_owned());
    }
    let iosts = reader.iosts?;
    if iosts.constants.iter().any(|datum| datum.name() == name) {
        return Some("a symbolic constant".to_owned());
    }
    let has = |action: &&Action| action.parameters.iter().any(|datum| datum.name() == name);
    iosts.actions.iter().find(has).map(|action| format!("a parameter of `{}`", action.name))
}

/// Reads the source of a value: a header, a cookie, a pointer, or the body.
fn read_source(reader: &mut IutReader<'_>, entry: &Entry) -> Option<Extract> {
    let key = entry.key.text.as_str();
    if key == "body" {
        if entry.value.as_scalar().is_some_and(|scalar| scalar.text == "true") {
            return Some(Extract::Body);
        }
        if entry.value.as_scalar().is_some_and(|scalar| scalar.text == "latin1") {
            return Some(Extract::BodyInLatin1);
        }
        let message = "`body` must be `true`, or `latin1` to read each byte as a character";
        reader.collector.error("wrong-value", message, &entry.value.head(), "neither of them");
        return None;
    }
    let scalar = shape::scalar(reader.collector, &entry.value, &format!("`{key}`"), OF_ANSWERS)?;
    let text = scalar.text.clone();
    if key == "pointer" {
        return check_pointer(reader, scalar).then_some(Extract::Pointer(text));
    }
    if !is_header(&text) {
        let message = format!("`{}` cannot name a {key}", text.escape_debug());
        reader.collector.error("not-a-name", message, &scalar.span, "not a name");
        return None;
    }
    Some(if key == "header" { Extract::Header(text) } else { Extract::Cookie(text) })
}

/// Reads `match`: a pattern with exactly one group, which finds the captured text.
fn read_match(reader: &mut IutReader<'_>, node: &Yaml) -> Option<Regex> {
    let scalar = shape::scalar(reader.collector, node, "`match`", "match: '<(.*)>'")?;
    let (regex, _) = read_regex(reader, scalar)?;
    // The whole match counts as a group of its own.
    let groups = regex.captures_len() - 1;
    if groups != 1 {
        let message = format!("`match` needs exactly one group, for the captured text; it has {groups}");
        let help = "for example `'<(.*)>'`; `(?:...)` does not count as a group";
        reader.collector.mistake("bad-pattern", message, &scalar.span, "not one group", help);
        return None;
    }
    Some(regex)
}

fn read_default(reader: &mut IutReader<'_>, keys: &[Entry]) -> Option<String> {
    let node = shape::get(keys, "default")?;
    shape::scalar(reader.collector, node, "`default`", "default: none").map(|scalar| scalar.text.clone())
}

/// Reads a key that names an action of a kind, or a list of such actions. Without the key there are none.
pub fn read_actions(reader: &mut IutReader<'_>, keys: &[Entry], key: &str, kind: ActionKind) -> Vec<String> {
    let Some(node) = shape::get(keys, key) else { return Vec::new() };
    let example = if kind == ActionKind::Input { format!("{key}: Add") } else { format!("{key}: Added") };
    let name = format!("`{key}`");
    let nodes: Vec<&Yaml> = match node.as_scalar() {
        Some(_) => vec![node],
        None => match shape::list(reader.collector, node, &name, &example) {
            Some([]) => {
                reader.collector.error("wrong-value", format!("{name} names nothing"), &node.head(), "empty");
                Vec::new()
            }
            items => items.unwrap_or(&[]).iter().map(|item| &**item).collect(),
        },
    };
    let mut names = Vec::new();
    for node in nodes {
        let Some(scalar) = shape::scalar(reader.collector, node, &name, &example) else { continue };
        if reader.check_action(scalar, kind) {
            names.push(scalar.text.clone());
        }
    }
    names
}

impl IutReader<'_> {
    pub fn captured(&self) -> impl Iterator<Item = &str> {
        self.captures.iter().map(|capture| capture.name.as_str())
    }

    /// Removes the captures from names that patterns or fields find. The parameters are left.
    pub fn without_captures(&mut self, found: ParameterPlaces) -> ParameterPlaces {
        let mut parameters = ParameterPlaces::new();
        for (name, place) in found {
            match self.captures.iter_mut().find(|capture| capture.name == name) {
                Some(capture) => capture.is_found = true,
                None => parameters.push((name, place)),
            }
        }
        parameters
    }

    pub fn check_captured(&mut self, what: &str, like: &str) {
        for capture in self.captures.clone().iter().filter(|capture| !capture.is_found) {
            let message = format!("no {what} is called `{}`, so it is never captured", capture.name);
            let help = format!("for example `{}`", like.replace("NAME", &capture.name));
            self.collector.mistake("never-captured", message, &capture.place, "found nowhere", help);
        }
    }

    /// Is it an action of this kind? If not, it is reported. Without a model any name is right.
    fn check_action(&mut self, scalar: &Scalar, kind: ActionKind) -> bool {
        let Some(iosts) = self.iosts else { return true };
        if iosts.actions.iter().any(|action| action.name == scalar.text && action.kind == kind) {
            return true;
        }
        let is_input = |action: &Action| action.name == scalar.text && action.kind == ActionKind::Input;
        if kind == ActionKind::Output && iosts.actions.iter().any(is_input) {
            let outputs = iosts.actions.iter().filter(|action| action.kind == ActionKind::Output);
            let help = inventory("outputs", outputs.map(|action| action.name.as_str()));
            let message = format!("`{}` is an input, not the output that answers it", scalar.text);
            self.collector.mistake("wrong-direction", message, &scalar.span, "not here", help);
            return false;
        }
        self.report_action(&scalar.text, &scalar.span, kind);
        false
    }
}
