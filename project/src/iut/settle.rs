//! Reads how a run begins and ends: `reset`, `settle` and its `barrier`, in all sections.
//!
//! `reset` and `barrier` are lists of steps. A step is a command, a pause, or a message of the section.

use coreach_adapters::description::{Exchange, PreparationStep, Probe, READY_MS, Settle};
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind, Scalar, Yaml};

use super::launch::{COMMAND, read_command};
use super::patterns::read_regex;
use super::request::{REQUEST, read_request, read_status};
use super::words::{Holes, IutReader, one_or_several, read_optional};

const SETTLE: &str = "settle: { within_ms: 10000, barrier: [ { pause_ms: 5000 } ] }";

/// The kind of steps that a section may have besides commands and pauses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Speech {
    Http,
    Lines,
    /// Exchanges of frames, which are written in hexadecimal digits.
    Frames,
    /// No other steps: JSON messages have no form for this.
    Json,
}

/// Reads `settle`: how long a run waits at its end, and the steps of the barrier.
pub fn read_settle(reader: &mut IutReader<'_>, root: &[Entry], speech: Speech) -> Option<Settle> {
    let node = shape::get(root, "settle")?;
    shape::mapping(reader.collector, node, "`settle`", SETTLE)?;
    let known: &[&str] = match speech {
        // Each request has an answer, so there is no need to wait for quiet.
        Speech::Http => &["within_ms", "barrier"],
        Speech::Lines | Speech::Frames | Speech::Json => &["within_ms", "quiet_ms", "barrier"],
    };
    let entries = shape::section(reader.collector, root, "settle", known);
    let default = Settle::default();
    let usual = u64::try_from(default.within.as_millis()).unwrap_or(u64::MAX);
    let within = reader.read_ms(entries, "within_ms", usual);
    let quiet = shape::get(entries, "quiet_ms").is_some();
    let quiet = quiet.then(|| reader.read_ms(entries, "quiet_ms", 500));
    if quiet.is_some_and(|quiet| quiet >= within)
        && let Some(node) = shape::get(entries, "quiet_ms")
    {
        let message = "`quiet_ms` must be less than `within_ms`, the longest time that coreach waits";
        reader.collector.error("wrong-value", message, &node.head(), "it would never count");
    }
    let barrier = read_steps(reader, entries, "barrier", speech, launch_holes(root));
    Some(Settle { within, quiet, barrier })
}

pub fn read_reset(reader: &mut IutReader<'_>, root: &[Entry], speech: Speech) -> Vec<PreparationStep> {
    read_steps(reader, root, "reset", speech, launch_holes(root))
}

/// Adds the holes of a launch.
type AddHoles = fn(Holes) -> Holes;

fn launch_holes(root: &[Entry]) -> AddHoles {
    match (shape::get(root, "launch"), shape::get(root, "command")) {
        (Some(_), _) => Holes::with_server,
        (None, Some(_)) => Holes::with_folder,
        (None, None) => |holes| holes,
    }
}

/// Reads a key that has a list of steps. A single request may be without a list.
fn read_steps(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    key: &str,
    speech: Speech,
    add_holes: AddHoles,
) -> Vec<PreparationStep> {
    let Some(node) = shape::get(entries, key) else { return Vec::new() };
    let example = match speech {
        Speech::Http => format!("{key}: {{ method: POST, path: /reset, status: 200 }}"),
        Speech::Lines => format!("{key}: [ {{ send: FLUSHALL, expect: '^OK$' }} ]"),
        Speech::Frames => format!("{key}: [ {{ send: \"00 01\", expect: '^00.*$' }} ]"),
        Speech::Json => format!("{key}: [ {{ pause_ms: 5000 }} ]"),
    };
    let is_single_request = matches!(node.kind, NodeKind::Mapping(_)) && speech == Speech::Http;
    let items: Vec<&Yaml> = if is_single_request {
        vec![node]
    } else {
        let items = shape::list(reader.collector, node, &format!("`{key}`"), &example).unwrap_or(&[]);
        items.iter().map(|item| &**item).collect()
    };
    let description = if is_single_request { format!("`{key}`") } else { format!("an item of `{key}`") };
    let mut steps: Vec<PreparationStep> = Vec::new();
    for item in items {
        let Some(entries) = shape::mapping(reader.collector, item, &description, &example) else { continue };
        let Some(step) = read_step(reader, item, entries, &description, &example, speech, add_holes) else {
            continue;
        };
        // The connection is made after the commands, since a command may make it possible.
        let is_before_connection = matches!(step, PreparationStep::Command(..) | PreparationStep::Pause(_));
        if speech != Speech::Http
            && is_before_connection
            && steps.iter().any(|step| matches!(step, PreparationStep::Exchange(_)))
        {
            let message = format!("write commands and pauses of `{key}` before the messages");
            let label = "after a message";
            let help = "coreach does them before it connects";
            reader.collector.mistake("wrong-order", message, &item.head(), label, help);
        }
        steps.push(step);
    }
    steps
}

