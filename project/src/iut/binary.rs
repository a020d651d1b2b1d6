//! Reads `encoding: binary`: how a stream is cut into frames, and the fields of each action's frame.

use std::ops::Range;

use coreach_adapters::cut::{Cut, Length};
use coreach_adapters::description::{Binary, Field, Ignored};
use coreach_adapters::fields::ELEMENT;
use coreach_model::Type;
use coreach_model::data::Datum;
use coreach_model::iosts::{Action, ActionKind};
use coreach_model::reader::collect::{inventory, listed};
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use coreach_model::types::RecordForm;

use super::bytes::{find_one_of, refuse_keys};
use super::captures;
use super::fields::{NamedField, read_fields};
use super::ignored::read_ignore_items;
use super::settle::{self, Speech};
use super::words::{IutReader, ParameterPlaces, read_optional};

const FRAME: &str = "frame: { length: u16 }";
const STIMULI: &str = "stimuli: { Ask: [ { as: u8, is: 1 }, { as: u16, name: pId } ] }";
const OBSERVATIONS: &str = "observations: { Answer: [ { as: u8, is: 2 }, { as: u16, name: pId } ] }";
/// An example of a frame for an action.
fn frame_like(action: &Action) -> String {
    let parameters = action.parameters.iter().map(|datum| format!(", {{ as: u16, name: {datum} }}"));
    format!("{}: [ {{ as: u8, is: 1 }}{} ]", action.name, parameters.collect::<String>())
}

const IGNORE: &str = "ignore: [ { pattern: [ { as: u8, is: 9 } ], answer: [ { as: u8, is: 10 } ] } ]";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// A stream of bytes. The encoding says where a message ends.
    Stream,
    Datagrams,
}

/// Reads the keys of `encoding: binary`. `name` is the section in messages.
pub fn read_binary(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    node: &Yaml,
    name: &str,
    carrier: Carrier,
) -> Option<Binary> {
    let cut = match carrier {
        Carrier::Stream => read_frame_cut(reader, entries, node, name),
        Carrier::Datagrams => Some(Cut::Datagrams),
    };
    let captures = captures::read_part_captures(reader, entries);
    let reset = settle::read_reset(reader, entries, Speech::Frames);
    let stimuli = read_frames(reader, entries, "stimuli", STIMULI, ActionKind::Input);
    reader.check_complete(entries, node, "stimuli", name, ActionKind::Input, (STIMULI, &frame_like));
    let observations = read_frames(reader, entries, "observations", OBSERVATIONS, ActionKind::Output);
    let like = (OBSERVATIONS, &frame_like as &dyn Fn(&Action) -> String);
    reader.check_complete(entries, node, "observations", name, ActionKind::Output, like);
    reader.check_captured("field", "observations: { Welcome: [ { as: u16, name: NAME } ] }");
    let with_parts = true;
    let spelling = reader.read_spelling(entries, with_parts);
    check_lists_unspelt(reader, entries, &[&stimuli, &observations]);
    let unmatched = reader.read_unmatched(entries);
    let ignored = read_ignored(reader, entries);
    Some(Binary { cut: cut?, reset, stimuli, observations, ignored, captures, spelling, unmatched })
}

/// Reads `frame`: how a stream is cut into frames.
fn read_frame_cut(reader: &mut IutReader<'_>, entries: &[Entry], node: &Yaml, name: &str) -> Option<Cut> {
    let frame = shape::required(reader.collector, node, entries, "frame", name, FRAME)?;
    shape::mapping(reader.collector, frame, "`frame`", FRAME)?;
    let known = ["length", "at", "counts", "fixed", "delimiter"];
    let entries = shape::section(reader.collector, entries, "frame", &known);
    let entry = find_one_of(reader, frame, entries, &["length", "fixed", "delimiter"], "`frame`", FRAME)?;
    if entry.key.text != "length" {
        refuse_keys(reader, entries, &["at", "counts"], "belongs to `length`");
    }
    match entry.key.text.as_str() {
        "fixed" => reader.read_size(&entry.value, "fixed", 1).map(Cut::Fixed),
        "delimiter" => reader.read_delimiter(&entry.value, "delimiter").map(Cut::Delimiter),
        _ => {
            let integer = reader.read_integer(&entry.value, "length", FRAME);
            let offset = match shape::get(entries, "at") {
                Some(node) => reader.read_size(node, "at", 0),
                None => Some(0),
            };
            let counts = reader.read_choice(entries, "counts", &[("rest", false), ("frame", true)]);
            Some(Cut::Length(Length { integer: integer?, at: offset?, counts_all: counts.unwrap_or(false) }))
        }
    }
}

