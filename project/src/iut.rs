//! Reads the file that says how the events of a model reach a real implementation. It begins with `iut:`.
//!
//! The file is read against a model. So mistakes are found before the first run, for example a template with
//! a parameter that its action does not have, or an input that nothing says how to send. Paths are relative
//! to the file's own folder. `docs/reference/iut-file.md` describes the format.

mod behaviour;
mod binary;
mod blocks;
mod bytes;
mod captures;
mod connections;
mod encoding;
mod evidence;
mod fields;
mod http;
mod ignored;
mod launch;
mod lines;
mod link;
mod locations;
mod overlap;
mod patterns;
mod request;
mod settle;
mod simulated;
mod tls;
mod words;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use binary::Carrier;
use coreach_adapters::Behaviour;
use coreach_adapters::description::{
    Encoding, Iut, LinkDelay, READY_MS, RepliesFrom, Settle, Stdio, Tcp, Transport,
};
use coreach_adapters::evidence::LogLimits;
use coreach_adapters::template::Template;
use coreach_model::Datum;
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::iosts::{Action, ActionKind, Iosts, Transition};
use coreach_model::number;
use coreach_model::reader::collect::{Collector, listed};
use coreach_model::reader::yaml::{self, Entry, NodeKind, Yaml};
use coreach_model::reader::{Reading, shape};
use launch::{COMMAND, host_of, read_address, read_command, read_launch, require_reset};
pub use locations::NameableLocations;
use settle::Speech;
use simulated::{SimulatedSection, read_settings, read_simulated};
pub use simulated::{StandIn, read_stand_in};
use words::{Holes, IutReader};

use crate::file_kind::{FileKind, report_other_kind};
use crate::once::Once;

const WAYS: [&str; 5] = ["simulated", "stdio", "tcp", "udp", "http"];

/// Loads an IUT's file. `iosts` is the test case that is to be run against it, or its specification.
///
/// # Errors
/// All mistakes that were found in it, or in a model that it names.
pub fn load(path: &Path, iosts: &Iosts) -> Reading<Iut> {
    load_once(path, iosts, None, &mut Once::default())
}

/// Loads an IUT's file like [`load`], but reads each file only once. Also checks names of locations.
pub fn load_once(
    path: &Path,
    iosts: &Iosts,
    locations: Option<&NameableLocations>,
    files: &mut Once,
) -> Reading<Iut> {
    if let Some(program) = explain_program(path) {
        return Err(vec![program]);
    }
    let file = files.load(path).map_err(|diagnostic| vec![diagnostic])?;
    read_once(file, path.parent().unwrap_or(Path::new("")), Some(iosts), locations, files)
}

/// Explains that a program was given in place of the file that names it. `None` if it is no program.
pub(crate) fn explain_program(path: &Path) -> Option<Diagnostic> {
    const INTERPRETERS: [(&str, &str); 5] =
        [("py", "python3, "), ("js", "node, "), ("rb", "ruby, "), ("pl", "perl, "), ("sh", "sh, ")];
    let extension = path.extension().unwrap_or_default();
    if extension == "yaml" || extension == "yml" {
        return None;
    }
    let interpreter = INTERPRETERS.iter().find(|(ending, _)| extension == *ending).map(|(_, word)| *word);
    // A program is started by its own path if it says its interpreter, or is machine code.
    let own_prefix = || {
        let mut bytes = [0; 4];
        let mut file = coreach_model::file::open(path).ok()?;
        std::io::Read::read_exact(&mut file, &mut bytes).ok()?;
        (bytes.starts_with(b"#!") || bytes == *b"\x7fELF").then_some("./")
    };
    let prefix = interpreter.filter(|_| path.is_file()).or_else(own_prefix)?;
    let (name, file) = (path.file_stem()?.display(), path.file_name()?.display());
    let message = format!("{} is a program, not an IUT file", path.display());
    let help = format!(
        "write `iut: {name}` and `stdio: {{ command: [{prefix}{file}] }}` in two lines into a file {}, and give that file",
        path.strip_prefix(".").unwrap_or(path).with_extension("yaml").display()
    );
    Some(Diagnostic::error("wrong-kind-of-file", message).help(help))
}