/// Reads one step of a preparation: a pause, a command, or a message of the section's own kind.
fn read_step(
    reader: &mut IutReader<'_>,
    item: &Yaml,
    entries: &[Entry],
    what: &str,
    like: &str,
    speech: Speech,
    add_holes: AddHoles,
) -> Option<PreparationStep> {
    if shape::get(entries, "pause_ms").is_some() {
        shape::check_keys(reader.collector, entries, &["pause_ms"], what);
        return Some(PreparationStep::Pause(reader.read_ms(entries, "pause_ms", 1000)));
    }
    if shape::get(entries, "command").is_some() {
        let known: Vec<&str> = COMMAND.into_iter().chain(["within_ms"]).collect();
        shape::check_keys(reader.collector, entries, &known, what);
        let holes = add_holes(Holes::constants());
        let like = "command: [sh, clean.sh]";
        let command = read_command(reader, entries, item, what, like, holes)?;
        return Some(PreparationStep::Command(command, reader.read_ms(entries, "within_ms", READY_MS)));
    }
    match speech {
        Speech::Http => {
            read_probe(reader, item, entries, what, like, add_holes).map(PreparationStep::Request)
        }
        Speech::Lines | Speech::Frames => {
            if entries.is_empty() {
                shape::missing_key(reader.collector, item, "send", what, like);
            }
            let is_hex = speech == Speech::Frames;
            Some(PreparationStep::Exchange(read_exchange(reader, entries, what, like, is_hex, add_holes)))
        }
        Speech::Json => {
            let message = format!("{what} must be a `command` or a `pause_ms`");
            let help = "with JSON messages, coreach can send no other messages";
            reader.collector.mistake("wrong-encoding", message, &item.head(), "neither", help);
            None
        }
    }
}

/// Reads a request of `reset` or `barrier`, with the answer that it must have.
fn read_probe(
    reader: &mut IutReader<'_>,
    item: &Yaml,
    entries: &[Entry],
    what: &str,
    like: &str,
    add_holes: AddHoles,
) -> Option<Probe> {
    let known: Vec<&str> = REQUEST.into_iter().chain(["status", "expect", "within_ms"]).collect();
    let request =
        read_request(reader, item, what, like, &known, Some(&add_holes(Holes::constants_and_captures())));
    let statuses = match shape::get(entries, "status") {
        Some(node) => {
            let nodes = one_or_several(node).into_iter();
            nodes.map(|node| read_status(reader, node, "status: [200, 404]")).collect::<Option<_>>()?
        }
        None => vec![200],
    };
    let body = read_optional(shape::get(entries, "expect"), |node| {
        let scalar = shape::scalar(reader.collector, node, "`expect`", "expect: '^idle$'")?;
        Some(read_regex(reader, scalar)?.0)
    })?;
    let within = reader.read_ms(entries, "within_ms", 0);
    Some(Probe { request: request?, statuses, body, within })
}

/// Reads what is sent and what is expected. `is_hex`: frames are written in hexadecimal digits.
fn read_exchange(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    what: &str,
    like: &str,
    is_hex: bool,
    add_holes: AddHoles,
) -> Exchange {
    shape::check_keys(reader.collector, entries, &["send", "expect", "over"], what);
    let mut read = |key: &str| {
        shape::get(entries, key)
            .and_then(|node| shape::scalar(reader.collector, node, &format!("`{key}`"), like))
    };
    let (over, send, expect) = (read("over"), read("send"), read("expect"));
    let over = over.and_then(|scalar| read_connection(reader, scalar));
    let send = send.and_then(|scalar| {
        let template = reader.read_template(scalar, &add_holes(Holes::constants_and_captures()))?;
        // The digits of a template with holes are checked when it is sent.
        if is_hex && template.holes().next().is_none() {
            reader.parse_hex(scalar, "send")?;
        }
        Some(template)
    });
    let expect = expect.and_then(|scalar| read_regex(reader, scalar));
    let groups = expect.iter().flat_map(|(_, groups)| groups.clone()).collect();
    // Groups that are no captures have no meaning here.
    reader.without_captures(groups);
    Exchange { send, expect: expect.map(|(regex, _)| regex), over }
}

fn read_connection(reader: &mut IutReader<'_>, scalar: &Scalar) -> Option<String> {
    if reader.connections.contains(&scalar.text) {
        return Some(scalar.text.clone());
    }
    let known = || reader.connections.iter().map(String::as_str);
    let help = reader.collector.suggest(&scalar.text, "connections", known);
    let message = format!("no connection is called `{}`", scalar.text);
    reader.collector.mistake("wrong-value", message, &scalar.span, "not one of `connections`", help);
    None
}