/// Reads the frame of each action of this kind. `like` is an example for messages.
fn read_frames(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    key: &str,
    like: &str,
    kind: ActionKind,
) -> Vec<(String, Vec<Field>)> {
    let mut frames = Vec::new();
    for (entry, action) in reader.action_entries(entries, key, like, kind) {
        let what = format!("the frame of `{}`", entry.key.text);
        let read = read_fields(reader, &entry.value, &what, like, kind == ActionKind::Input);
        let Some((fields, named)) = read else { continue };
        check_names(reader, action.as_ref(), entry, &named, kind, shape::get(entries, "values"));
        frames.push((entry.key.text.clone(), fields));
    }
    frames
}

/// Reads `ignore` of frames.
fn read_ignored(reader: &mut IutReader<'_>, entries: &[Entry]) -> Vec<Ignored<Vec<Field>, Vec<Field>>> {
    let mut ignored = Vec::new();
    for (pattern, answer) in read_ignore_items(reader, entries, IGNORE) {
        let Some((pattern, found_fields)) = read_fields(reader, pattern, "`pattern`", IGNORE, false) else {
            continue;
        };
        let answer = read_optional(answer, |node| {
            let (answer, named) = read_fields(reader, node, "`answer`", IGNORE, true)?;
            let names: Vec<&str> = found_fields.iter().map(|named| named.name.text.as_str()).collect();
            check_known(reader, None, &names, &named);
            Some(answer)
        });
        ignored.extend(answer.map(|answer| Ignored { pattern, answer }));
    }
    ignored
}

/// Reports names in a sent frame that are none of `own`, no constant and no capture.
fn check_known(reader: &mut IutReader<'_>, action: Option<&Action>, own: &[&str], named: &[NamedField]) {
    let constants = reader.iosts.map_or(&[][..], |iosts| &iosts.constants);
    let captures: Vec<String> = reader.captured().map(str::to_owned).collect();
    let known = || {
        let own = own.iter().copied().chain(constants.iter().map(Datum::name));
        own.chain(captures.iter().map(String::as_str))
    };
    // Without a model, a constant may have any name.
    let is_known = |name: &str| reader.iosts.is_none() || known().any(|known_name| known_name == name);
    for NamedField { name, .. } in named.iter().filter(|named| !is_known(&named.name.text)) {
        let (what, message) = match action {
            Some(action) => (
                format!("parameters of `{}`, and constants", action.name),
                format!("`{}` has no parameter `{}`", action.name, name.text),
            ),
            None => (
                "fields of `pattern`, and constants".to_owned(),
                format!("nothing here is called `{}`", name.text),
            ),
        };
        let help = match reader.collector.nearest(&name.text, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => inventory(&what, known()),
        };
        reader.collector.mistake("unknown-parameter", message, &name.span, "not known", help);
    }
}

/// Checks that the names of a frame are the parameters of the action. Captures may be there too, and
/// constants in a sent frame.
fn check_names(
    reader: &mut IutReader<'_>,
    action: Option<&Action>,
    entry: &Entry,
    named: &[NamedField],
    kind: ActionKind,
    texts: Option<&Yaml>,
) {
    if kind == ActionKind::Input {
        let Some(action) = action else { return };
        let parameters: Vec<&str> = action.parameters.iter().map(Datum::name).collect();
        check_known(reader, Some(action), &parameters, named);
        let sent: Vec<&str> = named.iter().map(|named| named.name.text.as_str()).collect();
        let how = |name: &str| format!("add a field with `name: {name}` for its value");
        reader.warn_of_unsent(action, &sent, &entry.key.span, how);
        check_types(reader, action, named, texts);
        return;
    }
    let mut places: ParameterPlaces = Vec::new();
    for NamedField { name, .. } in named {
        if places.iter().any(|(known, _): &(String, Range<usize>)| *known == name.text) {
            let message = format!("`{}` is found in two fields", name.text);
            reader.collector.error("duplicate-key", message, &name.span, "the second time");
        } else {
            places.push((name.text.clone(), name.span.clone()));
        }
    }
    let places = reader.without_captures(places);
    if let Some(action) = action {
        reader.check_parameters(action, &places, &entry.key, |name| {
            format!("name the field that has the value `{name}`")
        });
        check_types(reader, action, named, texts);
    }
}

/// Checks that each field can hold the values of its type. `texts` is the section `values`.
fn check_types(reader: &mut IutReader<'_>, action: &Action, named: &[NamedField], texts: Option<&Yaml>) {
    let constants = reader.iosts.map_or(&[][..], |iosts| &iosts.constants);
    for field in named {
        let mut data = action.parameters.iter().chain(constants);
        if let Some(datum) = data.find(|datum| datum.name() == field.name.text) {
            check_type(reader, field, datum.ty(), None, texts);
        }
    }
}