/// Reads an IUT's file that lies in `folder`. Without a model, its actions and parameters are not checked.
pub fn read(file: Arc<SourceFile>, folder: &Path, iosts: Option<&Iosts>) -> Reading<Iut> {
    read_once(file, folder, iosts, None, &mut Once::default())
}

/// Reads an IUT's file, and the model that simulates the implementation, if there is one.
fn read_once(
    file: Arc<SourceFile>,
    folder: &Path,
    iosts: Option<&Iosts>,
    locations: Option<&NameableLocations>,
    files: &mut Once,
) -> Reading<Iut> {
    let mut collector = Collector::new(file);
    let mut reader = IutReader { locations, ..IutReader::new(&mut collector, folder, iosts) };
    let iut = read_root(&mut reader);
    let (mut found, mut failed) = collector.finish();
    let Some(IutSections { name, link, behaviour, evidence, place, way }) = iut else { return Err(found) };
    let transport = match way {
        SectionRead::Transport(transport) => Some(*transport),
        // The model is a file of its own, with findings of its own.
        SectionRead::Model(SimulatedSection { model, settings }) => {
            let read = files
                .load(&model.path)
                .map_err(|diagnostic| vec![diagnostic.at(model.origin.clone(), "named here")])
                .and_then(read_stand_in)
                .and_then(|(stand_in, more_findings)| {
                    Ok((stand_in.into_transport(settings, iosts, Some(model.origin.clone()))?, more_findings))
                });
            match read {
                Ok((transport, more_findings)) => {
                    found.extend(more_findings);
                    Some(transport)
                }
                Err(more_findings) => {
                    failed = true;
                    found.extend(more_findings);
                    None
                }
            }
        }
    };
    match transport {
        Some(way) if !failed => Ok((Iut { name, way, link, behaviour, evidence, place }, found)),
        _ => Err(found),
    }
}

/// Reads the file of a simulated implementation whose model was already read: a store has the model's text.
pub fn read_simulated_parts(
    file: Arc<SourceFile>,
    stand_in: StandIn,
    iosts: &Iosts,
) -> Reading<SimulatedParts> {
    let mut collector = Collector::new(file);
    let mut reader = IutReader::new(&mut collector, Path::new(""), Some(iosts));
    let root = yaml::parse(reader.collector);
    let sections = match root.as_ref().map(|root| &root.kind) {
        Some(NodeKind::Mapping(entries)) => {
            let link = link::read_link(&mut reader, entries, "simulated");
            let behaviour = behaviour::read_behaviour(&mut reader, entries, "simulated");
            Some((link, behaviour, read_settings(&mut reader, entries)))
        }
        _ => None,
    };
    let (found, failed) = collector.finish();
    let Some((link, behaviour, settings)) = sections.filter(|_| !failed) else { return Err(found) };
    let way = stand_in.into_transport(settings, Some(iosts), None)?;
    Ok((SimulatedParts { way, link, behaviour }, found))
}

pub struct SimulatedParts {
    /// The model, with the values that the file gives its constants.
    pub way: Transport,
    /// The time that a message may be on its way.
    pub link: LinkDelay,
    pub behaviour: Behaviour,
}

struct IutSections {
    name: String,
    link: LinkDelay,
    behaviour: Behaviour,
    evidence: LogLimits,
    place: String,
    way: SectionRead,
}

/// The section that says how the implementation is reached.
enum SectionRead {
    Transport(Box<Transport>),
    Model(SimulatedSection),
}

