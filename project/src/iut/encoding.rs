//! Reads how events are written on a stream or in datagrams: as JSON messages, as lines, or as frames.

use coreach_adapters::description::{Encoding, Lines};
use coreach_model::iosts::ActionKind;
use coreach_model::reader::collect::listed;
use coreach_model::reader::yaml::{Entry, Yaml};

use super::binary::Carrier;
use super::patterns::OBSERVATIONS;
use super::settle::{self, Speech};
use super::words::IutReader;
use super::{binary, captures, ignored, lines};

pub const KEYS: [&str; 10] = [
    "encoding",
    "line_ending",
    "frame",
    "reset",
    "stimuli",
    "observations",
    "ignore",
    "captures",
    "values",
    "unmatched",
];

impl Speech {
    pub fn of(encoding: Option<&Encoding>) -> Self {
        match encoding {
            Some(Encoding::Json) => Speech::Json,
            Some(Encoding::Binary(_)) => Speech::Frames,
            Some(Encoding::Lines(_)) | None => Speech::Lines,
        }
    }
}

/// Reads the keys of the encoding. Refuses keys of another encoding.
pub fn read_encoding(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    node: &Yaml,
    section: &str,
    carrier: Carrier,
) -> Option<Encoding> {
    const CHOICES: [(&str, Speech); 3] =
        [("json", Speech::Json), ("lines", Speech::Lines), ("binary", Speech::Frames)];
    let errors_before = reader.collector.errors();
    let speech = reader.read_choice(entries, "encoding", &CHOICES);
    if reader.collector.errors() > errors_before {
        return None;
    }
    match speech.unwrap_or(Speech::Json) {
        Speech::Lines => {
            let lines = read_lines(reader, entries, node, section, carrier)?;
            (reader.collector.errors() == errors_before).then_some(Encoding::Lines(lines))
        }
        Speech::Frames => {
            let label = "belongs to `encoding: lines`";
            refuse_foreign_keys(reader, entries, &["line_ending"], "with frames there is no", label)?;
            let binary = binary::read_binary(reader, entries, node, section, carrier)?;
            (reader.collector.errors() == errors_before).then_some(Encoding::Binary(binary))
        }
        Speech::Json | Speech::Http => {
            let message = "with JSON messages there is no";
            let keys: Vec<&str> = KEYS[1..]
                .iter()
                .copied()
                .filter(|key| carrier == Carrier::Stream || *key != "frame")
                .collect();
            refuse_foreign_keys(reader, entries, &keys, message, "belongs to another `encoding`")?;
            Some(Encoding::Json)
        }
    }
}

/// Reads the keys of `encoding: lines`. `None`: a key belongs to another encoding.
fn read_lines(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    node: &Yaml,
    section: &str,
    carrier: Carrier,
) -> Option<Lines> {
    if carrier == Carrier::Stream {
        let label = "belongs to `encoding: binary`";
        refuse_foreign_keys(reader, entries, &["frame"], "with lines there is no", label)?;
    }
    let ending = if carrier == Carrier::Datagrams { "" } else { "\n" };
    let line_ending = lines::read_line_ending(reader, entries, ending);
    let captures = captures::read_part_captures(reader, entries);
    let reset = settle::read_reset(reader, entries, Speech::Lines);
    let stimuli = lines::read_stimuli(reader, entries, &line_ending);
    let like: (_, &dyn Fn(&_) -> _) = (lines::STIMULI, &lines::stimulus_like);
    reader.check_complete(entries, node, "stimuli", section, ActionKind::Input, like);
    let (observations, answers) = lines::read_observations(reader, entries);
    let like: (_, &dyn Fn(&_) -> _) = (OBSERVATIONS, &lines::observation_like);
    reader.check_complete(entries, node, "observations", section, ActionKind::Output, like);
    let ignored = ignored::read_ignored_lines(reader, entries, &observations);
    reader.check_captured("group of a pattern", "observations: { Welcome: '^welcome (?P<NAME>.+)$' }");
    let with_parts = false;
    let spelling = reader.read_spelling(entries, with_parts);
    let unmatched = reader.read_unmatched(entries);
    Some(Lines { line_ending, reset, stimuli, observations, answers, ignored, captures, spelling, unmatched })
}

/// Refuses these keys, which belong to another encoding. `message` begins the report. `None` after a mistake.
fn refuse_foreign_keys(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    keys: &[&str],
    message: &str,
    label: &str,
) -> Option<()> {
    let foreign_entries: Vec<&Entry> =
        entries.iter().filter(|entry| keys.contains(&entry.key.text.as_str())).collect();
    let Some(first) = foreign_entries.first() else { return Some(()) };
    let names = listed(foreign_entries.iter().map(|entry| entry.key.text.as_str()));
    let help = match message.contains("JSON") {
        true => "write their encoding, for example `encoding: lines`, or leave them out",
        false => "change `encoding`, or leave this key out",
    };
    reader.collector.mistake("wrong-encoding", format!("{message} {names}"), &first.key.span, label, help);
    None
}