/// Checks that a list of a frame fits the type, and has one field for each part of its elements. Checks any
/// other field with [`check_can_hold`]. `list` is the list in whose elements the field is, if it is in one.
fn check_type(
    reader: &mut IutReader<'_>,
    NamedField { name, is_text, parts }: &NamedField,
    ty: &Type,
    list: Option<&str>,
    texts: Option<&Yaml>,
) {
    let Some(parts) = parts else { return check_can_hold(reader, name, *is_text, ty, list, texts) };
    // Field 0 of a list is its length, and each other field has an element.
    let element = match ty {
        Type::Record(list) if list.form == RecordForm::List => list.fields.get(1).map(|(_, ty)| ty),
        _ => None,
    };
    let Some(element) = element else {
        let message = format!("`{}` has the type {ty}, which is not a list", name.text);
        reader.collector.error("wrong-type", message, &name.span, "not a list");
        return;
    };
    let known: Vec<(&str, &Type)> = match element {
        Type::Record(record) if record.form == RecordForm::Plain => {
            record.fields.iter().map(|(name, ty)| (name.as_str(), ty)).collect()
        }
        scalar => vec![(ELEMENT, scalar)],
    };
    let names = || known.iter().map(|(name, _)| *name);
    for part in parts {
        match known.iter().find(|(name, _)| *name == part.name.text) {
            Some((_, ty)) => check_type(reader, part, ty, Some(&name.text), texts),
            None => {
                let message = format!("an element of `{}` has no `{}`", name.text, part.name.text);
                let help = reader.collector.suggest(&part.name.text, "parts of an element", names);
                reader.collector.mistake("unknown-field", message, &part.name.span, "not known", help);
            }
        }
    }
    let missing: Vec<&str> =
        names().filter(|name| parts.iter().filter(|part| part.name.text == *name).count() != 1).collect();
    if !missing.is_empty() {
        let message =
            format!("an element of `{}` needs one field for {}", name.text, listed(missing.iter().copied()));
        reader.collector.error("missing-field", message, &name.span, "not in `of`, or there twice");
    }
}

/// Checks that a field that is no list, but perhaps in the elements of `list`, can hold the values of a type.
/// Numbers and bytes are no values of some types without `values`, which `texts` is.
fn check_can_hold(
    reader: &mut IutReader<'_>,
    name: &Scalar,
    is_text: bool,
    ty: &Type,
    list: Option<&str>,
    texts: Option<&Yaml>,
) {
    let key = list.map_or_else(|| name.text.clone(), |list| format!("{list}.{}", name.text));
    let is_spelt = match texts.map(|node| &node.kind) {
        Some(NodeKind::Mapping(texts)) => shape::get(texts, &key).is_some(),
        _ => false,
    };
    // A text, also one of `values`, may be JSON. In an element of a list it is not read.
    let can_hold = match ty {
        Type::Bool | Type::Enum(_) => is_text || is_spelt,
        Type::Record(_) | Type::Array(_) => (is_text || is_spelt) && list.is_none(),
        _ => true,
    };
    if !can_hold {
        let message = format!("this field cannot hold `{key}`, which has the type {ty}");
        let help = match ty {
            Type::Record(of) if of.form == RecordForm::List => "write `as: list`",
            Type::Record(_) | Type::Array(_) if list.is_some() => "change its type in the model",
            _ => "write texts for all its values under `values`, or change its type in the model",
        };
        reader.collector.mistake("wrong-type", message, &name.span, "not for this type", help);
    }
}

/// Reports `values` for a list as a whole: only the parts of its elements have texts.
fn check_lists_unspelt(reader: &mut IutReader<'_>, entries: &[Entry], frames: &[&Vec<(String, Vec<Field>)>]) {
    let Some(Yaml { kind: NodeKind::Mapping(values), .. }) = shape::get(entries, "values") else { return };
    for entry in values {
        let is_that_list =
            |field: &Field| matches!(field, Field::List { name: Some(name), .. } if *name == entry.key.text);
        if !frames.iter().flat_map(|list| list.iter()).any(|(_, fields)| fields.iter().any(is_that_list)) {
            continue;
        }
        let message = format!("`values` cannot have texts for the whole list `{}`", entry.key.text);
        let help =
            format!("name a part of its elements: `{0}.{ELEMENT}`, or `{0}.` and a field", entry.key.text);
        reader.collector.mistake("wrong-value", message, &entry.key.span, "a list", help);
    }
}