/// Reads all sections of a file. It must have exactly one way to reach the implementation.
fn read_root(reader: &mut IutReader<'_>) -> Option<IutSections> {
    let root = yaml::parse(reader.collector)?;
    let NodeKind::Mapping(entries) = &root.kind else {
        shape::wrong_kind(reader.collector, &root, "an IUT file", "a mapping", "iut: my_server");
        return None;
    };
    if report_other_kind(reader.collector, entries, FileKind::Iut) {
        return None;
    }
    let known: Vec<&str> =
        ["iut", "link", "evidence"].into_iter().chain(behaviour::KEYS).chain(WAYS).collect();
    shape::check_keys(reader.collector, entries, &known, "an IUT file");
    let example = "iut: my_server";
    let name = shape::required(reader.collector, &root, entries, "iut", "the IUT file", example)
        .and_then(|node| shape::scalar(reader.collector, node, "the IUT's name", example))
        .map(|name| name.text.clone());
    let way_entry = find_way(reader, &root, entries, &known)?;
    if report_other_model(reader, &way_entry.value) {
        return None;
    }
    let name = name?;
    let link = link::read_link(reader, entries, &way_entry.key.text);
    reader.is_synchronous = link == LinkDelay::Synchronous;
    let behaviour = behaviour::read_behaviour(reader, entries, &way_entry.key.text);
    let evidence = evidence::read_evidence(reader, entries);
    let transport = |transport| SectionRead::Transport(Box::new(transport));
    let section = match way_entry.key.text.as_str() {
        "simulated" => read_simulated(reader, entries, &way_entry.value).map(SectionRead::Model),
        "stdio" => read_stdio(reader, entries, &way_entry.value).map(Transport::Stdio).map(transport),
        "tcp" => {
            read_tcp(reader, entries, &way_entry.value, Carrier::Stream).map(Transport::Tcp).map(transport)
        }
        "udp" => {
            read_tcp(reader, entries, &way_entry.value, Carrier::Datagrams).map(Transport::Udp).map(transport)
        }
        _ => http::read_http(reader, entries, &way_entry.value).map(Transport::Http).map(transport),
    };
    warn_if_swapped(reader, way_entry);
    let place = format!("{}, under `{}`", reader.line_of(&way_entry.key.span), way_entry.key.text);
    section.map(|way| IutSections { name, link, behaviour, evidence, place, way })
}

/// Finds the only key that says how the implementation is reached. `known` are all keys of the file.
fn find_way<'e>(
    reader: &mut IutReader<'_>,
    root: &Yaml,
    entries: &'e [Entry],
    known: &[&str],
) -> Option<&'e Entry> {
    let ways: Vec<&Entry> = shape::first_entries(entries)
        .into_iter()
        .filter(|entry| WAYS.contains(&entry.key.text.as_str()))
        .collect();
    match ways.as_slice() {
        // The way is misspelt, which has been reported.
        [] if entries.iter().any(|entry| {
            let key = entry.key.text.as_str();
            !known.contains(&key) && reader.collector.nearest(key, WAYS).is_some()
        }) =>
        {
            None
        }
        [] => {
            let message = "the IUT file does not say how to reach the implementation";
            let help = format!(
                "write one of {}, for example `stdio: {{ command: [python3, sut.py] }}`",
                listed(WAYS)
            );
            reader.collector.mistake("missing-key", message, &root.head(), "one key is missing here", help);
            None
        }
        [way_entry] => Some(way_entry),
        [first, second, ..] => {
            let diagnostic = Diagnostic::error("two-ways", "an IUT file can have only one of these keys")
                .at(reader.collector.origin(&second.key.span), "a second one")
                .at(reader.collector.origin(&first.key.span), "the first one")
                .help("write an IUT file for each");
            reader.collector.push(diagnostic);
            None
        }
    }
}

/// Reports a file that describes several actions, none of which the model has.
fn report_other_model(reader: &mut IutReader<'_>, way: &Yaml) -> bool {
    let (Some(iosts), NodeKind::Mapping(keys)) = (reader.iosts, &way.kind) else { return false };
    let sections = ["stimuli", "observations"].into_iter().filter_map(|section| shape::get(keys, section));
    let named = sections.filter_map(|node| match &node.kind {
        NodeKind::Mapping(named) => Some(named),
        NodeKind::Scalar(_) | NodeKind::Sequence(_) => None,
    });
    let named: Vec<&Entry> = named.flatten().collect();
    let known = || iosts.actions.iter().map(|action| action.name.as_str());
    let is_known = |entry: &&&Entry| known().any(|name| name == entry.key.text);
    let is_near = |entry: &&&Entry| reader.collector.nearest(&entry.key.text, known()).is_some();
    let count_near = || named.iter().filter(is_near).count();
    // If most names resemble none of the model, they are not misspelt.
    if named.len() < 3 || named.iter().any(|entry| is_known(&entry)) || 2 * count_near() >= named.len() {
        return false;
    }
    let inputs = iosts.actions.iter().filter(|action| action.kind == ActionKind::Input);
    let inputs = listed(inputs.map(|action| action.name.as_str()));
    let message = "this IUT file belongs to another model: the model has none of its actions";
    let help = format!("give the IUT file whose `stimuli` are {inputs}");
    reader.collector.mistake("unknown-action", message, &named[0].key.span, "no action of the model", help);
    true
}

/// Warns of a model whose inputs and outputs may be swapped. It begins with several outputs, or with one
/// whose value it keeps and does not check, or with an output over HTTP. There is no warning for a test case,
/// which may lack inputs because of its purpose. The locations of a test case are pairs.
fn warn_if_swapped(reader: &mut IutReader<'_>, way: &Entry) {
    let Some(iosts) = reader.iosts.filter(|_| way.key.text != "simulated") else { return };
    let is_input = |step: &Transition| iosts.action(step.action).kind == ActionKind::Input;
    if iosts.locations[iosts.initial].label.starts_with('<') || !iosts.transitions.iter().any(is_input) {
        return;
    }
    let starts = iosts.transitions.iter().filter(|step| step.source == iosts.initial);
    let starts: Vec<(&Transition, &Action)> = starts.map(|step| (step, iosts.action(step.action))).collect();
    if starts.is_empty() || starts.iter().any(|(_, action)| action.kind != ActionKind::Output) {
        return;
    }
    let keeps_unchecked = |(step, action): &(&Transition, &Action)| {
        let is_kept = |datum: &Datum| step.assignments.values().any(|term| term.mentions(datum));
        action.parameters.iter().any(|datum| is_kept(datum) && !step.guard.mentions(datum))
    };
    // Each of these alone may be meant. Together with an output at the beginning, it is worth a warning.
    let is_http = way.key.text == "http";
    let has_several_names = starts.iter().any(|(_, action)| action.name != starts[0].1.name);
    if !(is_http || has_several_names || starts.iter().any(keeps_unchecked)) {
        return;
    }
    let name = &starts[0].1.name;
    let reason = if is_http {
        "over HTTP, a server sends nothing unasked"
    } else {
        "the tester waits for it and sends nothing"
    };
    let message = format!("the model begins with the output `{name}`, and {reason}");
    let (label, help) = (
        "begins with what the implementation sends",
        "`inputs` are what the implementation receives, and `outputs` what it sends: are they swapped in the model?",
    );
    reader.warn("swapped-directions", message, &way.key.span, label, help);
}

/// Reads `stdio`. A process that is kept for several runs needs a `reset` and a way to settle.
fn read_stdio(reader: &mut IutReader<'_>, root: &[Entry], node: &Yaml) -> Option<Stdio> {
    let known: Vec<&str> =
        COMMAND.into_iter().chain(["ready_ms", "keep", "settle"]).chain(encoding::KEYS).collect();
    let entries = shape::section(reader.collector, root, "stdio", &known);
    let example = "stdio: { command: [python3, sut.py] }";
    let keep = reader.read_boolean(entries, "keep");
    // A process that is kept for many runs cannot depend on the constants of one run.
    let holes = if keep { Holes::none() } else { Holes::constants() };
    let command = read_command(reader, entries, node, "`stdio`", example, holes.with_folder());
    let ready = reader.read_ms(entries, "ready_ms", READY_MS);
    let encoding = encoding::read_encoding(reader, entries, node, "`stdio`", Carrier::Stream);
    let settle = settle::read_settle(reader, entries, Speech::of(encoding.as_ref()));
    if keep && let Some(encoding) = encoding.as_ref().filter(|encoding| !matches!(encoding, Encoding::Json)) {
        require_reset(reader, entries, "keep", encoding.reset().is_empty(), example_reset(encoding));
        let message =
            "the process is kept, but coreach cannot tell whether it has answered all messages of a run";
        report_unsettled(reader, node, settle.as_ref(), message);
    }
    Some(Stdio { command: command?, ready, encoding: encoding?, settle, keep })
}

const ADDRESS: &str = "address: 127.0.0.1:6379";

/// Checks that an address is a host and a port.
fn check_address(reader: &mut IutReader<'_>, template: &Template, span: &Range<usize>, is_launched: bool) {
    // A constant in the address may be any number here.
    let filled = template.fill(|_| Some("1".to_owned())).unwrap_or_default();
    let is_port = |text: &str| number::count(text).is_some_and(|port| port <= u64::from(u16::MAX));
    if filled.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && is_port(port)) {
        return;
    }
    let help = match is_launched {
        true => "for example `address: \"127.0.0.1:{port}\"`, with `\"{port}\"` in `command`".to_owned(),
        false => format!("for example `{ADDRESS}`"),
    };
    let message = "an address is a host and a port";
    reader.collector.mistake("wrong-value", message, span, "not such an address", help);
}

/// Reads `tcp` or `udp`. A system that outlives its runs needs `reset` or `settle`.
fn read_tcp(reader: &mut IutReader<'_>, root: &[Entry], node: &Yaml, carrier: Carrier) -> Option<Tcp> {
    let (way, section) = match carrier {
        Carrier::Stream => ("tcp", "`tcp`"),
        Carrier::Datagrams => ("udp", "`udp`"),
    };
    // Each datagram is a frame, so `udp` has no key `frame`.
    let keys = encoding::KEYS.into_iter().filter(|key| carrier == Carrier::Stream || *key != "frame");
    let own_keys = match carrier {
        Carrier::Stream => ["address", "launch", "settle", "tls", "connections"].as_slice(),
        Carrier::Datagrams => &["address", "launch", "settle", "replies_from"],
    };
    let known: Vec<&str> = own_keys.iter().copied().chain(keys).collect();
    let entries = shape::section(reader.collector, root, way, &known);
    let launch = read_launch(reader, entries);
    let address = read_address(reader, entries, node, "address", section, ADDRESS);
    if let Some((template, span)) = &address {
        check_address(reader, template, span, matches!(launch, Some(Some(_))));
    }
    let host = address.as_ref().map(|(template, span)| (host_of(template), span));
    let tls = match carrier {
        Carrier::Stream => {
            tls::read_tls(reader, entries, host.as_ref().map(|(host, span)| (host.as_str(), *span)))
        }
        Carrier::Datagrams => Some(None),
    };
    let replies = [
        ("same_port", RepliesFrom::SamePort),
        ("any_port", RepliesFrom::AnyPort),
        ("fresh_port", RepliesFrom::FreshPort),
    ];
    let replies_from = reader.read_choice(entries, "replies_from", &replies).unwrap_or_default();
    reader.connections = connections::connection_names(entries);
    let encoding = encoding::read_encoding(reader, entries, node, section, carrier);
    let connections = connections::read_connections(reader, entries, encoding.as_ref());
    let settle = settle::read_settle(reader, entries, Speech::of(encoding.as_ref()));
    if let (Some(Some(launch)), Some(encoding)) = (&launch, &encoding)
        && !matches!(encoding, Encoding::Json)
        && launch.keep
    {
        require_reset(reader, entries, "launch", encoding.reset().is_empty(), example_reset(encoding));
    }
    // A system that coreach does not launch, or that it keeps, outlives its runs.
    if let (Carrier::Datagrams, Some(launch)) = (carrier, &launch)
        && launch.as_ref().is_none_or(|launch| launch.keep)
    {
        let message =
            "the system outlives its runs, but coreach cannot tell whether all datagrams have arrived";
        report_unsettled(reader, node, settle.as_ref(), message);
    }
    let settle = settle.unwrap_or_default();
    let (address, launch, tls, encoding) = (address?.0, launch?, tls?, encoding?);
    Some(Tcp { address, launch, tls, replies_from, encoding, connections, settle })
}

fn example_reset(encoding: &Encoding) -> &'static str {
    match encoding {
        Encoding::Binary(_) => "reset: [ { send: \"00 01\", expect: '^00.*$' } ]",
        Encoding::Json | Encoding::Lines(_) => "reset: [ { send: FLUSHALL, expect: '^OK$' } ]",
    }
}

/// Reports that no `settle` says when all messages of a run have arrived.
fn report_unsettled(reader: &mut IutReader<'_>, node: &Yaml, settle: Option<&Settle>, message: &str) {
    if settle.is_some_and(|settle| settle.quiet.is_some() || !settle.barrier.is_empty()) {
        return;
    }
    let label = "an answer could arrive in the next run";
    let help = "write `settle: { quiet_ms: 200 }`: then a run ends with 200 ms without a message";
    reader.collector.mistake("unsettled", message, &node.head(), label, help);
}
